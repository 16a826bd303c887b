r"""Shuffling by joint concavity: the clone pair conditioned on the number of clones.

With :math:`w = 1/(e^{\varepsilon_0}+1)`, :math:`C \sim \mathrm{Bin}(n-1, 2w)`,
:math:`A \sim \mathrm{Bin}(C, 1/2)`, the clone pair is

.. math:: P = (1-w)P_0 + wQ_0,\quad Q = (1-w)Q_0 + wP_0, \qquad
          P_0 = \mathcal L(A+1, C-A),\; Q_0 = \mathcal L(A, C-A+1).

C is a function of the output, so T(P₀, Q₀) is *equal* to its mixture over C (`conditioned_on_clones`).
Only the bound for mixing P₀ with Q₀ is lossy (`shuffle_bound`).  `clone_pair` is exact.

Source: Wang, Su, Ye, Shokri, Su 2023, Proposition 4.1, Theorem 4.2, Corollary 4.3.  Its reduction to the
clone pair cites the stronger clone of Feldman, McMillan, Talwar (SODA 2023), whose official erratum
withdraws the proof for general randomizers; for identical, non-adaptive, pure ε₀-LDP randomizers the
pair is valid by another argument (the blanket pair of binary randomized response dominates
every other).

``eps0`` is the local budget in nats, at most 700.
"""

import bisect
import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import UNIT, log_binomial_pmf
from shufflelib.profiles.tradeoff_functions import TradeoffFunction
from shufflelib.profiles.tradeoff_of_profile import from_pair, from_profile
from shufflelib.published.closed_form.regime import require
from shufflelib.published.joint_concavity.symmetric_mixtures import symmetric_mixture
from shufflelib.published.renyi.pairs import generic_pair
from shufflelib.shuffling.variation_ratio import VariationRatioPair

LISTED_USERS = 2000  # up to here every atom is listed
TIE = 1e-12  # relative rounding within which the printed condition counts as met
SCANNED = 64  # thresholds


def _swap(eps0):
    """Return w = 1/(e^ε₀ + 1)."""
    return 1.0 / (math.exp(eps0) + 1.0)


def _tradeoff(pair, statement, source):
    """Return the trade-off function of a pair: exact for few users, enclosed for many."""
    f = from_pair(pair.cells) if pair.n <= LISTED_USERS else from_profile(pair)
    f.statement, f.source = statement, source
    return f


def conditioned_on_clones(*, eps0: float, n: int) -> TradeoffFunction:
    r"""Return T(P₀, Q₀) of the clone pair, by conditioning on the number of clones.

    .. math:: \alpha_0(t) = \sum_i w_i F_i\Bigl(i - \frac{i+1}{t+1}\Bigr), \qquad
              \beta_0(t) = \sum_i w_i \Bigl(1 - F_i\Bigl(i + 1 - \frac{i+1}{t+1}\Bigr)\Bigr)

    at the knots t = a/b, F_i the distribution function of Bin(i, 1/2).

    Returns
    -------
    TradeoffFunction
        Up to 2000 users a polygon with knots at all ratios a/b; beyond, the bracket of `from_profile`,
        less than 1e-4 wide.

    Notes
    -----
    Cost O(n²) up to 2000 users.  Source: Proposition 4.1.  Errata: the proof prints β without the 1 − in
    two places.

    Examples
    --------
    >>> from shufflelib.published import joint_concavity
    >>> f = joint_concavity.conditioned_on_clones(eps0=1.0, n=1000)
    >>> round(f(0.05).lower, 4)
    0.9404
    """
    eps0, n = validation.local_budget(eps0), validation.users(n)
    return _tradeoff(
        VariationRatioPair(n=n, p=math.inf, beta=1.0, q0=math.exp(eps0) + 1.0),
        f"the clones of n={n} users with eps0={eps0:g}, the swap not counted",
        "Proposition 4.1",
    )


def clone_pair(*, eps0: float, n: int) -> TradeoffFunction:
    """Return T(P, Q) of the clone pair itself, exact.

    Examples
    --------
    Above `shuffle_bound`, below perfect privacy, 0.95:

    >>> from shufflelib.published import joint_concavity
    >>> both = joint_concavity.clone_pair, joint_concavity.shuffle_bound
    >>> pair, bound = (f(eps0=1.0, n=200)(0.05) for f in both)
    >>> round(bound.lower, 3), round(pair.lower, 3)
    (0.939, 0.94)
    """
    return _tradeoff(
        generic_pair(eps0=eps0, n=n),
        f"the clone pair of n={n} users with eps0={eps0:g}",
        "the clone pair, exact",
    )


def shuffle_bound(*, eps0: float, n: int) -> TradeoffFunction:
    r"""Return :math:`C(f_{\mathrm{Shuffle}})`, a lower bound on T(P, Q) of the clone pair.

    .. math:: f_{\mathrm{Shuffle}} = 2w\,\mathrm{Id} + (1-2w)\,T(P_0, Q_0),
              \qquad w = \frac{1}{e^{\varepsilon_0}+1}

    Returns
    -------
    TradeoffFunction
        ``.lower`` is the safe bound.

    Notes
    -----
    Source: Theorem 4.2; symmetric, so that Proposition 6.4 applies as it stands.  Errata: its proof claims
    equality with the clone pair's own function; that fails for n = 1 already, where the pair is
    randomized response with f(0) = 1 and the bound starts at 2w.

    Examples
    --------
    The least false-negative rate at a false-positive rate of 5 %, for one of 200 reports and for one alone:

    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> alone = profiles.ApproximateDP(eps=1.0, delta=0.0)
    >>> round(joint_concavity.shuffle_bound(eps0=1.0, n=200)(0.05).lower, 3), round(alone(0.05).lower, 3)
    (0.939, 0.864)
    """
    bound = symmetric_mixture(conditioned_on_clones(eps0=eps0, n=n), weight=_swap(eps0))
    bound.statement, bound.source = f"f_Shuffle for n={n}, eps0={eps0:g}", "Theorem 4.2"
    return bound


def delta_corollary43(*, eps0: float, n: int, eps: float) -> float:
    r"""Return Corollary 4.3's δ(ε), its choice of threshold as printed.

    .. math:: \delta(\varepsilon) = 1 - e^{\varepsilon}\alpha_0(t) - 2w(1-\alpha_0(t)) - (1-2w)\beta_0(t),
              \quad t = \inf\{t : -e^{\varepsilon} + 2w - (1-2w)\,l(t) \le 0\},

    .. math:: l(t) = -\frac{\sum_i w_i\,p_i(\lfloor i + 1 - \frac{i+1}{t+1}\rfloor)}
              {\sum_i w_i\,p_i(\lfloor i - \frac{i+1}{t+1}\rfloor)}

    Parameters
    ----------
    eps0, eps : float
        Local and central budget in nats.
    n : int
        Number of users, 2 to 2000.

    Returns
    -------
    float
        A number in [0, 1], never above ``shuffle_bound(...).delta(eps)``, which is the bound itself.

    Raises
    ------
    OutOfRegime
        If no threshold meets the printed condition.

    Notes
    -----
    Errata: the proof sets f(α(t)) = β(t); the value of the mixture is meant, as in the first line here.
    l(t) is an average over i of slopes at the last atom up to t, not the slope −1/t of f₀ at its
    knot (the proof restricts itself to differentiable points, of which there are none between knots);
    t is then not the maximiser and δ comes out *below* the conjugate: an approximation of the bound
    from the wrong side.  For ε₀ = log 3, n = 2, ε = log 2 it is 1/8, the pair's own δ is 3/16.

    Examples
    --------
    Two users, e^ε₀ = 3, e^ε = 2: as printed 1/8, below the bound it stands for and below the truth, 3/16.

    >>> from math import log
    >>> from shufflelib.published import joint_concavity
    >>> printed = joint_concavity.delta_corollary43(eps0=log(3), n=2, eps=log(2))
    >>> delta = joint_concavity.shuffle_bound(eps0=log(3), n=2).delta(log(2)).upper
    >>> round(printed, 4), 0.375 < delta < 0.3751
    (0.125, True)
    """
    eps0, n = validation.local_budget(eps0), validation.count(n, "n", at_least=2, at_most=LISTED_USERS)
    eps = validation.central_budget(eps, at_most=700.0)
    w, i = _swap(eps0), np.arange(n)
    weight = np.exp(log_binomial_pmf(i, n - 1, 2.0 * w))
    polygon = conditioned_on_clones(eps0=eps0, n=n).low
    spent, kept = polygon.knots
    every_loss = polygon.pair.loss.middle
    losses = np.unique(every_loss[np.isfinite(every_loss)])

    def meets(loss):
        cut = np.floor((i + 1) / (1.0 + math.exp(-loss)) * (1 + 4 * UNIT)) - 1.0  # i − (i + 1)/(t + 1)
        reach, base = (weight @ np.exp(log_binomial_pmf(part, i, 0.5)) for part in (cut + 1.0, cut))
        # 2w + (1 − 2w)·reach/base is at most e^ε, and base may be too small to divide by
        return base > 0.0 and (1.0 - 2.0 * w) * reach <= (math.exp(eps) * (1.0 + TIE) - 2.0 * w) * base

    require(meets(losses[-1]), "a threshold t that meets the printed condition", f"eps = {eps!r}")
    last = bisect.bisect_left(losses, True, key=meets)
    # l(t) is not quite monotone: search a little before the threshold that bisection finds
    loss = next(loss for loss in losses[max(last - SCANNED, 0) :] if meets(loss))
    knot = int(np.searchsorted(every_loss, loss + TIE, side="right"))
    alpha, beta = float(spent[knot]), float(kept[knot])
    value = 1.0 - math.exp(eps) * alpha - 2.0 * w * (1.0 - alpha) - (1.0 - 2.0 * w) * beta
    return min(max(value, 0.0), 1.0)

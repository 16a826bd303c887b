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
"""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import UNIT, log_binomial_pmf
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.tradeoff_functions import TradeoffFunction
from shufflelib.profiles.tradeoff_polygon import Polygon
from shufflelib.published.closed_form.regime import require
from shufflelib.published.joint_concavity import clone_atoms
from shufflelib.published.joint_concavity.clone_atoms import log_clones, swap
from shufflelib.published.joint_concavity.symmetric_mixtures import symmetric_mixture

LISTED_ATOMS = 1_000_000  # beyond, they are grouped in cells
TIE = 1e-12  # relative rounding within which the printed condition counts as met
SCANNED = 64  # thresholds
MOST_USERS = 1_000_000


def _parameters(eps0, n):
    eps0, n = validation.local_budget(eps0), validation.users(n)
    if n > MOST_USERS:
        raise ValueError(
            f"n must be at most {MOST_USERS}, got {n}; for more users use from_profile on VariationRatioPair"
        )
    return n, eps0


def conditioned_on_clones(*, eps0, n):
    r"""Return T(P₀, Q₀) of the clone pair, by conditioning on the number of clones.

    .. math:: \alpha_0(t) = \sum_i w_i F_i\Bigl(i - \frac{i+1}{t+1}\Bigr), \qquad
              \beta_0(t) = \sum_i w_i \Bigl(1 - F_i\Bigl(i + 1 - \frac{i+1}{t+1}\Bigr)\Bigr)

    at the knots t = a/b, F_i the distribution function of Bin(i, 1/2).

    Parameters
    ----------
    eps0 : float
        Local budget in nats, at most 700.
    n : int
        Number of all users, at most 10⁶.

    Returns
    -------
    TradeoffFunction
        A polygon with knots at all ratios a/b while there are at most 10⁶ of them.  Beyond, they are
        grouped in 40000 cells of (a − b)/(a + b): split to the edges below, coarsened above.  The mass
        more than 9 standard deviations out, less than 1e-17, counts as perfectly distinguishable below
        and as indistinguishable above.

    Notes
    -----
    Cost O(n), a second for 10⁶ users.  Source: Proposition 4.1.  Errata: the proof prints β without the
    1 − in two places.

    Examples
    --------
    >>> from shufflelib.published import joint_concavity
    >>> f = joint_concavity.conditioned_on_clones(eps0=1.0, n=1000)
    >>> round(f(0.05).lower, 4)
    0.9404
    """
    n, eps0 = _parameters(eps0, n)
    few = clone_atoms.count(n, eps0) <= LISTED_ATOMS
    below, above = (clone_atoms.listed if few else clone_atoms.gathered)(n, eps0)
    lower = Polygon(below)
    upper = lower if above is below else Polygon(above)
    return TradeoffFunction(
        lower,
        upper,
        statement=f"the clones of n={n} users with eps0={eps0:g}, the swap not counted",
        source="Proposition 4.1",
    )


def clone_pair(*, eps0, n):
    """Return T(P, Q) of the clone pair itself, exact; parameters as for `shuffle_bound`.

    Examples
    --------
    Above `shuffle_bound`, below perfect privacy, 0.95:

    >>> from shufflelib.published import joint_concavity
    >>> both = joint_concavity.clone_pair, joint_concavity.shuffle_bound
    >>> pair, bound = (f(eps0=1.0, n=200)(0.05) for f in both)
    >>> round(bound.lower, 3), round(pair.lower, 3)
    (0.939, 0.94)
    """
    n, eps0 = _parameters(eps0, n)
    f = conditioned_on_clones(eps0=eps0, n=n)
    parts = []
    for side in dict.fromkeys((f.low, f.high)):
        parts.append(Polygon(_swapped(side.pair, swap(eps0))))
    return TradeoffFunction(
        parts[0],
        parts[-1],
        statement=f"the clone pair of n={n} users with eps0={eps0:g}",
        source="the clone pair, exact",
    )


def _swapped(pair, w):
    keep, swap = math.log1p(-w), math.log(w)
    log_p = np.logaddexp(pair.log_p + keep, pair.log_q + swap)
    log_q = np.logaddexp(pair.log_q + keep, pair.log_p + swap)
    # log((1−w)e^ℓ + w) − log((1−w) + w e^ℓ), odd in ℓ
    size = np.abs(pair.loss)
    with np.errstate(invalid="ignore", over="ignore"):
        gain = np.log1p((1.0 - 2.0 * w) * -np.expm1(-size) / (w + (1.0 - w) * np.exp(-size)))
    loss = np.sign(pair.loss) * gain
    error = pair.mass_error + 16 * UNIT * (1.0 + keep - swap)
    return DiscretePair.from_losses(
        log_p,
        log_q,
        loss,
        mass_error=error + 4 * UNIT * np.maximum(np.abs(log_p), np.abs(log_q)),
        loss_error=pair.loss_error + 16 * UNIT * (1.0 + np.abs(loss)),
    )


def shuffle_bound(*, eps0, n):
    r"""Return :math:`C(f_{\mathrm{Shuffle}})`, a lower bound on T(P, Q) of the clone pair.

    .. math:: f_{\mathrm{Shuffle}} = 2w\,\mathrm{Id} + (1-2w)\,T(P_0, Q_0),
              \qquad w = \frac{1}{e^{\varepsilon_0}+1}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, at most 700.
    n : int
        Number of all users, the one who changes included, at most 10⁶.

    Returns
    -------
    TradeoffFunction
        ``.lower`` is the safe end.

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
    n, eps0 = _parameters(eps0, n)
    bound = symmetric_mixture(conditioned_on_clones(eps0=eps0, n=n), weight=swap(eps0))
    bound.statement, bound.source = f"f_Shuffle for n={n}, eps0={eps0:g}", "Theorem 4.2"
    return bound


def delta_corollary43(*, eps0, n, eps):
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
        Number of all users, 2 to 2000.

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
    eps0, n = validation.local_budget(eps0), validation.count(n, "n", at_least=2, at_most=2000)
    eps = validation.real(eps, "eps", at_least=0.0, at_most=700.0, remedy="eps is in nats")
    w, i = swap(eps0), np.arange(n)
    weight = np.exp(log_clones(i, n, eps0))
    pair = conditioned_on_clones(eps0=eps0, n=n).low.pair
    spent, kept = Polygon(pair).knots
    losses = np.unique(pair.loss[np.isfinite(pair.loss)])

    def slope(log_t):
        cut = np.floor((i + 1) / (1.0 + math.exp(-log_t)) * (1 + 4 * UNIT)) - 1.0  # i − (i + 1)/(t + 1)
        reach, base = (weight @ np.exp(log_binomial_pmf(part, i, 0.5)) for part in (cut + 1.0, cut))
        return reach / base if base > 0.0 else math.inf

    def meets(knot):
        rise = 2.0 * w + (1.0 - 2.0 * w) * slope(losses[knot])
        return rise <= math.exp(eps) * (1.0 + TIE)

    require(meets(losses.size - 1), "a threshold t that meets the printed condition", f"eps = {eps!r}")
    low, high = 0, losses.size - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle + 1, high)
    # l(t) is not quite monotone: search a little before the threshold that bisection finds
    low = next(knot for knot in range(max(low - SCANNED, 0), low + 1) if meets(knot))
    knot = int(np.searchsorted(pair.loss, losses[low], side="right"))
    alpha, beta = float(spent[knot]), float(kept[knot])
    value = 1.0 - math.exp(eps) * alpha - 2.0 * w * (1.0 - alpha) - (1.0 - 2.0 * w) * beta
    return min(max(value, 0.0), 1.0)

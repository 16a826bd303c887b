r"""Published formulas for personal budgets, **as published**; nothing certified depends on them.

Chen, Cao and Ge (AAAI 2024, "A Generalized Shuffle Framework for Privacy Amplification", short GSPA)
reduce shuffling to two counts and put a normal distribution in their place.  Everything here follows from one
number μ.  Baselines for equal budgets are applied to the largest one.

What is wrong with μ as a bound, each with a test:

- *Randomize-then-shuffle.*  Definition 6 is the permute-then-randomize model, in which ε belongs to a slot.
  Their Algorithms 1 and 2 randomize first.  There μ fails: one user has Laplace
  noise with ε₀ = 5, the others with 0.1, n = 1000: at ε = 0.2 claimed δ = 2.07e-5, true at least
  2.58e-2; n = 10⁴, ε = 0.1: 2.3e-9 against 2.7e-3.
- *Unequal slots.*  In the permute-then-randomize model (Definition 6) the reports come in the order of the
  slots, so a slot with a large budget reveals more about its user: half of the slots with ε₀ = 4, the other
  half with ε₀ = 0, n = 10⁴, δ = 1e-4: ε at least 0.133, μ gives 0.064.  The reduction to two counts holds
  for equal slots only.
- *Local failures.*  Lemma 1 gives both inputs the same distribution on the event of probability δ_i, on which
  they are perfectly distinguishable (symbols A and B of the paper's Lemma 4).  A randomizer that reveals its
  input with probability δ_i and otherwise reports nothing has δ(ε) = δ_i at every ε when nobody else
  holds that value; the formula tends to 0.
- *The normal limit.*  "Approximately" hides C/√(n − 1), see `gaussian_delta_with_slack_gspa24`.
- *Small budgets.*  For equal ε_i → 0 it tends to √(4/(n − 1)) instead of 0: the randomness of the
  changed user's report is ignored, so that at ε₀ = 0 the formula claims a loss where there is none.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from shufflelib.numerics import validation
from shufflelib.numerics.types import T
from shufflelib.profiles.pairs import Gaussian
from shufflelib.published.closed_form import OutOfRegime, clones_fmt21, erlingsson19
from shufflelib.published.renyi import clones_delta_fmt21
from shufflelib.published.renyi.gaussian_limit import LARGEST_MU
from shufflelib.shuffling.personal.budgets import failures, personal


def gaussian_mu_gspa24(*, eps0: ArrayLike, delta0: ArrayLike = 0.0) -> float:
    r"""Return the μ with which shuffling is said to be approximately μ-GDP.

    .. math:: \mu = \sqrt{\frac{2}{\sum_{i=1}^n \frac{1-\delta_i}{1+e^{\varepsilon_i}}
              - \max_i \frac{1-\delta_i}{1+e^{\varepsilon_i}}}}

    Returns
    -------
    float
        An asymptotic value, **not a bound**.

    Notes
    -----
    Lemma 3 prints :math:`\mu = 2/\sqrt{\sum p_i}`, :math:`p_i = 2(1-\delta_i)/(1+e^{\varepsilon_i})`, without
    the maximum: the same number once the largest term is left out of its sum.  The proofs of
    Theorems 1 and 2 put :math:`p_i = (1-\delta_i)/(1+e^{\varepsilon_i})` into the same formulas; that
    reading is √2 times larger and is not used.  Theorem 2 itself prints the sum to n − 1 *and* the
    maximum; the abstract and the last line of the proof have the sum to n, as here.
    δ_i > 0 makes μ larger only because it removes clones; the failure itself is charged nothing, which is
    wrong.  Source: Chen, Cao, Ge (AAAI 2024), Theorem 2.  Cost O(n).

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.gaussian_mu_gspa24(eps0=half), 3)
    0.09
    """
    eps0 = personal(eps0)
    chance = (1.0 - failures(delta0, eps0)) * np.exp(-eps0) / (1.0 + np.exp(-eps0))
    largest = int(np.argmax(chance))
    rest = math.fsum(np.delete(chance, largest))
    return math.sqrt(2.0) / math.sqrt(rest)


def _separation(eps0, delta0):
    """Return μ, refused beyond the largest separation for which the profile is computed."""
    mu = gaussian_mu_gspa24(eps0=eps0, delta0=delta0)
    if mu > LARGEST_MU:
        raise OutOfRegime(
            f"eps0 and delta0 must leave a separation mu <= {LARGEST_MU:g}, got mu = {mu:g}; "
            "add users with smaller budgets"
        )
    return mu


def gaussian_epsilon_gspa24(*, eps0: ArrayLike, delta: T, delta0: ArrayLike = 0.0) -> T:
    r"""Return ε at ``delta`` of the profile :math:`G_\mu`.

    Parameters
    ----------
    delta : float or array_like
        Central δ in (0, 1).

    Returns
    -------
    float or numpy.ndarray
        As published, **not a bound**.  It may exceed every local budget.

    Raises
    ------
    OutOfRegime
        If μ exceeds 10⁴.

    Notes
    -----
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 2 and Fact 3; Figure 2 shows this number.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.gaussian_epsilon_gspa24(eps0=half, delta=1e-6), 4)
    0.3538
    """
    return Gaussian(_separation(eps0, delta0)).epsilon(delta).upper


def gaussian_delta_gspa24(*, eps0: ArrayLike, eps: T, delta0: ArrayLike = 0.0) -> T:
    r"""Return δ at ``eps`` of the profile :math:`G_\mu`.

    .. math:: \delta(\varepsilon) = \Phi\Bigl(-\frac\varepsilon\mu + \frac\mu2\Bigr)
              - e^\varepsilon \Phi\Bigl(-\frac\varepsilon\mu - \frac\mu2\Bigr)

    Parameters
    ----------
    eps : float or array_like
        Central budget in nats, non-negative.

    Returns
    -------
    float or numpy.ndarray
        As published, **not a bound**.

    Raises
    ------
    OutOfRegime
        If μ exceeds 10⁴.

    Notes
    -----
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 2 and Fact 3.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> f"{personalized.gaussian_delta_gspa24(eps0=half, eps=0.3):.2e}"
    '1.14e-05'
    """
    return Gaussian(_separation(eps0, delta0)).delta(eps).upper


def _slack(slack):
    return validation.real(
        slack, "slack", at_least=0.0, at_most=1.0, remedy="slack is the C/sqrt(n - 1) of Theorem 2"
    )


def gaussian_tradeoff_with_slack_gspa24(
    *, eps0: ArrayLike, fpr: float, slack: float, delta0: ArrayLike = 0.0
) -> float:
    r"""Return the false-negative rate of Theorem 2 with its slack τ = C/√(n − 1) included.

    .. math:: T(\alpha) \ge G_\mu(\alpha + \tau) - \tau, \qquad
              G_\mu(\alpha) = \Phi(\Phi^{-1}(1-\alpha) - \mu)

    Parameters
    ----------
    fpr : float
        False-positive rate α in [0, 1].
    slack : float
        τ in [0, 1]; the theorem gives no value.  `normal_approximation_gspa24` computes one.

    Returns
    -------
    float
        At least 0; 0 once α + τ ≥ 1.

    Notes
    -----
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 2, eq. (15).

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.gaussian_tradeoff_with_slack_gspa24(eps0=half, fpr=0.02, slack=1e-3), 4)
    0.973
    """
    mu = gaussian_mu_gspa24(eps0=eps0, delta0=delta0)
    fpr = validation.false_positive_rate(fpr)
    moved = fpr + _slack(slack)
    return max(0.0, float(ndtr(-ndtri(moved) - mu)) - slack) if moved < 1.0 else 0.0


def gaussian_delta_with_slack_gspa24(
    *, eps0: ArrayLike, eps: float, slack: float, delta0: ArrayLike = 0.0
) -> float:
    r"""Return the δ at ε of Theorem 2 with its slack τ = C/√(n − 1) included.

    .. math:: \delta(\varepsilon) = \min\{1,\; \delta_\mu(\varepsilon) + (1 + e^{\varepsilon})\,\tau\}

    Parameters
    ----------
    slack : float
        τ in [0, 1].

    Notes
    -----
    The conjugate of eq. (15): :math:`\sup_\alpha 1 - e^\varepsilon\alpha - G_\mu(\alpha+\tau) + \tau`, whose
    supremum over α ≥ −τ is the one printed here, an upper bound for it.
    No ε at all is proved for δ ≤ 2τ.  With τ the total variation distance computed by
    `normal_approximation_gspa24`, n = 10⁴ and ε₀ = 1/2: τ = 1.7e-3, so that at the paper's δ = 10⁻⁴
    the theorem is vacuous, and stays so up to n of the order of 10⁷.
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 2, eq. (15).

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.gaussian_delta_with_slack_gspa24(eps0=half, eps=0.3, slack=1e-3), 4)
    0.0024
    """
    eps = validation.central_budget(eps, at_most=700.0)
    slack = _slack(slack)
    value = gaussian_delta_gspa24(eps0=eps0, delta0=delta0, eps=eps)
    return min(1.0, value + (1.0 + math.exp(eps)) * slack)


def largest_budget_fmt21(*, eps0: ArrayLike, delta: float) -> float:
    """Return `closed_form.clones_fmt21` at the largest budget.

    Returns
    -------
    float
        The published ε in the permute-then-randomize model, where a smaller budget is a special case of a
        larger one.  In the randomize-then-shuffle model with personal budgets it is **not** a bound.

    Raises
    ------
    OutOfRegime
        If the largest budget is outside the theorem's regime.

    Notes
    -----
    Source: Feldman, McMillan, Talwar, FOCS 2021 (arXiv:2012.12803), Theorem 3.1.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> round(personalized.largest_budget_fmt21(eps0=[0.5] * 5000 + [1.0] * 5000, delta=1e-6), 5)
    0.21403
    """
    eps0 = personal(eps0)
    return clones_fmt21(eps0=float(eps0.max()), n=eps0.size, delta=delta)


def largest_budget_erlingsson19(*, eps0: ArrayLike, delta: float) -> float:
    """Return `closed_form.erlingsson19` at the largest budget.

    Returns
    -------
    float
        As for `largest_budget_fmt21`.

    Raises
    ------
    OutOfRegime
        If the largest budget exceeds 1/2, n < 1000 or delta ≥ 1/100.

    Notes
    -----
    Source: Erlingsson et al., SODA 2019 (arXiv:1811.12469).

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> round(personalized.largest_budget_erlingsson19(eps0=[0.1] * 5000 + [0.5] * 5000, delta=1e-6), 5)
    0.22302
    """
    eps0 = personal(eps0)
    return erlingsson19(eps0=float(eps0.max()), n=eps0.size, delta=delta)


def delta_with_failures_fmt21(*, eps0: ArrayLike, delta0: ArrayLike, eps: float, delta: float) -> float:
    r"""Return the central δ including local failures, at the largest budget and failure probability.

    .. math:: \delta + (e^{\varepsilon} + 1)\Bigl(1 + \frac{e^{\varepsilon_0}}{2}\Bigr) n\,\delta_0

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        Local budgets in nats, n ≥ 2, the largest positive.
    delta0 : float or array_like, shape (n,)
        Local δ₀ in [0, 1).
    eps, delta : float
        What the clones at the largest budget prove centrally without failures (`largest_budget_fmt21`).

    Returns
    -------
    float
        At most 1.

    Notes
    -----
    The larger of two constants in circulation; see `renyi.clones_delta_fmt21`.
    Source: Feldman, McMillan, Talwar, FOCS 2021 (arXiv:2012.12803), Theorem 3.8.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> asked = {"eps0": half, "eps": 0.5, "delta": 1e-6}
    >>> [f"{personalized.delta_with_failures_fmt21(**asked, delta0=one):.1e}" for one in (0.0, 2e-9)]
    ['1.0e-06', '2.6e-05']
    """
    eps0 = personal(eps0)
    largest = float(np.max(failures(delta0, eps0)))
    if largest == 0.0:
        validation.central_budget(eps)
        return validation.probability(delta, "delta")
    return clones_delta_fmt21(eps=eps, delta=delta, eps0=float(eps0.max()), delta0=largest, n=eps0.size)

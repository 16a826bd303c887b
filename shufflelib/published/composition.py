r"""Published bounds for many rounds, to compare with the certified composition.

===================================  ==========================================================
`advanced_drv10`                     upper bound: from one (ε, δ) of a round
`optimal_kov15`                      upper bound: the best that one (ε, δ) of a round can give
`renyi_sum_mironov17`                upper bound: a profile's Rényi divergences added and converted
`gaussian_limit_dong22`              not a bound: the central limit theorem
`variation_ratio_wang24`             exact for the published pair; a mechanism's bound where the pair is
`subsampled_girgis21`                upper bound on a Rényi divergence of one subsampled round
===================================  ==========================================================

``rounds`` is their number K, at least 1; ``delta`` is that of all rounds together unless a function says
otherwise.
"""

import bisect
import math

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Interval
from shufflelib.numerics.logspace import UNIT, log1mexp, log_binomial_pmf, log_expm1, logsumexp
from shufflelib.profiles.hockey_stick import Pair
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.published.conversions import best_over_orders, epsilon_from_renyi_canonne20
from shufflelib.published.conversions.renyi import BestOrder
from shufflelib.published.renyi.girgis import effective_users, log_binomials, log_higher_moments
from shufflelib.shuffling.variation_ratio import VariationRatioPair

ORDERS = np.concatenate([1.0 + np.geomspace(1e-3, 1.0, 12), np.geomspace(2.1, 3e3, 48)])
DOUBT = 4.0**-6  # relative, about a round's moments where they must be known
LARGEST_SUM = 10**6  # rounds, or orders, that are added one by one


def _one_round(eps, delta):
    return (
        validation.central_budget(eps, at_most=700.0),
        validation.real(delta, "delta", at_least=0.0, below=1.0, remedy="delta is a probability"),
    )


def advanced_drv10(*, eps: float, delta: float, rounds: int, total_delta: float) -> float:
    r"""Bound ε of K adaptive rounds by the advanced composition theorem.

    .. math:: \varepsilon' = \sqrt{2K\log(1/\delta')}\,\varepsilon + K\varepsilon(e^{\varepsilon}-1),
              \qquad \delta' = \delta_{\text{total}} - K\delta

    Parameters
    ----------
    eps, delta : float
        What every round satisfies: ε ≥ 0 in nats, 0 ≤ δ < 1.
    total_delta : float
        δ of all rounds together, above Kδ.

    Returns
    -------
    float
        An upper bound, at most Kε.

    Notes
    -----
    Source: Dwork, Rothblum, Vadhan (FOCS 2010), Theorem III.3.  Cost O(1).

    Examples
    --------
    >>> from shufflelib.published import composition
    >>> asked = {"eps": 0.01, "delta": 1e-9, "rounds": 1000, "total_delta": 1e-5}
    >>> round(composition.advanced_drv10(**asked), 4)  # ε adds up to 10
    1.6249
    """
    eps, delta = _one_round(eps, delta)
    rounds, total = validation.rounds(rounds), validation.probability(total_delta, "total_delta")
    eps_one, left = Interval.of(eps), total - rounds * Interval.of(delta)
    if left.lower <= 0.0:
        raise ValueError(
            f"total_delta must exceed rounds times delta, {rounds * delta:g}, got {total_delta!r}; "
            "ask each round for a smaller delta"
        )
    spread = Interval.of(math.sqrt((-2.0 * rounds * left.log()).upper), 1.0)
    value = spread * eps_one + rounds * eps_one * eps_one.expm1()
    return min(value.upper, (rounds * eps_one).upper)


def optimal_kov15(*, eps: float, delta: float, rounds: int, total_delta: float) -> float:
    r"""Bound ε of K adaptive rounds by the optimal composition of one (ε, δ) guarantee.

    .. math:: \Bigl((K - 2i)\varepsilon,\; 1 - (1-\delta)^K (1 - \delta_i)\Bigr), \qquad
              \delta_i = \sum_{\ell < i} \binom K\ell
              \frac{e^{(K-\ell)\varepsilon} - e^{(K - 2i + \ell)\varepsilon}}{(1+e^{\varepsilon})^K}

    Parameters
    ----------
    eps, delta, rounds, total_delta
        As for `advanced_drv10`; at most 10⁶ rounds; ``total_delta`` above :math:`1-(1-\delta)^K`.

    Returns
    -------
    float
        An upper bound, the smallest ε that follows if only (ε, δ) is known about the mechanism; rounding
        adds about 1e-11 of δ.

    Notes
    -----
    The theorem prints the guarantees at the losses :math:`(K-2i)\varepsilon`.  Between two of them the total
    δ of the rounds that attain it is linear in :math:`e^{\varepsilon}`, because their privacy loss takes no
    other value; this line is inverted.
    Source: Kairouz, Oh, Viswanath (ICML 2015), Theorem 3.3.  Cost O(K log K).

    Examples
    --------
    Thirty rounds; the nearest printed guarantee has ε = 30.

    >>> from shufflelib.published import composition
    >>> round(composition.optimal_kov15(eps=1.0, delta=1e-6, rounds=30, total_delta=1e-4), 9)
    28.139530691
    """
    eps, delta = _one_round(eps, delta)
    rounds = validation.count(rounds, "rounds", at_most=LARGEST_SUM)
    total = validation.probability(total_delta, "total_delta")
    log_kept = rounds * (-Interval.of(delta)).log1p()
    spent = -log_kept.expm1()
    unspent = Interval.of(total) - spent
    if unspent.lower <= 0.0:
        raise ValueError(
            f"total_delta must exceed 1 - (1 - delta)**rounds, {spent.upper:g}, got {total_delta!r}; "
            "ask each round for a smaller delta"
        )
    if eps == 0.0:
        return 0.0
    left = (unspent / log_kept.exp()).lower  # for the losses beyond ε
    share = 1.0 / (1.0 + math.exp(-eps))  # Bin(K, share) counts the rounds with loss +ε
    slack = 1e-11 + 1e-13 * rounds

    def sums(i):
        """Bound δ_i from above, and minus its slope in e^ε below the loss (K - 2i)ε, times e^{(K - 2i)ε}."""
        ell = np.arange(i + 1.0)
        log_mass, fall = log_binomial_pmf(rounds - ell, rounds, share), 2.0 * (ell - i) * eps
        beyond = logsumexp(log_mass[:-1] + log1mexp(np.minimum(fall[:-1], -1e-300)))
        return [math.exp(min(log_sum + slack, 0.0)) for log_sum in (beyond, logsumexp(log_mass + fall))]

    possible = range(1, rounds // 2 + 1)
    low = bisect.bisect_right(possible, left, key=lambda i: sums(i)[0])  # δ₀ = 0 is small enough
    lost, slope = sums(low)
    step = (Interval.of(left) - lost).lower / slope * (1.0 - 4 * UNIT)
    loss, next_loss = (Interval.of(eps) * (rounds - 2 * i) for i in (low, low + 1))
    value = loss + (-Interval.of(min(max(step, 0.0), 1.0 - UNIT))).log1p()
    return max(min(value.upper, loss.upper), next_loss.upper, 0.0)


def renyi_sum_mironov17(
    profile: PrivacyProfile, *, rounds: int, delta: float, order: ArrayLike = ORDERS
) -> BestOrder:
    r"""Bound ε of K adaptive rounds by Rényi divergences, which add up.

    .. math:: \varepsilon = \min_\lambda\; K D_\lambda
              + \frac{\log(1/\delta) + (\lambda-1)\log(1-1/\lambda) - \log\lambda}{\lambda-1}

    Parameters
    ----------
    profile : PrivacyProfile
        Of one round; the upper bounds of its divergences are used.
    order : array_like
        Orders tried, above 1.

    Returns
    -------
    BestOrder
        The bound and its order.

    Notes
    -----
    Source: Mironov (CSF 2017), Proposition 1; conversion by Canonne, Kamath, Steinke (NeurIPS 2020).

    Examples
    --------
    >>> from shufflelib.published import composition
    >>> from shufflelib.profiles import Gaussian
    >>> bound = composition.renyi_sum_mironov17(Gaussian(0.1), rounds=100, delta=1e-6)
    >>> truth = Gaussian(1.0).epsilon(1e-6)  # what 100 rounds are
    >>> round(bound.value, 2), round(truth.upper, 2)
    (5.23, 4.89)
    """
    validation.instance(profile, "profile", PrivacyProfile, remedy="shufflelib.shuffle makes one")
    rounds, delta = validation.rounds(rounds), validation.probability(delta, "delta")
    order = validation.renyi_orders(order).ravel()
    total = (Interval.of(profile.renyi(order).upper) * rounds).upper
    return best_over_orders(epsilon_from_renyi_canonne20(order=order, renyi=total, delta=delta), order=order)


def gaussian_limit_dong22(profile: PrivacyProfile, *, rounds: int) -> Gaussian:
    r"""Approximate K rounds by one Gaussian pair: the central limit theorem for composition.

    .. math:: \mu = \frac{2 K\,\mathrm{kl}}{\sqrt{K(\kappa_2 - \mathrm{kl}^2)}}, \qquad
              \mathrm{kl} = \mathbb E_P L, \quad \kappa_2 = \mathbb E_P L^2

    Parameters
    ----------
    profile : PrivacyProfile
        Of one round, with a finite maximal privacy loss; for a mechanism its dominating pair is used.

    Returns
    -------
    Gaussian
        The profile of the limit.  Not a bound: its error is of order 1/√K and of either sign.

    Raises
    ------
    ValueError
        If the two distributions are equal.

    Notes
    -----
    Moments are those of the loss in the order P, Q, to about 1e-3.
    Source: Dong, Roth, Su (JRSSB 2022), Theorem 3.4; Bu, Dong, Long, Su (HDSR 2020).

    Examples
    --------
    >>> from shufflelib.published import composition, renyi
    >>> limit = composition.gaussian_limit_dong22(renyi.generic_pair(eps0=1.0, n=100), rounds=100)
    >>> round(limit.mu, 3)
    1.263
    """
    validation.instance(profile, "profile", PrivacyProfile, remedy="shufflelib.shuffle makes one")
    rounds = validation.rounds(rounds)
    pair = profile if isinstance(profile, Pair) else profile.envelope  # type: ignore[attr-defined]
    if pair.max_privacy_loss == 0.0:
        raise ValueError(
            f"profile must be that of two different distributions, got {profile.statement}; "
            "there is nothing to compose"
        )
    distribution = pair.discretised.tilted(0, DOUBT, 0).above
    mean = math.fsum(distribution.mass * distribution.loss)
    variance = math.fsum(distribution.mass * (distribution.loss - mean) ** 2)
    return Gaussian(2.0 * mean * math.sqrt(rounds / variance))


def variation_ratio_wang24(
    *, n: int, p: float, beta: float, q: float, rounds: int, delta: float
) -> Certified[float]:
    r"""Compose the published variation-ratio pair and return ε.

    .. math:: D_{e^{\varepsilon}}\bigl(P^{\otimes K} \,\|\, Q^{\otimes K}\bigr) \le \delta

    Parameters
    ----------
    n : int
        Number of users of each round.
    p, beta, q : float
        As for `VariationRatioPair`.

    Returns
    -------
    Certified
        ε of the composed *pair*.

    Notes
    -----
    The paper discretises the pair's curve and composes with a Fourier accountant up to additive errors
    in ε and δ; here the same number is enclosed.  For a mechanism it is an upper bound only where the
    pair dominates it; see `VariationRatioPair`.
    Source: Wang (PVLDB 2024; arXiv:2304.05007), Lemma 7.2 and Theorem 7.3.

    Examples
    --------
    >>> from shufflelib.published import composition
    >>> asked = {"p": 3.0, "beta": 0.5, "q": 3.0, "delta": 1e-6}
    >>> bracket = composition.variation_ratio_wang24(**asked, n=20, rounds=2)
    >>> round(bracket.upper, 4)  # 2 log 3 = 2.1972… without the other users
    2.0925
    """
    return (
        VariationRatioPair(n=n, p=p, beta=beta, q0=q).compose(rounds=validation.rounds(rounds)).epsilon(delta)
    )


def subsampled_girgis21(*, eps0: float, n: int, rate: float, order: int) -> float:
    r"""Bound the Rényi divergence of one round in which a random subset reports and is shuffled.

    .. math:: \varepsilon(\lambda) = \frac1{\lambda-1}\log\Bigl(1
              + 4\binom\lambda2 \frac{\gamma^2(e^{\varepsilon_0}-1)^2}{\bar k e^{\varepsilon_0}}
              + \sum_{j=3}^{\lambda}\binom\lambda j \gamma^j j\,\Gamma(\tfrac j2)
                \Bigl(\tfrac{2(e^{2\varepsilon_0}-1)^2}{\bar k e^{2\varepsilon_0}}\Bigr)^{j/2}+\Upsilon\Bigr),

    .. math:: \bar k = \Bigl\lfloor\frac{n-1}{2e^{\varepsilon_0}}\Bigr\rfloor + 1, \quad
              \Upsilon = \bigl((1+\gamma x)^\lambda - 1 - \lambda\gamma x\bigr)
              e^{-\frac{n-1}{8e^{\varepsilon_0}}}, \quad x = \frac{e^{2\varepsilon_0}-1}{2e^{\varepsilon_0}}

    Parameters
    ----------
    n : int
        Number of users drawn, including the one whose value changes.
    rate : float
        γ in (0, 1], the share of the population that is drawn.
    order : int
        Rényi order, whole, 2 ≤ order ≤ 10⁶.

    Returns
    -------
    float
        An upper bound of the order-λ Rényi divergence of one round; K rounds have K times as much.

    Notes
    -----
    Hypotheses: identical pure eps0-LDP randomizers, subset of fixed size without replacement.
    Source: Girgis, Data, Diggavi (NeurIPS 2021), Theorem 1, as in the released code of Koskela,
    Heikkilä, Honkela (TMLR 2023).  Cost O(order).

    Examples
    --------
    >>> from shufflelib.published import composition
    >>> asked = {"eps0": 1.0, "n": 10_000, "order": 4}
    >>> [f"{composition.subsampled_girgis21(**asked, rate=rate):.2e}" for rate in (0.1, 1.0)]
    ['4.89e-05', '6.36e-03']
    """
    eps0, n = validation.local_budget(eps0), validation.users(n)
    rate = validation.sampling_rate(rate)
    order = validation.count(order, "order", at_least=2, at_most=LARGEST_SUM, remedy="a whole order")
    log_users, log_rate = math.log(effective_users(eps0, n)), math.log(rate)
    second = math.log(2.0 * order * (order - 1.0)) + 2.0 * log_rate
    second += 2.0 * log_expm1(eps0) - log_users - eps0
    j = np.arange(3.0, order + 1.0)
    higher = logsumexp(log_higher_moments(eps0, n, order, 4.0) + j * log_rate)
    # (1 + y)^λ − 1 − λy, term by term
    i = np.arange(2.0, order + 1.0)
    log_sinh = log_expm1(2.0 * eps0) - eps0 - math.log(2.0)
    rest = logsumexp(log_binomials(order, i) + i * (log_rate + log_sinh))
    rest -= 0.125 * (n - 1) * math.exp(-eps0)
    return float(np.logaddexp(0.0, logsumexp([second, higher, rest]))) / (order - 1.0)

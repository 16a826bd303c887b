"""The privacy blanket: the other users' input-independent reports, under two concentration inequalities.

Each theorem bounds δ at ε; the ε at a given δ is found by bisection of the formula.
"""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import log_expm1
from shufflelib.published.closed_form.amplification_bounds import BlanketBounds


def _log_delta_hoeffding(blanket, eps, n):
    """Return log of (1/(gamma n)) (b^2/(4a)) (1 - gamma(1 - exp(-2 a^2/b^2)))^n."""
    log_a, log_b = log_expm1(eps), math.log(blanket.b_range(eps))
    gain = -math.expm1(-2.0 * math.exp(2.0 * (log_a - log_b)))
    return (
        2.0 * log_b
        - log_a
        - math.log(4.0)
        - math.log(blanket.gamma)
        - math.log(n)
        + n * math.log1p(-blanket.gamma * gain)
    )


def _log_phi(log_u):
    """Return log((1 + u) log(1 + u) - u): a series below 0.1, no difference of near numbers above."""
    if log_u < math.log(0.1):
        u = math.exp(log_u)
        series = math.fsum((-u) ** k / ((k + 2.0) * (k + 1.0)) for k in range(20))
        return 2.0 * log_u + math.log(series)
    log1p_u = np.logaddexp(0.0, log_u).item()
    return log_u + math.log((1.0 + math.exp(-log_u)) * log1p_u - 1.0)


def _log_delta_bennett(blanket, eps, n):
    """Return log of (1/(gamma n)) sum over m >= 1 of Bin(n, gamma)(m) (b/log(1+u)) exp(-m t).

    The sum is the binomial generating function less its term at 0,
    (1 - gamma + gamma e^-t)^n - (1 - gamma)^n, so nothing has to be summed.
    """
    largest = blanket.b_plus(eps)
    if largest <= 0.0:
        return -math.inf
    log_b, log_c = math.log(largest), math.log(blanket.c(eps))
    log_u = log_expm1(eps) + log_b - log_c
    log_log1p_u = math.log(np.logaddexp(0.0, log_u)) if log_u > -30.0 else log_u
    rate = math.exp(log_c - 2.0 * log_b + _log_phi(log_u))
    whole = n * math.log1p(blanket.gamma * math.expm1(-rate))
    # whole - log((1 - gamma)^n) = n log1p(x); the sum is exp(whole) (1 - exp(-n log1p(x)))
    log_x = math.log(blanket.gamma) - math.log1p(-blanket.gamma) - rate
    log_excess = math.log(n) + (math.log(math.log1p(math.exp(log_x))) if log_x > -30.0 else log_x)
    log_rest = math.log(-math.expm1(-math.exp(min(log_excess, 7.0)))) if log_excess > -30.0 else log_excess
    return log_b - log_log1p_u - math.log(blanket.gamma) - math.log(n) + whole + log_rest


def _smallest_epsilon(log_delta, eps0, target):
    """Return the smallest ε tested with log_delta(ε) <= target, to 13 digits; eps0 if there is none.

    The true δ decreases in ε, a published bound need not: every ε at which the bound holds is valid.
    """

    def certifies(eps):
        return log_delta(eps) <= target

    high = math.nextafter(eps0, 0.0)
    if not certifies(high):
        grid = np.geomspace(1e-6 * eps0, high, 129)[:-1].tolist()
        high = next((eps for eps in grid if certifies(eps)), None)
        if high is None:
            return eps0
    low = 0.5 * high
    while low > 1e-300 and certifies(low):
        low, high = 0.5 * low, low
    while high - low > 1e-13 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if certifies(middle) else (middle, high)
    return high


def blanket_hoeffding_specific(*, blanket: BlanketBounds, n: int, delta: float) -> float:
    r"""Bound ε by the privacy blanket and Hoeffding's inequality, for a known randomizer.

    .. math:: \delta(\varepsilon) \le \frac{1}{\gamma n}\,\frac{b^2}{4(E - 1)}\,
              \bigl(1 - \gamma(1 - e^{-2 (E - 1)^2/b^2})\bigr)^n

    Parameters
    ----------
    blanket : BlanketBounds
        The randomizer: blanket mass and range of the amplification variable.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  The smallest ε tested that the
        formula proves (13 digits), or eps0 where it proves nothing smaller.

    Notes
    -----
    Hypotheses: identical, non-adaptive, pure eps0-LDP randomizers.  No restriction on n or delta.
    Source: Balle, Bell, Gascón, Nissim, CRYPTO 2019 (arXiv:1903.02837); all constants as in the
    authors' released code, which searches with a floor of 1e-11 on delta (none here).

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> blanket = closed_form.BlanketBounds.generalized_rr(eps0=1.0, d=10)
    >>> round(closed_form.blanket_hoeffding_specific(blanket=blanket, n=10_000, delta=1e-6), 4)
    0.0647
    """
    blanket, n, delta = _checked_blanket(blanket, n, delta)
    return _smallest_epsilon(lambda eps: _log_delta_hoeffding(blanket, eps, n), blanket.eps0, math.log(delta))


def blanket_bennett_specific(*, blanket: BlanketBounds, n: int, delta: float) -> float:
    r"""Bound ε by the privacy blanket and Bennett's inequality, for a known randomizer.

    .. math:: \delta(\varepsilon) \le \frac{1}{\gamma n} \sum_{m=1}^{n} \binom nm \gamma^m (1-\gamma)^{n-m}\,
              \frac{b_+}{\log(1+u)}\, e^{-m \frac{c}{b_+^2}\,\bigl((1+u)\log(1+u) - u\bigr)},
              \qquad u = \frac{(E - 1)\, b_+}{c}

    Parameters
    ----------
    blanket : BlanketBounds
        The randomizer: blanket mass, maximum and second moment of the amplification variable.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  The smallest ε tested that the
        formula proves (13 digits), or eps0 where it proves nothing smaller.

    Notes
    -----
    Hypotheses: identical, non-adaptive, pure eps0-LDP randomizers.  No restriction on n or delta.
    Source: Balle, Bell, Gascón, Nissim, CRYPTO 2019 (arXiv:1903.02837); all constants as in the
    authors' released code.  That code truncates the sum to 1e5 terms, has a floor of 1e-11 on delta
    and replaces (1+u)log(1+u) - u by u^2 (twice its leading term) when rounding makes it negative;
    here the sum is exact, since the factor before the exponential does not depend on m and the rest
    is the binomial generating function.

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> blanket = closed_form.BlanketBounds.generalized_rr(eps0=1.0, d=10)
    >>> round(closed_form.blanket_bennett_specific(blanket=blanket, n=10_000, delta=1e-6), 5)
    0.02804
    """
    blanket, n, delta = _checked_blanket(blanket, n, delta)
    return _smallest_epsilon(lambda eps: _log_delta_bennett(blanket, eps, n), blanket.eps0, math.log(delta))


def _checked_blanket(blanket, n, delta):
    remedy = "build one with BlanketBounds.generalized_rr(eps0=, d=)"
    validation.instance(blanket, "blanket", BlanketBounds, remedy=remedy)
    return blanket, validation.users(n), validation.probability(delta, "delta")


def blanket_hoeffding(*, eps0: float, n: int, delta: float) -> float:
    r"""Bound ε by the privacy blanket and Hoeffding's inequality, for any eps0-LDP randomizer.

    .. math:: \delta(\varepsilon) \le \frac{e^{\varepsilon_0}}{n}\,\frac{b^2}{4(E - 1)}\,
              \bigl(1 - e^{-\varepsilon_0}(1 - e^{-2 (E - 1)^2/b^2})\bigr)^n,
              \qquad b = (E + 1)(e^{\varepsilon_0} - e^{-\varepsilon_0})

    Returns
    -------
    float
        An upper bound, at most eps0: the shuffled protocol is (ε, delta)-DP.

    Notes
    -----
    `blanket_hoeffding_specific` with `BlanketBounds.generic`; hypotheses, source and cost are there.

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> round(closed_form.blanket_hoeffding(eps0=1.0, n=10_000, delta=1e-6), 3)
    0.167
    """
    return blanket_hoeffding_specific(blanket=BlanketBounds.generic(eps0=eps0), n=n, delta=delta)


def blanket_bennett(*, eps0: float, n: int, delta: float) -> float:
    r"""Bound ε by the privacy blanket and Bennett's inequality, for any eps0-LDP randomizer.

    .. math:: \gamma = e^{-\varepsilon_0},\quad
              b_+ = e^{\varepsilon_0}(1 - e^{\varepsilon - 2\varepsilon_0}),\quad
              c = e^{\varepsilon_0}(E^2 + 1) - 2 e^{\varepsilon - 3\varepsilon_0}

    Returns
    -------
    float
        An upper bound, at most eps0: the shuffled protocol is (ε, delta)-DP.

    Notes
    -----
    `blanket_bennett_specific` with `BlanketBounds.generic`; formula, hypotheses, source and cost are
    there.

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> round(closed_form.blanket_bennett(eps0=1.0, n=10_000, delta=1e-6), 4)
    0.1662
    """
    return blanket_bennett_specific(blanket=BlanketBounds.generic(eps0=eps0), n=n, delta=delta)

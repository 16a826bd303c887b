r"""Analytic bounds from the literature: the central ε of a shuffled protocol as a formula.

One function per theorem, **as published**: what the theorem prints, where its printed hypotheses
hold, and `OutOfRegime` everywhere else.  A published bound that falls below the exact value inside
its own regime stays as it is; its docstring says so with the smallest witness found.
Nothing certified depends on this module.

=============  ==================================================================
symbol         meaning
=============  ==================================================================
eps0           local budget in nats, every user's randomizer is pure eps0-LDP
n              number of all users, the one who changes included
delta          central failure probability
e, E           short for exp(eps0) and exp(eps)
p, beta, q     parameters of the variation-ratio pair (paper: Wang, VLDB 2024)
gamma          mass of the privacy blanket (total variation similarity)
=============  ==================================================================

Neighbouring datasets differ in one user's value (replace one).  The functions in order of reading:
`erlingsson19`, `clones_fmt21`, `stronger_clones_fmt23` (formulas in eps0), the ``blanket_*`` family
(formulas in ε, inverted here), ``variation_ratio_*`` (formulas in p, beta, q).  `over` sweeps any of
them and leaves a gap, not an error, where the theorem does not apply.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shufflelib import arguments

__all__ = [
    "BlanketBounds",
    "OutOfRegime",
    "blanket_bennett",
    "blanket_bennett_specific",
    "blanket_hoeffding",
    "blanket_hoeffding_specific",
    "clones_fmt21",
    "erlingsson19",
    "over",
    "stronger_clones_fmt23",
    "variation_ratio_analytic",
    "variation_ratio_asymptotic",
]

_ROUNDING = 1e-12  # beta = (p - 1)/(p + 1) must pass although it was computed in floating point


class OutOfRegime(ValueError):
    """A hypothesis of the theorem does not hold, so the theorem says nothing here."""


def _require(holds, hypothesis, numbers):
    if not holds:
        raise OutOfRegime(f"the theorem needs {hypothesis}; here {numbers}")


def _checked(eps0, n, delta):
    return arguments.local_budget(eps0), arguments.users(n), arguments.probability(delta, "delta")


# ---------------------------------------------------------------- formulas in eps0


def erlingsson19(*, eps0, n, delta):
    r"""Bound ε by amplification through subsampling, the first shuffling theorem.

    .. math:: \varepsilon = 12\,\varepsilon_0 \sqrt{\log(1/\delta) / n}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, at most 1/2 for the theorem.
    n : int
        Number of all users, at least 1000 for the theorem.
    delta : float
        Central failure probability, below 1/100 for the theorem.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.

    Raises
    ------
    OutOfRegime
        If eps0 > 1/2, n < 1000 or delta >= 1/100.
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    Hypotheses: pure eps0-LDP, users permuted before an adaptive sequence of randomizers.
    Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta, SODA 2019 (arXiv:1811.12469).
    The constants and the regime are those of Balle et al.'s released code (which admits
    delta = 1/100 itself; the smaller regime is used here).
    No value below the exact one was found in the regime; it is loose (eps0 = 1/2, n = 1000,
    delta = 1e-6: 0.705, above eps0 itself, where the generic pair has 0.0627).
    Cost does not depend on n.
    """
    eps0, n, delta = _checked(eps0, n, delta)
    _require(eps0 <= 0.5, "eps0 <= 1/2", f"eps0 = {eps0!r}")
    _require(n >= 1000, "n >= 1000", f"n = {n}")
    _require(delta < 0.01, "delta < 1/100", f"delta = {delta!r}")
    return 12.0 * eps0 * math.sqrt(-math.log(delta) / n)


def clones_fmt21(*, eps0, n, delta):
    r"""Bound ε by hiding among clones, each other user being one with probability exp(-eps0).

    .. math:: \varepsilon = \log\Bigl(1 + \frac{e^{\varepsilon_0} - 1}{e^{\varepsilon_0} + 1}
              \Bigl(\frac{8\sqrt{e^{\varepsilon_0}\log(4/\delta)}}{\sqrt n}
              + \frac{8 e^{\varepsilon_0}}{n}\Bigr)\Bigr)

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  It may exceed eps0.

    Raises
    ------
    OutOfRegime
        If eps0 > log(n / (16 log(4/delta))).
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    Hypotheses: pure eps0-LDP, users permuted before an adaptive sequence of randomizers.  No value
    below the exact one was found.
    Source: Feldman, McMillan, Talwar, FOCS 2021 (arXiv:2012.12803), Theorem 3.1.
    Errata: the paper's condition has log(2/delta), the authors' released code tests log(4/delta);
    the smaller regime is used here.  The released code evaluates a slightly larger, older form,
    with (1 - 1/e)/(1 + exp(-eps0 - eps')) in place of (e - 1)/(e + 1).
    Cost does not depend on n.
    """
    eps0, n, delta = _checked(eps0, n, delta)
    log4 = math.log(4.0) - math.log(delta)
    limit = math.log(n) - math.log(16.0 * log4)
    _require(eps0 <= limit, "eps0 <= log(n/(16 log(4/delta)))", f"eps0 = {eps0!r} > {limit:.6g}")
    ratio = math.exp(eps0) / n
    return math.log1p(math.tanh(0.5 * eps0) * 8.0 * (math.sqrt(ratio * log4) + ratio))


def stronger_clones_fmt23(*, eps0, n, delta):
    r"""Bound ε by the stronger clones: clone probability 2/(exp(eps0) + 1).

    .. math:: \varepsilon = \log\Bigl(1 + (e^{\varepsilon_0} - 1)
              \Bigl(\frac{4\sqrt{2\log(4/\delta)}}{\sqrt{(e^{\varepsilon_0} + 1) n}}
              + \frac{4}{n}\Bigr)\Bigr)

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  It may exceed eps0.

    Raises
    ------
    OutOfRegime
        If eps0 > log(n / (8 log(2/delta)) - 1), in particular if that logarithm does not exist.
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    Hypotheses as printed: pure eps0-LDP, users permuted before an adaptive sequence of randomizers.
    Source: Feldman, McMillan, Talwar, SODA 2023 (arXiv:2208.04591), section 3.  The formula is
    that of two independent codes; the ``- 1`` in the condition is a constant quoted second-hand.
    No value below the generic pair's was found.
    Errata: the official erratum withdraws the proof of Lemma 3.5, on which the theorem rests, for
    general (adaptive) randomizers.  For identical, non-adaptive, pure eps0-LDP randomizers the pair
    behind the formula is valid by another argument (binary randomized response's blanket dominates
    every other), so in that setting the number stands.
    Cost does not depend on n.
    """
    eps0, n, delta = _checked(eps0, n, delta)
    log2, log4 = math.log(2.0) - math.log(delta), math.log(4.0) - math.log(delta)
    room = n / (8.0 * log2) - 1.0
    limit = math.log(room) if room > 0.0 else -math.inf
    _require(eps0 <= limit, "eps0 <= log(n/(8 log(2/delta)) - 1)", f"eps0 = {eps0!r} > {limit:.6g}")
    root = 4.0 * math.sqrt(2.0 * log4 / ((math.exp(eps0) + 1.0) * n))
    return math.log1p(math.expm1(eps0) * (root + 4.0 / n))


# ---------------------------------------------------------------- the privacy blanket


def _log_expm1(x):
    """Return log(exp(x) - 1) for x >= 0 without overflow or cancellation."""
    return x + math.log(-math.expm1(-x)) if x > 0.0 else -math.inf


def _log_add(*logs):
    top = max(logs)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(x - top) for x in logs))


def _log_square_form(eps, log_a, log_b):
    """Return log(A (E - 1)^2 + 2 E B), the shape of every second moment below."""
    return _log_add(log_a + 2.0 * _log_expm1(eps), log_b + math.log(2.0) + eps)


@dataclass(frozen=True)
class BlanketBounds:
    r"""What the blanket theorems need to know of the amplification variable of a randomizer.

    .. math:: L = \gamma\,\frac{R_0(y) - e^{\varepsilon} R_1(y)}{w(y)},\qquad y \sim w/\gamma

    Parameters
    ----------
    eps0 : float
        Local budget in nats; ε = eps0 always holds, with delta = 0.
    gamma : float
        Lower bound on the blanket's mass, in (0, 1): the chance that a user's report is blanket.
    log_b_plus : callable
        ε -> log of an upper bound on L, for 0 < ε < eps0 (``-inf``: L is never positive).
    log_b_range : callable
        ε -> log of an upper bound on the length of the interval that holds L.
    log_c : callable
        ε -> log of an upper bound on the mean of L squared.
    name : str
        Which randomizer, in words.

    Notes
    -----
    Logarithms, because exp(2 eps0) overflows at eps0 = 355.  The mean of L is 1 - exp(ε).
    Second moments are written A (E - 1)^2 + 2 E B with B free of cancellation.
    """

    eps0: float
    gamma: float
    log_b_plus: Callable[[float], float]
    log_b_range: Callable[[float], float]
    log_c: Callable[[float], float]
    name: str = ""

    def __post_init__(self):
        arguments.local_budget(self.eps0)
        arguments.real(self.gamma, "gamma", above=0.0, below=1.0)

    @classmethod
    def generic(cls, *, eps0):
        r"""Build the bounds for any eps0-LDP randomizer.

        .. math:: \gamma = e^{-\varepsilon_0},\quad
                  b_+ = e^{\varepsilon_0}(1 - e^{\varepsilon - 2\varepsilon_0}),\quad
                  b = (e^{\varepsilon} + 1)(e^{\varepsilon_0} - e^{-\varepsilon_0}),
                  \quad c = e^{\varepsilon_0}(e^{2\varepsilon} + 1) - 2 e^{\varepsilon - 3\varepsilon_0}

        Notes
        -----
        As released by Balle et al.: gamma is bounded by exp(-eps0) where it divides or enters the
        power, and by 1 where it multiplies.
        """
        eps0 = arguments.local_budget(eps0)
        return cls._from_ratios(eps0, -eps0, 0.0, "any randomizer")

    @classmethod
    def similarity(cls, *, eps0, gamma):
        r"""Build the generic formulas with the total variation similarity of one randomizer.

        .. math:: b_+ = \gamma e^{\varepsilon_0}(1 - e^{\varepsilon - 2\varepsilon_0}),\quad
                  b = \gamma (e^{\varepsilon} + 1)(e^{\varepsilon_0} - e^{-\varepsilon_0}),\quad
                  c = \gamma\,\bigl(e^{\varepsilon_0}(e^{2\varepsilon} + 1)
                  - 2\gamma e^{\varepsilon - 2\varepsilon_0}\bigr)

        Notes
        -----
        The literal reading of "Hoeffding and Bennett with randomizer-specific parameters, i.e. with
        total variation similarity gamma" (Wang, VLDB 2024, section 8.1, Figures 1 and 2): the
        generic class of Balle et al.'s code with gamma known on both sides.  `extremal` is the other
        reading.  Sound, because R/w lies in [exp(-eps0), exp(eps0)].
        """
        eps0 = arguments.local_budget(eps0)
        gamma = _similarity(gamma, eps0)
        log_gamma = math.log(gamma)
        return cls._from_ratios(eps0, log_gamma, log_gamma, "generic formulas at a known gamma", gamma)

    @classmethod
    def _from_ratios(cls, eps0, log_below, log_above, name, gamma=None):
        return cls(
            eps0,
            _below_one(math.exp(log_below) if gamma is None else gamma),
            lambda eps: log_above + eps0 + math.log(-math.expm1(eps - 2.0 * eps0)),
            lambda eps: log_above + eps + math.log1p(math.exp(-eps)) + _log_expm1(2.0 * eps0) - eps0,
            lambda eps: (
                log_above + eps0 + _log_square_form(eps, 0.0, math.log(-math.expm1(log_below - 3.0 * eps0)))
            ),
            name,
        )

    @classmethod
    def extremal(cls, *, eps0, gamma):
        r"""Build the bounds for a randomizer whose density ratios R/w lie in [1, exp(eps0)].

        .. math:: b_+ = \gamma(e - E),\quad b = \gamma (e - 1)(E + 1),\quad
                  c = \gamma^2\bigl[A (E - 1)^2 + 2 E B\bigr],\quad
                  A = 1 + s(e + 1),\; B = (e - 1)\min(s,\, e - 1 - s),\; s = 1/\gamma - 1

        Notes
        -----
        Derivation.  Write a = R0/w and b = R1/w; w is the infimum over all inputs, so a, b >= 1, and
        eps0-LDP gives a, b <= e; under the blanket both have mean 1/gamma = 1 + s.  L = gamma (a - E b)
        is linear: its largest value is gamma (e - E), its smallest gamma (1 - e E).  The chord of
        a^2 over [1, e] gives mean(a^2) <= 1 + s(e + 1) = A.  (a - 1)(b - 1) >= 0 and
        (e - a)(e - b) >= 0 give mean(a b) >= max(1 + 2s, 2e(1 + s) - e^2) = A - B.  Hence
        mean((a - E b)^2) <= (1 + E^2) A - 2E (A - B) = A (E - 1)^2 + 2 E B.

        Equality in A where the ratios are only 1 and e (the extremal design), in B where no output
        is likely under both inputs: generalized RR on its d >= 2 values is the case
        gamma = d/(e + d - 1), and the formulas then are those of Balle et al.  For the subset
        mechanism gamma = C(d,k) / (e C(d-1,k-1) + C(d-1,k)), for local hash gamma = l/(e + l - 1):
        the second reading of Wang's "privacy-blanket, specific"; for them c is an upper bound.
        """
        eps0 = arguments.local_budget(eps0)
        gamma = _similarity(gamma, eps0)
        return cls._extremal(eps0, math.log(gamma), math.log1p(-gamma) - math.log(gamma), "extremal design")

    @classmethod
    def generalized_rr(cls, *, eps0, d):
        r"""Build the bounds for generalized randomized response on d values.

        .. math:: \gamma = \frac{d}{e + d - 1},\quad b_+ = \gamma(1 - E) + (1 - \gamma) d,\quad
                  b = (1 - \gamma) d (E + 1),\quad
                  c = \gamma(2 - \gamma)(E - 1)^2 + (1 - \gamma)^2 d (E^2 + 1)
        """
        eps0 = arguments.local_budget(eps0)
        d = arguments.count(d, "d", at_least=2)
        log_excess = _log_expm1(eps0) - math.log(d)
        return cls._extremal(
            eps0, -np.logaddexp(0.0, log_excess).item(), log_excess, f"generalized RR on {d} values"
        )

    @classmethod
    def _extremal(cls, eps0, log_gamma, log_excess, name):
        log_rest = _log_expm1(eps0) + math.log(-math.expm1(min(log_excess - _log_expm1(eps0), -1e-16)))
        log_a = _log_add(0.0, log_excess + eps0 + math.log1p(math.exp(-eps0)))
        log_b = _log_expm1(eps0) + min(log_excess, log_rest)
        return cls(
            eps0,
            _below_one(math.exp(log_gamma)),
            lambda eps: log_gamma + eps + _log_expm1(eps0 - eps),
            lambda eps: log_gamma + _log_expm1(eps0) + eps + math.log1p(math.exp(-eps)),
            lambda eps: 2.0 * log_gamma + _log_square_form(eps, log_a, log_b),
            name,
        )

    @classmethod
    def laplace(cls, *, eps0):
        r"""Build the bounds for the Laplace mechanism with inputs in [0, 1] and scale 1/eps0.

        .. math:: \gamma = e^{-\varepsilon_0/2},\quad
                  b_+ = e^{\varepsilon_0/2}(1 - e^{\varepsilon - \varepsilon_0}),\quad
                  b = (E + 1)(e^{\varepsilon_0/2} - e^{-\varepsilon_0/2}),
        .. math:: c = \tfrac{E^2 + 1}{3}(2 e^{\varepsilon_0/2} + e^{-\varepsilon_0})
                  - 2E(2 e^{-\varepsilon_0/2} - e^{-\varepsilon_0})
        """
        eps0 = arguments.local_budget(eps0)
        half = 0.5 * eps0
        log_a = half + math.log((2.0 + math.exp(-1.5 * eps0)) / 3.0)
        # A - (2 e^{-h} - e^{-2h}) = (2/3) e^{-2h} (e^h - 1)^2 (e^h + 2)
        log_b = math.log(2.0 / 3.0) - eps0 + 2.0 * _log_expm1(half) + half + math.log1p(2.0 * math.exp(-half))
        return cls(
            eps0,
            _below_one(math.exp(-half)),
            lambda eps: half + math.log(-math.expm1(eps - eps0)) if eps < eps0 else -math.inf,
            lambda eps: eps + math.log1p(math.exp(-eps)) + _log_expm1(eps0) - half,
            lambda eps: _log_square_form(eps, log_a, log_b),
            "Laplace on [0, 1]",
        )


def _below_one(gamma):
    return min(gamma, math.nextafter(1.0, 0.0))  # a smaller blanket mass is always sound


def _similarity(gamma, eps0):
    gamma = arguments.real(
        gamma, "gamma", above=0.0, below=1.0, remedy="gamma is the mass of the privacy blanket"
    )
    if math.log(gamma) < -eps0 * (1.0 + _ROUNDING) - _ROUNDING:
        raise ValueError(
            f"gamma must be >= exp(-eps0) = {math.exp(-eps0):.6g} for an eps0-LDP randomizer, got {gamma!r}"
        )
    return max(gamma, math.exp(-eps0))


def _log_delta_hoeffding(blanket, eps, n):
    """Return log of (1/(gamma n)) (b^2/(4a)) (1 - gamma(1 - exp(-2 a^2/b^2)))^n."""
    log_a, log_b = _log_expm1(eps), blanket.log_b_range(eps)
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
    log_b, log_c = blanket.log_b_plus(eps), blanket.log_c(eps)
    if log_b == -math.inf:
        return -math.inf
    log_u = _log_expm1(eps) + log_b - log_c
    log1p_u = np.logaddexp(0.0, log_u).item() if log_u > -30.0 else math.exp(log_u)
    rate = math.exp(log_c - 2.0 * log_b + _log_phi(log_u))
    whole = n * math.log1p(blanket.gamma * math.expm1(-rate))
    # whole - log((1 - gamma)^n) = n log1p(x); the sum is exp(whole) (1 - exp(-n log1p(x)))
    log_x = math.log(blanket.gamma) - math.log1p(-blanket.gamma) - rate
    log_excess = math.log(n) + (math.log(math.log1p(math.exp(log_x))) if log_x > -30.0 else log_x)
    log_rest = math.log(-math.expm1(-math.exp(min(log_excess, 7.0)))) if log_excess > -30.0 else log_excess
    return log_b - math.log(log1p_u) - math.log(blanket.gamma) - math.log(n) + whole + log_rest


def _smallest_epsilon(log_delta, eps0, target):
    """Return the smallest ε tested with log_delta(ε) <= target, to 13 digits; eps0 if there is none.

    A published bound is not always decreasing in ε, the true δ is: any ε that certifies is sound.
    """

    def certifies(eps):
        return log_delta(eps) <= target

    high = math.nextafter(eps0, 0.0)
    if not certifies(high):
        inner = [
            eps for eps in np.geomspace(1e-6 * eps0, high, 129).tolist() if eps < eps0 and certifies(eps)
        ]
        if not inner:
            return eps0
        high = inner[0]
    low = 0.5 * high
    while low > 1e-300 and certifies(low):
        low, high = 0.5 * low, low
    while high - low > 1e-13 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if certifies(middle) else (middle, high)
    return high


def blanket_hoeffding_specific(*, blanket, n, delta):
    r"""Bound ε by the privacy blanket and Hoeffding's inequality, for a known randomizer.

    .. math:: \delta(\varepsilon) \le \frac{1}{\gamma n}\,\frac{b^2}{4(E - 1)}\,
              \bigl(1 - \gamma(1 - e^{-2 (E - 1)^2/b^2})\bigr)^n

    Parameters
    ----------
    blanket : BlanketBounds
        The randomizer: blanket mass and range of the amplification variable.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  The smallest ε tested that the
        formula certifies (13 digits), or eps0 where it certifies nothing smaller.

    Raises
    ------
    TypeError, ValueError
        If ``blanket`` is not a `BlanketBounds` or a number is not of the stated kind.

    Notes
    -----
    Hypotheses: identical, non-adaptive, pure eps0-LDP randomizers.  No restriction on n or delta.
    Source: Balle, Bell, Gascón, Nissim, CRYPTO 2019 (arXiv:1903.02837); all constants as in the
    authors' released code, which searches with a floor of 1e-11 on delta (none here).
    Cost does not depend on n.
    """
    blanket, n, delta = _checked_blanket(blanket, n, delta)
    return _smallest_epsilon(lambda eps: _log_delta_hoeffding(blanket, eps, n), blanket.eps0, math.log(delta))


def blanket_bennett_specific(*, blanket, n, delta):
    r"""Bound ε by the privacy blanket and Bennett's inequality, for a known randomizer.

    .. math:: \delta(\varepsilon) \le \frac{1}{\gamma n} \sum_{m=1}^{n} \binom nm \gamma^m (1-\gamma)^{n-m}\,
              \frac{b_+}{\log(1+u)}\, e^{-m \frac{c}{b_+^2}\,\bigl((1+u)\log(1+u) - u\bigr)},
              \qquad u = \frac{(E - 1)\, b_+}{c}

    Parameters
    ----------
    blanket : BlanketBounds
        The randomizer: blanket mass, maximum and second moment of the amplification variable.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  The smallest ε tested that the
        formula certifies (13 digits), or eps0 where it certifies nothing smaller.

    Raises
    ------
    TypeError, ValueError
        If ``blanket`` is not a `BlanketBounds` or a number is not of the stated kind.

    Notes
    -----
    Hypotheses: identical, non-adaptive, pure eps0-LDP randomizers.  No restriction on n or delta.
    Source: Balle, Bell, Gascón, Nissim, CRYPTO 2019 (arXiv:1903.02837); all constants as in the
    authors' released code.  That code truncates the sum to 1e5 terms, has a floor of 1e-11 on delta
    and replaces (1+u)log(1+u) - u by u^2 (twice its leading term) when rounding makes it negative;
    here the sum is exact, since the factor before the exponential does not depend on m and the rest
    is the binomial generating function.  Cost does not depend on n.
    """
    blanket, n, delta = _checked_blanket(blanket, n, delta)
    return _smallest_epsilon(lambda eps: _log_delta_bennett(blanket, eps, n), blanket.eps0, math.log(delta))


def _checked_blanket(blanket, n, delta):
    if not isinstance(blanket, BlanketBounds):
        raise TypeError(
            f"blanket must be a BlanketBounds, got {blanket!r}; "
            "build one with BlanketBounds.generalized_rr(eps0=, d=)"
        )
    return blanket, arguments.users(n), arguments.probability(delta, "delta")


def blanket_hoeffding(*, eps0, n, delta):
    r"""Bound ε by the privacy blanket and Hoeffding's inequality, for any eps0-LDP randomizer.

    .. math:: \delta(\varepsilon) \le \frac{e^{\varepsilon_0}}{n}\,\frac{b^2}{4(E - 1)}\,
              \bigl(1 - e^{-\varepsilon_0}(1 - e^{-2 (E - 1)^2/b^2})\bigr)^n,
              \qquad b = (E + 1)(e^{\varepsilon_0} - e^{-\varepsilon_0})

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        An upper bound, at most eps0: the shuffled protocol is (ε, delta)-DP.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    `blanket_hoeffding_specific` with `BlanketBounds.generic`; hypotheses, source and cost are there.
    """
    return blanket_hoeffding_specific(blanket=BlanketBounds.generic(eps0=eps0), n=n, delta=delta)


def blanket_bennett(*, eps0, n, delta):
    r"""Bound ε by the privacy blanket and Bennett's inequality, for any eps0-LDP randomizer.

    .. math:: \gamma = e^{-\varepsilon_0},\quad
              b_+ = e^{\varepsilon_0}(1 - e^{\varepsilon - 2\varepsilon_0}),\quad
              c = e^{\varepsilon_0}(E^2 + 1) - 2 e^{\varepsilon - 3\varepsilon_0}

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        An upper bound, at most eps0: the shuffled protocol is (ε, delta)-DP.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    `blanket_bennett_specific` with `BlanketBounds.generic`; formula, hypotheses, source and cost are
    there.
    """
    return blanket_bennett_specific(blanket=BlanketBounds.generic(eps0=eps0), n=n, delta=delta)


# ---------------------------------------------------------------- the variation-ratio pair


def _pair_parameters(p, beta, q, n, delta):
    """Check and return (1/p, alpha, alpha p, r, 1 - alpha - alpha p, n, log(2/delta), log(4/delta))."""
    p = arguments.real(p, "p", above=1.0, finite=False)
    beta = arguments.real(beta, "beta", at_least=0.0, at_most=1.0)
    q = arguments.real(q, "q", at_least=1.0)
    n, delta = arguments.users(n), arguments.probability(delta, "delta")
    inverse = 1.0 / p
    largest = (1.0 - inverse) / (1.0 + inverse)
    _require(beta <= largest * (1.0 + _ROUNDING), "beta <= (p-1)/(p+1)", f"beta = {beta!r} > {largest:.6g}")
    alpha_p = beta / (1.0 - inverse)
    r = alpha_p / q
    _require(
        2.0 * r <= 1.0 + _ROUNDING, "a clone probability 2r = 2 beta p/((p-1) q) <= 1", f"2r = {2.0 * r:.6g}"
    )
    rest = 1.0 - alpha_p * (1.0 + inverse)
    rest = rest if rest > 4.0 * _ROUNDING else 0.0
    return beta, q, inverse, alpha_p, min(r, 0.5), rest, n, delta


def variation_ratio_analytic(*, p, beta, q, n, delta):
    r"""Bound ε of the variation-ratio pair by one tail bound on the number of clones.

    .. math:: \varepsilon = \log\Bigl(1 + \frac{\beta(2\sqrt{\Omega\log(4/\delta)/2} + 1)}
              {\alpha\Omega + \beta(\Omega/2 - \sqrt{\Omega\log(4/\delta)/2})
              + (1-\alpha-\alpha p)(n-1-\Omega)\frac{r}{1-2r}}\Bigr),
    .. math:: \Omega = 2r(n-1) - \sqrt{\min(6r, \tfrac12)(n-1)\log(4/\delta)},\qquad
              \alpha = \frac{\beta}{p-1},\quad r = \frac{\alpha p}{q}

    Parameters
    ----------
    p : float
        Largest probability ratio of the user who changes, > 1; ``math.inf`` is the limit.
    beta : float
        Total variation between that user's two reports, 0 <= beta <= (p-1)/(p+1).
    q : float
        Largest probability ratio against another user's report, >= 1.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        What the theorem claims is an upper bound on ε of the pair at delta, in both directions.
        It is **not** an upper bound everywhere in the printed regime: see Notes.

    Raises
    ------
    OutOfRegime
        If beta > (p-1)/(p+1) or a printed condition fails:
        (p+1) alpha/2 - (1-alpha-alpha p) r/(1-2r) >= 0 and
        Omega >= (2p(beta+1+(beta-1)p)(n-1) + beta) / (q + p(beta-1+(beta+1)p) - pq).
        Also where the formula has no meaning: 2r > 1, Omega <= 0 (tested in the authors' code), or
        a denominator that is not positive.
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    Source: Wang, VLDB 2024 (arXiv:2304.05007), Theorem 4.7 with Appendix C; the authors' released
    code is the same with strict inequalities.

    **Below the exact value inside the printed regime**, because the second printed condition has a
    slip of sign.  Appendix C needs F(C), the last display of its proof, to fall for C >= Omega.  With
    g = (1-alpha-alpha p) r/(1-2r) and K = (p+1) alpha/2 - g, the derivative is negative once
    K C >= g(n-1) + beta/2, that is, for (p+1)q > 2p,

    .. math:: \Omega \ge \frac{2p\,(p - 1 - \beta(p+1))(n-1)/(p-1) + (p-1)q - 2\beta p}{(p+1)q - 2p},

    where the printed numerator is -2p (p - 1 - beta(p+1)) (n-1) + beta, never positive for larger n, so
    the printed condition hardly ever binds.  Witnesses (bound; exact ε; exact delta at the bound):

    - smallest n found: p = 1000, beta = 24/25, q = 2, n = 3, delta = 1/10: 0.7804; 6.3085; 0.2469;
    - 4-ary randomized response (p = q = 3, beta = 1/3), n = 28, delta = 1/100: 0.1765; 0.2946; 0.0280,
      and the shuffled mechanism itself, all others holding a third value, has delta 0.0281 there;
    - 10-ary randomized response (p = q = 3, beta = 1/6), n = 358, delta = 1e-8: 0.0157; 0.2016; 0.0106.

    Under the condition above no violation was seen in 110,000 random points.  It holds by itself
    where 1 - alpha - alpha p = 0 (generic eps0-LDP; p = inf with beta = 1), and the settings of the
    paper's Figures 3 and 4 are not affected.

    Cost does not depend on n.
    """
    beta, q, inverse, alpha_p, r, rest, n, delta = _pair_parameters(p, beta, q, n, delta)
    alpha = alpha_p * inverse
    log4 = math.log(4.0) - math.log(delta)
    others = float(n - 1)
    blank = rest * r / (1.0 - 2.0 * r) if rest > 0.0 and r < 0.5 else 0.0
    _require(rest == 0.0 or r < 0.5, "2r < 1 where 1 - alpha - alpha p > 0", f"r = {r:.6g}")
    slope = 0.5 * (alpha_p + alpha) - blank
    _require(
        slope >= -_ROUNDING * alpha_p,
        "(p+1) alpha/2 >= (1-alpha-alpha p) r/(1-2r)",
        f"difference = {slope:.6g}",
    )
    omega = 2.0 * r * others - math.sqrt(min(6.0 * r, 0.5) * others * log4)
    _require(omega > 0.0, "Omega > 0", f"Omega = {omega:.6g}")
    # numerator and denominator of the printed condition, both divided by p^2
    above = 2.0 * ((beta + 1.0) * inverse + beta - 1.0) * others + beta * inverse**2
    below = q * inverse**2 + (beta - 1.0) * inverse + beta + 1.0 - q * inverse
    threshold = above / below if below else math.inf
    _require(
        omega >= threshold - _ROUNDING * abs(threshold),
        "Omega >= (2p(beta+1+(beta-1)p)(n-1)+beta)/(q+p(beta-1+(beta+1)p)-pq)",
        f"Omega = {omega:.6g} < {threshold:.6g}",
    )
    deviation = math.sqrt(0.5 * omega * log4)
    denominator = alpha * omega + beta * (0.5 * omega - deviation) + blank * (others - omega)
    _require(denominator > 0.0, "a positive denominator", f"the denominator is {denominator:.6g}")
    return math.log1p(beta * (2.0 * deviation + 1.0) / denominator)


def variation_ratio_asymptotic(*, p, beta, q, n, delta):
    r"""Bound ε of the variation-ratio pair by a short formula for large n.

    .. math:: \varepsilon = \log\Bigl(1 + \frac{\beta}{(1-c)(1+p)\beta/(p-1) + c}
              \Bigl(\sqrt{\frac{32\log(4/\delta)}{r(n-1)}} + \frac{4}{rn}\Bigr)\Bigr),\qquad
              r = \frac{p\beta}{(p-1)q},\quad c = \max\Bigl\{0, \frac49\,\frac{1-3r}{1-2r}\Bigr\}

    Parameters
    ----------
    p : float
        Largest probability ratio of the user who changes, > 1; ``math.inf`` is the limit.
    beta : float
        Total variation between that user's two reports, 0 <= beta <= (p-1)/(p+1).
    q : float
        Largest probability ratio against another user's report, >= 1.
    n : int
        Number of all users, the one who changes included.
    delta : float
        Central failure probability.

    Returns
    -------
    float
        An upper bound on ε of the variation-ratio pair at delta, in both directions.

    Raises
    ------
    OutOfRegime
        If beta > (p-1)/(p+1), 2r > 1 (the pair does not exist), n = 1, or
        n < 8 log(2/delta) (p-1) q / (beta p).
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    Source: Wang, VLDB 2024 (arXiv:2304.05007), Theorem 4.8 with Appendix D.  The authors' released
    code evaluates something else: sqrt(16 log(4/delta)/(r(n-1))) + 2/(r(n-1)) under
    n > 8 log(4/delta)/r, a root smaller by the factor 0.71.

    No value below the exact one was found (190,000 random points, delta up to 0.999): where the bound
    was closest, the pair's delta at the bound was 1/100 of the target.

    Cost does not depend on n.
    """
    beta, q, inverse, alpha_p, r, rest, n, delta = _pair_parameters(p, beta, q, n, delta)
    log2, log4 = math.log(2.0) - math.log(delta), math.log(4.0) - math.log(delta)
    needed = 8.0 * log2 / r if r > 0.0 else math.inf
    _require(
        n >= needed and n > 1, "n >= 8 log(2/delta) (p-1) q/(beta p) and n >= 2", f"n = {n} < {needed:.6g}"
    )
    c = max(0.0, 4.0 / 9.0 * (1.0 - 3.0 * r) / (1.0 - 2.0 * r)) if r < 1.0 / 3.0 else 0.0
    loss = math.sqrt(32.0 * log4 / (r * (n - 1.0))) + 4.0 / (r * n)
    return math.log1p(beta / ((1.0 - c) * (1.0 - rest) + c) * loss)


# ---------------------------------------------------------------- sweeps


def over(bound, **grid):
    """Evaluate a bound over arrays of its arguments, with NaN where the theorem does not apply.

    Parameters
    ----------
    bound : callable
        A function of this module, or any function of keywords that raises `OutOfRegime`.
    **grid : array_like
        Keyword arguments of ``bound``; they broadcast against each other.

    Returns
    -------
    numpy.ndarray
        One float per point of the broadcast shape.  NaN marks a gap to be drawn as a gap, never a
        value; other errors (bad input) are raised.
    """
    points = np.broadcast(*(np.asarray(values) for values in grid.values()))
    columns = [column.ravel().tolist() for column in np.broadcast_arrays(*map(np.asarray, grid.values()))]
    results = np.full(points.size, math.nan)
    for index, values in enumerate(zip(*columns, strict=True)):
        try:
            results[index] = bound(**dict(zip(grid, values, strict=True)))
        except OutOfRegime:
            continue
    return results.reshape(points.shape)

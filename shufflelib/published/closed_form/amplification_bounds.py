"""Blanket mass, range and second moment of the amplification variable, as the blanket theorems need them.

`BlanketBounds` with one constructor per case.  Everything is kept as a logarithm, because
exp(2 eps0) overflows at eps0 = 355.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import log_expm1
from shufflelib.published.closed_form.regime import ROUNDING


def _log_add(*logs):
    top = max(logs)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(x - top) for x in logs))


def _log_square_form(eps, log_a, log_b):
    """Return log(A (E - 1)^2 + 2 E B), the shape of every second moment below."""
    return _log_add(log_a + 2.0 * log_expm1(eps), log_b + math.log(2.0) + eps)


@dataclass(frozen=True)
class BlanketBounds:
    r"""Bounds on the privacy amplification random variable of a randomizer, for the blanket theorems.

    .. math:: L = \gamma\,\frac{R_0(y) - e^{\varepsilon} R_1(y)}{w(y)},\qquad y \sim w/\gamma

    Parameters
    ----------
    eps0 : float
        Local budget in nats; ε = eps0 always holds, with delta = 0.
    gamma : float
        Lower bound on the blanket's mass, in (0, 1): the probability that a report is drawn from it.
    log_b_plus : callable
        ε -> log of an upper bound on L, for 0 < ε < eps0 (``-inf``: L is never positive).
    log_b_range : callable
        ε -> log of an upper bound on the length of the interval that holds L.
    log_c : callable
        ε -> log of an upper bound on the mean of L squared.
    name : str
        Description of the randomizer.

    Notes
    -----
    Logarithms, because exp(2 eps0) overflows at eps0 = 355.  The mean of L is 1 - exp(ε).
    Second moments are written A (E - 1)^2 + 2 E B with B free of cancellation.

    Examples
    --------
    Knowing the randomizer gains a factor of six:

    >>> from shufflelib.published import closed_form
    >>> known = closed_form.BlanketBounds.generalized_rr(eps0=1.0, d=10)
    >>> anyone = closed_form.BlanketBounds.generic(eps0=1.0)
    >>> at = {"n": 10_000, "delta": 1e-6}
    >>> [round(closed_form.blanket_bennett_specific(blanket=one, **at), 5) for one in (known, anyone)]
    [0.02804, 0.16617]
    """

    eps0: float
    gamma: float
    log_b_plus: Callable[[float], float]
    log_b_range: Callable[[float], float]
    log_c: Callable[[float], float]
    name: str = ""

    def __post_init__(self):
        validation.local_budget(self.eps0)
        validation.real(self.gamma, "gamma", above=0.0, below=1.0)

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
        eps0 = validation.local_budget(eps0)
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
        eps0 = validation.local_budget(eps0)
        gamma = _similarity(gamma, eps0)
        log_gamma = math.log(gamma)
        return cls._from_ratios(eps0, log_gamma, log_gamma, "generic formulas at a known gamma", gamma)

    @classmethod
    def _from_ratios(cls, eps0, log_below, log_above, name, gamma=None):
        return cls(
            eps0,
            _below_one(math.exp(log_below) if gamma is None else gamma),
            lambda eps: log_above + eps0 + math.log(-math.expm1(eps - 2.0 * eps0)),
            lambda eps: log_above + eps + math.log1p(math.exp(-eps)) + log_expm1(2.0 * eps0) - eps0,
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
        eps0 = validation.local_budget(eps0)
        gamma = _similarity(gamma, eps0)
        return cls._extremal(eps0, math.log(gamma), math.log1p(-gamma) - math.log(gamma), "extremal design")

    @classmethod
    def generalized_rr(cls, *, eps0, d):
        r"""Build the bounds for generalized randomized response on d values.

        .. math:: \gamma = \frac{d}{e + d - 1},\quad b_+ = \gamma(1 - E) + (1 - \gamma) d,\quad
                  b = (1 - \gamma) d (E + 1),\quad
                  c = \gamma(2 - \gamma)(E - 1)^2 + (1 - \gamma)^2 d (E^2 + 1)
        """
        eps0 = validation.local_budget(eps0)
        d = validation.count(d, "d", at_least=2)
        log_excess = log_expm1(eps0) - math.log(d)
        return cls._extremal(
            eps0, -np.logaddexp(0.0, log_excess).item(), log_excess, f"generalized RR on {d} values"
        )

    @classmethod
    def _extremal(cls, eps0, log_gamma, log_excess, name):
        log_rest = log_expm1(eps0) + math.log(-math.expm1(min(log_excess - log_expm1(eps0), -1e-16)))
        log_a = _log_add(0.0, log_excess + eps0 + math.log1p(math.exp(-eps0)))
        log_b = log_expm1(eps0) + min(log_excess, log_rest)
        return cls(
            eps0,
            _below_one(math.exp(log_gamma)),
            lambda eps: log_gamma + eps + log_expm1(eps0 - eps),
            lambda eps: log_gamma + log_expm1(eps0) + eps + math.log1p(math.exp(-eps)),
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
        eps0 = validation.local_budget(eps0)
        half = 0.5 * eps0
        log_a = half + math.log((2.0 + math.exp(-1.5 * eps0)) / 3.0)
        # A - (2 e^{-h} - e^{-2h}) = (2/3) e^{-2h} (e^h - 1)^2 (e^h + 2)
        log_b = math.log(2.0 / 3.0) - eps0 + 2.0 * log_expm1(half) + half + math.log1p(2.0 * math.exp(-half))
        return cls(
            eps0,
            _below_one(math.exp(-half)),
            lambda eps: half + math.log(-math.expm1(eps - eps0)) if eps < eps0 else -math.inf,
            lambda eps: eps + math.log1p(math.exp(-eps)) + log_expm1(eps0) - half,
            lambda eps: _log_square_form(eps, log_a, log_b),
            "Laplace on [0, 1]",
        )


def _below_one(gamma):
    return min(gamma, math.nextafter(1.0, 0.0))  # a smaller blanket mass is always sound


def _similarity(gamma, eps0):
    gamma = validation.real(
        gamma, "gamma", above=0.0, below=1.0, remedy="gamma is the mass of the privacy blanket"
    )
    if math.log(gamma) < -eps0 * (1.0 + ROUNDING) - ROUNDING:
        raise ValueError(
            f"gamma must be >= exp(-eps0) = {math.exp(-eps0):.6g} for an eps0-LDP randomizer, got {gamma!r}"
        )
    return max(gamma, math.exp(-eps0))

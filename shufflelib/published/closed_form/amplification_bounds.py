"""Blanket mass, range and second moment of the amplification variable, as the blanket theorems need them.

`BlanketBounds` with one constructor per case.  Everything is kept as a logarithm, because
exp(2 eps0) overflows at eps0 = 355.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from shufflelib.numerics import validation
from shufflelib.published.closed_form.regime import ROUNDING, require

SMALLEST_BUDGET, LARGEST_BUDGET = 1e-12, 200.0  # between them no power of e^eps0 overflows


def _second_moment(eps, a, b):
    """Return A (E - 1)^2 + 2 E B with E = exp(eps)."""
    return a * math.expm1(eps) ** 2 + 2.0 * math.exp(eps) * b


@dataclass(frozen=True)
class BlanketBounds:
    r"""Range and moments of the loss of one report of a randomizer, for the privacy blanket theorems.

    .. math:: L = \gamma\,\frac{R_0(y) - e^{\varepsilon} R_1(y)}{w(y)},\qquad y \sim w/\gamma

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 1e-12 to 200, else `OutOfRegime`; ε = eps0 always holds, with delta = 0.
    gamma : float
        Lower bound on the blanket's mass, in (0, 1): the probability that a report is drawn from it.
    b_plus : callable
        ε -> upper bound on L, for 0 < ε < eps0 (0: L is never positive).
    b_range : callable
        ε -> upper bound on the length of the interval that holds L.
    c : callable
        ε -> upper bound on the mean of L squared.

    Notes
    -----
    The mean of L is 1 - exp(ε).  Second moments are written A (E - 1)^2 + 2 E B with B free of cancellation.

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
    b_plus: Callable[[float], float]
    b_range: Callable[[float], float]
    c: Callable[[float], float]

    def __post_init__(self):
        validation.real(self.gamma, "gamma", above=0.0, below=1.0)

    @classmethod
    def generic(cls, *, eps0: float) -> "BlanketBounds":
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
        eps0 = _budget(eps0)
        return cls._from_ratios(eps0, math.exp(-eps0), 1.0, math.exp(-eps0))

    @classmethod
    def similarity(cls, *, eps0: float, gamma: float) -> "BlanketBounds":
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
        eps0 = _budget(eps0)
        gamma = _similarity(gamma, eps0)
        return cls._from_ratios(eps0, gamma, gamma, gamma)

    @classmethod
    def _from_ratios(cls, eps0, below, above, gamma):
        ratio = above * math.exp(eps0)
        rest = -math.expm1(math.log(below) - 3.0 * eps0)
        return cls(
            eps0,
            _below_one(gamma),
            lambda eps: ratio * -math.expm1(eps - 2.0 * eps0),
            lambda eps: ratio * -math.expm1(-2.0 * eps0) * (math.exp(eps) + 1.0),
            lambda eps: ratio * _second_moment(eps, 1.0, rest),
        )

    @classmethod
    def extremal(cls, *, eps0: float, gamma: float) -> "BlanketBounds":
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
        eps0 = _budget(eps0)
        gamma = _similarity(gamma, eps0)
        return cls._extremal(eps0, (1.0 - gamma) / gamma)

    @classmethod
    def generalized_rr(cls, *, eps0: float, d: int) -> "BlanketBounds":
        r"""Build the bounds for generalized randomized response on d values.

        .. math:: \gamma = \frac{d}{e + d - 1},\quad b_+ = \gamma(1 - E) + (1 - \gamma) d,\quad
                  b = (1 - \gamma) d (E + 1),\quad
                  c = \gamma(2 - \gamma)(E - 1)^2 + (1 - \gamma)^2 d (E^2 + 1)
        """
        eps0 = _budget(eps0)
        return cls._extremal(eps0, math.expm1(eps0) / validation.count(d, "d", at_least=2))

    @classmethod
    def _extremal(cls, eps0, excess):
        gamma, most = 1.0 / (1.0 + excess), math.expm1(eps0)
        a = 1.0 + excess * (math.exp(eps0) + 1.0)
        b = most * min(excess, max(most - excess, 1e-16 * most))
        return cls(
            eps0,
            _below_one(gamma),
            lambda eps: gamma * math.exp(eps) * math.expm1(eps0 - eps),
            lambda eps: gamma * most * (math.exp(eps) + 1.0),
            lambda eps: gamma**2 * _second_moment(eps, a, b),
        )

    @classmethod
    def laplace(cls, *, eps0: float) -> "BlanketBounds":
        r"""Build the bounds for the Laplace mechanism with inputs in [0, 1] and scale 1/eps0.

        .. math:: \gamma = e^{-\varepsilon_0/2},\quad
                  b_+ = e^{\varepsilon_0/2}(1 - e^{\varepsilon - \varepsilon_0}),\quad
                  b = (E + 1)(e^{\varepsilon_0/2} - e^{-\varepsilon_0/2}),
        .. math:: c = \tfrac{E^2 + 1}{3}(2 e^{\varepsilon_0/2} + e^{-\varepsilon_0})
                  - 2E(2 e^{-\varepsilon_0/2} - e^{-\varepsilon_0})
        """
        eps0 = _budget(eps0)
        root = math.exp(0.5 * eps0)
        a = (2.0 * root + 1.0 / root**2) / 3.0
        # A - (2 e^{-h} - e^{-2h}) = (2/3) e^{-2h} (e^h - 1)^2 (e^h + 2)
        b = 2.0 / 3.0 * (math.expm1(0.5 * eps0) / root) ** 2 * (root + 2.0)
        return cls(
            eps0,
            _below_one(1.0 / root),
            lambda eps: max(root * -math.expm1(eps - eps0), 0.0),
            lambda eps: math.expm1(eps0) / root * (math.exp(eps) + 1.0),
            lambda eps: _second_moment(eps, a, b),
        )


def _budget(eps0):
    eps0 = validation.local_budget(eps0)
    inside = SMALLEST_BUDGET <= eps0 <= LARGEST_BUDGET
    require(inside, f"{SMALLEST_BUDGET:g} <= eps0 <= {LARGEST_BUDGET:g}", f"eps0 = {eps0!r}")
    return eps0


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

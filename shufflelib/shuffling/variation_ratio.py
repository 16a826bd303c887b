r"""The pair (P, Q) of the variation-ratio paper, as published."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from shufflelib.numerics import validation
from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.randomizers.local_randomizer import LocalRandomizer

SMALLEST_MASS = 1e-305  # of another user's report; a number of users divided by it does not overflow
LISTED_USERS = 600  # up to here a trade-off function comes from a list of all outcomes
PRECISION = 8 * UNIT  # of the likelihood ratios and of their masses
SHARP = 1e-9  # relative width aimed at, a thousandth of what mechanisms get


class VariationRatioPair(BlanketPair):
    r"""The pair (P, Q) of the variation-ratio reduction, as published.

    .. math:: P = (A + \Delta_1,\; C - A + \Delta_2), \qquad Q = (A + \Delta_2,\; C - A + \Delta_1)

    with α = β/(p − 1), r₀ = αp/q₀, r₁ = αp/q₁, C ~ Bin(n − 1, r₀ + r₁), A ~ Bin(C, r₀/(r₀ + r₁)) and
    (Δ₁, Δ₂) = (1, 0), (0, 1), (0, 0) with probabilities αp, α, 1 − α − αp.

    Parameters
    ----------
    n : int
        Number of users, 1 ≤ n ≤ 10¹⁵.
    p : float
        Ratio bound, p > 1, possibly infinite.
    beta : float
        Total-variation bound, 0 ≤ β ≤ (p − 1)/(p + 1).
    q0, q1 : float
        Ratio bounds towards the other users, at least 1, with r₀ + r₁ ≤ 1; ``q1`` defaults to ``q0``.

    Notes
    -----
    The pair is a `BlanketPair`: relative to the reports of the other users, whose three values have the
    probabilities r₀, r₁ and 1 − r₀ − r₁, the likelihood ratios of the two reports are

    .. math:: \Bigl(q_0, \frac{q_0}p\Bigr), \qquad \Bigl(\frac{q_1}p, q_1\Bigr), \qquad
              \frac{1-\alpha-\alpha p}{1-r_0-r_1}\,(1, 1) .

    Both bounds enclose the divergence of this pair.  For a *mechanism* the pair is an upper bound where
    1 − α − αp = 0 (binary randomized response, generic ε₀-LDP, p = ∞ with β = 1).  Elsewhere the reduction
    (Theorems 4.1, 4.2) fails: for 5-ary randomized response with e^ε₀ = 3, n = 5, all others holding a third
    value, δ(log 2) = 0.011780… while the pair has 0.009400…  `shuffle` certifies mechanisms instead.

    The pair is ordered: ``tradeoff`` tests the null P against the alternative Q; ``delta``,
    ``epsilon`` and ``renyi`` take the larger of the two directions.

    Parameters are the floats given, except that a β within the rounding of p of its largest value is taken to
    be that value.  `of` needs no such tolerance.  r₀ + r₁ within 1e-15 of 1 counts as 1.

    Cost O(1) in n.
    Source: Wang (arXiv:2304.05007 before v5), Theorems 4.2 and 4.6, Algorithm 1; q₀ ≠ q₁:
    Proposition 1, Algorithm 3.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import VariationRatioPair
    >>> bracket = VariationRatioPair.of(randomizers.generic(eps0=1.0), n=1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 5), round(bracket.upper, 4)
    (0.14867, 0.1487)
    """

    source = "exact numerics of the published pair; not a bound for a mechanism"

    def __init__(self, *, n: int, p: float, beta: float, q0: float, q1: float | None = None) -> None:
        n = validation.users(n)
        self.p = validation.real(p, "p", above=1.0, finite=False, remedy="p bounds a ratio of densities")
        self.q0 = validation.real(q0, "q0", at_least=1.0, remedy="q0 bounds a ratio of densities")
        self.q1 = validation.real(
            self.q0 if q1 is None else q1, "q1", at_least=1.0, remedy="q1 bounds a ratio"
        )
        likely = 1 / Fraction(self.p) if math.isfinite(self.p) else Fraction(0)
        self._set_ratios(n, beta, likely, UNIT / float(1 - likely))

    @classmethod
    def of(cls, randomizer: LocalRandomizer, *, n: int) -> "VariationRatioPair":
        """Return the pair with a randomizer's published parameters; p − 1 is precise if p = e^ε₀."""
        p, beta, q = randomizer.variation_ratio()
        pair = cls(n=n, p=p, beta=beta, q0=q)
        eps0 = getattr(randomizer, "eps0", math.inf)
        if math.isfinite(pair.p) and math.isclose(math.log(pair.p), eps0, rel_tol=UNIT, abs_tol=UNIT):
            pair._set_ratios(pair.n, beta, 1 / (1 + Fraction(math.expm1(eps0))), 2 * UNIT)
        return pair

    def _set_ratios(self, n, beta, likely, rounding):
        """Set the likelihood ratios, given 1/p and how well p − 1 is known, relatively.

        Differences of probabilities are computed in exact fractions, so that small ones are precise.
        """
        largest = (1 - likely) / (1 + likely)
        at_most = float(largest) * (1.0 + max(1e-12, 8 * rounding))
        remedy = "beta is at most (p - 1)/(p + 1)"
        beta = Fraction(validation.real(beta, "beta", at_least=0.0, at_most=at_most, remedy=remedy))
        if beta >= largest * (1 - Fraction(0.5 * rounding + 4 * UNIT)):
            beta = largest
        high = beta / (1 - likely)
        low = high * likely
        r0, r1 = high / Fraction(self.q0), high / Fraction(self.q1)
        rest, other = 1 - low - high, 1 - r0 - r1
        if other < -1e-12:
            raise ValueError(
                "q0 and q1 must leave probabilities, but beta p/(p - 1) (1/q0 + 1/q1) is "
                f"{float(r0 + r1):g}, got q0={self.q0!r}, q1={self.q1!r}; use larger ones"
            )
        if beta > 0 and min(r0, r1) < SMALLEST_MASS:
            raise ValueError(
                f"q0 and q1 must leave masses beta p/(p - 1)/q of at least {SMALLEST_MASS:g}, "
                f"got q0={self.q0!r}, q1={self.q1!r} at beta={float(beta)!r}; use smaller ones"
            )
        self.beta = float(beta)
        third = float(rest / other) if other > 1e-15 else 0.0
        self._outside = float(rest) if other <= 1e-15 else 0.0  # the others never report the third value
        likely = float(likely)
        first, second = [self.q0, self.q1 * likely, third], [self.q0 * likely, self.q1, third]
        self._values = first, second, [float(r0), float(r1), max(float(other), 0.0)]
        some = [beta > 0, beta > 0, third > 0.0]
        ratios = LikelihoodRatios(
            *(np.array(part)[some] for part in self._values),
            r0_outside=self._outside,
            r1_outside=self._outside,
            outside=np.full((2, 1), self._outside) if self._outside > 0.0 else None,
            precision=PRECISION,
            exchangeable=self.q0 == self.q1,
        )
        super().__init__(ratios, n)
        self.search_width = SHARP
        self.statement = f"the pair (P, Q) with n={n}, p={self.p:g}, beta={self.beta:g}, q0={self.q0:g}"
        if self.q1 != self.q0:
            self.statement += f", q1={self.q1:g}"

    @cached_property
    def reversed(self):
        """The pair (Q, P), which is the pair with q0 and q1 exchanged."""
        if self.symmetric:
            return self
        return VariationRatioPair(n=self.n, p=self.p, beta=self.beta, q0=self.q1, q1=self.q0)

    def _asking(self, eps, tolerance):
        """Enclose the divergence, more sharply than asked for unless only a first look is."""
        return super()._asking(eps, SHARP if tolerance <= TOLERANCE else tolerance)

    def renyi_by_order(self) -> Callable[[float], tuple[float, float] | None]:
        """Return what gives both bounds of D_order(P‖Q) for few users, else what every blanket pair knows."""
        return self.cells.known_renyi if self.n <= LISTED_USERS else super().renyi_by_order()

    def known_false_negatives(self, fpr):
        """Return both bounds of the smallest false-negative rate for few users, else None."""
        return self.cells.false_negatives(fpr) if self.n <= LISTED_USERS else None

    @cached_property
    def cells(self):
        """The finite pair of how many reports have each of the three values."""
        first, second, mass = (np.array(part) for part in self._values)
        a, b = (part.ravel() for part in np.indices((self.n + 1, self.n + 1)))
        counts = np.stack([a, b, self.n - a - b])
        counts = counts[:, (counts[2] >= 0) & ~np.any(counts[mass == 0.0] > 0, axis=0)]
        log_report = np.log(np.where(mass > 0.0, mass, 1.0))
        ways = gammaln(self.n + 1.0) - gammaln(counts + 1.0).sum(axis=0)
        error = PRECISION * (8.0 + self.n + gammaln(self.n + 1.0)) + 8 * UNIT * np.abs(log_report) @ counts
        log_mass = Interval.of(ways + log_report @ counts).widened(absolute=error)
        outside = Interval.of(np.array([self._outside])).log().widened(absolute=PRECISION)
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = [np.log(part @ counts / self.n) for part in (first, second)]
            loss = np.append(losses[0] - losses[1], 0.0)
        return DiscretePair.from_losses(
            *(Interval.concatenate([log_mass + part, outside]) for part in losses),
            Interval.of(loss, 4.0).widened(absolute=4 * PRECISION),
        )

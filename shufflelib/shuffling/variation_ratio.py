r"""The pair (P, Q) of the variation-ratio paper, computed exactly, as published."""

import functools
import math
from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from shufflelib.numerics import validation
from shufflelib.numerics.certified import TOLERANCE, LogInterval, intersect
from shufflelib.numerics.logspace import (
    LEAST_TAIL,
    UNIT,
    binomial_pmf_error,
    binomial_tail,
    binomial_tail_error,
    complement,
    log_binomial_pmf,
)
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.connect_the_dots import DOT_TOLERANCE
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.privacy_profile import PairProfile

ENUMERATED_USERS = 600  # up to here the pair is enumerated
SUMMED_USERS = 1_500_000  # up to here its divergence is summed over a + b
FEW_USERS = 30_000  # up to here that sum is the fastest method
SMALLEST_MASS = 1e-305  # of another user's report; a number of users divided by it does not overflow


class VariationRatioPair(PairProfile):
    r"""The pair (P, Q) of the variation-ratio reduction, as published.

    .. math:: P = (A + \Delta_1,\; C - A + \Delta_2), \qquad Q = (A + \Delta_2,\; C - A + \Delta_1)

    with α = β/(p − 1), r₀ = αp/q₀, r₁ = αp/q₁, C ~ Bin(n − 1, r₀ + r₁), A ~ Bin(C, r₀/(r₀ + r₁)) and
    (Δ₁, Δ₂) = (1, 0), (0, 1), (0, 0) with probabilities αp, α, 1 − α − αp.

    Parameters
    ----------
    n : int
        Number of all users, 1 ≤ n ≤ 10¹⁵.
    p : float
        Ratio bound, p > 1, possibly infinite.
    beta : float
        Total-variation bound, 0 ≤ β ≤ (p − 1)/(p + 1).
    q0, q1 : float
        Ratio bounds towards the other users, at least 1, with r₀ + r₁ ≤ 1; ``q1`` defaults to ``q0``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is outside its domain.

    Notes
    -----
    Both ends enclose the divergence of this pair.  For a *mechanism* the pair is an upper bound where
    1 − α − αp = 0 (binary randomized response, generic ε₀-LDP, p = ∞ with β = 1).  Elsewhere the reduction
    (Theorems 4.1, 4.2) fails: for 5-ary randomized response with e^ε₀ = 3, n = 5, all others holding a third
    value, δ(log 2) = 0.011780… while the pair has 0.009400…  `shuffle` certifies mechanisms instead.

    The pair is ordered: ``tradeoff`` tests the null P against the alternative Q; ``delta``,
    ``epsilon`` and ``renyi`` take the larger of the two directions.

    Parameters are the floats given, except that a β within the rounding of p of its largest value is taken to
    be that value, and the ends hold for every p that rounds to the one given.  `of` needs no such tolerance.
    r₀ + r₁ within 1e-15 of 1 counts as 1.

    Cost: a list of cells up to 600 users, O(√n) tails up to 1.5 million, O(1) beyond.
    Source: Wang (PVLDB 2024; arXiv:2304.05007), Theorems 4.2 and 4.6, Algorithm 1; q₀ ≠ q₁:
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

    def __init__(self, *, n, p, beta, q0, q1=None):
        self.n = validation.users(n)
        self.p = validation.real(p, "p", above=1.0, finite=False, remedy="p bounds a ratio of densities")
        # of p − 1, and so of its largest beta, per rounding of p
        self._doubt = UNIT * (1.0 if math.isinf(self.p) else self.p / (self.p - 1.0))
        largest = 1.0 if math.isinf(self.p) else (self.p - 1.0) / (self.p + 1.0)
        self.beta = validation.real(
            beta,
            "beta",
            at_least=0.0,
            at_most=largest * (1.0 + max(1e-12, 8 * self._doubt)),
            remedy="beta is at most (p - 1)/(p + 1)",
        )
        self.q0 = validation.real(q0, "q0", at_least=1.0, remedy="q0 bounds a ratio of densities")
        self.q1 = (
            self.q0 if q1 is None else validation.real(q1, "q1", at_least=1.0, remedy="q1 bounds a ratio")
        )
        self._weigh(math.inf if math.isinf(self.p) else Fraction(self.p) - 1)
        if self._other < -1e-12:
            raise ValueError(
                "q0 and q1 must leave probabilities, but beta p/(p - 1) (1/q0 + 1/q1) is "
                f"{1.0 - self._other:g}, got q0={q0!r}, q1={self.q1!r}; use larger ones"
            )
        if self.beta > 0.0 and min(self._r0, self._r1) < SMALLEST_MASS:
            raise ValueError(
                f"q0 and q1 must leave masses beta p/(p - 1)/q of at least {SMALLEST_MASS:g}, got q0={q0!r}, "
                f"q1={self.q1!r} at beta={self.beta!r}; use smaller ones"
            )
        self.symmetric = self.q0 == self.q1
        self.search_width = 1e-11 if self.n <= SUMMED_USERS else 2e-8
        self.statement = (
            f"the pair (P, Q) with n={self.n}, p={self.p:g}, beta={self.beta:g}, q0={self.q0:g}"
            + ("" if self.symmetric else f", q1={self.q1:g}")
        )

    @classmethod
    def of(cls, randomizer, *, n):
        """Return the pair with a randomizer's published parameters; p − 1 is precise if p = e^ε₀."""
        pair = cls(n=n, p=randomizer.p, beta=randomizer.beta, q0=randomizer.q)
        eps0 = getattr(randomizer, "eps0", math.inf)
        if math.isclose(math.log(pair.p), eps0, rel_tol=UNIT, abs_tol=UNIT) and math.isfinite(pair.p):
            pair._doubt, pair.beta = 2 * UNIT, float(randomizer.beta)
            pair._weigh(Fraction(math.expm1(eps0)))
        return pair

    def _weigh(self, excess):
        """Set the masses of the differing user's three symbols and of another user's, given p − 1.

        Differences are computed in exact fractions, so that small ones are precise.
        """
        beta = Fraction(self.beta)
        largest = excess / (excess + 2) if math.isfinite(excess) else Fraction(1)
        # A β within rounding of its largest value is set to it.  Then the masses are p/(p + 1) and 1/(p + 1).
        # The rounding of p changes them by at most one rounding, and only β, their difference, by `_doubt`.
        # The error bounds below include several roundings of ratios and masses, and `_doubt` for a loss.
        if beta >= largest * (1 - Fraction(0.5 * self._doubt + 4 * UNIT)):
            beta = largest
        low = beta / excess if math.isfinite(excess) else Fraction(0)
        high = beta + low
        r0, r1 = high / Fraction(self.q0), high / Fraction(self.q1)
        self.beta = float(beta)
        self._low, self._high, self._rest = float(low), float(high), float(1 - low - high)
        self._r0, self._r1, self._other = float(r0), float(r1), float(1 - r0 - r1)
        self._r2 = self._other if self._other > 1e-15 else 0.0

    @functools.cached_property
    def reversed(self):
        """The pair (Q, P), which is the pair with q0 and q1 exchanged."""
        return (
            self
            if self.symmetric
            else VariationRatioPair(n=self.n, p=self.p, beta=self.beta, q0=self.q1, q1=self.q0)
        )

    @property
    def max_privacy_loss(self):
        """Log p, rounding included."""
        return math.log(self.p) * (1 + 4 * UNIT) + 4 * UNIT if self.beta > 0.0 else 0.0

    @functools.cached_property
    def cells(self):
        """The pair enumerated: all (a, b), ratios computed without cancellation."""
        n, low, high = self.n, self._low, self._high
        a, b = (
            part.ravel().astype(float)
            for part in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        )
        keep = (a + b == n) if self._r2 == 0.0 else (a + b <= n)
        a, b = a[keep], b[keep]
        c = n - a - b
        with np.errstate(divide="ignore", invalid="ignore"):
            log_r2 = math.log(self._r2) if self._r2 > 0.0 else 0.0
            log_count = (
                gammaln(n)
                - gammaln(a + 1)
                - gammaln(b + 1)
                - gammaln(c + 1)
                + a * math.log(self._r0)
                + b * math.log(self._r1)
                + c * log_r2
            )
            left, right = a / self._r0, b / self._r1
            rest = self._rest * c / self._r2 if self._r2 > 0.0 else 0.0
            in_p, in_q = high * left + low * right + rest, low * left + high * right + rest
            gap = self.beta * (left - right)
            loss = np.where(gap >= 0.0, np.log1p(gap / in_q), -np.log1p(-gap / in_p))
            log_p, log_q = log_count + np.log(in_p), log_count + np.log(in_q)
        loss = np.where(in_q == 0.0, np.inf, np.where(in_p == 0.0, -np.inf, loss))
        keep = (in_p > 0.0) | (in_q > 0.0)
        log_p, log_q, loss = log_p[keep], log_q[keep], loss[keep]
        rounding = self._doubt if self._rest > 0.0 else UNIT  # of the masses, see `_weigh`
        unsupported = (self._r0 + self._r1) / self._r2 if self._r2 > 0.0 else 0.0
        total, left = (a + b)[keep], c[keep]
        mass_error = rounding * (2.0 + total + left * unsupported) + UNIT * (
            8.0 * float(gammaln(n + 1.0)) + 16.0
        )
        mass_error += (
            4 * UNIT * ((a[keep] + 1.0) * abs(math.log(self._r0)) + (b[keep] + 1.0) * abs(math.log(self._r1)))
        )
        mass_error += 4 * UNIT * (left + 1.0) * abs(log_r2)
        if self._r2 == 0.0 and self._rest > 0.0:
            log_p, log_q = (np.append(part, math.log(self._rest)) for part in (log_p, log_q))
            loss, mass_error = np.append(loss, 0.0), np.append(mass_error, rounding / self._rest)
        finite = np.where(np.isfinite(loss), np.abs(loss), 0.0)
        return DiscretePair.from_losses(
            log_p, log_q, loss, mass_error=mass_error, loss_error=self._doubt * finite
        )

    @functools.cached_property
    def _by_ratios(self):
        """The pair as a loss sum, for any number of users."""
        first = [self._high / self._r0, self._low / self._r1]
        second = [self._low / self._r0, self._high / self._r1]
        mass = [self._r0, self._r1]
        if self._r2 > 0.0 and self._rest > 0.0:
            first, second, mass = (
                [*part, last]
                for part, last in (
                    (first, self._rest / self._r2),
                    (second, self._rest / self._r2),
                    (mass, self._r2),
                )
            )
        return BlanketPair(
            LikelihoodRatios(np.array(first), np.array(second), np.array(mass), precision=8 * UNIT),
            self.n,
        )

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose the divergence: over cells, over a + b, or as a contour integral."""
        if eps >= self.max_privacy_loss:
            return LogInterval(-math.inf, -math.inf)
        if self.n <= ENUMERATED_USERS:
            return self.cells.log_hockey_stick(eps)
        rough = tolerance >= (1e-3 if self.n <= FEW_USERS else DOT_TOLERANCE)
        if self.n > SUMMED_USERS or rough or eps >= 600.0:
            return self._by_ratios.log_hockey_stick(eps, tolerance)
        for reach in (13.0, 38.0):
            summed = self._over_totals(eps, reach)
            if summed.upper - summed.lower < 1e-8:
                return summed
        other = self._by_ratios.log_hockey_stick(eps, tolerance)
        return intersect(summed, other)

    def _over_totals(self, eps, reach):
        r"""Sum over s = a + b: given s, one mass and one tail of a binomial distribution.

        .. math:: H = \frac1n \sum_s w(s)\,\kappa\, \mathbb E[(a - t_s)_+], \qquad
                  \mathbb E[(a-t)_+] = m(1-\varrho) f(m) + (s\varrho - t) S(m),\; m = \lfloor t\rfloor + 1
        """
        n, ratio = self.n, math.exp(-eps)
        share = self._r0 + self._r1
        rho, other = self._r0 / share, self._r1 / share  # 1 − rho may be rounded to 0
        # in units of e^eps
        gain = (self._high * ratio - self._low) / self._r0
        loss = (self._high - self._low * ratio) / self._r1
        drift = self._rest * -math.expm1(-eps) / self._r2 if self._r2 > 0.0 else 0.0
        deviation = math.sqrt(n * share * (1.0 - share)) + 4.0
        spread = reach * deviation
        # Bernstein: omitted totals on either side
        left_out = 2.0 * math.exp(-0.5 * reach**2 / (1.0 + reach / (3.0 * deviation)))
        s = np.arange(max(1.0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1.0)
        if self._r2 == 0.0:
            s = np.array([float(n)])
        kappa = gain + loss
        pull = loss * s + drift * (n - s)
        threshold = pull / kappa
        # each coefficient is a difference: its error is that of its terms
        unit = 4 * UNIT
        gain_error, loss_error = (
            unit * (x + y) / r
            for x, y, r in (
                (self._high * ratio, self._low, self._r0),
                (self._high, self._low * ratio, self._r1),
            )
        )
        drift_error = (
            unit * (drift * (1.0 + 1.0 / self._r2) - math.expm1(-eps) / self._r2) if self._r2 > 0.0 else 0.0
        )
        kappa_error = (gain_error + loss_error) / kappa
        threshold_error = (loss_error * s + drift_error * (n - s)) / kappa + threshold * (
            kappa_error + 4 * UNIT
        )
        reachable = threshold - threshold_error < s
        s, threshold, threshold_error = s[reachable], threshold[reachable], threshold_error[reachable]
        if s.size == 0:
            return LogInterval(-math.inf, min(0.0, math.log(max(gain, 1e-300)) + math.log(left_out) + eps))
        m = np.floor(threshold) + 1.0
        log_weight = log_binomial_pmf(s, n, share) if self._r2 > 0.0 else np.zeros(1)
        log_mass = log_binomial_pmf(m, s, rho)
        mass, tail = np.exp(log_mass), binomial_tail(m, s, rho)
        spike = m * other * mass
        excess = np.maximum(spike + (s * rho - threshold) * tail, 0.0)
        slack_mass = binomial_pmf_error(log_mass) + 4 * UNIT * np.abs(m - s * rho) / other
        error = spike * slack_mass + np.abs(s * rho - threshold) * binomial_tail_error(tail, mass, m, rho)
        first = np.floor(threshold - threshold_error) + 1.0
        outer, moved = tail + LEAST_TAIL, first != m  # the error rarely reaches a whole number
        outer[moved] = binomial_tail(first[moved], s[moved], rho)
        error += outer * (threshold_error + 4 * UNIT * s * rho) + kappa_error * excess
        slack_weight = binomial_pmf_error(log_weight)
        slack_weight += 8 * UNIT * np.abs(s - n * share) / max(1.0 - share, UNIT)
        weight = np.exp(log_weight)
        scale = math.log(kappa) - math.log(n) + eps
        upper = math.fsum(weight * (excess + error) * (1.0 + 2.0 * slack_weight))
        lower = math.fsum(weight * np.maximum(excess - error, 0.0) * (1.0 - 2.0 * slack_weight))
        rounding = 32 * UNIT * (1.0 + eps)
        upper += n * left_out  # the excess is at most s
        return LogInterval(
            scale + math.log(lower) - rounding if lower > 0.0 else -math.inf,
            min(scale + math.log(upper) + rounding, 0.0),
        )

    def renyi_directed(self, order, skip_below=0.0):
        """Return both ends of D_order(P‖Q)."""
        if self.beta == 0.0:  # P = Q
            return 0.0, 0.0
        if self.n > ENUMERATED_USERS:
            return self._by_ratios.renyi_directed(order, skip_below)
        lower, upper = self.cells.renyi_directed(order)
        return min(lower, self.max_privacy_loss), min(upper, self.max_privacy_loss)

    def false_negatives(self, fpr):
        """Return both ends of the smallest false-negative rate, null P against alternative Q."""
        if self.beta == 0.0:  # P = Q
            return complement(fpr)
        return self.cells.false_negatives(fpr) if self.n <= ENUMERATED_USERS else super().false_negatives(fpr)

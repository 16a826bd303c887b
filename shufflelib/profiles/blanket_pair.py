r"""Two reports of one user among n − 1 draws from a reference measure: what every mechanism reduces to."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.numerics.positive_part_enumerated import (
    ENUMERATED_ATOMS,
    ENUMERATION_LIMIT,
    SHORT,
    ConvexSums,
    Listed,
    ListedSums,
)
from shufflelib.numerics.positive_part_iid import (
    SHARPENED,
    SMALLEST_SIZE,
    LossDistributions,
    expected_positive_part,
    union_upper_bound,
)
from shufflelib.numerics.saddle_point import added
from shufflelib.numerics.types import Array
from shufflelib.profiles.connect_the_dots import renyi_from_moment
from shufflelib.profiles.hockey_stick import Pair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

FEW = 64  # outputs
MOST_EXTREME = 1e-2  # mass of R_0 on the outputs that may be treated one by one
UNNOTICED = math.log(1e-7)  # log of the share of δ that does no harm
UNSEEN = -1000.0  # log of what no δ shows
MOST_LISTED = 510_000, 100_000  # sums for a Rényi divergence, and those of no more rare ratios than usual
ENOUGH = 60.0  # e-folds below the least of powers of what is left out, from which on no more are listed
LEFT_OUT = 1e-6  # share of its moment that sums which are not listed, or rounding, may have
TILTS = np.geomspace(1e-18, 1e3, 60)
CUTS = 32  # of the extreme outputs, at which a split is tried first, and tilts about the best one
LOOSE = 100.0  # times the aimed width: another split is then tried
MORE_SPLITS, BETTER = 6, 0.3  # further splits, and the log of what each must gain
LARGEST = 1e300
BLOCK = 1 << 14  # outputs times values of ε at once
CALM = 12.0  # largest exponent θG up to which no output is treated one by one
CALM_DEPTH = 50.0  # e-folds of H up to which that is tried
WELL_LISTED = 1e-5  # width of a list from which on no integral is tried, which is rounded more
HOPELESS = 5.0  # tolerance at which a loss sum is bounded, not computed
FARTHEST = 640.0  # nats; beyond it e^{-ε} has no digits left and H is bounded by its value here


class BlanketPair(Pair):
    r"""The pair of one user's two possible reports among n − 1 draws from a reference measure.

    .. math:: H_\varepsilon = \tfrac1n\,\mathbb E[(G_1+\dots+G_n)_+] + \text{mass outside}

    With the full density of the others' reports as reference measure, this is the pair of shuffled
    outputs itself; with the privacy blanket it dominates that, whatever values the others have.

    Losses without exponential moments, a Gaussian's for example, are split.  On a set J of the most
    informative outputs R_0 is set to zero, which lowers every loss and leaves a sum S of tame ones; and at
    most one user is likely to report from J.  From :math:`(a + b)_+ \le a_+ + b_+`,

    .. math:: H_\varepsilon \le \tfrac1n \mathbb E[S_+] + \mathbb E[(G + S')_+ 1_J] + (n-1)\,w(J) R_0(J)

    with S' the sum of n − 1 tame losses.  The sum X = G + S' of each output of J has

    .. math:: \mathbb E X_+ \le \tfrac12(\mathbb E X + \sqrt{\mathbb E X^2}),
              \qquad \mathbb E X_+ \le \min_\theta \frac{\mathbb E\,e^{\theta X}}{e\,\theta}.

    J follows ε, so that δ = 1e-200 is resolved as 1e-2 is.  Compared with exact sums of two and four normal
    losses the bound is at most 1.8 times as large.

    Examples
    --------
    Binary randomized response with R_0 = (3/4, 1/4), R_1 = (1/4, 3/4), all others known to hold 1:

    >>> import numpy as np
    >>> from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
    >>> from shufflelib.shuffling import BlanketPair
    >>> ratios, blanket = np.array([3.0, 1.0 / 3.0]), np.array([0.25, 0.75])
    >>> bracket = BlanketPair(LikelihoodRatios(ratios, np.ones(2), blanket), 1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 3), round(bracket.upper, 4)
    (0.142, 0.1421)
    """

    statement = "a pair of reports under a reference measure"
    source = "integral of the characteristic function, every error included"
    max_privacy_loss = math.inf

    def _log_ever(self):
        """Return a lower bound on log H at every ε: the outputs that one report alone can produce."""
        ratios = self.ratios
        alone = ratios.r1_over_w == 0.0
        mass_alone = math.fsum(ratios.r0_over_w[alone] * ratios.w[alone])
        if ratios.r1_outside == 0.0:
            mass_alone += ratios.r0_outside
        doubt = ratios.precision + 16 * UNIT
        left = 1.0 - math.fsum(ratios.w[~alone]) - doubt * ratios.w.size
        if mass_alone == 0.0 or left <= 0.0:
            return -math.inf
        log_alone = Interval.of(mass_alone).log().lower
        return log_alone + (self.n - 1) * math.log(left) * (1 + 8 * UNIT) - doubt * ratios.w.size

    def __init__(self, ratios: LikelihoodRatios, n: int) -> None:
        self.ratios, self.n, self.symmetric = ratios, n, ratios.exchangeable
        self.max_privacy_loss = self.ratios.max_privacy_loss
        if ratios.w.size <= FEW:
            self.renyi_tolerance, self.renyi_width = 5e-5, 2.0
        self.search_width = max(2e-8, 0.1 * ratios.cell_width)

    @cached_property
    def reversed(self):
        """The pair with the two reports exchanged."""
        if self.symmetric:
            return self
        other = BlanketPair(self.ratios.swapped(), self.n)
        other.__dict__["reversed"] = self  # so that both share what they remember
        return other

    @property
    def forward_is_dominant(self):
        """Whether the first report tells more: E(R_0/w)² is the larger one."""
        ratios = self.ratios
        with np.errstate(divide="ignore"):
            one, two = (
                logsumexp(np.log(ratios.w) + 2.0 * np.log(part))
                for part in (ratios.r0_over_w, ratios.r1_over_w)
            )
        return one >= two

    @classmethod
    def log_curves(cls, asked: Sequence[tuple[Any, Array]], tolerance: float = TOLERANCE) -> list[Interval]:
        """Enclose log H of several pairs, each with an array of ε; what has few losses is one call."""
        found = _side_by_side([one._asking(eps, tolerance) for one, eps in asked])
        return [ends.or_unknown() for ends in found]

    def _log_curve(self, eps, tolerance):
        return _side_by_side([self._asking(eps, tolerance)])[0]

    def _asking(self, eps, tolerance):
        """Enclose log(E[(G₁ + … + G_n)₊]/n), plus the mass outside the reference measure's support.

        A generator: it yields sums, with the tolerance and a known end, and is sent what encloses them.
        """
        ratios, near = self.ratios, np.minimum(eps, FARTHEST)
        lower, upper = np.full((2, eps.size), -math.inf)
        inside = np.flatnonzero(eps < self.max_privacy_loss) if ratios.w.size else np.zeros(0, int)
        block = BLOCK // max(ratios.w.size, 1) + 1
        for start in range(0, inside.size, block):
            some = inside[start : start + block]
            inside_some = self._log_inside(near[some], max(tolerance, ratios.cell_width))
            lower[some], upper[some] = yield from inside_some
        found = Interval(lower, upper)
        if ratios.r0_outside > 0.0:
            at = np.where(eps < self.max_privacy_loss, near, eps)
            outside = np.array([ratios.log_outside(x) for x in at.tolist()]).reshape(-1, 2)
            found = found.log_add(Interval(outside[:, 0], outside[:, 1]).or_unknown())
        if inside.size and np.any(eps > FARTHEST):
            far = (eps > FARTHEST) & (eps < self.max_privacy_loss)
            found = Interval(np.where(far, self._log_ever(), found.lower), found.upper)
        return Interval(np.minimum(found.lower, 0.0), np.minimum(found.upper, 0.0))

    def _log_inside(self, eps, rtol):
        """Enclose log(E[(G₁ + … + G_n)₊]/n), at most max(width, ``rtol``) apart where that can be had."""
        first = self.ratios.r0_over_w[:, None] * np.exp(
            -eps
        )  # everything in units of e^eps, which may be large
        shift, rounding = eps - math.log(self.n), 4 * UNIT * (2.0 + eps + math.log(self.n))
        lower, upper = np.full(eps.size, -math.inf), np.full(eps.size, math.inf)
        listed, enough = self._list, rtol
        if listed is not None:
            complete = listed.log_left_out == -math.inf
            crude = math.inf if complete else union_upper_bound(self._tame(first), self.n)
            lower, upper = listed.log_positive_part(eps, crude)
            lower, upper = lower + shift - rounding, upper + shift + rounding
            if complete:
                return lower, upper
            enough = max(rtol, WELL_LISTED)

        def improve(some, ends, jumps=-math.inf):
            above = np.logaddexp(ends.upper + shift[some], jumps + eps[some]) + rounding[some]
            lower[some] = np.maximum(lower[some], ends.lower + shift[some] - rounding[some])
            upper[some] = np.minimum(upper[some], above)

        calm = self._calm(first)
        some = np.flatnonzero(calm & (upper > lower + enough))
        if some.size:
            tame = self._tame(first.take(some, axis=1))
            improve(some, (yield tame, self.n, rtol, math.inf))
        some = np.flatnonzero(upper > lower + rtol)
        if some.size:
            jump = self._log_one_jump(first.take(some, axis=1)) + eps[some] - rounding[some]
            lower[some] = np.maximum(lower[some], jump)
        steep = (
            np.flatnonzero(upper > lower + np.where(calm, LOOSE * rtol, enough)) if self._splittable else ()
        )
        ways = {int(k): self._splits(first[:, k], rtol) for k in steep}
        splits = {k: next(way) for k, way in ways.items()}
        while splits:
            some = np.array(list(splits))
            many, jumps, effort, known = np.array(list(splits.values())).T
            sums = yield self._tame(first.take(some, axis=1), many.astype(int)), self.n, effort, known
            improve(some, sums, jumps)
            told = zip(splits, sums.upper.tolist(), lower[some].tolist(), upper[some].tolist(), strict=True)
            splits = {k: split for k, *ends in told if (split := ways[k].send(ends))}
        return np.minimum(lower, upper), upper

    def _listed(self, limit, common, **rest):
        """Return the list of all sums of ratios, or None if it or its part below the mean is long."""
        ratios, others = self.ratios, self.ratios.w.size - 1
        rare = max(1.0 - max(float(ratios.w.max()), self._zero_mass), 0.0)
        expected = int(self.n * rare * (1.0 - 1e-9))
        if others > ENUMERATED_ATOMS or math.comb(expected + others, others) > common:
            return None
        complete = ratios.full and abs(1.0 - math.fsum(ratios.w)) <= ratios.precision
        parts = ratios.r0_over_w, ratios.r1_over_w, ratios.w, None if complete else self._zero_mass
        return Listed.of(*parts, ratios.precision, self.n, limit, **rest)

    @cached_property
    def _list(self):
        """The sums by falling ratio, for every ε, or None where there are too many."""
        listed = self._listed(ENUMERATION_LIMIT, SHORT, deepest=UNSEEN) if self.n > 1 else None
        return listed and ListedSums.of(listed)

    @property
    def _splittable(self):
        return self.n > 1 and self._extreme[0].size > 0

    def _calm(self, first):
        """Return for each ε whether no output's loss is many times that at which the sum is positive.

        The exponent θG of the largest loss, and how small H is, are estimated from a Gaussian sum.
        """
        if not self._splittable:
            return np.ones(first.shape[1], bool)
        losses = np.clip(first - self.ratios.r1_over_w[:, None], -LARGEST, LARGEST)
        largest = losses.max(axis=0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            weighted = self.n * self.ratios.w[:, None] * losses
            mean, square = added(weighted), added(weighted * losses)
            theta = (np.hypot(mean, np.sqrt(8.0 * square)) - mean) / (2.0 * square)
            return (theta * largest <= CALM) & (-theta * mean <= 2.0 * CALM_DEPTH)

    @cached_property
    def _extreme(self):
        """Outputs that may be treated one by one, by falling R_0/w, and all others."""
        ratios = self.ratios
        order = np.argsort(-ratios.r0_over_w, kind="stable")
        mass = np.cumsum((ratios.r0_over_w * ratios.w)[order])
        return np.split(order, [int(np.searchsorted(mass, MOST_EXTREME, side="right"))])

    def _splits(self, first, rtol):
        """Yield ways to split: how many extreme outputs, the log of what these add, tolerance and known end.

        Last comes what the log of E[S₊] is known not to exceed; sent back are its upper end and both of H.
        Where to split is a matter of tightness only: it weighs what is added against Chernoff's bound
        M(θ)^n/(eθ) on the rest, then against the rest itself.
        """
        extreme = self._extreme[0]
        if not first[extreme[0]] > 0.0:
            yield 0, -math.inf, rtol, math.inf
            yield None
        rest, jumps = self._log_rest(first), np.full(extreme.size + 1, math.inf)
        step, last = -(-extreme.size // CUTS), extreme.size
        cuts = np.append(np.arange(0, last, step), last)
        for _ in range(1 + (step > 1)):  # then all splits around the best of those
            jumps[cuts] = self._log_jumps(first, cuts)
            total = np.logaddexp(jumps, rest)
            best = int(np.argmin(total))
            cuts = np.arange(max(best - step, 0), min(best + step, last) + 1)
        harmless = int(np.flatnonzero(jumps <= total[best] + UNNOTICED)[-1])
        decided = rest[best] < jumps[best] + math.log(rtol)
        size, order = math.log(self.n), [best, harmless, best] if decided else [harmless, best]
        known, lowest, few, many, left = float(total[best]) + size, math.inf, 0, last, -math.inf
        tilted = False
        for _ in range(len(order) + MORE_SPLITS):
            split = order.pop(0) if order else (few + many) // 2
            if split and tilted:
                jumps[split] = self._log_jumps(first, np.array([split]), tilted)[0]
            tilted |= split == harmless
            effort = HOPELESS if decided and split == best else rtol
            end, low, high = yield split, float(jumps[split]), effort, known
            end -= size
            lowest = min(lowest, float(np.logaddexp(jumps[split], end)))
            if end > jumps[split]:  # the rest decides, more is to be split off
                few = max(few, split)
            elif split <= many:
                many, left = split, end
            better = few + 1 < many and lowest > np.logaddexp(jumps[few], left) + BETTER
            if not (high > low + LOOSE * rtol if order else high > low + BETTER and better):
                break
        yield None

    @cached_property
    def _zero_mass(self):
        """What the masses of w leave of 1, at least a rounding where w is a blanket."""
        missing = max(0.0, 1.0 - math.fsum(self.ratios.w))
        return missing if missing > 0.0 or not self.ratios.below_both else UNIT

    def _tame(self, first, many=None):
        """Return the losses (R_0 − e^ε R_1)/(e^ε w), with R_0 = 0 on the first ``many`` extreme outputs."""
        ratios, masses = self.ratios, np.broadcast_to(self.ratios.w[:, None], first.shape)
        if many is not None and np.any(many):
            first, masses = first.copy(), masses.copy()
            for k, split in enumerate(self._extreme[0][:size] for size in many):
                first[split, k] = 0.0
                if split.size > 1 and np.ptp(ratios.r1_over_w[split]) == 0.0:  # one atom
                    masses[split, k] = np.where(np.arange(split.size) == 0, masses[split, k].sum(), 0.0)
        value, zero_mass = first - ratios.r1_over_w[:, None], np.full(first.shape[1], self._zero_mass)
        return LossDistributions(value, masses, self._sizes(first), ratios.precision, zero_mass)

    def _sizes(self, first):
        """Return the sizes of the terms of each loss, no less where e^{−ε} R_0/w has few digits or none."""
        reports = self.ratios.r0_over_w, self.ratios.r1_over_w
        r0, r1 = (part.reshape(-1, *[1] * (first.ndim - 1)) for part in reports)
        return np.where((r0 > 0.0) & (first < SMALLEST_SIZE), SMALLEST_SIZE, 0.0) + first + r1

    @cached_property
    def _growth_without(self):
        """Σ w (e^{−θ R_1/w} − 1) over the first 0, 1, … extreme outputs, one row for each tilt θ."""
        extreme = self._extreme[0]
        losses = TILTS[:, None] * np.minimum(self.ratios.r1_over_w[extreme], LARGEST)
        return np.pad(np.cumsum(self.ratios.w[extreme] * np.expm1(-losses), axis=1), ((0, 0), (1, 0)))

    def _log_rest(self, first):
        """Return log of Chernoff's bound on E[S₊]/n, roughly, the first 0, 1, … extreme outputs split off."""
        extreme, others = self._extreme
        mass, loss = self.ratios.w, np.clip(first - self.ratios.r1_over_w, -LARGEST, LARGEST)
        theta, moment = TILTS[:, None], self._growth_without.copy()
        whole = mass[extreme] * np.expm1(np.minimum(theta * loss[extreme], 600.0))
        moment[:, :-1] += np.cumsum(whole[:, ::-1], axis=1)[:, ::-1]
        moment += (np.expm1(np.minimum(theta * loss[others], 600.0)) @ mass[others])[:, None]
        chernoff = self.n * np.log1p(np.maximum(moment, -1.0 + UNIT)) - np.log(theta)
        return chernoff.min(axis=0) - 1.0 - math.log(self.n)

    def _log_jumps(self, first, cuts, tilted=False):
        """Return the log of an upper end of what the first so many extreme outputs add, for each cut.

        E[(G + S')₊] of each output is at most ½(E X + √E X²), for a single cut also `_chernoff`'s bound.
        """
        ratios, extreme = self.ratios, self._extreme[0]
        mass, doubt = ratios.w, ratios.precision + UNIT * (ratios.w.size + 16)
        losses = first - ratios.r1_over_w + doubt * self._sizes(first)
        scale = float(np.max(np.abs(losses)))
        losses, first, second = losses / scale, first / scale, ratios.r1_over_w / scale
        # mean and variance of the others' losses, for every number of outputs split off
        lost = np.append(0.0, np.cumsum((mass * first)[extreme]))[cuts]
        mean = float(mass @ losses) - lost * (1.0 - 4.0 * doubt)
        power = np.append(0.0, np.cumsum((mass * (losses**2 - second**2))[extreme]))[cuts]
        power = float(mass @ losses**2) * (1.0 + 4.0 * doubt) - power * (1.0 - 4.0 * doubt)
        spread = (self.n - 1) * np.maximum(power, 0.0)
        split = extreme[: cuts[-1]]
        level = losses[split][:, None] + (self.n - 1) * mean
        far = np.abs(level) + np.sqrt(level**2 + spread)
        above = 0.5 * np.where(level > 0.0, far, spread / np.maximum(far, 1e-300))
        if tilted:
            above = np.minimum(above, self._chernoff(first * scale, split)[:, None] / scale)
        alone = mass[split] @ np.where(np.arange(split.size)[:, None] < cuts, above, 0.0)
        together = (self.n - 1) * np.append(0.0, np.cumsum(mass[extreme]))[cuts] * lost
        with np.errstate(divide="ignore"):
            return np.log((alone + together) * (1.0 + 32.0 * doubt)) + math.log(scale)

    def _chernoff(self, first, split):
        """Return Chernoff's bounds on E[(G + S')₊] for every output split off, tight for what adds most."""
        ratios, rest = self.ratios, first.copy()
        rest[split] = 0.0
        doubt = 2.0 * (ratios.precision + UNIT * (ratios.w.size + 16))
        gains, losses = (part - ratios.r1_over_w + doubt * self._sizes(part) for part in (first, rest))
        gains, mass = gains[split], ratios.w[split]
        found, tilts = np.full(split.size, math.inf), TILTS[::3]
        for _ in range(2):  # then finer ones around the best of those
            with np.errstate(over="ignore", invalid="ignore"):
                growth = np.where(ratios.w > 0.0, ratios.w * np.expm1(tilts[:, None] * losses), 0.0)
                growth = growth.sum(axis=1) + doubt * np.abs(growth).sum(axis=1)
            parts = (
                (self.n - 1) * np.log1p(np.maximum(growth, -1.0 + UNIT))[:, None],
                tilts[:, None] * gains,
                -1.0 - np.log(tilts)[:, None],
            )
            ends = sum(parts) + 8 * UNIT * (sum(map(np.abs, parts)) + 1.0)
            found = np.minimum(found, ends.min(axis=0))
            with np.errstate(divide="ignore"):
                most = np.argmax(np.log(mass) + found)
            at = int(np.argmin(ends[:, most]))
            tilts = np.geomspace(*tilts[[max(at - 1, 0), min(at + 1, tilts.size - 1)]], CUTS)
        return np.exp(np.minimum(found, 700.0))

    def _log_one_jump(self, first):
        r"""Return a lower bound on :math:`\log H - \varepsilon`: one large loss, the others at their mean.

        With J the outputs whose loss exceeds what all others take away on average, the events that user i
        alone reports from J are disjoint; Jensen's inequality for the others gives
        :math:`H \ge P(J^c)^{n-1}\, \mathbb E[(G + (n-1)\mathbb E[G|J^c])_+ 1_J]`.
        """
        mass, others = self.ratios.w[:, None], self.n - 1
        value, size = first - self.ratios.r1_over_w[:, None], self._sizes(first)
        doubt = self.ratios.precision + UNIT * (len(value) + 8)
        jump = value + others * added(mass * value) > 0.0
        chance = added(np.where(jump, mass, 0.0)) * (1.0 + doubt)
        possible = (chance > 0.0) & (chance < 0.5)
        chance = np.where(possible, chance, 0.0)
        mean = added(np.where(jump, 0.0, mass * (value - 2.0 * doubt * size))) / (1.0 - chance)
        gain = np.where(jump, value - doubt * size + others * np.minimum(mean, 0.0), 0.0)
        total = added(mass * np.maximum(gain, 0.0)) * (1.0 - 2.0 * doubt)
        possible &= total > 0.0
        log_total = np.log(np.where(possible, total, 1.0))
        log_total -= 4 * UNIT * (1.0 + np.abs(log_total))
        return np.where(possible, log_total + others * np.log1p(-chance) * (1.0 + 8 * UNIT), -math.inf)

    def beside_crowd(self):
        """Return the pair with the world of equal users for Q, who all report from w, or None."""
        ratios = self.ratios
        for one, ratio, outside in (
            (self, ratios.r1_over_w, ratios.r1_outside),
            (self.reversed, ratios.r0_over_w, ratios.r0_outside),
        ):
            if outside == 0.0 and np.all(ratio == 1.0) and abs(1.0 - math.fsum(ratios.w)) <= 1e-12:
                return one
        return None

    def on_a_sample(self, rate):
        """Return the attack on users drawn at random, or None where the others' reports are not fully known.

        Whoever replaces the differing user in the sample holds x* too, so that both reports are mixed with
        one of x*.
        """
        ratios = self.ratios
        rest = 1.0 - math.fsum(ratios.w)
        if abs(rest) > 1e-12:
            return None
        mass = ratios.w.copy()
        mass[np.argmax(mass)] += rest  # rounding, which must not become an outcome of its own
        mixed = LikelihoodRatios(
            r0_over_w=rate * ratios.r0_over_w + (1.0 - rate),
            r1_over_w=rate * ratios.r1_over_w + (1.0 - rate),
            w=mass,
            r0_outside=rate * ratios.r0_outside,
            r1_outside=rate * ratios.r1_outside,
            precision=ratios.precision + abs(rest) / mass.max() + 8 * UNIT,
            cell_width=ratios.cell_width,
        )
        return BlanketPair(mixed, self.n)

    def known_renyi(self, order):
        """Return both bounds from a list of all sums, or infinity where the second report lacks an output."""
        return self.renyi_by_order()(order)

    def renyi_by_order(self) -> Callable[[float], tuple[float, float] | None]:
        """Return `known_renyi` with a list for each power of two, which no question leaves behind."""
        ratios = self.ratios
        if np.any((ratios.r1_over_w == 0.0) & (ratios.r0_over_w > 0.0) & (ratios.w > 0.0)):
            return lambda order: (math.inf, math.inf)
        if max(ratios.r0_outside, ratios.r1_outside) > 0.0:
            return lambda order: None

        @functools.cache
        def sums(octave):
            listed = self._listed(*MOST_LISTED, deepest=-ENOUGH - 2.0**octave * self.max_privacy_loss)
            return listed and ConvexSums(listed, self.n)

        def known(order):
            listed = sums(min(math.ceil(math.log2(order)), 60))
            ends = listed and listed.log_mean(order, self.max_privacy_loss, LEFT_OUT)
            if ends is None:
                return None
            return tuple(Interval(*(renyi_from_moment(end, order) for end in ends)).widened(8.0))

        return known


def _side_by_side(curves):
    """Return what generators return that ask for sums; what several ask for at once is one call."""
    found, answers = [None] * len(curves), dict.fromkeys(range(len(curves)))
    while answers:
        asked = {}
        for i, answer in answers.items():
            try:
                asked[i] = curves[i].send(answer)
            except StopIteration as end:
                found[i] = end.value
        answers = _answered(asked)
    return found


def _answered(asked):
    """Enclose sums that several curves ask for, those of few losses and equally many users together."""
    groups, answers = {}, {}
    for i, (sums, n, *_) in asked.items():
        groups.setdefault((n, max(len(sums.values), SHARPENED)), []).append(i)
    for (n, _), some in groups.items():
        sums, _, *rest = zip(*(asked[i] for i in some), strict=True)
        size = [one.zero_mass.size for one in sums]
        tolerance, known = (
            np.concatenate([np.broadcast_to(one, k) for one, k in zip(part, size, strict=True)])
            for part in rest
        )
        ends = expected_positive_part(LossDistributions.beside(sums), n, tolerance=tolerance, known=known)
        cuts = np.cumsum(size)[:-1]
        for i, *both in zip(some, *(np.split(end, cuts) for end in ends), strict=True):
            answers[i] = Interval(*both)
    return answers

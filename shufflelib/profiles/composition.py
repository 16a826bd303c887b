r"""The product of pairs of distributions: what adaptive rounds on the same data reveal together.

If a round's pair of output distributions has its curve below that of (P_k, Q_k) for every history, all rounds
together have theirs below that of the product.

Source: Zhu, Dong, Wang (AISTATS 2022), Theorem 10.
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib.numerics.certified import LEAST_NORMAL, Interval
from shufflelib.numerics.composed_loss import ComposedPLD, Line
from shufflelib.numerics.computed_once import cached_property
from shufflelib.profiles.adjacency import said_of_rounds
from shufflelib.profiles.discretised_loss import (
    DEEPEST,
    MIDDLING,
    NOTHING,
    ORDERS,
    PER_OCTAVE,
)
from shufflelib.profiles.hockey_stick import Pair
from shufflelib.profiles.questions import added
from shufflelib.profiles.worst_epsilon import COARSER

WIDTH = 2e-4  # relative width in ε aimed at, not always reached
NARROWEST, WIDEST = 5e-4, 5e-3  # relative widths in δ aimed at, with that in ε
NARROWER = 20.0  # times the tolerance asked for is what is aimed at
ROUGHEST = 0.5  # relative width of δ at which an integral still says more than Chernoff's bound
FAR_ABOVE = 30.0  # nats
DISCRETISED, UNREACHED = 0.5, 1e-6  # shares of the width of δ for the rounds' distributions, for rare losses
FINEST = 2.0**-40  # relative doubt of a round's moments
REACHED = 0.7  # share of the distributions' largest loss up to which ε may come
LAST = 0.99  # share of the largest ε that a class of tilts is right for; nearer to it all classes are alike
RUNGS = 2  # θ of integrals, for each class of tilts
BESIDE = 8  # classes of tilts among whose θ one is chosen, on either side of one that is nearly right
TRIES = 4  # classes of tilts tried
KEPT = 8192  # nodes of an integral that is kept
UNCLEAR = 0.05, 0.5  # least and most width of log δ from which on a finer integral is tried, and
MISSED = 5.0  # times the width aimed at in between,
FINER, HELPED = 3, 0.02  # times, as long as one moves an end by that


class ComposedPair(Pair):
    r"""The product of pairs, each repeated: :math:`P_1^{k_1} \otimes P_2^{k_2} \dots` and the same for Q.

    Parameters
    ----------
    rounds : sequence of (Pair, int)
        Distinct pairs and how often each occurs.

    Notes
    -----
    For pairs with many different losses (Gaussian pairs, those of shuffled mechanisms), up to 10⁴ rounds and
    δ from 1e-9 to δ(0)/2, the bracket of δ is at most 0.6 % wide and that of ε at most 0.04 %, relatively;
    ``tests/test_promised_precision.py`` checks a grid.  Both are wider where few values of the total loss
    carry the answer, because the integral smooths them; few rounds of a pair with two or three losses have
    such totals.  For example δ of 30 rounds of (0.9, 0.09, 0.01), (0.5, 0.3, 0.2) is up to 5 % wide, ε of two
    rounds of randomized response with a budget of 1 is 4 % wide at δ = 1e-6, and δ(0) of two rounds of
    (0.999, 0.001), (0.9999, 0.0001) lies between 0.0012 and 0.0018.  For 10⁴ rounds of a Gaussian pair with
    μ = 2 the upper bound on ε is infinite.
    Rényi divergences add up, with both bounds.
    An answer depends on the question alone.  It is an integral along a line Re t = θ, with one of fixed θ and
    with knots on the rounds' curves that are right for it.  Both are kept, and shared by every ε near.
    Cost: about two hundred values of each pair's curve in about five batches, for few rounds more; more
    rounds cost more only where the total ε exceeds about 100.

    Examples
    --------
    A hundred answers by randomized response with a budget of 0.1 cost less than half of their sum, 10:

    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> one = DiscretePair(np.log([0.525, 0.475]), np.log([0.475, 0.525]))
    >>> round(one.compose(rounds=100).epsilon(delta=1e-6).upper, 2)
    4.78
    """

    search_width = 1e-7
    rough_is_cheaper = True

    def __init__(self, rounds):
        self.rounds = tuple(rounds)
        self.symmetric = all(pair.symmetric for pair, _ in self.rounds)
        self._kept = {}
        for name, said in said_of_rounds(self.rounds).items():
            setattr(self, name, said)

    @cached_property
    def reversed(self):
        """All rounds reversed."""
        if self.symmetric:
            return self
        other = ComposedPair([(pair.reversed, count) for pair, count in self.rounds])
        other.__dict__["reversed"] = self
        return other

    @property
    def max_privacy_loss(self):
        """Sum of the rounds' largest losses."""
        return added((count, (pair.max_privacy_loss,) * 2) for pair, count in self.rounds).upper

    @property
    def forward_is_dominant(self):
        """Whether P‖Q is likely to have the larger divergence, as in the first of the rounds."""
        return self.rounds[0][0].forward_is_dominant

    def about_total_variation(self):
        """Return about log H at ε = 0: that of a Gaussian pair with μ² the sum of those of the rounds."""
        starts = [(count, pair.discretised.knots().high[0]) for pair, count in self.rounds]
        square = sum(2.0 * math.pi * count * math.exp(2.0 * start) for count, start in starts)
        return math.log(max(math.erf(math.sqrt(square / 8.0)), LEAST_NORMAL))

    def _log_curve(self, eps, tolerance):
        """Enclose log H of the product at every ε by integrals along lines whose θ is nearly right for it.

        Everything these are made of depends on θ, one of a fixed ladder, not on ε or on other questions.
        """
        lower, upper = np.full((2, eps.size), -np.inf)
        inside = np.flatnonzero(eps < self.max_privacy_loss)
        if inside.size == 0:
            return Interval(lower, upper)
        tolerance = max(tolerance, NARROWEST / NARROWER)  # finer ones change nothing
        lines = self._lines(eps[inside])
        for line in np.unique(lines, axis=0):
            here = inside[(lines == line).all(axis=1)]
            lower[here], upper[here] = self._along(line.tolist(), eps[here], tolerance)
        found = Interval(lower[inside], upper[inside]).or_unknown()
        lower[inside], upper[inside] = self._beside_single_rounds(eps[inside], found).within(most=0.0)
        return Interval(np.minimum(lower, upper), upper)

    def _once(self, make, *asked):
        """Return what depends on nothing else, computed once."""
        key = make.__name__, *asked
        if key not in self._kept:
            self._kept.setdefault(key, make(*asked))
        return self._kept[key]

    def _first(self, depth):
        """Return the largest loss of all rounds that is known, and the ε each class of tilts is right for."""
        sides = self._sides(pair.discretised.first(depth) for pair, _ in self.rounds)
        return sides[0].largest, _between(sides, ORDERS)[0]

    def _lines(self, eps):
        """Return for every ε how far the first knots reach, a class of tilts, and θ on its ladder."""
        found = np.zeros((eps.size, 3), int)
        short = np.arange(eps.size)
        for depth in range(DEEPEST + 1):
            far = np.zeros(short.size, bool)
            if depth < DEEPEST:
                far = eps[short] >= REACHED * self._once(self._first, depth)[0]
            here = short[~far]
            if here.size:
                found[here], log_scale = self._at_depth(depth, eps[here])
                far[~far] = self._rare(log_scale) > NOTHING * 2.0**depth
            short = short[far]
            if short.size == 0:
                break
        return found

    def _at_depth(self, depth, eps):
        """Return the lines of every ε with knots down to a depth, and the log of E e^{θL − θε} there."""
        right_for = self._once(self._first, depth)[1]
        tilt = _nearest(right_for, np.minimum(eps, LAST * right_for[-1]))
        rung, log_scale = np.zeros(eps.size, int), np.zeros(eps.size)
        for _ in range(TRIES):
            for one in np.unique(tilt).tolist():
                here, view = tilt == one, self._once(self._view, depth, one)
                chosen = _nearest(view.eps, eps[here])
                rung[here] = view.rungs[chosen]
                log_scale[here] = view.log_moments[chosen] - _theta(rung[here]) * eps[here]
            right = np.clip(np.rint(rung / RUNGS).astype(int), 0, ORDERS.size - 1)
            if (right == tilt).all():
                break
            before, tilt = tilt, right
        else:
            tilt = before  # for which the rungs are
        return np.stack([np.full(eps.size, depth), tilt, rung], axis=1), log_scale

    def _rare(self, log_scale):
        """Return how many e-folds the curve of a round falls to losses too rare to matter for such a δ."""
        return math.log(sum(count for _, count in self.rounds) / (UNREACHED * NARROWEST)) - log_scale

    def _sides(self, drawn):
        """Return the sum of all losses from above and from below."""
        counts = [count for _, count in self.rounds]
        return [ComposedPLD(side, counts) for side in zip(*(one[2:] for one in drawn), strict=True)]

    def _tilted(self, tilt, share, depth):
        return self._sides(pair.discretised.tilted(tilt, share, depth) for pair, _ in self.rounds)

    def _view(self, depth, tilt):
        """Return what a class of tilts is right for, which says how well the rounds must be known there."""
        rungs = RUNGS * tilt + np.arange(-RUNGS * BESIDE, RUNGS * BESIDE + 1)
        eps, log_moments = _between(self._tilted(tilt, MIDDLING, depth), _theta(rungs))
        here = RUNGS * BESIDE
        return _View(rungs, eps, log_moments, max(float(eps[here]), 0.0), float(log_moments[here]))

    def _totals(self, depth, tilt, tolerance):
        """Return the sum of all losses from above and below, for a class of tilts, and a width to aim at."""
        view, theta = self._once(self._view, depth, tilt), float(ORDERS[tilt])
        count, tilted = sum(count for _, count in self.rounds), theta * view.middle
        log_scale = view.log_moment - tilted  # of δ
        deep = max(-log_scale / 20.0, 1.0)
        width = min(max(WIDTH * tilted, NARROWEST), WIDEST * deep)
        # no more than is asked for, and no wider than it says something
        width = min(max(width, tolerance * max(NARROWER * deep, tilted)), ROUGHEST)
        share = DISCRETISED * width / min(max(view.log_moment, 1e-300), count)
        share = 2.0 ** round(math.log2(min(max(share, FINEST), MIDDLING)))
        if tolerance >= COARSER:  # for which the first knots nearly do
            share = MIDDLING
        return _Totals(*self._tilted(tilt, share, depth), width)

    def _along(self, line, eps, tolerance):
        """Enclose log H at every ε of an array by integrals along one line.

        Where rare losses hold θ far below the slope of the curve, the integral smooths too much and its
        aliases weigh too much; such ε get a finer one as long as that helps.
        """
        totals = self._once(self._totals, *line[:2], tolerance)
        lower, upper = self._integrated(line, eps, tolerance, totals, 0)
        wide = min(max(MISSED * totals.width, UNCLEAR[0]), UNCLEAR[1])
        unclear = np.flatnonzero(np.isfinite(upper) & (lower + wide < upper))
        for finer in range(1, FINER + 1):
            if unclear.size == 0:
                break
            low, high = lower[unclear], upper[unclear]
            ends = self._integrated(line, eps[unclear], tolerance, totals, finer)
            lower[unclear], upper[unclear] = np.maximum(low, ends[0]), np.minimum(high, ends[1])
            helped = (lower[unclear] > low + HELPED) | (upper[unclear] < high - HELPED)
            unclear = unclear[helped & (lower[unclear] + wide < upper[unclear])]
        return lower, upper

    def _integrated(self, line, eps, tolerance, totals, finer):
        """Enclose log H by integrals as fine as that, one after the other: each may have many nodes."""
        above, below, *_ = totals
        upper = self._on_line(above, line, eps, tolerance, totals.width, finer).upper + above.slack
        return self._on_line(below, line, eps, tolerance, totals.width, finer).lower - below.slack, upper

    def _on_line(self, total, line, eps, tolerance, width, finer):
        """Enclose log δ of one of the sums by the integral along a line, kept if it has few nodes."""
        key = (total, *line, tolerance, finer)
        drawn = self._kept.get(key) or Line(total, float(_theta(line[2])), width, finer=finer)
        if drawn.size <= KEPT:
            self._kept.setdefault(key, drawn)
        return total.log_delta(drawn, eps)

    def _beside_single_rounds(self, eps, found):
        """Narrow a bracket of log H by what single rounds say: at least the best, at most basic composition.

        This decides where outcomes are rare and their losses large, which no quadrature resolves.  The curves
        are evaluated only where their first knots leave open whether it does.
        """
        lower, upper = found
        share = eps / sum(count for _, count in self.rounds)
        near = np.flatnonzero(self._log_sum(share, knots_only=True).lower < upper)
        if near.size:
            upper[near] = np.minimum(upper[near], self._log_sum(share[near]).upper)
        best = np.maximum.reduce([log_h.upper for log_h in self._each(eps, knots_only=True)])
        near = np.flatnonzero(best > lower)
        if near.size:
            best = np.maximum.reduce([log_h.lower for log_h in self._each(eps[near])])
            lower[near] = np.maximum(lower[near], best)
        near = np.flatnonzero(self._log_sum(eps + FAR_ABOVE, knots_only=True).upper > lower)
        if near.size:
            lower[near] = np.maximum(lower[near], self._some_round(eps[near]))
        return Interval(lower, upper)

    def _each(self, eps, *, knots_only=False):
        """Yield the bracket of log H of a round of each kind."""
        for pair, _ in self.rounds:
            if knots_only:
                yield pair.discretised.knots().between(eps)
            else:
                yield pair.log_hockey_stick(eps, NARROWEST)

    def _log_sum(self, eps, *, knots_only=False):
        """Enclose the log of the sum of all rounds' H at every ε."""
        counts = (Interval.of(float(count)).log() for _, count in self.rounds)
        each = self._each(eps, knots_only=knots_only)
        ends = np.array([one + k for one, k in zip(each, counts, strict=True)])
        sums = [Interval(*column).log_sum() for column in np.moveaxis(ends, -1, 0).swapaxes(1, 2)]
        return Interval(*np.array(sums).reshape(-1, 2).T)

    def _some_round(self, eps):
        """Return a lower bound on log H: in some round the loss is beyond ε + a, far above ε.

        With S such outcomes and h = P(S) − e^{ε + a} Q(S) this has the divergence
        1 − ∏(1 − P(S)) − e^{−a} Σ(P(S) − h), affine in each P(S), so that it is least where each is h or 1.
        """
        others = Interval.of(-FAR_ABOVE).exp() * (1.0 + sum(count for _, count in self.rounds))
        if others.upper >= 1.0:
            return np.full(eps.shape, -np.inf)
        log_sum = self._log_sum(eps + FAR_ABOVE).lower  # at most that of −Σ log(1 − h)
        # below e^{−40} the next line changes less than that
        some = np.where(log_sum < -40.0, log_sum, (-(-Interval.of(log_sum, 1.0).exp()).expm1()).log().lower)
        return np.minimum(some, (-others).log1p().lower)

    def known_renyi(self, order):
        """Return both bounds of the sum of the rounds' divergences."""
        ends = [(count, pair.renyi_directed(order)) for pair, count in self.rounds]
        total = added(ends)
        return total.lower, total.upper


class _View(NamedTuple):
    """Some θ, by their rungs, the ε that each is right for and log E e^{θL}; and both of the middle one."""

    rungs: np.ndarray
    eps: np.ndarray
    log_moments: np.ndarray
    middle: float
    log_moment: float


class _Totals(NamedTuple):
    """The sum of all losses from above and below, and the relative width of δ to aim at."""

    above: ComposedPLD
    below: ComposedPLD
    width: float


def _between(sides, theta):
    """Return the saddle points and log E e^{θL} of a sum known from both sides, nearly.

    The chords continued are twice as far from a smooth curve as the chords.
    """
    above, below = (side.saddles(theta) for side in sides)
    return [(2.0 * one + two) / 3.0 for one, two in zip(above, below, strict=True)]


def _theta(rung):
    """Return θ, of which there are so many for each class of tilts."""
    return ORDERS[0] * 2.0 ** (np.asarray(rung) / RUNGS / PER_OCTAVE)


def _nearest(rising, values):
    """Return the index of the entry nearest to each value."""
    right = np.clip(np.searchsorted(rising, values), 1, rising.size - 1)
    return right - (values - rising[right - 1] < rising[right] - values)

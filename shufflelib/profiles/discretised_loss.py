r"""One round's privacy loss as a finite distribution, one from above and one from below.

A pair (P, Q) is known through dots on its curve :math:`h(E) = \sup_A P(A) - E\,Q(A)`, E = e^ε, which
is convex, falls from 1 and never lies below 1 − E.  Every such piecewise linear curve belongs to a
finite pair: a kink at E is an outcome with loss log E, the change of slope its mass under Q, E times
that its mass under P.  A pair whose curve lies above (below) that of another may replace it in every
composition, so the whole art is to draw a polygon on either side of a curve:

* **above**: chords between dots, made convex by the lower hull;
* **below**: inside each gap the curve lies above the neighbouring chords continued; they meet at a
  point, and the lower hull of these points lies below the curve.

Both errors are of second order in the gaps.  Values of dots are enclosures; their ends are taken on
the proper side, and the distribution that floats make of the polygon is compared with it once more: what is
missing (or too much) is a factor of all masses, `PLD.slack`.

Source: the upper half is connect-the-dots, Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (PoPETs
2022); that dominated rounds compose is Zhu, Dong, Wang (AISTATS 2022), Theorem 10.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.convex_hull import hull
from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.profiles import connect_the_dots

BESIDE = 4.0  # first dots lie up to here, in units of the curve's own width
FIRST_STEP = 0.25
NOTHING = -40.0  # log H beyond which no first dot is set
FARTHEST = 600.0  # nats
FAR = 550.0  # nats; a loss this large counts as infinite
LOWEST = 30.0  # nats; e^{-LOWEST} still differs from 0 beside 1
MOST_DOTS = 1200  # of one direction
SMALLEST = 1e-307  # steepness of a line that falls by less


class PLD(NamedTuple):
    """A finite distribution of the privacy loss under P.

    ``loss`` and ``mass`` list its finite atoms, ``infinity_mass`` is the mass at an infinite loss.  With
    (1 + ``slack``) on every mass the distribution's curve is on the side asked for.
    """

    loss: np.ndarray
    mass: np.ndarray
    infinity_mass: float
    slack: float


class Direction(connect_the_dots.HockeyStickCurve):
    """Dots on one direction of a pair, the first ones where its mass lies."""

    def _first(self):
        width = 2.5 * math.exp(self.pair.dot(0.0, self.tolerance).upper)  # H(0) = μ/√(2π)
        grid = width * FIRST_STEP * np.arange(1 + BESIDE / FIRST_STEP)
        while grid[-1] < min(self.last, FARTHEST) and self.pair.dot(grid[-1], self.tolerance).upper > NOTHING:
            grid = np.append(grid, min(1.25 * grid[-1], FARTHEST))
        return np.append(grid[grid < self.last], self.last) if grid[-1] >= self.last else grid

    def add(self, eps):
        """Evaluate the curve at further ε, of those below LOWEST only where e^{−ε} is yet another float."""
        eps, taken = np.unique(eps), np.expm1(-self.eps)
        _, first = np.unique(np.expm1(-eps), return_index=True)
        other = ~np.isin(np.expm1(-eps[first]), taken)
        super().add(np.union1d(eps[first][other], eps[eps >= LOWEST]))

    def between_dots(self, eps):
        """Enclose log H by its values at the dots on either side of ε, as it falls."""
        right = int(np.searchsorted(self.eps, eps))
        lower = float(self.low[right]) if right < self.eps.size else -math.inf
        return Interval(lower, float(self.high[np.searchsorted(self.eps, eps, side="right") - 1]))

    def extend(self):
        """Set a dot half as far out again as the last one, unless that is useless; say whether it was set."""
        if self.eps[-1] >= min(self.last, FARTHEST) or self.high[-1] == -math.inf:
            return False
        self.add(np.array([min(1.5 * self.eps[-1], FARTHEST)]))
        return True


class DiscretisedLoss(connect_the_dots.ConnectTheDots):
    """Both directions of a pair, dotted; dots are added where a question needs them."""

    curve = Direction
    lowest = LOWEST  # nats; of the losses, smaller ones are rounded up to the first dot

    @functools.cached_property
    def reversed(self):
        """The same dots for (Q, P)."""
        if self.backward is self.forward:
            return self
        other = object.__new__(type(self))
        other.forward, other.backward = self.backward, self.forward
        other.__dict__["reversed"] = self
        return other

    def extend(self):
        """Set a dot farther out, where the upper PLD has an infinite loss; say whether one was set."""
        return self.forward.extend()

    @property
    def exhausted(self):
        """Whether no more dots are set."""
        return max(self.forward.eps.size, self.backward.eps.size) >= MOST_DOTS

    def _dots(self):
        """Return x = e^ε − 1 of all dots and both bounds on h there, losses rising."""
        ahead, behind = self.forward, self.backward
        near = behind.eps < self.lowest
        eps = np.concatenate([-behind.eps[near][:0:-1], ahead.eps])
        x = np.expm1(eps)
        low, high = (
            np.concatenate([np.exp((b - behind.eps)[near][:0:-1]), np.exp(a)])
            for b, a in ((behind.low, ahead.low), (behind.high, ahead.high))
        )
        middle = int(np.count_nonzero(near)) - 1
        low[middle] = math.exp(max(ahead.low[0], behind.low[0]))
        high[middle] = math.exp(min(ahead.high[0], behind.high[0]))
        low[middle] = min(low[middle], high[middle])
        doubt = 64 * UNIT * np.where(eps < 0.0, np.abs(x) + high, high)
        base = np.maximum(-x, 0.0)
        return x, np.maximum(low + base - doubt, base), np.minimum(high + base + doubt, 1.0)

    @property
    def pessimistic(self):
        """The distribution of chords between dots."""
        return self._drawn()[0]

    @property
    def optimistic(self):
        """The distribution of chords continued."""
        return self._drawn()[1]

    def _drawn(self):
        """Return both distributions and each gap's doubt, drawn anew where dots were added."""
        if self.__dict__.get("_drawn_of") != self.size:
            self._drawn_of, self._kept = self.size, distributions(*self._dots())
        return self._kept

    def _log_doubts(self, order):
        r"""Return each curve, and the log of each gap's doubt in :math:`\int E^{\text{order}-2} h\,dE`."""
        doubt = self._drawn()[2]
        split = doubt.size - (self.forward.eps.size - 1)
        with np.errstate(divide="ignore"):
            behind, ahead = np.log(doubt[:split])[::-1], np.log(doubt[split:])
        behind = np.append(behind, np.full(self.backward.eps.size - 1 - split, -np.inf))
        for curve, part, power in ((self.backward, behind, 2.0 - order), (self.forward, ahead, order - 2.0)):
            part += np.maximum(power * curve.eps[:-1], power * curve.eps[1:])
        if self.backward is self.forward:
            return [(self.forward, np.logaddexp(behind, ahead))]
        return [(self.backward, behind), (self.forward, ahead)]

    def log_refinable(self, order):
        r"""Return about the log of what more dots may take off :math:`\int E^{\text{order}-2} h\,dE`."""
        return logsumexp(np.concatenate([part for _, part in self._log_doubts(order)]))

    def refine(self, order):
        """Add dots where that integral is least well known; say whether any were."""
        size, parts = self.size, self._log_doubts(order)
        worst = max(logsumexp(part) for _, part in parts)
        for curve, part in parts:
            if worst > -math.inf and logsumexp(part) > worst - 2.3:
                curve.halve(*connect_the_dots.most_doubtful([part]))
        return self.size > size


def distributions(x, low, high):
    """Return the distributions of chords and of chords continued, and each gap's doubt.

    Parameters
    ----------
    x : numpy.ndarray
        e^ε − 1 of the dots, rising, above −1.
    low, high : numpy.ndarray
        Both bounds on the curve there, at least max(0, −x) and at most 1.
    """
    kink, depth, doubt = _kinks(x, low, high)
    above = distribution(np.append(-1.0, x), np.append(1.0, high), below=False)
    return above, distribution(kink, depth, below=True), doubt


def _kinks(x, low, high):
    """Return where the continued chords meet, in each gap and beyond the last dots, and each gap's doubt.

    The points returned start at E = 0 and end where the curve may be 0.
    """
    x, low, high = np.append(-1.0, x), np.append(1.0, low), np.append(1.0, high)
    gap = np.diff(x)
    with np.errstate(over="ignore"):  # h is at least 1 − E, so that it falls no faster than −1
        steep = np.clip((low[1:] - high[:-1]) / gap, -1.0, 0.0)  # continued to the right of each gap
        shallow = np.minimum((high[1:] - low[:-1]) / gap, 0.0)  # continued to the left
    # gap k lies between points k and k + 1; gap 0 has the line 1 − E on its left
    left = np.append(-1.0, steep[:-1])
    right = np.append(shallow[1:], 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        meet = (low[1:] - low[:-1] - right * gap) / (left - right)
    meet = np.clip(np.where(np.isfinite(meet) & (left < right), meet, gap), 0.0, gap)
    at = x[:-1] + meet
    from_left, from_right = low[:-1] + left * meet, low[1:] - right * (gap - meet)
    size = np.abs(at) + np.abs(x[:-1])
    doubt = 8 * UNIT * (low[:-1] + np.abs(left) * size + np.abs(right) * size)
    y = np.minimum(from_left, from_right) - doubt
    # h falls, so that it is at least the next dot's up to where the line on the left is as low
    level = y < low[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        at = np.where(level, np.maximum(at - 4.0 * doubt / np.abs(left), x[:-1]), at)
    y, doubt = np.maximum(y, low[1:]), np.where(level, 0.0, doubt)
    chord = high[:-1] + (high[1:] - high[:-1]) * (meet / gap)
    # what narrower gaps would improve, beside the width of the values themselves
    wide = high - low
    with np.errstate(over="ignore"):
        rise = np.append(0.0, np.minimum((wide[:-2] + wide[1:-1]) / gap[:-1], 1.0 / SMALLEST))
    noise = wide[:-1] + rise * meet + 2.0 * doubt
    area = 0.5 * gap * np.maximum(chord - np.maximum(y, 0.0) - noise, 0.0)
    # far out, where rounding is no longer small beside the curve, the line on the left falls to 0
    unsure = (doubt > 1e-9 * y) & (x[1:] > 0.0)
    infinity_mass = np.flatnonzero(~unsure)
    last = int(infinity_mass[-1]) + 1 if infinity_mass.size else 0
    fall = -steep[last - 1] if last > 0 else 1.0
    reach = low[last] / max(fall, low[last] * math.exp(-FARTHEST), SMALLEST)
    reach *= 1.0 - 64 * UNIT * (1.0 + (abs(x[last]) + abs(x[last - 1])) / gap[last - 1]) if last > 0 else 1.0
    cross = x[last] + max(reach - 16 * UNIT * abs(x[last]), 0.0)
    return np.append(np.append(-1.0, at[:last]), cross), np.append(np.append(1.0, y[:last]), 0.0), area[1:]


def distribution(x, h, *, below):
    """Return the distribution of the lower hull of points on a curve, the first of them at E = 0."""
    chosen = hull(x, h)
    x, h = x[chosen], h[chosen]
    with np.errstate(divide="ignore"):
        loss = np.log1p(x)
    gap = np.diff(x)
    slope = np.append(np.diff(h) / gap, 0.0)
    share = np.maximum(np.diff(slope), 0.0)  # of Q
    mass = share * (1.0 + x[1:])
    infinity_mass = max(float(h[-1]), 0.0)
    # the curve that these masses have: sums of positive terms, from the right, and their rounding
    beyond = np.cumsum((mass * np.exp(-loss[1:]))[::-1])[::-1]
    curve = infinity_mass + np.append(np.cumsum((beyond * gap)[::-1])[::-1], 0.0)
    rounding = np.append(np.cumsum((beyond * (np.abs(x[1:]) + np.abs(x[:-1])))[::-1])[::-1], 0.0)
    known = h > 0.0
    curve, rounding, h = curve[known], 4.0 * UNIT * rounding[known], h[known]
    beside = (curve + rounding) / h if below else h / np.maximum(curve - rounding, 1e-320)
    slack = max(float(np.max(beside)) - 1.0, 0.0) + (2.0 * x.size + 32.0) * UNIT
    loss, far = loss[1:], loss[1:] > FAR
    if far.any():
        infinity_mass, mass = infinity_mass + float(mass[far].sum()), np.where(far, 0.0, mass)
    some = mass > 0.0
    if not some.any():  # the loss is always infinite
        return PLD(np.zeros(1), np.full(1, 1e-300), infinity_mass, slack)
    return PLD(loss[some], mass[some], infinity_mass, slack)

r"""One round's privacy loss as a finite distribution, one from above and one from below.

A pair (P, Q) is known through knots on its curve :math:`h(E) = \sup_A P(A) - E\,Q(A)`, E = e^ε, which
is convex, falls from 1 and never lies below 1 − E.  Every such piecewise linear curve belongs to a
finite pair: a kink at E is an outcome with loss log E, the change of slope its mass under Q, E times
that its mass under P.  A pair whose curve lies above (below) that of another may replace it in every
composition, so the whole art is to draw a polygon on either side of a curve:

* **above**: chords between knots, made convex by the lower hull;
* **below**: inside each gap the curve lies above the neighbouring chords continued; they meet at a
  point, and the lower hull of these points lies below the curve.

Both errors are of second order in the gaps.  Values of knots are enclosures; their ends are taken on
the proper side, and the distribution that floats make of the polygon is compared with it once more: what is
missing (or too much) is a factor of all masses, `PLD.slack`.

What many rounds ask of a distribution is :math:`\int E^{\theta-1} h\,dE`, which their moments are made of.
In a gap both sides differ by at most a triangle; in m pieces of the gap by about 1/m² of it.  So the cheapest
way to a given difference cuts each gap into a number of pieces that rises with the cube root of its triangle.
That number is a power of two, so that distributions for several θ share most of their knots.
Where the curve is a polygon itself the chords continued meet in its kinks, and a knot is set there.

Source: the upper half is connect-the-dots, Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (PoPETs
2022); that dominated rounds compose is Zhu, Dong, Wang (AISTATS 2022), Theorem 10.
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.convex_hull import hull
from shufflelib.numerics.logspace import UNIT, logsumexp

KNOT_TOLERANCE = 5e-5  # relative width of the values connected
BESIDE = 4.0  # first knots lie up to here, in units of the curve's own width
FIRST_STEP = 0.25
NARROWEST = 1e-40  # such a width
FARTHER = 1.1, 1.25  # ratio of one knot to the next beyond, at first and farther out
FALL = 2.0  # nats that log H may fall between two of the first knots, twice as many for each depth
FIRST, NEXT = 9, 4  # such knots, set at once
NOTHING = 40.0  # e-folds that H falls to be reached by the first knots; twice as many for each further depth
DEEPEST = 5  # depth from which on the first knots reach as far as any
FARTHEST = 600.0  # nats
FAR = 550.0  # nats; a loss this large counts as infinite
LOWEST = 30.0  # nats; e^{-LOWEST} still differs from 0 beside 1
MOST_KNOTS = 1200  # of one direction
MOST_BATCHES, MOST_PIECES = 5, 16  # of knots for one distribution, and of one gap in a batch
SPARED = 0.5  # of a doubling of the number of pieces
ALONE = 4.0  # times as doubtful as both gaps beside it is one that has a kink
UNITS = 2.5 * 2.0**-20  # of H(0): knots that further ones of any class share are multiples
MIDDLING = 2.0**-4  # a relative doubt that is small, and reached on the way to less
MARGIN = 0.7  # of the doubt allowed is what a batch aims at
GENTLE = 1.0  # (θσ)² up to which tilting by θ hardly moves the losses
PER_OCTAVE = 4  # classes of tilts e^{θL}, for each factor of 2 of θ
ORDERS = 2.0 ** np.arange(-40, 61, 1.0 / PER_OCTAVE)  # θ of each class
LEAST_RATIO = 1e-300  # of h to E, below which a mass under Q may be no float
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


class Knots(NamedTuple):
    """Points of one direction's curve: ε ≥ 0, rising, and both bounds on log H there."""

    eps: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def between(self, eps):
        """Enclose log H at every ε of an array by its values at the knots on either side, as it falls."""
        right = np.searchsorted(self.eps, eps)
        lower = np.append(self.low, -np.inf)[right]
        return Interval(lower, self.high[np.searchsorted(self.eps, eps, side="right") - 1])

    def joined(self, pair, eps):
        """Return these knots and those at further ε, all that are other floats as e^{±ε} too."""
        both = np.append(self.eps, eps)
        near = both < LOWEST  # beyond, e^{−ε} is not used
        each = (np.where(near, np.expm1(sign * both), both) for sign in (-1.0, 1.0))
        first = np.intersect1d(*(np.unique(x, return_index=True)[1] for x in each))
        eps = both[first[first >= self.eps.size]]
        if eps.size == 0:
            return self
        low, high = pair.discretised.values(eps)
        order = np.argsort(np.append(self.eps, eps))
        high = np.minimum.accumulate(np.append(self.high, high)[order])
        low = np.minimum(np.maximum.accumulate(np.append(self.low, low)[order][::-1])[::-1], high)
        return Knots(np.append(self.eps, eps)[order], low, high)

    def down_to(self, deepest):
        """Return these knots without those beyond the first at which log H is that deep."""
        end = int(np.argmax(self.high <= deepest)) + 1 if self.high[-1] <= deepest else self.high.size
        return Knots(*(part[:end] for part in self))

    def no_steeper(self, pair, fall, deepest, least=1):
        """Return these knots and others, for log H to fall little from one to the next until it is deep.

        A gap is cut into at least ``least`` pieces.
        """
        falls = np.where(np.isfinite(self.high[1:]), -np.diff(np.maximum(self.high, deepest)), 0.0)
        pieces = np.where(self.high[:-1] > deepest, np.maximum(np.ceil(falls / fall), least), 1.0)
        return self.joined(pair, divided(self.eps, np.minimum(pieces, MOST_PIECES).astype(int)))


NO_KNOTS = Knots(*np.empty((3, 0)))


class Drawn(NamedTuple):
    """Both directions' knots, and the distributions drawn through them from above and from below."""

    ahead: Knots
    behind: Knots
    above: PLD
    below: PLD


class DiscretisedLoss:
    """A pair's privacy loss as finite distributions, with knots placed for a purpose.

    Each is determined by the pair and by what it is asked for.  They are kept, which costs memory and never
    changes an answer.

    Parameters
    ----------
    pair : Pair
        The pair (P, Q).
    """

    def __init__(self, pair):
        self.pair = pair
        self._kept, self._values = {}, {}

    @cached_property
    def reversed(self):
        """The same for (Q, P)."""
        return self if self.pair.symmetric else self.pair.reversed.discretised

    def _once(self, make, *asked):
        key = make.__name__, *asked
        if key not in self._kept:
            self._kept.setdefault(key, make(*asked))
        return self._kept[key]

    def values(self, eps):
        """Enclose log H at every ε of an array; values do not depend on what else is asked and are kept."""
        known, asked = self._values, eps.tolist()
        fresh = np.array([x for x in asked if x not in known])
        if fresh.size:
            low, high = self.pair.log_hockey_stick(fresh, KNOT_TOLERANCE)
            high = np.where(fresh >= self.pair.max_privacy_loss, -np.inf, high)
            known.update(zip(fresh.tolist(), zip(low.tolist(), high.tolist(), strict=True), strict=True))
        return np.array([known[x] for x in asked]).T

    def knots(self, depth=0):
        """Return the first knots of this direction, down to where the curve has fallen far."""
        return self._once(self._first_knots, depth)

    def _first_knots(self, depth):
        last, nothing = min(self.pair.max_privacy_loss, FARTHEST), -NOTHING * 2.0**depth
        if last <= 0.0:
            return NO_KNOTS.joined(self.pair, np.zeros(1))
        found, eps = NO_KNOTS.joined(self.pair, np.zeros(1)), np.empty(0)
        if depth > 0:
            found = self.knots(depth - 1)
        if found.eps[-1] == 0.0:
            width = max(2.5 * math.exp(found.high[0]), NARROWEST)  # H(0) = μ/√(2π)
            beside = width * FIRST_STEP * np.arange(1 + BESIDE / FIRST_STEP)
            eps = np.append(beside, BESIDE * width * FARTHER[0] ** np.arange(1.0, FIRST + 1.0))
        while True:
            found = found.joined(self.pair, np.minimum(eps, last)).down_to(nothing)
            if found.eps[-1] >= last or found.high[-1] <= nothing:
                break
            eps = found.eps[-1] * FARTHER[1] ** np.arange(1.0, NEXT + 1.0)
        return found.no_steeper(self.pair, FALL * 2.0**depth, nothing)

    def first(self, depth=0):
        """Return the distributions through the first knots."""
        return self._once(self._first, depth)

    def _first(self, depth):
        ahead, behind = self.knots(depth), self.reversed.knots(depth)
        return Drawn(ahead, behind, *distributions(*connected(ahead, behind)))

    @cached_property
    def gentlest(self):
        """The largest class of tilts that hardly move the losses."""
        loss, mass, _, _ = self.first().above
        mass = mass / mass.sum()
        exponent = np.outer(ORDERS, loss) + np.log(mass)
        peak = exponent.max(axis=1)
        log_moment = peak + np.log(np.exp(exponent - peak[:, None]).sum(axis=1))
        variance = float(mass @ (loss - mass @ loss) ** 2)
        moved = (
            np.maximum(
                log_moment[PER_OCTAVE:] - 2.0 * log_moment[:-PER_OCTAVE], ORDERS[:-PER_OCTAVE] ** 2 * variance
            )
            > GENTLE
        )
        return max(int(np.argmax(moved)) - 1, 0) if moved.any() else moved.size - 1

    def tilted(self, tilt, share, depth):
        r"""Return distributions for E e^{θL}, with θ of a class of tilts.

        Knots are added to the first ones until both distributions have :math:`\int E^{\theta-1} h\,dE`, up to
        what is due to the width of the values, to a relative ``share``.
        """
        return self._once(self._tilted, max(tilt, self.gentlest), share, depth)

    def _tilted(self, tilt, share, depth):
        if share < MIDDLING:
            ahead, behind = self.tilted(tilt, MIDDLING, depth)[:2]
        else:
            ahead, behind = self.knots(depth), self.reversed.knots(depth)
        unit = UNITS * math.exp(max(min(ahead.high[0], behind.high[0]), -700.0))
        for _ in range(MOST_BATCHES):
            further = _further(ahead, behind, ORDERS[tilt] - 1.0, share, unit)
            size = ahead.eps.size, behind.eps.size
            ahead = ahead.joined(self.pair, further[1])
            if self.reversed is self:
                behind = ahead
            else:
                behind = behind.joined(self.reversed.pair, further[0])
            if size == (ahead.eps.size, behind.eps.size) or max(size) > MOST_KNOTS:
                break
        return Drawn(ahead, behind, *distributions(*connected(ahead, behind)))


def _further(ahead, behind, power, share, unit):
    """Return the ε behind and ahead at which further knots are worth their cost."""
    eps = losses(ahead, behind)
    x, low, high = connected(ahead, behind)
    kink, doubt = kinks(x, low, high)[2:]
    near = doubt.size - (ahead.eps.size - 1)  # gaps behind
    with np.errstate(divide="ignore"):
        weight = np.maximum(power * eps[:-1], power * eps[1:])
        excess = high - np.maximum(-x, 0.0)
        log_sum = logsumexp(weight + np.log(0.5 * np.diff(x) * (excess[:-1] + excess[1:])))
        log_doubt = weight + np.log(doubt) - (log_sum + math.log(share))
        kink = np.log1p(kink)
    doubt = np.exp(np.minimum(log_doubt, 600.0))
    if ahead is behind:  # a knot serves both sides
        doubt = doubt[near:] + np.append(doubt[:near][::-1], np.zeros(doubt.size - 2 * near))
        near, eps, kink = 0, eps[near:], kink[near:]
    if not doubt.sum() > 1.0:
        return np.empty(0), np.empty(0)
    # pieces of a gap have together one over the square of their number of its doubt
    third = np.cbrt(doubt)
    pieces = np.maximum(third * math.sqrt(third.sum() / MARGIN), 1.0)
    pieces = np.minimum(2 ** np.ceil(np.log2(pieces) - SPARED).astype(int), MOST_PIECES)
    beside = np.append(doubt[1:], 0.0) + np.append(0.0, doubt[:-1])
    kink = np.where(doubt > ALONE * beside, kink, np.nan)
    if not (pieces > 1).any():
        pieces[np.argmax(doubt)] = 2
    return (
        -divided(eps[: near + 1], pieces[:near], kink[:near], unit)[::-1],
        divided(eps[near:], pieces[near:], kink[near:], unit),
    )


def divided(eps, pieces, kink=math.nan, unit=0.0):
    """Return points that cut gaps into equal pieces, at multiples of a unit, one moved to a gap's kink."""
    left, gap = eps[:-1, None], np.diff(eps)[:, None]
    parts, pieces = np.arange(1, max(pieces.max(initial=1), 2)), pieces[:, None]
    points = left + parts / pieces * gap
    if unit > 0.0:
        points = unit * np.rint(points / unit)
    place = (np.broadcast_to(kink, gap.shape[:1])[:, None] - left) / gap
    nearest = np.clip(np.rint(place * pieces), 1, pieces - 1)
    moved = (place > 0.0) & (place < 1.0) & (parts == nearest)
    return np.where(moved, left + place * gap, points)[parts < pieces]


def losses(ahead, behind, lowest=LOWEST):
    """Return log E of all knots of both directions, rising."""
    return np.concatenate([-behind.eps[behind.eps < lowest][:0:-1], ahead.eps])


def connected(ahead, behind, lowest=LOWEST):
    """Return x = E − 1 of all knots of both directions and both bounds on h there."""
    near = behind.eps < lowest
    eps = losses(ahead, behind, lowest)
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


def distributions(x, low, high):
    """Return the distributions of chords and of chords continued.

    Parameters
    ----------
    x : numpy.ndarray
        e^ε − 1 of the knots, rising, above −1.
    low, high : numpy.ndarray
        Both bounds on the curve there, at least max(0, −x) and at most 1.
    """
    at, depth = kinks(x, low, high)[:2]
    above = distribution(np.append(-1.0, x), np.append(1.0, high), below=False)
    return above, distribution(at, depth, below=True)


def kinks(x, low, high):
    """Return where the continued chords meet, and where and how doubtful that is in each gap.

    The points, x and h, start at E = 0 and end where the curve may be 0.
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
    points = np.append(np.append(-1.0, at[:last]), cross), np.append(np.append(1.0, y[:last]), 0.0)
    return *points, at[1:], area[1:]


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
    if not below:  # where masses under Q are no floats any more they count as infinite losses
        infinity_mass = max(infinity_mass, float(h[h < LEAST_RATIO * (1.0 + x)].max(initial=0.0)))
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

r"""Convex polygons as trade-off functions: a list of segments is a finite pair of distributions.

A segment that spends dα of false-positive rate to save dβ of false-negative rate is an atom with
masses (dα, dβ) under (P, Q).  By the Neyman-Pearson lemma every finite pair is such a list, sorted by
falling slope, and every falling convex polygon from (0, f(0)) to (1, 0) is one.  So whatever is done
to trade-off functions is done to pairs, see `tradeoff_calculus`.

Rounding.  A knot is a pair of sums of masses, each off by at most the sum of the masses' errors.
Knots moved down and to the left by that much lie below the curve, and so does the polygon through
them: each point of a segment dominates the same mixture of the moved knots.  Knots moved up and to
the right lie above it.  A wrong order of segments whose losses are off by ℓ costs a factor e^{2ℓ}.
"""

import functools
import math

import numpy as np

from shufflelib.numerics.certified import LEAST
from shufflelib.numerics.convex_hull import hull
from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.profiles.pairs import DiscretePair

MOST_SEGMENTS = 4_000_000
STEEPEST = 600.0  # log of a slope whose tangent is used
SMALL = -700.0  # log of a mass that may be no normal float
TINY = 1e-150  # stands for a rate too small for a float, above it


def pair_of_masses(p, q, *, mass_error=0.0):
    """Return the finite pair with masses ``p`` and ``q``, rounding of their ratio charged."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p, log_q = np.log(p), np.log(q)
        loss = log_p - log_q
    size = np.abs(np.where(np.isfinite(log_p), log_p, 0.0)) + np.abs(np.where(np.isfinite(log_q), log_q, 0.0))
    return DiscretePair.from_losses(
        log_p,
        log_q,
        loss,
        mass_error=mass_error + 2 * UNIT * (1.0 + size),
        loss_error=2 * mass_error + 2 * UNIT * (1.0 + size),
    )


def normalised(pair):
    """Return the pair with masses that sum to 1; constructors allow 1e-9."""
    return DiscretePair.from_losses(
        pair.log_p - logsumexp(pair.log_p),
        pair.log_q - logsumexp(pair.log_q),
        pair.loss,
        mass_error=2 * pair.mass_error + 16 * UNIT,
        loss_error=pair.loss_error + 16 * UNIT,
    )


class Polygon:
    """The trade-off function of one finite pair, knots kept."""

    def __init__(self, pair):
        self.pair = pair

    @functools.cached_property
    def inverse(self):
        """The polygon of (Q, P)."""
        return Polygon(self.pair.reversed)

    @functools.cached_property
    def knots(self):
        """False-positive and false-negative rates at the knots as computed, the upper left end first."""
        return self._sums(1.0)

    @functools.cached_property
    def doubt(self):
        """What the errors of the masses move at each knot, in either rate."""
        return self._moved(self.pair.mass_error + 4 * UNIT)

    def _moved(self, error):
        """Return what a relative error of each mass moves, and the rounding of masses below the floats."""
        lost = ((log > -np.inf) & (log < SMALL) for log in (self.pair.log_p, self.pair.log_q))
        before, after = (4.0 * LEAST * part for part in lost)
        spent, kept = self._sums(error)
        return spent + np.append(0.0, np.cumsum(before)), kept + np.append(np.cumsum(after[::-1])[::-1], 0.0)

    def _sums(self, factor):
        p, q = np.exp(self.pair.log_p) * factor, np.exp(self.pair.log_q) * factor
        spent = np.append(0.0, np.cumsum(p, dtype=np.longdouble))
        kept = np.append(np.cumsum(q[::-1], dtype=np.longdouble)[::-1], 0.0)
        return spent.astype(float), kept.astype(float)

    @functools.cached_property
    def _relative(self):
        """Relative error of the order of the segments and of running sums."""
        loss_error = float(self.pair.loss_error.max())
        return 2.0 * loss_error + 16 * UNIT + self.pair.loss.size * float(np.finfo(np.longdouble).eps)

    @functools.cached_property
    def below(self):
        """Knots of a polygon proved to lie below."""
        moved = self._moved(np.minimum(self.pair.mass_error + 4 * UNIT, 1.0))
        return tuple(
            np.maximum(rates - lost, 0.0) / (1.0 + self._relative)
            for rates, lost in zip(self.knots, moved, strict=True)
        )

    @functools.cached_property
    def above(self):
        """Knots of a polygon proved to lie above."""
        return tuple(
            (rates + more) * (1.0 + self._relative)
            for rates, more in zip(self.knots, self.doubt, strict=True)
        )

    def lower(self, fpr):
        """Return a proved lower end of the polygon at an array of false-positive rates."""
        return _at(*self.below, fpr) * (1.0 - 8 * UNIT)

    def upper(self, fpr):
        """Return a proved upper end of the polygon at an array of false-positive rates."""
        return np.minimum(_at(*self.above, fpr) * (1.0 + 8 * UNIT), (1.0 - fpr) * (1.0 + UNIT))

    def first_zero(self):
        """Return both ends of the smallest false-positive rate at which the polygon vanishes."""
        last = int(np.flatnonzero(~np.isneginf(self.pair.log_q))[-1]) + 1
        return min(float(self.below[0][last]), 1.0), min(float(self.above[0][last]), 1.0)

    def hockey_stick(self, log_slope):
        """Return both ends of sup_A Q(A) − s P(A), log s given, for s of any size."""
        if log_slope >= 0.0:
            return self.pair.reversed.log_hockey_stick(log_slope).probabilities()
        s = math.exp(log_slope)
        low, high = self.inverse.hockey_stick(-log_slope)
        rest = -math.expm1(log_slope)
        return (rest + s * low) * (1 - 8 * UNIT), min((rest + s * high) * (1 + 8 * UNIT), 1.0)


def _at(x, y, fpr):
    """Interpolate a falling polygon: a sum of positive terms, 0 beyond its last knot."""
    right = np.clip(np.searchsorted(x, fpr, side="right"), 1, x.size - 1)
    width = x[right] - x[right - 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(width > 0.0, np.minimum((x[right] - fpr) / width, 1.0), 0.0)
    inside = y[right] + np.maximum(share, 0.0) * (y[right - 1] - y[right])
    return np.where(fpr >= x[-1], 0.0, inside)


# ---------------------------------------------------------------- polygons from knots


def through(x, y, *, below):
    """Return the polygon through knots that are proved to lie below (or above) a convex curve.

    Below: each point of the curve dominates a point of the polygon, so that resorting its segments
    keeps it below.  Above: the lower convex hull of the knots, (0, 1) and (1, 0).
    """
    x, y = np.clip(x, 0.0, 1.0), np.clip(y, 0.0, 1.0)
    if below:
        x = np.minimum.accumulate(x[::-1])[::-1]
        y = np.minimum.accumulate(y)
        x, y = np.concatenate([[0.0], x, [x[-1], 1.0]]), np.concatenate([[1.0], y, [0.0, 0.0]])
    else:
        y = np.minimum(y, np.minimum((1.0 - x) * (1.0 + 4 * UNIT), 1.0))
        x, y = np.append(np.append(0.0, x), 1.0), np.append(np.append(1.0, y), 0.0)
        chosen = hull(x, y)  # (0, 1) belongs to it even where the curve starts lower
        x, y = np.append(0.0, x[chosen]), np.append(1.0, y[chosen])
    p, q = np.diff(x), -np.diff(y)
    used = (p > 0.0) | (q > 0.0)
    return Polygon(pair_of_masses(p[used], np.maximum(q[used], 0.0), mass_error=2 * UNIT))


def touching(x, y, log_slope, *, error):
    """Return polygons below and above a convex curve from points on it with their tangents.

    Parameters
    ----------
    x, y : numpy.ndarray
        Rising false-positive and falling false-negative rates, relative error ``error`` each.
    log_slope : numpy.ndarray
        Log of minus the slope of a tangent at each point, falling.
    error : float
        Relative error of ``x``, ``y`` and the slopes.
    """
    grow = 1.0 + 2.0 * error + 16 * UNIT
    high = through(np.maximum(x, TINY) * grow, np.maximum(y, TINY) * grow, below=False)
    keep = np.append(True, (np.diff(x) > 0.0) & (np.diff(y) < 0.0))
    keep &= (x > 0.0) & (y > 0.0) & (np.abs(log_slope) < STEEPEST)
    if not keep.any():
        return through(np.zeros(1), np.zeros(1), below=True), high
    x, y, slope = x[keep], y[keep], np.exp(log_slope[keep])
    steeper, flatter, dx = slope[:-1], slope[1:], np.diff(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (-np.diff(y) - flatter * dx) / (steeper - flatter)
    meet = np.clip(np.where(np.isfinite(meet), meet, 0.5 * dx), 0.0, dx)
    floor = np.minimum(y[:-1] - steeper * meet, y[1:] + flatter * (dx - meet))
    corner_x, corner_y = np.empty(2 * x.size + 1), np.empty(2 * x.size + 1)
    corner_x[1::2], corner_y[1::2] = x, y
    corner_x[2:-1:2], corner_y[2:-1:2] = x[:-1] + meet, floor
    corner_x[0], corner_y[0] = 0.0, min(1.0, y[0] + slope[0] * x[0])
    corner_x[-1], corner_y[-1] = min(1.0, x[-1] + y[-1] / slope[-1]), 0.0
    shrink = 2.0 - grow
    # differences of neighbouring rates cancel: their error is that of the larger rate
    lost = np.zeros(corner_y.size)
    lost[2:-1:2] = 8 * (UNIT + error) * y[:-1]
    low = through(corner_x * shrink, (corner_y - lost) * shrink, below=True)
    return low, high


def supporting(log_slope, low, high):
    """Return polygons below and above a convex f from sup_A Q(A) − s P(A), known within [low, high].

    Below lie the lines 1 − high − s α.  Above: each line 1 − low − s α passes above a point of f,
    which lies where that line is above all the others; two such points carry a chord.
    """
    order = np.argsort(log_slope)
    s, low, high = np.exp(log_slope[order]), low[order], high[order]
    pad = 16 * UNIT * (1.0 + s)
    below, above = 1.0 - high - pad, 1.0 - low + pad
    s, below = np.append(0.0, s), np.append(0.0, np.maximum(below, 0.0))
    above = np.append(0.0, above)
    starts = np.flatnonzero(np.append(True, np.diff(s) > 0.0))  # slopes asked for in both directions
    s, below, above = s[starts], np.maximum.reduceat(below, starts), np.minimum.reduceat(above, starts)
    chosen = hull(s, -below)
    # lines through one kink of f lie on a straight edge of that hull: all of them tell where it is
    tops = np.hstack([_tops(s[use], below[use], above[use]) for use in (chosen, np.arange(s.size))])
    s, below = s[chosen], below[chosen]
    gap = np.diff(s)
    x = np.clip(np.diff(below) / gap, 0.0, 1.0)[::-1]
    y = np.minimum(below[:-1][::-1] - s[:-1][::-1] * x, below[1:][::-1] - s[1:][::-1] * x)
    first = np.array([[0.0], [below[-1]]])
    knots = np.hstack([first, np.array([x, np.maximum(y, 0.0)])]) * (1.0 - 8 * UNIT)
    return through(*knots, below=True), through(*tops[:, np.argsort(tops[0])], below=False)


def _tops(s, below, above):
    """Return points above f: on chords between points of f known to lie on or under given lines."""
    gap = np.diff(s)
    # line k beats line k + 1 from here, and line k - 1 up to there
    left = np.append(np.maximum((below[1:] - above[:-1]) / gap, 0.0), 0.0)
    right = np.append(1.0, np.minimum((above[1:] - below[:-1]) / gap, 1.0))
    left, right = left[::-1] * (1 - 8 * UNIT), np.minimum(right[::-1] * (1 + 8 * UNIT), 1.0)
    # in order, so that they can be searched; either moves to the side on which it says less
    left, right = np.minimum.accumulate(left[::-1])[::-1], np.maximum.accumulate(right)
    s, above = s[::-1], above[::-1]
    x = np.unique(np.concatenate([left, right]))
    i = np.searchsorted(right, x, side="right") - 1
    j = np.searchsorted(left, x, side="left")
    used = (i >= 0) & (j < s.size) & (i < j)
    x, i, j = x[used], i[used], j[used]
    tops = []
    for a in (left[i], right[i]):
        for b in (left[j], right[j]):
            ya, yb = above[i] - s[i] * a, above[j] - s[j] * b
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(b > a, (b - x) / (b - a), 1.0)
            tops.append(yb + share * (ya - yb))
    y = np.max(tops, axis=0) + 32 * UNIT * (1.0 + s[i] * right[i])
    return np.array([x, np.clip(y, 0.0, 1.0)])

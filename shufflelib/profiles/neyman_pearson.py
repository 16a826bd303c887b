r"""The best tests of one finite distribution against another: a convex polygon, by the Neyman-Pearson lemma.

Rounding.  A knot is a pair of sums of masses, each off by at most the sum of the masses' errors.
Knots moved down and to the left by that much lie below the curve, and so does the polygon through
them: each point of a segment dominates the same mixture of the moved knots.  Knots moved up and to
the right lie above it.  A wrong order of segments whose losses are off by ℓ costs a factor e^{2ℓ}.
"""

import functools
import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT


class Polygon:
    """The trade-off function of one finite pair, knots kept."""

    def __init__(self, pair):
        self.pair = pair

    @functools.cached_property
    def inverse(self):
        """The polygon of (Q, P)."""
        return Polygon(self.pair.reversed)

    @functools.cached_property
    def rates(self):
        """False-positive and false-negative rates at the knots, the upper left end first."""
        p, q = self.pair.log_p.exp(), self.pair.log_q.exp()
        return p.cumsum(), q.at(slice(None, None, -1)).cumsum().at(slice(None, None, -1))

    @functools.cached_property
    def knots(self):
        """The same, without what rounding may have moved."""
        return tuple(rates.middle for rates in self.rates)

    @functools.cached_property
    def _order(self):
        """Factor by which a wrong order of the segments moves the knots."""
        low, high = self.pair.loss.at(np.isfinite(self.pair.loss.middle))
        return math.exp(np.max(high - low, initial=0.0)) * (1.0 + 8 * UNIT)

    @functools.cached_property
    def below(self):
        """Knots of a polygon proved to lie below."""
        return tuple(rates.lower / self._order for rates in self.rates)

    @functools.cached_property
    def above(self):
        """Knots of a polygon proved to lie above."""
        return tuple(rates.upper * self._order for rates in self.rates)

    def lower(self, fpr):
        """Return a proved lower bound on the polygon at an array of false-positive rates."""
        return _at(*self.below, fpr) * (1.0 - 8 * UNIT)

    def upper(self, fpr):
        """Return a proved upper bound on the polygon at an array of false-positive rates."""
        blind = np.minimum((1.0 - fpr) * (1.0 + UNIT), 1.0)  # of the test that looks at nothing
        return np.minimum(_at(*self.above, fpr) * (1.0 + 8 * UNIT), blind)

    def hockey_stick(self, log_slope):
        """Return both bounds of sup_A Q(A) − s P(A), log s given, for s of any size."""
        if log_slope >= 0.0:
            return self.pair.reversed.log_hockey_stick(log_slope).probabilities()
        return mirrored(Interval.of(log_slope), Interval(*self.inverse.hockey_stick(-log_slope)))


def mirrored(log_slope, value):
    """Return both bounds of sup_A Q(A) − s P(A), s < 1, from ``value``, that of the reversed pair at 1/s."""
    return tuple((value * log_slope.exp() - log_slope.expm1()).within(0.0, 1.0))


def _at(x, y, fpr):
    """Interpolate a falling polygon: a sum of positive terms, 0 beyond its last knot."""
    right = np.clip(np.searchsorted(x, fpr, side="right"), 1, x.size - 1)
    width = x[right] - x[right - 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(width > 0.0, np.minimum((x[right] - fpr) / width, 1.0), 0.0)
    inside = y[right] + np.maximum(share, 0.0) * (y[right - 1] - y[right])
    return np.where(fpr >= x[-1], 0.0, inside)

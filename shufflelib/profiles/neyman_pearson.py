r"""The best tests of one finite distribution against another: a convex polygon, by the Neyman-Pearson lemma.

Rounding.  A knot is a pair of sums of masses, each off by at most the sum of the masses' errors.
Knots moved down and to the left by that much lie below the curve, and so does the polygon through
them: each point of a segment dominates the same mixture of the moved knots.  Knots moved up and to
the right lie above it.  A wrong order of segments whose losses are off by ℓ costs a factor e^{2ℓ}.
"""

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT

FARTHEST = 1e300  # nats; finite, for a slope of 0


class Polygon:
    """The trade-off function of one finite pair, knots kept."""

    def __init__(self, pair):
        self.pair = pair

    @cached_property
    def inverse(self):
        """The polygon of (Q, P)."""
        return Polygon(self.pair.reversed)

    @cached_property
    def rates(self):
        """False-positive and false-negative rates at the knots, the upper left end first."""
        p, q = self.pair.log_p.exp(), self.pair.log_q.exp()
        return p.cumsum(), q.at(slice(None, None, -1)).cumsum().at(slice(None, None, -1))

    @cached_property
    def knots(self):
        """The same, without what rounding may have moved."""
        return tuple(rates.middle for rates in self.rates)

    @cached_property
    def _order(self):
        """Factor by which a wrong order of the segments moves the knots."""
        low, high = self.pair.loss.at(np.isfinite(self.pair.loss.middle))
        return math.exp(np.max(high - low, initial=0.0)) * (1.0 + 8 * UNIT)

    @cached_property
    def below(self):
        """Knots of a polygon proved to lie below."""
        return tuple(rates.lower / self._order for rates in self.rates)

    @cached_property
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
        """Return both bounds of sup_A Q(A) − s P(A) for an array of log s, which may be ``-inf``."""
        return at_any_slope(self.pair, log_slope)


def at_any_slope(pair, log_slope):
    """Return both bounds of sup_A Q(A) − s P(A) for an array of log s, the 1 of s = 0 included.

    It is H(Q‖P) at log s where s ≥ 1, and 1 − s + s H(P‖Q) at −log s elsewhere.
    """
    steep, flat = (
        Interval(*one.log_hockey_stick(np.clip(eps, 0.0, FARTHEST)).probabilities())
        for one, eps in ((pair.reversed, log_slope), (pair, -log_slope))
    )
    below = Interval.of(np.minimum(log_slope, 0.0))
    flat = (flat * below.exp() - below.expm1()).within(0.0, 1.0)
    return tuple(steep.where(log_slope >= 0.0, flat.where(log_slope > -math.inf, 1.0)))


def _at(x, y, fpr):
    """Interpolate a falling polygon: a sum of positive terms, 0 beyond its last knot."""
    right = np.clip(np.searchsorted(x, fpr, side="right"), 1, x.size - 1)
    width = x[right] - x[right - 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(width > 0.0, np.minimum((x[right] - fpr) / width, 1.0), 0.0)
    inside = y[right] + np.maximum(share, 0.0) * (y[right - 1] - y[right])
    return np.where(fpr >= x[-1], 0.0, inside)

r"""The best tests of one finite distribution against another: a convex polygon, by the Neyman-Pearson lemma.

Rounding.  A knot is a pair of sums of masses, each off by at most the sum of the masses' errors.
Knots moved down and to the left by that much lie below the curve, and so does the polygon through
them: each point of a segment dominates the same mixture of the moved knots.  Knots moved up and to
the right lie above it.  A wrong order of segments whose losses are off by ℓ costs a factor e^{2ℓ}.
"""

import functools
import math

import numpy as np

from shufflelib.numerics.interval import LEAST
from shufflelib.numerics.logspace import UNIT

SMALL = -700.0  # log of a mass that may be no normal float


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
        blind = np.minimum((1.0 - fpr) * (1.0 + UNIT), 1.0)  # of the test that looks at nothing
        return np.minimum(_at(*self.above, fpr) * (1.0 + 8 * UNIT), blind)

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

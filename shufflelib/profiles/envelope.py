"""The envelope of several pairs: one symmetric pair that dominates all of them, in both orders."""

import bisect
import math

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.hockey_stick import SymmetricPair, pointwise
from shufflelib.profiles.questions import in_both_directions


class Envelope(SymmetricPair):
    r"""The symmetric pair whose curve is the largest of several, directions included.

    .. math:: h(E) = \max_j \max\{h_{P_j Q_j}(E),\; h_{Q_j P_j}(E)\}, \qquad E = e^{\varepsilon} > 0

    Parameters
    ----------
    pairs : sequence of Pair
        At least one.

    Notes
    -----
    A largest convex function is convex, falls from 1 and stays above 1 − E, so it is the curve of a
    pair; and as :math:`h(E) = 1 - E + E\,h(1/E)` holds for it, of a symmetric one.  An analyst
    who may choose pair and direction in every round does no better than with this pair in every round.
    """

    def __init__(self, pairs):
        self.pairs = tuple(pairs)
        self.search_width = max(pair.search_width for pair in self.pairs)
        self._curves = list(map(_Curve, in_both_directions(self.pairs)))

    @classmethod
    def of(cls, pairs):
        """Return the envelope; a single symmetric pair is its own."""
        pairs = tuple(pairs)
        return pairs[0] if len(pairs) == 1 and pairs[0].symmetric else cls(pairs)

    @property
    def max_privacy_loss(self):
        """The largest loss of any of the pairs."""
        return max(curve.pair.max_privacy_loss for curve in self._curves)

    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose the largest of all curves, without those that are known to be lower."""
        ceilings = [curve.ceiling(eps) for curve in self._curves]
        lower = upper = -math.inf
        for i in sorted(range(len(ceilings)), key=lambda i: -ceilings[i]):
            if ceilings[i] < lower - 2.0 * tolerance:  # even as wide as asked for
                break
            found = self._curves[i].log_hockey_stick(eps, tolerance)
            lower, upper = max(lower, found.lower), max(upper, found.upper)
        return Interval(lower, upper)


class _Curve:
    """One direction of a pair, with all values so far: as H is convex in e^ε, it lies below their chords."""

    def __init__(self, pair):
        self.pair, self._values = pair, []

    def log_hockey_stick(self, eps, tolerance):
        """Enclose log H, remembering its upper bound."""
        found = self.pair.log_hockey_stick(eps, tolerance)
        bisect.insort(self._values, (eps, found.upper))
        return found

    def ceiling(self, eps):
        """Return an upper bound on log H from the values at the next smaller ε and at the next larger one."""
        values = self._values.copy()  # another thread may add to them
        after = bisect.bisect(values, (eps, math.inf))
        if after == 0:
            return math.inf
        left, high = values[after - 1]
        if after == len(values) or high == -math.inf:
            return high
        right, low = values[after]
        share = math.exp(eps - right) * math.expm1(left - eps) / math.expm1(left - right)
        return high + math.log(1.0 + share * math.expm1(min(low - high, 0.0)) + 8 * UNIT)

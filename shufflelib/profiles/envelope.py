"""The envelope of several pairs: one symmetric pair that dominates all of them, in both orders."""

import functools

from shufflelib.numerics.certified import Interval
from shufflelib.profiles.hockey_stick import SymmetricPair
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
        self.directions = tuple(in_both_directions(self.pairs))

    @classmethod
    def of(cls, pairs):
        """Return the envelope; a single symmetric pair is its own."""
        pairs = tuple(pairs)
        return pairs[0] if len(pairs) == 1 and pairs[0].symmetric else cls(pairs)

    @property
    def max_privacy_loss(self):
        """The largest loss of any of the pairs."""
        return max(one.max_privacy_loss for one in self.directions)

    def _log_curve(self, eps, tolerance):
        """Enclose the largest of all curves."""
        return functools.reduce(
            Interval.largest, (one.log_hockey_stick(eps, tolerance) for one in self.directions)
        )

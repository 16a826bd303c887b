"""The envelope of several pairs: one symmetric pair that dominates all of them, in both orders."""

from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.profiles.hockey_stick import SymmetricPair


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

    @classmethod
    def of(cls, pairs):
        """Return the envelope; a single symmetric pair is its own."""
        pairs = tuple(pairs)
        return pairs[0] if len(pairs) == 1 and pairs[0].symmetric else cls(pairs)

    @property
    def max_privacy_loss(self):
        """The largest loss of any of the pairs."""
        return max(one.max_privacy_loss for pair in self.pairs for one in (pair, pair.reversed))

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose the largest of all curves."""
        found = [pair.log_worst(eps, tolerance) for pair in self.pairs]
        return Interval(max(one.lower for one in found), max(one.upper for one in found))

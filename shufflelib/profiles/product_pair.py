r"""The product of two pairs of distributions, summed atom by atom.

.. math:: H_\varepsilon(P_1 P_2 \| Q_1 Q_2) = \sum_y P_1(y)\, H_{\varepsilon - \ell(y)}(P_2 \| Q_2), \qquad
          \ell = \log P_1/Q_1,

where :math:`H_{-x}(P \| Q) = 1 - e^{-x} + e^{-x} H_x(Q \| P)`, in which no terms cancel.
`ComposedPair` takes any number of pairs and smooths their losses; this takes two, the first one finite, and
does not.
"""

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.hockey_stick import Pair, pointwise
from shufflelib.profiles.pairs import DiscretePair

DEEPEST = -600.0  # nats, below which H is taken between its value there and 1


class ProductPair(Pair):
    """The product of a finite pair and another one.

    Parameters
    ----------
    first : DiscretePair
        Summed over, one value of the other's curve for each atom.
    second : Pair
        The other one.

    Examples
    --------
    Two answers by randomized response that tells the truth with probability 3/4; δ(log 2) is 9/16 - 2/16:

    >>> import math
    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> from shufflelib.profiles.product_pair import ProductPair
    >>> one = DiscretePair(np.log([0.75, 0.25]), np.log([0.25, 0.75]))
    >>> round(ProductPair(one, one).delta(eps=math.log(2)).upper, 12)
    0.4375
    """

    statement = "a product of two pairs"
    source = "exact sums over the atoms of one pair"

    def __init__(self, first: DiscretePair, second: Pair) -> None:
        self.first, self.second = first, second
        self.search_width = second.search_width

    @cached_property
    def reversed(self):
        """Both pairs reversed."""
        return ProductPair(self.first.reversed, self.second.reversed)

    @property
    def max_privacy_loss(self):
        """The sum of both."""
        return (Interval.of(self.first.max_privacy_loss) + self.second.max_privacy_loss).upper

    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose log H as the sum over the first pair's atoms; H falls as ε − ℓ rises."""
        left = Interval.of(eps) - self.first.loss
        ends = self._log_at(left.upper, 0, tolerance), self._log_at(left.lower, 1, tolerance)
        return (self.first.log_p + Interval(*ends)).log_sum()

    def _log_at(self, eps, side, tolerance):
        """Return the lower or the upper end of log H of the second pair, at ε of either sign."""
        at = np.maximum(eps, DEEPEST)
        log_h = self.second.log_hockey_stick(np.maximum(at, 0.0), tolerance)[side]
        back = self.second.reversed.log_hockey_stick(np.maximum(-at, 0.0), tolerance)[side]
        below = np.minimum(at, 0.0)
        with np.errstate(divide="ignore"):
            negative = np.logaddexp(np.log(-np.expm1(below)), below + back)
        negative = Interval.of(negative, 8.0).widened(absolute=16 * UNIT)[side]
        found = np.minimum(np.where(at < 0.0, negative, log_h), 0.0)
        return np.where(eps < at, 0.0, found) if side else found

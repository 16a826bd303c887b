r"""An ordered pair of distributions as its hockey-stick curve.

.. math:: H_\varepsilon(P\|Q) = \sup_A\, P(A) - e^{\varepsilon} Q(A), \qquad \varepsilon \ge 0.

Rényi divergences and trade-off functions follow from the curve alone.
"""

import functools
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.optional import tick
from shufflelib.numerics.types import Array
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.connect_the_dots import ConnectTheDots, tolerance_for
from shufflelib.profiles.discretised_loss import DiscretisedLoss
from shufflelib.profiles.questions import PrivacyProfile


def pointwise(log_hockey_stick):
    """Turn a method for one ε into one for an array of them."""

    @functools.wraps(log_hockey_stick)
    def at_each(self, eps, tolerance):
        ends = np.array([log_hockey_stick(self, x, tolerance) for x in eps.tolist()]).reshape(-1, 2)
        return Interval(ends[:, 0], ends[:, 1])

    return at_each


def _at_each(known, dotted, x, *given):
    """Return both bounds of a number at one x or at an array of them, from dots where they are not known."""
    at = np.asarray(x, float)
    flat, given = at.ravel(), [np.broadcast_to(one, at.shape).ravel() for one in given]
    found = [known(one) for one in flat.tolist()]
    open_ = [i for i, ends in enumerate(found) if ends is None]
    if open_:
        for i, ends in zip(open_, dotted(flat[open_], *(one[open_] for one in given)), strict=True):
            found[i] = ends
    low, high = np.array(found, float).reshape(-1, 2).T
    return (low.reshape(at.shape), high.reshape(at.shape)) if at.ndim else (float(low[0]), float(high[0]))


def _finite(known, ceiling):
    """Return what is known at an order; what is infinite, only where nothing bounds it."""

    def known_below(order):
        ends = known(order)
        return None if ends and ceiling and ends[1] == math.inf > ceiling(order) else ends

    return known_below


class Pair(PrivacyProfile):
    """An ordered pair (P, Q) of distributions, known through its hockey-stick divergence.

    On its own it gives both bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> pair = DiscretePair(np.log([0.5, 0.5]), np.log([0.1, 0.9]))
    >>> round(pair.max_privacy_loss, 5), round(pair.reversed.max_privacy_loss, 5)
    (1.60944, 0.58779)
    >>> pair.dominating_pairs == pair.attack_pairs == (pair,)
    True
    """

    statement = "a pair (P, Q)"
    symmetric = False  # H(P‖Q) = H(Q‖P) at every eps
    from_above = False  # of its curve no lower bound is known but a plain one
    one_way = False  # asked in the order of P and Q only
    forward_is_dominant = True  # P‖Q is likely to have the larger divergence, and is looked at first
    search_width = 1e-11  # relative width at which a search for ε stops
    renyi_tolerance = 1e-4  # relative width of values connected for a Rényi divergence,
    renyi_width = 10.0  # and of the divergence, in those widths
    rough_is_cheaper = False  # values known roughly cost much less, and those known well after them no more

    def log_hockey_stick(self, eps, tolerance=TOLERANCE) -> Interval:
        """Enclose log H_eps(P‖Q) at every eps ≥ 0, aiming at a relative width ``tolerance``.

        The interval has arrays of the shape of ``eps``, or floats if that is one.
        """
        eps = np.asarray(eps, float)
        if eps.size > 1:
            tick(eps.size)
        found = self._log_curve(eps.ravel(), tolerance).or_unknown()
        return Interval(*((end.reshape(eps.shape) if eps.ndim else float(end[0])) for end in found))

    @classmethod
    def log_curves(cls, asked: Sequence[tuple[Any, Array]], tolerance: float = TOLERANCE) -> list[Interval]:
        """Enclose log H of several pairs of this class, each with a one-dimensional array of ε."""
        return [one.log_hockey_stick(eps, tolerance) for one, eps in asked]

    @abstractmethod
    def _log_curve(self, eps, tolerance):
        """Enclose log H_eps(P‖Q) at each entry of a one-dimensional array."""

    @property
    @abstractmethod
    def reversed(self) -> "Pair":
        """The pair (Q, P)."""

    @property
    @abstractmethod
    def max_privacy_loss(self) -> float:
        """Essential supremum of log P/Q, possibly infinite; H vanishes from there on."""

    def about_total_variation(self) -> float:
        """Return about log H at ε = 0 if that is known without the curve there, else −∞."""
        return -math.inf

    @property
    def _bounds(self):
        return Bounds((self,), (self,))

    @property
    def ordered(self) -> "Pair":
        """The pair as one in a fixed order."""
        return self

    @cached_property
    def discretised(self):
        """Its privacy loss as finite distributions, which rounds are made of."""
        return DiscretisedLoss(self)

    def log_worst(self, eps, tolerance=TOLERANCE):
        """Enclose the logarithm of the larger of the two directions."""
        forward = self.log_hockey_stick(eps, tolerance)
        if self.symmetric:
            return forward
        return forward.largest(self.reversed.log_hockey_stick(eps, tolerance))

    def known_renyi(self, order):
        """Return both bounds of D_order(P‖Q) if they are known without dots on the curve, else None."""
        return None

    def renyi_by_order(self) -> Callable[[float], tuple[float, float] | None]:
        """Return `known_renyi`, prepared for several orders."""
        return self.known_renyi

    def renyi_directed(self, order, skip_below=0.0, ceiling=None):
        """Return both bounds of D_order(P‖Q), for one order or an array.

        They may stay apart where both are at most ``skip_below``.  ``ceiling``, if given, is an upper bound
        at any order on a divergence that this one need not exceed.
        """

        def dotted(orders, skip_below):
            dots = ConnectTheDots(self, tolerance_for(self, orders, skip_below))
            return dots.renyi(orders, skip_below, self._tail_ceiling(ceiling))

        return _at_each(_finite(self.renyi_by_order(), ceiling), dotted, order, skip_below)

    def _tail_ceiling(self, ceiling):
        """Return what bounds the tail of the curve where the loss is unbounded."""
        return (ceiling or self.renyi_ceiling) if self.max_privacy_loss == math.inf else None

    def renyi_worst(self, order, skip_below=0.0, ceiling=None):
        """Return both bounds of the larger direction, known well where it exceeds ``skip_below``."""
        if self.symmetric:
            return self.renyi_directed(order, skip_below, ceiling)
        both = (self, self.reversed) if self.forward_is_dominant else (self.reversed, self)

        by_order = [one.renyi_by_order() for one in both]

        def known(order):
            found = [ends for one in by_order if (ends := one(order))]
            if len(found) == 2 or any(ends[0] == math.inf for ends in found):
                return tuple(np.max(found, axis=0).tolist())  # NaN stays NaN
            return None

        def dotted(orders, skip_below):
            ceilings = [one._tail_ceiling(ceiling) for one in both]
            dots = ConnectTheDots(both[0], tolerance_for(self, orders, skip_below))
            return dots.renyi_worst(orders, skip_below, ceilings)

        return _at_each(_finite(known, ceiling), dotted, order, skip_below)

    def dots(self):
        """Return first dots on both curves, for a trade-off function."""
        return ConnectTheDots(self, shallow=True)

    def known_false_negatives(self, fpr):
        """Return what `false_negatives` does if it is known without dots on the curve, else None."""
        return None

    def false_negatives(self, fpr):
        """Return both bounds of the smallest false-negative rate, null P against alternative Q.

        That is for one false-positive rate or an array.
        """
        return _at_each(self.known_false_negatives, lambda fprs: self.dots().false_negatives(fprs), fpr)

    def fewest_missed(self, fpr, enough=1.0):
        """Return both bounds of the smallest false-negative rate in either order.

        They may stay apart where both are at least ``enough``.
        """
        if self.symmetric:
            return self.false_negatives(fpr)

        def known(fpr):
            found = [one.known_false_negatives(fpr) for one in (self, self.reversed)]
            return np.min(found, axis=0) if all(found) else None

        return _at_each(known, lambda *given: self.dots().fewest_missed(*given), fpr, enough)

    def _renyi_sides(self, order):
        """Return both bounds of the larger direction, which bounds from above and from below."""
        return (self.renyi_worst(order),) * 2

    def _tradeoff(self, fpr):
        return self.false_negatives(fpr)

    def beside_crowd(self):
        """Return the pair with the world of equal users for Q, or None if neither is known to be that."""
        return None

    def on_a_sample(self, rate):
        """Return this attack on users drawn at random, or None if it is no attack on known others."""
        return None


class SymmetricPair(Pair):
    """A pair that has one curve in both directions.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> pair = Gaussian(mu=1.0)
    >>> pair.symmetric, pair.reversed is pair
    (True, True)
    """

    symmetric = True

    @property
    def reversed(self):
        """The pair itself."""
        return self


class OneWay(Pair):
    """A pair whose first distribution is always that of one kind of neighbour: it is not exchanged.

    A user is added, for example, and never removed.  Every number is that of (P, Q) as it stands.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> from shufflelib.profiles.hockey_stick import OneWay
    >>> pair = DiscretePair(np.log([0.5, 0.5]), np.log([0.1, 0.9]))
    >>> [round(one.epsilon(delta=0.01).upper, 3) for one in (pair, pair.reversed, OneWay(pair.reversed))]
    [1.589, 1.589, 0.577]
    """

    symmetric = True  # asked in one order only

    one_way = True

    def __init__(self, pair):
        self.pair = pair
        self.search_width = pair.search_width
        self.rough_is_cheaper = pair.rough_is_cheaper

    @property
    def ordered(self) -> Pair:
        """The pair that it takes in one order."""
        return self.pair

    @property
    def reversed(self):
        """The pair itself, which stands for all orders that are asked."""
        return self

    @property
    def max_privacy_loss(self):
        """The largest loss of the pair in its order."""
        return self.ordered.max_privacy_loss

    def _log_curve(self, eps, tolerance):
        return self.ordered.log_hockey_stick(eps, tolerance)

    def renyi_directed(self, order, skip_below=0.0, ceiling=None):
        """Return both bounds of D_order(P‖Q)."""
        return self.ordered.renyi_directed(order, skip_below, ceiling)

    def false_negatives(self, fpr):
        """Return both bounds of the smallest false-negative rate, null P against alternative Q."""
        return self.ordered.false_negatives(fpr)


class Indistinguishable(SymmetricPair):
    """A pair of two equal distributions, which reveals nothing.

    Examples
    --------
    >>> from shufflelib.profiles.hockey_stick import Indistinguishable
    >>> Indistinguishable().log_hockey_stick(0.0).probabilities()
    (0.0, 0.0)
    """

    max_privacy_loss = 0.0

    def _log_curve(self, eps, tolerance):
        return Interval.of(np.full(eps.shape, -math.inf))

"""What encloses the numbers of a mechanism: pairs above and below it, and the worst number over pairs."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from shufflelib.numerics.optional import counting


@dataclasses.dataclass(frozen=True)
class Bounds:
    """What encloses the numbers of a mechanism.

    Parameters
    ----------
    above, below : tuple of Pair
        Pairs that dominate the mechanism, and pairs that it produces.
    attained : tuple of Pair
        Pairs whose δ some dataset attains, at each ε another one: they bound δ and ε from below, and nothing
        else.  By default those ``below``.
    pure_epsilon : float
        A pure guarantee known without the pairs.
    renyi : callable
        Takes an array of orders and returns upper bounds on the Rényi divergences, known without the pairs.
        It is not asked where losses are unbounded and moments of further orders bound their tails as well.

    Examples
    --------
    >>> from shufflelib.profiles import Bounds, Gaussian
    >>> Bounds(above=(Gaussian(1.0),), below=(Gaussian(0.9),)).pure_epsilon
    inf
    """

    above: tuple[Any, ...]
    below: tuple[Any, ...]
    attained: tuple[Any, ...] = ()
    pure_epsilon: float = math.inf
    renyi: Callable[[Any], Any] | None = None


@counting("points of curves")
def fewest_missed(pairs, fpr):
    """Return both bounds of the smallest false-negative rates of several pairs, in either order."""
    low = high = np.ones(np.shape(fpr))
    for pair in pairs:
        low, high = np.minimum((low, high), pair.fewest_missed(fpr, low))
    return low, high


@counting("points of curves")
def largest_renyi(pairs, order, least=0.0, ceiling=None):
    """Return both bounds of the largest divergence of several pairs, of which ``ceiling`` bounds moments.

    It is known to be at least ``least``.  The plainest pair comes first, so that the others are soon known to
    be no worse.
    """
    if len(pairs) > 1:
        pairs = sorted(pairs, key=lambda pair: -pair.log_hockey_stick(0.0, pair.renyi_tolerance).lower)
    lower = upper = np.broadcast_to(least, np.shape(order))
    for pair in pairs:
        lower, upper = np.maximum((lower, upper), pair.renyi_worst(order, lower, ceiling))
    return lower, upper

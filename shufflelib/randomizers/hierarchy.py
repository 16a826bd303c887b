r"""A hierarchy of intervals: any range is a union of few of its nodes.

The domain :math:`\{0,\dots,B^H-1\}` is cut into B intervals, each of these into B, and so on: level h has
:math:`B^h` nodes, the root is level 0 and the values themselves are level H.  Any range is the disjoint union
of at most :math:`2(B-1)H` nodes.
"""

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.types import Integers
from shufflelib.randomizers import values

MOST_VALUES = 2**20


def canonical_decomposition(first: ArrayLike, last: ArrayLike, *, d: int, branching: int = 2) -> Integers:
    r"""Return the nodes of the hierarchy whose disjoint union is the given range.

    .. math:: [a, b] = \bigsqcup_{h=0}^{H} \bigl([\ell_h, \ell'_h) \cup [r_h, r'_h)\bigr)\, B^{H-h}

    Parameters
    ----------
    first, last : int or array_like, shape (m,)
        Ends a <= b of the ranges, both included, in 0, ..., d-1.
    d : int
        Number of values, a power of ``branching``.
    branching : int, optional
        Children B >= 2 of a node.

    Returns
    -------
    numpy.ndarray, shape (H + 1, 2, 2, m), integer
        For each level h, root first, a left and a right run of nodes, each a half-open interval
        (start, stop), possibly empty.  At most 2(B - 1) nodes on a level; the root alone for the domain.

    Notes
    -----
    From the leaves up: nodes before the first and after the last complete parent stay on their level.
    Cost O(m log d).

    Examples
    --------
    >>> from shufflelib import estimation
    >>> runs = estimation.canonical_decomposition(1, 6, d=8)[..., 0].tolist()
    >>> [(level, *run) for level, sides in enumerate(runs) for run in sides if run[0] < run[1]]
    [(2, 1, 3), (3, 1, 2), (3, 6, 7)]

    Nodes 1 and 2 of the quarters, nodes 1 and 6 of the leaves: 2-3 and 4-5, 1 and 6.
    """
    levels = number_of_levels(d, branching)
    start = values.whole(np.atleast_1d(first), "first", at_least=0, at_most=d - 1)
    stop = values.whole(np.atleast_1d(last), "last", at_least=0, at_most=d - 1) + 1
    start, stop = np.broadcast_arrays(start, stop)
    if (start >= stop).any():
        bad = int(np.argmax(start >= stop))
        raise ValueError(
            f"last must be at least first, got [{start[bad]}, {stop[bad] - 1}]; ranges include both ends"
        )
    runs = np.empty((levels + 1, 2, 2, start.size), np.int64)
    for level in range(levels, 0, -1):
        inner = -(-start // branching) * branching, stop // branching * branching
        cut = np.where(inner[0] < inner[1], inner, stop)  # no complete parent: all stay here
        runs[level] = (start, cut[0]), (cut[1], stop)
        start, stop = cut // branching
    runs[0] = (start, stop), (stop, stop)
    return runs


def number_of_levels(d, branching):
    """Return H with d = branching**H, or raise if d is not such a power."""
    branching = validation.count(branching, "branching", at_least=2)
    d = validation.count(d, "d", at_least=branching, at_most=MOST_VALUES)
    levels, left = 0, d
    while left % branching == 0:
        levels, left = levels + 1, left // branching
    if left != 1:
        raise ValueError(
            f"d must be a power of branching = {branching}, got {d!r}; pad it with values nobody holds"
        )
    return levels


def sum_in_runs(level, run):
    """Return the sum of a level's nodes over a left and a right run."""
    upto = np.append(0.0, np.cumsum(level))
    return (upto[run[:, 1]] - upto[run[:, 0]]).sum(axis=0)

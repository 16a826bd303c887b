"""The shuffler: the one step between users and analyst, made explicit."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.randomizers import values
from shufflelib.randomizers.multi_message import MultiMessage


def in_random_order(rows: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
    """Return the rows in a uniformly random order, as the shuffler does.

    Parameters
    ----------
    rows : array_like, shape (n, ...)
        One row for each user: reports, or values before they are assigned to slots.
    rng : numpy.random.Generator
        The shuffler's randomness.

    Returns
    -------
    numpy.ndarray
        A copy with the same rows; every order has the same probability, whatever the order was.

    Raises
    ------
    TypeError, ValueError
        If ``rng`` is not a Generator or there are no rows.

    Notes
    -----
    Cost O(n).  The guarantee of a shuffled protocol requires that nothing but what this returns reaches
    the analyst.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation
    >>> reports = estimation.in_random_order(["yes", "no", "no", "yes"], np.random.default_rng(1))
    >>> sorted(reports.tolist())
    ['no', 'no', 'yes', 'yes']
    """
    rng = values.generator(rng)
    rows = np.asarray(rows)
    if rows.ndim == 0 or len(rows) == 0:
        raise ValueError(f"rows must hold one row for each user, got shape {rows.shape}; pass at least one")
    return rng.permutation(rows, axis=0)


def shuffled_reports(mechanism: Any, x: Any, rng: np.random.Generator, each: int = 0) -> NDArray[Any]:
    """Return all that reaches the analyst: the users' reports and ``each`` dummy messages of everyone."""
    reports = mechanism.sample(x, values.generator(rng))
    if isinstance(mechanism, MultiMessage):
        reports = np.concatenate([reports, mechanism.sample_blanket(len(reports) * each, rng)])
    return in_random_order(reports, rng)

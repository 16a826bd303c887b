"""Where a theorem applies: its hypotheses checked, and sweeps that leave a gap where it does not."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array

ROUNDING = 1e-12  # beta = (p - 1)/(p + 1) must pass although it was computed in floating point


class OutOfRegime(ValueError):
    """A hypothesis of the theorem does not hold, so the theorem does not apply.

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> closed_form.erlingsson19(eps0=1.0, n=10_000, delta=1e-6)
    Traceback (most recent call last):
    shufflelib.published.closed_form.regime.OutOfRegime: the theorem needs eps0 <= 1/2; here eps0 = 1.0
    """


def require(holds, hypothesis, numbers):
    """Raise `OutOfRegime` naming the hypothesis and the numbers unless it holds."""
    if not holds:
        raise OutOfRegime(f"the theorem needs {hypothesis}; here {numbers}")


def checked(eps0, n, delta):
    """Return the three arguments of a formula in eps0, refusing bad input by name."""
    return validation.local_budget(eps0), validation.users(n), validation.probability(delta, "delta")


def over(bound: Callable[..., float], **grid: ArrayLike) -> Array:
    """Evaluate a bound over arrays of its arguments, with NaN where the theorem does not apply.

    Parameters
    ----------
    bound : callable
        Any function of keywords that raises `OutOfRegime`.
    **grid : array_like
        Keyword arguments of ``bound``; they broadcast against each other.

    Returns
    -------
    numpy.ndarray
        One float per point of the broadcast shape.  NaN marks a point where the bound does not apply;
        other errors (bad input) are raised.

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> eps = closed_form.over(closed_form.clones_fmt21, eps0=[0.5, 1.0, 4.0], n=10_000, delta=1e-6)
    >>> eps.round(5).tolist()
    [0.09387, 0.21403, nan]
    """
    columns = np.broadcast_arrays(*map(np.asarray, grid.values()))
    results = np.full(columns[0].size, math.nan)
    for index, values in enumerate(zip(*(column.ravel().tolist() for column in columns), strict=True)):
        try:
            results[index] = bound(**dict(zip(grid, values, strict=True)))
        except OutOfRegime:
            continue
    return results.reshape(columns[0].shape)

"""The standard error of a mechanism's estimate, from the exact variance of one report."""

import math
from typing import Any

import numpy as np

from shufflelib.calibration.tasks.task import Sizes
from shufflelib.randomizers.frequency_oracle import ItemSupports


def frequency_errors(
    mechanism: ItemSupports,
    n: int,
    dummy_messages: int = 0,
    sizes: Sizes | None = None,
    *,
    usual: float | None = None,
) -> tuple[float, float]:
    """Return the standard error of a share, by default if all items are equally frequent, and the largest."""
    shares = (mechanism.usual_share if usual is None else usual), 0.0, 1.0
    variances = [np.max(mechanism.variance(share, n=n, dummy_messages=dummy_messages)) for share in shares]
    return math.sqrt(variances[0]), math.sqrt(max(variances[1:]))


def mean_errors(
    mechanism: Any, n: int, dummy_messages: int = 0, sizes: Sizes | None = None
) -> tuple[float, float]:
    """Return the standard error of a mean of values spread evenly over [0, 1], and the largest one.

    With noise added to each count, of one-hot values, that is the error of every share too.
    """
    usual, worst = (math.sqrt(variance / n) for variance in mechanism.variances())
    return usual, worst


def standard_errors(mechanism: Any, n: int) -> tuple[float, float] | None:
    """Return the standard error at ordinary data and the largest one, or None without a formula."""
    if isinstance(mechanism, ItemSupports):
        return frequency_errors(mechanism, n)
    return None if mechanism.variances() is None else mean_errors(mechanism, n)

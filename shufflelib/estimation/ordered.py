"""Values in order, from hierarchical reports: shares of ranges, the distribution, quantiles.

All intervals are those of the normal approximation with the exact variance at the estimated shares.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from shufflelib.estimation.intervals import by_columns
from shufflelib.numerics import validation
from shufflelib.numerics.tables import Table
from shufflelib.numerics.types import Array
from shufflelib.randomizers import hierarchical, values


def ranges(
    mechanism: hierarchical,
    reports: Any,
    *,
    first: ArrayLike,
    last: ArrayLike,
    n: int | None = None,
    confidence: float = 0.95,
) -> Table:
    """Estimate the share of users in each range of values, with confidence intervals.

    Parameters
    ----------
    mechanism : hierarchical
        That made the reports.
    reports : numpy.ndarray, shape (n,)
        All reports, in any order.
    first, last : int or array_like, shape (m,)
        Ends of the ranges, both included.
    n : int, optional
        Number of users, one report each.
    confidence : float, optional
        Probability, strictly between 0 and 1, with which each interval covers the truth.

    Returns
    -------
    Table
        One row for each range: ``first``, ``last``, the unbiased ``estimate``, ``lower`` and ``upper``.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> mechanism, rng = randomizers.hierarchical(eps0=3.0, d=64), np.random.default_rng(1)
    >>> held = np.arange(50_000) % 64
    >>> found = estimation.run(mechanism, held, rng, estimate=estimation.ranges, first=[3, 10], last=[8, 57])
    >>> [row["lower"] < share < row["upper"] for row, share in zip(found, (6 / 64, 48 / 64))]
    [True, True]
    """
    first, last = np.broadcast_arrays(np.atleast_1d(first), np.atleast_1d(last))
    shares, width = _answered(mechanism, reports, n, confidence, first, last)
    return by_columns(first=first, last=last, estimate=shares, lower=shares - width, upper=shares + width)


def distribution(
    mechanism: hierarchical, reports: Any, *, n: int | None = None, confidence: float = 0.95
) -> Table:
    """Estimate the distribution function: the share of users at or below each value.

    Parameters
    ----------
    mechanism, reports, n, confidence
        As for `ranges`.

    Returns
    -------
    Table
        One row for each value: ``up to``, the unbiased ``estimate``, ``lower`` and ``upper``.  Each interval
        covers by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> mechanism, rng = randomizers.hierarchical(eps0=3.0, d=16), np.random.default_rng(1)
    >>> found = estimation.run(mechanism, np.arange(50_000) % 16, rng, estimate=estimation.distribution)
    >>> found[7]["lower"] < 0.5 < found[7]["upper"], found[15]["estimate"]
    (True, 1.0)
    """
    shares, width = _answered(mechanism, reports, n, confidence)
    columns = {"up to": range(mechanism.d), "estimate": shares}
    return by_columns(**columns, lower=shares - width, upper=shares + width)


def quantiles(
    mechanism: hierarchical,
    reports: Any,
    *,
    probabilities: ArrayLike,
    n: int | None = None,
    confidence: float = 0.95,
) -> Table:
    r"""Estimate quantiles, the least values up to which given shares of the users are.

    .. math:: v_p = \min\{v : F(v) \ge p\}

    Parameters
    ----------
    mechanism, reports, n
        As for `ranges`.
    probabilities : float or array_like, shape (m,)
        Shares p strictly between 0 and 1; 0.5 is the median.
    confidence : float, optional
        Probability, strictly between 0 and 1, with which each interval covers the truth, at least.

    Returns
    -------
    Table
        One row for each share: ``probability``, ``estimate``, ``lower`` and ``upper``, all values.

    Notes
    -----
    The interval starts at the first value at which the upper end of the interval for F reaches p, and ends
    after the last one at which the lower end is below p: at the quantile itself the first, and just before it
    the second, holds with probability (1 + confidence)/2.  The estimate is the middle of the first value
    with an estimated share of p and the one after the last with less; it is not unbiased.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> mechanism, rng = randomizers.hierarchical(eps0=3.0, d=64), np.random.default_rng(1)
    >>> held = np.arange(50_000) % 64
    >>> (median,) = estimation.run(mechanism, held, rng, estimate=estimation.quantiles, probabilities=0.5)
    >>> median["lower"] <= 31 <= median["upper"], abs(median["estimate"] - 31) < 4
    (True, True)
    """
    wanted = np.atleast_1d(validation.reals(probabilities, "probabilities", above=0.0, below=1.0))
    shares, width = _answered(mechanism, reports, n, confidence)

    def first(reached):
        return int(np.argmax(reached))

    def after_the_last(below):
        return int(below.size - np.argmax(below[::-1])) if below.any() else 0

    return Table(
        {
            "probability": float(p),
            "estimate": (first(shares >= p) + after_the_last(shares < p)) // 2,
            "lower": first(shares + width >= p),
            "upper": after_the_last(shares - width < p),
        }
        for p in wanted
    )


def _answered(mechanism, reports, n, confidence, first=0, last=None) -> tuple[Array, Array]:
    """Return the estimated share of each range, or up to each value, and half the width of its interval."""
    validation.instance(mechanism, "mechanism", hierarchical, remedy="use randomizers.hierarchical")
    last = np.arange(mechanism.d) if last is None else last
    z = float(-ndtri((1.0 - validation.probability(confidence, "confidence")) / 2.0))
    nodes, users = mechanism.estimate(reports), values.one_each(reports, n)
    variance = mechanism.range_variance(np.clip(nodes, 0.0, 1.0), first, last, n=users)
    return mechanism.range_shares(nodes, first, last), z * np.sqrt(np.maximum(variance, 0.0))

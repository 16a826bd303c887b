r"""Estimates from reports with confidence intervals: shares, means, key-value pairs.

Intervals are those of the normal approximation, for sums of n reports, with exact variances:

- *shares*, from how many messages support an item: the variance of an estimate is a + b f, linear in the true
  share f, and the interval holds all f with :math:`(\hat f - f)^2 \le z^2 (a + bf)` (a score interval, as
  Wilson's);
- *means*: :math:`\hat\mu \pm z s/\sqrt n` with the standard deviation s of the reports, which includes that
  of the values: wider than needed for these users, right for a population of which they are a random sample;
- *key-value pairs*: the share of a key is a share; the mean of its values is the quotient T/f of two
  estimates with known covariances, and the interval holds all m for which :math:`\hat T - m \hat f` may have
  mean 0 (Fieller's).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from shufflelib.calibration.tasks.discoveries import score_interval, threshold
from shufflelib.estimation.shuffler import shuffled_reports
from shufflelib.numerics import validation
from shufflelib.numerics.tables import Table
from shufflelib.randomizers import values
from shufflelib.randomizers.composite import estimated
from shufflelib.randomizers.frequency_oracle import FrequencyOracle, ItemSupports, KeyValueSupports
from shufflelib.randomizers.local_randomizer import Average, LocalRandomizer
from shufflelib.randomizers.multi_message import MultiMessage


def run(
    mechanism: LocalRandomizer | MultiMessage,
    x: Any,
    rng: np.random.Generator,
    *,
    each: int = 0,
    estimate: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """Randomise and shuffle the users' values, and estimate from the reports alone, with intervals.

    Parameters
    ----------
    mechanism : LocalRandomizer or MultiMessage
        As for `intervals`.
    x : array_like
        The users' values, as the mechanism's ``sample`` takes them.
    rng : numpy.random.Generator
        The users' and the shuffler's randomness.
    each : int, optional
        Dummy messages of each user, for mechanisms that send several.
    estimate : callable, optional
        What is estimated from the reports: `intervals`, the default, or `heavy_hitters`.
    **options
        Those of ``estimate``, such as ``confidence=0.99``.

    Returns
    -------
    Table
        That of ``estimate``.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> rng, holds = np.random.default_rng(2), np.arange(10_000) % 4
    >>> found = estimation.run(randomizers.generalized_rr(eps0=2.0, d=4), holds, rng)
    >>> [row["lower"] < 0.25 < row["upper"] for row in found]
    [True, True, True, True]
    """
    each = validation.count(each, "each", at_least=0, remedy="dummy messages of each user")
    if each and not isinstance(mechanism, MultiMessage):
        raise ValueError(f"each must be 0 for {type(mechanism).__name__}, got {each}; it sends one report")
    reports = shuffled_reports(mechanism, x, rng, each)
    return (estimate or intervals)(mechanism, reports, n=len(reports) // (1 + each), **options)


def intervals(
    mechanism: LocalRandomizer | MultiMessage,
    reports: ArrayLike,
    *,
    n: int | None = None,
    confidence: float = 0.95,
) -> Table:
    r"""Estimate from reports what a mechanism is for, with confidence intervals.

    Parameters
    ----------
    mechanism : LocalRandomizer or MultiMessage
        That made the reports: of shares, sets, key-value pairs or means.
    reports : array_like
        All reports, or all messages, in any order.
    n : int, optional
        Number of users; required where a user sends several messages, otherwise the number of reports.
    confidence : float, optional
        Probability, strictly between 0 and 1, with which an interval covers the truth.

    Returns
    -------
    Table
        One row for each item, key or coordinate, with ``estimate``, ``lower`` and ``upper``; of a key these
        are its share, and ``mean``, ``mean lower`` and ``mean upper`` those of its values.

    Raises
    ------
    TypeError, ValueError
        If the mechanism has no such estimate, or the reports are not its own.

    Notes
    -----
    Estimates are unbiased, so shares may be negative; intervals are not cut to [0, 1].  Each interval covers
    with the given probability by itself; for all d items at once give ``confidence=1 - 0.05 / d``.
    The randomness is that of the users' coins, their values are fixed.
    The normal approximation needs tens of supporting reports for each item.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> mechanism, rng = randomizers.piecewise(eps0=2.0), np.random.default_rng(1)
    >>> reports = mechanism.sample(np.full(10_000, 0.5), rng)
    >>> print(estimation.intervals(mechanism, reports))
    coordinate  estimate   lower   upper
             0     0.505  0.4877  0.5224
    """
    confidence = validation.probability(confidence, "confidence")
    z = float(-ndtri((1.0 - confidence) / 2.0))
    for kind, answer in ((KeyValueSupports, _key_values), (ItemSupports, _shares), (Average, _means)):
        if isinstance(mechanism, kind):
            return answer(mechanism, reports, _users(mechanism, reports, n), z)
    raise TypeError(
        f"mechanism must estimate shares, key-value pairs or means, got {validation.shown(mechanism)}; "
        "RangeQueryProtocol answers ranges, and mixtures are estimated component by component"
    )


def _users(mechanism, reports, n):
    """Return the number of users; without it, what looks like counts of reports is refused."""
    if isinstance(mechanism, MultiMessage):
        return validation.users(n)
    if n is None:
        mechanism.estimate(reports)
    return values.one_each(reports, n)


def _shares(mechanism, reports, n, z):
    shares = estimated(mechanism, reports, n)
    lower, upper = score_interval(mechanism, shares, n, z, len(reports) - n)
    return by_columns(item=range(shares.size), estimate=shares, lower=lower, upper=upper)


def heavy_hitters(
    mechanism: FrequencyOracle,
    reports: ArrayLike,
    *,
    n: int | None = None,
    mistakes: float = 0.05,
) -> Table:
    r"""Find the items that users hold, among millions of possible ones.

    .. math:: \{j : C_j \ge c\}, \qquad d \Pr[C_0 \ge c] \le \text{mistakes for an item that nobody holds}

    Parameters
    ----------
    mechanism : FrequencyOracle
        That made the reports, of one item of each user, such as `local_hash` or `balls_into_bins`.
    reports : array_like
        All reports, or all messages, in any order.
    n : int, optional
        As for `intervals`.
    mistakes : float, optional
        Probability that the list names any item that nobody holds, at most.

    Returns
    -------
    Table
        One row for each item found, the most frequent first: ``item``, ``estimate``, ``lower``, ``upper``.
        The probability of ``mistakes`` is proved (exact binomial tails, union bound over all d items; hashes
        are taken for random functions).  The intervals hold for all d items at once with probability
        1 - mistakes, by the normal approximation, so that choosing the largest does no harm.

    Notes
    -----
    Cost that of the mechanism's ``estimate`` for all d items: O(n + d) for randomized response, O(n d) for
    local hashing, O(n + d log d) for Hadamard response.

    Examples
    --------
    A fifth of the users holds item 7, all others different items.

    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> mechanism, rng = randomizers.generalized_rr(eps0=8.0, d=100_000), np.random.default_rng(1)
    >>> holds = np.where(np.arange(20_000) % 5 == 0, 7, np.arange(20_000))
    >>> [row["item"] for row in estimation.heavy_hitters(mechanism, mechanism.sample(holds, rng))]
    [7]
    """
    validation.instance(
        mechanism, "mechanism", FrequencyOracle, remedy="use a mechanism for a histogram, such as local_hash"
    )
    users = _users(mechanism, reports, n)
    dummy_messages = len(np.asarray(reports)) - users
    least = threshold(mechanism, users, dummy_messages, mistakes).share
    shares = estimated(mechanism, reports, users)
    own, other, _ = mechanism.support
    found = np.flatnonzero(shares > least - 0.5 / (users * (own - other)))  # half a message below
    found = found[np.argsort(-shares[found], kind="stable")]
    z = float(-ndtri(mistakes / mechanism.items / 2.0))
    lower, upper = score_interval(mechanism, shares, users, z, dummy_messages)
    return by_columns(item=found, estimate=shares[found], lower=lower[found], upper=upper[found])


def _means(mechanism, reports, n, z):
    mean, square = (np.atleast_1d(moment) for moment in mechanism.moments(reports))
    width = z * np.sqrt(np.maximum(square - mean**2, 0.0) / max(n - 1, 1))
    return by_columns(coordinate=range(mean.size), estimate=mean, lower=mean - width, upper=mean + width)


def _key_values(mechanism, reports, n, z):
    shares, sums = mechanism.estimate(reports)
    lower, upper = score_interval(mechanism, shares, n, z)
    held = np.clip(shares, 0.0, 1.0)
    variance = mechanism.variance(held, n=n)
    sum_variance = mechanism.sum_variance(held, 0.0 * held, n=n)  # at most so large, whatever the values
    first, last = _fieller(sums, shares, sum_variance, mechanism.covariance(sums, n=n), variance, z)
    positive = shares > 0.0
    mean = np.divide(sums, shares, out=np.zeros_like(sums), where=positive)
    return by_columns(
        key=range(shares.size),
        estimate=shares,
        lower=lower,
        upper=upper,
        mean=np.clip(mean, first, last),
        **{"mean lower": first, "mean upper": last},
    )


def _fieller(above, below, above_variance, covariance, below_variance, z):
    """Return the ends, in [-1, 1], of all quotients m for which above - m below may have mean 0."""
    square = below**2 - z**2 * below_variance
    linear = above * below - z**2 * covariance
    free = above**2 - z**2 * above_variance
    root = np.sqrt(np.maximum(linear**2 - square * free, 0.0))
    bounded = (square > 0.0) & (below > 0.0)
    divisor = np.where(bounded, square, 1.0)
    ends = ((linear + side * root) / divisor for side in (-1.0, 1.0))
    return tuple(
        np.where(bounded, np.clip(end, -1.0, 1.0), limit)
        for end, limit in zip(ends, (-1.0, 1.0), strict=True)
    )


def by_columns(**columns: Any) -> Table:
    """Return a table of columns of equal length, by their names."""
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return Table(dict(zip(columns, row, strict=True)) for row in rows)

"""Which items are held by anybody: a count above which a false discovery is unlikely."""

import bisect
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc, ndtri

from shufflelib.numerics import validation
from shufflelib.randomizers.frequency_oracle import ItemSupports

FOUND = 0.95  # probability with which an item is to be found


class Threshold(NamedTuple):
    """Estimated share from which an item is said to be held, and the true share that is found so.

    Parameters
    ----------
    share : float
        Estimated share that an item must reach.
    found_from : float
        True share with which it does so with probability 95 % (normal approximation).
    """

    share: float
    found_from: float


def score_interval(
    mechanism: ItemSupports, shares: Any, n: int, z: float, dummy_messages: int = 0
) -> tuple[Any, Any]:
    """Return the ends of all true shares that are within z of their own standard errors of the estimates."""
    none, all_of_them = (mechanism.variance(f, n=n, dummy_messages=dummy_messages) for f in (0.0, 1.0))
    slope = all_of_them - none
    centre = shares + z**2 * slope / 2.0
    width = z * np.sqrt(np.maximum(none + shares * slope + (z * slope / 2.0) ** 2, 0.0))
    return centre - width, centre + width


def threshold(mechanism: ItemSupports, n: int, dummy_messages: int = 0, mistakes: float = 0.05) -> Threshold:
    r"""Return from which estimate on an item counts as held by anybody.

    .. math:: \min\{c : d \Pr[C_0 \ge c] \le \text{mistakes}\}, \qquad
              C_0 \sim \mathrm{Bin}(n, \text{other}) \text{ or } \mathrm{Bin}(N, \text{share})

    Parameters
    ----------
    mechanism : ItemSupports
        That made the reports; an item is supported by chance by reports or by dummy messages, not by both.
    n : int
        Number of users.
    dummy_messages : int, optional
        Number N of dummy messages.
    mistakes : float, optional
        Probability that any of the d items is said to be held although nobody holds it, at most.

    Returns
    -------
    Threshold
        As an estimated share.  Proved for the mechanism, with exact tails and the union bound; hashes are
        taken for random functions.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib.calibration.tasks.discoveries import threshold
    >>> found = threshold(randomizers.local_hash(eps0=4.0, d=10**6), n=100_000)
    >>> round(found.share, 4), round(found.found_from, 4)
    (0.0048, 0.0062)
    """
    mistakes = validation.probability(mistakes, "mistakes")
    own, other, share = mechanism.support
    blanket = float(np.max(share))
    if other > 0.0 and dummy_messages * blanket > 0.0:
        raise ValueError("mechanism must not have both noisy reports and dummy messages that support items")
    messages, chance = (dummy_messages, blanket) if dummy_messages else (n, other)
    last = bisect.bisect_left(  # the largest count that is still due to chance
        range(messages),
        True,
        key=lambda count: mechanism.items * bdtrc(count, messages, chance) <= mistakes,
    )
    least = ((last + 1 - dummy_messages * blanket) / n - other) / (own - other)
    _, found = score_interval(mechanism, least, n, ndtri(FOUND), dummy_messages)
    return Threshold(float(least), float(np.max(found)))

"""Products of two finite pairs, written out."""

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.pairs import DiscretePair

SAME = 1e-12  # losses, relatively, that are one atom


def times(one: DiscretePair, two: DiscretePair) -> DiscretePair:
    """Return the product of two finite pairs, atoms of nearly equal losses being one.

    Its loss lies between the smallest and the largest of theirs, and δ rises with the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> from shufflelib.profiles.finite_products import times
    >>> one = DiscretePair(np.log([0.75, 0.25]), np.log([0.25, 0.75]))
    >>> times(one, one).size, round(times(one, one).delta(eps=0.0).upper, 6)
    (3, 0.5)
    """
    with np.errstate(invalid="ignore"):
        parts = [
            Interval(*(np.add.outer(*ends).ravel() for ends in zip(first, second, strict=True))).widened(1.0)
            for first, second in ((one.log_p, two.log_p), (one.log_q, two.log_q), (one.loss, two.loss))
        ]
    every = DiscretePair.from_losses(*parts)
    middle = every.loss.middle
    apart = ~np.isclose(middle[:-1], middle[1:], rtol=SAME, atol=SAME)
    first = np.flatnonzero(np.append(True, apart))
    counts = np.diff(np.append(first, every.size))
    log_p, log_q = (_added(part, first, counts) for part in (every.log_p, every.log_q))
    ends = np.minimum.reduceat(every.loss.lower, first), np.maximum.reduceat(every.loss.upper, first)
    return DiscretePair.from_losses(log_p, log_q, Interval(*ends))


def _added(log_mass, first, counts):
    """Return the logs of the sums of masses, so many from each first atom on, added one by one."""

    def summed(ends):
        peak = np.maximum.reduceat(ends, first)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        with np.errstate(divide="ignore"):
            return peak + np.log(np.add.reduceat(np.exp(ends - np.repeat(peak, counts)), first))

    return Interval(*map(summed, log_mass)).widened(8.0, UNIT * (counts + 8.0))

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
            Interval(*(np.add.outer(a, b).ravel() for a, b in zip(first, second, strict=True)))
            for first, second in ((one.log_p, two.log_p), (one.log_q, two.log_q), (one.loss, two.loss))
        ]
    p, q, loss = (part.widened(1.0) for part in parts)
    gone_p, gone_q = np.isneginf(p.upper), np.isneginf(q.upper)
    loss = loss.where(~gone_q, np.inf).where(~gone_p, -np.inf)
    kept = np.flatnonzero(~(gone_p & gone_q))
    order = kept[np.argsort(loss.middle[kept], kind="stable")]
    p, q, loss = (part.at(order) for part in (p, q, loss))
    middle = loss.middle
    with np.errstate(invalid="ignore"):
        apart = np.diff(middle) > SAME * (1.0 + np.abs(middle[1:]))
    apart |= np.isfinite(middle[1:]) != np.isfinite(middle[:-1])
    first = np.flatnonzero(np.append(True, apart))
    log_p, log_q = _added(p, first), _added(q, first)
    ends = np.minimum.reduceat(loss.lower, first), np.maximum.reduceat(loss.upper, first)
    return DiscretePair.from_losses(log_p, log_q, Interval(*ends))


def _added(log_mass, first):
    """Return the log of the sums of masses from each first atom to before the next."""
    most = np.diff(np.append(first, log_mass.lower.size)).max()
    sums = (np.logaddexp.reduceat(end, first) for end in log_mass)
    return Interval(*sums).widened(4.0 * most, 8.0 * float(most) * UNIT)

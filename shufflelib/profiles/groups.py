r"""Groups: neighbouring datasets that differ in several users, from the profile of one user.

Datasets that differ in g users are the ends of a chain of g + 1, each of which differs from the next in one
user.  Along the chain, for any ε₁, …, ε_g that add up to ε,

.. math:: P_0(S) \le h(\varepsilon_1) + e^{\varepsilon_1} P_1(S) \le \dots \le e^{\varepsilon} P_g(S)
          + \sum_{i=1}^g e^{\varepsilon_1 + \dots + \varepsilon_{i-1}}\, h(\varepsilon_i).

Equal shares give the textbook's :math:`\delta(\varepsilon/g)\,(e^{\varepsilon} - 1)/(e^{\varepsilon/g} - 1)`.
Every such value is at least the curve of the trade-off function :math:`1 - (1 - f)^{\circ g}`: lines above
1 − f, applied one after the other, are above the iterated function.  It is the trade-off function of a pair
that dominates all groups, also in rounds.

Source: Dong, Roth, Su (J. R. Stat. Soc. B 84, 2022), Theorem 2.14.
"""

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.profiles.hockey_stick import SymmetricPair

BLOCKS = 12  # of users with equal shares, at most
SLOPES = np.linspace(0.0, 1.0, 13)  # of shares that rise from one block to the next, of the steepest
SHRUNK, ROUNDING = 1.0 - 1e-12, 1e-11  # of shares, so that they add up to less; relative, of exponents


class GroupPair(SymmetricPair):
    r"""The symmetric pair that dominates what a group of users changes.

    Parameters
    ----------
    pair : Pair
        A symmetric pair that dominates what one user changes.
    size : int
        Users in the group, at least 2.

    Notes
    -----
    Upper bounds take the best of some shares that rise linearly from user to user, as the best ones of a
    Gaussian curve do; lower bounds on the curve are those of a single user.
    """

    from_above = True

    def __init__(self, pair, size):
        self.pair, self.size, self.search_width = pair, size, max(pair.search_width, 1e-9)
        blocks = min(size, BLOCKS)
        ends = np.arange(blocks + 1) * size // blocks
        self._users = np.diff(ends)
        self._place = 0.5 * (ends[1:] + ends[:-1]) / size  # of each block in the row, between 0 and 1

    @property
    def max_privacy_loss(self):
        """That of one user times their number, rounded up."""
        return self.size * self.pair.max_privacy_loss * (1.0 + 1e-15)

    def _log_curve(self, eps, tolerance):
        """Enclose log H by one user below and by a chain above."""
        lower = self.pair.log_hockey_stick(eps, tolerance).lower
        return Interval(lower, np.maximum(lower, self._chained(eps, tolerance)))

    def _chained(self, eps, tolerance):
        """Return the least upper bound over the shares tried, axes: ε, slope, block."""
        middle = float(self._users @ self._place) / self.size  # of all users
        steepest = (self._place - middle) / (middle - self._place[0])
        share = 1.0 + SLOPES[:, None] * steepest
        each = eps[:, None, None] / self.size * np.maximum(share, 0.0) * SHRUNK
        different, which = np.unique(each, return_inverse=True)
        log_h = self.pair.log_hockey_stick(different, tolerance).upper[which.reshape(each.shape)]
        spent = self._users * each
        before = np.cumsum(spent, axis=2) - spent
        with np.errstate(invalid="ignore"):
            terms = before + _log_geometric(each, self._users) + log_h
        chained = np.logaddexp.reduce(terms, axis=2).min(axis=1)
        return np.minimum(chained + ROUNDING * (1.0 + eps), 0.0)


def _log_geometric(eps, count):
    """Return the log of 1 + e^ε + … + e^{(count − 1)ε}, for arrays of ε ≥ 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = (count - 1) * eps + np.log(-np.expm1(-count * eps)) - np.log(-np.expm1(-eps))
    return np.where(eps > 0.0, grown, np.log(count))


def group_of(size):
    """Return how many users differ, in words.

    Examples
    --------
    >>> from shufflelib.profiles.groups import group_of
    >>> group_of(3)
    'up to 3 users, one after the other'
    """
    return f"up to {size} users, one after the other"

r"""Sums of bits that are flipped independently: what one user changes in the sum of one or two coordinates.

A zero is reported as one with probability p, a one with probability q > p.  Of the n − 1 other users m hold
a one, so that :math:`N_m \sim \mathrm{Bin}(n-1-m, p) + \mathrm{Bin}(m, q)` of them report one, and the sum is

.. math:: U_m = N_m + \mathrm{Bernoulli}(q) \;\text{ if the user holds a one}, \qquad
          V_m = N_m + \mathrm{Bernoulli}(p) \;\text{ if a zero.}

Given the data the sums of different coordinates are independent, so that s changed coordinates are a product
of s such pairs, and all other sums have one distribution in both worlds.

*Others that agree.*  For m = 0, :math:`V_0` is Bin(n, p) and, with k the sum,

.. math:: \frac{U_0(k)}{V_0(k)} = \frac kn\, \frac qp + \Bigl(1 - \frac kn\Bigr) \frac{1-q}{1-p}.

For m = n − 1 exchange zeros and ones.
"""

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT, binomial_pmf_error, log_binomial_pmf
from shufflelib.profiles.hockey_stick import Pair, pointwise
from shufflelib.profiles.pairs import DiscretePair

LEFT_OUT = 150.0  # e-folds of the mass of counts that are not listed
MOST_COUNTS = 2**17
MOST_USERS = 32  # up to which all values of the others in two coordinates are tried
MOST_LOSS = 100.0  # nats; e to it times an underflow is nothing
UNDERFLOW = 1e-300


def others_agree(n, p, miss, q, *, ones):
    r"""Return the pair :math:`(U_0, V_0)`, or :math:`(V_{n-1}, U_{n-1})` where the others hold ones; or None.

    ``miss`` is 1 − q.  None stands for more than `MOST_COUNTS` counts.

    Counts farther from the mean than t are one atom: by
    Bernstein's inequality their mass is at most :math:`2 e^{-t^2/(2\sigma^2 + 2t/3)}` under either
    distribution, because both are those of n − 1 reports and one more.  A relative error η of r moves the
    logarithm of a binomial mass by (k − nr)η/(1 − r).
    """
    r, up, down = p, q / p, miss / (1.0 - p)
    if ones:
        r, up, down = miss, (1.0 - p) / miss, p / q
    spread = (n - 1) * r * (1.0 - r)
    reach = LEFT_OUT / 3.0 + math.sqrt(LEFT_OUT**2 / 9.0 + 2.0 * LEFT_OUT * spread)
    low = max(math.floor((n - 1) * r - reach) - 1, 0)
    high = min(math.ceil((n - 1) * r + reach) + 2, n)
    if high - low >= MOST_COUNTS:
        return None
    count = np.arange(low, high + 1.0)
    share = count / n
    log_mass = log_binomial_pmf(count, n, r)
    error = binomial_pmf_error(log_mass) + 8.0 * UNIT * (1.0 + np.abs(count - n * r) / (1.0 - r))
    reference = Interval.of(log_mass, 2.0).widened(absolute=error)
    loss = Interval.of(np.log(share * up + (1.0 - share) * down), 8.0).widened(absolute=24.0 * UNIT)
    changed = reference + loss
    if low > 0 or high < n:
        left_out = Interval(np.array([-math.inf]), np.array([1.0 - LEFT_OUT]))
        extremes = [Interval.of(math.log(end), 8.0).widened(absolute=24.0 * UNIT) for end in (down, up)]
        anything = Interval(np.array([extremes[0].lower]), np.array([extremes[1].upper]))
        reference, changed = (Interval.concatenate([part, left_out]) for part in (reference, changed))
        loss = Interval.concatenate([loss, anything])
    return DiscretePair.from_losses(changed, reference, loss)


def sums(n, p, miss, q):
    """Return all :math:`U_m` and all :math:`V_m`, shape (2, n, n + 1), a row for each m, to 8 n units.

    Each of n factors and products of positive polynomials costs less than 4 units.
    """
    zero, one = np.array([1.0 - p, p]), np.array([miss, q])
    powers = [[np.ones(1)], [np.ones(1)]]
    for _ in range(n - 1):
        for known, factor in zip(powers, (zero, one), strict=True):
            known.append(np.convolve(known[-1], factor))
    others = [np.convolve(powers[0][n - 1 - m], powers[1][m]) for m in range(n)]
    return np.array([[np.convolve(row, factor) for row in others] for factor in (one, zero)])


class WorstOthers(Pair):
    r"""The pair of the worst values of the other users, for each ε separately, found by trying all of them.

    .. math:: h(\varepsilon) = \max_i \sum_y \bigl(P_i(y) - e^{\varepsilon} Q_i(y)\bigr)_+

    Parameters
    ----------
    rows : sequence of tuple
        Pairs of tables (P, Q), each of shape (cases, outputs).
    n : int
        Number of users; masses are known to 16 n units.
    largest : float
        Largest loss in either order, at most `MOST_LOSS`.
    symmetric : bool
        Whether the reverse of every pair is another one, up to the order of the outputs.

    Notes
    -----
    As the maximum of convex curves it is the curve of a dominating pair.
    """

    statement = "the worst values of the other users before sums of flipped bits"
    source = "every number of ones among the other users"

    def __init__(self, rows, n, largest, *, symmetric=False):
        self.rows, self.n, self._largest, self.symmetric = tuple(rows), n, largest, symmetric
        outputs = self.rows[0][0].shape[1]
        self._share, self._lost = (16 * (n + 2) + outputs) * UNIT, 4.0 * outputs * UNDERFLOW

    @cached_property
    def reversed(self):
        """All pairs reversed."""
        if self.symmetric:
            return self
        return WorstOthers([(second, first) for first, second in self.rows], self.n, self._largest)

    @property
    def max_privacy_loss(self):
        """The one given."""
        return self._largest

    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose the log of the largest sum."""
        if eps >= self._largest:
            return Interval(-math.inf, -math.inf)
        grown, found = Interval.of(eps).exp(), []
        for side, factor in ((-1.0, grown.upper), (1.0, grown.lower)):
            more, less = 1.0 + side * self._share, 1.0 - side * self._share
            worst = max(
                np.maximum(first * more - (factor * less) * second, 0.0).sum(axis=1).max()
                for first, second in self.rows
            )
            found.append(max(worst * more + side * self._lost * (1.0 + grown.upper), 0.0))
        return Interval(*found).log()


def all_others(n, p, miss, q, kinds, totals, largest):
    r"""Return `WorstOthers` of two coordinates, or None where these are too many.

    Parameters
    ----------
    n, p, miss, q
        Users and flips; ``miss`` is 1 − q.
    kinds : sequence of str
        The changes that neighbours may make: ``"11"`` of a one to a zero in both coordinates, ``"10"`` of a
        one to a zero in the first and of a zero to a one in the second.
    totals : tuple of int
        Least and largest number of ones that the others hold in both coordinates together.
    largest : float
        Largest loss.
    """
    if n > MOST_USERS or largest > MOST_LOSS:
        return None
    held, left = sums(n, p, miss, q)
    m = np.indices((n, n)).reshape(2, -1)
    m = m[:, (m.sum(axis=0) >= totals[0]) & (m.sum(axis=0) <= totals[1])]

    def both(first, second):
        return (first[m[0], :, None] * second[m[1], None, :]).reshape(m.shape[1], -1)

    rows = []
    for kind in kinds:
        if kind == "11":
            rows.append((both(held, held), both(left, left)))
        else:  # its reverse exchanges the coordinates
            rows.append((both(held, left), both(left, held)))
    return WorstOthers(rows, n, largest, symmetric="11" not in kinds)

r"""Sums of equal losses: which nodes of a characteristic function can matter, and its values there.

With tilted masses m and values x of one loss, the atom at 0 among them, a node ω of the integral of
:math:`\varphi^n` matters only if :math:`|\varphi|^2 > 1 - 4r` with :math:`4r = 1 - e^{-2c/n}`, when all other
nodes are charged :math:`e^{-c}` each.  Of 20,000 nodes 20 to 200 are left if n is large.

*Few atoms.*  Any two of them prove most nodes to be nothing:

.. math:: |\varphi|^2 = 1 - 4\sum_{a<b} m_a m_b \sin^2\tfrac{\omega(x_a - x_b)}2
          \le 1 - 4 m_a m_b \sin^2\tfrac{\omega(x_a - x_b)}2 .

So :math:`\omega(x_a - x_b)/2` is within :math:`\arcsin\sqrt{r/(m_a m_b)}` of a multiple of π where a node
matters, which are intervals that can be listed; the pair that leaves fewest nodes lists them, the next best
is a sieve.

*Many atoms.*  With V the variance, and X′ another copy of X,

.. math:: |\varphi|^2 = \mathbb E\cos\omega(X - X')
          \le 1 - \omega^2 V + \tfrac1{24}\omega^4\,\mathbb E(X - X')^4 \le 1 - \tfrac12\omega^2 V
          \quad\text{up to}\quad \omega^2 = 12 V/\mathbb E(X - X')^4,

so that only nodes below :math:`\omega^2 V = 8r` matter up to there.  Between two nodes h apart
:math:`|\varphi|` is at most the larger of theirs plus :math:`\tfrac18 h^2\,\mathbb E X^2`, so that whole rows
are seen to be nothing from their first and last nodes.

*Rounding.*  With m atoms the masses are within m + 8 roundings of adding up to 1; what an atom at 0 of so
little mass could add is charged to r.  Intervals are a thousandth of a node longer than computed.
"""

import functools
import math

import numpy as np

from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.saddle_point import TiltedSums

FEW = 12  # atoms whose pairs are looked at
SHARE = 0.25  # of the nodes: more than these are not listed
GROUP = 1 << 15  # listed nodes at once, if they are of several sums
BLOCK = 1 << 17  # nodes of one sum at once
NEAR = 100_000  # nodes up to which all of those near 0 are evaluated
SHORTEST = 4  # rows of fewer nodes are evaluated without a look at their first and last
TABLE = 1 << 15  # entries of a table formed at once, so that it stays in the cache
EDGE = 1e-3  # of a node
FLAT = 1e-5  # variance, relative to the square, below which nothing is concluded from it
SMALLEST_MODULUS = 0.5 * float(np.log1p(-1.0 + UNIT)) + 1e-9  # log of the least |φ| told from 0


class EqualLosses(TiltedSums):
    """For each column a sum of so many losses of its distribution."""

    def at(self, chosen):
        """Return some of the sums."""
        return EqualLosses(self.losses.at(chosen), self.known[chosen])

    def nodes(self, step, count, nothing):
        """Yield nodes listed for many sums at once where there are few, and else sum by sum."""
        share = nothing / self.losses.count
        values, masses, rest = self.losses.values, self.tilt.masses, count > 0
        values = np.where(masses > 0.0, values, 0.0)
        if len(values) <= FEW:
            room = -0.25 * np.expm1(-2.0 * share) * (1.0 + 1e-9)
            few, groups = listed(values, masses, self.tilt.zero_mass, step, count, room)
            for which, number in groups:
                phi = at_each(values, masses, step, which, number)
                yield self._node(which, number, phi, step, nothing)
            rest &= ~few
        for k in np.flatnonzero(rest):
            for numbers, phi in of_one(values[:, k], masses[:, k], step[k], int(count[k]), share[k]):
                yield self._node(np.full(numbers.size, k), numbers, phi, step, nothing)

    def _node(self, which, number, phi, step, nothing):
        """Return what `TiltedSums.nodes` yields for some nodes, given φ − 1 there."""
        n, x, y = self.losses.count[which], phi.real, phi.imag
        log_modulus = log_abs_one_plus(x, y)
        alive = np.flatnonzero(n * log_modulus > -nothing[which])
        which, number, n, x, y, log_modulus = (part[alive] for part in (which, number, n, x, y, log_modulus))
        angle, along = np.arctan2(y, 1.0 + x), np.hypot(1.0, step[which] * number)
        # φ off by a share r: φⁿ off by (1 + r)ⁿ − 1
        relative = n * np.log1p(self.node_error[which] * along * np.exp(-log_modulus))
        relative += n * np.hypot(log_modulus, angle) * 4 * UNIT + 2.0 * (log_modulus <= SMALLEST_MODULUS)
        return which, number, n * log_modulus, n * angle, relative

    def left_out(self, step, count, nothing):
        """Return a bound on the sum of the moduli at the nodes that may be missing, rounding included."""
        n = self.losses.count
        largest = np.exp(-nothing / n) + self.node_error * np.hypot(1.0, step * count)
        return count * np.exp(np.minimum(n * np.log(largest), 0.0))


def listed(values, masses, zero_mass, step, count, room):
    """Return for which sums few nodes may matter, and an iterator over groups of sums and numbers of these.

    One column of values and tilted masses for each sum; ``room`` is r, ``count`` the number of nodes.  All
    nodes of a sum are in one group.
    """
    doubt = (len(values) + 8) * UNIT
    x, m = np.vstack([values, 0.0 * step]), np.vstack([masses, np.maximum(zero_mass - doubt, 0.0)])
    one, two = _pairs(len(x))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turn = 0.5 * step * np.abs(x[one] - x[two])  # of ω(x_a − x_b)/2 from each node to the next
        share = (room + doubt) / (m[one] * m[two])
        reach = np.where(share < 1.0, np.arcsin(np.sqrt(np.minimum(share, 1.0))) / turn, math.inf)
        again = math.pi / turn
        left = (2.0 * reach + 1.0) * (np.floor(count / again) + 1.0)
    left = np.where(left >= 0.0, left, math.inf)
    best = np.argmin(left, axis=0)
    sums = np.arange(count.size)
    long = left[best, sums]
    few = long < SHARE * count
    left[best, sums] = math.inf
    k, sieve = sums[few], np.argmin(left, axis=0)[few]
    lattice = reach[best[k], k], again[best[k], k], count[k] - 1
    near = (turn[sieve, k], share[sieve, k] * (1.0 + 1e-6) + 1e-9) if len(one) > 1 else None
    return few, _expanded(k, np.cumsum(long[k]) // GROUP, lattice, near)


def _expanded(k, groups, lattice, sieve):
    """Yield sums and numbers of nodes within ``reach`` of multiples of ``again``, group by group of sums."""
    for some in np.split(np.arange(k.size), np.flatnonzero(groups[1:] != groups[:-1]) + 1):
        reach, again, most = (part[some] for part in lattice)
        returns = np.floor((most + reach + EDGE) / again).astype(np.int64) + 1
        place = np.repeat(np.arange(some.size), returns)
        middle = _counted(returns) * again[place]
        low = np.maximum(np.ceil(middle - reach[place] - EDGE), 0.0).astype(np.int64)
        high = np.minimum(np.floor(middle + reach[place] + EDGE), most[place]).astype(np.int64)
        # no node twice
        low[1:] = np.where(place[1:] == place[:-1], np.maximum(low[1:], high[:-1] + 1), low[1:])
        size = np.maximum(high - low + 1, 0)
        place, number = np.repeat(place, size), _counted(size) + np.repeat(low, size)
        if sieve:
            turn, share = (part[some] for part in sieve)
            kept = np.sin(turn[place] * number) ** 2 < share[place]
            place, number = place[kept], number[kept]
        yield k[some][place], number


@functools.cache
def _pairs(size):
    return np.triu_indices(size, 1)


def _counted(sizes):
    """Return 0, 1, … for each of some sizes, one after the other."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def at_each(values, masses, step, which, number):
    """Return φ − 1 at nodes of several sums."""
    half = 0.5 * (step[which] * number)
    phi = np.zeros(half.size, complex)
    for value, mass in zip(values, masses, strict=True):
        angle = half * value[which]
        sine = np.sin(angle)
        twice = 2.0 * mass[which] * sine
        phi.real -= twice * sine
        phi.imag += twice * np.cos(angle)
    return phi


def of_one(values, masses, step, count, nothing):
    """Yield numbers and φ − 1 for all nodes of one sum where |φ| may exceed e^{−nothing}, and for others."""
    values, masses = values[masses > 0.0], masses[masses > 0.0]
    near, far = _gap(values, masses, step, count, nothing)
    if near > 0:
        yield np.arange(near), _every(values, masses, step, 0, 1, near)[1]
    for first in range(far, count, BLOCK):
        size = min(BLOCK, count - first)
        phi, number = characteristic_minus_one(values, masses, step, first, size, nothing)
        inside = number < size
        yield first + number[inside], phi[inside]


def _gap(values, masses, step, count, nothing):
    """Return two numbers of nodes between which none matters because of the variance."""
    mean, zero_mass = float(masses @ values), max(1.0 - float(masses.sum()), 0.0)
    square = (values - mean) ** 2
    variance = float(masses @ square) + zero_mass * mean**2
    fourth = float(masses @ square**2) + zero_mass * mean**4
    if not variance > FLAT * float(masses @ values**2) or not fourth > 0.0:
        return 0, 0
    first = math.sqrt(-2.0 * math.expm1(-2.0 * nothing) / variance) * (1.0 + 1e-6) / step
    last = math.sqrt(12.0 * variance / (2.0 * fourth + 6.0 * variance**2)) * (1.0 - 1e-6) / step
    near = int(min(first + 1.0, count))
    return (near, max(near, int(min(last, count)))) if first < last and near < NEAR else (0, 0)


def characteristic_minus_one(values, masses, step, first, size, nothing):
    """Return φ − 1 where |φ| may exceed e^{−nothing}, at some other nodes of a block, and all their numbers.

    Most nodes are not among them.  Rows are first as long as |φ| may bend where it is small; where too many
    of these are left, shorter.
    """
    curved = 0.125 * step**2 * float(masses @ values**2) * (1.0 + 1e-9)
    dead, few, last = math.exp(-nothing), math.isqrt(size) // 2, math.inf
    for bend, longest in ((0.25 * dead, size // 4), (0.25 * dead, few), (0.25 * (1.0 - dead), few)):
        row = int(min(longest, math.sqrt(bend / curved))) if curved > 0.0 else longest
        if row < SHORTEST or 2 * row > last:
            continue
        last, rows = row, -(-size // row)
        (far, near), ends = _every(values, masses, step, first, row, rows + 1)
        lost = -np.expm1(log_abs_one_plus(ends.real, ends.imag)) * (1.0 - 1e-9)
        rounding = (values.size + 24) * UNIT * step * float(masses @ np.abs(values))  # for each node
        lost -= rounding * (first + row * np.arange(rows + 1))
        lost = np.minimum(lost[:-1], lost[1:]) - curved * row**2
        kept = np.flatnonzero(lost < -math.expm1(-nothing))
        if kept.size == 0:
            return np.zeros(0, complex), kept
        if 2 * kept.size < rows and kept[-1] - kept[0] < kept.size:  # one block
            begin, end = row * int(kept[0]), min(row * int(kept[-1] + 1), size)
            phi, number = characteristic_minus_one(values, masses, step, first + begin, end - begin, nothing)
            return phi, begin + number
        if 2 * kept.size < rows and row <= few:
            parts, count = np.array_split(kept, 1 + kept.size * values.size // TABLE), len(near)
            nodes = cf_minus_one_of_multiples(step * values, row)
            phi = [
                mean_cf_minus_one(cf_minus_one_of_sum(far[part // count], near[part % count]), nodes, masses)
                for part in parts
            ]
            return np.concatenate(phi).ravel(), (row * kept[:, None] + np.arange(row)).ravel()
    return _every(values, masses, step, first, 1, size)[1], np.arange(size)


def _every(values, masses, step, first, row, count):
    """Return φ − 1 at every row-th node from the first one, after the two tables it was made from."""
    few = math.isqrt(count)
    near = cf_minus_one_of_multiples(step * row * values, few)
    far = cf_minus_one_of_multiples(step * row * few * values, -(-count // few), first / (row * few))
    return (far, near), mean_cf_minus_one(far, near, masses).ravel()[:count]


# ---- characteristic functions minus 1, so that nothing cancels where they are near 1


def cf_minus_one(angle):
    """Return e^{i·angle} − 1 without cancellation."""
    turned, half = np.empty(np.shape(angle), complex), np.sin(0.5 * angle)
    turned.real, turned.imag = -2.0 * half * half, np.sin(angle)
    return turned


def cf_minus_one_of_sum(one, two):
    """Return e^{i(a+b)} − 1 from e^{ia} − 1 and e^{ib} − 1.

    Nothing cancels; at most six roundings of |a| + |b| are added to the errors of the factors.
    """
    turned = one * two
    turned += one
    turned += two
    return turned


def cf_minus_one_of_multiples(angles, count, first=0.0):
    """Return e^{i(first + k)·angle} − 1 for k < ``count``, one row for each k, from two shorter tables."""
    few = max(1, math.isqrt(count))
    one = cf_minus_one(np.outer(first + few * np.arange(-(-count // few)), angles))[:, None]
    two = cf_minus_one(np.outer(np.arange(few), angles))
    return cf_minus_one_of_sum(one, two).reshape(-1, angles.size)[:count]


def mean_cf_minus_one(first, second, masses):
    """Return E e^{i(a+b)} − 1 for every row of e^{ia} − 1 with every row of e^{ib} − 1; columns are atoms."""
    weighted = first * masses
    mean = weighted @ second.T
    mean += weighted.sum(axis=1)[:, None]
    mean += second @ masses
    return mean


def log_abs_one_plus(x, y):
    """Return log|1 + x + iy|, at least `SMALLEST_MODULUS`, without cancellation near 0."""
    return 0.5 * np.log1p(np.maximum(2.0 * x + x * x + y * y, -1.0 + UNIT))

r"""Characteristic functions at the many nodes of sums: which can matter, and the values there.

With tilted masses m and values x of one loss, the atom at 0 among them, a node ω of the integral of
:math:`\varphi^n` matters only if :math:`|\varphi|^2 > 1 - 4r` with :math:`4r = 1 - e^{-2c/n}`, when all other
nodes are charged :math:`e^{-c}` each.  Of 20,000 nodes 20 to 200 are left if n is large.  `positive_part_iid`
lists those of few atoms.  For many, with V the variance, and X′ another copy of X,

.. math:: |\varphi|^2 = \mathbb E\cos\omega(X - X')
          \le 1 - \omega^2 V + \tfrac1{24}\omega^4\,\mathbb E(X - X')^4 \le 1 - \tfrac12\omega^2 V
          \quad\text{up to}\quad \omega^2 = 12 V/\mathbb E(X - X')^4,

so that only nodes below :math:`\omega^2 V = 8r` matter up to there.  Between two nodes h apart
:math:`|\varphi|` is at most the larger of theirs plus :math:`\tfrac18 h^2\,\mathbb E X^2`, so that whole rows
are seen to be nothing from their first and last nodes.
"""

import math

import numpy as np

from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.saddle_point import added, log_abs_one_plus

BLOCK = 1 << 17  # nodes at once
NEAR = 100_000  # nodes up to which all of those near 0 are evaluated
SHORTEST = 4  # rows of fewer nodes are evaluated without a look at their first and last
TABLE = 1 << 15  # entries of a table formed at once, so that it stays in the cache
FLAT = 1e-5  # variance, relative to the square, below which nothing is concluded from it
CLASS = 4  # sides of square tables of nodes are multiples of it, so that many sums have tables of one shape
PADDED = 32  # atoms that have mass, of more of which they are counted in such multiples
SHORT, LONG = 1 << 15, 1 << 17  # nodes times atoms that are evaluated without a look at rows, and after it
BEND = 0.05  # of |φ| between the ends of rows of many sums


def of_each(values, masses, step, count, nothing):
    """Yield sums, numbers and φ − 1 for all nodes of each sum where |φ| may exceed e^{−nothing}, and others.

    There is a column of values and masses for each sum.  Sums are grouped by how many atoms have mass, so
    that tables have shapes that do not depend on other sums.
    """
    order = np.argsort(masses <= 0.0, axis=0, kind="stable")
    values, masses = (np.take_along_axis(part, order, axis=0) for part in (values, masses))
    atoms = np.count_nonzero(masses > 0.0, axis=0)
    atoms = np.minimum(np.where(atoms > PADDED, -(-atoms // PADDED) * PADDED, atoms), len(values))
    for size in np.unique(atoms[atoms > 0]).tolist():
        some = np.flatnonzero(atoms == size)
        columns = (np.ascontiguousarray(part[:size, some]) for part in (values, masses))
        for which, number, phi in _alike(*columns, step[some], count[some], nothing[some]):
            yield some[which], number, phi


def _alike(values, masses, step, count, nothing):
    """Yield what `of_each` does, for sums of so many atoms each; those with many nodes follow one by one."""
    near, far = _gap(values, masses, step, count, nothing)
    reach = _reach(values, masses, step, far, count, nothing)
    short = reach * len(values) <= LONG
    for first, size in ((np.zeros_like(far), near), (far, np.where(short, reach, 0))):
        for some, phi in _tables(values, masses, step, size, first, np.ones(step.size)):
            number = np.broadcast_to(np.arange(phi.shape[1]), phi.shape)
            inside = number < size[some, None]
            yield np.repeat(some, size[some]), (first[some, None] + number)[inside], phi[inside]
    for k in np.flatnonzero(~short).tolist():
        one, last = (values[:, k], masses[:, k], step[k]), int(far[k] + reach[k])
        for first in range(int(far[k]), last, BLOCK):
            size = min(BLOCK, last - first)
            phi, number = characteristic_minus_one(*one, first, size, nothing[k])
            inside = number < size
            yield np.full(np.count_nonzero(inside), k), first + number[inside], phi[inside]


def _reach(values, masses, step, far, count, nothing):
    """Return for each sum how many nodes from ``far`` on may matter, by the ends of rows of all of them."""
    size, curved = count - far, 0.125 * step**2 * added(masses * values**2) * (1.0 + 1e-9)
    with np.errstate(divide="ignore"):
        row = np.floor(np.minimum(size // 4, np.sqrt(BEND * np.exp(-nothing) / curved)))
    looked = (size <= BLOCK) & (row >= SHORTEST) & (size * len(values) > SHORT)
    row, reach = np.where(looked, row, 1.0), size.copy()
    rows = np.where(looked, -(-size // row), 0.0)
    rounding = (len(values) + 24) * UNIT * step * added(masses * np.abs(values))  # for each node
    for some, phi in _tables(values, masses, step, rows + looked, far, row):
        end = np.arange(phi.shape[1])
        lost = -np.expm1(log_abs_one_plus(phi.real, phi.imag)) * (1.0 - 1e-9)
        lost -= rounding[some, None] * (far[some, None] + row[some, None] * end)
        lost = np.minimum(lost[:, :-1], lost[:, 1:]) - (curved * row**2)[some, None]
        lives = (lost < -np.expm1(-nothing[some, None])) & (end[:-1] < rows[some, None])
        reach[some] = np.minimum(row[some] * np.max(lives * end[1:], axis=1), size[some])
    return reach


def _tables(values, masses, step, count, first, row):
    """Yield some sums, and φ − 1 at ``count`` or more of their nodes, every row-th from the first one on.

    Tables of one shape are made at once, those of as many sums as fit into the cache, a block of nodes.
    """
    side = np.ceil(np.sqrt(count) / CLASS).astype(int) * CLASS
    for few in np.unique(side[side > 0]).tolist():
        every = np.flatnonzero(side == few)
        parts = 1 + every.size * few * max(len(values) / TABLE, few / BLOCK)
        for some in np.array_split(every, min(every.size, int(parts))):
            mine = np.ascontiguousarray(masses[:, some].T)
            angle = np.ascontiguousarray((step[some] * row[some] * values[:, some]).T)
            near = cf_minus_one_of_multiples(angle, few)
            far = cf_minus_one_of_multiples(few * angle, few, first[some] / (few * row[some]))
            yield some, mean_cf_minus_one(far, near, mine).reshape(some.size, -1)


def _gap(values, masses, step, count, nothing):
    """Return, for each column, two numbers of nodes between which none matters because of the variance."""
    mean, zero_mass = added(masses * values), np.maximum(1.0 - added(masses), 0.0)
    square = (values - mean) ** 2
    variance = added(masses * square) + zero_mass * mean**2
    fourth = added(masses * square**2) + zero_mass * mean**4
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.sqrt(-2.0 * np.expm1(-2.0 * nothing) / variance) * (1.0 + 1e-6) / step
        last = np.sqrt(12.0 * variance / (2.0 * fourth + 6.0 * variance**2)) * (1.0 - 1e-6) / step
        near = np.minimum(first + 1.0, count)
        known = (variance > FLAT * added(masses * values**2)) & (fourth > 0.0)
        known &= (first < last) & (near < NEAR)
    near = np.where(known, near, 0.0).astype(int)
    return near, np.maximum(near, np.where(known, np.minimum(last, count), 0.0).astype(int))


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
    """Return e^{i(first + k)·angle} − 1 for k < ``count``, one row for each k, from two shorter tables.

    Further angles, each row of them with its own first multiple, stand before.
    """
    few = max(1, math.isqrt(count))
    multiples = np.asarray(first)[..., None] + few * np.arange(-(-count // few))
    one = cf_minus_one(multiples[..., None] * angles[..., None, :])[..., None, :]
    two = cf_minus_one(np.arange(few)[:, None] * angles[..., None, :])[..., None, :, :]
    table = cf_minus_one_of_sum(one, two)
    return table.reshape(*angles.shape[:-1], -1, angles.shape[-1])[..., :count, :]


def mean_cf_minus_one(first, second, masses):
    """Return E e^{i(a+b)} − 1 for every row of e^{ia} − 1 with every row of e^{ib} − 1; columns are atoms."""
    weighted = first * masses[..., None, :]
    mean = weighted @ np.swapaxes(second, -1, -2)
    mean += weighted.sum(axis=-1)[..., None]
    mean += np.swapaxes(second @ masses[..., None], -1, -2)
    return mean

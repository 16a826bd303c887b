r"""Characteristic functions at the many nodes of one sum: which can matter, and the values there.

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
from shufflelib.numerics.saddle_point import log_abs_one_plus

BLOCK = 1 << 17  # nodes of one sum at once
NEAR = 100_000  # nodes up to which all of those near 0 are evaluated
SHORTEST = 4  # rows of fewer nodes are evaluated without a look at their first and last
TABLE = 1 << 15  # entries of a table formed at once, so that it stays in the cache
FLAT = 1e-5  # variance, relative to the square, below which nothing is concluded from it


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

"""What a stride misses and what a box holds, summed in 50 digits: bounded, and not from too far above."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from shufflelib.profiles.renyi_lattice_errors import log_aliases, log_tails
from shufflelib.profiles.renyi_lattice_sum import RenyiSum


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


def distribution(n, masses, less, more, same):
    """Return the sum of n reports: masses in 64ths, densities (u0, v0), v1 and u2 = v2; u1 follows."""
    m = np.array([*masses, 64 - sum(masses)]) / 64
    u, v = np.array([less[0], 0.0, same]), np.array([less[1], more, same])
    u[1] = more + m[0] * (v[0] - u[0]) / m[1]  # both densities integrate to the same
    return RenyiSum(n, u, v, m, 0.0)


def summand(terms, a, s, order):
    """Return mass · V φ(U/V) at one point."""
    counts = a, s - a, terms.n - s
    mass = Fraction(math.comb(terms.n, s) * math.comb(s, a))
    mass *= math.prod(Fraction(float(m)) ** part for m, part in zip(terms.mass, counts, strict=True))
    u, v = (
        sum(mpmath.mpf(float(w)) * part for w, part in zip(one, counts, strict=True))
        for one in (terms.u, terms.v)
    )
    kernel = (u / v) ** order - 1 - mpmath.mpf(order) * (u / v - 1)
    return mpmath.mpf(mass.numerator) / mass.denominator * v * kernel


def missed(terms, a, s, axis, order):
    """Return log of what the strides of a range miss along one axis, every line counted for itself."""
    k = a.step, s.step
    nodes, stride, half = (a, k[0], k[0] // 2) if axis == 0 else (s, k[1], k[1] // 2)
    line = range(nodes[0] - half, nodes[-1] + half + 1)
    # all s at first; on the second round the nodes in a, each for k of them
    others = range(s[0] - k[1] // 2, s[-1] + k[1] // 2 + 1) if axis == 0 else a
    total = mpmath.mpf(0)
    for other in others:
        values = [summand(terms, *((x, other) if axis == 0 else (other, x)), order) for x in line]
        total += abs(stride * mpmath.fsum(values[half::stride]) - mpmath.fsum(values))
    return float(mpmath.log(total * (1 if axis == 0 else k[0])))


def alias_bound(terms, a, s, axis, order):
    k = float(a.step), float(s.step)
    a, s = np.array(a, float)[:, None], np.array(s, float)[None, :]
    log_f = terms._log_summand(a, s, order)[0]
    return log_aliases(terms, a, s, k, axis, terms._log_mass(a, s), log_f, order)


def every(k, first, count):
    return range(first, first + k * count, k)


# n, masses, less, more and same of the distribution; order, nodes of a and of s, axis; last by how many
# nats the bound may exceed the truth
ALIASES = [
    # a steep flank
    (200, (41, 23), (0.78, 0.8), 0.8, 0.0, 2.0, (5, 5, 14), (1, 200, 1), 0, 1.56),
    # a steep flank at a low order
    (200, (43, 21), (0.134, 0.14), 0.161, 0.0, 1.99, (5, 5, 15), (1, 200, 1), 0, 1.56),
    # all of a peak, order 1.1
    (400, (32, 32), (0.5, 1.5), 0.5, 0.0, 1.1, (13, 79, 19), (1, 400, 1), 0, 2.45),
    # all of a peak, order 2
    (400, (32, 32), (0.5, 1.5), 0.5, 0.0, 2.0, (13, 79, 19), (1, 400, 1), 0, 2.6),
    # all of a peak, order 4
    (400, (32, 32), (0.5, 1.5), 0.5, 0.0, 4.0, (13, 79, 19), (1, 400, 1), 0, 3.55),
    # ten lines close to the lattice's border
    (200, (7, 26), (0.399, 0.4), 0.35, 0.0, 2.25, (3, 58, 6), (1, 75, 10), 0, 1.8),
    # along s
    (200, (1, 44), (3.74, 3.75), 0.017, 0.0, 2.05, (1, 39, 2), (5, 47, 14), 1, 1.42),
    # along s at a low order
    (200, (1, 38), (3.7, 6.8), 1.72, 2.16, 1.99, (1, 11, 1), (5, 16, 13), 1, 1.4),
    # both strides, first round
    (300, (20, 24), (0.5, 1.5), 0.5, 1.0, 1.5, (9, 60, 8), (7, 150, 3), 0, 6.75),
    # both strides, second round
    (300, (20, 24), (0.5, 1.5), 0.5, 1.0, 1.5, (9, 60, 4), (9, 130, 17), 1, 3.2),
    # both strides, second round, order 8
    (300, (20, 24), (0.5, 1.5), 0.5, 1.0, 8.0, (9, 60, 4), (9, 130, 17), 1, 3.6),
    # a strip as high as V allows: V is small and varies, U is constant
    # V² turns negative within the strip, U/V keeps its real part
    (300, (4, 60), (1.0, 15.0), 1 / 16, 0.0, 1.5, (3, 9, 6), (1, 300, 1), 0, 8.0),
    # U far below V at a low order
    (400, (1, 63), (2**-10, 1.0), 2**-10, 0.0, 1.1, (5, 250, 3), (1, 400, 1), 0, 6.95),
    # U far above V at an order below 3
    (400, (62, 2), (0.5, 1.0), 2**-10, 0.0, 2.99, (3, 20, 12), (1, 400, 1), 0, 4.25),
    # the corner where a is larger
    # at such orders U^λ V^{1−λ} changes by 10 to 20 nats between a node and the corners of its cell:
    # a cell taken in any other direction than along its axes would be bounded by less than it holds
    (415, (62, 2), (1.5672, 1.5882), 0.4613, 0.0, 1051.0, (35, 300, 1), (1, 415, 1), 0, 15.4),
    # the corner where a is smaller
    (1474, (49, 15), (0.5257, 0.5632), 0.018, 0.0, 327.0, (23, 79, 1), (1, 1474, 1), 0, 15.5),
    # a corner along a, three values
    (453, (56, 2), (0.1845, 0.2015), 0.3035, 6.1265, 538.0, (11, 107, 1), (1, 424, 1), 0, 14.5),
    # the corner where s is larger
    (682, (1, 1), (2.141, 2.2795), 0.1445, 0.2744, 2307.0, (1, 58, 1), (31, 147, 1), 1, 13.0),
    # the corner where s is smaller
    (3348, (32, 6), (0.791, 1.513), 4.316, 18.99, 6143.0, (1, 87, 1), (51, 2347, 1), 1, 18.6),
    # corners of two cells along s
    (205, (12, 30), (0.1288, 0.1667), 0.1948, 0.4037, 7404.0, (1, 7, 1), (7, 23, 2), 1, 9.05),
]


@pytest.mark.parametrize(("n", "masses", "less", "more", "same", "order", "a", "s", "axis", "loose"), ALIASES)
def test_what_a_stride_misses_is_bounded_and_closely(n, masses, less, more, same, order, a, s, axis, loose):
    terms, a, s = distribution(n, masses, less, more, same), every(*a), every(*s)
    truth = missed(terms, a, s, axis, order)
    assert truth <= alias_bound(terms, a, s, axis, order) <= truth + loose


WIDE = distribution(128, (1, 31), (1.0, 38.0), 1.0, 0.0)
THREE = distribution(60, (20, 24), (0.5, 1.5), 0.5, 1.0)
TWO = distribution(60, (40, 24), (0.25, 1.0), 0.125, 0.0)
NEVER = distribution(60, (40, 24), (0.0, 1.0), 0.125, 0.0)


@pytest.mark.parametrize(
    ("terms", "order", "a", "s", "loose"),
    [
        # V from almost nothing to its largest: only the larger end of φ tells how much the box holds
        (WIDE, 1 + 1 / 128, (0, 0), (1, 64), 3.25),
        (WIDE, 1 + 1 / 128, (0, 1), (1, 70), 3.0),
        (WIDE, 1 + 1 / 128, (0, 0), (50, 64), 1.6),
        (THREE, 1.5, (0, 5), (30, 32), 4.8),
        (THREE, 1.5, (20, 22), (40, 41), 3.7),
        (THREE, 1.5, (18, 18), (18, 18), 2.3),
        (THREE, 4.0, (12, 13), (38, 40), 3.75),
        (THREE, 4.0, (25, 27), (30, 32), 4.3),
        (THREE, 64.0, (3, 4), (40, 41), 4.2),
        (THREE, 64.0, (20, 21), (40, 41), 4.7),
        (TWO, 1.0625, (50, 60), (60, 60), 3.5),
        # U = 0 at one point: the bound is the truth
        (NEVER, 1.0625, (60, 60), (60, 60), 1e-8),
        (NEVER, 3.0, (60, 60), (60, 60), 1e-8),
        (NEVER, 1.5, (20, 24), (60, 60), 2.55),
    ],
)
def test_what_a_box_holds_is_bounded_and_closely(terms, order, a, s, loose):
    points = [(x, y) for y in range(s[0], s[1] + 1) for x in range(a[0], min(a[1], y) + 1)]
    truth = float(mpmath.log(mpmath.fsum(summand(terms, *point, order) for point in points)))
    edges = (np.array([low - 0.5, high + 0.5]) for low, high in (a, s))
    bound = log_tails(terms, *edges, np.zeros((1, 1), bool), order)
    assert truth <= bound <= truth + loose

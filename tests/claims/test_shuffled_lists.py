"""What shuffled lists tell: information and the best guess against every sequence of reports."""

import math
import random
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from claims import exact_shuffle
from claims.others import shuffled_lists


def test_information_is_that_of_all_sequences():
    p, q, n = (Fraction(7, 10), Fraction(3, 10)), (Fraction(2, 5), Fraction(3, 5)), 4
    rows = [[Fraction(4, 5), Fraction(1, 5)], [Fraction(1, 4), Fraction(3, 4)]]
    for channel in (None, rows):
        report = channel or [[1, 0], [0, 1]]
        joint = {}
        for value, outputs in product(range(2), product(range(2), repeat=n)):
            mass = p[value] * report[value][outputs[0]] * math.prod(q[y] for y in outputs[1:])
            key = value, sum(outputs)
            joint[key] = joint.get(key, 0) + mass
        found = 0.0
        for (value, count), mass in joint.items():
            whole = sum(joint[x, count] for x in range(2) if (x, count) in joint)
            found += float(mass) * math.log(mass / whole / p[value]) if mass else 0.0
        as_floats = channel and [[float(x) for x in row] for row in channel]
        assert shuffled_lists.information(p, [float(x) for x in q], n, as_floats) == pytest.approx(found)


def test_the_best_guess_of_a_place_is_that_of_all_permutations():
    rows, values = exact_shuffle.randomized_response(3, 3), (0, 1, 2)
    by_list = {}
    for outputs in product(range(3), repeat=3):
        mass = math.prod(rows[x][y] for x, y in zip(values, outputs, strict=True)) / Fraction(6)
        for order in permutations(range(3)):
            places = by_list.setdefault(tuple(outputs[i] for i in order), [0] * 3)
            places[order.index(0)] += mass
    joint = shuffled_lists._joint(rows, values)
    success = sum(max(m / c[y] for y, m in masses.items()) for c, masses in joint.items())
    assert success == sum(map(max, by_list.values()))


def test_the_bound_on_the_best_guess_is_attained_and_a_smaller_one_would_fail():
    rng = random.Random(0)
    shares = [shuffled_lists._share_of_success(rng) for _ in range(60)]
    assert all(not isinstance(share, str) for share in shares) and max(shares) > 0.99


def test_the_root_is_the_best_blanket_in_the_limit():
    p = np.array([0.7, 0.2, 0.1])

    def limit(q):
        return (p * (1 - p) / q).sum() / 2

    root = shuffled_lists.root_blanket(p)
    assert limit(root) == pytest.approx(np.sqrt(p * (1 - p)).sum() ** 2 / 2)
    assert all(limit(root) <= limit(q) for q in np.random.default_rng(0).dirichlet(np.ones(3), size=200))
    assert 40 * shuffled_lists.information(p, root, 40) == pytest.approx(limit(root), rel=0.03)
    assert abs(shuffled_lists.best_blanket(p, 20) - root).max() < 0.02

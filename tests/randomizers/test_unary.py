"""Sets of bits with flips of one's own choosing: against the table of all reports."""

import math
from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest

from oracles.bit_vectors import reports, sets, worst
from shufflelib import randomizers, shuffle
from shufflelib.shuffling import VariationRatioPair

CASES = [
    (4, 2, F(1, 4), F(3, 4)),
    (4, 2, F(7, 20), F(13, 20)),
    (5, 1, F(1, 8), F(1, 2)),
    (5, 2, F(1, 8), F(1, 2)),
    (5, 3, F(1, 8), F(1, 2)),
    (5, 4, F(1, 5), F(3, 10)),
    (6, 2, F(3, 5), F(9, 10)),
    (6, 3, F(1, 10), F(1, 5)),
    (2, 1, F(1, 9), F(8, 9)),
    (3, 2, F(1, 9), F(5, 9)),
]


def built(d, h, p, q):
    return randomizers.unary(d=d, h=h, p=float(p), q=float(q))


@pytest.mark.parametrize(("d", "h", "p", "q"), CASES)
def test_budget_blanket_and_total_variation_are_those_of_the_table(d, h, p, q):
    mechanism, rows = built(d, h, p, q), [reports(x, p, q) for x in sets(d, h)]
    ratio = max(max(one[y] / other[y] for y in one) for one, other in permutations(rows, 2))
    assert float(ratio) <= math.exp(mechanism.eps0) * (1 + 1e-15) <= float(ratio) * (1 + 1e-12)
    gamma = sum(min(row[y] for row in rows) for y in rows[0])
    assert mechanism.blanket().sum() == pytest.approx(float(gamma), rel=1e-13)
    apart = max(sum(abs(one[y] - other[y]) for y in one) / 2 for one, other in permutations(rows, 2))
    assert mechanism.beta == pytest.approx(float(apart), rel=1e-13)
    assert mechanism.class_masses().sum(axis=1) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize(
    ("d", "p", "q", "gamma"),
    [
        (128, 0.35, 0.65, 0.289940828402),  # Mozilla's study of home pages
        (32, 3 / 8, 5 / 8, 0.360000000001),  # Chromium's instantaneous response
        (4, 0.25, 0.75, 3 / 16),
        (4, 0.35, 0.65, 833 / 2000),
    ],
)
def test_blanket_of_two_hash_functions(d, p, q, gamma):
    assert randomizers.unary(d=d, h=2, p=p, q=q).blanket().sum() == pytest.approx(gamma, rel=1e-11)


def test_budgets_of_systems():
    assert randomizers.unary(d=128, h=2, p=0.35, q=0.65).eps0 == pytest.approx(
        4 * math.log(13 / 7), rel=1e-14
    )
    assert math.exp(randomizers.unary(d=4, h=2, p=0.25, q=0.75).eps0) == pytest.approx(81, rel=1e-12)
    assert math.exp(randomizers.unary(d=4, h=2, p=0.35, q=0.65).eps0) == pytest.approx(
        28561 / 2401, rel=1e-12
    )


@pytest.mark.parametrize(
    ("p", "ratio", "exact"),
    [
        (F(1, 4), F(2), F(7964315, 16777216)),
        (F(7, 20), F(2), 0.131468404654),
        (F(7, 20), F(3), 0.070558596321),
    ],
)
def test_three_users_of_two_of_four(p, ratio, exact):
    found = shuffle(built(4, 2, p, 1 - p), n=3).delta(math.log(ratio))
    assert found.lower <= float(exact) * (1 + 1e-11) and float(exact) <= found.upper
    assert found.lower >= float(exact) * (1 - 1e-9)  # others hold what the user may hold


@pytest.mark.parametrize(("d", "h", "p", "q"), [case for case in CASES if case[0] < 5])
def test_brackets_hold_the_worst_of_all_pairs_and_others(d, h, p, q):
    values = sets(d, h)
    neighbours = [(values[0], x) for x in values[1:]]  # up to the order of the bits
    neighbours += [(b, a) for a, b in neighbours]
    ratios = (F(1), F(3, 2))
    for ratio, exact in zip(ratios, worst(neighbours, values, 2, p, q, ratios, summed=False), strict=True):
        found = shuffle(built(d, h, p, q), n=2).delta(math.log(ratio))
        assert found.lower * (1 - 1e-9) <= exact <= found.upper * (1 + 1e-9), (found, float(exact))
        assert found.upper <= 2.0 * exact


def test_one_of_d_is_rappor_and_optimized_unary():
    for known in (randomizers.rappor(eps0=1.0, d=20), randomizers.optimized_unary(eps0=1.0, d=20)):
        p, q = known.bits
        same = randomizers.unary(d=20, p=p, q=q)
        assert same.eps0 == pytest.approx(known.eps0, rel=1e-12) and same.beta == pytest.approx(known.beta)
        one, other = (shuffle(each, n=1000).epsilon(1e-6) for each in (same, known))
        assert one.upper == pytest.approx(other.upper, rel=1e-5)
        assert one.lower == pytest.approx(other.lower, rel=1e-5)


def test_many_ones_are_few_zeros():
    few, many = randomizers.unary(d=9, h=2, p=0.2, q=0.7), randomizers.unary(d=9, h=7, p=1 - 0.7, q=1 - 0.2)
    assert many.eps0 == pytest.approx(few.eps0, rel=1e-13)
    assert many.blanket().sum() == pytest.approx(few.blanket().sum(), rel=1e-13)


@pytest.mark.parametrize("h", [1, 2, 7])
def test_estimates_are_unbiased(h):
    mechanism, rng = randomizers.unary(d=9, h=h, p=0.2, q=0.7), np.random.default_rng(5)
    held = np.array([rng.permutation(9)[:h] for _ in range(40_000)]) if h > 1 else np.repeat(3, 40_000)
    seen = mechanism.sample(held, rng)
    assert seen.shape == (40_000, 9) and seen.dtype == np.uint8
    truth = np.bincount(held.ravel(), minlength=9) / 40_000
    assert mechanism.estimate(seen) == pytest.approx(truth, abs=5 * 0.5 / 0.5 / 200)


def test_ratios_of_reductions_are_not_the_flips():
    mechanism = randomizers.unary(d=9, h=2, p=0.2, q=0.7)
    ratio, beta, same = mechanism.variation_ratio()
    assert ratio == same == pytest.approx(math.exp(mechanism.eps0)) and beta == mechanism.beta
    assert (mechanism.p, mechanism.q) == (0.2, 0.7) == mechanism.bits
    assert VariationRatioPair.of(mechanism, n=10).p == ratio
    assert randomizers.joint([mechanism]).p == ratio


@pytest.mark.parametrize(
    ("changed", "name"),
    [({"h": 9}, "h"), ({"h": 0}, "h"), ({"p": 0.7}, "p"), ({"p": 0.0}, "p"), ({"q": 1.0}, "q"),
     ({"d": 1}, "d"), ({"h": "2"}, "h"), ({"q": float("nan")}, "q")],
)  # fmt: skip
def test_arguments_are_refused_by_name(changed, name):
    with pytest.raises((TypeError, ValueError), match=name):
        randomizers.unary(**{"d": 9, "h": 2, "p": 0.2, "q": 0.7} | changed)


@pytest.mark.parametrize(("arguments", "name"), [({"h": 9}, "h"), ({"p": 1e-200}, "p")])
def test_what_is_too_much_to_shuffle_is_refused(arguments, name):
    with pytest.raises(ValueError, match=name):
        shuffle(randomizers.unary(**{"d": 20, "h": 2, "p": 0.2, "q": 0.7} | arguments), n=10).delta(1.0)


def test_chances_have_no_default():
    with pytest.raises(TypeError, match="'p' and 'q'"):
        randomizers.unary(d=3)

"""One mechanism, one number: constructors of the same channel give the same brackets, whatever their names.

The channels are listed from their definitions, in exact fractions where they are rational.
"""

import math
from fractions import Fraction as F
from functools import cache
from itertools import permutations

import mpmath
import numpy as np
import pytest

from claims import exact_channels as channels
from claims import exact_shuffle
from oracles.small_domains import dbitflip_matrix, duchi_matrix, unary_matrix
from shufflelib import randomizers, shuffle
from shufflelib.randomizers.local_randomizer import FiniteRandomizer
from shufflelib.shuffling import WorstPopulation, blanket_profile

DIGITS = 9  # to which the probabilities of equal channels agree
CLOSE = 1e-8  # relative, of their brackets: the numerics choose other nodes for other roundings
ODDS = [F(3, 2), F(9)]  # e^eps0


def listed(odds):
    """Yield mechanisms with small parameters, each with its whole channel: a row for each extreme input."""
    eps0, root = math.log(odds), math.sqrt(odds)
    flip = 1 / (root + 1)
    for d in (2, 3, 4):
        rr = randomizers.generalized_rr(eps0=eps0, d=d)
        yield rr, exact_shuffle.randomized_response(odds, d)
        yield randomizers.mixture([rr], [1.0]), exact_shuffle.randomized_response(odds, d)
        yield randomizers.joint([rr]), exact_shuffle.randomized_response(odds, d)
        yield randomizers.poisson_sampled(rr, rate=1.0), exact_shuffle.randomized_response(odds, d)
        for k in range(1, d):
            yield randomizers.subset(eps0=eps0, d=d, k=k), channels.subsets(odds, d, 1, k)
            yield randomizers.subset_exponential(eps0=eps0, d=d, s=1, k=k), channels.subsets(odds, d, 1, k)
    for d in (2, 3):
        yield randomizers.optimized_unary(eps0=eps0, d=d), unary_matrix(d, 0.5, 1 / (float(odds) + 1))
        yield randomizers.rappor(eps0=eps0, d=d), unary_matrix(d, 1 - flip, flip)
        yield randomizers.dbitflip(eps0=eps0, k=d, d=d), unary_matrix(d, 1 - flip, flip)
        yield randomizers.unary(d=d, p=flip, q=1 - flip), unary_matrix(d, 1 - flip, flip)
        yield randomizers.sampled_rappor(eps0=eps0, d=d, s=1), unary_matrix(d, 1 - flip, flip)
        yield randomizers.pckv_grr(eps0=eps0, d=d, s=1), channels.key_values(odds, d, 1)
        for size in (2, 3):
            hashed = channels.local_hash(odds, d, size)
            yield randomizers.local_hash(eps0=eps0, d=d, l=size), hashed
            yield randomizers.collision(eps0=eps0, d=d, s=1, l=size), hashed
            yield randomizers.wheel(eps0=eps0, d=d, s=1, arc=1 / size), hashed
        yield randomizers.hadamard(eps0=eps0, d=d), channels.hadamard(odds, d)
    yield randomizers.hadamard_blocks(eps0=eps0, K=6, s=1, B=3), channels.hadamard(odds, 3, blocks=3)
    yield randomizers.pckv_grr(eps0=eps0, d=2, s=2), channels.key_values(odds, 2, 2)
    for d in (1, 2):
        yield randomizers.duchi(eps0=eps0, d=d), duchi_matrix(odds, d, (odds + 1) / 2)[:-1]
        yield randomizers.harmony(eps0=eps0, d=d), channels.one_coordinate(odds, d)
    yield randomizers.privkv(eps0=2 * eps0, d=2, s=2), channels.priv_kv(odds, odds, 2, 2)
    yield randomizers.dbitflip(eps0=2 * eps0, k=2, d=1), dbitflip_matrix(odds**2, 2, 1)
    yield randomizers.binary_rr(eps0=eps0), exact_shuffle.randomized_response(odds, 2)


def key(rows):
    """Return the same for channels that differ in the order of inputs and in the names of outputs only."""
    rows, merged = np.array(rows, float), {}
    for column in rows.T[rows.max(axis=0) > 0.0]:
        ratio = tuple(np.round(column / column.sum(), DIGITS))
        merged[ratio] = merged.get(ratio, 0.0) + column
    columns = np.round(np.array(list(merged.values())), DIGITS)
    return min(
        tuple(sorted(map(tuple, columns[:, order]))) for order in map(list, permutations(range(len(rows))))
    )


@cache
def groups(odds):
    """Return the lists of mechanisms with one channel, its table among them if all its attacks are tried."""
    found = {}
    for mechanism, rows in listed(odds):
        found.setdefault(key(rows), [randomizers.from_pmf(rows)] if len(rows) <= 4 else []).append(mechanism)
    return list(found.values())


def ends(found):
    return np.array([found.lower, found.upper])


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("odds", ODDS)
def test_one_channel_has_one_bracket(odds, n):
    for group in groups(odds):
        first, *rest = (ends(shuffle(one, n).delta([0.0, 0.2])) for one in group)
        for mechanism, found in zip(group[1:], rest, strict=True):
            assert found == pytest.approx(first, rel=CLOSE, abs=1e-300), (group[0], mechanism)


def test_every_finite_mechanism_is_listed():
    names = {type(mechanism).__name__ for mechanism, _ in listed(F(3))}
    finite = {
        name for name in randomizers.__all__ if issubclass(getattr(randomizers, name), FiniteRandomizer)
    }
    # in every group; a class; a value is any number, so that no table lists all inputs
    assert finite - names == {"from_pmf", "generic", "piecewise"}, "add each to `listed`"


def is_exact(profile):
    """Return whether all datasets are searched."""
    return all(isinstance(pair, WorstPopulation) for pair in profile.dominating_pairs)


def test_binary_response_has_many_names():
    (group,) = (one for one in groups(F(9)) if any(isinstance(part, randomizers.binary_rr) for part in one))
    names = "binary_rr dbitflip duchi from_pmf generalized_rr harmony joint mixture poisson_sampled subset"
    assert {type(one).__name__ for one in group} == {*names.split(), "subset_exponential"}
    binary = shuffle(randomizers.binary_rr(eps0=math.log(9)), 12)
    for mechanism in group[1:]:  # the first one is the table
        found = shuffle(mechanism, 12)
        for question, argument in (
            ("delta", [0.0, 0.2]),
            ("epsilon", 1e-3),
            ("renyi", 2.0),
            ("tradeoff", 0.1),
        ):
            one, other = (ends(getattr(profile, question)(argument)) for profile in (found, binary))
            assert np.array_equal(one, other)
    for mechanism, _ in listed(F(9)):
        assert is_exact(shuffle(mechanism, 12)) == (mechanism in group)


TABLES = {
    "a value between": ([[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]], True),
    "names exchanged": ([[F(1, 4), F(3, 4)], [F(3, 5), F(2, 5)], [F(3, 4), F(1, 4)]], True),
    "an output in parts": ([[F(3, 4), F(1, 12), F(1, 6), 0], [F(1, 4), F(1, 4), F(1, 2), 0]], True),
    "large odds": ([[F(99, 100), F(1, 100)], [F(1, 100), F(99, 100)], [F(98, 100), F(2, 100)]], True),
    "lopsided": ([[F(3, 4), F(1, 4)], [F(3, 10), F(7, 10)]], True),
    "hardly lopsided": ([[F(3, 4), F(1, 4)], [F(249_999, 10**6), F(750_001, 10**6)]], True),
    "two ones": ([[F(2, 5), F(3, 5)], [F(1, 10), F(9, 10)]], True),
    "lopsided, a value between": ([[F(3, 4), F(1, 4)], [F(3, 5), F(2, 5)], [F(3, 10), F(7, 10)]], True),
    "lopsided, in parts": ([[F(3, 4), F(1, 12), F(1, 6)], [F(3, 10), F(7, 30), F(7, 15)]], True),
    "a rare output": ([[F(999_999, 10**6), F(1, 10**6)], [F(1, 2), F(1, 2)]], True),
    "an output of one input alone": ([[F(1), F(0)], [F(1, 2), F(1, 2)]], False),
    "a third output": ([[F(3, 5), F(1, 5), F(1, 5)], [F(1, 5), F(3, 5), F(1, 5)]], False),
    "two that mirror the first": ([[F(7, 10), F(1, 5), F(1, 10)], [F(3, 10), F(1, 5), F(1, 2)]], False),
    "an x* that tells parts apart": (
        [[F(3, 8), F(3, 8), F(1, 8), F(1, 8)], [F(1, 8), F(1, 8), F(3, 8), F(3, 8)],
         [F(3, 8), F(1, 8), F(3, 8), F(1, 8)]],
        False,
    ),
    "no budget": ([[F(1), F(0)], [F(0), F(1)]], False),
    "no difference": ([[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]], False),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_recognised_by_its_numbers(name):
    rows, binary = TABLES[name]
    mechanism = randomizers.from_pmf(rows)
    assert is_exact(shuffle(mechanism, 4)) == binary
    for ratio in (F(1), F(3, 2), F(5, 2)):
        worst = float(exact_shuffle.worst_delta(rows, 4, ratio)[0])
        found = shuffle(mechanism, 4).delta(math.log(ratio))
        assert found.lower <= worst * (1 + 1e-12) and worst <= found.upper * (1 + 1e-12) + 1e-15
        if binary and worst > 0:
            assert found.upper <= found.lower * (1 + 1e-6)


def test_a_table_with_rounded_rows_is_bracketed_by_two_budgets():
    table = randomizers.from_pmf([[0.75 + 2e-10, 0.25], [0.25, 0.75 - 3e-10]])
    (smaller, same), (larger, again) = table.binary_losses
    assert smaller == same < math.log(3) < larger == again < smaller + 1e-8
    found, sides = shuffle(table, 500).delta(0.1), []
    for budget in (smaller, larger):
        sides.append(shuffle(randomizers.binary_rr(eps0=budget), 500).delta(0.1))
    assert (found.lower, found.upper) == (sides[0].lower, sides[1].upper)


NEARLY = [[0.7, 0.299, 0.001 * (1.0 - 1e-8)], [0.4, 0.598, 0.002]]  # two columns are nearly proportional


@pytest.mark.parametrize(
    "table",
    [
        [[0.75, 0.25], [0.3, 0.7]],
        [[0.4, 0.6], [0.1, 0.9], [0.25, 0.75]],
        [[0.999, 0.001], [0.5, 0.5]],
        [[0.5, 0.5], [0.4999, 0.5001]],
        [[x * (1.0 + 9e-10) for x in row] for row in NEARLY],
    ],
)
def test_the_losses_of_a_table_are_between_two_pairs_of_numbers(table):
    rows = [[F(x) / sum(map(F, row)) for x in row] for row in table]
    first = [max(a[0] / b[0] for a in rows for b in rows)]
    other = [max(a[k] / b[k] for a in rows for b in rows) for k in range(1, len(rows[0]))]
    exact = sorted(float(mpmath.log1p(mpmath.mpf((x - 1).numerator) / (x - 1).denominator))
                   for x in (max(first), max(other)))  # fmt: skip
    inner, outer = (sorted(losses) for losses in randomizers.from_pmf(table).binary_losses)
    for low, loss, high in zip(inner, exact, outer, strict=True):
        assert low < loss < high < low + 1e-7


@pytest.mark.parametrize("eps0", [0.5, 2.0, 4.0])
def test_a_random_bit_is_as_private_as_the_planner_says(eps0):
    """Rounding to a random bit leaves binary response; the blanket alone proves up to 1.87 times as much."""
    n, delta = 10_000, 1e-6
    bit = shuffle(randomizers.duchi(eps0=eps0), n)
    assert bit.epsilon(delta).upper <= bit.epsilon(delta).lower * (1 + 1e-6)
    wide = blanket_profile(randomizers.duchi(eps0=eps0), n).epsilon(delta).upper
    assert 1.05 < wide / bit.epsilon(delta).upper < 1.9


def test_more_than_one_report_on_a_bit_is_not_recognised():
    bit = randomizers.binary_rr(eps0=1.0)
    for mechanism in (
        randomizers.mixture([bit, bit], [0.5, 0.5]),
        randomizers.joint([bit, bit]),
        randomizers.poisson_sampled(bit, rate=0.5),
        randomizers.generic(eps0=1.0),
        randomizers.harmony(eps0=1.0, d=2),
    ):
        assert mechanism.binary_losses is None, mechanism


def test_outputs_that_are_only_nearly_proportional_are_charged():
    """Rows may sum to 1 within 1e-9, so that a ratio of its own can hide behind the table's precision."""
    scale, apart = 1.0 + 9e-10, 1.1e-8
    crooked = [
        [0.6 * scale, 0.399 * scale, 0.001 * (1.0 - apart) * scale],
        [0.4 * scale, 0.5985 * scale, 0.0015 * scale],
    ]
    tiny = [
        [0.499999999999344, 0.486232909060667, 0.01376709093998893],
        [0.5000000000006559, 0.48623290905939187, 0.013767090939952133],
    ]
    for table in (crooked, tiny):
        exact = [[F(x) / sum(map(F, row)) for x in row] for row in table]
        pairs = (exact, exact[::-1])
        largest = max(a / b for one, other in pairs for a, b in zip(one, other, strict=True))
        profile = shuffle(randomizers.from_pmf(table), 2)
        assert profile.pure_epsilon >= math.log1p(float(largest - 1))
    single = shuffle(randomizers.from_pmf(crooked), 1)
    ratio = F(math.exp(0.40546511413570363))  # the budget that the merged columns have
    rows = [[F(x) / sum(map(F, row)) for x in row] for row in crooked]
    truth = sum(max(b - ratio * a, 0) for a, b in zip(*rows, strict=True))
    assert truth > 1e-12 and single.delta(0.40546511413570363).upper >= float(truth)


def test_three_inputs_with_nearly_proportional_outputs_are_no_mixtures_of_two():
    p, near = 0.7, 1.0 + 2e-14
    table = [[p, 0.2, 0.1], [1.0 - p, 0.7 * 2 / 3 * near, 0.7 / 3], [0.5, 1.0 / 3, 1.0 / 6 * near]]
    assert randomizers.from_pmf(table).binary_losses is None
    doubled = [[p, 0.15, 0.15], [1.0 - p, 0.35, 0.35], [0.5, 0.25, 0.25]]
    assert randomizers.from_pmf(doubled).binary_losses is not None


@pytest.mark.parametrize(("n", "eps"), [(10**5, 0.02582), (10**6, 0.00764), (10**7, 0.00225)])
def test_a_number_rounded_to_one_bit_has_the_bound_of_binary_response(n, eps):
    """A deployed mean by one bit, budget 1.672, δ = 1e-8."""
    found = shuffle(randomizers.duchi(eps0=1.672), n=n).epsilon(1e-8)
    assert abs(found.upper - eps) < 6e-6 and found.upper - found.lower < 1e-6

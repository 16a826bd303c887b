"""Sample and threshold against binomial distributions in fractions, for up to sixty others."""

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest

from fuzz_answers import check_answer, check_refusal
from oracles.brute_force import both_ways, hockey_stick, renyi_moment, swapped
from oracles.counts import changed
from shufflelib.profiles import compose
from shufflelib.shuffling import sample_and_threshold
from shufflelib.shuffling.thresholds import WorstNumber
from test_hostile import EXTREME, FOREIGN, is_refused


def replaced(c, others, rate, threshold):
    one, two = changed(c, rate, threshold), changed(others, rate, threshold)
    return {(a, b): (p * still, q * more) for a, (p, q) in one.items() for b, (more, still) in two.items()}


def worst(rate, threshold, ratio, most=60):
    return max(
        (both_ways(changed(c, rate, threshold), ratio), c) for c in range(max(threshold - 1, 0), most + 1)
    )


@pytest.mark.parametrize(
    ("rate", "threshold", "ratio", "delta", "others"),
    [(F(1, 2), 2, F(5, 2), F(1, 4), 1), (F(1, 10), 3, F(2), F(17, 10_000), 3)],
)
def test_values_known_from_elsewhere(rate, threshold, ratio, delta, others):
    assert worst(rate, threshold, ratio) == (delta, others)
    found = sample_and_threshold(rate=float(rate), threshold=threshold).delta(math.log(ratio))
    assert found.lower - 1e-14 <= delta <= found.upper + 1e-14 and found.upper - found.lower < 1e-12


def test_a_deployed_pair():
    """Rate 0.105, threshold 20, printed (1, 1e-8): 11 would do."""
    twenty, eleven, ten = (sample_and_threshold(rate=0.105, threshold=t) for t in (20, 11, 10))
    found = twenty.epsilon(1e-8)
    assert abs(found.upper - 0.31804) < 5e-6 and found.upper - found.lower < 1e-6
    assert abs(twenty.delta(1.0).upper - 6.48e-15) < 5e-18
    assert worst(F(105, 1000), 20, F(math.e), most=40)[1] == 28
    assert abs(eleven.delta(1.0).upper - 3.1e-9) < 5e-11
    assert ten.delta(1.0).lower > 1e-8


def drawn(seed):
    rng = random.Random(seed)
    return F(rng.randrange(4, 60), 64), rng.randrange(1, 7), F(rng.randrange(32, 160), 32)


@pytest.mark.parametrize(("rate", "threshold", "ratio"), [drawn(seed) for seed in range(16)])
def test_the_worst_number_of_others(rate, threshold, ratio):
    exact, others = worst(rate, threshold, ratio)
    assert others < 60
    found = sample_and_threshold(rate=float(rate), threshold=threshold).delta(math.log(ratio))
    assert found.lower <= exact * (1 + F(1, 10**11)) and exact * (1 - F(1, 10**11)) <= found.upper
    assert found.upper - found.lower <= 1e-11


@pytest.mark.parametrize(
    ("rate", "threshold", "ratio"),
    [
        (F(7, 8), 3, F(3)),
        (F(7, 8), 1, F(7)),
        (F(3, 4), 2, F(2)),
        (F(3, 4), 4, F(13, 4)),
        (F(1, 4), 3, F(9, 8)),
    ],
)
def test_each_order_has_its_worst_number(rate, threshold, ratio):
    """Also just below 1/(1 − s), where the worst number of others is large."""
    pair = WorstNumber(float(rate), threshold)
    for one, exchange in ((pair, lambda masses: masses), (pair.reversed, swapped)):
        numbers = [changed(c, rate, threshold) for c in range(threshold - 1, 90)]
        exact = max(hockey_stick(exchange(masses), ratio) for masses in numbers)
        lower, upper = one.log_hockey_stick(math.log(ratio)).probabilities()
        assert lower <= exact * (1 + F(1, 10**11)) and exact * (1 - F(1, 10**11)) <= upper
        assert upper - lower <= 1e-10 and exact > 0
    assert pair.reversed.log_hockey_stick(math.log(1 / (1 - rate)) * 1.001).upper == -math.inf


@pytest.mark.parametrize("side", [1 - 1e-6, 1 - 1e-9, 1 - 1e-13, 1.0, 1 + 1e-13])
@pytest.mark.parametrize("threshold", [1, 5, 100])
def test_the_end_of_a_direction_is_no_jump(threshold, side):
    profile = sample_and_threshold(rate=0.9, threshold=threshold)
    eps = math.log(10) * side
    grid = np.array([eps * 0.999, eps, eps * 1.001])
    found = profile.delta(grid)
    assert np.all(np.diff(found.upper) <= 1e-12) and np.all(found.upper - found.lower <= 1e-6 * found.upper)


@pytest.mark.parametrize(("rate", "threshold"), [(F(1, 4), 2), (F(1, 2), 2), (F(1, 2), 3)])
def test_a_replaced_value_changes_two_numbers(rate, threshold):
    profile = sample_and_threshold(rate=float(rate), threshold=threshold, neighbours="replace")
    for ratio in (F(1), F(3, 2), F(5, 2)):
        pairs = [replaced(c, o, rate, threshold) for c in range(9) for o in range(9)]
        exact = float(max(both_ways(pair, ratio) for pair in pairs))
        found = profile.delta(math.log(ratio))
        assert found.lower <= exact * (1 + 1e-12) and found.upper >= exact * (1 - 1e-12)
        assert found.upper <= 1.35 * exact and found.lower >= 0.75 * exact


def test_other_questions_enclose_those_of_datasets():
    rate, threshold = F(1, 4), 3
    profile = sample_and_threshold(rate=0.25, threshold=3)
    assert profile.renyi(2.0).upper == math.inf
    assert renyi_moment(changed(2, rate, threshold), 2) is None  # three reports prove the user's
    for c in range(2, 12):
        pair = changed(c, rate, threshold)
        cells = sorted(pair.values(), key=lambda one: one[1] / one[0])  # null: without the user
        fpr, miss = float(cells[0][1] + cells[1][1]), float(1 - cells[0][0] - cells[1][0])
        assert profile.tradeoff(fpr).lower <= miss + 1e-12
    assert profile.compose(2).delta(0.5).upper >= profile.delta(0.5).lower
    assert compose([profile, profile]).delta(0.5).upper == profile.compose(2).delta(0.5).upper
    with pytest.raises(ValueError, match="add or remove"):
        profile.subsample(0.5)


def test_delta_falls_with_the_threshold_and_rises_with_the_rate():
    by_threshold = [sample_and_threshold(rate=0.1, threshold=t).delta(0.5).upper for t in (1, 2, 5, 20, 100)]
    by_rate = [
        sample_and_threshold(rate=s, threshold=5).delta(0.5).upper for s in (1e-9, 1e-3, 0.1, 0.5, 0.99)
    ]
    assert by_threshold == sorted(by_threshold, reverse=True) and by_rate == sorted(by_rate)


def test_scalars_are_arrays_to_the_bit():
    profile, grid = sample_and_threshold(rate=0.3, threshold=7), np.array([0.0, 0.2, 1.5])
    many = profile.delta(grid)
    for i, eps in enumerate(grid.tolist()):
        one = sample_and_threshold(rate=0.3, threshold=7).delta(eps)
        assert (one.lower, one.upper) == (many.lower[i], many.upper[i])


def test_bad_arguments_are_refused_by_name():
    good = {"rate": 0.1, "threshold": 5}
    for name in good:
        for value in (*FOREIGN.values(), 0, -1.0, math.inf, 10**400):
            is_refused(sample_and_threshold, good, name, value)
        for value in EXTREME.values():
            try:
                profile = sample_and_threshold(**good | {name: value})
            except (ValueError, TypeError) as refusal:
                check_refusal(refusal, tuple(good))
            else:
                for eps in (0.0, 0.1, 50.0, 1e6):
                    check_answer(profile.delta(eps), most=1.0)
                check_answer(profile.epsilon(1e-6))
    is_refused(sample_and_threshold, good, "rate", 1.0)
    for value in (*FOREIGN.values(), "add"):
        is_refused(sample_and_threshold, good, "neighbours", value)

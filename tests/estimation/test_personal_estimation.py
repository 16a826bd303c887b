"""Mean and frequency with personal budgets: exact moments, repeated runs, guarantees of both models.

The oracles share no code with the package: they list all outcomes of a few users in exact fractions.
"""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import kstest

from claims import exact_shuffle
from estimation_cases import PERSONAL, REPETITIONS, data_for, moments, paper, response_runs, seeded
from shufflelib import estimation
from shufflelib.shuffling.personal import PersonalRandomizedResponse


def algorithm_2(ratios, x):
    """Exact mean and variance of z = (A - B)/(n - 2B)."""
    b = sum(F(1, ratio + 1) for ratio in ratios)
    return moments([((sum(y) - b) / (len(x) - 2 * b), mass) for y, mass in response_runs(ratios, x)])


def slots_frequency(ratios, x):
    """Exact mean and variance with weights tanh²(ε/2), averaged over all permutations."""
    gain = [F(ratio - 1, ratio + 1) for ratio in ratios]
    scale = sum(g * g for g in gain)
    distribution = []
    for permuted in permutations(x):
        for y, mass in response_runs(ratios, permuted):
            terms = (g * (said - F(1, ratio + 1)) for g, ratio, said in zip(gain, ratios, y, strict=True))
            distribution.append((sum(terms) / scale, mass / math.factorial(len(x))))
    return moments(distribution)


# ---- Algorithms 1 and 2, exactly


def test_algorithm_2_is_as_written():
    eps0, reports = np.array([0.0, 0.3, 1.0, 2.0]), np.array([1, 0, 1, 1])
    flip = 1 / (np.exp(eps0) + 1)
    a, b = reports.sum(), flip.sum()
    assert estimation.FrequencyProtocol(eps0).estimate(reports) == pytest.approx((a - b) / (4 - 2 * b))


def test_algorithm_1_is_as_written():
    protocol = estimation.MeanProtocol([0.5, 1.0, 2.0], low=0.0, high=10.0)
    assert protocol.estimate([1.0, 2.0, 6.0]) == pytest.approx(3.0)
    assert protocol.noise_variance == pytest.approx(2 * 100 * (4 + 1 + 0.25) / 9)
    clipped = protocol.channel.values([-5.0, 3.0, 99.0])
    assert clipped.tolist() == [0.0, 3.0, 10.0] and protocol.bias([-5.0, 3.0, 99.0]) == pytest.approx(0.0)


@pytest.mark.parametrize("x", [(1, 0, 0, 1), (1, 1, 1, 0), (0, 0, 0, 0), (1, 1, 1, 1)])
@pytest.mark.parametrize("ratios", [(2, 2, 2, 2), (1, 2, 3, 9), (9, 3, 1, 1), (50, 1, 1, 1)])
def test_mean_and_variance_of_frequencies_are_exact(ratios, x):
    eps0, share = np.log(ratios), np.mean(x)
    shuffled, slots = estimation.FrequencyProtocol(eps0), estimation.PermutedFrequencyProtocol(eps0)
    for protocol, distribution in ((shuffled, algorithm_2(ratios, x)), (slots, slots_frequency(ratios, x))):
        assert share + protocol.bias(x) == pytest.approx(float(distribution[0]), abs=1e-12)
        assert protocol.variance(x) == pytest.approx(float(distribution[1]), rel=1e-12)
    assert slots.standard_error(0.0) ** 2 >= slots.variance(x) * (1 - 1e-12)
    assert shuffled.standard_error(0.0) ** 2 == pytest.approx(shuffled.variance(x))


def test_the_upper_end_of_the_standard_error_is_attained():
    slots = estimation.PermutedFrequencyProtocol(np.log([1.5, 2.0, 4.0, 9.0]))
    assert slots.standard_error(0.0) ** 2 == pytest.approx(slots.variance([1, 0, 1, 0]))


def test_slot_weights_have_the_least_worst_case_variance():
    eps0, n = np.array([0.1, 0.4, 1.0, 3.0, 3.0]), 5
    slots = estimation.PermutedMeanProtocol(eps0, low=0.0, high=2.0)
    assert slots.weights.sum() == pytest.approx(1.0)

    def worst(weights):  # S² at Δ²/4
        return np.sum(weights**2 * 2 * (2.0 / eps0) ** 2) + np.sum((weights - 1 / n) ** 2)

    assert worst(slots.weights) == pytest.approx(slots.noise_variance + slots.luck)
    rng = seeded(6)
    for _ in range(200):
        other = slots.weights + 0.01 * rng.normal(size=n)
        assert worst(other / other.sum()) >= worst(slots.weights)
    bits = estimation.PermutedFrequencyProtocol(eps0).weights
    assert bits == pytest.approx(np.tanh(eps0 / 2) ** 2 / np.sum(np.tanh(eps0 / 2) ** 2))


def test_equal_budgets_make_both_models_the_same_estimator():
    for shuffled, slots in (("Algorithm 1", "slots, mean"), ("Algorithm 2", "slots, frequency")):
        eps0, rng = np.full(50, 0.7), seeded()
        x = data_for(shuffled, 50, rng)
        one, other = PERSONAL[shuffled](eps0), PERSONAL[slots](eps0)
        reports = one.reports(x, rng)
        assert one.estimate(reports) == pytest.approx(other.estimate(reports))
        assert one.variance(x) == pytest.approx(other.variance(x))


# ---- running, and repeating


@pytest.mark.parametrize("name", PERSONAL)
@pytest.mark.parametrize("shares", [(0.54, 0.37, 0.09), (0.01, 0.9, 0.09)])
def test_mean_absolute_error_is_that_of_theory(name, shares):
    n = 10_000
    protocol, x = PERSONAL[name](paper(n, shares=shares)), data_for(name, n, seeded(10))
    z = protocol.repeat(x, REPETITIONS, seeded(11))
    assert z.shape == (REPETITIONS,)
    measured = estimation.mean_absolute_error(z - protocol.bias(x), x.mean())
    expected = estimation.normal_absolute_error(protocol.variance(x))
    assert abs(measured.value - expected) < 3 * measured.standard_error < 0.1 * expected


@pytest.mark.parametrize("name", PERSONAL)
def test_repeating_and_running_have_one_distribution(name):
    eps0, rng = np.array([0.2, 0.2, 0.2, 1.0, 1.0, 3.0]), seeded(12)
    protocol, x = PERSONAL[name](eps0), data_for(name, 6, seeded(13))
    runs = np.array([protocol.estimate(protocol.reports(x, rng)) for _ in range(4000)])
    drawn = protocol.repeat(x, 4000, rng)
    rounded = [np.round(z, 9) for z in (runs, drawn)]
    assert kstest(*rounded).pvalue > 1e-4


def test_repeating_spans_several_blocks(monkeypatch):
    monkeypatch.setattr("shufflelib.estimation.personal.CELLS", 40)
    protocol = estimation.PermutedFrequencyProtocol([0.0, 1.0, 1.0, 2.0])
    z = protocol.repeat([1, 0, 0, 1], 5003, seeded(14))
    assert z.shape == (5003,)
    assert abs(z.mean() - 0.5) < 4 * (protocol.variance([1, 0, 0, 1]) / 5003) ** 0.5


# ---- guarantees


def test_the_guarantee_of_algorithm_2_is_that_of_its_least_private_user():
    eps0 = np.log([2, 3, 9])
    each = PersonalRandomizedResponse(eps0, d=2).epsilons(delta=0.05)
    found = estimation.FrequencyProtocol(eps0, delta=0.05).epsilon
    assert (found.lower, found.upper) == (each.lower.max(), each.upper.max())


@pytest.mark.parametrize("ratios", [(2, 3, 9), (2, 2, 5), (3, 3, 3)])
def test_the_guarantee_of_slots_holds_for_every_pair_of_datasets(ratios):
    """All outputs of three users, all datasets, in fractions: δ(ε) at the certified ε is at most δ."""

    def slots(x):
        distribution = Counter()
        for permuted in permutations(x):
            for reports, mass in response_runs(ratios, permuted):
                distribution[reports] += mass / 6
        return distribution

    certified = estimation.PermutedFrequencyProtocol(np.log(ratios), delta=0.05).epsilon
    distributions = {x: slots(x) for x in product((0, 1), repeat=3)}
    worst = max(
        exact_shuffle.hockey_stick(distributions[x], distributions[y], math.exp(certified.upper))
        for x, y in permutations(distributions, 2)
        if sum(map(int.__ne__, x, y)) == 1
    )
    assert worst <= F(0.05) + F(1, 10**9)

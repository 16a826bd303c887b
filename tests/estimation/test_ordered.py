"""Ranges, distribution and quantiles from hierarchical reports: intervals cover as often as they say."""

import numpy as np
import pytest

from shufflelib import estimation, randomizers
from shufflelib.randomizers.hierarchical import padded_size

N, D, RUNS = 1500, 16, 250
MECHANISMS = [
    randomizers.hierarchical(eps0=3.0, d=D),
    randomizers.hierarchical(eps0=3.0, d=D, branching=4),
    randomizers.hierarchical(eps0=3.0, d=D, branching=D),
]
HELD = np.random.default_rng(1).binomial(D - 1, 0.3, N)
SHARES = np.bincount(HELD, minlength=D) / N
QUARTERS = np.array([0.25, 0.5, 0.75])
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)


def column(table, name):
    return np.array([row[name] for row in table])


@each_mechanism
def test_intervals_of_ranges_and_of_the_distribution_cover_as_often_as_they_say(mechanism):
    rng = np.random.default_rng(2)
    first, last = np.array([0, 3, 1]), np.array([7, 3, 14])
    truth = np.array([SHARES[a : b + 1].sum() for a, b in zip(first, last, strict=True)])
    of_ranges, of_all = [], []
    for _ in range(RUNS):
        reports = mechanism.sample(HELD, rng)
        found = estimation.ranges(mechanism, reports, first=first, last=last)
        of_ranges.append((column(found, "lower") <= truth) & (truth <= column(found, "upper")))
        found = estimation.distribution(mechanism, reports)
        inside = (column(found, "lower") <= np.cumsum(SHARES)) & (np.cumsum(SHARES) <= column(found, "upper"))
        of_all.append(inside[:-1])
    assert 0.925 < np.mean(of_ranges) < 0.975 and 0.925 < np.mean(of_all) < 0.975


@each_mechanism
def test_intervals_of_quantiles_cover_at_least_as_often_as_they_say(mechanism):
    rng, truth = np.random.default_rng(3), np.quantile(HELD, QUARTERS, method="inverted_cdf")
    covered, distance = [], []
    for _ in range(RUNS):
        found = estimation.run(mechanism, HELD, rng, estimate=estimation.quantiles, probabilities=QUARTERS)
        lower, upper, estimate = (column(found, name) for name in ("lower", "upper", "estimate"))
        assert np.all((lower <= estimate) & (estimate <= upper))
        covered.append((lower <= truth) & (truth <= upper))
        distance.append(np.abs(estimate - truth))
    assert np.mean(covered) > 0.94 and np.mean(distance) < 1.0


def test_without_noise_a_quantile_is_the_first_value_with_that_share():
    mechanism = randomizers.hierarchical(eps0=60.0, d=D, branching=D)
    found = estimation.run(
        mechanism, HELD, np.random.default_rng(4), estimate=estimation.quantiles, probabilities=QUARTERS
    )
    truth = np.quantile(HELD, QUARTERS, method="inverted_cdf")
    assert all((column(found, name) == truth).all() for name in ("estimate", "lower", "upper"))


def test_no_data_have_a_larger_variance_than_the_worst():
    rng, first, last = np.random.default_rng(5), np.array([0, 1, 5, 0]), np.array([0, 14, 9, 15])
    for mechanism in MECHANISMS:
        worst = mechanism.worst_range_variance(first, last, n=N)
        for _ in range(50):
            held = rng.dirichlet(np.full(D, 0.1))
            nodes = np.concatenate([held.reshape(size, -1).sum(axis=1) for size in mechanism.level_sizes])
            variance = mechanism.range_variance(np.clip(nodes, 0.0, 1.0), first, last, n=N)
            assert np.all(variance <= worst * (1 + 1e-12))
        assert worst[-1] == 0.0


def test_values_are_padded_to_a_power():
    assert [padded_size(d, 4) for d in (2, 4, 5, 64, 65)] == [4, 4, 16, 64, 256]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"probabilities": 1.0}, "probabilities must be"),
        ({"confidence": 0.0}, "confidence must be"),
        ({"n": N + 1}, "reports must hold n = 1,501"),
        ({"mechanism": randomizers.generalized_rr(eps0=1.0, d=D)}, "mechanism must be"),
    ],
)
def test_bad_input_is_refused(wrong, words):
    mechanism = MECHANISMS[0]
    asked = {"mechanism": mechanism, "probabilities": 0.5} | wrong
    with pytest.raises((TypeError, ValueError), match=words):
        estimation.quantiles(reports=mechanism.sample(HELD, np.random.default_rng(6)), **asked)

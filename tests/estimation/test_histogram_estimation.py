"""Histograms run on data and drawn from counts: supports against their distribution, errors against theory.

The oracle shares no code with the package: it lists every report of every user in exact fractions.
"""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import combinations, product

import numpy as np
import pytest

import oracles
from claims import exact_channels, exact_shuffle
from estimation_cases import MECHANISMS, moments, seeded
from goodness_of_fit import p_value
from oracles.small_domains import unary_matrix
from shufflelib import estimation, randomizers, shuffle
from shufflelib.sgd import datasets

BITS = [{j for j in range(3) if bits[j]} for bits in product((0, 1), repeat=3)]
SUBSETS = [set(items) for size in range(4) for items in combinations(range(3), size)]
EVEN = [{j for j in range(3) if ((j + 1) & y).bit_count() % 2 == 0} for y in range(4)]
SMALL = {  # sizes, the exact channel at e^eps0 = 4, and the items that each of its outputs supports
    "generalized RR": ({}, exact_shuffle.randomized_response(4, 4), [{y} for y in range(4)]),
    "subset": ({"k": 2}, exact_channels.subsets(4, 4, 1, 2), list(combinations(range(4), 2))),
    "local hash": ({"l": 3}, exact_channels.local_hash(4, 3, 3), SUBSETS),
    "Hadamard": ({}, exact_channels.hadamard(4, 3), EVEN),
    "RAPPOR": ({}, exact_channels.rappor(2, 3), BITS),
    "optimized unary": ({}, unary_matrix(3, 0.5, 0.2), BITS),
}


def support_distribution(name, counts):
    """Return the pmf of how many reports support each item, by listing the reports of all users."""
    _, channel, supported = SMALL[name]
    distribution = Counter()
    users = [channel[x] for x, held in enumerate(counts) for _ in range(held)]
    for histogram, mass in oracles.shuffled_distribution(users).items():
        seen = Counter(j for items, sent in zip(supported, histogram, strict=True) for j in sent * [*items])
        distribution[tuple(seen[j] for j in range(len(channel)))] += mass
    return distribution


def test_the_certificate_of_a_histogram_is_the_profile_of_its_randomizer():
    rr = randomizers.generalized_rr(eps0=1.0, d=10)
    labels = datasets.digits().train_labels
    protocol = estimation.HistogramProtocol(rr, n=labels.size, delta=1e-8)
    result = protocol.run(labels, seeded(16))
    expected = shuffle(rr, n=labels.size).epsilon(1e-8)
    assert (result.epsilon.lower, result.epsilon.upper) == (expected.lower, expected.upper)
    truth = np.bincount(labels) / labels.size
    assert np.all(np.abs(result.value - truth) < 5 * result.standard_error)


@pytest.mark.parametrize("name", SMALL)
def test_supports_have_the_joint_distribution_of_all_reports(name):
    sizes, channel, _ = SMALL[name]
    d = len(channel)
    counts = np.array([2, 0, 1, 1][:d])
    randomizer = MECHANISMS[name](eps0=math.log(4.0), d=d, **sizes)
    exact = support_distribution(name, counts.tolist())
    seen = Counter(map(tuple, randomizer.draw_supports(counts, 0, 20_000, seeded(17)).tolist()))
    assert set(seen) <= set(exact)
    assert p_value([seen[key] for key in exact], [float(mass) for mass in exact.values()]) > 1e-4
    own, other, _ = randomizer.support
    n = counts.sum()
    for item in range(d):
        mean, variance = moments([(F(key[item]), mass) for key, mass in exact.items()])
        assert float(mean) == pytest.approx(counts[item] * own + (n - counts[item]) * other)
        stated = estimation.frequency_variance(randomizer, counts[item] / n, n=int(n))
        assert float(variance) == pytest.approx(stated * (n * (own - other)) ** 2)

"""Histograms run on data and drawn from counts: supports against their distribution, errors against theory.

The oracle shares no code with the package: it lists every report of every user in exact fractions.
"""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import combinations, product

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix

from estimation_cases import MECHANISMS, moments, seeded
from goodness_of_fit import p_value
from shufflelib import datasets, estimation, randomizers, shuffle

SMALL = {
    "generalized RR": (4, {}, {}),
    "subset": (4, {"k": 2}, {"k": 2}),
    "local hash": (3, {"l": 3}, {"l": 3}),
    "Hadamard": (3, {}, {"K": 4}),
    "RAPPOR": (3, {}, {}),
    "optimized unary": (3, {}, {}),
}


def support_distribution(name, e, d, counts, **size):
    """Pmf of the support vector C by listing every report of every user, e = e^eps0 an exact square."""
    reports = {
        "generalized RR": lambda: [{y} for y in range(d)],
        "subset": lambda: [set(z) for z in combinations(range(d), size["k"])],
        "RAPPOR": lambda: [{j for j in range(d) if y[j]} for y in product((0, 1), repeat=d)],
        "optimized unary": lambda: [{j for j in range(d) if y[j]} for y in product((0, 1), repeat=d)],
        "local hash": lambda: [
            {j for j in range(d) if h[j] == 0} for h in product(range(size["l"]), repeat=d)
        ],
        "Hadamard": lambda: [
            {j for j in range(d) if column[j + 1] > 0} for column in hadamard_matrix(size["K"]).T.tolist()
        ],
    }[name]()

    def weight(x, z):
        if name == "RAPPOR":
            root = math.isqrt(e)
            return F(root) ** (d - len(z ^ {x}))
        if name == "optimized unary":
            return F(1, 2) * F(1, e + 1) ** len(z - {x}) * F(e, e + 1) ** (d - 1 - len(z - {x}))
        return F(e if x in z else 1)

    distribution = {(0,) * d: F(1)}
    for x, users in enumerate(counts):
        total = sum(weight(x, z) for z in reports)
        for _ in range(users):
            after = Counter()
            for seen, mass in distribution.items():
                for z in reports:
                    key = tuple(count + (j in z) for j, count in enumerate(seen))
                    after[key] += mass * weight(x, z) / total
            distribution = after
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
    d, made_with, size = SMALL[name]
    counts = np.array([2, 0, 1, 1][:d])
    randomizer = MECHANISMS[name](eps0=math.log(4.0), d=d, **made_with)
    exact = support_distribution(name, 4, d, counts.tolist(), **size)
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


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("eps0", [0.5, 3.0])
def test_simulated_and_run_histograms_agree(name, eps0):
    counts = estimation.zipf_counts(600, d=12)
    protocol = estimation.HistogramProtocol(MECHANISMS[name](eps0=eps0, d=12), n=600)
    items, rng = np.repeat(np.arange(12), counts), seeded(18)
    runs = np.array([protocol.estimate(protocol.reports(items, rng)) for _ in range(300)])
    drawn = protocol.repeat(items, 300, rng)
    truth, variance = counts / 600, protocol.variance(items)
    for z in (runs, drawn):
        assert np.all(np.abs(z.mean(axis=0) - truth) < 5 * np.sqrt(variance / 300))
        assert np.mean((z - truth) ** 2 / variance) == pytest.approx(1.0, abs=0.12)
    together = [np.corrcoef(z[:, 0], z[:, 1])[0, 1] for z in (runs, drawn)]
    assert abs(together[0] - together[1]) < 0.3

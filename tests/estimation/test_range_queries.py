"""Range queries on a hierarchy: decompositions by listing, moments by listing all outcomes, the certificate.

The oracles write a user's report as a dictionary in exact fractions and a range as a set of values.
"""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from shufflelib import estimation, randomizers, shuffle
from shufflelib.estimation import RangeQueryProtocol, canonical_decomposition

LOG3 = math.log(3.0)
TREES = [(2, 2), (8, 2), (32, 2), (27, 3), (16, 4), (12, 12)]


def every_range(d):
    return np.array([(a, b) for a in range(d) for b in range(a, d)]).T


def nodes_of(d, branching):
    """The values below each node, coarsest level first, without the root."""
    nodes, width = [], d // branching
    while width >= 1:
        nodes += [range(start, start + width) for start in range(0, d, width)]
        width //= branching
    return nodes


def level_sizes(d, branching):
    sizes = [branching]
    while sizes[-1] < d:
        sizes.append(sizes[-1] * branching)
    return sizes


def report_distribution(x, e, d, branching):
    """One user's report (level, node) with its exact probability."""
    sizes = level_sizes(d, branching)
    return {
        (level, node): F(1, len(sizes)) * F(e if node == x * size // d else 1, e + size - 1)
        for level, size in enumerate(sizes)
        for node in range(size)
    }


def estimate_of(reports, e, d, branching):
    """The node estimates as a sum over users of what each contributes, exact."""
    sizes = level_sizes(d, branching)
    estimates = []
    for level, size in enumerate(sizes):
        own, other = F(e, e + size - 1), F(1, e + size - 1)
        for node in range(size):
            seen = [(y == node) - other for drawn, y in reports if drawn == level]
            estimates.append(len(sizes) * sum(seen, F(0)) / (own - other) / len(reports))
    return estimates


def runs(x, e, d, branching):
    """Every outcome of users who hold the values x: (node estimates, probability)."""
    distributions = [report_distribution(held, e, d, branching).items() for held in x]
    for outcome in product(*distributions):
        mass = math.prod((part[1] for part in outcome), start=F(1))
        yield estimate_of([part[0] for part in outcome], e, d, branching), mass


# ---- the decomposition


@pytest.mark.parametrize("d, branching", TREES)
def test_every_range_is_the_disjoint_union_of_few_nodes(d, branching):
    first, last = every_range(d)
    found = canonical_decomposition(first, last, d=d, branching=branching)
    levels = len(level_sizes(d, branching))
    assert found.shape == (levels + 1, 2, 2, first.size)
    for i, (a, b) in enumerate(zip(first, last, strict=True)):
        supported, used = [], []
        for level in range(levels + 1):
            width = d // branching**level
            used.append(0)
            for start, stop in found[level, :, :, i]:
                assert 0 <= start <= stop <= branching**level
                used[-1] += stop - start
                supported += [
                    v for node in range(start, stop) for v in range(node * width, (node + 1) * width)
                ]
        assert sorted(supported) == list(range(a, b + 1))
        assert max(used) <= 2 * (branching - 1) and sum(used) <= 2 * (branching - 1) * levels


def test_a_decomposition_is_the_smallest():
    """By dynamic programming over all unions of nodes, d = 16."""
    d, nodes = 16, [range(16), *nodes_of(16, 2)]
    first, last = every_range(d)
    found = canonical_decomposition(first, last, d=d)
    used = (found[:, :, 1] - found[:, :, 0]).sum(axis=(0, 1))
    for a, b, count in zip(first, last, used, strict=True):
        fewest = {a: 0}
        for v in range(a, b + 1):
            for node in nodes:
                if node[0] == v and node[-1] <= b and v in fewest:
                    end = node[-1] + 1
                    fewest[end] = min(fewest.get(end, d), fewest[v] + 1)
        assert count == fewest[b + 1]


def test_scalars_and_arrays_agree():
    one = canonical_decomposition(3, 11, d=16)
    many = canonical_decomposition([0, 3], [5, 11], d=16)
    assert np.array_equal(one[..., 0], many[..., 1])
    protocol = RangeQueryProtocol(eps0=1.0, d=16, n=100)
    nodes = np.linspace(0.0, 1.0, 30)
    assert protocol.answer(nodes, 3, 11) == protocol.answer(nodes, [0, 3], [5, 11])[1]
    assert protocol.answer_variance(nodes, 3, 11) == protocol.answer_variance(nodes, [0, 3], [5, 11])[1]
    assert isinstance(protocol.answer(nodes, 3, 11), float)


# ---- estimates: exact moments of few users


@pytest.mark.parametrize("d, branching, x", [(4, 2, (0, 3)), (4, 2, (1, 1)), (4, 4, (2, 0)), (9, 3, (7, 1))])
def test_moments_of_two_users(d, branching, x):
    """Mean and variance of every node and of every range over all outcomes, in exact fractions."""
    protocol = RangeQueryProtocol(eps0=LOG3, d=d, n=2, branching=branching)
    outcomes = list(runs(x, 3, d, branching))
    weight = np.array([float(mass) for _, mass in outcomes])
    estimates = np.array([[float(v) for v in nodes] for nodes, _ in outcomes])
    assert weight.sum() == pytest.approx(1.0)
    frequencies = np.array([sum(v in node for v in x) / 2 for node in nodes_of(d, branching)])
    mean = weight @ estimates
    assert np.allclose(mean, frequencies, atol=1e-12)
    assert np.allclose(protocol.node_variance(frequencies), weight @ (estimates - mean) ** 2, rtol=1e-10)

    first, last = every_range(d)
    answers = np.array([protocol.answer(row, first, last) for row in estimates])
    truth = [sum(a <= v <= b for v in x) / 2 for a, b in zip(first, last, strict=True)]
    assert np.allclose(weight @ answers, truth, atol=1e-12)
    wanted = weight @ (answers - truth) ** 2
    assert np.allclose(protocol.answer_variance(frequencies, first, last), wanted, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("branching", [2, 4, 16])
def test_two_hundred_seeds(branching):
    """Unbiased, with the exact variance, for nodes and ranges; drawn one by one and together."""
    d, n, seeds = 16, 2000, 200
    protocol = RangeQueryProtocol(eps0=1.5, d=d, n=n, branching=branching)
    counts = estimation.zipf_counts(n, d=d)
    data = np.repeat(np.arange(d), counts)
    truth = np.concatenate([counts.reshape(size, -1).sum(axis=1) for size in protocol.sizes]) / n
    first, last = np.array([0, 3, 5, 1, 8]), np.array([6, 12, 5, 14, 15])
    drawn = {
        "run": np.array([protocol.run(data, np.random.default_rng(seed)).value for seed in range(seeds)]),
        "repeat": protocol.repeat(data, seeds, np.random.default_rng(9)),
    }
    wanted = np.array([data[(data >= a) & (data <= b)].size / n for a, b in zip(first, last, strict=True)])
    variance = protocol.answer_variance(truth, first, last)
    for estimates in drawn.values():
        assert np.all(
            np.abs(estimates.mean(axis=0) - truth) < 4.5 * np.sqrt(protocol.node_variance(truth) / seeds)
        )
        answers = np.array([protocol.answer(row, first, last) for row in estimates])
        assert np.all(np.abs(answers.mean(axis=0) - wanted) < 4.5 * np.sqrt(variance / seeds))
        # a sample variance of 200 normal draws is within 4.5 standard deviations, sqrt(2/199) each
        assert np.all(np.abs(answers.var(axis=0, ddof=1) / variance - 1.0) < 4.5 * math.sqrt(2 / (seeds - 1)))


# ---- the certificate


def test_the_certificate_is_the_mixtures():
    protocol = RangeQueryProtocol(eps0=1.0, d=64, n=10_000, delta=1e-6)
    levels = [randomizers.generalized_rr(eps0=1.0, d=2**h) for h in range(1, 7)]
    wanted = shuffle(randomizers.mixture(levels, [1 / 6] * 6), n=10_000).epsilon(1e-6)
    result = protocol.run(np.zeros(10_000, int), np.random.default_rng(0))
    for got in (protocol.epsilon, result.epsilon):
        assert (got.lower, got.upper) == (wanted.lower, wanted.upper)
    assert result.delta == 1e-6 and 0.0245 < got.lower < got.upper < 0.0265


def test_data_and_estimates_refuse():
    protocol, rng = RangeQueryProtocol(eps0=1.0, d=8, n=3), np.random.default_rng(0)
    for data in ([0, 1], [0, 1, 8], [0, 1, -1], [0, 1, 0.5], ["0", "1", "2"], [], [[0, 1, 2]]):
        with pytest.raises((TypeError, ValueError), match="data"):
            protocol.run(data, rng)
    for change, match in (({"repetitions": 0}, "repetitions"), ({"rng": 1}, "Generator")):
        with pytest.raises((TypeError, ValueError), match=match):
            protocol.repeat([0, 1, 2], **{"repetitions": 2, "rng": rng, **change})
    for nodes in (np.zeros(13), np.full(14, math.nan), "nodes", []):
        with pytest.raises((TypeError, ValueError), match="nodes"):
            protocol.answer(nodes, 0, 1)
    for frequencies in (np.full(14, 1.1), np.full(14, -0.1)):
        with pytest.raises(ValueError, match="frequencies"):
            protocol.node_variance(frequencies)

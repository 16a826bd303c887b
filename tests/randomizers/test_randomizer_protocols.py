"""Running a randomizer: reports follow their distribution, and what is estimated from them is unbiased."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from goodness_of_fit import p_value
from oracles.populations import ESTIMATED, population
from oracles.small_domains import E0, FINITE
from shufflelib import randomizers, shuffle
from shufflelib.randomizers import hashing


def as_number(digits, base):
    return (np.asarray(digits) * base ** np.arange(np.shape(digits)[1])[::-1]).sum(axis=1)


def subset_index(reports, d, k):
    lookup = {c: i for i, c in enumerate(combinations(range(d), k))}
    return np.array([lookup[tuple(row)] for row in reports.tolist()])


SIGN_COLUMN = {1: 0, -1: 1, 0: 2}
PAIRS_OF_FOUR = {pair: i for i, pair in enumerate(combinations(range(4), 2))}
SAMPLED = {  # mechanism in FINITE: (one input, its row in the matrix, report -> output's column)
    "binary_rr": (1, 1, lambda r: r),
    "grr5": (3, 3, lambda r: r),
    "rappor3": (1, 1, lambda r: as_number(r, 2)),
    "oue5": (0, 0, lambda r: as_number(r, 2)),
    "sampled_rappor4": ((0, 2), 1, lambda r: as_number(r, 2)),
    "dbitflip4": (1, 1, lambda r: 4 * subset_index(r[:, :2], 4, 2) + 2 * r[:, 2] + r[:, 3]),
    "subset5": (2, 2, lambda r: subset_index(r, 5, 2)),
    "privset6": ((1, 4), 7, lambda r: subset_index(r, 6, 2)),
    "privset7": ((0, 6), 5, lambda r: subset_index(r, 7, 5)),
    "hadamard4": (2, 2, lambda r: r),
    "hadamard9": (8, 8, lambda r: r),
    "blocks3": (4, 4, lambda r: r),
    "blocks2": (5, 5, lambda r: r),
    "pckv3": (([0, 2], [-1.0, 1.0]), 5, lambda r: 2 * r[:, 0] + (r[:, 1] > 0)),
    "privkv4": (
        ([1, 3], [1.0, -1.0]),
        18,
        lambda r: 3 * r[:, 0] + np.array([SIGN_COLUMN[v] for v in r[:, 1]]),
    ),
    "duchi1": (1.0, 1, lambda r: (r + 1) // 2),
    "duchi4": ((1.0, -1.0, -1.0, 1.0), 9, lambda r: as_number((r + 1) // 2, 2)),
    "duchi3": ((0.0, 0.0, 0.0), 8, lambda r: as_number((r + 1) // 2, 2)),
    "harmony2": ((-1.0, 1.0), 1, lambda r: 2 * r[:, 0] + (r[:, 1] < 0)),
}


def repeated(x, n):
    if isinstance(x, tuple) and isinstance(x[0], list):
        return tuple(np.tile(part, (n, 1)) for part in x)
    return np.tile(x, (n, 1)) if isinstance(x, tuple) else np.full(n, x)


@pytest.mark.parametrize("name", SAMPLED)
def test_reports_follow_the_oracle(name):
    mechanism, matrix = FINITE[name]
    x, row, column = SAMPLED[name]
    reports = mechanism.sample(repeated(x, 20_000), np.random.default_rng(5))
    observed = np.bincount(column(reports), minlength=matrix.shape[1])
    assert p_value(observed, matrix[row]) > 1e-4


@pytest.mark.parametrize("mechanism", [
    randomizers.local_hash(eps0=E0, d=6),
    randomizers.collision(eps0=E0, d=6, s=2, l=5),
    randomizers.wheel(eps0=E0, d=6, s=1, arc=0.3),
    randomizers.wheel(eps0=E0, d=6, s=2),
    randomizers.wheel(eps0=E0, d=6, s=2, arc=0.3),
], ids=repr)  # fmt: skip
def test_hashed_reports_hit_with_the_right_probabilities(mechanism):
    n, s = 40_000, mechanism.s
    x = (
        np.full(n, 3)
        if isinstance(mechanism, type(randomizers.local_hash(eps0=1.0, d=2)))
        else np.tile([3, 5][:s], (n, 1))
    )
    reports = mechanism.sample(x, np.random.default_rng(8))
    item = np.arange(6)[:, None]
    hit = mechanism._hits(hashing.item_hash(reports["seed"], item), reports["value"])
    held = hit[[3, 5][:s]].any(axis=0)
    other = hit[[0, 1][:s]].any(axis=0)
    observed = np.bincount(2 * held + other, minlength=4)
    free = 1 - (1 - mechanism.chance) ** s
    inside = free * 3 / (3 * s * mechanism.chance + 1 - s * mechanism.chance)
    distribution = np.outer([1 - inside, inside], [1 - free, free]).ravel()
    assert p_value(observed, distribution) > 1e-4


def test_piecewise_and_noise_follow_their_density():
    rng, n = np.random.default_rng(2), 20_000
    for mechanism, x, reach in [
        (randomizers.piecewise(eps0=1.5), 0.4, randomizers.piecewise(eps0=1.5).C),
        (randomizers.laplace(eps0=2.0), 0.3, 30.0),
        (randomizers.gaussian(sigma=0.7), 1, 30.0),
    ]:
        fine = np.linspace(-reach, reach, 60 * 1000 + 1)
        distribution = mechanism.density((fine[1:] + fine[:-1]) / 2, x).reshape(60, 1000).sum(axis=1)
        counts = np.histogram(mechanism.sample(np.full(n, x), rng), fine[::1000])[0]
        assert counts.sum() == n
        assert p_value(counts, distribution) > 1e-4


@pytest.mark.parametrize("mechanism", ESTIMATED, ids=repr)
def test_estimate_is_unbiased(mechanism):
    rng, errors = np.random.default_rng(11), []
    for _ in range(24):
        x, truth = population(mechanism, rng, 1500)
        errors.append(np.array(mechanism.estimate(rng.permutation(mechanism.sample(x, rng)))) - truth)
    assert np.shape(errors[0]) == np.shape(truth)
    errors = np.array(errors)
    standard = errors.std(axis=0, ddof=1) / sqrt(len(errors))
    assert (np.abs(errors.mean(axis=0)) < 5 * standard).all()
    assert (standard < 0.5).all()


def test_generic_has_no_protocol():
    mechanism = randomizers.generic(eps0=1.0)
    with pytest.raises(TypeError, match="generic.*binary_rr"):
        mechanism.sample([0, 1], np.random.default_rng(0))
    with pytest.raises(TypeError, match="generic.*binary_rr"):
        mechanism.estimate([0, 1])


def test_words_are_mixed_as_by_splitmix64():
    """Steele, Lea and Flood's generator, whose first words from the seeds 0 and 1234567 are published."""
    for seed, words in (
        (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]),
        (1234567, [6457827717110365317, 3203168211198807973, 9817491932198370423]),
    ):
        state = (seed + np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
        assert hashing._mix(state).tolist() == words


@pytest.mark.parametrize("build", [randomizers.rappor, randomizers.optimized_unary])
def test_the_mean_estimate_of_all_bit_vectors_is_what_is_held(build):
    one = build(eps0=1.0, d=3)
    vectors = np.arange(8)[:, None] >> np.arange(3) & 1
    estimates = np.array([one.estimate(vector[None, :]) for vector in vectors])
    np.testing.assert_allclose(one.pmf() @ estimates, np.eye(3), atol=1e-12)


def test_a_hierarchy_of_one_coin_is_binary_response():
    hierarchy, coin = randomizers.hierarchical(eps0=1.0, d=2), randomizers.binary_rr(eps0=1.0)
    found, exact = (shuffle(one, 1000).epsilon(1e-6) for one in (hierarchy, coin))
    assert (found.lower, found.upper) == (exact.lower, exact.upper)

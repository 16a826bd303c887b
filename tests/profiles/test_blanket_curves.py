"""Whole curves of a pair of blankets: each value is that of its ε alone, and right to 60 digits."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from oracles import neighbours
from shufflelib import randomizers
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.shuffling import shuffle

FEW = [
    randomizers.binary_rr(eps0=1.0),
    randomizers.generic(eps0=2.0),
    randomizers.generalized_rr(eps0=4.0, d=4),
    randomizers.subset(eps0=2.0, d=16, k=4),
]
MANY = [randomizers.laplace(eps0=1.0), randomizers.gaussian(sigma=1.0)]


def pairs(randomizer, n):
    profile = shuffle(randomizer, n)
    return profile.dominating_pairs[0], profile.attack_pairs[0]


def grid(pair, size):
    """Return ε from 0 to where δ is about 1e-15, and some beyond, in no order."""
    last = 1e-6
    while pair.log_hockey_stick(last, 1e-2).upper > -35.0 and last < 50.0:
        last *= 1.5
    eps = np.append(np.linspace(0.0, last, size), [2.0 * last, 60.0, 639.0, 700.0])
    return np.random.default_rng(1).permutation(eps)


@pytest.mark.parametrize("n", [1, 2, 30, 1000, 10**5, 10**9])
@pytest.mark.parametrize("randomizer", FEW + MANY[:1], ids=repr)
def test_a_value_is_that_of_its_eps_alone(randomizer, n):
    for pair in pairs(randomizer, n):
        eps = grid(pair, 6)
        many, half = pair.log_hockey_stick(eps), pair.log_hockey_stick(eps[::2])
        assert np.array_equal(np.array(half), np.array(many)[:, ::2])
        for k, x in enumerate(eps.tolist()):
            assert pair.log_hockey_stick(x) == (many.lower[k], many.upper[k])


@pytest.mark.parametrize("n", [1, 2, 30, 1000, 10**5, 10**9])
def test_a_curve_beside_others_is_the_one_it_is_alone(n):
    """Atoms of no mass that fill up columns change no bit."""
    every = [pair for randomizer in FEW + MANY[:1] for pair in pairs(randomizer, n)]
    asked = [(pair, grid(pair, 3)) for pair in every if type(pair) is BlanketPair]
    assert len({pair.ratios.w.size for pair, _ in asked}) > 2
    for (pair, eps), found in zip(asked, BlanketPair.log_curves(asked), strict=True):
        assert np.array_equal(np.array(found), np.array(pair.log_hockey_stick(eps)))


def test_a_value_of_heavy_tails_is_that_of_its_eps_alone():
    for pair in pairs(MANY[1], 10**4):
        eps = grid(pair, 3)
        many = pair.log_hockey_stick(eps, 1e-4)
        assert [pair.log_hockey_stick(x, 1e-4) for x in eps.tolist()] == list(zip(*many, strict=True))


def drawn(rng):
    """Draw two reports and what others report, on few outputs, over several decades, and n."""
    outputs = int(rng.integers(2, 5))
    rows = [[F(int(10 ** rng.uniform(0.0, 4.0))) for _ in range(outputs)] for _ in range(3)]
    first, second, others = ([x / sum(row) for x in row] for row in rows)
    if rng.random() < 0.5:
        others = [min(x, y) * F(3, 4) for x, y in zip(first, second, strict=True)]  # a blanket
    return (first, second, others), int(rng.integers(2, {2: 20, 3: 8, 4: 6}[outputs]))


@pytest.mark.parametrize("by", ["a list", "an integral"])
@pytest.mark.parametrize("seed", range(20))
def test_a_curve_encloses_the_exact_one(seed, by):
    """At nine ε each, kinks of the curve among them."""
    rng = np.random.default_rng(seed)
    parts, n = drawn(rng)
    pair = BlanketPair(LikelihoodRatios.from_masses(*(np.array(part, float) for part in parts)), n)
    if by == "an integral":
        pair.__dict__["_list"] = None
    sums = neighbours.sums_under_a_reference_measure(*parts, n)
    with mpmath.workdps(60):
        sums = [
            tuple(mpmath.mpf(x.numerator) / x.denominator for x in (a, b, p)) for (a, b), p in sums.items()
        ]
        kinks = [float(mpmath.log(a / b)) for a, b, _ in sums if a > b > 0] or [0.5]
        eps = np.append(rng.uniform(0.0, max(kinks), 6), rng.choice(kinks, 3))
        found = pair.log_hockey_stick(eps, 1e-6 if by == "a list" else 1e-2)
        for x, lower, upper in zip(eps.tolist(), *found, strict=True):
            ratio = mpmath.exp(mpmath.mpf(x))
            truth = sum(p * max(a - ratio * b, 0) for a, b, p in sums) / n
            log_truth = mpmath.log(truth) if truth else -mpmath.inf
            assert lower <= log_truth <= upper
            # where hardly a sum has a gain all is rounding, and two summands are smoothed too much
            assert by == "an integral" or log_truth < -20.0 or upper - lower < 1e-8


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("others", ["one value", "a blanket"])
def test_outputs_split_off_leave_the_exact_curve_enclosed(n, others):
    """Normal masses in fractions, whose most informative outputs hardly any user reports."""
    at = np.arange(-6, 7)
    first, second = ([F(float(x)) for x in np.exp(-0.5 * (at - mean) ** 2)] for mean in (1, 0))
    first, second = ([x / sum(row) for x in row] for row in (first, second))
    rest = second if others == "one value" else [min(x, y) for x, y in zip(first, second, strict=True)]
    parts = first, second, rest
    pair = BlanketPair(LikelihoodRatios.from_masses(*(np.array(part, float) for part in parts)), n)
    pair.__dict__["_list"] = None
    eps = np.linspace(0.0, 5.0, 21)
    sums = neighbours.sums_under_a_reference_measure(*parts, n)
    a, b, p = np.array([(*map(float, ends), float(p)) for ends, p in sums.items()]).T
    truth = np.array([math.fsum(p * np.maximum(a - math.exp(x) * b, 0.0)) / n for x in eps])
    lower, upper = (np.exp(end) for end in pair.log_hockey_stick(eps))
    assert np.all(lower <= truth * (1.0 + 1e-9)) and np.all(truth * (1.0 - 1e-9) <= upper)
    assert np.all(upper < 1.8 * truth)


@pytest.mark.parametrize(("sigma", "n", "eps"), [(0.375, 91, 9.5), (0.32, 88, 12.0), (1.6, 11, 2.6)])
def test_delta_of_gaussian_noise_among_few_users_falls_with_eps(sigma, n, eps):
    """Whatever is split off: in 2.0.0 δ(10) of 91 users was three times δ(9.8)."""
    found = shuffle(randomizers.gaussian(sigma=sigma), n).delta(eps * np.linspace(1.0, 1.1, 6))
    assert np.all(np.diff(found.upper) < 0.0) and np.all(np.diff(found.lower) < 0.0)


def test_delta_of_gaussian_noise_among_few_users_is_known():
    assert shuffle(randomizers.gaussian(sigma=0.375), 91).delta(10.0).width < 4.0


@pytest.mark.parametrize("n", [1, 20, 10**6])
def test_hostile_eps(n):
    for pair in pairs(FEW[1], n):
        none = pair.log_hockey_stick(np.zeros(0))
        assert none.lower.shape == none.upper.shape == (0,)
        eps = np.array([[0.0, 5e-324, 1e-300], [pair.max_privacy_loss, 1e3, 1e300]])
        found = pair.log_hockey_stick(eps)
        assert found.lower.shape == found.upper.shape == (2, 3)
        assert np.all(found.lower <= found.upper) and np.all(found.upper <= 0.0)
        assert np.all(found.upper[1] == -math.inf)
        assert abs(found.upper[0, 1] - found.upper[0, 0]) < 1e-5


def test_a_curve_of_many_values_is_computed_in_parts():
    """Ten thousand values, of which each part holds some thousand, agree with those of a coarser grid."""
    pair = pairs(FEW[1], 10**6)[0]
    eps = np.linspace(0.0, 0.01, 10_001)
    fine, coarse = pair.log_hockey_stick(eps, 1e-4), pair.log_hockey_stick(eps[::500], 1e-4)
    assert np.array_equal(np.array(fine)[:, ::500], np.array(coarse))
    assert np.all(np.diff(fine.upper) < 1e-4)

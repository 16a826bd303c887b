"""Brackets are as narrow as docstrings say: one row for each promise, on a grid of settings."""

import numpy as np
import pytest

from shufflelib import randomizers, sgd, shuffle
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.sgd import accounting
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair


def width(bracket):
    """Return upper − lower relative to the lower end."""
    return bracket.upper / bracket.lower - 1.0


# ---------------------------------------------------------------- WorstPopulation


@pytest.mark.parametrize("n", [2, 30, 1000, 2001, 10**6, 10**8, 10**12, 10**15])
@pytest.mark.parametrize("eps0", [0.01, 1.0, 8.0])
def test_worst_population_epsilon_to_a_millionth_up_to_half_of_delta_at_zero(eps0, n):
    profile = shuffle(randomizers.binary_rr(eps0=eps0), n=n)
    largest = profile.delta(0.0).lower
    promised = (1e-12, 1e-6, 0.1 * largest, 0.5 * largest)
    for delta in promised if n <= 10**12 else promised[:2]:
        if 1e-12 <= delta <= 0.5 * largest:
            assert width(profile.epsilon(delta)) <= 1e-6, delta


# ---------------------------------------------------------------- ComposedPair

MANY_LOSSES = {
    "Gaussian, mu = 0.05": lambda: Gaussian(0.05),
    "Gaussian, mu = 0.3": lambda: Gaussian(0.3),
    "generic, eps0 = 1, n = 1000": lambda: shuffle(randomizers.generic(eps0=1.0), n=1000).dominating_pairs[0],
    "published, n = 1000": lambda: VariationRatioPair(n=1000, p=3.0, beta=0.3, q0=3.0),
}


@pytest.mark.parametrize("rounds", [2, 100, 10**4])
@pytest.mark.parametrize("name", MANY_LOSSES)
def test_composed_pairs_with_many_losses(name, rounds):
    """δ to 0.6 %, ε to 0.04 %."""
    composed = MANY_LOSSES[name]().compose(rounds=rounds)
    for delta in (1e-3, 1e-9):
        if delta <= 0.5 * composed.delta(0.0).lower:
            eps = composed.epsilon(delta)
            assert width(eps) <= 4e-4
            assert width(composed.delta(eps.lower)) <= 6e-3


def test_composed_pairs_with_few_losses_are_as_wide_as_stated():
    three = DiscretePair(np.log([0.9, 0.09, 0.01]), np.log([0.5, 0.3, 0.2])).compose(rounds=30)
    assert 0.01 < width(three.delta(57.67)) < 0.07
    two = DiscretePair(np.log([0.75, 0.25]), np.log([0.25, 0.75])).compose(rounds=2)
    assert 0.01 < width(two.epsilon(1e-6)) < 0.05


# ---------------------------------------------------------------- blocks drawn anew


@pytest.mark.parametrize(("sigma", "blocks"), [(1.0, 10_000), (10.0, 1000)])
def test_random_allocation_to_two_and_a_half_per_cent(sigma, blocks):
    reports = sgd.AllocatedBlocks(noise_multiplier=sigma, clip=1.0, blocks=blocks, block_size=1)
    for epochs in (1, 10, 100):
        assert width(accounting.one_example(reports, epochs=epochs).epsilon(1e-5)) <= 0.025


# ---------------------------------------------------------------- PersonalizedPair, VariationRatioPair


SLOTS = {
    "two kinds": ([1.0] * 900 + [2.0] * 100, 2e-6),
    "eight kinds": (np.repeat(np.linspace(0.1, 2.0, 8), 25), 2e-6),
    "thirty kinds": (np.repeat(np.linspace(0.1, 2.0, 30), 100), 1e-4),
    "3000 kinds": (np.linspace(0.1, 1.0, 3000), 1e-4),
}


@pytest.mark.parametrize("name", SLOTS)
def test_slots(name):
    budgets, most = SLOTS[name]
    pair = PersonalizedPair(budgets)
    for delta in (1e-3, 1e-6, 1e-9):
        assert width(pair.delta(pair.epsilon(delta).lower)) <= most


PUBLISHED = {
    "generic": {"p": np.e, "beta": (np.e - 1.0) / (np.e + 1.0), "q0": np.e},
    "ten options": {"p": np.e, "beta": (np.e - 1.0) / (np.e + 9.0), "q0": np.e},
    "unequal": {"p": 3.0, "beta": 0.2, "q0": 3.0, "q1": 9.0},
}


@pytest.mark.parametrize(("n", "most"), [(600, 2e-9), (10**4, 2e-9), (10**6, 4e-9), (10**9, 1e-7)])
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_pairs(name, n, most):
    pair = VariationRatioPair(n=n, **PUBLISHED[name])
    for delta in (1e-6, 1e-12):
        assert width(pair.epsilon(delta)) <= most

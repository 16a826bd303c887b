"""What every number says about its datasets, and what goes wrong on datasets that it does not cover.

Each profile names its adjacency relation and its assumptions.  The witnesses are explicit datasets outside of
the relation, or outside of a hypothesis, on which the certified upper bound would be false.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom, laplace

from shufflelib import Certified, Status, aggregate, randomizers, sgd, shuffle
from shufflelib.profiles import DiscretePair, Gaussian, compose
from shufflelib.profiles.adjacency import NO_DATASETS
from shufflelib.shuffling import (
    PersonalizedPair,
    VariationRatioPair,
    WorstPopulation,
    multi_message,
    personal,
)

BINARY = randomizers.binary_rr(eps0=1.0)
BITS = randomizers.unary(d=6, h=2, p=0.2, q=0.7)
NEAR = randomizers.metric_laplace(d01=0.1, dmax=2.0)
EVERY = randomizers.metric_generic(d01=0.1, dmax=2.0)
HAT = randomizers.witch_hat(d01=1.0, dmax=2.0, brim=3.0, height=1.0)
DENSITY = randomizers.from_density(
    lambda y, x: laplace.cdf(y - x),
    inputs=[0.0, 1.0],
    edges=[-np.inf, *np.linspace(-4.0, 5.0, 37), np.inf],
    slope=2.0,
    survival=lambda y, x: laplace.sf(y - x),
    eps0=1.0,
)
TUPLE = randomizers.joint([BINARY] * 3, distance=1)
MOVE = "one user's value moves by at most 0.1 nats, and every other user's value is within 2 nats"
ANY = "replace one user's value, whatever the other users hold"

# name: profile, words of its relation, whether that covers replacing a value by any other user's
MECHANISMS = {
    "finite": (shuffle(randomizers.generalized_rr(eps0=1.0, d=5), n=3), ANY, True),
    "binary": (shuffle(BINARY, n=3), ANY, True),
    "density": (shuffle(DENSITY, n=3), "all values are among the 2 inputs listed", True),
    "Gaussian noise": (shuffle(randomizers.gaussian(sigma=2.0), n=3), ANY, True),
    "metric": (shuffle(NEAR, n=3), MOVE, False),
    "every metric one": (shuffle(EVERY, n=3), "by at most 0.1 nats", False),
    "long moves": (shuffle(randomizers.metric_laplace(d01=2.0, dmax=2.0), n=2), "exactly 2 nats", False),
    "planar": (shuffle(randomizers.planar_laplace(d01=1.0, dmax=2.0), n=2), "exactly 1 nats", False),
    "hat": (shuffle(HAT, n=2), "exactly 1 nats", False),
    "tuple, one differs": (shuffle(TUPLE, n=2), "at most 1 of the 3 components", False),
    "tuple": (shuffle(randomizers.joint([BINARY] * 3), n=2), "one user's tuple of 3 values", True),
    "mixture": (shuffle(randomizers.mixture([BINARY, NEAR], [0.5, 0.5]), n=2), MOVE, False),
    "Poisson": (shuffle(randomizers.poisson_sampled(NEAR, rate=0.5), n=3), MOVE, False),
    "subsampled": (shuffle(BINARY, n=3).subsample(rate=0.1), ANY, True),
    "composed": (shuffle(EVERY, n=3).compose(rounds=4), "by at most 0.1 nats", False),
    "unequal rounds": (compose([shuffle(BINARY, n=3), shuffle(EVERY, n=3)]), "in each round", False),
    "group": (shuffle(BINARY, n=3).group(2), "for up to 2 users, one after the other", False),
    "worst population": (WorstPopulation(eps0=1.0, n=3), ANY, True),
    "slots": (PersonalizedPair([0.5, 1.0, 1.0]), ANY, True),
    "adaptive slots": (PersonalizedPair.adaptive([0.5, 1.0, 1.0]), ANY, True),
    "their own budgets": (personal.PersonalRandomizedResponse([0.5, 1.0, 1.0], d=2), ANY, True),
    "messages": (
        multi_message.shuffle_messages(randomizers.balls_into_bins(d=4), n=3, dummy_messages=50),
        ANY,
        True,
    ),
    "sums": (aggregate(BITS, n=3), "with 2 ones by another, whatever such vectors", True),
    "sums, few changes": (aggregate(BITS, n=3, changed=2), "at most 2 coordinates", False),
    "sums, one bit": (aggregate(BITS, n=3, neighbours="coordinate"), "change one coordinate", False),
    "sums, zero": (aggregate(BITS, n=3, neighbours="zero"), "with 2 ones by zeros", False),
    "one example": (
        sgd.accounting.one_example(
            sgd.LaplaceBlocks(eps0=1.0, clip=1.0, blocks=3, block_size=1), epochs=2
        ),
        "replace one",
        True,
    ),
}  # fmt: skip
PAIRS = {
    "discrete": DiscretePair(np.log([0.5, 0.5]), np.log([0.1, 0.9])),
    "Gaussian": Gaussian(mu=1.0),
    "variation-ratio": VariationRatioPair.of(BINARY, n=10),
    "composed": Gaussian(mu=1.0).compose(rounds=3),
    "subsampled": Gaussian(mu=1.0).subsample(rate=0.1),
}


@pytest.mark.parametrize(("profile", "words", "any_value"), MECHANISMS.values(), ids=MECHANISMS)
def test_each_mechanism_names_its_neighbours(profile, words, any_value):
    relation = profile.adjacency
    assert relation != NO_DATASETS
    assert words in str(relation) and relation.any_value is any_value


@pytest.mark.parametrize("profile", [case[0] for case in MECHANISMS.values()], ids=MECHANISMS)
def test_each_mechanism_says_what_it_assumes(profile):
    said = "; ".join(profile.assumptions)
    assert "not depend on the" in said and "independent randomness" in said
    assert len(set(profile.assumptions)) == len(profile.assumptions)
    assert "trusted" in said or "example" in str(profile.adjacency)
    asked = {"user": 0} if hasattr(profile, "epsilons") else {}
    assert f"{profile.adjacency}" in profile.delta(eps=0.1, **asked).source or asked


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_a_pair_of_distributions_says_nothing_about_datasets(pair):
    assert pair.adjacency == NO_DATASETS and pair.assumptions == ()
    assert "neighbours" not in pair.delta(eps=0.1).source


# ---- witnesses: where a relation or a hypothesis fails, so does the number


def count_delta(n, other, first, second, eps):
    """Return δ of the number of reports in a set: chances of the others' reports and of the changing one."""
    distribution = binom.pmf(np.arange(-1, n), n - 1, other)
    p, q = (own * distribution[:-1] + (1 - own) * distribution[1:] for own in (first, second))
    return max(np.maximum(a - math.exp(eps) * b, 0.0).sum() for a, b in ((p, q), (q, p)))


def laplace_above(place, threshold):
    gap = threshold - place
    return 0.5 * math.exp(-gap) if gap >= 0 else 1.0 - 0.5 * math.exp(gap)


def test_metric_numbers_hold_for_short_moves_among_near_users_only():
    eps = shuffle(NEAR, n=1000).epsilon(1e-6).upper
    assert eps < 0.0275
    jump = [laplace_above(place, 1.0) for place in (0.0, -1.9, 2.0)]
    assert count_delta(1000, *jump, eps) > 0.0135  # replace -1.9 by 2.0, all others at 0
    alone = [laplace_above(place, 0.05) for place in (20.0, 0.0, 0.1)]
    assert count_delta(1000, *alone, eps) > 0.035  # move by 0.1, all others at 20
    inside = [laplace_above(place, 0.05) for place in (0.0, 0.0, 0.1)]
    assert count_delta(1000, *inside, eps) < 1e-6


def test_a_sample_may_put_anybody_in_the_place_of_a_user():
    """One of two users is drawn and reports; the other is infinitely far away."""
    rate, eps = 0.5, 0.5
    truth = rate * count_delta(1, 0.0, laplace_above(0.0, 0.5), laplace_above(1.0, 0.5), eps)
    alone = shuffle(randomizers.metric_laplace(d01=1.0, dmax=1.0), n=1)
    assert alone.subsample(rate=rate).delta(eps).upper < 0.6 * truth  # with the other one at the same places
    for randomizer in (randomizers.metric_laplace(d01=1.0, dmax=2.0), HAT, TUPLE):
        with pytest.raises(ValueError, match="profile must cover .*; use d01 = dmax"):
            shuffle(randomizer, n=10).subsample(rate=0.1)
        with pytest.raises(ValueError, match="profile must cover"):
            shuffle(randomizer, n=10).compose(rounds=3).subsample(rate=0.1)


@pytest.mark.parametrize("mechanism", (NEAR, randomizers.planar_laplace(d01=0.5, dmax=2.0)))
def test_places_too_far_apart_are_refused(mechanism):
    planar = mechanism is not NEAR
    for far in (20.0, 1.5):
        x = np.array([-0.6, 0.0, far])
        with pytest.raises(ValueError, match="x must"):
            mechanism.sample(np.column_stack([x, 0.0 * x]) if planar else x, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    place = np.linspace(-0.5, 1.4, 3000)
    place = np.column_stack([place, 0.01 * rng.random(3000)]) if planar else place
    assert len(mechanism.sample(place, rng)) == 3000
    x = place.copy()
    x[0] -= 0.15 * (np.array([1.0, 0.0]) if planar else 1.0)
    with pytest.raises(ValueError, match="of each other"):
        mechanism.sample(x, rng)


# ---- trivial ends


@pytest.mark.parametrize(
    ("lower", "upper", "limits", "status"),
    (
        (0.0, 0.5, {}, Status.TRIVIAL_LOWER),
        (0.0, 0.0, {}, Status.CERTIFIED),
        (0.1, 1.0, {"ceiling": 1.0}, Status.TRIVIAL_UPPER),
        (1.0 - 1e-9, 1.0, {"ceiling": 1.0}, Status.CERTIFIED),
        (0.0, 1.0, {"ceiling": 1.0}, Status.TRIVIAL),
        (0.2, 0.3, {"floor": 0.2}, Status.TRIVIAL_LOWER),
        ([0.1, 0.0], [0.2, 0.2], {}, Status.TRIVIAL_LOWER),
        (0.0, math.inf, {}, Status.UNBOUNDED),
    ),
)
def test_the_rule_for_trivial_ends(lower, upper, limits, status):
    assert Status.of(lower, upper, **limits) is status
    if not limits:
        assert Certified(lower, upper).status is status

"""What drawing has found before stays right: each question is asked of a branch that still exists."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shufflelib import profiles, randomizers, sgd
from shufflelib.profiles import DiscretePair, compose
from shufflelib.published import central_limit, joint_concavity, renyi
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair, shuffle


def revealing(log_chance):
    """Return the pair of which P alone has an outcome, with this probability."""
    return DiscretePair([log_chance, math.log1p(-math.exp(log_chance))], [-math.inf, 0.0])


def telling_response(rare):
    """Randomized response at budget 1 that reveals the input, at odds of e³, with probability ``rare``."""
    likely, other = 1.0 / (1.0 + math.exp(-1.0)), 1.0 / (1.0 + math.exp(1.0))
    p = [likely * (1.0 - rare), other * (1.0 - rare), rare]
    rare *= math.exp(-3.0)
    return DiscretePair(np.log(p), np.log([other * (1.0 - rare), likely * (1.0 - rare), rare]))


def hardly_sent(rate):
    once = randomizers.poisson_sampled(randomizers.gaussian(sigma=1.0), rate=rate)
    return randomizers.poisson_sampled(once, rate=rate)


def mostly_silent(share):
    parts = [randomizers.generalized_rr(eps0=eps0, d=3) for eps0 in (2.0, 1e-3)]
    return randomizers.mixture(parts, [share, 1 - share])


MANY_ROUNDS = [revealing(-520.0)] + [revealing(-550.6 - 1e-6 * i) for i in range(300)]
FOUND = {  # the bracket, the number in it, and how much wider, relatively, it may be
    "knots beyond the largest exponent": (
        lambda: shuffle(randomizers.gaussian(sigma=0.05), n=1).tradeoff(0.0),
        1.0,
        1e-9,
    ),
    "equal distributions": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).tradeoff(0.25),
        0.75,
        1e-9,
    ),
    "equal distributions, composed": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).compose(rounds=3).tradeoff(0.25),
        0.75,
        1e-9,
    ),
    "a report that reveals everything, n = 1097": (
        lambda: renyi.binary_rr_pair(eps0=340.0, n=1097).delta(0.0),
        1.0,
        1e-9,
    ),
    "places beside each other, nothing left between the cells": (
        lambda: shuffle(randomizers.planar_laplace(d01=1e-9, dmax=4.139937718785167e-08), n=1).delta(0.0),
        1e-9 / math.pi,
        0.2,
    ),
    "places a hundred apart": (
        lambda: shuffle(randomizers.metric_laplace(d01=100.0, dmax=100.0), n=10).delta(0.0),
        1.0,
        1e-9,
    ),
    "a density whose square is no float": (
        lambda: VariationRatioPair(n=1097, p=2.0, beta=1 / 3, q0=3e154).renyi(2.0),
        math.log(1.5),
        1e-3,
    ),
    "two rounds with a rare and revealing outcome": (
        lambda: telling_response(1e-6).compose(rounds=2).delta(3.5),
        5.752977732e-7,
        1e-5,
    ),
    "rounds that rarely reveal the input": (
        lambda: revealing(-50.0).compose(rounds=1000).delta(0.1),
        -math.expm1(-1000.0 * math.exp(-50.0)),
        1e-3,
    ),
    "rounds that rarely reveal the input, at a large epsilon": (
        lambda: (
            DiscretePair(
                [math.log(0.75) + math.log1p(-1e-7), math.log(0.25) + math.log1p(-1e-7), math.log(1e-7)],
                [math.log(0.25), math.log(0.75), -math.inf],
            )
            .compose(rounds=1000)
            .delta(2000.0)
        ),
        -math.expm1(1000.0 * math.log1p(-1e-7)),
        1e-3,
    ),
    "many rounds of outcomes rarer and rarer": (
        lambda: compose(MANY_ROUNDS).delta(0.0),
        1.46848464693212961e-226,
        1e-10,
    ),
    "knots of which two are one float apart": (
        lambda: (
            DiscretePair(
                [-0.4795122190439545, -0.9651798257939268, -18.580707235986274],
                [-5.78362273138337e-07, -14.363065683658029, -45.2966427079161],
            )
            .compose(rounds=3)
            .epsilon(1e-9)
        ),
        53.1975424,
        1e-6,
    ),
    "two budgets of a millionth": (
        lambda: PersonalizedPair([1e-6, 2e-6], counts=[500, 500]).delta(0.0),
        1.99467e-8,
        1e-4,
    ),
    "three kinds of slots near the largest budget": (
        lambda: PersonalizedPair([5.07, 5.44, 7.32], counts=[8, 9, 9]).delta(7.3199),
        3.0e-5,
        0.3,
    ),
    "Gaussian reports sent hardly ever": (lambda: shuffle(hardly_sent(1e-9), n=5).renyi(100.0), 49.58, 1.0),
    "joint reports whose revealing outputs are below the floats": (
        lambda: shuffle(randomizers.joint([mostly_silent(1e-120)] * 3), n=1).renyi(1e5),
        5.9917035,  # the largest loss, 6, has a probability of 5e-361
        1.0,
    ),
    "outputs that a value never gives, as others hold it": (
        lambda: shuffle(
            randomizers.from_pmf([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.2, 0.3, 0.5]]), n=1000
        ).epsilon(1e-8),
        math.inf,
        1.0,
    ),
    "joint reports whose inputs differ in the eighth digit": (
        lambda: shuffle(randomizers.joint([randomizers.binary_rr(eps0=4.14e-8)] * 2), n=1).delta(0.0),
        2.07e-8,
        3.0,
    ),
    "a finer tolerance that is all rounding": (
        lambda: shuffle(randomizers.gaussian(sigma=1228.8), n=14_313_622_097_570).epsilon(1e-12),
        4.62e-10,
        0.1,
    ),
    "a part of a distribution, hardly smaller": (
        lambda: revealing(math.log(1e-20)).reversed.subsample(rate=0.5).renyi(2.0),
        5e-21,
        1e-3,
    ),
    "distributions swapped hardly ever": (
        lambda: joint_concavity.symmetric_mixture(profiles.ApproximateDP(eps=0.0, delta=1.0), weight=1.4e-16)(
            0.0
        ),
        2.8e-16,
        1e-12,
    ),
    "one report that is hardly ever random": (
        lambda: joint_concavity.shuffle_bound(eps0=30.0, n=1)(0.0),
        2.0 / (1.0 + math.exp(30.0)),
        1e-11,
    ),
    "a curve that starts below 1": (
        lambda: joint_concavity.best_of([profiles.ApproximateDP(eps=0.0, delta=0.5)] * 2).delta(0.0),
        0.5,
        1e-9,
    ),
    "a delta far below the rounding of 1": (
        lambda: joint_concavity.joint_concavity([profiles.GaussianTradeoff(1e-4)], weights=[1.0]).delta(8e-4),
        7.5532831e-21,
        math.inf,
    ),
    "two epochs of a budget of 30": (
        lambda: sgd.accounting.one_example(
            sgd.LaplaceBlocks(eps0=30.0, clip=1.0, blocks=1, block_size=1), epochs=2
        ).delta(0.1),
        1.0,
        1e-3,
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_before_stays_right(name):
    ask, truth, width = FOUND[name]
    bracket = ask()
    assert bracket.lower <= truth <= bracket.upper <= bracket.lower + width * truth, bracket


def test_epsilon_is_answered_where_delta_is_that_of_no_larger_one():
    profile = shuffle(randomizers.subset(eps0=0.006737946999085467, d=16, k=4), n=55)
    delta = 0.00012340980408667956
    assert profile.delta(profile.epsilon(delta).upper).upper <= delta * (1 + 1e-12)


def test_the_budget_of_joint_reports_is_no_smaller_than_the_sum():
    parts = [randomizers.generalized_rr(eps0=0.31, d=3), randomizers.generalized_rr(eps0=1.7, d=4)]
    assert Fraction(randomizers.joint(parts).eps0) >= Fraction(0.31) + Fraction(1.7)


def test_an_epsilon_beyond_the_exponents_is_a_number():
    eps = central_limit.moderate_epsilon(chi=1e-12, n=1, delta=1e-300)
    assert math.isclose(eps, 1e12 * math.sqrt(2.0 * 710.228876), rel_tol=1e-5)


@pytest.mark.parametrize("eps0", 1e-9 * np.geomspace(1.0, 1e6, 41) * math.pi / 3.0)
def test_the_published_pair_of_a_small_budget_is_built_however_exp_rounds(eps0):
    pair = VariationRatioPair.of(randomizers.generic(eps0=eps0), n=50)
    assert math.isclose(pair.beta, math.tanh(0.5 * eps0), rel_tol=1e-12)
    other = renyi.generic_pair(eps0=eps0, n=50).delta(0.0)
    assert pair.delta(0.0).lower <= other.upper and other.lower <= pair.delta(0.0).upper


@pytest.mark.parametrize(
    ("profile", "delta"),
    [
        (lambda: shuffle(randomizers.gaussian(sigma=0.03), n=2), math.exp(-1.0)),
        (lambda: shuffle(randomizers.privkv(eps0=1.0, s=1, d=10**6), n=10**15 - 8), 1.2e-31),
        (lambda: shuffle(randomizers.privkv(eps0=1.0, s=1, d=10**6), n=10**15 - 8), 5e-78),
    ],
    ids=["values whose squares overflow", "hardly any privacy loss", "even less δ"],
)
def test_epsilon_is_answered_at_the_ends_of_floats(profile, delta):
    found = profile().epsilon(delta)
    assert 0.0 < found.lower < found.upper < math.inf
    assert profile().delta(found.upper).upper <= delta * (1 + 1e-9)


def test_a_printed_slope_beyond_the_floats_is_compared_without_dividing():
    assert joint_concavity.delta_corollary43(eps0=6.0, n=148, eps=700.0) == 0.0


def test_masses_known_to_no_digit_are_at_most_one():
    found = profiles.GaussianTradeoff(20.0).coarsened(segments=40).symmetrised.delta(0.0)
    assert 0.99 < found.lower <= 1.0 == found.upper


def test_a_million_rounds_with_next_to_no_noise_are_answered():
    found = shuffle(randomizers.gaussian(sigma=0.03), n=2).compose(10**6).epsilon(1e-5)
    assert 600.0 < found.lower and found.upper == math.inf

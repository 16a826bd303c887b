"""What drawing has found before stays right."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shufflelib import profiles, randomizers, sgd
from shufflelib.profiles import DiscretePair, Gaussian, compose
from shufflelib.published import central_limit, conversions, joint_concavity, renyi
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair, shuffle


def enclosed(truth, bracket, width=1e-3):
    """Return whether a bracket holds a number and is as narrow, relatively, as what it comes from aims at."""
    return bracket.lower <= truth <= bracket.upper <= bracket.lower + width * truth


FOUND = {  # a call that once warned, raised what it should not or gave no number, and its answer
    "knots beyond the largest exponent": (
        lambda: shuffle(randomizers.gaussian(sigma=0.05), n=1).tradeoff(0.0).upper,
        1.0,
    ),
    "P = Q, trade-off": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).tradeoff(0.25).lower,
        0.75,
    ),
    "P = Q, composed": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).compose(rounds=3).tradeoff(0.25).lower,
        0.75,
    ),
    "no curve is needed at either end": (
        lambda: shuffle(randomizers.optimized_unary(eps0=1e-10, d=2), n=2).tradeoff(0.0).lower,
        1.0,
    ),
    "W of a number beyond the floats": (
        lambda: central_limit.moderate_epsilon(chi=1e-12, n=1, delta=1e-300) / 1e12,
        math.sqrt(2.0 * 710.228876),
    ),
    "a report that reveals everything, n = 1097": (
        lambda: renyi.binary_rr_pair(eps0=340.0, n=1097).delta(0.0).upper,
        1.0,
    ),
    "a false-negative rate below the floats": (
        lambda: float(Gaussian(54.6).tradeoff(0.37).upper > 0.0),
        1.0,
    ),
    "equal distributions": (
        lambda: float(profiles.ApproximateDP(eps=0.0, delta=0.0)(0.0).upper <= 1.0),
        1.0,
    ),
    "a tail 1e300 deviations out": (lambda: central_limit.asymptotic_delta(chi=1e200, n=100, eps=1e300), 0.0),
    "infinity minus infinity": (
        lambda: conversions.delta_from_renyi_canonne20(order=1e50, renyi=1.0, eps=1e308),
        0.0,
    ),
    "a divergence beyond the floats": (
        lambda: conversions.delta_from_renyi_canonne20(order=1e50, renyi=1e308, eps=1.0),
        1.0,
    ),
    "a mixture of two revealing reports": (
        lambda: (
            shuffle(
                randomizers.mixture(
                    [randomizers.binary_rr(eps0=700.0), randomizers.generalized_rr(eps0=700.0, d=3)],
                    [0.25, 0.75],
                ),
                n=1,
            )
            .delta(0.0)
            .upper
        ),
        1.0,
    ),
    "as many hash values as there are": (
        lambda: randomizers.collision(eps0=700.0, d=10**6, s=10**5).l,
        2.0**32,
    ),
    "places beside each other, nothing left between the cells": (
        lambda: enclosed(
            1e-9 / math.pi,
            shuffle(randomizers.planar_laplace(d01=1e-9, dmax=4.139937718785167e-08), n=1).delta(0.0),
            width=0.2,
        ),
        True,
    ),
    "losses whose terms add up to no float": (
        lambda: (
            shuffle(
                randomizers.poisson_sampled(randomizers.generic(eps0=700.0), rate=1.670170079024566e-05),
                n=22026,
            )
            .epsilon(0.36787944117144233)
            .upper
        ),
        0.0,
    ),
    "a density whose square is no float": (
        lambda: enclosed(math.log(1.5), VariationRatioPair(n=1097, p=2.0, beta=1 / 3, q0=3e154).renyi(2.0)),
        True,
    ),
    "a density of two hundred digits": (
        lambda: enclosed(math.log(1.5), VariationRatioPair(n=22026, p=2.0, beta=1 / 3, q0=2e208).renyi(2.0)),
        True,
    ),
    "no rate spent on masses below the floats": (
        lambda: profiles.from_pair(DiscretePair([0.0, -800.0], [-800.0, 0.0]))(0.0).upper,
        1.0,
    ),
    "no rate spent on products below the floats": (
        lambda: (
            profiles.ApproximateDP(eps=400.0, delta=0.0)
            .tensor(profiles.ApproximateDP(eps=400.0, delta=0.0))(0.0)
            .upper
        ),
        1.0,
    ),
    "two rounds with a rare and revealing outcome": (
        lambda: enclosed(5.752977732e-7, telling_response(1e-6).compose(rounds=2).delta(3.5), width=1e-5),
        True,
    ),
    "the same, asked for epsilon": (
        lambda: enclosed(3.5, telling_response(1e-6).compose(rounds=2).epsilon(5.752978e-7), width=1e-6),
        True,
    ),
    "rounds that rarely reveal the input": (
        lambda: enclosed(
            -math.expm1(-1000.0 * math.exp(-50.0)),
            DiscretePair([math.log1p(-math.exp(-50.0)), -50.0], [0.0, -math.inf])
            .compose(rounds=1000)
            .delta(0.1),
        ),
        True,
    ),
    "rounds that reveal the input with a probability below the floats": (
        lambda: enclosed(
            30.0 * math.exp(-382.15346978693253),
            DiscretePair([-1.0785910974428327e-166, -382.15346978693253], [0.0, -math.inf])
            .compose(rounds=30)
            .delta(0.1),
            width=1e-11,
        ),
        True,
    ),
    "rounds that rarely reveal the input, at a large epsilon": (
        lambda: enclosed(
            -math.expm1(1000.0 * math.log1p(-1e-7)),
            DiscretePair(
                [math.log(0.75) + math.log1p(-1e-7), math.log(0.25) + math.log1p(-1e-7), math.log(1e-7)],
                [math.log(0.25), math.log(0.75), -math.inf],
            )
            .compose(rounds=1000)
            .delta(2000.0),
        ),
        True,
    ),
    "knots of which two are one float apart": (
        lambda: enclosed(
            53.1975424,
            DiscretePair(
                [-0.4795122190439545, -0.9651798257939268, -18.580707235986274],
                [-5.78362273138337e-07, -14.363065683658029, -45.2966427079161],
            )
            .compose(rounds=3)
            .epsilon(1e-9),
            width=1e-6,
        ),
        True,
    ),
    "two budgets of a millionth": (
        lambda: enclosed(
            1.99467e-8, PersonalizedPair.grouped([1e-6, 2e-6], counts=[500, 500]).delta(0.0), width=1e-4
        ),
        True,
    ),
    "budgets of a hundred-millionth": (
        lambda: enclosed(
            VariationRatioPair.of(randomizers.generic(eps0=1e-8), n=1000).delta(0.0).upper,
            shuffle(randomizers.generic(eps0=1e-8), n=1000).delta(0.0),
            width=1.0,
        ),
        True,
    ),
    "Gaussian reports below the floats in a mixture": (
        lambda: (
            shuffle(
                randomizers.mixture(
                    [randomizers.gaussian(sigma=1.0), randomizers.generalized_rr(eps0=1e-3, d=2)],
                    [1e-17, 1 - 1e-17],
                ),
                n=1,
            ).pure_epsilon
        ),
        math.inf,
    ),
    "Gaussian reports sent hardly ever": (
        lambda: (
            shuffle(
                randomizers.poisson_sampled(
                    randomizers.poisson_sampled(randomizers.gaussian(sigma=1.0), rate=1e-9), rate=1e-9
                ),
                n=5,
            )
            .renyi(100.0)
            .upper
            > 49.58
        ),
        True,
    ),
    "joint reports whose revealing outputs are below the floats": (
        lambda: enclosed(
            6.0,
            shuffle(
                randomizers.joint(
                    [
                        randomizers.mixture(
                            [randomizers.generalized_rr(eps0=eps0, d=3) for eps0 in (2.0, 1e-3)],
                            [1e-120, 1 - 1e-120],
                        )
                    ]
                    * 3
                ),
                n=1,
            ).renyi(1e5),
            width=1.0,
        ),
        True,
    ),
    "many rounds of outcomes rarer and rarer": (
        lambda: enclosed(
            1.46848464693212961e-226,
            compose([revealing(-520.0)] + [revealing(-550.6 - 1e-6 * i) for i in range(300)]).delta(0.0),
            width=1e-10,
        ),
        True,
    ),
    "delta at the epsilon of a delta": (
        lambda: [
            profile.delta(profile.epsilon(delta).upper).upper <= delta * (1 + 1e-12)
            for profile, delta in (
                (
                    shuffle(randomizers.subset(eps0=0.006737946999085467, d=16, k=4), n=55),
                    0.00012340980408667956,
                ),
                (shuffle(randomizers.generic(eps0=0.0014013594188853921), n=76880), 3.775134544279098e-11),
                (
                    shuffle(randomizers.subset(eps0=0.006737946999085467, d=16, k=4), n=10**15),
                    6.224144622907783e-11,
                ),
            )
        ].count(True),
        3,
    ),
    "a sum of budgets": (
        lambda: (
            Fraction(
                randomizers.joint(
                    [randomizers.generalized_rr(eps0=0.31, d=3), randomizers.generalized_rr(eps0=1.7, d=4)]
                ).eps0
            )
            >= Fraction(0.31) + Fraction(1.7)
        ),
        True,
    ),
    "a finer tolerance that is all rounding": (
        lambda: enclosed(
            4.62e-10,
            shuffle(randomizers.gaussian(sigma=1228.8), n=14_313_622_097_570).epsilon(1e-12),
            width=0.1,
        ),
        True,
    ),
    "three kinds of slots near the largest budget": (
        lambda: enclosed(
            3.0e-5, PersonalizedPair.grouped([5.07, 5.44, 7.32], counts=[8, 9, 9]).delta(7.3199), width=0.3
        ),
        True,
    ),
    "noise seen far out, where the weight is steep": (
        lambda: shuffle(randomizers.gaussian(sigma=8.0), n=30).renyi(60.0).upper < 0.1,
        True,
    ),
    "a part of a distribution, hardly smaller": (
        lambda: enclosed(
            5e-21,
            DiscretePair([0.0, math.log(1e-20)], [0.0, -math.inf]).reversed.subsample(rate=0.5).renyi(2.0),
        ),
        True,
    ),
    "the same, tested": (
        lambda: (
            DiscretePair([0.0, math.log(1e-20)], [0.0, -math.inf])
            .reversed.subsample(rate=0.5)
            .tradeoff(0.1)
            .lower
        ),
        0.9,
    ),
    "places a hundred apart": (
        lambda: (
            shuffle(randomizers.metric_laplace(d01=100.0, dmax=100.0), n=1000).tradeoff(1e-3).upper < 1e-12
        ),
        True,
    ),
    "distributions swapped hardly ever": (
        lambda: enclosed(
            2.8e-16,
            joint_concavity.symmetric_mixture(profiles.ApproximateDP(eps=0.0, delta=1.0), weight=1.4e-16)(
                0.0
            ),
            width=1e-12,
        ),
        True,
    ),
    "one report that is hardly ever random": (
        lambda: enclosed(
            2.0 / (1.0 + math.exp(30.0)), joint_concavity.shuffle_bound(eps0=30.0, n=1)(0.0), width=1e-11
        ),
        True,
    ),
    "a curve that starts below 1": (
        lambda: enclosed(
            0.5,
            joint_concavity.best_of([profiles.ApproximateDP(eps=0.0, delta=0.5)] * 2).delta(0.0),
            width=1e-9,
        ),
        True,
    ),
    "a delta far below the rounding of 1": (
        lambda: (
            joint_concavity.joint_concavity([profiles.GaussianTradeoff(1e-4)], weights=[1.0])
            .delta(8e-4)
            .lower
            <= 7.5532831e-21
        ),
        True,
    ),
    "a delta of one or two steps of the floats": (
        lambda: (
            conversions.delta_from_renyi_canonne20(
                order=64.0, renyi=1.2813834418220194, eps=13.009697103955428
            )
            > math.ulp(0.0)
        ),
        True,
    ),
    "a million epochs that reveal the input": (
        lambda: (
            sgd.accounting.one_example(
                sgd.GaussianBlocks(noise_multiplier=1.0, clip=1.0, blocks=1, block_size=1), epochs=10**6
            )
            .epsilon(0.5)
            .upper
        ),
        math.inf,
    ),
    "two epochs of a budget of 30": (
        lambda: (
            sgd.accounting.one_example(
                sgd.LaplaceBlocks(eps0=30.0, clip=1.0, blocks=1, block_size=1), epochs=2
            )
            .delta(0.1)
            .upper
            > 0.999
        ),
        True,
    ),
    "a thousand million blocks": (
        lambda: (
            sgd.accounting.one_block(
                sgd.LaplaceBlocks(eps0=1.0, clip=1.0, blocks=10**9, block_size=1), epochs=1
            )
            .delta(1e-4)
            .upper
            < 1e-4
        ),
        True,
    ),
    "a gradient of next to nothing at a random start": (
        lambda: joint_concavity.random_start_bound(joint_concavity.least_squares(a=1e-300))(0.05).lower,
        joint_concavity.random_start_bound(joint_concavity.least_squares(a=0.0))(0.05).lower,
    ),
}


def revealing(log_chance):
    """Return the pair of which P alone has an outcome, with this probability."""
    return DiscretePair([log_chance, math.log1p(-math.exp(log_chance))], [-math.inf, 0.0])


def telling_response(rare):
    """Randomized response at budget 1 that reveals the input, at odds of e³, with probability ``rare``."""
    likely, other = 1.0 / (1.0 + math.exp(-1.0)), 1.0 / (1.0 + math.exp(1.0))
    p = [likely * (1.0 - rare), other * (1.0 - rare), rare]
    rare *= math.exp(-3.0)
    return DiscretePair(np.log(p), np.log([other * (1.0 - rare), likely * (1.0 - rare), rare]))


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_before_stays_right(name):
    call, answer = FOUND[name]
    assert math.isclose(call(), answer, rel_tol=1e-5, abs_tol=1e-300)


@pytest.mark.parametrize("eps0", 1e-9 * np.geomspace(1.0, 1e6, 41) * math.pi / 3.0)
def test_the_published_pair_of_a_small_budget_is_built_however_exp_rounds(eps0):
    pair = VariationRatioPair.of(randomizers.generic(eps0=eps0), n=50)
    assert math.isclose(pair.beta, math.tanh(0.5 * eps0), rel_tol=1e-12)
    other = renyi.generic_pair(eps0=eps0, n=50).delta(0.0)
    assert pair.delta(0.0).lower <= other.upper and other.lower <= pair.delta(0.0).upper

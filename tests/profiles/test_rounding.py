"""Sums, products and differences that round more than usual: the ends still enclose the truth."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from shufflelib.profiles.likelihood_ratios import LikelihoodRatios, once, united
from shufflelib.shuffling import BlanketPair

MP = mpmath.mp.clone()
MP.dps = 60


@pytest.mark.parametrize("missing", [5e-14, 1e-14])
@pytest.mark.parametrize("order", [3.0, 10.0])
def test_a_missing_mass_that_might_be_rounding_is_not_dropped(missing, order):
    first, second, mass = np.array([0.5e18, 0.5]), np.array([1e-3, 1.0]), np.array([1e-18, 1.0 - missing])
    pair = BlanketPair(LikelihoodRatios(first, second, mass, precision=missing / 5.0), 2)
    moment = MP.zero
    distributions = [(MP.mpf(m), MP.mpf(u), MP.mpf(v)) for m, u, v in zip(mass, first, second, strict=True)]
    distributions.append((1 - MP.fsum(distribution[0] for distribution in distributions), MP.zero, MP.zero))
    for m, u, v in distributions:
        for other, x, y in distributions:
            if u + x and v + y:
                moment += m * other * (v + y) / 2 * ((u + x) / (v + y)) ** MP.mpf(order)
    truth = MP.log(moment) / (MP.mpf(order) - 1)
    assert truth <= pair.renyi_directed(order)[1] <= 1.01 * truth


@pytest.mark.parametrize("eps", [0.0, 1.0, 10.0])
def test_a_distribution_that_mirrors_itself_to_eleven_digits_stands_for_both_directions(eps):
    mass = np.array([0.5 - 5e-13, 0.5 + 5e-13])
    ratios = LikelihoodRatios(np.array([0.0, 1.9999999999979998]), np.array([2.000000000002, 0.0]), mass)
    pair = BlanketPair(ratios, 2)
    for one, first, second in (
        (pair, ratios.r0_over_w, ratios.r1_over_w),
        (pair.reversed, ratios.r1_over_w, ratios.r0_over_w),
    ):
        scale = MP.exp(MP.mpf(eps))
        loss = [MP.mpf(x) - scale * MP.mpf(y) for x, y in zip(first, second, strict=True)]
        drawn = [(MP.mpf(m), x) for m, x in zip(mass, loss, strict=True)]
        truth = MP.fsum(m * w * max(x + y, 0) / 2 for m, x in drawn for w, y in drawn)
        low, high = one.log_hockey_stick(eps)
        assert low <= MP.log(truth) <= high <= low + 1e-10
    exact = LikelihoodRatios(np.array([0.0, 2.0]), np.array([2.0, 0.0]), np.array([0.5, 0.5]))
    assert BlanketPair(exact, 2).ratios.precision == exact.precision


def distribution(mass, *, precision=1e-14):
    return LikelihoodRatios(
        np.array([1.5, 0.5]), np.array([0.25, 1.75]), np.array([mass, 1.0 - mass]), precision=precision
    )


def test_one_distribution_stands_for_all_that_agree_with_it():
    exact, near, far = distribution(0.5), distribution(0.5 + 2.0**-42).swapped(), distribution(0.5 + 1e-10)
    kept = once(united([exact, far, near, exact.swapped()]))
    assert list(kept) == [0, 1] and kept[1] is far
    assert 2.0**-41 <= kept[0].precision - exact.precision < 1.001 * 2.0**-41
    assert list(once(united([exact, exact.swapped()])).values()) == [exact]
    rougher = replace(exact, precision=1e-12)
    for distributions in ([exact, rougher], [rougher.swapped(), exact]):
        assert united(distributions)[0].precision >= 1e-12
    assert exact.distance(exact) == 0.0 and exact.distance(far) == exact.distance(near) == math.inf


def test_the_logarithm_of_one_extreme_report_is_rounded_down():
    """For one user H is the mass of the rare output, whose logarithm has 13 digits after the point."""
    for mass in np.exp(-637.0 - np.arange(64) / 7.0):
        distribution = LikelihoodRatios(
            np.array([2.0, 1.0]), np.ones(2), np.array([mass, 1.0 - mass]), precision=1e-15
        )
        low, high = BlanketPair(distribution, 1).log_hockey_stick(0.0)
        assert MP.log(MP.mpf(mass)) - 1e-11 < low <= MP.log(MP.mpf(mass)) <= high

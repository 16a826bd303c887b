"""Small pairs whose Rényi divergence or mass is known exactly lie in tight brackets."""

import math
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest

from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import DiscretePair, Gaussian

CASES = list(product([2, 3, 5, 17, 60], range(4)))
HALF = math.log(0.5)


def drawn(size, seed):
    """Return a `DiscretePair` and its two pmfs, exact: the floats' own ratios, divided by their sum."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1000, size=(2, size))
    p, q = ([F(int(w), int(row.sum())) for w in row] for row in weights)
    with mpmath.workdps(40):
        logs = [
            [float(mpmath.log(mpmath.mpf(x.numerator) / x.denominator)) for x in distribution]
            for distribution in (p, q)
        ]
    return DiscretePair(*map(np.array, logs)), p, q


@pytest.mark.parametrize("size, seed", CASES)
def test_renyi_encloses_the_sum(size, seed):
    pair, p, q = drawn(size, seed)
    for order in (1.01, 1.5, 2.0, 7.0, 100.0):
        with mpmath.workdps(40):
            moment = mpmath.fsum(
                (mpmath.mpf(a.numerator) / a.denominator) ** order
                * (mpmath.mpf(b.numerator) / b.denominator) ** (1 - mpmath.mpf(order))
                for a, b in zip(p, q, strict=True)
            )
            truth = mpmath.log(moment) / (mpmath.mpf(order) - 1)
            low, high = pair.renyi_directed(order)
            assert low <= truth <= high
            assert high - low < 1e-11 * max(1.0, math.ceil(truth))


@pytest.mark.parametrize("size", [1, 7, 300, 5000])
def test_the_rounding_of_the_sum_alone_is_inside_the_ends(size):
    """Masses taken as exact leave nothing to the ends but the sum's own rounding."""
    rng = np.random.default_rng(size)
    for spread in (0.0, 1.0, 30.0):
        log_p = -rng.uniform(0.0, 1.0 + spread, size)
        log_p -= np.log(np.sum(np.exp(log_p))) + rng.uniform(0.01, 1.0)
        told = np.full(size, np.inf)
        pair = DiscretePair.from_losses(log_p, -told, told)
        bracket = pair.log_hockey_stick(0.3)
        with mpmath.workdps(40):
            truth = mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(x)) for x in log_p))
            assert bracket.lower < truth < bracket.upper
        assert bracket.upper - bracket.lower < 64 * UNIT


def test_atoms_told_with_their_losses_are_sorted_and_those_of_neither_distribution_left_out():
    log_p, log_q = np.array([HALF, -math.inf, -math.inf, HALF]), np.array([HALF, HALF, -math.inf, -math.inf])
    told = np.array([0.25, math.nan, math.nan, math.nan])  # read where both distributions have the atom
    pair = DiscretePair.from_losses(log_p, log_q, told)
    assert pair.loss.lower.tolist() == pair.loss.upper.tolist() == [-math.inf, 0.25, math.inf]
    assert pair.log_p.lower.tolist() == [-math.inf, HALF, HALF]
    assert pair.log_q.upper.tolist() == [HALF, HALF, -math.inf]


@pytest.mark.parametrize("spread", [1e-7, 1.0, 40.0, 3000.0, 1e5])
@pytest.mark.parametrize("size", [1, 2, 9, 400])
def test_a_curve_asked_for_as_an_array_is_that_of_its_values_and_encloses_the_sum(size, spread):
    rng = np.random.default_rng(size)
    log_p = rng.uniform(-1.0, 0.0, size) * min(spread, 30.0) - math.log(size)
    loss = rng.uniform(-1.0, 1.0, size) * spread
    loss[: size // 3] = np.sort(loss[: size // 3])
    if size > 5:
        loss[1], loss[2], log_p[3], log_p[4] = math.inf, loss[0], -8000.0, -math.inf
    pair = DiscretePair.from_losses(log_p, log_p - loss, loss)
    eps = np.concatenate([[0.0], spread * rng.uniform(0.0, 1.1, 6), np.maximum(loss[-4:], 0.0), [1e300]])
    found = pair.log_hockey_stick(eps)
    with mpmath.workdps(50):
        for i, x in enumerate(eps.tolist()):
            assert pair.log_hockey_stick(x) == (found.lower[i], found.upper[i])
            gains = [
                mpmath.exp(mpmath.mpf(p)) * (1 - mpmath.exp(mpmath.mpf(x) - loss_of))
                for p, loss_of in zip(log_p.tolist(), map(mpmath.mpf, loss.tolist()), strict=True)
                if loss_of > x and p > -math.inf
            ]
            if not gains:
                assert found.lower[i] == found.upper[i] == -math.inf
                continue
            truth = mpmath.log(mpmath.fsum(gains))
            assert found.lower[i] <= truth <= found.upper[i]
            assert spread > 3000.0 or found.upper[i] - found.lower[i] < 1e-13 * max(1.0, abs(float(truth)))


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 1.0, 40.0, 1e4])
def test_an_array_of_a_gaussian_pair_is_its_values(mu):
    eps = np.append(mu * np.linspace(0.0, 0.5 * mu + 45.0, 40), [1e100, 1e308])
    found = Gaussian(mu).log_hockey_stick(eps)
    with mpmath.workdps(60):
        for i, x in enumerate(eps.tolist()):
            assert Gaussian(mu).log_hockey_stick(x) == (found.lower[i], found.upper[i])
            if x < 1e99:
                a, b = (mpmath.mpf(x) / mpmath.mpf(mu) + side * mpmath.mpf(mu) / 2 for side in (-1, 1))
                truth = mpmath.ncdf(-a) - mpmath.exp(mpmath.mpf(x)) * mpmath.ncdf(-b)
                assert found.lower[i] <= mpmath.log(truth) <= found.upper[i]

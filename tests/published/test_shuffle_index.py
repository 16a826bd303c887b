"""The shuffle index and its limits: closed forms against quadrature, limits against certified brackets."""

import math

import mpmath
import numpy as np
import pytest

from shufflelib import randomizers
from shufflelib.published.central_limit import (
    asymptotic_delta,
    asymptotic_epsilon,
    moderate_delta,
    moderate_epsilon,
)
from shufflelib.published.shuffle_index import (
    composition_index,
    gaussian_index,
    generalized_rr_index,
    laplace_index,
    shuffle_index,
)

INF = math.inf
BUDGETS = (0.01, 0.1, 1.0, 2.0, 4.0)


# ---------------------------------------------------------------- closed forms


def laplace(eps0):
    points = [-mpmath.inf, 0, 0.25, 0.5, 1, mpmath.inf]
    return (
        laplace_index(eps0=eps0),
        lambda y, x: mpmath.mpf(eps0) / 2 * mpmath.exp(-eps0 * abs(y - x)),
        points,
    )


def gaussian(sigma):
    # R_0²/R_1 is centred at -1, and far wider than the integration rule expects
    points = [-1 - 12 * sigma, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2 + 12 * sigma]
    return gaussian_index(sigma=sigma), lambda y, x: mpmath.npdf(y, x, sigma), points


NOISES = [(laplace, eps0, 1e-12) for eps0 in BUDGETS]
NOISES += [(gaussian, sigma, 1e-10) for sigma in (0.2, 0.5, 1.0, 2.0, 5.0)]


@pytest.mark.parametrize(("noise", "parameter", "tolerance"), NOISES)
def test_additive_noise_against_quadrature(noise, parameter, tolerance):
    got, density, points = noise(parameter)

    def index(reference):
        with mpmath.workdps(25):
            return float(
                mpmath.quad(lambda y: (density(y, 0) - density(y, 1)) ** 2 / reference(y), points) ** -0.5
            )

    assert got.blanket == pytest.approx(index(lambda y: min(density(y, 0), density(y, 1))), rel=tolerance)
    attacks = [index(lambda y, x=x: density(y, x)) for x in (0, 0.25, 0.5)]
    assert got.attack == pytest.approx(attacks[0], rel=tolerance)
    assert attacks[0] < attacks[1] < attacks[2]  # the ends are the worst x*


@pytest.mark.parametrize("eps0", BUDGETS)
@pytest.mark.parametrize("d", [2, 3, 10, 100])
def test_randomized_response_against_its_own_distribution(eps0, d):
    got, atoms = (
        generalized_rr_index(eps0=eps0, d=d),
        shuffle_index(randomizers.generalized_rr(eps0=eps0, d=d)),
    )
    assert atoms == pytest.approx(got, rel=1e-11)
    assert (got.band == 1.0) == (d > 2)
    assert d > 2 or got.band**2 == pytest.approx(2 * math.exp(eps0) / (math.exp(eps0) + 1), rel=1e-12)


# ---------------------------------------------------------------- mixed datasets


def test_composition_index_is_the_distance_in_the_covariance_of_all_reports():
    rng = np.random.default_rng(1)
    for _ in range(60):
        inputs, classes = rng.integers(2, 5), rng.integers(2, 6)
        rows = rng.dirichlet(np.ones(classes), inputs)
        shares = rng.dirichlet(np.ones(inputs))
        covariance = sum(p * (np.diag(row) - np.outer(row, row)) for p, row in zip(shares, rows, strict=True))
        change = (rows[1] - rows[0])[:-1]  # the last output is determined by the others
        square = change @ np.linalg.solve(covariance[:-1, :-1], change)
        assert composition_index(rows, shares=shares) ** -2 == pytest.approx(square, rel=1e-9)


def test_outputs_that_reveal_the_user():
    assert composition_index([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 1, 0]], shares=[0, 0, 1]) == 0.0
    assert composition_index([[1, 0], [0, 1]], shares=[0.5, 0.5]) == 0.0  # the total is known
    assert composition_index([[0.5, 0.5], [0.5, 0.5]], shares=[1, 0]) == INF


# ---------------------------------------------------------------- the limits


@pytest.mark.parametrize("t", ["0", "0.5", "3", "29", "29.999999", "30.000001", "35", "37"])
def test_delta_against_multiple_precision(t):
    with mpmath.workdps(60):
        t = mpmath.mpf(t)
        exact = mpmath.npdf(t) - t * mpmath.ncdf(-t)
    # exp of -t²/2 keeps about 13 digits there
    assert asymptotic_delta(chi=1.0, n=1, eps=float(t)) == pytest.approx(float(exact), rel=2e-12, abs=0)
    if t > 0:
        assert asymptotic_epsilon(chi=1.0, n=1, delta=float(exact)) == pytest.approx(float(t), rel=1e-12)
        assert 1.0 < moderate_delta(chi=1.0, n=1, eps=float(t)) / exact < 1.0 + 3.01 / t**2


@pytest.mark.parametrize("n", [10.0, 1e6, 1e15])
def test_both_limits_are_inverted_for_whole_arrays(n):
    deltas = np.geomspace(1e-250, 1e-3, 40)
    eps = asymptotic_epsilon(chi=0.4, n=n, delta=deltas)
    inside, again = eps > 0.0, asymptotic_delta(chi=0.4, n=n, eps=eps)
    assert again[inside] == pytest.approx(deltas[inside], rel=1e-11, abs=0)
    assert np.all(again[~inside] <= deltas[~inside])
    moderate = moderate_epsilon(chi=0.4, n=n, delta=deltas)
    assert moderate_delta(chi=0.4, n=n, eps=moderate) == pytest.approx(deltas, rel=1e-11, abs=0)
    assert np.all(moderate > eps)

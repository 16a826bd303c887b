"""Where blanket and attacks differ: merged hashes, arcs and cells of a density bracket the truth."""

from math import exp

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from oracles.small_domains import E0, EPS, of_distribution, thresholds
from shufflelib import randomizers
from shufflelib.randomizers import additive, cells, hashing


@pytest.mark.parametrize(("d", "s", "size"), [(4, 2, 4), (6, 2, 3), (9, 3, 8)])
def test_coarsened_collision_brackets_the_exact_one(monkeypatch, d, s, size):
    mechanism = randomizers.collision(eps0=E0, d=d, s=s, l=size)
    exact = mechanism.input_pairs()[0]
    monkeypatch.setattr(hashing, "EXACT_SET", 1)
    coarse = mechanism.input_pairs()[0]
    np.testing.assert_allclose(mechanism.class_masses().sum(axis=1), 1.0, rtol=1e-14)
    assert exact.blanket.w.sum() == pytest.approx(coarse.blanket.w.sum(), rel=1e-13)
    for eps in EPS:
        for t in thresholds(3.0):
            assert of_distribution(coarse.blanket, eps, t) >= of_distribution(exact.blanket, eps, t) - 1e-13
            for low, high in zip(coarse.attacks, exact.attacks, strict=True):
                assert of_distribution(low, eps, t) <= of_distribution(high, eps, t) + 1e-13
    assert of_distribution(coarse.blanket, 0.2, 0.0) < 1.3 * of_distribution(exact.blanket, 0.2, 0.0)


def wheel_weights(e, p, cells=2400):
    """Pmf of one two-item input's density at a point, in units of 1/Ω: a grid over where arcs start."""
    start = (np.arange(cells) + 0.5) / cells
    first, second = np.meshgrid(start, start)
    hit = (first > 1 - p) | (second > 1 - p)
    gap = np.abs(first - second)
    overlap = np.maximum(p - np.minimum(gap, 1 - gap), 0.0)
    total = 2 * p - overlap
    omega = 2 * p * e + 1 - 2 * p
    weight = np.where(hit, e, (omega - total * e) / (1 - total))
    values, counts = np.unique(np.round(weight, 9), return_counts=True)
    return values, counts / counts.sum()


def test_wheel_brackets_the_truth():
    p = 1 / 8
    mechanism = randomizers.wheel(eps0=E0, d=6, s=2, arc=p)
    pair = mechanism.input_pairs()[0]
    values, mass = wheel_weights(3.0, p)
    omega = 6 * p + 1 - 2 * p
    np.testing.assert_allclose((values * mass).sum(), omega, rtol=2e-3)
    first, second = values[:, None] / omega, values[None, :] / omega
    joint = mass[:, None] * mass[None, :]
    for eps in EPS:
        for t in thresholds(3.0):
            truth = (joint * np.maximum(first - exp(eps) * second - t / omega, 0.0)).sum()
            assert of_distribution(pair.blanket, eps, t) >= truth * (1 - 5e-3)
            assert of_distribution(pair.blanket, eps, t) <= truth * 1.5  # arcs that overlap inside one set
        truth = (joint * np.maximum(first - exp(eps) * second, 0.0)).sum()
        for distribution in pair.attacks[:1]:
            assert 0.7 * truth < of_distribution(distribution, eps, 0.0) <= truth * (1 + 5e-3)
    assert mechanism.beta == pytest.approx(2 * p * 2 / omega)


def laplace_density(eps0):
    return lambda y, x: eps0 / 2 * np.exp(-eps0 * np.abs(y - x))


def gaussian_density(sigma):
    return lambda y, x: norm.pdf(y, loc=x, scale=sigma)


def integrate(f, ends):
    """Gauss-Legendre on 40 panels between any two neighbouring ends; f is smooth in between."""
    node, weight = np.polynomial.legendre.leggauss(12)
    edges = np.concatenate(
        [np.linspace(a, b, 41)[:-1] for a, b in zip(ends[:-1], ends[1:], strict=True)] + [ends[-1:]]
    )
    half = np.diff(edges)[:, None] / 2
    return float((half * weight * f(edges[:-1, None] + half * (1 + node))).sum())


def positive_part(f, reach):
    """Return ∫ f_+ over the line: kinks at 0, 1/2, 1 and where f changes sign."""
    probes = np.linspace(-reach, 1 + reach, 4001)
    signs = np.sign(f(probes))
    roots = [brentq(f, *probes[i : i + 2], xtol=1e-14) for i in np.flatnonzero(signs[1:] * signs[:-1] < 0)]
    ends = np.unique([-reach, -reach / 5, 0.0, 0.5, 1.0, 1 + reach / 5, 1 + reach, *roots])
    return integrate(lambda y: np.maximum(f(y), 0.0), ends)


CONTINUOUS = [  # and the errors of their cells, and of about six and three times as many
    (randomizers.laplace(eps0=0.5), laplace_density(0.5), (0.0, 1.0, 0.5), 80.0, (2e-4, 6e-6)),
    (randomizers.laplace(eps0=2.0), laplace_density(2.0), (0.0, 1.0, 0.5), 20.0, (2e-4, 6e-6)),
    (randomizers.gaussian(sigma=1.0), gaussian_density(1.0), (0.0, 1.0), 12.0, (4e-4, 4e-5)),
    (randomizers.gaussian(sigma=2.0), gaussian_density(2.0), (0.0, 1.0), 24.0, (3e-4, 3e-5)),
]


@pytest.mark.parametrize("many", (False, True), ids=("few", "many"))
@pytest.mark.parametrize(
    ("mechanism", "density", "others", "reach", "errors"),
    CONTINUOUS,
    ids=("laplace", "laplace2", "gaussian1", "gaussian2"),
)
def test_continuous_likelihood_ratios_bracket_quadrature(
    monkeypatch, mechanism, density, others, reach, errors, many
):
    error = errors[many]
    if many:
        monkeypatch.setattr(cells, "FEWEST", 300)
    pair = mechanism.input_pairs()[0]
    gamma, _ = quad(
        lambda y: min(density(y, 0), density(y, 1)), -reach, 1 + reach, points=(0, 0.5, 1), limit=200
    )
    assert pair.blanket.w.sum() == pytest.approx(gamma, rel=1e-9)
    assert (pair.blanket.w * pair.blanket.r0_over_w).sum() + pair.blanket.r0_outside == pytest.approx(
        1.0, rel=1e-12
    )
    assert len(pair.attacks) == len(others)
    for eps in (0.0, 0.3):
        for t in (-1.0, 0.0, 0.3):

            def gap(y, reference, eps=eps, t=t):
                return density(y, 0) - exp(eps) * density(y, 1) - t * reference(y)

            truth = positive_part(lambda y: gap(y, lambda y: np.minimum(density(y, 0), density(y, 1))), reach)
            assert truth * (1 - 1e-9) <= of_distribution(pair.blanket, eps, t) <= truth * (1 + error)
            if t == 0.0:
                assert of_distribution(pair.blanket.swapped(), eps, t) == pytest.approx(truth, rel=error)
            for x, distribution in zip(others, pair.attacks, strict=True):
                truth = positive_part(lambda y, x=x: gap(y, lambda y: density(y, x)), reach)
                assert (
                    truth * (1 - error) - 1e-12
                    <= of_distribution(distribution, eps, t)
                    <= truth * (1 + 1e-9) + 1e-15
                )


@pytest.mark.parametrize(
    "mechanism", [m for m, *_ in CONTINUOUS] + [randomizers.piecewise(eps0=1.5)], ids=repr
)
def test_density_integrates_to_one_and_matches_beta(mechanism):
    inputs = (-1.0, 1.0) if hasattr(mechanism, "C") else (0.0, 1.0)
    edges = (
        [-mechanism.C, -1.0, 1.0, mechanism.C]
        if hasattr(mechanism, "C")
        else [-60.0, -5.0, 0.0, 0.5, 1.0, 6.0, 61.0]
    )
    cells = list(zip(edges[:-1], edges[1:], strict=True))
    assert sum(quad(mechanism.density, a, b, args=(inputs[0],))[0] for a, b in cells) == pytest.approx(
        1.0, rel=1e-8
    )
    half = sum(
        quad(lambda y: abs(mechanism.density(y, inputs[0]) - mechanism.density(y, inputs[1])) / 2, a, b)[0]
        for a, b in cells
    )
    assert mechanism.beta == pytest.approx(half, rel=1e-8)


def halved(edges):
    return np.interp(np.arange(2 * edges.size - 1) / 2, np.arange(edges.size), edges)


@pytest.mark.parametrize(
    "mechanism", [randomizers.laplace(eps0=1.0), *(randomizers.gaussian(sigma=x) for x in (1.0, 4.0))]
)
def test_fewer_cells_for_rounds_only_widen_the_bracket(mechanism, monkeypatch):
    (coarse,), (fine,) = mechanism.input_pairs_in_rounds(), mechanism.input_pairs()
    assert coarse.blanket.w.size < 0.6 * fine.blanket.w.size
    if isinstance(mechanism, randomizers.gaussian):  # Laplace cells are halves already
        edges = halved(mechanism._edges(*additive.GAUSSIAN_CELLS_IN_ROUNDS))
        monkeypatch.setattr(randomizers.gaussian, "_edges", lambda *_: edges)
        (fine,) = mechanism.input_pairs_in_rounds()
    assert coarse.blanket.w.sum() == pytest.approx(fine.blanket.w.sum(), rel=1e-12)
    for eps in EPS:
        for t in thresholds(3.0):
            assert of_distribution(coarse.blanket, eps, t) >= of_distribution(fine.blanket, eps, t) - 1e-12
            for low, high in zip(coarse.attacks, fine.attacks, strict=True):
                assert of_distribution(low, eps, t) <= of_distribution(high, eps, t) + 1e-12


@pytest.mark.parametrize("sigma", [1.0, 2.0, 10.0])
def test_masses_of_few_gaussian_cells_are_as_precise_as_charged(sigma):
    attack = randomizers.gaussian(sigma=sigma).input_pairs_in_rounds()[0].attacks[0]
    edges = randomizers.gaussian(sigma=sigma)._edges(*additive.GAUSSIAN_CELLS_IN_ROUNDS)
    exact = np.sort(np.diff(norm.cdf(edges / sigma)))
    mass = np.sort(attack.w)  # of the reports of 0: the smallest are beyond 1/2 or in the left tail
    nearest = mass[np.clip(np.searchsorted(mass, exact * (1.0 - 1e-9)), 0, mass.size - 1)]
    some = (exact > 1e-280) & (edges[1:] < 0.0)[np.argsort(np.diff(norm.cdf(edges / sigma)))]
    np.testing.assert_allclose(nearest[some], exact[some], rtol=2e-12)

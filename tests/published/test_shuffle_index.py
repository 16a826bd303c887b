"""The shuffle index and its limits: closed forms against quadrature, limits against certified brackets."""

import itertools
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from scipy import special

from shufflelib import randomizers, shuffle
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

NAN, INF = math.nan, math.inf
BUDGETS = (0.01, 0.1, 1.0, 2.0, 4.0)


def integral(numerator, reference, points):
    with mpmath.workdps(25):
        return mpmath.quad(lambda y: numerator(y) ** 2 / reference(y), points)


def rr(e, d):
    return [[F(e if x == y else 1) / (e + d - 1) for y in range(d)] for x in range(d)]


# ---------------------------------------------------------------- closed forms


@pytest.mark.parametrize("eps0", BUDGETS)
def test_laplace_against_quadrature(eps0):
    def density(x):
        return lambda y: mpmath.mpf(eps0) / 2 * mpmath.exp(-eps0 * abs(y - x))

    def gap(y):
        return density(0)(y) - density(1)(y)

    def blanket(y):
        return min(density(0)(y), density(1)(y))

    points = [-mpmath.inf, 0, 0.5, 1, mpmath.inf]
    got = laplace_index(eps0=eps0)
    assert got.blanket == pytest.approx(float(integral(gap, blanket, points)) ** -0.5, rel=1e-12)
    attacks = {x: float(integral(gap, density(x), sorted([*points, x]))) for x in (0, 0.25, 0.5)}
    assert got.attack == pytest.approx(attacks[0] ** -0.5, rel=1e-12)
    assert attacks[0] > attacks[0.25] > attacks[0.5]  # the ends are the worst x*


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0, 2.0, 5.0])
def test_gaussian_against_quadrature(sigma):
    def density(x):
        return lambda y: mpmath.npdf(y, x, sigma)

    def gap(y):
        return density(0)(y) - density(1)(y)

    # R_0²/R_1 is centred at -1, and far wider than the integration rule expects
    points = [-1 - 12 * sigma, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2 + 12 * sigma]
    got = gaussian_index(sigma=sigma)
    references = lambda y: min(density(0)(y), density(1)(y))  # noqa: E731
    assert got.blanket == pytest.approx(float(integral(gap, references, points)) ** -0.5, rel=1e-10)
    assert got.attack == pytest.approx(float(integral(gap, density(0), points)) ** -0.5, rel=1e-10)
    middle = float(integral(gap, density(0.5), points))
    assert middle == pytest.approx(4 * math.sinh(1 / (4 * sigma**2)), rel=1e-10)
    assert middle**-0.5 > got.attack


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


@pytest.mark.parametrize("eps0", BUDGETS)
def test_laplace_against_its_own_atoms(eps0):
    got, atoms = laplace_index(eps0=eps0), shuffle_index(randomizers.laplace(eps0=eps0))
    assert atoms == pytest.approx(got, rel=1e-5)
    assert atoms.blanket <= got.blanket * (
        1 + 1e-12
    )  # discretisation only splits the distribution under the reference measure, means preserved


def test_any_table_against_fractions():
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows = random_rows(rng, rng.integers(2, 4), rng.integers(2, 6))
        reference = [min(column) for column in zip(*rows, strict=True)]

        def information(one, other, below):
            return sum((a - b) ** 2 / w for a, b, w in zip(one, other, below, strict=True))

        pairs = list(itertools.combinations(rows, 2))
        got = shuffle_index(randomizers.from_pmf(floats(rows)))
        assert got.blanket**-2 == pytest.approx(
            float(max(information(*p, reference) for p in pairs)), rel=1e-10
        )
        attack = max(information(*p, row) for p in pairs for row in rows)
        assert got.attack**-2 == pytest.approx(float(attack), rel=1e-10)


# ---------------------------------------------------------------- mixed datasets


def exact_index(rows, shares):
    """Return v' Σ⁺ v for fractions by Gauss elimination; one output, determined by the others, is dropped."""
    size = len(rows[0]) - 1
    change = [rows[1][i] - rows[0][i] for i in range(size)]
    covariance = [
        [
            sum(
                p * ((row[i] if i == j else 0) - row[i] * row[j]) for p, row in zip(shares, rows, strict=True)
            )
            for j in range(size)
        ]
        for i in range(size)
    ]
    system = [line + [right] for line, right in zip(covariance, change, strict=True)]
    for i in range(size):
        system[i] = [entry / system[i][i] for entry in system[i]]
        for k in range(size):
            if k != i:
                system[k] = [a - system[k][i] * b for a, b in zip(system[k], system[i], strict=True)]
    return sum(line[-1] * v for line, v in zip(system, change, strict=True))


def random_rows(rng, inputs, classes):
    rows = rng.integers(1, 30, size=(inputs, classes))
    return [[F(int(v), int(row.sum())) for v in row] for row in rows]


def floats(rows):
    return np.array([[float(v) for v in row] for row in rows])


def test_composition_index_against_fractions():
    rng = np.random.default_rng(1)
    for _ in range(60):
        inputs, classes = rng.integers(2, 5), rng.integers(2, 6)
        rows = random_rows(rng, inputs, classes)
        weights = [F(int(v)) for v in rng.integers(1, 9, size=inputs)]
        shares = [w / sum(weights) for w in weights]
        exact = exact_index(rows, shares)
        got = composition_index(floats(rows), shares=[float(p) for p in shares])
        if exact == 0:
            assert got > 1e6
        else:
            assert got**-2 == pytest.approx(float(exact), rel=1e-9)


def test_no_mixed_dataset_is_worse_than_the_worst_equal_one():
    rng = np.random.default_rng(2)
    for _ in range(200):
        rows = floats(random_rows(rng, rng.integers(2, 5), rng.integers(2, 7)))
        corners = [composition_index(rows, shares=corner) for corner in np.eye(len(rows))]
        first, second = (rng.dirichlet(np.ones(len(rows))) for _ in range(2))
        information = [composition_index(rows, shares=p) ** -2 for p in (first, second, (first + second) / 2)]
        assert information[2] <= 0.5 * (information[0] + information[1]) * (1 + 1e-9)
        assert information[0] <= max(c**-2 for c in corners) * (1 + 1e-9)


def test_a_corner_is_the_attack_and_binary_response_does_not_care():
    for d in (2, 4):
        rows = floats(rr(3, d))
        corners = [composition_index(rows, shares=corner) for corner in np.eye(d)]
        assert min(corners) == pytest.approx(generalized_rr_index(eps0=math.log(3), d=d).attack, rel=1e-12)
    shares = [[1 - p, p] for p in (0.0, 0.2, 0.5, 1.0)]
    values = [composition_index(floats(rr(3, 2)), shares=share) for share in shares]
    assert values == pytest.approx([values[0]] * 4, rel=1e-12)


def counts(rows, people):
    """Exact distribution of the counts of two of three outputs; ``people`` counts who holds what."""
    distribution = np.zeros((sum(people) + 1,) * 2)
    distribution[0, 0] = 1.0
    for row, times in zip(rows, people, strict=True):
        for _ in range(times):
            new = row[2] * distribution
            new[1:, :] += row[0] * distribution[:-1, :]
            new[:, 1:] += row[1] * distribution[:, :-1]
            distribution = new
    return distribution


@pytest.mark.parametrize("others", [(119, 0, 0), (60, 59, 0), (40, 40, 39), (0, 0, 119)])
def test_the_distributions_of_a_mixed_dataset_are_as_far_apart_as_its_index(others):
    rows = np.array([[0.5, 0.3, 0.2], [0.3, 0.45, 0.25], [0.25, 0.25, 0.5]])
    first, second = (counts(rows, np.add(others, np.eye(3, dtype=int)[x])) for x in (0, 1))
    chi, n = composition_index(rows, shares=np.array(others) / sum(others)), 120
    for t in (0.0, 1.0):
        eps = t / (chi * math.sqrt(n))
        exact = max(np.maximum(a - math.exp(eps) * b, 0).sum() for a, b in ((first, second), (second, first)))
        limit = asymptotic_delta(chi=chi, n=n, eps=eps)
        assert exact == pytest.approx(limit, abs=0.1 / n)  # the preprint's O(1/n)
    # and its Jensen-Shannon divergence, 1/(8 n χ²) + O(1/n²)
    middle = 0.5 * (first + second)
    seen = middle > 0.0
    divergence = sum(
        0.5 * special.rel_entr(distribution[seen], middle[seen]).sum() for distribution in (first, second)
    )
    assert divergence == pytest.approx(1.0 / (8.0 * n * chi**2), rel=0.05)


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


def test_moderate_deviations_as_written():
    chi, n, eps = 0.7, 1e6, 0.006
    t = chi * eps * math.sqrt(n)
    phi = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    assert moderate_delta(chi=chi, n=n, eps=eps) == pytest.approx(phi / (chi**3 * eps**2 * n**1.5), rel=1e-12)


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


def test_the_limit_needs_no_epsilon_from_a_delta_on():
    assert asymptotic_epsilon(chi=1.0, n=1e12, delta=3.98e-7) > 0.0
    assert asymptotic_epsilon(chi=1.0, n=1e12, delta=4e-7) == 0.0  # above μ/√(2π)


CASES = [
    (randomizers.generic(eps0=1.0), generalized_rr_index(eps0=1.0, d=2).blanket, "upper"),
    (randomizers.generalized_rr(eps0=4.0, d=10), generalized_rr_index(eps0=4.0, d=10).blanket, "upper"),
    (randomizers.generalized_rr(eps0=1.0, d=3), generalized_rr_index(eps0=1.0, d=3).attack, "lower"),
    (randomizers.binary_rr(eps0=1.0), generalized_rr_index(eps0=1.0, d=2).attack, "upper"),
    (randomizers.laplace(eps0=1.0), laplace_index(eps0=1.0).blanket, "upper"),
    (randomizers.laplace(eps0=1.0), laplace_index(eps0=1.0).attack, "lower"),
]


@pytest.mark.parametrize(("randomizer", "chi", "side"), CASES)
def test_certified_ends_converge_to_the_limit(randomizer, chi, side):
    ratios = []
    for n in (10**4, 10**8, 10**12):
        delta = 1e-3 / math.sqrt(n)  # so that t stays
        end = getattr(shuffle(randomizer, n=n).epsilon(delta), side)
        ratios.append(end / asymptotic_epsilon(chi=chi, n=n, delta=delta) - 1.0)
    assert abs(ratios[2]) < 1e-5
    # the error is of order n^{-1/2}, and 1e-5 is what cells cost
    assert abs(ratios[1]) < max(0.02 * abs(ratios[0]), 1e-5)


def test_the_limit_is_no_bound():
    # the ε of the limit is below what an attack attains, here by 18 %
    limit = asymptotic_epsilon(chi=generalized_rr_index(eps0=4.0, d=10).blanket, n=1000, delta=1e-6)
    proved = shuffle(randomizers.generalized_rr(eps0=4.0, d=10), n=1000).epsilon(1e-6)
    assert 0.81 < limit / proved.lower < 0.83


# ---------------------------------------------------------------- hostile input


@pytest.mark.parametrize(
    "reports", ([[0.5, 0.5]], [[0.5, 0.6], [0.5, 0.5]], [[NAN, 1], [0, 1]], [[-0.5, 1.5], [0, 1]], [], "1")
)
def test_reports_that_are_no_distributions_are_refused(reports):
    with pytest.raises((TypeError, ValueError), match="reports"):
        composition_index(reports, shares=[1, 0])


@pytest.mark.parametrize("shares", ([1.0], [0.5, 0.6], [-0.5, 1.5], [NAN, 1.0], [[0.5, 0.5]], None))
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises((TypeError, ValueError), match="shares"):
        composition_index([[0.5, 0.5], [0.1, 0.9]], shares=shares)


def test_extremes_stay_finite_and_ordered():
    for one in (lambda eps0: generalized_rr_index(eps0=eps0, d=10**6), lambda eps0: laplace_index(eps0=eps0)):
        found = [one(eps0) for eps0 in (1e-6, 1e-3, 1.0, 50.0, 300.0, 700.0)]
        assert all(0.0 < index.blanket <= index.attack * (1 + 1e-12) < INF for index in found)
        for earlier, later in itertools.pairwise(found):
            assert later.blanket < earlier.blanket and later.attack < earlier.attack
    assert 0.0 < gaussian_index(sigma=0.03).blanket <= gaussian_index(sigma=0.03).attack
    assert gaussian_index(sigma=1e6).attack == pytest.approx(1e6, rel=1e-6)
    assert laplace_index(eps0=1e-6).blanket == pytest.approx(1e6, rel=1e-6)

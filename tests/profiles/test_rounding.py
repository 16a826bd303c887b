"""Sums, products and differences that round more than usual: the ends still enclose the truth."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from shufflelib import profiles, randomizers, shuffle
from shufflelib.profiles import DiscretePair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios, distinct
from shufflelib.shuffling import BlanketPair, VariationRatioPair

MP = mpmath.mp.clone()
MP.dps = 60


@pytest.mark.parametrize("many", [1000, 100_000])
def test_many_outputs_of_one_ratio(many):
    high, low = np.full(many, 0.75 / many), np.full(many, 0.25 / many)
    mechanism = randomizers.from_pmf(np.stack([np.concatenate([high, low]), np.concatenate([low, high])]))
    delta = shuffle(mechanism, n=1).delta(0.3)
    truth = MP.mpf(3) / 4 - MP.exp(MP.mpf(0.3)) / 4
    assert delta.lower <= truth * (1 + MP.mpf(10) ** -15)
    assert delta.upper >= truth * (1 - MP.mpf(10) ** -15)
    assert delta.upper - delta.lower < 1e-15 * (many + 10**4)


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


@pytest.mark.parametrize("seed", range(30))
def test_masses_whose_logarithms_cancel(seed):
    rng = np.random.default_rng(seed)
    p, q0 = (float(10.0**x) for x in rng.uniform(20.0, 300.0, size=2))
    n, beta, eps = int(rng.integers(2, 5)), float(rng.uniform(0.1, 0.9)), float(rng.uniform(0.0, 2.0))
    bracket = VariationRatioPair(n=n, p=p, beta=beta, q0=q0).delta(eps)
    with mpmath.workdps(700):
        high = mpmath.mpf(beta) * mpmath.mpf(p) / (mpmath.mpf(p) - 1)
        low, rare = high - mpmath.mpf(beta), high / mpmath.mpf(q0)
        truth = mpmath.mpf(0)
        for a in range(n + 1):
            for b in range(n + 1 - a):
                c = n - a - b
                ways = (
                    mpmath.binomial(n, a)
                    * mpmath.binomial(n - a, b)
                    * rare ** (a + b)
                    * (1 - 2 * rare) ** c
                    / n
                )
                left, right, rest = a / rare, b / rare, (1 - high - low) * c / (1 - 2 * rare)
                in_p, in_q = high * left + low * right + rest, low * left + high * right + rest
                truth += ways * max(in_p - mpmath.exp(eps) * in_q, 0)
        assert bracket.lower <= truth <= bracket.upper <= bracket.lower * (1 + 1e-11)


@pytest.mark.parametrize(
    ("many", "rare"), [(1999, 300.1), (1000, 300.1), (1999, 130.7), (300, 130.7), (1000, 60.3)]
)
def test_rare_atoms_pooled_one_by_one(many, rare):
    left = math.exp(-rare)
    log_q = np.append(np.log1p(-left), np.full(many, -rare - math.log(many)))
    log_p = np.append(0.0, np.full(many, -rare - 140.0 - math.log(many)))
    one = profiles.from_pair(DiscretePair(log_p, log_q))
    both = one.tensor(one).delta(250.0)
    distributions = [(1, MP.exp(MP.mpf(log_p[0])), MP.exp(MP.mpf(log_q[0])))]
    distributions.append((many, MP.exp(MP.mpf(log_p[1])), MP.exp(MP.mpf(log_q[1]))))
    norms = [MP.fsum(count * distribution[side] for count, *distribution in distributions) for side in (0, 1)]
    truth = [MP.zero, MP.zero]
    for count, p, q in distributions:
        for other, r, s in distributions:
            for side, (x, y) in enumerate((((p * r), (q * s)), ((q * s), (p * r)))):
                sums = norms[side] ** 2, norms[1 - side] ** 2
                truth[side] += count * other * max(x / sums[0] - MP.exp(250) * y / sums[1], 0)
    assert both.lower <= max(truth) * (1 + MP.mpf(10) ** -13) and max(truth) <= both.upper * (
        1 + MP.mpf(10) ** -13
    )
    assert both.upper <= both.lower * (1 + 1e-8)


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
    kept = distinct([exact, far, near, exact.swapped()])
    assert list(kept) == [0, 1] and kept[1] is far
    assert 2.0**-41 <= kept[0].precision - exact.precision < 1.001 * 2.0**-41
    assert distinct([exact, exact.swapped()])[0] is exact
    rougher = replace(exact, precision=1e-12)
    for distributions in ([exact, rougher], [rougher.swapped(), exact]):
        assert distinct(distributions)[0].precision >= 1e-12
    assert exact.distance(exact) == 0.0 and exact.distance(far) == exact.distance(near) == math.inf


@pytest.mark.parametrize("more", [1e-13, 3e-13])
def test_pairs_of_inputs_that_agree_to_eleven_digits(more):
    q, larger = MP.mpf(0.7501), MP.mpf(0.7501 + more)
    rows = [[0.7501, 0.2499], [0.2499, 0.7501], [1.0 - float(larger), float(larger)]]
    delta = shuffle(randomizers.from_pmf(rows), n=1).delta(0.0)
    assert delta.lower <= q + larger - 1 <= delta.upper < q + larger - 1 + 100 * more


@pytest.mark.parametrize("more", [1e-13, 1e-12, 4e-12])
@pytest.mark.parametrize("turn", [1, -1])
def test_coordinates_that_agree_to_eleven_digits(more, turn):
    parts = [randomizers.generalized_rr(eps0=1.0 + x, d=3) for x in (0.0, more)[::turn]]
    delta = shuffle(randomizers.joint(parts, distance=1), n=1).delta(0.0)
    e = MP.exp(MP.mpf(1.0 + more))
    truth = (e - 1) / (e + 2)
    assert delta.lower <= truth <= delta.upper < truth + 10 * more + 1e-11


def test_the_logarithm_of_one_extreme_report_is_rounded_down():
    """For one user H is the mass of the rare output, whose logarithm has 13 digits after the point."""
    for mass in np.exp(-637.0 - np.arange(64) / 7.0):
        distribution = LikelihoodRatios(
            np.array([2.0, 1.0]), np.ones(2), np.array([mass, 1.0 - mass]), precision=1e-15
        )
        low, high = BlanketPair(distribution, 1).log_hockey_stick(0.0)
        assert MP.log(MP.mpf(mass)) - 1e-11 < low <= MP.log(MP.mpf(mass)) <= high

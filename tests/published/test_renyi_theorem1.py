"""The "exact" Rényi divergence of a paper: which reading of Theorem 1 is right, and three routes to it."""

import itertools
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import oracles
from oracles.renyi_formulas import divergence, proposition1, theorem1
from shufflelib import profiles
from shufflelib.published import joint_concavity, renyi


def worst_divergence(e, n, order, inputs=(2, 3)):
    """Return the largest D over all neighbouring datasets of d-ary randomized response, exact."""
    worst = 0.0
    for d in inputs:
        pmf = oracles.generalized_rr(e, d)
        for others in itertools.combinations_with_replacement(range(d), n - 1):
            masses = oracles.shuffled_distributions(pmf, 0, 1, others)
            worst = max(worst, divergence(masses, order), divergence(oracles.swapped(masses), order))
    return worst


# ---------------------------------------------------------------- Theorem 1: which reading is right


@pytest.mark.parametrize("e", [2, 3, 10])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_proposition_1_is_above_every_dataset_and_the_printed_pairs_are_not_its_pair(e, n):
    for order in (2, 3):
        truth, pair = worst_divergence(e, n, order), proposition1(n, e)
        assert divergence(pair, order) >= truth * (1 - 1e-12)
        assert divergence(pair, order) == pytest.approx(divergence(oracles.swapped(pair), order), rel=1e-12)
    for share in (F(1, e), 1 / (1 + F(1, e))):
        masses = theorem1(n, e, share)
        # all others clones of the second symbol: P has n of it, Q never does
        assert masses[0, n][0] > 0 == masses[0, n][1]
        assert divergence(masses, 2) == divergence(oracles.swapped(masses), 2) == math.inf
    for build in (renyi.theorem1_pair_icassp24, renyi.theorem1_pair_arxiv24):
        got = build(eps0=math.log(e), n=n).renyi(np.array([1.001, 2.0, 50.0]))
        assert np.isposinf(got.lower).all() and np.isposinf(got.upper).all()


def test_the_conference_pair_is_below_the_mechanism():
    """As (ε, δ) at n = 1, and as the sum over the outputs that both distributions have, by a factor of 20."""
    assert oracles.both_ways(theorem1(1, 3, F(1, 3)), F(1)) == F(1, 3)
    assert oracles.worst_shuffled_hockey_stick(oracles.generalized_rr(3, 2), 1, F(1)) == F(1, 2)
    truth = worst_divergence(10, 5, 2, inputs=(2,))
    assert divergence(theorem1(5, 10, F(1, 10)), 2, overlap_only=True) < 0.05 * truth
    # the arXiv reading errs in the other direction here: it is just not the number of any pair
    assert divergence(theorem1(5, 10, F(10, 11)), 2, overlap_only=True) > truth


@pytest.mark.parametrize(("e", "n"), [(2, 1), (3, 3), (2, 8), (10, 20)])
@pytest.mark.parametrize("order", [1.3, 2.0, 4.5, 40.0])
def test_three_routes_to_one_renyi_divergence(e, n, order):
    """Along the trade-off function, from the masses, and over ε of both directions' δ."""
    eps0 = math.log(e)
    with mpmath.workdps(30):
        masses = oracles.swapped(proposition1(n, e)).values()
        moment = mpmath.fsum(
            mpmath.mpf(p.numerator) / p.denominator * ratio_power(q, p, order) for q, p in masses
        )
        from_masses = float(mpmath.log(moment) / (order - 1))
    pair = renyi.clones_pair_fmt21(eps0=eps0, n=n)
    kinks = {abs(math.log(p / q)) for p, q in proposition1(n, e).values() if p != q}
    kinks = sorted(kinks | set(np.linspace(0.0, eps0, 9)))
    total = 0.0
    x, weight = np.polynomial.legendre.leggauss(12)
    for left, right in itertools.pairwise(kinks):
        eps = left + 0.5 * (right - left) * (x + 1.0)
        delta = pair.delta(eps)
        middle = 0.5 * (delta.lower + delta.upper)
        kernel = np.exp((order - 1) * eps) + np.exp(-order * eps)
        total += 0.5 * (right - left) * math.fsum(weight * kernel * middle)
    from_profile = math.log1p(order * (order - 1) * total) / (order - 1)
    got = pair.renyi(order)
    along = joint_concavity.renyi(profiles.from_pair(pair.cells), order=order)
    assert along.upper == pytest.approx(from_masses, rel=1e-11)
    assert from_profile == pytest.approx(from_masses, rel=1e-8)
    assert got.lower * (1 - 1e-11) <= from_masses <= got.upper * (1 + 1e-11)


def ratio_power(first, second, order):
    """Return (first/second)^(1 - order) in the working precision."""
    return (mpmath.mpf(first.numerator) * second.denominator / first.denominator / second.numerator) ** (
        1 - mpmath.mpf(order)
    )

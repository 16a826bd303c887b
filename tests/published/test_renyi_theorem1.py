"""The "exact" Rényi divergence of a paper: which reading of Theorem 1 is right, and three routes to it."""

import itertools
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import oracles
from oracles.renyi_formulas import divergence, printed, proposition1, theorem1, two_counts
from shufflelib.published import renyi


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


def test_printed_pairs_stay_infinite_for_many_users():
    for build in (renyi.theorem1_pair_icassp24, renyi.theorem1_pair_arxiv24):
        assert build(eps0=1.0, n=10**6).renyi(1.5).upper == math.inf


def test_the_conference_pair_is_below_the_mechanism():
    """As (ε, δ) at n = 1, and as the sum over the outputs that both distributions have, by a factor of 20."""
    assert oracles.both_ways(theorem1(1, 3, F(1, 3)), F(1)) == F(1, 3)
    assert oracles.worst_shuffled_hockey_stick(oracles.generalized_rr(3, 2), 1, F(1)) == F(1, 2)
    truth = worst_divergence(10, 5, 2, inputs=(2,))
    assert divergence(theorem1(5, 10, F(1, 10)), 2, overlap_only=True) < 0.05 * truth
    # the arXiv reading errs in the other direction here: it is just not the number of any pair
    assert divergence(theorem1(5, 10, F(10, 11)), 2, overlap_only=True) > truth


def knots_of(masses):
    """Return (fpr, fnr) at every threshold of the test "reject P when a/b > t", exact."""
    levels = {}
    for (a, b), (first, second) in masses.items():
        key = F(a, b) if b else math.inf
        old = levels.get(key, (0, 0))
        levels[key] = old[0] + first, old[1] + second
    fpr, fnr = [F(0)], [F(1)]
    for key in sorted(levels, reverse=True):
        fpr.append(fpr[-1] + levels[key][0])
        fnr.append(fnr[-1] - levels[key][1])
    return sorted(levels, reverse=True), fpr, fnr


def both_tests(n, e):
    """Yield each version's curve with the exact masses that its equations are about."""
    yield renyi.ratio_test_arxiv24(eps0=math.log(e), n=n), proposition1(n, e)
    one = {(0, 1): F(1)}, {(1, 0): F(1)}
    yield renyi.ratio_test_icassp24(eps0=math.log(e), n=n), two_counts(n, 1 / F(e), *one)


@pytest.mark.parametrize(("e", "n"), [(2, 1), (3, 2), (2, 5), (10, 7)])
def test_curves_hold_the_error_rates_of_the_proofs(e, n):
    for curve, masses in both_tests(n, e):
        _, fpr, fnr = knots_of(masses)
        lowest = dict(zip(fpr, fnr, strict=True))  # the last one where P has no mass
        for x, y in lowest.items():
            assert curve.fnr(float(x)) == pytest.approx(float(y), abs=1e-12)


@pytest.mark.parametrize(("e", "n"), [(2, 1), (3, 2), (2, 5), (10, 7)])
def test_the_reflected_arxiv_curve_is_the_trade_off_function(e, n):
    masses = proposition1(n, e)
    curve = renyi.ratio_test_arxiv24(eps0=math.log(e), n=n)
    pair = renyi.clones_pair_fmt21(eps0=math.log(e), n=n)
    for fpr in (F(0), F(1, 1000), F(1, 20), F(1, 3), F(4, 5), F(1)):
        truth = float(oracles.tradeoff(masses, fpr))
        assert curve.reflected.fnr(float(fpr)) == pytest.approx(truth, abs=1e-12)
        assert pair.tradeoff(float(fpr)).lower == pytest.approx(truth, abs=1e-9)
        assert curve.fnr(float(fpr)) >= 1 - float(fpr) - 1e-12  # as printed: above perfect privacy


@pytest.mark.parametrize(("e", "n"), [(2, 1), (3, 3), (2, 8), (10, 20)])
@pytest.mark.parametrize("order", [1.3, 2.0, 4.5, 40.0])
def test_three_routes_to_one_renyi_divergence(e, n, order):
    """Along the trade-off function, from the masses, and over ε of both directions' δ."""
    eps0 = math.log(e)
    curve = renyi.ratio_test_arxiv24(eps0=eps0, n=n)
    assert curve.renyi(order) == pytest.approx(curve.reflected.renyi(order), rel=1e-13)
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
    assert curve.renyi(order) == pytest.approx(from_masses, rel=1e-11)
    assert from_profile == pytest.approx(from_masses, rel=1e-8)
    assert got.lower * (1 - 1e-11) <= from_masses <= got.upper * (1 + 1e-11)


def ratio_power(first, second, order):
    """Return (first/second)^(1 - order) in the working precision."""
    return (mpmath.mpf(first.numerator) * second.denominator / first.denominator / second.numerator) ** (
        1 - mpmath.mpf(order)
    )


def test_the_conference_curve_is_flat_and_its_cut_number_is_no_bound():
    curve = renyi.ratio_test_icassp24(eps0=4.0, n=400)
    assert curve.renyi(1.0001) == curve.renyi(4) == math.inf
    certified = renyi.binary_rr_pair(eps0=4.0, n=400).renyi(4)
    assert curve.renyi_to_first_zero(4) < 0.65 * certified.lower
    loose = renyi.ratio_test_icassp24(eps0=0.1, n=100).renyi_to_first_zero(4)
    assert loose > 400 * renyi.generic_pair(eps0=0.1, n=100).renyi(4).upper
    one = {(0, 1): F(1)}, {(1, 0): F(1)}
    for e, n in ((2, 2), (3, 5), (10, 4)):
        exact = divergence(two_counts(n, 1 / F(e), *one), 3, overlap_only=True)
        got = renyi.ratio_test_icassp24(eps0=math.log(e), n=n).renyi_to_first_zero(3)
        assert got == pytest.approx(exact, rel=1e-11)
    assert renyi.ratio_test_icassp24(eps0=1.0, n=1).renyi_to_first_zero(2) == -math.inf


# ---------------------------------------------------------------- Theorem 1 as printed


def clones(n, e):
    """Return {(v, k): P(C = v, A = k)}."""
    return {
        (v, k): math.comb(n - 1, v) * F(1, e) ** v * (1 - F(1, e)) ** (n - 1 - v) * F(math.comb(v, k), 2**v)
        for v in range(n)
        for k in range(v + 1)
    }


def literal_icassp(n, e, fpr):
    """Equations (5)-(7) with thresholds scanned over a fine set of exact t, infinity last."""
    distribution = clones(n, e)

    def rate(t):
        total = F(0)
        for (v, k), mass in distribution.items():
            if v and t * v != 1 and k > (t * v + t) / (t * v - 1):
                total += mass
        return total

    grid = {F(1, w) for w in range(1, n)} | {F(j, 60) for j in range(1, 400)} | {F(1, 1000)}
    allowed = [t for t in sorted(grid) if rate(t) <= fpr]
    if allowed and allowed[0] == F(1, 1000):
        g = F(0)
    else:
        g = allowed[0] if allowed else None
    hit = F(0)
    for (v, k), mass in distribution.items():
        if v and k == (v if g is None else math.ceil((g * v - 1) / (g + 1))):
            hit += mass
    return 1 - fpr - hit


def literal_arxiv(n, e, fpr):
    """The arXiv version's h with thresholds at the ratios that occur."""
    distribution = clones(n, e)
    levels, rates, _ = knots_of(proposition1(n, e))
    g = min(level for level, rate in zip(levels, rates, strict=False) if rate <= fpr)
    hit = F(0)
    for (v, k), mass in distribution.items():
        low = F(v) if g == math.inf else (g * v - 1) / (g + 1)
        if low < k <= low + 1:
            hit += mass
    return 1 - fpr - (F(1, e) - 1) / (F(1, e) + 1) * hit


@pytest.mark.parametrize(("e", "n"), [(2, 1), (3, 2), (2, 5), (5, 8)])
def test_letter_by_letter_functions(e, n):
    for fpr in (F(0), F(1, 100), F(1, 7), F(1, 2), F(9, 10), F(1)):
        at = {"eps0": math.log(e), "n": n, "fpr": float(fpr)}
        assert renyi.theorem1_tradeoff_icassp24(**at) == pytest.approx(
            float(literal_icassp(n, e, fpr)), abs=1e-12
        )
        assert renyi.theorem1_tradeoff_arxiv24(**at) == pytest.approx(
            float(literal_arxiv(n, e, fpr)), abs=1e-12
        )


@pytest.mark.parametrize("h", [renyi.theorem1_tradeoff_icassp24, renyi.theorem1_tradeoff_arxiv24])
def test_read_literally_the_slope_is_minus_one_and_the_integral_says_perfect_privacy(h):
    """Almost everywhere |h'| = 1, so that the integral is 1 and D = 0."""
    fpr = np.linspace(0.0013, 0.9987, 60)
    step = 1e-7
    rise = [h(eps0=1.0, n=20, fpr=x + step) - h(eps0=1.0, n=20, fpr=x) for x in fpr]
    assert np.median(rise) == pytest.approx(-step, rel=1e-6)
    assert np.mean(np.abs(np.array(rise) + step) < 1e-4 * step) >= 0.95


def test_read_literally_both_versions_claim_too_much_privacy():
    """Against T(P, Q) of Proposition 1's pair, which is attained by no less private a mechanism."""
    pair = renyi.clones_pair_fmt21(eps0=1.0, n=20)
    truth = pair.tradeoff(0.05).upper
    assert printed(truth, "0.902")
    for h, value in ((renyi.theorem1_tradeoff_icassp24, "0.929"), (renyi.theorem1_tradeoff_arxiv24, "0.973")):
        claimed = h(eps0=1.0, n=20, fpr=0.05)
        assert printed(claimed, value)
        assert claimed > truth + 0.02
    # even the real mechanism is easier to test than both say
    attack = renyi.binary_rr_pair(eps0=1.0, n=20)
    attained = min(attack.tradeoff(0.05).upper, attack.reversed.tradeoff(0.05).upper)
    assert attained < 0.929


def test_the_arxiv_h_is_above_the_diagonal_and_meets_the_curve_at_its_thresholds():
    e, n = 3, 6
    _, fpr, fnr = knots_of(proposition1(n, e))
    for x, y in list(zip(fpr, fnr, strict=True))[1:-1]:
        at = float(x) + 1e-12
        got = renyi.theorem1_tradeoff_arxiv24(eps0=math.log(e), n=n, fpr=at)
        assert got == pytest.approx(float(y), abs=1e-11)
        assert got >= 1 - at

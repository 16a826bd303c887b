"""Published Rényi formulas: printed numbers, the readings of Theorem 1, three routes, refuted claims."""

import itertools
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from scipy import special

import oracles
from shufflelib import renyi
from shufflelib.profiles import Gaussian

# ---------------------------------------------------------------- oracles of this file


def two_counts(n, clone, first, second):
    """Return {(a, b): (P, Q)} from the definition: C ~ Bin(n-1, clone), A ~ Bin(C, 1/2), one more symbol.

    ``first`` and ``second`` give the law under P and under Q of what the changed user adds to (a, b).
    """
    masses = {}
    for c in range(n):
        for a in range(c + 1):
            mass = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c) * F(math.comb(c, a), 2**c)
            for step in first.keys() | second.keys():
                key = (a + step[0], c - a + step[1])
                old = masses.get(key, (F(0), F(0)))
                masses[key] = (old[0] + mass * first.get(step, 0), old[1] + mass * second.get(step, 0))
    return {key: pair for key, pair in masses.items() if any(pair)}


def proposition1(n, e):
    share = F(e) / (e + 1)
    tokens = {(1, 0): share, (0, 1): 1 - share}, {(0, 1): share, (1, 0): 1 - share}
    return two_counts(n, 1 / F(e), *tokens)


def theorem1(n, e, share):
    none = {(0, 0): 1 - share}
    return two_counts(n, 1 / F(e), {(0, 1): share, **none}, {(1, 0): share, **none})


def divergence(masses, order, *, overlap_only=False):
    """Return D_order(P||Q) of exact masses; ``overlap_only`` leaves out where Q has none."""
    total = F(0)
    for first, second in masses.values():
        if first and not second and not overlap_only:
            return math.inf
        if first and second:
            total += F(first) ** order / F(second) ** (order - 1)
    return math.log(total) / (order - 1) if total else -math.inf


def worst_divergence(e, n, order, inputs=(2, 3)):
    """Return the largest D over all neighbouring datasets of d-ary randomized response, exact."""
    worst = 0.0
    for d in inputs:
        pmf = oracles.generalized_rr(e, d)
        for others in itertools.combinations_with_replacement(range(d), n - 1):
            masses = oracles.shuffled_laws(pmf, 0, 1, others)
            worst = max(worst, divergence(masses, order), divergence(oracles.swapped(masses), order))
    return worst


def binary_divergences(e, n, order):
    """Return D(changed||unchanged) and D(unchanged||changed) of binary RR, others equal; exact moments."""
    e = F(e)
    moments = [F(0), F(0)]
    for m in range(n + 1):
        mass = math.comb(n, m) * e ** (n - m) / (e + 1) ** n
        ratio = 1 / e + F(m, n) * (e - 1 / e)
        moments[0] += mass * ratio**order
        moments[1] += mass * ratio ** (1 - order)
    return tuple(math.log(moment) / (order - 1) for moment in moments)


def summed(log_mass, loss, order):
    """Return log(sum of mass e^{order loss})/(order - 1), small divergences without cancellation."""
    small = order * loss < 30.0
    moderate = np.where(small, loss, 0.0)
    excess = np.exp(log_mass) * (np.expm1(order * moderate) - order * np.expm1(moderate))
    large = np.exp(np.minimum(log_mass + order * loss, 700.0))
    return math.log1p(math.fsum(np.where(small, excess, large).ravel())) / (order - 1.0)


def float_clones(eps0, n, order, clone):
    """Return D of the symmetric pair with the given clone probability, 10 sd around the mean."""
    e, r = math.exp(eps0), clone / 2.0
    reach = 10.0 * math.sqrt(n * r) + 10.0 + 2.5 * order
    count = np.arange(max(0, math.floor(n * r - reach)), min(n, math.ceil(n * r + reach)) + 1.0)
    a, b = np.meshgrid(count, count, indexing="ij")
    a, b = a[(a + b <= n) & (a + b > 0)], b[(a + b <= n) & (a + b > 0)]
    c = n - a - b
    ways = special.gammaln(n + 1.0) - special.gammaln(a + 1) - special.gammaln(b + 1) - special.gammaln(c + 1)
    others = ways + (a + b) * math.log(r) + special.xlog1py(c, -2.0 * r)
    return summed(
        others + np.log((a + e * b) / ((e + 1.0) * r * n)), np.log((e * a + b) / (a + e * b)), order
    )


def float_third_value(eps0, n, order, most):
    """Return 3-ary RR's D with all others on a third value, histograms up to ``most``: a lower bound."""
    e = math.exp(eps0)
    a, b = np.meshgrid(np.arange(most + 1.0), np.arange(most + 1.0), indexing="ij")
    a, b = a[a + b <= n], b[a + b <= n]
    c = n - a - b
    ways = special.gammaln(n + 1.0) - special.gammaln(a + 1) - special.gammaln(b + 1) - special.gammaln(c + 1)
    log_mass = ways + c * eps0 - n * math.log(e + 2.0)
    first, second = (e * a + b + c / e) / n, (a + e * b + c / e) / n
    terms = log_mass + order * np.log(first) - (order - 1) * np.log(second)
    return special.logsumexp(terms) / (order - 1.0)


def float_binary(eps0, n, order):
    """Return D(changed||unchanged) of binary RR, all others equal, every count listed."""
    e = math.exp(eps0)
    m = np.arange(n + 1.0)
    log_mass = special.gammaln(n + 1.0) - special.gammaln(m + 1.0) - special.gammaln(n - m + 1.0)
    log_mass = log_mass + (n - m) * eps0 - n * math.log(e + 1.0)
    return summed(log_mass, np.log(1.0 / e + m / n * (e - 1.0 / e)), order)


# ---------------------------------------------------------------- printed numbers

# n = 10^4, order 4: normal limit, Girgis simplified, Girgis full, FMT'21 pair, generic pair, binary RR
TABLE = [
    (0.1, "8.84e-4", "1.30e-5", "4.46e-6", "2.207e-6", "2.102e-6", "2.002e-6"),
    (0.5, "1.32e-3", "7.40e-4", "1.77e-4", "7.912e-5", "6.355e-5", "5.105e-5"),
    (1.0, "2.17e-3", "8.56e-3", "1.39e-3", "4.644e-4", "3.176e-4", "2.172e-4"),
    (2.0, "5.91e-3", "3.22e-1", "4.26e-2", "3.430e-3", "1.947e-3", "1.104e-3"),
    (4.0, "4.37e-2", "167", "2.49", "4.084e-2", "2.073e-2", "1.042e-2"),
]


def printed(value, text):
    """Whether ``value`` rounds to the digits shown (the last one may be rounded up from a half)."""
    mantissa, _, exponent = text.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(value - float(text)) <= 0.5001 * unit


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"eps0={row[0]}")
def test_table_at_ten_thousand_users_and_order_four(row):
    eps0, limit, simplified, full, fmt21, generic, binary = row
    at = {"eps0": eps0, "n": 10**4, "order": 4}
    assert printed(renyi.gaussian_ccg24(**at), limit)
    assert printed(renyi.girgis21_upper_simplified(**at), simplified)
    assert printed(renyi.girgis21_upper(**at), full)
    for value, text, pair in (
        (float_clones(eps0, 10**4, 4, math.exp(-eps0)), fmt21, renyi.clones_pair_fmt21),
        (float_clones(eps0, 10**4, 4, 2 / (math.exp(eps0) + 1)), generic, renyi.generic_pair),
    ):
        assert printed(value, text)
        got = pair(eps0=eps0, n=10**4).renyi(4)
        assert got.lower * (1 - 1e-8) <= value <= got.upper * (1 + 1e-8)
        assert got.upper <= got.lower * (1 + 2e-3)
    value = float_binary(eps0, 10**4, 4)
    assert printed(value, binary)
    assert value * (1 - 2e-3) <= renyi.girgis21_lower_exact(**at) <= value * (1 + 1e-8)


def test_the_figure_over_orders():
    at = {"eps0": 2.0, "n": 10**4, "order": 40}
    assert printed(renyi.gaussian_ccg24(**at), "5.91e-2")
    assert printed(renyi.girgis21_upper(**at), ".322")
    assert printed(float_clones(2.0, 10**4, 40, math.exp(-2.0)), ".0343")
    assert printed(float_clones(2.0, 10**4, 40, 2 / (math.exp(2.0) + 1)), ".01947")
    assert printed(float_binary(2.0, 10**4, 40), ".01089")


def mp_girgis(eps0, n, order):
    """Return the full sum, the short form and the closed lower bound, literally, in 40 digits."""
    e = mpmath.exp(eps0)
    users = mpmath.floor((n - 1) / (2 * e)) + 1
    chernoff = mpmath.exp(eps0 * order - (n - 1) / (8 * e))
    higher = mpmath.fsum(
        mpmath.binomial(order, i)
        * i
        * mpmath.gamma(mpmath.mpf(i) / 2)
        * ((e**2 - 1) ** 2 / (2 * e**2 * users)) ** (mpmath.mpf(i) / 2)
        for i in range(3, order + 1)
    )
    second = mpmath.binomial(order, 2) * (e - 1) ** 2
    full = mpmath.log(1 + second / (users * e) + higher + chernoff) / (order - 1)
    short = mpmath.log(mpmath.exp(mpmath.mpf(order) ** 2 * (e - 1) ** 2 / users) + chernoff) / (order - 1)
    return full, short, mpmath.log(1 + second / (n * e)) / (order - 1)


@pytest.mark.parametrize(
    ("eps0", "n", "order"),
    [(1e-3, 50, 2), (0.1, 10**6, 3), (1.0, 1, 2), (2.0, 500, 40), (6.0, 10**5, 9), (4.0, 10**9, 900)],
)
def test_girgis_formulas_are_the_printed_ones(eps0, n, order):
    at = {"eps0": eps0, "n": n, "order": order}
    with mpmath.workdps(40):
        values = mp_girgis(mpmath.mpf(eps0), n, order)
    bounds = renyi.girgis21_upper, renyi.girgis21_upper_simplified, renyi.girgis21_lower
    for bound, value in zip(bounds, values, strict=True):
        assert bound(**at) == pytest.approx(float(value), rel=1e-11), bound.__name__


def test_girgis_formulas_do_not_overflow():
    at = {"eps0": 50.0, "n": 1000, "order": 10**4}
    with mpmath.workdps(40):
        full, short, low = mp_girgis(mpmath.mpf(50), 1000, 10**4)
    assert renyi.girgis21_upper(**at) == pytest.approx(float(full), rel=1e-10)
    assert renyi.girgis21_upper_simplified(**at) == pytest.approx(float(short), rel=1e-10)
    assert renyi.girgis21_lower(**at) == pytest.approx(float(low), rel=1e-10)
    extreme = {"eps0": 700.0, "n": 10, "order": 10**4}
    assert 700.0 < renyi.girgis21_upper(**extreme) < math.inf
    assert renyi.girgis21_upper_simplified(**extreme) == math.inf
    assert renyi.girgis21_lower(**extreme) < 700.0
    assert renyi.gaussian_ccg24(eps0=700.0, n=2, order=1e300) == math.inf
    assert renyi.erlingsson19_growth(eps0=700.0, n=2, order=3) == math.inf


def test_the_sum_starts_at_three():
    """Starting it at two, as one released code does, counts the second moment twice."""
    eps0, n, order = 1.0, 10**4, 2
    e = math.exp(eps0)
    users = math.floor((n - 1) / (2 * e)) + 1
    second = (e - 1) ** 2 / (users * e)
    assert renyi.girgis21_upper(eps0=eps0, n=n, order=order) == pytest.approx(math.log1p(second), rel=1e-12)
    released = 2 * (e * e - 1) ** 2 / (2 * e * e * users)
    assert math.log1p(second + released) > 3 * math.log1p(second)


@pytest.mark.parametrize(("e", "n"), [(F(3, 2), 1), (2, 6), (9, 25)])
def test_the_exact_lower_bound_is_the_printed_expectation(e, n):
    for order in (2, 3, 7):
        total = F(0)
        for m in range(n + 1):
            mass = math.comb(n, m) * F(e) ** (n - m) / (F(e) + 1) ** n
            total += mass * (1 + (F(e) ** 2 - 1) / (n * F(e)) * (m - n / (F(e) + 1))) ** order
        value = math.log(total) / (order - 1)
        got = renyi.girgis21_lower_exact(eps0=math.log(e), n=n, order=order)
        assert value * (1 - 1e-9) <= got <= value * (1 + 1e-12)
        assert value == pytest.approx(binary_divergences(e, n, order)[0], rel=1e-12)


# ---------------------------------------------------------------- pairs


@pytest.mark.parametrize("e", [F(11, 10), 3, 20])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_pairs_are_what_the_papers_define(e, n):
    e = F(e)
    share = e / (e + 1)
    both = {(1, 0): share, (0, 1): 1 - share}, {(0, 1): share, (1, 0): 1 - share}
    binary = oracles.generalized_rr(e, 2)
    cases = (
        (renyi.clones_pair_fmt21, proposition1(n, e)),
        (renyi.generic_pair, two_counts(n, 2 / (e + 1), *both)),
        (renyi.theorem1_pair_icassp24, theorem1(n, e, 1 / e)),
        (renyi.theorem1_pair_arxiv24, theorem1(n, e, 1 / (1 + 1 / e))),
        (renyi.binary_rr_pair, oracles.shuffled_laws(binary, 0, 1, (0,) * (n - 1))),
    )
    for build, masses in cases:
        pair = build(eps0=math.log(e), n=n)
        for ratio in (F(1), F(5, 4), F(5, 2)):
            truth = float(oracles.both_ways(masses, ratio))
            got = pair.delta(math.log(ratio))
            assert got.lower - 1e-12 <= truth <= got.upper + 1e-12, build.__name__
            assert got.upper - got.lower <= 1e-11
        for order in (2, 5):
            truth = max(divergence(masses, order), divergence(oracles.swapped(masses), order))
            got = pair.renyi(order)
            if math.isinf(truth):
                assert got.lower == got.upper == math.inf
            else:
                assert got.lower * (1 - 1e-12) <= truth <= got.upper * (1 + 1e-12), build.__name__
                assert got.upper <= got.lower * (1 + 1e-8)


def test_binary_rr_keeps_its_order():
    """P unchanged, Q changed; the published lower bound is D(Q||P)."""
    pair = renyi.binary_rr_pair(eps0=math.log(9), n=12)
    changed, unchanged = binary_divergences(9, 12, 4)
    low, high = pair.renyi_directed(4)
    assert low <= unchanged * (1 + 1e-12) and high >= unchanged * (1 - 1e-12)
    assert renyi.girgis21_lower_exact(eps0=math.log(9), n=12, order=4) == pytest.approx(changed, rel=1e-9)
    assert unchanged > 1.5 * changed


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
        # all others clones of the second symbol: P shows n of it, Q never does
        assert masses[0, n][0] > 0 == masses[0, n][1]
        assert divergence(masses, 2) == divergence(oracles.swapped(masses), 2) == math.inf
    for build in (renyi.theorem1_pair_icassp24, renyi.theorem1_pair_arxiv24):
        got = build(eps0=math.log(e), n=n).renyi(np.array([1.001, 2.0, 50.0]))
        assert np.isposinf(got.lower).all() and np.isposinf(got.upper).all()


def test_printed_pairs_stay_infinite_for_many_users():
    for build in (renyi.theorem1_pair_icassp24, renyi.theorem1_pair_arxiv24):
        assert build(eps0=1.0, n=10**6).renyi(1.5).upper == math.inf


def test_the_conference_pair_is_below_the_mechanism():
    """As (ε, δ) at n = 1, and as the sum over the outputs that both laws have, by a factor of 20."""
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


# ---------------------------------------------------------------- Theorem 1 letter by letter


def clones(n, e):
    """Return {(v, k): P(C = v, A = k)}."""
    return {
        (v, k): math.comb(n - 1, v) * F(1, e) ** v * (1 - F(1, e)) ** (n - 1 - v) * F(math.comb(v, k), 2**v)
        for v in range(n)
        for k in range(v + 1)
    }


def literal_icassp(n, e, fpr):
    """Equations (5)-(7) with thresholds scanned over a fine set of exact t, infinity last."""
    law = clones(n, e)

    def rate(t):
        total = F(0)
        for (v, k), mass in law.items():
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
    for (v, k), mass in law.items():
        if v and k == (v if g is None else math.ceil((g * v - 1) / (g + 1))):
            hit += mass
    return 1 - fpr - hit


def literal_arxiv(n, e, fpr):
    """The arXiv version's h with thresholds at the ratios that occur."""
    law, share = clones(n, e), F(e, e + 1)
    levels, rates, _ = knots_of(proposition1(n, e))
    g = min(level for level, rate in zip(levels, rates, strict=False) if rate <= fpr)
    hit = F(0)
    for (v, k), mass in law.items():
        low = F(v) if g == math.inf else (g * v - 1) / (g + 1)
        if low < k <= low + 1:
            hit += mass
    return 1 - fpr - (F(1, e) - 1) / (F(1, e) + 1) * hit, share


@pytest.mark.parametrize(("e", "n"), [(2, 1), (3, 2), (2, 5), (5, 8)])
def test_letter_by_letter_functions(e, n):
    for fpr in (F(0), F(1, 100), F(1, 7), F(1, 2), F(9, 10), F(1)):
        at = {"eps0": math.log(e), "n": n, "fpr": float(fpr)}
        assert renyi.theorem1_tradeoff_icassp24(**at) == pytest.approx(
            float(literal_icassp(n, e, fpr)), abs=1e-12
        )
        assert renyi.theorem1_tradeoff_arxiv24(**at) == pytest.approx(
            float(literal_arxiv(n, e, fpr)[0]), abs=1e-12
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


# ---------------------------------------------------------------- refuted and loose


@pytest.mark.parametrize(
    ("eps0", "n", "order", "third", "formula", "binary", "most"),
    [(4.0, 1000, 16, 2.213, 1.749, 2.789, 400), (6.0, 10**4, 8, 1.8169, 0.646, 2.463, 500)],
)
def test_the_normal_limit_is_below_the_truth(eps0, n, order, third, formula, binary, most):
    at = {"eps0": eps0, "n": n, "order": order}
    value = renyi.gaussian_ccg24(**at)
    assert value == pytest.approx(formula, abs=6e-4)
    assert float_third_value(eps0, n, order, most) >= third > value
    certified = renyi.binary_rr_pair(eps0=eps0, n=n).renyi(order)
    assert certified.lower >= binary > third
    # there the truth is known: the generic pair's upper end is next to it
    assert renyi.generic_pair(eps0=eps0, n=n).renyi(order).upper <= certified.lower * (1 + 2e-3)


@pytest.mark.parametrize(
    ("e", "n", "order"), [(50, 93, 2), (100, 117, 2), (30, 111, 4), (20, 207, 8), (20, 340, 16)]
)
def test_the_normal_limit_is_below_the_truth_in_exact_fractions(e, n, order):
    value = 2 * F(e) * order / (n - 1)
    moment = F(0)
    for m in range(n + 1):
        ratio = 1 / F(e) + F(m, n) * (e - 1 / F(e))
        moment += math.comb(n, m) * F(e) ** (n - m) / (F(e) + 1) ** n * ratio ** (1 - order)
    # D > value  <=>  moment > exp((order - 1) value); exp is enclosed from above by 40 digits
    with mpmath.workdps(40):
        exponent = mpmath.mpf(value.numerator) / value.denominator * (order - 1)
        threshold = mpmath.exp(exponent) * (1 + mpmath.mpf(10) ** -30)
        assert mpmath.mpf(moment.numerator) / moment.denominator > threshold
    got = renyi.gaussian_ccg24(eps0=math.log(e), n=n, order=order)
    assert got == pytest.approx(float(value), rel=1e-12)
    # one user fewer, and this dataset no longer contradicts the formula
    assert 2 * e * order / (n - 2) > binary_divergences(e, n - 1, order)[1]


def test_from_which_budget_on_the_normal_limit_fails_for_many_users():
    """Some order fails once eps0^2 > 8 e log(1 + 1/e); at half the critical order nothing fails."""
    n = 10**6
    for eps0, fails in ((2.7, False), (2.9, True)):
        e = math.exp(eps0)
        order = n * math.sqrt(math.log1p(1 / e) / (2 * e))
        truth = (-n * math.log1p(1 / e) + (order - 1) * eps0) / (order - 1)  # nobody reports the rare symbol
        assert (truth > renyi.gaussian_ccg24(eps0=eps0, n=n, order=order)) == fails
        assert renyi.binary_rr_pair(eps0=eps0, n=n).renyi(order).upper >= truth


def test_the_normal_limit_holds_and_is_loose_where_the_budget_is_small():
    for eps0, n, order in itertools.product((0.1, 1.0, 2.0, 2.5), (30, 200), (1.5, 2, 8, 64, 256)):
        upper = renyi.generic_pair(eps0=eps0, n=n).renyi(order).upper
        assert upper <= renyi.gaussian_ccg24(eps0=eps0, n=n, order=order)
    ratio = renyi.gaussian_ccg24(eps0=0.1, n=10**4, order=4) / float_clones(
        0.1, 10**4, 4, 2 / (math.exp(0.1) + 1)
    )
    assert 415 < ratio < 425


def test_the_normal_limit_as_gaussian_privacy_is_refuted_exactly():
    """Binary RR, e = 50, n = 93, all others equal, ε = log 10: 0.1268 against 0.0973."""
    e, n, ratio = F(50), 93, F(10)
    truth = F(0)
    for m in range(n + 1):
        mass = math.comb(n, m) * e ** (n - m) / (e + 1) ** n
        truth += max(mass - ratio * mass * (1 / e + F(m, n) * (e - 1 / e)), 0)
    at = {"eps0": math.log(50), "n": n}
    mu = renyi.gaussian_mu_ccg24(**at)
    assert mu == pytest.approx(2 * math.sqrt(50 / 92), rel=1e-13)
    claimed = float(oracles.gaussian_delta(mu, math.log(10)))
    assert printed(float(truth), "0.1268") and printed(claimed, "0.0973")
    assert renyi.gaussian_delta_ccg24(**at, delta0=1e-15, eps=math.log(10)) == pytest.approx(
        claimed, rel=1e-9
    )


def test_the_gaussian_trade_off_is_refuted():
    pair = renyi.binary_rr_pair(eps0=4.0, n=1000)
    attained = min(pair.tradeoff(1e-9).upper, pair.reversed.tradeoff(1e-9).upper)
    claimed = renyi.gaussian_tradeoff_ccg24(eps0=4.0, delta0=1e-15, n=1000, fpr=1e-9)
    assert attained < claimed - 5e-9


def test_the_limit_is_not_nearly_the_lower_bound():
    """The papers' figures: the ratio is above 4 everywhere, 5.4 and 6.4 in the setting shown."""
    for eps0, order, ratio in ((2.0, 4, 5.36), (2.0, 40, 6.43), (0.1, 4, 441.7), (4.0, 4, 4.22)):
        at = {"eps0": eps0, "n": 10**4, "order": order}
        got = renyi.gaussian_ccg24(**at) / renyi.girgis21_lower(**at)
        assert got == pytest.approx(ratio, rel=2e-3)
    for eps0, n, order in itertools.product((0.01, 1.0, 8.0, 30.0), (2, 100, 10**9), (2, 5, 1000)):
        at = {"eps0": eps0, "n": n, "order": order}
        assert renyi.gaussian_ccg24(**at) > 4 * renyi.girgis21_lower(**at)


def test_what_the_short_bound_is_nearly():
    """The printed 2/(n-1) λ/(λ-1) e (e-1)^2 lacks a factor λ; the ratio drawn from it is right."""
    eps0, n, order = 1.0, 10**7, 10
    e = math.exp(eps0)
    short = renyi.girgis21_upper_simplified(eps0=eps0, n=n, order=order)
    as_printed = 2 / (n - 1) * order / (order - 1) * e * (e - 1) ** 2
    assert short == pytest.approx(order * as_printed, rel=1e-4)
    ratio = short / renyi.gaussian_ccg24(eps0=eps0, n=n, order=order)
    assert ratio == pytest.approx(order / (order - 1) * (e - 1) ** 2, rel=1e-4)
    # "worse" only where that ratio exceeds 1
    at = {"eps0": 0.3, "n": 10**6, "order": 4}
    assert renyi.girgis21_upper_simplified(**at) < 0.2 * renyi.gaussian_ccg24(**at)


def test_the_short_bound_is_no_relaxation_of_the_sum():
    at = {"eps0": 0.1, "n": 1000, "order": 128}
    short, full = renyi.girgis21_upper_simplified(**at), renyi.girgis21_upper(**at)
    assert printed(short, "3.16e-3") and printed(full, "3.52e-3")
    assert short > 4 * renyi.generic_pair(eps0=0.1, n=1000).renyi(128).upper


# ---------------------------------------------------------------- the comparison table


def test_rows_of_the_comparison_table():
    at = {"eps0": 1.0, "n": 1000, "order": 2.5}
    assert renyi.erlingsson19_growth(**at) == pytest.approx(math.exp(6) * 2.5e-3, rel=1e-13)
    assert renyi.girgis21_growth(**at) == pytest.approx(math.exp(2) * 2.5e-3, rel=1e-13)
    assert renyi.clones_fmt21_growth(**at) == pytest.approx(64 * math.e * 2.5e-3, rel=1e-13)
    assert renyi.girgis21_lower_growth(**at) == pytest.approx(math.e * 2.5e-3, rel=1e-13)


def test_the_row_of_the_clones_fails_without_its_regime():
    at = {"eps0": 20.0, "n": 10**10, "order": 4}
    assert printed(renyi.clones_fmt21_growth(**at), "12.42")
    # only "nobody reports the rare symbol", with chance exp(-n log(1 + 1/e)) and loss eps0
    e = math.exp(20.0)
    least = 20.0 - 10**10 * math.log1p(1 / e) / 3
    assert printed(least, "13.13") and least > renyi.clones_fmt21_growth(**at)


@pytest.mark.parametrize(("eps0", "fails"), [(15.9, False), (16.1, True)])
def test_from_which_budget_on_the_row_of_the_clones_fails_for_many_users(eps0, fails):
    n, rare = 10**13, math.log1p(math.exp(-eps0))
    order = n * math.sqrt(rare / (64 * math.exp(eps0)))
    truth = eps0 - n * rare / (order - 1)  # of the event alone
    assert (truth > renyi.clones_fmt21_growth(eps0=eps0, n=n, order=order)) == fails


def test_the_lower_row_is_no_lower_bound():
    at = {"eps0": 1.0, "n": 10**4, "order": 4}
    assert renyi.girgis21_lower_growth(**at) > 3 * renyi.generic_pair(eps0=1.0, n=10**4).renyi(4).upper


@pytest.mark.parametrize("eps0", [0.5, 2.0, 4.0, 6.0])
def test_the_shape_of_the_row_without_a_constant(eps0):
    """At the largest order of its regime the generic pair is e/(e+1) … 1.004 times the shape."""
    e = math.exp(eps0)
    for order in (1.05, 2.0, 20.0):
        n = math.ceil(order * 16 * eps0 * e)
        shape = order * (1 - 1 / e) ** 2 * e / n
        ratio = float_clones(eps0, n, order, 2 / (e + 1)) / shape
        assert e / (e + 1) * 0.9999 <= ratio <= min(1.004, e / (e + 1) + 0.01)


# ---------------------------------------------------------------- approximate local guarantees


def test_the_local_delta_corollary_is_the_printed_formula():
    eps0, delta0, n, eps, fpr = 1.0, 1e-5, 500, 0.3, 0.05
    with mpmath.workdps(30):
        e = mpmath.exp(eps0)
        event = 1 - (1 - (1 + 1 / (2 * e)) * mpmath.mpf(delta0)) ** n
        mu = 2 * mpmath.sqrt(e / (n - 1))
        rest = oracles.gaussian_delta(mu, eps)
        quantile = -mpmath.sqrt(2) * mpmath.erfinv(2 * fpr / (1 - event) - 1)
        fnr = (1 - event) * mpmath.ncdf(quantile - mu)
    at = {"eps0": eps0, "delta0": delta0, "n": n}
    assert renyi.gaussian_delta_ccg24(**at, eps=eps) == pytest.approx(
        float(event + (1 - event) * rest), rel=1e-11
    )
    assert renyi.gaussian_tradeoff_ccg24(**at, fpr=fpr) == pytest.approx(float(fnr), rel=1e-11)
    assert renyi.gaussian_tradeoff_ccg24(**at, fpr=0.0) == pytest.approx(float(1 - event), rel=1e-12)
    assert renyi.gaussian_tradeoff_ccg24(**at, fpr=1.0 - 1e-6) == 0.0


def test_the_two_forms_of_the_corollary_agree():
    """For every ε, f >= 1 - δ(ε) - e^ε α, with equality at the best ε."""
    at = {"eps0": 1.5, "delta0": 1e-4, "n": 50}
    fpr = 0.03
    eps = np.linspace(0.0, 4.0, 2001)
    lines = [1 - renyi.gaussian_delta_ccg24(**at, eps=float(x)) - math.exp(x) * fpr for x in eps]
    assert max(lines) == pytest.approx(renyi.gaussian_tradeoff_ccg24(**at, fpr=fpr), rel=1e-5)


def test_the_corollary_at_its_ends():
    huge = {"eps0": 60.0, "delta0": 1e-9, "n": 2}
    assert renyi.gaussian_delta_ccg24(**huge, eps=1.0) == 1.0
    assert renyi.gaussian_tradeoff_ccg24(**huge, fpr=0.01) == 0.0
    sure = {"eps0": 1.0, "delta0": 0.9, "n": 10}
    assert renyi.gaussian_delta_ccg24(**sure, eps=1.0) == 1.0
    assert renyi.gaussian_tradeoff_ccg24(**sure, fpr=0.0) == 0.0
    small = renyi.gaussian_delta_ccg24(eps0=1.0, delta0=1e-18, n=10**4, eps=0.5)
    assert small == pytest.approx(
        Gaussian(renyi.gaussian_mu_ccg24(eps0=1.0, n=10**4)).delta(0.5).upper, rel=1e-6
    )


def test_the_cited_term_is_charged_on_both_datasets_with_the_larger_constant():
    at = {"eps": 0.2, "delta": 1e-6, "eps0": 1.0, "delta0": 1e-12, "n": 1000}
    added = renyi.clones_delta_fmt21(**at) - 1e-6
    assert added == pytest.approx((math.exp(0.2) + 1) * (1 + math.e / 2) * 1e-9, rel=1e-6)
    # the corollary's own term, on one dataset with the smaller constant, is a quarter of it
    event = renyi.gaussian_delta_ccg24(eps0=1.0, delta0=1e-12, n=1000, eps=5.0)
    assert added > 4 * event
    assert renyi.clones_delta_fmt21(eps=700.0, delta=0.5, eps0=700.0, delta0=0.5, n=10**15) == 1.0

"""Published Rényi formulas and pairs: printed numbers, definitions, and the rows of a comparison table."""

import math
from fractions import Fraction as F

import mpmath
import pytest

import oracles
from oracles.renyi_formulas import (
    binary_divergences,
    divergence,
    float_binary,
    float_clones,
    printed,
    proposition1,
    theorem1,
    two_counts,
)
from shufflelib.published import renyi

# ---------------------------------------------------------------- printed numbers

# n = 10^4, order 4: normal limit, Girgis simplified, Girgis full, FMT'21 pair, generic pair, binary RR
TABLE = [
    (0.1, "8.84e-4", "1.30e-5", "4.46e-6", "2.207e-6", "2.102e-6", "2.002e-6"),
    (0.5, "1.32e-3", "7.40e-4", "1.77e-4", "7.912e-5", "6.355e-5", "5.105e-5"),
    (1.0, "2.17e-3", "8.56e-3", "1.39e-3", "4.644e-4", "3.176e-4", "2.172e-4"),
    (2.0, "5.91e-3", "3.22e-1", "4.26e-2", "3.430e-3", "1.947e-3", "1.104e-3"),
    (4.0, "4.37e-2", "167", "2.49", "4.084e-2", "2.073e-2", "1.042e-2"),
]


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
        (renyi.binary_rr_pair, oracles.shuffled_distributions(binary, 0, 1, (0,) * (n - 1))),
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

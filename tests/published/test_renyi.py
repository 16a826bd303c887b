"""Published Rényi formulas and pairs: printed numbers, definitions, and the rows of a comparison table."""

import math
from fractions import Fraction as F

import mpmath
import pytest

import oracles
from claims import exact_shuffle
from oracles import neighbours
from oracles.renyi_formulas import (
    binary_divergences,
    divergence,
    proposition1,
    theorem1,
    two_counts,
)
from shufflelib.published import renyi

# ---------------------------------------------------------------- printed numbers


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
    binary = exact_shuffle.randomized_response(e, 2)
    others_equal = [oracles.shuffled_distribution([row, *[binary[0]] * (n - 1)]) for row in binary]
    cases = (
        (renyi.clones_pair_fmt21, proposition1(n, e)),
        (renyi.generic_pair, two_counts(n, 2 / (e + 1), *both)),
        (renyi.theorem1_pair_icassp24, theorem1(n, e, 1 / e)),
        (renyi.theorem1_pair_arxiv24, theorem1(n, e, 1 / (1 + 1 / e))),
        (renyi.binary_rr_pair, neighbours.beside(*others_equal)),
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


# ---------------------------------------------------------------- the comparison table


def test_rows_of_the_comparison_table():
    at = {"eps0": 0.5, "n": 1000, "order": 2.5}
    assert renyi.gaussian_ccg24(**at) == pytest.approx(2 * math.exp(0.5) * 2.5 / 999, rel=1e-13)
    assert renyi.erlingsson19_growth(**at) == pytest.approx(math.exp(3) * 2.5e-3, rel=1e-13)
    assert renyi.girgis21_growth(**at) == pytest.approx(math.e * 2.5e-3, rel=1e-13)
    assert renyi.clones_fmt21_growth(**at) == pytest.approx(64 * math.exp(0.5) * 2.5e-3, rel=1e-13)
    assert renyi.girgis21_lower_growth(**at) == pytest.approx(math.exp(0.5) * 2.5e-3, rel=1e-13)

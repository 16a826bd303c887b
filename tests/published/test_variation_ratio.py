"""The decomposition, lower bound and search of the variation-ratio paper, against fractions and brackets."""

import math
from fractions import Fraction

import numpy as np
import pytest

from claims import exact_channels, exact_shuffle
from claims.exact_count_pair import both_ways
from shufflelib import randomizers
from shufflelib.published import variation_ratio
from shufflelib.shuffling import VariationRatioPair


def test_its_parameters_are_those_of_the_worst_input():
    pair = variation_ratio.lower_bound_pair([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.25, 0.5, 0.25]], n=7)
    assert (pair.n, pair.p, round(pair.beta, 12)) == (7, 2.5, 0.3)
    assert (pair.q0, pair.q1) == (2.0, 2.0)


@pytest.mark.parametrize("options, n, ratio", [(3, 2, Fraction(5, 4)), (3, 3, Fraction(3, 2)), (4, 3, 2)])
def test_it_lies_below_the_truth_for_symmetric_mechanisms(options, n, ratio):
    rows = exact_shuffle.randomized_response(3, options)
    truth = both_ways(rows, 0, 1, (2,) * (n - 1), ratio)
    pair = variation_ratio.lower_bound_pair(np.array(rows, float), n=n)
    assert 0.0 < pair.delta(eps=math.log(ratio)).upper <= float(truth) * (1 + 1e-12)
    assert exact_channels.total_variation(rows) == Fraction(pair.beta).limit_denominator(1000)


def test_it_exceeds_the_truth_where_the_two_sides_differ():
    rows = [[Fraction(1, 5), Fraction(4, 5)], [Fraction(2, 5), Fraction(3, 5)]]
    truth = max(both_ways(rows, 0, 1, (x,), Fraction(5, 4)) for x in (0, 1))
    pair = variation_ratio.lower_bound_pair(np.array(rows, float), n=2)
    assert pair.delta(eps=math.log(5 / 4)).lower > float(truth)


@pytest.mark.parametrize("steps", [1, 5, 20, 40])
@pytest.mark.parametrize("upper", [True, False])
def test_the_search_ends_on_the_promised_side(steps, upper):
    pair = VariationRatioPair.of(randomizers.generic(eps0=1.0), n=1000)
    found = variation_ratio.search_epsilon(pair, delta=1e-6, steps=steps, upper=upper)
    truth = pair.epsilon(delta=1e-6)
    assert (found >= truth.lower) if upper else (found <= truth.upper)
    assert abs(found - truth.upper) <= 1.0 / 2**steps + 1e-9


@pytest.mark.parametrize(
    "randomizer",
    [
        randomizers.generalized_rr(eps0=1.0, d=6),
        randomizers.binary_rr(eps0=2.0),
        randomizers.subset(eps0=0.5, d=6, k=2),
        randomizers.generalized_rr(eps0=1e-6, d=4),
    ],
)
def test_the_parts_mix_to_the_reports(randomizer):
    table = randomizer.pmf()
    parts = variation_ratio.mixture_parts(table)
    high, low, r = parts.beta + parts.alpha, parts.alpha, parts.r
    kept, theirs = (1 - high - low) * parts.rest, (1 - 2 * r) * parts.others
    assert np.allclose(high * parts.left + low * parts.right + kept, table[0], atol=1e-14)
    assert np.allclose(low * parts.left + high * parts.right + kept, table[1], atol=1e-14)
    assert np.allclose(r * (parts.left + parts.right) + theirs, table, atol=1e-14)
    for part in (parts.left, parts.right, parts.rest, *parts.others):
        assert part.min() >= 0.0 and part.sum() in (0.0, pytest.approx(1.0))
    assert parts.p == pytest.approx(math.exp(randomizer.eps0)) == parts.q


def test_the_parts_of_reports_with_disjoint_values():
    parts = variation_ratio.mixture_parts([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert (parts.p, parts.q, parts.alpha, parts.r, parts.beta) == (math.inf, math.inf, 0.0, 0.0, 1.0)
    assert np.array_equal(parts.others, [[1, 0, 0], [0, 0, 1], [0, 1, 0]]) and not parts.rest.any()


@pytest.mark.parametrize(
    "table, words",
    [
        ([[0.5, 0.6], [0.5, 0.5]], r"pass randomizer\.pmf\(\)"),
        ([[0.5, math.nan], [0.5, 0.5]], "table"),
        ([0.5, 0.5], r"pass randomizer\.pmf\(\)"),
        ([[-0.5, 1.5], [0.5, 0.5]], "table"),
        ([[0.5, 0.5], [0.5, 0.5]], "rows that differ"),
        ([[0.5, 0.5]], "second"),
        ([], "table"),
    ],
)
def test_hostile_tables_are_refused(table, words):
    for function in (variation_ratio.mixture_parts, lambda rows: variation_ratio.lower_bound_pair(rows, n=2)):
        with pytest.raises((TypeError, ValueError), match=words):
            function(table)


def test_a_pair_whose_epsilon_has_no_end_is_refused():
    pair = VariationRatioPair(n=10, p=math.inf, beta=1.0, q0=2.0)
    with pytest.raises(ValueError, match="finite p"):
        variation_ratio.search_epsilon(pair, delta=1e-6)

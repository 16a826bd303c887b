"""Slots with personal budgets: enclosed, sound for the mechanism of Definition 6, monotone, hostile input."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import oracles
from shufflelib.numerics.certified import Interval
from shufflelib.published import renyi
from shufflelib.shuffling import PersonalizedPair
from shufflelib.shuffling.personal import permute_then_randomize

BUDGETS = np.random.default_rng(7).uniform(0.05, 2.0, 400)


CASES = oracles.reference("personalized")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['eps0'])} slots")
def test_reference_values_lie_inside(case):
    pair = PersonalizedPair(case["eps0"])
    for eps, value in case["hockey_stick"]:
        bracket, truth = pair.delta(float(eps)), float(value)
        assert bracket.lower <= truth * (1 + 1e-14) and truth <= bracket.upper * (1 + 1e-14)
        assert bracket.upper - bracket.lower <= 1e-9 * truth
    for order, value in case["renyi"]:
        bracket, truth = pair.renyi(float(order)), float(value)
        assert bracket.lower <= truth * (1 + 1e-14) and truth <= bracket.upper * (1 + 1e-14)
        assert bracket.upper - bracket.lower <= 1e-9 * truth


def by_counts(eps, *groups):
    """δ(ε) of groups (budget, slots), every count of either symbol in every group, by addition."""
    total, mass = np.zeros(1), np.ones(1)
    for eps0, n in groups:
        e, r = math.exp(eps0), 1.0 / (math.exp(eps0) + 1.0)
        found = np.array(
            [
                (
                    a * (e - math.exp(eps)) + b * (1.0 - math.exp(eps) * e),
                    math.comb(n, a) * math.comb(n - a, b) * r ** (a + b) * (1 - 2 * r) ** (n - a - b),
                )
                for a in range(n + 1)
                for b in range(n + 1 - a)
            ]
        )
        total = np.add.outer(total, found[:, 0]).ravel()
        mass = np.outer(mass, found[:, 1]).ravel()
    return math.fsum(mass * np.maximum(total, 0.0)) / sum(n for _, n in groups)


@pytest.mark.parametrize("groups", [((0.5, 15), (1.5, 10)), ((0.2, 20), (0.9, 20)), ((1.0, 12), (0.05, 25))])
@pytest.mark.parametrize("eps", [0.0, 0.2])
def test_the_contour_encloses_a_sum_over_counts_to_six_digits(groups, eps, monkeypatch):
    monkeypatch.setattr(permute_then_randomize, "LISTED_OUTCOMES", 1)
    pair = PersonalizedPair([b for b, _ in groups], counts=[n for _, n in groups])
    truth = math.log(by_counts(eps, *groups))
    lower, upper = pair.log_hockey_stick(eps, 1e-9)
    assert lower <= truth + 1e-11 and truth <= upper + 1e-11
    assert upper - lower < 9e-7  # so that an end off by 1e-6 is seen


@pytest.mark.parametrize(("eps", "width"), [(0.0, 2e-3), (3.0, 1e-4), (6.0, math.inf)])
def test_one_budget_of_twelve_among_a_thousand_of_one(eps, width):
    """Conditioned on the report of the one slot, the sum over the others from its binomial counts."""
    n, r, rare = 1000, 1.0 / (math.e + 1.0), 1.0 / (math.exp(12.0) + 1.0)
    up, down = math.e - math.exp(eps), 1.0 - math.exp(eps + 1.0)
    terms = []
    for chance, level in (
        (rare, math.exp(12.0) - math.exp(eps)),
        (rare, 1.0 - math.exp(eps + 12.0)),
        (1.0 - 2.0 * rare, 0.0),
    ):
        for clones in range(n + 1):
            ups = np.arange(clones + 1)
            gain = np.maximum(level + ups * up + (clones - ups) * down, 0.0)
            log_ways = gammaln(n + 1) - gammaln(n - clones + 1) - gammaln(ups + 1) - gammaln(clones - ups + 1)
            some = gain > 0.0
            log_terms = log_ways + clones * math.log(r) + (n - clones) * math.log1p(-2.0 * r)
            terms.append(np.log(gain[some]) + log_terms[some] + math.log(chance))
    truth = float(logsumexp(np.concatenate(terms))) - math.log(n + 1)
    lower, upper = PersonalizedPair([1.0, 12.0], counts=[n, 1]).log_hockey_stick(eps)
    assert lower <= truth + 1e-9 and truth <= upper + 1e-9 and upper < lower + width


def test_the_largest_budget_apart_adds_its_share_of_the_local_delta():
    pair, rest = PersonalizedPair([0.1, 12.0], counts=[1000, 1]), PersonalizedPair([0.1], counts=[1000])
    parts = math.tanh(6.0) / 1001, 1000 / 1001 * math.exp(rest.log_hockey_stick(0.0).upper)
    assert pair.log_hockey_stick(0.0).upper == pytest.approx(math.log(sum(parts)), abs=1e-8)


def test_an_outlier_does_not_pull_other_budgets_up_when_they_are_rounded(monkeypatch):
    monkeypatch.setattr(permute_then_randomize, "MOST_KINDS", 50)
    pair = PersonalizedPair(np.r_[np.linspace(0.0, 0.5, 400), 6.0])
    grid = pair._grid(50, True)
    assert grid.count[-1] == 1 and grid.more[-2] <= math.exp(0.5) * 1.001


def test_rounding_many_budgets_keeps_the_sides(monkeypatch):
    exact = PersonalizedPair(BUDGETS)
    truth = [exact.delta(eps) for eps in (0.0, 0.1, 0.3)]
    monkeypatch.setattr(permute_then_randomize, "MOST_KINDS", 200)
    for eps, known in zip((0.0, 0.1, 0.3), truth, strict=True):
        bracket = PersonalizedPair(BUDGETS).delta(eps)
        assert bracket.lower < known.lower <= known.upper < bracket.upper
        assert bracket.upper < 1.3 * bracket.lower


@pytest.mark.parametrize("make", [PersonalizedPair, PersonalizedPair.adaptive])
def test_curves_of_many_budgets_enclose_those_of_all_outcomes(make, monkeypatch):
    """Nine budgets, listed outcome by outcome, against the same rounded onto five."""
    budgets = np.array([0.11, 0.2, 0.23, 0.4, 0.44, 0.7, 0.75, 0.9, 1.0])
    exact = make(budgets)
    assert exact._finite
    known = [exact.renyi(3.0), exact.renyi(40.0), exact.tradeoff(0.02), exact.tradeoff(0.3)]
    monkeypatch.setattr(permute_then_randomize, "FEW_KINDS", 8)
    monkeypatch.setattr(permute_then_randomize, "CURVE_KINDS", 5)
    many = make(budgets)
    many.__dict__["_finite"] = None  # as where outcomes are too many to be listed
    for found, truth in zip(
        [many.renyi(3.0), many.renyi(40.0), many.tradeoff(0.02), many.tradeoff(0.3)], known, strict=True
    ):
        assert found.lower < truth.lower <= truth.upper < found.upper <= 1.6 * found.lower


def test_a_hundred_thousand_distinct_budgets_are_answered():
    budgets = np.random.default_rng(0).uniform(0.1, 3.0, 100_000)
    pair = PersonalizedPair(budgets)
    for found in (pair.renyi(4.0), pair.epsilon(1e-100), pair.tradeoff(0.05)):
        assert 0.0 < found.lower <= found.upper <= 1.1 * found.lower
    assert pair.epsilon(1e-100).upper < 0.1 * pair.pure_epsilon


def test_a_thousand_budgets_do_not_recurse_where_delta_is_nothing(monkeypatch):
    """Each split used to take one budget away and to ask again."""
    pair = PersonalizedPair(np.random.default_rng(0).uniform(0.1, 3.0, 1000))
    asked = []
    monkeypatch.setattr(
        PersonalizedPair,
        "_by_contour_integral",
        lambda self, eps, tolerance: asked.append(self.kinds.size) or Interval(-900.0, 0.0),
    )
    found = pair.log_hockey_stick(2.0)
    assert found.lower == -900.0 and found.upper < math.log(0.5)
    assert len(asked) < 20


@pytest.mark.parametrize(("n", "eps0"), [(1, 1.0), (40, 0.5), (1000, 2.0)])
def test_equal_budgets_are_the_generic_and_the_clone_pair(n, eps0):
    for make, known in (
        (PersonalizedPair, renyi.generic_pair),
        (PersonalizedPair.adaptive, renyi.clones_pair_fmt21),
    ):
        pair, other = make(np.full(n, eps0)), known(eps0=eps0, n=n)
        for bracket, truth in (
            (pair.delta(0.1), other.delta(0.1)),
            (pair.renyi(3.5), other.renyi(3.5)),
            (pair.tradeoff(0.1), other.tradeoff(0.1)),
        ):
            assert bracket.lower <= truth.upper * (1 + 1e-12) and truth.lower <= bracket.upper * (1 + 1e-12)
            assert bracket.upper <= truth.upper * (1 + 1e-4)


def test_groups_of_any_size():
    small = PersonalizedPair(np.repeat([0.2, 1.0], [300, 200]))
    assert PersonalizedPair([1.0, 0.2], counts=[200, 300]).delta(0.05) == small.delta(0.05)
    huge = PersonalizedPair([0.1, 1.0, 4.0], counts=[10**14, 10**12, 10**9]).epsilon(1e-8)
    assert huge.upper - huge.lower <= 1e-5 * huge.upper


@pytest.mark.parametrize("counts", [[3, 2], [1] * 9, [1] * 10, [1] * 40, [18, 18], [19, 19], [10**6, 1]])
def test_outcomes_are_listed_while_they_are_few(counts):
    """Numbers of both losses in each group of slots: all outcomes but those of zeros only are cells."""
    outcomes = math.prod((count + 1) * (count + 2) // 2 for count in counts)
    pair = PersonalizedPair(0.1 * np.arange(1, len(counts) + 1), counts=counts)
    if outcomes > permute_then_randomize.LISTED_OUTCOMES:
        assert pair._finite is None
    else:
        assert pair._finite.size == outcomes - 1

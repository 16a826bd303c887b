"""Slots with personal budgets: enclosed, sound for the mechanism of Definition 6, monotone, hostile input."""

import itertools
import json
import math
from fractions import Fraction as F
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from shufflelib.published import renyi
from shufflelib.shuffling import PersonalizedPair
from shufflelib.shuffling.personal import permute_then_randomize

CASES = json.loads((Path(__file__).parents[2] / "oracles/reference" / "personalized.json").read_text())
BUDGETS = np.random.default_rng(7).uniform(0.05, 2.0, 400)


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


def slots_of_binary_rr(ratios, values):
    """Pmf of the outputs of binary randomized response with e^ε_i = ratios[i] in slot i, users permuted."""
    n, distribution = len(ratios), {}
    for order in itertools.permutations(values):
        for output in itertools.product((0, 1), repeat=n):
            chance = F(1, math.factorial(n))
            for e, held, reported in zip(ratios, order, output, strict=True):
                chance *= F(e, e + 1) if held == reported else F(1, e + 1)
            distribution[output] = distribution.get(output, F(0)) + chance
    return distribution


@pytest.mark.parametrize("ratios", [(2, 5), (2, 3, 7), (1, 4, 4), (2, 2, 3, 9)])
@pytest.mark.parametrize("make", [PersonalizedPair, PersonalizedPair.adaptive])
def test_it_bounds_every_dataset_of_slot_bound_binary_rr(ratios, make):
    pair = make(np.log(ratios))
    closest = 0.0
    for others in itertools.product((0, 1), repeat=len(ratios) - 1):
        p, q = (slots_of_binary_rr(ratios, (x, *others)) for x in (0, 1))
        for ratio in (F(1), F(3, 2), F(3)):
            truth = max(
                sum((max(p[y] - ratio * q[y], F(0)) for y in p), F(0)),
                sum((max(q[y] - ratio * p[y], F(0)) for y in p), F(0)),
            )
            upper = pair.delta(math.log(ratio)).upper
            assert float(truth) <= upper * (1 + 1e-12) + 1e-15
            closest = max(closest, float(truth) / max(upper, 1e-300))
    assert make is not PersonalizedPair or closest > 0.6  # and is not vacuous


@pytest.mark.parametrize("many", [3, 6, 9])
def test_the_contour_agrees_with_the_list(many, monkeypatch):
    budgets = BUDGETS[:many]
    listed = [PersonalizedPair(budgets).delta(eps) for eps in (0.0, 0.2, 0.8)]
    monkeypatch.setattr(permute_then_randomize, "LISTED_OUTCOMES", 1)
    for eps, exact in zip((0.0, 0.2, 0.8), listed, strict=True):
        bracket = PersonalizedPair(budgets).delta(eps)
        assert bracket.lower <= exact.upper and exact.lower <= bracket.upper
        assert bracket.upper - bracket.lower < 1e-3 * exact.upper


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
@pytest.mark.parametrize("eps", [0.0, 0.05, 0.2])
def test_the_contour_encloses_a_sum_over_counts_to_six_digits(groups, eps, monkeypatch):
    monkeypatch.setattr(permute_then_randomize, "LISTED_OUTCOMES", 1)
    pair = PersonalizedPair.grouped([b for b, _ in groups], counts=[n for _, n in groups])
    truth = math.log(by_counts(eps, *groups))
    lower, upper = pair.log_hockey_stick(eps, 1e-9)
    assert lower <= truth + 1e-11 and truth <= upper + 1e-11
    assert upper - lower < 9e-7  # so that an end off by 1e-6 is seen


@pytest.mark.parametrize("groups", [((0.5, 15), (1.5, 10)), ((1.0, 9), (5.0, 9)), ((3.0, 1), (0.1, 60))])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.998])
def test_few_slots_are_listed_to_eleven_digits(groups, share):
    pair = PersonalizedPair.grouped([b for b, _ in groups], counts=[n for _, n in groups])
    eps = share * groups[1][0]
    truth, bracket = by_counts(eps, *groups), pair.delta(eps)
    assert bracket.lower <= truth * (1 + 1e-10) and truth <= bracket.upper * (1 + 1e-10)
    assert bracket.upper <= bracket.lower * (1 + 1e-10)


def test_near_the_largest_budget_both_ends_stay_near_the_truth(monkeypatch):
    truth = by_counts(4.99, (1.0, 9), (5.0, 9))  # the saddle point is far too steep for a quadrature
    monkeypatch.setattr(permute_then_randomize, "LISTED_OUTCOMES", 1)
    bracket = PersonalizedPair.grouped([1.0, 5.0], counts=[9, 9]).delta(4.99)
    assert bracket.lower <= truth <= bracket.upper
    assert bracket.lower > 0.0 and bracket.upper < 30 * truth  # the sum of positive parts is 1000 times that


def test_epsilon_never_exceeds_the_largest_budget():
    for budgets in ([0.3, 0.7], np.linspace(0.1, 1.7, 20), [1e-3] * 5 + [2.0]):
        assert PersonalizedPair(budgets).epsilon(1e-12).upper <= max(budgets)


def test_budgets_that_differ_in_the_ninth_digit_keep_their_digits():
    # a report has loss 0 with probability tanh(ε/2), here 5e-10: at the larger budget this decides
    bracket = PersonalizedPair([1e-9, 2e-9]).delta(1.75e-9)
    with mpmath.workdps(40):
        eps, small, large = (mpmath.mpf(x) for x in (1.75e-9, 1e-9, 2e-9))
        r = [1 / (mpmath.exp(x) + 1) for x in (small, large)]
        gain = mpmath.exp(large) - mpmath.exp(eps)
        truth = float((1 - 2 * r[0]) * r[1] * gain / 2)
    assert bracket.lower <= truth <= bracket.upper < 1.01 * truth


def test_budgets_spread_over_decades_are_rounded_finely():
    budgets = np.geomspace(1e-5, 3.0, 30_000)
    bracket = PersonalizedPair(budgets).epsilon(1e-6)
    assert bracket.upper < bracket.lower * (1 + 1e-3)


@pytest.mark.parametrize("make", [PersonalizedPair, PersonalizedPair.adaptive])
@pytest.mark.parametrize("heavy", [6.0, 12.0, 30.0])
def test_one_rare_dominant_slot_counts(make, heavy):
    # among n slots of small budgets, the dominant one alone decides where ε is large
    n, eps = 3000, 1.0
    pair = make(np.r_[np.full(n - 1, 0.02), heavy])
    slot = pair.slots[-1:]
    gain, pull = slot.more[0] - math.e * slot.less[0], (n - 1) * (math.e - 1.0)
    truth = slot.mass[0] * (gain - pull) / n  # the others' sum hardly differs from its mean
    bracket = pair.delta(eps)
    assert bracket.lower <= max(truth, 0.0) * 1.01 + 1e-30 and truth <= bracket.upper
    assert gain < pull or bracket.upper < 1.2 * truth  # beyond 12 the lower end may be trivial


@pytest.mark.parametrize("kinds", [20, 33, 60])
def test_many_kinds_of_light_slots_beside_a_heavy_one(kinds):
    """At ε = 6 every light slot with a loss reduces the gain of the heavy one: at most nineteen do."""
    budgets = np.linspace(0.005, 0.05, kinds)
    clones, distributions = 2.0 / (np.exp(budgets) + 1.0), [np.ones(1)]
    for chance in clones:  # number of light slots with a nonzero loss
        distributions.append(np.convolve(distributions[-1], [1.0 - chance, chance]))
    rare, ratio = 1.0 / (math.exp(9.0) + 1.0), math.exp(6.0)
    upward = math.exp(9.0) - ratio - np.arange(kinds + 1) * (ratio - math.exp(0.05))  # what shows loses least
    downward = math.exp(9.0) - ratio - np.arange(kinds + 1) * (ratio * math.exp(0.05) - 1.0)  # and most
    ends = [
        math.fsum(distributions[-1] * np.maximum(gain, 0.0)) * rare / (kinds + 1)
        for gain in (downward, upward)
    ]
    lower, upper = PersonalizedPair(np.append(budgets, 9.0)).log_hockey_stick(6.0)
    assert math.log(ends[0]) <= upper and lower <= math.log(ends[1])


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
    lower, upper = PersonalizedPair.grouped([1.0, 12.0], counts=[n, 1]).log_hockey_stick(eps)
    assert lower <= truth + 1e-9 and truth <= upper + 1e-9 and upper < lower + width


@pytest.mark.parametrize("budget", [1e-9, 3e-8])
@pytest.mark.parametrize(
    "make, half, residual, less",
    [
        (PersonalizedPair, 0.5, 1.0 / (math.e + 1.0), 1.0),
        (PersonalizedPair.adaptive, 1.0, 0.5 / math.e, 2.0 * math.e / (math.e + 1.0)),
    ],
)
def test_residual_mass_of_a_slot_of_negligible_budget(budget, make, half, residual, less):
    """At ε = 0.99 the slot of budget 1 gains only where the other has loss 0."""
    lower, upper = make([budget, 1.0]).log_hockey_stick(0.99)
    gain = less * (math.e - math.exp(0.99))
    truth = mpmath.log(budget) + math.log(half * residual * gain / 2.0)
    assert lower - 2.0 * budget <= truth <= upper + 2.0 * budget
    assert upper - lower < 1e-6


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


def test_published_settings():
    # ε at δ = 1e-4 of Table 2's constant and mixed constant budgets, n = 10⁴
    half = np.where(np.arange(10_000) % 2, 0.5, 0.01)
    assert PersonalizedPair(np.full(10_000, 0.5)).epsilon(1e-4).upper == pytest.approx(0.009664, abs=1e-6)
    assert PersonalizedPair(half).epsilon(1e-4).upper == pytest.approx(0.006254, abs=1e-6)


def test_slots_with_budget_zero_are_pure_noise():
    assert PersonalizedPair(np.zeros(7)).delta(0.0).upper == 0.0
    alone = PersonalizedPair([1.0]).delta(0.0).upper
    among_zeros = PersonalizedPair([0.0] * 9 + [1.0]).delta(0.0)
    # the user has the slot of budget 1 with probability 1/10
    assert among_zeros.lower == pytest.approx(alone / 10, rel=1e-12)
    mixed = PersonalizedPair(np.r_[np.zeros(500), np.full(500, 0.5), np.full(20, 1.0)])
    assert 0.0 < mixed.epsilon(1e-5).lower < mixed.epsilon(1e-5).upper < 0.5


def test_groups_of_any_size():
    small = PersonalizedPair(np.repeat([0.2, 1.0], [300, 200]))
    assert PersonalizedPair.grouped([1.0, 0.2], counts=[200, 300]).delta(0.05) == small.delta(0.05)
    huge = PersonalizedPair.grouped([0.1, 1.0, 4.0], counts=[10**14, 10**12, 10**9]).epsilon(1e-8)
    assert huge.upper - huge.lower <= 1e-5 * huge.upper


@pytest.mark.parametrize("counts", [[3, 2], [1] * 9, [1] * 10, [1] * 40, [18, 18], [19, 19], [10**6, 1]])
def test_outcomes_are_listed_while_they_are_few(counts):
    """Numbers of both losses in each group of slots: all outcomes but those of zeros only are cells."""
    outcomes = math.prod((count + 1) * (count + 2) // 2 for count in counts)
    pair = PersonalizedPair.grouped(0.1 * np.arange(1, len(counts) + 1), counts=counts)
    assert pair._few == (outcomes <= permute_then_randomize.LISTED_OUTCOMES)
    if pair._few:
        assert pair._cells.size == outcomes - 1


@pytest.mark.parametrize("eps", [0.01, 0.3, 2.0])
def test_a_budget_that_outweighs_all_others_counts_in_full(eps):
    """Nothing hides a slot of budget 20 among a thousand of 0.5."""
    bracket = PersonalizedPair.grouped([0.5, 20.0], counts=[1000, 1]).delta(eps)
    others = 1000 / 1001 * PersonalizedPair(np.full(1000, 0.5)).delta(eps).upper
    assert 1 / 1001 * 0.999 < bracket.upper < 1 / 1001 + others * (1 + 1e-6)

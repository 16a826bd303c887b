"""Randomize then shuffle with personal budgets: score sums, exact small cases, ranges, extremes."""

import math
from collections import Counter
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from scipy import stats

import oracles
from oracles import neighbours
from shufflelib import randomizers, shuffle
from shufflelib.numerics.logspace import UNIT
from shufflelib.randomizers import additive, cells
from shufflelib.shuffling import blanket_profile
from shufflelib.shuffling.personal import (
    PersonalLaplace,
    PersonalRandomizedResponse,
    laplace,
    randomize_then_shuffle,
)
from shufflelib.shuffling.personal.attack import MergedAttack, OthersSum, Scores
from shufflelib.shuffling.personal.score_sums import score_distribution

# ---------------------------------------------------------------- score sums and attacks


def scores(rows):
    """Return the exact distribution of the sum of scores +1, -1 and 0 with these probabilities."""
    distribution = Counter()
    for (up, down, _), mass in oracles.shuffled_distribution(rows).items():
        distribution[up - down] += mass
    return distribution


@pytest.mark.parametrize("seed", range(4))
def test_score_distribution_against_exact_convolution(seed):
    rng = np.random.default_rng(seed)
    plus = [F(int(a), 100) for a in rng.integers(0, 60, 5)]
    minus = [F(int(b), 100) for b in rng.integers(0, 40, 5)] if seed % 2 else [F(0)] * 5
    counts = rng.integers(0, 5, 5)
    rows = [(a, b, 1 - a - b) for a, b, count in zip(plus, minus, counts, strict=True) for _ in range(count)]
    exact = scores(rows)
    distribution = score_distribution(np.array(plus, float), np.array(minus, float), counts)
    for k, mass in enumerate(distribution.masses, start=distribution.first):
        assert abs(mass - float(exact.get(k, 0))) <= distribution.error < 1e-13
    cumulative = F(0)
    for k, end in enumerate(distribution.at_most, start=distribution.first):
        cumulative = sum((mass for number, mass in exact.items() if number <= k), F(0))
        assert cumulative <= end <= float(cumulative) + 1e-12 and end <= 1.0


def test_score_distribution_leaves_only_its_stated_mass_outside():
    distribution = score_distribution(np.array([0.3]), np.array([0.0]), np.array([10**5]))
    with mpmath.workdps(40):
        first = distribution.first - 1

        def pmf(k):
            return mpmath.binomial(10**5, k) * mpmath.mpf(0.3) ** k * (1 - mpmath.mpf(0.3)) ** (10**5 - k)

        assert pmf(first) * 100 < 1e-20 < sum(pmf(first + j) for j in range(400))
        middle = distribution.masses.size // 2
        assert (
            abs(pmf(distribution.first + middle) - distribution.masses[middle]) < distribution.error < 1e-11
        )


@pytest.mark.parametrize(("n", "a"), [(100, 0.5), (1000, 0.01), (400, 0.05)])
def test_the_window_of_scores_is_left_as_rarely_as_stated_and_not_more_rarely(n, a):
    above = score_distribution(np.array([a]), np.zeros(1), np.array([n]))
    below = score_distribution(np.zeros(1), np.array([a]), np.array([n]))
    last = above.first + above.masses.size - 1
    assert 1e-24 < stats.binom.sf(last, n, a) <= above.outside and below.first == -last


def test_an_attack_is_never_above_the_exact_divergence_of_its_counts():
    others = OthersSum(Scores(np.array([0.25]), np.array([0.125])), np.array([6]))
    attack = MergedAttack(Scores(0.5, 0.125), Scores(0.125, 0.5), others)
    crowd = [(F(1, 4), F(1, 8), F(5, 8))] * 6
    own = (F(1, 2), F(1, 8), F(3, 8)), (F(1, 8), F(1, 2), F(3, 8))
    masses = neighbours.beside(*(scores([one, *crowd]) for one in own))
    for eps in (0.0, 0.3, 1.0):
        truth = float(oracles.both_ways(masses, F(math.exp(eps))))
        assert truth - 1e-12 <= attack.delta(eps) <= truth
    eps = attack.epsilon(0.01, 2.0)
    assert float(oracles.both_ways(masses, F(math.exp(eps)))) == pytest.approx(0.01, rel=1e-4)


def test_rounding_of_probabilities_changes_a_sum_by_no_more_than_its_bound():
    """Fair coins whose chance is one rounding off: how often most of them fall one way, in 50 digits."""
    coins = 4000
    with mpmath.workdps(50):
        tails = []
        for bias in (mpmath.mpf(0), mpmath.mpf(UNIT)):
            up, down, first = (1 + bias) / 2, (1 - bias) / 2, coins // 2 + 1
            pmf, tail = mpmath.binomial(coins, first) * up**first * down ** (coins - first), mpmath.mpf(0)
            for k in range(first, coins + 1):
                tail += pmf
                pmf *= (coins - k) * up / ((k + 1) * down)
            tails.append(tail)
        moved = tails[1] - tails[0]
    assert moved > 25 * UNIT
    for minus in (0.0, 0.5):  # the other side is not counted, or counts as a step back
        scores = Scores(np.array([0.5]), np.array([minus]))
        assert moved < OthersSum(scores, np.array([coins])).rounding <= 8 * UNIT * (1 + coins * (0.5 + minus))


# ---------------------------------------------------------------- randomized response, exact


@pytest.mark.parametrize(("k", "eps0"), [(2, 0.5), (10, 0.5), (10, 4.0), (100, 2.0)])
def test_equal_budgets_give_the_blanket_of_one_randomizer(k, eps0):
    n = 2000
    found = PersonalRandomizedResponse(np.full(n, eps0), d=k).epsilon(user=3, delta=1e-6)
    same = blanket_profile(randomizers.generalized_rr(eps0=eps0, d=k), n=n).epsilon(1e-6)
    assert same.lower * (1 - 1e-5) <= found.upper
    assert same.upper * (1 - 1e-4) <= found.upper <= same.upper * 1.01
    # subtracting the counts of two options loses little where there are many others
    assert same.lower * (0.85 if eps0 > 3.0 else 0.97) <= found.lower <= same.lower * (1 + 1e-5)


def test_users_with_budget_zero_are_clones_and_have_epsilon_zero():
    """Budget 0: a uniform report is a clone with weight 1; as a target it has ε = 0."""
    eps0 = np.array([2.0] + [0.0] * 500)
    mechanism = PersonalRandomizedResponse(eps0, d=4)
    assert mechanism.epsilon(user=1, delta=1e-6).upper == 0.0
    assert mechanism.delta(user=1, eps=0.0).upper == 0.0
    bracket = mechanism.epsilon(user=0, delta=1e-6)
    assert bracket.upper < 1.01 * bracket.lower  # the others' distribution is known, so little is lost
    all_users = mechanism.epsilons(delta=1e-6)
    assert all_users.upper[1:].max() == 0.0 and all_users.upper[0] == pytest.approx(bracket.upper, rel=1e-3)


# ---------------------------------------------------------------- Laplace


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_laplace_reference_is_below_every_report_and_its_cells_keep_the_means(share):
    target, budgets = 2.0, np.array([0.05, 0.7, 2.0, 2.5])
    slope = share * target
    inner = slope / 2.0
    level = target / (2.0 * laplace._peak(target, inner))
    weights = laplace._weights(target, target, inner, budgets)
    y = np.linspace(-12.0, 13.0, 4001)
    outside = np.maximum(np.maximum(-y, y - 1.0), 0.0)
    nu = level * np.exp(-slope * np.minimum(np.abs(y - 0.5), 0.5) - target * outside)
    assert np.sum(nu) * (y[1] - y[0]) == pytest.approx(1.0, abs=1e-3)
    for budget, weight in zip(budgets, weights, strict=True):
        least = np.min([budget / 2 * np.exp(-budget * np.abs(y - x)) for x in (0.0, 0.5, 1.0)], axis=0)
        assert np.all(weight * nu <= least * (1 + 1e-12))
        assert (weight > 0.0) == (budget <= target)
        if weight:
            assert np.min(least / nu) == pytest.approx(weight, rel=1e-4)
    half = cells.widening(target / 2.0, laplace.CELLS)
    ratios = additive.laplace_split(half, inner + math.log(laplace._peak(target, inner)), slope=share)
    assert math.fsum(ratios.w) == pytest.approx(1.0, abs=1e-13)
    assert ratios.w.min() >= 0.0
    for ratio in (ratios.r0_over_w, ratios.r1_over_w):
        assert math.fsum(ratios.w * ratio) == pytest.approx(1.0, abs=1e-12)
    # the split raises the second moment slightly
    y = np.linspace(0.0, 0.5, 20001)
    nu = level * np.exp(-slope * (0.5 - y))
    gap = target / 2 * (np.exp(-target * y) - np.exp(-target * (1.0 - y)))
    tail = target / 4 * (1.0 - math.exp(-target)) ** 2 / (level * math.exp(-inner))
    exact = 2.0 * (np.trapezoid(gap**2 / nu, y) + tail)
    split = math.fsum(ratios.w * (ratios.r0_over_w - ratios.r1_over_w) ** 2)
    assert exact <= split * (1 + 1e-9) <= 1.003 * exact


@pytest.mark.parametrize(("eps0", "n"), [(0.5, 5000), (2.0, 1000), (6.0, 3000)])
def test_equal_laplace_budgets_give_the_blanket(eps0, n):
    found = PersonalLaplace(np.full(n, eps0)).epsilon(user=0, delta=1e-6)
    same = shuffle(randomizers.laplace(eps0=eps0), n=n).epsilon(1e-6)
    assert same.upper * (1 - 1e-4) <= found.upper <= 1.015 * same.upper
    assert found.lower <= same.upper
    assert found.lower >= (0.75 if eps0 < 5.0 else 0.25) * same.lower


def test_a_narrow_user_among_wide_ones_stands_out_and_a_wide_one_keeps_the_local_guarantee():
    """The counterexample to one μ for all users: ε_0 = 5 among 0.1."""
    mechanism = PersonalLaplace(np.array([5.0] + [0.1] * 999))
    bracket = mechanism.delta(user=0, eps=0.2)
    assert 0.019 < bracket.lower < 0.02587 < bracket.upper < 0.05  # 0.02587: others at 0, finely binned
    assert mechanism.epsilon(user=0, delta=1e-6).lower > 0.8
    assert mechanism.epsilon(user=1, delta=1e-6).upper < 0.0099
    few = PersonalLaplace(np.array([5.0] + [0.1] * 5)).epsilon(user=0, delta=1e-6)
    assert few.lower > 4.99 and few.upper == 5.0
    lonely = PersonalLaplace(np.array([0.1] + [5.0] * 999)).epsilon(user=0, delta=1e-6)
    assert lonely.upper == 0.1 and lonely.lower > 0.05
    assert "local guarantee" in lonely.source


def test_a_laplace_user_with_budget_zero_amplifies_nothing():
    alone = PersonalLaplace([1.0, 0.0, 0.0])
    assert alone.epsilon(user=1, delta=1e-3).upper == 0.0
    bracket = alone.delta(user=0, eps=0.5)
    truth = -math.expm1((0.5 - 1.0) / 2)  # the profile of Laplace noise
    assert bracket.lower <= truth <= bracket.upper < 1.001 * truth


# ---------------------------------------------------------------- all users at once


def test_every_user_once_in_the_users_order():
    eps0 = np.random.default_rng(0).choice([0.1, 0.5, 1.0], p=[0.54, 0.37, 0.09], size=10**4)
    for mechanism in (PersonalRandomizedResponse(eps0, d=2), PersonalLaplace(eps0)):
        everybody = mechanism.epsilons(delta=1e-6)
        assert everybody.lower.shape == (10**4,)
        assert np.all(everybody.lower <= everybody.upper) and np.all(everybody.upper <= eps0)
        for budget in (0.1, 1.0):
            user = int(np.flatnonzero(eps0 == budget)[0])
            one = mechanism.epsilon(user=user, delta=1e-6)
            assert np.ptp(everybody.upper[eps0 == budget]) == 0.0
            assert everybody.upper[user] == pytest.approx(one.upper, rel=1e-4)
            assert everybody.lower[user] == pytest.approx(one.lower, rel=1e-4)


@pytest.mark.parametrize("kind", ["response", "Laplace"])
def test_ranges_of_budgets_enclose_the_single_answers(kind, monkeypatch):
    monkeypatch.setattr(randomize_then_shuffle, "MOST_TARGETS", 5)
    eps0 = np.random.default_rng(1).uniform(0.05, 2.0, 80)
    mechanism = PersonalRandomizedResponse(eps0, d=5) if kind == "response" else PersonalLaplace(eps0)
    everybody = mechanism.epsilons(delta=1e-5)
    assert np.all(everybody.upper <= eps0)
    for user in (0, int(np.argmax(eps0))):
        one = mechanism.epsilon(user=user, delta=1e-5)
        assert everybody.upper[user] >= one.lower
        assert everybody.lower[user] <= one.upper
        assert everybody.lower[user] <= one.lower * (1 + 1e-4)
        if eps0[user] > 0.5:  # a range is 0.4 nats wide here
            assert everybody.upper[user] <= 3.0 * one.upper


def test_values_out_of_range_are_refused():
    mechanism, good = PersonalRandomizedResponse([1.0, 2.0], d=3), {"user": 0, "eps": 0.1}
    for name, value in (("user", -1), ("user", 2), ("eps", -0.1), ("eps", math.inf)):
        with pytest.raises(ValueError, match=name):
            mechanism.delta(**good | {name: value})
    for delta in (0.0, 1.0):
        with pytest.raises(ValueError, match="delta"):
            mechanism.epsilons(delta=delta)
    for d in (1, 0):
        with pytest.raises(ValueError, match="d must"):
            PersonalRandomizedResponse([1.0, 2.0], d=d)


def test_the_former_name_of_the_options_is_answered_with_the_present_one():
    with pytest.raises(
        TypeError, match=r"PersonalRandomizedResponse has no parameter k \(did you mean d\?\)"
    ):
        PersonalRandomizedResponse([1.0, 2.0], k=3)

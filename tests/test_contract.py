"""One contract for every certified profile: sound, never vacuous, monotone, consistent.

`records.RECORDS` lists the profiles.  The truth comes from `oracles`, exact fractions of a few users.
"""

import math
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

from records import RECORDS, truth
from shufflelib import Certified, Status, randomizers, shuffle
from test_hostile import FOREIGN, is_refused

RATIOS = (F(1), F(3, 2), F(2))  # exp(eps)
NUDGE = F(1, 10**12)  # log(ratio) is rounded: the truth is taken a hair to the safe side
HAIR = 1e-9  # relative, for a truth that is a float
ROUNDING = F(1, 10**15)
ORDERS = (2, 5)
RATES = (F(1, 20), F(2, 5))


def that(answer, *names):
    """Parametrise over the records that answer a question, or over those named so."""
    chosen = [one for one in RECORDS if answer in one.questions and one.name.startswith(names or "")]
    return pytest.mark.parametrize("record", chosen, ids=[one.name for one in chosen])


each_record = pytest.mark.parametrize("record", RECORDS, ids=[one.name for one in RECORDS])


@cache
def profile_of(record, n):
    return record.build(n)


# ---------------------------------------------------------------- sound against the oracle


def check_sound(record):
    """Assert lower <= truth <= upper, exactly."""
    for n in record.users:
        for ratio in RATIOS:
            got, exact = record.build(n).delta(math.log(ratio)), truth(record, n)
            assert F(got.upper) >= exact.delta(ratio * (1 + NUDGE)) - ROUNDING, (record.name, n, ratio)
            if record.complete:
                assert F(got.lower) <= exact.delta(ratio * (1 - NUDGE)) + ROUNDING, (record.name, n, ratio)


def check_tight(record):
    """Assert that neither end is vacuous."""
    for n in record.users:
        for ratio in RATIOS:
            got, exact = record.build(n).delta(math.log(ratio)), float(truth(record, n).delta(ratio))
            assert got.upper <= record.loose * exact + 1e-13, (record.name, n, ratio, got.upper, exact)
            assert got.lower >= record.attained * exact - 1e-13, (record.name, n, ratio, got.lower, exact)


@that("delta")
def test_lower_end_truth_and_upper_end_are_in_order(record):
    check_sound(record)


@that("delta")
def test_neither_end_is_vacuous(record):
    check_tight(record)


@that("epsilon")
def test_epsilon_encloses_where_the_exact_delta_is_reached(record):
    for n in record.users:
        for ratio in RATIOS[1:]:
            exact, eps = float(truth(record, n).delta(ratio)), math.log(ratio)
            ask = profile_of(record, n).epsilon
            if 0.0 < exact < 0.99:
                assert ask(exact * (1 - 1e-12)).upper >= eps * (1 - HAIR)
                assert not record.complete or ask(exact * (1 + 1e-12)).lower <= eps * (1 + HAIR)
            # check_tight puts delta at eps between these two, so that epsilon at them is near eps
            above, below = record.loose * exact + 1e-13, record.attained * exact - 1e-13
            assert above >= 1.0 or ask(above).upper <= eps * (1 + 1e-6)
            assert below <= 0.0 or ask(below).lower >= eps * (1 - 1e-6)


@that("renyi")
def test_renyi_divergences_enclose_the_exact_sum(record):
    for n in record.users:
        for order in ORDERS:
            got, exact = profile_of(record, n).renyi(float(order)), truth(record, n).renyi(order)
            assert got.upper >= exact * (1 - HAIR) or math.isinf(exact)
            if math.isinf(exact):
                assert math.isinf(got.upper)
            if record.complete:
                assert got.lower <= exact * (1 + HAIR)
                assert got.upper <= 1.7 * exact + 1e-9


@that("tradeoff")
def test_false_negative_rates_enclose_neyman_and_pearsons(record):
    for n in record.users:
        for fpr in RATES:
            got, exact = profile_of(record, n).tradeoff(float(fpr)), float(truth(record, n).tradeoff(fpr))
            assert got.lower <= exact * (1 + HAIR) + 1e-15
            assert got.lower >= exact - 0.14
            if record.complete:
                assert got.upper >= exact * (1 - HAIR)


# ---------------------------------------------------------------- order, and one question against another

GRID = {
    "delta": np.array([0.0, 0.1, 0.3, 0.6, 1.0, 2.0]),
    "epsilon": np.array([1e-9, 1e-3, 0.05, 0.2]),
    "renyi": np.array([1.5, 2.0, 8.0]),
    "tradeoff": np.array([0.01, 0.1, 0.5]),
}
RISES = ("renyi",)


@pytest.mark.parametrize("question", GRID)
@each_record
def test_answers_are_in_order_of_the_value_asked_for(record, question):
    """A larger ε, δ or false-positive rate never has a larger answer, a larger order never a smaller one."""
    if question not in record.questions:
        return
    got = getattr(profile_of(record, record.users[-1]), question)(GRID[question])
    bounded = np.isfinite(got.upper)  # where it is not, any lower bound is valid
    for end in (got.lower[bounded], got.upper):
        end = end[::-1] if question in RISES else end
        assert np.all(end[1:] <= end[:-1] * (1 + 1e-5) + 1e-13), end


@that("delta", "shuffle", "variation-ratio", "worst population")
def test_delta_falls_with_n(record):
    dear = any(name in record.name for name in ("Laplace", "piecewise"))
    users = (1, 2, 3, 1000) if dear else (1, 2, 3, 10, 600, 601, 10**6)
    upper = [record.build(n).delta(0.01).upper for n in users]
    assert all(b <= a * (1 + 1e-5) for a, b in zip(upper, upper[1:], strict=False)), upper
    assert upper[-1] < upper[0] / 3 or record.build(1).epsilon(1e-9).upper == math.inf


@that("epsilon")
def test_epsilon_is_proved_by_one_delta(record):
    """delta(epsilon(d).upper).upper <= d, up to what the search's own tolerance leaves."""
    profile = profile_of(record, record.users[-1])
    for delta in (0.05, 1e-4):
        eps = profile.epsilon(delta)
        if math.isinf(eps.upper):  # only where outputs of P have no mass under Q, more than delta
            assert profile.delta(30.0).upper > delta and eps.status is Status.UNBOUNDED
            continue
        assert profile.delta(eps.upper).upper <= delta * (1 + HAIR)
        if eps.lower > 0.0:
            assert profile.delta(eps.lower).upper >= delta


# ---------------------------------------------------------------- manners


@that("tradeoff")
def test_scalar_and_array_calls_agree_bit_for_bit_and_leave_the_input_alone(record):
    profile = profile_of(record, record.users[0])
    grid = np.array([[0.0, 0.05], [0.4, 1.5]])
    kept = grid.copy()
    for call, points in ((profile.delta, grid), (profile.tradeoff, grid / 2)):
        many = call(points)
        assert isinstance(many, Certified)
        assert many.lower.shape == many.upper.shape == grid.shape
        for index, x in np.ndenumerate(points):
            one = call(float(x))
            assert (one.lower, one.upper) == (many.lower[index], many.upper[index])
    assert np.array_equal(grid, kept)


@that("delta")
def test_repeated_calls_give_the_same_answer(record):
    first, again = (record.build(record.users[-1]).delta(0.3) for _ in range(2))
    assert (first.lower, first.upper, first.status) == (again.lower, again.upper, again.status)


BAD = {  # question -> its argument and values outside its domain
    "delta": ("eps", (math.inf, -math.inf, -1e-300)),
    "epsilon": ("delta", (math.inf, 0.0, 1.0)),
    "renyi": ("order", (math.inf, 1.0, -1.0)),
    "tradeoff": ("fpr", (math.inf, -0.1, 1.1)),
    "compose": ("rounds", (math.inf, 0, 1.5, 10**16)),
    "subsample": ("rate", (math.inf, 0.0, 1.1)),
}


@each_record
def test_questions_without_an_answer_are_refused_by_name(record):
    profile = profile_of(record, record.users[0])
    for question, (name, outside) in BAD.items():
        if hasattr(profile, question):
            for value in (*outside, *FOREIGN.values()):
                is_refused(getattr(profile, question), {}, name, value)


# ---------------------------------------------------------------- the list, and budgets


def test_the_contract_covers_something():
    assert len({record.name for record in RECORDS}) == len(RECORDS) >= 130


BY_BUDGET = {
    "generic": lambda eps0: randomizers.generic(eps0=eps0),
    "10-ary RR": lambda eps0: randomizers.generalized_rr(eps0=eps0, d=10),
    "subset": lambda eps0: randomizers.subset(eps0=eps0, d=16, k=4),
    "local hash": lambda eps0: randomizers.local_hash(eps0=eps0, d=16, l=4),
    "Laplace": lambda eps0: randomizers.laplace(eps0=eps0),
}


@pytest.mark.parametrize("make", BY_BUDGET.values(), ids=BY_BUDGET)
def test_epsilon_grows_with_the_local_budget_and_is_small_for_a_small_one(make):
    upper = [shuffle(make(eps0), n=1000).epsilon(1e-6).upper for eps0 in (1e-3, 0.3, 2.0)]
    assert upper == sorted(upper)
    assert upper[0] <= 1e-3
    assert shuffle(make(1e-6), n=1000).delta(0.0).upper <= 1e-6


@pytest.mark.parametrize("make", BY_BUDGET.values(), ids=BY_BUDGET)
def test_one_user_gets_the_local_guarantee_and_no_loss_exceeds_it(make):
    eps0 = 1.0
    for n in (1, 2, 50):
        profile = shuffle(make(eps0), n=n)
        beyond = profile.delta(eps0 * (1 + 1e-9))
        assert (beyond.lower, beyond.upper) == (0.0, 0.0)
        if n == 1 or "Laplace" not in profile.statement:  # few Laplace reports are slow
            assert profile.epsilon(1e-9).upper <= eps0 * (1 + 1e-9)
    assert shuffle(make(eps0), n=1).epsilon(1e-9).lower >= 0.999 * eps0

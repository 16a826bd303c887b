"""Claims on personal budgets: what each file finds, and the failure curves of the claims."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

from claims import Effort, Verdict
from claims.exact_tests import never_fails
from claims.gspa24 import (
    personal_budgets,
    personal_guarantees,
)
from claims.others import before_the_pair, echo_of_neighbours


def slots_in_order(odds, ratio):
    """δ of binary slots, all users but one holding 0: every report, every slot of the user who changes."""
    n, distributions = len(odds), [{}, {}]
    for reports in itertools.product((0, 1), repeat=n):
        for value, distribution in enumerate(distributions):
            distribution[reports] = F(0)
            for place in range(n):
                held = [value * (slot == place) for slot in range(n)]
                rows = zip(odds, held, reports, strict=True)
                distribution[reports] += math.prod((e if x == y else 1) / (e + 1) for e, x, y in rows) / n
    pairs = (distributions, distributions[::-1])
    return max(sum(max(p[z] - ratio * q[z], 0) for z in p) for p, q in pairs)


@pytest.mark.parametrize(("n", "e", "ratio"), [(2, 9, 2), (4, 99, 5), (6, 99, 5), (5, 50, F(3, 2))])
def test_one_slot_with_a_budget_by_enumeration(n, e, ratio):
    odds = [F(e)] + [F(1)] * (n - 1)
    assert personal_budgets._one_slot_with_budget(n, e, ratio) == slots_in_order(odds, ratio)


def test_equal_slots_do_not_exceed_the_two_counts():
    for e, n in ((3, 4), (9, 5)):
        high, low = F(e, e + 1), F(1, e + 1)
        rows = [[high, low, 0], [low, high, 0], [low, low, 1 - 2 * low]]
        for ratio in (F(1), F(3, 2), F(2)):
            counts = personal_budgets.both_ways(rows, 0, 1, (2,) * (n - 1), ratio)
            assert slots_in_order([F(e)] * n, ratio) <= counts


def test_half_of_the_slots_without_a_budget_by_enumeration():
    n, eps0 = 8, 3.0
    eps = personal_guarantees._half_without_budget(n, eps0)
    odds = [math.exp(eps0)] * 4 + [1.0] * 4
    assert slots_in_order(odds, math.exp(eps)) == pytest.approx(1e-4, rel=1e-6)


def test_unequal_slots_exceed_the_normal_distribution_from_the_stated_budget_on():
    """Squared distances of the limits, times n: (e − 1)²/(2e) against 2/(1/4 + 1/(2(1 + e)))."""
    for eps0, exceeds in ((2.75, False), (2.85, True)):
        e = math.exp(eps0)
        assert ((e - 1) ** 2 / (2 * e) > 2 / (0.25 + 0.5 / (1 + e))) is exceeds


# ---------------------------------------------------------------- the instruments


def test_a_larger_slack_than_the_truth_refutes_nothing():
    true, claimed = personal_guarantees._narrow_among_wide(5.0)
    above = personal_guarantees.above_the_claim
    assert above(true, claimed, ("",)).verdict is Verdict.REFUTED
    assert above(true, 1.001 * true, ("",)).verdict is Verdict.HOLDS


def test_the_released_scale_is_enough_for_small_budgets_only():
    attained = echo_of_neighbours._attained_by_scale
    values = [attained(eps) for eps in np.linspace(0.5, 2.0, 7)]
    assert values == sorted(values) and values[0] < echo_of_neighbours.RELEASED < values[-1]


def test_a_charge_for_failures_that_is_too_small_is_seen(monkeypatch):
    """Without the pure part the charge alone is what two users may have; a tenth of it is too little."""
    check = never_fails(before_the_pair._failures_charged, "as it stands", 60)
    assert check(Effort(8)).verdict is Verdict.HOLDS
    worst = before_the_pair.exact_shuffle.worst_delta
    monkeypatch.setattr(
        before_the_pair.exact_shuffle,
        "worst_delta",
        lambda rows, n, ratio: tuple(worst(rows, n, ratio)) if len(rows[0]) > len(rows) else (F(-1), None),
    )
    assert check(Effort(8)).verdict is Verdict.REFUTED

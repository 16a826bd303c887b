"""Claims on personal budgets: what each file finds, and the failure curves of the claims."""

from fractions import Fraction as F

import numpy as np

from claims import Effort, Verdict
from claims.exact_tests import never_fails
from claims.gspa24 import (
    personal_guarantees,
)
from claims.others import before_the_pair, echo_of_neighbours

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

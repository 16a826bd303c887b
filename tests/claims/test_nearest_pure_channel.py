"""Lemma 6 of Chen, Cao, Ge: its counterexample over all events, and what stays true for two inputs."""

import itertools
import random
from fractions import Fraction

import pytest

import claims
from claims import exact_channels
from claims.ccg24 import nearest_pure_channel as nearest
from claims.exact_tests import random_channel
from claims.others import local_failures

SETTINGS = [(Fraction(2), 5), (Fraction(3), 7), (Fraction(5, 4), 4)]


@pytest.mark.parametrize(("e", "inputs"), SETTINGS)
def test_no_event_tells_two_inputs_of_the_counterexample_apart_by_more_than_delta0(e, inputs):
    """All events over the outputs that concern three inputs, and the mass of every row."""
    delta0 = Fraction(1, 1000)
    rows = exact_channels.telling_pairs(e, delta0, inputs)
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    most = 0
    for (p, q), size in itertools.product(itertools.permutations(rows[:3], 2), (1, 2)):
        for event in itertools.combinations(range(len(p)), size):
            most = max(most, sum(p[y] for y in event) - e * sum(q[y] for y in event))
    assert most == delta0 == nearest.failure(rows, e), "one output for each ordered pair, and no second one"


def test_a_lower_bound_by_the_dual_program_needs_no_solver():
    """Weight 1 on t + e s at every ordered pair: what is left over there, divided by k (1 + e)."""
    e, inputs, delta0 = Fraction(2), 5, Fraction(1, 100)
    rows = exact_channels.telling_pairs(e, delta0, inputs)
    total = 0
    for output, (i, j) in enumerate(itertools.permutations(range(inputs), 2)):
        total += rows[i][output] - e * rows[j][output]
    assert total / (inputs * (1 + e)) == nearest.needed(inputs, e, delta0) == Fraction(4, 300)
    assert nearest.needed(inputs, e, delta0) > nearest.claimed(e, delta0) == Fraction(5, 400)


def test_lemma_6_is_refuted_from_five_inputs_on_and_not_before():
    claim = claims.named("ccg24-lemma-6")
    assert claim.verdict is claims.Verdict.REFUTED
    curve = claim.failure_curve()
    assert [k for k, wrong in zip(curve.at, curve.fails, strict=True) if wrong] == list(range(5, 16))
    found = claims.checked(claim)
    assert "1.333333 delta0" in " ".join(found.steps) and "2.333333 delta0" in " ".join(found.steps)


def test_two_inputs_are_as_near_as_stated_and_a_clone_is_near_every_report():
    """By linear programming, for channels with and without structure: delta0/(1 + e) at most."""
    rng, tried, closest = random.Random(5), 0, 0.0
    while tried < 40:
        rows = random_channel(rng, 2)
        e = 1 + (exact_channels.largest_ratio(rows) - 1) * Fraction(rng.randint(1, 9), 10)
        delta0 = nearest.failure(rows, e) if 1 < e < 50 else 0
        if delta0 > Fraction(1, 1000):
            tried += 1
            away = nearest.distance_to_pure(rows, float(e)) / float(delta0 / (1 + e))
            closest = max(closest, away)
    assert 1 - 1e-6 < closest < 1 + 1e-6
    for e in (Fraction(1), Fraction(11, 10), Fraction(3), Fraction(100)):
        assert local_failures.clone_distance(e, 1) <= nearest.claimed(e, 1)

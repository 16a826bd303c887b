"""The ledger of the variation-ratio paper: every finding, its second computation, and searches that bite."""

import itertools
import math
from fractions import Fraction as F
from typing import NamedTuple

import pytest

import claims
import oracles
from claims import Effort, Verdict, exact_channels, exact_shuffle
from claims import exact_count_pair as counts_pair_module
from claims.counterexample_search import linear, logarithmic, whole
from claims.exact_count_pair import (
    above_the_claim,
    counts_delta,
    counts_pair,
    evenly,
    pair_below_mechanism,
    printed,
)
from claims.wang24 import closed_forms, extremal, numbers, parameters, rounds, tightness
from shufflelib import randomizers
from shufflelib.shuffling.variation_ratio import VariationRatioPair

# ---------------------------------------------------------------- the instruments


def test_the_pair_as_a_channel_is_the_enumerated_pair():
    for (p, beta, q0, q1), n in itertools.product(
        ((F(3), F(1, 4), F(3), F(5)), (math.inf, F(1), F(4), F(4)), (F(9), F(1, 2), F(2), F(2))), (1, 2, 4)
    ):
        masses = oracles.pair_masses(n=n, p=p, beta=beta, q0=q0, q1=q1)
        for ratio in (F(1), F(3, 2), F(4)):
            assert counts_delta(n, ratio, p=p, beta=beta, q0=q0, q1=q1) == oracles.both_ways(masses, ratio)


@pytest.mark.parametrize(("p", "beta", "q"), [(3.0, 0.25, 3.0), (3.0, 0.5, 3.0), (math.inf, 1.0, 16.0)])
def test_the_pair_as_a_loss_sum_is_the_packages_pair(p, beta, q):
    for n in (5, 2000, 10**6):
        eps = 2.0 / math.sqrt(n)
        ours, theirs = (
            pair.log_worst(eps)
            for pair in (counts_pair(n, p, beta, q), VariationRatioPair(n=n, p=p, beta=beta, q0=q))
        )
        assert ours.lower - 1e-6 <= theirs.lower <= theirs.upper <= ours.upper + 1e-6


def test_enumerated_channels_are_those_of_the_oracles():
    assert exact_channels.subsets(3, 5, 1, 2) == oracles.subset_mechanism(3, 5, 2)
    assert exact_channels.local_hash(3, 3, 4) == oracles.local_hash(3, 3, 4)
    assert exact_channels.laplace(2) == oracles.laplace_cells(2, 2)
    assert exact_shuffle.randomized_response(3, 5) == oracles.generalized_rr(3, 5)
    rows = [
        *exact_channels.hadamard(3, 6, blocks=2),
        *exact_channels.rappor(2, 4, 2),
        *exact_channels.key_values(3, 3, 2),
        *exact_channels.priv_kv(3, 3, 4, 2),
        *exact_channels.piecewise(3),
        *exact_channels.corners(3, 2),
        *exact_channels.one_coordinate(3, 2),
        *exact_channels.fake_users(F(1, 10), 3),
        *exact_channels.bins(6, 2),
        *exact_channels.mixed_dummies(F(1, 5), 4),
    ]
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)


def test_a_witness_needs_more_than_equality():
    assert above_the_claim(F(1, 3), F(1, 3), ("equal",)).verdict is Verdict.HOLDS
    assert above_the_claim(F(1, 3), F(1, 4), ("more",)).verdict is Verdict.REFUTED
    assert printed(F(1, 3)) == "1/3 = 0.3333333" and printed(F(2)) == "2"
    assert evenly(Effort(8), 0.0, 1.0) == [0.0, 0.5, 1.0] and len(evenly(Effort(256), 0.0, 1.0)) == 9


# ---------------------------------------------------------------- searches that bite


def test_a_pair_that_loses_a_thousandth_of_its_delta_is_seen(monkeypatch):
    """The pair attains itself, and not three thousandths less."""

    def check(shift):
        monkeypatch.setattr(
            counts_pair_module, "counts_pair", lambda *point: Shifted(counts_pair(*point), shift)
        )
        return pair_below_mechanism(
            lambda eps0: randomizers.generalized_rr(eps0=eps0, d=3),
            lambda one: (one.p, one.beta, one.q),
            attained=lambda one, n, eps: counts_pair(n, one.p, one.beta, one.q).log_worst(eps).lower,
            eps0=logarithmic(0.5, 2.0),
            n=whole(10**4, 10**6),
            z=linear(0.5, 3.0),
        )(Effort(4)).verdict

    assert check(-3e-3) is Verdict.REFUTED
    assert check(3e-3) is Verdict.HOLDS


class Shifted(NamedTuple):
    """A pair whose log δ is shifted."""

    pair: object
    shift: float

    def log_worst(self, eps, tolerance):
        """Enclose the shifted log δ."""
        return type(found := self.pair.log_worst(eps, tolerance))(
            found.lower + self.shift, found.upper + self.shift
        )


@pytest.mark.parametrize(("factor", "verdict"), [(0.999, Verdict.REFUTED), (1.001, Verdict.HOLDS)])
def test_a_table_entry_a_thousandth_too_small_is_refuted(factor, verdict):
    check = parameters._row(
        lambda e, d: factor * (e - 1) / (e + d - 1), randomizers.generalized_rr, d=whole(3, 64)
    )
    assert check(Effort(4)).verdict is verdict


@pytest.mark.parametrize(("factor", "verdict"), [(0.999, Verdict.REFUTED), (1.001, Verdict.HOLDS)])
def test_a_closed_form_a_thousandth_below_the_pair_is_refuted(factor, verdict):
    def exactly(*, p, beta, q, n, delta):
        return factor * VariationRatioPair(n=n, p=p, beta=beta, q0=q).epsilon(delta).upper

    check = closed_forms.below_the_pair(exactly, lambda r, delta: 30.0 / r, farthest=0.5)
    assert check(Effort(2)).verdict is verdict


def test_table_4_a_unit_smaller_would_be_refuted(monkeypatch):
    rows = [list(row) for row in numbers.TABLE_4]
    rows[4][2] = 0.00501
    monkeypatch.setattr(numbers, "TABLE_4", tuple(map(tuple, rows)))
    assert numbers._table_4(2, 20)(Effort(2)).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- witnesses, again by other means


def test_two_sampled_rounds_by_enumerating_every_output():
    """Both rounds, both datasets, all outputs: one user of two is drawn, randomized response with odds 3."""
    response = oracles.generalized_rr(3, 2)

    def distribution(first, second):  # bits that the two users would report on in rounds 1 and 2
        masses = {}
        for y in itertools.product((0, 1), repeat=2):
            chances = [
                (response[a][out] + response[b][out]) / 2
                for (a, b), out in zip((first, second), y, strict=True)
            ]
            masses[y] = math.prod(chances)
        return masses

    # round 1 asks whether "is it x1?": users (x0, x2) have (0, 1); round 2 another question: (0, 0)
    p, q = distribution((0, 1), (0, 0)), distribution((1, 1), (1, 0))
    truth, named = rounds._two_sampled_rounds()
    assert oracles.both_ways({y: (p[y], q[y]) for y in p}, F(17, 10)) == truth == F(13, 80)
    assert named == F(23, 160)
    # the hypothesis of the lemma: each round's curve is at most the named pair's, in both orders
    middle, tail = (F(1, 2), F(1, 2)), (F(1, 4), F(3, 4))
    for ratio in (F(1), F(9, 8), F(17, 10), F(3)):
        curve = oracles.both_ways({y: (middle[y], tail[y]) for y in (0, 1)}, ratio)
        for one, two in ((middle, tail), (tail[::-1], middle)):
            assert oracles.both_ways({y: (one[y], two[y]) for y in (0, 1)}, ratio) <= curve


def test_the_lower_bound_of_unequal_sides_is_above_the_worst_of_all_datasets():
    truth = oracles.worst_shuffled_hockey_stick(tightness.UNEQUAL, 2, F(5, 4))
    assert truth == F(7, 100)
    masses = oracles.pair_masses(n=2, p=2, beta=F(1, 5), q0=1, q1=2)  # x* = x0
    assert oracles.both_ways(masses, F(5, 4)) == F(2, 25) > truth


def test_a_mixed_dataset_of_binary_response_is_the_worst_near_zero():
    assert oracles.worst_shuffled_hockey_stick(oracles.generalized_rr(2, 2), 3, F(1)) == F(5, 27)
    masses = oracles.pair_masses(n=3, p=2, beta=F(1, 3), q0=1, q1=2)
    assert oracles.both_ways(masses, F(1)) == F(4, 27)


def test_for_subsets_of_two_no_third_input_reaches_the_largest_ratio():
    """Subsets of two of d items: the largest min(q0, q1) is (d - 2)e/(e + d - 3), not e."""
    for e, d in ((3, 4), (3, 5), (7, 6)):
        beta, ratio = tightness._worst_ratio(oracles.subset_mechanism(e, d, 2))
        assert ratio == F((d - 2) * e, e + d - 3) < e
        assert beta == F((e - 1) * (d - 2), e * (d - 1) + (d - 1) * (d - 2) // 2)
    assert tightness._worst_ratio(oracles.generalized_rr(5, 4)) == (F(4, 8), 5)


def test_disjoint_caps_are_randomized_response():
    caps, response = extremal._caps(3), oracles.generalized_rr(3, 5)
    for others in ((4, 4), (0, 4)):
        truth = exact_shuffle.delta(response, 0, 1, tuple(x // 2 for x in others), F(2))
        assert exact_shuffle.delta(caps, 0, 2, others, F(2)) == truth


@pytest.mark.parametrize(
    ("name", "sound"),
    [("lemma-4.4", 1), ("theorem-4.7", 5), ("table1-sampling-rappor", 2), ("tight-subset", 10)],
)
def test_a_failure_curve_has_where_the_claim_holds(name, sound):
    fails = claims.named(f"wang24-{name}").failure_curve().fails
    assert fails.count(False) == sound and True in fails

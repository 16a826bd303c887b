"""The ledger of the variation-ratio paper: every finding, its second computation, and searches that bite."""

import math
from fractions import Fraction as F
from typing import NamedTuple

import pytest

from claims import Effort, Verdict, exact_channels
from claims import exact_count_pair as counts_pair_module
from claims.counterexample_search import linear, logarithmic, whole
from claims.exact_count_pair import (
    above_the_claim,
    counts_pair,
    evenly,
    pair_below_mechanism,
    printed,
)
from claims.wang24 import closed_forms, numbers, parameters
from shufflelib import randomizers
from shufflelib.shuffling.variation_ratio import VariationRatioPair

# ---------------------------------------------------------------- the instruments


@pytest.mark.parametrize(("p", "beta", "q"), [(3.0, 0.25, 3.0), (3.0, 0.5, 3.0), (math.inf, 1.0, 16.0)])
def test_the_pair_as_a_loss_sum_is_the_packages_pair(p, beta, q):
    for n in (5, 2000, 10**6):
        eps = 2.0 / math.sqrt(n)
        ours, theirs = (
            pair.log_worst(eps)
            for pair in (counts_pair(n, p, beta, q), VariationRatioPair(n=n, p=p, beta=beta, q0=q))
        )
        assert ours.lower - 1e-6 <= theirs.lower <= theirs.upper <= ours.upper + 1e-6


def test_rows_of_enumerated_channels_are_distributions():
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
    assert numbers._table_4_twenty(Effort(2)).verdict is Verdict.REFUTED

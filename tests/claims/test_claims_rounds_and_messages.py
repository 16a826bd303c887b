"""Rounds, messages, metrics and parallel queries in the ledger: the instruments, and the failure curves."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import claims
from claims import QUICK, Effort, Verdict, exact_channels, exact_losses, exact_shuffle, exact_tests
from claims.scw25 import decompositions_released
from claims.wang24 import metric, rounds, several_messages
from shufflelib import randomizers


def test_failure_curves_pass_through_the_witnesses():
    composed = claims.named("wang24-composed-pair").failure_curve()
    place = composed.at.index(7.0)
    assert (composed.claimed[place], composed.true[place]) == (6 / 625, 18 / 625)
    flipped = claims.named("wang24-tight-cheu-zhilyaev").failure_curve()
    assert flipped.claimed[flipped.at.index(10.0)] == float(F(335717, 10**6))
    few = claims.named("scw25-code-generic").failure_curve()
    assert (few.claimed[2], few.true[2]) == (float(F(25, 144)), float(F(27, 128)))
    hat = claims.named("wang24-table2-witch-hat").failure_curve()
    assert (hat.claimed[-1], hat.true[-1]) == pytest.approx((0.0, 3 * (math.e**2 - 3) / (3 * math.e**2 + 9)))


@pytest.mark.parametrize("d", [0.5, 3.0, 4.5, 6.0, 9.0])
def test_the_total_variation_of_two_witch_hats_is_that_of_the_released_density(d):
    """The factor F and the exponent m - d/F: both differ from the printed cell at F = 3."""
    bends = sorted({-9, 9, *(x + side * 3 for x in (-d / 2, d / 2) for side in (-1, 0, 1)), 0})

    def gap(z):
        first, second = (mpmath.exp(-min(2 * abs(z - x) / 3, 2)) for x in (-d / 2, d / 2))
        return abs(first - second) / 2

    total = 3 * (1 - mpmath.exp(-2)) + 12 * mpmath.exp(-2)
    truth = float(mpmath.quad(gap, bends) / total)
    assert metric.witch_hat_variation(d) == pytest.approx(truth, rel=1e-12)
    here = randomizers.witch_hat(d01=2 * d / 3, dmax=2 * d / 3, brim=6.0, height=2.0, scale=3.0)
    places = np.linspace(-8.9, 8.9, 40)  # lengths around the middle of the two places; in nats times 2/3
    ours = here.density(2 * (places + d / 2) / 3, 0.0) * 2 / 3
    assert ours == pytest.approx(metric.witch_hat_density(places, -d / 2), rel=1e-12)


# ---------------------------------------------------------------- rounds


def test_an_asymmetric_pair_refutes_what_holds_for_the_pairs_of_the_paper(monkeypatch):
    p, q = rounds.RESPONSE
    mixed = [exact_tests.mixed((F(1, 2), F(1, 2)), (p, q)), q]
    lemma = claims.named("wang24-lemma-7.2").check
    assert lemma(QUICK).verdict is Verdict.HOLDS
    monkeypatch.setattr(rounds, "_pair_of_counts", lambda *_: mixed)
    assert lemma(Effort(64)).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- messages


def test_a_slip_in_a_row_of_table_3_is_seen():
    settings = [(F(1, 5), 4)]
    right = several_messages.TABLE_3["wang24-table3-mixdump"].check
    assert right(QUICK).verdict is Verdict.HOLDS
    slip = several_messages._message_row(
        exact_channels.mixed_dummies, lambda f, d: ((1 - f) * (d - 1) / f, 1 - f, (1 - f) * d), settings
    )
    assert slip(QUICK).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- released codes


def test_the_released_grid_is_an_expectation_for_any_number_of_users():
    eps0, ratio = 1.0, 1.2
    channel = exact_shuffle.randomized_response(F(math.e).limit_denominator(10**6), 4)
    distribution = exact_losses.losses(channel[0], channel[1], channel[2], F(ratio))
    for n in (1, 2, 3):
        truth = float(exact_losses.expected_positive_part(distribution, n))
        found = decompositions_released._released(eps0, 4, math.log(ratio), attacked=True, n=n)
        assert truth * (1 - 1e-4) <= found <= truth + math.expm1(eps0) / decompositions_released.CELLS

"""The ledger of decomposition bounds, asymptotics, composed rounds: findings and instruments."""

import math
from fractions import Fraction as F

import pytest

import claims
from claims import QUICK, Verdict, exact_losses, exact_shuffle
from claims.exact_tests import never_fails, random_distribution
from claims.others import composed_rounds, fixed_compositions
from claims.scw25 import decompositions, decompositions_released

# ---------------------------------------------------------------- the instruments


@pytest.mark.parametrize(
    ("factor", "verdict"), [(F(999, 1000), Verdict.REFUTED), (F(1001, 1000), Verdict.HOLDS)]
)
def test_a_blanket_bound_a_thousandth_smaller_is_refuted(factor, verdict):
    def scaled(rng):  # one user: the bound is the divergence
        rows, ratio = (
            [random_distribution(rng, 3, weights=(1, 2, 3)) for _ in range(3)],
            1 + F(rng.randint(0, 4), 8),
        )
        bound = exact_losses.blanket_delta(
            rows, 1, ratio, exact_losses.blanket(rows), decompositions._pairs(rows)
        )
        return exact_shuffle.worst_delta(rows, 1, ratio)[0] <= factor * bound

    assert never_fails(scaled, "one user")(QUICK).verdict is verdict


def test_one_answer_that_differs_may_be_worse_than_two_unless_inputs_can_be_exchanged():
    """The bound from its definition: all pairs of two reports, each from the blanket or not."""
    rows = {
        (x, y): [a * b for a in first for b in second]
        for x, first in enumerate(decompositions.RESPONSE)
        for y, second in enumerate(decompositions.LOPSIDED)
    }
    blanket = [min(column) for column in zip(*rows.values(), strict=True)]
    drawn = [*zip(range(4), blanket, strict=True), (None, 1 - sum(blanket))]

    def bound(one, other):
        gain = [(a - F(3, 2) * b) / w for a, b, w in zip(rows[one], rows[other], blanket, strict=True)] + [0]
        total = sum(
            p * q * max(gain[-1 if i is None else i] + gain[-1 if j is None else j], 0)
            for i, p in drawn
            for j, q in drawn
        )
        return total / 2

    assert bound((0, 0), (1, 0)) == F(17, 24)
    assert max(bound((x, y), (1 - x, 1 - y)) for x in (0, 1) for y in (0, 1)) == F(283, 400)
    claim = claims.named("scw25-joint")
    assert claim.verdict is Verdict.SMALLER and "17/24 > 283/400" in claim.check(QUICK).evidence


def _of_response(row):
    return decompositions._table(lambda d: exact_shuffle.randomized_response(3, d), (3, 5), row, "options")


def test_a_slip_in_a_row_of_the_table_is_seen():
    for row, verdict in (
        (decompositions._response_row, Verdict.HOLDS),
        (decompositions._two_classes_row, Verdict.REFUTED),
    ):
        assert _of_response(row)(QUICK).verdict is verdict


def test_the_released_scheme_returns_its_recorded_numbers():
    """Emulated on a long vector of cells, convolved without transforms, for few users."""
    says = [
        decompositions_released._released(*setting, eps, attacked=attacked) > decompositions_released.RISK
        for setting, eps, attacked in (
            ((0.1, 100), 0.000613, False),
            ((0.1, 100), 0.000615, False),
            ((1.0, 10), 0.038745, True),
            ((1.0, 10), 0.038749, True),
        )
    ]
    assert says == [True, False, True, False]
    distribution = exact_losses.losses([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], [F(1, 4), F(1, 4)], F(5, 4))
    up, down = (
        decompositions_released.rounded(distribution, F(1, 7), way) for way in (math.ceil, math.floor)
    )
    for n in (1, 2, 4):
        values = [exact_losses.expected_positive_part(one, n) for one in (down, distribution, up)]
        assert values == sorted(values) and values[0] < values[2]


# ---------------------------------------------------------------- composed rounds


def test_an_advanced_composition_too_small_is_refuted(monkeypatch):
    found = composed_rounds._log_delta_of_responses
    monkeypatch.setattr(composed_rounds, "_log_delta_of_responses", lambda e, k, at: found(e, k, 0.8 * at))
    assert claims.named("drv10-advanced").check(QUICK).verdict is Verdict.REFUTED


def test_stored_numbers_a_percent_off_are_not_reproduced(monkeypatch):
    check = claims.named("khh23-figure-4-strong").check
    assert check(QUICK).verdict is Verdict.HOLDS
    off = composed_rounds._figure_4(
        tuple(1.01 * x for x in composed_rounds.STRONG), composed_rounds._strong, composed_rounds._near, "off"
    )
    assert off(QUICK).verdict is Verdict.NOT_REPRODUCIBLE


# ---------------------------------------------------------------- asymptotics


def test_counts_are_a_distribution_and_the_wrong_covariance_is_seen(monkeypatch):
    distribution = fixed_compositions._counts((3, 2))
    assert distribution.sum() == pytest.approx(1.0) and distribution.shape == (6, 6)
    right = fixed_compositions.composition_index
    for factor, check in ((1.01, fixed_compositions._divergence_rate), (1.1, fixed_compositions._curves)):
        monkeypatch.setattr(
            fixed_compositions,
            "composition_index",
            lambda rows, shares, k=factor: k * right(rows, shares=shares),
        )
        assert check(QUICK).verdict is Verdict.REFUTED

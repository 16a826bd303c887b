"""Claims of Chen, Cao, Ge, of Girgis et al. and of Liu et al.: every finding as the ledger says."""

import csv
from pathlib import Path

import numpy as np
import pytest

from shufflelib import renyi
from shufflelib.claims import (
    Effort,
    Verdict,
    checked,
    hypothesis_tests,
    normal_limit,
    personal_budgets,
    personal_comparisons,
    personal_guarantees,
    renyi_bounds,
    renyi_comparisons,
    shuffled_sgd,
    training_accuracies,
    two_symbols,
)
from shufflelib.claims.random_laws import corners, false_negatives, never_fails, random_law

MODULES = (
    two_symbols,
    hypothesis_tests,
    normal_limit,
    renyi_bounds,
    renyi_comparisons,
    personal_budgets,
    personal_guarantees,
    personal_comparisons,
    shuffled_sgd,
    training_accuracies,
)
CLAIMS = tuple(claim for module in MODULES for claim in module.CLAIMS)
SEARCHED = (
    "ccg24-theorem-2",
    "ccg24-corollary-2",
    "gspa24-approximately-mu",
    "girgis21-subsampled",
    "ccg24-proposition-1",
)
FIGURES = Path(__file__).parent.parent / "figures"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_finding_is_the_ledgers(claim):
    result = checked(claim, Effort(4))
    assert result.agrees, result.evidence
    assert result.evidence
    if result.verdict is Verdict.REFUTED:
        assert result.confirmed and result.witness and claim.reading


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.id in SEARCHED], ids=lambda claim: claim.id)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_finding_does_not_depend_on_the_seed(claim, seed):
    assert claim.check(Effort(8, seed)).verdict == claim.verdict


def test_names_are_their_own_and_statements_are_sentences():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        assert claim.id == claim.id.lower() and " " not in claim.id
        assert claim.statement.endswith(".") and claim.source


# ---------------------------------------------------------------- a thousandth decides


def _scaled(factor):
    def formula(eps0, n, order):
        return factor * renyi.binary_rr_pair(eps0=eps0, n=n).renyi_directed(order)[1]

    return formula


@pytest.mark.parametrize("seed", [0, 1])
def test_a_tight_renyi_bound_a_thousandth_smaller_is_refuted_and_a_thousandth_larger_is_not(seed):
    assert renyi_bounds.renyi_upper_bound(_scaled(0.999))(Effort(4, seed)).verdict is Verdict.REFUTED
    assert renyi_bounds.renyi_upper_bound(_scaled(1.001))(Effort(4, seed)).verdict is Verdict.HOLDS


def test_the_lower_bound_is_tight_at_order_two_and_a_thousandth_more_is_too_much(monkeypatch):
    claim = next(claim for claim in CLAIMS if claim.id == "girgis21-lower")
    honest = renyi.girgis21_lower
    for factor, verdict in ((1.001, Verdict.REFUTED), (0.999, Verdict.HOLDS)):
        monkeypatch.setattr(renyi, "girgis21_lower", lambda factor=factor, **at: factor * honest(**at))
        assert claim.check(Effort(8)).verdict is verdict


def test_outside_its_regime_a_formula_is_not_held_against_its_authors():
    def formula(eps0, n, order):
        raise renyi.OutOfRegime("never")

    found = renyi_bounds.renyi_upper_bound(formula)(Effort(2))
    assert found.verdict is Verdict.HOLDS and "0 points" in found.evidence


def test_real_data_are_counted_alike_by_two_routes():
    for eps0, n, order in ((0.5, 30, 3.5), (4.0, 200, 16.0)):
        listed = renyi_bounds._counted(eps0, n, order)[0]
        assert renyi_bounds._attained(eps0, n, order) == pytest.approx(listed, rel=1e-6)


# ---------------------------------------------------------------- exact facts


def test_a_pure_channel_is_its_own_neighbour_and_a_revealing_one_is_not():
    pure = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert hypothesis_tests._distance_to_pure(pure, 3.0) == pytest.approx(0.0, abs=1e-9)
    assert hypothesis_tests._distance_to_pure(pure, 1.0) == pytest.approx(0.25, abs=1e-9)


def test_a_wrong_fact_meets_a_counterexample():
    """Half of the true delta, and the chain without its middle law."""

    def half(rng):
        curve, e, delta = hypothesis_tests._guarantee(rng)
        f = hypothesis_tests._approximate(e, delta / 2)
        return all(y >= f(x) for x, y in curve)

    def unchained(rng):
        p, q, r = (corners(random_law(rng), random_law(rng)) for _ in range(3))
        return all(
            false_negatives(p, x) >= false_negatives(q, 1 - false_negatives(r, x))
            for x in hypothesis_tests.LEVELS
        )

    for wrong in (half, unchained):
        assert never_fails(wrong, "wrong")(Effort(8)).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- committed numbers


def _committed(name):
    with (FIGURES / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_accuracies_are_those_of_the_committed_table():
    rows = {
        row["our setting"]: (float(row["train %"]), float(row["test %"]))
        for row in _committed("07_published_mnist.csv")
    }
    listed = training_accuracies.ALGORITHM_1 | training_accuracies.PLAIN | training_accuracies.EQUAL
    listed |= training_accuracies.RELEASED
    for one in training_accuracies.CLIENT.values():
        listed |= one
    assert {name: rows[name] for name in listed} == listed


def _mean(name, accuracy, **columns):
    """Return the mean over runs of an accuracy after the last epoch, in per cent."""
    rows = [row for row in _committed(name) if all(row[key] == value for key, value in columns.items())]
    last = max(int(row["epoch"]) for row in rows)
    values = [100.0 * float(row[accuracy]) for row in rows if int(row["epoch"]) == last]
    assert last == 50 and len(values) == 5
    return sum(values) / 5


def test_accuracies_of_the_comparisons_are_those_of_the_committed_curves():
    for bound, value in training_accuracies.SAME_DIVERGENCE.items():
        mean = _mean("07_fig4_equal_mnist.csv", "train accuracy", bound=bound)
        assert mean == pytest.approx(value, abs=0.051)
    for panel, (noisy, plain) in training_accuracies.APPROACH.items():
        for eps0, value in (("2", noisy), ("", plain)):
            mean = _mean("07_fig4_epochs_mnist.csv", "train accuracy", panel=panel, eps0=eps0)
            assert mean == pytest.approx(value, abs=0.051)
    budgets = ("Unif 3, U(0.5, 1)", "Constant, 0.5", "Unif 2, U(0.01, 2)")
    for setting, values in training_accuracies.ORDERED.items():
        data, noise = setting.split(", ", 1)
        for name, value in zip(budgets, values, strict=True):
            figure = f"07_fig4_personal_{data.lower()}.csv"
            mean = _mean(figure, "test accuracy", noise=noise, budgets=name)
            assert mean == pytest.approx(value, abs=0.051)

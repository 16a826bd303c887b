"""Claims on personal budgets: what each file finds, and the failure curves of the claims."""

import numpy as np

import claims
from claims import Effort, Verdict, committed_runs, exact_count_pair
from claims.gspa24 import accuracies, personal_guarantees
from claims.others import echo_of_neighbours, local_failures

# ---------------------------------------------------------------- the instruments


def test_a_larger_slack_than_the_truth_refutes_nothing():
    true, claimed = personal_guarantees._narrow_among_wide(5.0)
    above = exact_count_pair.above_the_claim
    assert above(true, claimed, ("",)).verdict is Verdict.REFUTED
    assert above(true, 1.001 * true, ("",)).verdict is Verdict.HOLDS


def test_the_released_scale_is_enough_for_small_budgets_only():
    attained = echo_of_neighbours._attained_by_scale
    values = [attained(eps) for eps in np.linspace(0.5, 2.0, 7)]
    assert values == sorted(values) and values[0] < echo_of_neighbours.RELEASED < values[-1]


def test_a_charge_for_failures_that_is_too_small_is_seen(monkeypatch):
    """Of the two parts, the pair of clones and the charge, neither alone is enough."""
    claim = claims.named("fmt21-theorem-3.8")
    found = claim.check(Effort(4))
    assert found.verdict is Verdict.HOLDS and len(found.steps) >= 6
    for part in ("both_ways", "added"):
        with monkeypatch.context() as patch:
            patch.setattr(local_failures, part, lambda *at: 0)
            assert claim.check(Effort(4)).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- committed runs


def test_the_tolerance_and_the_number_of_runs_of_an_accuracy_are_told():
    for name in ("gspa24-accuracy-best", "gspa24-accuracy-constant", "gspa24-accuracy-spread"):
        evidence = accuracies.CHECKS[name].check(Effort(1)).evidence
        assert evidence.endswith("one run, its spread unknown; up to 0.5 points apart counts as reproduced")
    assert len({row["run"] for row in committed_runs.committed("gspa24_fig4_mnist")}) == 1
    private = claims.named("ccg24-accuracy-private").check(Effort(1)).evidence
    assert "the mean of 2 runs; up to 0.5 points apart" in private


def test_accuracies_come_from_the_committed_runs(monkeypatch, tmp_path):
    """Runs that end nearer to the published numbers, or in another order, change the verdicts."""
    names = ("gspa24-accuracy-best", "gspa24-accuracy-constant", "gspa24-figure-4-order")

    def verdicts():
        return [accuracies.CHECKS[name].check(Effort(1)).verdict for name in names]

    assert verdicts() == [claims.named(name).verdict for name in names]
    rows = [
        ("Unif 3, U(0.5, 1)", 96.78),
        ("Constant, 0.5", 91),
        ("Unif 2, U(0.01, 2)", 93),
        ("no noise", 100),
    ]
    for name, noises in (("gspa24_fig4_mnist", [""]), ("gspa24_noise_mnist", ["m clients", "m examples"])):
        lines = ["# clip: 2", 'noise,budgets,run,epoch,"accuracy, %"']
        lines += [f'"for 2C/m, {noise}","{held}",0,50,{ours}' for noise in noises for held, ours in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(committed_runs, "FIGURES", tmp_path)
    assert verdicts() == [Verdict.HOLDS, Verdict.NOT_REPRODUCIBLE, Verdict.NOT_REPRODUCIBLE]

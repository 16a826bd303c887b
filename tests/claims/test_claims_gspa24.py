"""Claims on personal budgets: what each file finds, and the failure curves of the claims."""

import itertools

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
        assert "up to 0.5 points apart" in evidence and "in 3 runs" in evidence
        assert all(f", m {meaning}" in evidence for meaning in ("100 clients", "600 examples", "a batch"))
    for name in ("private", "plain", "equal"):
        evidence = claims.named(f"ccg24-accuracy-{name}").check(Effort(1)).evidence
        assert "up to 0.5 points apart" in evidence and "in 3 runs" in evidence
    assert "up to 2 points counts as near" in claims.named("ccg24-approaches").check(Effort(1)).evidence


NOISES = ("clients", "examples", "a batch")
LISTS = dict(zip(("three", "constant", "two"), accuracies.ORDER, strict=True)) | {"plain": "no noise"}


def _written(folder, **runs):
    """Write committed runs of one meaning of m: for each list of budgets its accuracies."""
    table, figure = ['budgets,m,"ours, %",least,most,runs'], ['noise,budgets,run,epoch,"accuracy, %"']
    for held, ours in runs.items():
        count = len(ours) if len(ours) > 1 else "one run"
        table.append(f'"{LISTS[held]}",600 examples,{sum(ours) / len(ours)},{min(ours)},{max(ours)},{count}')
        for run, noise in itertools.product(range(len(ours)), NOISES):
            figure.append(f'"for 2C/m, m {noise}","{LISTS[held]}",{run},50,{ours[run]}')
    for name, lines in {"accuracies": table, "fig4_mnist": figure, "noise_mnist": figure}.items():
        (folder / f"gspa24_{name}.csv").write_text("\n".join(lines), encoding="utf-8")


def test_accuracies_come_from_the_committed_runs(monkeypatch, tmp_path):
    """Runs that end nearer to the published numbers, or in another order, change the verdicts."""
    names = ("gspa24-accuracy-best", "gspa24-accuracy-constant", "gspa24-figure-4-order")

    def verdicts():
        return [accuracies.CHECKS[name].check(Effort(1)).verdict for name in names]

    assert verdicts() == [claims.named(name).verdict for name in names]
    monkeypatch.setattr(committed_runs, "FIGURES", tmp_path)
    _written(tmp_path, three=[96.7, 96.9], constant=[91, 92], two=[93, 92], plain=[100, 99])
    assert verdicts() == [Verdict.HOLDS, Verdict.NOT_REPRODUCIBLE, Verdict.NOT_REPRODUCIBLE]
    _written(tmp_path, three=[96.78], constant=[94.8], two=[93.5], plain=[100])
    assert verdicts() == [Verdict.NOT_REPRODUCIBLE, Verdict.NOT_REPRODUCIBLE, Verdict.HOLDS]  # single runs
    _written(tmp_path, three=[97, 95], constant=[94, 95.1], two=[93.5, 90], plain=[100, 99])
    found = accuracies.CHECKS[names[-1]].check(Effort(1))
    assert found.verdict is Verdict.HOLDS and "this order in 1 of 2 runs" in found.evidence

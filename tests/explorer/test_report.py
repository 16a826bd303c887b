"""The page to print, and the picture of errors: what they say is what the library computes."""

import functools
import re

import pytest

from shown_words import plain
from shufflelib import randomizers, recommend, shuffle
from shufflelib.calibration.questions import error
from shufflelib.explorer import Setting, plan, plan_pictures, questions, report
from shufflelib.explorer.questions import Known, Question, Unknown

SETTING = Setting(n=1000, d=4, eps=1.0, dropout=0.1)
known = Known(functools.cache(Question.answer))


def rows():
    return known(questions.recommended, SETTING)


def test_a_report_holds_the_guarantee_the_errors_the_statement_and_the_code():
    best = rows()[0]
    page = report.report(SETTING, known)
    shown = plain(page)
    for words in (best["sentence"], best["python"], "Recommended mechanism", "ε ≤ 1 at δ = 10⁻⁶"):
        assert words in shown
    profile = shuffle(getattr(randomizers, best["mechanism"])(eps0=best["value"], d=4), 900)
    assert all(words.split(":")[0][2:] in shown for words in profile.hypotheses)
    certified = re.search(r"([\d.]+) ≤ ε ≤ ([\d.]+) at", shown)
    exact = profile.epsilon(1e-6)
    assert float(certified[1]) <= exact.lower <= exact.upper <= float(certified[2]) <= 1.0
    assert page.count("data:image/png;base64,") == 2 and "http" not in page and "<script" not in page


def test_a_report_is_about_the_mechanism_that_is_chosen():
    for row in rows():
        shown = plain(report.report(SETTING.but(chosen=row["mechanism"]), known))
        assert row["sentence"] in shown and ("Chosen mechanism" in shown) == (row is not rows()[0])
        without = "nothing protects the values" if row["parameter"] == "messages" else "times as likely"
        assert without in shown


def only_recommended(found):
    """Return what is known while nothing but the recommendation is."""
    return Known(lambda question: found if question.ask is questions.recommended else None)


def test_a_report_waits_for_the_recommendation_and_then_for_both_ends():
    for nothing in (None, Unknown("too few users")):
        with pytest.raises(ValueError, match="no plan to report"):
            report.report(SETTING, only_recommended(nothing))
    for chosen, there in (("best", True), ("balls_into_bins", False)):
        only = only_recommended(rows())
        shown = plain(report.report(SETTING.but(chosen=chosen), only))
        assert "ε ≤ 1 at δ = 10⁻⁶ (proved)" in shown
        waits = [one for one, answer in only.asked.items() if answer is None]
        assert [(one.ask, one.setting.n, one.setting.eps0) for one in waits] == there * [
            (questions.epsilon, 900, rows()[0]["value"])
        ]


def test_a_mean_over_rounds_has_the_error_of_one_round_and_the_local_budget_of_all():
    setting = Setting(task="mean", n=1000, eps=2.0, rounds=2)
    found = recommend(task="mean", n=1000, eps=2.0, delta=1e-6, rounds=2)
    shown = plain(report.report(setting, only_recommended(found)))
    assert "Typical error of one round a true mean of 50 % is shown as 50 % ± " in shown
    assert f"ε₀ = {2 * found[0]['value']:.4g} in all 2 rounds" in shown


def test_errors_are_those_of_the_row_of_a_curator_and_of_the_best_mechanism_alone():
    for row in rows():
        found = plan_pictures.errors(SETTING, row)
        assert found[plan_pictures.SHUFFLED] == row["standard error"]
        assert found[plan_pictures.CURATOR] < row["standard error"] < found[plan_pictures.LOCAL]
        alone = error(randomizers.generalized_rr, n=900, eps0=1.0, d=4).usual
        assert found[plan_pictures.LOCAL] <= alone


def test_the_plan_says_the_error_without_a_shuffler_also_where_the_target_is_tiny():
    tiny, row = SETTING.but(eps=1e-5), rows()[0]
    alone = plan_pictures.errors(tiny, row)[plan_pictures.LOCAL]
    assert alone == pytest.approx(1e5 * plan_pictures.errors(SETTING, row)[plan_pictures.LOCAL], rel=0.5)
    shown = plain(plan.detail(tiny, only_recommended([row])))
    assert f"without a shuffler ± {plan.points(alone)}" in shown


def test_errors_are_drawn_into_the_same_figure_with_the_finding_above():
    row = rows()[0]
    fig = plan_pictures.draw_errors(SETTING, row)
    assert plan_pictures.draw_errors(SETTING, row, fig=fig) is fig and len(fig.axes) == 1
    words = plan_pictures.shown_as(SETTING, row["standard error"])
    assert fig.get_suptitle().strip() == f"A true share of 10 % is shown as {words}"


@pytest.mark.parametrize("task", ["histogram", "mean"])
def test_errors_exist_at_the_ends_of_the_controls(task):
    row = {"standard error": 1.0, "x central": 2.0}
    for setting in (
        Setting(task=task, eps=1e-6, rounds=10**6, n=100),
        Setting(task=task, eps=10.0, n=10**12, d=4096),
    ):
        found = plan_pictures.errors(setting, row)
        assert 0.0 < found[plan_pictures.LOCAL] < float("inf")
        plan_pictures.draw_errors(setting, row)

"""The page to print, and the picture of errors: what they say is what the library computes."""

import functools
import math
import re

import pytest
from matplotlib.text import Text

from shown_words import plain
from shufflelib import estimation, randomizers, recommend, shuffle
from shufflelib.explorer import Setting, idea_pictures, plan, plan_pictures, questions, report
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
    assert all(words.split(":")[0][2:] in shown for words in profile.assumptions)
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
        assert found[plan_pictures.SHUFFLED] == error_of(SETTING, row, 0.1)
        assert found[plan_pictures.CURATOR] < found[plan_pictures.SHUFFLED] < found[plan_pictures.LOCAL]
        alone = estimation.frequency_variance(randomizers.generalized_rr(eps0=1.0, d=4), 0.1, n=900)
        assert found[plan_pictures.LOCAL] <= math.sqrt(alone)


def error_of(setting, row, share):
    """Return the standard error of a share, from the variance of one report or message."""
    n = round(setting.n * (1.0 - setting.dropout))
    if row["parameter"] == "messages":
        noise = row["value"] * n * (1 / setting.d) * (1 - 1 / setting.d)
        return pytest.approx(math.sqrt(noise) / n)
    one = getattr(randomizers, row["mechanism"])(eps0=row["value"], d=setting.d)
    return pytest.approx(math.sqrt(estimation.frequency_variance(one, share, n=n)))


def test_the_error_of_a_share_is_that_of_this_share_in_facts_surveys_and_their_numbers():
    setting = Setting(n=10_000, d=100, eps=0.5, chosen="generalized_rr")
    row = plan.chosen_row(setting, known)
    usual, there = row["standard error"], error_of(setting, row, 0.1)
    shown = plain(plan.facts(setting, known, row))
    said = float(re.search(r"a true share of 10 % is shown as 10 % ± ([\d.]+)", shown)[1])
    assert said == pytest.approx(100.0 * there.expected, rel=0.06) and there.expected > 1.5 * usual
    assert "a share of 1 %, if all options are equally frequent," in plain(plan.answer(setting, known))
    surveys = idea_pictures.Outcomes()
    surveys.draw(setting, known)
    assert sum(one["true share"] for one in surveys.curves) < 1.0 - 0.75**10 + 1e-9
    assert all(one["standard error"] == error_of(setting, row, one["true share"]) for one in surveys.curves)
    assert "the first 10 of 100 options" in " ".join(one.get_text() for one in surveys.fig.findobj(Text))
    assert not surveys.applies(Setting(task="mean"))


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
    words = plan_pictures.shown_as(SETTING, plan_pictures.errors(SETTING, row)[plan_pictures.SHUFFLED])
    assert fig.get_suptitle().strip() == f"A true share of 10 % is shown as {words}"


@pytest.mark.parametrize("task", ["histogram", "mean"])
def test_errors_exist_at_the_ends_of_the_controls(task):
    row = {"standard error": 1.0, "x central": 2.0, "value": 1.0}
    row["mechanism"] = "rappor" if task == "histogram" else "laplace"
    for setting in (
        Setting(task=task, eps=1e-6, rounds=10**6, n=100),
        Setting(task=task, eps=10.0, n=10**12, d=4096),
    ):
        found = plan_pictures.errors(setting, row)
        assert 0.0 < found[plan_pictures.LOCAL] < float("inf")
        plan_pictures.draw_errors(setting, row)

"""The plan: all mechanisms at one target, one of them in detail, and twenty surveys that it may give."""

import functools
import re

from shown_words import plain
from shufflelib import recommend
from shufflelib.explorer import Setting, plan, text, understand
from shufflelib.explorer.questions import Known, Question, Unknown
from statement_words import promised

SETTING = Setting(n=1000, d=4, eps=1.0, dropout=0.1)
KNOWN = Known(functools.cache(Question.answer))


def test_the_plan_is_the_table_of_the_library():
    found = recommend(n=1000, eps=1.0, delta=1e-6, d=4, dropout=0.1)
    shown = plain(plan.table(SETTING, KNOWN))
    names = [plan.NAMES[row["mechanism"]] for row in found]
    places = [shown.lower().index(name.lower()) for name in names]
    assert places == sorted(places)
    for row in found:
        answer = plain(plan.answer(SETTING.but(chosen=row["mechanism"]), KNOWN))
        assert f"± {plan.points(row['standard error'])} " in answer
        assert plan.NAMES[row["mechanism"]].lower() in answer.lower()
        assert ("has the smallest error" in answer) == (row is found[0])


def test_a_row_says_what_is_left_without_the_shuffler_and_what_may_be_published():
    found = recommend(n=1000, eps=1.0, delta=1e-6, d=4, dropout=0.1)
    for row in found:
        shown = plain(plan.detail(SETTING.but(chosen=row["mechanism"]), KNOWN))
        assert row["sentence"] in shown and "If the shuffler is compromised" in shown
        if row["parameter"] == "eps0":
            assert f"ε₀ = {row['value']:.4g}: any guess" in shown and "without a shuffler ± " in shown


def test_a_plan_that_cannot_be_met_says_why():
    refused = Known(lambda _: Unknown("too few users"))
    assert "No mechanism: too few users" in plan.answer(SETTING, refused)
    assert plan.table(SETTING, refused) == plan.detail(SETTING, refused) == ""
    useless = Setting(task="mean", n=100, eps=1e-6, delta=1e-12)
    assert "No useful answer" in plan.answer(useless, KNOWN)


def test_the_table_the_headline_and_the_statement_write_one_local_budget():
    """A float such as 4.202 may be a little below these digits: rounding it down again writes 4.201."""
    seen = 0
    for n, eps in ((20_000, 0.3), (5_000, 0.7), (300_000, 0.2)):
        setting = Setting(task="mean", n=n, eps=eps)
        table = plain(plan.table(setting, KNOWN))
        for row in recommend(task="mean", n=n, eps=eps, delta=1e-6):
            there = setting.but(chosen=row["mechanism"])
            (headline,) = re.findall(r"reports with (ε₀ = [\d.]+)\.", plain(plan.answer(there, KNOWN)))
            statement = re.search(r" at eps0 = ([\d.]+), and", plain(plan.detail(there, KNOWN)))[1]
            assert headline == f"ε₀ = {statement}" and f" {headline} " in table
            assert float(statement) == row["value"]
            seen += 1
    assert seen == 9


def test_the_statement_of_the_page_holds_for_what_its_words_describe():
    for setting in (SETTING, Setting(task="mean", n=2000, eps=1.0, rate=0.3)):
        for row in recommend(n=setting.n, eps=setting.eps, delta=setting.delta, task=setting.task,
                             rate=setting.rate, dropout=setting.dropout, **setting.items):  # fmt: skip
            shown = plain(plan.detail(setting.but(chosen=row["mechanism"]), KNOWN))
            profile, eps, delta = promised(shown.partition("A statement to publish")[2])
            assert profile.epsilon(delta).upper <= eps == setting.eps and delta == setting.delta


def test_a_target_that_nobody_means_is_warned_of_before_the_answer_and_in_the_statement():
    setting = Setting(n=10_000, eps=0.5, delta=1e-3)
    row = plan.chosen_row(setting, KNOWN)
    assert row["warning"].startswith("Warning: delta = 0.001 is not below 1/users = 0.0001")
    assert plain(plan.answer(setting, KNOWN)).strip().startswith(row["warning"])
    assert f"A statement to publish {row['warning']}" in plain(plan.detail(setting, KNOWN))
    assert plan.answer(SETTING, KNOWN).startswith('<p class="big">±')
    one = setting.but(eps0=0.5)
    assert plain(understand.answer(one, KNOWN)).strip().startswith(row["warning"])
    assert "Warning" not in understand.answer(one.but(delta=1e-6), KNOWN)


def test_an_epsilon_of_nothing_is_said_to_be_covered_by_delta():
    said = plain(understand.answer(Setting(mechanism="binary_rr", n=10**12, delta=1e-5), KNOWN))
    assert "epsilon is (nearly) 0: delta = 1e-05 covers whatever" in said and "1 times as likely" not in said


def test_a_calibration_is_warned_of_before_its_number_and_an_error_says_how_many_options():
    setting = Setting(mechanism="generalized_rr", d=100, n=10_000, eps=0.5, delta=1e-3)
    shown = plain(text.deploy(setting, Known(functools.cache(Question.answer), slow=True)))
    assert shown.strip().startswith("Warning: delta = 0.001 is not below 1/users = 0.0001")
    assert shown.count("Warning: delta = 0.001") == 1 and shown.index("Warning: n = 3") < shown.index(
        "Fewest"
    )
    assert "Expected error of a histogram of 100 options at ε₀ = 1: ± 0.058406" in shown.replace("  ", " ")
    assert "(5.8 percentage points)" in shown

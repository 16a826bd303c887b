"""The plan: all mechanisms at one target, one of them in detail, and twenty surveys that it may give."""

import functools

from shown_words import plain
from shufflelib import recommend
from shufflelib.explorer import Setting, plan
from shufflelib.explorer.questions import Known, Question, Unknown

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

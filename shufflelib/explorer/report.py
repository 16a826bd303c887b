"""One page to print: a question, the recommended mechanism, what is proved, pictures, a statement, code."""

import base64
import html
from importlib.metadata import version

from shufflelib import randomizers
from shufflelib.calibration.recommendation import TASKS
from shufflelib.explorer import plan, plan_pictures
from shufflelib.explorer.idea_pictures import Errors, Outcomes
from shufflelib.explorer.pictures import DRAWING
from shufflelib.explorer.templates import fill
from shufflelib.explorer.text import code
from shufflelib.plotting.headings import digits
from shufflelib.profiles.cautions import population
from shufflelib.shuffling.multi_message import shuffle_messages
from shufflelib.shuffling.shuffled import shuffle


def report(setting, known):
    """Return a page of HTML that needs no other file, for a setting whose recommendation is known."""
    row, best = plan.chosen_row(setting, known), plan.chosen_row(setting.but(chosen="best"), known)
    if row is None:
        raise ValueError("there is no plan to report; compute a recommendation first")
    return fill(
        "report.html",
        question=html.escape(f"{row['warning']} {_question(setting)}".strip()),
        heading="Recommended mechanism" if row["mechanism"] == best["mechanism"] else "Chosen mechanism",
        name=html.escape(plan.name(row)),
        facts=plan.facts(setting, known, row),
        pictures=_pictures(setting, known),
        statement=html.escape(row["sentence"]),
        assumptions="".join(
            f"<li>{html.escape(_capital(one))}.</li>" for one in _profile(setting, row).assumptions
        ),
        code=code(plan.python(row)),
        version=version("shufflelib"),
    )


def _profile(setting, row):
    """Return the privacy profile of a row."""
    stay, value = plan_pictures.staying(setting), row["value"]
    if row["parameter"] == "messages":
        mechanism = TASKS[setting.task][row["mechanism"]].build(value, setting.d)
        one = shuffle_messages(mechanism, n=stay, dummy_messages=stay * value)
    else:
        one = shuffle(getattr(randomizers, row["mechanism"])(eps0=value, **setting.items), stay)
    return one.subsample(setting.rate).compose(setting.rounds)


def _question(setting):
    what = (
        f"the shares of {setting.d:,} options"
        if setting.task == "histogram"
        else "the mean of a number in [0, 1]"
    )
    extra = f", {setting.rounds:,} rounds" if setting.rounds > 1 else ""
    extra += f", drawn from {population(setting.n, setting.rate):,}" if setting.rate < 1.0 else ""
    extra += f", of whom {100 * setting.dropout:g} % may drop out" if setting.dropout > 0.0 else ""
    return (
        f"Which mechanism estimates {what} from the shuffled reports of {setting.n:,} users{extra}, "
        f"with ε ≤ {digits(setting.eps)} at δ = {digits(setting.delta)}?"
    )


def _pictures(setting, known):
    with DRAWING:
        shown = [Outcomes(), Errors()] if setting.task == "histogram" else [Errors()]
        drawn = [base64.b64encode(one.png(setting, known)).decode() for one in shown]
    return "".join(
        f'<img alt="{html.escape(one.finding(setting, known))}" src="data:image/png;base64,{data}">'
        for one, data in zip(shown, drawn, strict=True)
    )


def _capital(words):
    """Begin a sentence; a letter that stands alone is a symbol."""
    return words if words[1:2] == " " else words[0].upper() + words[1:]

"""One page to print: a question, the recommended mechanism, what is proved, pictures, a statement, code."""

import base64
import html
import math
import string
from importlib.metadata import version

from shufflelib import randomizers
from shufflelib.calibration.recommendation import TASKS
from shufflelib.explorer import plan, plan_pictures, questions
from shufflelib.explorer.idea_pictures import Outcomes
from shufflelib.explorer.questions import Question, Refused
from shufflelib.explorer.text import bound, code
from shufflelib.plotting.headings import digits
from shufflelib.plotting.screen import Screen
from shufflelib.shuffling.multi_message import shuffle_messages
from shufflelib.shuffling.shuffled import shuffle

DPI = 200
PAGE = string.Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Privacy report</title><style>
@page {size: A4; margin: 14mm}
body {font: 10pt/1.4 system-ui, sans-serif; color: #111; background: #fff; max-width: 182mm;
  margin: 0 auto; padding: 6mm}
@media print {body {padding: 0}}
h1 {font-size: 16pt; margin: 0} h2 {font-size: 11pt; margin: 3.5mm 0 1mm; break-after: avoid}
p {margin: 1mm 0} .big {font-size: 13pt} .copy {border-left: 3px solid #0072b2; padding-left: 3mm}
.pictures {display: flex; flex-wrap: wrap; gap: 4mm; align-items: flex-start; margin: 2mm 0}
.pictures img {flex: 1 1 80mm; min-width: 0; max-width: min(100%, 100mm); height: auto}
table {border-collapse: collapse; width: 100%} tr, li {break-inside: avoid}
th, td {text-align: left; font-weight: normal; vertical-align: top; padding: .6mm 3mm .6mm 0;
  border-bottom: 1px solid #ccc}
th {width: 42%; color: #444} ul {margin: 1mm 0; padding-left: 5mm} .small {font-size: 8.5pt; color: #444}
code {display: block; font-size: 8pt; background: #f2f2f2; padding: 1.5mm 2mm; margin: 1mm 0;
  white-space: pre-wrap; overflow-wrap: anywhere}
</style></head><body><main>
<h1>Privacy report</h1>
<p>$question</p>
<h2>$heading</h2>
<p class="big"><b>$name</b>, $parameter</p>
<table>$rows</table>
<div class="pictures">$pictures</div>
<h2>A statement to publish</h2>
<p class="copy">$statement</p>
<h2>Assumptions</h2>
<ul class="small">$assumptions</ul>
<h2>To compute it again</h2>
$code
<p class="small">shufflelib $version. The upper bounds are proved, errors of floating-point arithmetic
included. They hold for the mechanism as stated, with real-valued noise and perfect coins.</p>
</main></body></html>
""")


def asks(setting, known, chosen="best"):
    """Return the questions that a report answers, as far as they are clear.

    Parameters
    ----------
    setting : Setting
        Target and crowd.
    known : callable
        Takes a question and returns its answer, or None.
    chosen : str
        Mechanism of the report, by default the one with the smallest error.

    Returns
    -------
    list of Question
    """
    asked, row = [Question.of(questions.recommended, setting)], _row(setting, known, chosen)
    there = row and _there(setting, row)
    return [*asked, Question.of(questions.epsilon, there)] if there else asked


def report(setting, known, chosen="best"):
    """Return a page of HTML that needs no other file; parameters are those of `asks`.

    Raises
    ------
    ValueError
        If the recommendation is not known, or there is none.

    Examples
    --------
    >>> from shufflelib.explorer import Setting
    >>> from shufflelib.explorer.questions import Question
    >>> from shufflelib.explorer.report import report
    >>> page = report(Setting(n=1000, d=4, eps=1.0), Question.answer)
    >>> "Recommended mechanism" in page, "http" in page
    (True, False)
    """
    row = _row(setting, known, chosen)
    if row is None:
        raise ValueError("there is no plan to report; compute a recommendation first")
    profile, best = _profile(setting, row), _row(setting, known, "best")
    line = f"from shufflelib import randomizers, shuffle, shuffling; answer = {row['python']}"
    return PAGE.substitute(
        question=_question(setting),
        heading="Recommended mechanism" if row["mechanism"] == best["mechanism"] else "Chosen mechanism",
        name=html.escape(_capital(plan.NAMES.get(row["mechanism"], row["mechanism"]))),
        parameter=_parameter(row),
        rows="".join(
            f'<tr><th scope="row">{one}</th><td>{other}</td></tr>'
            for one, other in _facts(setting, known, row)
        ),
        pictures=_pictures(setting, known, row, chosen),
        statement=html.escape(row["sentence"]),
        assumptions="".join(f"<li>{html.escape(_capital(one))}.</li>" for one in profile.hypotheses),
        code=code(line),
        version=version("shufflelib"),
    )


def _row(setting, known, chosen):
    found = known(Question.of(questions.recommended, setting))
    if found is None or isinstance(found, Refused):
        return None
    return next((row for row in found if row["mechanism"] == chosen), found[0])


def _there(setting, row):
    """Return the setting of the recommended mechanism, None where the controls do not reach it."""
    if row["parameter"] != "eps0":
        return None
    try:
        return setting.but(mechanism=row["mechanism"], eps0=row["value"], n=plan_pictures.staying(setting))
    except ValueError:
        return None


def _profile(setting, row):
    """Return the privacy profile of a row."""
    stay, value = plan_pictures.staying(setting), row["value"]
    if row["parameter"] == "messages":
        mechanism = TASKS[setting.task][row["mechanism"]].build(value, setting.d)
        one = shuffle_messages(mechanism, n=stay, blanket=stay * value)
    else:
        items = {"d": setting.d} if setting.task == "histogram" else {}
        one = shuffle(getattr(randomizers, row["mechanism"])(eps0=value, **items), stay)
    return one.subsample(setting.rate).compose(setting.rounds)


def _question(setting):
    what = (
        f"the shares of {setting.d:,} options"
        if setting.task == "histogram"
        else "the mean of a number in [0, 1]"
    )
    extra = f", {setting.rounds:,} rounds" if setting.rounds > 1 else ""
    extra += f", drawn from {setting.n / setting.rate:,.0f}" if setting.rate < 1.0 else ""
    extra += f", of whom {100 * setting.dropout:g} % may drop out" if setting.dropout > 0.0 else ""
    return (
        f"Which mechanism estimates {what} from the shuffled reports of {setting.n:,} users{extra}, "
        f"with ε ≤ {digits(setting.eps)} at δ = {digits(setting.delta)}?"
    )


def _parameter(row):
    value = row["value"]
    if row["parameter"] == "messages":
        return f"each device adds {value:,} random message{'s' * (value > 1)} to its own"
    return f"each device reports with ε₀ = {value:g}"


def _facts(setting, known, row):
    """Return pairs of what a number is, and the number."""
    there = _there(setting, row)
    exact = known(Question.of(questions.epsilon, there)) if there else None
    ends = f"ε ≤ {digits(setting.eps)} at δ = {digits(setting.delta)} (proved)"
    if hasattr(exact, "upper"):
        low, high = bound(exact.lower, up=False, digits=4), bound(exact.upper, up=True, digits=4)
        ends = f"{low} ≤ ε ≤ {high} at δ = {digits(setting.delta)} (upper bound proved, lower bound attacked)"
    yield f"Guarantee{' for all rounds' if setting.rounds > 1 else ''}", ends
    found = plan_pictures.errors(setting, row)
    usual = plan_pictures.shown_as(setting, row["standard error"])
    what = "share" if setting.task == "histogram" else "mean"
    one = " of one round" if setting.rounds > 1 else ""
    yield f"Standard error{one}", f"a true {what} of {usual.split(' ±')[0]} is shown as {usual}"
    yield "In the worst case", f"± {plan.points(row['worst case'])}"
    yield "A trusted curator at the same guarantee", f"± {plan.points(found[plan_pictures.CURATOR])}"
    yield (
        "No shuffler, the best mechanism at the same ε",
        f"± {plan.points(found[plan_pictures.LOCAL])}",
    )
    yield "If the shuffler is compromised", _alone(setting, row)
    yield "Size of a user's reports", f"{row['bytes']:,} byte{'s' * (row['bytes'] > 1)}"


def _alone(setting, row):
    if row["parameter"] == "messages":
        return "nothing protects the values: all privacy comes from the shuffler"
    total = row["value"] * setting.rounds
    odds = f"{_times(math.exp(total))} times" if total < 50.0 else f"e<sup>{total:.3g}</sup> times"
    rounds = f" in all {setting.rounds:,} rounds" if setting.rounds > 1 else ""
    return f"ε₀ = {digits(total, 4)}{rounds}: any guess about a user becomes at most {odds} as likely"


def _times(factor):
    rounded = float(f"{factor:.2g}")
    return f"{rounded:,.0f}" if 100.0 <= rounded < 1e6 else digits(factor, 2)


def _pictures(setting, known, row, chosen):
    outcomes = Outcomes().png(setting.but(chosen=chosen), known)
    drawn = [(outcomes, "Twenty possible surveys over the true shares")]
    figure = plan_pictures.draw_errors(setting, row)
    drawn.append((Screen(figure, dpi=DPI).png(), figure.get_suptitle().strip().replace("\n", " ")))
    if setting.task != "histogram":
        drawn = drawn[1:]
    return "".join(
        f'<img alt="{html.escape(words)}" src="data:image/png;base64,{base64.b64encode(data).decode()}">'
        for data, words in drawn
    )


def _capital(words):
    """Begin a sentence; a letter that stands alone is a symbol."""
    return words if words[1:2] == " " else words[0].upper() + words[1:]

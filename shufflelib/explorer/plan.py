"""Plan: every mechanism for a task at one target, and one of them in detail."""

import html
import math

from shufflelib.explorer import plan_pictures, questions
from shufflelib.explorer.questions import Question, Refused
from shufflelib.explorer.text import COMPUTING, bound, code, rounded
from shufflelib.plotting.headings import digits

USELESS = 0.5  # standard error of a share or of a mean in [0, 1]
NAMES = {
    "generalized_rr": "randomized response",
    "rappor": "RAPPOR",
    "optimized_unary": "optimized unary encoding",
    "subset": "subset selection",
    "local_hash": "local hashing",
    "hadamard": "Hadamard response",
    "balls_into_bins": "balls into bins (several messages)",
    "duchi": "one random bit (Duchi et al.)",
    "piecewise": "piecewise mechanism",
    "laplace": "Laplace noise",
}


def asks(setting):
    """Return the question behind the plan."""
    return [Question.of(questions.recommended, setting)]


def answer(setting, known, asked):
    """Say how far off the open mechanism is, and which is the best one; or what is wrong."""
    found = _found(setting, known)
    if found is None:
        return f'<p class="big">{COMPUTING}</p>'
    if isinstance(found, Refused):
        return f'<p class="number failure" role="alert">No mechanism: {html.escape(found.reason)}.</p>'
    best, row = found[0], chosen_row(setting, known)
    if best["standard error"] > USELESS:
        return '<p class="big">No useful answer</p><p>Use more users, a larger ε, or a larger δ.</p>'
    what = "a share" if setting.task == "histogram" else "the mean"
    error = points(row["standard error"])
    says = f"{_name(row)}{' has the smallest error' * (row is best)}: {what} is off by about "
    says += f"{error.replace(' ', ' percentage ')}, {_how(row)}."
    if row is not best:
        says += f" The smallest error is that of {_name(best)}: {points(best['standard error'])}."
    return f'<p class="big">± <b>{error}</b></p><p class="consequence">{says}</p>'


def table(setting, known, asked):
    """List all mechanisms, smallest error first."""
    found = _found(setting, known)
    if found is None or isinstance(found, Refused):
        return ""
    opened = chosen_row(setting, known)
    heads = "mechanism", "each report has", "standard error", "worst case", "central DP × ", "bytes"
    rows = [
        (
            _button(row, row is opened),
            _setting(row),
            points(row["standard error"]),
            points(row["worst case"]),
            f"{row['x central']:.3g}",
            f"{row['bytes']:,}",
        )
        for row in found
    ]
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in found.notes)
    return (
        f'<div class="bounds" tabindex="0" role="region" aria-label="All mechanisms">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"<details><summary>What the columns mean</summary><ul>{notes}</ul></details>"
    )


def chosen_row(setting, known):
    """Return the row of the chosen mechanism, else the best one, or None while nothing is known."""
    found = _found(setting, known)
    if found is None or isinstance(found, Refused):
        return None
    return next((row for row in found if row["mechanism"] == setting.chosen), found[0])


def detail(setting, known, asked):
    """Open one mechanism: its error beside others, what is left without the shuffler, a statement, code."""
    row = chosen_row(setting, known)
    if row is None:
        return ""
    usual, central = row["standard error"], row["standard error"] / row["x central"]
    paragraphs = (
        f"<h2>{html.escape(_name(row))}</h2>"
        f"<p>Typical error: <b>{points(usual)}</b>. A curator who is trusted with all values would need "
        f"{points(central)} for the same guarantee{_alone(setting, row)}.</p>{_without_shuffler(row)}"
    )
    line = f"from shufflelib import randomizers, shuffle, shuffling; answer = {row['python']}"
    return (
        f'{paragraphs}<h3>A statement to publish</h3><p class="copy">{html.escape(row["sentence"])}</p>'
        '<p><a class="report" href="/report.html" download="plan.html">One page to print</a></p>'
        f"<details><summary>Code</summary>{code(line)}{code(_shell(setting))}</details>"
    )


def _button(row, pressed):
    """Return a button that opens the mechanism of a row."""
    about = f'class="choose" data-chosen="{row["mechanism"]}" aria-pressed="{str(pressed).lower()}"'
    return f'<button type="button" {about}>{html.escape(_name(row))}</button>'


def points(share):
    """Write an error in points of a percentage."""
    said = digits(100.0 * share, 2)
    return f"{said} point{'s' * (said != '1')}"


def _found(setting, known):
    return known(Question.of(questions.recommended, setting))


def _name(row):
    name = NAMES.get(row["mechanism"], row["mechanism"])
    return name[0].upper() + name[1:]


def _setting(row):
    if row["parameter"] == "messages":
        return f"{row['value']:,} random message{'s' * (row['value'] > 1)} more"
    return f"ε₀ = {bound(row['value'], up=False, digits=4)}"


def _how(row):
    what = "each device sends" if row["parameter"] == "messages" else "each report alone has"
    return f"if {what} {_setting(row)}"


def _alone(setting, row):
    """Say what the best mechanism's error would be without a shuffler, at the same guarantee."""
    alone = plan_pictures.errors(setting, row)[plan_pictures.LOCAL]
    return f"; without a shuffler the error would be {points(alone)} at best"


def _without_shuffler(row):
    if row["parameter"] == "messages":
        return (
            "<p>If the shuffler is compromised, nothing protects the values: "
            "all of the privacy comes from shuffling.</p>"
        )
    odds = rounded(math.exp(row["value"]), up=True, to=3)
    return (
        f"<p>If the shuffler is compromised, each report still has ε₀ = {row['value']:g}: it makes any guess "
        f"about its sender at most {odds} times as likely.</p>"
    )


def _shell(setting):
    parts = [f"shufflelib recommend --n {setting.n} --eps {setting.eps} --delta {setting.delta}"]
    parts += [f"--task {setting.task}"] + ([f"--d {setting.d}"] if setting.task == "histogram" else [])
    parts += [f"--rounds {setting.rounds}"] * (setting.rounds > 1) + [f"--rate {setting.rate}"] * (
        setting.rate < 1.0
    )
    return " ".join(parts + [f"--dropout {setting.dropout}"] * (setting.dropout > 0.0))

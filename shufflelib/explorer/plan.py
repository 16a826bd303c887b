"""Plan: every mechanism for a task at one target, and one of them in detail."""

import html

from shufflelib.calibration.recommendation import TASKS
from shufflelib.explorer import plan_pictures, questions, text
from shufflelib.explorer.questions import Unknown
from shufflelib.explorer.text import bound, code
from shufflelib.plotting.headings import digits
from shufflelib.profiles.cautions import USELESS, exactly, meaningless, odds

NAMES = {name: one.name for candidates in TASKS.values() for name, one in candidates.items()}


def answer(setting, known):
    """Say how far off the open mechanism is, and which is the best one; or what is wrong."""
    found = known(questions.recommended, setting)
    if isinstance(found, Unknown):
        if found.pending:
            long = "<p>Several rounds take ten seconds to a minute.</p>" * (setting.rounds > 1)
            return f'<p class="big"><span class="pending">{found.reason}</span></p>{long}'
        return f'<p class="number failure" role="alert">No mechanism: {html.escape(found.reason)}.</p>'
    best, row = found[0], chosen_row(setting, known)
    if best["standard error"] > USELESS:
        return '<p class="big">No useful answer</p><p>Use more users, a larger ε, or a larger δ.</p>'
    best_one = row["mechanism"] == best["mechanism"]
    share = f"a share of {digits(100.0 / setting.d)} %, if all options are equally frequent,"
    what = share if setting.task == "histogram" else "the mean of values that are spread evenly"
    error = points(row["standard error"])
    says = f"{name(row)}{' has the smallest error' * best_one}: {what} is off by about "
    says += f"{error.replace(' ', ' percentage ')}, if each device {parameter(row)}."
    if not best_one:
        says += f" The smallest error is that of {name(best)}: {points(best['standard error'])}."
    warned = text.failure("warning", row["warning"]) if row["warning"] else ""
    return f'{warned}<p class="big">± <b>{error}</b></p><p class="consequence">{says}</p>'


def table(setting, known):
    """List all mechanisms, smallest error first."""
    found = known(questions.recommended, setting)
    if isinstance(found, Unknown):
        return ""
    opened = chosen_row(setting, known)
    heads = "mechanism", "each report has", "standard error", "worst case", "central DP × ", "bytes"
    rows = [
        (
            _button(row, row["mechanism"] == opened["mechanism"]),
            _setting(row),
            points(row["standard error"]),
            points(row["worst case"]),
            f"{row['x central']:.3g}",
            f"{row['bytes']:,}",
        )
        for row in found
    ]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in found.notes)
    notes = f"<details><summary>What the columns mean</summary><ul>{notes}</ul></details>"
    return text.scrolled(text.table(heads, rows), "All mechanisms") + notes


def chosen_row(setting, known):
    """Return the row of the chosen mechanism, else the best one, or None while nothing is known."""
    found = known(questions.recommended, setting)
    if isinstance(found, Unknown):
        return None
    return next((row for row in found if row["mechanism"] == setting.chosen), found[0])


def detail(setting, known):
    """Open one mechanism: what is proved, its error beside others, a statement, code."""
    row = chosen_row(setting, known)
    if row is None:
        return ""
    return (
        f"<h2>{html.escape(name(row))}</h2>{facts(setting, known, row)}"
        f'<h3>A statement to publish</h3><p class="copy">{html.escape(row["sentence"])}</p>'
        '<p><button type="button" id="publish">Copy the statement</button> <span role="status"></span></p>'
        '<p><a class="report" href="/report.html" download="plan.html">One page to print</a></p>'
        f"<details><summary>Code</summary>{code(python(row))}{code(_shell(setting))}</details>"
    )


def python(row):
    """Return a line of Python whose ``answer`` is the certified guarantee of a row."""
    return f"from shufflelib import randomizers, shuffle, shuffling; answer = {row['python']}"


def facts(setting, known, row):
    """Return a table of what is proved of a row and how large its error is."""
    errors, one = plan_pictures.errors(setting, row), " of one round" if setting.rounds > 1 else ""
    truth, _, usual = plan_pictures.shown_as(setting, errors[plan_pictures.SHUFFLED]).partition(" ± ")
    histogram = setting.task == "histogram"
    what, evenly = ("share", "") if histogram else ("mean", ", if values are spread evenly")
    said = {
        f"Guarantee{' for all rounds' if setting.rounds > 1 else ''}": _guarantee(setting, known, row),
        "Each device": parameter(row),
        f"Typical error{one}": f"a true {what} of {truth} is shown as {truth} ± {usual}{evenly}",
        "In the worst case": f"± {points(row['worst case'])}",
        "A curator trusted with all values": f"± {points(errors[plan_pictures.CURATOR])}, same guarantee",
        "The best mechanism without a shuffler": f"± {points(errors[plan_pictures.LOCAL])}, same ε",
        "If the shuffler is compromised": _without_shuffler(setting, row),
        "Size of a user's reports": f"{row['bytes']:,} byte{'s' * (row['bytes'] > 1)}",
    }
    rows = (f'<tr><th scope="row">{one}</th><td>{other}</td></tr>' for one, other in said.items())
    return f'<table class="facts">{"".join(rows)}</table>'


def _guarantee(setting, known, row):
    at = f"at δ = {digits(setting.delta)}"
    if row["parameter"] == "eps0":
        try:
            there = setting.but(
                mechanism=row["mechanism"], eps0=row["value"], n=plan_pictures.staying(setting)
            )
        except ValueError:  # the controls do not reach it
            there = None
        exact = there and known(questions.epsilon, there)
        if hasattr(exact, "upper"):
            low, high = bound(exact.lower, up=False, digits=4), bound(exact.upper, up=True, digits=4)
            return f"{low} ≤ ε ≤ {high} {at} (the upper bound is proved, an attack attains the lower one)"
    return f"ε ≤ {digits(setting.eps)} {at} (proved)"


def _without_shuffler(setting, row):
    if row["parameter"] == "messages":
        return "nothing protects the values: all of the privacy comes from shuffling"
    total = row["value"] * setting.rounds
    rounds = f" in all {setting.rounds:,} rounds" if setting.rounds > 1 else ""
    local = f"ε₀ = {total:.10g}{rounds}"  # exact: a budget has four digits
    if meaningless(total):
        return f"{local}: the reports can be traced to the sender, and no meaningful protection remains"
    return f"{local}: any guess about a user becomes at most {odds(total)} times as likely"


def parameter(row):
    """Say what each device does."""
    value = row["value"]
    if row["parameter"] == "messages":
        return f"adds {value:,} random message{'s' * (value > 1)} to its own"
    return f"reports with {_budget(row)}"


def _budget(row):
    """Write the local budget of a row, which is the one that was proved, digit by digit."""
    return f"ε₀ = {exactly(row['value'])}"


def _button(row, pressed):
    """Return a button that opens the mechanism of a row."""
    about = f'class="choose" data-chosen="{row["mechanism"]}" aria-pressed="{str(pressed).lower()}"'
    return f'<button type="button" {about}>{html.escape(name(row))}</button>'


def points(share):
    """Write an error in points of a percentage."""
    said = digits(100.0 * share, 2)
    return f"{said} point{'s' * (said != '1')}"


def name(row):
    """Return the name of a row's mechanism, as a heading."""
    words = NAMES.get(row["mechanism"], row["mechanism"])
    return words[0].upper() + words[1:]


def _setting(row):
    if row["parameter"] == "messages":
        return f"{row['value']:,} random message{'s' * (row['value'] > 1)} more"
    return _budget(row)


def _shell(setting):
    parts = [f"shufflelib recommend --n {setting.n} --eps {setting.eps} --delta {setting.delta}"]
    parts += [f"--task {setting.task}"] + ([f"--d {setting.d}"] if setting.task == "histogram" else [])
    parts += [f"--rounds {setting.rounds}"] * (setting.rounds > 1) + [f"--rate {setting.rate}"] * (
        setting.rate < 1.0
    )
    return " ".join(parts + [f"--dropout {setting.dropout}"] * (setting.dropout > 0.0))

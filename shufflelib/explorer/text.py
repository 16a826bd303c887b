"""The answers about a setting as text, each number with a line of Python that returns it."""

import html
import math

from shufflelib.explorer import questions
from shufflelib.explorer.questions import Unknown
from shufflelib.explorer.setting import IMPORTS
from shufflelib.numerics.certified import Status, written
from shufflelib.plotting.headings import digits
from shufflelib.plotting.looks import look


def python(setting, ask):
    """Return a line of Python whose ``answer`` is what a question about the setting returns."""
    target = f"eps={setting.eps}, delta={setting.delta}, rounds={setting.rounds}, rate={setting.rate}"
    others = "".join(f", {name}={getattr(setting, name)}" for name in setting.parameters if name != "eps0")
    expressions = {
        questions.epsilon: f"{setting.profile}.epsilon({setting.delta})",
        questions.missed: f"{setting.profile}.tradeoff({setting.fpr})",
        questions.renyi: f"{setting.profile}.renyi({setting.order})",
        questions.largest: f"calibration.largest_eps0(randomizers.{setting.mechanism}, "
        f"n={setting.n}, {target}{others})",
        questions.fewest: f"calibration.fewest_users({setting.python}, {target})",
        questions.rare_item_error: "estimation.frequency_variance("
        f"{setting.python}, 0.0, n={setting.n}) ** 0.5",
    }
    return f"{IMPORTS}; answer = {expressions[ask]}"


def number(value):
    """Write a number so that it reads back as the same one to ten digits."""
    return "infinity" if math.isinf(value) else f"{value:.10g}"


def bound(value, *, up, digits=10):
    """Write a bound, rounded up if it is an upper one, else down."""
    return "infinity" if math.isinf(value) else written(value, up=up, digits=digits)


def rounded(value, *, up, to=2):
    """Write a bound in few digits, rounded up if it is an upper one, else down.

    Examples
    --------
    >>> from shufflelib.explorer.text import rounded
    >>> rounded(0.26571, up=True), rounded(1.234e-7, up=False)
    ('0.27', '1.2·10⁻⁷')
    """
    return "infinity" if math.isinf(value) else digits(float(bound(value, up=up, digits=to)), to)


def situation(setting):
    """Describe the setting in one sentence."""
    crowd = f"{setting.n:,} users"
    if setting.rate < 1.0:
        crowd += f", drawn from a population of {setting.n / setting.rate:,.0f} and not revealed,"
    repeated = f" in each of {setting.rounds:,} rounds on the same values" if setting.rounds > 1 else ""
    profile = questions.profile(setting)
    randomizer = html.escape(str(setting.randomizer()))
    assumed = "".join(f"<li>{html.escape(one)}</li>" for one in profile.assumptions)
    return (
        f"<p>{crowd} send one report each{repeated}, randomised by <code>{randomizer}</code> and shuffled. "
        f"Neighbouring datasets: {html.escape(str(profile.adjacency))}; ε is in nats.</p>"
        f"<details><summary>What every number assumes</summary><ul>{assumed}</ul></details>"
    )


def epsilon(setting, known):
    """Give ε at δ, and which side is certified."""
    paragraphs = _certified(setting, known, questions.epsilon, "ε", f"δ = {number(setting.delta)}")
    found = known(questions.epsilon, setting)
    if not isinstance(found, Unknown) and found.upper < 1e-12:
        paragraphs += (
            "<p>ε is (nearly) 0 because the total variation distance is at most (nearly) δ, "
            "not because it is 0.</p>"
        )
    return paragraphs


def _certified(setting, known, ask, symbol, at, *, safe="upper"):
    """Give a bracket, the guarantee first."""
    found, name = known(ask, setting), ask.__name__
    if isinstance(found, Unknown):
        if found.pending:
            return _number_line(name, f"{symbol} at {at}: {found.reason}")
        return failure(name, f"No number: {found.reason}. Nothing is proved here.")
    other = "lower" if safe == "upper" else "upper"
    sign, back = ("≤", "≥") if safe == "upper" else ("≥", "≤")
    nothing = Status.TRIVIAL, (Status.TRIVIAL_LOWER if other == "lower" else Status.TRIVIAL_UPPER)
    guarantee = bound(getattr(found, safe), up=safe == "upper")
    attack = bound(getattr(found, other), up=other == "upper")
    paragraphs = _number_line(name, f"{symbol} {sign} <b>{guarantee}</b> at {at} (certified: the guarantee)")
    says = "trivial: no attack is known" if found.status in nothing else "certified: an attack shows it"
    paragraphs += _number_line(f"{name}-attack", f"{symbol} {back} {attack} ({says})")
    if found.status is not Status.CERTIFIED:
        paragraphs += failure(f"{name}-status", found.status.value)
    return paragraphs + code(python(setting, ask))


def _number_line(name, text):
    return f'<p class="number {name}">{text}</p>'


def failure(name, text):
    """Say why nothing was computed."""
    return f'<p class="number {name} failure" role="alert">{html.escape(text)}</p>'


def code(line):
    """Return a line of Python as HTML that one click selects."""
    return f'<code class="python">{html.escape(line)}</code>'


def bounds(setting, known):
    """List every bound with its look, its number and what that proves."""
    if not setting.one_round:
        return (
            "<p>The other bounds are for one round in which all users report; "
            "with several rounds or a sampling rate below 1 only the certified bounds are shown.</p>"
        )
    found, published = known(questions.epsilon, setting), known(questions.published, setting)
    low, high = (found, found) if isinstance(found, Unknown) else (found.lower, found.upper)
    others = [
        (one.name, published if isinstance(published, Unknown) else published[one.name], one.says)
        for one in questions.OTHERS
    ]
    ends = ("certified lower", low, "an attack"), ("certified upper", high, "the guarantee")
    rows = (_row(name, value, says, low) for name, value, says in (*ends, *others))
    return scrolled(table(("Bound", "ε", "what it proves"), rows), "All bounds")


def table(heads, rows):
    """Return an HTML table of cells in HTML."""
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def scrolled(content, label):
    """Return HTML that scrolls by itself where it is too wide."""
    return f'<div class="bounds" tabindex="0" role="region" aria-label="{label}">{content}</div>'


def _row(name, value, says, low):
    if isinstance(value, Unknown):
        shown, remark = (value.reason, says) if value.pending else ("says nothing", value.reason)
    else:
        shown, remark = bound(value, up=name != "certified lower"), says
        if not isinstance(low, Unknown) and value < low:
            remark = f"below the truth here: it promises too much ({says})"
    swatch = f'<span class="swatch" style="border-top: {_stroke(name)}"></span>'
    return f"{swatch} {html.escape(name)}", shown, html.escape(remark)


def _stroke(name):
    how = look(name)
    style = {"certified": "solid", "refuted": "double", "asymptotic": "dotted"}.get(how.kind, "dashed")
    return f"{3 if how.kind != 'asymptotic' else 2}px {style} {how.colour}"


def tradeoff(setting, known):
    """Give the smallest rate of misses at the given rate of false alarms."""
    at = f"{100 * setting.fpr:g} % false alarms"
    return _certified(setting, known, questions.missed, "missed", at, safe="lower")


def renyi(setting, known):
    """Give the Rényi divergence of the given order."""
    return _certified(setting, known, questions.renyi, "Rényi divergence", f"order {setting.order:g}")


def deploy(setting, known):
    """Describe what a target requires."""
    paragraphs = ""
    for ask, words in ((questions.largest, "Largest ε₀"), (questions.fewest, "Fewest users")):
        found, name = known(ask, setting), ask.__name__
        if not isinstance(found, Unknown):
            answer = f"<b>{_plain(found.answer)}</b> (certified: the target is met)"
            paragraphs += failure("warning", found.warning) if found.warning else ""
            said = html.escape(str(found).removeprefix(found.warning).strip())
            paragraphs += _number_line(name, f"{words}: {answer}") + f"<p>{said}</p>"
            paragraphs += code(python(setting, ask) + ".answer")
        elif found.pending:
            paragraphs += _number_line(name, f"{words}: {found.reason}")
        else:
            paragraphs += failure(name, f"{words}: none found. {found.reason}.")
    return paragraphs + _errors(setting, known(questions.largest, setting))


def _plain(value):
    return f"{value:,}" if isinstance(value, int) else bound(value, up=False)


def _errors(setting, found):
    if "d" not in setting.parameters:
        return "<p>This mechanism does not estimate a histogram; choose one on d options to see an error.</p>"
    paragraphs = ""
    places = [("error", f"ε₀ = {setting.eps0:g}", setting)]
    answer = getattr(found, "answer", None)
    if answer is not None and 0.01 <= answer <= 10.0:
        found_above = f"the ε₀ = {bound(answer, up=False)} found above"
        places.append(("error-there", found_above, setting.but(eps0=answer)))
    for name, where, there in places:
        error = questions.rare_item_error(there)
        paragraphs += _number_line(
            name,
            f"Expected error of a histogram of {there.d:,} options at {where}: "
            f"<b>± {number(error)}</b> ({digits(100.0 * error, 2)} percentage points)",
        )
        paragraphs += code(python(there, questions.rare_item_error))
    return paragraphs + (
        "<p>It is the standard error of the estimated share of users, for an item that hardly anybody holds, "
        "in one round.</p>"
    )

"""The answers about a setting as text, each number with a line of Python that returns it."""

import html
import math

from shufflelib.explorer import questions
from shufflelib.explorer.mechanisms import MECHANISMS
from shufflelib.explorer.questions import Question, Refused
from shufflelib.explorer.setting import IMPORTS
from shufflelib.numerics.certified import Status, written
from shufflelib.plotting.headings import digits
from shufflelib.plotting.looks import look

COMPUTING = "computing …"
WAITING = "press the button"


def python(setting, ask):
    """Return a line of Python whose ``answer`` is what a question about the setting returns."""
    target = f"eps={setting.eps}, delta={setting.delta}, rounds={setting.rounds}, rate={setting.rate}"
    own = MECHANISMS[setting.mechanism].parameters
    others = "".join(f", {name}={getattr(setting, name)}" for name in own if name != "eps0")
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
    """Write an end of a bracket, rounded to the side on which it stays true."""
    return "infinity" if math.isinf(value) else written(value, up=up, digits=digits)


def rounded(value, *, up, to=2):
    """Write an end of a bracket for people: few digits, rounded to the side on which it stays true.

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
    assumed = "".join(f"<li>{html.escape(one)}</li>" for one in profile.hypotheses)
    return (
        f"<p>{crowd} send one report each{repeated}, randomised by <code>{randomizer}</code> and shuffled. "
        f"Neighbouring datasets: {html.escape(str(profile.adjacency))}; ε is in nats.</p>"
        f"<details><summary>What every number assumes</summary><ul>{assumed}</ul></details>"
    )


def epsilon(setting, known):
    """Give ε at δ, and which side is certified."""
    found = known(Question.of(questions.epsilon, setting))
    at = f"δ = {number(setting.delta)}"
    paragraphs = _certified(found, "epsilon", "ε", at, python(setting, questions.epsilon))
    if found is not None and not isinstance(found, Refused) and found.upper < 1e-12:
        paragraphs += (
            "<p>ε is (nearly) 0 because the total variation distance is at most (nearly) δ, "
            "not because it is 0.</p>"
        )
    return paragraphs


def bounds(setting, known):
    """Give the value of every bound."""
    if not setting.one_round:
        return (
            "<p>The other bounds are for one round in which all users report; "
            "with several rounds or a sampling rate below 1 only the certified bounds are shown.</p>"
        )
    found = known(Question.of(questions.epsilon, setting))
    return _table(found, known(Question.of(questions.published, setting)))


def _certified(found, name, symbol, at, line, *, safe="upper", asked=True):
    """Give a bracket, the guarantee first."""
    if found is None:
        return _number_line(name, f"{symbol} at {at}: {COMPUTING if asked else WAITING}")
    if isinstance(found, Refused):
        return failure(name, f"No number: {found.reason}. Nothing is proved here.")
    other = "lower" if safe == "upper" else "upper"
    sign, back = ("≤", "≥") if safe == "upper" else ("≥", "≤")
    nothing = Status.TRIVIAL, (Status.TRIVIAL_LOWER if other == "lower" else Status.TRIVIAL_UPPER)
    guarantee = bound(getattr(found, safe), up=safe == "upper")
    attack = bound(getattr(found, other), up=other == "upper")
    paragraphs = _number_line(name, f"{symbol} {sign} <b>{guarantee}</b> at {at} (certified: the guarantee)")
    known = "trivial: no attack is known" if found.status in nothing else "certified: an attack shows it"
    paragraphs += _number_line(f"{name}-attack", f"{symbol} {back} {attack} ({known})")
    if found.status is not Status.CERTIFIED:
        paragraphs += failure(f"{name}-status", found.status.value)
    return paragraphs + code(line)


def _number_line(name, text):
    return f'<p class="number {name}">{text}</p>'


def failure(name, text):
    """Say why nothing was computed."""
    return f'<p class="number {name} failure" role="alert">{html.escape(text)}</p>'


def code(line):
    """Show a line of Python that can be selected with one click."""
    return f'<code class="python">{html.escape(line)}</code>'


def _table(found, published):
    """List every bound with its sign, its number and what that proves."""
    low, high = (found, found) if isinstance(found, Refused) else questions.scalar(found)
    rows = [("certified lower", low, "an attack"), ("certified upper", high, "the guarantee")]
    for one in questions.OTHERS:
        value = published[one.name] if isinstance(published, dict) else published
        rows.append((one.name, value, one.says))
    listed = "".join(_row(name, value, says, low) for name, value, says in rows)
    return (
        '<div class="bounds" tabindex="0" role="region" aria-label="All bounds">'
        "<table><thead><tr><th>Bound</th><th>ε</th><th>what it proves</th></tr></thead>"
        f"<tbody>{listed}</tbody></table></div>"
    )


def _row(name, value, says, low):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        shown, remark = COMPUTING, says
    elif isinstance(value, Refused):
        shown, remark = "says nothing", value.reason
    else:
        shown, remark = bound(value, up=name != "certified lower"), says
        if not isinstance(low, Refused) and value < low:
            remark = f"below the truth here: it promises too much ({says})"
    swatch = f'<span class="swatch" style="border-top: {_stroke(name)}"></span>'
    return f"<tr><td>{swatch} {html.escape(name)}</td><td>{shown}</td><td>{html.escape(remark)}</td></tr>"


def _stroke(name):
    how = look(name)
    style = {"certified": "solid", "refuted": "double", "asymptotic": "dotted"}.get(how.kind, "dashed")
    return f"{3 if how.kind != 'asymptotic' else 2}px {style} {how.colour}"


def tradeoff(setting, known, *, asked):
    """Describe an attacker's best test at the given false-positive rate."""
    found = known(Question.of(questions.missed, setting))
    at = f"{100 * setting.fpr:g} % false alarms"
    line = python(setting, questions.missed)
    paragraphs = _certified(found, "missed", "missed", at, line, safe="lower", asked=asked)
    if found is None or isinstance(found, Refused):
        return paragraphs
    most = bound(100 * (1.0 - found.lower), up=True, digits=6)
    some = bound(100 * (1.0 - found.upper), up=False, digits=6)
    return paragraphs + (
        '<p class="attacker">An attacker knows what everybody else holds, and which two values you may hold, '
        "and tells from the shuffled reports which it is. If they are wrong about "
        f"<b>{100 * setting.fpr:g} %</b> of those who hold the first value (false positives), they are right "
        f"about at most <b>{most} %</b> of those who hold the second (true positives; certified). "
        f"Some attack is right about {some} %. "
        f"Without any report it would be {100 * setting.fpr:g} %.</p>"
    )


def renyi(setting, known, *, asked):
    """Give the Rényi divergence of the given order."""
    found = known(Question.of(questions.renyi, setting))
    line = python(setting, questions.renyi)
    return _certified(found, "renyi", "Rényi divergence", f"order {setting.order:g}", line, asked=asked)


def deploy(setting, known, asked):
    """Describe what a target requires; slow answers only after they were asked for."""
    paragraphs = ""
    for ask, words in ((questions.largest, "Largest ε₀"), (questions.fewest, "Fewest users")):
        found = known(Question.of(ask, setting))
        name = ask.__name__
        if isinstance(found, Refused):
            paragraphs += failure(name, f"{words}: none found. {found.reason}.")
        elif found is None:
            paragraphs += _number_line(name, f"{words}: {COMPUTING if asked else WAITING}")
        else:
            paragraphs += _number_line(
                name, f"{words}: <b>{_plain(found.answer)}</b> (certified: the target is met)"
            )
            paragraphs += f"<p>{html.escape(str(found))}</p>"
            paragraphs += code(python(setting, ask) + ".answer")
    return paragraphs + _errors(setting, known(Question.of(questions.largest, setting)))


def plain(value):
    """Write a parameter as people do.

    Examples
    --------
    >>> from shufflelib.explorer.text import plain
    >>> plain(1e-6), plain(0.02)
    ('10⁻⁶', '0.02')
    """
    return digits(value, 6)


def _plain(value):
    return f"{value:,}" if isinstance(value, int) else bound(value, up=False)


def _errors(setting, found):
    mechanism = MECHANISMS[setting.mechanism]
    if not mechanism.histogram:
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
            name, f"Expected error of a histogram at {where}: <b>± {number(error)}</b>"
        )
        paragraphs += code(python(there, questions.rare_item_error))
    return paragraphs + (
        "<p>It is the standard error of the estimated share of users, for an item that hardly anybody holds, "
        "in one round.</p>"
    )

"""Answers in words, as HTML: one number rounded to the safe side, and what it means."""

import html
import math

from shufflelib.numerics.certified import Status, written
from shufflelib.profiles import cautions
from viz import digits

SHUFFLER = (
    "A <b>shuffler</b> mixes everybody’s reports, so that nobody can tell who sent which. Each device first "
    "randomises its own value, at a <b>budget ε₀</b>; in the crowd each report hides so well that the result "
    "as a whole keeps a much smaller <b>ε</b>. Move <b>users n</b> first, and watch ε."
)


def rounded(value, *, up, to=2):
    """Write a bound in few digits, rounded up if it is an upper one, else down.

    Examples
    --------
    >>> from viz.explorer.words import rounded
    >>> rounded(0.26571, up=True), rounded(1.234e-7, up=False)
    ('0.27', '1.2·10⁻⁷')
    """
    return "infinity" if math.isinf(value) else digits(float(written(value, up=up, digits=to)), to)


def big(text):
    """Return the line that everybody reads."""
    return f'<p style="font-size: 2em; line-height: 1.2; margin: 0.2em 0">{text}</p>'


def alert(text):
    """Return a warning or a refusal."""
    how = "border-left: 4px solid #c24a00; padding: 0.2em 0.6em; line-height: 1.4"
    return f'<p role="alert" style="{how}">{html.escape(text)}</p>' if text else ""


def table(heads, rows):
    """Return rows of HTML cells as a table; the first cell of a row is its heading."""
    cell = '<{0} scope="{1}" style="text-align: left; padding: 0.15em 0.8em 0.15em 0">{2}</{0}>'
    head = "".join(cell.format("th", "col", one) for one in heads)
    head = f"<thead><tr>{head}</tr></thead>" if heads else ""
    body = "".join(
        f"<tr>{cell.format('th', 'row', first)}"
        + "".join(f'<td style="padding: 0.15em 0.8em 0.15em 0">{one}</td>' for one in rest)
        + "</tr>"
        for first, *rest in rows
    )
    table = f'<table style="line-height: 1.4">{head}<tbody>{body}</tbody></table>'
    return f'<div style="overflow-x: auto" tabindex="0">{table}</div>'


def guarantee(setting, found):
    """Give the certified ε and what it promises to one person."""
    warned = cautions.warning(cautions.about_epsilon(found.upper, setting.delta, setting.n, setting.rate))
    alone = setting.alone
    local = f", instead of {rounded(alone, up=True, to=3)} without a shuffler" if alone < math.inf else ""
    crowd = f"{setting.n:,} people"
    crowd += f" drawn from {cautions.population(setting.n, setting.rate):,}" * (setting.rate < 1.0)
    crowd += f" in {setting.rounds:,} rounds together" * (setting.rounds > 1)
    status = "" if math.isfinite(found.upper) else alert(found.status.value)
    return (
        f"{alert(warned)}{big(f'ε ≤ <b>{rounded(found.upper, up=True)}</b>')}"
        f"<p>proved for every dataset of {crowd}, at δ = {digits(setting.delta, 6)}{local}.</p>"
        f"{promise(found.upper, setting.delta)}{status}"
    )


def promise(eps, delta):
    """Say what ε and δ mean."""
    if not eps < 700.0:
        return ""
    if eps < cautions.NO_DISTANCE:
        likelier = f"{digits(delta, 6)} (δ) likelier or less likely"
        return f"<p>With your value any set of results is at most {likelier}.</p>"
    factor = f"<b>{rounded(math.exp(eps), up=True, to=4)} times</b>"
    return (
        f"<p>With your value any set of results is at most {factor} as likely as with another value in its "
        f"place (e<sup>ε</sup>), plus {digits(delta, 6)} (δ).</p>"
    )


def attacker(setting, found):
    """Say whom an attacker catches, and whom without the shuffler."""
    alarms = f"{100 * setting.fpr:g} %"
    words = f"An attacker who accepts {alarms} false alarms catches at most "
    words += f"<b>{rounded(caught(found), up=True, to=3)} %</b>; guessing catches {alarms}."
    if setting.alone < math.inf:
        alone = 100.0 * most_caught(setting.fpr, setting.alone)
        words += f" Without a shuffler it could be {rounded(alone, up=True, to=3)} %."
    return f"<p>{words}</p>"


def caught(found):
    """Return the percentage that an attacker catches at most, from the certified share of misses."""
    return 100.0 * (1.0 - found.lower)


def most_caught(alarms, eps, delta=0.0):
    """Return the share that (ε, δ) lets an attacker catch at a share of false alarms.

    Examples
    --------
    >>> from viz.explorer.words import most_caught
    >>> most_caught(0.25, 0.0), round(most_caught(0.05, 1.0), 3)
    (0.25, 0.136)
    """
    odds = math.exp(min(eps, 700.0))
    return min(1.0, odds * alarms + delta, 1.0 - (1.0 - delta - alarms) / odds)


def proof(setting, found):
    """Give all digits of both ends, and what every number assumes."""
    profile = setting.profile()
    nothing = found.status in (Status.TRIVIAL, Status.TRIVIAL_LOWER)
    low, high = (
        "infinity" if math.isinf(end) else written(end, up=up, digits=10)
        for end, up in ((found.lower, False), (found.upper, True))
    )
    attack = "no attack is known" if nothing else "an attack attains it, so no valid bound is smaller"
    trouble = "" if found.status is Status.CERTIFIED else alert(found.status.value)
    assumed = "".join(f"<li>{html.escape(one)}</li>" for one in profile.assumptions)
    return (
        f"<p>ε ≤ {high}: certified, the guarantee.<br>ε ≥ {low}: {attack}.</p>{trouble}"
        f"<p>Randomizer: <code>{html.escape(str(setting.randomizer()))}</code>. Neighbouring datasets: "
        f"{html.escape(str(profile.adjacency))}. ε is in nats.</p>"
        f"<p>Every number assumes:</p><ul>{assumed}</ul>"
    )


def best_published(found):
    """Say which published bound is the smallest that holds, and which promise too much."""
    low, high = found[0].eps, found[1].eps
    others = [one for one in found[2:] if not math.isnan(one.eps)]
    holds = [one for one in others if one.eps >= low and one.bound.says.startswith(("upper", "certified"))]
    below = "; ".join(one.bound.name for one in others if one.eps < low)
    words = "No published bound says anything here."
    if holds:
        best = min(holds, key=lambda one: one.eps)
        times = best.eps / high if high else math.inf
        much = f", {rounded(times, up=True, to=3)} times as much" if times > 1.0005 else ", the same"
        words = f"The best published bound here gives {rounded(best.eps, up=True)} ({best.bound.name}){much}."
    words += f" Below what an attack attains, so no guarantee: {below}." if below else ""
    return f"<p>{html.escape(words)}</p>"


def bounds(found):
    """List every bound with its number and what that proves."""
    low, rows = found[0].eps, []
    for one in found:
        shown = "says nothing" if math.isnan(one.eps) else rounded(one.eps, up=one is not found[0], to=4)
        says = one.reason or one.bound.says
        says = f"below the truth here: it promises too much ({says})" if one.eps < low else says
        rows.append((html.escape(one.bound.name), shown, html.escape(says)))
    return table(("Bound", "ε", "What it proves"), rows)


def points(share):
    """Write an error in points of a percentage.

    Examples
    --------
    >>> from viz.explorer.words import points
    >>> points(0.00812)
    '0.81 points'
    """
    said = digits(100.0 * share, 2)
    return f"{said} point{'s' * (said != '1')}"


def device(row):
    """Say what each device does in a plan."""
    if row["parameter"] == "messages":
        return f"adds {row['value']:,} random message{'s' * (row['value'] > 1)} to its own"
    return f"reports with ε₀ = {cautions.exactly(row['value'])}"


def plan(setting, found, name):
    """Say how far off the best mechanism is."""
    best = found[0]
    if best["standard error"] > cautions.USELESS:
        return big("No useful answer") + "<p>Use more users, a larger ε, or a larger δ.</p>"
    share = f"a share of {digits(100.0 / setting.d)} %, if all options are equally frequent,"
    what = share if setting.task == "histogram" else "the mean of values that are spread evenly"
    error = points(best["standard error"]).replace(" ", " percentage ")
    return (
        f"{alert(best['warning'])}{big(f'± <b>{error}</b>')}<p>{html.escape(name(best))} has the smallest "
        f"error: {what} is off by about that, if each device {device(best)}.</p>"
    )


def plans(found, name):
    """List all mechanisms of a plan, smallest error first."""
    heads = "Mechanism", "Each device", "Standard error", "Worst case", "Central DP ×", "Bytes"
    rows = [
        (
            html.escape(name(row)),
            device(row),
            points(row["standard error"]),
            points(row["worst case"]),
            f"{row['x central']:.3g}",
            f"{row['bytes']:,}",
        )
        for row in found
    ]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in found.notes)
    return f"{table(heads, rows)}<ul>{notes}</ul>"


def facts(setting, row):
    """Return what is proved of one mechanism, how large its error is, and what a breach costs."""
    total = row["value"] * setting.rounds
    breach = "all of the privacy comes from shuffling, so nothing protects the values"
    if row["parameter"] == "eps0":
        breach = cautions.breach(total, "all reports together" if setting.rounds > 1 else "one report")
    curator = row["standard error"] / row["x central"]
    rounds = " of one round" * (setting.rounds > 1)
    rows = [
        ("Guarantee", f"ε ≤ {setting.eps:g} at δ = {digits(setting.delta)} (proved)"),
        ("Each device", device(row)),
        (f"Typical error{rounds}", f"± {points(row['standard error'])}"),
        ("In the worst case", f"± {points(row['worst case'])}"),
        ("A curator trusted with all values", f"± {points(curator)}, same guarantee"),
        ("If the shuffler is compromised", breach),
        ("Size of a user’s reports", f"{row['bytes']:,} byte{'s' * (row['bytes'] > 1)}"),
    ]
    return table((), rows)

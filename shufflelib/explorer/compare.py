"""The door *Compare*: the certified guarantee against the bounds of the literature, in words."""

import html

from shufflelib.explorer import questions, text, understand
from shufflelib.explorer.questions import Unknown


def answer(setting, known):
    """Give the certified number and the best published one beside it."""
    return understand.big(known(questions.epsilon, setting), setting) + best(setting, known)


def best(setting, known):
    """Say which published bound is the smallest that holds, and which promise too much."""
    if not setting.one_round:
        return "<p>The published bounds are for one round in which everybody reports.</p>"
    found, published = known(questions.epsilon, setting), known(questions.published, setting)
    if isinstance(found, Unknown) or isinstance(published, Unknown):
        return ""
    values = {name: one for name, one in published.items() if isinstance(one, float)}
    uppers = {one.name for one in questions.OTHERS if one.says.startswith(("upper", "certified upper"))}
    holds = {name: one for name, one in values.items() if one >= found.lower and name in uppers}
    below = [name for name, one in values.items() if one < found.lower]
    words = "No published bound says anything here."
    if holds:
        name = min(holds, key=holds.get)
        times = holds[name] / found.upper if found.upper else float("inf")
        words = (
            f"The best published bound here gives {text.rounded(holds[name], up=True)} ({html.escape(name)})"
        )
        words += f", {times:.3g} times as much." if times > 1.0005 else ", the same."
    if below:
        names = html.escape("; ".join(below))
        words += f" Below what an attack attains, so no guarantee: {names}."
    return f'<p class="consequence">{words}</p>'

"""The door *Understand*: what one mechanism's guarantee means, in words."""

import math

from shufflelib.explorer import questions, text
from shufflelib.explorer.questions import Question, Refused


def asks(setting):
    """Return the questions behind the answer."""
    return [Question.of(questions.epsilon, setting), Question.of(questions.missed, setting)]


def answer(setting, known, asked):
    """Give one rounded number and one consequence."""
    found = known(Question.of(questions.epsilon, setting))
    return big(found, setting, asked or setting.rounds == 1) + consequence(setting, known)


def big(found, setting, asked):
    """Give the certified ε as one large number."""
    at = f"at δ = {text.plain(setting.delta)}"
    if found is None:
        waits = text.COMPUTING if asked else "not computed yet"
        return f'<p class="big epsilon">ε <span class="pending">{waits}</span></p>'
    if isinstance(found, Refused):
        return text.failure("epsilon", f"No number: {found.reason}. Nothing is proved here.")
    shown = text.rounded(found.upper, up=True)
    local = ""
    if setting.budget < math.inf and setting.rounds == 1:
        local = f", instead of {text.rounded(setting.budget, up=True, to=3)} without a shuffler"
    status = "" if math.isfinite(found.upper) else text.failure("status", found.status.value)
    return (
        f'<p class="big epsilon">ε ≤ <b>{shown}</b></p>'
        f'<p class="under">proved for every dataset of {setting.n:,} people, {at}{local}</p>'
        f"{meaning(found.upper, setting.delta)}{status}"
    )


def meaning(eps, delta):
    """Say what ε and δ promise to one person."""
    if not eps < 700.0:
        return ""
    times = text.rounded(math.exp(eps), up=True, to=4)
    return (
        f"<p>With your value any result is at most <b>{times} times</b> as likely as with another value in "
        f"its place (e<sup>ε</sup>), plus {text.plain(delta)} (δ).</p>"
    )


def consequence(setting, known):
    """Say what an attacker gains, and what they would gain without the shuffler."""
    found = known(Question.of(questions.missed, setting))
    alarms = f"{100 * setting.fpr:g} %"
    if found is None or isinstance(found, Refused):
        return ""
    most = text.rounded(100.0 * (1.0 - found.lower), up=True, to=3)
    words = f"An attacker who accepts {alarms} false alarms catches at most <b>{most} %</b>; "
    words += f"guessing catches {alarms}."
    if setting.budget < math.inf and setting.rounds == 1:
        factor = math.exp(min(setting.budget, 700.0))
        alone = 100.0 * min(factor * setting.fpr, 1.0 - (1.0 - setting.fpr) / factor)
        words += f" Without a shuffler it could be {text.rounded(alone, up=True, to=3)} %."
    return f'<p class="consequence">{words}</p>'


def details(setting, known, asked):
    """Give all digits, the attack ends, and the Python lines."""
    begun = asked or setting.rounds == 1
    return text.situation(setting) + text.epsilon(setting, known) + text.tradeoff(setting, known, asked=begun)


def renyi(setting, known, asked):
    """Give the Rényi divergence."""
    return text.renyi(setting, known, asked=asked or setting.rounds == 1)

"""The door *Understand*: what one mechanism's guarantee means, in words."""

import math

from shufflelib.explorer import questions, text
from shufflelib.explorer.questions import Unknown
from shufflelib.plotting.headings import digits
from shufflelib.profiles import cautions


def answer(setting, known):
    """Give one rounded number and one consequence."""
    return big(known(questions.epsilon, setting), setting) + consequence(setting, known)


def big(found, setting):
    """Give the certified ε as one large number."""
    at = f"at δ = {digits(setting.delta, 6)}"
    if isinstance(found, Unknown):
        if found.pending:
            return f'<p class="big epsilon">ε <span class="pending">{found.reason}</span></p>'
        return text.failure("epsilon", f"No number: {found.reason}. Nothing is proved here.")
    shown = text.rounded(found.upper, up=True)
    local = ""
    if setting.budget < math.inf:
        alone = text.rounded(setting.budget * setting.rounds, up=True, to=3)
        local = f", instead of {alone} without a shuffler"
    rounds = f" drawn from {setting.n / setting.rate:,.0f}" if setting.rate < 1.0 else ""
    rounds += f" in {setting.rounds:,} rounds together" if setting.rounds > 1 else ""
    status = "" if math.isfinite(found.upper) else text.failure("status", found.status.value)
    about = cautions.warning(cautions.about_epsilon(found.upper, setting.delta, setting.n, setting.rate))
    warned = text.failure("warning", about) if about else ""
    return (
        f'{warned}<p class="big epsilon">ε ≤ <b>{shown}</b></p>'
        f'<p class="under">proved for every dataset of {setting.n:,} people{rounds}, {at}{local}</p>'
        f"{meaning(found.upper, setting.delta)}{status}"
    )


def meaning(eps, delta):
    """Say what ε and δ promise to one person."""
    if not eps < 700.0:
        return ""
    if eps < cautions.NO_DISTANCE:
        return f"<p>With your value any result is at most {digits(delta, 6)} (δ) likelier or less likely.</p>"
    times = text.rounded(math.exp(eps), up=True, to=4)
    return (
        f"<p>With your value any result is at most <b>{times} times</b> as likely as with another value in "
        f"its place (e<sup>ε</sup>), plus {digits(delta, 6)} (δ).</p>"
    )


def consequence(setting, known):
    """Say what an attacker gains, and what they would gain without the shuffler."""
    found = known(questions.missed, setting)
    alarms = f"{100 * setting.fpr:g} %"
    if isinstance(found, Unknown):
        return ""
    most = text.rounded(100.0 * (1.0 - found.lower), up=True, to=3)
    words = f"An attacker who accepts {alarms} false alarms catches at most <b>{most} %</b>; "
    words += f"guessing catches {alarms}."
    if setting.budget < math.inf:
        factor = math.exp(min(setting.budget * setting.rounds, 700.0))
        alone = 100.0 * min(factor * setting.fpr, 1.0 - (1.0 - setting.fpr) / factor)
        words += f" Without a shuffler it could be {text.rounded(alone, up=True, to=3)} %."
    return f'<p class="consequence">{words}</p>'


def details(setting, known):
    """Give all digits of both bounds, and the Python lines."""
    return text.situation(setting) + text.epsilon(setting, known) + text.tradeoff(setting, known)

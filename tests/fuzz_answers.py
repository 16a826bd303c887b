"""How many questions are drawn, and what a good answer and a good refusal are.

`SHUFFLELIB_FUZZ` gives the number of examples of a long run, ``make fuzz`` for instance; without it a few
thousand are drawn, the same ones every time.
"""

import math
import os
import re

import numpy as np
from hypothesis import HealthCheck, settings

from shufflelib import Certified
from shufflelib.published.closed_form import OutOfRegime

LONG = "SHUFFLELIB_FUZZ" in os.environ
TOTAL = int(os.environ.get("SHUFFLELIB_FUZZ", 2850))
# how the examples are shared out among the properties; a question to a profile costs more than a formula
SHARES = {
    "formulas": 0.50,
    "constructors": 0.21,
    "pairs": 0.08,
    "mechanisms": 0.06,
    "routes": 0.06,
    "tradeoffs": 0.03,
    "digits": 0.05,
    "messages": 0.01,
}


def examples(group, weight=1.0, parts=1.0):
    """Return the settings of one property: its part of the examples of its group."""
    return settings(
        max_examples=max(2, math.ceil(TOTAL * SHARES[group] * weight / parts)),
        derandomize=not LONG,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def weighted(group, calls):
    """Return the settings of each call's property, by name."""
    parts = math.fsum(one.weight for one in calls)
    return {one.name: examples(group, one.weight, parts) for one in calls}


def named(part):
    """Return the name of a call, or a part of a parameter set that is a name itself."""
    return getattr(part, "name", part)


def parts_of(answer):
    """Yield the numbers of an answer, however it is wrapped."""
    if isinstance(answer, Certified):
        yield from (answer.lower, answer.upper)
    elif isinstance(answer, int | float | np.ndarray):
        yield answer
    elif isinstance(answer, tuple):
        for part in answer:
            yield from parts_of(part)


def check_answer(answer, least=0.0, most=math.inf):
    """Assert that there is no NaN, no inverted bracket, nothing outside the range of the quantity."""
    for part in parts_of(answer):
        assert not np.isnan(part).any(), answer
        assert np.min(part) >= least and np.max(part) <= most, answer
    if isinstance(answer, Certified):
        assert np.all(np.asarray(answer.lower) <= answer.upper)
        assert str(answer)


def check_refusal(refusal, names):
    """Assert that a refusal names which argument or which hypothesis, and what came."""
    message = str(refusal)
    assert len(message.splitlines()) == 1 and re.search(r"[\d\[(]|None|inf|nan", message), message
    if not isinstance(refusal, OutOfRegime):
        assert any(re.search(rf"\b{name}\b", message) for name in names), message


def answered(call, arguments):
    """Return what a call gives, None where it refuses well."""
    try:
        return call.function(**arguments)
    except (ValueError, TypeError) as refusal:
        check_refusal(refusal, (*arguments, "randomizers"))
    return None


def check_question(profile, quantity, value):
    """Ask a profile for one quantity and check the answer; return it."""
    got = getattr(profile, quantity)(value)
    check_answer(got, most=1.0 if quantity in ("delta", "tradeoff") else math.inf)
    if quantity in ("epsilon", "renyi"):
        assert got.lower <= profile.pure_epsilon * (1 + 1e-12)
    return got


def overlap(one, other, slack=1e-13):
    """Assert that two brackets of one number have a point in common."""
    assert one.lower <= other.upper * (1 + slack) and other.lower <= one.upper * (1 + slack), (one, other)

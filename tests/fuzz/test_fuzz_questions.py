"""Drawn questions to every profile: δ, ε, Rényi divergences and trade-off functions are numbers in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arguments import DOMAINS
from fuzz_answers import LONG, answered, check_question, examples, named
from fuzz_profiles import CURVED, MECHANISMS, MESSAGES, PAIRS, QUESTIONS

POINTS, CURVES = ("delta", "epsilon"), ("renyi", "tradeoff")
# seconds for each example, for losses of many kinds or without a bound: drawn in long runs only
MANY_LOSSES = ("gaussian", "hadamard", "laplace", "mixture", "optimized_unary", "piecewise", "witch_hat")
SLOW_AT = {
    "delta": ("planar_laplace", "sampled_rappor"),
    "epsilon": (*MANY_LOSSES, "sampled_rappor"),
    "renyi": ("collision", "local_hash", "poisson_sampled", "subset"),
    "tradeoff": ("collision", "local_hash", "poisson_sampled", "subset"),
}


def in_time(call, quantity):
    """Tell whether a question to a profile is quick enough for a short run."""
    return call.name != "VariationRatioPair" and not call.name.endswith(SLOW_AT[quantity])


ASKED = [
    (group, call, quantity, parts)
    for group, calls, quantities, parts in (
        ("pairs", PAIRS, QUESTIONS, 4 * len(PAIRS)),
        ("mechanisms", MECHANISMS, POINTS, 3 * len(MECHANISMS)),
        ("mechanisms", CURVED, CURVES, 6 * len(CURVED)),
        ("messages", MESSAGES, POINTS, 2 * len(MESSAGES)),
    )
    for call in calls
    for quantity in quantities
    if LONG or in_time(call, quantity)
]


@pytest.mark.parametrize(("group", "call", "quantity", "parts"), ASKED, ids=named)
def test_a_profile_answers_every_question(group, call, quantity, parts):
    @examples(group, 0.5, parts)
    @given(st.fixed_dictionaries(call.domains), *[DOMAINS[QUESTIONS[quantity]]] * 2)
    def check(arguments, one, other):
        profile = answered(call, arguments)
        if profile is None:
            return
        smaller, larger = (check_question(profile, quantity, value) for value in sorted((one, other)))
        falls, rises = (larger, smaller) if quantity == "renyi" else (smaller, larger)
        assert rises.lower <= falls.upper
        if quantity == "epsilon" and larger.upper < profile.pure_epsilon:
            assert profile.delta(larger.upper).upper <= max(one, other) * (1 + 1e-12)

    check()

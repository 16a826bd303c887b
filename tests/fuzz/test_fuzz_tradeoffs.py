"""Drawn trade-off functions and curves: their shape, the lines that support them, two routes to each."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arguments import DOMAINS, EPS, between, several, whole
from fuzz_answers import answered, check_answer, examples, named
from fuzz_cases import call, found
from fuzz_profiles import FEW, two_point
from shufflelib import profiles
from shufflelib.profiles import TradeoffFunction
from shufflelib.published import joint_concavity
from shufflelib.shuffling import shuffle

HAIR = 1e-13  # what is added here is rounded
FPR = DOMAINS["fpr"]
BUDGET = between(1e-3, 6.0)
HALF = between(1e-9, 0.5)
POLYGON = st.builds(
    lambda eps, share: profiles.from_pair(two_point(eps, share)), between(1e-3, 20.0), between(1e-9, 0.5)
)
ANY = st.one_of(
    POLYGON,
    st.builds(lambda mu: profiles.GaussianTradeoff(mu).coarsened(segments=40), between(1e-6, 20.0)),
    st.builds(lambda eps, delta: profiles.ApproximateDP(eps=eps, delta=delta), EPS, st.floats(0.0, 1.0)),
)


STARTS = st.one_of(
    DOMAINS["a"].map(lambda a: joint_concavity.least_squares(a=a)),
    DOMAINS["bound"].map(lambda bound: joint_concavity.logistic(bound=bound)),
    st.builds(
        lambda a, clip: joint_concavity.clipped_least_squares(a=a, clip=clip), DOMAINS["a"], DOMAINS["clip"]
    ),
)
TWO = st.floats(1e-6, 1.0 - 1e-6).map(lambda weight: [weight, 1.0 - weight])
MORE = {"f": ANY, "functions": several(ANY, 2, 2), "eps0": BUDGET, "n": whole(1, 300), "weight": HALF}
MORE |= {"weights": TWO, "alternative_weights": TWO}
FUNCTIONS = (
    *found("profiles.ApproximateDP", delta=st.floats(0.0, 1.0)),
    *found("profiles.GaussianTradeoff"),
    *found("published.joint_concavity", **MORE),
    call(lambda f: f, called="polygon", f=POLYGON),
    call(lambda f, g: f.tensor(g), called="tensor", f=POLYGON, g=POLYGON),
    call(lambda f: f.symmetrised, called="symmetrised", f=ANY),
    call(lambda f, k: f.coarsened(segments=k), called="coarsened", f=ANY, k=whole(2, 1000)),
    call(joint_concavity.random_start_bound, start=STARTS),
)


def check_shape(rates, x, y, share):
    """Assert that a trade-off function falls, is convex, and lies below that of equal distributions."""
    x, y = sorted((x, y))
    middle = x + share * (y - x)
    left, between_, right = (rates(at) for at in (x, middle, y))
    for at, bracket in ((x, left), (middle, between_), (y, right)):
        check_answer(bracket, most=1.0 + HAIR)
        assert bracket.lower <= 1.0 - at + HAIR
    assert right.lower <= left.upper
    part = (middle - x) / (y - x) if y > x else 0.0
    assert between_.lower <= (1.0 - part) * left.upper + part * right.upper + HAIR


def check_inverse(rates, inverse, x):
    """Assert that going there and back ends no further than it began, and not before unless f is 0."""
    there = rates(x)
    assert inverse(there.upper).lower <= x + HAIR
    assert there.lower == 0.0 or inverse(there.lower).upper >= x - HAIR


def check_lines(rate, steep, flat, eps, x):
    """Assert that a rate lies above the two lines of slope -exp(eps) and -exp(-eps) that δ gives."""
    assert rate.upper >= 1.0 - steep.upper - math.exp(eps) * x - HAIR
    assert rate.upper >= math.exp(-eps) * (1.0 - flat.upper - x) - HAIR


@pytest.mark.parametrize("function", FUNCTIONS, ids=named)
def test_a_function_has_the_shape_of_one(function):
    @examples("tradeoffs", 1.0, 1.25 * len(FUNCTIONS))
    @given(st.fixed_dictionaries(function.domains), FPR, FPR, st.floats(0.0, 1.0), EPS)
    def check(arguments, x, y, share, eps):
        f = answered(function, arguments)
        if not isinstance(f, TradeoffFunction):
            check_answer(f, least=-math.inf)  # a divergence, a random start, or a refusal
            return
        check_shape(f, x, y, share)
        check_inverse(f, f.inverse, x)
        check_lines(f(x), f.delta(eps), f.inverse.delta(eps), eps, x)

    check()


@examples("tradeoffs", 0.25, 10)
@given(st.sampled_from(sorted(FEW)), BUDGET, whole(1, 10**6), FPR, FPR, st.floats(0.0, 1.0), EPS)
@example("binary_rr", 1.0, 100, 0.25, 0.75, 0.7, 0.1)
@example("ten options", 1.0, 100, 0.55, 0.9, 0.5, 0.05)
def test_a_mechanism_has_a_symmetric_tradeoff_function(kind, eps0, n, x, y, share, eps):
    profile = shuffle(FEW[kind](eps0), n=n)
    check_shape(profile.tradeoff, x, y, share)
    check_inverse(profile.tradeoff, profile.tradeoff, x)
    curve = profile.delta(eps)
    check_lines(profile.tradeoff(x), curve, curve, eps, x)

"""Thousands of drawn questions to every public function: what comes back is a good answer or a good refusal.

`SHUFFLELIB_FUZZ` gives the number of examples of a long run, ``make fuzz`` for instance; without it a few
thousand are drawn, the same ones every time.  Arguments come from `fuzz_cases`, evenly in their logarithm.
"""

import contextlib
import json
import math
import os
import re
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import fuzz_cases
from fuzz_cases import (
    DELTA,
    DOMAINS,
    EPS,
    EPS0,
    FORMULAS,
    KINDS,
    MECHANISMS,
    PAIRS,
    PROTOCOLS,
    between,
    whole,
)
from shufflelib import (
    Certified,
    calibration,
    central_limit,
    closed_form,
    comparison,
    conversions,
    multi_message,
    personalized,
    randomizers,
    renyi,
    shuffle_index,
    tradeoff,
)
from shufflelib.cli import main
from shufflelib.closed_form import OutOfRegime
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair, WorstPopulation, shuffle

LONG = "SHUFFLELIB_FUZZ" in os.environ
TOTAL = int(os.environ.get("SHUFFLELIB_FUZZ", 2500))
# how the examples are shared out among the properties; a question to a profile costs more than a formula
SHARES = {"formulas": 0.55, "constructors": 0.25, "pairs": 0.08, "mechanisms": 0.06, "routes": 0.06}


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


def named(call):
    return call.name


# ---------------------------------------------------------------- what a good answer and a good refusal are


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
    """Assert that a refusal says which argument or which hypothesis, and what came."""
    said = str(refusal)
    assert len(said.splitlines()) == 1 and re.search(r"[\d\[(]|None|inf|nan", said), said
    if not isinstance(refusal, OutOfRegime):
        assert any(re.search(rf"\b{name}\b", said) for name in names), said


def answered(call, arguments):
    """Return what a call gives, None where it refuses well."""
    try:
        return call.function(**arguments)
    except (ValueError, TypeError) as refusal:
        check_refusal(refusal, (*arguments, "randomizers"))
    return None


# ---------------------------------------------------------------- formulas and constructors

FORMULA_SETTINGS = weighted("formulas", FORMULAS)


@pytest.mark.parametrize("call", FORMULAS, ids=named)
def test_a_formula_gives_a_number_in_its_range_or_says_why_not(call):
    @FORMULA_SETTINGS[call.name]
    @given(st.fixed_dictionaries(call.domains))
    def check(arguments):
        check_answer(answered(call, arguments), call.least, call.most)

    check()


CONSTRUCTORS = tuple((KINDS | PROTOCOLS).values())
CONSTRUCTOR_SETTINGS = weighted("constructors", CONSTRUCTORS)


@pytest.mark.parametrize("call", CONSTRUCTORS, ids=named)
def test_a_randomizer_is_built_with_parameters_that_are_numbers(call):
    @CONSTRUCTOR_SETTINGS[call.name]
    @given(st.fixed_dictionaries(call.domains))
    def check(arguments):
        randomizer = answered(call, arguments)
        if randomizer is None:
            return
        for name, low in (("eps0", 0.0), ("p", 1.0), ("beta", -math.inf)):  # β as published, whatever it is
            with contextlib.suppress(AttributeError, OutOfRegime):
                assert getattr(randomizer, name) >= low, name
        assert str(randomizer)

    check()


# ---------------------------------------------------------------- profiles


def check_question(profile, quantity, value):
    """Ask a profile for one quantity and check the answer; return it."""
    got = getattr(profile, quantity)(value)
    check_answer(got, most=1.0 if quantity in ("delta", "tradeoff") else math.inf)
    if quantity in ("epsilon", "renyi"):
        assert got.lower <= profile.pure_epsilon * (1 + 1e-12)
    return got


@pytest.mark.parametrize("quantity", fuzz_cases.QUESTIONS)
@pytest.mark.parametrize(
    "call", [one for one in PAIRS if LONG or one.name != "VariationRatioPair"], ids=named
)
def test_a_pair_answers_every_question(call, quantity):
    @examples("pairs", 1.0, 4 * len(PAIRS))
    @given(st.fixed_dictionaries(call.domains), DOMAINS[fuzz_cases.QUESTIONS[quantity]])
    def check(arguments, value):
        profile = answered(call, arguments)
        if profile is not None:
            check_question(profile, quantity, value)

    check()


# seconds for each example, for losses of many kinds or without a bound: drawn in long runs only
DEAR_KINDS = ("gaussian", "hadamard", "laplace", "mixture", "optimized_unary", "piecewise", "witch_hat")
ASKED = [
    (call, quantity)
    for call in MECHANISMS
    for quantity in ("delta", "epsilon")
    if LONG or not call.name.endswith(DEAR_KINDS) or quantity == "delta" and "planar" not in call.name
]


@pytest.mark.parametrize(("call", "quantity"), ASKED, ids=lambda part: getattr(part, "name", part))
def test_a_shuffled_mechanism_answers_every_question(call, quantity):
    @examples("mechanisms", 1.0, 2 * len(MECHANISMS))
    @given(st.fixed_dictionaries(call.domains), DOMAINS[fuzz_cases.QUESTIONS[quantity]])
    def check(arguments, value):
        profile = answered(call, arguments)
        if profile is not None:
            check_question(profile, quantity, value)

    check()


# ---------------------------------------------------------------- what theory says of two answers

FEW = {
    "generic": lambda eps0: randomizers.generic(eps0=eps0),
    "binary_rr": lambda eps0: randomizers.binary_rr(eps0=eps0),
    "ten options": lambda eps0: randomizers.generalized_rr(eps0=eps0, d=10),
    "subset": lambda eps0: randomizers.subset(eps0=eps0, d=16, k=4),
}
KIND = st.sampled_from(sorted(FEW))
ORDERED = {  # what grows, and whether privacy falls with it; the profile and the question with all else fixed
    "n": (whole(1, 10**15), lambda kind, n: (shuffle(FEW[kind](1.0), n=n), "delta", 1e-3), False),
    "eps": (EPS, lambda kind, eps: (shuffle(FEW[kind](2.0), n=1000), "delta", eps), False),
    "delta": (DELTA, lambda kind, delta: (shuffle(FEW[kind](2.0), n=1000), "epsilon", delta), False),
    "eps0": (EPS0, lambda kind, eps0: (shuffle(FEW[kind](eps0), n=1000), "epsilon", 1e-6), True),
    "order": (
        between(1e-15, 1e6).map(lambda x: 1.0 + x),
        lambda kind, order: (VariationRatioPair.of(FEW["generic"](2.0), n=50), "renyi", order),
        True,
    ),
    "rate": (
        between(1e-9, 1.0),
        lambda kind, rate: (shuffle(FEW[kind](2.0), n=100).subsample(rate=rate), "delta", 1e-3),
        True,
    ),
    "rounds": (
        whole(1, 10**6),
        lambda kind, rounds: (Gaussian(1e-3).compose(rounds=rounds), "delta", 0.1),
        True,
    ),
    "fpr": (
        DOMAINS["fpr"],
        lambda kind, fpr: (VariationRatioPair.of(FEW["generic"](2.0), n=50), "tradeoff", fpr),
        False,
    ),
}
DEAR = ("rate", "rounds", "delta", "eps0")


@pytest.mark.parametrize("argument", ORDERED)
def test_brackets_never_contradict_an_order(argument):
    values, question, rises = ORDERED[argument]

    @examples("routes", 0.4 if argument in DEAR else 1.0, 12)
    @given(KIND, st.tuples(values, values))
    def check(kind, pair):
        ends = []
        for value in sorted(pair):
            profile, quantity, asked = question(kind, value)
            ends.append(check_question(profile, quantity, asked))
        smaller, larger = ends if rises else ends[::-1]
        assert smaller.lower <= larger.upper

    check()


def overlap(one, other, slack=1e-13):
    """Assert that two brackets of one number have a point in common."""
    assert one.lower <= other.upper * (1 + slack) and other.lower <= one.upper * (1 + slack), (one, other)


@examples("routes", 1.0, 12)
@given(EPS0, whole(1, 10**15), EPS)
def test_randomized_response_by_its_names_and_by_its_pair(eps0, n, eps):
    two = shuffle(randomizers.binary_rr(eps0=eps0), n=n).delta(eps)
    options = shuffle(randomizers.generalized_rr(eps0=eps0, d=2), n=n).delta(eps)
    generic = shuffle(randomizers.generic(eps0=eps0), n=n).delta(eps)
    overlap(two, options)
    overlap(two, WorstPopulation(eps0, n).delta(eps))
    assert two.lower <= generic.upper
    if 1e-9 <= eps0 <= 340.0:
        assert renyi.binary_rr_pair(eps0=eps0, n=n).delta(eps).lower <= two.upper * (1 + 1e-9)
        # p is exp(eps0) rounded: what that does to p - 1 is the pair's, not the mechanism's
        moved = 1.0 + 4.0 * np.finfo(float).eps * (1.0 + 1.0 / eps0)
        assert generic.lower <= renyi.generic_pair(eps0=eps0, n=n).delta(eps).upper * moved


@examples("routes", 1.0, 12)
@given(KIND, EPS0, whole(1, 10**15), DELTA)
def test_epsilon_and_delta_are_inverse(kind, eps0, n, delta):
    profile = shuffle(FEW[kind](eps0), n=n)
    eps = profile.epsilon(delta)
    assert profile.delta(eps.upper).upper <= delta * (1 + 1e-8) or eps.upper == eps0
    if eps.lower > 0.0:
        assert profile.delta(eps.lower).upper >= delta * (1 - 1e-8)


@examples("routes", 0.5, 12)
@given(between(1e-6, 20.0), st.integers(1, 500), between(1e-9, 1.0), EPS, DELTA)
def test_tradeoff_function_renyi_divergence_and_curve_agree(eps0, n, fpr, eps, delta):
    pair = VariationRatioPair.of(randomizers.generic(eps0=eps0), n=n)
    curve, rate = pair.delta(eps), pair.tradeoff(fpr)
    assert rate.upper >= 1.0 - curve.upper - math.exp(eps) * fpr - 1e-13
    order = np.array([1.5, 4.0, 30.0])
    proved = conversions.epsilon_from_renyi_canonne20(order=order, renyi=pair.renyi(order).upper, delta=delta)
    assert np.all(pair.epsilon(delta).lower <= proved)
    bound = conversions.delta_from_renyi_canonne20(order=order, renyi=pair.renyi(order).upper, eps=eps)
    assert np.all(curve.lower <= bound)


@examples("routes", 0.5, 12)
@given(between(1e-6, 700.0), whole(1, 10**15), DELTA)
def test_published_formulas_and_pairs_are_not_below_the_attack(eps0, n, delta):
    proved = shuffle(randomizers.generic(eps0=eps0), n=n).epsilon(delta).lower
    for bound in (
        closed_form.clones_fmt21,
        closed_form.stronger_clones_fmt23,
        closed_form.blanket_hoeffding,
        closed_form.blanket_bennett,
        closed_form.erlingsson19,
    ):
        value = float(closed_form.over(bound, eps0=eps0, n=n, delta=delta))
        assert math.isnan(value) or value >= proved * (1 - 1e-12), bound.__name__


@examples("routes", 0.3, 12)
@given(between(1e-9, 20.0), EPS, DELTA, DOMAINS["fpr"])
def test_one_round_and_rate_one_change_nothing(mu, eps, delta, fpr):
    once = Gaussian(mu)
    for same in (once.compose(rounds=1), once.subsample(rate=1.0)):
        for quantity, value in (("delta", eps), ("epsilon", delta), ("tradeoff", fpr), ("renyi", 2.5)):
            one, other = (getattr(profile, quantity)(value) for profile in (once, same))
            assert (one.lower, one.upper) == (other.lower, other.upper)
    rounds = once.compose(rounds=4).delta(eps)
    overlap(rounds, Gaussian(2.0 * mu).delta(eps), slack=1e-9)


# ---------------------------------------------------------------- hostile values

PLAIN = {
    "K": 16,
    "B": 2,
    "alternative_weights": [0.5, 0.5],
    "betas": [0.2, 0.3],
    "weights": [0.5, 0.5],
    "weight": 0.25,
    "beta": 0.3,
    "blanket": 1000,
    "brim": 10.0,
    "chi": 2.0,
    "clip": 1.0,
    "cohorts": 2,
    "coin": 0.5,
    "d": 16,
    "d01": 1.0,
    "delta": 0.01,
    "delta0": 1e-9,
    "dmax": 1.0,
    "eps": 0.5,
    "eps0": 1.0,
    "flip": 0.25,
    "fpr": 0.1,
    "height": 1.0,
    "messages": 1000,
    "mu": 1.0,
    "n": 100,
    "order": 2,
    "p": 3.0,
    "q": 3.0,
    "q0": 3.0,
    "q1": 3.0,
    "rate": 0.5,
    "renyi": 0.1,
    "rounds": 3,
    "s": 4,
    "sigma": 1.0,
    "slack": 0.1,
    "total_delta": 0.5,
    "a": 0.5,
    "bound": 0.5,
    "mean": 0.5,
    "variance": 2.0,
}
TEN = randomizers.generalized_rr(eps0=1.0, d=10)
PAIR = VariationRatioPair(n=20, p=3.0, beta=0.5, q0=3.0)
CURVE = tradeoff.GaussianTradeoff(1.0)


def plain(call):
    """Return arguments of a call that are in order."""
    several = {"eps0": [1.0, 0.5, 2.0]} if call.domains.get("eps0") is fuzz_cases.BUDGETS else {}
    return {name: several.get(name, PLAIN[name]) for name in call.domains}


def compared(**arguments):
    """Return what `comparison.compare` finds, its refusals left out."""
    return tuple(one.eps for one in comparison.compare(**arguments) if not one.reason)


def taking(function, **arguments):
    return function, arguments


HOSTILE = {call.name: (call.function, plain(call)) for call in (*FORMULAS, *CONSTRUCTORS)} | {
    "VariationRatioPair": taking(VariationRatioPair, n=20, p=3.0, beta=0.3, q0=3.0, q1=3.0),
    "Gaussian": taking(Gaussian, mu=1.0),
    "DiscretePair": taking(
        DiscretePair, log_p=[math.log(0.25), math.log(0.75)], log_q=[math.log(0.5), math.log(0.5)]
    ),
    "WorstPopulation": taking(WorstPopulation, eps0=1.0, n=20),
    "PersonalizedPair": taking(PersonalizedPair, eps0=[1.0, 0.5, 2.0]),
    "PersonalizedPair.adaptive": taking(PersonalizedPair.adaptive, eps0=[1.0, 0.5, 2.0]),
    "OwnLaplace": taking(personalized.OwnLaplace, eps0=[1.0, 0.5, 2.0]),
    "OwnRandomizedResponse": taking(personalized.OwnRandomizedResponse, eps0=[1.0, 0.5, 2.0], k=3),
    "shuffle": taking(shuffle, randomizer=TEN, n=100),
    "poisson_sampled of": taking(randomizers.poisson_sampled, randomizer=TEN, rate=0.5),
    "mixture of": taking(randomizers.mixture, randomizers=[TEN, TEN], weights=[0.5, 0.5]),
    "joint of": taking(randomizers.joint, randomizers=[TEN, TEN], distance=1),
    "pair.delta": taking(PAIR.delta, eps=0.1),
    "pair.epsilon": taking(PAIR.epsilon, delta=0.1),
    "pair.renyi": taking(PAIR.renyi, order=2.0),
    "pair.tradeoff": taking(PAIR.tradeoff, fpr=0.1),
    "pair.subsample": taking(PAIR.subsample, rate=0.5),
    "pair.compose": taking(PAIR.compose, rounds=3),
    "largest_eps0": taking(calibration.largest_eps0, n=100, eps=0.5, delta=1e-6, rounds=1),
    "fewest_users": taking(calibration.fewest_users, randomizer=TEN, eps=0.5, delta=1e-6, rounds=1),
    "most_rounds": taking(calibration.most_rounds, profile=Gaussian(0.1), eps=1.0, delta=1e-6),
    "compare": taking(compared, randomizer=TEN, n=100, delta=1e-6),
    "gaps": taking(comparison.gaps, randomizer=TEN, n=100, delta=1e-6),
    "shuffle_index": taking(shuffle_index.shuffle_index, randomizer=TEN),
    "shuffle_messages": taking(
        multi_message.shuffle_messages, randomizer=randomizers.balcer_uniform(), n=10, blanket=100
    ),
    "published_pair": taking(
        multi_message.published_pair, randomizer=randomizers.balcer_uniform(), blanket=100
    ),
    "fewest_blanket_messages": taking(
        multi_message.fewest_blanket_messages,
        randomizer=randomizers.balcer_uniform(),
        n=10,
        eps=1.0,
        delta=0.01,
        relative=0.1,
    ),
    "smallest_flip": taking(
        multi_message.smallest_flip, d=4, n=10, blanket=10_000, eps=1.0, delta=0.01, relative=0.1
    ),
    "ApproximateDP": taking(tradeoff.ApproximateDP, eps=0.5, delta=0.1),
    "GaussianTradeoff": taking(tradeoff.GaussianTradeoff, mu=1.0),
    "tradeoff function": taking(CURVE, fpr=0.1),
    "tradeoff delta": taking(CURVE.delta, eps=0.1),
    "tradeoff conjugate": taking(CURVE.conjugate, slope=-2.0),
    "tradeoff.renyi": taking(tradeoff.renyi, f=CURVE, order=2.0),
    "tradeoff.blend": taking(tradeoff.blend, f=CURVE, rate=0.5),
    "tradeoff.hidden_among": taking(tradeoff.hidden_among, f=CURVE, rate=0.5),
    "tradeoff.hidden_swap": taking(tradeoff.hidden_swap, f=CURVE, weight=0.5),
    "tradeoff.from_profile": taking(tradeoff.from_profile, profile=PAIR, dots=5),
    "tradeoff.from_pair": taking(tradeoff.from_pair, pair=DiscretePair([0.0], [0.0])),
    "tradeoff.shuffle_bound": taking(tradeoff.shuffle_bound, eps0=1.0, n=20),
    "tradeoff.clone_pair": taking(tradeoff.clone_pair, eps0=1.0, n=20),
    "tradeoff.conditioned_on_clones": taking(tradeoff.conditioned_on_clones, eps0=1.0, n=20),
    "tradeoff.delta_corollary43": taking(tradeoff.delta_corollary43, eps0=1.0, n=20, eps=0.1),
    "tradeoff.least_squares": taking(tradeoff.least_squares, a=0.5),
    "tradeoff.clipped_least_squares": taking(tradeoff.clipped_least_squares, a=0.5, clip=1.0),
    "tradeoff.logistic": taking(tradeoff.logistic, bound=0.5),
    "tradeoff.unequal_gaussians": taking(tradeoff.unequal_gaussians, mean=0.5, variance=2.0),
    "tradeoff.renyi_least_squares": taking(tradeoff.renyi_least_squares, a=0.5, order=2.0, noise=1.0),
    "tradeoff.joint_concavity": taking(
        tradeoff.joint_concavity, functions=[CURVE, CURVE], weights=[0.5, 0.5]
    ),
    "tradeoff.best_of": taking(tradeoff.best_of, functions=[CURVE, CURVE]),
}
FOREIGN = {  # no function of numbers takes these
    "NaN": math.nan,
    "text": "1e-8",
    "bytes": b"1",
    "None": None,
    "empty": [],
    "bool": True,
    "complex": 1.0 + 1.0j,
    "numpy complex": np.complex128(1.0),
    "array of None": np.array([None, 1.0]),
    "array of text": np.array(["a"]),
    "array of NaN": np.array([0.5, math.nan]),
    "ragged": [[1.0], [1.0, 2.0]],
    "mapping": {},
    "function": math.exp,
}
EXTREME = {
    "inf": math.inf,
    "-inf": -math.inf,
    "-1": -1,
    "0": 0,
    "-0.0": -0.0,
    "huge": 10**400,
    "-huge": -(10**400),
    "tiny": 1e-300,
    "subnormal": 5e-324,
    "largest float": sys.float_info.max,
    "half": 0.5,
    "next to one": math.nextafter(1.0, 0.0),
    "numpy inf": np.float32("inf"),
}
# an honest answer takes seconds: a search over many profiles, each at the end of its range
DEAR_EXTREMES = {
    ("fewest_users", "delta", "tiny"),
    ("fewest_users", "delta", "subnormal"),
    ("most_rounds", "delta", "next to one"),
    ("compare", "delta", "tiny"),
    ("compare", "delta", "subnormal"),
    ("largest_eps0", "delta", "tiny"),
    ("largest_eps0", "delta", "subnormal"),
    ("gaps", "delta", "tiny"),
    ("gaps", "delta", "subnormal"),
}
OPTIONAL = {("VariationRatioPair", "q1"), ("joint of", "distance")}  # None is their default


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values_are_refused_by_name(name):
    function, arguments = HOSTILE[name]
    for argument in arguments:
        for words, value in FOREIGN.items():
            if value is None and (name, argument) in OPTIONAL:
                continue
            with pytest.raises((ValueError, TypeError)) as refusal:
                function(**arguments | {argument: value})
            assert type(refusal.value) in (ValueError, TypeError), (argument, words, refusal.value)
            assert re.search(rf"\b{argument}\b", str(refusal.value)), (argument, words, refusal.value)


@pytest.mark.parametrize("name", HOSTILE)
def test_extreme_values_are_answered_or_refused(name):
    function, arguments = HOSTILE[name]
    for argument in arguments:
        for words, value in EXTREME.items():
            if (name, argument, words) in DEAR_EXTREMES:
                continue
            try:
                check_answer(function(**arguments | {argument: value}), least=-math.inf)
            except (ValueError, TypeError) as refusal:
                check_refusal(refusal, arguments)


# ---------------------------------------------------------------- the command line

WORDS = st.one_of(
    st.sampled_from(
        ("epsilon", "delta", "renyi", "calibrate", "eps0", "users", "rounds", "--n", "--eps", "--delta")
    ),
    st.sampled_from(("--randomizer", "generic", "binary-rr", "generalized-rr", "laplace", "--d", "--eps0")),
    st.sampled_from(
        ("--json", "--order", "--rounds", "--k", "-1", "0", "1", "10", "0.5", "2", "1e3", "1e-6")
    ),
    st.sampled_from(
        ("nan", "inf", "-inf", "1e400", "9" * 400, "0x10", "1_000", "", " ", "\0", "é", "--", "-")
    ),
    st.text(max_size=6),
)


def run(capsys, argv):
    """Return the status, and what was printed on either stream."""
    status = main(argv)
    return status, *capsys.readouterr()


def check_command(capsys, argv):
    status, out, err = run(capsys, argv)
    assert status in (0, 2), argv
    if status == 2:
        assert out == "" and err.startswith("shufflelib") and err.count("\n") == 1, (argv, err)
    else:
        assert err == "" and "nan" not in out.split(), (argv, out)


@examples("routes", 2.0, 12)
@given(st.lists(WORDS, max_size=10))
@example(["epsilon", "--randomizer", "generic", "--eps0", "9" * 400, "--n", "10", "--delta", "0.1"])
@example(["epsilon", "--randomizer", "generic", "--eps0", "1", "--n", "9" * 5000, "--delta", "0.1"])
def test_any_words_give_an_answer_or_one_line(capsys, words):
    check_command(capsys, words)


@examples("routes", 2.0, 12)
@given(
    st.sampled_from(("epsilon", "delta", "renyi")),
    st.sampled_from(("generic", "binary-rr", "generalized-rr")),
    WORDS,
    WORDS,
    WORDS,
)
def test_any_values_give_an_answer_or_one_line(capsys, quantity, randomizer, eps0, n, value):
    question = fuzz_cases.QUESTIONS[quantity]
    check_command(
        capsys,
        [
            quantity,
            f"--randomizer={randomizer}",
            f"--eps0={eps0}",
            f"--n={n}",
            f"--{question}={value}",
            "--d=4",
        ][: 6 if randomizer == "generalized-rr" else 5],
    )


# ---------------------------------------------------------------- fifty digits

FIFTY = mpmath.mp.clone()
FIFTY.dps = 50


def laws_of_pair(pair):
    """Return (P, Q) at every number (a, b) of the two tokens, from the pair's floats taken as exact."""
    mp = FIFTY
    p, beta, q0, q1, n = mp.mpf(pair.p), mp.mpf(pair.beta), mp.mpf(pair.q0), mp.mpf(pair.q1), pair.n
    weak = beta / (p - 1)
    strong = beta + weak
    r0, r1 = strong / q0, strong / q1
    rest, other = 1 - strong - weak, 1 - r0 - r1
    if rest < 8 * mp.mpf(2) ** -53 * p / (p - 1):  # beta is the largest, rounded
        rest, strong, weak = mp.zero, strong / (strong + weak), weak / (strong + weak)
    other = max(other, mp.zero)
    laws = {}
    for a in range(n):
        for b in range(n - a) if other else (n - 1 - a,):
            ways = math.comb(n - 1, a) * math.comb(n - 1 - a, b)
            mass = ways * r0**a * r1**b * other ** (n - 1 - a - b)
            for x, y, first, second in ((1, 0, strong, weak), (0, 1, weak, strong), (0, 0, rest, rest)):
                old = laws.get((a + x, b + y), (mp.zero, mp.zero))
                laws[a + x, b + y] = old[0] + mass * first, old[1] + mass * second
    return [(first, second) for first, second in laws.values() if first or second]


def exact_delta(laws, eps):
    ratio = FIFTY.exp(FIFTY.mpf(eps))
    both = laws, [(second, first) for first, second in laws]
    return max(FIFTY.fsum(max(first - ratio * second, 0) for first, second in one) for one in both)


def exact_renyi(laws, order):
    order, both = FIFTY.mpf(order), (laws, [(second, first) for first, second in laws])
    moments = [
        FIFTY.fsum(first * (first / second) ** (order - 1) for first, second in one if first) for one in both
    ]
    return FIFTY.log(max(moments)) / (order - 1)


@examples("routes", 6.0, 12)
@given(
    st.integers(1, 25),
    between(1e-6, 1e6).map(lambda x: 1.0 + x),
    between(1e-9, 1.0),
    st.tuples(between(1.0, 1e9), between(1.0, 1e9)),
    EPS,
    DOMAINS["order"],
)
@example(25, 1.0 + 1e-6, 1.0, (1.0, 1.0), 1e-7, 2)
@example(25, 1e6, 1.0, (1e5, 1.0), 13.0, 1e6)
@example(1, 3.0, 1.0, (1.0, 1.0), 0.0, 1.0 + 1e-15)
def test_the_sums_of_a_pair_cover_their_values_in_fifty_digits(n, p, share, looser, eps, order):
    beta = share * (p - 1.0) / (p + 1.0)
    least = 2.0 * beta * p / (p - 1.0) * (1.0 + 1e-9)
    q0, q1 = (max(least, 1.0) * factor for factor in looser)
    pair = VariationRatioPair(n=n, p=p, beta=beta, q0=q0, q1=q1)
    laws = laws_of_pair(pair)
    delta, got = exact_delta(laws, eps), pair.delta(eps)
    assert got.lower <= delta <= got.upper
    renyi_truth, got = exact_renyi(laws, order), pair.renyi(order)
    assert got.lower <= renyi_truth <= got.upper


# beyond the cells: sums over totals, and contour integrals
@pytest.mark.parametrize(("n", "eps0"), [(601, 1e-3), (601, 1.0), (601, 8.0), (1500, 1.0)])
def test_sums_over_many_users_cover_their_values_in_fifty_digits(n, eps0):
    with FIFTY.workdps(60):
        e = FIFTY.exp(FIFTY.mpf(eps0))
        one = 1 / (1 + e)  # of a user who holds 0
        ones = [math.comb(n - 1, k) * one**k * (1 - one) ** (n - 1 - k) for k in range(n)] + [FIFTY.zero]
        before = [FIFTY.zero, *ones[:-1]]
        laws = [(x * (1 - one) + y * one, x * one + y * (1 - one)) for x, y in zip(ones, before, strict=True)]
        for eps in (0.0, 0.3 * eps0 / math.sqrt(n), 3.0 * eps0 / math.sqrt(n)):
            truth = exact_delta(laws, eps)
            profile = shuffle(randomizers.binary_rr(eps0=eps0), n=n)
            assert profile.delta(eps).upper >= truth
            assert max(pair.log_worst(eps).lower for pair in profile.below) <= FIFTY.log(truth)
            pair = renyi.binary_rr_pair(eps0=eps0, n=n)
            moved = 1.0 + 4.0 * np.finfo(float).eps / eps0  # exp(eps0) is a float in the pair
            got = pair.delta(eps)
            assert got.lower <= truth * moved and truth <= got.upper * moved
        for order in (1.0 + 1e-9, 2.0, 64.0):
            truth, got = exact_renyi(laws, order), shuffle(randomizers.binary_rr(eps0=eps0), n=n).renyi(order)
            assert truth <= got.upper


# ---------------------------------------------------------------- another processor's rounding

ELSEWHERE = """
import json
from shufflelib import randomizers, shuffle
from shufflelib.profiles import Gaussian
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair

profiles = [shuffle(randomizers.generalized_rr(eps0=eps0, d=10), n=n)
            for eps0 in (1e-6, 1.0, 8.0) for n in (1, 50, 10**4, 10**9)]
profiles += [shuffle(randomizers.binary_rr(eps0=2.0), n=10**5)]
profiles += [VariationRatioPair(n=n, p=9.0, beta=0.5, q0=5.0, q1=2.0) for n in (7, 500, 10**4, 10**7)]
profiles += [PersonalizedPair([0.5, 1.0, 2.0] * 4), Gaussian(0.3)]
ends = [end for one in profiles for quantity, value in (("delta", 0.01), ("epsilon", 1e-8))
        for got in [getattr(one, quantity)(value)] for end in (got.lower, got.upper)]
shaped = VariationRatioPair(n=500, p=9.0, beta=0.5, q0=5.0), Gaussian(0.1).compose(rounds=100)
ends += [end for one in shaped
         for quantity, value in (("renyi", 3.0), ("tradeoff", 0.05))
         for got in [getattr(one, quantity)(value)] for end in (got.lower, got.upper)]
print(json.dumps(ends))
"""


def brackets(**environment):
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout)).reshape(-1, 2).T


def test_another_processors_rounding_stays_inside_the_brackets():
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    wide = [group for group in __cpu_dispatch__ if __cpu_features__[group]]  # AVX2, AVX512 and their like
    lower, upper = brackets()
    low, high = brackets(
        NPY_DISABLE_CPU_FEATURES=" ".join(wide),
        OPENBLAS_CORETYPE="Nehalem",
        GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4",
    )
    assert np.all(low <= upper) and np.all(lower <= high)
    assert np.allclose(low, lower, rtol=1e-9, atol=0.0) and np.allclose(high, upper, rtol=1e-9, atol=0.0)


def test_the_default_number_of_examples_is_two_thousand_at_least():
    planned = sum(one.max_examples for one in (*FORMULA_SETTINGS.values(), *CONSTRUCTOR_SETTINGS.values()))
    assert planned >= 0.8 * TOTAL and (LONG or planned >= 2000)


# ---------------------------------------------------------------- found by drawing

FOUND = {  # a call that once warned, raised what it should not or gave no number, and its answer
    "dots beyond the largest exponent": (
        lambda: shuffle(randomizers.gaussian(sigma=0.05), n=1).tradeoff(0.0).upper,
        1.0,
    ),
    "P = Q, Renyi divergence": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).renyi(2.0).upper,
        0.0,
    ),
    "P = Q, many users": (
        lambda: VariationRatioPair(n=10**7, p=2.0, beta=0.0, q0=2.0).renyi(2.0).upper,
        0.0,
    ),
    "P = Q, trade-off": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).tradeoff(0.25).lower,
        0.75,
    ),
    "P = Q, subsampled": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).subsample(rate=0.5).renyi(2.0).upper,
        0.0,
    ),
    "P = Q, composed": (
        lambda: VariationRatioPair(n=5, p=2.0, beta=0.0, q0=2.0).compose(rounds=3).tradeoff(0.25).lower,
        0.75,
    ),
    "no curve is needed at either end": (
        lambda: shuffle(randomizers.optimized_unary(eps0=1e-10, d=2), n=2).tradeoff(0.0).lower,
        1.0,
    ),
    "W of a number beyond the floats": (
        lambda: central_limit.moderate_epsilon(chi=1e-12, n=1, delta=1e-300) / 1e12,
        math.sqrt(2.0 * 710.228876),
    ),
    "a tail 1e300 deviations out": (lambda: central_limit.asymptotic_delta(chi=1e200, n=100, eps=1e300), 0.0),
    "infinity minus infinity": (
        lambda: conversions.delta_from_renyi_canonne20(order=1e50, renyi=1.0, eps=1e308),
        0.0,
    ),
    "a divergence beyond the floats": (
        lambda: conversions.delta_from_renyi_canonne20(order=1e50, renyi=1e308, eps=1.0),
        1.0,
    ),
    "a mixture of two revealing reports": (
        lambda: (
            shuffle(
                randomizers.mixture(
                    [randomizers.binary_rr(eps0=700.0), randomizers.generalized_rr(eps0=700.0, d=3)],
                    [0.25, 0.75],
                ),
                n=1,
            )
            .delta(0.0)
            .upper
        ),
        1.0,
    ),
    "as many hash values as there are": (
        lambda: randomizers.collision(eps0=700.0, d=10**6, s=10**5).l,
        2.0**32,
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_before_stays_right(name):
    call, answer = FOUND[name]
    assert math.isclose(call(), answer, rel_tol=1e-5, abs_tol=1e-300)


@pytest.mark.parametrize("eps0", 1e-9 * np.geomspace(1.0, 1e6, 41) * math.pi / 3.0)
def test_the_published_pair_of_a_small_budget_is_built_however_exp_rounds(eps0):
    pair = VariationRatioPair.of(randomizers.generic(eps0=eps0), n=50)
    assert pair.beta <= (pair.p - 1.0) / (pair.p + 1.0) * (1.0 + 1e-12)
    moved = 1.0 + 4.0 * np.finfo(float).eps / eps0
    other = renyi.generic_pair(eps0=eps0, n=50).delta(0.0)
    assert pair.delta(0.0).lower <= other.upper * moved and other.lower <= pair.delta(0.0).upper * moved

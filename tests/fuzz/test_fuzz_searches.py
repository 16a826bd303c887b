"""Drawn questions that take many profiles to answer: each answer is proved anew, beside its search."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz_answers import LONG, check_answer, check_question, check_refusal, examples
from fuzz_cases import DOMAINS, EPS, PROTOCOLS, between, whole
from fuzz_profiles import FEW
from shufflelib import calibration, estimation, randomizers
from shufflelib.published import comparison, shuffle_index
from shufflelib.shuffling import multi_message, shuffle

KIND = st.sampled_from(sorted(FEW))
BUDGET = between(0.01, 6.0)
TARGET = {"eps": between(0.01, 3.0), "delta": between(1e-12, 0.1)}
USERS = whole(1, 10**9)


def found_or_refused(search, *one, **arguments):
    """Return what a search finds, None where it says why there is nothing."""
    try:
        return search(*one, **arguments)
    except ValueError as refusal:
        check_refusal(refusal, (*arguments, "answer"))
    return None


def check_calibration(found, profile_at, eps, delta):
    """Assert that the answer meets the target and what fails does not, by profiles of their own."""
    assert str(found)
    assert found.certificate.upper <= eps and profile_at(found.answer).epsilon(delta).upper <= eps
    assert found.fails is None or profile_at(found.fails).delta(eps).lower > delta
    if found.unproved is not None:  # where δ hardly falls its rounding may move ε far
        beyond = profile_at(found.unproved)
        assert beyond.delta(eps).upper > delta or beyond.epsilon(delta).upper > eps


@examples("searches", 1.0, 8)
@given(KIND, BUDGET, st.fixed_dictionaries(TARGET))
def test_the_fewest_users(kind, eps0, target):
    randomizer = FEW[kind](eps0)
    found = found_or_refused(calibration.fewest_users, randomizer, **target)
    if found is not None:
        check_calibration(found, lambda n: shuffle(randomizer, n=n), **target)
        assert found.fails is None or found.fails < found.answer


@examples("searches", 0.5, 8)
@given(KIND, BUDGET, USERS, TARGET["delta"])
def test_a_comparison(kind, eps0, n, delta):
    randomizer = FEW[kind](eps0)
    lower, upper, *others = comparison.compare(randomizer, n=n, delta=delta)
    assert 0.0 <= lower.eps <= upper.eps <= eps0
    for one in others:
        assert bool(one.reason) == math.isnan(one.eps)
        if not one.reason and ("sound where" in one.bound.says or one.bound.says.startswith("certified")):
            assert one.eps >= lower.eps * (1 - 1e-12), one
    gaps = comparison.gaps(randomizer, n=n, delta=delta)
    assert 0.0 <= gaps.attack_lower <= gaps.attack_upper and gaps.bound_lower <= gaps.bound_upper <= eps0
    assert gaps.attack_lower <= gaps.bound_upper and gaps.numerical >= 0.0 and gaps.theory >= 0.0
    band = shuffle_index.shuffle_index(randomizer)
    assert 0.0 < band.blanket <= band.attack * (1 + 1e-9)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_messages(name):
    protocol = PROTOCOLS[name]

    @examples("searches", 3.5, 8 * len(PROTOCOLS))
    @given(st.fixed_dictionaries(protocol.domains), USERS, USERS, EPS, DOMAINS["delta"])
    def check(arguments, n, blanket, eps, delta):
        randomizer = found_or_refused(protocol.function, **arguments)
        if randomizer is None:
            return
        profile = multi_message.shuffle_messages(randomizer, n=n, blanket=blanket)
        curve = check_question(profile, "delta", eps)
        if LONG:
            check_question(profile, "epsilon", delta)
        more = check_question(
            multi_message.shuffle_messages(randomizer, n=n, blanket=2 * blanket), "delta", eps
        )
        assert more.lower <= curve.upper
        pair = found_or_refused(multi_message.published_pair, randomizer, blanket=blanket)
        if pair is not None:
            check_question(pair, "delta", eps)

    check()


@examples("searches", 0.5, 8)
@given(st.integers(2, 100), USERS, st.fixed_dictionaries(TARGET))
def test_the_fewest_blanket_messages(d, n, target):
    bins = randomizers.balls_into_bins(d=d)
    found = estimation.fewest_blanket_messages(bins, n=n, relative=0.1, **target)
    proof = multi_message.shuffle_messages(bins, n=n, blanket=found).delta(target["eps"])
    check_answer(found, least=1)
    assert proof.upper <= target["delta"] * (1 + 1e-12)


@examples("searches", 0.5, 8)
@given(st.integers(2, 100), USERS, whole(1000, 10**9), st.fixed_dictionaries(TARGET))
def test_the_smallest_flip(d, n, blanket, target):
    found = found_or_refused(estimation.smallest_flip, d=d, n=n, blanket=blanket, relative=0.1, **target)
    if found is not None:
        noisy = randomizers.cheu_zhilyaev(d=d, flip=found)
        proof = multi_message.shuffle_messages(noisy, n=n, blanket=blanket).delta(target["eps"])
        assert 0.0 < found < 0.5 and proof.upper <= target["delta"] * (1 + 1e-12)
        assert np.isfinite(proof.lower)

"""What theory says of two answers: order in every argument, two routes to one number, bounds and attacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arguments import EPS, EPS0, between, whole
from fuzz_answers import check_question, examples, overlap
from fuzz_profiles import FEW
from shufflelib import randomizers
from shufflelib.profiles import Gaussian
from shufflelib.published import renyi
from shufflelib.shuffling import WorstPopulation, blanket_profile, shuffle

KIND = st.sampled_from(sorted(FEW))
ORDERED = {  # what grows, and whether privacy falls with it; the profile and the question with all else fixed
    "n": (whole(1, 10**15), lambda kind, n: (shuffle(FEW[kind](1.0), n=n), "delta", 1e-3), False),
    "eps0": (EPS0, lambda kind, eps0: (shuffle(FEW[kind](eps0), n=1000), "epsilon", 1e-6), True),
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
}
DEAR = ("rate", "rounds", "eps0")


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


@examples("routes", 1.0, 12)
@given(EPS0, whole(1, 10**15), EPS)
def test_randomized_response_by_its_names_and_by_its_pair(eps0, n, eps):
    two = shuffle(randomizers.binary_rr(eps0=eps0), n=n).delta(eps)
    options = blanket_profile(randomizers.generalized_rr(eps0=eps0, d=2), n=n).delta(eps)
    generic = shuffle(randomizers.generic(eps0=eps0), n=n).delta(eps)
    overlap(two, options)
    if eps0 <= 660.0:  # beyond, a table's least entries are refused
        table = randomizers.from_pmf(randomizers.binary_rr(eps0=eps0).pmf())
        overlap(two, shuffle(table, n=n).delta(eps))
    overlap(two, WorstPopulation(eps0, n).delta(eps))
    assert two.lower <= generic.upper
    if 1e-9 <= eps0 <= 340.0:
        assert renyi.binary_rr_pair(eps0=eps0, n=n).delta(eps).lower <= two.upper * (1 + 1e-9)
        # p is exp(eps0) rounded: what that does to p - 1 is the pair's, not the mechanism's
        moved = 1.0 + 4.0 * np.finfo(float).eps * (1.0 + 1.0 / eps0)
        assert generic.lower <= renyi.generic_pair(eps0=eps0, n=n).delta(eps).upper * moved

"""Values no function of numbers takes, and the ends of the floats: refused by name, or answered."""

import math
import re
import sys

import numpy as np
import pytest

import fuzz_cases
from fuzz_answers import check_answer, check_refusal
from fuzz_cases import FORMULAS, KINDS, PROTOCOLS
from shufflelib import calibration, estimation, profiles, randomizers
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.published import comparison, joint_concavity, shuffle_index
from shufflelib.shuffling import (
    PersonalizedPair,
    VariationRatioPair,
    WorstPopulation,
    multi_message,
    personal,
    shuffle,
)

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
CURVE = profiles.GaussianTradeoff(1.0)


def plain(call):
    """Return arguments of a call that are in order."""
    several = {"eps0": [1.0, 0.5, 2.0]} if call.domains.get("eps0") is fuzz_cases.BUDGETS else {}
    return {name: several.get(name, PLAIN[name]) for name in call.domains}


def compared(**arguments):
    """Return what `comparison.compare` finds, its refusals left out."""
    return tuple(one.eps for one in comparison.compare(**arguments) if not one.reason)


def taking(function, **arguments):
    return function, arguments


HOSTILE = {
    call.name: (call.function, plain(call)) for call in (*FORMULAS, *KINDS.values(), *PROTOCOLS.values())
} | {
    "VariationRatioPair": taking(VariationRatioPair, n=20, p=3.0, beta=0.3, q0=3.0, q1=3.0),
    "Gaussian": taking(Gaussian, mu=1.0),
    "DiscretePair": taking(
        DiscretePair, log_p=[math.log(0.25), math.log(0.75)], log_q=[math.log(0.5), math.log(0.5)]
    ),
    "WorstPopulation": taking(WorstPopulation, eps0=1.0, n=20),
    "PersonalizedPair": taking(PersonalizedPair, eps0=[1.0, 0.5, 2.0]),
    "PersonalizedPair.adaptive": taking(PersonalizedPair.adaptive, eps0=[1.0, 0.5, 2.0]),
    "PersonalLaplace": taking(personal.PersonalLaplace, eps0=[1.0, 0.5, 2.0]),
    "PersonalRandomizedResponse": taking(personal.PersonalRandomizedResponse, eps0=[1.0, 0.5, 2.0], k=3),
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
        estimation.fewest_blanket_messages,
        randomizer=randomizers.balcer_uniform(),
        n=10,
        eps=1.0,
        delta=0.01,
        relative=0.1,
    ),
    "smallest_flip": taking(
        estimation.smallest_flip, d=4, n=10, blanket=10_000, eps=1.0, delta=0.01, relative=0.1
    ),
    "ApproximateDP": taking(profiles.ApproximateDP, eps=0.5, delta=0.1),
    "GaussianTradeoff": taking(profiles.GaussianTradeoff, mu=1.0),
    "tradeoff function": taking(CURVE, fpr=0.1),
    "tradeoff delta": taking(CURVE.delta, eps=0.1),
    "tradeoff conjugate": taking(CURVE.conjugate, slope=-2.0),
    "tradeoff.renyi": taking(joint_concavity.renyi, f=CURVE, order=2.0),
    "tradeoff.mixture": taking(joint_concavity.mixture, f=CURVE, rate=0.5),
    "tradeoff.subsampling_operator": taking(joint_concavity.subsampling_operator, f=CURVE, rate=0.5),
    "tradeoff.symmetric_mixture": taking(joint_concavity.symmetric_mixture, f=CURVE, weight=0.5),
    "tradeoff.from_profile": taking(profiles.from_profile, profile=PAIR, dots=5),
    "tradeoff.from_pair": taking(profiles.from_pair, pair=DiscretePair([0.0], [0.0])),
    "tradeoff.shuffle_bound": taking(joint_concavity.shuffle_bound, eps0=1.0, n=20),
    "tradeoff.clone_pair": taking(joint_concavity.clone_pair, eps0=1.0, n=20),
    "tradeoff.conditioned_on_clones": taking(joint_concavity.conditioned_on_clones, eps0=1.0, n=20),
    "tradeoff.delta_corollary43": taking(joint_concavity.delta_corollary43, eps0=1.0, n=20, eps=0.1),
    "tradeoff.least_squares": taking(joint_concavity.least_squares, a=0.5),
    "tradeoff.clipped_least_squares": taking(joint_concavity.clipped_least_squares, a=0.5, clip=1.0),
    "tradeoff.logistic": taking(joint_concavity.logistic, bound=0.5),
    "tradeoff.unequal_gaussians": taking(joint_concavity.unequal_gaussians, mean=0.5, variance=2.0),
    "tradeoff.renyi_least_squares": taking(joint_concavity.renyi_least_squares, a=0.5, order=2.0, noise=1.0),
    "tradeoff.joint_concavity": taking(
        joint_concavity.joint_concavity, functions=[CURVE, CURVE], weights=[0.5, 0.5]
    ),
    "tradeoff.best_of": taking(joint_concavity.best_of, functions=[CURVE, CURVE]),
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

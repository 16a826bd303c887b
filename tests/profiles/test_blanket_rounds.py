"""The blanket in several rounds: composed through its profile, against its two-dimensional statistic.

Under the reference measure w the pair of distributions of n reports is a function of (ΣR_0/w, ΣR_1/w): with
base mass m at (A, B) the two distributions have masses A m/n and B m/n.  Here that statistic is listed
exactly, composed exactly, and compared with what the profile route makes of it.
"""

import math
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

import oracles
from claims import exact_shuffle
from oracles import neighbours
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.composition import ComposedPair
from shufflelib.profiles.envelope import Envelope
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

RATIOS = (F(4, 3), F(2), F(9, 2))  # exp(eps)


def tenths(*rows):
    return tuple(tuple(F(entry, 10) for entry in row) for row in rows)


def response(e, d):
    distribution = exact_shuffle.randomized_response(e, d)
    return tuple(distribution[0]), tuple(distribution[1]), (F(1, e + d - 1),) * d


# R_0, R_1 and the reference measure
CASES = {
    "2-RR": response(3, 2),
    "3-RR": response(3, 3),
    "lopsided": tenths((8, 1, 1), (4, 3, 3), (4, 1, 1)),
    "skew": tenths((6, 3, 1), (2, 3, 5), (2, 3, 1)),
}
SYMMETRIC = ("2-RR", "3-RR")


@cache
def one_round(name, n):
    """Return {A/B: (P, Q)}: the likelihood ratios of one direction of one round."""
    distribution = {}
    for (a, b), mass in neighbours.sums_under_a_reference_measure(*CASES[name], n).items():
        if a or b:
            p, q = distribution.get(a / b, (0, 0))
            distribution[a / b] = p + a * mass / n, q + b * mass / n
    return distribution


def turned(distribution):
    return neighbours.by_ratio(oracles.swapped(distribution))


def adaptive(name, n, rounds, ratio):
    """Return the worst over strategies that choose each round's direction after seeing the earlier rounds."""
    directions = one_round(name, n), turned(one_round(name, n))

    @cache
    def worst(left, ratio):
        if left == 0:
            return max(1 - ratio, F(0))
        return max(
            sum(p * worst(left - 1, ratio / x) for x, (p, _) in distribution.items())
            for distribution in directions
        )

    return worst(rounds, ratio)


def pair(name, n):
    parts = (np.array([float(entry) for entry in row]) for row in CASES[name])
    return BlanketPair(LikelihoodRatios.from_masses(*parts), n)


def nearly(exact, slack=1e-12):
    return float(exact) * (1 - slack), float(exact) * (1 + slack)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_profile_encloses_the_statistic(name, n):
    distribution, one = one_round(name, n), pair(name, n)
    inner = sorted(distribution)
    for ratio in [*RATIOS, *((a + b) / 2 for a, b in zip(inner, inner[1:], strict=False) if a + b >= 2)]:
        for direction, exact in (
            (one, oracles.hockey_stick(distribution, ratio)),
            (one.reversed, oracles.hockey_stick(turned(distribution), ratio)),
        ):
            ends = direction.log_hockey_stick(math.log(ratio))
            low, high = nearly(exact)
            assert math.exp(ends.lower) <= high and low <= math.exp(ends.upper) <= high * (1 + 1e-9) + 1e-12


# ---------------------------------------------------------------- many rounds


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rounds", [2, 3])
def test_the_envelope_covers_every_choice_of_directions(name, rounds):
    """What is lost to the envelope, beside the truth in which directions may be chosen adaptively."""
    n = 3
    above = ComposedPair([(Envelope((pair(name, n),)), rounds)])
    for ratio in RATIOS:
        low, high = nearly(adaptive(name, n, rounds, ratio))
        upper = math.exp(above.log_worst(math.log(ratio)).upper)
        assert low <= upper
        assert upper <= high * (1.003 if name in SYMMETRIC else 1.11)

"""Questions answered side by side: one call for each curve, and the answers they have alone."""

import math

import numpy as np
import pytest

from finite_pairs import LOPSIDED, Opaque, discrete
from shufflelib import randomizers, shuffle
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.side_by_side import answers, values
from shufflelib.profiles.connect_the_dots import parts_for


class Counted:
    """A curve that counts its calls."""

    def __init__(self):
        self.calls = []

    @classmethod
    def log_curves(cls, asked, tolerance):
        for one, eps in asked:
            one.calls.append(eps.tolist())
        return [Interval(-eps, -eps) for _, eps in asked]


def question(curve, eps, rounds):
    total = 0.0
    for k in range(rounds):
        found = yield from values(curve, np.array(eps) + k, 1e-3)
        total += found.lower.sum()
    return total


def test_what_several_questions_ask_of_one_curve_is_one_call_and_asked_once():
    one, other = Counted(), Counted()
    asked = [question(one, [1.0, 2.0], 2), question(one, [2.0, 0.5], 3), question(other, [4.0], 0)]
    assert answers([*asked, question(other, [4.0], 1)]) == [-8.0, -13.5, 0.0, -4.0]
    assert one.calls == [[0.5, 1.0, 2.0], [1.5, 3.0], [2.5, 4.0]] and other.calls == [[4.0]]
    assert answers([]) == []


@pytest.mark.parametrize(
    "profile", [Opaque(discrete(LOPSIDED)), shuffle(randomizers.generic(eps0=1.0), n=300)]
)
def test_an_answer_does_not_depend_on_what_else_is_asked(profile):
    """A number alone, in an array, and after other questions is the same to the last digit."""
    orders, rates, deltas = (
        np.array([1.5, 2.0, 30.0]),
        np.array([0.0, 1e-3, 0.3, 1.0]),
        np.array([1e-6, 0.01]),
    )
    for ask, grid in ((profile.renyi, orders), (profile.tradeoff, rates), (profile.epsilon, deltas)):
        together = ask(grid)
        for i in (2, 0, 1) if grid.size > 2 else (1, 0):
            alone = ask(float(grid[i]))
            assert (alone.lower, alone.upper) == (together.lower[i], together.upper[i])


@pytest.mark.parametrize("log_aim", [-math.inf, -30.0, math.log(0.01), 5.0])
def test_gaps_are_divided_into_few_parts_that_are_powers_of_two(log_aim):
    doubts = [np.log([1.0, 1e-3, 1e-9]), np.array([-math.inf, -2.0])]
    parts = parts_for(doubts, log_aim, most=12)
    assert [part.size for part in parts] == [3, 2] and 1 <= sum((part - 1).sum() for part in parts) <= 12
    assert set(np.concatenate(parts).tolist()) <= {1, 2, 4, 8} and parts[0][0] == max(map(max, parts))

"""ε at a given δ: how well the values are known from which it is found."""

import math

import pytest

from shufflelib import randomizers, shuffle
from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.side_by_side import answers
from shufflelib.profiles import Gaussian
from shufflelib.profiles.worst_epsilon import asking_epsilon
from shufflelib.shuffling import BlanketPair


class Asked(Gaussian):
    """A Gaussian pair whose rough values cost less and are as wide as they may be."""

    rough_is_cheaper = True

    def __init__(self, mu):
        super().__init__(mu)
        self.tolerances = set()

    def _log_curve(self, eps, tolerance):
        self.tolerances.add(tolerance)
        found = super()._log_curve(eps, tolerance)
        return Interval(found.lower, found.upper + tolerance)


def enclosed(above, below, delta):
    """Return both bounds on ε, and whether any value was asked for with all digits."""
    pairs = Asked(above), Asked(below)
    (ends,) = answers([asking_epsilon(pairs[:1], pairs[1:], math.log(delta))])
    return ends, any(TOLERANCE in pair.tolerances for pair in pairs)


def test_bounds_that_are_far_apart_are_known_roughly():
    (lower, upper), precise = enclosed(1.0, 0.5, 1e-6)
    assert not precise
    assert lower == pytest.approx(Gaussian(0.5).epsilon(1e-6).lower, rel=1e-3)
    assert upper == pytest.approx(Gaussian(1.0).epsilon(1e-6).upper, rel=1e-3)


@pytest.mark.parametrize("above", [1.0, 1.01])
def test_bounds_that_are_near_are_known_well(above):
    (lower, upper), precise = enclosed(above, 1.0, 1e-6)
    assert precise
    assert lower == pytest.approx(Gaussian(1.0).epsilon(1e-6).lower, rel=1e-6)
    assert upper == pytest.approx(Gaussian(above).epsilon(1e-6).upper, rel=1e-6)


def test_epsilon_is_known_well_where_a_little_of_delta_is_much_of_it():
    start = math.exp(Gaussian(1.0).log_hockey_stick(0.0).upper)
    (_, upper), precise = enclosed(1.0, 0.5, 0.99 * start)
    assert precise and upper == pytest.approx(Gaussian(1.0).epsilon(0.99 * start).upper, rel=1e-3)


def test_where_a_gaussian_misleads_only_values_near_the_answer_are_known_well(monkeypatch):
    asked = {}
    curves = BlanketPair.log_curves.__func__

    def spied(cls, pairs, tolerance=TOLERANCE):
        for pair, eps in pairs:
            if tolerance <= TOLERANCE:
                asked.setdefault(id(pair), []).extend(eps.tolist())
        return curves(cls, pairs, tolerance)

    monkeypatch.setattr(BlanketPair, "log_curves", classmethod(spied))
    shuffle(randomizers.gaussian(sigma=0.47381588), n=10_200_000).epsilon(2.38e-12)
    assert len(asked) == 3 and all(max(eps) < 1.02 * min(eps) for eps in asked.values())

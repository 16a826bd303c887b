"""What searches draw beside random channels and distributions: families with structure, extreme weights."""

import random
from fractions import Fraction

import pytest

from claims import exact_channels, exact_tests
from claims.exact_tests import FAMILIES, RARE, RATIOS, random_channel, random_distribution


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("e", RATIOS)
@pytest.mark.parametrize("inputs", [2, 3, 5])
def test_a_family_has_channels_of_every_ratio(name, e, inputs):
    """Rows add up to one, every output is possible; pure, but for the family that tells pairs."""
    rng = random.Random(1)
    for _ in range(4):
        rows = FAMILIES[name](rng, e, inputs)
        assert len(rows) == inputs and all(sum(row) == 1 and min(row) > 0 for row in rows)
        if name != "an output for each ordered pair":
            assert exact_channels.largest_ratio(rows) in (1, e)


def test_staircases_have_two_likelihoods_at_each_output():
    rows = exact_channels.staircase(Fraction(3), [(1, (1, 0, 0)), (5, (1, 1, 0))])
    assert {max(column) / min(column) for column in zip(*rows, strict=True)} == {3}
    assert len(rows[0]) == 6 and len({sum(x == max(row) for x in row) for row in rows}) == 1


def test_every_other_channel_is_structured_and_every_family_is_drawn(monkeypatch):
    met = dict.fromkeys(FAMILIES, 0)

    def noted(name):
        def build(rng, e, inputs):
            met[name] += 1
            assert e in RATIOS and inputs == 3
            return []

        return build

    monkeypatch.setattr(exact_tests, "FAMILIES", {name: noted(name) for name in FAMILIES})
    rng = random.Random(0)
    drawn = sum(not random_channel(rng) for _ in range(400))
    assert 160 < drawn < 240 and drawn == sum(met.values()) and min(met.values()) > 10


def test_distributions_are_drawn_at_points_almost_uniform_and_with_rare_outputs():
    rng = random.Random(0)
    drawn = [random_distribution(rng) for _ in range(400)]
    assert all(sum(one) == 1 for one in drawn)
    assert [Fraction(0), Fraction(1), Fraction(0), Fraction(0)] in drawn, "a point"
    assert any(0 < min(one) < Fraction(2, RARE) for one in drawn), "a rare output"
    positive = [random_distribution(rng, weights=exact_tests.POSITIVE) for _ in range(200)]
    assert min(map(min, positive)) > 0 and any(min(one) < Fraction(2, RARE) for one in positive)

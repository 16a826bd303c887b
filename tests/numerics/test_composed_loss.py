"""Sums of many losses: against all outcomes listed, along lines near the saddle point and far from it."""

import math

import numpy as np
import pytest

from shufflelib.numerics import composed_loss
from shufflelib.numerics.composed_loss import ComposedPLD, Line
from shufflelib.profiles.discretised_loss import PLD

EPS = np.array([0.0, 0.013, 0.4, 1.1, 2.7])
SUMS = {
    "few losses": ([([-0.5, 0.1, 0.9], [0.3, 0.5, 0.2])], [6]),
    "two kinds": ([([-0.2, 0.3], [0.45, 0.55]), ([-1.0, 0.0, 1.4], [0.2, 0.6, 0.2])], [7, 3]),
    "some infinite": ([([-0.1, 0.2], [0.4, 0.59])], [9]),
    "many rounds": ([([-0.03, 0.031], [0.49, 0.51])], [400]),
}


def total(name):
    """Return the sum of losses, the rest of whose masses are infinite."""
    distributions, counts = SUMS[name]
    made = [
        PLD(np.array(loss), np.array(mass), max(1.0 - math.fsum(mass), 0.0), 0.0)
        for loss, mass in distributions
    ]
    return ComposedPLD(made, counts)


def listed(name, eps):
    """Return δ by all sums of losses, convolved one by one."""
    sums = {0.0: 1.0}
    for (loss, mass), count in zip(*SUMS[name], strict=True):
        for _ in range(count):
            longer = {}
            for before, chance in sums.items():
                for x, p in zip(loss, mass, strict=True):
                    key = round(before + x, 9)
                    longer[key] = longer.get(key, 0.0) + chance * p
            sums = longer
    finite = math.fsum(chance * -math.expm1(eps - x) for x, chance in sums.items() if x > eps)
    return finite + 1.0 - math.fsum(sums.values())


def saddle(found):
    """Return about the θ that is right for an ε of 0.4."""
    theta = np.geomspace(1e-3, 1e3, 200)
    return float(theta[np.argmin(np.abs(found.saddles(theta)[0] - 0.4))])


@pytest.mark.parametrize("away", [1.0, 1.3, 0.4, 3.0])
@pytest.mark.parametrize("name", SUMS)
def test_the_number_lies_inside_whatever_the_line(name, away):
    found = total(name)
    low, high = found.log_delta(Line(found, away * saddle(found), 1e-3), EPS)
    for eps, lower, upper in zip(EPS.tolist(), np.exp(low), np.exp(high), strict=True):
        truth = listed(name, eps)
        assert lower <= truth * (1.0 + 1e-9) + 1e-15 and truth <= upper * (1.0 + 1e-9) + 1e-15
    if away == 1.0:
        at = int(np.flatnonzero(EPS == 0.4)[0])
        assert high[at] - low[at] < 0.02


@pytest.mark.parametrize("name", SUMS)
def test_an_array_of_eps_has_the_values_of_each(name):
    found = total(name)
    line = Line(found, saddle(found), 1e-3)
    together = found.log_delta(line, EPS)
    for i in range(EPS.size):
        alone = found.log_delta(line, EPS[i : i + 1])
        assert (alone.lower[0], alone.upper[0]) == (together.lower[i], together.upper[i])


@pytest.mark.parametrize(("name", "value"), [("LONGEST", 1), ("BLOCK", 64)], ids=["every node", "blocks"])
def test_neither_nodes_that_are_left_out_nor_blocks_of_them_matter(monkeypatch, name, value):
    found = total("many rounds")
    theta = saddle(found)
    one = Line(found, theta, 1e-3)
    monkeypatch.setattr(composed_loss, name, value)
    other = Line(found, theta, 1e-3)
    assert 64 < one.size == other.size < other.nodes / 3
    assert max(omega.size for omega, _, _ in other.blocks) <= composed_loss.BLOCK
    for left, right in zip(one.log_delta(EPS), other.log_delta(EPS), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)


@pytest.mark.parametrize("theta", [1e-9, 1e160])
def test_where_no_integral_helps_the_bounds_still_hold(theta):
    found = total("few losses")
    low, high = found.log_delta(Line(found, theta, 1e-3), EPS)
    truth = np.array([listed("few losses", eps) for eps in EPS.tolist()])
    assert np.all(np.exp(low) <= truth * (1.0 + 1e-9)) and np.all(truth <= np.exp(high) * (1.0 + 1e-9))


def test_a_sum_that_hardly_varies():
    single = ComposedPLD([PLD(np.array([0.7]), np.array([1.0]), 0.0, 0.0)], [2])
    low, high = single.log_delta(Line(single, 0.5, 1e-3), EPS)
    truth = np.maximum(-np.expm1(EPS - 1.4), 0.0)
    assert np.all(np.exp(low) <= truth + 1e-12) and np.all(truth <= np.exp(high) + 1e-12)
    assert np.all(np.exp(high) - np.exp(low) < 1e-9)

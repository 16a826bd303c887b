"""Losses on a grid: on either side of curves summed in fractions, and of their products, and not far."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from finite_pairs import discrete
from shufflelib.profiles import Gaussian
from shufflelib.profiles.loss_grid import LossOnGrid, _on_grid, _polygon

PAIRS = {
    "randomized response": ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))),
    "lopsided": ((F(1, 2), F(1, 4), F(1, 8), F(1, 8)), (F(1, 10), F(3, 10), F(1, 5), F(2, 5))),
    "infinite loss": ((F(1, 2), F(99, 200), F(1, 200)), (F(1, 20), F(19, 20), F(0))),
    "rare and large": ((F(999, 1000), F(1, 1000)), (F(9999, 10000), F(1, 10000))),
    "nearly 30 nats": ((1 - F(1, 2**43), F(1, 2**43)), (F(1, 2**43), 1 - F(1, 2**43))),
    "equal": ((F(1, 2), F(1, 2)), (F(1, 2), F(1, 2))),
}
STEPS = (0.3, 0.01, 1e-3)
EPS = (-2.0, -0.5, -0.1, -1e-3, 0.0, 1e-3, 0.1, 0.25, 0.7, 1.3, 2.3, 4.0)
HAIR = 1e-13  # log(ratio) and e^ε are rounded


def curve(p, q, eps):
    """Return the hockey-stick divergence, summed in fractions."""
    e = F(math.exp(eps))
    return float(sum(max(a - e * b, F(0)) for a, b in zip(p, q, strict=True)))


def curve_on_grid(found, step, eps):
    index, mass, infinity_mass = found
    return infinity_mass + float(mass @ np.maximum(-np.expm1(eps - step * index), 0.0))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", PAIRS)
def test_both_distributions_lie_on_their_side_of_the_curve(name, step):
    p, q = PAIRS[name]
    loss = LossOnGrid.of(discrete(list(zip(p, q, strict=True))), step)
    for one, exact in ((loss, (p, q)), (loss.reversed, (q, p))):
        above, below = one.above(), one.below()
        assert below[2] == 0.0 and below[1].sum() <= 1.0 + HAIR
        for eps in EPS:
            truth = curve(*exact, eps)
            assert curve_on_grid(below, step, eps) <= truth + HAIR
            assert truth <= curve_on_grid(above, step, eps) + HAIR


@pytest.mark.parametrize("mu", [1e-3, 0.1, 2.0])
def test_relative_width_for_a_gaussian(mu):
    step, pair = mu * mu / 50.0 if mu > 1.0 else mu / 50.0, Gaussian(mu)
    loss = LossOnGrid.of(pair, step)
    above, below = loss.above(), loss.below()
    for deviations in (0.0, 0.5, 2.0, 5.0):
        eps = deviations * mu
        truth = pair.delta(eps)
        high, low = (curve_on_grid(one, step, eps) for one in (above, below))
        assert truth.lower * (1.0 - 1e-12) <= high <= truth.upper * 1.02
        assert truth.lower * 0.96 <= low <= truth.upper * (1.0 + 1e-12)


def test_the_polygon_on_the_grid_lies_below():
    rng = np.random.default_rng(1)
    for _ in range(50):
        loss, mass = np.sort(rng.normal(0.3, 1.0, 12)), rng.dirichlet(np.exp(rng.normal(0.0, 4.0, 12)))
        x, h = _polygon(loss, mass)
        at, drawn = _on_grid(x, h, 0.17)
        assert np.all(np.interp(x, at, drawn) <= h * (1.0 + 1e-12))
        assert np.all(np.abs(np.log1p(at[1:]) / 0.17 - np.rint(np.log1p(at[1:]) / 0.17)) < 1e-9)

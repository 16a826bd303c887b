"""Losses of slots with personal budgets, in the permute-then-randomize model: two values, or 0."""

import numpy as np
from scipy.special import gammaln

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT, log1mexp

PRECISION = 16 * UNIT  # of a slot's mass and of its two ratios


class ThreePointLosses:
    """Kinds of slots, by rising budget: mass r of either symbol, 1 − 2r of none, ratios u > v, counts."""

    def __init__(self, eps0, count):
        self.eps0, self.count = eps0, count
        self._fill(np.exp(eps0))

    def _fill(self, e):
        self.mass, self.residual_mass = 1.0 / (e + 1.0), np.tanh(0.5 * self.eps0)
        self.log_residual_mass = log1mexp(-self.eps0) - np.log1p(np.exp(-self.eps0))  # -inf without a budget
        self.more, self.less = e, np.ones_like(e)

    def __getitem__(self, some):
        return type(self)(self.eps0[some], self.count[some])

    def outcomes(self):
        """Return log-masses of what all slots can show, and the sums of either ratio."""
        log_mass, first, second, error = np.zeros(1), np.zeros(1), np.zeros(1), 8.0 * PRECISION
        for r, none, u, v, count in zip(
            self.mass, self.log_residual_mass, self.more, self.less, self.count, strict=True
        ):
            largest = int(count)
            a, b = (side.ravel() for side in np.indices((largest + 1, largest + 1)))
            a, b = (side[a + b <= largest] for side in (a, b))
            falling = np.append(0.0, np.cumsum(np.log(count - np.arange(largest))))
            ways = falling[a + b] - gammaln(a + 1.0) - gammaln(b + 1.0)
            weight = ways + (a + b) * np.log(r) + (count - a - b) * none
            log_mass = np.add.outer(log_mass, weight).ravel()
            first = np.add.outer(first, a * u + b * v).ravel()
            second = np.add.outer(second, a * v + b * u).ravel()
            error += 8.0 * (PRECISION + UNIT * np.log(count + 2.0)) * (1.0 + largest)
            error += PRECISION * count * abs(none)
        return Interval.of(log_mass, 16.0).widened(absolute=error), first, second


class AdaptiveThreePointLosses(ThreePointLosses):
    """The same with clone probability e^{−ε}, valid when randomizers see the earlier reports."""

    def _fill(self, e):
        self.mass, self.residual_mass = 0.5 / e, -np.expm1(-self.eps0)
        self.log_residual_mass = log1mexp(-self.eps0)
        self.more, self.less = 2.0 * e * (e / (e + 1.0)), 2.0 * e / (e + 1.0)


def log_outcomes(count):
    """Return the logs of the numbers of outcomes of so many slots of each kind."""
    return np.log((count + 1.0) * (0.5 * count + 1.0))

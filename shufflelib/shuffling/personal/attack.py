r"""Explicit attacks that sort the reports into three classes and subtract two counts.

The analyst keeps the number of reports in a set A minus the number in a set B.  Under one input the target's
report is in A with probability a₀ and in B with b₀, under the other with a₁ and b₁.  The other users, each
holding one known value, score likewise and independently.  With S the others' sum the two distributions are

.. math:: P_k = a_0 S_{k-1} + b_0 S_{k+1} + (1 - a_0 - b_0) S_k, \qquad
          Q_k = a_1 S_{k-1} + b_1 S_{k+1} + (1 - a_1 - b_1) S_k,

and their hockey-stick divergence is a lower bound for the mechanism, because counting is post-processing.
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.root_finding import delta_root
from shufflelib.shuffling.personal.score_sums import score_distribution


class Scores(NamedTuple):
    """Probabilities of A and of B: floats for one report, arrays of shape (g,) for groups of users."""

    plus: float | np.ndarray
    minus: float | np.ndarray

    @property
    def mean(self):
        """Mean score."""
        return self.plus - self.minus

    @property
    def variance(self):
        """Variance of the score."""
        return self.plus + self.minus - self.mean**2


class OthersSum:
    """Sum of the other users' scores; its distribution is computed when first asked for."""

    def __init__(self, scores, counts):
        self.scores, self.counts = scores, counts

    @property
    def variance(self):
        """Variance of the sum."""
        return float(self.counts @ self.scores.variance)

    @cached_property
    def distribution(self):
        """Distribution of the sum."""
        return score_distribution(self.scores.plus, self.scores.minus, self.counts)

    @property
    def rounding(self):
        """Bound on the total variation caused by rounding of the probabilities."""
        return 8.0 * UNIT * (1.0 + float(self.counts @ (self.scores.plus + self.scores.minus)))


class MergedAttack:
    """One way to count, one pair of inputs of the target, one value held by all others.

    Parameters
    ----------
    first, second : Scores
        Of the target's report under its two inputs.
    others : OthersSum
        Of all other users.
    """

    def __init__(self, first, second, others):
        self.first, self.second, self.others = first, second, others

    @property
    def strength(self):
        """Squared separation of the two sums in standard deviations; only to choose among attacks."""
        variance = self.others.variance + 0.5 * (self.first.variance + self.second.variance)
        return (self.first.mean - self.second.mean) ** 2 / max(variance, 1e-300)

    @cached_property
    def _distributions(self):
        padded = np.concatenate([[0.0, 0.0], np.maximum(self.others.distribution.masses, 0.0), [0.0, 0.0]])
        lower, here, higher = padded[:-2], padded[1:-1], padded[2:]
        return [
            report.plus * lower + report.minus * higher + max(1.0 - report.plus - report.minus, 0.0) * here
            for report in (self.first, self.second)
        ]

    def delta(self, eps):
        """Return a lower bound on the hockey-stick divergence, the larger of both directions."""
        first, second = self._distributions
        distribution, ratio = self.others.distribution, math.exp(eps)
        best = 0.0
        for p, q in ((first, second), (second, first)):
            gain = p - ratio * q - (1.0 + ratio) * distribution.error
            missed = (1.0 + ratio) * (self.others.rounding + 2.0 * distribution.outside)
            best = max(best, math.fsum(gain[gain > 0.0]) - missed)
        return min(best * (1.0 - 16 * UNIT), 1.0)

    def epsilon(self, delta, last):
        """Return a lower bound on ε at ``delta``, at most ``last``."""
        return delta_root(self.delta, delta, last, safe_above=False, width=1e-6)

"""The bound released with Liu, Liu, Xiong, Gu, Chen (2024): clones by a test between three reports.

User 1 has the largest budget, the others their own; all add Laplace noise to a value in {0, 1}, in the code
to one in {0, 0.1}, with less noise in proportion. Another user, who holds 0, counts as a clone of user 1's
0 where the density of R_1(0) is larger than that of R_1(1) and than the other user's own, and so for 1;
twice the smaller of these probabilities is the chance of a clone.
"""

import math

import numpy as np
from scipy.stats import binom, laplace

from claims.claim import Check
from claims.exact_count_pair import witness
from claims.failure_curve import Along
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

LEFT = (-math.inf, -3.0, -2.0, -1.4, -1.0, -0.7, -0.4, -0.2, 0.0, 0.2, 0.4)
EDGES = (*LEFT, *(1.0 - edge for edge in LEFT[::-1]))  # of the cells of an attack


def _within(budget, low, high, value=0.0):
    """Return the probability that a report of ``value`` lies between two numbers."""
    return float(np.diff(laplace.cdf([low, high], loc=value, scale=1.0 / budget))[0])


def _clone(largest, budget):
    """Return the probability that another user counts as a clone; ``budget`` is below the ``largest``."""
    gap, logs = largest - budget, math.log(largest / budget)
    near = _within(budget, -logs / gap, min(0.5, logs / gap))
    far = _within(budget, max(0.5, (largest - logs) / (largest + budget)), (largest + logs) / gap)
    return 2.0 * min(near, far)


def _claimed(largest, budget, n, eps):
    """Return δ as released, all others having the same budget: the largest over the thresholds t."""
    wrong, mean = 0.5 * math.exp(-largest / 2.0), (n - 1) * _clone(largest, budget)
    reach = 9.0 * math.sqrt(mean) + 20.0
    clones = np.arange(max(0, int(mean - reach)), min(n - 1, int(mean + reach)))
    mass = binom.pmf(clones, n, mean / n)

    def at(t):
        level = np.floor(clones - (clones + 1) / (t + 1.0))
        low, high = (mass @ binom.cdf(np.maximum(level + more, 0), clones, 0.5) for more in (0, 1))
        return (2.0 * wrong - math.exp(eps)) * low + (1.0 - 2.0 * wrong) * high

    return float(max(map(at, np.geomspace(0.02, 100.0, 400))))


def _attained(largest, budget, n, eps):
    """Return a δ that the histogram of the reports attains, sorted into cells, all others holding 0."""
    rows = [
        [_within(each, low, high, value) for low, high in zip(EDGES, EDGES[1:], strict=False)]
        for each, value in ((largest, 0.0), (largest, 1.0), (budget, 0.0))
    ]
    pair = BlanketPair(LikelihoodRatios.from_masses(*rows), n)
    return max(one.delta(eps).lower for one in (pair, pair.reversed))


def _ends(largest, budget, n, eps):
    return _attained(largest, budget, n, eps), _claimed(largest, budget, n, eps)


def _among_quiet():
    """Return both ends in the released settings, and those of two users with every term of the sum."""
    two = {"two": _attained(8.0, 0.3, 2, 0.4), "whole": -math.expm1(-4.0) * (1.0 - 0.5 * _clone(8.0, 0.3))}
    return *_ends(1.0, 0.05, 10_000, 0.1), two


def _two_counts():
    """Enumerate the numbers of reports near 0 and near 1: budget 8 among 999 of 0.1."""
    n, eps, radius, most = 1000, 0.9, 0.2, 80
    own, rest = ([_within(b, at - radius, at + radius) for at in (0, 1)] for b in (8.0, 0.1))
    near = np.arange(most)
    crowd = binom.pmf(near, n - 1, rest[0])[:, None] * binom.pmf(
        near, n - 1 - near[:, None], rest[1] / (1.0 - rest[0])
    )

    def with_user(first, second):
        joint = (1.0 - first - second) * crowd
        joint[1:] += first * crowd[:-1]
        joint[:, 1:] += second * crowd[:, :-1]
        return joint

    gain = with_user(*own) - math.exp(eps) * with_user(*own[::-1])
    return float(gain[gain > 0.0].sum()), _claimed(8.0, 0.1, n, eps)


CHECKS = {
    "hps24-code-bound": Check(
        witness(_among_quiet),
        witness(_two_counts),
        Along(np.geomspace(0.02, 0.8, 12), lambda budget: _ends(2.0, float(budget), 1000, 0.6)),
    ),
}

"""The distribution of the blanket variable G in exact fractions, and the mean positive part of sums of it.

Let w be at most the density of every other user's report.  The divergence of n shuffled reports is at most
(1/n) E(G_1 + … + G_n)₊ with G = (R_0 − ratio·R_1)/w under w and 0 with the residual mass
(`shufflelib.profiles.likelihood_ratios`).
"""

from fractions import Fraction


def blanket(channel):
    """Return the privacy blanket: the least probability of every output."""
    return [min(column) for column in zip(*channel, strict=True)]


def losses(first, second, reference, ratio):
    """Return the distribution of G: a dict from values to masses."""
    distribution = {Fraction(0): 1 - sum(reference)}
    for a, b, w in zip(first, second, reference, strict=True):
        if w:
            value = (a - ratio * b) / w
            distribution[value] = distribution.get(value, 0) + w
    return distribution


def expected_positive_part(distribution, n):
    """Return (1/n) E(sum of n)₊, every sum listed."""
    total = {Fraction(0): Fraction(1)}
    for _ in range(n):
        following = {}
        for value, mass in total.items():
            for more, chance in distribution.items():
                following[value + more] = following.get(value + more, 0) + mass * chance
        total = following
    return sum(mass * value for value, mass in total.items() if value > 0) / n


def blanket_delta(channel, n, ratio, reference, pairs):
    """Return the bound of a reference measure, the largest over ordered pairs of inputs."""
    return max(expected_positive_part(losses(channel[a], channel[b], reference, ratio), n) for a, b in pairs)


def apart(distribution, other):
    """Return the total variation of two distributions of G."""
    return sum(abs(distribution.get(v, 0) - other.get(v, 0)) for v in distribution.keys() | other.keys()) / 2


def summed(rows):
    """Return the distribution of pairs (value, mass), equal values added up."""
    distribution = {}
    for value, mass in rows:
        distribution[value] = distribution.get(value, 0) + mass
    return distribution

"""Shuffled outputs of a few users in exact fractions, with which other computations are compared.

Probabilities are `fractions.Fraction`, outputs are listed one by one, nothing is rounded.  It serves a few
users with a few outputs each, which is all that a counterexample should need.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations


def randomized_response(e, d):
    """Return the channel of d-ary randomized response with e = e^eps0, d rows of d fractions."""
    e = Fraction(e)
    total = e + d - 1
    return [[(e if y == x else 1) / total for y in range(d)] for x in range(d)]


def shuffled(channel, dataset):
    """Return the distribution of the histogram of reports: a dict from counts to probability.

    Parameters
    ----------
    channel : list of lists of Fraction
        One row of output probabilities for each value.
    dataset : sequence of int
        Every user's value.
    """
    distribution = {(0,) * len(channel[0]): Fraction(1)}
    for value in dataset:
        following = {}
        for counts, mass in distribution.items():
            for y, chance in enumerate(channel[value]):
                if chance:
                    more = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                    following[more] = following.get(more, 0) + mass * chance
        distribution = following
    return distribution


def neighbours(channel, n, held=2):
    """Return the masses of n users' histograms if the first holds value 0 or 1, all others hold ``held``."""
    p, q = (shuffled(channel, (value,) + (held,) * (n - 1)) for value in (0, 1))
    histograms = [*p, *(one for one in q if one not in p)]
    return [[distribution.get(one, Fraction(0)) for one in histograms] for distribution in (p, q)]


def hockey_stick(p, q, ratio):
    """Return the sum of (P − ratio·Q) over the outputs where it is positive."""
    ratio = Fraction(ratio)
    return sum((max(mass - ratio * q.get(output, 0), 0) for output, mass in p.items()), Fraction(0))


def larger(p, q, ratio):
    """Return the hockey-stick divergence of two distributions, the larger of both directions."""
    return max(hockey_stick(p, q, ratio), hockey_stick(q, p, ratio))


def delta(channel, first, second, others, ratio):
    """Return δ at ε = log ``ratio`` when one user changes between two values and the others are known."""
    return hockey_stick(shuffled(channel, (first, *others)), shuffled(channel, (second, *others)), ratio)


def worst_delta(channel, n, ratio):
    """Return the largest δ over all datasets of n users and both values of the one who changes, with them."""
    best = (Fraction(-1), None)
    for first, second in permutations(range(len(channel)), 2):
        for others in combinations_with_replacement(range(len(channel)), n - 1):
            found = delta(channel, first, second, others, ratio)
            best = max(best, (found, (first, second, others)), key=lambda one: one[0])
    return best

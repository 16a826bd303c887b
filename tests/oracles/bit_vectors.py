"""Brute force for bits that are flipped independently: tables of reports, and sums over all users, exact."""

from fractions import Fraction as F
from itertools import combinations, combinations_with_replacement, product
from math import prod

from oracles.brute_force import beside, hockey_stick


def sets(d, h):
    """Return all vectors of d bits with h ones."""
    return [tuple(int(j in held) for j in range(d)) for held in combinations(range(d), h)]


def reports(x, p, q):
    """Return {report: probability} of one user's vector: a 0 is reported as 1 w.p. p, a 1 w.p. q."""
    chances = [q if bit else p for bit in x]
    return {
        y: prod(one if bit else 1 - one for one, bit in zip(chances, y, strict=True))
        for y in product((0, 1), repeat=len(x))
    }


def after_all(vectors, p, q, *, summed):
    """Return the distribution of the sums of all reports, or of their multiset."""
    found = {(0,) * len(vectors[0]) if summed else (): F(1)}
    for x in vectors:
        grown = {}
        for state, mass in found.items():
            for y, chance in reports(x, p, q).items():
                new = (
                    tuple(a + b for a, b in zip(state, y, strict=True))
                    if summed
                    else tuple(sorted((*state, y)))
                )
                grown[new] = grown.get(new, F(0)) + mass * chance
        found = grown
    return found


def listed(neighbours, values, n, p, q, *, summed=True):
    """Yield {output: (P, Q)} for ordered pairs of vectors and all values of the others."""
    for others in combinations_with_replacement(values, n - 1):
        known = {}
        for one in {x for pair in neighbours for x in pair}:
            known[one] = after_all([one, *others], p, q, summed=summed)
        for first, second in neighbours:
            yield beside(known[first], known[second])


def worst(neighbours, values, n, p, q, ratios, *, summed=True):
    """Return, for each ratio, the largest divergence over ordered pairs of vectors and all others' values."""
    every = list(listed(neighbours, values, n, p, q, summed=summed))
    return [max(hockey_stick(masses, ratio) for masses in every) for ratio in ratios]

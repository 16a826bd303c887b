"""Oracles of the published Rényi formulas: pmfs from their definitions, divergences from their masses."""

import math
from fractions import Fraction as F

import mpmath

import oracles


def two_counts(n, clone, first, second):
    """Return {(a, b): (P, Q)} from the definition: C ~ Bin(n-1, clone), A ~ Bin(C, 1/2), one more symbol.

    ``first`` and ``second`` give the pmf under P and under Q of what the changed user adds to (a, b).
    """
    masses = {}
    for c in range(n):
        for a in range(c + 1):
            mass = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c) * F(math.comb(c, a), 2**c)
            for step in first.keys() | second.keys():
                key = (a + step[0], c - a + step[1])
                old = masses.get(key, (F(0), F(0)))
                masses[key] = (old[0] + mass * first.get(step, 0), old[1] + mass * second.get(step, 0))
    return {key: pair for key, pair in masses.items() if any(pair)}


def proposition1(n, e):
    share = F(e) / (e + 1)
    tokens = {(1, 0): share, (0, 1): 1 - share}, {(0, 1): share, (1, 0): 1 - share}
    return two_counts(n, 1 / F(e), *tokens)


def theorem1(n, e, share):
    none = {(0, 0): 1 - share}
    return two_counts(n, 1 / F(e), {(0, 1): share, **none}, {(1, 0): share, **none})


def divergence(masses, order):
    """Return D_order(P||Q), rounded from 40 digits."""
    moment = oracles.renyi_moment(masses, order)
    if moment is None:
        return math.inf
    with mpmath.workdps(40):
        return float(mpmath.log(mpmath.mpf(moment.numerator) / moment.denominator) / (order - 1))


def binary_divergences(e, n, order):
    """Return D(changed||unchanged) and D(unchanged||changed) of binary RR, all others holding one value."""
    e, masses = F(e), {}
    for m in range(n + 1):
        mass = math.comb(n, m) * e ** (n - m) / (e + 1) ** n
        masses[m] = mass * (1 / e + F(m, n) * (e - 1 / e)), mass
    return divergence(masses, order), divergence(oracles.swapped(masses), order)

"""Oracles of the published Rényi formulas: pmfs from their definitions, divergences from their masses."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
from scipy import special

import oracles

# ---------------------------------------------------------------- exact


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


def divergence(masses, order, *, overlap_only=False):
    """Return D_order(P||Q), rounded from 40 digits; ``overlap_only`` leaves out where Q has none."""
    if overlap_only:
        masses = {key: (first, second) for key, (first, second) in masses.items() if second}
    moment = oracles.renyi_moment(masses, order)
    if moment is None:
        return math.inf
    with mpmath.workdps(40):
        return float(mpmath.log(mpmath.mpf(moment.numerator) / moment.denominator) / (order - 1))


def binary_masses(e, n):
    """Return {count: (changed, unchanged)} of binary randomized response, all others holding one value."""
    e, masses = F(e), {}
    for m in range(n + 1):
        mass = math.comb(n, m) * e ** (n - m) / (e + 1) ** n
        masses[m] = mass * (1 / e + F(m, n) * (e - 1 / e)), mass
    return masses


def binary_divergences(e, n, order):
    """Return D(changed||unchanged) and D(unchanged||changed) of binary RR, others equal; exact moments."""
    masses = binary_masses(e, n)
    return divergence(masses, order), divergence(oracles.swapped(masses), order)


# ---------------------------------------------------------------- many users, in floating point


def summed(log_mass, loss, order):
    """Return log(sum of mass e^{order loss})/(order - 1), small divergences without cancellation."""
    small = order * loss < 30.0
    moderate = np.where(small, loss, 0.0)
    excess = np.exp(log_mass) * (np.expm1(order * moderate) - order * np.expm1(moderate))
    large = np.exp(np.minimum(log_mass + order * loss, 700.0))
    return math.log1p(math.fsum(np.where(small, excess, large).ravel())) / (order - 1.0)


def float_clones(eps0, n, order, clone):
    """Return D of the symmetric pair with the given clone probability, 10 sd around the mean."""
    e, r = math.exp(eps0), clone / 2.0
    reach = 10.0 * math.sqrt(n * r) + 10.0 + 2.5 * order
    count = np.arange(max(0, math.floor(n * r - reach)), min(n, math.ceil(n * r + reach)) + 1.0)
    a, b = np.meshgrid(count, count, indexing="ij")
    a, b = a[(a + b <= n) & (a + b > 0)], b[(a + b <= n) & (a + b > 0)]
    c = n - a - b
    ways = special.gammaln(n + 1.0) - special.gammaln(a + 1) - special.gammaln(b + 1) - special.gammaln(c + 1)
    others = ways + (a + b) * math.log(r) + special.xlog1py(c, -2.0 * r)
    return summed(
        others + np.log((a + e * b) / ((e + 1.0) * r * n)), np.log((e * a + b) / (a + e * b)), order
    )


def float_binary(eps0, n, order):
    """Return D(changed||unchanged) of binary RR, all others equal, every count listed."""
    e = math.exp(eps0)
    m = np.arange(n + 1.0)
    log_mass = special.gammaln(n + 1.0) - special.gammaln(m + 1.0) - special.gammaln(n - m + 1.0)
    log_mass = log_mass + (n - m) * eps0 - n * math.log(e + 1.0)
    return summed(log_mass, np.log(1.0 / e + m / n * (e - 1.0 / e)), order)


# ---------------------------------------------------------------- printed digits


def printed(value, text):
    """Whether ``value`` rounds to the digits shown (the last one may be rounded up from a half)."""
    mantissa, _, exponent = text.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(value - float(text)) <= 0.5001 * unit

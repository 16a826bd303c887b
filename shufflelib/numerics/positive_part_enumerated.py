r"""E[(G₁ + … + G_n)₊] from a list of all vectors of counts.

Few losses differ from the most frequent one where there are few summands or the others are rare.  Then the
distribution of the sum is listed: how often each other value occurs, up to a number of them that Chernoff's
inequality says is exceeded too rarely to matter.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from shufflelib.numerics.certified import UNKNOWN, Interval
from shufflelib.numerics.logspace import UNIT, logsumexp

ENUMERATION_LIMIT = 40_000  # count vectors
ENUMERATED_ATOMS = 12
RARE = -30.0  # log of the chance of more of them than are listed, from which on a list is worth its while


def listed_mean(distribution, n, log_crude):
    r"""Return an enclosure of :math:`\log \mathbb E[(G_1+\dots+G_n)_+]`, and whether the list is complete.

    ``log_crude`` is an upper bound known already.  Nothing is known where the list would be too long.
    """
    around = _Around.heaviest(distribution)
    most = _enumerable(around, n)
    if most == 0 or _log_left_out(around, n, most) >= RARE:
        return UNKNOWN, False
    return _by_enumeration(distribution, n, log_crude, around, most), most >= n


class _Around(NamedTuple):
    """A distribution seen from its heaviest atom: that atom, and the others, the one at 0 among them."""

    value: float
    size: float
    values: np.ndarray
    sizes: np.ndarray
    masses: tuple  # of the others, lower and upper bounds

    @classmethod
    def heaviest(cls, distribution):
        values, sizes, masses = (
            np.append(part, 0.0) for part in (distribution.values, distribution.sizes, distribution.masses)
        )
        doubt = distribution.precision + 4 * UNIT
        ends = [masses * (1.0 + side * doubt) for side in (-1.0, 1.0)]
        for end, side in zip(ends, (-1.0, 1.0), strict=True):
            end[-1] = max(distribution.zero_mass + side * doubt, 0.0)
        top = int(np.argmax(ends[1]))
        others = np.arange(values.size) != top
        if distribution.zero_mass == 0.0 and math.fsum(distribution.masses) == 1.0 and top != others.size - 1:
            others[-1] = False  # the listed masses are all there is
        return cls(values[top], sizes[top], values[others], sizes[others], tuple(end[others] for end in ends))


def _enumerable(around, n):
    """Return how many losses other than the heaviest a list of all count vectors can hold."""
    atoms = around.values.size
    if not 0 < atoms <= ENUMERATED_ATOMS:
        return 0
    most, too_many = 1, min(n, ENUMERATION_LIMIT) + 1
    while too_many - most > 1:
        middle = (most + too_many) // 2
        listed = math.comb(middle + atoms, atoms) <= ENUMERATION_LIMIT
        most, too_many = (middle, too_many) if listed else (most, middle)
    return most


def _log_left_out(around, n, most):
    """Return the log of Chernoff's bound on more than ``most`` of n losses, one given, being others."""
    if most >= n:
        return -math.inf
    mean = n * math.fsum(around.masses[1])
    return -(most * math.log(most / mean) - most + mean) * (1 - 1e-9) if most > mean else 0.0


@functools.lru_cache(maxsize=4)  # a curve asks for the same ones at every ε
def _count_vectors(atoms, most, n):
    """Return all vectors of at most ``most`` counts, their sums, log multinomials and the terms of those."""
    counts, left = np.zeros((1, 0)), np.array([most])
    for _ in range(atoms):
        width = left + 1
        start = np.repeat(np.cumsum(width) - width, width)
        chosen = np.arange(width.sum()) - start
        counts = np.column_stack([np.repeat(counts, width, axis=0), chosen])
        left = np.repeat(left, width) - chosen
    used = most - left
    steps = math.log(n) + np.log1p(-np.arange(most) / n)
    whole = np.round(steps * 2.0**30) * 2.0**-30  # sums of these are exact
    falling = np.append(0.0, np.cumsum(whole) + np.cumsum(steps - whole))[used]
    log_weight = falling - gammaln(counts + 1.0).sum(axis=1)
    size = 64 + 8 * falling + 8 * gammaln(used + 2.0)
    for part in (counts, used, log_weight, size):
        part.flags.writeable = False
    return counts, used, log_weight, size


@functools.lru_cache(maxsize=4)  # these too
def _log_chances(lower, upper, most, n):
    """Return lower and upper bounds on the log-probability of every vector of counts."""
    counts, used, log_weight, size = _count_vectors(len(lower), most, n)
    found = []
    for masses, others, side in ((lower, upper, -1.0), (upper, lower, 1.0)):
        masses, rest = np.array(masses), math.fsum(others)
        possible = np.all((counts == 0.0) | (masses > 0.0), axis=1)
        log_masses = counts @ np.log(np.where(masses > 0.0, masses, 1.0))
        log_rest = math.log1p(-rest) if rest < 1.0 else -math.inf
        with np.errstate(invalid="ignore"):
            log_heaviest = np.where(used < n, (n - used) * log_rest * (1.0 - side * 4 * UNIT), 0.0)
        rounding = (size - 4 * log_masses) * UNIT
        terms = log_weight + log_masses + log_heaviest + side * rounding
        terms = np.where(possible, terms, -math.inf)
        terms.flags.writeable = False
        found.append(terms)
    return found


def _by_enumeration(distribution, n, log_crude, around, most):
    """Sum over all vectors of at most ``most`` counts; terms are non-negative, so errors stay relative."""
    counts, used, *_ = _count_vectors(around.values.size, most, n)
    total = counts @ around.values + (n - used) * around.value
    with np.errstate(over="ignore"):
        slack = (counts @ around.sizes + (n - used) * around.size) * (distribution.precision + 8 * UNIT)
    ends = []
    chances = _log_chances(*(tuple(masses.tolist()) for masses in around.masses), most, n)
    for log_chance, side in zip(chances, (-1.0, 1.0), strict=True):
        gain = total + side * slack
        some = gain > 0.0
        ends.append(logsumexp(log_chance[some] + np.log(gain[some])))
    ends[1] = float(np.logaddexp(ends[1], _log_left_out(around, n, most) + log_crude))
    return Interval(*ends).widened(4.0, 64 * UNIT)

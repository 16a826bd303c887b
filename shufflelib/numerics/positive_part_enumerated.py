r"""E[(A − e^ε B)₊] for the sums A, B of n pairs of ratios, from a list of all vectors of counts.

Few pairs differ from the most frequent one where there are few summands or the others are rare.  Then the
distribution of (A, B) is listed: how often each other pair occurs, up to a number of them that Chernoff's
inequality says is exceeded too rarely to matter.

One list serves every ε.  Sorted by falling A/B, with probabilities p,

.. math:: \mathbb E[(e^{-\varepsilon}A - B)_+]
          = e^{-\varepsilon}\sum_{i \le k} p_i A_i - \sum_{i \le k} p_i B_i

where the first k have :math:`A/B > e^{\varepsilon}`: two running sums, looked up.

Why the bounds are proved
-----------------------
Let d bound the relative error of :math:`e^{-\varepsilon}A` and of B: the precision, half a unit for each of
at most m + 2 roundings with m other pairs, and four for the exponential. Any k gives a lower bound, with
the least p, A(1 − d) and B(1 + d): what has no gain only takes away. For the upper bound, with the largest
p, A(1 + d) and B(1 − d), the first k must include all that have a gain then. They do if k is looked up at
:math:`\varepsilon - \log\frac{1 + d}{1 - d}`, less the rounding r of log A/B. What lies between the two k
then takes away no more than 3r of :math:`e^{-\varepsilon}A(1 + d)`, which is added. All terms of either
sum are positive, so that the running sums, from the rarest end, are off by one unit of long numbers for
each term.
"""

import bisect
import functools
import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from shufflelib.numerics.certified import LEAST_NORMAL, LONG_UNIT, Interval
from shufflelib.numerics.logspace import UNIT

ENUMERATION_LIMIT = 40_000  # count vectors
SHORT = 3_000  # of them: such a list costs less than an integral
ENUMERATED_ATOMS = 12
LARGEST_SUM = 1e300
STEEPEST = 600.0  # exponent up to which powers are added up
RARE = -30.0  # log of the chance of more of them than are listed, from which on a list is worth its while


class Listed(NamedTuple):
    """All sums (A, B), −log A/B, and both ends of the logs of their probabilities.

    ``log_left_out`` bounds the log-probability that one pair of ratios is beside more others than are listed.
    """

    first: np.ndarray
    second: np.ndarray
    less: np.ndarray
    log_chances: list
    doubt: float  # relative error of A and B
    rounding: float  # of log A/B
    log_left_out: float

    @classmethod
    def of(cls, first, second, masses, zero_mass, precision, n, limit, deepest=-math.inf):
        """Return the list for n pairs of ratios with these masses, or None if it would be too long.

        ``zero_mass`` is the mass of (0, 0), None if the masses are known to add up to 1; ``precision`` is the
        relative error of all.
        """
        if max(float(np.max(first, initial=0.0)), float(np.max(second, initial=0.0))) * n > LARGEST_SUM:
            return None
        one, first, second, masses = _beside_the_heaviest(first, second, masses, zero_mass, precision)
        atoms = first.size
        most = _enumerable(atoms, n, limit)
        left_out = _log_left_out(masses[1], n, most) if most else 0.0
        while math.comb(most + atoms, atoms) > SHORT:
            fewer = most * 15 // 16
            if _log_left_out(masses[1], n, fewer) >= deepest:
                break
            most, left_out = fewer, _log_left_out(masses[1], n, fewer)
        if left_out >= RARE:
            return None
        counts, used, *_ = _count_vectors(atoms, most, n)
        first, second = (
            counts @ others + (n - used) * heaviest
            for others, heaviest in zip((first, second), one, strict=True)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            less = np.log(second) - np.log(first)
        less = np.where(first > 0.0, less, math.inf)
        doubt, finite = precision + (0.5 * atoms + 6.0) * UNIT, np.isfinite(less)
        logs = np.abs(np.log(first[finite])) + np.abs(np.log(second[finite]))
        rounding = 8 * UNIT * (1.0 + float(np.max(logs, initial=0.0)))
        chances = _log_chances(*masses, most, n)
        return cls(first, second, less, chances, doubt, rounding, left_out)


class ConvexSums:
    r"""What encloses :math:`\mathbb E[B\,\varphi(A/B)]/n` for every φ(r) = r^λ − 1 − λ(r − 1), λ > 1.

    φ is :math:`r(r^{\lambda-1} - 1) - (\lambda-1)(r-1) \ge 0`; each part is rounded by a few units of itself.
    Its derivative by log r is :math:`\lambda r(r^{\lambda-1} - 1)`: an error e of log r moves φ by λe times
    the largest value of that within e.  Powers that overflow are added up as logarithms.
    """

    def __init__(self, listed, n):
        self.log_left_out, loss = listed.log_left_out, np.clip(-listed.less, -STEEPEST, STEEPEST)
        self.loss, self.ratio, self.excess = loss, np.exp(loss), np.expm1(loss)
        self.largest, off = float(loss.max(initial=0.0)), (loss.size + 32) * UNIT + listed.doubt
        self.off = 2.1 * listed.doubt + listed.rounding + 8 * UNIT * float(np.abs(loss).max(initial=0.0))
        with np.errstate(divide="ignore"):
            self.log_weights = [chance + np.log(listed.second / n) for chance in listed.log_chances]
        self.rounding = off
        self.weights = [
            (np.exp(chance) + flushed) * listed.second / n * (1.0 + side * off)
            for chance, flushed, side in zip(
                listed.log_chances, (0.0, LEAST_NORMAL), (-1.0, 1.0), strict=True
            )
        ]

    def log_mean(self, order, largest, share):
        """Enclose the log of the mean for λ = ``order``, A/B being at most e^``largest``.

        None where a ratio is too large, or where rounding or what is not listed may be more than a share of
        the mean.
        """
        steep = order * self.loss > STEEPEST  # whose powers are added up as logarithms
        if not (self.largest < STEEPEST and order * self.off <= share) or (order < 2.0 and steep.any()):
            return None
        low, high = self._powers(order, ~steep)
        if steep.any():
            low, high = (
                np.logaddexp(one, two)
                for one, two in zip((low, high), self._steep(order, steep), strict=True)
            )
        log_rest = self.log_left_out + order * max(largest, 1.0)
        if not -math.inf < low <= high <= low + share or log_rest > low + math.log(share):
            return None
        return Interval(low, float(np.logaddexp(high, log_rest))).widened(8.0, 8 * UNIT)

    def _powers(self, order, some):
        """Enclose the log of what some of the ratios add, whose powers do not overflow."""
        more, moves = order - 1.0, math.expm1(order * self.off)
        loss = np.where(some, self.loss, 0.0)
        grown = np.expm1(more * loss)
        whole, linear, size = self.ratio * grown, more * np.where(some, self.excess, 0.0), np.abs(grown)
        moved = moves * self.ratio * (size + moves * (1.0 + size))
        doubt = 2.0 * moved + 16 * UNIT * (np.abs(whole) + np.abs(linear))
        low, high = whole - linear - doubt, whole - linear + doubt
        low, high = (np.where(some, end, 0.0) for end in (np.maximum(low, 0.0), high))
        with np.errstate(divide="ignore"):
            return np.log(self.weights[0] @ low), np.log(self.weights[1] @ high)

    def _steep(self, order, some):
        r"""Enclose the log of what the other ratios add; there φ is :math:`r^\lambda` but for e^{−200} of it.

        For λ ≥ 2 and λ log r > 600 the rest, :math:`1 + \lambda(r - 1) < \lambda r`, is at most
        :math:`\lambda r^{1-\lambda} \le \lambda e^{-300}` of it.
        """
        ends = []
        for log_weights, side in zip(self.log_weights, (-1.0, 1.0), strict=True):
            powers = order * self.loss[some]
            size = 1.0 + np.abs(np.where(np.isinf(log_weights), 0.0, log_weights)[some]) + powers
            doubt = order * self.off + self.rounding + 16 * UNIT * float(size.max())
            ends.append(float(np.logaddexp.reduce(log_weights[some] + powers)) + side * doubt)
        return ends


class ListedSums(NamedTuple):
    """Sums (A, B) by falling A/B: −log A/B, running sums of pA and pB for either end of p, their doubt."""

    less: np.ndarray
    first: tuple
    second: tuple
    doubt: float
    rounding: float  # of log A/B
    log_left_out: float

    @classmethod
    def of(cls, listed):
        """Return the sums of a list."""
        order = np.argsort(listed.less, kind="stable")
        # the others have no gain
        order = order[listed.less[order] <= 3.0 * listed.doubt + listed.rounding]
        least, sums = float(np.finfo(np.longdouble).tiny), []
        for chance, flushed in zip(listed.log_chances, (0.0, least), strict=True):
            chance = np.exp(chance[order].astype(np.longdouble)) + flushed
            parts = listed.first, listed.second
            sums.append([np.append(0.0, np.cumsum(chance * part[order])) for part in parts])
        return cls(listed.less[order], *zip(*sums, strict=True), *listed[-3:])

    def log_positive_part(self, eps, log_crude):
        """Enclose log E[(e^{−ε}A − B)₊] at each ε ≥ 0 of an array, at most ``log_crude``."""
        d, shrink = self.doubt, np.exp(-eps).astype(np.longdouble)
        off = d + (self.less.size + 16) * LONG_UNIT
        sure, most = (
            np.searchsorted(self.less, limit - eps, side="right")
            for limit in (-self.rounding, math.log1p(d) - math.log1p(-d) + self.rounding)
        )
        lower = self.first[0][sure] * shrink * (1.0 - off) - self.second[0][sure] * (1.0 + off)
        upper = self.first[1][most] * shrink * (1.0 + off) - self.second[1][most] * (1.0 - off)
        between = self.first[1][most] * (1.0 + off) - self.first[1][sure] * (1.0 - off)
        upper += np.where(most > sure, 4.0 * self.rounding * between * shrink, 0.0)
        upper = np.where(most > 0, np.maximum(upper, np.finfo(np.longdouble).tiny), 0.0)
        with np.errstate(divide="ignore"):
            ends = [np.log(np.maximum(end, 0.0)).astype(float) for end in (lower, upper)]
        found = Interval(*ends).widened(4.0, 16 * UNIT)
        if self.log_left_out == -math.inf:
            return found
        return Interval(found.lower, np.logaddexp(found.upper, self.log_left_out + log_crude) + 16 * UNIT)


def _beside_the_heaviest(first, second, masses, zero_mass, precision):
    """Return the most frequent pair of ratios, both ratios of the others, (0, 0) too, and their masses.

    Of the masses there are lower and upper bounds.
    """
    complete = zero_mass is None or (zero_mass == 0.0 and math.fsum(masses) == 1.0)
    first, second, masses = (np.append(part, 0.0) for part in (first, second, masses))
    doubt = precision + 4 * UNIT
    ends = [masses * (1.0 + side * doubt) for side in (-1.0, 1.0)]
    for end, side in zip(ends, (-1.0, 1.0), strict=True):
        end[-1] = max((zero_mass or 0.0) + side * doubt, 0.0)
    top = int(np.argmax(ends[1]))
    others = np.arange(first.size) != top
    if complete and top != first.size - 1:
        others[-1] = False  # the listed masses are all there is
    heaviest = float(first[top]), float(second[top])
    return heaviest, first[others], second[others], tuple(end[others] for end in ends)


def _enumerable(atoms, n, limit):
    """Return how many losses other than the heaviest a list of all count vectors can hold."""
    if not 0 < atoms <= ENUMERATED_ATOMS:
        return 0
    several = range(min(n, limit) + 1)
    return bisect.bisect_right(several, limit, 2, key=lambda most: math.comb(most + atoms, atoms)) - 1


def _log_left_out(masses, n, most):
    """Return the log of Chernoff's bound on more than ``most`` of n losses, one given, being others."""
    if most >= n:
        return -math.inf
    mean = n * math.fsum(masses)
    return -(most * math.log(most / mean) - most + mean) * (1 - 1e-9) if most > mean else 0.0


@functools.lru_cache(maxsize=4)  # both directions of a pair have the same ones
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


def _log_chances(lower, upper, most, n):
    """Return lower and upper bounds on the log-probability of every vector of counts."""
    counts, used, log_weight, size = _count_vectors(lower.size, most, n)
    found = []
    for masses, others, side in ((lower, upper, -1.0), (upper, lower, 1.0)):
        rest = math.fsum(others)
        possible = np.all((counts == 0.0) | (masses > 0.0), axis=1)
        log_masses = counts @ np.log(np.where(masses > 0.0, masses, 1.0))
        log_rest = math.log1p(-rest) if rest < 1.0 else -math.inf
        with np.errstate(invalid="ignore"):
            log_heaviest = np.where(used < n, (n - used) * log_rest * (1.0 - side * 4 * UNIT), 0.0)
        rounding = (size - 4 * log_masses) * UNIT
        terms = log_weight + log_masses + log_heaviest + side * rounding
        terms = np.where(possible, terms, -math.inf)
        found.append(terms)
    return found

r"""Certified enclosure of E[(G₁ + … + G_n)₊] for independent, identically distributed, finite losses.

Everything about shuffling reduces to this number.  Nothing in its cost grows with n:

- `union_upper_bound` and `single_positive_lower_bound` enclose it crudely,

  .. math:: n\,\mathbb E[G_+]\,\mathbb P(G \ge 0)^{n-1} \;\le\; \mathbb E[(G_1 + \dots + G_n)_+]
            \;\le\; n\,\mathbb E[G_+];

- where few losses differ from the most frequent one, because there are few summands or because the others
  are rare, the distribution of the sum is listed: `positive_part_enumerated`;
- otherwise it is a `saddle_point` integral of :math:`M(t)^n/t^2`, :math:`M(t) = \mathbb E\,e^{tG}`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from shufflelib.numerics.certified import LOG_ZERO, TOLERANCE, Interval, intersect
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.positive_part_enumerated import ENUMERATED_ATOMS, ENUMERATION_LIMIT, listed_mean
from shufflelib.numerics.saddle_point import (
    SMALLEST_MODULUS,
    Losses,
    TiltedSum,
    by_contour,
    characteristic_minus_one,
    log_abs_one_plus,
    quadrature,
)

LARGEST_SIZE = 1e280  # of a loss's terms, in units of the largest loss
WELL_LISTED = 1e-5  # width of a list from which on no integral is tried, which is rounded more
SMALLEST_SIZE = 1e-307  # a unit of it is above the smallest float
SMALLEST_GAIN = 1e-280  # positive losses below this share of the largest loss are only bounded


def missing_mass(masses):
    """Return what masses leave of 1."""
    return max(0.0, 1.0 - math.fsum(masses))


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """Distribution of one loss G: atoms ``values`` with masses ``masses``; missing mass sits at 0.

    ``sizes`` are the magnitudes of the terms each value was computed from (its rounding error is a
    multiple of them), ``precision`` the relative error of masses and terms, ``zero_mass`` the missing
    mass, added up here unless it is known.
    """

    values: np.ndarray
    masses: np.ndarray
    sizes: np.ndarray
    precision: float
    zero_mass: float | None = None

    def __post_init__(self):
        if self.zero_mass is None:
            object.__setattr__(self, "zero_mass", missing_mass(self.masses))

    def measured_in(self, unit):
        """Return the distribution of the loss in other units."""
        values, sizes = self.values / unit, self.sizes / unit
        flushed = (np.abs(values) < SMALLEST_SIZE) & (self.values != 0.0)  # rounded by more than a share
        return replace(self, values=values, sizes=np.where(flushed, np.maximum(sizes, SMALLEST_SIZE), sizes))


def expected_positive_part(distribution, n, *, tolerance=TOLERANCE, known=math.inf):
    r"""Enclose :math:`\log \mathbb E[(G_1+\dots+G_n)_+]` for n losses of one distribution.

    Both bounds are proved, rounding included; both are ``-inf`` if the sum cannot be positive.  ``tolerance``
    is the relative width aimed at; a sum with a heavy atom at 0 may get a wider bracket.  ``known`` is an
    upper bound that the caller has: an integral that cannot improve it is not computed.

    The running time does not depend on n.  It is proportional to the number of atoms, to the tail's distance
    from the mean in standard deviations, and to ``tolerance**-0.5``.
    """
    scale = float(np.max(np.abs(distribution.values), initial=0.0))
    upper = union_upper_bound(distribution, n)
    if scale == 0.0:  # no more than the rounding of what cancelled
        return Interval(-math.inf, upper) if np.any(distribution.sizes > 0.0) else LOG_ZERO
    if upper == -math.inf:
        return LOG_ZERO
    log_scale = math.log(scale)
    lower = single_positive_lower_bound(distribution, n)
    if np.max(distribution.sizes) > LARGEST_SIZE * scale:  # all is the rounding of what cancelled
        return Interval(min(lower, upper), upper)
    found = Interval(lower - log_scale, upper - log_scale)
    distribution = distribution.measured_in(scale)
    settled = n == 1
    if not settled and found.upper - found.lower > tolerance and _few_differ(distribution, n):
        listed, settled = listed_mean(distribution, n, found.upper)
        found = intersect(found, listed)
        settled = settled or found.upper - found.lower <= WELL_LISTED
    if not settled and found.upper - found.lower > tolerance and np.any(distribution.values > SMALLEST_GAIN):
        found = intersect(found, _by_contour(distribution, n, tolerance, known - log_scale))
    if found.upper == -math.inf:
        return LOG_ZERO
    return Interval(min(found), found.upper) + Interval.of(scale).log()


def _few_differ(distribution, n):
    """Return whether a list can hold as many losses other than the most frequent one as are expected."""
    most_frequent = max(float(np.max(distribution.masses)), distribution.zero_mass)
    expected, others = int(n * max(1.0 - most_frequent, 0.0) * (1.0 - 1e-9)), distribution.values.size - 1
    return others <= ENUMERATED_ATOMS and math.comb(expected + others, others) <= ENUMERATION_LIMIT


def union_upper_bound(distribution, n):
    """Return the log of n E[G₊], which is never below E[(G₁ + … + G_n)₊]."""
    values, sizes, doubt = distribution.values, distribution.sizes, distribution.precision
    end = _log_mean(distribution.masses, np.maximum(values + sizes * (doubt + 8 * UNIT), 0.0))
    return end + math.log(n) + doubt + (64 + (4 * abs(end) if end > -math.inf else 0.0)) * UNIT


def single_positive_lower_bound(distribution, n):
    """Return the log of n E[G₊] P(G ≥ 0)^{n−1}, which is never above E[(G₁ + … + G_n)₊].

    What is left out is positive: S₊ is at least the sum of those Gᵢ₊ beside which no other loss is negative.
    """
    doubt = distribution.precision
    least = distribution.values - distribution.sizes * (doubt + 8 * UNIT)
    end = _log_mean(distribution.masses, np.maximum(least, 0.0))
    if end == -math.inf:
        return end
    end += math.log(n) - doubt - (64 + 4 * abs(end)) * UNIT
    if n == 1:
        return end
    negative = float(np.sum(distribution.masses[least < 0.0])) * (1.0 + doubt + (least.size + 4) * UNIT)
    return end + (n - 1) * math.log1p(-negative) * (1.0 + 4 * UNIT) if negative < 1.0 else -math.inf


def _log_mean(masses, gains):
    """Return log Σ masses·gains, which may underflow."""
    with np.errstate(divide="ignore"):
        terms = np.log(masses) + np.log(gains)
    peak = float(np.max(terms, initial=-math.inf))
    return peak + math.log(math.fsum(np.exp(terms - peak))) if peak > -math.inf else peak


class _Identical(TiltedSum):
    """Losses with one distribution."""

    near = 1.005

    def integrand(self, smoothing, step, first, size, nothing):
        """Sum over a block of nodes."""
        n, masses, node_error = int(self.losses.count[0]), self.tilt.masses[:, 0], self.node_error[0]
        values, masses = self.losses.values[masses > 0.0, 0], masses[masses > 0.0]
        phi, number = characteristic_minus_one(values, masses, step, first, size, nothing / n)
        log_modulus = log_abs_one_plus(phi.real, phi.imag)
        alive = np.flatnonzero((n * log_modulus > -nothing) & (number < size))
        x, y, log_modulus = phi.real[alive], phi.imag[alive], log_modulus[alive]
        omega = step * (first + number[alive])
        angle = np.arctan2(y, 1.0 + x)
        # φ off by a share r: φⁿ off by (1 + r)ⁿ − 1
        relative = n * np.log1p(node_error * np.hypot(1.0, omega) * np.exp(-log_modulus))
        relative += n * np.hypot(log_modulus, angle) * 4 * UNIT + 2.0 * (log_modulus <= SMALLEST_MODULUS)
        largest = math.exp(-nothing / n) + node_error * math.hypot(1.0, step * (first + size))
        left = size * math.exp(min(n * math.log(largest), 0.0))
        return quadrature(smoothing, omega, n * log_modulus, n * angle, relative, left, halved=first == 0)


def _by_contour(distribution, n, tolerance, known=math.inf):
    losses = Losses(
        values=distribution.values[:, None],
        masses=distribution.masses[:, None],
        sizes=np.minimum(distribution.sizes, 1e140)[:, None],
        zero_mass=np.array([distribution.zero_mass]),
        zero_size=np.ones(1),  # it is what the other masses leave of 1
        count=np.array([float(n)]),
        doubt=distribution.precision + (distribution.values.size + 24) * UNIT,
    )
    finest = 0.0 if distribution.values.size <= ENUMERATED_ATOMS else tolerance
    return by_contour(_Identical, losses, tolerance, finest, known)

r"""The distribution of one loss, and what bounds a sum of such losses at sight.

For independent losses with one distribution

.. math:: n\,\mathbb E[G_+]\,\mathbb P(G \ge 0)^{n-1} \;\le\; \mathbb E[(G_1 + \dots + G_n)_+]
          \;\le\; n\,\mathbb E[G_+].
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from shufflelib.numerics.logspace import UNIT, logsumexp

SMALLEST_SIZE = 1e-307  # a unit of it is above the smallest float


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


def union_upper_bound(distribution, n):
    """Return the log of n E[G₊], which is never below E[(G₁ + … + G_n)₊]."""
    gains = np.maximum(distribution.values + distribution.sizes * (distribution.precision + 8 * UNIT), 0.0)
    with np.errstate(divide="ignore"):
        end = logsumexp(np.log(distribution.masses) + np.log(gains))
    return (
        end
        + math.log(n)
        + distribution.precision
        + 64 * UNIT
        + 4 * UNIT * (abs(end) if end > -math.inf else 0.0)
    )


def single_positive_lower_bound(distribution, n):
    """Return the log of n E[G₊] P(G ≥ 0)^{n−1}, which is never above E[(G₁ + … + G_n)₊].

    What is left out is positive: S₊ is at least the sum of those Gᵢ₊ beside which no other loss is negative.
    """
    least = distribution.values - distribution.sizes * (distribution.precision + 8 * UNIT)
    with np.errstate(divide="ignore"):
        end = logsumexp(np.log(distribution.masses) + np.log(np.maximum(least, 0.0)))
    if end == -math.inf:
        return end
    end += math.log(n) - distribution.precision - (64 + 4 * abs(end)) * UNIT
    if n == 1:
        return end
    negative = float(np.sum(distribution.masses[least < 0.0])) * (
        1.0 + distribution.precision + (least.size + 4) * UNIT
    )
    return end + (n - 1) * math.log1p(-negative) * (1.0 + 4 * UNIT) if negative < 1.0 else -math.inf

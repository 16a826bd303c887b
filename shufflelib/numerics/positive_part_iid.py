r"""Certified enclosure of E[(G₁ + … + G_n)₊] for independent, identically distributed, finite losses.

Everything about shuffling reduces to this number, mostly for many distributions at once, one for each ε: they
are columns of arrays, and no number depends on the other columns.  Nothing in its cost grows with n:

- `union_upper_bound` and `single_positive_lower_bound` enclose it crudely,

  .. math:: n\,\mathbb E[G_+]\,\mathbb P(G \ge 0)^{n-1} \;\le\; \mathbb E[(G_1 + \dots + G_n)_+]
            \;\le\; n\,\mathbb E[G_+];

- otherwise it is a `saddle_point` integral of :math:`M(t)^n/t^2`, :math:`M(t) = \mathbb E\,e^{tG}`.

Where few losses differ from the most frequent one, `positive_part_enumerated` lists the sums instead.
"""

import math
from dataclasses import dataclass

import numpy as np

from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.nodes import EqualLosses
from shufflelib.numerics.saddle_point import Losses, added, by_contour

LARGEST_SIZE = 1e280  # of a loss's terms, in units of the largest loss
SMALLEST_SIZE = 1e-307  # a unit of it is above the smallest float
SMALLEST_GAIN = 1e-280  # positive losses below this share of the largest loss are only bounded
SHARPENED = 12  # atoms up to which less is smoothed where a sum has a heavy atom at 0


def missing_mass(masses):
    """Return what masses leave of 1."""
    return max(0.0, 1.0 - math.fsum(masses))


@dataclass(frozen=True, eq=False)
class LossDistributions:
    """Distributions of one loss G each, as columns: atoms ``values`` with masses ``masses``.

    ``sizes`` are the magnitudes of the terms each value was computed from (its rounding error is a
    multiple of them), ``precision`` the relative error of masses and terms, ``zero_mass`` what each column's
    masses leave of 1, which sits at 0.
    """

    values: np.ndarray
    masses: np.ndarray
    sizes: np.ndarray
    precision: float
    zero_mass: np.ndarray

    @classmethod
    def of_one(cls, values, masses, sizes, precision, zero_mass=None):
        """Return a single distribution; the missing mass is added up unless it is known."""
        zero_mass = missing_mass(masses) if zero_mass is None else zero_mass
        values, masses, sizes = (np.asarray(part, float)[:, None] for part in (values, masses, sizes))
        return cls(values, masses, sizes, precision, np.array([zero_mass]))

    def at(self, chosen):
        """Return some of the columns."""
        parts = (part.take(chosen, axis=-1) for part in (self.values, self.masses, self.sizes))
        return LossDistributions(*parts, self.precision, self.zero_mass[chosen])

    def losses(self, unit, n):
        """Return n losses of each distribution in a unit of its own."""
        values, sizes = self.values / unit, np.minimum(self.sizes / unit, 1e140)
        flushed = (np.abs(values) < SMALLEST_SIZE) & (self.values != 0.0)  # rounded by more than a share
        return Losses(
            values=values,
            masses=self.masses,
            sizes=np.where(flushed, np.maximum(sizes, SMALLEST_SIZE), sizes),
            zero_mass=self.zero_mass,
            zero_size=np.ones(unit.size),  # it is what the other masses leave of 1
            count=np.full(unit.size, float(n)),
            doubt=self.precision + (len(values) + 24) * UNIT,
        )


def expected_positive_part(
    distributions, n, *, tolerance=TOLERANCE, known=math.inf, steepest=math.inf
) -> Interval:
    r"""Enclose :math:`\log \mathbb E[(G_1+\dots+G_n)_+]` for n losses of each distribution.

    Both bounds are proved, rounding included; both are ``-inf`` if the sum cannot be positive.  ``tolerance``
    is the relative width aimed at; a sum with a heavy atom at 0 may get a wider bracket.  ``known`` is an
    upper bound that the caller has: an integral that cannot improve it is not computed, nor is one where
    exponents would be above ``steepest``.  Both, and the tolerance, may be arrays.

    The running time does not depend on n.  It is proportional to the number of atoms, to the tail's distance
    from the mean in standard deviations, and to ``tolerance**-0.5``.
    """
    scale = np.abs(distributions.values).max(axis=0)
    tolerance, known = (part + np.zeros(scale.size) for part in (tolerance, known))
    measured = (distributions.sizes.max(axis=0) / LARGEST_SIZE <= scale) & (scale > 0.0)
    gains = distributions.values.max(axis=0) > SMALLEST_GAIN * scale
    # of several losses that are hardly ever negative the crude bounds are close
    close = -_log_others(distributions, n) <= tolerance
    lower, upper = np.full(scale.size, -math.inf), np.full(scale.size, math.inf)
    some = np.flatnonzero(measured & gains & ~close)
    if some.size:
        of_some = distributions if some.size == scale.size else distributions.at(some)
        finest = np.zeros(some.size) if len(distributions.values) <= SHARPENED else tolerance[some]
        rest = {"known": known[some], "steepest": steepest}
        losses = of_some.losses(scale[some], n)
        lower[some], upper[some] = by_contour(
            EqualLosses, losses, tolerance[some], finest, scale[some], **rest
        )
    some = np.flatnonzero(~(upper - lower <= 2.0 * tolerance))
    if some.size:
        of_some = distributions if some.size == scale.size else distributions.at(some)
        lower[some] = np.maximum(lower[some], single_positive_lower_bound(of_some, n))
        upper[some] = np.minimum(upper[some], union_upper_bound(of_some, n))
        lower = np.minimum(lower, upper)
    return Interval(lower, upper)


def union_upper_bound(distributions, n):
    """Return the log of n E[G₊], which is never below E[(G₁ + … + G_n)₊]."""
    doubt = distributions.precision
    gains = np.maximum(distributions.values + distributions.sizes * (doubt + 8 * UNIT), 0.0)
    end, rounding = _log_mean(distributions.masses, gains)
    return end + math.log(n) + (doubt + rounding + 4 * UNIT * math.log(n))


def single_positive_lower_bound(distributions, n):
    """Return the log of n E[G₊] P(G ≥ 0)^{n−1}, which is never above E[(G₁ + … + G_n)₊].

    What is left out is positive: S₊ is at least the sum of those Gᵢ₊ beside which no other loss is negative.
    """
    doubt = distributions.precision
    end, rounding = _log_mean(distributions.masses, np.maximum(_least(distributions), 0.0))
    end = end + math.log(n) - (doubt + rounding + 4 * UNIT * math.log(n))
    return end + _log_others(distributions, n)


def _least(distributions):
    """Return the least that each loss can be."""
    return distributions.values - distributions.sizes * (distributions.precision + 8 * UNIT)


def _log_others(distributions, n):
    """Return at most log P(G ≥ 0)^{n−1}."""
    if n == 1:
        return np.zeros(distributions.zero_mass.size)
    negative = added(np.where(_least(distributions) < 0.0, distributions.masses, 0.0))
    negative = negative * (1.0 + distributions.precision + (len(distributions.values) + 4) * UNIT)
    with np.errstate(divide="ignore"):
        return (n - 1) * np.log1p(-np.minimum(negative, 1.0)) * (1.0 + 4 * UNIT)


def _log_mean(masses, gains):
    """Return log Σ masses·gains, whose terms may underflow, and its rounding."""
    with np.errstate(divide="ignore"):
        log_masses, log_gains = np.log(masses), np.log(gains)
    terms = log_masses + log_gains
    peak = terms.max(axis=0)
    some = peak > -math.inf
    share = np.exp(np.where(some, terms - np.where(some, peak, 0.0), -math.inf))
    total = added(share)
    size = np.where(share > 0.0, np.abs(log_masses) + np.abs(log_gains), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(some, added(share * size) / total, 0.0)
        return np.where(some, peak + np.log(total), -math.inf), (64 + len(terms) + 5 * reach) * UNIT

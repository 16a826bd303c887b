r"""Certified enclosure of E[(G₁ + … + G_n)₊] for independent, identically distributed, finite losses.

Everything about shuffling reduces to this number, mostly for many distributions at once, one for each ε: they
are columns of arrays, and no number depends on the other columns.  Nothing in its cost grows with n:

- `union_upper_bound` and `single_positive_lower_bound` enclose it crudely,

  .. math:: n\,\mathbb E[G_+]\,\mathbb P(G \ge 0)^{n-1} \;\le\; \mathbb E[(G_1 + \dots + G_n)_+]
            \;\le\; n\,\mathbb E[G_+];

- otherwise it is a `saddle_point` integral of :math:`M(t)^n/t^2`, :math:`M(t) = \mathbb E\,e^{tG}`.

Where few losses differ from the most frequent one, `positive_part_enumerated` lists the sums instead.

*Which nodes matter.*  `nodes` says it for many atoms.  Of few atoms any two prove most nodes to be nothing:

.. math:: |\varphi|^2 = 1 - 4\sum_{a<b} m_a m_b \sin^2\tfrac{\omega(x_a - x_b)}2
          \le 1 - 4 m_a m_b \sin^2\tfrac{\omega(x_a - x_b)}2 .

So :math:`\omega(x_a - x_b)/2` is within :math:`\arcsin\sqrt{r/(m_a m_b)}` of a multiple of π where a node
matters, which are intervals that can be listed; the pair that leaves fewest nodes lists them, the next best
is a sieve.  With m atoms the masses are within m + 8 roundings of adding up to 1; what an atom at 0 of so
little mass could add is charged to r.  Intervals are a thousandth of a node longer than computed.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shufflelib.numerics import nodes
from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.saddle_point import (
    SMALLEST_MODULUS,
    Losses,
    TiltedSums,
    added,
    by_contour,
    log_abs_one_plus,
)

LARGEST_SIZE = 1e280  # of a loss's terms, in units of the largest loss
SMALLEST_SIZE = 1e-307  # a unit of it is above the smallest float
SMALLEST_GAIN = 1e-280  # positive losses below this share of the largest loss are only bounded
SHARPENED = 12  # atoms up to which less is smoothed where a sum has a heavy atom at 0
FEW = 12  # atoms whose pairs are looked at
SHARE = 0.25  # of the nodes: more than these are not listed
GROUP = 1 << 15  # listed nodes at once, if they are of several sums
EDGE = 1e-3  # of a node


@dataclass(frozen=True, eq=False)
class LossDistributions:
    """Distributions of one loss G each, as columns: atoms ``values`` with masses ``masses``.

    ``sizes`` are the magnitudes of the terms each value was computed from (its rounding error is a
    multiple of them), ``precision`` the relative error of masses and terms, a number or one for each column,
    ``zero_mass`` what each column's
    masses leave of 1, which sits at 0.
    """

    values: np.ndarray
    masses: np.ndarray
    sizes: np.ndarray
    precision: Any
    zero_mass: np.ndarray

    @classmethod
    def of_one(cls, values, masses, sizes, precision):
        """Return a single distribution; what its masses leave of 1 is at 0."""
        zero_mass = max(0.0, 1.0 - math.fsum(masses))
        values, masses, sizes = (np.asarray(part, float)[:, None] for part in (values, masses, sizes))
        return cls(values, masses, sizes, precision, np.array([zero_mass]))

    @classmethod
    def beside(cls, several):
        """Return the columns of several; atoms of no mass fill them up."""
        if len(several) == 1:
            return several[0]
        last = np.cumsum([one.zero_mass.size for one in several])
        parts = np.zeros((3, max(len(one.values) for one in several), last[-1]))
        zero_mass, precision = np.empty((2, last[-1]))
        for one, end in zip(several, last.tolist(), strict=True):
            rows, some = len(one.values), slice(end - one.zero_mass.size, end)
            for part, mine in zip(parts, (one.values, one.masses, one.sizes), strict=True):
                part[:rows, some] = mine
            zero_mass[some], precision[some] = one.zero_mass, one.precision
        return cls(*parts, precision, zero_mass)

    def at(self, chosen):
        """Return some of the columns."""
        parts = (part.take(chosen, axis=-1) for part in (self.values, self.masses, self.sizes))
        precision = np.broadcast_to(self.precision, self.zero_mass.shape)[chosen]
        return LossDistributions(*parts, precision, self.zero_mass[chosen])

    @cached_property
    def atoms(self):
        """How many atoms of each column have mass; what others add is exact."""
        return np.count_nonzero(self.masses, axis=0)

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
            doubt=self.precision + (self.atoms + 24) * UNIT,
        )


def expected_positive_part(distributions, n, *, tolerance=TOLERANCE, known=math.inf) -> Interval:
    r"""Enclose :math:`\log \mathbb E[(G_1+\dots+G_n)_+]` for n losses of each distribution.

    Both bounds are proved, rounding included; both are ``-inf`` if the sum cannot be positive.  ``tolerance``
    is the relative width aimed at; a sum with a heavy atom at 0 may get a wider bracket.  ``known`` is an
    upper bound that the caller has: an integral that cannot improve it is not computed.  It and the tolerance
    may be arrays.

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
        losses = of_some.losses(scale[some], n)
        lower[some], upper[some] = by_contour(
            EqualLosses, losses, tolerance[some], finest, scale[some], known=known[some]
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
    negative = negative * (1.0 + distributions.precision + (distributions.atoms + 4) * UNIT)
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
    total, atoms = added(share), np.count_nonzero(masses, axis=0)
    size = np.where(share > 0.0, np.abs(log_masses) + np.abs(log_gains), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(some, added(share * size) / total, 0.0)
        return np.where(some, peak + np.log(total), -math.inf), (64 + atoms + 5 * reach) * UNIT


class EqualLosses(TiltedSums):
    """For each column a sum of so many losses of its distribution."""

    def at(self, chosen):
        """Return some of the sums."""
        return EqualLosses(self.losses.at(chosen), self.known[chosen])

    def nodes(self, step, count, nothing):
        """Yield nodes listed for many sums at once where there are few, and else sum by sum."""
        share = nothing / self.losses.count
        values, masses, rest = self.losses.values, self.tilt.masses, count > 0
        values = np.where(masses > 0.0, values, 0.0)
        if len(values) <= FEW:
            room = -0.25 * np.expm1(-2.0 * share) * (1.0 + 1e-9)
            few, groups = listed(values, masses, self.tilt.zero_mass, step, count, room)
            for which, number in groups:
                phi = at_each(values, masses, step, which, number)
                yield self._node(which, number, phi, step, nothing)
            rest &= ~few
        if not rest.any():
            return
        some = np.flatnonzero(rest)
        columns = (part[..., some] for part in (values, masses, step, count, share))
        for which, number, phi in nodes.of_each(*columns):
            yield self._node(some[which], number, phi, step, nothing)

    def _node(self, which, number, phi, step, nothing):
        """Return what `TiltedSums.nodes` yields for some nodes, given φ − 1 there."""
        x, y = phi.real, phi.imag
        least = np.expm1(-2.0 * nothing / self.losses.count) * (1.0 + 1e-9)  # of |φ|² − 1
        alive = np.flatnonzero(2.0 * x + x * x + y * y >= least[which])
        which, number, x, y = (part[alive] for part in (which, number, x, y))
        n, log_modulus = self.losses.count[which], log_abs_one_plus(x, y)
        angle, along = np.arctan2(y, 1.0 + x), np.hypot(1.0, step[which] * number)
        # φ off by a share r: φⁿ off by (1 + r)ⁿ − 1
        relative = n * np.log1p(self.node_error[which] * along * np.exp(-log_modulus))
        relative += n * np.hypot(log_modulus, angle) * 4 * UNIT + 2.0 * (log_modulus <= SMALLEST_MODULUS)
        return which, number, n * log_modulus, n * angle, relative

    def left_out(self, step, count, nothing):
        """Return a bound on the sum of the moduli at the nodes that may be missing, rounding included."""
        n = self.losses.count
        largest = np.exp(-nothing / n) + self.node_error * np.hypot(1.0, step * count)
        return count * np.exp(np.minimum(n * np.log(largest), 0.0))


def listed(values, masses, zero_mass, step, count, room):
    """Return for which sums few nodes may matter, and an iterator over groups of sums and numbers of these.

    One column of values and tilted masses for each sum; ``room`` is r, ``count`` the number of nodes.  All
    nodes of a sum are in one group.
    """
    doubt = (len(values) + 8) * UNIT
    x, m = np.vstack([values, 0.0 * step]), np.vstack([masses, np.maximum(zero_mass - doubt, 0.0)])
    one, two = _pairs(len(x))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turn = 0.5 * step * np.abs(x[one] - x[two])  # of ω(x_a − x_b)/2 from each node to the next
        share = (room + doubt) / (m[one] * m[two])
        reach = np.where(share < 1.0, np.arcsin(np.sqrt(np.minimum(share, 1.0))) / turn, math.inf)
        again = math.pi / turn
        left = (2.0 * reach + 1.0) * (np.floor(count / again) + 1.0)
    left = np.where(left >= 0.0, left, math.inf)
    best = np.argmin(left, axis=0)
    sums = np.arange(count.size)
    long = left[best, sums]
    few = long < SHARE * count
    left[best, sums] = math.inf
    k, sieve = sums[few], np.argmin(left, axis=0)[few]
    lattice = reach[best[k], k], again[best[k], k], count[k] - 1
    near = (turn[sieve, k], share[sieve, k] * (1.0 + 1e-6) + 1e-9) if len(one) > 1 else None
    return few, _expanded(k, np.cumsum(long[k]) // GROUP, lattice, near)


def _expanded(k, groups, lattice, sieve):
    """Yield sums and numbers of nodes within ``reach`` of multiples of ``again``, group by group of sums."""
    for some in np.split(np.arange(k.size), np.flatnonzero(groups[1:] != groups[:-1]) + 1):
        reach, again, most = (part[some] for part in lattice)
        returns = np.floor((most + reach + EDGE) / again).astype(np.int64) + 1
        place = np.repeat(np.arange(some.size), returns)
        middle = _counted(returns) * again[place]
        low = np.maximum(np.ceil(middle - reach[place] - EDGE), 0.0).astype(np.int64)
        high = np.minimum(np.floor(middle + reach[place] + EDGE), most[place]).astype(np.int64)
        # no node twice
        low[1:] = np.where(place[1:] == place[:-1], np.maximum(low[1:], high[:-1] + 1), low[1:])
        size = np.maximum(high - low + 1, 0)
        place, number = np.repeat(place, size), _counted(size) + np.repeat(low, size)
        if sieve:
            turn, share = (part[some] for part in sieve)
            kept = np.sin(turn[place] * number) ** 2 < share[place]
            place, number = place[kept], number[kept]
        yield k[some][place], number


@functools.cache
def _pairs(size):
    return np.triu_indices(size, 1)


def _counted(sizes):
    """Return 0, 1, … for each of some sizes, one after the other."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def at_each(values, masses, step, which, number):
    """Return φ − 1 at nodes of several sums."""
    half = 0.5 * (step[which] * number)
    phi = np.zeros(half.size, complex)
    for value, mass in zip(values, masses, strict=True):
        angle = half * value[which]
        sine = np.sin(angle)
        twice = 2.0 * mass[which] * sine
        phi.real -= twice * sine
        phi.imag += twice * np.cos(angle)
    return phi

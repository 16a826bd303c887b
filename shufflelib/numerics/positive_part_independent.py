r"""E[(G₁ + … + G_n)₊] where every slot has its own three-point loss.

Slot i shows, each with probability :math:`r_i`, the losses :math:`u_i - e^{\varepsilon} v_i` and
:math:`v_i - e^{\varepsilon} u_i`, and 0 otherwise.  The contour integral of `positive_part_iid` applies with
the product of the slots' generating functions; slots with equal budgets are counted, not repeated.

Most nodes of the integral lie where the product is nothing.  There it is bounded from few bins of
slots, then from more: with tilted masses m and values x,
:math:`|\varphi|^2 = 1 - 2\sum_{a<b} m_a m_b (1 - \cos\omega(x_a - x_b))`, each factor at its worst in
the bin.  Only the nodes that remain are evaluated slot by slot.
"""

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.numerics.saddle_point import (
    SMALLEST_MODULUS,
    TiltedSum,
    cf_minus_one,
    cf_minus_one_of_sum,
    log_abs_one_plus,
    on_the_line,
    quadrature,
)
from shufflelib.numerics.three_point_losses import PRECISION

BIN_WORK = 5000  # bins times the square root of kinds: more kinds, fewer bins
STEEPEST = 1e4  # largest exponent at which a saddle point is looked for
ONLY_CHERNOFF = math.inf  # a tolerance for which no quadrature is tried
FEW = 8  # kinds for which a second quadrature is cheap
SHARPEST = 1e-8  # tolerance asked of it
CHUNK = 100_000  # nodes times slots at once, so that they stay in the cache
DOUBT = PRECISION + 32 * UNIT  # the same with the rounding here


def expected_positive_part_of_slots(slots, eps, *, tolerance):
    r"""Enclose :math:`\log \mathbb E[(\sum_i G_i)_+]` in units of :math:`e^{\varepsilon}`.

    Parameters
    ----------
    slots : ThreePointLosses
        Kinds of slots: :math:`r`, :math:`1 - 2r`, :math:`u \ge v`, and how many slots are of that kind.
    eps : float
        ε ≥ 0.
    tolerance : float
        Relative width aimed at.

    Returns
    -------
    Interval
        Both bounds proved; ``-inf`` on both sides if the sum cannot be positive.

    Notes
    -----
    Cost proportional to the kinds of slots, not to their number.
    """
    mass, rest, more, less, count = slots.mass, slots.residual_mass, slots.more, slots.less, slots.count
    shrink = math.exp(-eps)
    values = np.stack([more * shrink - less, less * shrink - more])
    sizes = np.stack([more * shrink + less, less * shrink + more])
    positive = np.maximum(values + sizes * (PRECISION + 8 * UNIT), 0.0)
    crude = _log_sum(mass, count, positive.sum(axis=0), 1.0)
    gains = (values[0] > 0.0) | (rest == 0.0)  # at its best such a slot adds a loss; the others add 0
    best = math.fsum(count * np.where(gains, values[0], 0.0))
    slack = (PRECISION + 16 * UNIT) * math.fsum(count * sizes[0])
    if best <= -slack:
        return Interval(-math.inf, -math.inf)  # not even the best outcome of every slot is positive
    if crude == -math.inf or best <= slack:
        return Interval(-math.inf, crude)
    with np.errstate(divide="ignore"):
        log_best = np.log(np.where(gains, mass, rest))
    sure = math.fsum(count * log_best) * (1 + PRECISION) - PRECISION * count.sum() + math.log(best - slack)
    sure = max(
        sure, _single_positive_lower_bound(mass, rest, values[0] - sizes[0] * (PRECISION + 8 * UNIT), count)
    )
    unit, tolerance = _saddle(mass, rest, values, count, tolerance)
    terms = _TiltedLosses(mass, rest, values * unit, sizes * unit, count)
    finest = SHARPEST if count.size <= FEW else tolerance
    bracket = on_the_line(terms, tolerance, finest)
    pad = 8 * UNIT * (1.0 + abs(math.log(unit)))
    upper = min(bracket.upper - math.log(unit) + pad, crude)
    return Interval(min(max(bracket.lower - math.log(unit), sure) - pad, upper), upper)


def _log_sum(mass, count, gain, side):
    """Return an upper (side 1) or lower (side −1) bound on the log of Σ count·mass·gain, gains ≥ 0."""
    some = gain > 0.0
    logs = np.log(mass[some]), np.log(count[some]), np.log(gain[some])
    size = np.max(np.sum(np.abs(logs), axis=0), initial=0.0)
    return logsumexp(sum(logs)) + side * (PRECISION + UNIT * (64.0 + 4.0 * size))


def _single_positive_lower_bound(mass, rest, least, count):
    """Return a lower bound on log E[S₊]: of outcomes in which one slot gains and all others show nothing."""
    if np.any(rest == 0.0):
        return -math.inf
    log_all_zero = math.fsum(count * np.log(rest)) * (1 + PRECISION) - 2 * PRECISION * count.sum()
    return log_all_zero + _log_sum(mass, count, np.maximum(least, 0.0) / rest, -1.0)


def _tilted(mass, nothing, values, theta):
    """Return cumulants, tilted masses (of the two losses and of 0) and the terms the cumulants came from."""
    exponent = theta * values
    peak = np.where(nothing > 0.0, np.maximum(exponent.max(axis=0), 0.0), exponent.max(axis=0))
    growth = mass * np.expm1(np.minimum(exponent, 1.0))
    grown = growth.sum(axis=0)
    weights = mass * np.exp(exponent - peak)
    rest = nothing * np.exp(-np.maximum(peak, 0.0))
    total = weights.sum(axis=0) + rest
    small = (np.abs(peak) < 1.0) & (grown > -0.5)
    with np.errstate(divide="ignore"):
        cumulant = np.where(small, np.log1p(np.where(small, grown, 0.0)), peak + np.log(total))
    terms = np.where(
        small, np.abs(growth).sum(axis=0) / np.exp(np.where(small, cumulant, 0.0)), 1.0 + np.abs(peak) / 16.0
    )
    return cumulant, weights / total, rest / total, terms


def _mean(mass, rest, values, count, theta):
    _, masses, _, _ = _tilted(mass, rest, values, theta)
    return float(np.sum(count * (masses * values).sum(axis=0)))


def _saddle(mass, rest, values, count, tolerance):
    """Return θ near the minimum of the cumulant minus 2 log θ, and the tolerance.

    Where the sum is hardly ever positive θ is only steep, and Chernoff's bound is asked for.
    """
    low = high = math.sqrt(2.0 / float(np.sum(count * mass * (values**2).sum(axis=0))))
    while _mean(mass, rest, values, count, high) * high < 2.0:
        if high * np.abs(values).max() > STEEPEST:
            return high, ONLY_CHERNOFF
        low, high = high, 2.0 * high
    while _mean(mass, rest, values, count, low) * low > 2.0:
        low, high = 0.5 * low, low
    while high > 1.01 * low:
        middle = low * math.sqrt(high / low)
        under = _mean(mass, rest, values, count, middle) * middle < 2.0
        low, high = (middle, high) if under else (low, middle)
    return low * math.sqrt(high / low), tolerance


class _TiltedLosses(TiltedSum):
    """Slots of several kinds, in units in which θ is 1."""

    def __init__(self, mass, rest, values, sizes, count):
        self.distribution, self.values, self.count = (mass, rest, values), values, count
        self._cumulants, self.masses, self.residual_mass, terms = _tilted(*self.distribution, self.theta)
        self.cumulant = math.fsum(count * self._cumulants)
        mean = (self.masses * values).sum(axis=0)
        spread = (self.masses * values**2).sum(axis=0) - mean**2
        self.variance = math.fsum(count * np.maximum(spread, 0.0))
        self._sizes = sizes
        moved, cumulant_error = self._doubt(self.theta, self.masses, terms)
        self.cumulant_error = math.fsum(count * cumulant_error)
        off = DOUBT + moved
        self.node_error = (self.masses * (DOUBT * sizes * (1.0 + off) + off * np.abs(values))).sum(axis=0)
        self.node_error += cumulant_error * (self.masses * np.abs(values)).sum(axis=0)
        bins = max(1, min(count.size, round(BIN_WORK / math.sqrt(count.size))))
        self.atoms = 2 * bins
        self._bins = [self._gather(size) for size in sorted({math.isqrt(bins), bins})]

    def growth(self, other):
        """Return an upper bound on the growth of the cumulant from θ to another point of the real axis."""
        cumulant, masses, _, terms = _tilted(*self.distribution, other)
        error = math.fsum(self.count * self._doubt(other, masses, terms)[1])
        return math.fsum(self.count * (cumulant - self._cumulants)) + error + self.cumulant_error

    def _doubt(self, theta, masses, terms):
        """Return what a tilt moves, as a share of each mass, and the errors of the cumulants."""
        moved = np.expm1(np.minimum(DOUBT * theta * self._sizes, 60.0))
        return moved, DOUBT * terms + (masses * moved).sum(axis=0)

    def _gather(self, size):
        """Return, for bins of similar slots, extremes of the differences and least products of masses."""
        order = np.argsort(self.values[0], kind="stable")
        groups = [part for part in np.array_split(order, size) if part.size]
        x = np.stack([self.values[0], self.values[1], np.zeros(self.count.size)])
        m = np.stack([self.masses[0], self.masses[1], self.residual_mass])
        bins = []
        for one, two in ((0, 1), (0, 2), (1, 2)):
            gap, product = np.abs(x[one] - x[two]), m[one] * m[two]
            ends = [[gap[part].min(), gap[part].max(), product[part].min()] for part in groups]
            bins.append(np.array(ends).T)
        return np.array([self.count[part].sum() for part in groups]), bins

    def _log_modulus_at_most(self, omega, count, bins):
        """Bound log|φ| of the whole sum at each node from bins of slots."""
        loss = np.zeros((omega.size, count.size))
        for low, high, product in bins:
            first, last = omega[:, None] * low, omega[:, None] * high
            returns = np.floor(last / (2.0 * math.pi)) > np.floor(first / (2.0 * math.pi))
            near = np.minimum(np.sin(0.5 * first) ** 2, np.sin(0.5 * last) ** 2)
            loss += np.where(returns, 0.0, 4.0 * product * near)
        return 0.5 * np.log1p(-np.minimum(loss * (1.0 - 1e-9), 1.0 - UNIT)) @ count

    def integrand(self, smoothing, step, first, size, nothing):
        """Sum over a block of nodes: bounded from bins, then slot by slot where something is left."""
        nodes = first + np.arange(size)
        for count, bins in self._bins:
            parts = np.array_split(nodes, 1 + nodes.size * count.size // CHUNK)
            bound = [self._log_modulus_at_most(step * part, count, bins) for part in parts]
            nodes = nodes[np.concatenate(bound) > -nothing]
        omega, few = step * nodes, max(1, math.isqrt(nodes.size))
        rows, row = np.unique(nodes // few, return_inverse=True)
        log_modulus, angle, relative = (np.zeros(omega.size) for _ in range(3))
        for slots in np.array_split(np.arange(self.count.size), 1 + nodes.size * self.count.size // CHUNK):
            count, z = self.count[slots], 0.0  # the slots' characteristic functions minus 1
            for value, mass in zip(self.values[:, slots], self.masses[:, slots], strict=True):
                one = cf_minus_one(np.outer(step * few * rows, value))[row]
                two = cf_minus_one(np.outer(step * np.arange(few), value))[nodes % few]
                z = z + cf_minus_one_of_sum(one, two) * mass
            log_one = log_abs_one_plus(z.real, z.imag)
            turn = np.arctan2(z.imag, 1.0 + z.real)
            log_modulus, angle = log_modulus + log_one @ count, angle + turn @ count
            relative += np.exp(-log_one) @ (count * self.node_error[slots]) * np.hypot(self.theta, omega)
            relative += (np.abs(log_one) + np.abs(turn)) @ count * (16 + self.count.size) * UNIT
            relative += 2.0 * (log_one <= SMALLEST_MODULUS) @ count
        return quadrature(
            self.theta,
            smoothing,
            omega,
            log_modulus,
            angle,
            relative,
            size * math.exp(-nothing),
            halved=first == 0,
        )

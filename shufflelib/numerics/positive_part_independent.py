r"""E[(G₁ + … + G_n)₊] where every slot has its own three-point loss.

Slot i shows, each with probability :math:`r_i`, the losses :math:`u_i - e^{\varepsilon} v_i` and
:math:`v_i - e^{\varepsilon} u_i`, and 0 otherwise.  The contour integral of `positive_part_iid` applies with
the product of the slots' generating functions; slots with equal budgets are counted, not repeated.

Most nodes of the integral lie where the product is nothing.  There it is bounded from bins of slots, for a
row of nodes at once, then for single ones: with tilted masses m and values x,
:math:`|\varphi|^2 = 1 - 2\sum_{a<b} m_a m_b (1 - \cos\omega(x_a - x_b))`, each factor at its worst in
the bin and in the row: :math:`\omega|x_a - x_b|` is between the least and the largest, and between two
multiples of 2π the sine of half of it is least at an end.  Only nodes that remain are evaluated slot by slot.
"""

import math

import numpy as np

from shufflelib.numerics.certified import LOG_ZERO, Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.nodes import cf_minus_one, cf_minus_one_of_sum
from shufflelib.numerics.saddle_point import (
    SMALLEST_MODULUS,
    Losses,
    TiltedSums,
    by_contour,
    log_abs_one_plus,
)
from shufflelib.numerics.three_point_losses import PRECISION

BIN_WORK = 5000  # bins times the square root of kinds: more kinds, fewer bins
MANY, DEEP = 500, -150.0  # more kinds than these, and the log below which they are not worth a quadrature
FEW = 8  # kinds for which a second quadrature is cheap
SHARPEST = 1e-8  # tolerance asked of it
STEEPEST = 1e4  # largest exponent at which a saddle point is looked for
BLOCK_NODES = 1 << 17
ROW = 32  # neighbouring nodes that are bounded at once, before each is alone
CHUNK = 100_000  # nodes times slots at once, so that they stay in the cache
DOUBT = PRECISION + 32 * UNIT  # the same with the rounding here


def expected_positive_part_of_slots(slots, eps, *, tolerance):
    r"""Enclose :math:`\log \mathbb E[(\sum_i G_i)_+]` in units of :math:`e^{\varepsilon}`, for ε ≥ 0.

    Both bounds are proved; both are ``-inf`` if the sum cannot be positive.  ``tolerance`` is the relative
    width aimed at.  The running time is proportional to the kinds of slots, not to their number.
    """
    mass, rest, more, less, count = slots.mass, slots.residual_mass, slots.more, slots.less, slots.count
    shrink = math.exp(-eps)
    values = np.stack([more * shrink - less, less * shrink - more])
    sizes = np.stack([more * shrink + less, less * shrink + more])
    positive = np.maximum(values + sizes * (PRECISION + 8 * UNIT), 0.0)
    crude = _log_sum(mass, count, positive.sum(axis=0)).upper
    gains = (values[0] > 0.0) | (rest == 0.0)  # at its best such a slot adds a loss; the others add 0
    best = math.fsum((count * np.where(gains, values[0], 0.0)).tolist())
    slack = (PRECISION + 16 * UNIT) * math.fsum((count * sizes[0]).tolist())
    if best <= -slack:
        return LOG_ZERO  # not even the best outcome of every slot is positive
    if crude == -math.inf or best <= slack:
        return Interval(-math.inf, crude)
    sure = (_log_product(np.where(gains, mass, rest), count) + Interval.of(best - slack).log()).lower
    if np.all(rest > 0.0):  # one slot gains and all others show nothing
        least = np.maximum(values[0] - sizes[0] * (PRECISION + 8 * UNIT), 0.0)
        sure = max(sure, (_log_product(rest, count) + _log_sum(mass / rest, count, least)).lower)
    losses = Losses(values, np.stack([mass, mass]), sizes, rest, rest, count, DOUBT, together=True)
    wanted, unknown = np.array([tolerance]), np.full(1, math.inf)
    finest = np.full(1, SHARPEST if count.size <= FEW else tolerance)
    bracket = by_contour(_Slots, losses, wanted, finest, known=unknown, steepest=STEEPEST)
    upper = min(float(bracket.upper[0]), crude)
    return Interval(min(max(float(bracket.lower[0]), sure), upper), upper)


def _log_sum(mass, count, gain):
    """Enclose the log of Σ count·mass·gain, gains ≥ 0."""
    some = gain > 0.0
    parts = Interval.of(mass[some], 40.0), Interval.of(count[some]), Interval.of(gain[some], 8.0)
    return sum((part.log() for part in parts), start=Interval.of(0.0)).log_sum()


def _log_product(mass, count):
    """Enclose the log of the chance that every slot shows what has this mass."""
    return Interval.of(math.fsum((count * np.log(mass)).tolist()), 16.0).widened(
        absolute=PRECISION * count.sum()
    )


class _Slots(TiltedSums):
    """One sum of slots of several kinds, a column for each kind."""

    def __init__(self, losses, known):
        super().__init__(losses, known)
        self.count, kinds = losses.count, losses.count.size
        self.deepest = DEEP if kinds > MANY else self.deepest
        bins = max(1, min(kinds, round(BIN_WORK / math.sqrt(kinds))))
        self.atoms = 2 * bins
        self.bins = self._gather(bins)

    def at(self, chosen):
        """Return the sum."""
        return self

    def _gather(self, size):
        """Return, for bins of similar slots, extremes of the differences and least products of masses."""
        values = self.losses.values
        order = np.argsort(values[0], kind="stable")
        starts = np.arange(size) * order.size // size
        x = np.vstack([values, np.zeros(order.size)])[:, order]
        m = np.vstack([self.tilt.masses, self.tilt.zero_mass])[:, order]
        bins = []
        for one, two in ((0, 1), (0, 2), (1, 2)):
            gap, product = np.abs(x[one] - x[two]), np.minimum.reduceat(m[one] * m[two], starts)
            bins.append((np.minimum.reduceat(gap, starts), np.maximum.reduceat(gap, starts), product))
        return np.add.reduceat(self.count[order], starts), bins

    def _log_modulus_at_most(self, omega, count, bins, reach=0.0):
        """Bound log|φ| of the sum from bins of slots, at each node and at all within ``reach`` above."""
        loss = np.zeros((omega.size, count.size))
        for low, high, product in bins:
            first, last = omega[:, None] * low, (omega + reach)[:, None] * high
            returns = np.floor(last / (2.0 * math.pi)) > np.floor(first / (2.0 * math.pi))
            near = np.minimum(np.sin(0.5 * first) ** 2, np.sin(0.5 * last) ** 2)
            loss += np.where(returns, 0.0, 4.0 * product * near)
        return 0.5 * np.log1p(-np.minimum(loss * (1.0 - 1e-9), 1.0 - UNIT)) @ count

    def nodes(self, step, count, nothing):
        """Yield nodes block by block."""
        for first in range(0, int(count[0]), BLOCK_NODES):
            last = min(first + BLOCK_NODES, int(count[0]))
            yield self._block(first, last, float(step[0]), float(nothing[0]))

    def _block(self, first, last, step, nothing):
        """Return a group of nodes: bounded from bins, rows of nodes first, then slot by slot what is left."""

        def left(nodes, more):
            parts = np.array_split(nodes, 1 + nodes.size * self.bins[0].size // CHUNK)
            bound = [self._log_modulus_at_most(step * part, *self.bins, step * more) for part in parts]
            return nodes[np.concatenate(bound) > -nothing]

        nodes = np.add.outer(left(np.arange(first, last, ROW), ROW - 1), np.arange(ROW)).ravel()
        nodes = left(nodes[nodes < last], 0)
        omega, few = step * nodes, max(1, math.isqrt(nodes.size))
        rows, row = np.unique(nodes // few, return_inverse=True)
        log_modulus, angle, relative = (np.zeros(omega.size) for _ in range(3))
        for slots in np.array_split(np.arange(self.count.size), 1 + nodes.size * self.count.size // CHUNK):
            count, z = self.count[slots], 0.0  # the slots' characteristic functions minus 1
            for value, mass in zip(self.losses.values[:, slots], self.tilt.masses[:, slots], strict=True):
                one = cf_minus_one(np.outer(step * few * rows, value))[row]
                two = cf_minus_one(np.outer(step * np.arange(few), value))[nodes % few]
                z = z + cf_minus_one_of_sum(one, two) * mass
            log_one = log_abs_one_plus(z.real, z.imag)
            turn = np.arctan2(z.imag, 1.0 + z.real)
            log_modulus, angle = log_modulus + log_one @ count, angle + turn @ count
            relative += np.exp(-log_one) @ (count * self.node_error[slots]) * np.hypot(1.0, omega)
            relative += (np.abs(log_one) + np.abs(turn)) @ count * (16 + self.count.size) * UNIT
            relative += 2.0 * (log_one <= SMALLEST_MODULUS) @ count
        return np.zeros(nodes.size, np.int64), nodes, log_modulus, angle, relative

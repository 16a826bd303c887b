r"""E[(G₁ + … + G_n)₊] where every slot has its own three-point loss.

Slot i shows, each with probability :math:`r_i`, the losses :math:`u_i - e^{\varepsilon} v_i` and
:math:`v_i - e^{\varepsilon} u_i`, and 0 otherwise.  The contour integral of `loss_sums` applies with
the product of the slots' generating functions; slots with equal budgets are counted, not repeated.

Most nodes of the integral lie where the product is nothing.  There it is bounded from few bins of
slots: with tilted masses m and values x,
:math:`|\varphi|^2 = 1 - 2\sum_{a<b} m_a m_b (1 - \cos\omega(x_a - x_b))`, each factor at its worst in
the bin.  Only the nodes that remain are evaluated slot by slot.
"""

import math

import numpy as np

from shufflelib.logspace import UNIT, logsumexp
from shufflelib.loss_sums import NOTHING_LEFT, LogBracket, TiltedSum, minus_one, on_the_line, quadrature

BINS = 160
STEEPEST = 1e4  # largest exponent at which a saddle point is looked for
CHUNK = 2_000_000  # nodes times slots at once
PRECISION = 16 * UNIT  # of a slot's mass and of its two ratios


def slot_positive_part_mean(mass, more, less, count, eps, *, tolerance):
    r"""Enclose :math:`\log \mathbb E[(\sum_i G_i)_+]` in units of :math:`e^{\varepsilon}`.

    Parameters
    ----------
    mass, more, less, count : numpy.ndarray, shape (k,)
        Kinds of slots: :math:`r`, :math:`u \ge v`, and how many slots are of that kind.
    eps : float
        ε ≥ 0.
    tolerance : float
        Relative width aimed at.

    Returns
    -------
    LogBracket
        Both ends proved; ``-inf`` on both sides if the sum cannot be positive.

    Notes
    -----
    Cost proportional to the kinds of slots, not to their number.
    """
    shrink = math.exp(-eps)
    values = np.stack([more * shrink - less, less * shrink - more])
    sizes = np.stack([more * shrink + less, less * shrink + more])
    positive = np.maximum(values[0] + sizes[0] * (PRECISION + 8 * UNIT), 0.0)
    with np.errstate(divide="ignore"):
        crude = logsumexp(np.log(mass) + np.log(count) + np.log(positive)) + 64 * UNIT + PRECISION
    best = np.where(mass < 0.5, np.maximum(values.max(axis=0), 0.0), values.max(axis=0))
    slack = (PRECISION + 16 * UNIT) * math.fsum(count * sizes.max(axis=0))
    if math.fsum(count * best) <= -slack:
        return LogBracket(-math.inf, -math.inf)  # not even the best outcome of every slot is positive
    if crude == -math.inf or math.fsum(count * best) <= slack:
        return LogBracket(-math.inf, crude)
    unit = _saddle(mass, values, count)
    if unit is None:
        return LogBracket(-math.inf, crude)
    bracket = on_the_line(_Slots(mass, values * unit, sizes * unit, count), tolerance)
    pad = 8 * UNIT * (1.0 + abs(math.log(unit)))
    upper = min(bracket.upper - math.log(unit) + pad, crude)
    return LogBracket(min(bracket.lower - math.log(unit) - pad, upper), upper)


def _tilted(mass, values, theta):
    """Return cumulants, tilted masses (of the two losses and of 0) and the terms the cumulants came from."""
    exponent = theta * values
    nothing = np.maximum(1.0 - 2.0 * mass, 0.0)
    peak = np.where(nothing > 0.0, np.maximum(exponent.max(axis=0), 0.0), exponent.max(axis=0))
    growth = mass * np.expm1(np.minimum(exponent, 1.0))
    weights = mass * np.exp(exponent - peak)
    rest = nothing * np.exp(-np.maximum(peak, 0.0))
    total = weights.sum(axis=0) + rest
    small = np.abs(peak) < 1.0
    with np.errstate(divide="ignore"):
        cumulant = np.where(small, np.log1p(np.where(small, growth.sum(axis=0), 0.0)), peak + np.log(total))
    terms = np.where(small, np.abs(growth).sum(axis=0) / np.exp(np.where(small, cumulant, 0.0)), 1.0)
    return cumulant, weights / total, rest / total, terms


def _mean(mass, values, count, theta):
    _, masses, _, _ = _tilted(mass, values, theta)
    return float(np.sum(count * (masses * values).sum(axis=0)))


def _saddle(mass, values, count):
    """Return θ near the minimum of the cumulant minus 2 log θ; None where the sum is hardly ever positive."""
    low = high = math.sqrt(2.0 / float(np.sum(count * mass * (values**2).sum(axis=0))))
    while _mean(mass, values, count, high) * high < 2.0:
        if high * np.abs(values).max() > STEEPEST:
            return None
        low, high = high, 2.0 * high
    while _mean(mass, values, count, low) * low > 2.0:
        low, high = 0.5 * low, low
    while high > 1.01 * low:
        middle = low * math.sqrt(high / low)
        low, high = (middle, high) if _mean(mass, values, count, middle) * middle < 2.0 else (low, middle)
    return low * math.sqrt(high / low)


class _Slots(TiltedSum):
    """Slots of several kinds, in units in which θ is 1."""

    def __init__(self, mass, values, sizes, count):
        self.mass, self.values, self.count = mass, values, count
        cumulant, self.masses, self.rest, terms = _tilted(mass, values, self.theta)
        self.cumulant = math.fsum(count * cumulant)
        mean = (self.masses * values).sum(axis=0)
        spread = (self.masses * values**2).sum(axis=0) - mean**2
        self.variance = math.fsum(count * np.maximum(spread, 0.0))
        doubt = PRECISION + 32 * UNIT
        self.cumulant_error = doubt * math.fsum(count * (terms + (self.masses * sizes).sum(axis=0)))
        self.node_error = doubt * (self.masses * sizes * (1.0 + sizes)).sum(axis=0)
        self.atoms = 2 * min(mass.size, BINS)
        self._bins = self._gather()

    def growth(self, other):
        """Return the growth of the cumulant from θ to another point of the real axis."""
        cumulant, _, _, _ = _tilted(self.mass, self.values, other)
        here, _, _, _ = _tilted(self.mass, self.values, self.theta)
        return math.fsum(self.count * (cumulant - here))

    def _gather(self):
        """Return, for bins of similar slots, extremes of the differences and least products of masses."""
        order = np.argsort(self.values[0], kind="stable")
        groups = [part for part in np.array_split(order, min(BINS, order.size)) if part.size]
        x = np.stack([self.values[0], self.values[1], np.zeros(self.count.size)])
        m = np.stack([self.masses[0], self.masses[1], self.rest])
        bins = []
        for one, two in ((0, 1), (0, 2), (1, 2)):
            gap, product = np.abs(x[one] - x[two]), m[one] * m[two]
            ends = [[gap[part].min(), gap[part].max(), product[part].min()] for part in groups]
            bins.append(np.array(ends).T)
        return np.array([self.count[part].sum() for part in groups]), bins

    def _log_modulus_at_most(self, omega):
        """Bound log|φ| of the whole sum at each node from the bins."""
        count, bins = self._bins
        loss = np.zeros((omega.size, count.size))
        for low, high, product in bins:
            first, last = omega[:, None] * low, omega[:, None] * high
            returns = np.floor(last / (2.0 * math.pi)) > np.floor(first / (2.0 * math.pi))
            near = np.minimum(np.sin(0.5 * first) ** 2, np.sin(0.5 * last) ** 2)
            loss += np.where(returns, 0.0, 4.0 * product * near)
        return 0.5 * np.log1p(-np.minimum(loss * (1.0 - 1e-9), 1.0 - UNIT)) @ count

    def integrand(self, smoothing, step, first, size):
        """Sum over a block of nodes: bounded from bins, then slot by slot where something is left."""
        nodes = first + np.arange(size)
        chunk = max(1, CHUNK // (8 * BINS))
        bound = [self._log_modulus_at_most(step * nodes[i : i + chunk]) for i in range(0, size, chunk)]
        alive = nodes[np.concatenate(bound) > -NOTHING_LEFT]
        omega = step * alive
        log_modulus, angle, relative = (np.zeros(alive.size) for _ in range(3))
        chunk = max(1, CHUNK // self.count.size)
        for i in range(0, alive.size, chunk):
            here = slice(i, i + chunk)
            turned = [
                minus_one(np.outer(omega[here], value)) * m
                for value, m in zip(self.values, self.masses, strict=True)
            ]
            phi = turned[0] + turned[1]
            x, y = phi.real, phi.imag
            log_one = 0.5 * np.log1p(np.maximum(2.0 * x + x * x + y * y, -1.0 + UNIT))
            turn = np.arctan2(y, 1.0 + x)
            log_modulus[here], angle[here] = log_one @ self.count, turn @ self.count
            relative[here] = (
                np.exp(-log_one) @ (self.count * self.node_error) * np.hypot(self.theta, omega[here])
            )
            relative[here] += np.hypot(log_one, turn) @ self.count * 16 * UNIT + 64 * UNIT
        return quadrature(
            self.theta, smoothing, omega, log_modulus, angle, relative, halved=first == 0, size=size
        )

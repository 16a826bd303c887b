r"""Binary randomized response before every population at once.

A user reports their bit with probability b and the other one with probability a = 1/(1 + e^ε₀).  Of the n −
1 other users s hold a one, so that :math:`K_s \sim \mathrm{Bin}(s, b) + \mathrm{Bin}(n-1-s, a)` of them
report one; the user who changes adds a Bernoulli variable, of mean a or b.  Summing :math:`P -
e^{\varepsilon} Q` over the counts up to k gives, with f and F the distribution and the distribution function
of :math:`K_s` and :math:`c_0 = b - e^{\varepsilon} a,\; c_1 = e^{\varepsilon} b - a`,

.. math:: H_s(k) = c_0 f(k) - (e^{\varepsilon} - 1) F(k - 1), \qquad \delta_s(\varepsilon) = \max_k H_s(k).

The maximum over k is over a set of counts that is a lower tail because f is log-concave.  Exchanging the
two reports is exchanging s and n − 1 − s.

One sum for all populations
---------------------------
The generating function of :math:`H_s` is known in closed form, so that with N equally spaced points
:math:`z_j` on a circle of radius :math:`r = e^{-\theta} < 1`

.. math:: \frac1N \sum_j \varphi_a(z_j)^{n-1-s} \varphi_b(z_j)^{s}\, z_j^{-k}\,
          \frac{c_0 - c_1 z_j}{1 - z_j} = \sum_{l} r^{lN} H_s(k + lN), \qquad
          \varphi_p(z) = 1 + p\,(z - 1).

*Aliases* (l ≠ 0): those on the right are at most :math:`\max(c_0, e^{\varepsilon}-1)\, r^{lN}`, those on the
left are bounded by Chernoff's inequality, :math:`0 \le H_s(m) \le c_0 F(m)` for m < k.  *Nodes left out*:
both factors fall in modulus along the half circle.  *Rounding* is added up node by node.

The left side makes sense for real s and real k.  That is what bounds all populations: it is a finite sum of
exponentials linear in (s, k), and Taylor's formula with the moduli of the terms in the remainder bounds it on
a box.  Where k has to be looked for is known: :math:`H_s` rises up to the mode of :math:`K_s` tilted by
:math:`(c_0/c_1)^k`, and the mode of a sum of independent Bernoulli variables is less than 1 from its mean
(Darroch, Ann. Math. Stat. 35, 1964).  Measured from that mean, which is linear in s, the sum depends on s
only through the skewness: over *all* s it moves by a share of order :math:`n^{-1/2}`.
"""

import math

import numpy as np
from scipy.special import expit

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT, log_expm1
from shufflelib.numerics.saddle_point import DEEPEST

LARGEST_TILT = 300.0  # beyond it nothing but the empty count matters
NEGLIGIBLE = 36.0  # e-folds below the number itself at which aliases are
LEFT_OUT = 55.0  # e-folds below the largest at which nodes are
FEWEST_DEVIATIONS = 1.5  # of the circle's radius from 1
MOST_NODES = 2000
CHUNK = 500_000  # terms held at once


class BinaryPopulations:
    r"""The values :math:`H_s(k)` at one ε, in units of :math:`e^{\text{log unit}}`.

    Needs 0 ≤ eps < eps0, a tilt :math:`\log(c_1/c_0)` of at most `LARGEST_TILT`, and ``others`` = n − 1 ≥ 1.
    Where the values are too small to be worth a sum, or the sum would be too long, ``summable`` is false and
    only the upper bound ``log_chernoff`` is known.
    """

    def __init__(self, eps0, eps, others):
        self.others = others
        self.log_gain, self.tilt = gain_and_tilt(eps0, eps)
        log_drop = log_expm1(eps) - self.log_gain  # of (e^ε − 1)/c_0
        doubt = 8.0 + 2.0 * eps0 + 2.0 * self.tilt + (abs(log_drop) if eps > 0.0 else 0.0)
        self.doubt = doubt * UNIT  # relative error of everything computed from eps0 and the tilt

        # tilted means, of a count and of a count minus 1; any nearby numbers would do
        self.mean_a, self.mean_b = float(expit(-self.tilt - eps0)), float(expit(self.tilt - eps0))
        spread = others * max(self.mean_a * (1 - self.mean_a), self.mean_b * (1 - self.mean_b))
        self.slack = 1e-9 + 4.0 * self.doubt * others * max(self.mean_a, self.mean_b)
        self.window = 1.0 + self.slack  # the best count is this close to the tilted mean
        self.theta = theta = max(self.tilt, FEWEST_DEVIATIONS / math.sqrt(1.0 + spread))
        self.located = self.window * theta < 600.0
        self.farthest = max(self.window, 1.5) if self.located else 1.5  # of the counts tried

        self.small = float(expit(-eps0))
        rates = self._rates(theta)
        self.top = top = others * max(rates)
        self.log_unit = self.log_gain + top
        # H(k) ≤ c₀ F(k) ≤ c₀ M(r) r^{-k}
        chernoff = self.log_unit + self.farthest * theta + 1e-9 * abs(top)
        self.log_chernoff = chernoff if self.located else math.inf
        self.summable = False
        if top > DEEPEST:
            self._place_circle(eps0, log_drop, spread)

    def _place_circle(self, eps0, log_drop, spread):
        theta, top = self.theta, self.top
        deviation = math.sqrt(1.0 + spread)
        wanted = top - 3.0 - math.log(deviation) - 2.0 * math.log1p(theta * deviation) - NEGLIGIBLE
        size, log_alias = self._size_and_alias(wanted, log_drop, deviation)
        self.alias = math.exp(min(log_alias - top, 300.0))
        self._place_nodes(size, eps0)

    def _rates(self, theta):
        """Return the logs of φ_a(r) r^{-mean} and of φ_b(r)/r · r^{+mean}, both about −(mean−mean')²/2."""
        return (
            math.log1p(self.small * math.expm1(-theta)) + self.mean_a * theta,
            math.log1p(self.small * math.expm1(theta)) - self.mean_b * theta,
        )

    def _size_and_alias(self, wanted, log_drop, deviation):
        """Return an odd number of points that keeps both aliases below e^wanted, and the log of their sum."""
        theta, drop = self.theta, max(log_drop, 0.0)
        steps = np.array([0.3, 1.0, 2.0, 4.0, 6.0, 9.0, 13.0, 18.0, 25.0, 40.0]) / deviation
        steps = steps[theta + steps < 690.0]
        excess = np.array([self.others * max(self._rates(theta + step)) for step in steps])
        excess = excess + self.farthest * (theta + steps)
        left = np.min((excess - wanted + 1.0) / steps, initial=self.others + 2.0)  # no count is farther below
        size = 2 * math.ceil(max((drop - wanted + 1.0) / theta, left, 3.0) / 2.0) + 1
        right = drop - size * theta - math.log(-math.expm1(-size * theta))
        if size >= self.others + 2:
            return size, right
        left = np.min(excess - steps * size - np.log(-np.expm1(-steps * size)), initial=math.inf)
        return size, np.logaddexp(right, left)

    def _place_nodes(self, size, eps0):
        theta, others = self.theta, self.others
        chance_a, chance_b = float(expit(-theta - eps0)), float(expit(theta - eps0))
        least = min(chance_a * (1.0 - chance_a), chance_b * (1.0 - chance_b))
        reach = -math.expm1(-2.0 * LEFT_OUT / others) / max(4.0 * least, 1e-300)
        half = (size - 1) // 2
        last = half if reach >= 1.0 else min(half, math.ceil(size * math.asin(math.sqrt(reach)) / math.pi))
        if last > MOST_NODES:
            return
        self.summable = True
        angle = 2.0 * math.pi / size * np.arange(last + 1)
        self.log_z = -theta + 1j * angle
        self.rate_a, self.rate_b = self._rates(theta)

        log_a, self.size_a = _turned(chance_a, angle, self.mean_a, theta)
        log_b, self.size_b = _turned(chance_b, angle, self.mean_b, theta)
        self.log_a, self.log_b = log_a, np.conj(log_b)
        self.size_a = self.size_a + abs(math.log1p(self.small * math.expm1(-theta)))
        self.size_b = self.size_b + abs(math.log1p(self.small * math.expm1(theta)))

        away = np.expm1(self.log_z)
        numerator = np.expm1(self.tilt - theta + 1j * angle)
        share = np.where(np.arange(last + 1) == 0, 1.0, 2.0) / size
        self.weight = share * numerator / away
        self.weight_doubt = 2.0 * share * self.doubt * (np.abs(numerator) + self.tilt) / np.abs(away)
        worst = (1.0 + math.exp(self.tilt - theta)) / -math.expm1(-theta)
        left_out = worst * math.exp(self.farthest * theta - LEFT_OUT * (1.0 - 1e-9))
        self.left_out = left_out if last < half else 0.0

    def _terms(self, s):
        rest = self.others - s
        return np.exp(
            (rest * self.rate_a + s * self.rate_b - self.top)[:, None]
            + rest[:, None] * self.log_a
            + s[:, None] * self.log_b
        )

    def _error(self, rest, s, moduli, factors):
        """Bound aliases, nodes left out and rounding for terms of the given moduli times each factor."""
        plain = np.abs(self.weight)
        columns = [
            self.weight_doubt + (64 + plain.size) * UNIT * plain,
            plain * self.size_a,
            plain * self.size_b,
        ]
        fixed, first, second = (moduli @ np.stack(columns, axis=1)).T
        rounding = 1.3 * (fixed + self.doubt * (rest * first + s * second))
        return rounding[:, None] * factors + (self.alias + self.left_out)

    def one_by_one(self, s):
        r"""Enclose :math:`\delta_s` for an array of whole s in 0 … n − 1, in its shape.

        Both bounds hold; the upper ones are infinite where n is so large that the best count is not resolved.
        """
        return Interval(*self._in_chunks(self._one_by_one, np.asarray(s, float)))

    def _in_chunks(self, function, *parts):
        size = max(1, CHUNK // self.log_z.size)
        chunks = [function(*(part[i : i + size] for part in parts)) for i in range(0, parts[0].size, size)]
        return tuple(np.concatenate(part) for part in zip(*chunks, strict=True))

    def _one_by_one(self, s):
        centre = (self.others - s) * self.mean_a - s * self.mean_b
        whole = np.rint(centre)
        offset = whole - centre
        terms = self._terms(s) * np.exp(-offset[:, None] * self.log_z)
        step = np.array([-1.0, 0.0, 1.0])
        values = (terms @ (np.exp(-np.outer(self.log_z, step)) * self.weight[:, None])).real
        error = self._error(self.others - s, s, np.abs(terms), np.exp(self.theta * step))
        lower = (values - error).max(axis=1)
        if self.slack > 0.4:
            return lower, np.full(s.size, math.inf)
        # Darroch: the mode is the whole number m next to the mean within 1/(m + 2) above it and within
        # 1/(n + 1 - m) below it, n the number of trials
        count = np.maximum(s + whole, 0.0)
        possible = np.stack(
            [
                offset + self.slack > 1.0 / np.maximum(self.others - count + 2.0, 1.0),
                np.ones(s.size, bool),
                self.slack - offset > 1.0 / (count + 2.0),
            ],
            axis=1,
        )
        return lower, np.where(possible, values + error, -math.inf).max(axis=1)

    def in_cells(self, first, last):
        r"""Return upper bounds on :math:`\max_{s, k} H_s(k)` over ``first`` ≤ s ≤ ``last``, for real s and k.

        The second array has what each would be for the middle s alone.
        """
        if not self.located:
            return np.full(first.size, math.inf), np.full(first.size, math.inf)
        return self._in_chunks(self._in_cells, first, last)

    def _in_cells(self, first, last):
        s, half = 0.5 * (first + last), 0.5 * (last - first) * (1.0 + 1e-12)
        terms = self._terms(s)
        moduli = np.abs(terms)
        drift = (self.rate_b - self.rate_a) + self.log_b - self.log_a
        speed = np.abs(drift) + self.doubt * (self.size_a + self.size_b)
        size, steep = np.abs(self.weight), np.abs(self.log_z)
        pieces = int(min(16, max(1, math.ceil(4.0 * self.window * math.hypot(self.theta, steep[-1] / 3)))))
        reach = self.window / pieces
        third, mixed, second = (
            moduli @ np.stack([size * steep**3, size * speed * steep, size * speed**2], axis=1)
        ).T
        # of the value, of its derivatives over the reach, and of what moves with s
        error = self._error(self.others - s + half, s + half, moduli, np.exp(reach * steep[-1:]))[:, 0]
        exponent = half * speed.max()
        # a long piece whose terms grow beyond all bounds has no bound
        growth = np.where(exponent < 300.0, np.exp(np.minimum(exponent, 300.0)), math.inf)
        curved = np.zeros(s.size)
        np.multiply(0.5 * half**2 * np.maximum(second, 1e-300), growth, out=curved, where=half > 0.0)
        bound = np.full(s.size, -math.inf)
        middle = bound.copy()
        for y in reach * (2.0 * np.arange(pieces) + 1.0 - pieces):
            columns = self.weight * np.exp(-y * self.log_z)
            value, tangent, bend, along = (
                terms
                @ np.stack([columns, -columns * self.log_z, columns * self.log_z**2, columns * drift], axis=1)
            ).real.T
            scale = math.exp(self.theta * (y + reach))
            here = value + _highest(tangent, bend, reach) + scale * (third * reach**3 / 6.0 + error)
            sideways = half * np.abs(along) + scale * (half * reach * mixed + curved)
            bound, middle = np.maximum(bound, here + sideways), np.maximum(middle, here)
        return bound, middle


def gain_and_tilt(eps0, eps):
    """Return log c₀ and log c₁/c₀ for 0 ≤ eps < eps0."""
    log_gain = eps + log_expm1(eps0 - eps) - float(np.logaddexp(0.0, eps0))
    return log_gain, float(np.logaddexp(0.0, log_expm1(eps) - log_gain))


def _turned(chance, angle, mean, theta):
    """Return log(1 + chance (e^{i·angle} − 1)) − i·mean·angle, and what its error is a multiple of."""
    half = np.sin(0.5 * angle)
    real, imaginary = 1.0 - 2.0 * chance * half * half, chance * np.sin(angle)
    modulus = np.hypot(real, imaginary)
    log_modulus = np.where(
        modulus > 0.5,
        0.5 * np.log1p(np.maximum(-4.0 * chance * (1.0 - chance) * half * half, -1.0 + 1e-16)),
        np.log(np.maximum(modulus, 1e-300)),
    )
    turn = np.arctan2(imaginary, real)
    size = (np.abs(log_modulus) + np.abs(turn)) / np.maximum(modulus, 1e-300)
    return log_modulus + 1j * (turn - mean * angle), size + mean * np.hypot(theta, angle)


def _highest(tangent, bend, reach):
    """Return the largest value of tangent·u + bend·u²/2 over |u| ≤ reach, at least 0."""
    edge = np.abs(tangent) * reach + 0.5 * bend * reach**2
    inside = (bend < 0.0) & (np.abs(tangent) < -bend * reach)
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where(inside, -0.5 * tangent**2 / bend, 0.0)
    return np.where(inside, vertex, np.maximum(edge, 0.0))

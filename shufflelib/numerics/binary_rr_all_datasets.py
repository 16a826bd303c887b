r"""Randomizers with two outputs before every population at once.

Who holds a zero reports one with probability a, who holds a one with probability b > a.  The two rows are
given by their largest losses, :math:`\varepsilon_0 = \log\frac{1-a}{1-b}` of the report zero and
:math:`\varepsilon_1 = \log\frac{b}{a}` of the report one, so that

.. math:: a = \frac{e^{\varepsilon_0} - 1}{e^{\varepsilon_0 + \varepsilon_1} - 1}, \qquad
          1 - b = \frac{e^{\varepsilon_1} - 1}{e^{\varepsilon_0 + \varepsilon_1} - 1};

binary randomized response has :math:`\varepsilon_1 = \varepsilon_0`.  Of the n − 1 other users s hold a one,
so that :math:`K_s \sim \mathrm{Bin}(s, b) + \mathrm{Bin}(n-1-s, a)` of them report one; the user who changes
adds a Bernoulli variable, of mean a under P and b under Q.  Summing :math:`P - e^{\varepsilon} Q` over the
counts up to k gives, with f and F the distribution and the distribution function of :math:`K_s`,
:math:`c_0 = 1 - a - e^{\varepsilon}(1 - b)` and :math:`c_1 = e^{\varepsilon} b - a`,

.. math:: H_s(k) = c_0 f(k) - (c_1 - c_0) F(k - 1), \qquad c_1 - c_0 = e^{\varepsilon} - 1, \qquad
          \delta_s(\varepsilon) = \max_k H_s(k).

The maximum over k is over a set of counts that is a lower tail because f is log-concave.  Exchanging P and Q
is exchanging the losses, and s and n − 1 − s.

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

Many ε and many s at once
-------------------------
Everything is an array over ε and, where it depends on them, over the nodes of each, padded with nodes of no
weight.  Populations come in blocks of `STRIDE` with one ε.  For consecutive s the phases are products: one
number for the block and each node, times powers that all blocks share.
"""

import copy
import itertools
import math
from typing import NamedTuple

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
STRIDE = 25  # populations in a block, one after the other
CELLS = 8  # pieces in a block
CHUNK = 50_000  # terms held at once
BESIDE = np.array([-1.0, 0.0, 1.0])  # counts that are tried, from the one nearest to the mean
PHASES = 64 + 64 * STRIDE  # units of a term's rounding: of powers up to `STRIDE`, and of all else
STEPS = np.array([0.3, 1.0, 2.0, 4.0, 6.0, 9.0, 13.0, 18.0, 25.0, 40.0])  # of Chernoff's θ, in 1/deviations


class BinaryPopulations:
    r"""The values :math:`H_s(k)` at an array of ε, in units of :math:`e^{\text{log unit}}`.

    ``eps1`` is the largest loss of the report one, by default ``eps0``, that of the report zero.  Needs
    0 ≤ eps < eps0, a tilt :math:`\log(c_1/c_0)` of at most `LARGEST_TILT`, and ``others`` = n − 1 ≥ 1.
    Where the values are too small to be worth a sum, or the sum would be too long, ``summable`` is false and
    only the upper bound ``log_chernoff`` is known.
    """

    def __init__(self, eps0, eps, others, eps1=None):
        eps = np.asarray(eps, float)
        self.others = others
        rows = Rows.of(eps0, eps0 if eps1 is None else eps1)
        self.log_gain, self.tilt = gain_and_tilt(rows, eps)
        log_drop = log_expm1(eps) - self.log_gain  # of (e^ε − 1)/c_0
        doubt = 8.0 + abs(rows.zero) + abs(rows.one) + rows.rounding + 2.0 * self.tilt
        doubt += np.where(eps > 0.0, np.abs(log_drop), 0.0)
        self.doubt = doubt * UNIT  # relative error of everything computed from losses and tilt

        # tilted means, of a count and of a count minus 1; any nearby numbers would do
        self.mean_a, self.mean_b = expit(-self.tilt - rows.zero), expit(self.tilt - rows.one)
        spread = others * np.maximum(self.mean_a * (1 - self.mean_a), self.mean_b * (1 - self.mean_b))
        self.slack = 1e-9 + 4.0 * self.doubt * others * np.maximum(self.mean_a, self.mean_b)
        self.window = 1.0 + self.slack  # the best count is this close to the tilted mean
        self.theta = np.maximum(self.tilt, FEWEST_DEVIATIONS / np.sqrt(1.0 + spread))
        self.located = self.window * self.theta < 600.0
        self.farthest = np.where(self.located, np.maximum(self.window, 1.5), 1.5)  # of the counts tried

        self.small_a, self.small_b = float(expit(-rows.zero)), float(expit(-rows.one))
        self.rate_a, self.rate_b = self._rates(self.theta)
        self.top = others * np.maximum(self.rate_a, self.rate_b)
        self.log_unit = self.log_gain + self.top
        # H(k) ≤ c₀ F(k) ≤ c₀ M(r) r^{-k}
        chernoff = self.log_unit + self.farthest * self.theta + 1e-9 * np.abs(self.top)
        self.log_chernoff = np.where(self.located, chernoff, math.inf)
        with np.errstate(all="ignore"):  # where no sum will be
            self._place_circle(rows, log_drop, spread)

    def _place_circle(self, rows, log_drop, spread):
        theta, top = self.theta, self.top
        deviation = np.sqrt(1.0 + spread)
        wanted = top - 3.0 - np.log(deviation) - 2.0 * np.log1p(theta * deviation) - NEGLIGIBLE
        size, log_alias = self._size_and_alias(wanted, log_drop, deviation)
        self.alias = np.exp(np.minimum(log_alias - top, 300.0))
        chances = expit(-theta - rows.zero), expit(theta - rows.one)
        least = np.minimum(*(chance * (1.0 - chance) for chance in chances))
        reach = -math.expm1(-2.0 * LEFT_OUT / self.others) / np.maximum(4.0 * least, 1e-300)
        half = 0.5 * (size - 1.0)
        last = np.minimum(half, np.ceil(size * np.arcsin(np.sqrt(np.minimum(reach, 1.0))) / math.pi))
        last = np.where(reach >= 1.0, half, last)
        self.summable = (top > DEEPEST) & (last <= MOST_NODES)
        last = np.where(self.summable, last, 0.0)
        self.nodes = last + 1.0
        self._place_nodes(np.where(self.summable, size, 1.0), last, *chances)
        worst = (1.0 + np.exp(self.tilt - theta)) / -np.expm1(-theta)
        left_out = worst * np.exp(self.farthest * theta - LEFT_OUT * (1.0 - 1e-9))
        self.left_out = np.where(last < half, left_out, 0.0)

    def _rates(self, theta):
        """Return the logs of φ_a(r) r^{-mean} and of φ_b(r)/r · r^{+mean}, both about −(mean−mean')²/2."""
        return (
            np.log1p(self.small_a * np.expm1(-theta)) + self.mean_a * theta,
            np.log1p(self.small_b * np.expm1(theta)) - self.mean_b * theta,
        )

    def _size_and_alias(self, wanted, log_drop, deviation):
        """Return an odd number of points that keeps both aliases below e^wanted, and the log of their sum."""
        theta, drop = self.theta, np.maximum(log_drop, 0.0)
        steps = STEPS[:, None] / deviation
        steps = np.where(theta + steps < 690.0, steps, np.nan)
        excess = self.others * np.maximum(*self._rates(theta + steps)) + self.farthest * (theta + steps)
        left = np.fmin.reduce((excess - wanted + 1.0) / steps)  # NaN if no step is short enough
        left = np.fmin(left, self.others + 2.0)  # no count is farther below
        least = np.maximum(np.maximum((drop - wanted + 1.0) / theta, left), 3.0)
        size = 2.0 * np.ceil(0.5 * least) + 1.0
        right = drop - size * theta - np.log(-np.expm1(-size * theta))
        left = np.fmin.reduce(excess - steps * size - np.log(-np.expm1(-steps * size)))
        left = np.where(np.isnan(left), math.inf, left)
        return size, np.where(size >= self.others + 2, right, np.logaddexp(right, left))

    def _place_nodes(self, size, last, chance_a, chance_b):
        """Set the nodes of every ε and what belongs to them, shapes (k, nodes)."""
        theta, tilt = self.theta[:, None], self.tilt[:, None]
        number = np.arange(last.max() + 1.0)
        used = number <= last[:, None]
        angle = np.where(used, 2.0 * math.pi / size[:, None] * number, 0.0)
        self.log_z = -theta + 1j * angle

        log_a, turn_a, self.size_a = _turned(chance_a[:, None], angle, self.mean_a[:, None], theta)
        log_b, turn_b, self.size_b = _turned(chance_b[:, None], angle, self.mean_b[:, None], theta)
        self.log_a, self.log_b = log_a + 1j * turn_a, log_b - 1j * turn_b
        self.size_a = self.size_a + np.abs(np.log1p(self.small_a * np.expm1(-theta)))
        self.size_b = self.size_b + np.abs(np.log1p(self.small_b * np.expm1(theta)))

        away, numerator = np.expm1(self.log_z), np.expm1(tilt - theta + 1j * angle)
        share = np.where(used, np.where(number == 0, 1.0, 2.0) / size[:, None], 0.0)
        self.weight = share * numerator / away
        plain = np.abs(self.weight)
        doubt = 2.0 * share * self.doubt[:, None] * (np.abs(numerator) + tilt) / np.abs(away)
        rounding = doubt + (PHASES + self.nodes[:, None]) * UNIT * plain
        self._doubts = np.stack([rounding, plain * self.size_a, plain * self.size_b], axis=1)
        # what the terms of s + j are times those of s, the count as near to its mean: it falls by one of two
        lag = (self.mean_a + self.mean_b)[:, None]
        step = self.log_b - self.log_a - 1j * lag * angle
        j = np.arange(STRIDE)
        fall = np.floor(j * lag)
        self._fall = fall[:, :, None]
        counted = _powers(np.exp(1j * angle), STRIDE + 1)
        counted = counted[np.arange(fall.shape[0])[:, None, None], fall[:, None].astype(int) + [[0], [1]]]
        self._steps = _powers(np.exp(step), STRIDE)[:, None] * counted
        self._growth = np.exp(j[:, None] * step.real[:, None])
        self._beside = self.weight[:, None] * np.exp(-self.log_z[:, None] * BESIDE[:, None])

    def _error(self, which, rest, s, moduli):
        """Bound the rounding of sums of terms of the given moduli."""
        sums = moduli @ self._doubts[which].swapaxes(1, 2)
        moved = rest * sums[:, :, 1] + s * sums[:, :, 2]
        return 1.3 * (sums[:, :, 0] + self.doubt[which, None] * moved)

    def _scale(self, which, rest, s):
        """Return the modulus of each population's term at the first node, as the log."""
        one, two = self.rate_a[which, None], self.rate_b[which, None]
        return rest * one + s * two - self.top[which, None]

    def one_by_one(self, which, first, last):
        r"""Enclose :math:`\delta_s` for whole s from ``first`` to ``last``, each range at one of the ε.

        Returns which ε and which s it is, and the interval, for all s of all ranges in turn.  Both bounds
        hold; the upper ones are infinite where n is so large that the best count is not resolved.
        """
        which, first, last = np.asarray(which), np.asarray(first, float), np.asarray(last, float)
        owner, block = _blocks((last - first + 1.0).astype(int), STRIDE)
        which = which[owner]
        s, end = (first[owner] + STRIDE * block)[:, None] + np.arange(float(STRIDE)), last[owner, None]
        ends = self._in_chunks(BinaryPopulations._one_by_one, which, np.minimum(s, end))
        inside = s <= end
        return np.repeat(which, inside.sum(axis=1)), s[inside], Interval(*(end[inside] for end in ends))

    def _in_chunks(self, function, which, *parts):
        """Apply a function of blocks to a few of them at a time, with as many nodes as those have."""
        terms = np.cumsum(self.nodes[which]) * parts[0].shape[1]
        starts = np.append(0, np.flatnonzero(np.diff(terms // CHUNK)) + 1)
        chunks = []
        for start, end in itertools.pairwise(np.append(starts, which.size)):
            some = which[start:end]
            part = self._part(some[0], some[-1] + 1, int(self.nodes[some].max()))
            chunks.append(function(part, some - some[0], *(one[start:end] for one in parts)))
        return tuple(np.concatenate(ends) for ends in zip(*chunks, strict=True))

    def _part(self, first, last, nodes):
        """Return the same for some of the ε, with so many nodes."""
        if (last - first, nodes) == self.log_z.shape:
            return self
        part = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(part, name, value[first:last] if value.ndim == 1 else value[first:last, ..., :nodes])
        return part

    def _one_by_one(self, which, s):
        rest = self.others - s
        centre = rest * self.mean_a[which, None] - s * self.mean_b[which, None]
        whole = np.rint(centre)
        fall = self._fall[which, :, 0]
        late = whole[:, :1] - whole > fall  # the count falls by one more
        whole = whole[:, :1] - fall - late
        offset = whole - centre
        start = rest[:, :1] * self.log_a[which] + s[:, :1] * self.log_b[which]
        start -= 1j * offset[:, :1] * self.log_z.imag[which]
        terms = self._steps[which[:, None], late.astype(int), np.arange(STRIDE)]
        terms *= np.exp(start)[:, None]
        moduli = self._growth[which] * np.exp(start.real)[:, None]
        theta = self.theta[which, None]
        scale = np.exp(self._scale(which, rest, s) + offset * theta)
        values = (terms @ self._beside[which].swapaxes(1, 2)).real * scale[:, :, None]
        rounding, fixed = (
            self._error(which, rest, s, moduli) * scale,
            (self.alias + self.left_out)[which, None],
        )
        errors = [rounding * np.exp(theta * step) + fixed for step in BESIDE]
        lower = [values[:, :, i] - errors[i] for i in range(3)]
        upper = [values[:, :, i] + errors[i] for i in range(3)]
        # Darroch: the mode is the whole number m next to the mean within 1/(m + 2) above it and within
        # 1/(n + 1 - m) below it, n the number of trials
        count, slack = np.maximum(s + whole, 0.0), self.slack[which, None]
        before = offset + slack > 1.0 / np.maximum(self.others - count + 2.0, 1.0)
        after = slack - offset > 1.0 / (count + 2.0)
        highest = np.maximum(upper[1], np.where(before, upper[0], -math.inf))
        highest = np.maximum(highest, np.where(after, upper[2], -math.inf))
        return np.maximum.reduce(lower), np.where(slack > 0.4, math.inf, highest)

    def in_cells(self, which, first, last):
        r"""Return upper bounds on :math:`\max_{s, k} H_s(k)` over ``first`` ≤ s ≤ ``last``, for real s and k.

        One for each piece, those of one ε together.  The second array has what each would be for the middle s
        alone.
        """
        starts = np.flatnonzero(np.diff(which, prepend=-1))
        length = np.diff(np.append(starts, which.size))
        owner, block = _blocks(length, CELLS)
        place = np.minimum(CELLS * block[:, None] + np.arange(CELLS), length[owner, None] - 1)
        place += starts[owner, None]
        parts = which[starts][owner], first[place].astype(float), last[place].astype(float)
        bound, middle = np.empty((2, which.size))
        with np.errstate(over="ignore", invalid="ignore"):  # at an ε whose count is not located
            bound[place], middle[place] = self._in_chunks(BinaryPopulations._in_cells, *parts)
        unknown = ~self.located[which]
        bound[unknown] = middle[unknown] = math.inf
        return bound, middle

    def _in_cells(self, which, first, last):
        s, half = 0.5 * (first + last), 0.5 * (last - first) * (1.0 + 1e-12)
        rest = self.others - s
        terms = np.exp(rest[:, :, None] * self.log_a[which, None] + s[:, :, None] * self.log_b[which, None])
        moduli, scale = np.abs(terms), np.exp(self._scale(which, rest, s))
        drift = (self.rate_b - self.rate_a)[:, None] + self.log_b - self.log_a
        speed = np.abs(drift) + self.doubt[:, None] * (self.size_a + self.size_b)
        size, steep = np.abs(self.weight), np.abs(self.log_z)
        steepest, fastest = steep.max(axis=1), speed.max(axis=1)
        pieces = np.ceil(4.0 * self.window * np.hypot(self.theta, steepest / 3))
        pieces = np.fmin(np.maximum(pieces, 1.0), 16.0)
        reach = self.window / pieces
        columns = np.stack([size * steep**3, size * speed * steep, size * speed**2], axis=1)
        moments = moduli @ columns[which].swapaxes(1, 2) * scale[:, :, None]
        # of the value, of its derivatives over the reach, and of what moves with s
        error = self._error(which, rest + half, s + half, moduli) * scale
        error = error * np.exp(reach * steepest)[which, None] + (self.alias + self.left_out)[which, None]
        exponent = half * fastest[which, None]
        # a long piece whose terms grow beyond all bounds has no bound
        growth = np.where(exponent < 300.0, np.exp(np.minimum(exponent, 300.0)), math.inf)
        curved = np.zeros(s.shape)
        np.multiply(
            0.5 * half**2 * np.maximum(moments[:, :, 2], 1e-300), growth, out=curved, where=half > 0.0
        )
        bound, middle = np.full((2, *s.shape), -math.inf)
        for i in range(int(pieces[which].max())):
            y = reach * (2.0 * i + 1.0 - pieces)
            column = self.weight * np.exp(-y[:, None] * self.log_z)
            columns = np.stack([column, -column * self.log_z, column * self.log_z**2, column * drift], axis=1)
            value, tangent, bend, along = np.moveaxis(
                (terms @ columns[which].swapaxes(1, 2)).real * scale[:, :, None], 2, 0
            )
            raised, far = np.exp(self.theta * (y + reach))[which, None], reach[which, None]
            here = value + _highest(tangent, bend, far) + raised * (moments[:, :, 0] * far**3 / 6.0 + error)
            sideways = half * np.abs(along) + raised * (half * far * moments[:, :, 1] + curved)
            some = (pieces > i)[which, None]
            bound = np.maximum(bound, np.where(some, here + sideways, -math.inf))
            middle = np.maximum(middle, np.where(some, here, -math.inf))
        return bound, middle


def _blocks(lengths, size):
    """Return, for blocks of at most so many of each length, whose it is and its number there."""
    blocks = -(-lengths // size)
    owner = np.repeat(np.arange(lengths.size), blocks)
    return owner, np.arange(owner.size) - np.repeat(np.cumsum(blocks) - blocks, blocks)


def _powers(base, count):
    """Return the powers 0, 1, … of an array, by multiplication, as a new axis before the last."""
    powers = np.repeat(base[:, None], count, axis=1)
    powers[:, 0] = 1.0
    return np.multiply.accumulate(powers, axis=1, out=powers)


class Rows(NamedTuple):
    """The two rows with given largest losses: log-odds of a true report, and log(1 − b).

    Their rounding beyond `UNIT` times themselves is in units; it is none where both losses are one number.
    """

    loss: float
    zero: float
    one: float
    log_miss: float
    rounding: float

    @classmethod
    def of(cls, eps0, eps1):
        """Return the rows with largest losses eps0 of the report zero and eps1 of the report one."""
        if eps0 == eps1:
            return cls(eps0, eps0, eps0, -float(np.logaddexp(0.0, eps0)), 0.0)
        first, second, both = (float(log_expm1(x)) for x in (eps0, eps1, eps0 + eps1))
        rounding = 8.0 * (4.0 + eps0 + eps1 + abs(first) + abs(second) + abs(both))
        return cls(eps0, eps0 + second - first, eps1 + first - second, second - both, rounding)


def gain_and_tilt(rows, eps):
    """Return log c₀ and log c₁/c₀ for an array of 0 ≤ eps < the largest loss of the report zero."""
    log_gain = eps + log_expm1(rows.loss - eps) + rows.log_miss
    return log_gain, np.logaddexp(0.0, log_expm1(eps) - log_gain)


def _turned(chance, angle, mean, theta):
    """Return both parts of log(1 + chance (e^{i·angle} − 1)) − i·mean·angle, and its error for each unit."""
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
    return log_modulus, turn - mean * angle, size + mean * np.hypot(theta, angle)


def _highest(tangent, bend, reach):
    """Return the largest value of tangent·u + bend·u²/2 over |u| ≤ reach, at least 0."""
    edge = np.abs(tangent) * reach + 0.5 * bend * reach**2
    inside = (bend < 0.0) & (np.abs(tangent) < -bend * reach)
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where(inside, -0.5 * tangent**2 / bend, 0.0)
    return np.where(inside, vertex, np.maximum(edge, 0.0))

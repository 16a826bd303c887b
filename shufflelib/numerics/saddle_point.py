r"""The saddle-point integral of E[S₊] for a sum S of independent losses, with every error charged.

.. math:: \mathbb E[S_+] = \frac{1}{2\pi i}\int_{\theta - i\infty}^{\theta + i\infty}
          \frac{\mathbb E\,e^{tS}}{t^2}\,dt, \qquad \theta > 0,

along the vertical line through the saddle point θ, where nothing cancels, so that the *relative*
error stays small however small the number is.

Why the bounds are proved
-----------------------
*Smoothing.*  With an independent Gaussian Z of variance v, the integrand gains the factor
:math:`e^{vt^2/2}`, which cuts the integral off.  Jensen's inequality gives
:math:`\mathbb E[S_+] \le \mathbb E[(S+Z)_+]`.  Conversely a Gaussian is below the mixture
:math:`\tfrac12\delta_0 + \tfrac12\mathcal N(0, 4v)` in convex order, so that
:math:`\mathbb E[(S+Z)_+] \le \tfrac12\mathbb E[S_+] + \tfrac12\mathbb E[(S+2Z)_+]`.  Together

.. math:: 2\,\mathbb E[(S+Z)_+] - \mathbb E[(S+2Z)_+] \;\le\; \mathbb E[S_+] \;\le\; \mathbb E[(S+Z)_+].

*Trapezoidal rule.*  With step :math:`2\pi/L` it returns, by Poisson summation, exactly
:math:`\sum_k e^{-\theta kL}\,\mathbb E[(S+Z+kL)_+]`: the wanted term k = 0 plus positive ones, which
Chernoff's inequality bounds.  *Truncation* is bounded by the Gaussian factor, *rounding* by a
running sum of node-wise error bounds.  All three are charged to both bounds; `logspace` says what the bounds
on rounding assume of NumPy and SciPy.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from shufflelib.numerics.certified import Interval, intersect
from shufflelib.numerics.logspace import UNIT

NODE_LIMIT = 2_000_000
WORK_LIMIT = 300_000_000  # nodes times atoms
DEEPEST = -1500.0  # log of a number too small to be worth a quadrature: Chernoff's bound is returned
BLOCK_NODES = 1 << 17
SHORTEST = 4  # rows of fewer nodes are evaluated without a look at their first and last
TABLE = 1 << 15  # entries of a table formed at once, so that it stays in the cache
ONLY_CHERNOFF = math.inf  # a tolerance for which no quadrature is tried
ROUGH = 3e-3  # a tolerance that is tried where a finer one leaves more
FURTHER = np.array([[1.0, 2.0, 0.3, 4.0], [0.1, 8.0, 0.03, 16.0]])  # first those likeliest to be enough
MARGIN = 16.0  # e-folds below the tolerance from which on a term is not computed but bounded
STEEPEST = 30.0  # exponent θG up to which e^{θG} − 1 is added up for a cumulant
NEWTON_STEPS, SETTLED = 8, 1e-5  # relative length of the last step
NOTICED = 1e-5  # error of a sum's cumulants from which on that is done for large exponents too
ALL_NODES = 18.0  # as many more for one node: there are many
SMALLEST_MODULUS = 0.5 * float(np.log1p(-1.0 + UNIT)) + 1e-9  # log of the least |φ| told from 0


class Losses(NamedTuple):
    """Independent losses of several kinds, one column for each: values with masses, else 0; and their number.

    ``sizes`` are the magnitudes of the terms each value was computed from.  Masses are off by ``doubt`` times
    themselves, values by ``doubt`` times their sizes, the mass of 0 by ``doubt`` times ``zero_size``; that
    includes the rounding of the sums here.
    """

    values: np.ndarray
    masses: np.ndarray
    sizes: np.ndarray
    zero_mass: np.ndarray
    zero_size: np.ndarray
    count: np.ndarray
    doubt: float

    def tilted(self, theta):
        """Return the peaks of θG, the tilted masses of the values and of 0, and E e^{θG − peak}.

        Several θ have shape (…, 1, 1), before values and kinds.
        """
        exponent = theta * self.values
        peak = exponent.max(axis=-2, keepdims=True)
        peak = np.where(self.zero_mass > 0.0, np.maximum(peak, 0.0), peak)
        weights = self.masses * np.exp(exponent - peak)
        rest = self.zero_mass * np.exp(-np.maximum(peak, 0.0))
        total = np.maximum(weights.sum(axis=-2, keepdims=True) + rest, 1e-300)
        masses, (peak, rest, total) = weights / total, (part[..., 0, :] for part in (peak, rest, total))
        return peak, masses, rest / total, total

    def saddle(self, near, steepest):
        """Return θ near the minimum of ΣK(θ) − 2 log θ, and whether it is one; any θ > 0 is valid.

        Where the sum is hardly ever positive θ is only steep.
        """
        square = float(np.sum(self.count * (self.masses * self.values**2).sum(axis=0)))
        start, root = math.sqrt(2.0 / square), self._newton(square)

        def slope(theta):
            return theta - root if root else theta * self._moments(theta)[0] - 2.0

        return zero_of(slope, start, near=near, step=2.0, last=steepest / np.abs(self.values).max())

    def _moments(self, theta):
        """Return mean and variance of the sum tilted by e^{θS}."""
        weighted = self.tilted(theta)[1] * self.values
        mean = weighted.sum(axis=0)
        variance = (weighted * self.values).sum(axis=0) - mean**2
        return float(np.sum(self.count * mean)), float(np.sum(self.count * variance))

    def _newton(self, square):
        """Return the θ with θΣK′(θ) = 2, from that of a Gaussian sum, or None if it is not found at once."""
        mean = float(np.sum(self.count * (self.masses * self.values).sum(axis=0)))
        theta = (math.hypot(mean, math.sqrt(8.0 * square)) - mean) / (2.0 * square)
        for _ in range(NEWTON_STEPS):
            mean, variance = self._moments(theta)
            rise = mean + theta * variance
            if not rise > 0.0:
                break
            before, theta = theta, (2.0 + theta * theta * variance) / rise
            if abs(theta - before) < SETTLED * theta:
                return theta
        return None


def zero_of(slope, start, *, near, step, last):
    """Return about where a slope turns positive, to a ratio ``near``, and whether it does by ``last``."""
    low = high = start
    while slope(high) < 0.0:
        if high > last:
            return high, False
        low, high = high, step * high
    while slope(low) > 0.0:
        low, high = low / step, low
    while high > near * low:
        middle = low * math.sqrt(high / low)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return low * math.sqrt(high / low), True


class Tilt:
    """The tilt of losses by e^{θG}: cumulants K(θ), their errors, masses, and what tilting moves of those."""

    def __init__(self, losses, theta):
        doubt = losses.doubt
        peak, self.masses, self.zero_mass, total = losses.tilted(theta)
        # log1p without cancellation where K is small: everywhere if the losses are, else where that is needed
        growth = losses.masses * np.expm1(np.minimum(theta * losses.values, STEEPEST))
        grown, moved = growth.sum(axis=-2), np.abs(growth).sum(axis=-2)
        of_exponent = 1.0 + np.abs(peak) / 16.0
        of_large = of_exponent + losses.zero_size * np.exp(-np.maximum(peak, 0.0)) / total
        of_steep = of_exponent * moved / np.maximum(1.0 + grown, 0.5)
        steep = (peak >= 1.0) & (peak < STEEPEST) & (losses.count * doubt * (of_large - of_steep) > NOTICED)
        small = ((np.abs(peak) < 1.0) | steep) & (grown > -0.5)
        self.cumulant = np.where(small, np.log1p(np.where(small, grown, 0.0)), peak + np.log(total))
        of_small = np.where(steep, of_steep, moved / (total * np.exp(np.clip(peak, -1.0, 0.0))))
        self.moved = np.expm1(np.minimum(doubt * theta * losses.sizes, 60.0))  # a share of each mass
        self.cumulant_error = doubt * np.where(small, of_small, of_large)
        self.cumulant_error += (self.masses * self.moved).sum(axis=-2)


class TiltedSum(ABC):
    """A sum S of independent losses on the line Re t = θ, in units in which θ is 1.

    ``cumulant`` is log E e^{θS}, ``variance`` that of S under the distribution tilted by e^{θS}.  For each
    unit of |t|, ``node_error`` bounds the error of each kind's tilted characteristic function, and
    ``unit_error`` is at most the relative error of E e^{tS}.  ``untilted_mean`` is at most the mean of S,
    ``known`` at least log E[S₊]: an integral that cannot be below ``known`` is not computed.  ``atoms`` is
    what a node costs.
    """

    near = 1.01  # ratio within which the saddle point is looked for
    steepest = math.inf  # largest exponent at which it is
    deepest = DEEPEST

    def __init__(self, losses, known=math.inf):
        self.losses, self.tilt, self.known = losses, Tilt(losses, 1.0), known
        tilt, doubt, self.atoms = self.tilt, losses.doubt, losses.values.size
        values = np.where(tilt.masses > 0.0, losses.values, 0.0)
        mean, away = ((tilt.masses * part).sum(axis=0) for part in (values, np.abs(values)))
        variance = np.maximum((tilt.masses * values**2).sum(axis=0) - mean**2, 0.0)
        # a mass is off by itself and by its tilt, and counts by |e^{iωx} − 1| ≤ ω|x|; a value turns its mass
        # by itself; K norms them all
        off = doubt + tilt.moved
        turned = doubt * losses.sizes * (1.0 + off) + off * np.abs(values)
        self.node_error = (tilt.masses * turned).sum(axis=0) + tilt.cumulant_error * away
        untilted = (losses.masses * losses.values).sum(axis=0)
        parts = tilt.cumulant, tilt.cumulant_error, self.node_error, variance, untilted
        self.cumulant, self.cumulant_error, self.unit_error, self.variance, self.untilted_mean = (
            math.fsum(losses.count * part) for part in parts
        )

    def growth(self, others):
        """Return upper bounds on log E e^{other·S} − log E e^{θS}."""
        there = Tilt(self.losses, others[:, None, None])
        grown = self.losses.count * (there.cumulant - self.tilt.cumulant + there.cumulant_error)
        return np.array([math.fsum(one) for one in grown]) + self.cumulant_error

    @abstractmethod
    def integrand(self, smoothing, step, first, size, nothing):
        """Sum the integrand over a block of nodes, smoothed by v and by 4v, with a bound on its rounding.

        Values are relative to E e^{θS}; nodes below e^{−nothing} are bounded, not computed.
        """


def by_contour(kind, losses, tolerance, finest, known=math.inf):
    """Enclose log E[S₊], at most ``known``, by integrating along the line through the saddle point."""
    unit, found = losses.saddle(kind.near, kind.steepest)
    losses = losses._replace(values=unit * losses.values, sizes=unit * losses.sizes)
    bracket = _on_the_line(
        kind(losses, known + math.log(unit)), tolerance if found else ONLY_CHERNOFF, finest
    )
    return bracket - Interval.of(unit).log()


def _on_the_line(terms, tolerance, finest):
    """Enclose log E[S₊] by integrating a `TiltedSum` along Re t = θ, in units in which θ is 1.

    An atom of the sum at 0 feels the smoothing in first order; where that is what the width is made of,
    less is smoothed, down to a tolerance of ``finest``.  Where it is rounding, more is smoothed.
    """
    bracket, blur, met = _once(terms, tolerance)
    sharper = max(tolerance * (tolerance / blur) ** 2, finest) if 2.0 * tolerance < blur < 1.0 else tolerance
    if sharper < tolerance and blur > 0.5 * (bracket.upper - bracket.lower):
        bracket = intersect(bracket, _once(terms, sharper)[0])
    if met < ROUGH < bracket.upper - bracket.lower:  # fewer nodes are rounded where more is smoothed
        bracket = intersect(bracket, _once(terms, ROUGH)[0])
    return bracket


def _once(terms, tolerance):
    """Return the bracket, how much of its width less smoothing would take away, and the tolerance tried.

    That is wider than the one asked for where there are too many nodes.
    """
    deviation = math.sqrt(terms.variance)
    # Chernoff's bound, (x)_+ <= e^{x - 1}: it always holds and ends a hopeless quadrature
    prefactor = terms.cumulant_error + 8 * UNIT * (1.0 + abs(terms.cumulant))
    log_scale = terms.cumulant
    chernoff = Interval(-math.inf, log_scale + prefactor - 1.0 + 1e-14)
    if deviation < 1e-120 or log_scale < terms.deepest or tolerance > 4.0 or prefactor > 1.0:
        return chernoff, 0.0, tolerance
    # smoothing by a standard deviation of 1/resolution of the sum's widens a Gaussian tail at z
    # standard deviations by 1.5 (z/resolution)², relatively; z = deviation; far out the logarithm
    # sets the measure
    resolution = max(min(max(deviation, 1.5), 14.0) * math.sqrt(1.5 / tolerance), deviation / 2.0)
    smoothing = (deviation / resolution) ** 2
    if _log_least_upper(terms, smoothing, deviation) > terms.known:
        return chernoff, 0.0, tolerance
    # the aliasing bound for 4v covers the one for v
    discard = MARGIN - math.log(tolerance)
    period, log_alias = _period(terms, 4.0 * smoothing, discard)
    cutoff = math.sqrt(2.0 * discard / smoothing)
    step = 2.0 * math.pi / period
    nodes = int(math.ceil(cutoff / step)) + 1
    most = min(NODE_LIMIT, WORK_LIMIT // terms.atoms)
    if nodes > most:
        return _once(terms, tolerance * (1.1 * nodes / most) ** 2)  # wider, never wrong

    smooth = coarse = error = 0.0
    for first in range(0, nodes, BLOCK_NODES):
        size = min(BLOCK_NODES, nodes - first)
        part = terms.integrand(smoothing, step, first, size, discard + ALL_NODES)
        smooth, coarse, error = smooth + part[0], coarse + part[1], error + part[2]
    smooth, coarse, error = (step / math.pi * part for part in (smooth, coarse, error))

    error += 3.0 * math.exp(0.5 * smoothing - discard) / (math.pi * cutoff)
    error += 3.0 * math.exp(log_alias + 2.0 * smoothing)
    upper, lower = smooth + error, 2.0 * smooth - coarse - error
    log_upper = log_scale + prefactor + math.log(upper) if upper > 0.0 else math.inf
    log_upper = min(log_upper, chernoff.upper)
    log_lower = log_scale - prefactor + math.log(lower) if lower > 0.0 else -math.inf
    sharp = 2.0 * smooth - coarse
    blur = math.log(smooth / sharp) if min(smooth, sharp) > 0.0 else math.inf
    return Interval(min(log_lower, log_upper), log_upper), blur, tolerance


def _log_least_upper(terms, smoothing, deviation):
    """Return what the upper bound exceeds, by its smoothing alone or by the rounding of its largest nodes.

    By Jensen's inequality E[(S + Z)₊] is at least E[(mean + Z)₊]; and |E e^{iωS}| is at least 1/2 under the
    tilted distribution where ω is at most 1/deviation.
    """
    spread = math.sqrt(smoothing)
    z = terms.untilted_mean / spread
    smoothed = spread * (math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) + z * ndtr(z)) if z > -5.0 else 0.0
    rounded = 0.25 * terms.unit_error * deviation / (1.0 + deviation * deviation)
    ends = ((smoothed, 0.0), (rounded, terms.cumulant))
    return max((math.log(end) + log_unit for end, log_unit in ends if end > 0.0), default=-math.inf)


def _period(terms, smoothing, discard):
    """Return a period L and the log of the bound on all aliased terms, relative to E e^{θS} e^{v/2}."""
    deviation = math.sqrt(terms.variance + smoothing)
    log_scale = terms.cumulant + 0.5 * smoothing
    wanted = -discard - math.log(deviation)  # the number itself, e^-discard times
    right = 1.0 - wanted - min(log_scale, 0.0)
    right += (math.log(right) if right > 1.0 else 0.0) + 2.0
    left, least = math.inf, max(right, 2.0 * deviation)
    for steps in FURTHER:
        if left > least:
            others = 1.0 + steps / deviation
            growth = terms.growth(others) + 0.5 * smoothing * (others**2 - 1.0) - 1.0 - np.log(others)
            left = min(left, float(np.min((growth - wanted) / (others - 1.0))))
    period = max(least, left)
    # k <= -1: E(S+Z-kL)_+ <= e^{t(S+Z) - tkL - 1}/t for every t > 1; one t for all k
    # k >= 1: e^{-kL}(E(S+Z)_+ + kL), with E(S+Z)_+ <= E e^S e^{v/2} / e
    ahead = np.logaddexp(-period - 1.0, -period + math.log(period) - log_scale) + 1.0
    return period, float(np.logaddexp(ahead, wanted + 1.0))


def quadrature(smoothing, omega, log_modulus, angle, relative, left, *, halved):
    """Add up the nodes of a block where something is left: smoothed by v, by 4v, and their rounding.

    The first node is ``halved`` where it lies on the real axis, its own mirror image.  ``relative`` bounds
    the errors of what is passed, ``left`` the sum of the moduli at the nodes not passed.
    """
    square = 1.0 + omega**2
    turn = angle - 2.0 * np.arctan2(omega, 1.0)
    drift, fade = smoothing * omega, 0.5 * smoothing * (1.0 - omega**2)
    fine, rough = (np.exp(log_modulus + times * fade) / square for times in (1.0, 4.0))
    if halved:
        fine[0], rough[0] = 0.5 * fine[0], 0.5 * rough[0]
    doubt = relative + (64.0 + 8.0 * (np.abs(fade) + drift)) * UNIT
    error = np.sum((2.0 * fine + rough) * np.expm1(np.minimum(doubt, 60.0)))
    error += 3.0 * left * math.exp(2.0 * smoothing)
    smooth, coarse = np.sum(fine * np.cos(turn + drift)), np.sum(rough * np.cos(turn + 4.0 * drift))
    return float(smooth), float(coarse), float(error)


# ---- characteristic functions minus 1, so that nothing cancels where they are near 1


def cf_minus_one(angle):
    """Return e^{i·angle} − 1 without cancellation."""
    half = np.sin(0.5 * angle)
    return -2.0 * half * half + 1j * np.sin(angle)


def cf_minus_one_of_sum(one, two):
    """Return e^{i(a+b)} − 1 from e^{ia} − 1 and e^{ib} − 1.

    Nothing cancels; at most six roundings of |a| + |b| are added to the errors of the factors.
    """
    return one * two + one + two


def cf_minus_one_of_multiples(angles, count):
    """Return e^{ik·angle} − 1 for k < ``count``, one row for each k, from two shorter tables."""
    few = max(1, math.isqrt(count))
    one = cf_minus_one(np.outer(few * np.arange(-(-count // few)), angles))[:, None]
    two = cf_minus_one(np.outer(np.arange(few), angles))
    return cf_minus_one_of_sum(one, two).reshape(-1, angles.size)[:count]


def mean_cf_minus_one(first, second, masses):
    """Return E e^{i(a+b)} − 1 for every row of e^{ia} − 1 with every row of e^{ib} − 1; columns are atoms."""
    weighted = first * masses
    mean = weighted @ second.T
    mean += weighted.sum(axis=1)[:, None]
    mean += second @ masses
    return mean


def log_abs_one_plus(x, y):
    """Return log|1 + x + iy|, at least `SMALLEST_MODULUS`, without cancellation near 0."""
    return 0.5 * np.log1p(np.maximum(2.0 * x + x * x + y * y, -1.0 + UNIT))


def characteristic_minus_one(values, masses, step, first, size, nothing):
    """Return φ − 1 where |φ| may exceed e^{−nothing}, at some other nodes of a block, and all their numbers.

    φ is the characteristic function of some values with these masses.  Most nodes are not among them.
    Between two nodes h apart |φ| is at most the larger of theirs plus h²/8·E G², so that whole rows are seen
    to be negligible from their first and last nodes.
    """
    curved = 0.125 * step**2 * float(masses @ values**2) * (1.0 + 1e-9)
    row = _row_length(size, curved, nothing)
    if row > 1:
        rows = -(-size // row)
        (far, near), ends = _every(values, masses, step, first, row, rows + 1)
        lost = -np.expm1(log_abs_one_plus(ends.real, ends.imag)) * (1.0 - 1e-9)
        rounding = (values.size + 24) * UNIT * step * float(masses @ np.abs(values))  # for each node
        lost -= rounding * (first + row * np.arange(rows + 1))
        lost = np.minimum(lost[:-1], lost[1:]) - curved * row**2
        kept = np.flatnonzero(lost < -math.expm1(-nothing))
        if 2 * kept.size < rows:
            parts, few = np.array_split(kept, 1 + kept.size * values.size // TABLE), len(near)
            nodes = cf_minus_one_of_multiples(step * values, row)
            phi = [
                mean_cf_minus_one(cf_minus_one_of_sum(far[part // few], near[part % few]), nodes, masses)
                for part in parts
            ]
            return np.concatenate(phi).ravel(), (row * kept[:, None] + np.arange(row)).ravel()
    return _every(values, masses, step, first, 1, size)[1], np.arange(size)


def _every(values, masses, step, first, row, count):
    """Return φ − 1 at every row-th node from the first one, after the two tables it was made from."""
    few = math.isqrt(count)
    near = cf_minus_one_of_multiples(step * row * values, few)
    far = cf_minus_one(np.outer(step * (first + row * few * np.arange(-(-count // few))), values))
    return (far, near), mean_cf_minus_one(far, near, masses).ravel()[:count]


def _row_length(size, curved, nothing):
    """Return how many nodes a row has: |φ| that need not be seen to be small may bend further."""
    longest = max(1, round(size ** (1.0 / 3.0)))
    bend = 0.25 * min(math.exp(-nothing), -math.expm1(-nothing))
    row = min(longest, int(math.sqrt(bend / curved))) if curved > 0.0 else longest
    return row if row >= SHORTEST else 1

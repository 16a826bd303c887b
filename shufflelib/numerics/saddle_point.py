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
Chernoff's inequality bounds; only the lower bound, which has the first of the two integrals twice, could be
wrong for them.  *Truncation* is bounded by the Gaussian factor, nodes that are *not computed* by the modulus
that they may have, *rounding* by a running sum of node-wise error bounds.  These are charged to both bounds,
three times, for both integrals; `logspace` says what the bounds on rounding assume of NumPy and SciPy.

Many sums at once
-----------------
Sums are entries of arrays, their losses columns.  Each has its own θ, smoothing, period and nodes, and all
charges are its own; a node that can matter is an entry of a flat list, with the number of its sum.  What is
added up is added in an order that does not depend on the other sums.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT

LARGEST_ROOT = 1e150  # whose square is a number
NODE_LIMIT = 2_000_000
WORK_LIMIT = 300_000_000  # nodes times atoms
DEEPEST = -1500.0  # log of a number too small to be worth a quadrature: Chernoff's bound is returned
ONLY_CHERNOFF = math.inf  # a tolerance for which no quadrature is tried
ROUGH = 3e-3  # a tolerance that is tried where a finer one leaves more
FURTHER = np.array([[1.0, 2.0, 0.3, 4.0], [0.1, 8.0, 0.03, 16.0]])  # first those likeliest to be enough
# e-folds below the tolerance of what is bounded, not computed: aliased terms, the integral beyond the
# cut-off, which is far out, and missing nodes, of which there are many
ALIASED, CUT, MISSING = 13.0, 7.0, 22.0
FAR = 7.0  # standard deviations from which on it is more, as numbers are smaller than their scale says
STEEPEST = 30.0  # exponent θG up to which e^{θG} − 1 is added up for a cumulant
NEWTON_STEPS, SETTLED = 8, 1e-3  # relative length of the last step
NEAR = 1.005  # ratio within which a saddle point is searched where Newton's steps do not find it
NOTICED = 1e-5  # error of a sum's cumulants from which on that is done for large exponents too
SMALLEST_MODULUS = 0.5 * float(np.log1p(-1.0 + UNIT)) + 1e-9  # log of the least |φ| told from 0


class Losses(NamedTuple):
    """Independent losses of several kinds, one column for each: values with masses, else 0; and their number.

    ``sizes`` are the magnitudes of the terms each value was computed from.  Masses are off by ``doubt`` times
    themselves, values by ``doubt`` times their sizes, the mass of 0 by ``doubt`` times ``zero_size``; that
    includes the rounding of the sums here.  Each column is a sum of its own, or ``together`` they are one.
    """

    values: np.ndarray
    masses: np.ndarray
    sizes: np.ndarray
    zero_mass: np.ndarray
    zero_size: np.ndarray
    count: np.ndarray
    doubt: np.ndarray | float
    together: bool = False

    def at(self, chosen):
        """Return some of the columns."""
        doubt = np.broadcast_to(self.doubt, self.count.shape)
        parts = (part.take(chosen, axis=-1) for part in (*self[:-2], doubt))
        return Losses(*parts, self.together)

    def total(self, part):
        """Add up what each loss of a column contributes, on the last axis, to what each sum has."""
        if not self.together:
            return self.count * part
        rows = np.reshape(self.count * part, (-1, self.count.size))
        return np.array([math.fsum(row) for row in rows]).reshape(*part.shape[:-1], 1)

    def times(self, factor):
        """Return the losses in other units."""
        return self._replace(values=factor * self.values, sizes=factor * self.sizes)

    def tilted(self, theta):
        """Return the peaks of θG, the tilted masses of the values and of 0, and E e^{θG − peak}.

        Several θ for each column have shape (…, 1, columns), before values and columns.
        """
        exponent = theta * self.values
        peak = exponent.max(axis=-2, keepdims=True)
        peak = np.where(self.zero_mass > 0.0, np.maximum(peak, 0.0), peak)
        weights = self.masses * np.exp(exponent - peak)
        peak = peak[..., 0, :]
        rest = self.zero_mass * np.exp(-np.maximum(peak, 0.0))
        total = np.maximum(added(weights) + rest, 1e-300)
        return peak, weights / total[..., None, :], rest / total, total


def added(parts):
    """Return sums over the second last axis in the order of its entries, however many columns there are."""
    return np.add.accumulate(parts, axis=-2)[..., -1, :] if parts.shape[-1] == 1 else parts.sum(axis=-2)


def zeros_of(slope, start, last):
    """Return about where slopes turn positive, to a ratio `NEAR`, and whether they do by ``last``.

    ``slope`` takes the places of some entries and an abscissa for each.
    """
    low, high, found = start.copy(), start.copy(), np.ones(start.size, bool)
    some = np.arange(start.size)
    while some.size:
        some = some[slope(some, high[some]) < 0.0]
        found[some] = high[some] <= last[some]
        some = some[found[some]]
        low[some], high[some] = high[some], 2.0 * high[some]
    some = np.flatnonzero(found)
    while some.size:
        some = some[slope(some, low[some]) > 0.0]
        low[some], high[some] = 0.5 * low[some], low[some]
    while (some := np.flatnonzero(found & (high > NEAR * low))).size:
        middle = low[some] * np.sqrt(high[some] / low[some])
        falls = slope(some, middle) < 0.0
        low[some[falls]], high[some[~falls]] = middle[falls], middle[~falls]
    return np.where(found, low * np.sqrt(high / low), high), found


class Tilt:
    """The tilt of losses by e^{θG}: cumulants K(θ), their errors, masses, and what tilting moves of those."""

    def __init__(self, losses, theta):
        doubt = losses.doubt
        peak, self.masses, self.zero_mass, total = losses.tilted(theta)
        # log1p without cancellation where K is small: everywhere if the losses are, else where that is needed
        growth = losses.masses * np.expm1(np.minimum(theta * losses.values, STEEPEST))
        grown, moved = added(growth), added(np.abs(growth))
        of_exponent = 1.0 + np.abs(peak) / 16.0
        of_large = of_exponent + losses.zero_size * np.exp(-np.maximum(peak, 0.0)) / total
        of_steep = of_exponent * moved / np.maximum(1.0 + grown, 0.5)
        steep = (peak >= 1.0) & (peak < STEEPEST) & (losses.count * doubt * (of_large - of_steep) > NOTICED)
        small = ((np.abs(peak) < 1.0) | steep) & (grown > -0.5)
        self.cumulant = np.where(small, np.log1p(np.where(small, grown, 0.0)), peak + np.log(total))
        of_small = np.where(steep, of_steep, moved / (total * np.exp(np.clip(peak, -1.0, 0.0))))
        self.moved = np.expm1(np.minimum(doubt * theta * losses.sizes, 60.0))  # a share of each mass
        self.cumulant_error = doubt * np.where(small, of_small, of_large)
        self.cumulant_error += added(self.masses * self.moved)


class TiltedSums(ABC):
    """Sums S of independent losses, each on its own line Re t = θ, in units in which that θ is 1.

    ``cumulant`` is log E e^{θS}, ``variance`` that of S under the distribution tilted by e^{θS}.  For each
    unit of |t|, ``node_error`` bounds the error of each column's tilted characteristic function, and
    ``unit_error`` is at most the relative error of E e^{tS}.  ``untilted_mean`` is at most the mean of S,
    ``known`` at least log E[S₊]: an integral that cannot be below ``known`` is not computed.  ``atoms`` is
    what a node costs.  All are arrays, with one entry for each sum; no entry depends on the other sums.
    """

    deepest = DEEPEST

    def __init__(self, losses, known):
        self.losses, self.tilt, self.known = losses, Tilt(losses, 1.0), known
        tilt, doubt, self.atoms = self.tilt, losses.doubt, losses.values.shape[0]
        values = np.where(tilt.masses > 0.0, losses.values, 0.0)
        mean, away = (added(tilt.masses * part) for part in (values, np.abs(values)))
        # chooses a quadrature, proves nothing: it may be too small where squares overflow
        square, of_mean = (np.minimum(np.abs(part), LARGEST_ROOT) ** 2 for part in (values, mean))
        variance = np.maximum(added(tilt.masses * square) - of_mean, 0.0)
        # a mass is off by itself and by its tilt, and counts by |e^{iωx} − 1| ≤ ω|x|; a value turns its mass
        # by itself; K norms them all
        off = doubt + tilt.moved
        turned = doubt * losses.sizes * (1.0 + off) + off * np.abs(values)
        with np.errstate(over="ignore"):  # infinite where the exponents are
            self.node_error = added(tilt.masses * turned) + tilt.cumulant_error * away
        untilted = added(losses.masses * losses.values)
        parts = tilt.cumulant, tilt.cumulant_error, self.node_error, variance, untilted
        self.cumulant, self.cumulant_error, self.unit_error, self.variance, self.untilted_mean = (
            losses.total(part) for part in parts
        )

    @abstractmethod
    def at(self, chosen):
        """Return some of the sums."""

    @abstractmethod
    def nodes(self, step, count, nothing):
        """Yield groups of nodes: sums, numbers, log-moduli and angles of E e^{tS}/E e^{θS}, errors of these.

        The nodes of a sum are 0, 1, … up to ``count``, ``step`` apart; in a group they follow each other.
        Where the modulus is at most e^{−nothing} a node may be missing; `left_out` bounds what that costs.
        """

    def left_out(self, step, count, nothing):
        """Return a bound on the sum of the moduli at the nodes that may be missing."""
        return count * np.exp(-nothing)

    def growth(self, others):
        """Return upper bounds on log E e^{other·S} − log E e^{θS}, a row of others for each."""
        there = Tilt(self.losses, others[:, None, :])
        grown = there.cumulant - self.tilt.cumulant + there.cumulant_error
        return self.losses.total(grown) + self.cumulant_error


def by_contour(kind, losses, tolerance, finest, unit=1.0, *, known, steepest=math.inf):
    """Enclose log E[S₊], at most ``known``, by integrating along the line through each saddle point.

    ``kind`` is the subclass of `TiltedSums`; tolerances and ``known`` are arrays over the sums.  Where the
    largest exponent is above ``steepest`` Chernoff's bound is all there is.  The bounds are those of the sums
    in units of 1/``unit``.
    """
    theta, found = _saddles(losses, steepest)
    shift = np.log(unit / theta)
    terms = kind(losses.times(theta), known - shift)
    ends = _on_the_line(terms, np.where(found, tolerance, ONLY_CHERNOFF), finest)
    rounding = 4 * UNIT * (1.0 + np.abs(shift))
    return Interval(*(end + shift for end in ends)).widened(1.0, rounding)


def _saddles(losses, steepest):
    """Return θ near the minima of ΣK(θ) − 2 log θ, and whether each is one; any θ > 0 is valid.

    Where a sum is hardly ever positive θ is only steep.
    """
    square = losses.total(added(losses.masses * losses.values**2))
    mean = losses.total(added(losses.masses * losses.values))
    theta = (np.hypot(mean, np.sqrt(8.0 * square)) - mean) / (2.0 * square)
    last = steepest / np.abs(losses.values).max(axis=0).reshape(theta.size, -1).max(axis=1)
    found = _newton(losses, theta, np.arange(theta.size))
    lost = np.flatnonzero(~found)
    if lost.size:  # where rare large losses decide: one alone makes up for the mean
        some = losses.at(lost) if not losses.together else losses
        level = np.maximum(-mean[lost], 0.0) + 2.0 / theta[lost]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gain = some.count * some.masses * some.values
            alone = np.where(gain > 0.0, np.log1p(level / gain) / some.values, math.inf)
        theta[lost] = np.fmin(theta[lost], alone.min(axis=0).reshape(lost.size, -1).min(axis=1))
        found[lost] = _newton(losses, theta, lost)[lost]
        lost = np.flatnonzero(~found)

    def slope(which, theta):
        some = losses if which.size == found.size else losses.at(lost[which])
        return theta * _moments(some, theta)[0] - 2.0

    theta[lost], found[lost] = zeros_of(slope, theta[lost], last[lost])
    return theta, found & (theta <= last)


def _newton(losses, theta, live):
    """Move θ of some sums by Newton's steps as long as these go ahead; return which have arrived.

    What does not arrive stays.
    """
    found, moved = np.zeros(theta.size, bool), theta.copy()
    for _ in range(NEWTON_STEPS):
        some = losses if live.size == theta.size else losses.at(live)
        mean, variance = _moments(some, moved[live])
        rise = mean + moved[live] * variance
        live, rise, variance = live[rise > 0.0], rise[rise > 0.0], variance[rise > 0.0]
        before = moved[live]
        with np.errstate(over="ignore", invalid="ignore"):
            moved[live] = (2.0 + before * before * variance) / rise
        near = np.abs(moved[live] - before) < SETTLED * moved[live]
        found[live[near]] = True
        live = live[~near & (moved[live] < math.inf)]
        if live.size == 0:
            break
    theta[found] = moved[found]
    return found


def _moments(losses, theta):
    """Return mean and variance of the sums tilted by e^{θS}."""
    weighted = losses.tilted(theta)[1] * losses.values
    mean = added(weighted)
    variance = added(weighted * losses.values) - mean**2
    return losses.total(mean), losses.total(variance)


def _on_the_line(terms, tolerance, finest):
    """Enclose log E[S₊] by integrating `TiltedSums` along Re t = θ, in units in which θ is 1.

    An atom of a sum at 0 feels the smoothing in first order; where that is what the width is made of, less is
    smoothed, down to a tolerance of ``finest``.  Where it is rounding, more is smoothed.
    """
    bracket, blur, met = _once(terms, tolerance)
    with np.errstate(divide="ignore", invalid="ignore"):
        sharper = np.maximum(tolerance * (tolerance / blur) ** 2, finest)
        width = bracket.upper - bracket.lower
        sharp = (2.0 * tolerance < blur) & (blur < 1.0) & (sharper < tolerance) & (blur > 0.5 * width)
    bracket = _again(bracket, terms, sharp, sharper)
    # fewer nodes are rounded, where that is what is wide
    rough = (met < ROUGH) & (blur < ROUGH) & (bracket.upper - bracket.lower > ROUGH)
    return _again(bracket, terms, rough, np.full(met.shape, ROUGH))


def _again(bracket, terms, some, tolerance):
    """Return the bracket with what another tolerance proves for some of the sums."""
    some = np.flatnonzero(some)
    if some.size == 0:
        return bracket
    other, _, _ = _once(terms.at(some), tolerance[some])
    lower, upper = (end.copy() for end in bracket)
    lower[some] = np.maximum(lower[some], other.lower)
    upper[some] = np.minimum(upper[some], other.upper)
    return Interval(lower, upper)


def _once(terms, tolerance):
    """Return the bracket, how much of its width less smoothing would take away, and the tolerance tried.

    The tolerance is wider than the one asked for where there are too many nodes; the share of smoothing is
    infinite where nothing was integrated.
    """
    # Chernoff's bound, (x)_+ <= e^{x - 1}: it always holds and ends a hopeless quadrature
    deviation = np.sqrt(terms.variance)
    prefactor = terms.cumulant_error + 8 * UNIT * (1.0 + np.abs(terms.cumulant))
    chernoff = terms.cumulant + prefactor - 1.0 + 1e-14
    lower, blur = np.full((2, tolerance.size), math.inf)
    found = -lower, chernoff.copy(), blur, tolerance.copy()
    hopeful = (deviation >= 1e-120) & (terms.cumulant >= terms.deepest) & (tolerance <= 4.0)
    use = np.flatnonzero(hopeful & (prefactor <= 1.0))
    if use.size:
        some = terms if use.size == tolerance.size else terms.at(use)
        for whole, part in zip(found, _integrals(some, tolerance[use]), strict=True):
            whole[use] = part
    lower, upper, blur, met = found
    upper = np.minimum(upper, chernoff)
    return Interval(np.minimum(lower, upper), upper), blur, met


def _integrals(terms, tolerance):
    """Return lower and upper bounds of log E[S₊], what `_once` says of their widths, and the tolerances."""
    deviation = np.sqrt(terms.variance)
    # smoothing by a standard deviation of 1/resolution of the sum's widens a Gaussian tail at z
    # standard deviations by 1.5 (z/resolution)², relatively; z = deviation; far out the logarithm
    # sets the measure
    resolution = np.maximum(np.clip(deviation, 1.5, 14.0) * np.sqrt(1.5 / tolerance), deviation / 2.0)
    smoothing = (deviation / resolution) ** 2
    finer = 3.0 * np.log(np.maximum(deviation / FAR, 1.0)) - np.log(tolerance)
    fruitless = terms.known < math.inf
    if fruitless.any():
        fruitless = _log_least_upper(terms, smoothing, deviation) > terms.known
    # the aliasing bound for 4v covers the one for v
    period, log_alias = _periods(terms, 4.0 * smoothing, finer + ALIASED)
    cut = finer + CUT
    cutoff, step = np.sqrt(2.0 * cut / smoothing), 2.0 * math.pi / period
    count = np.where(fruitless, 0.0, np.ceil(cutoff / step) + 1.0)
    most = min(NODE_LIMIT, WORK_LIMIT // terms.atoms)
    many = np.flatnonzero(count > most)
    count[many] = 0.0
    smooth, coarse, error = _quadratures(terms, smoothing, step, count.astype(np.int64), finer + MISSING)
    smooth, coarse, error = (step / math.pi * part for part in (smooth, coarse, error))
    error += 3.0 * np.exp(0.5 * smoothing - cut) / (math.pi * cutoff)
    sharp = 2.0 * smooth - coarse
    upper, lower = smooth + error, sharp - error - 2.0 * np.exp(log_alias + 2.0 * smoothing)
    prefactor = terms.cumulant_error + 8 * UNIT * (1.0 + np.abs(terms.cumulant))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_upper = np.where(upper > 0.0, terms.cumulant + prefactor + np.log(upper), math.inf)
        log_lower = np.where(lower > 0.0, terms.cumulant - prefactor + np.log(lower), -math.inf)
        blur = np.where(np.minimum(smooth, sharp) > 0.0, np.log(smooth / sharp), math.inf)
    for part, unknown in ((log_upper, math.inf), (log_lower, -math.inf), (blur, math.inf)):
        part[count == 0.0] = unknown
    if many.size:  # wider, never wrong
        wider = tolerance[many] * (1.1 * (np.ceil(cutoff / step) + 1.0)[many] / most) ** 2
        bracket, blur[many], wider = _once(terms.at(many), wider)
        log_lower[many], log_upper[many] = bracket
        tolerance = tolerance.copy()
        tolerance[many] = wider
    return log_lower, log_upper, blur, tolerance


def _log_least_upper(terms, smoothing, deviation):
    """Return what the upper bound exceeds, by its smoothing alone or by the rounding of its largest nodes.

    By Jensen's inequality E[(S + Z)₊] is at least E[(mean + Z)₊]; and |E e^{iωS}| is at least 1/2 under the
    tilted distribution where ω is at most 1/deviation.
    """
    spread = np.sqrt(smoothing)
    z = np.clip(terms.untilted_mean / spread, -5.0, 1e150)
    smoothed = spread * (np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) + z * ndtr(z))
    rounded = 0.25 * terms.unit_error * deviation / (1.0 + deviation * deviation)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(np.where(z > -5.0, smoothed, 0.0)), np.log(rounded) + terms.cumulant)


def _periods(terms, smoothing, discard):
    """Return periods L and logs of the bounds on all aliased terms, relative to E e^{θS} e^{v/2}."""
    deviation = np.sqrt(terms.variance + smoothing)
    log_scale = terms.cumulant + 0.5 * smoothing
    wanted = -discard - np.log(deviation)  # the number itself, e^-discard times
    right = 1.0 - wanted - np.minimum(log_scale, 0.0)
    right += np.log(np.maximum(right, 1.0)) + 2.0
    period = np.maximum(right, 2.0 * deviation)
    left, short = np.full(period.shape, math.inf), np.arange(period.size)
    for steps in FURTHER:
        others = 1.0 + steps[:, None] / deviation[short]
        some = terms if short.size == period.size else terms.at(short)
        growth = some.growth(others) + 0.5 * smoothing[short] * (others**2 - 1.0) - 1.0 - np.log(others)
        reached = np.min((growth - wanted[short]) / (others - 1.0), axis=0)
        left[short] = np.minimum(left[short], reached)
        short = np.flatnonzero(left > period)
        if short.size == 0:
            break
    period = np.maximum(period, left)
    # k <= -1: E(S+Z-kL)_+ <= e^{t(S+Z) - tkL - 1}/t for every t > 1; one t for all k
    # k >= 1: e^{-kL}(E(S+Z)_+ + kL), with E(S+Z)_+ <= E e^S e^{v/2} / e
    ahead = np.logaddexp(-period - 1.0, -period + np.log(period) - log_scale) + 1.0
    return period, np.logaddexp(ahead, wanted + 1.0)


def _quadratures(terms, smoothing, step, count, nothing):
    """Add up the integrand of each sum: smoothed by v, by 4v, and a bound on the rounding of both."""
    smooth, coarse, error = (np.zeros(step.size) for _ in range(3))
    for which, number, log_modulus, angle, relative in terms.nodes(step, count, nothing):
        omega, v = step[which] * number, smoothing[which]
        turn = angle - 2.0 * np.arctan2(omega, 1.0)
        drift, fade = v * omega, 0.5 * v * (1.0 - omega**2)
        # the node on the real axis is its own mirror image
        halved = np.where(number == 0, 0.5, 1.0) / (1.0 + omega**2)
        fine, rough = (np.exp(log_modulus + times * fade) * halved for times in (1.0, 4.0))
        doubt = relative + (64.0 + 8.0 * (np.abs(fade) + drift)) * UNIT
        wrong = (2.0 * fine + rough) * np.expm1(np.minimum(doubt, 60.0))
        starts = np.flatnonzero(np.diff(which, prepend=-1))
        ends = fine * np.cos(turn + drift), rough * np.cos(turn + 4.0 * drift), wrong
        for total, part in zip((smooth, coarse, error), ends, strict=True):
            total[which[starts]] += np.add.reduceat(part, starts)  # in pairs
    error += 3.0 * terms.left_out(step, count, nothing) * np.exp(2.0 * smoothing)
    return smooth, coarse, error


def log_abs_one_plus(x, y):
    """Return log|1 + x + iy|, at least `SMALLEST_MODULUS`, without cancellation near 0."""
    return 0.5 * np.log1p(np.maximum(2.0 * x + x * x + y * y, -1.0 + UNIT))

r"""Certified enclosure of E[(G₁ + … + G_n)₊] for independent, identically distributed, finite losses.

Everything about shuffling reduces to this number.  It is computed as a contour integral,

.. math:: \mathbb E[S_+] = \frac{1}{2\pi i}\int_{\theta - i\infty}^{\theta + i\infty}
          \frac{M(t)^n}{t^2}\,dt, \qquad M(t) = \mathbb E\,e^{tG},\quad \theta > 0,

along the vertical line through the saddle point θ, where nothing cancels, so that the *relative*
error stays small however small the number is.  Nothing in it grows with n.

Why the ends are proved
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
running sum of node-wise error bounds.  All three are charged to both ends; `logspace` says what the bounds on
rounding assume of NumPy and SciPy.

Where few losses differ from the most frequent one, because there are few summands or because the
others are rare, the distribution of the sum is listed instead: `positive_part_enumerated`.
"""

import math
from abc import ABC, abstractmethod

import numpy as np

from shufflelib.numerics.characteristic_functions import (
    SMALLEST_MODULUS,
    cf_minus_one,
    cf_minus_one_of_multiples,
    cf_minus_one_of_sum,
    log_abs_one_plus,
    mean_cf_minus_one,
)
from shufflelib.numerics.log_interval import LOG_ZERO, TOLERANCE, LogInterval, intersect
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.loss_distribution import single_positive_lower_bound, union_upper_bound
from shufflelib.numerics.positive_part_enumerated import ENUMERATED_ATOMS, listed_mean

NODE_LIMIT = 2_000_000
WORK_LIMIT = 300_000_000  # nodes times atoms
SMALLEST_GAIN = 1e-280  # positive losses below this share of the largest loss are only bounded
DEEPEST = -1500.0  # log of a number too small to be worth a quadrature: Chernoff's bound is returned
BLOCK_NODES = 1 << 17
SHORTEST = 4  # rows of fewer nodes are not worth a look at their ends
TABLE = 1 << 15  # entries of a table formed at once, so that it stays in the cache
ROUGH = 3e-3  # a tolerance that is tried where a finer one leaves more
MARGIN = 16.0  # e-folds below the tolerance from which on a term is not computed but bounded
ALL_NODES = 18.0  # as many more for one node: there are many


def expected_positive_part(distribution, n, *, tolerance=TOLERANCE):
    r"""Enclose :math:`\log \mathbb E[(G_1+\dots+G_n)_+]`.

    Parameters
    ----------
    distribution : LossDistribution
        Distribution of one summand.
    n : int
        Number of summands, at least 1.
    tolerance : float
        Relative width aimed at.  It is met by sums without an atom at 0 that outweighs their spread
        at the scale of the smoothing; elsewhere the bracket is wider, never wrong.

    Returns
    -------
    LogInterval
        Both ends proved, with rounding charged; ``-inf`` on both sides if the sum cannot be positive.

    Notes
    -----
    Cost O(1) in n; proportional to the number of atoms, to the tail's distance from the mean in
    standard deviations, and to ``tolerance**-0.5``.
    """
    scale = float(np.max(np.abs(distribution.values), initial=0.0))
    if scale == 0.0:  # no more than the rounding of what cancelled
        return (
            LogInterval(-math.inf, union_upper_bound(distribution, n))
            if np.any(distribution.sizes > 0.0)
            else LOG_ZERO
        )
    crude = union_upper_bound(distribution, n) - math.log(scale)
    if crude == -math.inf:
        return LOG_ZERO
    bracket, listed = (
        LogInterval(single_positive_lower_bound(distribution, n) - math.log(scale), crude),
        n == 1,
    )
    distribution = distribution.measured_in(scale)
    if not listed and bracket.upper - bracket.lower > tolerance:
        from_list, listed = listed_mean(distribution, n)
        bracket = intersect(bracket, from_list)
        if (
            not listed
            and bracket.upper - bracket.lower > tolerance
            and np.any(distribution.values > SMALLEST_GAIN)
        ):
            bracket = intersect(bracket, _by_contour(distribution, n, tolerance))
    lower, upper = bracket.lower, min(bracket.upper, crude)
    if upper == -math.inf:
        return LOG_ZERO
    pad = 4 * UNIT * (1.0 + abs(upper) + abs(math.log(scale)))
    return LogInterval(min(lower, upper) + math.log(scale) - pad, upper + math.log(scale) + pad)


def _tilted(distribution, theta):
    """Return θG, its peak, the masses times e^{θG − peak}, and their sum, that of the atom at 0 included."""
    exponent = theta * distribution.values
    peak = max(0.0, float(exponent.max()))
    weights = distribution.masses * np.exp(exponent - peak)
    return (
        exponent,
        peak,
        weights,
        max(float(weights.sum()) + distribution.zero_mass * math.exp(-peak), 1e-300),
    )


def _cumulant(distribution, exponent, peak, mass):
    """Return log E e^{θG}, without cancellation where it is small, and the terms it came from.

    The mass at 0 is what the others leave of 1, so that its error is no share of it but of 1.
    """
    if peak >= 1.0:
        return peak + math.log(mass), 1.0 + math.exp(-peak) / mass + peak / 16.0
    growth = distribution.masses * np.expm1(exponent)
    total = float(growth.sum())
    cumulant = math.log1p(total) if total > -0.5 else peak + math.log(mass)
    return cumulant, np.abs(growth).sum() / mass


class _Tilt:
    """The tilt by e^{θG}: cumulant K(θ), mean and variance, atoms that remain, and their rounding.

    ``cumulant_error`` bounds the error of K, ``node_error`` that of the tilted characteristic
    function at t, for each unit of |t|: every mass and every value is known up to ``doubt``,
    relative to itself and to the terms it came from; the sums here lose less.  A mass is off by itself
    and by its tilt, and counts by |e^{iωx} − 1| ≤ ω|x|; a value turns its mass by itself; K norms them all.
    """

    def __init__(self, distribution, theta):
        exponent, peak, weights, mass = _tilted(distribution, theta)
        self.masses = weights / mass
        live = self.masses > 0.0
        self.masses, self.values = masses, values = self.masses[live], distribution.values[live]
        self.mean = float(masses @ values)
        self.variance = max(float(masses @ values**2) - self.mean**2, 0.0)

        doubt = distribution.precision + (distribution.values.size + 24) * UNIT
        sizes = np.minimum(distribution.sizes[live], 1e140)
        moved = np.expm1(np.minimum(doubt * theta * sizes, 60.0))  # by its tilt, a share of each mass
        self.cumulant, terms = _cumulant(distribution, exponent, peak, mass)
        self.cumulant_error = doubt * terms + np.sum(masses * moved)
        off = doubt + moved
        self.node_error = np.sum(masses * (doubt * sizes * (1.0 + off) + off * np.abs(values)))
        self.node_error += self.cumulant_error * np.sum(masses * np.abs(values))


def _saddle(distribution, n):
    """Return θ near the minimum of n K(θ) − 2 log θ; any θ > 0 is valid, this one is efficient."""

    def slope(theta):
        _, _, weights, mass = _tilted(distribution, theta)
        return n * float(weights / mass @ distribution.values) * theta - 2.0

    spread = math.sqrt(float(distribution.masses @ distribution.values**2) * n)
    low = high = math.sqrt(2.0) / spread
    while slope(high) < 0.0:
        low, high = high, 2.0 * high
    while slope(low) > 0.0:
        low, high = 0.5 * low, low
    while high > 1.005 * low:
        middle = low * math.sqrt(high / low)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return low * math.sqrt(high / low)


class TiltedSum(ABC):
    """A sum S of independent losses seen along the line Re t = θ.

    Attributes
    ----------
    cumulant, cumulant_error : float
        log E e^{θS} and its error.
    variance : float
        Of S under the distribution tilted by e^{θS}.
    atoms : int
        What one node costs.
    """

    theta = 1.0

    @abstractmethod
    def growth(self, other):
        """Return an upper end of log E e^{other·S} − log E e^{θS}."""

    @abstractmethod
    def integrand(self, smoothing, step, first, size, nothing):
        """Sum the integrand over a block of nodes, smoothed by v and by 4v, with a bound on its rounding.

        Values are relative to E e^{θS}; nodes below e^{−nothing} are bounded, not computed.
        """


class _Identical(TiltedSum):
    """n losses with one distribution."""

    def __init__(self, distribution, n):
        self.distribution, self.n, self.tilt = distribution, n, _Tilt(distribution, self.theta)
        self.cumulant, self.variance = n * self.tilt.cumulant, n * self.tilt.variance
        self.cumulant_error = n * self.tilt.cumulant_error
        self.atoms = distribution.values.size

    def growth(self, other):
        """Return an upper end of n (K(other) − K(θ))."""
        there = _Tilt(self.distribution, other)
        grown = there.cumulant - self.tilt.cumulant + there.cumulant_error
        return self.n * grown + self.cumulant_error

    def integrand(self, smoothing, step, first, size, nothing):
        """Sum over a block of nodes."""
        return _integrand(self.n, self.theta, self.tilt, smoothing, step, first, size, nothing)


def _period(terms, smoothing, discard):
    """Return a period L and the log of the bound on all aliased terms, relative to E e^{θS} e^{vθ²/2}."""
    theta = terms.theta
    deviation = math.sqrt(terms.variance + smoothing)
    log_scale = terms.cumulant + 0.5 * smoothing * theta**2
    wanted = -discard - 2.0 * math.log(theta) - math.log(deviation)  # the number itself, e^-discard times
    right = (1.0 - wanted - min(log_scale, 0.0)) / theta
    right += (math.log(right) if right > 1.0 else 0.0) / theta + 2.0 / theta
    left = math.inf
    for step in (0.03, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0):
        other = theta + step / deviation
        growth = terms.growth(other)
        growth += 0.5 * smoothing * (other**2 - theta**2) - 1.0 - math.log(other)
        left = min(left, (growth - wanted) / (other - theta))
    period = max(right, left, 2.0 * deviation)
    # k <= -1: E(S+Z-kL)_+ <= e^{t(S+Z) - tkL - 1}/t for every t > θ; one t for all k
    # k >= 1: e^{-θkL}(E(S+Z)_+ + kL), with E(S+Z)_+ <= M(θ)^n e^{vθ²/2} / (eθ)
    fading = theta * period
    ahead = np.logaddexp(-fading - 1.0 - math.log(theta), -fading + math.log(period) - log_scale) + 1.0
    return period, float(np.logaddexp(ahead, wanted + 1.0))


def _by_contour(distribution, n, tolerance):
    unit = _saddle(distribution, n)
    distribution = distribution.measured_in(1.0 / unit)
    finest = 0.0 if distribution.values.size <= ENUMERATED_ATOMS else tolerance
    bracket = on_the_line(_Identical(distribution, n), tolerance, finest)
    return LogInterval(*(end - math.log(unit) for end in bracket))


def on_the_line(terms, tolerance, finest):
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
    theta, deviation = terms.theta, math.sqrt(terms.variance)
    # Chernoff's bound, (x)_+ <= e^{θx - 1}/θ: it always holds and ends a hopeless quadrature
    prefactor = terms.cumulant_error + 8 * UNIT * (1.0 + abs(terms.cumulant))
    log_scale = terms.cumulant
    chernoff = LogInterval(-math.inf, log_scale + prefactor - 1.0 - math.log(theta) + 1e-14)
    if deviation < 1e-120 or log_scale < DEEPEST or tolerance > 4.0 or prefactor > 1.0:
        return chernoff, 0.0, tolerance
    # smoothing by a standard deviation of 1/resolution of the sum's widens a Gaussian tail at z
    # standard deviations by 1.5 (z/resolution)², relatively; far out the logarithm sets the measure
    z = theta * deviation
    resolution = max(min(max(z, 1.5), 14.0) * math.sqrt(1.5 / tolerance), z / 2.0)
    smoothing = (deviation / resolution) ** 2
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

    error += 3.0 * math.exp(0.5 * smoothing * theta**2 - discard) / (math.pi * cutoff)
    error += 3.0 * math.exp(log_alias + 2.0 * smoothing * theta**2)
    upper, lower = smooth + error, 2.0 * smooth - coarse - error
    log_upper = log_scale + prefactor + math.log(upper) if upper > 0.0 else math.inf
    log_upper = min(log_upper, chernoff.upper)
    log_lower = log_scale - prefactor + math.log(lower) if lower > 0.0 else -math.inf
    sharp = 2.0 * smooth - coarse
    blur = math.log(smooth / sharp) if min(smooth, sharp) > 0.0 else math.inf
    return LogInterval(min(log_lower, log_upper), log_upper), blur, tolerance


def _integrand(n, theta, tilt, smoothing, step, first, size, nothing):
    """Sum the integrand over a block of nodes, smoothed by v and by 4v, with a bound on its rounding.

    Values are relative to M(θ)^n.
    """
    phi, number = _characteristic(tilt, step, first, size, nothing / n)
    log_modulus = log_abs_one_plus(phi.real, phi.imag)
    alive = np.flatnonzero((n * log_modulus > -nothing) & (number < size))
    x, y, log_modulus = phi.real[alive], phi.imag[alive], log_modulus[alive]
    omega = step * (first + number[alive])
    angle = np.arctan2(y, 1.0 + x)
    # φ off by a share r: φⁿ off by (1 + r)ⁿ − 1
    relative = n * np.log1p(tilt.node_error * np.hypot(theta, omega) * np.exp(-log_modulus))
    farthest = math.hypot(theta, step * (first + size))
    relative += n * np.hypot(log_modulus, angle) * 4 * UNIT + 2.0 * (log_modulus <= SMALLEST_MODULUS)
    return quadrature(
        theta,
        smoothing,
        omega,
        n * log_modulus,
        n * angle,
        relative,
        size * math.exp(min(n * math.log(math.exp(-nothing / n) + tilt.node_error * farthest), 0.0)),
        halved=first == 0,
    )


def _characteristic(tilt, step, first, size, nothing):
    """Return φ − 1 where |φ| may exceed e^{−nothing}, at some other nodes of a block, and all their numbers.

    Most are not among them.  Between two nodes h apart |φ| is at most the larger of theirs plus h²/8·E G²,
    so that whole rows are seen to be nothing from their ends.
    """
    values, masses = tilt.values, tilt.masses
    curved = 0.125 * step**2 * float(masses @ values**2) * (1.0 + 1e-9)
    row = _row_length(size, curved, nothing)
    if row > 1:
        rows = -(-size // row)
        (far, near), ends = _every(tilt, step, first, row, rows + 1)
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
    return _every(tilt, step, first, 1, size)[1], np.arange(size)


def _every(tilt, step, first, row, count):
    """Return φ − 1 at every row-th node from the first one, after the two tables it was made from."""
    few = math.isqrt(count)
    near = cf_minus_one_of_multiples(step * row * tilt.values, few)
    far = cf_minus_one(np.outer(step * (first + row * few * np.arange(-(-count // few))), tilt.values))
    return (far, near), mean_cf_minus_one(far, near, tilt.masses).ravel()[:count]


def _row_length(size, curved, nothing):
    """Return how many nodes a row has: |φ| that need not be seen to be small may bend further."""
    longest = max(1, round(size ** (1.0 / 3.0)))
    bend = 0.25 * min(math.exp(-nothing), -math.expm1(-nothing))
    row = min(longest, int(math.sqrt(bend / curved))) if curved > 0.0 else longest
    return row if row >= SHORTEST else 1


def quadrature(theta, smoothing, omega, log_modulus, angle, relative, left, *, halved):
    """Add up the nodes of a block where something is left: smoothed by v, by 4v, and their rounding.

    The first node is ``halved`` where it lies on the real axis, its own mirror image.  ``relative`` bounds
    the errors of what is passed, ``left`` the sum of the moduli at the nodes not passed.
    """
    square = theta**2 + omega**2
    turn = angle - 2.0 * np.arctan2(omega, theta)
    drift, fade = smoothing * theta * omega, 0.5 * smoothing * (theta**2 - omega**2)
    fine, rough = (np.exp(log_modulus + times * fade) / square for times in (1.0, 4.0))
    if halved:
        fine[0], rough[0] = 0.5 * fine[0], 0.5 * rough[0]
    doubt = relative + (64.0 + 8.0 * (np.abs(fade) + drift)) * UNIT
    error = np.sum((2.0 * fine + rough) * np.expm1(np.minimum(doubt, 60.0)))
    error += 3.0 * left * math.exp(2.0 * smoothing * theta**2) / theta**2
    smooth, coarse = np.sum(fine * np.cos(turn + drift)), np.sum(rough * np.cos(turn + 4.0 * drift))
    return float(smooth), float(coarse), float(error)

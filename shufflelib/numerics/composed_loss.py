r"""The privacy loss of many rounds: one number of a sum of independent losses, enclosed on both sides.

With rounds whose losses have the finite distributions P_1, …, P_k and L their sum,

.. math:: \delta(\varepsilon) = \mathbb E_P\bigl[(1 - e^{\varepsilon - L})_+\bigr]
          = \frac{1}{2\pi i}\int_{\theta - i\infty}^{\theta + i\infty}
          \frac{e^{-t\varepsilon}}{t(t+1)} \prod_i M_i(t)\,dt, \qquad M_i(t) = \mathbb E\,e^{tL_i},
          \quad \theta > 0,

along the vertical line through the saddle point, where nothing cancels.  Equal rounds are powers, so
that their number costs nothing.

Why the bounds are proved
-----------------------
*Smoothing.*  One more round, a Gaussian pair with μ² = v, gains the factor :math:`e^{vt(t+1)/2}`.
It can only raise δ.  Conversely its likelihood ratio W_v obeys, in convex order,
:math:`W_v \le (1-w)\,1 + w\,W_{4v}` with :math:`w = H_0(\sqrt v)/H_0(2\sqrt v)`, because the ratio of
the two densities falls with |log W|.  Together

.. math:: \frac{\delta_v - w\,\delta_{4v}}{1 - w} \;\le\; \delta \;\le\; \delta_v .

*Trapezoidal rule.*  With step 2π/Λ it returns exactly
:math:`\sum_k e^{\theta k\Lambda}\,\delta_v(\varepsilon + k\Lambda)`: the wanted term and positive ones, which
Chernoff's inequality bounds.  *Truncation* is bounded by the Gaussian factor, *rounding* node by
node.  Each widens the bound that it could falsify; `logspace` says what the bounds on rounding assume.
"""

import math

import numpy as np
from scipy.special import erf

from shufflelib.numerics.certified import LOG_ZERO, Interval
from shufflelib.numerics.logspace import NO_SQUARE, UNIT
from shufflelib.numerics.saddle_point import cf_minus_one, log_abs_one_plus, mean_cf_minus_one, zero_of

FORGOTTEN = 16.0  # e-folds below the number at which aliases lie
CUT = 40.0  # e-folds at which the Gaussian factor is cut off
GONE = 60.0  # e-folds below its peak at which a node is bounded instead of computed
NODE_LIMIT = 3_000_000
BLOCK = 1 << 16
STEEPEST = 1e6  # largest θ, in units of the first guess
HOPELESS = 100.0  # relative width from which on Chernoff's bound will do
SHARE = 0.1  # of the width aimed at that smoothing may cost


class ComposedPLD:
    """The sum of the losses of all rounds: a PLD for each kind of round, and how many there are of it."""

    def __init__(self, distributions, counts):
        self.distributions, self.counts = tuple(distributions), tuple(counts)
        rounds = list(zip(self.distributions, self.counts, strict=True))
        self.slack = math.fsum(k * math.log1p(distribution.slack) for distribution, k in rounds)
        self.infinity_mass = -math.expm1(
            math.fsum(
                k * math.log1p(-distribution.infinity_mass) if distribution.infinity_mass < 1.0 else -math.inf
                for distribution, k in rounds
            )
        )
        self.largest = math.fsum(k * float(distribution.loss[-1]) for distribution, k in rounds)
        self.smallest = math.fsum(k * float(distribution.loss[0]) for distribution, k in rounds)

    @property
    def log_infinity_mass(self):
        """Log of the probability of an infinite loss."""
        return math.log(self.infinity_mass) if self.infinity_mass > 0.0 else -math.inf

    def contributions(self, theta):
        """Return what each kind of round adds to log E e^{θL}."""
        return np.array(
            [
                k * _Tilt(distribution, theta).log_moment
                for distribution, k in zip(self.distributions, self.counts, strict=True)
            ]
        )

    def cumulants(self, theta):
        """Return log E e^{θL}, its error, and mean and variance of L tilted by e^{θL}."""
        log_moment = error = mean = variance = 0.0
        for distribution, k in zip(self.distributions, self.counts, strict=True):
            tilt = _Tilt(distribution, theta)
            log_moment += k * tilt.log_moment
            error += k * tilt.error
            mean += k * tilt.mean
            variance += k * tilt.variance
        return log_moment, error, mean, variance

    def _moments(self, theta):
        """Return mean and variance of L tilted by e^{θL}, to the few digits a saddle point needs."""
        mean = variance = 0.0
        for distribution, k in zip(self.distributions, self.counts, strict=True):
            exponent = theta * distribution.loss + np.log(distribution.mass)
            weight = np.exp(exponent - exponent.max())
            weight /= weight.sum()
            one = float(weight @ distribution.loss)
            mean, variance = mean + k * one, variance + k * float(weight @ (distribution.loss - one) ** 2)
        return mean, variance

    def saddle(self, eps):
        """Return θ > 0 near the minimum of log E e^{θL} − θε − log θ(θ + 1); any θ > 0 is valid."""

        def slope(theta):
            return (self._moments(theta)[0] - eps) * theta - 1.0 - theta / (1.0 + theta)

        mean, variance = self._moments(0.0)
        variance = max(variance, 1e-280)
        start = max((eps - mean) / variance, 0.0) + 1.0 / math.sqrt(variance)
        return zero_of(slope, start, near=1.03, step=1.5, last=STEEPEST * start)[0]

    def log_delta(self, eps, *, width):
        r"""Enclose log δ(ε) of these finite PLDs, aiming at a relative width.

        The lower bound grants only that losses counted as infinite exceed 550: all else falls below
        −50 with probability e^{−50} at most, as :math:`\mathbb E_P e^{-L} \le 1`.
        """
        finite = LOG_ZERO if eps >= self.largest else _on_the_line(self, eps, self.saddle(eps), width)
        sure = self.log_infinity_mass
        return finite.log_add(Interval(sure - 1e-12 if eps < 450.0 else -math.inf, sure))


class _Tilt:
    """One distribution tilted by e^{θL}: log-moment with its error, mean, variance, masses about the mean."""

    def __init__(self, distribution, theta):
        exponent = theta * distribution.loss
        weight = exponent + np.log(distribution.mass)
        peak = float(weight.max())
        weight = np.exp(weight - peak)
        total = math.fsum(weight)
        self.mass = weight / total
        self.mean = math.fsum(self.mass * distribution.loss)
        self.loss = distribution.loss - self.mean
        self.variance = math.fsum(self.mass * self.loss**2)
        away = np.abs(exponent) + np.abs(np.log(distribution.mass))
        reach = min(float(np.max(self.mass * away)) * distribution.loss.size, float(np.max(away)))
        if float(np.max(np.abs(exponent))) < 1.0 and total > 0.5 * math.exp(-peak):
            growth = distribution.mass * np.expm1(exponent)
            self.log_moment = math.log1p(math.fsum(np.append(growth, distribution.mass)) - 1.0)
            moved = math.fsum(np.abs(growth))
        else:
            self.log_moment = peak + math.log(total)
            moved = 1.0 + abs(peak) + math.fsum(self.mass * away)
        self.error = UNIT * (2.0 + 8.0 * moved)
        # of the characteristic function about the mean, for each unit of the angle
        self.doubt = UNIT * (16.0 + 2.0 * distribution.loss.size + 4.0 * reach)
        self.spread = math.fsum(self.mass * np.abs(self.loss)) + 4 * UNIT * abs(self.mean)

    def log_characteristic(self, step, first, size):
        """Return log of the modulus and the angle of E e^{iω(L − mean)}, and their error, at nodes ω."""
        fine = max(1, math.isqrt(size))
        rows = -(-size // fine)
        big = cf_minus_one(np.outer(step * (first + fine * np.arange(rows)), self.loss))
        small = cf_minus_one(np.outer(step * np.arange(fine), self.loss))
        shift = mean_cf_minus_one(big, small, self.mass).ravel()[:size]
        x, y = shift.real, shift.imag
        modulus = log_abs_one_plus(x, y)
        omega = step * (first + np.arange(size))
        error = self.doubt * np.minimum(omega * self.spread, 4.0) + 4 * UNIT * omega * self.spread
        return modulus, np.arctan2(y, 1.0 + x), error * np.exp(-modulus)


def _period(total, theta, eps, smoothing, log_scale, deviation):
    """Return a period Λ and the log of the bound on all aliased terms."""
    wanted = log_scale - math.log(theta * (1.0 + theta) * deviation) - FORGOTTEN
    # k <= -1: δ <= 1, times e^{-θ|k|Λ}
    left = (1.0 - min(wanted, 0.0)) / theta
    # k >= 1: Chernoff's bound with a larger θ, (1 − e^{−y})_+ <= e^{θy}
    right = math.inf
    for step in (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0):
        other = theta + step / deviation
        bound = total.cumulants(other)[0] - other * eps + 0.5 * smoothing * other * (1.0 + other)
        right = min(right, max(bound - wanted + 1.0, 1.0) / (other - theta))
    return max(left, right, 2.0 * deviation), wanted + 1.0


def _nearly_constant(total, eps):
    """Enclose log δ of a sum that hardly varies: 1 − e^{ε − L} moves no more than L does."""
    log_mass, error, mean, variance = total.cumulants(0.0)
    spread = math.sqrt(variance) + 64 * UNIT * (1.0 + eps + abs(mean))
    value = -math.expm1(min(eps - mean, 0.0))
    ends = Interval.of(value).widened(absolute=spread).within(0.0)
    return ends.log() + Interval.of(log_mass).widened(absolute=error)


def _on_the_line(total, eps, theta, width):
    log_moment, error, mean, variance = total.cumulants(theta)
    log_scale = log_moment - theta * eps
    prefactor = error + 8 * UNIT * (abs(log_moment) + theta * eps)
    # Chernoff's bound, (1 − e^{-y})_+ <= e^{θy} θ^θ/(1 + θ)^{1+θ}
    chernoff = log_scale + prefactor - theta * math.log1p(1.0 / theta) - math.log1p(theta) + 1e-13
    if math.sqrt(variance) * theta < 1e-10:
        return _nearly_constant(total, eps).within(most=chernoff)
    if width > HOPELESS or theta > NO_SQUARE:
        return Interval(-math.inf, chernoff)
    smoothing = 2.0 * SHARE * width / (theta * (1.0 + theta))
    gain = 0.5 * smoothing * theta * (1.0 + theta)
    deviation = math.sqrt(variance + 4.0 * smoothing)
    period, log_alias = _period(total, theta, eps, 4.0 * smoothing, log_scale, deviation)
    step = 2.0 * math.pi / period
    cutoff = math.sqrt(2.0 * CUT / smoothing)
    nodes = math.ceil(cutoff / step) + 1
    if nodes > NODE_LIMIT:
        return _on_the_line(total, eps, theta, width * (1.1 * nodes / NODE_LIMIT) ** 2)

    tilts = [_Tilt(distribution, theta) for distribution in total.distributions]
    once = fourfold = rounding = 0.0
    for first in range(0, nodes, BLOCK):
        size = min(BLOCK, nodes - first)
        omega = step * (first + np.arange(size))
        modulus, angle, doubt = np.zeros(size), omega * (mean - eps), 4 * UNIT * omega * (abs(mean) + eps)
        for tilt, k in zip(tilts, total.counts, strict=True):
            part, turn, wrong = tilt.log_characteristic(step, first, size)
            modulus, angle, doubt = (
                modulus + k * part,
                angle + k * turn,
                doubt + k * (wrong + 4 * UNIT * np.abs(turn)),
            )
        alive = modulus > -GONE
        omega, modulus, angle, doubt = omega[alive], modulus[alive], angle[alive], doubt[alive]
        line = theta + 1j * omega
        value = np.exp(modulus + 1j * angle) / (line * (1.0 + line))
        if first == 0:
            value[0] *= 0.5
        smooth = np.exp(0.5 * smoothing * line * (1.0 + line))
        coarse = smooth**2 * smooth**2
        once += float(np.sum((value * smooth).real))
        fourfold += float(np.sum((value * coarse).real))
        rounding += float(np.sum(np.abs(value * coarse) * np.expm1(np.minimum(doubt + 64 * UNIT, 50.0))))
        rounding += size * math.exp(4.0 * gain - GONE) / theta / (1.0 + theta)
    once, fourfold, rounding = (step / math.pi * part for part in (once, fourfold, rounding))
    # beyond the cut-off: ∫ e^{-vω²/2} dω/ω² <= e^{-vω²/2}/(vω³)
    rounding += math.exp(4.0 * gain - CUT) / (math.pi * smoothing * cutoff**3)
    aliases = math.exp(min(log_alias - log_scale, 50.0))
    share = float(erf(math.sqrt(smoothing / 8.0)) / erf(math.sqrt(smoothing / 2.0))) * (1 + 16 * UNIT)
    lower = once - aliases - rounding - share * (fourfold + rounding)
    lower = lower / (1.0 - share) if share < 1.0 else 0.0
    upper = once + rounding if once + rounding > 0.0 else math.inf
    scale = Interval.of(log_scale).widened(absolute=prefactor)
    return (Interval(max(0.0, lower), upper).log() + scale).within(most=chernoff)

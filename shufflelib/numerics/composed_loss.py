r"""The privacy loss of many rounds: numbers of a sum of independent losses, enclosed on both sides.

With rounds whose losses have the finite distributions P_1, …, P_k and L their sum,

.. math:: \delta(\varepsilon) = \mathbb E_P\bigl[(1 - e^{\varepsilon - L})_+\bigr]
          = \frac{1}{2\pi i}\int_{\theta - i\infty}^{\theta + i\infty}
          \frac{e^{-t\varepsilon}}{t(t+1)} \prod_i M_i(t)\,dt, \qquad M_i(t) = \mathbb E\,e^{tL_i},
          \quad \theta > 0,

along a vertical line near the saddle point, where nothing cancels.  Equal rounds are powers, so
that their number costs nothing.  The M_i do not depend on ε: a line once drawn answers every ε whose saddle
point is near.

Why the bounds are proved
-----------------------
*Smoothing.*  One more round, a Gaussian pair with μ² = v, gains the factor :math:`e^{vt(t+1)/2}`.
It can only raise δ.  Conversely its likelihood ratio W_v obeys, in convex order,
:math:`W_v \le (1-w)\,1 + w\,W_{4v}` with :math:`w = H_0(\sqrt v)/H_0(2\sqrt v)`, because the ratio of
the two densities falls with |log W|.  Together

.. math:: \frac{\delta_v - w\,\delta_{4v}}{1 - w} \;\le\; \delta \;\le\; \delta_v .

*Trapezoidal rule.*  With step 2π/Λ it returns exactly
:math:`\sum_k e^{\theta k\Lambda}\,\delta_v(\varepsilon + k\Lambda)`: the wanted term and positive ones.
Those with k < 0 are at most :math:`e^{-\theta|k|\Lambda}`.  For k > 0 Chernoff's inequality with some θ' > θ
says :math:`\delta_v(\varepsilon + k\Lambda) \le e^{K_v(\theta') - \theta'(\varepsilon + k\Lambda)}`,
:math:`K_v(\theta) = \log \mathbb E\,e^{\theta L} + v\theta(\theta+1)/2`.  Both are geometric series.

*Nodes left out.*  Between two nodes a distance h apart :math:`|M(\theta + i\omega)|/M(\theta)` is at most the
larger of theirs plus :math:`h^2/8` times the tilted variance.  Whole rows of nodes are seen to be negligible
from their ends; each is charged as what it may be.

*Truncation* is bounded by the Gaussian factor, *rounding* node by
node.  Each widens the bound that it could falsify; `logspace` says what the bounds on rounding assume.
"""

import math

import numpy as np
from scipy.special import erf

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import NO_SQUARE, UNIT, log1mexp
from shufflelib.numerics.nodes import cf_minus_one, mean_cf_minus_one
from shufflelib.numerics.saddle_point import log_abs_one_plus

FORGOTTEN = 18.0  # e-folds below the number at which aliases lie
CUT = 40.0  # e-folds at which the Gaussian factor is cut off
GONE = 45.0  # e-folds below its peak at which a node is bounded instead of computed
NODE_LIMIT = 3_000_000
BLOCK = 1 << 16  # nodes, or nodes times ε, at once
HOPELESS = 100.0  # relative width from which on Chernoff's bound will do
SHARE = 0.1  # of the width aimed at that smoothing may cost
LONGEST, SHORTEST = 64, 3  # nodes of a row whose ends are looked at first
FARTHER = np.array([0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0])  # beyond θ, in units of 1/deviation
UNVARIED = 1e-10  # standard deviation times θ below which the sum hardly varies


class ComposedPLD:
    """The sum of the losses of all rounds: a PLD for each kind of round, and how many there are of it."""

    def __init__(self, distributions, counts):
        self.distributions, self.counts = tuple(distributions), tuple(counts)
        rounds = list(zip(self.distributions, self.counts, strict=True))
        self.slack = math.fsum(k * math.log1p(distribution.slack) for distribution, k in rounds)
        sure = [(distribution.infinity_mass, k) for distribution, k in rounds]
        finite = math.fsum(k * math.log1p(-mass) if mass < 1.0 else -math.inf for mass, k in sure)
        self.log_infinity_mass = float(log1mexp(finite))  # of the chance of an infinite loss
        self.largest = math.fsum(k * float(distribution.loss[-1]) for distribution, k in rounds)

    def saddles(self, theta):
        """Return, for an array of θ, the ε with its saddle point there and log E e^{θL}, nearly.

        The saddle point is the minimum of log E e^{θL} − θε − log θ(θ + 1); it rises with ε.
        """
        log_moment, mean = np.zeros((2, theta.size))
        for distribution, k in zip(self.distributions, self.counts, strict=True):
            one, weight = _log_moments(distribution, theta)
            log_moment += k * one
            mean += k * (weight * distribution.loss).sum(axis=1) / weight.sum(axis=1)
        return np.maximum.accumulate(mean - 1.0 / theta - 1.0 / (1.0 + theta)), log_moment

    def log_moments_upper(self, theta):
        """Return upper bounds on log E e^{θL} for an array of θ."""
        upper = np.zeros(theta.size)
        for distribution, k in zip(self.distributions, self.counts, strict=True):
            loss, mass = distribution.loss, distribution.mass
            away = theta * float(np.abs(loss).max()) + float(np.abs(np.log(mass)).max())
            upper += k * (
                _log_moments(distribution, theta)[0] + UNIT * (32.0 + 2.0 * loss.size + 16.0 * away)
            )
        return upper

    def log_delta(self, line, eps):
        r"""Enclose log δ(ε) of these finite PLDs at every ε of an array, along a `Line` of them.

        The lower bound grants only that losses counted as infinite exceed 550: all else falls below
        −50 with probability e^{−50} at most, as :math:`\mathbb E_P e^{-L} \le 1`.
        """
        finite = line.log_delta(eps).where(eps < self.largest, -math.inf)
        sure = np.full(eps.shape, self.log_infinity_mass)
        return finite.log_add(Interval(np.where(eps < 450.0, sure - 1e-12, -math.inf), sure))


def _log_moments(distribution, theta):
    """Return log E e^{θL} of one distribution for an array of θ, and the tilted masses, not normalised."""
    exponent = np.outer(theta, distribution.loss) + np.log(distribution.mass)
    peak = exponent.max(axis=1, keepdims=True)
    weight = np.exp(exponent - peak)
    return peak[:, 0] + np.log(weight.sum(axis=1)), weight


class Tilt:
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

    def log_characteristic(self, starts, step, count):
        """Return log of the modulus and the angle of E e^{iω(L − mean)}, and their error.

        The nodes ω are ``count`` from each start on, a step apart.
        """
        big = cf_minus_one(np.outer(starts, self.loss))
        small = cf_minus_one(np.outer(step * np.arange(count), self.loss))
        shift = mean_cf_minus_one(big, small, self.mass).ravel()
        x, y = shift.real, shift.imag
        modulus = log_abs_one_plus(x, y)
        omega = (starts[:, None] + step * np.arange(count)).ravel()
        error = self.doubt * np.minimum(omega * self.spread, 4.0) + 4 * UNIT * omega * self.spread
        return modulus, np.arctan2(y, 1.0 + x), error * np.exp(-modulus)


def _cumulants(tilts, counts):
    """Return log E e^{θL}, its error, and mean and variance of the sum L of all losses, tilted."""
    each = np.array([(tilt.log_moment, tilt.error, tilt.mean, tilt.variance) for tilt in tilts])
    return tuple(float(sum(k * part for part, k in zip(column, counts, strict=True))) for column in each.T)


class Line:
    """The integral along Re t = θ, for any ε: what a `ComposedPLD` has there that does not depend on ε.

    Parameters
    ----------
    total : ComposedPLD
        The sum of all losses.
    theta : float
        Any θ > 0; those near the saddle point of an ε answer it well.
    width : float
        Relative width of δ aimed at.
    finer : int
        How many times the smoothing is cut to a sixteenth, and aliases are pushed farther away.
    """

    def __init__(self, total, theta, width, *, finer=0):
        self.theta, self.forgotten = theta, FORGOTTEN * (1 + finer)
        width /= 16.0**finer
        tilts = [Tilt(distribution, theta) for distribution in total.distributions]
        self.log_moment, self.error, self.mean, self.variance = _cumulants(tilts, total.counts)
        self.constant = math.sqrt(self.variance) * theta < UNVARIED
        if self.constant:
            untilted = [Tilt(distribution, 0.0) for distribution in total.distributions]
            self.untilted = _cumulants(untilted, total.counts)
        self.integrated = not (self.constant or theta > NO_SQUARE) and self._choose(total, width)
        if self.integrated:
            self._draw(tilts, total.counts)

    @property
    def size(self):
        """Number of nodes kept."""
        return sum(omega.size for omega, _, _ in self.blocks) if self.integrated else 0

    def _choose(self, total, width):
        """Choose the smoothing v, the period Λ and the number of nodes, and say whether that is of use."""
        theta, product = self.theta, self.theta * (1.0 + self.theta)
        eps = max(self.mean - 1.0 / theta - 1.0 / (1.0 + theta), 0.0)  # which has its saddle point here
        while width <= HOPELESS:
            self.smoothing = 2.0 * SHARE * width / product
            deviation = math.sqrt(self.variance + 4.0 * self.smoothing)
            wanted = self.log_moment - theta * eps - math.log(product * deviation) - self.forgotten
            self.farther = theta + FARTHER / deviation
            self.bounds = total.log_moments_upper(self.farther)
            self.bounds += 2.0 * self.smoothing * self.farther * (1.0 + self.farther)
            bound = self.bounds - self.farther * eps
            right = float(np.min(np.maximum(bound - wanted + 1.0, 1.0) / (self.farther - theta)))
            self.period = max((1.0 - min(wanted, 0.0)) / theta, right, 2.0 * deviation)
            self.step = 2.0 * math.pi / self.period
            self.cutoff = math.sqrt(2.0 * CUT / self.smoothing)
            self.nodes = math.ceil(self.cutoff / self.step) + 1
            if self.nodes <= NODE_LIMIT:
                return True
            width *= (1.1 * self.nodes / NODE_LIMIT) ** 2
        return False

    def _draw(self, tilts, counts):
        """Keep the nodes that matter: what ε does not change there, smoothed by v and by 4v, with errors."""
        self.blocks, atoms, doubts = [], max(tilt.mass.size for tilt in tilts), []
        for first in range(0, self.nodes, BLOCK):
            last = min(first + BLOCK, self.nodes)
            starts, length = self._rows(tilts, counts, first, last)
            parts = np.array_split(starts, 1 + starts.size * max(length, atoms) // BLOCK)
            alive = [self._alive(tilts, counts, part, length, last) for part in parts]
            block, *doubt = self._smoothed(*(np.concatenate(each) for each in zip(*alive, strict=True)))
            self.blocks.append(block)
            doubts.append(doubt)
        rounding, turning = (math.fsum(each) for each in zip(*doubts, strict=True))
        gain = 2.0 * self.smoothing * self.theta * (1.0 + self.theta)
        left_out = self.nodes * math.exp(gain - GONE) / self.theta / (1.0 + self.theta)
        # beyond the cut-off: ∫ e^{-vω²/2} dω/ω² <= e^{-vω²/2}/(vω³)
        beyond = math.exp(gain - CUT) / (math.pi * self.smoothing * self.cutoff**3)
        self.rounding = self.step / math.pi * (rounding + left_out) + beyond
        self.turning = self.step / math.pi * 4 * UNIT * turning

    def _smoothed(self, omega, modulus, angle, doubt):
        """Return a block of nodes, ω and what is summed there, smoothed by v and by 4v, and its errors."""
        line = self.theta + 1j * omega
        product = line * (1.0 + line)
        value = np.exp(modulus + 1j * angle) / np.where(omega == 0.0, 2.0, 1.0) / product
        once = value * np.exp(0.5 * self.smoothing * product)
        fourfold = value * np.exp(2.0 * self.smoothing * product)
        size, doubt = np.abs(fourfold), np.minimum(doubt + 64 * UNIT, 50.0)
        rounding, turning = np.sum(size * np.expm1(doubt)), np.sum(size * np.exp(doubt) * omega)
        return (omega, once, fourfold), float(rounding), float(turning)

    def _rows(self, tilts, counts, first, last):
        """Return where rows of nodes start that may matter, and how many nodes a row has."""
        size, gone = last - first, GONE / sum(counts)
        curved = max(0.125 * self.step**2 * tilt.variance for tilt in tilts) * (1.0 + 1e-9)
        bend = 0.25 * min(math.exp(-gone), -math.expm1(-gone))
        length = int(math.sqrt(bend / curved)) if bend < curved * LONGEST**2 else LONGEST
        if length < SHORTEST:
            length = math.isqrt(size)
            return first + length * np.arange(-(-size // length)), length
        rows = -(-size // length)
        few = math.isqrt(rows + 1)
        far = self.step * (first + length * few * np.arange(-(-(rows + 1) // few)))
        log_most = np.zeros(rows)
        for tilt, k in zip(tilts, counts, strict=True):
            modulus, _, wrong = tilt.log_characteristic(far, self.step * length, few)
            ends = np.expm1((modulus + wrong)[: rows + 1])
            most = np.maximum(ends[:-1], ends[1:]) + curved * length**2
            log_most += k * np.log1p(np.clip(most, -1.0 + UNIT, 0.0))
        return first + length * np.flatnonzero(log_most > -GONE), length

    def _alive(self, tilts, counts, starts, length, last):
        """Return ω where the product of the M is not negligible, its log modulus, angle and error."""
        index = (starts[:, None] + np.arange(length)).ravel()
        modulus, angle, doubt = np.zeros((3, index.size))
        for tilt, k in zip(tilts, counts, strict=True):
            part, turn, wrong = tilt.log_characteristic(self.step * starts, self.step, length)
            modulus += k * part
            angle += k * turn
            doubt += k * (wrong + 4 * UNIT * np.abs(turn))
        alive = (modulus > -GONE) & (index < last)
        return self.step * index[alive], modulus[alive], angle[alive], doubt[alive]

    def log_delta(self, eps):
        """Enclose log δ of all finite losses at every ε of an array."""
        theta, log_scale = self.theta, self.log_moment - self.theta * eps
        doubt = self.error + 8 * UNIT * (abs(self.log_moment) + theta * eps)
        # Chernoff's bound, (1 − e^{-y})_+ <= e^{θy} θ^θ/(1 + θ)^{1+θ}
        chernoff = log_scale + doubt - theta * math.log1p(1.0 / theta) - math.log1p(theta) + 1e-13
        if self.integrated:
            lower, upper = self._integral(eps, log_scale, doubt)
        elif self.constant:
            lower, upper = self._nearly_constant(eps)
        else:
            lower, upper = np.full(eps.shape, -math.inf), chernoff
        return Interval(np.minimum(lower, chernoff), np.minimum(upper, chernoff))

    def _integral(self, eps, log_scale, doubt):
        """Enclose log δ by the integral, e^{log_scale} being E e^{θL − θε}."""
        once, fourfold = np.zeros((2, eps.size))
        for omega, *values in self.blocks:
            for part in np.array_split(np.arange(eps.size), 1 + eps.size * omega.size // BLOCK):
                turn = omega * (self.mean - eps[part])[:, None]
                cosine, sine = np.cos(turn), np.sin(turn)
                for found, value in zip((once, fourfold), values, strict=True):
                    found[part] += self.step / math.pi * (cosine * value.real - sine * value.imag).sum(axis=1)
        reach = abs(self.mean) + eps
        rounding = self.rounding + self.turning * reach * np.exp(
            np.minimum(4 * UNIT * self.cutoff * reach, 50.0)
        )
        aliases = self._aliases(eps, log_scale, doubt)
        share = erf(math.sqrt(self.smoothing / 8.0)) / erf(math.sqrt(self.smoothing / 2.0)) * (1 + 16 * UNIT)
        lower = once - aliases - rounding - share * (fourfold + rounding)
        lower = lower / (1.0 - share) if share < 1.0 else np.zeros(eps.shape)
        upper = np.where(once + rounding > 0.0, once + rounding, np.inf)
        found = Interval(np.maximum(lower, 0.0), upper).log()
        return found + Interval(log_scale - doubt, log_scale + doubt)

    def _aliases(self, eps, log_scale, doubt):
        """Return an upper bound on all aliased terms, in units of E e^{θL − θε}."""
        far = self.theta * self.period
        left = np.exp(np.minimum(-far - log_scale, 50.0)) / -math.expm1(-far)
        beyond = self.farther - self.theta
        terms = self.bounds - np.multiply.outer(eps, self.farther) - log_scale[:, None] - beyond * self.period
        right = (np.exp(np.minimum(terms, 50.0)) / -np.expm1(-beyond * self.period)).min(axis=1)
        return (left + right) * np.exp(0.01 + np.minimum(2.0 * doubt, 50.0))

    def _nearly_constant(self, eps):
        """Enclose log δ of a sum that hardly varies: 1 − e^{ε − L} moves no more than L does."""
        log_mass, error, mean, variance = self.untilted
        spread = math.sqrt(variance) + 64 * UNIT * (1.0 + eps + abs(mean))
        value = -np.expm1(np.minimum(eps - mean, 0.0))
        ends = Interval.of(value).widened(absolute=spread).within(0.0)
        return ends.log() + Interval.of(log_mass).widened(absolute=error)

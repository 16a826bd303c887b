r"""Whole numbers as noise, and what a shift by some whole number reveals.

A number N is known by the losses :math:`\ell(k) = \log P(N = k - 1) - \log P(N = k)`, which rise with k if
the distribution is log-concave.  What one user adds to N, a message or a value, leaves the pair (N + Δ, N).

*Smaller shifts.*  For a log-concave distribution and Δ ≥ 0 the best test is a threshold c, and
:math:`P(N + \Delta \ge c) - e^{\varepsilon} P(N \ge c)` rises with Δ.  So (N + Δ, N) dominates all smaller
shifts, and a product of such pairs those of several numbers.

Why the bounds are proved.  ℓ is known in closed form or enclosed, and so are all masses up to one factor:
sums of losses from the most likely number outward.  Of numbers left out at an end each is at most ρ < 1 times
as likely as the one before, so that together they are at most ρ/(1 - ρ) times the last one listed.  Listed
masses lie between their shares of what is listed and the same less what is left out.  In a pair, what is left
out is an atom between no mass and all of that, with an infinite loss, which δ cannot exceed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shufflelib.numerics.certified import LONG_UNIT, Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.finite_products import times
from shufflelib.profiles.hockey_stick import Pair
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.privacy_profile import product

LEFT_OUT = 120.0  # e-folds below the most likely number at which numbers are left out
MOST_ATOMS = 2**19  # of a product that is written out


@dataclass(frozen=True)
class IntegerNoise:
    """The distribution of a whole number.

    Parameters
    ----------
    loss : callable
        Takes an array of k > ``smallest`` and encloses log P(N = k - 1) - log P(N = k), which has one sign
        change at most; shifts by more than 1 need it to rise.
    mean, deviation : float
        Nearly; they say where to look.
    smallest, largest : float
        The smallest and the largest number possible.
    last_ratio : float
        Supremum of P(N = k + 1)/P(N = k) as k grows; beyond any k it is that or what it is at k.
    margin : float
        How many numbers are listed beyond 16 deviations, at first.
    symmetric : bool
        Whether the distribution is that of 2 mean − N.

    Examples
    --------
    A coin, and what one more tells:

    >>> from shufflelib.numerics.certified import Interval
    >>> from shufflelib.profiles.integer_noise import binomial
    >>> round(binomial(1, Interval.of(0.5)).shifted().delta(eps=0.0).upper, 12)
    0.5
    """

    loss: Callable[[Any], Interval]
    mean: float
    deviation: float
    smallest: float = 0.0
    largest: float = math.inf
    last_ratio: float = 0.0
    margin: float = 64.0
    symmetric: bool = False

    def listed(self):
        """Return numbers, log masses, losses of k and k - 1 and bounds on log of what is left out."""
        width = 16.0 * self.deviation + self.margin
        while True:
            first = max(math.floor(self.mean - width), self.smallest)
            last = min(math.ceil(self.mean + width), self.largest)
            k = np.arange(first, last + 1.0)
            loss = self.loss(k[1:])
            log_mass = _summed(loss)
            ends = log_mass.upper[[0, -1]] - log_mass.upper.max()
            if (first == self.smallest or ends[0] < -LEFT_OUT) and (
                last == self.largest or ends[1] < -LEFT_OUT
            ):
                break
            width *= 2.0
        left_out = np.logaddexp(
            log_mass.upper[0] + self._beyond(first, down=True),
            log_mass.upper[-1] + self._beyond(last, down=False),
        )
        listed = log_mass.log_sum()
        log_mass = log_mass - listed
        if left_out > -math.inf:
            left_out += 64 * UNIT * (1.0 + abs(left_out)) - listed.lower
        share = math.exp(min(left_out, 0.0))  # what is left out is at most this share of what is listed
        return k, Interval(log_mass.lower - 2.0 * share, log_mass.upper), loss, left_out

    def _beyond(self, k, down):
        """Return an upper bound on the log of P(N < k) or P(N > k) over P(N = k)."""
        if k == (self.smallest if down else self.largest):
            return -math.inf
        step = self.loss(np.array([k if down else k + 1.0]))
        log_ratio = float(step.upper[0] if down else -step.lower[0])
        if not down and self.last_ratio > 0.0:
            log_ratio = max(log_ratio, math.log(self.last_ratio) + 4 * UNIT)
        if log_ratio >= -1e-12:
            return math.inf
        return log_ratio - math.log(-math.expm1(log_ratio)) + 1e-12 * (1.0 - log_ratio)

    def shifted(self, by=1):
        """Return the pair (N + by, N) as a finite one; see the module for what is left out."""
        k, log_mass, loss, left_out = self.listed()
        by = min(by, k.size)
        log_p, log_q = log_mass.at(slice(None, k.size - by)), log_mass.at(slice(by, None))
        # N + by beyond the last number, N below the first one more, and what is left out of either
        endless, none = k[-1] == self.largest, k[0] == self.smallest
        top, bottom = (log_mass.at(part).log_sum() for part in (slice(k.size - by, None), slice(by)))
        extra_p, extra_q = (
            Interval(np.array([one.lower if sure else -np.inf]), np.logaddexp([one.upper], left_out))
            for one, sure in ((top, endless), (bottom, none))
        )
        extra_p, extra_q = (part.widened(8.0, 8 * UNIT) for part in (extra_p, extra_q))
        nothing, certain = Interval.of(np.full(1, -np.inf)), Interval.of(np.full(1, np.inf))
        return DiscretePair.from_losses(
            Interval.concatenate((nothing, log_p, extra_p)),
            Interval.concatenate((extra_q, log_q, nothing)),
            Interval.concatenate((-certain, _neighbouring_sums(loss, by), certain)),
        )


def _summed(loss):
    """Enclose log P(N = k) up to a constant, summed from the most likely number outward.

    The two ends of every loss are summed in long doubles, each sum off by its size for each term.
    """
    signs = loss.middle <= 0.0  # masses rise to the most likely number
    mode = int(np.count_nonzero(signs))
    ends = [np.empty(loss.lower.size + 1) for _ in range(2)]
    for end, rising, falling in zip(ends, loss, loss[::-1], strict=True):
        before = np.cumsum(rising[:mode][::-1], dtype=np.longdouble)[::-1]
        after = -np.cumsum(falling[mode:], dtype=np.longdouble)
        end[:] = np.concatenate((before, [0.0], after)).astype(float)
    size = np.maximum(np.abs(ends[0]), np.abs(ends[1])) + 1.0
    return Interval(*ends).widened(absolute=size * (2.0 * UNIT + loss.lower.size * LONG_UNIT))


def _neighbouring_sums(loss, count):
    """Return the sums of so many losses in a row, as differences of sums in long doubles."""
    if count == 1 or count > loss.lower.size:
        return loss if count == 1 else loss.at(slice(0))
    sums = [np.append(np.longdouble(0.0), np.cumsum(end, dtype=np.longdouble)) for end in loss]
    error = 4.0 * loss.lower.size * LONG_UNIT * float(max(np.abs(one).max() for one in sums))
    ends = ((one[count:] - one[:-count]).astype(float) for one in sums)
    return Interval(*ends).widened(1.0, error)


# ---------------------------------------------------------------- the distributions


def poisson(mean: Interval) -> IntegerNoise:
    r"""Return a Poisson number; :math:`\ell(k) = \log(k/\text{mean})`."""
    return IntegerNoise(partial(_loss_of_ratio, 1.0, 0.0, mean), mean.middle, math.sqrt(mean.middle))


def _loss_of_ratio(start, slope, factor, k):
    """Return the losses of a number with P(N = k)/P(N = k − 1) = (start + slope (k − 1)) factor/k."""
    return (Interval.of(k) / ((start + slope * (k - 1.0)) * factor)).log()


def binomial(trials: int, chance: Interval) -> IntegerNoise:
    r"""Return the number of successes; :math:`\ell(k) = \log\frac{k(1-p)}{(n-k+1)p}`."""
    odds, p = chance / (1.0 - chance), chance.middle
    deviation, even = math.sqrt(trials * p * (1.0 - p)), chance == (0.5, 0.5)
    loss = partial(_loss_of_ratio, float(trials), -1.0, odds)
    return IntegerNoise(loss, trials * p, deviation, largest=trials, symmetric=even)


def negative_binomial(shape: Interval, ratio: float) -> IntegerNoise:
    r"""Return a number with masses in proportion to :math:`\Gamma(k + r) q^k/k!`."""
    mean = shape.middle * ratio / (1.0 - ratio)
    loss = partial(_loss_of_ratio, shape, 1.0, ratio)
    return IntegerNoise(loss, mean, math.sqrt(mean / (1.0 - ratio)), last_ratio=ratio)


def skellam(variance: Interval) -> IntegerNoise:
    r"""Return the difference of two Poisson numbers of mean μ/2.

    .. math:: P(N = k) = e^{-\mu} I_k(\mu), \qquad \ell(k) = \log\frac{I_{k-1}(\mu)}{I_k(\mu)}, \qquad
              \frac{I_{k-1}}{I_k} = \frac{2k}\mu + \frac{I_{k+1}}{I_k}

    The recurrence is taken downward from a k beyond all others, where the last ratio is between 0 and 1;
    each step shrinks that interval.
    """
    deviation = math.sqrt(variance.middle)
    loss = partial(_skellam_loss, variance, deviation)
    return IntegerNoise(loss, 0.0, deviation, smallest=-math.inf, symmetric=True)


def _skellam_loss(variance, deviation, k):
    """Return the losses, of which ℓ(1 − k) = −ℓ(k)."""
    places = np.where(k >= 1.0, k, 1.0 - k).astype(int)
    last = int(places.max(initial=1))
    excess = np.zeros((2, last + 1))  # of I_{k−1}/I_k over 1, from both sides
    least, most = (float(end) for end in 2.0 / variance)
    more, less = 1.0 + 4.0 * UNIT, 1.0 - 4.0 * UNIT
    low, high = 0.0, math.inf
    for j in range(last + int(2.0 * deviation) + 64, 0, -1):
        taken_low, taken_high = low / (1.0 + low), 1.0 if high == math.inf else high / (1.0 + high)
        low, high = max(j * least * less - taken_high * more, 0.0), j * most * more - taken_low * less
        if j <= last:
            excess[:, j] = low * less, high * more
    ratio = Interval(*excess[:, places]).log1p()
    return ratio.where(k >= 1.0, -ratio)


def sum_of_discrete_gaussians(n: int, sigma: float) -> IntegerNoise | None:
    r"""Return the sum of n independent numbers with masses in proportion to :math:`e^{-k^2/(2\sigma^2)}`.

    .. math:: P(N = s) \propto e^{-s^2/(2n\sigma^2)}\, \mathbb E \cos(2\pi s K/n), \qquad
              P(K = j) \propto \sum_{\sum k_i = j} e^{-2\pi^2\sigma^2 (\sum k_i^2 - j^2/n)}

    with a whole number K, :math:`-n/2 < K \le n/2`, and sums over whole :math:`k_1, \dots, k_n`, by Poisson's
    summation formula.  So the sum is no discrete Gaussian.  With :math:`M = \mathbb E K^2/n^2`, a loss is
    :math:`(2s-1)/(2n\sigma^2)` up to

    .. math:: \left|\log\frac{\mathbb E \cos(2\pi(s-1)K/n)}{\mathbb E \cos(2\pi sK/n)}\right|
              \le \frac{2\pi^2 |2s-1| M}{1 - 2\pi^2 r^2 M},
              \qquad M \le \frac18 \Bigl(1 - e^{1/(2n\sigma^2)} \frac{P(N = 1)}{P(N = 0)}\Bigr)

    for s and s − 1 of at most r in size: a cosine is at least 1 less half a square, and
    :math:`1 - \cos x \ge 2x^2/\pi^2` up to x = π.  None if the denominator is below 1/2: too little noise.

    Source: derived; for another bound on the same ratio, Kairouz, Liu, Steinke (arXiv:2102.06387).
    """
    deviation = math.sqrt(n) * sigma
    reach = 16.0 * deviation + 5.0  # all that is listed, and the next ones
    moment = 0.0 if n == 1 else _second_moment(n, sigma)
    drop = 2.0 * (math.pi * reach) ** 2 * moment
    if drop > 0.5:
        return None
    share = (2.0 * math.pi * deviation) ** 2 * moment / (1.0 - drop) * (1.0 + 1e-9)
    variance = Interval.of(sigma) * sigma * float(n)
    loss = partial(_discrete_gaussian_loss, variance, share)
    return IntegerNoise(loss, 0.0, deviation, smallest=-math.inf, margin=2.0, symmetric=True)


def _second_moment(n, sigma):
    """Return an upper bound on M, the ratio of masses by the trapezoidal rule on the circle.

    On a grid of more than 32 deviations it leaves out less than e^{−128} of the sum.  All terms are positive:
    what is charged is the rounding of the exponents, of size n log Θ(0) and, where it matters, below 100.
    """
    c, size = 2.0 * (math.pi * sigma) ** 2, 2 * math.ceil(20.0 * math.sqrt(n) * sigma + 20.0)
    u = np.arange(-size // 2, size // 2) / size
    k = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    others = np.log1p(np.exp(-c * k * (k + 2.0 * u[:, None])).sum(axis=1))
    at_zero = math.log1p(float(np.exp(-c * k * k).sum()))
    log_weight = n * (others - at_zero - c * u * u)
    weight = np.exp(np.maximum(log_weight, -700.0))
    falls = float((weight * 2.0 * np.sin(math.pi * u) ** 2).sum() / weight.sum())
    grows = math.expm1(0.5 / (n * sigma * sigma))
    rounding = 1e-13 + 32.0 * UNIT * n * at_zero
    return 0.125 * max(falls - grows * (1.0 - falls), 0.0) + rounding * (falls + grows)


def _discrete_gaussian_loss(variance, share, k):
    return Interval.of(k - 0.5) / variance * Interval(1.0 - share, 1.0 + share)


# ---------------------------------------------------------------- several numbers at once


def moved(one: DiscretePair, up: int, down: int) -> Pair:
    """Return the product of ``up`` pairs and of ``down`` reversed ones."""
    found, *others = [one] * up + [one.reversed] * down
    for other in others:
        if found.size * other.size > MOST_ATOMS:
            return product([(pair, k) for pair, k in ((one, up), (one.reversed, down)) if k])
        found = times(found, other)
    return found

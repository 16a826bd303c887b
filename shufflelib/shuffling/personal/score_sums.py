r"""Sums of independent scores in {−1, 0, 1}: their distribution, with certified errors.

.. math:: S = \sum_i S_i, \qquad P(S_i = 1) = a_i,\; P(S_i = -1) = b_i \text{ independent}

The Poisson-binomial distribution is the case b = 0.  Chernoff's inequality gives a window that S leaves with
probability at most 2e-20; inside it the distribution is the discrete Fourier transform of
:math:`\prod_i (1 + a_i(\omega - 1) + b_i(\bar\omega - 1))`, which is exact up to aliasing
from outside the window and to rounding.  The error bound includes both.
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib.numerics.logspace import UNIT

LOG_OUTSIDE = -46.1
OUTSIDE = 1e-20  # mass on either side of the window, a little above e^LOG_OUTSIDE
LARGEST_TILT = 300.0  # beyond it the square of e^-tilt underflows
BLOCK = 1 << 21  # entries of frequencies times groups held in memory at once


class ScoreDistribution(NamedTuple):
    """Distribution of S on a window.

    ``masses[k]`` is P(S = first + k) up to ``error``; P(S < first) and P(S > last) are at most ``outside``.
    """

    first: int
    masses: np.ndarray
    error: float
    outside: float

    @property
    def at_most(self):
        """Upper bounds on P(S <= first + k), none above 1."""
        size = self.masses.size
        slack = self.outside + self.error * np.arange(1, size + 1)
        return np.minimum(np.cumsum(np.maximum(self.masses, 0.0)) * (1.0 + size * UNIT) + slack, 1.0)


def score_distribution(plus, minus, counts):
    """Return the distribution of the sum of all scores.

    Parameters
    ----------
    plus, minus : numpy.ndarray, shape (g,)
        Probabilities of the scores 1 and −1 in each group; their sum is at most 1.
    counts : numpy.ndarray, shape (g,)
        Number of scores in each group, whole and non-negative.

    Notes
    -----
    Cost O(g s) with s about 19 standard deviations of the sum.
    """
    live = (plus + minus > 0.0) & (counts > 0)
    plus, minus, counts = plus[live], minus[live], counts[live].astype(float)
    if counts.size == 0:
        return ScoreDistribution(0, np.ones(1), 0.0, 0.0)
    first, last = -_farthest(minus, plus, counts), _farthest(plus, minus, counts)
    size = last - first + 1
    angle = 2.0 * math.pi * np.arange(size // 2 + 1) / size
    transform, doubt = np.empty(angle.size, complex), np.empty(angle.size)
    rows = max(1, BLOCK // counts.size)
    for start in range(0, angle.size, rows):
        part = slice(start, start + rows)
        transform[part], doubt[part] = _product(angle[part], plus, minus, counts)
    # both halves of the spectrum; the transform itself costs 16 units for each of its levels
    relative = doubt + 16.0 * UNIT * (1.0 + math.log2(size))
    error = 2.0 / size * math.fsum(np.abs(transform) * relative)
    masses = np.fft.irfft(transform, size) if size > 1 else np.ones(1)
    return ScoreDistribution(first, np.roll(masses, -(first % size)), error + 2.0 * OUTSIDE, OUTSIDE)


def _product(angle, plus, minus, counts):
    """Return the factors' product at these angles, conjugated, and a bound on its relative error.

    A factor is 1 + x − iy.  Its logarithm is computed so that its error is relative to x and y, not to 1.
    """
    versine = 2.0 * np.sin(0.5 * angle)[:, None] ** 2
    x, y = -versine * (plus + minus), np.sin(angle)[:, None] * (plus - minus)
    growth = 2.0 * x + x * x + y * y
    modulus = np.maximum(np.hypot(1.0 + x, y), 1e-300)
    log_modulus = np.where(growth > -0.5, 0.5 * np.log1p(np.maximum(growth, -0.5)), np.log(modulus))
    phase = np.arctan2(y, 1.0 + x)
    doubt = (x * x + y * y - 2.0 * x) / modulus + np.abs(phase) + np.abs(y) / modulus**2
    product = np.exp(log_modulus @ counts - 1j * (phase @ counts))
    return product, UNIT * np.minimum(8.0 * (doubt @ counts) + 16.0 * math.sqrt(counts.size) + 16.0, 1e290)


def _farthest(plus, minus, counts):
    """Return a number that S exceeds with probability at most OUTSIDE, by Chernoff's inequality."""
    most = int(counts[plus > 0.0].sum())
    low, high = 0.0, 1.0
    while _rate(high, plus, minus, counts)[1] < -LOG_OUTSIDE:
        high *= 2.0
        if high > LARGEST_TILT:
            return most
    for _ in range(50):
        middle = 0.5 * (low + high)
        reached = _rate(middle, plus, minus, counts)[1] >= -LOG_OUTSIDE
        low, high = (low, middle) if reached else (middle, high)
    # the bound is on S >= mean; one more for rounding
    return min(most, math.floor(_rate(high, plus, minus, counts)[0]) + 1)


def _rate(tilt, plus, minus, counts):
    """Return the tilted mean m and −log of Chernoff's bound on S ≥ m, for a positive tilt."""
    back = math.exp(-tilt)
    weight = plus + (1.0 - plus - minus) * back + minus * back * back  # e^{-tilt} E e^{tilt S}
    mean = math.fsum(counts * (plus - minus * back * back) / weight)
    return mean, tilt * (mean - counts.sum()) - math.fsum(counts * np.log(weight))

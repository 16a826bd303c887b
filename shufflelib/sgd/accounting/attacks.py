"""Attacks that look at one report: the smallest, the one that others have marked, the largest."""

import math

import numpy as np
from scipy.special import log_ndtr, ndtr

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.pairs import DiscretePair

CELLS = 100  # for the smallest report, in the attack on Laplace reports
GAUSSIAN_CELLS = 400
REACH = 8.0  # standard deviations


def smallest_report(reports, *, moved):
    """Return the pmfs of the smallest report's cell: the target at 0 or ``moved``, all others at s·eps0."""
    far = reports.eps0_between_blocks
    ends = np.linspace(0.0, moved, CELLS + 1)
    others = (reports.blocks - 1) * _log_survival(ends - far)
    precision = 64 * UNIT * (1.0 + max(far, moved))  # ends lie that far from where the others are
    up, down = (_between((_log_survival(ends - one) + others)[::-1], precision) for one in (0.0, moved))
    return DiscretePair.from_losses(up, down, up - down)


def _log_survival(t):
    """Return log P(Z > t) of a standard Laplace variable."""
    return np.where(t < 0.0, np.log1p(-0.5 * np.exp(np.minimum(t, 0.0))), -math.log(2.0) - t)


def marked_report(reports):
    r"""Return the distributions of a Gaussian report that the other examples of its block have marked.

    .. math:: (1 - \eta)\,\mathcal N(\pm a, 1) + \eta\,\mathcal N(0, 1), \qquad a = \frac1\sigma, \qquad
              \eta = (m - 1)\,\Phi\Bigl(-\frac{2s - 1}{\sqrt2\,\sigma}\Bigr)

    In one direction all other examples of the target's block have gradient -C and those of other blocks +C,
    so block sums are at least (2s - 1)C apart: the attacker takes the smallest report, and misses the block
    with probability at most η.  In a second direction the target has gradient ±C and nobody else any.
    A missed block shows noise alone.  The report is sorted into cells.
    """
    a = 1.0 / reports.noise_multiplier
    far = -(2 * reports.block_size - 1) * a / math.sqrt(2.0)
    missed = min(1.0, (reports.blocks - 1) * float(ndtr(far)) * (1 + 1e-9))
    ends = np.linspace(-a - REACH, a + REACH, GAUSSIAN_CELLS + 1)
    right, noise = (_cells(ends - centre) for centre in (a, 0.0))
    with np.errstate(divide="ignore"):
        up = np.logaddexp(math.log1p(-missed) + right if missed < 1.0 else -np.inf, np.log(missed) + noise)
    down = up[::-1]  # the cells are symmetric
    up, down = (Interval.of(part).widened(absolute=1e-11 * (1.0 + np.abs(part))) for part in (up, down))
    return DiscretePair.from_losses(up, down, up - down)


def largest_report(noise, blocks, chosen):
    r"""Return the distributions of the largest of t reports, of which k have the mean ±a and the others 0.

    .. math:: \Pr(\max \le c) = \Phi(c \mp a)^k\, \Phi(c)^{t-k}, \qquad a = \frac1\sigma

    It is sorted into cells.
    """
    a = 1.0 / noise
    ends = np.linspace(-a, a + REACH, GAUSSIAN_CELLS + 1)
    up, down = (
        _between(chosen * log_ndtr(ends - centre) + (blocks - chosen) * log_ndtr(ends)) for centre in (a, -a)
    )
    return DiscretePair.from_losses(up, down, up - down)


def _between(log_below, precision=1e-12):
    """Enclose the log masses of cells, given the log probabilities of lying below each end but the last."""
    log_below = np.append(log_below, 0.0)
    step = np.append(700.0, np.minimum(np.diff(log_below), 700.0))  # nothing lies below the first cell
    rounding = precision * (1.0 - log_below + (step - log_below) / np.expm1(step))
    return Interval.of(log_below + np.log(-np.expm1(-step))).widened(absolute=rounding)


def _cells(ends):
    """Return the log masses of a standard normal variable on the cells between ends, tails included."""
    low, high = np.append(-np.inf, ends), np.append(ends, np.inf)
    mirrored = low > 0.0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    return log_ndtr(high) + np.log1p(-np.exp(log_ndtr(low) - log_ndtr(high)))

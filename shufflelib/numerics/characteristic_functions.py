"""Characteristic functions minus 1, so that nothing cancels where they are near 1.

The errors stated assume of sin, cos and log1p what `logspace` says.
"""

import math

import numpy as np

from shufflelib.numerics.logspace import UNIT

SMALLEST_MODULUS = 0.5 * float(np.log1p(-1.0 + UNIT)) + 1e-9  # log of the least |φ| told from 0


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

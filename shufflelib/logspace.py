r"""Numerics in log space, with stated errors; nothing here knows about privacy.

Errors below are relative and were measured against 40-digit arithmetic (see ``tests/test_logspace.py``);
the constants charge at least five times the largest error met.
"""

import math

import numpy as np
from scipy.special import betainc

UNIT = float(np.finfo(float).eps)  # spacing at 1, twice the unit roundoff
PMF_ERROR = 4e-14  # of `binomial_pmf`, for each unit of 1 + |log pmf|/10, n up to 1e6
TAIL_ERROR = 6e-12  # of `binomial_tail`, n up to 1e6, values above 1e-290


def log1mexp(x):
    r"""Return :math:`\log(1 - e^{x})` for x < 0, accurate near 0 and for very negative x.

    Source: Mächler (2012), switching at log 2.
    """
    x = np.asarray(x, float)
    with np.errstate(divide="ignore"):
        return np.where(x > -math.log(2.0), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def log_expm1(x):
    r"""Return :math:`\log(e^{x} - 1)` for a number x ≥ 0, without overflow or cancellation."""
    return x + float(log1mexp(-x)) if x > 0.0 else -math.inf


def logsumexp(a):
    """Return log Σ e^a, the terms added from the small end; ``-inf`` for an empty sum."""
    a = np.sort(np.asarray(a, float).ravel())
    if a.size == 0 or a[-1] == -np.inf:
        return -math.inf
    if a[-1] == np.inf:
        return math.inf
    return float(a[-1] + np.log(np.sum(np.exp(a - a[-1]))))


# log n! - (n + 1/2) log n + n - log(2π)/2 for n = 1 … 15
_STIRLING_SMALL = np.array(
    [math.inf]
    + [
        math.lgamma(k + 1.0) - ((k + 0.5) * math.log(k) - k + 0.5 * math.log(2.0 * math.pi))
        for k in range(1, 16)
    ]
)


def _stirling_error(k):
    """Return log k! minus Stirling's formula, absolute error below 1e-15."""
    k = np.asarray(k, float)
    safe = np.maximum(k, 16.0)
    square = safe * safe
    series = (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square
    ) / safe
    return np.where(k > 15.5, series, _STIRLING_SMALL[np.clip(k, 0, 15).astype(int)])


def _deviance(k, mean):
    """Return k log(k/mean) + mean − k without cancellation (mean > 0, k ≥ 0)."""
    relative = (k - mean) / mean
    small = np.abs(relative) < 0.1
    # (1+u) log(1+u) − u, with log(1+u) = 2 artanh(u/(2+u))
    u = np.where(small, relative, 0.0)
    t = u / (2.0 + u)
    square = t * t
    tail = np.zeros_like(u)
    for j in range(12, 0, -1):
        tail = square * (tail + 1.0 / (2 * j + 1))
    series = mean * (u * t + 2.0 * (1.0 + u) * t * tail)
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.where(k > 0.0, k * np.log(np.maximum(k, 1e-300) / mean), 0.0) + (mean - k)
    return np.where(small, series, direct)


def log_binomial_pmf(k, n, p):
    r"""Return :math:`\log \binom nk p^k (1-p)^{n-k}` for whole 0 ≤ k ≤ n, 0 < p < 1.

    Notes
    -----
    Saddle-point form (Loader 2000): no large terms cancel, so the absolute error is a few units of
    rounding for each unit of the logarithm, whatever n.  ``-inf`` outside 0 … n.
    """
    k, n, p = (np.asarray(part, float) for part in (k, n, p))
    k, n, p = np.broadcast_arrays(k, n, p)
    inside = (k >= 0) & (k <= n)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = inside & (k > 0) & (k < n)
        kk = np.where(middle, k, 1.0)
        nn = np.where(middle, n, 2.0)
        value = (
            _stirling_error(nn)
            - _stirling_error(kk)
            - _stirling_error(nn - kk)
            - _deviance(kk, nn * p)
            - _deviance(nn - kk, nn * (1.0 - p))
            + 0.5 * np.log(nn / (2.0 * math.pi * kk * (nn - kk)))
        )
        value = np.where(inside & (k == 0), n * np.log1p(-p), value)
        value = np.where(inside & (k == n), n * np.log(p), value)
        return np.where(inside & (n == 0), 0.0, np.where(inside, value, -np.inf))


def complement(chance):
    """Return both ends of 1 − x for 0 ≤ x ≤ 1: the float itself where it is exact."""
    rest = 1.0 - chance
    return (rest, rest) if 1.0 - rest == chance else (math.nextafter(rest, 0.0), math.nextafter(rest, 1.0))


def binomial_tail(m, n, p):
    """Return P(Bin(n, p) ≥ m), accurate relative to itself down to 1e-290 (`TAIL_ERROR`)."""
    m, n = np.asarray(m, float), np.asarray(n, float)
    within = (m > 0) & (m <= n)
    value = betainc(np.where(within, m, 1.0), np.where(within, n - m + 1.0, 1.0), p)
    return np.where(m <= 0, 1.0, np.where(within, value, 0.0))

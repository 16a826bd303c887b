r"""Numerics in log space, with stated errors; nothing here knows about privacy.

What a certified bound rests on
-------------------------------
*Proved.*  The inequalities behind every upper and lower bound are proved in the docstrings of the modules
that use them.  The rounding of sums, products and quotients of doubles is bounded by hand, with room to
spare, and added to both bounds, mostly by the interval operations of `certified`.  Tests compare these
operations with arithmetic of 200 digits, and the bounds with exact fractions and arithmetic of 40 digits.

*Assumed.*  NumPy and the C library state no error that holds on every machine.  The bounds on rounding take
exp, expm1, log, log1p, sin, cos, sinh, cosh and arctan2 to be within four units in the last place, where a
unit is `UNIT` times the value.  At 4000 points each, the largest error measured was 0.8 units.

*Measured.*  SciPy states no error for its special functions.  The error charged is at least twice the
largest one measured against mpmath.  There were 1063 points for the binomial tail, 800 for the Bessel
functions and 4000 for each of the others; a unit is `UNIT` times the value.

======================= =========================================== ======================================
function                largest error measured                      charged where it is used
======================= =========================================== ======================================
`binomial_tail`         5.4e-12 of the value, n up to 1.5e6         no certified bound
ndtr(z)                 1.8 (1 + z²) units, −37 ≤ z ≤ 8             4.5 (1 + z²) units or more
log_ndtr(z)             1.6 (1 + z²) `UNIT`, −37 ≤ z ≤ 0, absolute 32 (1 + z²) `UNIT` or 1e-12
erfcx(x)                4 units, −1 ≤ x ≤ 30                        16 units
erf, gammaln, expit     1.5 units                                   8 units for all that are combined
k0e, k1e                5.4 units, 1e-8 ≤ x ≤ 100                   1e-13
======================= =========================================== ======================================

Of what is in this module, `log_binomial_pmf` has an error that follows from the assumption; that of
`binomial_tail` is measured.  ``tests/numerics/test_logspace.py`` repeats a part of the measurements.
"""

import math

import numpy as np
from scipy.special import betainc, erfcx

UNIT = float(np.finfo(float).eps)  # spacing at 1, twice the unit roundoff
NO_SQUARE = 1e150  # beyond it the square of a number may be no float
MASS_ERROR = 4e-14  # of `log_binomial_pmf`, for each unit of 1 + |log pmf|/10, n up to 1e15; derived there


def log1mexp(x):
    r"""Return :math:`\log(1 - e^{x})` for x < 0, accurate near 0 and for very negative x.

    Source: Mächler (2012), switching at log 2.
    """
    x = np.asarray(x, float)
    with np.errstate(divide="ignore"):
        return np.where(x > -math.log(2.0), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def log_expm1(x):
    r"""Return :math:`\log(e^{x} - 1)` for x ≥ 0, a number or an array, without overflow or cancellation."""
    return x + log1mexp(-x)


def mills_ratio(x):
    r"""Return :math:`\Phi(-x)/\varphi(x)`, Mills' ratio of a standard normal, for a number or an array."""
    return math.sqrt(0.5 * math.pi) * erfcx(x / math.sqrt(2.0))


def logsumexp(a):
    """Return log Σ e^a, the smallest terms added first; ``-inf`` for an empty sum."""
    a = np.sort(np.asarray(a, float).ravel())
    if a.size == 0 or a[-1] == -np.inf:
        return -math.inf
    if a[-1] == np.inf:
        return math.inf
    return float(a[-1] + np.log(np.sum(np.exp(a - a[-1]))))


def _stirling_series(k):
    """Return log k! minus Stirling's formula for k ≥ 16, absolute error below 2e-16."""
    square = k * k
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / k


# the same for k = 1 … 15, each from the next: it falls by (k + 1/2) log(1 + 1/k) − 1
_STIRLING_SMALL = np.array(
    [math.inf]
    + [
        math.fsum([_stirling_series(16.0)] + [(j + 0.5) * math.log1p(1.0 / j) - 1.0 for j in range(k, 16)])
        for k in range(1, 16)
    ]
)


def _stirling_error(k):
    """Return log k! minus Stirling's formula, absolute error below 2e-15."""
    k = np.asarray(k, float)
    return np.where(
        k > 15.5, _stirling_series(np.maximum(k, 16.0)), _STIRLING_SMALL[np.clip(k, 0, 15).astype(int)]
    )


def _surplus(k, n, p):
    """Return k − np, rounded as if the product were exact."""
    product, (n, n_rest), (p, p_rest) = n * p, _halves(n), _halves(p)
    return (k - product) - (((n * p - product) + n * p_rest + n_rest * p) + n_rest * p_rest)


def _halves(x):
    """Return two parts of x whose products with such parts are exact."""
    high = 134217729.0 * x
    high = high - (high - x)
    return high, x - high


def _deviance(k, surplus, mean):
    """Return k log(k/mean) + mean − k for k = mean + surplus > 0, accurate relative to itself."""
    relative = surplus / mean
    near = (relative > -2.0 / 3.0) & (relative < 2.0)
    # (1+u) log(1+u) − u, with log(1+u) = 2 artanh(u/(2+u))
    u = np.where(near, relative, 0.0)
    t = u / (2.0 + u)
    square = t * t
    tail = np.zeros_like(u)
    for j in range(27, 0, -1):
        tail = square * (tail + 1.0 / (2 * j + 1))
    series = mean * (u * t + 2.0 * (1.0 + u) * t * tail)
    return np.where(near, series, k * np.log1p(relative) - surplus)


def log_binomial_pmf(k, n, p):
    r"""Return :math:`\log \binom nk p^k (1-p)^{n-k}` for whole 0 ≤ k ≤ n, 0 < p < 1.

    Notes
    -----
    Saddle-point form (Loader 2000): no large terms cancel.  ``-inf`` outside 0 … n.

    Why the error is below :math:`4 \cdot 10^{-14} (1 + L/10)` with L = \|log pmf\|, for n up to 10¹⁵ and
    means np, n(1 − p) that are normal floats: with h = `UNIT`/2 and logarithms within 8h of themselves,

    - the three Stirling errors are below 2e-15 each and add up to a negative number, the two deviances and
      the last logarithm are negative or 0 once their signs are in, so none of them is larger than L;
    - a deviance is off by at most 30h of itself.  The surplus k − np is within 2h of itself, the mean within
      2h, and where ``log1p`` is taken the derivative in the surplus vanishes: there the error is largest at
      k = 3 np, with 8h for ``log1p`` times k log(k/mean) = 2.54 deviances, 5h for the quotient, 4h for
      rounding the product and the difference.  In between the series has terms of one sign but the first,
      and is off by less than 20h;
    - the last logarithm is at most 18 in size, so that 8h of it and four roundings inside are 1.7e-14;
    - five additions lose h of L each.  Together 2.3e-14 + 35h L, and h = 1.2e-16.

    Where k is 0 or n there is one product: 9h of L.
    """
    k, n, p = (np.asarray(part, float) for part in (k, n, p))
    k, n, p = np.broadcast_arrays(k, n, p)
    inside = (k >= 0) & (k <= n)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        middle = inside & (k > 0) & (k < n)
        kk = np.where(middle, k, 1.0)
        nn = np.where(middle, n, 2.0)
        surplus = _surplus(kk, nn, p)
        value = (
            _stirling_error(nn)
            - _stirling_error(kk)
            - _stirling_error(nn - kk)
            - _deviance(kk, surplus, nn * p)
            - _deviance(nn - kk, -surplus, nn * (1.0 - p))
            + 0.5 * np.log(nn / (2.0 * math.pi * kk * (nn - kk)))
        )
        value = np.where(inside & (k == 0), n * np.log1p(-p), value)
        value = np.where(inside & (k == n), n * np.log(p), value)
        return np.where(inside & (n == 0), 0.0, np.where(inside, value, -np.inf))


def binomial_pmf_error(log_mass):
    """Return the absolute error of `log_binomial_pmf` where it returned ``log_mass``, 0 for ``-inf``."""
    return MASS_ERROR * (1.0 + 0.1 * np.abs(np.where(np.isneginf(log_mass), 0.0, log_mass)))


def complement(chance):
    """Return lower and upper bounds on 1 − x for 0 ≤ x ≤ 1, equal where the float is exact."""
    rest = 1.0 - chance
    return (rest, rest) if 1.0 - rest == chance else (math.nextafter(rest, 0.0), math.nextafter(rest, 1.0))


def binomial_tail(m, n, p):
    """Return P(Bin(n, p) ≥ m), to some eleven digits for n up to 1.5e6; certified bounds do not use it."""
    m, n = np.asarray(m, float), np.asarray(n, float)
    within = (m > 0) & (m <= n)
    value = betainc(np.where(within, m, 1.0), np.where(within, n - m + 1.0, 1.0), p)
    return np.where(m <= 0, 1.0, np.where(within, value, 0.0))

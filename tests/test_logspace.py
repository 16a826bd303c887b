"""Log-space numerics against 40-digit arithmetic."""

import math

import mpmath
import numpy as np
import pytest

from shufflelib import logspace

CASES = [
    (n, p, z)
    for n in (1, 5, 20, 300, 5000, 60_000, 540_000)
    for p in (0.5, 0.31, 0.011, 0.9)
    for z in (-9, -3, -0.1, 0.2, 2, 6, 11)
]


def counts():
    for n, p, z in CASES:
        k = round(n * p + z * math.sqrt(n * p * (1 - p)))
        if 0 <= k <= n:
            yield k, n, p


def exact_log_pmf(k, n, p):
    with mpmath.workdps(40):
        p = mpmath.mpf(p)
        choices = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
        return choices + k * mpmath.log(p) + (n - k) * mpmath.log(1 - p)


def test_binomial_masses():
    for k, n, p in counts():
        value, truth = float(logspace.log_binomial_pmf(k, n, p)), exact_log_pmf(k, n, p)
        allowed = 0.2 * logspace.PMF_ERROR * (1 + abs(truth) / 10) + logspace.UNIT * abs(k - n * p) / (1 - p)
        assert abs(value - truth) < allowed * 5, (k, n, p)


def test_binomial_tails():
    for k, n, p in counts():
        if n > 60_000 or k == 0:
            continue
        with mpmath.workdps(40):
            term, truth, m = mpmath.exp(exact_log_pmf(k, n, p)), mpmath.mpf(0), k
            while m <= n and term > truth * mpmath.mpf(10) ** -25:
                truth += term
                term *= mpmath.mpf(n - m) / (m + 1) * mpmath.mpf(p) / (1 - mpmath.mpf(p))
                m += 1
        value = float(logspace.binomial_tail(k, n, p))
        assert abs(value / truth - 1) < 0.2 * logspace.TAIL_ERROR, (k, n, p)


def test_edges_of_the_binomial_law():
    assert logspace.binomial_tail(0, 5, 0.3) == 1.0
    assert logspace.binomial_tail(6, 5, 0.3) == 0.0
    assert logspace.log_binomial_pmf(-1, 5, 0.3) == -np.inf
    assert logspace.log_binomial_pmf(0, 0, 0.3) == 0.0
    assert float(logspace.log_binomial_pmf(5, 5, 0.3)) == pytest.approx(5 * math.log(0.3), rel=1e-15)


@pytest.mark.parametrize("x", [-1e-300, -1e-17, -1e-3, -0.7, -1.0, -50.0, -800.0])
def test_log1mexp(x):
    with mpmath.workdps(700):
        truth = mpmath.log1p(-mpmath.exp(mpmath.mpf(x)))
    assert float(logspace.log1mexp(x)) == pytest.approx(float(truth), rel=4e-16)


def test_logsumexp():
    assert logspace.logsumexp([]) == -math.inf
    assert logspace.logsumexp([-np.inf, -np.inf]) == -math.inf
    assert logspace.logsumexp([np.inf, 0.0]) == math.inf
    assert logspace.logsumexp([-1000.0, -1000.0]) == pytest.approx(-1000 + math.log(2), rel=1e-15)

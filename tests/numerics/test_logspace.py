"""Log-space numerics against 40-digit arithmetic."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from shufflelib.numerics import logspace

CASES = [
    (round(n * p + z * math.sqrt(n * p * (1 - p))), n, p)
    for n in (1, 5, 20, 300, 5000, 60_000, 540_000)
    for p in (0.5, 0.31, 0.011, 0.9)
    for z in (-9, -3, -0.1, 0.2, 2, 6, 11)
]
COUNTS = [(k, n, p) for k, n, p in CASES if 0 <= k <= n]
SHARES = (1e-3, 0.3, 0.33, 0.34, 0.899, 0.901, 1.0, 1.11, 2.9, 3.1, 40.0)  # of the mean
FAR_OR_MANY = [
    (k, n, p)
    for n in (300, 76_001, 1_500_000, 10**10, 10**15)
    for p in (1e-7, 0.0461424, 0.31, 0.75, 0.9999)
    for k in (round(n * p * share) for share in SHARES)
    if 0 <= k <= n
]


def exact_log_pmf(k, n, p):
    with mpmath.workdps(40):
        p = mpmath.mpf(p)
        choices = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
        return choices + k * mpmath.log(p) + (n - k) * mpmath.log(1 - p)


@pytest.mark.parametrize(("k", "n", "p"), COUNTS + FAR_OR_MANY)
def test_binomial_masses(k, n, p):
    value = float(logspace.log_binomial_pmf(k, n, p))
    assert abs(value - exact_log_pmf(k, n, p)) < 0.2 * logspace.binomial_pmf_error(value)


@pytest.mark.parametrize("k", [*range(1, 40), 1000, 10**6, 10**15])
def test_stirling_errors_that_the_error_of_a_mass_is_derived_from(k):
    with mpmath.workdps(60):
        whole = mpmath.mpf(k)
        formula = (whole + 0.5) * mpmath.log(whole) - whole + 0.5 * mpmath.log(2 * mpmath.pi)
        truth = mpmath.loggamma(whole + 1) - formula
    assert abs(float(logspace._stirling_error(k)) - truth) < 2e-15


def farthest_off(function, exact, points, unit=lambda x: 1.0):
    """Return the largest relative error in units of `UNIT` and of ``unit`` at the point."""
    with mpmath.workdps(50):
        return max(
            float(abs(mpmath.mpf(float(value)) / exact(mpmath.mpf(float(x))) - 1)) / logspace.UNIT / unit(x)
            for x, value in zip(points, function(points), strict=True)
        )


WIDE = np.concatenate([-np.geomspace(1e-12, 0.9999, 60), np.geomspace(1e-12, 600.0, 90)])
ELEMENTARY = {
    "exp": (np.exp, mpmath.exp, np.linspace(-650.0, 650.0, 151)),
    "expm1": (np.expm1, mpmath.expm1, WIDE),
    "log": (np.log, mpmath.log, np.append(np.geomspace(1e-300, 1e300, 120), 1.0 + WIDE)),
    "log1p": (np.log1p, mpmath.log1p, WIDE),
    "sin": (np.sin, mpmath.sin, WIDE),
    "cos": (np.cos, mpmath.cos, WIDE),
    "sinh": (np.sinh, mpmath.sinh, WIDE),
    "cosh": (np.cosh, mpmath.cosh, WIDE),
    "arctan2": (lambda x: np.arctan2(x, 1.0), mpmath.atan, WIDE),
}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary_functions_are_as_accurate_here_as_the_ends_assume(name):
    assert farthest_off(*ELEMENTARY[name]) < 4.0


SPECIAL = {  # at most half of what is charged
    "ndtr": (special.ndtr, mpmath.ncdf, np.linspace(-37.0, 8.0, 151), 2.25),
    "log_ndtr": (special.log_ndtr, lambda z: mpmath.log(mpmath.ncdf(z)), np.linspace(-37.0, 0.0, 151), 16.0),
    "erfcx": (special.erfcx, lambda x: mpmath.exp(x * x) * mpmath.erfc(x), np.linspace(-0.8, 30.0, 151), 8.0),
    "erf": (special.erf, mpmath.erf, np.geomspace(1e-9, 5.0, 151), 4.0),
    "gammaln": (special.gammaln, mpmath.loggamma, np.arange(3.0, 300.0, 2.0) ** 2, 4.0),
    "expit": (special.expit, lambda x: 1 / (1 + mpmath.exp(-x)), np.linspace(-600.0, 600.0, 151), 4.0),
    "k0e": (
        special.k0e,
        lambda x: mpmath.exp(x) * mpmath.besselk(0, x),
        np.geomspace(1e-8, 100.0, 61),
        200.0,
    ),
    "k1e": (
        special.k1e,
        lambda x: mpmath.exp(x) * mpmath.besselk(1, x),
        np.geomspace(1e-8, 100.0, 61),
        200.0,
    ),
}
UNITS = {"ndtr": lambda z: 1.0 + z * z, "log_ndtr": lambda z: (1.0 + z * z) / abs(special.log_ndtr(z))}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_are_as_accurate_here_as_was_measured(name):
    *how, most = SPECIAL[name]
    assert farthest_off(*how, UNITS.get(name, lambda x: 1.0)) < most


def exact_tail(k, n, p):
    """Add up the masses on the shorter side of k."""
    with mpmath.workdps(40):
        mass, odds = mpmath.exp(exact_log_pmf(k, n, p)), mpmath.mpf(p) / (1 - mpmath.mpf(p))
        total, m, term = mpmath.mpf(0), k, mass
        if k < n * p:
            while m > 0 and term > total * mpmath.mpf(10) ** -25:
                term *= mpmath.mpf(m) / (n - m + 1) / odds
                total, m = total + term, m - 1
            return 1 - total
        while m <= n and term > total * mpmath.mpf(10) ** -25:
            total += term
            term *= mpmath.mpf(n - m) / (m + 1) * odds
            m += 1
        return total


@pytest.mark.parametrize(
    ("k", "n", "p"),
    [
        *(case for case in COUNTS if 0 < case[0] and case[1] <= 60_000),
        (29, 1_167_955, 2.607015980422479e-05),  # 1 − p is rounded inside the library
        (2, 1_203_516, 2.811938680078241e-06),
        (872_313, 1_410_537, 0.6039344646433207),
        (563_098, 563_115, 0.9986870692426593),  # 9e-288, returned as 0
    ],
)
def test_binomial_tails(k, n, p):
    value, truth = float(logspace.binomial_tail(k, n, p)), exact_tail(k, n, p)
    assert (
        abs(value - truth)
        < 6e-12 * truth + 2.3e-16 * math.exp(logspace.log_binomial_pmf(k, n, p)) * k / p + 1e-240
    )


def test_edges_of_the_binomial_distribution():
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

"""A normal limit in place of a Rényi bound: where it is below the truth, where loose, what rests on it."""

import math

import mpmath
import pytest

import oracles
from shufflelib.published import renyi

# ---------------------------------------------------------------- approximate local guarantees


def test_the_local_delta_corollary_is_the_printed_formula():
    eps0, delta0, n, eps, fpr = 1.0, 1e-5, 500, 0.3, 0.05
    with mpmath.workdps(30):
        e = mpmath.exp(eps0)
        event = 1 - (1 - (1 + 1 / (2 * e)) * mpmath.mpf(delta0)) ** n
        mu = 2 * mpmath.sqrt(e / (n - 1))
        rest = oracles.gaussian_delta(mu, eps)
        quantile = -mpmath.sqrt(2) * mpmath.erfinv(2 * fpr / (1 - event) - 1)
        fnr = (1 - event) * mpmath.ncdf(quantile - mu)
    at = {"eps0": eps0, "delta0": delta0, "n": n}
    assert renyi.gaussian_delta_ccg24(**at, eps=eps) == pytest.approx(
        float(event + (1 - event) * rest), rel=1e-11
    )
    assert renyi.gaussian_tradeoff_ccg24(**at, fpr=fpr) == pytest.approx(float(fnr), rel=1e-11)
    assert renyi.gaussian_tradeoff_ccg24(**at, fpr=0.0) == pytest.approx(float(1 - event), rel=1e-12)
    assert renyi.gaussian_tradeoff_ccg24(**at, fpr=1.0 - 1e-6) == 0.0


def test_the_cited_term_is_charged_on_both_datasets_with_the_larger_constant():
    at = {"eps": 0.2, "delta": 1e-6, "eps0": 1.0, "delta0": 1e-12, "n": 1000}
    added = renyi.clones_delta_fmt21(**at) - 1e-6
    assert added == pytest.approx((math.exp(0.2) + 1) * (1 + math.e / 2) * 1e-9, rel=1e-6)
    # the corollary's own term, on one dataset with the smaller constant, is a quarter of it
    event = renyi.gaussian_delta_ccg24(eps0=1.0, delta0=1e-12, n=1000, eps=5.0)
    assert added > 4 * event
    assert renyi.clones_delta_fmt21(eps=700.0, delta=0.5, eps0=700.0, delta0=0.5, n=10**15) == 1.0

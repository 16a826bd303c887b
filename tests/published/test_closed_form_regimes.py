"""Where published closed forms apply: both sides of every regime, bad input, extremes, sweeps."""

import math

import numpy as np
import pytest

from closed_form_cases import DELTAS, PAIR, generic_pair, name_of
from shufflelib.published import closed_form
from shufflelib.published.closed_form import BlanketBounds, OutOfRegime


def next_up(x):
    return math.nextafter(x, math.inf)


# ---------------------------------------------------------------- regimes, both sides


def test_boundary_of_erlingsson():
    inside = {"eps0": 0.5, "n": 1000, "delta": math.nextafter(0.01, 0.0)}
    assert closed_form.erlingsson19(**inside) > 0.0
    for change, words in (
        ({"eps0": next_up(0.5)}, "eps0 <= 1/2"),
        ({"n": 999}, "n >= 1000"),
        ({"delta": 0.01}, "delta < 1/100"),
    ):
        with pytest.raises(OutOfRegime, match=words):
            closed_form.erlingsson19(**(inside | change))


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("eps0", [1e-3, 1.0, 8.0])
def test_boundary_of_the_clone_bounds(eps0, delta):
    e = math.exp(eps0)
    for bound, least in (
        (closed_form.clones_fmt21, 16.0 * e * math.log(4.0 / delta)),
        (closed_form.stronger_clones_fmt23, 8.0 * (e + 1.0) * math.log(2.0 / delta)),
    ):
        assert bound(eps0=eps0, n=math.ceil(least * (1 + 1e-12)), delta=delta) > 0.0
        with pytest.raises(OutOfRegime, match=r"eps0 <= log.*eps0 = "):
            bound(eps0=eps0, n=math.floor(least * (1 - 1e-12)), delta=delta)


@pytest.mark.parametrize("q", [1.7, 3.0, 50.0])
@pytest.mark.parametrize("beta", [0.5, 0.1])
def test_boundary_of_the_asymptotic_bound(beta, q):
    p, delta = 3.0, 1e-6
    least = 8.0 * math.log(2.0 / delta) * (p - 1.0) * q / (beta * p)
    arguments = {"p": p, "beta": beta, "q": q, "delta": delta}
    assert closed_form.variation_ratio_asymptotic(n=math.ceil(least * (1 + 1e-12)), **arguments) > 0.0
    with pytest.raises(OutOfRegime, match="n >= 8 log"):
        closed_form.variation_ratio_asymptotic(n=math.floor(least * (1 - 1e-12)), **arguments)


@pytest.mark.parametrize("bound", PAIR, ids=name_of)
def test_total_variation_at_most_that_of_randomized_response(bound):
    arguments = {"p": 3.0, "q": 3.0, "n": 10**5, "delta": 1e-6}
    assert bound(beta=0.5, **arguments) > 0.0
    assert bound(beta=0.5 * (1 + 1e-13), **arguments) > 0.0  # rounding of (p-1)/(p+1)
    with pytest.raises(OutOfRegime, match=r"beta <= \(p-1\)/\(p\+1\)"):
        bound(beta=0.5001, **arguments)
    with pytest.raises(OutOfRegime, match="2r"):
        bound(beta=0.5, **(arguments | {"q": 1.4}))


def test_conditions_of_the_analytic_bound():
    bound, base = closed_form.variation_ratio_analytic, {"p": 3.0, "beta": 0.1, "q": 3.0, "delta": 1e-6}
    r = 0.05
    least = 1.0 + 6.0 * r * math.log(4e6) / (4.0 * r * r)  # Omega > 0
    assert bound(n=math.ceil(least) + 1, **base) > 0.0
    with pytest.raises(OutOfRegime, match="Omega > 0"):
        bound(n=math.floor(least), **base)
    # the coefficient (p+1) alpha/2 - (1-alpha-alpha p) r/(1-2r) changes sign at q = 2p/(p+1) = 3/2
    assert bound(n=10**5, **(base | {"q": 1.5 + 1e-6})) > 0.0
    with pytest.raises(OutOfRegime, match=r"\(p\+1\) alpha/2 >="):
        bound(n=10**5, **(base | {"q": 1.5 - 1e-6}))
    # the printed fraction, positive here because its denominator is negative: p beta (p+1) < (p-1)(q-p)
    with pytest.raises(OutOfRegime, match=r"Omega >= \(2p"):
        bound(n=10**6, **(base | {"q": 300.0}))
    # generic pair: the denominator is positive for Omega > 2 beta^2 log(4/delta)
    narrow = generic_pair(6.0)
    with pytest.raises(OutOfRegime, match="positive denominator"):
        bound(n=9500, delta=1e-6, **narrow)
    assert bound(n=20000, delta=1e-6, **narrow) > 0.0


# ---------------------------------------------------------------- sweeps


def test_sweep_has_gaps_and_agrees_with_single_calls():
    eps0 = np.array([0.1, 1.0, 5.0])
    values = closed_form.over(closed_form.clones_fmt21, eps0=eps0, n=10**4, delta=1e-6)
    assert values.shape == (3,)
    assert math.isnan(values[2])
    assert values[1] == closed_form.clones_fmt21(eps0=1.0, n=10**4, delta=1e-6)
    blanket = BlanketBounds.laplace(eps0=1.0)
    swept = closed_form.over(
        closed_form.blanket_bennett_specific, blanket=blanket, n=np.array([10, 100]), delta=1e-6
    )
    assert swept[0] == closed_form.blanket_bennett_specific(blanket=blanket, n=10, delta=1e-6)
    assert closed_form.over(closed_form.clones_fmt21, eps0=1.0, n=10**4, delta=1e-6).shape == ()
    with pytest.raises(ValueError, match="eps0"):  # bad input is no gap
        closed_form.over(closed_form.clones_fmt21, eps0=[-1.0], n=10**4, delta=1e-6)

"""Conversions against closed forms, exact profiles and each other; what each loses."""

import math

import mpmath
import numpy as np
import pytest

from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import ApproximateDP, Gaussian, from_pair
from shufflelib.published import conversions as c
from shufflelib.shuffling import VariationRatioPair

FPR = np.linspace(0, 1, 41)
ORDERS = np.array([1.001, 1.1, 1.5, 2.0, 4.0, 16.0, 64.0, 1000.0])
E1 = math.e


def shuffled(n):
    return VariationRatioPair(n=n, p=E1, beta=(E1 - 1) / (E1 + 1), q0=E1)


# ---------------------------------------------------------------- (ε, δ), f, Gaussian


def test_tradeoff_from_several_guarantees_is_their_maximum():
    eps, delta = np.array([0.1, 0.5, 1.0]), np.array([0.3, 0.1, 0.01])
    f = c.tradeoff_from_approximate_dp_wasserman10(eps=eps, delta=delta)
    single = [ApproximateDP(eps=e, delta=d)(FPR) for e, d in zip(eps, delta, strict=True)]
    best = np.max([bracket.lower for bracket in single], axis=0)
    bracket = f(FPR)
    assert np.all(bracket.lower <= best + 1e-13) and np.all(best - 1e-13 <= bracket.upper)
    assert np.all(bracket.upper - bracket.lower < 1e-10)
    for e, d in zip(eps, delta, strict=True):
        assert c.delta_from_tradeoff_dong22(f, eps=e).lower <= d + 1e-12
    assert c.tradeoff_from_approximate_dp_wasserman10(eps=0.5, delta=0.1).delta(0.5).upper == pytest.approx(
        0.1
    )


def test_delta_and_epsilon_round_trip_through_f():
    for profile in (shuffled(30), VariationRatioPair(n=30, p=3.0, beta=0.2, q0=4.0, q1=2.5)):
        f = from_pair(profile.cells)
        eps = np.array([0.0, 0.1, 0.4])
        bracket, direct = c.delta_from_tradeoff_dong22(f, eps=eps), profile.delta(eps)
        assert np.all(bracket.lower <= direct.upper) and np.all(direct.lower <= bracket.upper)
        assert np.all(bracket.upper - bracket.lower <= 1e-11)
        back, exact = c.epsilon_from_tradeoff_dong22(f, delta=[1e-3, 0.02]), profile.epsilon([1e-3, 0.02])
        assert np.all(back.lower <= exact.upper) and np.all(exact.lower <= back.upper)
        assert np.all(back.upper - back.lower < 1e-8)


# ---------------------------------------------------------------- Rényi


@pytest.mark.parametrize("eps", [1e-3, 0.5, 3.0, 50.0])
def test_renyi_of_pure_privacy(eps):
    bracket = c.renyi_from_pure_dp_mironov17(eps=eps, order=ORDERS)
    with mpmath.workdps(60):
        e = mpmath.mpf(eps)
        for order, low, high in zip(ORDERS, bracket.lower, bracket.upper, strict=True):
            lam = mpmath.mpf(order)
            truth = mpmath.log((mpmath.exp(lam * e) + mpmath.exp((1 - lam) * e)) / (1 + mpmath.exp(e))) / (
                lam - 1
            )
            assert low <= truth * (1 + mpmath.mpf("1e-15")) and truth * (1 - mpmath.mpf("1e-15")) <= high
            assert high - low <= 1e-9 * truth + 1e-15
            assert low <= min(eps, order * eps**2 / 2)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.5])
def test_epsilon_from_renyi_is_sound_and_ordered(delta):
    for profile in (Gaussian(0.5), shuffled(60)):
        renyi = profile.renyi(ORDERS).upper
        mironov = c.epsilon_from_renyi_mironov17(order=ORDERS, renyi=renyi, delta=delta)
        canonne = c.epsilon_from_renyi_canonne20(order=ORDERS, renyi=renyi, delta=delta)
        truth = profile.epsilon(delta).lower
        assert np.all(canonne <= mironov) and np.all(canonne >= truth)
        best = c.best_over_orders(canonne, order=ORDERS)
        assert best.value == canonne.min() and best.order in ORDERS
        if delta == 1e-6:
            assert best.value < 2.0 * truth + 0.1


def test_formulas_against_exact_arithmetic():
    with mpmath.workdps(40):
        for order in ORDERS:
            lam, d, log = mpmath.mpf(order), mpmath.mpf("0.3"), mpmath.log(mpmath.mpf("1e6"))
            mironov = d + log / (lam - 1)
            canonne = d + (log + (lam - 1) * mpmath.log(1 - 1 / lam) - mpmath.log(lam)) / (lam - 1)
            for function, truth in (
                (c.epsilon_from_renyi_mironov17, mironov),
                (c.epsilon_from_renyi_canonne20, canonne),
            ):
                value = function(order=order, renyi=0.3, delta=1e-6)
                assert isinstance(value, float)
                # 0.3 and 1e-6 are floats a hair off
                assert (
                    truth * (1 - mpmath.mpf("1e-15"))
                    <= value
                    <= truth * (1 + mpmath.mpf("1e-12")) + mpmath.mpf("1e-12")
                )


def test_delta_from_one_order_is_rounded_up_and_hardly_so():
    """Far below 1 the exponent has lost its last digits: the value is above the exact one, by that much."""
    rng = np.random.default_rng(0)
    for case in range(400):
        more = 10.0 ** rng.uniform(-6.0, 5.0)
        order, gap = 1.0 + more, rng.uniform(0.0, 700.0) / max(more, 1.0)
        renyi = 0.0 if case % 2 else rng.uniform(0.0, 20.0)
        value = c.delta_from_renyi_canonne20(order=order, renyi=renyi, eps=renyi + gap)
        with mpmath.workdps(40):
            lam, d, eps = map(mpmath.mpf, (order, renyi, renyi + gap))
            log_delta = (lam - 1) * (d - eps + mpmath.log(1 - 1 / lam)) - mpmath.log(lam)
            size = more * (2.0 * renyi + gap) + math.log(order) + 2.0
            assert log_delta <= mpmath.log(mpmath.mpf(value)) <= log_delta + 24 * UNIT * size


def test_infinite_divergence_is_never_private():
    for function in (c.epsilon_from_renyi_mironov17, c.epsilon_from_renyi_canonne20):
        assert function(order=2.0, renyi=math.inf, delta=1e-6) == math.inf
        several = function(order=[2.0, 3.0], renyi=[0.5, math.inf], delta=1e-6)
        assert several[1] == math.inf and math.isfinite(several[0])
    assert c.delta_from_renyi_canonne20(order=2.0, renyi=math.inf, eps=1.0) == 1.0
    assert c.best_over_orders([math.inf, 3.0], order=[2.0, 3.0]) == (3.0, 3.0)
    assert c.best_over_orders([math.inf], order=[2.0]).value == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: c.best_over_orders([], order=[]),
        lambda: c.best_over_orders([math.nan], order=[2.0]),
        lambda: c.best_over_orders([0.1], order=[2.0, 3.0]),
        lambda: c.tradeoff_from_approximate_dp_wasserman10(eps=[0.1, 0.2], delta=[0.1]),
        lambda: c.epsilon_from_renyi_canonne20(order=[2.0, 3.0], renyi=[0.1, 0.2, 0.3], delta=0.1),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises((TypeError, ValueError)):
        call()


def test_one_order_allows_less_than_the_best_constant():
    """Scarf's bound on E[(r - E)₊] for a ratio r of mean 1 and given variance, which two values attain."""
    renyi, eps = 0.1, 0.5
    beyond, variance = math.expm1(eps), math.expm1(renyi)
    most = (math.sqrt(variance + beyond**2) - beyond) / 2
    ratio = 1 + beyond + math.sqrt(variance + beyond**2)  # the larger value; the mean and the variance follow
    mass = variance / (variance + (ratio - 1) ** 2)
    assert mass * (ratio - math.exp(eps)) == pytest.approx(most, rel=1e-12)
    found = c.delta_from_renyi_canonne20(order=2.0, renyi=renyi, eps=eps)
    assert (round(most, 4), round(found, 3)) == (0.0383, 0.168)
    assert "best bound" not in c.delta_from_renyi_canonne20.__doc__ + c.epsilon_from_renyi_canonne20.__doc__

"""Published composition theorems in exact arithmetic where little of δ is left over after all rounds."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from shufflelib.published.composition import advanced_drv10, optimal_kov15, subsampled_girgis21

DIGITS = 60
TOO_LITTLE = "total_delta must exceed"


def near_the_limit(seed, size, spent):
    """Rounds of (ε, δ) and a total δ hardly above what is ``spent`` by the rounds' own."""
    rng = np.random.default_rng(seed)
    for _ in range(size):
        rounds, delta = int(rng.integers(2, 300)), float(10 ** rng.uniform(-12, -6))
        total = float(spent(rounds, delta) * (1.0 + 10 ** rng.uniform(-15.5, -13)))
        eps = float(10 ** rng.uniform(-4, -1))
        yield {"eps": eps, "delta": delta, "rounds": rounds, "total_delta": total}


def advanced(eps, left, rounds):
    """The advanced composition theorem, at most rounds times eps."""
    eps = Decimal(eps)
    most = rounds * eps
    log_left = (Decimal(left.numerator) / Decimal(left.denominator)).ln()
    return min((-2 * rounds * log_left).sqrt() * eps + rounds * eps * (eps.exp() - 1), most)


def proves(eps, delta, rounds, total_delta, steps):
    """Whether the theorem of Kairouz, Oh and Viswanath gives (rounds − 2·steps)·eps at this total."""
    growth, kept = Decimal(eps).exp(), (1 - Decimal(delta)) ** rounds
    lost, count = Decimal(0), Decimal(1)
    for j in range(steps):
        lost += count * (growth ** (rounds - j) - growth ** (rounds - 2 * steps + j))
        count = count * (rounds - j) / (j + 1)
    return 1 - kept * (1 - lost / (1 + growth) ** rounds) <= Decimal(total_delta)


def advanced_holds(value, *, eps, delta, rounds, total_delta):
    left = Fraction(total_delta) - rounds * Fraction(delta)
    return left > 0 and Decimal(value) >= advanced(eps, left, rounds)


def optimal_holds(value, *, eps, rounds, **deltas):
    return proves(eps=eps, rounds=rounds, **deltas, steps=round((rounds - value / eps) / 2))


@pytest.mark.parametrize(
    ("theorem", "holds", "spent", "size"),
    [
        (advanced_drv10, advanced_holds, lambda rounds, delta: rounds * delta, 500),
        (optimal_kov15, optimal_holds, lambda k, delta: -math.expm1(k * math.log1p(-delta)), 200),
    ],
)
def test_a_theorem_is_not_below_itself_where_the_deltas_cancel(theorem, holds, spent, size):
    answered = 0
    for asked in near_the_limit(1, size, spent):
        try:
            value = theorem(**asked)
        except ValueError as refusal:
            assert TOO_LITTLE in str(refusal)
            continue
        answered += 1
        with localcontext(prec=DIGITS):
            assert holds(value, **asked)
    assert answered > size / 2


def ordinary(seed, size):
    """Rounds of (ε, δ) that spend at most half of the total δ."""
    rng = np.random.default_rng(seed)
    for _ in range(size):
        rounds, total = int(rng.integers(2, 300)), float(10 ** rng.uniform(-9, -2))
        delta, eps = float(total / rounds * rng.uniform(0.0, 0.5)), float(10 ** rng.uniform(-4, -0.5))
        yield {"eps": eps, "delta": delta, "rounds": rounds, "total_delta": total}


def test_the_advanced_theorem_is_itself_to_thirteen_digits():
    below_the_cap = 0
    for asked in ordinary(3, 300):
        left = Fraction(asked["total_delta"]) - asked["rounds"] * Fraction(asked["delta"])
        with localcontext(prec=DIGITS):
            truth = advanced(asked["eps"], left, asked["rounds"])
            below_the_cap += truth < asked["rounds"] * Decimal(asked["eps"])
            assert truth <= Decimal(advanced_drv10(**asked)) <= truth * (1 + Decimal(10) ** -13)
    assert below_the_cap > 100


def test_the_optimal_theorem_takes_all_the_steps_it_proves():
    assert optimal_kov15(eps=0.0, delta=0.0, rounds=5, total_delta=1e-6) == 0.0
    for asked in ordinary(4, 60):
        value = optimal_kov15(**asked)
        steps = round((asked["rounds"] - value / asked["eps"]) / 2)
        exact = (asked["rounds"] - 2 * steps) * Fraction(asked["eps"])
        assert exact <= Fraction(value) <= exact * (1 + Fraction(1, 10**13))
        with localcontext(prec=DIGITS):
            assert proves(**asked, steps=steps)
            assert steps == asked["rounds"] // 2 or not proves(**asked, steps=steps + 1)


@pytest.mark.parametrize(("e", "n", "rate", "order"), [(2.0, 9, 0.5, 4), (3.0, 50, 1.0, 3), (1.5, 7, 0.1, 6)])
def test_subsampled_rounds_have_the_printed_sum(e, n, rate, order):
    users, x = (n - 1) // (2 * e) + 1, (e * e - 1) / (2 * e)
    total = 1 + 4 * math.comb(order, 2) * rate**2 * (e - 1) ** 2 / (users * e)
    for j in range(3, order + 1):
        total += math.comb(order, j) * rate**j * j * math.gamma(j / 2) * (8 * x * x / users) ** (j / 2)
    total += ((1 + rate * x) ** order - 1 - order * rate * x) * math.exp(-(n - 1) / (8 * e))
    found = subsampled_girgis21(eps0=math.log(e), n=n, rate=rate, order=order)
    assert found == pytest.approx(math.log(total) / (order - 1), rel=1e-12)

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


def proves(value, eps, delta, rounds, total_delta):
    """Whether rounds that attain the theorem of Kairouz, Oh and Viswanath have (value, total_delta)."""
    growth, kept = Decimal(eps).exp(), (1 - Decimal(delta)) ** rounds
    lost, count, ratio = Decimal(0), Decimal(1), Decimal(value).exp()
    for j in range(rounds + 1):
        lost += count * max(growth ** (rounds - j) - ratio * growth**j, 0)
        count = count * (rounds - j) / (j + 1)
    return 1 - kept * (1 - lost / (1 + growth) ** rounds) <= Decimal(total_delta)


def advanced_holds(value, *, eps, delta, rounds, total_delta):
    left = Fraction(total_delta) - rounds * Fraction(delta)
    return left > 0 and Decimal(value) >= advanced(eps, left, rounds)


def optimal_holds(value, **asked):
    return proves(value, **asked)


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


def few_and_large(seed, size):
    """A few rounds of large budgets, at a total δ that each can reach."""
    rng = np.random.default_rng(seed)
    for _ in range(size):
        rounds, eps = int(rng.integers(1, 40)), float(10 ** rng.uniform(-1, 1))
        delta, total = float(10 ** rng.uniform(-12, -6)), float(10 ** rng.uniform(-4, -0.1))
        yield {"eps": eps, "delta": delta, "rounds": rounds, "total_delta": total}


@pytest.mark.parametrize("cases", [ordinary, few_and_large])
def test_optimal_composition_is_optimal(cases):
    between = 0
    for asked in cases(4, 60):
        value = optimal_kov15(**asked)
        with localcontext(prec=DIGITS):
            assert proves(value, **asked)
            assert value == 0.0 or not proves(value - 1e-6 * asked["eps"], **asked)
        losses = np.arange(asked["rounds"], -1, -2) * asked["eps"]
        between += value > 0.0 and np.min(np.abs(losses / value - 1)) > 1e-9
    assert between > 30


def test_thirty_rounds_lie_between_two_losses():
    asked = {"eps": 1.0, "delta": 1e-6, "rounds": 30, "total_delta": 1e-4}
    assert optimal_kov15(**asked) == pytest.approx(28.139530690748, abs=1e-11)
    assert optimal_kov15(eps=0.0, delta=0.0, rounds=5, total_delta=1e-6) == 0.0
    one = optimal_kov15(eps=1.0, delta=0.0, rounds=1, total_delta=0.1)
    assert one == pytest.approx(math.log(math.e - 0.1 * (1 + math.e)), abs=1e-11)


@pytest.mark.parametrize(("e", "n", "rate", "order"), [(2.0, 9, 0.5, 4), (3.0, 50, 1.0, 3), (1.5, 7, 0.1, 6)])
def test_subsampled_rounds_have_the_printed_sum(e, n, rate, order):
    users, x = (n - 1) // (2 * e) + 1, (e * e - 1) / (2 * e)
    total = 1 + 4 * math.comb(order, 2) * rate**2 * (e - 1) ** 2 / (users * e)
    for j in range(3, order + 1):
        total += math.comb(order, j) * rate**j * j * math.gamma(j / 2) * (8 * x * x / users) ** (j / 2)
    total += ((1 + rate * x) ** order - 1 - order * rate * x) * math.exp(-(n - 1) / (8 * e))
    found = subsampled_girgis21(eps0=math.log(e), n=n, rate=rate, order=order)
    assert found == pytest.approx(math.log(total) / (order - 1), rel=1e-12)

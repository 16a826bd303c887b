"""Rényi divergences from a list of all sums of likelihood ratios, against sums in long arithmetic."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.connect_the_dots import ConnectTheDots
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

ORDERS = [1.0001, 1.5, 4.0, 40.0]


def binary(eps0, others):
    """Return the attack on binary response whose others report ``others`` with their two outputs."""
    truth = 1.0 / (1.0 + math.exp(-eps0))
    return LikelihoodRatios.against(others, np.array([truth, 1.0 - truth]), np.array([1.0 - truth, truth]))


def exact(ratios, n, order):
    """Return D_order of the first from the second world, each vector of counts on its own."""
    with mpmath.workdps(50):
        first, second, mass = ([mpmath.mpf(float(x)) for x in part] for part in ratios[:3])
        first.append(mpmath.mpf(0))
        second.append(mpmath.mpf(0))
        mass.append(1 - mpmath.fsum(mass))
        total = mpmath.mpf(0)
        for counts in itertools.product(range(n + 1), repeat=len(mass)):
            if sum(counts) != n or (mass[-1] <= 0 and counts[-1]):
                continue
            chance = mpmath.factorial(n)
            for count, one in zip(counts, mass, strict=True):
                chance *= one**count / mpmath.factorial(count)
            a, b = (mpmath.fsum(c * x for c, x in zip(counts, part, strict=True)) for part in (first, second))
            total += chance * a**order * b ** (1 - order) if b else 0
        return float(mpmath.log(total / n) / (order - 1))


@pytest.mark.parametrize("n", [2, 7])
@pytest.mark.parametrize("eps0", [0.01, 1.0, 6.0])
@pytest.mark.parametrize("order", ORDERS)
def test_a_blanket_and_an_attack(eps0, n, order):
    p = 1.0 / (1.0 + math.exp(eps0))
    blanket = np.array([1.0 - p, p]) / p, np.array([p, 1.0 - p]) / p, np.array([p, p])
    attack = binary(eps0, np.array([1.0 - p, p]))
    masses = attack.w.copy()
    masses[np.argmax(masses)] += 1.0 - math.fsum(masses)  # of long arithmetic, which would see the rest
    for ratios, parts in (
        (LikelihoodRatios(*blanket, exchangeable=True), blanket),
        (attack, (attack.r0_over_w, attack.r1_over_w, masses)),
        (attack.swapped(), (attack.r1_over_w, attack.r0_over_w, masses)),
    ):
        lower, upper = BlanketPair(ratios, n).renyi_directed(order)
        truth = exact(parts, n, order)
        assert lower <= truth * (1 + 1e-7) and truth * (1 - 1e-7) <= upper
        assert upper - lower <= 1e-7 * upper


def test_dots_agree_where_sums_are_left_out():
    pair = BlanketPair(binary(4.0, np.array([0.98, 0.02])), 10**6)
    for order in (1.5, 8.0):
        (lower, upper), ((low, high),) = pair.renyi_directed(order), ConnectTheDots(pair, 1e-5).renyi([order])
        assert low <= upper and lower <= high and upper - lower < 0.1 * (high - low)


@pytest.mark.parametrize("eps0", [1.3, 6.0, 20.0])
@pytest.mark.parametrize("order", [200.0, 477.3, 1e4])
def test_powers_that_overflow_are_added_up_as_logarithms(eps0, order):
    others = np.array([0.9, 0.1])
    ratios = binary(eps0, others)
    masses = ratios.w.copy()
    masses[np.argmax(masses)] += 1.0 - math.fsum(masses)
    truth = exact((ratios.r0_over_w, ratios.r1_over_w, masses), 9, order)
    lower, upper = BlanketPair(ratios, 9).known_renyi(order)
    assert lower <= truth * (1 + 1e-9) and truth * (1 - 1e-9) <= upper
    assert upper - lower <= 1e-9 * upper


def test_powers_of_many_users_agree_with_dots():
    pair = BlanketPair(binary(3.0, np.array([0.95, 0.05])), 500)
    for order in (190.0, 210.0):  # on both sides of the first one that overflows
        (lower, upper), ((low, high),) = pair.known_renyi(order), ConnectTheDots(pair, 1e-5).renyi([order])
        assert low <= upper and lower <= high and upper - lower < 0.1 * (high - low)


def test_ratios_that_overflow_are_left_to_dots():
    telling = LikelihoodRatios(np.array([1e180, 0.5]), np.array([1e-100, 1.0]), np.array([1e-181, 1.0]))
    assert BlanketPair(telling, 3).known_renyi(20.0) is None


@pytest.mark.parametrize("eps0", [1e-300, 1e-12])
def test_what_rounding_spoils_is_left_to_dots(eps0):
    pair = BlanketPair(binary(eps0, np.array([0.5, 0.5])), 5)
    for order in (2.0, 1e14, 1e300):
        assert pair.known_renyi(order) is None
        lower, upper = pair.renyi_directed(order)
        assert 0.0 <= lower <= upper

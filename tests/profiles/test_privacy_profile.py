"""Profiles, finite pairs and the Gaussian pair against exact and 50-digit values."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import oracles
from finite_pairs import LOPSIDED, Opaque, discrete
from shufflelib import randomizers, shuffle
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.root_finding import certified_root
from shufflelib.profiles import DiscretePair, Gaussian, Pair, connect_the_dots
from shufflelib.profiles.bounds import largest_renyi
from shufflelib.shuffling import VariationRatioPair

PAIRS = discrete(LOPSIDED), VariationRatioPair(n=40, p=3.0, beta=0.2, q0=4.0, q1=2.5)


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 1), (10**20, 1), (10**20, 0)],
        [(1, 3), (10**10, 10**4), (10**20, 10**8), (7 * 10**20, 1)],
        [(0, 2), (3, 4), (5, 1), (10**6, 0)],
        [(10**29, 2), (1, 2), (1, 1), (1, 10**27), (1, 0), (2, 0)],
    ],
)
def test_finite_pair_tradeoff_beside_its_knots(rows):
    """A rate beside a knot may lie on either of two segments of very different slopes."""
    p, q = ([F(one, sum(side)) for one in side] for side in zip(*rows, strict=True))
    masses = dict(enumerate(zip(p, q, strict=True)))
    pair = discrete(masses.values())
    knots = np.cumsum(
        [float(a) for a, _ in sorted(masses.values(), key=lambda m: -m[1] / (m[0] or F(1, 10**99)))]
    )
    beside = [np.nextafter(knots, end) for end in (0.0, 1.0)]
    for fpr in np.clip(np.concatenate([[0.0, 1e-30, 4.4e-7], knots, *beside]), 0.0, 1.0):
        bracket, truth = pair.tradeoff(fpr), oracles.tradeoff(masses, F(float(fpr)))
        assert F(float(bracket.lower)) <= truth <= F(float(bracket.upper))
        assert bracket.upper - bracket.lower < 1e-12


FEW = [(mu, shift * mu) for mu in (1e-6, 1e-3, 0.1, 1.0, 5.0) for shift in (0.0, 0.5, 2.0, 6.0, 20.0)]
MANY_NATS = [
    (mu, mu * (0.5 * mu + deviations))
    for mu in (36.0, 40.0, 200.0, 2052.8, 9113.5)
    for deviations in (-12.0, -3.0, -2.5, -1.03, -0.999, 0.0, 1.03, 2.6, 4.7, 20.0)
]


@pytest.mark.parametrize(("mu", "eps"), FEW + MANY_NATS)
def test_gaussian_delta(mu, eps):
    truth = oracles.gaussian_delta(mu, eps, digits=80)
    bracket = Gaussian(mu).delta(eps)
    assert bracket.lower <= truth <= bracket.upper
    width = 3e-6 if mu < 1e-4 else 1e-8 if mu < 36.0 else 1e-9
    assert bracket.upper - bracket.lower <= width * float(truth)


@pytest.mark.parametrize("order", [1.01, 2.0, 10.0, 60.0])
def test_dotted_renyi_encloses_the_exact_one(order):
    for pair in PAIRS:
        exact, dotted = pair.renyi(order), Opaque(pair).renyi(order)
        assert dotted.lower <= exact.upper and exact.lower <= dotted.upper
        assert dotted.upper - dotted.lower <= 3e-3 * exact.upper


class Blurred(Opaque):
    """An opaque pair whose curve is known no better than to a relative width."""

    width, asked = 1e-2, 0

    def _log_curve(self, eps, tolerance):
        self.asked += eps.size
        low, high = self.pair.log_hockey_stick(eps, tolerance)
        return Interval(low - 0.5 * self.width, np.minimum(high + 0.5 * self.width, 0.0))

    @property
    def reversed(self):
        return Blurred(self.pair.reversed)


@pytest.mark.parametrize(("order", "width"), [(2.0, 1.1e-2), (10.0, 1.8e-3), (1e5, 1e-5)])
def test_dotted_renyi_is_as_wide_as_its_curve_and_no_wider(order, width):
    pair = DiscretePair(np.log([0.6, 0.3, 0.1]), np.log([0.1, 0.4, 0.5]))
    blurred, exact = Blurred(pair), pair.renyi_directed(order)
    dotted = connect_the_dots.ConnectTheDots(blurred)
    ((low, high),) = dotted.renyi([order])
    assert low <= exact[1] and exact[0] <= high and high - low < width
    assert blurred.asked + dotted.backward.pair.asked < 400


class Hidden(Opaque):
    """An opaque pair of whose curve only upper bounds are known."""

    asked = 0

    def _log_curve(self, eps, tolerance):
        self.asked += eps.size
        return Interval(np.full(eps.shape, -np.inf), self.pair.log_hockey_stick(eps, tolerance).upper)

    @property
    def reversed(self):
        return Hidden(self.pair.reversed)


@pytest.mark.parametrize("order", [1.01, 2.0, 60.0])
def test_dotted_renyi_is_given_up_where_no_value_has_a_lower_end(order):
    pair = discrete(LOPSIDED)
    dotted = connect_the_dots.ConnectTheDots(Hidden(pair))
    ((low, high),) = dotted.renyi([order])
    assert low == 0.0 and high >= pair.renyi_directed(order)[1]
    assert dotted.forward.pair.asked + dotted.backward.pair.asked < 200


@pytest.mark.parametrize("order", [1.5, 20.0])
def test_the_largest_renyi_of_several_pairs_does_not_depend_on_their_order(order):
    plain, plainer = discrete(LOPSIDED), DiscretePair(np.log([0.9, 0.1]), np.log([0.1, 0.9]))
    truth = max(pair.renyi_worst(order)[0] for pair in (plain, plainer))
    for pairs in ((plain, plainer), (plainer, plain), (plain, plainer.reversed, plainer, plain)):
        low, high = largest_renyi(tuple(Opaque(pair) for pair in pairs), order)
        assert low <= truth * (1 + 1e-12) and truth <= high * (1 + 1e-12) and high - low < 3e-3 * truth


@pytest.mark.parametrize("place", [0, 1])
def test_a_divergence_that_is_no_number_does_not_pass_for_none(place, monkeypatch):
    pair = discrete(LOPSIDED)
    found = [(0.0, 0.1), (0.0, math.nan)][:: 1 if place else -1]
    monkeypatch.setattr(Pair, "renyi_worst", lambda *_: found.pop())
    assert math.isnan(largest_renyi((pair, pair), 2.0)[1])


@pytest.mark.parametrize("fpr", [0.0, 1e-3, 0.05, 0.3, 0.7, 0.999, 1.0])
def test_dotted_tradeoff_encloses_the_exact_one(fpr):
    for pair in (*PAIRS, Gaussian(0.7)):
        exact, dotted = pair.tradeoff(fpr), Opaque(pair).tradeoff(fpr)
        assert dotted.lower <= exact.upper and exact.lower <= dotted.upper + 1e-15
        assert dotted.upper - dotted.lower <= 1e-4


@pytest.mark.parametrize("target", [-0.1, -3.0, -40.0])
@pytest.mark.parametrize("safe_above", [True, False])
def test_search_ends_on_the_side_asked_for(target, safe_above):
    def log_value(x):
        return -(x**2) - 0.01 * x

    root = (-0.01 + math.sqrt(1e-4 - 4 * target)) / 2
    end = certified_root(log_value, target, 100.0, safe_above=safe_above, width=1e-9)
    assert (log_value(end) <= target) is safe_above
    assert end == pytest.approx(root, rel=2e-9)


def test_epsilon_counts_the_direction_in_which_masses_off_by_rounding_differ():
    pair = DiscretePair(np.log([0.5, 0.5 - 9e-10]), np.log([0.5, 0.5]))
    assert pair.delta(0.0).lower > 4e-10 and pair.epsilon(4e-10).upper > 0.0


def test_search_survives_steps_and_plateaus():
    def step(x):
        return -1.0 if x < 0.3 else -50.0

    def bent(x):
        return max(-1.9 - 40.0 * x, -13.7 - 0.4 * (x - 2.7)) if x < 4.8 else -math.inf

    assert certified_root(bent, -13.8, 4.8, safe_above=True, steps=12) == pytest.approx(2.95, rel=1e-9)
    assert certified_root(step, -5.0, 10.0, safe_above=True) == pytest.approx(0.3, rel=1e-9)
    assert certified_root(step, -60.0, 10.0, safe_above=True) == 10.0
    assert certified_root(step, -60.0, math.inf, safe_above=True) == math.inf
    assert certified_root(step, -0.5, 10.0, safe_above=True) == 0.0


@pytest.mark.parametrize("order", [1.001, 1.7, 2.0, 5.0, 300.0])
def test_renyi_kernel(order):
    for loss in (-30.0, -1.0, -1e-3, -1e-9, 1e-9, 1e-4, 0.3, 2.0, 40.0):
        with mpmath.workdps(60):
            x, lam = mpmath.mpf(loss), mpmath.mpf(order)
            truth = mpmath.log(mpmath.exp(lam * x) - 1 - lam * mpmath.expm1(x))
        assert float(connect_the_dots.log_renyi_kernel(loss, order)) == pytest.approx(float(truth), abs=1e-11)


def weighed_pair_delta(n, p, beta, q, eps):
    """Return δ(eps) of the pair (P, Q) to 25 digits, the numbers of users without a clone rising."""
    low, ratio = beta / (p - 1), mpmath.exp(eps)
    high = beta + low
    clone, rest = high / q, 1 - low - high
    other = 1 - 2 * clone
    total = mpmath.mpf(0)
    for c in range(n + 1):
        if c > 0 and mpmath.binomial(n, c) * other**c < mpmath.mpf(10) ** -30:
            break
        mass = mpmath.factorial(n - 1) / mpmath.factorial(c) / mpmath.factorial(n - c)
        mass *= clone ** (n - c) * other**c
        for a in range(n - c + 1):
            b = n - c - a
            first, second = (x * a / clone + y * b / clone for x, y in ((high, low), (low, high)))
            total += mass * max(first - ratio * second + (1 - ratio) * rest * c / other, 0)
            mass *= mpmath.mpf(b) / (a + 1)
    return total


@pytest.mark.parametrize("eps0", [1e-6, 1e-9, 7.7e-11])
@pytest.mark.parametrize("n", [1, 30, 601])
def test_rounding_of_p_is_inside_the_ends_of_the_pair(eps0, n):
    """A float p near 1 has lost digits of p − 1: `of` does without them, the ends take them in."""
    eps = 0.3 * eps0 / math.sqrt(n)
    with mpmath.workdps(50):
        p, beta = mpmath.exp(mpmath.mpf(eps0)), mpmath.tanh(mpmath.mpf(eps0) / 2)
        truth = weighed_pair_delta(n, p, beta, p, mpmath.mpf(eps))
        rounded = math.exp(eps0)
        for near in (math.tanh(eps0 / 2.0), (rounded - 1.0) / (rounded + 1.0)):
            bracket = VariationRatioPair(n=n, p=rounded, beta=near, q0=rounded).delta(eps)
            assert bracket.lower <= truth <= bracket.upper
            assert bracket.upper - bracket.lower < 1e-8 * truth + 1e-14 + 3e-16 * n
        bracket = VariationRatioPair.of(randomizers.generic(eps0=eps0), n=n).delta(eps)
        assert bracket.lower <= truth <= bracket.upper


@pytest.mark.parametrize(
    "wrap", [lambda one: one, lambda one: one.compose(2), lambda one: one.subsample(0.5)]
)
def test_an_epsilon_at_a_useless_delta_is_warned_of_in_its_first_line(wrap):
    """Publishing the value of one user, drawn at random from 1000, is (0, 1/1000)-DP."""
    profile = wrap(shuffle(randomizers.binary_rr(eps0=1.0), n=1000))
    limit = 1.0 / profile.population
    found = profile.epsilon(limit)
    assert str(found).startswith("Warning: delta = ") and "is not below 1/users" in found.warning
    assert found.to_dict()["warning"] == found.warning == profile.epsilon([1e-9, limit]).warning
    safe = profile.epsilon(0.99 * limit)
    assert not safe.warning and "warning" not in safe.to_dict() and "Warning" not in str(safe)
    assert "So few hide little" in str(shuffle(randomizers.binary_rr(eps0=1.0), n=2).epsilon(1e-6))
    assert not Gaussian(1.0).epsilon(0.5).warning


@pytest.mark.parametrize("order", [1.5, 8.0, 64.0])
@pytest.mark.parametrize("n", [30, 10**4, 10**9])
def test_the_renyi_divergence_of_a_pair_with_few_losses_is_known_to_one_in_five_thousand(n, order):
    lower, upper = VariationRatioPair(n=n, p=math.e, beta=math.tanh(0.5), q0=math.e).renyi_directed(order)
    assert lower <= upper <= lower * (1.0 + 2e-4)
    if n == 30:
        assert upper <= lower * (1.0 + 1e-9)  # all outcomes are listed

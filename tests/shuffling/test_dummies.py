"""Messages among dummies against distributions written out: fractions for coins, 40 digits for the others."""

import math
import random
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from fuzz_answers import check_answer, check_refusal
from oracles.brute_force import hockey_stick
from oracles.counts import coins, moved
from shufflelib import randomizers, shuffle
from shufflelib.profiles import compose
from shufflelib.shuffling import binomial_dummies, negative_binomial_dummies, poisson_dummies
from test_hostile import EXTREME, FOREIGN, is_refused

MAKERS = {
    poisson_dummies: {"mean_per_user": 0.5},
    binomial_dummies: {"chance": 0.25},
    negative_binomial_dummies: {"shape_per_user": 0.5, "chance": 0.5},
}
RELATIONS = {"replace": (1, 1), "add": (1, 0), "remove": (0, 1)}


@pytest.mark.parametrize(("inputs", "said"), [(1, "1 value"), (2, "2 values")])
def test_a_profile_says_how_many_values_change(inputs, said):
    for relation, what in (("replace", f"replace one user's {said},"), ("add", f"one user's {said} added,")):
        asked = {"d": 4, "n": 100, "inputs": inputs, "neighbours": relation}
        profile = poisson_dummies(mean_per_user=0.5, **asked)
        assert profile.statement.startswith(f"{said} of a user among ")
        assert str(profile.adjacency).startswith(what)


def precise(distribution, mean=None):
    """List masses to 40 digits until they are below 1e-30; together they are 1."""
    found = []
    while len(found) < 2 or found[-1] > 1e-30 or found[-1] > found[-2]:
        found.append(distribution(len(found)))
    return found


def poisson(mu):
    with mpmath.workdps(40):
        mu = mpmath.mpf(mu)
        return precise(lambda k: mpmath.exp(-mu) * mu**k / mpmath.factorial(k))


def negative_binomial(shape, q):
    with mpmath.workdps(40):
        shape, q = mpmath.mpf(shape), mpmath.mpf(q)
        return precise(lambda k: mpmath.binomial(k + shape - 1, k) * (1 - q) ** shape * q**k)


def stick(distribution, up, down, ratio):
    return float(sum(max(p - ratio * q, 0) for p, q in moved(distribution, up, down).values()))


def encloses(found, exact, share=1e-9):
    assert found.lower <= exact * (1 + 1e-12) + 1e-28
    assert found.upper >= exact * (1 - 1e-12) - 1e-28
    assert found.upper - found.lower <= share * exact + 1e-28


# ---------------------------------------------------------------- values known from elsewhere


@pytest.mark.parametrize(
    ("neighbours", "delta"),
    [("add", 0.021104250105), ("remove", 0.059509479340), ("replace", 0.104846284071)],
)
def test_five_dummies_at_one_half(neighbours, delta):
    found = poisson_dummies(mean_per_user=0.05, d=9, n=100, neighbours=neighbours).delta(0.5)
    assert found.lower - 1e-12 <= delta <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-11


# mean 1245.12 of each value: ε at δ = 1e-10 by an accountant of its own, with a bracket
DEPLOYED = [
    (1, "add", 0.148059, 0.148061),
    (1, "remove", 0.164904, 0.164906),
    (1, "replace", 0.224102, 0.224104),
    (18, "add", 0.68672, 0.68673),
    (18, "remove", 0.70536, 0.70538),
    (18, "replace", 0.998114, 0.998151),
    (36, "add", 0.98834, 0.98837),
]


@pytest.mark.parametrize(("inputs", "neighbours", "low", "high"), DEPLOYED)
def test_a_million_devices(inputs, neighbours, low, high):
    profile = poisson_dummies(
        mean_per_user=1245.12e-6, d=24_549, inputs=inputs, n=10**6, neighbours=neighbours
    )
    found = profile.epsilon(1e-10)
    assert found.lower <= high and low <= found.upper
    assert found.upper - found.lower < 2e-4 * found.upper


def test_the_printed_pair_needs_nearly_all_dummies():
    """δ(1) is 9.35e-11 with all of a million devices; 3,544 without dummies void 1e-10."""
    whole, short, half = (
        poisson_dummies(mean_per_user=1245.12e-6, d=24_549, inputs=18, n=n) for n in (10**6, 996_300, 500_000)
    )
    found = whole.delta(1.0)
    assert found.lower <= 9.359e-11 and 9.346e-11 <= found.upper < 1e-10 < short.delta(1.0).lower
    assert abs(half.epsilon(1e-10).upper - 1.4340) < 2e-4


# ---------------------------------------------------------------- all outcomes, exactly


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize(("n", "p"), [(1, F(1, 2)), (2, F(3, 4)), (3, F(1, 4)), (5, F(1, 8)), (4, F(63, 64))])
def test_coins_are_exact(n, p, neighbours):
    profile = binomial_dummies(chance=float(p), d=4, n=n, neighbours=neighbours)
    for ratio in (F(1), F(3, 2), F(4)):
        exact = hockey_stick(moved(coins(n, p), *RELATIONS[neighbours]), ratio)
        encloses(profile.delta(math.log(ratio)), float(exact))


@pytest.mark.parametrize(("up", "down"), [(2, 2), (3, 0), (0, 3)])
def test_several_values_of_a_user_are_exact(up, down):
    distribution, neighbours = coins(3, F(1, 4)), "replace" if up == down else "add" if up else "remove"
    profile = binomial_dummies(chance=0.25, d=6, inputs=max(up, down), n=3, neighbours=neighbours)
    for ratio in (F(1), F(3, 2), F(4)):
        encloses(profile.delta(math.log(ratio)), float(hockey_stick(moved(distribution, up, down), ratio)))


def drawn(seed):
    rng = random.Random(seed)
    return rng.choice(tuple(RELATIONS)), rng.randrange(1, 40), rng.uniform(0.01, 0.3), rng.uniform(0.0, 1.2)


@pytest.mark.parametrize(("neighbours", "n", "mean", "eps"), [drawn(seed) for seed in range(8)])
def test_drawn_poisson_laws(neighbours, n, mean, eps):
    distribution, ratio = poisson(mpmath.mpf(mean) * n), mpmath.exp(mpmath.mpf(eps))
    profile = poisson_dummies(mean_per_user=mean, d=4, n=n, neighbours=neighbours)
    encloses(profile.delta(eps), stick(distribution, *RELATIONS[neighbours], ratio))


@pytest.mark.parametrize("shape", [0.25, 1.0, 7.5])
@pytest.mark.parametrize("neighbours", ["add", "remove"])
def test_negative_binomial_laws(shape, neighbours):
    profile = negative_binomial_dummies(shape_per_user=shape / 4, chance=0.6, d=1, n=4, neighbours=neighbours)
    for eps in (0.0, 0.3, 0.8):
        exact = stick(negative_binomial(shape, 0.6), *RELATIONS[neighbours], mpmath.exp(mpmath.mpf(eps)))
        encloses(profile.delta(eps), exact)


@pytest.mark.parametrize("mean", [1e-3, 1.0, 300.0, 1e4])
def test_one_number_by_its_distribution_function(mean):
    """(1, 0) and (0, 1) in closed form, with thresholds on the number."""
    with mpmath.workdps(40):
        mu = mpmath.mpf(mean)
        tail = lambda k: mpmath.gammainc(k, 0, mu, regularized=True) if k > 0 else mpmath.mpf(1)  # noqa: E731
        for sds in (0.5, 4.0):
            eps = sds / math.sqrt(mean)
            e = mpmath.exp(mpmath.mpf(eps))
            k0, k1 = int(mpmath.floor(mu * e)) + 1, int(mpmath.ceil(mu / e)) - 1
            exact = {"add": tail(k0 - 1) - e * tail(k0), "remove": 1 - tail(k1 + 1) - e * (1 - tail(k1))}
            for neighbours, value in exact.items():
                profile = poisson_dummies(mean_per_user=mean, d=1, n=1, neighbours=neighbours)
                encloses(profile.delta(eps), float(max(value, 0)), share=1e-8)


# ---------------------------------------------------------------- other questions


def test_added_users_keep_their_order_in_every_question():
    distribution = poisson(3)
    added, removed = (
        poisson_dummies(mean_per_user=3.0, d=1, n=1, neighbours=one) for one in ("add", "remove")
    )
    pairs = moved(distribution, 1, 0).values()
    moment = float(sum(p**3 / q**2 for p, q in pairs if q))
    found = added.renyi(3.0)
    assert found.lower <= math.log(moment) / 2 < found.lower * (1 + 1e-9) and found.upper == math.inf
    assert removed.renyi(3.0).lower == math.inf
    # null: the number without the user's message is larger by none
    for profile, (p, q) in ((added, (0, 1)), (removed, (1, 0))):
        cells = sorted(
            moved(distribution, 1, 0).values(), key=lambda one: one[p] / one[q] if one[q] else math.inf
        )
        fpr, miss = float(cells[0][p] + cells[1][p]), float(1 - cells[0][q] - cells[1][q])
        found = profile.tradeoff(fpr)
        assert found.lower <= miss * (1 + 1e-9) and found.upper >= miss * (1 - 1e-9)
        assert found.upper - found.lower < 1e-9


@pytest.mark.parametrize("neighbours", ["add", "remove"])
def test_rounds_of_added_users_are_that_many_values(neighbours):
    """Equal rounds have the distribution of as many values in one round."""
    make = {"mean_per_user": 0.05, "d": 10, "n": 100, "neighbours": neighbours}
    rounds, values = poisson_dummies(**make).compose(3), poisson_dummies(**make, inputs=3)
    for eps in (0.2, 0.8):
        one, other = rounds.delta(eps), values.delta(eps)
        assert one.lower <= other.upper and other.lower <= one.upper <= 1.01 * other.upper
    one, other = rounds.tradeoff(0.05), values.tradeoff(0.05)
    assert one.lower <= other.upper and other.lower <= one.upper
    assert one.upper - one.lower < 0.01
    apart = compose([poisson_dummies(**make), poisson_dummies(**make, inputs=2)]).delta(0.5)
    assert apart.lower <= values.delta(0.5).upper and values.delta(0.5).lower <= apart.upper


def test_rounds_beside_others_and_samples():
    one = poisson_dummies(mean_per_user=0.05, d=10, n=100)
    added = poisson_dummies(mean_per_user=0.05, d=10, n=100, neighbours="add")
    other = shuffle(randomizers.binary_rr(eps0=1.0), n=100)
    assert compose([one, other]).delta(0.5).upper > one.delta(0.5).lower
    assert compose([added, other]).delta(0.5).upper > added.delta(0.5).lower
    assert one.subsample(0.1).delta(0.1).upper < one.delta(0.1).lower
    with pytest.raises(ValueError, match="added"):
        added.subsample(0.1)


def test_more_dummies_are_no_less_private():
    for make, good in MAKERS.items():
        found = [make(d=4, n=n, **good).delta(0.02) for n in (10, 100, 1000)]
        assert all(b.upper < a.lower for a, b in zip(found, found[1:], strict=False)), make


def test_an_answer_does_not_depend_on_others():
    profile = poisson_dummies(mean_per_user=0.01, d=10, n=1000, inputs=3)
    grid = np.array([0.1, 0.7])
    many = profile.delta(grid)
    for i, eps in enumerate(grid.tolist()):
        fresh = poisson_dummies(mean_per_user=0.01, d=10, n=1000, inputs=3).delta(eps)
        assert (fresh.lower, fresh.upper) == (many.lower[i], many.upper[i])


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_bad_arguments_are_refused_by_name(make):
    good = {**MAKERS[make], "d": 4, "n": 10, "inputs": 2}
    for name in good:
        for value in (*FOREIGN.values(), -1.0, math.inf, 10**400):
            is_refused(make, good, name, value)
        for value in EXTREME.values():
            try:
                check_answer(make(**good | {name: value}).delta(0.1), most=1.0)
            except (ValueError, TypeError) as refusal:
                check_refusal(refusal, tuple(good))
    for value in (*FOREIGN.values(), "swap", "Replace"):
        is_refused(make, good, "neighbours", value)
    is_refused(make, good, "d", 3)  # two users cannot hold two different values each
    assert make(**good | {"d": 3}, neighbours="add").adjacency.any_value is False

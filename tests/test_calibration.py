"""Inverse questions: the answer is proved by its own certificate, and lies where exact oracles put it."""

import dataclasses
import functools
import math
from fractions import Fraction as F

import numpy as np
import pytest

import oracles
from claims import exact_shuffle
from oracles import neighbours
from shufflelib import randomizers, shuffle
from shufflelib.calibration import fewest_users, largest_eps0, most_rounds, search, smallest_sigma
from shufflelib.profiles import DiscretePair, Gaussian

MANY = functools.partial(randomizers.generalized_rr, d=16)


class GaussianRounds(Gaussian):
    """Gaussian differential privacy, whose rounds are Gaussian again."""

    def compose(self, rounds):
        return Gaussian(self.mu * math.sqrt(rounds))


# ------------------------------------------------------------------ against exact oracles


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("ratio", "delta"), [(F(3, 2), F(1, 15)), (F(2), F(1, 50)), (F(5, 4), F(1, 8))])
def test_fewest_users_lies_where_enumeration_puts_it(d, ratio, delta):
    pmf = exact_shuffle.randomized_response(3, d)
    worst = (neighbours.Worst(neighbours.shuffled(pmf, n)).delta(ratio) for n in range(1, 12))
    truth = next(n for n, exact in enumerate(worst, start=1) if exact <= delta)
    blanket = next(n for n in range(1, 12) if oracles.blanket_bound(pmf, n, ratio) <= delta)
    proved = truth if d == 2 else blanket  # all datasets of two options are searched
    rr = randomizers.generalized_rr(eps0=math.log(3), d=d)
    found = fewest_users(rr, eps=math.log(ratio), delta=float(delta))
    assert found.answer == proved >= truth  # sound, and not a single user more than that needs
    assert found.unproved == proved - 1
    assert found.fails is None or found.fails < truth
    assert found.fails is not None or truth == 1


@pytest.mark.parametrize("d", [2, 16])
@pytest.mark.parametrize("eps", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-3, 0.3])
def test_the_budget_of_a_single_user_has_a_closed_form(d, eps, delta):
    # (e - E)/(e + d - 1) = delta
    exact = math.log((math.exp(eps) + delta * (d - 1)) / (1 - delta))
    found = largest_eps0(functools.partial(randomizers.generalized_rr, d=d), n=1, eps=eps, delta=delta)
    assert found.answer <= exact * (1 + 1e-12)
    assert found.answer >= max(exact, eps) * (1 - 1e-6)
    assert exact * (1 - 1e-12) <= found.fails <= exact * (1 + 3e-4)


@pytest.mark.parametrize(("mu", "eps", "delta"), [(0.01, 1.0, 1e-8), (0.3, 1.0, 1e-3), (0.05, 0.2, 1e-5)])
def test_most_rounds_of_a_gaussian_are_counted_exactly(mu, eps, delta):
    def meets(rounds):
        return oracles.gaussian_delta(mu * math.sqrt(rounds), eps) <= delta

    found = most_rounds(GaussianRounds(mu), eps=eps, delta=delta)
    assert meets(found.answer) and not meets(found.answer + 1)
    assert found.unproved == found.answer + 1
    assert not meets(found.fails) and found.fails <= found.answer * (1 + 1e-4) + 1


def response_delta(rounds, e, ratio):
    """Return δ of binary randomized response given ``rounds`` times, exact: only the sum matters."""
    return sum(
        max(math.comb(rounds, k) * (e**k - ratio * e ** (rounds - k)) / (1 + e) ** rounds, F(0))
        for k in range(rounds + 1)
    )


@pytest.mark.parametrize(
    ("e", "ratio", "delta"), [(F(5, 4), F(3), F(1, 10**6)), (F(11, 10), F(2), F(1, 10**4))]
)
def test_most_rounds_of_a_response_are_counted_exactly(e, ratio, delta):
    truth = next(k for k in range(1, 200) if response_delta(k + 1, e, ratio) > delta)
    masses = np.log([float(e / (1 + e)), float(1 / (1 + e))])
    found = most_rounds(DiscretePair(masses, masses[::-1]), eps=math.log(ratio), delta=float(delta))
    assert found.answer == truth and found.unproved == truth + 1 and found.fails > truth


# ------------------------------------------------------------------ what is returned is what was proved


TARGETS = [(1000, 0.2, 1e-6), (10**6, 1.0, 1e-8), (10**9, 0.01, 1e-12), (3, 1.5, 1e-2)]


@pytest.mark.parametrize("build", [randomizers.generic, MANY, randomizers.piecewise])
@pytest.mark.parametrize(("n", "eps", "delta"), TARGETS)
def test_the_budget_and_its_guarantee_make_a_round_trip(build, n, eps, delta):
    found = largest_eps0(build, n=n, eps=eps, delta=delta)
    again = shuffle(build(eps0=found.answer), n=n).epsilon(delta)
    assert again == found.certificate
    assert eps * (1 - 1e-4) <= again.upper <= eps
    assert shuffle(build(eps0=found.unproved), n=n).epsilon(delta).upper > eps
    assert found.answer < found.unproved <= found.answer * (1 + 1e-6)
    assert shuffle(build(eps0=found.fails), n=n).delta(eps).lower > delta


@pytest.mark.parametrize(
    ("randomizer", "eps", "delta"),
    [
        (randomizers.binary_rr(eps0=2.0), 0.1, 1e-6),
        (randomizers.generic(eps0=4.0), 0.03, 1e-9),
        (MANY(eps0=3.0), 0.03, 1e-9),
        (randomizers.laplace(eps0=1.0), 0.1, 1e-6),
    ],
    ids=["binary", "generic", "sixteen", "laplace"],
)
def test_one_user_fewer_misses_the_target(randomizer, eps, delta):
    found = fewest_users(randomizer, eps=eps, delta=delta)
    assert found.certificate == shuffle(randomizer, n=found.answer).epsilon(delta)
    assert found.certificate.upper <= eps
    assert found.unproved == found.answer - 1
    assert shuffle(randomizer, n=found.unproved).epsilon(delta).upper > eps
    assert found.fails < found.answer
    assert shuffle(randomizer, n=found.fails).delta(eps).lower > delta
    trip = largest_eps0(
        lambda eps0: dataclasses.replace(randomizer, eps0=eps0), n=found.answer, eps=eps, delta=delta
    )
    assert trip.answer == pytest.approx(randomizer.eps0, rel=0.02)
    assert trip.answer >= randomizer.eps0 * (1 - 1e-6)


def test_the_target_may_be_for_many_rounds():
    randomizer, target = randomizers.binary_rr(eps0=1.0), {"eps": 1.0, "delta": 1e-4}
    found = fewest_users(randomizer, rounds=4, **target)
    again = shuffle(randomizer, n=found.answer).compose(rounds=4).epsilon(1e-4)
    assert again == found.certificate and 1 - 1e-2 <= again.upper <= 1.0
    assert "4 rounds" in str(found) and found.unproved == found.answer - 1
    assert shuffle(randomizer, n=found.fails).compose(rounds=4).epsilon(1e-4).lower > 1.0
    rounds = most_rounds(shuffle(randomizer, n=found.answer), **target)
    assert rounds.answer == 4 and rounds.fails > 4


def test_the_largest_budget_of_many_rounds_is_proved_and_close():
    n, eps, delta, rounds = 20, 1.0, 1e-3, 3
    found = largest_eps0(randomizers.binary_rr, n=n, eps=eps, delta=delta, rounds=rounds)
    again = shuffle(randomizers.binary_rr(eps0=found.answer), n=n).compose(rounds=rounds).epsilon(delta)
    assert again == found.certificate and eps * (1 - 1e-3) <= again.upper <= eps
    assert found.answer < found.unproved <= found.answer * (1 + 1e-3)
    assert found.unproved < found.fails <= found.answer * 1.2


def test_rounds_whose_bounds_turn_out_close_are_searched_with_all_digits():
    ask, target = functools.partial(randomizers.duchi, eps0=0.1145, d=2), (0.015637, 1.1e-7)
    found = fewest_users(ask, eps=target[0], delta=target[1], rounds=45)
    assert shuffle(ask(), n=found.unproved).compose(45).delta(target[0]).upper > target[1]


@pytest.mark.parametrize(("mu", "late"), [(0.0005, 1 + 2e-5), (0.05, 1.1)])
def test_an_answer_needs_epsilon_itself_and_steps_back_until_it_has_it(mu, late):
    class Cautious(Gaussian):
        # ε is proved a little later than δ says
        def _asking_epsilon(self, delta):
            lower, upper = yield from super()._asking_epsilon(delta)
            return lower, upper * late

    class Rounds(Gaussian):
        def compose(self, rounds):
            return Cautious(self.mu * math.sqrt(rounds))

    found = most_rounds(Rounds(mu), eps=1.0, delta=1e-8)
    assert 1 < found.answer < most_rounds(GaussianRounds(mu), eps=1.0, delta=1e-8).answer
    assert found.certificate.upper <= 1.0
    assert Cautious(mu * math.sqrt(found.unproved)).epsilon(1e-8).upper > 1.0


# ------------------------------------------------------------------ the ends of the ranges


def test_targets_out_of_reach_say_so_and_what_to_do():
    with pytest.raises(ValueError, match="eps = 1e-09 .* 1,000,000,000,000,000 .* use a larger eps or delta"):
        fewest_users(randomizers.generic(eps0=2.0), eps=1e-9, delta=1e-100)
    with pytest.raises(ValueError, match="eps = 0.1 .* more private round"):
        most_rounds(GaussianRounds(1.0), eps=0.1, delta=1e-6)
    with pytest.raises(ValueError, match="eps = 0.01 .* more users"):
        largest_eps0(lambda eps0: randomizers.binary_rr(eps0=3.0 + eps0), n=2, eps=0.01, delta=1e-9)


# ------------------------------------------------------------------ what comes back, what goes in


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda **target: largest_eps0(randomizers.generalized_rr, n=9, **target),
            r"required (keyword-only )?argument: 'd'",
        ),
        (
            lambda **target: largest_eps0(randomizers.binary_rr, n=9, d=2, **target),
            "has no parameter d; it takes",
        ),
        (lambda **target: largest_eps0(randomizers.gaussian, n=9, **target), "no eps0 to calibrate"),
        (lambda **target: smallest_sigma(randomizers.laplace, n=9, **target), "no sigma to calibrate"),
        (lambda **target: most_rounds(Gaussian(0.1), n=9, **target), "a profile has its n"),
        (
            lambda **target: fewest_users(randomizers.binary_rr, **target),
            r"required (keyword-only )?argument: 'eps0'",
        ),
    ],
)
def test_a_constructor_and_its_other_parameters_must_fit(ask, words):
    with pytest.raises(TypeError, match=words):
        ask(eps=1.0, delta=0.1)


def test_the_least_noise_is_proved_and_a_little_less_is_attacked():
    found = smallest_sigma(n=200, eps=1.0, delta=1e-4)
    above, below = (
        shuffle(randomizers.gaussian(sigma=sigma), 200).delta(1.0) for sigma in (found.answer, found.fails)
    )
    assert above.upper <= 1e-4 < below.lower
    assert 0.9 * found.answer < found.fails < found.unproved < found.answer
    assert f"{found.answer:.5g}"[:5] in str(found)


def test_a_step_back_may_end_at_the_last_value_of_the_range():
    """And stops there, whichever way δ falls and whether or not the parameter is whole."""
    for limits, falling, whole, near in (
        ((1, 9), False, True, 2),
        ((1, 9), True, True, 8),
        ((0.5, 2.0), False, False, 0.51),
        ((0.5, 2.0), True, False, 1.99),
    ):
        family = search.Family(abs, 1.0, 1e-6, limits=limits, tolerance=1e-9, falling=falling, whole=whole)
        end = limits[falling]
        stride = abs(math.log(near) - math.log(end))
        assert family._before(near, stride) == pytest.approx(end, rel=1e-12)
        assert family._before(end, stride) is None

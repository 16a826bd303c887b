"""RAPPOR in full: permanent answers and the reports drawn from them, in exact fractions."""

import math
import random
from fractions import Fraction as F
from itertools import combinations_with_replacement, product

import pytest

from fuzz_answers import check_refusal
from oracles.bit_vectors import reports, sets
from oracles.brute_force import beside, both_ways
from shufflelib import randomizers, shuffle
from test_hostile import FOREIGN, is_refused

rappor = randomizers.unary.rappor
# f, p, q -> budget of any number of rounds, and of one, of two hash functions, as systems have them
DEPLOYED = [(0.5, 0.25, 0.75, 4.3944, 2.0433), (0.25, 0.25, 0.75, 7.7836, 3.1538)]


@pytest.mark.parametrize(("f", "p", "q", "forever", "once"), DEPLOYED)
def test_budgets_of_a_browser(f, p, q, forever, once):
    assert abs(rappor(d=32, h=2, f=f).eps0 - forever) < 6e-5
    assert abs(rappor(d=32, h=2, f=f, p=p, q=q).eps0 - once) < 6e-5


def test_without_permanent_answers_the_bits_are_p_and_q():
    assert rappor(d=128, h=2, f=0.0, p=0.35, q=0.65) == randomizers.unary(d=128, h=2, p=0.35, q=0.65)


def permanent(x, f):
    """Return {answer: probability}: a bit is replaced by a fair coin with probability f."""
    return reports(x, f / 2, 1 - f / 2)


def rounds_of(x, f, p, q, rounds):
    """Return the distribution of one user's reports in some rounds, linked."""
    found = {}
    for answer, mass in permanent(x, f).items():
        seen = reports(answer, p, q)
        for some in product(seen, repeat=rounds):
            found[some] = found.get(some, F(0)) + mass * math.prod(seen[one] for one in some)
    return found


def drawn(seed):
    rng = random.Random(seed)
    p, q = sorted(rng.sample(range(65), 2))
    return F(rng.randrange(1, 64), 64), F(p, 64), F(q, 64)


@pytest.mark.parametrize(("f", "p", "q"), [drawn(seed) for seed in range(12)])
def test_one_round_is_that_of_two_steps(f, p, q):
    one, two = (1 - f) * p + f * (p + q) / 2, (1 - f) * q + f * (p + q) / 2
    mechanism = rappor(d=3, f=float(f), p=float(p), q=float(q))
    assert one * (1 - F(1, 2**52)) <= F(mechanism.p) <= one and two <= F(mechanism.q) <= two * (
        1 + F(1, 2**52)
    )
    for x in sets(3, 1):
        steps = {some[0]: mass for some, mass in rounds_of(x, f, p, q, 1).items()}
        assert steps == {y: mass for y, mass in reports(x, one, two).items() if y in steps}


def test_rounding_goes_to_the_unsafe_side():
    """1/3 and the like are no floats: of 200 chances none is above p* or below q*."""
    rng = random.Random(3)
    for _ in range(200):
        f, p, q = rng.uniform(0.01, 0.99), rng.uniform(0, 0.5), rng.uniform(0.5, 1)
        mechanism = rappor(d=2, f=f, p=p, q=q)
        f, p, q = map(F, (f, p, q))
        one, two = ((1 - f) * bit + f * (p + q) / 2 for bit in (p, q))
        assert F(mechanism.p) <= one < F(math.nextafter(mechanism.p, 1.0))
        assert F(math.nextafter(mechanism.q, 0.0)) < two <= F(mechanism.q)


def worst(n, rounds, f, p, q, ratio):
    """Return the largest divergence of linked reports of n users of two bits, over all neighbours."""
    users = {x: rounds_of(x, f, p, q, rounds) for x in sets(2, 1)}

    def shuffled(values):
        found = {(): F(1)}
        for x in values:
            grown = {}
            for state, mass in found.items():
                for some, chance in users[x].items():
                    new = tuple(sorted((*state, some)))
                    grown[new] = grown.get(new, F(0)) + mass * chance
            found = grown
        return found

    return max(
        both_ways(beside(*(shuffled([x, *others]) for x in users)), ratio)
        for others in combinations_with_replacement(users, n - 1)
    )


@pytest.mark.parametrize(("n", "rounds"), [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)])
def test_rounds_of_one_answer_reveal_no_more_than_the_answer(n, rounds):
    """With few false bits the answer shows after a few rounds: then its own bound is nearly attained."""
    f, p, q = F(1, 2), F(1, 64), F(63, 64)
    profile = shuffle(rappor(d=2, f=0.5), n=n)
    for ratio in (F(1), F(2), F(5)):
        exact, bound = worst(n, rounds, f, p, q, ratio), profile.delta(math.log(ratio)).upper
        assert exact <= bound * (1 + 1e-9)
        assert rounds == 1 or n > 1 or bound <= 1.1 * exact
    assert n == 1 or exact > 0


def test_linked_rounds_are_more_than_one_round():
    """So that the report of one round must not be asked of all of them."""
    f, p, q = F(1, 2), F(1, 4), F(3, 4)
    once = shuffle(rappor(d=2, f=0.5, p=0.25, q=0.75), n=1).delta(math.log(2))
    assert worst(1, 2, f, p, q, F(2)) > once.upper


GOOD = {"d": 8, "h": 2, "f": 0.5, "p": 0.25, "q": 0.75}


def test_hostile_values_are_refused_by_name():
    for name in GOOD:
        for value in FOREIGN.values():
            is_refused(rappor, GOOD, name, value)
    for bad in ({"f": 1.0}, {"f": -0.1}, {"p": 0.75}, {"p": 1.0}, {"q": 0.0}, {"q": 1.1}, {"h": 8}, {"d": 1}):
        (name,) = bad
        is_refused(rappor, GOOD, name, bad[name])
    for bad in ({"f": 0.0, "p": 0.0}, {"f": 0.0, "q": 1.0}, {"f": 1e-300, "p": 0.0}):
        with pytest.raises(ValueError, match="f must be at least 1e-12") as refusal:
            rappor(**GOOD | bad)
        check_refusal(refusal.value, GOOD)

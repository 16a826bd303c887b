"""The profile of one user: sound against all datasets of few users, and what `delta` and `epsilon` say."""

import itertools
import math
import pickle

import numpy as np
import pytest

from shufflelib import calibration
from shufflelib.shuffling import personal

SMALL = [0.4, 1.0, 1.6]
CROWDS = {
    "response": personal.PersonalRandomizedResponse(np.linspace(0.3, 2.0, 40), d=5),
    "few": personal.PersonalRandomizedResponse(SMALL, d=3),
    "laplace": personal.PersonalLaplace(np.linspace(0.3, 2.0, 40)),
}


def histogram(eps0, values, d):
    """Return the distribution of the numbers of reports of each option, exactly but for rounding."""
    found = {(0,) * d: 1.0}
    for budget, value in zip(eps0, values, strict=True):
        more = {}
        for (counts, mass), report in itertools.product(found.items(), range(d)):
            chance = math.exp(budget * (report == value)) / (math.exp(budget) + d - 1)
            key = tuple(count + (one == report) for one, count in enumerate(counts))
            more[key] = more.get(key, 0.0) + mass * chance
        found = more
    return np.array(list(found.values()))


def largest_delta(eps0, user, d, eps, rounds):
    """Return δ of the worst values of all users, the same or others in each round."""
    pairs = []
    for others in itertools.product(range(d), repeat=len(eps0) - 1):
        values = [[*others[:user], own, *others[user:]] for own in (0, 1)]
        pairs.append([histogram(eps0, one, d) for one in values])
    worst = 0.0
    for chosen in itertools.combinations_with_replacement(pairs, rounds):
        for way in itertools.product((0, 1), repeat=rounds):
            p, q = np.ones(1), np.ones(1)
            for pair, swap in zip(chosen, way, strict=True):
                p, q = np.outer(p, pair[swap]).ravel(), np.outer(q, pair[1 - swap]).ravel()
            worst = max(worst, float(np.maximum(p - math.exp(eps) * q, 0.0).sum()))
    return worst


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("user", [0, 2])
@pytest.mark.parametrize("rounds", [1, 2])
def test_no_dataset_of_three_users_exceeds_it(d, user, rounds):
    profile = personal.PersonalRandomizedResponse(SMALL, d=d).profile(user=user).compose(rounds)
    for eps in (0.0, 0.2, 0.5, 1.2):
        found, worst = profile.delta(eps), largest_delta(SMALL, user, d, eps, rounds)
        assert found.lower * (1 - 1e-9) <= worst <= found.upper + 1e-12
        assert found.upper <= 1.6 * worst + 0.02


@pytest.mark.parametrize("name", CROWDS)
@pytest.mark.parametrize("user", [0, -1])
def test_one_round_is_what_the_crowd_says(name, user):
    crowd = CROWDS[name]
    user %= crowd.n
    profile = crowd.profile(user=user)
    for eps in (0.0, 0.05, 0.3):
        plain, found = crowd.delta(user=user, eps=eps), profile.delta(eps)
        assert (found.lower, found.upper) == pytest.approx((plain.lower, plain.upper), rel=2e-4)
    for delta in (1e-6, 1e-2):
        plain, found = crowd.epsilon(user=user, delta=delta), profile.epsilon(delta)
        assert (1 - 1e-5) * plain.lower <= found.lower <= found.upper <= (1 + 1e-5) * plain.upper
    assert profile.pure_epsilon == crowd.eps0[user] and "all numbers are of one user" in str(found)


def test_it_composes_is_sampled_and_calibrates():
    crowd = CROWDS["response"]
    profile = crowd.profile(user=7)
    once, thrice = (profile.compose(rounds).epsilon(1e-6).upper for rounds in (1, 3))
    assert once < thrice < 3 * once
    assert profile.subsample(0.1).epsilon(1e-6).upper < once
    assert 0.0 < profile.tradeoff(0.1).lower < 0.9 and profile.renyi(4.0).upper < crowd.eps0[7]
    most = calibration.most_rounds(profile, eps=1.0, delta=1e-6).answer
    assert profile.compose(most).epsilon(1e-6).upper <= 1.0


def test_a_user_without_budget_reveals_nothing():
    profile = pickle.loads(pickle.dumps(personal.PersonalRandomizedResponse([0.0, 1.0], d=2).profile(user=0)))
    assert profile.delta(0.0).upper == 0.0 == profile.compose(5).epsilon(1e-6).upper


def test_the_index_of_a_user_is_checked():
    with pytest.raises(ValueError, match="user is an index into eps0"):
        CROWDS["few"].profile(user=3)

"""Published multi-message protocols: parameters, pairs that are bounds or none, guarantees."""

import math
from fractions import Fraction as F

import pytest

import oracles
from oracles.multi_message import NUDGE, PROTOCOLS, RATIOS, delta, real
from shufflelib import randomizers
from shufflelib.published import multi_message as published_messages
from shufflelib.published.closed_form import OutOfRegime
from shufflelib.shuffling import VariationRatioPair, multi_message

# ---- Table 3


@pytest.mark.parametrize("name", PROTOCOLS)
def test_published_parameters_are_those_of_the_messages(name):
    protocol, own, noise = PROTOCOLS[name]
    gap = sum(abs(own[0].get(y, 0) - own[1].get(y, 0)) for y in noise) / 2
    assert math.isclose(protocol.beta, gap, rel_tol=1e-12)
    ratios = [F(own[0].get(y, 0)) / F(own[1][y]) if own[1].get(y) else math.inf for y in own[0]]
    assert math.isclose(protocol.p, max(ratios), rel_tol=1e-12)
    reference = max(F(mass) / noise[y] for distribution in own[:2] for y, mass in distribution.items())
    assert math.isclose(protocol.q, reference, rel_tol=1e-12)


# ---- published pairs: where they are bounds and where not


@pytest.mark.parametrize("name", ["fair coin", "bins", "special bins", "pureDUMP", "mixDUMP"])
def test_published_pair_is_the_exact_one(name):
    """Where p = ∞ and β = 1; for mixDUMP although 1 - α - αp > 0."""
    protocol = PROTOCOLS[name][0]
    for ratio in RATIOS:
        truth = float(oracles.both_ways(real(name, (), 4), ratio))
        ends = delta(multi_message.published_pair(protocol, dummy_messages=4), ratio)
        assert abs(ends.upper - truth) < NUDGE and abs(ends.lower - truth) < NUDGE


def test_published_pair_of_a_biased_coin_is_loose_and_the_sharp_one_is_asymmetric():
    coin = randomizers.balcer_binary(coin=0.2)
    certified = multi_message.shuffle_messages(coin, n=10, dummy_messages=400).epsilon(delta=1e-4)
    assert (
        multi_message.published_pair(coin, dummy_messages=400).epsilon(delta=1e-4).lower
        > 1.2 * certified.upper
    )
    sharp = VariationRatioPair(n=401, p=math.inf, beta=1.0, q0=1.25, q1=5.0).epsilon(delta=1e-4)
    assert abs(sharp.upper - certified.upper) < 1e-6


# ---- the protocols' own papers


@pytest.mark.parametrize(("eps", "messages"), [(0.5, 10**4), (1.0, 10**4), (0.2, 10**5), (1.5, 10**5)])
def test_the_papers_guarantee_of_fake_users_is_safe_and_loose(eps, messages):
    flip = published_messages.cheu_zhilyaev_flip(messages=messages, eps=eps, delta=1e-6)
    right = 6.6 * ((math.exp(eps) + 1) / (math.exp(eps) - 1)) ** 2 * math.log(4e6) / messages
    assert math.isclose(flip * (1 - flip), right, rel_tol=1e-9) and 0 < flip < 0.5
    protocol = randomizers.cheu_zhilyaev(d=16, flip=flip)
    ours = multi_message.shuffle_messages(protocol, n=1_000, dummy_messages=messages).epsilon(delta=1e-6)
    assert ours.upper < 0.6 * eps


def test_the_papers_guarantee_of_fake_users_ends_where_the_square_root_does():
    edge = 2 * math.atanh(math.sqrt(26.4 * math.log(4e6) / 1e4))
    assert math.isclose(edge, 0.40616, abs_tol=1e-4)
    published_messages.cheu_zhilyaev_flip(messages=10**4, eps=edge * (1 + 1e-6), delta=1e-6)
    with pytest.raises(OutOfRegime, match="132/5"):
        published_messages.cheu_zhilyaev_flip(messages=10**4, eps=edge * (1 - 1e-6), delta=1e-6)


@pytest.mark.parametrize(("eps", "s"), [(0.1, 1), (1.0, 1), (3.0, 1), (0.5, 4)])
def test_the_papers_guarantee_of_bins_is_safe_and_loose(eps, s):
    balls = published_messages.balls_into_bins_blanket(d=16, s=s, eps=eps, delta=1e-6)
    assert balls == math.ceil(32 * math.log(2e6) * 16 / s / eps**2)
    ours = multi_message.shuffle_messages(randomizers.balls_into_bins(d=16, s=s), n=1, dummy_messages=balls)
    assert ours.epsilon(delta=1e-6).upper < 0.35 * eps


def test_the_papers_guarantee_of_bins_names_its_range():
    published_messages.balls_into_bins_blanket(d=16, s=1, eps=3.0, delta=1e-6)
    for eps in (3.0001, 1e-7):
        with pytest.raises(OutOfRegime):
            published_messages.balls_into_bins_blanket(d=16, s=1, eps=eps, delta=1e-6)

"""Subsets of a population: against every dataset of tiny ones, exact pairs, tiny rates, hostile input."""

import math
from fractions import Fraction as F

import mpmath
import pytest

import oracles
from finite_pairs import LOPSIDED, discrete
from oracles import neighbours
from shufflelib import randomizers, shuffle
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.profiles.privacy_profile import SubsampledPairProfile
from shufflelib.shuffling import VariationRatioPair


@pytest.mark.parametrize("rate", [F(1, 1000), F(1, 10), F(9, 10)])
def test_mixed_pair_is_exact_in_both_orders(rate):
    mixed = discrete(LOPSIDED).subsample(rate=float(rate))
    masses = neighbours.mixed(dict(enumerate(LOPSIDED)), rate)
    for ratio in (F(1), F(1001, 1000), F(11, 10), F(3, 2), F(4)):
        for one, way in ((mixed, masses), (mixed.reversed, oracles.swapped(masses))):
            truth = float(oracles.hockey_stick(way, ratio))
            found = one.log_hockey_stick(math.log(ratio))
            if truth == 0.0:
                assert found.upper < -30.0
            else:
                rounding = 1e-14 / float(rate)  # of log(ratio), which is not exact
                assert math.exp(found.lower) <= truth * (1 + rounding) + 1e-17
                assert math.exp(found.upper) >= truth * (1 - rounding) - 1e-17
                assert found.upper - found.lower < 1e-9
    assert mixed.max_privacy_loss == pytest.approx(math.log(float(1 + rate * 4)), rel=1e-12)
    smallest = min(a / b for a, b in masses.values())
    assert mixed.reversed.max_privacy_loss == pytest.approx(-math.log(float(smallest)), rel=1e-12)


@pytest.mark.parametrize("rate", [1e-8, 1e-4, 0.3])
@pytest.mark.parametrize("share", [0.1, 1.0, 3.0])
def test_small_rates_keep_their_digits(rate, share):
    mu, eps = 0.5, rate * share
    bracket = SubsampledPairProfile(Gaussian(mu), rate).log_hockey_stick(eps)
    with mpmath.workdps(60):
        inner = mpmath.log1p(mpmath.expm1(mpmath.mpf(eps)) / mpmath.mpf(rate))
        truth = mpmath.log(
            mpmath.mpf(rate)
            * (
                mpmath.ncdf(-inner / mu + mpmath.mpf(mu) / 2)
                - mpmath.exp(inner) * mpmath.ncdf(-inner / mu - mpmath.mpf(mu) / 2)
            )
        )
        assert bracket.lower <= truth <= bracket.upper
    assert bracket.upper - bracket.lower < 1e-9


def test_rate_one_is_the_identity_and_rates_multiply():
    mechanism = shuffle(randomizers.generic(eps0=2.0), n=500)
    pair = VariationRatioPair.of(randomizers.generic(eps0=2.0), n=500)
    for profile in (mechanism, pair):
        assert profile.subsample(rate=1.0) is profile
        assert profile.subsample(rate=1) is profile
        twice = profile.subsample(rate=0.2).subsample(rate=0.5)
        once = profile.subsample(rate=0.1)
        for eps in (0.0, 0.005, 0.02):
            a, b = twice.delta(eps), once.delta(eps)
            assert a.upper == pytest.approx(b.upper, rel=1e-5)
            assert a.lower == pytest.approx(b.lower, rel=1e-5)


@pytest.mark.parametrize("loss", [1e-9, 0.5, 1.0, 3.0, 700.0, 1400.0])
@pytest.mark.parametrize("rate", [1e-3, 0.5])
def test_largest_loss_of_a_share_at_any_size_of_the_loss(rate, loss):
    """Beyond 709 nats too, where e^loss is no float any more."""
    log_share = -math.log1p(math.exp(-loss))
    mixed = DiscretePair([log_share, log_share - loss], [log_share - loss, log_share]).subsample(rate=rate)
    with mpmath.workdps(40):
        truth = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(loss)))
        assert truth <= mixed.max_privacy_loss <= truth * (1 + mpmath.mpf(10) ** -13) + 1e-15 * rate


def test_where_no_attack_is_known_the_lower_end_is_nothing():
    composed = shuffle(randomizers.binary_rr(eps0=1.0), n=3).compose(rounds=2).subsample(rate=0.5)
    assert composed.delta(0.1).lower == 0.0
    assert composed.delta(0.1).upper > 0.0
    assert composed.epsilon(1e-3).lower == 0.0


def test_a_sample_of_rounds_does_not_know_what_the_rounds_were_asked():
    rounds = shuffle(randomizers.laplace(eps0=1.0), n=1000).compose(10)
    before = rounds.subsample(0.1).delta(0.05)
    sampled = rounds.subsample(0.1)
    rounds.epsilon(1e-6)
    assert sampled.delta(0.05) == before

"""Groups of users: against Gaussian noise, whose groups are known, and the textbook's bound."""

import math

import numpy as np
import pytest

from records import RECORDS, truth
from shufflelib import aggregate, randomizers, shuffle
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.profiles.envelope import Envelope
from shufflelib.profiles.groups import GroupPair

ONE = shuffle(randomizers.binary_rr(eps0=1.0), n=10_000)


@pytest.mark.parametrize("size", [2, 3, 4, 13, 50])
def test_a_group_is_as_many_times_as_far_away_from_gaussian_noise(size):
    mechanism = aggregate(randomizers.gaussian(sigma=1.0), 400)
    for delta in (1e-2, 1e-6, 1e-10):
        exact = Gaussian(size / 20).epsilon(delta)
        found = mechanism.group(size).epsilon(delta)
        assert exact.lower <= found.upper <= 1.02 * exact.upper + 1e-3
        assert found.lower == mechanism.epsilon(delta).lower


@pytest.mark.parametrize("size", [2, 5, 12, 40])
def test_no_share_is_worse_than_equal_ones(size):
    for eps in (0.0, 0.02, 0.1, 0.4):
        single = ONE.delta(eps / size).upper
        textbook = single * (math.expm1(eps) / math.expm1(eps / size) if eps else size)
        assert ONE.group(size).delta(eps).upper <= min(textbook * (1 + 1e-9), 1.0)


def test_larger_groups_are_less_private_and_rounds_may_come_before_or_after():
    eps = [ONE.group(size).epsilon(1e-6).upper for size in (1, 2, 3, 5, 8, 13, 30, 10_000)]
    assert eps == sorted(eps) and eps[-1] <= 10_000 * (1 + 1e-12)
    before, after = (one.epsilon(1e-6) for one in (ONE.compose(4).group(2), ONE.group(2).compose(4)))
    assert before.lower > ONE.epsilon(1e-6).upper and after.lower > ONE.epsilon(1e-6).upper
    assert max(before.lower, after.lower) < min(before.upper, after.upper)


def test_pure_privacy_adds_up():
    few = shuffle(randomizers.binary_rr(eps0=1.0), n=3)
    assert few.group(2).pure_epsilon == pytest.approx(2.0, rel=1e-14)
    assert few.group(2).pure_epsilon >= 2.0
    assert few.group(2).delta(2.0 + 1e-9).upper == 0.0 < few.group(2).delta(1.5).upper
    pair = GroupPair(few.envelope, 3)
    assert pair.max_privacy_loss >= 3.0 and pair.symmetric


def test_one_way_mechanisms_take_both_orders():
    from shufflelib.shuffling import sample_and_threshold

    released = sample_and_threshold(rate=0.25, threshold=2)
    assert released.group(2).delta(0.1).upper >= released.delta(0.1).upper


def test_some_bound_of_a_group_is_attained_by_more_than_one_user():
    """Else the chain could be left out."""
    records = [one for one in RECORDS if one.name.startswith("group of 2")]
    for record in records:
        alone = shuffle(randomizers.binary_rr(eps0=math.log(3)), n=3)
        if "2-RR" in record.name:
            assert float(truth(record, 3).delta(1)) > 1.2 * alone.delta(0.0).upper


def test_what_is_no_group_is_refused():
    for size in (0, 1.5, True, "two"):
        with pytest.raises((TypeError, ValueError), match="^size"):
            ONE.group(size)
    with pytest.raises(ValueError, match="size must be at most the 10000 users"):
        ONE.group(10_001)
    with pytest.raises(ValueError, match="pair of distributions has no users"):
        Gaussian(1.0).group(2)
    with pytest.raises(ValueError, match="replacing a value by that of any other user"):
        ONE.group(2).subsample(0.1)
    assert ONE.group(1) is ONE
    assert repr(ONE.group(3)) == "shuffle(binary_rr(eps0=1.0), n=10000).group(size=3)"
    wide = ONE.group(30).epsilon(1e-6)
    assert "theory" in wide.cause and "for a group of 30 users" in wide.statement


def test_the_chain_is_attained_by_geometric_noise():
    """One unit of geometric noise is binary response; two units are twice as far away, a group of two."""
    eps0 = 0.9
    a, eps = math.exp(-eps0), 4.0 * eps0 / 3.0  # at which the shares tried hold the best ones
    coin = DiscretePair(np.log([1.0, a]) - math.log1p(a), np.log([a, 1.0]) - math.log1p(a))
    found = GroupPair(Envelope.of((coin,)), 2).delta(eps)
    exact = (1.0 - math.exp(eps) * a**2) / (1.0 + a)
    assert exact * (1.0 - 1e-13) <= found.upper <= exact * (1.0 + 1e-9)

"""Multi-message protocols against brute force: all multisets of messages of tiny populations, in fractions.

The oracles write each protocol as the distributions of single messages on explicit outputs, and share no line
with the package.
"""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import oracles
from oracles.multi_message import (
    NUDGE,
    PROTOCOLS,
    RATIOS,
    REMOVABLE,
    bits,
    delta,
    multisets,
    real,
    response,
)
from shufflelib import estimation, randomizers
from shufflelib.profiles import Gaussian
from shufflelib.shuffling import multi_message, shuffle


@pytest.mark.parametrize("name", PROTOCOLS)
def test_classes_are_distributions(name):
    protocol = PROTOCOLS[name][0]
    assert np.allclose(protocol.message_pmf().sum(axis=1), 1.0)
    assert np.isclose(protocol.blanket().sum(), 1.0)
    held, other, share = protocol.support
    assert held > other and share.shape == (protocol.items,)


# ---- the certified profile


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_one_user_among_blanket_messages_is_exact(name, ratio):
    for blanket in (1, 2, 3):
        ends = delta(multi_message.shuffle_messages(PROTOCOLS[name][0], n=1, blanket=blanket), ratio)
        truth = float(oracles.both_ways(real(name, (), blanket), ratio))
        assert ends.lower <= truth + NUDGE and truth <= ends.upper + NUDGE
        if name != "two fake items":
            assert ends.upper - ends.lower <= 1e-6 * truth + NUDGE
        assert ends.upper <= truth * (1 + 1e-6) + NUDGE


@pytest.mark.parametrize("name", REMOVABLE)
def test_known_input_messages_change_nothing_for_any_dataset(name):
    protocol, inputs, _ = PROTOCOLS[name]
    ends = delta(multi_message.shuffle_messages(protocol, n=3, blanket=3), F(3, 2))
    assert ends.upper - ends.lower <= 1e-6 * ends.upper
    for others in product(range(len(inputs)), repeat=2):
        truth = float(oracles.both_ways(real(name, tuple(sorted(others)), 3), F(3, 2)))
        assert abs(ends.upper - truth) < 1e-7


def test_fake_users_lower_end_is_the_stated_analyst():
    """Two bits among N + n - 1 noise messages: the same number from another enumeration."""
    ends = delta(multi_message.shuffle_messages(PROTOCOLS["fake users"][0], n=3, blanket=2), F(9, 4))
    rows = [bits(2, F(1, 4), x) for x in (0, 1)]
    both = [multisets([row, *[bits(2, F(1, 4))] * 4]) for row in rows]
    masses = {y: (both[0][y], both[1][y]) for y in both[0]}
    assert math.isclose(ends.lower, oracles.both_ways(masses, F(9, 4)), rel_tol=1e-6)


def counts_distribution(n, blanket, d, flip, x):
    """Pmf of the counts of items 0, 1, 2 when one user holds x and all others hold item 2, by convolution."""
    size = n + blanket + 1
    distribution = np.zeros((size, size, size))
    distribution[0, 0, 0] = 1.0
    messages = (
        [response(d, flip, x)] + [response(d, flip, 2)] * (n - 1) + [response(d, F(d - 1, d), 0)] * blanket
    )
    for message in messages:
        a, b, c = (float(message[j]) for j in range(3))
        longer = distribution * max(0.0, 1.0 - a - b - c)
        longer[1:] += a * distribution[:-1]
        longer[:, 1:] += b * distribution[:, :-1]
        longer[:, :, 1:] += c * distribution[:, :, :-1]
        distribution = longer
    return distribution


@pytest.mark.parametrize(("d", "flip"), [(3, F(1, 2)), (5, F(2, 5))])
def test_mixdump_lower_end_is_below_the_analysts_dataset_and_not_vacuous(d, flip):
    n, blanket = 25, 50
    first, second = (counts_distribution(n, blanket, d, flip, x) for x in (0, 1))
    profile = multi_message.shuffle_messages(
        randomizers.mix_dump(d=d, flip=float(flip)), n=n, blanket=blanket
    )
    assert profile.randomizer.attacks(n, blanket)[0].chance > 0.1
    for eps in (0.0, 0.05):
        truth = np.maximum(first - math.exp(eps) * second, 0.0).sum()
        ends = profile.delta(eps=eps)
        assert 0.1 * truth < ends.lower < truth < ends.upper < 2.5 * truth


@pytest.mark.parametrize(("n", "blanket", "d", "flip"), [(25, 50, 3, 0.5), (200, 1_000, 6, 0.3)])
def test_mixdump_analyst_after_deleting(n, blanket, d, flip):
    """``chance``, and the input message's distribution given T, against the exact distribution of T."""
    (attack,) = randomizers.mix_dump(d=d, flip=flip).attacks(n, blanket)
    others = np.convolve(
        binom.pmf(np.arange(blanket + 1), blanket, 1 - 1 / d), binom.pmf(np.arange(n), n - 1, flip)
    )
    lost = flip / (d - 1)
    kept = (1 - lost) * np.append(0.0, others)  # mass of {T = t, the input message is kept}
    total = kept + lost * np.append(others, 0.0)
    usable = (kept >= (1 - lost) * total * (1 - 1e-9)) & (
        np.arange(total.size) <= attack.blanket_messages + 1
    )
    assert 0.1 < attack.chance <= total[usable].sum()
    report = np.sort(attack.ratios.r0_over_w * attack.ratios.w)
    rows = np.full(d - 1, lost) + lost / (d - 1)
    rows[0] += 1 - flip - lost
    assert np.isclose(report[-1], max(rows[0], rows[2:].sum())) and np.isclose(report.sum(), 1.0)


def test_mixdump_lower_end_approaches_the_upper_one():
    profile = multi_message.shuffle_messages(randomizers.mix_dump(d=16, flip=0.3), n=1_000, blanket=10**5)
    ends = profile.epsilon(delta=1e-6)
    assert 0.93 * ends.upper < ends.lower < ends.upper


def test_mixdump_without_a_third_item_has_the_trivial_lower_end():
    ends = multi_message.shuffle_messages(randomizers.mix_dump(d=2, flip=0.3), n=50, blanket=500).epsilon(
        1e-6
    )
    assert ends.lower == 0.0 < ends.upper < math.inf


# ---- sanity of profiles


@pytest.mark.parametrize("name", PROTOCOLS)
def test_more_blanket_messages_lower_epsilon(name):
    protocol = PROTOCOLS[name][0]
    ends = [
        multi_message.shuffle_messages(protocol, n=10, blanket=b).epsilon(delta=1e-3) for b in (50, 200, 800)
    ]
    assert ends[0].lower > 0.0 or name == "mixDUMP"
    assert ends[0].upper > 1.5 * ends[1].upper > 2.25 * ends[2].upper > 0.0
    assert all(end.lower <= end.upper for end in ends)


def test_input_message_outside_the_blanket_has_infinite_loss():
    """With one blanket message an input message of balls into bins is often alone in its bin: no finite ε."""
    profile = multi_message.shuffle_messages(randomizers.balls_into_bins(d=8), n=5, blanket=3)
    assert profile.epsilon(delta=1e-3).upper == math.inf
    truth = (7 / 8) ** 3  # nobody else in the bin
    assert profile.delta(eps=50.0).lower <= truth * (1 + 1e-9) and truth <= profile.delta(eps=50.0).upper


def test_many_messages_cost_no_more():
    profile = multi_message.shuffle_messages(randomizers.balls_into_bins(d=16), n=10**6, blanket=10**10)
    ends = profile.epsilon(delta=1e-6)
    assert 0.0 < ends.lower <= ends.upper < 1.0001 * ends.lower
    # μ-GDP with μ = sqrt(2d/N) in the limit
    assert abs(ends.upper / Gaussian(math.sqrt(32 / 10**10)).epsilon(delta=1e-6).upper - 1) < 0.01


def test_rare_pair_scales_the_divergence():
    profile = multi_message.shuffle_messages(randomizers.mix_dump(d=6, flip=0.3), n=300, blanket=3_000)
    (seen,) = profile.attack_pairs
    for eps in (0.0, 0.1):
        inside, outside = (np.array(pair.log_worst(eps).exp()) for pair in (seen.pair, seen))
        assert np.isclose(outside[1], seen.chance * inside[1], rtol=1e-9)
        assert outside[0] <= seen.chance * inside[0] * (1 + 1e-12)
    assert seen.reversed is seen or seen.reversed.reversed is seen


# ---- calibration


def test_fewest_blanket_messages_proves_itself_and_is_few():
    protocol = randomizers.balls_into_bins(d=8)
    few = estimation.fewest_blanket_messages(protocol, n=100, eps=0.8, delta=1e-4)
    assert multi_message.shuffle_messages(protocol, n=100, blanket=few).delta(0.8).upper <= 1e-4 * (1 + 1e-9)
    less = multi_message.shuffle_messages(protocol, n=100, blanket=int(0.98 * few))
    assert less.delta(0.8).lower > 1e-4


def test_smallest_flip_proves_itself_and_is_small():
    at = {"n": 100, "blanket": 2_000}
    flip = estimation.smallest_flip(d=8, eps=0.8, delta=1e-4, **at)
    proved = multi_message.shuffle_messages(randomizers.cheu_zhilyaev(d=8, flip=flip), **at)
    assert proved.delta(0.8).upper <= 1e-4 * (1 + 1e-9)
    less = multi_message.shuffle_messages(randomizers.cheu_zhilyaev(d=8, flip=0.98 * flip), **at)
    assert less.delta(0.8).upper > 1e-4


def test_targets_out_of_reach_are_refused():
    with pytest.raises(ValueError, match="not reached"):
        estimation.smallest_flip(d=8, n=1, blanket=1, eps=1e-9, delta=1e-12)
    with pytest.raises(ValueError, match="not reached"):
        estimation.fewest_blanket_messages(randomizers.balls_into_bins(d=8), n=1, eps=1e-9, delta=1e-12)


# ---- bad input


def test_single_and_multi_message_protocols_are_not_mixed_up():
    with pytest.raises(TypeError, match="LocalRandomizer"):
        shuffle(randomizers.balls_into_bins(d=4), n=10)
    for call in (multi_message.shuffle_messages, multi_message.published_pair):
        with pytest.raises(TypeError, match="multi-message"):
            call(randomizers.binary_rr(eps0=1.0), blanket=10, **({"n": 5} if call.__name__[0] == "s" else {}))


def test_blanket_messages_and_the_user_who_changes_fill_the_largest_crowd():
    bins = randomizers.balls_into_bins(d=16)
    assert multi_message.published_pair(bins, blanket=10**15 - 1).n == 10**15
    with pytest.raises(ValueError, match="blanket"):
        multi_message.published_pair(bins, blanket=10**15)

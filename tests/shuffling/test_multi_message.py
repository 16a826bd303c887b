"""Multi-message protocols against brute force: all multisets of messages of tiny populations, in fractions.

The oracles write each protocol as the distributions of single messages on explicit outputs, and share no line
with the package.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from oracles.multi_message import (
    PROTOCOLS,
)
from shufflelib import randomizers
from shufflelib.shuffling import multi_message, shuffle

# ---- the certified profile


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


def test_mixdump_without_a_third_item_has_the_trivial_lower_end():
    ends = multi_message.shuffle_messages(
        randomizers.mix_dump(d=2, flip=0.3), n=50, dummy_messages=500
    ).epsilon(1e-6)
    assert ends.lower == 0.0 < ends.upper < math.inf


# ---- sanity of profiles


@pytest.mark.parametrize("name", PROTOCOLS)
def test_more_blanket_messages_lower_epsilon(name):
    protocol = PROTOCOLS[name][0]
    ends = [
        multi_message.shuffle_messages(protocol, n=10, dummy_messages=b).epsilon(delta=1e-3)
        for b in (50, 200, 800)
    ]
    assert ends[0].lower > 0.0 or name == "mixDUMP"
    assert ends[0].upper > 1.5 * ends[1].upper > 2.25 * ends[2].upper > 0.0
    assert all(end.lower <= end.upper for end in ends)


def test_rare_pair_scales_the_divergence():
    profile = multi_message.shuffle_messages(randomizers.mix_dump(d=6, flip=0.3), n=300, dummy_messages=3_000)
    (seen,) = profile.attack_pairs
    for eps in (0.0, 0.1):
        inside, outside = (np.array(pair.log_worst(eps).exp()) for pair in (seen.pair, seen))
        assert np.isclose(outside[1], seen.chance * inside[1], rtol=1e-9)
        assert outside[0] <= seen.chance * inside[0] * (1 + 1e-12)
    assert seen.reversed is seen or seen.reversed.reversed.pair is seen.pair


# ---- bad input


def test_single_and_multi_message_protocols_are_not_mixed_up():
    with pytest.raises(TypeError, match="LocalRandomizer"):
        shuffle(randomizers.balls_into_bins(d=4), n=10)
    for call in (multi_message.shuffle_messages, multi_message.published_pair):
        with pytest.raises(TypeError, match="multi-message"):
            call(
                randomizers.binary_rr(eps0=1.0),
                dummy_messages=10,
                **({"n": 5} if call.__name__[0] == "s" else {}),
            )


def test_blanket_messages_and_the_user_who_changes_fill_the_largest_crowd():
    bins = randomizers.balls_into_bins(d=16)
    assert multi_message.published_pair(bins, dummy_messages=10**15 - 1).n == 10**15
    with pytest.raises(ValueError, match="dummy_messages"):
        multi_message.published_pair(bins, dummy_messages=10**15)

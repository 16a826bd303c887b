"""Multi-message protocols and their oracles: pmfs of single messages, and of multisets of them, exact."""

import math
from collections import Counter
from fractions import Fraction as F
from functools import cache
from itertools import product

from claims import exact_channels as channels
from shufflelib import randomizers

NUDGE = 1e-11
RATIOS = (F(1), F(3, 2), F(9, 4), F(9, 2))


def listed(protocol, channel, outputs=None):
    """Return a protocol, the distribution of each input's message, and that of a blanket message."""
    outputs = range(len(channel[0])) if outputs is None else outputs
    *inputs, noise = [{y: F(mass) for y, mass in zip(outputs, row, strict=True) if mass} for row in channel]
    return protocol, inputs, noise


def fake_users(d, flip):
    outputs = list(product((0, 1), repeat=d))
    return listed(randomizers.cheu_zhilyaev(d=d, flip=float(flip)), channels.fake_users(flip, d), outputs)


PROTOCOLS = {
    "biased coin": listed(randomizers.balcer_binary(coin=1 / 5), [(1, 0), (0, 1), (F(4, 5), F(1, 5))]),
    "fair coin": listed(randomizers.balcer_uniform(), channels.bins(2, 1)),
    "bins": listed(randomizers.balls_into_bins(d=3), channels.bins(3, 1)),
    "special bins": listed(randomizers.balls_into_bins(d=5, s=2), channels.bins(5, 2)),
    "fake users": fake_users(3, F(1, 4)),
    "two fake items": fake_users(2, F(1, 5)),
    "mixDUMP": listed(randomizers.mix_dump(d=4, flip=1 / 3), channels.mixed_dummies(F(1, 3), 4)),
    "pureDUMP": listed(randomizers.mix_dump(d=3, flip=0.0), channels.bins(3, 1)),
}


def multisets(distributions):
    """Distribution of the multiset of independent messages."""
    distribution = {(): F(1)}
    for single in distributions:
        longer = Counter()
        for seen, mass in distribution.items():
            for y, chance in single.items():
                if chance:
                    longer[tuple(sorted((*seen, y)))] += mass * chance
        distribution = longer
    return distribution


@cache
def real(name, others, blanket):
    """Masses of all outputs when the user who changes holds 0 or 1 and the others hold ``others``."""
    _, inputs, noise = PROTOCOLS[name]
    both = [multisets([inputs[x], *(inputs[y] for y in others), *[noise] * blanket]) for x in (0, 1)]
    return {
        y: tuple(distribution.get(y, F(0)) for distribution in both) for y in both[0].keys() | both[1].keys()
    }


def delta(profile, ratio):
    return profile.delta(eps=math.log(ratio))

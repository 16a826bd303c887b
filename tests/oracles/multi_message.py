"""Multi-message protocols and their oracles: pmfs of single messages, and of multisets of them, exact."""

import math
from collections import Counter
from fractions import Fraction as F
from functools import cache
from itertools import product

from shufflelib import randomizers

NUDGE = 1e-11
RATIOS = (F(1), F(3, 2), F(9, 4), F(9, 2))


def bits(d, flip, held=None):
    """Distribution of d bits, one-hot at ``held`` (or all zero), each flipped."""
    distribution = {}
    for message in product((0, 1), repeat=d):
        chances = [1 - flip if j == held else flip for j in range(d)]
        distribution[message] = math.prod(c if b else 1 - c for b, c in zip(message, chances, strict=True))
    return distribution


def uniform(outputs):
    outputs = list(outputs)
    return {y: F(1, len(outputs)) for y in outputs}


def response(d, flip, x):
    return {y: 1 - flip if y == x else flip / (d - 1) for y in range(d)}


PROTOCOLS = {
    "biased coin": (
        randomizers.balcer_binary(coin=1 / 5),
        [{0: F(1)}, {1: F(1)}],
        {0: F(4, 5), 1: F(1, 5)},
    ),
    "fair coin": (randomizers.balcer_uniform(), [{0: F(1)}, {1: F(1)}], uniform(range(2))),
    "bins": (randomizers.balls_into_bins(d=3), [{x: F(1)} for x in range(3)], uniform(range(3))),
    "special bins": (
        randomizers.balls_into_bins(d=5, s=2),
        [uniform((2 * x, 2 * x + 1)) for x in range(2)],
        uniform(range(5)),
    ),
    "fake users": (
        randomizers.cheu_zhilyaev(d=3, flip=1 / 4),
        [bits(3, F(1, 4), x) for x in range(3)],
        bits(3, F(1, 4)),
    ),
    "two fake items": (
        randomizers.cheu_zhilyaev(d=2, flip=1 / 5),
        [bits(2, F(1, 5), x) for x in range(2)],
        bits(2, F(1, 5)),
    ),
    "mixDUMP": (
        randomizers.mix_dump(d=4, flip=1 / 3),
        [response(4, F(1, 3), x) for x in range(4)],
        uniform(range(4)),
    ),
    "pureDUMP": (randomizers.mix_dump(d=3, flip=0.0), [{x: F(1)} for x in range(3)], uniform(range(3))),
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

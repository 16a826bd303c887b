"""Laws of the loss of one report under a cover, in exact fractions, and the mean positive part of their sums.

Under a cover w, a part of every user's report law, the divergence of n shuffled reports is at most
(1/n) E(G_1 + … + G_n)₊ with G = (R_0 − ratio·R_1)/w under w and 0 with what is left
(`shufflelib.profiles.likelihood_ratios`).
"""

from fractions import Fraction


def blanket(channel):
    """Return the largest cover: the least probability of every output."""
    return [min(column) for column in zip(*channel, strict=True)]


def losses(first, second, cover, ratio):
    """Return the law of G: a dict from values to masses."""
    law = {Fraction(0): 1 - sum(cover)}
    for a, b, w in zip(first, second, cover, strict=True):
        if w:
            value = (a - ratio * b) / w
            law[value] = law.get(value, 0) + w
    return law


def mean_positive_part(law, n):
    """Return (1/n) E(sum of n)₊, every sum listed."""
    total = {Fraction(0): Fraction(1)}
    for _ in range(n):
        following = {}
        for value, mass in total.items():
            for more, chance in law.items():
                following[value + more] = following.get(value + more, 0) + mass * chance
        total = following
    return sum(mass * value for value, mass in total.items() if value > 0) / n


def covered_delta(channel, n, ratio, cover, pairs):
    """Return the bound of a cover, the largest over ordered pairs of inputs."""
    return max(mean_positive_part(losses(channel[a], channel[b], cover, ratio), n) for a, b in pairs)


def apart(law, other):
    """Return the total variation of two laws of G."""
    return sum(abs(law.get(v, 0) - other.get(v, 0)) for v in law.keys() | other.keys()) / 2


def summed(rows):
    """Return the law of pairs (value, mass), equal values added up."""
    law = {}
    for value, mass in rows:
        law[value] = law.get(value, 0) + mass
    return law

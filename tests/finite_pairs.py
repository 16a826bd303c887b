"""Finite pairs from exact fractions, and a pair that is known only through its hockey-stick curve."""

from fractions import Fraction as F

import numpy as np

from shufflelib.profiles import DiscretePair, Pair, from_pair

LOPSIDED = [(F(1, 2), F(1, 10)), (F(1, 4), F(3, 10)), (F(1, 8), F(1, 5)), (F(1, 8), F(2, 5))]
TELLING = [(F(1, 2), F(1, 20)), (F(1, 2), F(9, 10)), (F(0), F(1, 20))]
MILD = [(F(3, 5), F(2, 5)), (F(2, 5), F(3, 5))]


def discrete(masses):
    """Return the pair with masses [(P, Q), ...]."""
    p, q = (np.array([float(mass[side]) for mass in masses]) for side in (0, 1))
    with np.errstate(divide="ignore"):
        return DiscretePair(np.log(p), np.log(q))


def function(p, q):
    """Return the trade-off function of two distributions."""
    return from_pair(discrete(list(zip(p, q, strict=True))))


def distribution(rng, size):
    """Return a random distribution, some of its masses 0."""
    row = rng.integers(0, 8, size)
    row[rng.integers(0, size)] += 1
    return [F(int(x), int(row.sum())) for x in row]


class Opaque(Pair):
    """A pair known only through its hockey-stick curve, so that everything else is dotted."""

    def __init__(self, pair):
        self.pair, self.symmetric = pair, pair.symmetric

    def _log_curve(self, eps, tolerance):
        return self.pair.log_hockey_stick(eps, tolerance)

    @property
    def reversed(self):
        return self if self.symmetric else Opaque(self.pair.reversed)

    @property
    def max_privacy_loss(self):
        return self.pair.max_privacy_loss

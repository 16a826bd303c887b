"""Mixtures of a few small randomizers, and their oracles: the same in exact fractions."""

import math
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

import oracles
from shufflelib import randomizers
from shufflelib.randomizers.local_randomizer import FiniteRandomizer

LOG = math.log
RATIOS = (F(1), F(3, 2), F(2))


def direct_sum(parts, weights):
    """Rows of all combinations of inputs, in exact fractions."""
    return [
        [w * mass for w, rows, x in zip(weights, parts, held, strict=True) for mass in rows[x]]
        for held in product(*(range(len(rows)) for rows in parts))
    ]


def rr(e, d):
    return randomizers.generalized_rr(eps0=LOG(e), d=d)


def binary_levels(eps0, d):
    sizes = [2**h for h in range(1, d.bit_length())]
    levels = [randomizers.generalized_rr(eps0=eps0, d=size) for size in sizes]
    return randomizers.mixture(levels, [1 / len(sizes)] * len(sizes))


@dataclass(frozen=True)
class Crooked(FiniteRandomizer):
    """Two inputs with distributions that no exchange of the inputs maps to each other."""

    rows: tuple
    eps0: float = LOG(8)
    beta: float = 0.5

    def class_masses(self):
        return np.array(self.rows, float)

    def blanket(self):
        return self.class_masses().min(axis=0)

    sample = estimate = None


BENT = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 16), F(1, 2), F(7, 16)]]
SKEW = [[F(3, 5), F(3, 10), F(1, 10)], [F(1, 5), F(3, 10), F(1, 2)]]


class Case:
    """A mixture, its oracle, and the numbers of users at which all datasets are listed."""

    def __init__(self, parts, weights, rows, users):
        self.weights = weights
        self.mixture = randomizers.mixture(parts, [float(w) for w in weights])
        self.rows, self.users = direct_sum(rows, weights), users

    @cache  # noqa: B019
    def datasets(self, n):
        return [
            oracles.shuffled_distributions(self.rows, *pair, others)
            for pair in combinations(range(len(self.rows)), 2)
            for others in combinations_with_replacement(range(len(self.rows)), n - 1)
        ]

    @cache  # noqa: B019
    def truth(self, n, ratio):
        """The exact delta of the worst dataset and the worst pair, in both directions."""
        return max(oracles.both_ways(masses, ratio) for masses in self.datasets(n))


GRR, SUBSET = oracles.generalized_rr, oracles.subset_mechanism
CASES = {
    "2-RR, 3-RR": Case([rr(3, 2), rr(3, 3)], (F(1, 2), F(1, 2)), [GRR(3, 2), GRR(3, 3)], (1, 2, 3)),
    "3-RR twice": Case([rr(3, 3), rr(3, 3)], (F(1, 4), F(3, 4)), [GRR(3, 3), GRR(3, 3)], (1, 2)),
    "two budgets": Case([rr(9, 2), rr(2, 2)], (F(1, 3), F(2, 3)), [GRR(9, 2), GRR(2, 2)], (1, 2, 3)),
    "subset, 2-RR": Case(
        [randomizers.subset(eps0=LOG(3), d=4, k=2), rr(3, 2)],
        (F(1, 2), F(1, 2)),
        [SUBSET(3, 4, 2), GRR(3, 2)],
        (1, 2),
    ),
    "hash, 2-RR": Case(
        [randomizers.local_hash(eps0=LOG(3), d=3, l=2), rr(4, 2)],
        (F(1, 2), F(1, 2)),
        [oracles.local_hash(3, 3, 2), GRR(4, 2)],
        (1, 2),
    ),
    "crooked": Case(
        [Crooked(tuple(map(tuple, BENT))), Crooked(tuple(map(tuple, SKEW)))],
        (F(1, 2), F(1, 2)),
        [BENT, SKEW],
        (1, 2, 3),
    ),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)

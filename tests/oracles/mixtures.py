"""Mixtures of a few small randomizers, and their oracles: the same in exact fractions."""

import math
from dataclasses import dataclass
from fractions import Fraction as F
from itertools import product

import numpy as np

from claims import exact_channels, exact_shuffle
from shufflelib import randomizers
from shufflelib.randomizers.local_randomizer import FiniteRandomizer

LOG = math.log


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


def crooked(rows):
    return Crooked(tuple(map(tuple, rows)))


GRR, SUBSET = exact_shuffle.randomized_response, exact_channels.subsets
SUBSETS = randomizers.subset(eps0=LOG(3), d=4, k=2)
LOCAL_HASH = randomizers.local_hash(eps0=LOG(3), d=3, l=2)
HALVES = F(1, 2), F(1, 2)
MIXTURES = {  # components, weights, the components' rows, and the numbers of users whose datasets are listed
    "2-RR, 3-RR": ([rr(3, 2), rr(3, 3)], HALVES, [GRR(3, 2), GRR(3, 3)], (1, 2, 3)),
    "3-RR twice": ([rr(3, 3)] * 2, (F(1, 4), F(3, 4)), [GRR(3, 3)] * 2, (1, 2)),
    "two budgets": ([rr(9, 2), rr(2, 2)], (F(1, 3), F(2, 3)), [GRR(9, 2), GRR(2, 2)], (1, 2, 3)),
    "subset, 2-RR": ([SUBSETS, rr(3, 2)], HALVES, [SUBSET(3, 4, 1, 2), GRR(3, 2)], (1, 2)),
    "hash, 2-RR": ([LOCAL_HASH, rr(4, 2)], HALVES, [exact_channels.local_hash(3, 3, 2), GRR(4, 2)], (1, 2)),
    "crooked": ([crooked(BENT), crooked(SKEW)], HALVES, [BENT, SKEW], (1, 2, 3)),
}


def mixture(parts, weights):
    return randomizers.mixture(parts, [float(weight) for weight in weights])

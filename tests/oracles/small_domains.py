"""Oracles of finite randomizers: a mechanism's definition as a matrix, on a domain small enough to list.

A matrix has one row for each input and one column for each output; it shares no line with the package.  The
ledger's exact channels serve wherever the budget keeps them rational.
"""

from fractions import Fraction as F
from itertools import combinations, product
from math import exp, log, sqrt

import numpy as np
import pytest

from claims import exact_channels as channels
from claims import exact_shuffle
from shufflelib import randomizers

EPS = (0.0, 0.2, 0.7, 1.0)
E0 = log(3.0)


def sets(d, s):
    return [set(c) for c in combinations(range(d), s)]


def unary_matrix(d, held, noise, s=1):
    def distribution(item, bits):
        return np.prod(
            [p if b else 1 - p for j, b in enumerate(bits) for p in [held if j == item else noise]]
        )

    outputs = list(product((0, 1), repeat=d))
    return np.array([[np.mean([distribution(i, bits) for i in x]) for bits in outputs] for x in sets(d, s)])


def rappor_matrix(e, d, s=1):
    t = 1 / (sqrt(e) + 1)
    return unary_matrix(d, 1 - t, t, s)


def dbitflip_matrix(e, k, d):
    """An output is a set of d buckets with their bits; each bit is flipped with odds of the root of e."""
    truth = sqrt(e) / (sqrt(e) + 1)
    outputs = [(s, bits) for s in combinations(range(k), d) for bits in product((0, 1), repeat=d)]
    chance = {True: truth, False: 1 - truth}
    rows = [
        [np.prod([chance[(j == x) == b] for j, b in zip(s, bits, strict=True)]) for s, bits in outputs]
        for x in range(k)
    ]
    return np.array(rows) / len(list(combinations(range(k), d)))


def collision_matrix(e, d, s, size):
    """Average over all functions from d items to ``size`` values; an output is (function, value)."""
    omega = s * e + size - s
    rows = []
    for x in sets(d, s):
        row = []
        for h in product(range(size), repeat=d):
            image = {h[i] for i in x}
            outside = (1 - len(image) * e / omega) / (size - len(image))
            row += [(e / omega if z in image else outside) for z in range(size)]
        rows.append(row)
    return np.array(rows) / size**d


def with_mean(rows):
    """Return the corners' rows, and last the row of the cube's centre."""
    return [*rows, [sum(masses) / len(rows) for masses in zip(*rows, strict=True)]]


def duchi_matrix(e, d, tie):
    corners = np.array(list(product((-1, 1), repeat=d)))
    dot = corners @ corners.T
    return with_mean(channels.normalised(np.where(dot > 0, e, np.where(dot < 0, 1, tie)).tolist()))


def piecewise_matrix(e, inputs):
    a = sqrt(e)
    C = (a + 1) / (a - 1)
    left = (C + 1) / 2 * np.array(inputs) - (C - 1) / 2
    ends = np.unique(np.round(np.concatenate([left, left + C - 1, [-C, C]]), 12))
    middle, length = (ends[1:] + ends[:-1]) / 2, np.diff(ends)
    inside = (left[:, None] < middle) & (middle < left[:, None] + C - 1)
    return length * np.where(inside, 1.0, 1.0 / e) * (e - a) / (2 * a + 2)


CASES = {
    "binary_rr": (randomizers.binary_rr(eps0=E0), exact_shuffle.randomized_response(3, 2)),
    "generic": (randomizers.generic(eps0=E0), exact_shuffle.randomized_response(3, 2)),
    "grr2": (randomizers.generalized_rr(eps0=E0, d=2), exact_shuffle.randomized_response(3, 2)),
    "grr3": (randomizers.generalized_rr(eps0=E0, d=3), exact_shuffle.randomized_response(3, 3)),
    "grr5": (randomizers.generalized_rr(eps0=E0, d=5), exact_shuffle.randomized_response(3, 5)),
    "rappor2": (randomizers.rappor(eps0=E0, d=2), rappor_matrix(3, 2)),
    "rappor3": (randomizers.rappor(eps0=E0, d=3), rappor_matrix(3, 3)),
    "rappor5": (randomizers.rappor(eps0=E0, d=5), rappor_matrix(3, 5)),
    "oue2": (randomizers.optimized_unary(eps0=E0, d=2), unary_matrix(2, 0.5, 0.25)),
    "oue5": (randomizers.optimized_unary(eps0=E0, d=5), unary_matrix(5, 0.5, 0.25)),
    "dbitflip2": (randomizers.dbitflip(eps0=E0, k=2, d=1), dbitflip_matrix(3, 2, 1)),
    "dbitflip3": (randomizers.dbitflip(eps0=E0, k=3, d=1), dbitflip_matrix(3, 3, 1)),
    "dbitflip4": (randomizers.dbitflip(eps0=E0, k=4, d=2), dbitflip_matrix(3, 4, 2)),
    "dbitflip5": (randomizers.dbitflip(eps0=E0, k=5, d=4), dbitflip_matrix(3, 5, 4)),
    "subset2": (randomizers.subset(eps0=E0, d=2), channels.subsets(3, 2, 1, 1)),
    "subset5": (randomizers.subset(eps0=E0, d=5, k=2), channels.subsets(3, 5, 1, 2)),
    "subset5_k4": (randomizers.subset(eps0=E0, d=5, k=4), channels.subsets(3, 5, 1, 4)),
    "privset6": (randomizers.subset_exponential(eps0=E0, d=6, s=2, k=2), channels.subsets(3, 6, 2, 2)),
    "privset7": (randomizers.subset_exponential(eps0=E0, d=7, s=2, k=5), channels.subsets(3, 7, 2, 5)),
    "privset5": (randomizers.subset_exponential(eps0=E0, d=5, s=2, k=3), channels.subsets(3, 5, 2, 3)),
    "pckv3": (randomizers.pckv_grr(eps0=E0, d=3, s=2), channels.key_values(3, 3, 2)),
    "pckv2": (randomizers.pckv_grr(eps0=E0, d=2, s=2), channels.key_values(3, 2, 2)),
    "pckv4": (randomizers.pckv_grr(eps0=E0, d=4, s=1), channels.key_values(3, 4, 1)),
    "hadamard2": (randomizers.hadamard(eps0=E0, d=2), channels.hadamard(3, 2)),
    "hadamard3": (randomizers.hadamard(eps0=E0, d=3), channels.hadamard(3, 3)),
    "hadamard4": (randomizers.hadamard(eps0=E0, d=4), channels.hadamard(3, 4)),
    "hadamard9": (randomizers.hadamard(eps0=E0, d=9), channels.hadamard(3, 9)),
    "blocks3": (randomizers.hadamard_blocks(eps0=E0, K=12, s=2, B=3), channels.hadamard(3, 9, blocks=3)),
    "blocks2": (randomizers.hadamard_blocks(eps0=E0, K=8, s=2, B=2), channels.hadamard(3, 6, blocks=2)),
    "blocks4": (randomizers.hadamard_blocks(eps0=E0, K=8, s=1, B=4), channels.hadamard(3, 4, blocks=4)),
    "sampled_rappor4": (randomizers.sampled_rappor(eps0=E0, d=4, s=2), rappor_matrix(3, 4, 2)),
    "sampled_rappor6": (randomizers.sampled_rappor(eps0=E0, d=6, s=2), rappor_matrix(3, 6, 2)),
    "sampled_rappor7": (randomizers.sampled_rappor(eps0=E0, d=7, s=2), rappor_matrix(3, 7, 2)),
    "sampled_rappor1": (randomizers.sampled_rappor(eps0=E0, d=3, s=1), rappor_matrix(3, 3)),
    "duchi1": (randomizers.duchi(eps0=E0), duchi_matrix(3, 1, 2)),
    "duchi2": (randomizers.duchi(eps0=E0, d=2), duchi_matrix(3, 2, 2)),
    "duchi3": (randomizers.duchi(eps0=E0, d=3), duchi_matrix(3, 3, 2)),
    "duchi4": (randomizers.duchi(eps0=E0, d=4), duchi_matrix(3, 4, 2)),
    "harmony1": (randomizers.harmony(eps0=E0), with_mean(channels.one_coordinate(3, 1))),
    "harmony2": (randomizers.harmony(eps0=E0, d=2), with_mean(channels.one_coordinate(3, 2))),
    "piecewise": (randomizers.piecewise(eps0=E0), piecewise_matrix(3, [-1, -0.7, -0.2, 0, 0.2, 0.5, 1])),
    "piecewise_wide": (randomizers.piecewise(eps0=2.0), piecewise_matrix(exp(2.0), [-1, -0.7, 0, 0.3, 1])),
    "local_hash2": (randomizers.local_hash(eps0=E0, d=2), collision_matrix(3, 2, 1, 4)),
    "local_hash3": (randomizers.local_hash(eps0=E0, d=3, l=2), collision_matrix(3, 3, 1, 2)),
    "local_hash4": (randomizers.local_hash(eps0=E0, d=4, l=3), collision_matrix(3, 4, 1, 3)),
    "wheel1": (randomizers.wheel(eps0=E0, d=4, s=1, arc=1 / 3), collision_matrix(3, 4, 1, 3)),
    "collision1": (randomizers.collision(eps0=E0, d=4, s=1, l=3), collision_matrix(3, 4, 1, 3)),
    "collision4": (randomizers.collision(eps0=E0, d=4, s=2, l=4), collision_matrix(3, 4, 2, 4)),
    "collision6": (randomizers.collision(eps0=E0, d=6, s=2, l=3), collision_matrix(3, 6, 2, 3)),
    "privkv4": (randomizers.privkv(eps0=E0 + log(2), d=4, s=2, eps1=E0), channels.priv_kv(3, 2, 4, 2)),
    "privkv6": (randomizers.privkv(eps0=2 * E0, d=6, s=2), channels.priv_kv(3, 3, 6, 2)),
    "privkv3": (randomizers.privkv(eps0=2 * E0, d=3, s=2), channels.priv_kv(3, 3, 3, 2)),
    "privkv2": (randomizers.privkv(eps0=2 * E0, d=2, s=2), channels.priv_kv(3, 3, 2, 2)),
    "privkv_signs": (
        randomizers.privkv(eps0=log(15), d=4, s=2, eps1=log(1.5)), channels.priv_kv(F(3, 2), 10, 4, 2)
    ),
}  # fmt: skip
FINITE = {name: (mechanism, np.array(rows, float)) for name, (mechanism, rows) in CASES.items()}
FINITE_CASES = [pytest.param(*case, id=name) for name, case in FINITE.items()]


def hockey(first, second, eps):
    return np.maximum(first - exp(eps) * second, 0.0).sum()


def of_distribution(ratios, eps, threshold):
    value = ratios.w * np.maximum(ratios.r0_over_w - exp(eps) * ratios.r1_over_w - threshold, 0.0)
    return value.sum() + ratios.r0_outside


def thresholds(e):
    return (-0.9 * e, -1.0, -0.3, 0.0, 0.4, 1.0, 0.6 * e)

"""Oracles of finite randomizers: a mechanism's definition as a matrix, on a domain small enough to list.

A matrix has one row for each input and one column for each output; it shares no line with the package.
"""

from itertools import combinations, product
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix

from shufflelib import randomizers

EPS = (0.0, 0.2, 0.7, 1.0)
E0 = log(3.0)


def normalised(weights):
    weights = np.array(weights, float)
    return weights / weights.sum(axis=1, keepdims=True)


def sets(d, s):
    return [set(c) for c in combinations(range(d), s)]


def response_matrix(e, d):
    return normalised([[e if y == x else 1 for y in range(d)] for x in range(d)])


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


def subset_matrix(e, d, s, k):
    return normalised([[e if x & z else 1 for z in sets(d, k)] for x in sets(d, s)])


def pairs_held(d, s):
    return [
        tuple(zip(c, v, strict=True)) for c in combinations(range(d), s) for v in product((-1, 1), repeat=s)
    ]


def pckv_matrix(e, d, s):
    big = s * (e - 1) + 1  # randomized response's odds once one of s pairs is sampled
    options = list(product(range(d), (-1, 1)))
    return np.array(
        [[sum((big if o == pair else 1) for pair in x) / s / (big + 2 * d - 1) for o in options]
         for x in pairs_held(d, s)]
    )  # fmt: skip


def privkv_matrix(e1, e2, d, s):
    def distribution(v, out):
        keep, sign = e1 / (e1 + 1), e2 / (e2 + 1)
        if v is None:
            return keep if out == 0 else (1 - keep) / 2
        return 1 - keep if out == 0 else keep * (sign if out == v else 1 - sign)

    return np.array(
        [
            [distribution(dict(x).get(key), out) / d for key in range(d) for out in (1, -1, 0)]
            for x in pairs_held(d, s)
        ]
    )


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


def hadamard_rows(e, d):
    order = 2
    while order <= d:
        order *= 2
    signs = hadamard_matrix(order)[1 : d + 1]
    return normalised(np.where(signs > 0, e, 1.0))


def hadamard_block_rows(e, K, B):
    signs = hadamard_matrix(K // B)
    rows = []
    for block in range(B):
        for row in signs[1:]:
            weights = np.ones((B, K // B))
            weights[block] = np.where(row > 0, e, 1.0)
            rows.append(weights.ravel())
    return normalised(rows)


def duchi_matrix(e, d, tie):
    corners = np.array(list(product((-1, 1), repeat=d)))
    dot = corners @ corners.T
    rows = normalised(np.where(dot > 0, e, np.where(dot < 0, 1.0, tie)))
    return np.vstack([rows, rows.mean(axis=0)])


def harmony_matrix(e, d):
    points = [*product((-1, 1), repeat=d), (0,) * d]
    return np.array(
        [[(0.5 + v * x[j] * (e - 1) / (2 * (e + 1))) / d for j in range(d) for v in (1, -1)] for x in points]
    )


def piecewise_matrix(e, inputs):
    a = sqrt(e)
    C = (a + 1) / (a - 1)
    left = (C + 1) / 2 * np.array(inputs) - (C - 1) / 2
    ends = np.unique(np.round(np.concatenate([left, left + C - 1, [-C, C]]), 12))
    middle, length = (ends[1:] + ends[:-1]) / 2, np.diff(ends)
    inside = (left[:, None] < middle) & (middle < left[:, None] + C - 1)
    return length * np.where(inside, 1.0, 1.0 / e) * (e - a) / (2 * a + 2)


FINITE = {
    "binary_rr": (randomizers.binary_rr(eps0=E0), response_matrix(3, 2)),
    "generic": (randomizers.generic(eps0=E0), response_matrix(3, 2)),
    "grr2": (randomizers.generalized_rr(eps0=E0, d=2), response_matrix(3, 2)),
    "grr3": (randomizers.generalized_rr(eps0=E0, d=3), response_matrix(3, 3)),
    "grr5": (randomizers.generalized_rr(eps0=E0, d=5), response_matrix(3, 5)),
    "rappor2": (randomizers.rappor(eps0=E0, d=2), rappor_matrix(3, 2)),
    "rappor3": (randomizers.rappor(eps0=E0, d=3), rappor_matrix(3, 3)),
    "rappor5": (randomizers.rappor(eps0=E0, d=5), rappor_matrix(3, 5)),
    "oue2": (randomizers.optimized_unary(eps0=E0, d=2), unary_matrix(2, 0.5, 0.25)),
    "oue5": (randomizers.optimized_unary(eps0=E0, d=5), unary_matrix(5, 0.5, 0.25)),
    "subset2": (randomizers.subset(eps0=E0, d=2), subset_matrix(3, 2, 1, 1)),
    "subset5": (randomizers.subset(eps0=E0, d=5), subset_matrix(3, 5, 1, 2)),
    "subset5_k4": (randomizers.subset(eps0=E0, d=5, k=4), subset_matrix(3, 5, 1, 4)),
    "privset6": (randomizers.subset_exponential(eps0=E0, d=6, s=2, k=2), subset_matrix(3, 6, 2, 2)),
    "privset7": (randomizers.subset_exponential(eps0=E0, d=7, s=2, k=5), subset_matrix(3, 7, 2, 5)),
    "privset5": (randomizers.subset_exponential(eps0=E0, d=5, s=2, k=3), subset_matrix(3, 5, 2, 3)),
    "pckv3": (randomizers.pckv_grr(eps0=E0, d=3, s=2), pckv_matrix(3, 3, 2)),
    "pckv2": (randomizers.pckv_grr(eps0=E0, d=2, s=2), pckv_matrix(3, 2, 2)),
    "pckv4": (randomizers.pckv_grr(eps0=E0, d=4, s=1), pckv_matrix(3, 4, 1)),
    "hadamard2": (randomizers.hadamard(eps0=E0, d=2), hadamard_rows(3, 2)),
    "hadamard3": (randomizers.hadamard(eps0=E0, d=3), hadamard_rows(3, 3)),
    "hadamard4": (randomizers.hadamard(eps0=E0, d=4), hadamard_rows(3, 4)),
    "hadamard9": (randomizers.hadamard(eps0=E0, d=9), hadamard_rows(3, 9)),
    "blocks3": (randomizers.hadamard_blocks(eps0=E0, K=12, s=2, B=3), hadamard_block_rows(3, 12, 3)),
    "blocks2": (randomizers.hadamard_blocks(eps0=E0, K=8, s=2, B=2), hadamard_block_rows(3, 8, 2)),
    "blocks4": (randomizers.hadamard_blocks(eps0=E0, K=8, s=1, B=4), hadamard_block_rows(3, 8, 4)),
    "sampled_rappor4": (randomizers.sampled_rappor(eps0=E0, d=4, s=2), rappor_matrix(3, 4, 2)),
    "sampled_rappor6": (randomizers.sampled_rappor(eps0=E0, d=6, s=2), rappor_matrix(3, 6, 2)),
    "sampled_rappor7": (randomizers.sampled_rappor(eps0=E0, d=7, s=2), rappor_matrix(3, 7, 2)),
    "sampled_rappor1": (randomizers.sampled_rappor(eps0=E0, d=3, s=1), rappor_matrix(3, 3)),
    "duchi1": (randomizers.duchi(eps0=E0), duchi_matrix(3, 1, 2)),
    "duchi2": (randomizers.duchi(eps0=E0, d=2), duchi_matrix(3, 2, 2)),
    "duchi3": (randomizers.duchi(eps0=E0, d=3), duchi_matrix(3, 3, 2)),
    "duchi4": (randomizers.duchi(eps0=E0, d=4), duchi_matrix(3, 4, 2)),
    "harmony1": (randomizers.harmony(eps0=E0), harmony_matrix(3, 1)),
    "harmony2": (randomizers.harmony(eps0=E0, d=2), harmony_matrix(3, 2)),
    "piecewise": (randomizers.piecewise(eps0=E0), piecewise_matrix(3, [-1, -0.7, -0.2, 0, 0.2, 0.5, 1])),
    "piecewise_wide": (randomizers.piecewise(eps0=2.0), piecewise_matrix(exp(2.0), [-1, -0.7, 0, 0.3, 1])),
    "local_hash2": (randomizers.local_hash(eps0=E0, d=2), collision_matrix(3, 2, 1, 4)),
    "local_hash3": (randomizers.local_hash(eps0=E0, d=3, l=2), collision_matrix(3, 3, 1, 2)),
    "local_hash4": (randomizers.local_hash(eps0=E0, d=4, l=3), collision_matrix(3, 4, 1, 3)),
    "wheel1": (randomizers.wheel(eps0=E0, d=4, s=1, arc=1 / 3), collision_matrix(3, 4, 1, 3)),
    "collision1": (randomizers.collision(eps0=E0, d=4, s=1, l=3), collision_matrix(3, 4, 1, 3)),
    "collision4": (randomizers.collision(eps0=E0, d=4, s=2, l=4), collision_matrix(3, 4, 2, 4)),
    "collision6": (randomizers.collision(eps0=E0, d=6, s=2, l=3), collision_matrix(3, 6, 2, 3)),
    "privkv4": (randomizers.privkv(eps0=E0 + log(2), d=4, s=2, eps1=E0), privkv_matrix(3, 2, 4, 2)),
    "privkv6": (randomizers.privkv(eps0=2 * E0, d=6, s=2), privkv_matrix(3, 3, 6, 2)),
    "privkv3": (randomizers.privkv(eps0=2 * E0, d=3, s=2), privkv_matrix(3, 3, 3, 2)),
    "privkv2": (randomizers.privkv(eps0=2 * E0, d=2, s=2), privkv_matrix(3, 3, 2, 2)),
    "privkv_signs": (randomizers.privkv(eps0=log(15), d=4, s=2, eps1=log(1.5)), privkv_matrix(1.5, 10, 4, 2)),
}  # fmt: skip
FINITE_CASES = [pytest.param(*case, id=name) for name, case in FINITE.items()]


def hockey(first, second, eps):
    return np.maximum(first - exp(eps) * second, 0.0).sum()


def of_distribution(ratios, eps, threshold):
    value = ratios.w * np.maximum(ratios.r0_over_w - exp(eps) * ratios.r1_over_w - threshold, 0.0)
    return value.sum() + ratios.r0_outside


def thresholds(e):
    return (-0.9 * e, -1.0, -0.3, 0.0, 0.4, 1.0, 0.6 * e)

"""Best tests, processing, and symmetrisation: appendix A of Wang, Su, Ye, Shokri, Su 2023."""

import itertools
import random
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from claims.claim import Check, Finding, Verdict, smaller_if
from claims.exact_tests import (
    above,
    always,
    convex_hull,
    corners,
    false_negatives,
    is_lower_bound,
    mixed,
    random_distribution,
    random_share,
)

HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)


def _neyman_pearson(effort):
    p, q = [HALF, HALF, ZERO], [Fraction(1, 4), Fraction(1, 4), HALF]
    curve = corners(p, q)
    tie = [ONE, ZERO, ONE]
    level, errs = (sum(x * y for x, y in zip(t, m, strict=True)) for t, m in ((tie, p), (tie, q)))
    rng, optimal = random.Random(effort.seed), True
    for _ in range(effort.points):
        a, b = random_distribution(rng), random_distribution(rng)
        t, c = Fraction(rng.randint(1, 20), rng.randint(1, 20)), random_share(rng)
        test = [1 if x < t * y else c if x == t * y else 0 for x, y in zip(a, b, strict=True)]
        spent = sum(x * y for x, y in zip(test, a, strict=True))
        missed = 1 - sum(x * y for x, y in zip(test, b, strict=True))
        optimal &= missed == false_negatives(corners(a, b), spent)
    steps = (
        "P = (1/2, 1/2, 0), Q = (1/4, 1/4, 1/2)",
        "if: with t = 0 and c = 0 the form gives the test that never rejects, at level 0;",
        f"rejecting the third output, level 0 too, has false negatives {false_negatives(curve, ZERO)}, not 1",
        "only if: the test (1, 0, 1) is constant neither on the first two outputs, where p/q = 2, nor 0 or "
        "1 there;",
        f"level {level}, false negatives {1 - errs}, the least possible {false_negatives(curve, level)}",
        f"{effort.points} random distributions with 0 < t < infinity: every test of the form is "
        f"optimal: {optimal}",
    )
    fails = false_negatives(curve, ZERO) < 1 and 1 - errs == false_negatives(curve, level)
    evidence = (
        "every test of the form with 0 < t < infinity is optimal; t = 0 with c < 1 need not be, and optimal "
        "tests may differ from the form among outputs of equal ratio"
    )
    return smaller_if(fails and optimal, evidence, steps)


def processable(first, second):
    """Return by linear programming how far the nearest processing of one pair is from another pair."""
    rows, cols = len(first[0]), len(second[0])
    size = rows * cols
    equal, target = np.zeros((2 * cols + rows, size + 4 * cols)), np.ones(2 * cols + rows)
    for side in range(2):
        for z in range(cols):
            k = side * cols + z
            equal[k, [y * cols + z for y in range(rows)]] = [float(x) for x in first[side]]
            equal[k, size + 2 * k], equal[k, size + 2 * k + 1] = 1.0, -1.0
            target[k] = float(second[side][z])
    for y in range(rows):
        equal[2 * cols + y, y * cols : (y + 1) * cols] = 1.0
    cost = np.concatenate([np.zeros(size), np.ones(4 * cols)])
    return linprog(cost, A_eq=equal, b_eq=target, method="highs").fun


def _resolved(rng):
    """Return a distribution without rare outputs, which a linear program does not resolve."""
    while True:
        drawn = random_distribution(rng, 3)
        if min(mass for mass in drawn if mass) > Fraction(1, 100):
            return drawn


def _blackwell(effort):
    rng, met = random.Random(effort.seed), [0, 0]
    for case in range(min(2 * effort.points, 160)):
        first = [_resolved(rng) for _ in range(2)]
        if case % 2:
            rows = [_resolved(rng) for _ in range(3)]
            second = [mixed(distribution, rows) for distribution in first]
        else:
            second = [_resolved(rng) for _ in range(2)]
        ordered, near = above(corners(*second), corners(*first)), processable(first, second) < 1e-7
        met[ordered] += 1
        if ordered != near:
            return Finding(Verdict.REFUTED, f"{first} and {second}: order {ordered}, processing {near}")
    evidence = f"{sum(met)} pairs, order in fractions, processing by linear programming: {met[1]} have both"
    return Finding(Verdict.HOLDS, f"{evidence}, {met[0]} neither; Blackwell's theorem")


def _dual(rng):
    p = random_distribution(rng)
    f = corners(p, p[::-1])
    p, q = random_distribution(rng), random_distribution(rng)
    if rng.random() < 0.5:
        q = mixed((HALF, HALF), (p, q))
    truths = corners(p, q), corners(q, p)
    return all(above(truth, f) for truth in truths) == is_lower_bound(f, *truths)


def _bend(f):
    """Return m and f(m), m the first level from which on the slope is -1 or flatter."""
    return next((a for a, b in itertools.pairwise(f) if b[0] - a[0] >= a[1] - b[1]), f[-1])


def _inverse(f):
    """Return the corners of the inverse of f, T of the two distributions exchanged."""
    return [(y, x) for x, y in reversed(f)]


def _symmetrisation(effort):
    """Compare the middle of min(f, inverse of f)** with m + f(m) − x, the convex hull from corners."""
    rng, met = random.Random(effort.seed), 0
    for _ in range(4 * effort.points):
        f = corners(random_distribution(rng), random_distribution(rng))
        bend, value = _bend(f)
        if bend > value:
            continue
        met += 1
        hull = convex_hull(f + _inverse(f))
        for x in (bend, (2 * bend + value) / 3, value):
            if false_negatives(hull, x) != bend + value - x:
                return Finding(Verdict.REFUTED, f"with a plus sign: f = {f}")
    evidence = (
        f"with a plus sign it is right in {met} exact cases; with the minus sign of the text at hand it is "
        "at most 0, "
        "but the text is an extraction and the sign may be its own"
    )
    return Finding(Verdict.NOT_DECIDED, evidence)


LOPSIDED = [Fraction(1, 4), HALF, Fraction(1, 4)], [Fraction(3, 4), Fraction(1, 4), ZERO]
TWO_OUTPUTS = [HALF, HALF], [ONE, ZERO]


def _unchanged_left(effort):
    """Compare the symmetrised function left of m with f, which it is where f is below its inverse there."""
    rng, met, agree = random.Random(effort.seed), 0, True
    for _ in range(4 * effort.points):
        f = corners(random_distribution(rng), random_distribution(rng))
        bend, value = _bend(f)
        if bend <= value:
            met += 1
            back, hull = _inverse(f), convex_hull(f + _inverse(f))
            left = [x for x, _ in (*f, *back) if x <= bend]
            below = all(false_negatives(f, x) <= false_negatives(back, x) for x in left)
            agree &= below == all(false_negatives(hull, x) == false_negatives(f, x) for x in left)
    f, g, at, then = corners(*LOPSIDED), corners(*TWO_OUTPUTS), Fraction(1, 8), Fraction(2, 5)
    first, second = false_negatives(f, at), false_negatives(convex_hull(f + _inverse(f)), at)
    third, fourth = false_negatives(g, then), false_negatives(_inverse(g), then)
    steps = (
        "P = (1, 2, 1)/4, Q = (3, 1, 0)/4: f joins (0, 1), (1/4, 1/4), (3/4, 0); m = f(m) = 1/4",
        f"at {at}: f is {first}; the inverse of f joins (0, 3/4), (1/4, 1/4), min(f, inverse)** is {second}",
        "P = (1, 1)/2, Q = (1, 0): f joins (0, 1), (1/2, 0); m = 1/2 > f(m) = 0",
        f"at {then}: f is {third}, its inverse {fourth}, and C(f) the larger of both",
        f"{met} random functions with m <= f(m): C(f) = f up to m exactly where f <= its inverse: {agree}",
    )
    fails = second < first and fourth > third
    evidence = (
        f"so where f is below its inverse up to m, as if f is symmetric; else not: {second} < f = {first}"
    )
    return smaller_if(fails and agree, evidence, steps)


CHECKS = {
    "wsys23-lemma-a.1": Check(_neyman_pearson),
    "wsys23-lemma-a.2": Check(_blackwell),
    "wsys23-lemma-a.3": always(_dual),
    "wsys23-equation-3": Check(_symmetrisation),
    "wsys23-symmetrisation": Check(_unchanged_left),
}

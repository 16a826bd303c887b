"""When joint concavity holds with equality: appendix F of Wang, Su, Ye, Shokri, Su 2023."""

import math
from fractions import Fraction

from claims.claim import Check, holds_if, refuted_if
from claims.exact_losses import summed
from claims.exact_tests import (
    POSITIVE,
    above,
    always,
    beside,
    corners,
    divergence,
    false_negatives,
    least_false_negatives,
    mixed,
    random_distribution,
    random_mixture,
    random_share,
)
from claims.failure_curve import Along, within
from claims.wsys23.best_tests import processable

HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)
ODDS = [Fraction(k, 4) for k in (4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40)]


def _flip(odds):
    """Return randomized response's distribution at its first input."""
    return [odds / (odds + 1), 1 / (odds + 1)]


FLIP = _flip(Fraction(2))


def _curves(weights, p, q):
    """Return T of the mixtures, and T of the parts with their index."""
    return corners(mixed(weights, p), mixed(weights, q)), corners(beside(weights, p), beside(weights, q))


def _tight(weights, p, q):
    return above(*_curves(weights, p, q)[::-1])


def _weighted(values, masses):
    """Return the distribution of values under masses, as a dict."""
    return summed((value, mass) for value, mass in zip(values, masses, strict=True) if mass)


def _ratios(p, q):
    return [a / b if b else math.inf for a, b in zip(p, q, strict=True)]


def _ratio_of_the_part(weights, p, q):
    """Return whether p_w/q_w under P_w has the distribution of p_I/q_I under P_I, the part drawn."""
    one = _weighted(_ratios(mixed(weights, p), mixed(weights, q)), mixed(weights, p))
    return one == _weighted([r for a, b in zip(p, q, strict=True) for r in _ratios(a, b)], beside(weights, p))


def _drawn(rng, weights=POSITIVE):
    """Return two parts, half the time such that equality holds."""
    shares, p, q = random_mixture(rng, 2)
    kind = rng.randrange(4)
    if kind == 0:  # supports apart
        p, q = (
            [distribution[:2] + [ZERO] * 2, [ZERO] * 2 + distribution[2:]]
            for distribution in (random_distribution(rng), random_distribution(rng))
        )
        p, q = (
            [
                [x / sum(distribution) if sum(distribution) else ZERO for x in distribution]
                for distribution in part
            ]
            for part in (p, q)
        )
        return shares, p, q
    p, q = ([random_distribution(rng, weights=weights) for _ in shares] for _ in range(2))
    return (shares, [p[0]] * 2, [q[0]] * 2) if kind == 1 else (shares, p, q)


def _criterion(rng):
    weights, p, q = _drawn(rng)
    if any(sum(distribution) != 1 for distribution in (*p, *q)):
        return True
    return _tight(weights, p, q) == _ratio_of_the_part(weights, p, q)


def _sum_of_ratios(weights, p, q):
    """Return whether p_w/q_w and Σ w_i p_i/q_i agree in distribution under P_w, full supports."""
    total = [
        sum(w * r for w, r in zip(weights, column, strict=True))
        for column in zip(*(_ratios(a, b) for a, b in zip(p, q, strict=True)), strict=True)
    ]
    whole = mixed(weights, p)
    return _weighted(_ratios(whole, mixed(weights, q)), whole) == _weighted(total, whole)


APART = (
    [[*FLIP, ZERO, ZERO], [ZERO, ZERO, Fraction(1, 4), Fraction(3, 4)]],
    [[*FLIP[::-1], ZERO, ZERO], [ZERO, ZERO, Fraction(3, 4), Fraction(1, 4)]],
)


def _one_alternative(flip):
    """Return two nulls, the first of them the alternative of both."""
    return [flip[::-1], flip], [flip[::-1]] * 2


ONE_ALTERNATIVE = _one_alternative(FLIP)


def _printed_criterion(effort):
    weights, at = (HALF, HALF), Fraction(1, 3)
    whole, indexed = _curves(weights, *ONE_ALTERNATIVE)
    met = _sum_of_ratios(weights, *ONE_ALTERNATIVE)
    gap = false_negatives(whole, at) - false_negatives(indexed, at)
    apart = _tight(weights, *APART)
    steps = (
        "P_1 = Q_1 = Q_2 = (1, 2)/3, P_2 = (2, 1)/3, w = 1/2: with one alternative q the sum is p_w/q,",
        f"the same variable as the left-hand side; the condition is met: {met}",
        f"at 1/3: mixtures {false_negatives(whole, at)}, parts with index {false_negatives(indexed, at)}: "
        "no equality",
        "Example F.2 the other way: P_1 = (2, 1, 0, 0)/3, Q_1 = (1, 2, 0, 0)/3, P_2 = (0, 0, 1, 3)/4,",
        f"Q_2 = (0, 0, 3, 1)/4: equality is {apart}, and 0/0 would have to be 2 and 1/2 for the condition",
    )
    evidence = (
        "with Q_1 = Q_2 the condition is met by all distributions; here mixtures and parts differ "
        f"by {gap} at 1/3"
    )
    return refuted_if(met and gap and apart, evidence, steps)


def _criterion_by_programming():
    (p, q), at = ONE_ALTERNATIVE, Fraction(1, 3)
    whole, indexed = (
        least_false_negatives(combined((HALF, HALF), p), combined((HALF, HALF), q), at)
        for combined in (mixed, beside)
    )
    steps = (
        f"by linear programming: mixtures {whole:.6f}, parts with index {indexed:.6f} at false positives 1/3",
    )
    return refuted_if(whole > indexed + 1e-6, "by linear programming", steps)


def _tight_by_odds(odds):
    """Return the false negatives of mixtures and of parts at 1/3; the printed condition says they agree."""
    curves = _curves((HALF, HALF), *_one_alternative(_flip(odds)))
    return [false_negatives(curve, Fraction(1, 3)) for curve in curves]


def _mirrored(flip):
    """Return two parts whose mixtures are both uniform at equal weights."""
    return [flip, flip[::-1]], [flip[::-1], flip]


LOST = _mirrored(FLIP)


def _not_tight(effort):
    whole, indexed = _curves((HALF, HALF), *LOST)
    at = Fraction(1, 3)
    gap = false_negatives(whole, at) - false_negatives(indexed, at)
    steps = ("P_1 = Q_2 = (2, 1)/3, Q_1 = P_2 = (1, 2)/3, w = 1/2: both mixtures are uniform",)
    steps += (
        f"at 1/3: mixtures {false_negatives(whole, at)}, parts with index {false_negatives(indexed, at)}",
    )
    evidence = f"randomized response with e^eps0 = 2 mixed with its mirror image: a gap of {gap} at 1/3"
    return holds_if(gap, evidence, steps)


def _order(effort):
    whole, indexed = _curves((HALF, HALF), *LOST)
    higher = above(whole, indexed)
    steps = (
        "P_1 = Q_2 = (2, 1)/3, Q_1 = P_2 = (1, 2)/3, w = 1/2: P_w = Q_w, so T(P_w, Q_w) = Id",
        f"T(P_w, Q_w) >= T(P_I, Q_I): {higher}",
        "any processing of P_w = Q_w gives equal distributions;",
        f"T(P_I, Q_I)(1/3) = {false_negatives(indexed, FLIP[1])} < 2/3, these are not equal",
    )
    fails = higher and false_negatives(indexed, FLIP[1]) < Fraction(2, 3)
    evidence = (
        "P_w = Q_w has the higher function, and equal distributions cannot be processed into unequal ones"
    )
    return refuted_if(fails, evidence, steps)


def _order_by_programming():
    weights = (HALF, HALF)
    whole = [mixed(weights, part) for part in LOST]
    indexed = [beside(weights, part) for part in LOST]
    forth, back = processable(whole, indexed), processable(indexed, whole)
    steps = (
        f"nearest processing, by linear programming: mixture to parts {forth:.3g} away, parts to mixture "
        f"{back:.3g}",
    )
    return refuted_if(forth > 0.1 > 1e-7 > back, "by programming", steps)


def _order_by_odds(odds):
    """P_w = Q_w is one distribution: its distances from P_I and Q_I add up to that between these."""
    p, q = (beside((HALF, HALF), part) for part in _mirrored(_flip(odds)))
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)), 0


def _perfected(p, q, x):
    """Return the distribution of log q/p − E under Q up to log x, E exponential."""
    return sum((ONE if b <= x * a else x * a / b) * b for a, b in zip(p, q, strict=True) if b)


def _equation_12(rng):
    first, second = ([random_distribution(rng), random_distribution(rng)] for _ in range(2))
    if rng.random() < 0.5:
        rows = [random_distribution(rng) for _ in range(4)]
        second = [mixed(distribution, rows) for distribution in first]
    curves = corners(*first), corners(*second)
    slopes = {r for p, q in (first, second) for a, b in zip(p, q, strict=True) if a for r in [b / a]}
    at = [x for x in slopes | {random_share(rng), 1 / random_share(rng)} if x]
    # the integral of F_0(v) e^-v from -log x: each output of P counts from log p/q on
    integral = all(
        _perfected(p, q, x) == sum(a * min(x, b / a) for a, b in zip(p, q, strict=True) if a)
        for p, q in (first, second)
        for x in at
    )
    dual = all(_perfected(*first, x) == 1 - divergence(first[1], first[0], x) for x in at)
    order = all(_perfected(*second, x) >= _perfected(*first, x) for x in at)
    return integral and dual and order == above(curves[1], curves[0])


def _disjoint(rng):
    """Example F.1: all four distributions on sets of their own."""
    weights, distribution = random_distribution(rng, 2), random_distribution(rng, 2, POSITIVE)
    p = [[*distribution, *[ZERO] * 6], [ZERO, ZERO, *distribution, *[ZERO] * 4]]
    return _tight(weights, p, [part[::-1] for part in p])


def _axes(rng):
    """Example F.2: the first pair on one axis, the second on another."""
    weights = random_distribution(rng, 2)
    p, q = ([random_distribution(rng) + [ZERO] * 4, [ZERO] * 4 + random_distribution(rng)] for _ in range(2))
    return _tight(weights, p, q)


CHECKS = {
    "wsys23-proposition-6.1": always(_criterion),
    "wsys23-proposition-6.1-condition": Check(
        _printed_criterion, _criterion_by_programming, Along(ODDS, _tight_by_odds, within(1e-6))
    ),
    "wsys23-appendix-f.1-order": Check(_order, _order_by_programming, Along(ODDS, _order_by_odds)),
    "wsys23-equation-12": always(_equation_12),
    "wsys23-lemma-3.1-not-tight": Check(_not_tight),
    "wsys23-example-f.1": always(_disjoint),
    "wsys23-example-f.2": always(_axes),
}

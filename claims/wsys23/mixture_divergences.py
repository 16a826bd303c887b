"""Divergences of mixtures by joint concavity: appendix B.3 of Wang, Su, Ye, Shokri, Su 2023."""

import math
import random
from fractions import Fraction

from claims.claim import Check, holds_if, refuted_if
from claims.exact_tests import (
    always,
    beside,
    chained_divergence,
    corners,
    divergence,
    mixed,
    power_sum,
    random_distribution,
    random_mixture,
    random_share,
)
from claims.failure_curve import Along, within

POSITIVE = (1, 2, 3, 5, 9)


def _advanced_convexity(rng):
    p0, p1, q1 = (random_distribution(rng) for _ in range(3))
    w, gamma = random_share(rng), 1 + Fraction(rng.randint(0, 40), 8)
    more = 1 + w * (gamma - 1)
    eta = more / gamma
    left = divergence(mixed((1 - w, w), (p0, p1)), mixed((1 - w, w), (p0, q1)), more)
    return left == w * divergence(p1, mixed((1 - eta, eta), (p0, q1)), gamma)


def _kinks(rng):
    """Return a convex F with F(1) arbitrary: Σ c |s − a|, its limit at 0 and its slope at infinity."""
    terms = [(Fraction(rng.randint(1, 5)), Fraction(rng.randint(0, 12), 4)) for _ in range(3)]
    return (
        lambda s: sum(c * abs(s - a) for c, a in terms),
        sum(c * a for c, a in terms),
        sum(c for c, _ in terms),
    )


def _f_divergence(p, q, f, at_zero, slope):
    """Return D_F(P‖Q) from its definition."""
    pairs = list(zip(p, q, strict=True))
    return sum(b * f(a / b) if b and a else b * at_zero + a * slope for a, b in pairs)


def _average_divergence(rng):
    weights, p, q = random_mixture(rng, rng.randint(2, 3))
    f = _kinks(rng)
    parts = sum(w * _f_divergence(a, b, *f) for w, a, b in zip(weights, p, q, strict=True))
    indexed = _f_divergence(beside(weights, p), beside(weights, q), *f)
    return _f_divergence(mixed(weights, p), mixed(weights, q), *f) <= indexed == parts


def _functional(rng):
    p, q = random_distribution(rng), random_distribution(rng)
    f = _kinks(rng)
    return chained_divergence(corners(p, q), *f) == _f_divergence(p, q, *f)


def _chi_squared(rare, at_zero):
    """Return D_F((1, 0)‖(1 − x, x)) for F(s) = s(s − 1), F(0) as given: x/(1 − x) if it is 0."""
    return _f_divergence([1, 0], [1 - rare, rare], lambda s: s * (s - 1), at_zero, 0)


def _at_zero(effort):
    points = [10.0**-k for k in (2, 4, 8)]
    half = Fraction(1, 2)
    steps = (
        "Kullback-Leibler: F(s) = s log s, P = (1, 0), Q = (1/2, 1/2), D = log 2 = 0.693147",
        "F(0) Q(p = 0) is half of F(0); the limit of F(s) is 0, that of F(s)/s:",
        *(f"F({s:g})/{s:g} = {math.log(s):.6g}" for s in points),
        "so the printed formula gives minus infinity; for (s - 1)^2 it gives plus infinity where D = 1",
        f"for F(s) = s(s - 1), chi squared too, F(s)/s tends to -1: {_chi_squared(half, -1)}, where D = "
        f"{_chi_squared(half, 0)}",
    )
    printed = [0.5 * math.log(2) * 2 + 0.5 * math.log(s) for s in points]
    falls = printed[-1] < printed[0] < 0 < math.log(2)
    return refuted_if(
        falls,
        "for Kullback-Leibler, P = (1, 0) and Q = (1/2, 1/2) it gives minus infinity, not log 2",
        steps,
    )


def _at_zero_by_smoothing():
    value = [
        sum(a * math.log(a / b) for a, b in zip((1 - s, s), (0.5, 0.5), strict=True))
        for s in (1e-3, 1e-6, 1e-12)
    ]
    steps = ("P = (1 - s, s) for s = 1e-3, 1e-6, 1e-12: D = " + ", ".join(f"{v:.6f}" for v in value),)
    converges = abs(value[-1] - math.log(2)) < 1e-9
    return refuted_if(converges, "as the limit of full supports", steps)


def _hockey_stick(rng):
    weights, p, q = random_mixture(rng, rng.randint(2, 3))
    gamma = 1 + Fraction(rng.randint(0, 32), 8)
    parts = sum(w * divergence(a, b, gamma) for w, a, b in zip(weights, p, q, strict=True))
    return divergence(mixed(weights, p), mixed(weights, q), gamma) <= parts


def _renyi(rng):
    weights, order = random_distribution(rng, 2), rng.randint(1, 6)
    p, q = ([random_distribution(rng, weights=POSITIVE) for _ in weights] for _ in range(2))
    parts = 0
    for w, a, b in zip(weights, p, q, strict=True):
        moment = power_sum(a, b, order)
        if chained_divergence(corners(a, b), lambda s: s**order, 0, 0) != moment:
            return False
        parts += w * moment
    return power_sum(mixed(weights, p), mixed(weights, q), order) <= parts


def _length(effort):
    rng, worst = random.Random(effort.seed), 0.0
    for _ in range(effort.points):
        p, q = random_distribution(rng), random_distribution(rng, weights=POSITIVE)
        curve = [(float(x), float(y)) for x, y in corners(q, p)]  # q nowhere 0: f(0) = 1
        length = sum(math.dist(a, b) for a, b in zip(curve, curve[1:], strict=False))
        worst = max(worst, abs(length - sum(math.hypot(a, b) for a, b in zip(p, q, strict=True))))
    p, q = [0.25, 0.75, 0.0], [0.0, 0.75, 0.25]
    printed = math.hypot(0.75, 0.75) + 0.25
    divergence = sum(map(math.hypot, p, q))
    steps = (
        f"{effort.points} random functions with f(0) = 1: both agree to {max(worst, 1e-15):.1g}",
        "P = (1/4, 3/4, 0), Q = (0, 3/4, 1/4): f falls from f(0) = 3/4 to 0 at 3/4",
        f"integral of sqrt(1 + f'^2) over [0, 1]: sqrt(2) 3/4 + 1/4 = {printed:.6f}",
        f"the F-divergence with F(y) = sqrt(1 + y^2), F(0) = 1: {divergence:.6f}, more by 1 - f(0) = 1/4",
    )
    ok = worst < 1e-12 and abs(divergence - printed - 0.25) < 1e-12
    evidence = (
        f"the two integrands are one; {effort.points} random functions with f(0) = 1 have a length equal to "
        "their divergence, and where f(0) < 1 the divergence counts 1 - f(0) too"
    )
    return holds_if(ok, evidence, steps)


CHECKS = {
    "wsys23-lemma-a.4": always(_advanced_convexity),
    "wsys23-proposition-3.3": always(_average_divergence),
    "wsys23-lemma-b.4": always(_functional),
    "wsys23-f-at-zero": Check(
        _at_zero,
        _at_zero_by_smoothing,
        Along(
            [Fraction(k, 20) for k in range(1, 19)],
            lambda share: (_chi_squared(share, 0), _chi_squared(share, -1)),
            within(1e-6),
        ),
    ),
    "wsys23-corollary-b.5": always(_hockey_stick),
    "wsys23-corollary-b.6": always(_renyi),
    "wsys23-proposition-b.7": Check(_length),
}

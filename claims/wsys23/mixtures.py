"""Trade-off functions of mixtures: appendices B.1 and B.2 of Wang, Su, Ye, Shokri, Su 2023.

Only the appendix is at hand; statements of the main text are taken from their proofs there.
"""

import math
from fractions import Fraction

import numpy as np
from scipy.special import ndtr, ndtri

from claims.claim import Check, refuted_if
from claims.exact_tests import (
    above,
    always,
    beside,
    best_split,
    close,
    corners,
    mixed,
    random_distribution,
    random_mixture,
    share_of_bound,
    too_high,
)
from claims.failure_curve import Along, within

HALF, ZERO = Fraction(1, 2), Fraction(0)


def _joint_concavity(rng):
    weights, p, q = random_mixture(rng, rng.randint(2, 3))
    indexed = corners(beside(weights, p), beside(weights, q))
    return above(corners(mixed(weights, p), mixed(weights, q)), indexed)


def _unequal_weights(rng):
    """Proposition B.1 along a common slope, any number of parts: equals paired first, the rest in order."""
    count = rng.randint(2, 3)
    weights, p, q = random_mixture(rng, count)
    other = random_distribution(rng, count)
    kept = [min(pair) for pair in zip(weights, other, strict=True)]
    couples = [(kept[i], i, i) for i in range(count)]
    left = [[i, w - k] for i, (w, k) in enumerate(zip(weights, kept, strict=True)) if w > k]
    wanted = [[i, w - k] for i, (w, k) in enumerate(zip(other, kept, strict=True)) if w > k]
    while left and wanted:
        moved = min(left[0][1], wanted[0][1])
        couples.append((moved, left[0][0], wanted[0][0]))
        for side in (left, wanted):
            side[0][1] -= moved
            if not side[0][1]:
                side.pop(0)
    shares = [c for c, _, _ in couples]
    bound = corners(
        beside(shares, [p[i] for _, i, _ in couples]), beside(shares, [q[j] for _, _, j in couples])
    )
    return above(corners(mixed(weights, p), mixed(other, q)), bound)


def _sum_of_functions(x):
    """Return Id/2 + 0/2, Proposition B.1 with its sum taken at each level."""
    return (1 - x) / 2


def _symmetric(rng):
    weights = random_distribution(rng, 3)
    distributions = [random_distribution(rng) for _ in weights]
    p, q = (
        beside(weights, distributions),
        beside(weights, [distribution[::-1] for distribution in distributions]),
    )
    return all(above(corners(*a), corners(*b)) for a, b in (((p, q), (q, p)), ((q, p), (p, q))))


def _common_slope(parts):
    """Return the check that equal slopes are the best way to share false positives between two parts.

    ``parts(rng)`` returns two (function, level at which its slope is −t).
    """

    def case(rng):
        (f, f_level), (g, g_level) = parts(rng)
        w, t = rng.uniform(0.1, 0.9), math.exp(rng.uniform(-2.0, 2.0))
        a, b = f_level(t), g_level(t)
        alpha, beta = w * a + (1 - w) * b, w * f(a) + (1 - w) * g(b)
        return close(best_split(f, g, w, alpha), beta, 1e-7)

    return share_of_bound(case, 1, most=64)


def _gaussians(rng):
    def part(mu):
        return lambda a: ndtr(-ndtri(a) - mu), lambda t: ndtr(-math.log(t) / mu - mu / 2)

    return part(rng.uniform(0.2, 2.0)), part(rng.uniform(0.2, 2.0))


def _exponentials(rng):
    """P = Exp(1) against Q = Exp(r), r < 1: f(a) = 1 − a^r."""

    def part(r):
        return lambda a: 1.0 - max(a, 0.0) ** r, lambda t: min(1.0, (t / r) ** (1.0 / (r - 1.0)))

    return part(rng.uniform(0.1, 0.9)), part(rng.uniform(0.1, 0.9))


def _density_at_one(slope, h):
    """Return Q(|q/p − 1| < h)/(2h) for p = 1 on [0, 1], q = 1 + slope (x − 1/2): h/slope around 1/2."""
    return (2 * h / slope) / (2 * h)


def _density_of_ratio(effort):
    flat = [(h, _density_at_one(Fraction(1, 10), h)) for h in (Fraction(1, 100), Fraction(1, 10**6))]
    cubic = [(h, (float(h) / 4) ** (1 / 3) / float(h)) for h in (Fraction(1, 100), Fraction(1, 10**6))]
    steps = (
        "p = 1 on [0, 1]; q = 1 + (x - 1/2)/10, so q/p is strictly monotone and x_1 = 1/2",
        "printed: the integral of delta(1 - q/p) q is q(x_1) = 1, and never above 1",
        *(f"Q(|q/p - 1| < {h})/(2 {h}) = {value}" for h, value in flat),
        "q = 1 + 4 (x - 1/2)^3, strictly monotone too: the integral at t = 1 is infinite, (6) fails:",
        *(f"Q(|q/p - 1| < {h})/(2 {h}) = {value:.6g}" for h, value in cubic),
    )
    refuted = flat[-1][1] == 10 and cubic[-1][1] > 10 * cubic[0][1]
    evidence = (
        "q/p = 1 + (x - 1/2)/10 against the uniform distribution: the integral at t = 1 is 10, printed 1"
    )
    return refuted_if(refuted, evidence, steps)


def _density_by_sampling():
    rng, draws, h = np.random.default_rng(7), 400_000, 0.01
    x = rng.random(4 * draws)
    x = x[rng.random(x.size) * 1.05 < 1 + (x - 0.5) / 10][:draws]  # by rejection, from q
    share = np.mean(np.abs((x - 0.5) / 10) < h)
    density, error = share / (2 * h), math.sqrt(share * (1 - share) / x.size) / (2 * h)
    steps = (f"{x.size} draws from q: Q(|q/p - 1| < {h})/(2 {h}) = {density:.4g} +- {5 * error:.2g}",)
    return refuted_if(density - 5 * error > 1, "by sampling", steps)


SLOPES = [Fraction(k, 10) for k in (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20)]

CHECKS = {
    "wsys23-lemma-3.1": always(_joint_concavity),
    "wsys23-proposition-b.1": too_high([HALF, HALF, ZERO], [HALF, ZERO, HALF], HALF, _sum_of_functions),
    "wsys23-proposition-b.1-slopes": always(_unequal_weights),
    "wsys23-proposition-3.2": always(_symmetric),
    "wsys23-proposition-b.2": _common_slope(_gaussians),
    "wsys23-corollary-b.3": _common_slope(_exponentials),
    "wsys23-proposition-b.2-condition": Check(
        _density_of_ratio,
        _density_by_sampling,
        Along(SLOPES, lambda slope: (_density_at_one(slope, Fraction(1, 100)), 1), within(1e-6)),
    ),
}

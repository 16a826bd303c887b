"""Facts about trade-off functions on which the papers of Chen, Cao and Ge rest, mostly in exact fractions."""

import itertools
import math
from fractions import Fraction

from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from claims import exact_shuffle
from claims.claim import Check, Finding, Verdict
from claims.exact_tests import (
    LEVELS,
    above,
    always,
    chained_divergence,
    close,
    corners,
    false_negatives,
    four_symbols,
    largest_delta,
    mixed,
    power_sum,
    random_distribution,
    share_of_bound,
    tensor,
)


def _approximate(e, delta):
    """Return f_{eps,delta} as a function of the false positives, e = e^eps."""
    return lambda alpha: max(0, 1 - delta - e * alpha, (1 - delta - alpha) / e)


def _revealed(delta):
    """Return the pair on A, nothing, B: with probability delta the output identifies the distribution."""
    return [delta, 1 - delta, Fraction(0)], [Fraction(0), 1 - delta, delta]


def _product(first, second):
    """Return the corners of T for two independent outputs, each given by its pair of distributions."""
    return corners(*itertools.starmap(tensor, zip(first, second, strict=True)))


def _equals(curve, f):
    return all(false_negatives(curve, x) == f(x) for x in LEVELS)


def _guarantee(rng):
    """Return the corners of two random pmfs, e^eps and their delta, the larger of both directions."""
    p, q = random_distribution(rng), random_distribution(rng)
    e = Fraction(rng.randint(4, 20), 4)
    return corners(p, q), e, max(largest_delta(corners(p, q), e), largest_delta(corners(q, p), e))


def _approximate_is_f(rng):
    curve, e, delta = _guarantee(rng)
    f = _approximate(e, delta)
    touched = any(y == f(x) for x, y in curve)
    return touched and all(false_negatives(curve, x) >= f(x) for x in (*LEVELS, *(x for x, _ in curve)))


def _four_symbols_dominate(rng):
    curve, e, delta = _guarantee(rng)
    return above(curve, corners(*four_symbols(e, delta)))


def _tensor(rng):
    e, delta, more = (Fraction(rng.randint(*ends), 20) for ends in ((25, 100), (0, 9), (0, 9)))
    pure = _approximate(e, 0)
    return (
        _equals(_product(four_symbols(e, 0), _revealed(more)), _approximate(e, more))
        and all(
            _approximate(e, more)(x) == ((1 - more) * pure(x / (1 - more)) if x < 1 - more else 0)
            for x in LEVELS
        )
        and _equals(
            _product(_revealed(delta), _revealed(more)), _approximate(1, 1 - (1 - delta) * (1 - more))
        )
        and _product_with_failure(random_distribution(rng), random_distribution(rng), more)
    )


def _product_with_failure(p, q, delta):
    f, whole = corners(p, q), _product((p, q), _revealed(delta))
    scaled = (((1 - delta) * false_negatives(f, min(x / (1 - delta), Fraction(1))), x) for x in LEVELS)
    return all(false_negatives(whole, x) == y for y, x in scaled)


def _power_integral(rng):
    p, q = (random_distribution(rng, weights=(1, 2, 3, 5, 9)) for _ in range(2))
    order = rng.randint(2, 5)
    total = chained_divergence(corners(p, q), lambda s: s**order, 0, 0)
    merged = [(sum(distribution[:2]), sum(distribution[2:])) for distribution in (p, q)]  # a post-processing
    return total == power_sum(p, q, order) >= power_sum(*merged, order)


def _chain(rng):
    """T(P, R) >= g(1 - f) for f = T(P, Q), g = T(Q, R)."""
    p, q, r = (random_distribution(rng) for _ in range(3))
    f, g, whole = corners(p, q), corners(q, r), corners(p, r)
    return all(false_negatives(whole, x) >= false_negatives(g, 1 - false_negatives(f, x)) for x in LEVELS)


def _both_errors(rng):
    p, q = random_distribution(rng), random_distribution(rng)
    variation = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    return min(x + y for x, y in corners(p, q)) == 1 - variation


def _processed(rng):
    p, q = random_distribution(rng), random_distribution(rng)
    rows = [random_distribution(rng, 3) for _ in p]
    return above(corners(mixed(p, rows), mixed(q, rows)), corners(p, q))


def _ratio_is_a_over_b(rng):
    n, e = rng.randint(2, 6), Fraction(rng.randint(3, 20), 2)
    other = [1 / (2 * e), 1 / (2 * e), 1 - 1 / e]
    p, q = (exact_shuffle.shuffled([[1, 0, 0], [0, 1, 0], other], (x,) + (2,) * (n - 1)) for x in (1, 0))
    return all(q.get((a, b, c), 0) * b == p.get((a, b, c), 0) * a for a, b, c in p.keys() | q.keys())


def _shift(rng):
    """(mu1 - mu0)' Sigma^-1 (mu1 - mu0) = 4/sum p_i, also with all p_i equal; Sigma^-1 as printed."""
    chances = [Fraction(rng.randint(1, 19), 20) for _ in range(rng.randint(1, 6))]
    if rng.random() < 0.5:
        chances = [chances[0]] * len(chances)
    v1, v2 = sum(chances), sum(p * p for p in chances)
    if v1 == v2:
        return True
    diagonal, off = v1 / 2 - v2 / 4, -v2 / 4
    inverse, beside = (2 * v1 - v2) / (v1 * v1 - v1 * v2), v2 / (v1 * v1 - v1 * v2)
    identity = (diagonal * inverse + off * beside, diagonal * beside + off * inverse)
    return identity == (1, 0) and 2 * inverse - 2 * beside == 4 / v1


def _counts_have_moments(rng):
    """Mean and covariance of the multinomial distribution by enumeration."""
    n, p = rng.randint(2, 6), Fraction(rng.randint(1, 19), 20)
    distribution = exact_shuffle.shuffled([[p / 2, p / 2, 1 - p]], (0,) * (n - 1))
    mean = [sum(m * k[i] for k, m in distribution.items()) for i in range(3)]
    cov = [
        [sum(m * k[i] * k[j] for k, m in distribution.items()) - mean[i] * mean[j] for j in range(3)]
        for i in range(3)
    ]
    half, side = p / 2 * (1 - p / 2), -p * (1 - p) / 2
    printed = [[half, -p * p / 4, side], [-p * p / 4, half, side], [side, side, p * (1 - p)]]
    return mean == [(n - 1) * x for x in (p / 2, p / 2, 1 - p)] and cov == [
        [(n - 1) * x for x in r] for r in printed
    ]


def _unrandomised(effort):
    curve, alpha = corners([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]), Fraction(1, 8)
    threshold, best = min(y for x, y in curve if x <= alpha), false_negatives(curve, alpha)
    steps = (
        "P = (3/4, 1/4), Q = (1/4, 3/4), level alpha = 1/8",
        f"reject above a threshold, false positives at most 1/8: false negatives {threshold}",
        f"reject the second output with probability 1/2: false positives 1/8, false negatives {best}",
        "at the levels that thresholds attain, 0, 1/4 and 1, both agree",
    )
    attained = all(false_negatives(curve, x) == y for x, y in curve)
    verdict = Verdict.SMALLER if attained and best < threshold else Verdict.HOLDS
    evidence = f"optimal at the levels attained by thresholds, else not: {best} < {threshold}"
    return Finding(verdict, evidence, steps)


def _gaussian(rng):
    """Return the largest of four differences between printed formulas and quadrature."""
    mu, more, eps, order = itertools.starmap(rng.uniform, ((0.1, 2.0), (0.1, 2.0), (0.0, 2.0), (1.1, 6.0)))
    printed = ndtr(-eps / mu + mu / 2) - math.exp(eps) * ndtr(-eps / mu - mu / 2)
    level = ndtr(-eps / mu - mu / 2)  # where G has slope −e^ε
    conjugate = 1 - math.exp(eps) * level - ndtr(-ndtri(level) - mu)

    def power(x):
        return math.exp(-0.5 * (x - mu) ** 2 * order - 0.5 * x * x * (1 - order))

    divergence = math.log(quad(power, -30, 40, limit=400)[0] / math.sqrt(2 * math.pi)) / (order - 1)
    both = math.hypot(mu, more)
    threshold = -both * ndtri(0.3)  # of mu X + more Y, false positives 0.3

    def accepted(x):
        """Return the density of the first noise times the chance to accept, shifts present."""
        return math.exp(-0.5 * x * x) * ndtr((threshold - both**2 - mu * x) / more)

    missed = quad(accepted, -12, 12, limit=400)[0] / math.sqrt(2 * math.pi)
    group = ndtr(-ndtri(1 - ndtr(-ndtri(0.3) - mu)) - mu)  # G(1 − G): groups of two
    gaps = (
        printed - conjugate,
        divergence - order * mu * mu / 2,
        ndtr(-ndtri(0.3) - both) - missed,
        ndtr(-ndtri(0.3) - 2 * mu) - group,
    )
    return close(max(map(abs, gaps)), 0.0, 1e-6)


CHECKS = {
    "ccg24-lemma-likelihood": always(_ratio_is_a_over_b),
    "ccg24-lemma-neyman-pearson": Check(_unrandomised),
    "ccg24-fact-approximate": always(_approximate_is_f),
    "ccg24-fact-tensor": always(_tensor),
    "ccg24-fact-gaussian": share_of_bound(_gaussian, 1, most=32),
    "ccg24-lemma-a1": always(_power_integral),
    "ccg24-lemma-shift": always(_shift),
    "ccg24-lemma-moments": always(_counts_have_moments),
    "ccg24-fact-processing": always(_processed),
    "gspa24-equation-4": always(_both_errors),
    "gspa24-fact-4": always(_chain),
    "gspa24-lemma-4": always(_four_symbols_dominate),
}

"""Personal budgets: a normal distribution in place of the two counts, and its distance from them."""

import functools
import math
from fractions import Fraction

import numpy as np

from claims.claim import Check, Finding, Verdict, holds_if, refuted_if
from claims.exact_tests import always
from claims.failure_curve import Along, within
from shufflelib.published import personalized, renyi


@functools.cache
def _distances(n):
    return personalized.normal_approximation_gspa24(eps0=0.5, n=n)


CROWDS = (110, 130, 160, 200, 250, 320)


def _points_against_density(effort):
    found = _distances(120)
    steps = (
        "the counts are whole numbers with probability 1, the normal distribution gives whole numbers "
        "probability 0",
        "so the total variation distance is 1 for every m, above C/sqrt(m) for m > C^2",
        f"rounded to cells, eps0 = 1/2, n = 120: {found.total_variation:.4g}, that is "
        f"{found.total_variation * 120**0.5:.3g}/sqrt(n)",
    )
    return Finding(
        Verdict.REFUTED,
        "the distance of a distribution on points to a distribution with a density is 1",
        steps,
    )


def _points_by_sampling():
    draws = np.random.default_rng(7).normal(20.0, 4.0, size=(100_000, 2))
    hits = int(np.all(draws == np.round(draws), axis=1).sum())
    steps = (
        f"{hits} of 100000 draws of the normal distribution are pairs of whole numbers, where all "
        "draws of the "
        "counts are",
    )
    return refuted_if(hits < 100, "sampling", steps)


def _plain_distance(n, eps0=0.5):
    """Return half the sum, and the largest, of the differences between counts and a midpoint Gaussian."""
    q, m = 1 / (1 + math.exp(eps0)), n - 1
    k = np.arange(m + 1)
    a, b = np.meshgrid(k, k, indexing="ij")
    rest = np.maximum(m - a - b, 0)
    lgamma = np.array([math.lgamma(x + 1.0) for x in range(m + 1)])
    mass = np.exp(
        lgamma[m] - lgamma[a] - lgamma[b] - lgamma[rest] + (a + b) * math.log(q) + rest * math.log1p(-2 * q)
    )
    mass = np.where(a + b <= m, mass, 0.0)
    wide, narrow = 2 * m * q, 2 * m * q * (1 - 2 * q)
    x, y = a - m * q, b - m * q
    normal = np.exp(-0.5 * ((x - y) ** 2 / wide + (x + y) ** 2 / narrow)) / (
        math.pi * math.sqrt(wide * narrow)
    )
    return 0.5 * float(np.abs(mass - normal).sum()), float(mass.max())


def _single_cells(effort):
    found = _distances(150)
    steps = (
        f"eps0 = 1/2, n = 150: equation (14) is {found.printed:.5g}, with whole cells "
        f"{found.largest_cell:.3g}",
        f"half the sum over cells, the total variation distance: {found.total_variation:.5g}",
    )
    refuted = found.total_variation > 2 * found.printed
    evidence = (
        f"equation (14) gives {found.printed:.3g} where the distance is {found.total_variation:.3g} (n = 150)"
    )
    return refuted_if(refuted, evidence, steps)


def _single_cells_again():
    distance, peak = _plain_distance(150)
    steps = (
        f"midpoint rule: distance {distance:.4g}; no difference of cells exceeds the largest mass, "
        f"{peak:.4g}",
    )
    return refuted_if(distance > 2 * peak, "a midpoint rule", steps)


def _cells_of(n):
    """Return the total variation to the rounded normal distribution at ε₀ = 1/2, and equation (14)."""
    found = _distances(n)
    return found.total_variation, found.printed


def _rate(effort):
    small, large = _distances(120), _distances(480)
    distance, printed_ratio = small.total_variation / large.total_variation, small.printed / large.printed
    steps = (
        f"eps0 = 1/2, n = 120 and 480: total variation {small.total_variation:.5g}, "
        f"{large.total_variation:.5g}",
        f"ratio {distance:.4g} = sqrt(4), the rate 1/sqrt(n); equation (14): ratio {printed_ratio:.4g}, the "
        "rate 1/n",
    )
    evidence = f"four times the users divide the distance by {distance:.3g}"
    return refuted_if(distance < 2.5, evidence, steps)


def _rate_again():
    (small, _), (large, _) = _plain_distance(120), _plain_distance(480)
    steps = (f"midpoint rule: {small:.5g}, {large:.5g}, ratio {small / large:.4g}",)
    return refuted_if(small / large < 2.5, "a midpoint rule", steps)


def _one_over_n(n):
    """Return the same distance, and what it would be if it fell as 1/n from the first number of users on."""
    first = CROWDS[0]
    return _distances(n).total_variation, _distances(first).total_variation * first / n


def _normal_pair(rng):
    """Compare the squared distance of the two Gaussians in their common covariance with 4/(sum p_i)."""
    shares = [Fraction(rng.randint(1, 20), 20) for _ in range(rng.randint(1, 5))] + [Fraction(1, 3)]
    a = sum(p / 2 * (1 - p / 2) for p in shares)
    b = -sum(p * p / 4 for p in shares)
    return 2 * (a + b) / (a * a - b * b) == 4 / sum(shares)


def _with_slack(effort):
    """Compare the pair's δ with δ_μ and the distance of the normal distribution, for equal budgets."""
    most, sizes = 0.0, (120, 240)
    slacks = []
    for n in sizes:
        slack = personalized.normal_approximation_gspa24(eps0=0.5, n=n).total_variation
        slacks.append(slack * math.sqrt(n - 1))
        pair = renyi.generic_pair(eps0=0.5, n=n)
        for eps in (0.0, 0.1, 0.3):
            bound = personalized.gaussian_delta_with_slack_gspa24(eps0=np.full(n, 0.5), eps=eps, slack=slack)
            most = max(most, pair.delta(eps).upper / bound)
    evidence = (
        f"eps_i = 1/2, n = {sizes[0]} and {sizes[1]}: C = {slacks[0]:.3g} and {slacks[1]:.3g}; the pair's "
        "delta is at "
    )
    evidence += (
        f"most {most:.3g} of what follows; with the rounded normal distribution the proof stands "
        "for bounded budgets"
    )
    return holds_if(most <= 1.0, evidence)


CHECKS = {
    "gspa24-lemma-2": Check(
        _points_against_density,
        _points_by_sampling,
        Along(np.geomspace(10.0, 1e6, 16), lambda m: (1.0, min(10.0 / np.sqrt(m), 1.0))),
    ),
    "gspa24-lemma-3": always(_normal_pair),
    "gspa24-equation-14": Check(_single_cells, _single_cells_again, Along(CROWDS, _cells_of, within(0.1))),
    "gspa24-rate": Check(_rate, _rate_again, Along(CROWDS, _one_over_n)),
    "gspa24-theorem-2": Check(_with_slack),
}

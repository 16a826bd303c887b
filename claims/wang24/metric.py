"""Metric randomizers in the variation-ratio paper: Table 2, and the reduction applied to it."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import k1

from claims.claim import Check, holds_if
from claims.counterexample_search import (
    COARSE,
    confirming,
    halved,
    linear,
    logarithmic,
    never_fails_in,
    whole,
)
from claims.exact_count_pair import (
    SCORE,
    both_ways,
    counts_channel,
    counts_delta,
    counts_pair,
    pair_below_mechanism,
    witness,
)
from claims.exact_tests import share_of_bound
from claims.failure_curve import Along
from shufflelib import randomizers
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios


def _quadrature(difference, printed_beta):
    """Return the check that a printed total variation is the integral of a density's positive difference."""

    def check(effort):
        distances = np.geomspace(1e-2, 12.0, effort.points)
        worst_error = max(abs(printed_beta(d) / difference(d) - 1.0) for d in distances)
        evidence = (
            f"{effort.points} distances from 0.01 to 12: relative difference from quadrature at most "
            f"{worst_error:.1e}"
        )
        return holds_if(worst_error < 1e-7, f"{evidence}; p and q follow from the triangle inequality")

    return check


def _laplace_difference(d):
    def positive(y):
        return 0.5 * (math.exp(-abs(y)) - math.exp(-abs(y - d)))

    return quad(positive, -60.0, 0.0, epsrel=1e-11)[0] + quad(positive, 0.0, d / 2.0, epsrel=1e-11)[0]


def _planar_printed(d):
    # the inner integral of e^{-sqrt(u² + y²)} over y is 2 u K1(u)
    return 2.0 * quad(lambda u: 2.0 * u * k1(u) / (2.0 * math.pi), 0.0, d / 2.0, epsabs=0.0, epsrel=1e-10)[0]


def _planar_difference(d):
    """Return the total variation of planar Laplace noise: the closed form of the strip between the places."""
    return randomizers.planar_laplace(d01=d, dmax=d).beta


M, BRIM, SCALE = 2.0, 6.0, 3.0  # m, B and F


def witch_hat_density(z, x):
    """Return the released density: e^(-2|z - x|/F)/N up to the distance mF/2 from x, e^-m/N beyond."""
    total = SCALE * -math.expm1(-M) + 2.0 * BRIM * math.exp(-M)
    inside = np.abs(z) <= BRIM + M * SCALE / 2.0
    return np.where(inside, np.exp(-np.minimum(2.0 * np.abs(z - x) / SCALE, M)) / total, 0.0)


def _witch_hat_beta(factor, u):
    return factor * (math.exp(M) - math.exp(M - u) - u) / (SCALE * math.expm1(M) + 2.0 * BRIM)


def _witch_hat_printed(d):
    return _witch_hat_beta(2.0, M - d / SCALE)


def witch_hat_variation(d):
    """Return the total variation of two hats a distance d apart, in closed form."""
    return _witch_hat_beta(SCALE, min(d / SCALE, M))


def _witch_hat():
    """Return the total variation at d01 = 4.5 from the released density, and the printed β."""
    d = 4.5
    edge = np.linspace(-BRIM - M * SCALE / 2.0, BRIM + M * SCALE / 2.0, 180_001)
    middle = 0.5 * (edge[1:] + edge[:-1])
    gap = np.maximum(witch_hat_density(middle, -d / 2.0) - witch_hat_density(middle, d / 2.0), 0.0)
    mended = _witch_hat_beta(2.0, d / SCALE)
    return float(gap.sum() * (edge[1] - edge[0])), _witch_hat_printed(d), {"mended": mended}


def _witch_hat_in_closed_form():
    first, at_zero, at_end = map(_witch_hat_printed, (4.5, 0.0, M * SCALE))
    return witch_hat_variation(4.5), first, {"at_zero": at_zero, "at_end": at_end}


def _laplace_by_hand(ratio=Fraction(7, 2)):
    channel = [[Fraction(x, 8) for x in row] for row in ((4, 3, 1), (1, 3, 4))]
    return both_ways(channel, 1, 0, (1,), ratio), counts_delta(2, ratio, p=4, beta=Fraction(1, 2), q0=4)


class MetricPair(NamedTuple):
    """Two places, and how far other users may be away from either."""

    d01: float
    dmax: float


def _coarsened_laplace(places, *, n, eps):
    """Return the log of δ when reports are coarsened to "left of both places", "between", "right of both".

    Coarsening never raises δ; all others are at 0, at d01 or as far away as they may be.
    """

    def cells(x):
        left, right = (
            0.5 * math.exp(-distance) if distance >= 0.0 else 1.0 - 0.5 * math.exp(distance)
            for distance in (x, places.d01 - x)
        )
        return [left, 1.0 - left - right, right]

    first, second = cells(0.0), cells(places.d01)
    distributions = (LikelihoodRatios.from_masses(first, second, cells(x)) for x in (0.0, *places))
    return max(BlanketPair(distribution, n).log_worst(eps, COARSE).lower for distribution in distributions)


def _laplace_of_five(ratio):
    """Return δ at e^ε = ``ratio`` that five users attain, e^d01 = e^dmax = 4, and the pair's."""
    n, eps, places = 5, math.log(ratio), MetricPair(math.log(4.0), math.log(4.0))
    claimed = counts_pair(n, 4.0, 0.5, 4.0).log_worst(eps, COARSE).upper
    return math.exp(_coarsened_laplace(places, n=n, eps=eps)), math.exp(claimed)


def _metric(beta, build, users, **attack):
    return halved(
        pair_below_mechanism(
            lambda d01, beyond: build(d01=d01, dmax=min(d01 * beyond, 100.0)),
            lambda one: (math.exp(one.d01), beta(one.d01), math.exp(one.dmax)),
            **attack,
            d01=logarithmic(0.1, 8.0),
            beyond=logarithmic(1.0, 10.0),
            n=users,
            z=SCORE,
        )
    )


def _clone_probability(d01, x, y):
    places = np.array([0.0, d01, x, y])
    near, far = np.abs(places), np.abs(places - d01)
    ours = math.exp(max(near.max(), far.max())) * (1.0 + math.exp(-d01))
    theirs = float(np.max(np.exp(near) + np.exp(far)))
    return math.log(ours / theirs) - 1e-12


def _dependence(rng):
    """Variance of the pair's loss under the others' pmf at ε = 0 in exact fractions: n of these decide."""
    p = 1 + Fraction(rng.randint(1, 60), 12)
    q, beta = p + Fraction(rng.randint(0, 60), 12), Fraction(rng.randint(1, 12), 12) * (p - 1) / (p + 1)
    first, second, others = counts_channel(p, beta, q)
    parts = zip(first, second, others, strict=True)
    variance = sum((a - b) ** 2 / w for a, b, w in parts if a != b)
    if variance != 2 * beta * (1 - 1 / p) * q or variance > 2 * (q + q / p):
        return f"p = {p}, beta = {beta}, q = {q}: variance {variance}"
    return 1


CHECKS = {
    "wang24-table2-general": Check(
        _metric(lambda d: math.tanh(d / 2.0), randomizers.metric_generic, whole(2, 10**6))
    ),
    "wang24-table2-laplace": Check(_quadrature(_laplace_difference, lambda d: -math.expm1(-d / 2.0))),
    "wang24-table2-planar-laplace": Check(_quadrature(_planar_difference, _planar_printed)),
    "wang24-table2-witch-hat": Check(
        witness(_witch_hat, "beta"),
        witness(_witch_hat_in_closed_form, "beta"),
        Along(np.linspace(0.25, M * SCALE, 16), lambda d: (witch_hat_variation(d), _witch_hat_printed(d))),
    ),
    "wang24-metric-bound": Check(
        witness(_laplace_by_hand),
        confirming(
            _metric(lambda d: -math.expm1(-d / 2.0), MetricPair, whole(2, 50), attained=_coarsened_laplace)
        ),
        Along(np.linspace(1.2, 3.9, 13), _laplace_of_five),
    ),
    "wang24-metric-clones": never_fails_in(
        _clone_probability, d01=logarithmic(1e-2, 10.0), x=linear(-10.0, 20.0), y=linear(-10.0, 20.0)
    ),
    "wang24-metric-dependence": share_of_bound(_dependence, 1),
}

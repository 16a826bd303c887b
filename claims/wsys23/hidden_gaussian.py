"""What advanced joint concavity gains over the plain one: appendix F.3 of Wang, Su, Ye, Shokri, Su 2023."""

import random
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from claims.claim import Check, holds_if
from claims.exact_tests import above, always, beside, best_split, blended, corners, mixed, random_distribution


def _printed_f3(alpha, mu, w):
    steep, flat = (1 - w) * ndtr(-mu / 2), 1 - (1 - w) * ndtr(mu / 2)
    if alpha > flat:
        return (1 - w) * ndtr(ndtri((1 - alpha) / (1 - w)) - mu)
    if alpha < steep:
        return w + (1 - w) * ndtr(ndtri(1 - alpha / (1 - w)) - mu)
    return steep + w + (1 - w) * ndtr(-mu / 2) - alpha


def _settings(effort):
    rng = random.Random(effort.seed)
    more = [(rng.uniform(0.2, 3.0), rng.uniform(0.05, 0.95)) for _ in range(min(effort.points // 4, 24))]
    return [(1.0, 1 / 3), *more]


def _closed_form(effort):
    worst = 0.0
    for mu, w in _settings(effort):
        for alpha in np.linspace(0.02, 0.98, 13):
            best = best_split(lambda x, mu=mu: ndtr(-ndtri(x) - mu), lambda y: 1 - y, 1 - w, alpha)
            worst = max(worst, abs(best - _printed_f3(alpha, mu, w)))
    evidence = (
        f"{13 * len(_settings(effort))} levels: the best split of false positives between the parts agrees to"
    )
    return holds_if(worst < 1e-6, f"{evidence} {max(worst, 1e-12):.1g}")


def _symmetrised(alpha, mu, w):
    """Return C(w Id + (1 − w) G_μ)."""

    def f(x):
        return w * (1 - x) + (1 - w) * ndtr(-ndtri(x) - mu)

    bend = ndtr(-mu / 2)  # slope −1 there
    if alpha <= bend:
        return f(alpha)
    if alpha <= f(bend):
        return bend + f(bend) - alpha
    return brentq(lambda x: f(x) - alpha, 0.0, bend)


def _figure_4(effort):
    grid = np.linspace(0.005, 0.995, 67)
    steps, over = [], True
    for mu, w in _settings(effort):
        gains = [_symmetrised(x, mu, w) - _printed_f3(x, mu, w) for x in grid]
        truth = [w * (1 - x) + (1 - w) * ndtr(-ndtri(x) - mu) - _symmetrised(x, mu, w) for x in grid]
        over &= min(gains) > -1e-12 and min(truth) > -1e-12
        steps.append(f"mu = {mu:.4g}, w = {w:.4g}: tighter by up to {max(gains):.4f}, below the truth")
    first = steps[0]
    return holds_if(over, f"nowhere looser; {first}", steps)


def _halves(rng):
    p, q = random_distribution(rng), random_distribution(rng)
    halves = Fraction(1, 2), Fraction(1, 2)
    whole, indexed = (
        corners(as_parts(halves, [p, q]), as_parts(halves, [q, p])) for as_parts in (mixed, beside)
    )
    one = corners(p, p)
    identity = above(whole, one) and above(one, whole)
    sharp = all(x + y == 1 for x, y in blended(1, corners(p, q)))
    loose = p == q or not above(indexed, one)
    return identity and sharp and loose


CHECKS = {
    "wsys23-example-f.3": Check(_closed_form),
    "wsys23-figure-4": Check(_figure_4),
    "wsys23-example-f.4": always(_halves),
}

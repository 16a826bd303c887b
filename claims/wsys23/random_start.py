"""One noisy gradient step from a random start: appendix D of Wang, Su, Ye, Shokri, Su 2023."""

import functools
import math

import numpy as np
from scipy.special import ndtr, ndtri

from claims.claim import Check, Finding, Verdict, holds_if, refuted_if
from claims.failure_curve import LOWER, Along
from shufflelib.published import joint_concavity

LEVELS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95)
CLIP = 0.5
STEPS = (0.3, 1 / 3, 0.4)  # of two users' gradient; after a step of 1/2 the start has no effect


@functools.cache
def _function(a, clip=None):
    start = (
        joint_concavity.least_squares(a=a)
        if clip is None
        else joint_concavity.clipped_least_squares(a=a, clip=clip)
    )
    return joint_concavity.random_start_bound(start)


def _bound(a, clip=None):
    return _function(a, clip)(np.array(LEVELS))


def _after_the_step(step, n, a):
    """Return mean and variance of θ(D₁) where θ(D₀) is scaled to N(0, 1): both keep a share of the start."""
    (mean, var), (other, wide) = (
        (step * k * a, (1 - step * k) ** 2 + step**2) for k in (n, n - 1)
    )  # k users' gradients, noise N(0, 1)
    return (other - mean) / math.sqrt(var), wide / var


def _mixture_is_above(effort):
    gaps = {}
    for a in (1.0,) if effort.points < 64 else (0.0, 0.5, 1.0, 3.0):
        exact = joint_concavity.exact_least_squares(a=a)(np.array(LEVELS))
        if np.any(_bound(a).lower > exact.upper):
            return Finding(Verdict.REFUTED, f"a = {a}: the bound is above T(N(0, 1), N(a, 2))")
        gaps[a] = float(np.max(exact.lower - _bound(a).upper))
        for step in STEPS:
            mean, variance = _after_the_step(step, 2, a)
            after = joint_concavity.unequal_gaussians(mean=mean, variance=variance)(np.array(LEVELS))
            if np.any(_bound(a).lower > after.upper):
                return Finding(Verdict.REFUTED, f"a = {a}: the bound is above T after a step of {step:.3g}")
    evidence = (
        f"below T of the outputs, in closed form, at {len(LEVELS)} levels for a in {list(gaps)} and "
        f"{len(STEPS) + 1} steps of two users' gradient"
    )
    return Finding(Verdict.HOLDS, f"{evidence}; observing the start loses up to {max(gaps.values()):.3f}")


SCALE = math.sqrt(2.0 * math.pi)
DRAWN = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # false positives of a picture


def _gaussian(alpha):
    """Return T(N(0, 1), N(1, 1)), the truth for a sensitivity of 1 at almost every start."""
    return ndtr(-ndtri(alpha) - 1.0)


def _unnormalised_at(level):
    """Return the false negatives at sensitivity 1, and printed: both integrals are √(2π) too large."""
    return _gaussian(level), SCALE * _gaussian(level / SCALE)


def _unnormalised(effort):
    share = ndtr(-0.5)
    alpha = SCALE * share
    truth = _gaussian(alpha)
    steps = (
        "least squares clipped at 1 from starts far from a: mu_x = 1, the outputs are N(0, 1) and N(1, 1)",
        f"as t grows the printed alpha(t) grows to sqrt(2 pi) = {SCALE:.4f}, no probability",
        f"t = 0: printed alpha = beta = sqrt(2 pi) Phi(-1/2) = {alpha:.4f}",
        f"at false positives {alpha:.4f} the best test has {truth:.4f} false negatives, not {alpha:.4f}",
    )
    evidence = f"at false positives {alpha:.4f} the truth is {truth:.4f}, printed at least {alpha:.4f}"
    return refuted_if(truth < alpha, evidence, steps)


def _unnormalised_by_sampling():
    rng, draws, level = np.random.default_rng(3), 200_000, SCALE * ndtr(-0.5)
    cut = np.quantile(rng.standard_normal(draws), 1 - level)
    positives, negatives = (
        np.mean(rng.standard_normal(draws) > cut),
        np.mean(rng.standard_normal(draws) + 1 <= cut),
    )
    error = 5 * math.sqrt(0.25 / draws)
    steps = (f"{draws} draws: false positives {positives:.3f}, negatives {negatives:.3f}, +- {error:.3f}",)
    refuted = positives <= level + 2 * error and negatives + error < level
    return refuted_if(refuted, "by sampling", steps)


def _whole_gradient(a):
    """Return T(N(0, 1), N(2a, 5)): the gradient's difference is 2 (a − I), the start I is not observed."""
    return joint_concavity.unequal_gaussians(mean=2 * a, variance=5.0)


def _half_a_gradient_at(level):
    """Return the false negatives at a = 1, σ = 1, and Theorem 5.1's with the printed gradient."""
    return _whole_gradient(1.0)(level).upper, _function(1.0)(level).lower


def _half_a_gradient(effort):
    a, level = 1.0, 0.05
    bound = float(_bound(a).lower[LEVELS.index(level)])
    truth = _whole_gradient(a)(level).upper
    steps = (
        "loss (y - theta x)^2, y = a x, x^2 = 1: derivative -2 (y - theta x) x = -2 (a - theta), printed "
        "-(a - theta)",
        "start N(0, 1), noise N(0, 1), a = 1: the outputs are N(0, 1) and N(2, 5), not N(1, 2)",
        f"Theorem 5.1 with mu_I = a - I at false positives {level}: at least {bound:.4f}",
        f"T(N(0, 1), N(2, 5)) there: at most {truth:.4f}",
    )
    evidence = (
        f"the loss as printed has twice this gradient; at {level} the truth is {truth:.4f}, claimed "
        f"{bound:.4f}"
    )
    return refuted_if(truth < bound, evidence, steps)


def _half_a_gradient_by_sampling():
    rng, draws, h = np.random.default_rng(5), 200_000, 1e-4
    start = rng.standard_normal(draws)
    slope = ((1 - start - h) ** 2 - (1 - start + h) ** 2) / (2 * h)  # difference quotient of the loss
    with_one, without = slope + rng.standard_normal(draws), rng.standard_normal(draws)
    centre = 0.5  # -mean/(variance - 1), the mean -2: reject far from it
    cut = np.quantile(np.abs(without - centre), 0.949)
    fresh = rng.standard_normal(draws)
    positives = np.mean(np.abs(fresh - centre) > cut)
    negatives = np.mean(np.abs(with_one - centre) <= cut)
    bound, error = float(_bound(1.0).lower[LEVELS.index(0.05)]), 5 * math.sqrt(0.25 / draws)
    steps = (f"{draws} steps: false positives {positives:.4f}, negatives {negatives:.4f} +- {error:.4f}",)
    refuted = positives < 0.05 + 0.003 and negatives + error < bound - 0.05
    return refuted_if(refuted, "by sampling", steps)


def _pair_of_outputs(effort):
    levels, n, a = np.array(LEVELS), 2, 0.0
    pair = joint_concavity.exact_least_squares(a=a)(levels)
    forgets = {shift: _after_the_step(1 / n, n, shift) for shift in (0.0, 1.0, 3.0)}
    same = all(math.isclose(v, 2.0) and math.isclose(-m, shift) for shift, (m, v) in forgets.items())
    steps = [
        "n users with x^2 = 1, y = a x: theta(D) = (1 - eta n) I + eta n a - eta N(0, 1), D_1 one user less",
        f"eta n = 1: a - eta N(0, 1), a + eta (I - a) - eta N(0, 1), the pair up to scale and sign: {same}",
    ]
    broken = 0
    for step in STEPS:
        mean, variance = _after_the_step(step, n, a)
        truth = joint_concavity.unequal_gaussians(mean=mean, variance=variance)(levels)
        broken += bool(np.all(truth.upper < pair.lower))
        at = LEVELS.index(0.2)
        steps.append(
            f"n = 2, a = 0, eta = {step:.4g}: ratio of variances {variance:.4g}, not 2; at false positives "
            f"0.2 false negatives {truth.upper[at]:.4f}, of the pair {pair.lower[at]:.4f}"
        )
    verdict = Verdict.SMALLER if same and broken == len(STEPS) else Verdict.NOT_DECIDED
    evidence = (
        "for a step of 1/n, which forgets its start; n = 2, a = 0, step 1/3: variances in ratio 5/2, not 2"
    )
    return Finding(verdict, evidence, tuple(steps))


def _renyi(effort):
    """p^λ q^(1−λ) is integrable exactly for λ < 1 + σ²; the other way round for every λ."""
    steps = []
    for noise in (0.5, 1.0, 3.0):
        orders = np.array([0.99, 1.01]) * (1.0 + noise**2)
        x = np.array([1e2, 1e3]) * noise * 100
        wide, narrow = x**2 / (2 * (1 + noise**2)), x**2 / (2 * noise**2)
        grows = [float(np.diff(-order * wide + (order - 1) * narrow)[0]) > 0 for order in orders]
        back = [float(np.diff(-order * narrow + (order - 1) * wide)[0]) > 0 for order in orders]
        value = joint_concavity.renyi_least_squares(a=1.0, order=orders, noise=noise)
        steps.append(f"sigma = {noise}: orders {orders}: {value.lower}, the integrand grows: {grows}")
        if (
            grows != [False, True]
            or any(back)
            or not math.isinf(value.lower[1])
            or math.isinf(value.upper[0])
        ):
            return Finding(Verdict.REFUTED, steps[-1], tuple(steps))
    evidence = "infinite exactly from order 1 + sigma^2 on, for N(a, 1 + sigma^2) against N(0, sigma^2)"
    return Finding(Verdict.HOLDS, f"{evidence}; in the other order finite", tuple(steps))


def _clipping(effort):
    fixed = ndtr(-ndtri(np.array(LEVELS)) - CLIP)
    bracket, free = _bound(1.0, CLIP), _bound(1.0)
    gain = float(np.max(bracket.lower - fixed))
    helps = bool(np.all(bracket.upper >= fixed)) and bool(np.all(bracket.upper >= free.lower)) and gain > 0
    steps = tuple(
        f"false positives {x}: fixed start {y:.5f}, random start at least {z:.5f}, unclipped {u:.5f}"
        for x, y, z, u in zip(LEVELS, fixed, bracket.lower, free.lower, strict=True)
    )
    evidence = f"a = 1, c = {CLIP}: above the worst fixed start, Gaussian with mu = c, by up to {gain:.4f}"
    return holds_if(helps, evidence, steps)


M, THETA = 3.0, 0.7


def _suprema(most):
    """Return the supremum of the gradient over |x y| <= most, and the printed one."""
    z = np.linspace(-most, most, 6001)
    return float(np.max(np.abs(z) / (1 + np.exp(THETA * z)))), float(np.max(1 / (1 + np.exp(THETA * z))))


def _logistic(effort):
    truth, printed = _suprema(M)
    steps = (
        f"|x y| <= {M:g}, theta = {THETA}",
        f"supremum of e^(-theta z)/(1 + e^(-theta z)): {printed:.5f}",
        f"the gradient of log(1 + e^(-theta z)) is that times -z; its supremum: {truth:.5f}",
    )
    evidence = f"|xy| <= {M:g} at {THETA}: sensitivity {truth:.4f}, printed {printed:.4f}"
    return refuted_if(truth > printed, evidence, steps)


def _logistic_by_differences():
    h = 1e-5
    slope = (math.log1p(math.exp((THETA + h) * M)) - math.log1p(math.exp((THETA - h) * M))) / (2 * h)
    steps = (
        f"difference quotient of the loss at x y = {-M:g}: {slope:.5f}; the printed supremum is at most 1",
    )
    return refuted_if(slope > 1, "by a difference quotient", steps)


CHECKS = {
    "wsys23-theorem-5.1": Check(_mixture_is_above),
    "wsys23-theorem-5.1-integrals": Check(
        _unnormalised, _unnormalised_by_sampling, Along(DRAWN, _unnormalised_at, LOWER)
    ),
    "wsys23-example-d.1": Check(
        _half_a_gradient, _half_a_gradient_by_sampling, Along(DRAWN, _half_a_gradient_at, LOWER)
    ),
    "wsys23-example-d.1-pair": Check(_pair_of_outputs),
    "wsys23-example-d.1-renyi": Check(_renyi),
    "wsys23-example-d.2": Check(_clipping),
    "wsys23-example-d.3": Check(
        _logistic, _logistic_by_differences, Along([k / 4 for k in range(1, 21)], _suprema)
    ),
}

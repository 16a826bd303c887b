"""Trade-off functions of mixtures: appendices A, B.1 and B.2 of the mixture-mechanism paper.

Only the appendix is at hand; statements of the main text are taken from their proofs there.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog, minimize_scalar
from scipy.special import ndtr, ndtri

from shufflelib.claims.claim import Claim, Finding, Verdict
from shufflelib.claims.random_laws import (
    above,
    beside,
    convex_hull,
    corners,
    covers,
    false_negatives,
    mixed,
    never_fails,
    random_law,
    random_mixture,
    random_share,
    too_high,
)

SOURCE = "Wang, Su, Ye, Shi (NeurIPS 2023)"
HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)


# ---------------------------------------------------------------- appendix A


def _neyman_pearson(effort):
    p, q = [HALF, HALF, ZERO], [Fraction(1, 4), Fraction(1, 4), HALF]
    curve = corners(p, q)
    tie = [ONE, ZERO, ONE]
    level, errs = (sum(x * y for x, y in zip(t, m, strict=True)) for t, m in ((tie, p), (tie, q)))
    rng, optimal = random.Random(effort.seed), True
    for _ in range(effort.points):
        a, b = random_law(rng), random_law(rng)
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
        f"{effort.points} random laws with 0 < t < infinity: every test of the form is optimal: {optimal}",
    )
    fails = false_negatives(curve, ZERO) < 1 and 1 - errs == false_negatives(curve, level)
    said = (
        "every test of the form with 0 < t < infinity is optimal; t = 0 with c < 1 need not be, and optimal "
        "tests may differ from the form among outputs of equal ratio"
    )
    return Finding(Verdict.SMALLER if fails and optimal else Verdict.REFUTED, said, steps)


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


def _blackwell(effort):
    rng, met = random.Random(effort.seed), [0, 0]
    for case in range(min(2 * effort.points, 160)):
        first = [random_law(rng, 3) for _ in range(2)]
        if case % 2:
            rows = [random_law(rng, 3) for _ in range(3)]
            second = [mixed(law, rows) for law in first]
        else:
            second = [random_law(rng, 3) for _ in range(2)]
        ordered, near = above(corners(*second), corners(*first)), processable(first, second) < 1e-7
        met[ordered] += 1
        if ordered != near:
            return Finding(Verdict.REFUTED, f"{first} and {second}: order {ordered}, processing {near}")
    said = (
        f"{sum(met)} random cases, order in fractions, processing by linear programming: {met[1]} have both"
    )
    return Finding(Verdict.HOLDS, f"{said}, {met[0]} neither; Blackwell's theorem")


def _dual(rng):
    p = random_law(rng)
    f = corners(p, p[::-1])
    p, q = random_law(rng), random_law(rng)
    if rng.random() < 0.5:
        q = mixed((HALF, HALF), (p, q))
    truths = corners(p, q), corners(q, p)
    return all(above(truth, f) for truth in truths) == covers(f, *truths)


def _symmetrisation(effort):
    """Compare the middle of min(f, inverse of f)** with m + f(m) − x, the convex hull from corners."""
    rng, met = random.Random(effort.seed), 0
    for _ in range(4 * effort.points):
        f = corners(random_law(rng), random_law(rng))
        bend, value = next((a for a, b in itertools.pairwise(f) if b[0] - a[0] >= a[1] - b[1]), f[-1])
        if bend > value:
            continue
        met += 1
        hull = convex_hull(f + [(y, x) for x, y in f])
        for x in (bend, (2 * bend + value) / 3, value):
            if false_negatives(hull, x) != bend + value - x:
                return Finding(Verdict.REFUTED, f"with a plus sign: f = {f}")
    said = (
        f"with a plus sign it is right in {met} exact cases; with the minus sign of the text at hand it is "
        "at most 0, "
        "but the text is an extraction and the sign may be its own"
    )
    return Finding(Verdict.NOT_DECIDED, said)


# ---------------------------------------------------------------- appendix B


def _joint_concavity(rng):
    weights, p, q = random_mixture(rng, rng.randint(2, 3))
    seen = corners(beside(weights, p), beside(weights, q))
    return above(corners(mixed(weights, p), mixed(weights, q)), seen)


def _unequal_weights(rng):
    """Proposition B.1 along a common slope, any number of parts: equals paired first, the rest in order."""
    count = rng.randint(2, 3)
    weights, p, q = random_mixture(rng, count)
    other = random_law(rng, count)
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


POINTWISE = too_high(
    [HALF, HALF, ZERO],
    [HALF, ZERO, HALF],
    HALF,
    Fraction(1, 4),
    (
        "w = w' = (1/2, 1/2); P_1 = Q_1 = (1, 0, 0), P_2 = (0, 1, 0), Q_2 = (0, 0, 1)",
        "T(P_1, Q_1) = Id, T(P_2, Q_2) = 0; the sum of functions at 1/2 is (1/2)(1/2) + (1/2) 0 = 1/4",
    ),
)


def _symmetric(rng):
    weights = random_law(rng, 3)
    laws = [random_law(rng) for _ in weights]
    p, q = beside(weights, laws), beside(weights, [law[::-1] for law in laws])
    return all(above(corners(*a), corners(*b)) for a, b in (((p, q), (q, p)), ((q, p), (p, q))))


def _common_slope(parts, what):
    """Return the check that equal slopes are the best way to share false positives between two parts.

    ``parts(rng)`` returns two (function, level at which its slope is −t).
    """

    def check(effort):
        rng, worst = random.Random(effort.seed), 0.0
        for _ in range(min(effort.points, 64)):
            (f, f_level), (g, g_level) = parts(rng)
            w, t = rng.uniform(0.1, 0.9), math.exp(rng.uniform(-2.0, 2.0))
            a, b = f_level(t), g_level(t)
            alpha, beta = w * a + (1 - w) * b, w * f(a) + (1 - w) * g(b)
            low, high = max(0.0, (alpha - (1 - w)) / w), min(1.0, alpha / w)
            best = minimize_scalar(
                lambda x, w=w, f=f, g=g, alpha=alpha: w * f(x) + (1 - w) * g((alpha - w * x) / (1 - w)),
                bounds=(low, high),
                method="bounded",
                options={"xatol": 1e-12},
            ).fun
            worst = max(worst, abs(best - beta))
        verdict = Verdict.HOLDS if worst < 1e-7 else Verdict.REFUTED
        said = (
            f"{min(effort.points, 64)} mixtures of two {what}: the best split of false positives, found by "
        )
        return Finding(verdict, f"{said}minimisation, agrees to {max(worst, 1e-12):.1g}")

    return check


def _gaussians(rng):
    def part(mu):
        return lambda a: ndtr(-ndtri(a) - mu), lambda t: ndtr(-math.log(t) / mu - mu / 2)

    return part(rng.uniform(0.2, 2.0)), part(rng.uniform(0.2, 2.0))


def _exponentials(rng):
    """P = Exp(1) against Q = Exp(r), r < 1: f(a) = 1 − a^r."""

    def part(r):
        return lambda a: 1.0 - max(a, 0.0) ** r, lambda t: min(1.0, (t / r) ** (1.0 / (r - 1.0)))

    return part(rng.uniform(0.1, 0.9)), part(rng.uniform(0.1, 0.9))


def _density_of_ratio(effort):
    flat = [(h, 20 * h / (2 * h)) for h in (Fraction(1, 100), Fraction(1, 10**6))]
    cubic = [(h, (float(h) / 4) ** (1 / 3) / float(h)) for h in (Fraction(1, 100), Fraction(1, 10**6))]
    steps = (
        "p = 1 on [0, 1]; q = 1 + (x - 1/2)/10, so q/p is strictly monotone and x_1 = 1/2",
        "printed: the integral of delta(1 - q/p) q is q(x_1) = 1, and never above 1",
        *(f"Q(|q/p - 1| < {h})/(2 {h}) = {value}" for h, value in flat),
        "q = 1 + 4 (x - 1/2)^3, strictly monotone too: the integral at t = 1 is infinite, (6) fails:",
        *(f"Q(|q/p - 1| < {h})/(2 {h}) = {value:.6g}" for h, value in cubic),
    )
    refuted = flat[-1][1] == 10 and cubic[-1][1] > 10 * cubic[0][1]
    said = "q/p = 1 + (x - 1/2)/10 against the uniform law: the integral at t = 1 is 10, printed 1"
    return Finding(Verdict.REFUTED if refuted else Verdict.HOLDS, said, steps)


def _density_by_sampling():
    rng, draws, h = np.random.default_rng(7), 400_000, 0.01
    x = rng.random(4 * draws)
    x = x[rng.random(x.size) * 1.05 < 1 + (x - 0.5) / 10][:draws]  # by rejection, from q
    share = np.mean(np.abs((x - 0.5) / 10) < h)
    density, error = share / (2 * h), math.sqrt(share * (1 - share) / x.size) / (2 * h)
    steps = (f"{x.size} draws from q: Q(|q/p - 1| < {h})/(2 {h}) = {density:.4g} +- {5 * error:.2g}",)
    return Finding(Verdict.REFUTED if density - 5 * error > 1 else Verdict.HOLDS, "by sampling", steps)


CLAIMS = (
    Claim(
        id="wsys23-lemma-a.1",
        statement=(
            "A test is most powerful at its level if and only if for some t in [0, infinity] and c in [0, "
            "1] it is 1 "
            "where p < t q, c where p = t q and 0 where p > t q."
        ),
        source=f"{SOURCE}, Lemma A.1 (Neyman-Pearson)",
        verdict=Verdict.SMALLER,
        check=_neyman_pearson,
        reading=(
            "The textbook lemma: optimal for 0 < t < infinity; every level has an optimal test of this form."
        ),
    ),
    Claim(
        id="wsys23-lemma-a.2",
        statement="T(P, Q) <= T(P', Q') if and only if some processing takes P to P' and Q to Q'.",
        source=f"{SOURCE}, Lemma A.2, after Dong, Roth, Su, Theorem 2.10",
        verdict=Verdict.HOLDS,
        check=_blackwell,
    ),
    Claim(
        id="wsys23-lemma-a.3",
        statement="For symmetric f: f-DP if and only if (eps, 1 + f*(-e^eps))-DP for all eps > 0.",
        source=f"{SOURCE}, Lemma A.3, after Dong, Roth, Su, Proposition 2.12",
        verdict=Verdict.HOLDS,
        check=never_fails(_dual, "f-DP and its curve of (eps, delta) agree"),
    ),
    Claim(
        id="wsys23-equation-3",
        statement="Between m, where the slope of f is -1, and f(m), min(f, inverse of f)** is m - f(m) - x.",
        source=f"{SOURCE}, equation (3)",
        verdict=Verdict.NOT_DECIDED,
        check=_symmetrisation,
        reading="m + f(m) - x, as in Dong, Roth, Su, appendix F.",
    ),
    Claim(
        id="wsys23-lemma-3.1",
        statement=(
            "T of two mixtures with the same weights is at least the function of the parts with their "
            "index, which has "
            "alpha(t, c) = sum w_i alpha_i(t, c) and beta(t, c) = sum w_i f_i(alpha_i(t, c))."
        ),
        source=f"{SOURCE}, Lemma 3.1",
        verdict=Verdict.HOLDS,
        check=never_fails(_joint_concavity, "joint concavity"),
    ),
    Claim(
        id="wsys23-proposition-b.1",
        statement=(
            "T(P_w, Q_w') >= min(w_1, w_1') T(P_1, Q_1) + min(w_2, w_2') T(P_2, Q_2) + (w_2' - w_2)+ "
            "T(P_1, Q_2) + "
            "(w_1' - w_1)+ T(P_2, Q_1), pointwise."
        ),
        source=f"{SOURCE}, Proposition B.1, the sum of functions as printed",
        verdict=Verdict.REFUTED,
        check=POINTWISE[0],
        confirm=POINTWISE[1],
        reading=(
            "The sum is meant as in Lemma 3.1, along a common slope; so read it holds, see the next entry."
        ),
    ),
    Claim(
        id="wsys23-proposition-b.1-slopes",
        statement=(
            "The same with the sum taken along a common slope as in Lemma 3.1, and for any number of parts."
        ),
        source=f"{SOURCE}, Proposition B.1",
        verdict=Verdict.HOLDS,
        check=never_fails(_unequal_weights, "two mixtures with different weights, two or three parts"),
    ),
    Claim(
        id="wsys23-proposition-3.2",
        statement="If all T(P_i, Q_i) are symmetric, so is the function of the parts with their index.",
        source=f"{SOURCE}, Proposition 3.2",
        verdict=Verdict.HOLDS,
        check=never_fails(_symmetric, "symmetric parts, symmetric whole"),
    ),
    Claim(
        id="wsys23-proposition-b.2",
        statement=(
            "alpha(t) = sum w_i (f_i')^-1(-t), beta(t) = sum w_i f_i((f_i')^-1(-t)) for differentiable f_i."
        ),
        source=f"{SOURCE}, Proposition B.2",
        verdict=Verdict.HOLDS,
        check=_common_slope(_gaussians, "Gaussian functions"),
        reading=(
            "t is a ratio q/p here; where Lemma A.1 has p/q < t, the slope is -1/t. The curve is the same."
        ),
    ),
    Claim(
        id="wsys23-corollary-b.3",
        statement="The same where p_i/q_i is monotone.",
        source=f"{SOURCE}, Corollary B.3",
        verdict=Verdict.HOLDS,
        check=_common_slope(_exponentials, "exponential laws"),
    ),
    Claim(
        id="wsys23-proposition-b.2-condition",
        statement=(
            "Where q/p is strictly monotone, the integral of delta(t - q/p) q in condition (6) is q(x_t) "
            "<= 1, "
            "q(x_t)/p(x_t) = t, so that the condition is met."
        ),
        source=f"{SOURCE}, Appendix B.2, remark after Proposition B.2",
        verdict=Verdict.REFUTED,
        check=_density_of_ratio,
        confirm=_density_by_sampling,
        reading=(
            "The value is q(x_t) over the derivative of q/p at x_t, finite where that is not 0; densities "
            "may exceed 1. "
            "The formulas of Proposition B.2 need neither."
        ),
    ),
)

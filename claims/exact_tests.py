"""Finite distributions and the best tests between them in exact fractions, and again as a linear program.

A distribution is a list of fractions; a trade-off function is the list of its corners from (0, 1) to (1, 0),
false positives first.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog, minimize_scalar

from claims import exact_channels as channels
from claims.claim import Check, Finding, Verdict, Worded, refuted_if
from claims.exact_count_pair import printed
from claims.failure_curve import LOWER, Along

WEIGHTS = (0, 1, 2, 3, 5, 9)
POSITIVE = (1, 2, 3, 5)  # under a distribution with these every output is possible
RARE = 10**6  # how much rarer an output may be than another one
RATIOS = (1 + Fraction(1, RARE), Fraction(3, 2), Fraction(3), Fraction(RARE))  # e^eps0 of structured channels
LEVELS = [Fraction(j, 20) for j in range(21)]  # false positives
LEAST_GAP = 1e-9  # of a linear program in floating point


def random_distribution(rng, size=4, weights=WEIGHTS):
    """Return a distribution on ``size`` outputs, every other one extreme: see `extreme_weights`.

    With the default weights some outputs may be impossible.
    """
    drawn = extreme_weights(rng, size, weights) if rng.random() < 0.5 else rng.choices(weights, k=size)
    drawn[rng.randrange(size)] += 1
    return [Fraction(w, sum(drawn)) for w in drawn]


def extreme_weights(rng, size, weights):
    """Return two weights in any order: of a point, a few points, almost uniform, or with rare outputs."""
    return rng.choices((rng.choice((0, 1)) if 0 in weights else 1, rng.choice((1, RARE))), k=size)


def random_channel(rng, inputs=3, outputs=3):
    """Return a channel under which every output is possible, every other one from `structured_channel`.

    The others have one random distribution on ``outputs`` outputs for each input.
    """
    if rng.random() < 0.5:
        return structured_channel(rng, inputs)
    return [random_distribution(rng, outputs, weights=POSITIVE) for _ in range(inputs)]


FAMILIES = {
    "randomized response": lambda rng, e, d: channels.subsets(e, d, 1, 1),
    "subset selection": lambda rng, e, d: channels.subsets(e, d, 1, rng.randint(1, d - 1)),
    "Hadamard response": lambda rng, e, d: channels.hadamard(e, d),
    "staircases": lambda rng, e, d: channels.staircase(
        e, [(rng.choice((1, RARE)), rng.choices((0, 1), k=d)) for _ in range(2)]
    ),
    "an output for each ordered pair": lambda rng, e, d: _half_telling(e, d),
    "a rarely asked response": lambda rng, e, d: channels.rarely_asked(
        channels.subsets(e, d, 1, 1), Fraction(1, RARE)
    ),
}


def structured_channel(rng, inputs):
    """Return a channel of one of `FAMILIES`, with ``inputs`` inputs and one of `RATIOS`."""
    return rng.choice(list(FAMILIES.values()))(rng, rng.choice(RATIOS), inputs)


def _half_telling(e, d):
    """Return `exact_channels.telling_pairs` with half of the mass on outputs that tell a pair."""
    high = 1 / ((d - 1) * (1 + 1 / e**2 + (d - 2) / e)) / 2
    return channels.telling_pairs(e, high * (1 - 1 / e), d)


def random_share(rng, parts=24):
    """Return a fraction strictly between 0 and 1."""
    return Fraction(rng.randrange(1, parts), parts)


def random_mixture(rng, parts):
    """Return weights, distributions P_i and distributions Q_i."""
    return random_distribution(rng, parts), *(
        [random_distribution(rng) for _ in range(parts)] for _ in range(2)
    )


def mixed(weights, distributions):
    """Return the mixture of distributions, without the index of the component."""
    return [
        sum(w * x for w, x in zip(weights, column, strict=True))
        for column in zip(*distributions, strict=True)
    ]


def beside(weights, distributions):
    """Return the mixture together with the index of the component."""
    return [w * x for w, distribution in zip(weights, distributions, strict=True) for x in distribution]


def four_symbols(e, delta):
    """Return the pair of Kairouz, Oh, Viswanath on A, 0, 1, B: the input with chance delta, else a coin."""
    high, low = (1 - delta) * e / (1 + e), (1 - delta) / (1 + e)
    return [delta, high, low, Fraction(0)], [Fraction(0), low, high, delta]


def power_sum(p, q, order):
    """Return the sum of P^order/Q^(order - 1): the log of it is order - 1 times a Rényi divergence."""
    return sum(a**order / b ** (order - 1) for a, b in zip(p, q, strict=True))


def corners(p, q):
    """Return the corners of T(P, Q): outputs are rejected in the order of falling q/p."""
    pieces = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    at, found = (Fraction(0), Fraction(1)), [(Fraction(0), Fraction(1))]
    for a, b in sorted(pieces, key=lambda one: -math.inf if not one[0] else -one[1] / one[0]):
        at = at[0] + a, at[1] - b
        found.append(at)
    return found


def false_negatives(curve, alpha):
    """Return the trade-off function at ``alpha``: corners joined by chords, that is with randomised tests."""
    best = Fraction(1)
    for (x0, y0), (x1, y1) in itertools.pairwise(curve):
        if x0 <= alpha <= x1:
            best = min(best, y1 if x0 == x1 else y0 + (y1 - y0) * (alpha - x0) / (x1 - x0))
    return best


def convex_hull(points):
    """Return the lower convex hull of points, from left to right."""
    hull = []
    for x, y in sorted(points):
        while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1]) <= (
            hull[-1][1] - hull[-2][1]
        ) * (x - hull[-2][0]):
            hull.pop()
        hull.append((x, y))
    return hull


def above(upper, lower):
    """Return whether one trade-off function is nowhere below another; both are linear between corners."""
    return all(
        false_negatives(upper, x) >= false_negatives(lower, x) for x in {x for x, _ in (*upper, *lower)}
    )


def blended(weight, curve):
    """Return the corners of w Id + (1 − w) f."""
    return [(x, weight * (1 - x) + (1 - weight) * y) for x, y in curve]


def tensor(*distributions):
    """Return the joint distribution of independent outputs, every tuple listed."""
    return [math.prod(masses) for masses in itertools.product(*distributions)]


def divergence(p, q, ratio):
    """Return the hockey-stick divergence H(P‖Q) at e^ε = ``ratio``."""
    return sum(max(a - ratio * b, 0) for a, b in zip(p, q, strict=True))


def larger(p, q, ratio):
    """Return the larger of both divergences."""
    return max(divergence(p, q, ratio), divergence(q, p, ratio))


def chained_divergence(curve, f, at_zero, slope):
    """Return Σ F(1/|f′|) |f′| over the chords, F(0) for the vertical piece, τ for the flat one."""
    total = 0
    for (x0, y0), (x1, y1) in itertools.pairwise(curve):
        across, down = x1 - x0, y0 - y1
        total += down * f(across / down) if across and down else down * at_zero + across * slope
    return total


def largest_delta(curve, ratio):
    """Return 1 + f*(−e^ε) at e^ε = ``ratio``: δ of the alternative against the null."""
    return max(1 - y - ratio * x for x, y in curve)


def bends(curve):
    """Return the slopes below −1 of a curve, as ratios, and 1: where δ as a function of e^ε bends."""
    ratios = {(y0 - y1) / (x1 - x0) for (x0, y0), (x1, y1) in itertools.pairwise(curve) if x1 > x0}
    return {Fraction(1), *(ratio for ratio in ratios if ratio > 1)}


def is_lower_bound(bound, *truths):
    """Return whether a curve, symmetrised, is below all of these: its δ(ε) above theirs for all ε >= 0."""
    return all(
        largest_delta(bound, ratio) >= largest_delta(truth, ratio)
        for truth in truths
        for ratio in bends(bound) | bends(truth)
    )


def never_fails(holds, what, most=1000):
    """Return the check that a condition on exact distributions or channels is met in every case drawn."""

    def case(rng):
        return 1 if holds(rng) else f"{what}: a counterexample among exact distributions"

    words = (f"{what}: {{tried}} cases in exact fractions, no counterexample",)
    return share_of_bound(case, 6, most).check.told(words)


def always(holds, most=1000):
    """Return that check as the whole check of a claim; the ledger has the words, what never fails."""
    return Check(Worded(lambda lines: never_fails(holds, *lines, most)))


def share_of_bound(case, cases, most=math.inf):
    """Return the check that random exact cases reach at most their bound; the ledger words what was found.

    Parameters
    ----------
    case : callable
        Takes a generator of random numbers, returns the share of its bound that a case reaches, None if it is
        no case, or a counterexample in words.
    cases : int
        How many for each point of the effort.
    most : int, optional
        How many at the most.
    """

    def told(lines):
        def check(effort):
            rng, tried, largest = random.Random(effort.seed), 0, 0
            for _ in range(min(cases * effort.points, most)):
                share = case(rng)
                if isinstance(share, str):
                    return Finding(Verdict.REFUTED, share)
                if share is not None:
                    tried, largest = tried + 1, max(largest, share)
            return Finding(
                Verdict.HOLDS, lines[0].format(tried=tried, twice=2 * tried, largest=float(largest))
            )

        return check

    return Check(Worded(told))


def close(found, printed_value, tolerance):
    """Return how far two numbers computed in floating point are apart, in words if too far for one value."""
    gap = abs(found - printed_value)
    return max(gap, 1e-12) if gap < tolerance else f"{found:.10g} and {printed_value:.10g} differ"


def least_false_negatives(p, q, alpha):
    """Return the trade-off function at ``alpha`` by linear programming over all randomised tests."""
    p, q = (np.array([float(x) for x in distribution]) for distribution in (p, q))
    return 1.0 + linprog(-q, p[None, :], [float(alpha)], bounds=(0.0, 1.0), method="highs").fun


def best_split(f, g, w, alpha):
    """Return the least w f(x) + (1 − w) g(y) where the false positives w x + (1 − w) y are ``alpha``."""
    return minimize_scalar(
        lambda x: w * f(x) + (1 - w) * g((alpha - w * x) / (1 - w)),
        bounds=(max(0.0, (alpha - (1 - w)) / w), min(1.0, alpha / w)),
        method="bounded",
        options={"xatol": 1e-12},
    ).fun


def too_high(p, q, alpha, bound):
    """Return the check of a lower bound on T(P, Q) below which a test errs, twice, and its failure curve.

    Parameters
    ----------
    p, q : sequence of Fraction
        Null and alternative.
    alpha : Fraction
        False positives of the test.
    bound : callable
        Takes false positives, returns the least false negatives as claimed.
    """
    curve, claimed = corners(p, q), bound(alpha)

    def found(lines, truth, gap):
        evidence = (
            f"at {alpha} false positives a test has {printed(truth)} false negatives, claimed "
            f"{printed(claimed)}"
        )
        return refuted_if(truth < claimed - gap, evidence, lines)

    def best(lines):
        truth = false_negatives(curve, alpha)
        says = f"claimed: at false positives {alpha} at least {printed(claimed)} false negatives"
        return lambda effort: found((*lines, says, f"the best test has: {printed(truth)}"), truth, 0)

    def programmed():
        truth = least_false_negatives(p, q, alpha)
        return found((f"by linear programming over all tests: {printed(truth)}",), truth, LEAST_GAP)

    levels = Along(LEVELS, lambda x: (false_negatives(curve, x), bound(x)), LOWER)
    return Check(Worded(best), programmed, levels)

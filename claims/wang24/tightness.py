"""How tight the variation-ratio pair is claimed to be: its lower bound, and the search for ε of both."""

import math
import random
from fractions import Fraction
from itertools import permutations

import numpy as np

from claims import exact_channels as channels
from claims import exact_shuffle
from claims.claim import Check, Finding, Verdict, holds_if
from claims.counterexample_search import COARSE, LOCAL, logarithmic, never_fails_in, whole
from claims.exact_count_pair import (
    both_ways,
    counts_channel,
    counts_delta,
    printed,
    witness,
)
from claims.failure_curve import Along, within
from shufflelib.published.variation_ratio import search_epsilon
from shufflelib.shuffling.variation_ratio import VariationRatioPair

# two inputs with unequal sides: R(x0) = (1, 4)/5, R(x1) = (2, 3)/5
UNEQUAL = [[Fraction(x, 5) for x in row] for row in ((1, 4), (2, 3))]


def _lower_bound_of(channel, others, n, ratio):
    """Return δ of the pair of Theorem 5.1 as printed, x0 and x1 being rows 0 and 1."""
    r0, r1, rest = channel[0], channel[1], channel[others]
    falls = [y for y in range(len(r0)) if r0[y] > r1[y]]
    rises = [y for y in range(len(r0)) if r1[y] > r0[y]]
    p = sum(r1[y] for y in rises) / sum(r0[y] for y in rises)
    q0 = sum(r0[y] for y in falls) / sum(rest[y] for y in falls)
    q1 = sum(r1[y] for y in rises) / sum(rest[y] for y in rises)
    beta = sum(r1[y] - r0[y] for y in rises)
    return both_ways(counts_channel(p, beta, q0, q1), 0, 1, (2,) * (n - 1), ratio)


def _theorem_51(effort):
    rng, closest = random.Random(effort.seed), Fraction(0)
    for _ in range(2 * effort.points):  # equal sides: outputs 0 and 1 change places
        a, b, c = (rng.randint(1, 9) for _ in range(3))
        third = [rng.randint(1, 9) for _ in range(3)]
        rows = channels.normalised([[a + b, a, c], [a, a + b, c], third])
        n, ratio = rng.randint(1, 3), Fraction(rng.randint(12, 30), 12)
        truth = both_ways(rows, 0, 1, (2,) * (n - 1), ratio)
        claimed = _lower_bound_of(rows, 2, n, ratio)
        if claimed > truth:
            return Finding(Verdict.REFUTED, f"equal sides {rows}, n={n}, e^eps={ratio}: {claimed} > {truth}")
        closest = max(closest, claimed / truth if truth else 0)
    n, ratio = 2, Fraction(5, 4)
    found = [(both_ways(UNEQUAL, 0, 1, (x,), ratio), _lower_bound_of(UNEQUAL, x, n, ratio)) for x in (0, 1)]
    steps = (
        "R(x0) = (1/5, 4/5), R(x1) = (2/5, 3/5), n = 2, e^epsilon = 5/4: p = 2, beta = 1/5",
        "the pair gives x0 the second token with alpha = 1/5 and the first with alpha p = 2/5; it has 4/5",
        *(
            f"x* = x{x}: claimed delta >= {printed(claimed)}, true delta = {printed(truth)}"
            for x, (truth, claimed) in enumerate(found)
        ),
    )
    failed = all(claimed > truth for truth, claimed in found)
    evidence = (
        f"{2 * effort.points} exact cases with equal sides, claimed/true at most {float(closest):.4f}, "
        f"proved by data processing; with unequal sides the claimed lower bound {printed(found[0][1])} "
        f"exceeds {printed(found[0][0])}"
    )
    return Finding(Verdict.SMALLER if failed else Verdict.HOLDS, evidence, steps)


def _loop(upper):
    """Return the check of the binary search: the end that it returns stands on the promised side."""

    def wrong(eps0, share, q, n, delta, steps):
        p, beta = math.exp(eps0), share * math.tanh(eps0 / 2.0)
        low = max(1.0, 2.0 * beta * p / (p - 1.0)) * q
        pair = VariationRatioPair(n=n, p=p, beta=beta, q0=low)
        eps = search_epsilon(pair, delta=delta, steps=steps, upper=upper)
        ends = pair.log_worst(eps, COARSE)
        if upper:
            return ends.lower - math.log(delta)
        return math.log(delta) - ends.upper if eps > 0.0 else -math.inf

    return never_fails_in(
        wrong,
        eps0=LOCAL,
        share=logarithmic(1e-2, 1.0),
        q=logarithmic(1.0, 1e3),
        n=whole(2, 300),
        delta=logarithmic(1e-12, 0.5),
        steps=whole(1, 8),
    )


def _worst_ratio(channel):
    """Return β, and the largest min(q0, q1) over x* and over the inputs x0, x1 that attain β."""
    beta, best = channels.total_variation(channel), Fraction(0)
    for r0, r1 in permutations(channel, 2):
        falls = [y for y in range(len(r0)) if r0[y] > r1[y]]
        rises = [y for y in range(len(r0)) if r1[y] > r0[y]]
        if sum(r1[y] - r0[y] for y in rises) < beta:
            continue
        for rest in channel:
            shares = (
                (sum(r[y] for y in side), sum(rest[y] for y in side))
                for r, side in ((r0, falls), (r1, rises))
            )
            best = max(best, min(mine / theirs for mine, theirs in shares))
    return beta, best


def _worst_inputs(effort):
    """Compare β and min(q0, q1) with Table 1, mechanism by mechanism; the ratio p is e^ε₀ for all."""
    listed = (
        ("randomized response, d = 3", exact_shuffle.randomized_response(3, 3), 3, Fraction(2, 5)),
        ("Hadamard response, d = 3", channels.hadamard(3, 3), 3, Fraction(1, 4)),
        ("piecewise mechanism", channels.piecewise(3), 9, Fraction(2, 3)),
        ("PCKV-GRR, d = 3, s = 1", channels.key_values(3, 3, 1), 3, Fraction(1, 4)),
        ("subsets of two, d = 4", channels.subsets(3, 4, 1, 2), 3, Fraction(1, 3)),
        ("subset exponential, d = 6, s = k = 2", channels.subsets(3, 6, 2, 2), 3, Fraction(10, 33)),
        ("local hash, d = l = 3", channels.local_hash(3, 3, 3), 3, Fraction(2, 5)),
    )
    steps, same = [], []
    for name, channel, e, printed_beta in listed:
        beta, ratio = _worst_ratio(channel)
        same.append((beta, ratio) == (printed_beta, e))
        steps.append(f"{name}: beta {beta} (printed {printed_beta}), largest min(q0, q1) = {ratio} (q = {e})")
    evidence = f"equal for {sum(same)} of {len(same)} mechanisms, enumerated in exact fractions"
    return holds_if(all(same), evidence, steps)


def _ratio_of_pairs(d, e=3):
    """Return the largest q0 of sets of two among d items: those that hold x0 and not x1, by the formula."""
    return Fraction((d - 2) * e, e + d - 3)


def _worst_inputs_of_pairs():
    """Count the sets of two of four items that hold x0 and not x1: under x0, and under a third item."""
    e, under_x0 = 3, 2 * 3
    third = e + 1
    steps = (
        "sets of two of four items, e^eps0 = 3: x0 makes {x0, 2} and {x0, 3} more likely than x1 does",
        f"in units of the least likely set: {under_x0} under x0; under item 2 or 3 one has {e}, one has 1",
        f"q0 = {under_x0}/{third} = {_ratio_of_pairs(4)}, and less for x* = x0 or x1; Table 1 has q = {e}",
    )
    return holds_if(Fraction(under_x0, third) == e, "by hand", steps)


def _all_alike(n):
    """Return δ at ε = 0 of binary response with e^ε₀ = 2: the true one, the pair's, and the worst others."""
    truth, (_, _, others) = exact_shuffle.worst_delta(exact_shuffle.randomized_response(2, 2), n, 1)
    return truth, counts_delta(n, 1, p=2, beta=Fraction(1, 3), q0=1, q1=2), {"others": others}


def _two_options_by_convolution():
    ones = {0: np.array([2.0, 1.0]) / 3.0, 1: np.array([1.0, 2.0]) / 3.0}

    def variation(*others):
        rest = np.array([1.0])
        for x in others:
            rest = np.convolve(rest, ones[x])
        return 0.5 * float(np.abs(np.convolve(ones[0], rest) - np.convolve(ones[1], rest)).sum())

    return variation(0, 1), variation(0, 0) + 1e-12


CHECKS = {
    "wang24-theorem-5.1": Check(_theorem_51),
    "wang24-algorithm-1": _loop(upper=True),
    "wang24-algorithm-3": _loop(upper=False),
    "wang24-worst-inputs": Check(
        _worst_inputs,
        _worst_inputs_of_pairs,
        Along(range(4, 17), lambda d: (_ratio_of_pairs(d), 3), within(1e-6)),
    ),
    "wang24-two-options-upper": Check(
        witness(lambda: _all_alike(3)),
        witness(_two_options_by_convolution),
        Along(range(2, 15), lambda n: _all_alike(n)[:2]),
    ),
}

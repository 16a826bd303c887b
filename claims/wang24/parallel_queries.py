"""Parallel composition in the variation-ratio paper: each user answers one of several queries."""

import functools
import math
from fractions import Fraction

import numpy as np

from claims import exact_channels as channels
from claims import exact_shuffle
from claims.claim import Check, refuted_if, reproduced_if
from claims.counterexample_search import confirming, halved, logarithmic, whole
from claims.exact_count_pair import (
    SCORE,
    both_ways,
    counts_delta,
    counts_pair,
    evenly,
    pair_below_mechanism,
    printed,
    witness,
)
from claims.exact_tests import share_of_bound
from claims.failure_curve import Along, within
from claims.wang24.reduction import generic_parameters
from shufflelib import randomizers, shuffle
from shufflelib.published import parallel_composition


def _levels(eps0, height):
    """Return randomized response on one of the levels 2, 4, ..., 2^height, drawn uniformly."""
    parts = [randomizers.generalized_rr(eps0=eps0, d=2**h) for h in range(1, height + 1)]
    return randomizers.mixture(parts, weights=[1.0 / height] * height)


def hierarchy(e, height):
    """Return the same over 2^height values as an enumerated channel."""
    rows = []
    for x in range(2**height):
        row = []
        for h in range(1, height + 1):
            response = exact_shuffle.randomized_response(e, 2**h)
            row += [mass / height for mass in response[x >> (height - h)]]
        rows.append(row)
    return rows


def _below(parameters):
    axes = {"eps0": logarithmic(0.1, 6.0), "height": whole(2, 6), "n": whole(2, 1000), "z": SCORE}
    return halved(pair_below_mechanism(_levels, parameters, **axes))


def _advanced(one):
    return math.exp(one.eps0), one.beta, math.exp(one.eps0)


ODDS = 9
MEAN_BETA = (Fraction(ODDS - 1, ODDS + 1) + Fraction(ODDS - 1, ODDS + 3)) / 2  # two levels, four leaves


def _levels_of_two(beta):
    """Return δ of two users at e^ε = 6, two levels above four leaves, e^ε₀ = 9, and the pair's with a β."""
    truth = both_ways(hierarchy(ODDS, 2), 0, 3, (0,), 6)
    return truth, counts_delta(2, 6, p=ODDS, beta=beta, q0=ODDS)


def _levels_of_ten(ratio):
    """Return δ of ten users of the same hierarchy at e^ε = ``ratio``, and what Theorem 6.1 allows."""
    eps0, n, eps = math.log(ODDS), 10, np.log(ratio)
    pair = parallel_composition.advanced_parallel_wang24(
        eps0=eps0, betas=[float(MEAN_BETA)], weights=[1.0], n=n
    )
    return shuffle(_levels(eps0, 2), n=n).delta(eps).lower, pair.delta(eps).upper


def _random_hierarchy(rng):
    e, height = Fraction(rng.randint(13, 60), 12), rng.randint(1, 4)
    return e, height, hierarchy(e, height)


def _local_guarantee(rng):
    e, height, channel = _random_hierarchy(rng)
    ratio = channels.largest_ratio(channel)
    return f"e^eps0 = {e}, {height} levels: ratio {ratio}" if ratio > e else 1


def _mean_variation(rng):
    e, height, channel = _random_hierarchy(rng)
    mean = sum((e - 1) / (e + 2**h - 1) for h in range(1, height + 1)) / height
    if channels.total_variation(channel) != mean:
        return f"e^eps0 = {e}, {height} levels: total variation is not {mean}"
    return 1


def _range_queries(height, eps0=1.0, n=10_000, delta=1e-6):
    """Return a certified lower bound of ε for range queries over 2^height values, the code's ε and its β."""
    beta = parallel_composition.range_query_beta_released(eps0=eps0, d=2**height)
    pair = parallel_composition.advanced_parallel_wang24(eps0=eps0, betas=[beta], weights=[1.0], n=n)
    return shuffle(_levels(eps0, height), n=n).epsilon(delta).lower, pair.epsilon(delta).upper, beta


def _released_beta():
    truth, claimed, beta = _range_queries(6)
    betas = parallel_composition.range_query_betas(eps0=1.0, d=64)
    return truth, claimed, {"mean": float(np.mean(betas)), "beta": beta}


def _cohort(eps0, users, delta):
    return parallel_composition.basic_parallel_wang24(eps0=eps0, n=users).epsilon(delta)


def _released_cohort(effort):
    eps0, n, levels, delta = 1.0, 10_000, 6, 1e-6
    code, meant = (_cohort(eps0, users, delta) for users in (n // levels // levels, n // levels))
    steps = (
        "range queries over d = 64, six levels, eps0 = 1, n = 10,000, delta = 1e-6, the level of two halves",
        f"n/6 = {n // levels} users: epsilon at most {meant.upper:.6g}",
        f"the code's n/36 = {n // levels // levels} users: epsilon at least {code.lower:.6g}",
    )
    evidence = f"epsilon {code.lower:.5g} instead of {meant.upper:.5g} for the worst of six cohorts"
    return refuted_if(code.lower > meant.upper, evidence, steps)


def _released_cohort_exactly():
    code, meant = (counts_delta(users, 2, p=3, beta=Fraction(1, 2), q0=3) for users in (2, 4))
    steps = (
        f"d = 4, e^eps0 = 3, n = 8, e^epsilon = 2: "
        f"delta {printed(meant)} for 8/2 users, {printed(code)} for 8/4",
    )
    return refuted_if(code > meant, "in exact fractions", steps)


def _worst_of_six_cohorts(n):
    """Return ε of the worst cohort: of n/6 users, and of the code's n/36."""
    return [_cohort(1.0, n // part, 1e-6).upper for part in (6, 36)]


@functools.lru_cache(maxsize=256)
def _range_query_epsilon(eps0, d, beta, n):
    return counts_pair(n, math.exp(eps0), beta, math.exp(eps0)).epsilon(0.01 / n).upper


def _parallel_savings(effort, against):
    """Return the least and the most saved over settings of Figure 5, with the theorem's and the code's β."""
    found, n = {"theorem": [], "code": []}, 10_000
    for d in (64, 2048):
        for eps0 in evenly(effort, 0.1, 5.0):
            betas = parallel_composition.range_query_betas(eps0=eps0, d=d)
            other = _range_query_epsilon(eps0, d, float(betas[0]), against(n, betas.size))
            values = {
                "theorem": float(np.mean(betas)),
                "code": parallel_composition.range_query_beta_released(eps0=eps0, d=d),
            }
            for name, beta in values.items():
                found[name].append(1.0 - _range_query_epsilon(eps0, d, beta, n) / other)
    return {name: (min(part), max(part)) for name, part in found.items()}


def _parallel(least, most, against, peer):
    def check(effort):
        found = _parallel_savings(effort, against)
        steps = tuple(f"with the {name}'s beta: {a:.1%} to {b:.1%} saved" for name, (a, b) in found.items())
        inside = any(a >= least - 0.03 and b <= most + 0.03 for a, b in found.values())
        evidence = f"against {peer} " + ", ".join(
            f"{a:.0%} to {b:.0%} ({name})" for name, (a, b) in found.items()
        )
        span = f"{least:.0%}" if least == most else f"{least:.0%} to {most:.0%}"
        return reproduced_if(inside, f"claimed {span}; {evidence}", steps)

    return check


def _against_basic(n, levels):
    return n  # the coarsest level is binary randomized response: its β is that of basic composition


def _against_worst_cohort(n, levels):
    return n // levels


CHECKS = {
    "wang24-algorithm-2": share_of_bound(_local_guarantee, 1),
    "wang24-basic-parallel": Check(_below(generic_parameters)),
    "wang24-parallel-variation": share_of_bound(_mean_variation, 1),
    "wang24-theorem-6.1": Check(
        witness(lambda: _levels_of_two(MEAN_BETA)),
        confirming(_below(_advanced)),
        Along(np.linspace(1.5, 8.7, 13), _levels_of_ten),
    ),
    "wang24-released-range-queries": Check(
        witness(_released_beta, "epsilon"),
        witness(lambda: _levels_of_two(Fraction(1, 3))),  # the last level's β over two
        Along([2**h for h in (1, 2, 4, 7, 11)], lambda d: _range_queries(d.bit_length() - 1, eps0=0.1)[:2]),
    ),
    "wang24-released-cohorts": Check(
        _released_cohort,
        _released_cohort_exactly,
        Along((300, 1000, 3000, 10_000, 30_000, 100_000, 300_000), _worst_of_six_cohorts, within(1e-3)),
    ),
    "wang24-figure-5-basic": Check(_parallel(0.75, 0.75, _against_basic, "basic composition")),
    "wang24-figure-5-separate": Check(_parallel(0.80, 0.95, _against_worst_cohort, "the worst cohort")),
}

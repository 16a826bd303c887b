"""Mechanisms that are claimed to be "exactly tight" by name, and how far the pair of counts is from each."""

import math
from fractions import Fraction

from claims import exact_channels as channels
from claims import exact_shuffle
from claims.claim import Check, refuted_if
from claims.counterexample_search import (
    COARSE,
    confirming,
    halved,
    linear,
    log_delta_attained,
    logarithmic,
    searched,
    whole,
)
from claims.exact_count_pair import (
    LEAST_LOG_DELTA,
    SCORE,
    both_ways,
    counts_delta,
    counts_pair,
    eps_of_score,
    evenly,
    printed,
    witness,
)
from claims.failure_curve import Along, within
from claims.wang24.reduction import five_of
from shufflelib import randomizers, shuffle
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _ends(one, n, eps):
    """Return log δ at ε: the pair's ends, what a dataset attains, and what is proved of all."""
    pair = counts_pair(n, one.p, one.beta, one.q).log_worst(eps, COARSE)
    references = [BlanketPair(inputs.blanket, n).log_worst(eps, COARSE).upper for inputs in one.input_pairs()]
    return pair, log_delta_attained(one, n=n, eps=eps), max(references)


def _tight(build, **sizes):
    """Return the search for a point at which the pair is outside the certified bracket."""

    def ends(eps0, n, z, **mechanism):
        one = build(eps0=eps0, **mechanism)
        eps = eps_of_score(z, n=n, p=one.p, beta=one.beta, q=one.q)
        return eps, *_ends(one, n, eps)

    def outside(**point):
        _, pair, attained, proved = ends(**point)
        if proved < LEAST_LOG_DELTA:
            return math.nan
        return max(attained - max(pair.upper, LEAST_LOG_DELTA), pair.lower - proved)

    def held(found):
        return f"{found.tried} points, all inside the certified bracket"

    def failed(found):
        where, (eps, pair, attained, proved) = f"at {found.description()}", ends(**found.point)
        side = "below what an attack attains" if attained > pair.upper else "above a proved upper bound"
        steps = (
            where,
            f"epsilon = {eps:.8g}",
            f"the published pair: delta between {math.exp(pair.lower):.8g} and {math.exp(pair.upper):.8g}",
            f"the mechanism: delta between {math.exp(attained):.8g} and {math.exp(proved):.8g}",
        )
        return f"{where} the pair's delta is {side} by a factor of at least {found.factor:.4g}", steps

    axes = {"eps0": logarithmic(0.1, 8.0), "n": whole(2, 200), "z": SCORE} | sizes
    return halved(searched(outside, held, failed, **axes))


def _profile(build, **sizes):
    """Return the pair's δ along ε for ε₀ = 2 and n = 20, beside the nearest δ that the mechanism can have."""

    def ends(eps):
        pair, attained, proved = _ends(build(eps0=2.0, **sizes), 20, eps)
        nearest = min(max(pair.upper, attained), proved if pair.lower > proved else math.inf)
        return math.exp(nearest), math.exp(pair.upper)

    return Along(
        [tenths / 10 for tenths in range(1, 17)], ends, within(COARSE)
    )  # then the pair falls to 1e-19


def _attack_on_two(channel, p, beta, changed):
    """Return the confirmation: two users at e^ε = 5p/6, the other one holds what the first may change to."""
    ratio = Fraction(5 * p, 6)
    return witness(
        lambda: (
            both_ways(channel(), 0, changed, (changed,), ratio),
            counts_delta(2, ratio, p=p, beta=beta, q0=p),
        )
    )


def _hashed_reports_of_two(name, places):
    """Find the pair above the worst of all datasets of two users whose reports are hashed."""
    e = 3
    beta = Fraction(e - 1, e + places - 1)
    truth, _ = exact_shuffle.worst_delta(channels.local_hash(e, 3, places), 2, 1)
    claimed = counts_delta(2, 1, p=e, beta=beta, q0=e)
    steps = (
        f"{name}: two users, three items, e^eps0 = {e}; an item has the reported hash with chance 1/{places}",
        f"the pair with the printed beta = {beta} at epsilon = 0: {printed(claimed)}",
        f"worst of all datasets, in exact fractions: {printed(truth)}",
    )
    return refuted_if(
        truth < claimed, f"the pair is {float(claimed / truth):.4g} times the worst dataset", steps
    )


def _caps(e):
    """Return PrivUnit on the circle, cut into ten cells: the two cells at the input are e times likelier."""
    return channels.normalised([[e if (y - x) % 10 < 2 else 1 for y in range(10)] for x in range(10)])


def _hash_of_figure_2(eps0):
    """Return a proved ε of local hash as in Figure 2, the pair's ε for it at its least, and l."""
    one = randomizers.local_hash(eps0=eps0, d=128)
    n, delta = 10_000, 1e-6
    return shuffle(one, n=n).epsilon(delta).upper, VariationRatioPair.of(one, n=n).epsilon(delta).lower, one.l


def _hash_is_loose(effort):
    steps, least = [], math.inf
    for eps0 in evenly(effort, 1.0, 5.0):
        proved, pair, length = _hash_of_figure_2(eps0)
        least = min(least, pair / proved)
        steps.append(f"eps0 = {eps0:.2g}, l = {length}: pair {pair:.6g}, proved {proved:.6g}")
    evidence = f"the pair's epsilon is at least {least - 1:.2%} above a proved upper bound"
    return refuted_if(least > 1.0, evidence, steps)


def _extremal(build, exact, drawn, **sizes):
    return Check(exact, confirming(_tight(build, **sizes)), _profile(build, **drawn))


ITEMS = whole(4, 64)


CHECKS = {
    "wang24-tight-randomized-response": _extremal(
        randomizers.generalized_rr,
        _attack_on_two(lambda: exact_shuffle.randomized_response(3, 3), 3, Fraction(2, 5), 1),
        {"d": 10},
        d=whole(3, 64),
    ),
    "wang24-tight-subset": _extremal(
        lambda eps0, d: randomizers.subset(eps0=eps0, d=d, k=2),
        _attack_on_two(lambda: channels.subsets(3, 4, 1, 2), 3, Fraction(1, 3), 3),
        {"d": 10},
        d=ITEMS,
    ),
    "wang24-tight-local-hash": _extremal(
        lambda eps0, length: randomizers.local_hash(eps0=eps0, d=64, l=length),
        lambda effort: _hashed_reports_of_two("local hash with l = 3", 3),
        {"length": 8},
        length=whole(3, 64),
    ),
    "wang24-tight-hadamard": _extremal(
        randomizers.hadamard,
        _attack_on_two(lambda: channels.hadamard(3, 3), 3, Fraction(1, 4), 2),
        {"d": 7},
        d=ITEMS,
    ),
    "wang24-tight-piecewise": _extremal(
        randomizers.piecewise,
        _attack_on_two(lambda: channels.piecewise(3), 9, Fraction(2, 3), 1),
        {},
    ),
    "wang24-tight-subset-exponential": _extremal(
        lambda eps0, d: randomizers.subset_exponential(eps0=eps0, d=d, s=2, k=2),
        _attack_on_two(
            lambda: channels.subsets(3, 6, 2, 2),
            3,
            Fraction(10, 33),
            14,
        ),
        {"d": 10},
        d=whole(6, 64),
    ),
    "wang24-tight-pckv-grr": _extremal(
        lambda eps0, d: randomizers.pckv_grr(eps0=eps0, d=d, s=1),
        _attack_on_two(lambda: channels.key_values(3, 3, 1), 3, Fraction(1, 4), 5),
        {"d": 10},
        d=ITEMS,
    ),
    "wang24-tight-wheel": _extremal(
        lambda eps0, arc: randomizers.wheel(eps0=eps0, d=64, s=1, arc=arc),
        lambda effort: _hashed_reports_of_two("half circles, which hit a point like a hash with l = 2", 2),
        {"arc": 0.5},
        arc=linear(0.5, 0.9),
    ),
    "wang24-tight-privunit": Check(
        _attack_on_two(lambda: _caps(3), 3, Fraction(2, 7), 2),
        witness(lambda: five_of(5)),
        _profile(lambda eps0, caps: randomizers.generalized_rr(eps0=eps0, d=caps), caps=5),
    ),
    "wang24-figure-2-tight": Check(
        _hash_is_loose,
        lambda: _hashed_reports_of_two("local hash with l = 3", 3),
        # the gap narrows as l grows
        Along([0.1, 0.5, 1.0, 1.5, 2.0, 2.5], lambda eps0: _hash_of_figure_2(eps0)[:2], within(1e-4)),
    ),
}

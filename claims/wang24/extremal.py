"""Mechanisms that are claimed to be "exactly tight" by name, and how far the pair of counts is from each."""

import math
from fractions import Fraction

from claims import exact_channels as channels
from claims import exact_shuffle, failure_curve
from claims.claim import Check, Effort, Finding, Verdict, refuted_if
from claims.counterexample_search import COARSE, linear, log_delta_attained, logarithmic, whole, worst
from claims.exact_count_pair import (
    LEAST_LOG_DELTA,
    SCORE,
    above_the_claim,
    both_ways,
    counts_delta,
    counts_pair,
    eps_of_score,
    evenly,
    printed,
)
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

    axes = {"eps0": logarithmic(0.1, 8.0), "n": whole(2, 200), "z": SCORE} | sizes

    def check(effort):
        found = worst(outside, Effort(max(4, effort.points // 2), effort.seed), **axes)
        if found.excess <= 0.0:
            return Finding(Verdict.HOLDS, f"{found.tried} points, all inside the certified bracket")
        eps, pair, attained, proved = ends(**found.point)
        side = "below what an attack attains" if attained > pair.upper else "above a proved upper end"
        steps = (
            f"at {found.description()}",
            f"epsilon = {eps:.8g}",
            f"the published pair: delta between {math.exp(pair.lower):.8g} and {math.exp(pair.upper):.8g}",
            f"the mechanism: delta between {math.exp(attained):.8g} and {math.exp(proved):.8g}",
        )
        evidence = (
            f"at {found.description()} the pair's delta is {side} by a factor of at least "
            f"{math.exp(found.excess):.4g}"
        )
        return Finding(Verdict.REFUTED, evidence, steps)

    return check


def _profile(build, **sizes):
    """Return the failure curve of the pair's δ in ε, beside the nearest δ that the mechanism can have."""

    def curve():
        eps0, n = 2.0, 20
        one = build(eps0=eps0, **sizes)
        at = [eps0 * share / 20 for share in range(1, 17)]  # nearer to eps0 the pair falls to 1e-19
        claimed, true = [], []
        for eps in at:
            pair, attained, proved = _ends(one, n, eps)
            claimed.append(math.exp(pair.upper))
            true.append(math.exp(min(max(pair.upper, attained), proved if pair.lower > proved else math.inf)))
        held = "".join(f", {name} = {size}" for name, size in sizes.items())
        quantity = f"δ at n = {n}, ε₀ = {eps0:g}{held}"
        return failure_curve.beside_equality("ε", quantity, at, claimed, true, tolerance=COARSE)

    return curve


def _attack_on_two(name, channel, p, beta, changed):
    """Return the confirmation: two users, the other one holds what the first may change to."""

    def confirm():
        ratio = Fraction(5 * p, 6)
        lines = (f"{name}, n = 2, odds {p}, e^epsilon = {ratio}, in exact fractions; not tight:",)
        truth = both_ways(channel(), 0, changed, (changed,), ratio)
        return above_the_claim(truth, counts_delta(2, ratio, p=p, beta=beta, q0=p), lines)

    return confirm


def _hashed_reports_of_two(name, places):
    """Find the pair above the worst of all datasets of two users whose reports are hashed."""
    e = 3
    beta = Fraction(e - 1, e + places - 1)
    truth, _ = exact_shuffle.worst_delta(channels.local_hash(e, 3, places), 2, 1)
    claimed = counts_delta(2, 1, p=e, beta=beta, q0=e)
    steps = (
        f"{name}: two users, three items, odds {e}; an item has the reported hash with chance 1/{places}",
        f"the pair with the printed beta = {beta} at epsilon = 0: {printed(claimed)}",
        f"worst of all datasets, in exact fractions: {printed(truth)}",
    )
    return refuted_if(
        truth < claimed, f"the pair is {float(claimed / truth):.4g} times the worst dataset", steps
    )


def _caps(e):
    """Return PrivUnit on the circle, cut into ten cells: the two cells at the input have odds e."""
    return channels.normalised([[e if (y - x) % 10 < 2 else 1 for y in range(10)] for x in range(10)])


def _unit_vectors(effort):
    ratio = Fraction(5, 2)
    truth = both_ways(_caps(3), 0, 2, (0,), ratio)
    lines = (
        f"PrivUnit on the circle, caps of a fifth of it, odds 3, n = 2, e^epsilon = {ratio}; not tight:",
        "inputs with disjoint caps: p = q = 3, beta = 2/7; the other user holds one of the two",
    )
    return above_the_claim(truth, counts_delta(2, ratio, p=3, beta=Fraction(2, 7), q0=3), lines)


def _five_caps():
    five, eps = randomizers.generalized_rr(eps0=math.log(3.0), d=5), math.log(2.0)
    lines = ("n = 5, epsilon = log 2: five inputs with disjoint caps are 5-ary response; certified brackets",)
    claimed = VariationRatioPair.of(five, n=5).delta(eps).upper
    return above_the_claim(shuffle(five, n=5).delta(eps).lower, claimed, lines)


def _hash_of_figure_2(eps0):
    """Return local hash as in Figure 2, the pair's ε for it at its least, and a proved upper end."""
    one = randomizers.local_hash(eps0=eps0, d=128)
    n, delta = 10_000, 1e-6
    return one, VariationRatioPair.of(one, n=n).epsilon(delta).lower, shuffle(one, n=n).epsilon(delta).upper


def _hash_is_loose(effort):
    steps, least = [], math.inf
    for eps0 in evenly(effort, 1.0, 5.0):
        one, pair, proved = _hash_of_figure_2(eps0)
        least = min(least, pair / proved)
        steps.append(f"eps0 = {eps0:.2g}, l = {one.l}: pair {pair:.6g}, proved {proved:.6g}")
    return refuted_if(
        least > 1.0, f"the pair's epsilon is at least {least - 1:.2%} above a proved upper end", tuple(steps)
    )


def _looseness_of_hash():
    at = [0.5, 1.0, 1.5, 2.0, 2.5]  # the gap narrows as l grows
    claimed, proved = zip(*(_hash_of_figure_2(eps0)[1:] for eps0 in at), strict=True)
    quantity = "ε at δ = 1e-6, n = 10,000, l = e^ε₀ + 1"
    return failure_curve.beside_equality("ε₀", quantity, at, claimed, proved, tolerance=1e-4)


def _extremal(build, confirm, drawn, **sizes):
    return Check(_tight(build, **sizes), confirm, _profile(build, **drawn))


ITEMS = whole(4, 64)


EXTREMAL = {
    "wang24-tight-randomized-response": _extremal(
        randomizers.generalized_rr,
        _attack_on_two(
            "3-ary randomized response", lambda: exact_shuffle.randomized_response(3, 3), 3, Fraction(2, 5), 1
        ),
        {"d": 10},
        d=whole(3, 64),
    ),
    "wang24-tight-subset": _extremal(
        lambda eps0, d: randomizers.subset(eps0=eps0, d=d, k=2),
        _attack_on_two("2-subsets of four items", lambda: channels.subsets(3, 4, 1, 2), 3, Fraction(1, 3), 3),
        {"d": 10},
        d=ITEMS,
    ),
    "wang24-tight-local-hash": _extremal(
        lambda eps0, length: randomizers.local_hash(eps0=eps0, d=64, l=length),
        lambda: _hashed_reports_of_two("local hash with l = 3", 3),
        {"length": 8},
        length=whole(3, 64),
    ),
    "wang24-tight-hadamard": _extremal(
        randomizers.hadamard,
        _attack_on_two(
            "Hadamard response, three items", lambda: channels.hadamard(3, 3), 3, Fraction(1, 4), 2
        ),
        {"d": 7},
        d=ITEMS,
    ),
    "wang24-tight-piecewise": _extremal(
        randomizers.piecewise,
        _attack_on_two(
            "piecewise mechanism at -1, +1, 0", lambda: channels.piecewise(3), 9, Fraction(2, 3), 1
        ),
        {},
    ),
    "wang24-tight-subset-exponential": _extremal(
        lambda eps0, d: randomizers.subset_exponential(eps0=eps0, d=d, s=2, k=2),
        _attack_on_two(
            "subset exponential, d = 6, s = k = 2",
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
        _attack_on_two("PCKV-GRR, three keys", lambda: channels.key_values(3, 3, 1), 3, Fraction(1, 4), 5),
        {"d": 10},
        d=ITEMS,
    ),
    "wang24-tight-wheel": _extremal(
        lambda eps0, arc: randomizers.wheel(eps0=eps0, d=64, s=1, arc=arc),
        lambda: _hashed_reports_of_two("half circles, which hit a point like a hash with l = 2", 2),
        {"arc": 0.5},
        arc=linear(0.5, 0.9),
    ),
}


CHECKS = {
    **EXTREMAL,
    "wang24-tight-privunit": Check(
        _unit_vectors,
        _five_caps,
        _profile(lambda eps0, caps: randomizers.generalized_rr(eps0=eps0, d=caps), caps=5),
    ),
    "wang24-figure-2-tight": Check(
        _hash_is_loose, lambda: _hashed_reports_of_two("local hash with l = 3", 3), _looseness_of_hash
    ),
}

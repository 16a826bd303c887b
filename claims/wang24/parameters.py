r"""Tables 1 and 5 of the variation-ratio paper row by row: whether (p, β, q) is a bound, and the true value.

The printed formulas stand here as printed.  What is true comes from the mechanisms' output distributions, and
a second time from enumerated channels in exact fractions.
"""

import math
from fractions import Fraction
from math import comb

import numpy as np

from claims import exact_channels as channels
from claims import exact_shuffle
from claims.claim import Check, Finding, Verdict, holds_if, smaller_if
from claims.counterexample_search import linear, logarithmic, whole, worst
from claims.exact_count_pair import printed
from claims.exact_tests import random_channel, share_of_bound
from claims.failure_curve import Along
from shufflelib import randomizers

BUDGET = logarithmic(1e-2, 8.0)
ROUNDING = 1e-8  # relative


def measured(randomizer):
    """Return the true (p, β, q) of the attacked inputs, the largest over them."""
    all_ratios = [attack for inputs in randomizer.input_pairs() for attack in inputs.attacks]
    found = [
        (
            float(np.max(ratios.r0_over_w / ratios.r1_over_w)),
            0.5 * float(np.sum(ratios.w * np.abs(ratios.r0_over_w - ratios.r1_over_w))),
            float(np.max(ratios.r0_over_w)),
        )
        for ratios in all_ratios
    ]
    return tuple(max(column) for column in zip(*found, strict=True))


def _row(beta, build, **sizes):
    """Return the search for a mechanism whose p, β or q exceeds the printed e^eps0, β, e^eps0."""

    def check(effort):
        shares = []

        def excess(eps0, **mechanism):
            p, truth, q = measured(build(eps0=eps0, **mechanism))
            shares.append(truth / beta(math.exp(eps0), **mechanism))
            return max(math.log(shares[-1]), math.log(p) - eps0, math.log(q) - eps0) - ROUNDING

        found = worst(excess, effort, eps0=BUDGET, **sizes)
        exact_row = min(shares) > 1.0 - 1e-7
        evidence = "beta is exact"
        if not exact_row:
            evidence = f"the true beta is {min(shares):.3g} to {max(shares):.3g} of the printed one"
        if found.excess <= 0.0:
            return Finding(Verdict.HOLDS, f"{found.tried} mechanisms; {evidence}")
        point = dict(found.point)
        eps0 = point.pop("eps0")
        p, truth, q = measured(build(eps0=eps0, **point))
        steps = (
            f"at {found.description()}",
            f"printed: p = q = {math.exp(eps0):.8g}, beta = {beta(math.exp(eps0), **point):.8g}",
            f"true:    p = {p:.8g}, q = {q:.8g}, beta = {truth:.8g}",
        )
        return Finding(
            Verdict.REFUTED, f"at {found.description()} the true values exceed the printed ones", steps
        )

    return check


def _enumerated(channel, p, beta):
    """Return the second computation: total variation and ratio of an enumerated channel."""

    def confirm():
        rows = channel()
        truth, ratio = channels.total_variation(rows), channels.largest_ratio(rows)
        steps = (
            f"{len(rows)} inputs and {len(rows[0])} outputs enumerated in exact fractions",
            f"largest ratio {ratio}, printed p = q = {p}",
            f"total variation {printed(truth)}, printed beta = {printed(Fraction(beta))}",
        )
        return holds_if(truth <= beta and ratio <= p, steps[-1], steps)

    return confirm


def _entry(beta, build, confirm=None, failure_curve=None, **sizes):
    return Check(_row(beta, build, **sizes), confirm, failure_curve)


def _half(e):
    return math.sqrt(e)


def _subset_beta(e, d, k):
    kept = comb(d - 1, k - 1) - (comb(d - 2, k - 2) if k > 1 else 0)
    return (e - 1) * kept / (e * comb(d - 1, k - 1) + comb(d - 1, k))


def _exponential_beta(e, d, s, k):
    met = comb(d - s, k) - comb(d - 2 * s, k)
    return (e - 1) * met / (e * (comb(d, k) - comb(d - s, k)) + comb(d - s, k))


def _priv_kv_beta(e, d, s):
    e1 = e2 = _half(e)
    most = max(e1 * (e2 - 1) / (e2 + 1), e1 - 1 + (e2 - 1) / (2 * (e2 + 1)))
    return 2 * s * most / (d * (e1 + 1))


def _hadamard_beta(e, d):
    order = 1 << d.bit_length()
    return order / 4 * (e - 1) / (order / 2 * e + order / 2)


def _blocks(eps0, blocks, power):
    return randomizers.hadamard_blocks(eps0=eps0, K=blocks * 2**power, s=2 ** (power - 1), B=blocks)


def _sampled_beta(e, d, s):
    return s * (_half(e) - 1) / (d * (_half(e) + 1))


def _sampled_in_items_held(s):
    """Return the true and the printed β of sampled RAPPOR on s of 16 items, ε₀ = 1."""
    truth = measured(randomizers.sampled_rappor(eps0=1.0, d=16, s=s))[1]
    return truth, _sampled_beta(math.e, 16, s)


def _binary(eps0):
    return randomizers.binary_rr(eps0=eps0)


ITEMS, MANY = whole(3, 64), whole(8, 64)


def _no_more_variation(rng):
    """Compare a channel with randomized response of the same budget, in exact fractions."""
    rows = random_channel(rng, inputs=rng.randint(2, 6), outputs=rng.randint(2, 5))
    e, truth = channels.largest_ratio(rows), channels.total_variation(rows)
    if truth * (e + 1) > e - 1:
        return f"{rows}: ratio {e}, total variation {truth}"
    return truth * (e + 1) / (e - 1) if e > 1 else 0


def _duchi(effort):
    odd, even = channels.corners(3, 3), channels.corners(3, 2)
    ratios = channels.largest_ratio(odd), channels.largest_ratio(even)
    steps = (
        "corners of the cube, e^eps = 3; with probability 3/4 a report is uniform on {t: t.v >= 0}, "
        "else on {t: t.v <= 0}",
        f"d = 3: largest ratio {ratios[0]}, total variation {channels.total_variation(odd)} (printed 3 and "
        "1/2)",
        f"d = 2: largest ratio {ratios[1]}, because a tie t.v = 0 belongs to both halves",
        "with a tie counted half on either side the ratio is 3 again and the total variation 1/4",
    )
    exact_odd = ratios[0] == 3 and channels.total_variation(odd) == Fraction(1, 2)
    return smaller_if(
        exact_odd and ratios[1] > 3,
        f"exact for odd d; for d = 2 the largest ratio is {ratios[1]} instead of 3",
        steps,
    )


CHECKS = {
    "wang24-table1-general": share_of_bound(_no_more_variation, 4)._replace(
        confirm=_enumerated(lambda: exact_shuffle.randomized_response(3, 2), 3, Fraction(1, 2)),
    ),
    "wang24-table1-laplace": _entry(
        lambda e: 1 - 1 / _half(e),
        lambda eps0: randomizers.laplace(eps0=eps0),
        _enumerated(lambda: channels.laplace(3), 9, Fraction(2, 3)),
    ),
    "wang24-table1-piecewise": _entry(
        lambda e: 1 - 1 / _half(e),
        lambda eps0: randomizers.piecewise(eps0=eps0),
        _enumerated(lambda: channels.piecewise(3), 9, Fraction(2, 3)),
    ),
    "wang24-table1-binary-response": _entry(
        lambda e: (e - 1) / (e + 1),
        _binary,
        _enumerated(lambda: exact_shuffle.randomized_response(5, 2), 5, Fraction(2, 3)),
    ),
    "wang24-table1-general-response": _entry(
        lambda e, d: (e - 1) / (e + d - 1),
        randomizers.generalized_rr,
        _enumerated(lambda: exact_shuffle.randomized_response(3, 5), 3, Fraction(2, 7)),
        d=ITEMS,
    ),
    "wang24-table1-rappor": _entry(
        lambda e, d: (_half(e) - 1) / (_half(e) + 1),
        randomizers.rappor,
        _enumerated(lambda: channels.rappor(3, 3), 9, Fraction(1, 2)),
        d=ITEMS,
    ),
    "wang24-table1-subset": _entry(
        _subset_beta,
        randomizers.subset,
        _enumerated(lambda: channels.subsets(3, 5, 1, 2), 3, Fraction(2 * 3, 3 * 4 + 6)),
        d=MANY,
        k=whole(1, 7),
    ),
    "wang24-table1-local-hash": _entry(
        lambda e, length: (e - 1) / (e + length - 1),
        lambda eps0, length: randomizers.local_hash(eps0=eps0, d=64, l=length),
        _enumerated(lambda: channels.local_hash(3, 3, 3), 3, Fraction(2, 5)),
        length=whole(2, 64),
    ),
    "wang24-table1-hadamard": _entry(
        _hadamard_beta,
        randomizers.hadamard,
        _enumerated(lambda: channels.hadamard(3, 3), 3, Fraction(1, 4)),
        d=ITEMS,
    ),
    "wang24-table1-sampling-rappor": _entry(
        _sampled_beta,
        randomizers.sampled_rappor,
        _enumerated(lambda: channels.rappor(2, 4, 2), 4, Fraction(2, 4 * 3)),
        failure_curve=Along(range(1, 9), _sampled_in_items_held),
        d=MANY,
        s=whole(1, 4),
    ),
    "wang24-table1-pckv-grr": _entry(
        lambda e, d, s: s * (e - 1) / (s * e + 2 * d - s),
        randomizers.pckv_grr,
        _enumerated(lambda: channels.key_values(3, 3, 2), 3, Fraction(4, 10)),
        d=MANY,
        s=whole(1, 6),
    ),
    "wang24-table1-wheel": _entry(
        lambda e, share, s: share * (e - 1) / (share * e + 1 - share),
        lambda eps0, share, s: randomizers.wheel(eps0=eps0, d=64, s=s, arc=share / s),
        _enumerated(lambda: channels.local_hash(3, 3, 3), 3, Fraction(2, 5)),
        share=linear(0.02, 0.98),
        s=whole(1, 4),
    ),
    "wang24-table5-duchi": Check(_duchi),
    "wang24-table5-harmony": _entry(
        lambda e, d: (e - 1) / (e + 1),
        randomizers.harmony,
        _enumerated(lambda: channels.one_coordinate(3, 2), 3, Fraction(1, 2)),
        d=whole(1, 20),
    ),
    "wang24-table5-hadamard-blocks": _entry(
        lambda e, blocks, power: (e - 1) / (e + 2 * blocks - 1),
        _blocks,
        _enumerated(lambda: channels.hadamard(3, 6, blocks=2), 3, Fraction(4, 6 + 6)),
        blocks=whole(2, 16),
        power=whole(1, 6),
    ),
    "wang24-table5-subset-exponential": _entry(
        _exponential_beta,
        randomizers.subset_exponential,
        _enumerated(lambda: channels.subsets(3, 6, 2, 2), 3, Fraction(2 * 5, 3 * 9 + 6)),
        d=whole(12, 64),
        s=whole(1, 6),
        k=whole(1, 6),
    ),
    "wang24-table5-collision": _entry(
        lambda e, s, length: min(s, length - s) * (e - 1) / (s * e + length - s),
        lambda eps0, s, length: randomizers.collision(eps0=eps0, d=64, s=s, l=length),
        s=whole(1, 4),
        length=whole(6, 64),
    ),
    "wang24-table5-privkv": _entry(
        _priv_kv_beta,
        randomizers.privkv,
        _enumerated(lambda: channels.priv_kv(3, 3, 4, 2), 9, Fraction(4 * 9, 16 * 4)),
        d=MANY,
        s=whole(1, 6),
    ),
}

"""Claims made before the variation-ratio paper: closed forms in ε₀, clones, the privacy blanket."""

import math
from fractions import Fraction

import numpy as np

from claims import exact_shuffle
from claims.claim import Check, Finding, Verdict, refuted_if
from claims.counterexample_search import LOCAL, RISK, whole
from claims.exact_channels import largest_ratio, likely_pairs
from claims.exact_losses import blanket, blanket_delta
from claims.exact_tests import always, random_channel
from claims.failure_curve import LOWER, Along
from claims.upper_bound_check import upper_bound
from shufflelib import randomizers
from shufflelib.published import closed_form, renyi
from shufflelib.published.closed_form import BlanketBounds


def smaller_of(formulas, n, delta, **known):
    """Return the smaller of Hoeffding's and Bennett's answers, NaN where neither proves anything."""
    return float(np.fmin(*(closed_form.over(one, **known, n=n, delta=delta) for one in formulas)))


GENERIC = (closed_form.blanket_hoeffding, closed_form.blanket_bennett)
SPECIFIC = (closed_form.blanket_hoeffding_specific, closed_form.blanket_bennett_specific)


def _rr_blanket(eps0, d, n, delta):
    return smaller_of(SPECIFIC, n, delta, blanket=BlanketBounds.generalized_rr(eps0=eps0, d=d))


def _laplace_blanket(eps0, n, delta):
    return smaller_of(SPECIFIC, n, delta, blanket=BlanketBounds.laplace(eps0=eps0))


def _clones_of_the_paper(eps0, n, delta):
    """The closed form in the regime that the paper prints, log(2/δ), where the released code has log(4/δ)."""
    closed_form.regime.require(
        eps0 <= math.log(n / (16.0 * math.log(2.0 / delta))) if n > 16 * math.log(2 / delta) else False,
        "eps0 <= log(n/(16 log(2/delta)))",
        f"eps0 = {eps0}, n = {n}, delta = {delta}",
    )
    e, more = math.exp(eps0), math.log(4.0 / delta)
    return math.log1p((e - 1) / (e + 1) * (8 * math.sqrt(e * more / n) + 8 * e / n))


def _stronger_decomposition(effort):
    e = Fraction(3)
    rows = likely_pairs(e)
    removed = (rows[0][0] + rows[1][0]) / (e + 1)
    left, ratios = rows[2][0] - removed, largest_ratio(rows)
    steps = (
        f"three inputs, three outputs, in sevenths: {[[int(7 * x) for x in row] for row in rows]}",
        f"largest ratio of two inputs' probabilities: {ratios}, so the randomizer is log(3)-LDP",
        f"output 0: R2 = {rows[2][0]}, (R0 + R1)/(e + 1) = {removed}",
        f"residual mass of R2 after removing the clones: {left}, not a probability",
    )
    evidence = f"R2 - (R0 + R1)/(e + 1) = {left} on one output of a log(3)-LDP randomizer"
    return refuted_if(left < 0 and ratios == e, evidence, steps)


def _stronger_decomposition_again():
    """Every output of randomized response on pairs: weights e for two inputs of three."""
    left = left_over(3.0)
    steps = (f"in floating point: (1 - 2e/(e + 1))/(2e + 1) = {left:.6f} at e = 3, negative for every e > 1",)
    return refuted_if(left < 0, "the same from the formula", steps)


def left_over(e):
    """Return the residual mass of an output that two of three inputs share, which must not be negative."""
    return (1 - 2 * e / (e + 1)) / (2 * e + 1)


def _largest_share(rng):
    """Whether each report of a channel has 1/(2e) of the reports on both inputs in it, in exact fractions."""
    channel = random_channel(rng)
    share = min(r / (a + b) for row in channel for r, a, b in zip(row, *channel[:2], strict=True))
    return share >= 1 / (2 * largest_ratio(channel))


def _blanket_by_enumeration(effort):
    """Compare the lemma's number with the worst of all datasets, in exact fractions, for small channels."""
    tried = 0
    least = math.inf
    for e, d, n in ((3, 2, 3), (2, 3, 3), (5, 3, 2), (3, 4, 2)):
        channel = exact_shuffle.randomized_response(e, d)
        for ratio in (Fraction(11, 10), Fraction(3, 2), Fraction(19, 10)):
            truth, _ = exact_shuffle.worst_delta(channel, n, ratio)
            bound = blanket_delta(channel, n, ratio, blanket(channel), ((0, 1), (1, 0)))
            tried += 1
            if truth > bound:
                return Finding(Verdict.REFUTED, f"{d}-RR, n={n}: blanket {bound}, truth {truth}")
            if truth > 0:
                least = min(least, float(bound / truth))
    evidence = f"{tried} exact cases over all datasets, bound/truth at least {least:.4f}; the lemma is proved"
    return Finding(Verdict.HOLDS, evidence)


CHECKS = {
    "efmrtt19-closed-form": Check(upper_bound(closed_form.erlingsson19, randomizers.generic)),
    "balle19-lemma-5.3": Check(_blanket_by_enumeration),
    "balle19-hoeffding-bennett-generic": Check(
        upper_bound(
            lambda eps0, n, delta: smaller_of(GENERIC, n, delta, eps0=eps0),
            randomizers.generic,
            eps0=LOCAL,
            n=whole(2, 10**7),
            delta=RISK,
        )
    ),
    "balle19-hoeffding-bennett-rr": Check(
        upper_bound(
            _rr_blanket,
            randomizers.generalized_rr,
            eps0=LOCAL,
            d=whole(2, 1000),
            n=whole(2, 10**7),
            delta=RISK,
        )
    ),
    "balle19-hoeffding-bennett-laplace": Check(
        upper_bound(_laplace_blanket, randomizers.laplace, eps0=LOCAL, n=whole(2, 10**7), delta=RISK)
    ),
    "fmt21-pair": Check(
        upper_bound(
            lambda eps0, n, delta: renyi.clones_pair_fmt21(eps0=eps0, n=n).epsilon(delta).upper,
            randomizers.generic,
        )
    ),
    "fmt21-closed-form": Check(upper_bound(_clones_of_the_paper, randomizers.generic)),
    "fmt23-lemma-3.5": Check(
        _stronger_decomposition,
        _stronger_decomposition_again,
        Along(
            [Fraction(tenths, 10) for tenths in range(11, 101, 5)],
            lambda e: (left_over(e), 0.0),
            LOWER,
        ),
    ),
    "fmt23-erratum": always(_largest_share),
    "fmt23-pair": Check(
        upper_bound(
            lambda eps0, n, delta: renyi.generic_pair(eps0=eps0, n=n).epsilon(delta).upper,
            randomizers.generic,
        )
    ),
    "fmt23-closed-form": Check(upper_bound(closed_form.stronger_clones_fmt23, randomizers.generic)),
}

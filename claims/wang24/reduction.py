"""The variation-ratio reduction: the pair of two counts as an upper bound, and its lemmas."""

import math
from fractions import Fraction
from itertools import product

from claims import exact_shuffle
from claims.claim import Check
from claims.counterexample_search import CROWD, LOCAL, confirming, whole
from claims.exact_count_pair import (
    SCORE,
    both_ways,
    counts_channel,
    counts_delta,
    pair_below_mechanism,
    witness,
)
from claims.exact_tests import power_sum, random_distribution, share_of_bound
from claims.failure_curve import Along
from shufflelib import randomizers, shuffle
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _five_by_listing():
    """Return δ of five users at e^ε = 2, e^ε₀ = 3, the others at a third option, and the pair's."""
    truth = both_ways(exact_shuffle.randomized_response(3, 5), 0, 1, (2, 2, 2, 2), 2)
    return truth, counts_delta(5, 2, p=3, beta=Fraction(2, 7), q0=3)


def five_of(n):
    """Return δ at ε = log 2 of n users' 5-ary response, e^ε₀ = 3, and of the pair: lower and upper bound."""
    five, eps = randomizers.generalized_rr(eps0=math.log(3.0), d=5), math.log(2.0)
    return shuffle(five, n=n).delta(eps).lower, VariationRatioPair.of(five, n=n).delta(eps).upper


def _moments(order, *, e, d, n):
    """Return sums of P^order/Q^(order - 1): of d-ary response, others at a third option, and of the pair."""
    pair = counts_channel(e, Fraction(e - 1, e + d - 1), e)
    channels = exact_shuffle.randomized_response(e, d), pair
    return [power_sum(*exact_shuffle.neighbours(channel, n), order) for channel in channels]


def _renyi_of_options(d, order=4):
    """Return the Rényi divergence of three users' d-ary response with e^ε₀ = 11, and of the pair."""
    return [math.log(moment) / (order - 1) for moment in _moments(order, e=11, d=d, n=3)]


def _tokens_kept_apart(first, r, n):
    """Return the distribution of shuffled tokens: 0, 1 or 2 for the first user, 0, 1 or i + 1 for user i."""
    users = [[(0, first[0]), (1, first[1]), (2, first[2])]]
    users += [[(0, r), (1, r), (i + 1, 1 - 2 * r)] for i in range(2, n + 1)]
    distribution = {}
    for choice in product(*users):
        key = tuple(sorted(token for token, _ in choice))
        distribution[key] = distribution.get(key, 0) + math.prod(mass for _, mass in choice)
    return distribution


def _mixture_of_two(alpha):
    """Return δ at ε = log 2 for n = 2, p = 3, r = alpha: of the tokens, and of the two counts."""
    high, low, rest = 3 * alpha, alpha, 1 - 4 * alpha
    p, q = (_tokens_kept_apart(first, alpha, 2) for first in ((high, low, rest), (low, high, rest)))
    channel = [[high, low, rest], [low, high, rest], [alpha, alpha, 1 - 2 * alpha]]
    return exact_shuffle.hockey_stick(p, q, 2), exact_shuffle.delta(channel, 0, 1, (2,), 2)


def _lemma_44_by_hand():
    high, low, r = Fraction(3, 8), Fraction(1, 8), Fraction(1, 8)
    rest, other = 1 - high - low, 1 - 2 * r
    # outputs that exceed twice the other distribution: {0, 0} and {0, 3}; user 1's 0 is identified beside
    # a 3
    pair_of_zeros, beside = (high - 2 * low) * r, (high - 2 * low) * other
    # counts (1, 0): user 1's 0, or the 0 of user 2 beside user 1's 2
    one_zero = max(high * other + rest * r - 2 * (low * other + rest * r), 0)
    values = {"zeros": pair_of_zeros, "beside": beside, "one_zero": one_zero}
    return pair_of_zeros + beside, pair_of_zeros + one_zero, values


def generic_parameters(randomizer):
    """Return p, β and q that hold for every randomizer with its budget."""
    p = math.exp(randomizer.eps0)
    return p, math.tanh(randomizer.eps0 / 2.0), p


def _decompositions(rng):
    size = rng.randint(2, 5)
    r0, r1, other = (random_distribution(rng, size, range(1, 10)) for _ in range(3))
    ratios = [max(a / b, b / a) for a, b in zip(r0, r1, strict=True)]
    p, beta = max(ratios), sum(max(a - b, 0) for a, b in zip(r0, r1, strict=True))
    if p == 1:
        return None
    q = max(max(a, b) / c for a, b, c in zip(r0, r1, other, strict=True))
    alpha = beta / (p - 1)
    r = alpha * p / q
    left = [max(a - b, 0) / beta for a, b in zip(r0, r1, strict=True)]
    right = [max(b - a, 0) / beta for a, b in zip(r0, r1, strict=True)]
    kept = [a - alpha * (p * x + y) for a, x, y in zip(r0, left, right, strict=True)]
    same = [b - alpha * (x + p * y) for b, x, y in zip(r1, left, right, strict=True)]
    theirs = [c - r * (x + y) for c, x, y in zip(other, left, right, strict=True)]
    distributions = (sum(left), sum(right), sum(kept) + alpha * (1 + p), sum(theirs) + 2 * r)
    if kept != same or min(kept + theirs) < 0 or distributions != (1, 1, 1, 1):
        return f"R0 = {r0}, R1 = {r1}, Ri = {other}: a part is no probability"
    return 1


def _unlike_randomizers(rng):
    size, n = rng.randint(2, 4), rng.randint(2, 3)
    rows = [random_distribution(rng, size, range(1, 10)) for _ in range(n + 1)]
    p = max(max(a / b, b / a) for a, b in zip(*rows[:2], strict=True))
    if p == 1:
        return None
    q = max(max(a, b) / c for row in rows[2:] for a, b, c in zip(*rows[:2], row, strict=True))
    if 2 * p > (p + 1) * q:
        return None  # 2r > 1: there is no such pair
    ratio = 1 + (p - 1) * Fraction(rng.randint(0, 11), 12)
    truth = both_ways(rows, 0, 1, tuple(range(2, n + 1)), ratio)
    claimed = counts_delta(n, ratio, p=p, beta=(p - 1) / (p + 1), q0=q)
    if truth > claimed:
        return f"distributions {rows}, e^eps = {ratio}: {truth} > {claimed}"
    return truth / claimed


def _below_the_response(parameters, least):
    """Return the search for a response of ``least`` to 1000 options above the pair of these parameters."""
    return pair_below_mechanism(
        randomizers.generalized_rr, parameters, eps0=LOCAL, d=whole(least, 1000), n=CROWD, z=SCORE
    )


CHECKS = {
    "wang24-theorem-4.1": Check(
        witness(_five_by_listing),
        confirming(_below_the_response(lambda one: (one.p, one.beta, one.q), 3)),
        Along((2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 50), five_of),
    ),
    "wang24-theorem-4.2": Check(
        witness(lambda: _moments(2, e=3, d=5, n=5), "sum of P^2/Q"),
        witness(lambda: five_of(5)),
        Along(range(3, 15), _renyi_of_options),
    ),
    "wang24-lemma-4.3": share_of_bound(_decompositions, 4),
    "wang24-lemma-4.4": Check(
        witness(lambda: _mixture_of_two(Fraction(1, 8))),
        witness(_lemma_44_by_hand),
        Along([Fraction(k, 48) for k in range(1, 13)], _mixture_of_two),  # at 1/4 nothing remains of user 1
    ),
    "wang24-general-mechanisms": Check(_below_the_response(generic_parameters, 2)),
    "wang24-unlike-randomizers": share_of_bound(_unlike_randomizers, 2),
}

"""The reduction of shuffling to counts of two symbols, and the "exact" Rényi divergence derived from it."""

import functools
import math
import random
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
from scipy.stats import binom

from claims import exact_shuffle
from claims.claim import Check, Finding, Verdict, Worded, refuted_if
from claims.exact_channels import largest_ratio
from claims.exact_count_pair import both_ways, counts_channel, counts_delta, printed, witness
from claims.exact_tests import corners, false_negatives, random_channel, share_of_bound
from claims.failure_curve import LOWER, Along, within
from shufflelib import profiles
from shufflelib.published import joint_concavity, renyi


def _clones(e):
    """Return p, beta and q of the pair in which every other user is a clone with probability 1/e."""
    e = Fraction(e)
    return {"p": e, "beta": (e - 1) / (e + 1), "q0": 2 * e * e / (e + 1)}


def _one_sided(e, share):
    """Return the rows of Theorem 1's pair: with probability ``share`` the changed user reports a symbol."""
    return counts_channel(math.inf, Fraction(share), 2 * Fraction(e) * Fraction(share))


def _power_sum(p, q):
    """Return the sum of P²/Q, infinite where P has an output that Q does not have."""
    if any(mass and not q.get(output) for output, mass in p.items()):
        return math.inf
    return sum(mass**2 / q[output] for output, mass in p.items() if mass)


def _proposition_1(effort):
    rng, tried, most = random.Random(effort.seed), 0, 0.0
    for _ in range(effort.points):
        channel, n = random_channel(rng, rng.randint(2, 3)), rng.randint(1, 3)
        e = largest_ratio(channel)
        if e == 1:
            continue
        pair = counts_channel(**_clones(e))
        above = _power_sum(*(exact_shuffle.shuffled(pair, (x,) + (2,) * (n - 1)) for x in (0, 1)))
        ratio = 1 + (e - 1) * Fraction(rng.randint(0, 9), 10)
        delta = counts_delta(n, ratio, **_clones(e))
        for others in combinations_with_replacement(range(len(channel)), n - 1):
            distributions = [exact_shuffle.shuffled(channel, (x, *others)) for x in (0, 1)]
            truth, attained = _power_sum(*distributions), both_ways(channel, 0, 1, others, ratio)
            tried, most = tried + 1, max(most, float(truth / above))
            if truth > above or attained > delta:
                return Finding(Verdict.REFUTED, f"channel {channel}, others {others}, e^eps = {ratio}")
    evidence = (
        f"{tried} datasets of random and structured channels in exact fractions, as delta and as D_2; sums "
        "of P^2/Q at most"
    )
    return Finding(Verdict.HOLDS, f"{evidence} {most:.4f} times the pair's; proved by Feldman et al.")


# ---------------------------------------------------------------- Theorem 1


def _conference(effort):
    p, q = (exact_shuffle.shuffled(_one_sided(2, Fraction(1, 2)), (x, 2)) for x in (1, 0))
    alone = both_ways(_one_sided(3, Fraction(1, 3)), 0, 1, (), 1)
    real = exact_shuffle.worst_delta(exact_shuffle.randomized_response(3, 2), 1, 1)[0]
    slopes = _conference_slopes()
    slope = ", ".join(map(str, slopes))
    steps = (
        f"e^eps0 = 2, n = 2: two second symbols, none of the first: P has {p[0, 2, 0]}, Q has "
        f"{q.get((0, 2, 0), 0)}",
        f"so D_lambda(P || Q) = infinity at every order; at order 2 the sum of P^2/Q is {_power_sum(p, q)}",
        f"the printed h at e^eps0 = 2, n = 2 has slope {slope} at all points tried away from its jump: "
        "whatever alpha(t) is, g is a step function",
        "so the integral of |h'|^(1 - lambda) is 1 and the formula says D_lambda = 0",
        f"as (eps, delta) the pair is below the mechanism: e^eps0 = 3, n = 1, delta(0) = {alone}, 2-RR has "
        f"{real}",
    )
    refuted = _power_sum(p, q) == math.inf and slopes == {-1} and alone < real
    evidence = (
        "the printed pair's divergence is infinite, the printed formula is 0, and the pair is below 2-RR"
    )
    return refuted_if(refuted, evidence, steps)


def _formula_at(order):
    """Return what an attack attains of D_λ at ε₀ = 1, n = 20, and the printed integral, which is 0."""
    return renyi.binary_rr_pair(eps0=1.0, n=20).renyi(order).lower, 0.0


def conference_h(e, alpha):
    """Return the printed h(alpha) for n = 2: v = 1 is the only term, alpha(t) is 1/e for t < 1, else 0."""
    return 1 - alpha - (1 / (2 * e) if alpha < 1 / e else 0)  # P(A = 0) P(C = 1) while g = 1


def _conference_slopes():
    """Return the slopes of the printed h at e^eps0 = 2, n = 2, away from its jump."""
    e, grid = Fraction(2), [Fraction(j, 12) for j in range(13)]
    steps = [(a, b) for a, b in pairwise(grid) if not a < 1 / e <= b]
    return {(conference_h(e, b) - conference_h(e, a)) * 12 for a, b in steps}


def _conference_by_hand():
    e, slopes = Fraction(2), _conference_slopes()
    both = 1 / e * 1 / e * Fraction(1, 2)  # Delta = 1, the other user a clone of the second symbol
    steps = (
        "by hand, n = 2, e = 2: h(alpha) = 1 - alpha - 1/4 below alpha = 1/2, then 1 - alpha; slopes "
        f"{slopes}",
        f"P(0 first, 2 second symbols) = 1/e * 1/(2e) = {both}; under Q one report is never a second symbol",
    )
    return refuted_if(slopes == {-1} and both > 0, "the same by hand", steps)


def preprint_h(fpr, *, eps0, n):
    """Return the preprint's h(fpr) as printed, with A ~ Bin(v, 1/2) among v clones."""
    first, second = next((x, y) for rate, x, y in _tails(eps0, n) if rate <= fpr)
    return 1.0 - fpr + math.tanh(0.5 * eps0) * float(first - second)


@functools.lru_cache(maxsize=8)
def _tails(eps0, n):
    """Return for each ratio t, in order, P(a/b > t), and what it is if Δ is 1 and if it is 0."""
    v, share = np.arange(n), 1.0 / (1.0 + math.exp(-eps0))
    chance, found = binom.pmf(v, n - 1, math.exp(-eps0)), []
    for t in sorted({a / b for b in range(1, n) for a in range(n - b + 1)}):
        b1 = np.floor((t * v - 1.0) / (t + 1.0) + 1e-9)
        first, second = (binom.sf(least, v, 0.5) @ chance for least in (b1, b1 + 1.0))
        found.append((share * first + (1.0 - share) * second, first, second))
    return found


def _printed_h_at(level):
    """Return the false negatives of the best test between the printed P and Q at ε₀ = 1, n = 20, and h."""
    at = {"eps0": 1.0, "n": 20}
    return renyi.theorem1_pair_arxiv24(**at).tradeoff(level).upper, preprint_h(level, **at)


def _preprint(effort):
    p, q = (exact_shuffle.shuffled(_one_sided(3, Fraction(3, 4)), (x, 2, 2)) for x in (1, 0))
    claimed, perfect = preprint_h(0.05, eps0=1.0, n=20), 1.0 - 0.05
    attack = renyi.binary_rr_pair(eps0=1.0, n=20)
    attained = min(attack.tradeoff(0.05).upper, attack.reversed.tradeoff(0.05).upper)
    steps = (
        f"e^eps0 = 3, n = 3: P(no first, 3 second symbols) = {p[0, 3, 0]}, under Q {q.get((0, 3, 0), 0)}: "
        "D_lambda is infinite at every order",
        f"eps0 = 1, n = 20: printed h(0.05) = {claimed:.6g} > 1 - 0.05 = {perfect:.6g}, which no test "
        "function is",
        f"binary randomized response has at most {attained:.6g} there",
    )
    refuted = _power_sum(p, q) == math.inf and claimed > perfect > attained
    evidence = (
        f"h(0.05) = {claimed:.4g} is above perfect privacy (eps0 = 1, n = 20); the pair's divergence is "
        "infinite"
    )
    return refuted_if(refuted, evidence, steps)


def _preprint_by_hand():
    """Take n = 1: v = 0, A = C = 0, so B1 = -1/(g + 1) and the event B1 < A <= B1 + 1 is certain."""
    e = Fraction(3)
    c0 = (1 / e - 1) / (1 / e + 1)
    rise = -c0
    steps = (
        f"n = 1, e = 3: c0 = {c0}, the event B1 < A <= B1 + 1 has probability 1, so h(alpha) = 1 - alpha + "
        f"{rise}",
        "above 1 - alpha, and above 1 at alpha = 0; its slope is -1, so the formula says D_lambda = 0",
        f"P = (0, Delta), Q = (Delta, 0): P(0, 1) = {e / (e + 1)} where Q has 0",
    )
    return refuted_if(rise > 0, "the same by hand", steps)


def _corollary_1(rng):
    eps0, n, order = rng.uniform(0.1, 4.0), rng.randint(2, 30), rng.uniform(1.1, 12.0)
    for build in (renyi.theorem1_pair_icassp24, renyi.theorem1_pair_arxiv24):
        if build(eps0=eps0, n=n).renyi(order).lower < math.inf:
            return f"eps0={eps0}, n={n}: a finite divergence"
    pair = renyi.clones_pair_fmt21(eps0=eps0, n=n)
    meant = joint_concavity.renyi(profiles.from_pair(pair.cells), order=order)
    gap = abs(meant.upper / pair.renyi(order).upper - 1.0)
    return gap if gap < 1e-6 else f"eps0={eps0}, n={n}, order={order}: {gap:.3g} apart"


# ---------------------------------------------------------------- Lemma A.5 of the preprint


E2 = Fraction(2)  # e^eps0 in Lemma A.5


def lemma_a5_h(level, *, e, n, corrected=False):
    """Return the h of Lemma A.5 at ``level``, exactly, with alpha(t) as in its proof.

    Its sum leaves out v = 0 and takes A = ceil(x), x = (g v - 1)/(g + 1).  The proof needs v = 0 and the
    integer in (x, x + 1], which is another one where x is an integer: ``corrected`` has both.
    """
    clones = [math.comb(n - 1, v) * (1 / e) ** v * (1 - 1 / e) ** (n - 1 - v) for v in range(n)]

    def mass(v, count):
        return Fraction(math.comb(v, count), 2**v) * clones[v] if count >= 0 else 0

    def alpha(t):
        return sum(mass(v, a) for v in range(n) for a in range(v + 1) if a > t * (v + 1 - a))

    ratios = sorted({Fraction(a, b) for b in range(1, n + 1) for a in range(n - b + 1)})
    g = next(t for t in ratios if alpha(t) <= level)
    where = [(g * v - 1) / (g + 1) for v in range(n)]
    cells = [math.floor(x) + 1 if corrected else math.ceil(x) for x in where]
    return 1 - level - sum(mass(v, cells[v]) for v in range(0 if corrected else 1, n))


def _certain_symbol(level, *, e, n):
    """Return T of the pair (A, C - A + 1) and (A + 1, C - A) at ``level``: the best test, listed."""
    rows = [[1, 0, 0], [0, 1, 0], [1 / (2 * e), 1 / (2 * e), 1 - 1 / e]]
    return false_negatives(corners(*exact_shuffle.neighbours(rows, n)), level)


def _lemma_a5(effort):
    steps, above = [], True
    for n, level, corrected in ((2, Fraction(0), False), (3, Fraction(1, 20), True)):
        h = lemma_a5_h(level, e=E2, n=n, corrected=corrected)
        true = _certain_symbol(level, e=E2, n=n)
        which = "corrected" if corrected else "printed"
        steps.append(f"e^eps0 = 2, n = {n}: {which} h({level}) = {printed(h)}, T = {printed(true)}")
        above = above and h > true
    return refuted_if(above, "; ".join(steps), steps)


def _lemma_a5_by_hand():
    """Reject where no second symbol is left, and with some chance where it is one of three.

    Another user is a clone of either symbol with chance 1/4, and no clone with chance 1/2.
    """
    quarter, half, level = Fraction(1, 4), Fraction(1, 2), Fraction(1, 20)
    two, three = (
        1 - (half + quarter),
        1 - (half + quarter) ** 2,
    )  # misses: no clone of the second symbol under Q
    once, twice = quarter**2, 2 * quarter**2  # (2, 1) under P, two clones of the first symbol; and under Q
    missed, chord = three - level / once * twice, three - level
    jump = 1 - half * half  # printed h(0) for n = 2: v = 1 alone counts, with A = 1
    steps = (
        f"n = 2: rejecting (1, 0) and (2, 0), impossible under P, misses {two}; h(0) = {jump}",
        f"n = 2, Q as printed: rejecting (0, 0) and (1, 0), impossible under P, misses {two} as well",
        f"n = 3: rejecting (1, 0), (2, 0), (3, 0) misses {three}; some (2, 1) too: T({level}) <= {missed}",
        f"from the corner (0, {three}) the corrected h falls with slope -1, to {chord}",
    )
    return refuted_if(two < jump and missed < chord, "the same by hand", steps)


def _lemma_a5_ends(level):
    return _certain_symbol(level, e=E2, n=8), lemma_a5_h(level, e=E2, n=8)


# ---------------------------------------------------------------- steps of proofs


def _shares(e):
    """Return delta(0) among two users: of randomized response, and of the proof's pair.

    At e = 2 Delta ~ Bern(1/2), so that P2 and Q2 are one distribution.
    """
    share = 1 - 1 / Fraction(e)  # of the first symbol under P2
    rows = [[share, 1 - share, 0], [1 - share, share, 0], [(1 - share) / 2] * 2 + [share]]
    truth, _ = exact_shuffle.worst_delta(exact_shuffle.randomized_response(e, 2), 2, 1)
    return truth, both_ways(rows, 0, 1, (2,), 1)


def _share_by_variation(e=Fraction(2)):
    """Return |1 - 2p| for p = (e - 1)/e among one user, and for the pair."""
    return (e - 1) / (e + 1), abs(1 - 2 / e)


def _exchange(alpha, *, n, share, clone, third=0):
    """Return both sides of an equation for T at ``alpha``: what is claimed, and T of the mixture.

    The changed user reports the third symbol with probability ``third``, else the input's symbol among the
    first two with probability ``share``; each other user reports either of these with probability ``clone``.
    """

    def test_between(held, other, third):
        rows = [[held, other, third, 0], [other, held, third, 0], [clone, clone, 0, 1 - 2 * clone]]
        return false_negatives(corners(*exact_shuffle.neighbours(rows, n)), alpha)

    certain = third * (1 - alpha) + (1 - third) * test_between(1, 0, 0)
    return certain, test_between((1 - third) * share, (1 - third) * (1 - share), third)


E = Fraction(3)  # e^eps0 in equations (17)
OF_THE_PROOF = {"n": 2, "share": 1 - 1 / E, "clone": 1 / (2 * E)}
PERSONAL = {"n": 2, "share": E / (E + 1), "clone": 1 / (E + 1), "third": Fraction(1, 2)}


def _mixture_step(mechanism, alphas, confirm):
    """Return the check of an equation at two levels, with its failure curve over all of them."""

    def told(lines):
        def check(effort):
            sides = [(alpha, *_exchange(alpha, **mechanism)) for alpha in alphas]
            found = [
                f"alpha = {alpha}: claimed T = {printed(claimed)}, T of the mixture = {printed(true)}"
                for alpha, claimed, true in sides
            ]
            differ = all(claimed != true for _, claimed, true in sides)
            return refuted_if(differ, "; ".join(found), (*lines, *found))

        return check

    def ends(level):
        return _exchange(level, **(mechanism | {"n": 8}))[::-1]

    return Check(Worded(told), confirm, Along([Fraction(j, 20) for j in range(1, 18)], ends, within(1e-6)))


def _one_token():
    share = OF_THE_PROOF["share"]
    steps = (f"n = 1: a certain token has total variation 1, an exchanged one {abs(2 * share - 1)}",)
    return refuted_if(abs(2 * share - 1) != 1, "one user alone", steps)


def _three_symbols():
    """Take n = 1: a certain token is identified, so that the right side is delta_n (1 - alpha)."""
    share, third = PERSONAL["share"], PERSONAL["third"]
    steps, differ = [], True
    for rejected, alpha, beta in (
        ("second symbol", (1 - third) * (1 - share), 1 - (1 - third) * share),
        ("second and third symbol", 1 - (1 - third) * share, (1 - third) * (1 - share)),
    ):
        claimed = third * (1 - alpha)
        differ = differ and claimed != beta
        steps.append(f"n = 1, reject the {rejected}: alpha = {alpha}, T = {beta}, claimed {claimed}")
    return refuted_if(differ, "one user alone", steps)


CHECKS = {
    "ccg24-proposition-1": Check(_proposition_1),
    "ccg24-theorem-1-conference": Check(
        _conference,
        _conference_by_hand,
        Along([1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], _formula_at),
    ),
    "ccg24-theorem-1-preprint": Check(
        _preprint, _preprint_by_hand, Along([j / 20 for j in range(1, 18)], _printed_h_at, LOWER)
    ),
    "ccg24-corollary-1": share_of_bound(_corollary_1, 1, most=32),
    "ccg24-lemma-a5": Check(
        _lemma_a5, _lemma_a5_by_hand, Along([Fraction(j, 20) for j in range(20)], _lemma_a5_ends, LOWER)
    ),
    "ccg24-proof-of-theorem-2": Check(
        witness(lambda: _shares(2)),
        witness(_share_by_variation),
        Along([Fraction(quarters, 4) for quarters in range(5, 25)], _shares),
    ),
    "ccg24-equation-17": _mixture_step(OF_THE_PROOF, (Fraction(1, 4), Fraction(1, 2)), _one_token),
    "gspa24-equation-17": _mixture_step(PERSONAL, (Fraction(1, 4), Fraction(18, 25)), _three_symbols),
}

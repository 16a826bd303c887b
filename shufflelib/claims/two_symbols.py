"""The reduction of shuffling to counts of two symbols, and the "exact" Rényi divergence drawn from it."""

import math
import random
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

from shufflelib import renyi
from shufflelib.claims import exact
from shufflelib.claims.claim import Claim, Finding, Verdict
from shufflelib.claims.counts_pair import above_the_claim, both_ways, counts_channel, counts_delta, printed
from shufflelib.claims.enumerated_channels import largest_ratio, normalised

CONFERENCE = "Chen, Cao, Ge (ICASSP 2024, full version)"
PREPRINT = "Chen, Cao, Ge (arXiv:2401.04306v1)"
GENERALIZED = "Chen, Cao, Ge (AAAI 2024)"
PROPOSITION_1 = (
    "With Proposition 1's pair, (A + Delta, C - A + 1 - Delta) and Delta ~ Bern(e^eps0/(e^eps0 + 1)), and "
    "randomised tests: then it is the theorem of Feldman, McMillan, Talwar (FOCS 2021)."
)


def _clones(e):
    """Return p, beta and q of the pair in which every other user is a clone with chance 1/e."""
    e = Fraction(e)
    return {"p": e, "beta": (e - 1) / (e + 1), "q0": 2 * e * e / (e + 1)}


def _one_sided(e, share):
    """Return the rows of Theorem 1's pair: the changed user shows a symbol with chance ``share``, or none."""
    return counts_channel(math.inf, Fraction(share), 2 * Fraction(e) * Fraction(share))


def _random_channel(rng):
    """Return randomized response, or a random channel of three inputs, in exact fractions."""
    if rng.random() < 0.5:
        return exact.randomized_response(rng.randint(2, 6), rng.randint(2, 3))
    size = rng.randint(2, 3)
    return normalised([[rng.randint(2, 9) for _ in range(size)] for _ in range(3)])


def _power_sum(p, q):
    """Return the sum of P²/Q, infinite where P has an output that Q has not."""
    if any(mass and not q.get(output) for output, mass in p.items()):
        return math.inf
    return sum(mass**2 / q[output] for output, mass in p.items() if mass)


def _proposition_1(effort):
    rng, tried, most = random.Random(effort.seed), 0, 0.0
    for _ in range(effort.points):
        channel, n = _random_channel(rng), rng.randint(1, 4)
        e = largest_ratio(channel)
        if e == 1:
            continue
        pair = counts_channel(**_clones(e))
        above = _power_sum(*(exact.shuffled(pair, (x,) + (2,) * (n - 1)) for x in (0, 1)))
        ratio = 1 + (e - 1) * Fraction(rng.randint(0, 9), 10)
        delta = counts_delta(n, ratio, **_clones(e))
        for others in combinations_with_replacement(range(len(channel)), n - 1):
            laws = [exact.shuffled(channel, (x, *others)) for x in (0, 1)]
            truth, attained = _power_sum(*laws), both_ways(channel, 0, 1, others, ratio)
            tried, most = tried + 1, max(most, float(truth / above))
            if truth > above or attained > delta:
                return Finding(Verdict.REFUTED, f"channel {channel}, others {others}, e^eps = {ratio}")
    said = (
        f"{tried} datasets of randomized response and random channels in exact fractions, as delta and as "
        "D_2; sums of P^2/Q at most"
    )
    return Finding(Verdict.HOLDS, f"{said} {most:.4f} times the pair's; proved by Feldman et al.")


# ---------------------------------------------------------------- Theorem 1


def _conference(effort):
    p, q = (exact.shuffled(_one_sided(2, Fraction(1, 2)), (x, 2)) for x in (1, 0))
    alone = both_ways(_one_sided(3, Fraction(1, 3)), 0, 1, (), 1)
    real = exact.worst_delta(exact.randomized_response(3, 2), 1, 1)[0]
    slopes = _slopes(renyi.theorem1_tradeoff_icassp24)
    steps = (
        f"e^eps0 = 2, n = 2: two second symbols, none of the first: P has {p[0, 2, 0]}, Q has "
        f"{q.get((0, 2, 0), 0)}",
        f"so D_lambda(P || Q) = infinity at every order; at order 2 the sum of P^2/Q is {_power_sum(p, q)}",
        f"the printed h at e^eps0 = 2, n = 2 has slope {slopes} at all points tried between its jumps",
        "so the integral of |h'|^(1 - lambda) is 1 and the formula says D_lambda = 0",
        f"as (eps, delta) the pair is below the mechanism: e^eps0 = 3, n = 1, delta(0) = {alone}, 2-RR has "
        f"{real}",
    )
    refuted = _power_sum(p, q) == math.inf and slopes == "-1" and alone < real
    said = "the printed pair's divergence is infinite, the printed formula is 0, and the pair is below 2-RR"
    return Finding(Verdict.REFUTED if refuted else Verdict.HOLDS, said, steps)


def _slopes(h):
    """Return the slope of h at e^eps0 = 2, n = 2, where it is the same at all points away from its jumps."""
    at = {"eps0": math.log(2.0), "n": 2}
    points = [(j + 0.37) / 40 for j in range(40)]
    found = {round((h(**at, fpr=x + 1e-6) - h(**at, fpr=x)) / 1e-6, 4) for x in points}
    return "-1" if found == {-1.0} else str(sorted(found))


def _conference_by_hand():
    """Take n = 2: v = 1 is the only term; alpha(t) is 1/e for t < 1 and 0 for t > 1."""
    e = Fraction(2)

    def h(alpha):
        return 1 - alpha - (1 / (2 * e) if alpha < 1 / e else 0)  # P(A = 0) P(C = 1) while g = 1

    grid = [Fraction(j, 12) for j in range(13)]
    slopes = {(h(b) - h(a)) * 12 for a, b in pairwise(grid) if not a < 1 / e <= b}
    both = 1 / e * 1 / e * Fraction(1, 2)  # Delta = 1, the other user a clone of the second symbol
    steps = (
        "by hand, n = 2, e = 2: h(alpha) = 1 - alpha - 1/4 below alpha = 1/2, then 1 - alpha; slopes "
        f"{slopes}",
        f"P(0 first, 2 second symbols) = 1/e * 1/(2e) = {both}; under Q one report is never a second symbol",
    )
    verdict = Verdict.REFUTED if slopes == {-1} and both > 0 else Verdict.HOLDS
    return Finding(verdict, "the same by hand", steps)


def _preprint(effort):
    p, q = (exact.shuffled(_one_sided(3, Fraction(3, 4)), (x, 2, 2)) for x in (1, 0))
    at = {"eps0": 1.0, "n": 20, "fpr": 0.05}
    claimed, perfect = renyi.theorem1_tradeoff_arxiv24(**at), 1.0 - at["fpr"]
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
    said = (
        f"h(0.05) = {claimed:.4g} is above perfect privacy (eps0 = 1, n = 20); the pair's divergence is "
        "infinite"
    )
    return Finding(Verdict.REFUTED if refuted else Verdict.HOLDS, said, steps)


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
    return Finding(Verdict.REFUTED if rise > 0 else Verdict.HOLDS, "the same by hand", steps)


def _corollary_1(effort):
    rng, largest = random.Random(effort.seed), 0.0
    for _ in range(min(effort.points, 32)):
        eps0, n, order = rng.uniform(0.1, 4.0), rng.randint(2, 30), rng.uniform(1.1, 12.0)
        for build in (renyi.theorem1_pair_icassp24, renyi.theorem1_pair_arxiv24):
            if build(eps0=eps0, n=n).renyi(order).lower < math.inf:
                return Finding(Verdict.REFUTED, f"eps0={eps0}, n={n}: a finite divergence")
        meant = renyi.ratio_test_arxiv24(eps0=eps0, n=n).renyi(order)
        pair = renyi.clones_pair_fmt21(eps0=eps0, n=n).renyi(order)
        largest = max(largest, abs(meant / pair.upper - 1.0))
    said = (
        "an infinite divergence bounds everything, so that it says nothing; along the test curve of the "
        "arXiv "
    )
    said += f"proof the integral is that of Proposition 1's pair to {max(largest, 1e-15):.1g}"
    return Finding(Verdict.HOLDS if largest < 1e-6 else Verdict.REFUTED, said)


# ---------------------------------------------------------------- steps of proofs


def _share_of_the_proof(effort):
    e = 2
    share = 1 - Fraction(1, e)  # of the first symbol under P2
    rows = [[share, 1 - share, 0], [1 - share, share, 0], [Fraction(1, 2 * e)] * 2 + [1 - Fraction(1, e)]]
    claimed = both_ways(rows, 0, 1, (2,), 1)
    truth, _ = exact.worst_delta(exact.randomized_response(e, 2), 2, 1)
    lines = ("e^eps0 = 2, n = 2, eps = 0; Delta ~ Bern(1/2), so that P2 and Q2 are one law",)
    return above_the_claim(truth, claimed, lines)


def _share_by_variation():
    e = Fraction(2)
    lines = ("n = 1: |1 - 2p| for the pair, (e - 1)/(e + 1) for randomized response, p = 1/e, e = 2",)
    return above_the_claim((e - 1) / (e + 1), abs(1 - 2 / e), lines)


def _mixture(share, e, n):
    """Return δ at ε = 0 of tokens shown for certain, and of tokens exchanged with chance 1 − ``share``."""
    other = [Fraction(1, 2 * e)] * 2 + [1 - Fraction(1, e)]
    certain = both_ways([[1, 0, 0], [0, 1, 0], other], 0, 1, (2,) * (n - 1), 1)
    mixed = both_ways([[share, 1 - share, 0], [1 - share, share, 0], other], 0, 1, (2,) * (n - 1), 1)
    return certain, mixed


def _mixture_step(chance):
    def check(effort):
        e, n = 3, 2
        certain, mixed = _mixture(chance(e), e, n)
        steps = (
            f"e^eps0 = {e}, n = {n}, total variation (1 - alpha - T at its best alpha)",
            f"T(P, Q), token shown for certain: {printed(certain)}",
            f"T(P2, Q2), token exchanged with chance {1 - chance(e)}: {printed(mixed)}",
        )
        said = f"total variations {printed(certain)} and {printed(mixed)} where equality is claimed"
        return Finding(Verdict.REFUTED if certain != mixed else Verdict.HOLDS, said, steps)

    def confirm():
        share = chance(3)
        steps = (f"n = 1: a certain token has total variation 1, an exchanged one {abs(2 * share - 1)}",)
        verdict = Verdict.REFUTED if abs(2 * share - 1) != 1 else Verdict.HOLDS
        return Finding(verdict, "one user alone", steps)

    return check, confirm


EXCHANGED = _mixture_step(lambda e: 1 - Fraction(1, e))
EXCHANGED_PERSONAL = _mixture_step(lambda e: Fraction(e, e + 1))
HARDER = (
    "With >= for =: a test that does not see which of two cases it is in does no better than their mixture."
)

CLAIMS = (
    Claim(
        id="ccg24-proposition-1",
        statement=(
            "n shuffled adaptive eps0-LDP reports are a post-processing of (A + Delta, C - A + 1 - Delta) "
            "or (A + 1 - Delta, C - A + Delta), C ~ Bin(n-1, e^-eps0), A ~ Bin(C, 1/2), Delta ~ "
            "Bern(e^eps0/(e^eps0+1))."
        ),
        source=f"{CONFERENCE}, Proposition 1, after Feldman, McMillan, Talwar (FOCS 2021)",
        verdict=Verdict.HOLDS,
        check=_proposition_1,
    ),
    Claim(
        id="ccg24-theorem-1-conference",
        statement=(
            "For P = (A, C - A + Delta), Q = (A + Delta, C - A), Delta ~ Bern(e^-eps0): D_lambda(P||Q) = "
            "log(integral of |h'|^(1-lambda))/(lambda-1), h from equations (5)-(7)."
        ),
        source=f"{CONFERENCE}, Theorem 1",
        verdict=Verdict.REFUTED,
        check=_conference,
        confirm=_conference_by_hand,
        reading=PROPOSITION_1,
    ),
    Claim(
        id="ccg24-theorem-1-preprint",
        statement=(
            "The same with Delta ~ Bern(1/(1 + e^-eps0)) and h(alpha) = 1 - alpha - c0 sum P(B1 < A <= B2 | "
            "v) P(C = v), c0 = (e^-eps0 - 1)/(e^-eps0 + 1)."
        ),
        source=f"{PREPRINT}, Theorem 1",
        verdict=Verdict.REFUTED,
        check=_preprint,
        confirm=_preprint_by_hand,
        reading=PROPOSITION_1,
    ),
    Claim(
        id="ccg24-corollary-1",
        statement=(
            "Shuffled eps0-LDP reports are (lambda, max(D(P||Q), D(Q||P)))-RDP with the pair of Theorem 1."
        ),
        source=f"{CONFERENCE} and {PREPRINT}, Corollary 1",
        verdict=Verdict.HOLDS,
        check=_corollary_1,
        reading=f"The number of the printed formula, 0, is no bound. {PROPOSITION_1}",
    ),
    Claim(
        id="ccg24-proof-of-theorem-2",
        statement=(
            "Shuffling is no easier to test than (n0 + 1 - Delta, n1 + Delta) against (n0 + Delta, n1 + 1 - "
            "Delta) with Delta ~ Bern(e^-eps0)."
        ),
        source=f"{CONFERENCE}, Section 7.3 and 7.5; {PREPRINT}, Appendix A.2 and A.3",
        verdict=Verdict.REFUTED,
        check=_share_of_the_proof,
        confirm=_share_by_variation,
        reading="With Delta ~ Bern(1/(e^eps0 + 1)), as in Proposition 1. What follows does not use Delta.",
    ),
    Claim(
        id="ccg24-equation-17",
        statement="T(P2, Q2) = P(Delta = 0) T(P, Q) + P(Delta = 1) T(Q, P) = T(P, Q).",
        source=f"{PREPRINT}, equation (17); {CONFERENCE}, equation (29)",
        verdict=Verdict.REFUTED,
        check=EXCHANGED[0],
        confirm=EXCHANGED[1],
        reading=HARDER,
    ),
    Claim(
        id="gspa24-equation-17",
        statement=(
            "T(rho0, rho1) = delta_n (1 - alpha) + (1 - delta_n) max(T(rho0', rho1'), T(rho1', rho0'))."
        ),
        source=f"{GENERALIZED}, equation (17)",
        verdict=Verdict.REFUTED,
        check=EXCHANGED_PERSONAL[0],
        confirm=EXCHANGED_PERSONAL[1],
        reading=HARDER,
    ),
)

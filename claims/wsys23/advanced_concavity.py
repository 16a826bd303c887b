"""Advanced joint concavity and what follows from it: appendix E of Wang, Su, Ye, Shokri, Su 2023."""

import random
from fractions import Fraction

from claims.claim import Check, smaller_if
from claims.exact_tests import (
    always,
    blended,
    corners,
    divergence,
    false_negatives,
    is_lower_bound,
    mixed,
    random_distribution,
    random_share,
    too_high,
)

HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)


def _scales(w, gamma, eta):
    return (eta - w) / ((1 - w) * (eta - gamma)), (w - gamma) / (w * (eta - gamma))


def _four(rng):
    w = random_share(rng)
    gamma, eta = w * Fraction(rng.randrange(24), 24), 1 - (1 - w) * Fraction(rng.randrange(24), 24)
    if rng.random() < 0.5:
        gamma, eta = eta, gamma
    p, q = ([random_distribution(rng), random_distribution(rng)] for _ in range(2))
    weights = {(0, 0): (1 - w) * (1 - gamma), (0, 1): (1 - w) * gamma, (1, 0): w * (1 - eta), (1, 1): w * eta}
    return w, _scales(w, gamma, eta), p, q, weights


def _four_divergences(rng):
    w, scales, p, q, weights = _four(rng)
    ratio = Fraction(rng.randint(4, 30), 5)
    bound = sum(c * divergence(p[i], q[j], scales[i] * ratio) for (i, j), c in weights.items())
    # gamma = eta = w: any two ratios with the right mean
    first = ratio * Fraction(rng.randint(1, 9), 10)
    second = (ratio - (1 - w) * first) / w
    mixture = mixed((1 - w, w), q)
    plain = (1 - w) * divergence(p[0], mixture, first) + w * divergence(p[1], mixture, second)
    return divergence(mixed((1 - w, w), p), mixture, ratio) <= min(bound, plain)


def _four_curves(rng, null_first, alike=False):
    """Return whether Lemma 6.3's function is below the mixtures' at ε >= 0; ``alike``: with f_01 = f_10."""
    w, scales, p, q, weights = _four(rng)
    if alike:
        q = p[::-1]
    null, alternative = [], []
    for (i, j), c in weights.items():
        sides = (p[i], q[j]) if null_first else (q[j], p[i])
        null += [c * scales[i] * x for x in sides[0]]
        alternative += [c * x for x in sides[1]]
    mixtures = mixed((1 - w, w), p), mixed((1 - w, w), q)
    return is_lower_bound(corners(null, alternative), corners(*(mixtures if null_first else mixtures[::-1])))


def _four_functions(effort):
    rng, cases = random.Random(effort.seed), min(8 * effort.points, 800)
    sound = all(_four_curves(rng, null_first=False) for _ in range(cases))
    broken = sum(not _four_curves(rng, null_first=True) for _ in range(cases))
    alike = all(_four_curves(rng, null_first=True, alike=True) for _ in range(cases))
    steps = (
        "P_0 = P_1 = Q_0 = (1, 0), Q_1 = (0, 1), w = 1/2, gamma = 0, eta = 3/4",
        "scales (eta-w)/((1-w)(eta-gamma)) = 2/3 and (w-gamma)/(w(eta-gamma)) = 4/3",
        "T(P_0, Q_0) = T(P_1, Q_0) = Id, the others 0: F(0) = (1-w)(1-gamma) + w(1-eta) = 5/8",
        f"T(P_w, Q_w)(0) = {false_negatives(corners([ONE, ZERO], [HALF, HALF]), ZERO)}",
        f"random distributions: {broken} of {cases} counterexamples with the null first",
        f"with P_1 = Q_0 and Q_1 = P_0, so that f_01 = f_10, none in {cases}: {alike}",
        f"T(Q_w, P_w) >= F with f_ij = T(Q_j, P_i), as in H(P||Q), none in {cases}: {sound}",
    )
    evidence = (
        f"where f_01 = f_10, and for T(Q_w, P_w) with f_ij = T(Q_j, P_i), no counterexample in {cases} exact "
        f"cases each; otherwise {broken} of {cases} fail"
    )
    return smaller_if(sound and alike and broken, evidence, steps)


def _half_of_the_identity(x):
    """Return Id/2: what is claimed in the next two examples."""
    return (1 - x) / 2


def _swapped_divergence(rng):
    p, q, w = random_distribution(rng), random_distribution(rng), random_share(rng) / 2
    gamma = 1 + Fraction(rng.randint(0, 40), 8)
    more = (1 - 2 * w) * gamma + 2 * w
    left = divergence(mixed((1 - w, w), (p, q)), mixed((1 - w, w), (q, p)), more)
    return left <= (1 - 2 * w) * (1 + more / gamma) / 2 * divergence(p, q, gamma)


def _symmetric_mixture(effort):
    rng, cases, sound, broken = random.Random(effort.seed), min(6 * effort.points, 800), True, 0
    for _ in range(cases):
        p, q, w = random_distribution(rng), random_distribution(rng), random_share(rng) / 2
        for other, symmetric in ((p[::-1], True), (q, False)):
            pair = mixed((1 - w, w), (p, other)), mixed((1 - w, w), (other, p))
            bound = blended(2 * w, corners(p, other))
            held = is_lower_bound(bound, corners(*pair), corners(*pair[::-1]))
            if symmetric:
                sound &= held
            else:
                broken += not held
    w, p, q = Fraction(1, 8), [HALF, HALF], [ZERO, ONE]
    pair = mixed((1 - w, w), (p, q)), mixed((1 - w, w), (q, p))
    curve = blended(2 * w, corners(p, q))
    at = Fraction(9, 16)
    steps = (
        "P_0 = (1/2, 1/2), Q_0 = (0, 1), w = 1/8: P = (7, 9)/16, Q = (1, 15)/16",
        f"the sum 2w Id + (1-2w) T(P_0, Q_0) at 9/16: {false_negatives(curve, at)}",
        f"T(P, Q) at 9/16: {false_negatives(corners(*pair), at)}, and C(f) >= f as the paper defines C there",
        f"random distributions: {broken} of {cases} counterexamples; with T(P_0, Q_0) symmetric none "
        f"in {cases}: "
        f"{sound}",
    )
    fails = false_negatives(curve, at) > false_negatives(corners(*pair), at)
    evidence = (
        f"where T(P_0, Q_0) is symmetric no counterexample in {cases} exact cases, else {broken} of {cases}"
    )
    return smaller_if(sound and broken and fails, evidence, steps)


DRAWN = [Fraction(2, 3), Fraction(1, 3), ZERO], [Fraction(1, 3), Fraction(2, 3), ZERO]
LEFT_OUT = [ZERO, ZERO, ONE]
SUBSAMPLED = [mixed((HALF, HALF), (LEFT_OUT, distribution)) for distribution in DRAWN]


def _turned(rng, q):
    """Return q with outputs exchanged in pairs, p say: then T(p, q) is symmetric."""
    places = list(range(len(q)))
    rng.shuffle(places)
    p = list(q)
    for a, b in zip(places[::2], places[1::2], strict=False):
        p[a], p[b] = q[b], q[a]
    return p


def _subsampling(effort):
    """Compare T((1-w) P_0 + w P_1, (1-w) P_0 + w Q_1) with (1-w) Id + w T(P_1, Q_1), the latter symmetric."""
    rng, cases, kept, sound, broken = random.Random(effort.seed), min(12 * effort.points, 800), 0, True, 0
    for _ in range(cases):
        p, w = random_distribution(rng), random_share(rng)
        q, share = _turned(rng, p), random_share(rng)
        left_out = rng.choice((mixed((1 - share, share), (p, q)), random_distribution(rng)))
        pair = mixed((1 - w, w), (left_out, p)), mixed((1 - w, w), (left_out, q))
        f = corners(p, q)
        held = is_lower_bound(blended(1 - w, f), corners(*pair), corners(*pair[::-1]))
        if is_lower_bound(f, corners(left_out, p), corners(left_out, q)):
            kept, sound = kept + 1, sound and held
        else:
            broken += not held
    at = Fraction(1, 6)
    claimed = false_negatives(blended(HALF, corners(*DRAWN)), at)
    truth = false_negatives(corners(*SUBSAMPLED), at)
    steps = (
        "P_1 = (2, 1, 0)/3, Q_1 = (1, 2, 0)/3, P_0 = (0, 0, 1), w = 1/2",
        "T(P_1, Q_1)(1/6) = 2/3, so (1-w) Id + w T(P_1, Q_1) at 1/6 is 5/12 + 1/3 = 3/4; C keeps it there",
        f"T(P, Q) at 1/6: {truth}",
        f"random cases: {kept} with P_0 as near to P_1 and Q_1 as these to one another, sound: {sound}",
        f"of the other {cases - kept}: {broken} counterexamples",
    )
    evidence = (
        f"where P_0 is as near to P_1 and Q_1 as these are to one another no counterexample in {kept} exact "
        f"cases, else {broken} of {cases - kept}"
    )
    return smaller_if(sound and kept and broken and truth < claimed, evidence, steps)


def _subsampled_deltas():
    """Compare Proposition E.1 with the pair as δ at e^ε = 3/2: a bound on T is one on every divergence."""
    ratio, levels = Fraction(3, 2), (ZERO, Fraction(1, 3), ONE)  # where the bound bends
    drawn = (ONE, Fraction(1, 3), ZERO)  # T(P_1, Q_1) there: nothing, the second output, everything rejected
    bound = [1 - (HALF * (1 - x) + HALF * y) - ratio * x for x, y in zip(levels, drawn, strict=True)]
    null, alternative = (distribution[1] for distribution in SUBSAMPLED)
    truth = alternative - ratio * null
    steps = (
        f"e^epsilon = 3/2: the second output has {alternative} from Q, {null} from P, hence delta >= {truth}",
        "the claimed function f allows the largest 1 - f(x) - 3x/2 at the x where it bends, 0, 1/3 and 1:",
        f"{', '.join(map(str, bound))}, so that {max(bound)} is claimed",
    )
    return smaller_if(truth > max(bound), f"delta {truth}, claimed {max(bound)}", steps)


CHECKS = {
    "wsys23-lemma-6.2": always(_four_divergences),
    "wsys23-lemma-6.3": Check(_four_functions),
    "wsys23-lemma-6.3-equal": too_high([HALF, HALF], [ONE, ZERO], HALF, _half_of_the_identity),
    "wsys23-proposition-6.4": Check(_symmetric_mixture),
    "wsys23-proposition-6.4-divergence": always(_swapped_divergence),
    "wsys23-proposition-6.4-proof": too_high(
        [Fraction(3, 4), Fraction(1, 4)],
        [Fraction(1, 4), Fraction(3, 4)],
        Fraction(1, 4),
        _half_of_the_identity,
    ),
    "wsys23-proposition-e.1": Check(_subsampling, _subsampled_deltas),
}

"""Shuffling as a mixture over the number of clones: appendix C of Wang, Su, Ye, Shokri, Su 2023."""

import math
import random
from fractions import Fraction

from claims import exact_shuffle
from claims.claim import Check, Finding, Verdict, refuted_if, smaller_if
from claims.exact_channels import largest_ratio
from claims.exact_count_pair import printed, witness
from claims.exact_tests import (
    RATIOS,
    always,
    blended,
    corners,
    divergence,
    false_negatives,
    is_lower_bound,
    larger,
    largest_delta,
    least_false_negatives,
    never_fails,
    random_channel,
    too_high,
)
from claims.failure_curve import Along, within
from shufflelib.published import closed_form, joint_concavity
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _swap(e):
    return 1 / (Fraction(e) + 1)


def _clones(e, n):
    """Return the distributions of (A + 1, C − A) and (A, C − A + 1) on the pairs of counts."""
    w = _swap(e)
    return exact_shuffle.neighbours([[1, 0, 0], [0, 1, 0], [w, w, 1 - 2 * w]], n)


def _clone_pair(e, n):
    """Return P and Q, mixtures of the two distributions with weights 1 - w and w = 1/(e + 1)."""
    w, (p, q) = _swap(e), _clones(e, n)
    return [(1 - w) * a + w * b for a, b in zip(p, q, strict=True)], [
        (1 - w) * b + w * a for a, b in zip(p, q, strict=True)
    ]


def _random_setting(rng):
    return rng.choice((Fraction(rng.randint(5, 40), 4), *RATIOS)), rng.randint(1, 6)


def _random_mechanism(rng):
    """Return a small channel without impossible outputs, its e^ε₀, and a number of users."""
    rows = random_channel(rng)
    return rows, largest_ratio(rows), rng.randint(2, 3)


def _reduction(effort):
    rng, cases, sound = random.Random(effort.seed), 2 * effort.points, True
    for _ in range(cases):
        rows, e, n = _random_mechanism(rng)
        ratio = 1 + (e - 1) * Fraction(rng.randint(0, 8), 10)
        if e > 1:
            pair = _clone_pair(e, n)
            sound &= exact_shuffle.worst_delta(rows, n, ratio)[0] <= divergence(*pair, ratio)
    p, q = _clone_pair(3, 2)
    alone = max(Fraction(3, 4) - 2 * Fraction(1, 4), 0)
    claimed = larger(p, q, 2)
    steps = (
        "user 1 answers 0 or 1 by randomized response, user 2 answers 2 or 3 so, e^eps0 = 3 for both, n = 2",
        "shuffling does not hide whose answer is whose: at e^epsilon = 2",
        f"true delta 3/4 - 2/4 = {alone}, the clones' pair {printed(claimed)}",
        f"one randomizer for all: {cases} random channels, all datasets, in exact fractions: {sound}",
    )
    evidence = (
        f"identical randomizers: no counterexample in {cases} exact cases; unlike ones: {alone} > {claimed}"
    )
    return smaller_if(sound and alone > claimed, evidence, steps)


# ---------------------------------------------------------------- Proposition 4.1


def _binomial(i, upto):
    """Return F_i(upto), the distribution function of Bin(i, 1/2)."""
    return Fraction(sum(math.comb(i, k) for k in range(min(math.floor(upto), i) + 1)), 2**i)


def _mass(i, k):
    return Fraction(math.comb(i, k), 2**i) if 0 <= k <= i else Fraction(0)


def _weights(e, n):
    w = _swap(e)
    return [math.comb(n - 1, i) * (2 * w) ** i * (1 - 2 * w) ** (n - 1 - i) for i in range(n)]


def _thresholds(n):
    return sorted({Fraction(a, b) for a in range(1, n + 1) for b in range(1, n + 2 - a)})


def _errors(e, n, t):
    """Return α₀(t) and β₀(t) of Proposition 4.1."""
    alpha = sum(w * _binomial(i, i - (i + 1) / (t + 1)) for i, w in enumerate(_weights(e, n)))
    beta = sum(w * (1 - _binomial(i, i + 1 - (i + 1) / (t + 1))) for i, w in enumerate(_weights(e, n)))
    return alpha, beta


def _conditioning_is_exact(rng):
    e, n = _random_setting(rng)
    curve = corners(*_clones(e, n))
    return all(
        false_negatives(curve, alpha) == beta for alpha, beta in (_errors(e, n, t) for t in _thresholds(n))
    )


USERS = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20)


def _errors_of_users(n):
    """Return the false negatives at the threshold t = 1, and the printed sum, which is without its 1 −."""
    true = _errors(3, n, 1)[1]
    return true, 1 - true


# ---------------------------------------------------------------- Theorem 4.2 and Corollary 4.3


def _bound(e, n):
    return blended(2 * _swap(e), corners(*_clones(e, n)))


def _shuffled_is_bounded(rng):
    e, n = _random_setting(rng)
    pair = _clone_pair(e, n)
    rows, odds, users = _random_mechanism(rng)
    ratio = 1 + (odds - 1) * Fraction(rng.randint(0, 8), 10)
    truth = exact_shuffle.worst_delta(rows, users, ratio)[0]
    return is_lower_bound(_bound(e, n), corners(*pair)) and truth <= largest_delta(_bound(odds, users), ratio)


ONE_FOR_ALL = never_fails(
    _shuffled_is_bounded, "one randomizer for all: above the clones' pair and all datasets", most=300
)


def _shuffled_are_bounded(effort):
    found, n, ratio = ONE_FOR_ALL(effort), 4, Fraction(2)
    alone = max(Fraction(3, 4) - ratio * Fraction(1, 4), 0)
    claimed = largest_delta(_bound(3, n), ratio)
    steps = (
        f"user 1 answers 0 or 1 by randomized response, {n - 1} others 2 or 3 so, e^eps0 = 3 for all",
        "the shuffler does not hide which answer is user 1's: at e^epsilon = 2",
        f"true delta 3/4 - 2/4 = {alone}, that of f_Shuffle {printed(claimed)}",
        found.evidence,
    )
    if found.verdict is not Verdict.HOLDS or alone <= claimed:
        return found._replace(steps=steps)
    evidence = f"{found.evidence}; unlike randomizers: {alone} > {printed(claimed)}"
    return Finding(Verdict.SMALLER, evidence, steps)


SETTING = (3, 2, Fraction(2))  # e^eps0, n, e^eps


def _both_deltas(e, n, ratio):
    """Return δ of T(P, Q), and of f_Shuffle."""
    return divergence(*_clone_pair(e, n), ratio), largest_delta(_bound(e, n), ratio)


def _not_equal(effort):
    e, n, ratio = SETTING
    truth, bound = _both_deltas(e, n, ratio)
    steps = (
        "eps0 = log 3, n = 2, e^epsilon = 2",
        f"delta of f_Shuffle, the maximum of 1 - f(x) - 2x: {bound}",
        f"delta of T(P, Q), by enumeration: {truth}",
        f"n = 1: T(P, Q)(0) = {false_negatives(corners(*_clone_pair(e, 1)), Fraction(0))}, f_Shuffle(0) = "
        f"{min(y for x, y in _bound(e, 1) if x == 0)}",
    )
    evidence = f"eps0 = log 3, n = 2, e^eps = 2: delta {bound} and {truth}"
    return refuted_if(bound > truth, evidence, steps)


def _not_equal_by_programming():
    e, n, _ = SETTING
    w = _swap(e)
    truth = least_false_negatives(*_clone_pair(e, n), 0)
    bound = 2 * w + (1 - 2 * w) * least_false_negatives(*_clones(e, n), 0)
    steps = (f"at level 0, by linear programming: T(P, Q) {truth:.6f}, f_Shuffle {float(bound):.6f}",)
    apart = truth > bound + 1e-9
    return refuted_if(apart, "by linear programming", steps)


def _corollary(e, n, ratio):
    """Return Corollary 4.3's threshold and δ, the threshold chosen as printed."""
    w = _swap(e)
    for t in _thresholds(n):
        above, below = (
            sum(x * _mass(i, math.floor(i + more - (i + 1) / (t + 1))) for i, x in enumerate(_weights(e, n)))
            for more in (1, 0)
        )
        if below and -ratio + 2 * w + (1 - 2 * w) * above / below <= 0:
            alpha, beta = _errors(e, n, t)
            return t, 1 - ratio * alpha - 2 * w * (1 - alpha) - (1 - 2 * w) * beta
    return None, Fraction(0)


def _threshold():
    e, n, ratio = SETTING
    t, claimed = _corollary(e, n, ratio)
    truth = divergence(*_clone_pair(e, n), ratio)
    alpha, beta = _errors(e, n, t)
    most = largest_delta(_bound(e, n), ratio)
    return truth, claimed, {"t": t, "alpha": alpha, "beta": beta, "most": most}


def _in_floating_point(n, eps):
    """Return the pair's lower bound for e^ε₀ = 3, and Corollary 4.3's δ, NaN where no threshold is met."""
    claimed = closed_form.over(joint_concavity.delta_corollary43, eps0=math.log(3.0), n=n, eps=eps)
    return VariationRatioPair(n=n, p=3.0, beta=0.5, q0=3.0).delta(eps).lower, float(claimed)


def _outperforms(effort):
    steps, best, worst = [], math.inf, math.inf
    for eps0, n in ((0.5, 300), (1.0, 600), (2.0, 1000))[: 2 if effort.points < 32 else 3]:
        eps = closed_form.stronger_clones_fmt23(eps0=eps0, n=n, delta=1e-5)
        eps = eps / 2
        own = joint_concavity.shuffle_bound(eps0=eps0, n=n).delta(eps)
        pair = VariationRatioPair(n=n, p=math.exp(eps0), beta=math.tanh(eps0 / 2), q0=math.exp(eps0)).delta(
            eps
        )
        steps.append(
            f"eps0={eps0}, n={n}: closed form has delta = 1e-5 at epsilon = {2 * eps:.5f}; at half of it "
            f"f_Shuffle has {own.upper:.3g}, the clones' pair itself {pair.upper:.3g}"
        )
        best, worst = min(best, 1e-5 / own.upper), min(worst, own.lower / pair.upper)
    ok = best > 1 and worst > 1
    evidence = (
        "tighter than the closed form of (eps, delta)-DP by a factor above 2 in epsilon; looser, by its "
        "own proof, "
        f"than the pair of clones evaluated numerically, delta {worst:.3g} times and more"
    )
    return Finding(Verdict.SMALLER if ok else Verdict.NOT_DECIDED, evidence, tuple(steps))


CHECKS = {
    "wsys23-reduction": Check(_reduction),
    "wsys23-proposition-4.1": always(_conditioning_is_exact, most=600),
    "wsys23-proposition-4.1-formula": too_high(
        *_clones(3, 2), Fraction(1, 4), lambda alpha: Fraction(1)
    )._replace(failure_curve=Along(USERS, _errors_of_users, within(1e-6))),
    "wsys23-theorem-4.2": Check(_shuffled_are_bounded),
    "wsys23-theorem-4.2-equality": Check(
        _not_equal,
        _not_equal_by_programming,
        Along([1 + Fraction(k, 8) for k in range(16)], lambda ratio: _both_deltas(3, 6, ratio), within(1e-6)),
    ),
    "wsys23-corollary-4.3": Check(
        witness(_threshold),
        witness(lambda: _in_floating_point(2, math.log(2.0))),
        Along((3, 4, 5, 7, 10, 14, 20, 30, 45, 60, 80, 100), lambda n: _in_floating_point(n, 0.05)),
    ),
    "wsys23-outperforms": Check(_outperforms),
}

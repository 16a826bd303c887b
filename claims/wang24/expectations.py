"""The pair of two counts by itself: its divergences grow with beta and are expectations of binomial tails."""

import math
from fractions import Fraction

from claims import exact_shuffle
from claims.exact_count_pair import counts_channel, counts_delta
from claims.exact_tests import RATIOS, share_of_bound


def _random_pair(rng, shares=1):
    """Return p, ``shares`` values of β in falling order, and a q that fits the largest, all fractions."""
    p = rng.choice((1 + Fraction(rng.randint(1, 60), rng.randint(1, 12)), *RATIOS))
    betas = sorted(
        (Fraction(rng.randint(1, 12), 12) * (p - 1) / (p + 1) for _ in range(shares)), reverse=True
    )
    q = max(1, 2 * betas[0] * p / (p - 1)) * Fraction(rng.randint(13, 48), 12)
    return p, betas, q


def _more_variation(rng):
    p, (more, less), q = _random_pair(rng, 2)
    n, ratio = rng.randint(1, 4), Fraction(rng.randint(1, 40), 12)
    high, low = (counts_delta(n, ratio, p=p, beta=beta, q0=q) for beta in (more, less))
    if low > high:
        return f"p={p}, q={q}, n={n}, e^eps={ratio}: beta {less} beats {more}"
    return low / high if high else 0


def _tail(c, least, share):
    """Return P(Bin(c, share) >= least)."""
    first = max(math.ceil(least), 0)
    return sum(math.comb(c, i) * share**i * (1 - share) ** (c - i) for i in range(first, c + 1))


def _expectation(n, ratio, p, beta, q0, q1, *, reverse):
    """Return the published expectation over c, term by term as printed, with r0 + r1 for 2r."""
    alpha = beta / (p - 1)
    r0, r1 = alpha * p / q0, alpha * p / q1
    rest, other, share = 1 - alpha - alpha * p, 1 - r0 - r1, r0 / (r0 + r1)
    e = 1 / ratio if reverse else ratio

    def bound(c):
        rest_ratio = rest * (n - c) / other if rest else 0
        above = (e * p - 1) * alpha * c / r1 + (e - 1) * rest_ratio
        return above / (alpha * (p / r0 - 1 / r1 + e * (p / r1 - 1 / r0)))

    def part(c, least):
        """Return what the printed CDF stands for: a >= least, or a <= least in reverse."""
        return 1 - _tail(c, math.floor(least) + 1, share) if reverse else _tail(c, least, share)

    weights = ((1 - p * ratio) * alpha, (p - ratio) * alpha) if reverse else (
        (p - ratio) * alpha, (1 - p * ratio) * alpha)  # fmt: skip
    total = Fraction(0)
    for c in range(n):
        mass = math.comb(n - 1, c) * (r0 + r1) ** c * other ** (n - 1 - c)
        terms = weights[0] * part(c, bound(c + 1) - 1) + weights[1] * part(c, bound(c + 1))
        total += mass * (terms + ((1 - ratio) * rest * part(c, bound(c)) if rest else 0))
    return total


def _expectation_is_exact(lopsided):
    def case(rng):
        p, (beta,), q0 = _random_pair(rng)
        q1 = q0 * (1 + (p - 1) * Fraction(rng.randint(0, 12), 12)) if lopsided else q0
        q0, q1 = rng.sample((q0, q1), 2)
        n, ratio = rng.randint(1, 6), Fraction(rng.randint(1, 60), 12)
        channel = counts_channel(p, beta, q0, q1)
        for reverse, order in ((False, (0, 1)), (True, (1, 0))):
            truth = exact_shuffle.delta(channel, *order, (2,) * (n - 1), ratio)
            if _expectation(n, ratio, p, beta, q0, q1, reverse=reverse) != truth:
                point = f"p={p}, beta={beta}, q0={q0}, q1={q1}, n={n}, e^eps={ratio}"
                return f"{point}: the expectation is not the divergence {truth}"
        return 1

    return share_of_bound(case, 2)


CHECKS = {
    "wang24-lemma-4.5": share_of_bound(_more_variation, 2),
    "wang24-theorem-4.6": _expectation_is_exact(lopsided=False),
    "wang24-proposition-1": _expectation_is_exact(lopsided=True),
}

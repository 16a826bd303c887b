"""Brackets against sixty digits: every rounding margin covers the difference, and is needed for it.

Masses are fractions; what the package gets is their rounded logarithms or quotients, and what comes back has
to enclose the number of the fractions themselves.
"""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from arguments import DOMAINS, EPS, ORDER, between, whole
from finite_pairs import Opaque
from fuzz_answers import examples
from oracles import neighbours
from shufflelib import Certified, profiles
from shufflelib.profiles import DiscretePair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.published import joint_concavity
from shufflelib.shuffling import BlanketPair, VariationRatioPair

MP = mpmath.mp.clone()
MP.dps = 60
HAIR = MP.mpf(10) ** -50  # the truth is rounded too
FPR = DOMAINS["fpr"]


def digits(number):
    """Return a fraction or a float in sixty digits."""
    number = F(number)
    return MP.mpf(number.numerator) / number.denominator


def swapped(distributions):
    return [(second, first) for first, second in distributions]


def exact_delta(distributions, eps):
    ratio = MP.exp(MP.mpf(eps))
    return MP.fsum(max(first - ratio * second, 0) for first, second in distributions)


def exact_renyi(distributions, order):
    if any(first and not second for first, second in distributions):
        return MP.inf
    order = MP.mpf(order)
    moment = MP.fsum(first * (first / second) ** (order - 1) for first, second in distributions if first)
    return max(MP.log(moment), 0) / (order - 1)  # P = Q leaves 1 less a rounding


def exact_tradeoff(distributions, fpr):
    """Return what the Neyman-Pearson test misses: it rejects P where Q/P is largest."""
    left, missed = MP.mpf(fpr), MP.zero
    for first, second in sorted(
        distributions,
        key=lambda distribution: distribution[1] / distribution[0] if distribution[0] else MP.inf,
        reverse=True,
    ):
        kept = max(first - left, 0) / first if first else 0
        left, missed = max(left - first, 0), missed + kept * second
    return missed if fpr < 1.0 else MP.zero  # P does not quite sum to 1


def worst(exact, distributions, at):
    return max(exact(distributions, at), exact(swapped(distributions), at))


def holds(bracket, truth):
    assert bracket.lower <= truth * (1 + HAIR) and truth <= bracket.upper * (1 + HAIR), (bracket, truth)


def near_edges(losses, order):
    """Return an order, and those at which the kernel of a loss passes from one formula to another."""
    size = max((abs(x) for x in losses if math.isfinite(x)), default=0.0)
    edges = [edge / size for edge in (0.0501, 30.1) if size > 1e-12]
    return [order, *(edge for edge in edges if edge > 1.0)]


# ---------------------------------------------------------------- finite pairs

ANY = st.one_of(st.just(0), st.integers(1, 10), whole(1, 10**9), whole(1, 10**20))
CLOSE = st.tuples(whole(10**6, 10**12), st.integers(-5, 5)).map(lambda w: (w[0], w[0] + w[1]))
LISTED = st.one_of(
    st.lists(st.tuples(ANY, ANY), min_size=2, max_size=8), st.lists(CLOSE, min_size=2, max_size=8)
).filter(lambda rows: all(map(sum, zip(*rows, strict=True))))


def finite(rows):
    """Return a pair's distributions in sixty digits, and the pair of their logarithms as floats."""
    distributions = [
        [digits(F(w, sum(distribution))) for w in distribution] for distribution in zip(*rows, strict=True)
    ]
    logs = [
        [float(MP.log(mass)) if mass else -math.inf for mass in distribution]
        for distribution in distributions
    ]
    return list(zip(*distributions, strict=True)), DiscretePair(*logs)


@examples("digits", 4.0, 12)
@given(LISTED, EPS, ORDER, FPR)
@example([(0, 6), (1, 10**19)], 0.0, 3.0, 0.5)  # all error is that of one mass's logarithm
def test_a_finite_pair(rows, eps, order, fpr):
    distributions, pair = finite(rows)
    function = profiles.from_pair(pair)
    holds(pair.delta(eps), worst(exact_delta, distributions, eps))
    holds(pair.tradeoff(fpr), exact_tradeoff(distributions, fpr))
    holds(function(fpr), exact_tradeoff(distributions, fpr))
    holds(function.inverse(fpr), exact_tradeoff(swapped(distributions), fpr))
    holds(function.delta(eps), exact_delta(swapped(distributions), eps))
    for one in near_edges(pair.loss.middle, order):
        truths = exact_renyi(distributions, one), exact_renyi(swapped(distributions), one)
        for way, truth in zip((pair, pair.reversed), truths, strict=True):
            holds(Certified(*way.renyi_directed(one)), truth)
        holds(pair.renyi(one), max(truths))
        if one <= 1e5:
            holds(joint_concavity.renyi(function, order=one), truths[0])


@examples("digits", 0.5, 12)
@given(LISTED, ORDER, FPR)
def test_a_pair_of_its_curve(rows, order, fpr):
    distributions, pair = finite(rows)
    curve = Opaque(pair)
    holds(curve.renyi(order), worst(exact_renyi, distributions, order))
    holds(curve.tradeoff(fpr), exact_tradeoff(distributions, fpr))


# ---------------------------------------------------------------- reports under a reference measure


@st.composite
def references(draw):
    """Draw two reports and a reference measure on three outputs as whole weights; the third has no loss."""
    whole_ = whole(1, 1000)
    less, more, same = draw(whole_), draw(whole_), draw(st.one_of(st.just(0), whole_))
    moved = draw(st.integers(1, less))
    hidden = [draw(whole_), draw(whole_), draw(whole_) if same else 0]
    missing = draw(st.one_of(st.just(0), whole_))
    reports = [[less, more, same], [less - moved, more + moved, same]]
    return reports, hidden, sum(hidden) + missing


def distributions_under_a_reference_measure(reports, hidden, size, n):
    """Return (P, Q) at every sum of the likelihood ratios of n reports."""
    reports = [[F(part, sum(report)) for part in report] for report in reports]
    reference = [F(part, size) for part in hidden]
    sums = neighbours.sums_under_a_reference_measure(*reports, reference, n)
    return [
        (digits(mass * a / n), digits(mass * b / n)) for (a, b), mass in sums.items() if mass and (a or b)
    ]


@examples("digits", 2.0, 12)
@given(references(), st.integers(1, 9), EPS, ORDER)
def test_reports_under_a_reference_measure(drawn, n, eps, order):
    reports, hidden, size = drawn
    distributions = distributions_under_a_reference_measure(reports, hidden, size, n)
    masses = [np.array(report) / sum(report) for report in reports], np.array(hidden) / size
    pair = BlanketPair(LikelihoodRatios.from_masses(*masses[0], masses[1]), n)
    holds(pair.delta(eps), worst(exact_delta, distributions, eps))
    holds(pair.renyi(order), worst(exact_renyi, distributions, order))


def distributions_of_pair(pair):
    """Return (P, Q) at every number (a, b) of the two tokens, from the pair's floats taken as exact."""
    p, beta, q0, q1, n = digits(pair.p), digits(pair.beta), digits(pair.q0), digits(pair.q1), pair.n
    weak = beta / (p - 1)
    strong = beta + weak
    r0, r1 = strong / q0, strong / q1
    rest, other = 1 - strong - weak, 1 - r0 - r1
    if rest < 8 * MP.mpf(2) ** -53 * p / (p - 1):  # beta is the largest, rounded
        rest, strong, weak = MP.zero, strong / (strong + weak), weak / (strong + weak)
    other = max(other, MP.zero)
    distributions = {}
    for a in range(n):
        for b in range(n - a) if other else (n - 1 - a,):
            ways = math.comb(n - 1, a) * math.comb(n - 1 - a, b)
            mass = ways * r0**a * r1**b * other ** (n - 1 - a - b)
            for x, y, first, second in ((1, 0, strong, weak), (0, 1, weak, strong), (0, 0, rest, rest)):
                old = distributions.get((a + x, b + y), (MP.zero, MP.zero))
                distributions[a + x, b + y] = old[0] + mass * first, old[1] + mass * second
    return [(first, second) for first, second in distributions.values() if first or second]


@examples("digits", 3.0, 12)
@given(
    st.integers(1, 25),
    between(1e-6, 1e6).map(lambda x: 1.0 + x),
    between(1e-9, 1.0),
    st.tuples(between(1.0, 1e9), between(1.0, 1e9)),
    EPS,
    ORDER,
    FPR,
)
@example(25, 1.0 + 1e-6, 1.0, (1.0, 1.0), 1e-7, 2, 0.75)
@example(25, 1e6, 1.0, (1e5, 1.0), 13.0, 1e6, 0.25)
@example(1, 3.0, 1.0, (1.0, 1.0), 0.0, 1.0 + 1e-15, 0.5)
def test_the_sums_of_a_pair(n, p, share, looser, eps, order, fpr):
    beta = share * (p - 1.0) / (p + 1.0)
    least = 2.0 * beta * p / (p - 1.0) * (1.0 + 1e-9)
    q0, q1 = (max(least, 1.0) * factor for factor in looser)
    pair = VariationRatioPair(n=n, p=p, beta=beta, q0=q0, q1=q1)
    distributions = distributions_of_pair(pair)
    holds(pair.delta(eps), worst(exact_delta, distributions, eps))
    holds(pair.renyi(order), worst(exact_renyi, distributions, order))
    holds(pair.tradeoff(fpr), exact_tradeoff(distributions, fpr))

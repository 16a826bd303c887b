r"""Brute force, to test against: slow, plain, and sharing no line with the package.

Exact where the arguments are fractions: the hockey-stick argument is ``ratio`` = exp(ε) as a
`Fraction`, local budgets enter as ``e`` = exp(eps0), so no tolerance has to be argued.

============================  =====================================================================
`pair_masses`                 the variation-ratio pair by enumeration of (a, b)
`hockey_stick`                of any finite pair, exact; also `renyi_moment`, `tradeoff`
`shuffled_distribution`       histogram of the reports of all users, exact
`blanket_bound`               (1/n) E[(G_1 + ... + G_n)_+] by enumeration, exact
`float_pair_delta`            the pair in floating point, large n (relative error about 1e-9)
`gaussian_delta`              the Gaussian mechanism's profile in multiple precision
============================  =====================================================================
"""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
from scipy import special

INFINITY = math.inf


# ---------------------------------------------------------------- finite pairs, exact


def pair_probabilities(p, beta, q0, q1=None):
    """Return (alpha p, alpha, r0, r1): the changed user's two token masses, another user's two.

    ``p`` may be `INFINITY`; all else are `Fraction` or int.
    """
    beta = Fraction(beta)
    strong = beta if p == INFINITY else beta * Fraction(p) / (Fraction(p) - 1)
    weak = strong - beta
    r0 = strong / Fraction(q0)
    r1 = r0 if q1 is None else strong / Fraction(q1)
    if strong + weak > 1 or r0 + r1 > 1:
        raise ValueError("not a pair of distributions")
    return strong, weak, r0, r1


def pair_masses(*, n, p, beta, q0, q1=None):
    """Return {(a, b): (P, Q)} for the variation-ratio pair, as exact fractions.

    Token (1, 0), (0, 1) or (0, 0): the changed user's with masses (alpha p, alpha, rest) under P and
    (alpha, alpha p, rest) under Q; each of the n - 1 others' with masses (r0, r1, rest).
    """
    strong, weak, r0, r1 = pair_probabilities(p, beta, q0, q1)
    others = {}
    for a in range(n):
        for b in range(n - a):
            ways = math.comb(n - 1, a) * math.comb(n - 1 - a, b)
            others[a, b] = ways * r0**a * r1**b * (1 - r0 - r1) ** (n - 1 - a - b)
    rest = 1 - strong - weak
    masses = {}
    for (a, b), mass in others.items():
        for token, first, second in (((1, 0), strong, weak), ((0, 1), weak, strong), ((0, 0), rest, rest)):
            key = (a + token[0], b + token[1])
            old = masses.get(key, (Fraction(0), Fraction(0)))
            masses[key] = (old[0] + mass * first, old[1] + mass * second)
    return masses


def swapped(masses):
    """Return the pair with its two distributions exchanged."""
    return {key: (second, first) for key, (first, second) in masses.items()}


def hockey_stick(masses, ratio):
    """Return the sum of (P - ratio Q)_+ with ratio = exp(ε), exact for fractions."""
    return sum((max(first - ratio * second, 0) for first, second in masses.values()), Fraction(0))


def both_ways(masses, ratio):
    """Return the larger of the two hockey-stick divergences."""
    return max(hockey_stick(masses, ratio), hockey_stick(swapped(masses), ratio))


def renyi_moment(masses, order):
    """Return the sum of P^order Q^(1 - order) for an integer order >= 2; None where it is infinite."""
    total = Fraction(0)
    for first, second in masses.values():
        if first and not second:
            return None
        if first:
            total += Fraction(first) ** order / Fraction(second) ** (order - 1)
    return total


def tradeoff(masses, fpr):
    """Return the smallest false-negative rate at false-positive rate ``fpr`` for H0 = P, H1 = Q.

    Neyman and Pearson: reject in the order of falling Q/P, splitting one atom.
    """
    atoms = [(first, second) for first, second in masses.values() if first or second]
    atoms.sort(key=lambda atom: (atom[0] == 0, Fraction(atom[1]) / atom[0] if atom[0] else 0), reverse=True)
    left, fnr = Fraction(fpr), Fraction(1)
    for first, second in atoms:
        share = Fraction(1) if first <= left else left / first
        fnr -= share * second
        left -= share * first
    return fnr


# ---------------------------------------------------------------- real shuffled mechanisms, exact


def generalized_rr(e, d):
    """Return the pmf matrix (inputs x outputs) of d-ary randomized response, e = exp(eps0)."""
    e = Fraction(e)
    return [[(e if x == y else 1) / (e + d - 1) for y in range(d)] for x in range(d)]


def subset_mechanism(e, d, k):
    """Return the pmf matrix of the k-subset mechanism on d values: sets that hold x weigh e."""
    sets = list(itertools.combinations(range(d), k))
    weights = [[Fraction(e) if x in chosen else Fraction(1) for chosen in sets] for x in range(d)]
    return [[weight / sum(row) for weight in row] for row in weights]


def local_hash(e, d, hashes):
    """Return the pmf matrix of local hashing with a uniform hash: outputs are the sets {x: H(x) = report}."""
    e, sets = Fraction(e), [s for k in range(d + 1) for s in itertools.combinations(range(d), k)]
    ways = [Fraction(hashes * (hashes - 1) ** (d - len(s)), hashes**d) for s in sets]
    return [
        [w * (e if x in s else 1) / (e + hashes - 1) for w, s in zip(ways, sets, strict=True)]
        for x in range(d)
    ]


def laplace_cells(root, cells):
    """Return the pmf matrix of Laplace on inputs j/cells, eps0 = cells log(root), rounded to the same points.

    Rounding is post-processing: its privacy loss is a lower bound for the mechanism.
    """

    def below(j):  # chance of noise below j/cells
        tail = Fraction(1, 2) / Fraction(root) ** abs(j)
        return tail if j <= 0 else 1 - tail

    edges = range(cells + 1)
    rows = [[Fraction(0), *(below(y - x) for y in edges), Fraction(1)] for x in edges]
    return [[b - a for a, b in itertools.pairwise(row)] for row in rows]


def shuffled_distribution(rows):
    """Return {histogram: probability} of the shuffled reports of users with these distributions."""
    distribution = {(0,) * len(rows[0]): Fraction(1)}
    for row in rows:
        following = {}
        for histogram, mass in distribution.items():
            for y, probability in enumerate(row):
                if probability:
                    key = (*histogram[:y], histogram[y] + 1, *histogram[y + 1 :])
                    following[key] = following.get(key, 0) + mass * probability
        distribution = following
    return distribution


def expected_positive_part(losses, n):
    """Return E[(G_1 + ... + G_n)_+] of independent losses, each drawn from [(value, probability), ...]."""
    distribution = {Fraction(0): Fraction(1)}
    for _ in range(n):
        following = {}
        for total, mass in distribution.items():
            for value, probability in losses:
                if probability:
                    following[total + value] = following.get(total + value, 0) + mass * probability
        distribution = following
    return sum(total * mass for total, mass in distribution.items() if total > 0)


def blanket_bound(pmf, n, ratio, reference=None, pairs=None):
    """Return max over ordered pairs of (1/n) E[(G_1 + ... + G_n)_+] by enumeration, exact.

    ``reference`` is the blanket's (sub)density over outputs; by default the minimum over inputs.
    """
    outputs, inputs = range(len(pmf[0])), range(len(pmf))
    reference = [min(row[y] for row in pmf) for y in outputs] if reference is None else reference
    pairs = list(itertools.permutations(inputs, 2)) if pairs is None else pairs
    worst = Fraction(0)
    for x0, x1 in pairs:
        gains = [
            ((pmf[x0][y] - ratio * pmf[x1][y]) / reference[y], reference[y]) for y in outputs if reference[y]
        ]
        inside = expected_positive_part([(Fraction(0), 1 - sum(reference)), *gains], n) / n
        outside = sum(
            (max(pmf[x0][y] - ratio * pmf[x1][y], 0) for y in outputs if not reference[y]), Fraction(0)
        )
        worst = max(worst, inside + outside)
    return worst


def gaussian_delta(mu, eps, digits=50):
    """Return the hockey-stick divergence of N(mu, 1) against N(0, 1) at ε."""
    context = mpmath.mp.clone()
    context.dps = digits
    mu, eps = context.mpf(mu), context.mpf(eps)
    return context.ncdf(mu / 2 - eps / mu) - context.exp(eps) * context.ncdf(-mu / 2 - eps / mu)


# ---------------------------------------------------------------- the pair in floating point


def _log_binomial(k, n, probability):
    if probability >= 1.0:
        return np.where(k == n, 0.0, -math.inf)
    ways = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    return np.where(
        (k >= 0) & (k <= n),
        ways + special.xlogy(k, probability) + special.xlog1py(n - k, -probability),
        -math.inf,
    )


def _upper_tail(k, count):
    """Return P(Bin(count, 1/2) >= k), vectorised."""
    k, count = np.asarray(k, float), np.asarray(count, float)
    inside = (k > 0) & (k <= count)
    value = special.betainc(np.where(inside, k, 1.0), np.where(inside, count - k + 1.0, 1.0), 0.5)
    return np.where(k <= 0, 1.0, np.where(k > count, 0.0, value))


def float_pair_delta(eps, *, n, p, beta, q, width=12.0):
    """Return the symmetric pair's hockey-stick divergence from ``width`` sd (+200 terms) around the mean.

    What is left out is positive and, at 12 sd, below 1e-30: the value errs low, a lower bound on the truth.
    """
    strong = beta if p == INFINITY else beta / (1.0 - 1.0 / p)
    weak = 0.0 if p == INFINITY else beta / (p - 1.0)
    rest = max(0.0, 1.0 - strong - weak)
    rest = 0.0 if rest < 1e-13 else rest
    r = min(0.5, strong / q)
    mean, sd = 2.0 * r * (n - 1), math.sqrt(2.0 * r * (1.0 - 2.0 * r) * (n - 1))
    low = max(0, math.floor(mean - width * sd - 200.0))
    high = min(n, math.ceil(mean + width * sd + 200.0))
    total = np.arange(low, high + 1, dtype=float)
    ratio = math.exp(eps)
    excess = math.expm1(eps)
    # token weights relative to the changed user's count a of the first symbol among total = a + b:
    # P - ratio Q is proportional to (strong - ratio weak) a + (weak - ratio strong) b - excess g
    blank = rest * (n - total) * r / (1.0 - 2.0 * r) if rest else np.zeros_like(total)
    threshold = ((ratio * strong - weak) * total + excess * blank) / ((strong - weak) * (1.0 + ratio))
    first = np.floor(threshold) + 1.0
    with_token = np.exp(_log_binomial(total - 1.0, n - 1.0, 2.0 * r))
    without = np.exp(_log_binomial(total, n - 1.0, 2.0 * r))
    near, far = _upper_tail(first - 1.0, total - 1.0), _upper_tail(first, total - 1.0)
    terms = with_token * ((strong - ratio * weak) * near + (weak - ratio * strong) * far)
    terms = terms - without * rest * excess * _upper_tail(first, total)
    return math.fsum(np.maximum(terms, 0.0))

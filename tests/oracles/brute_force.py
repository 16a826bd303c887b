r"""Brute force, to test against: slow, plain, and sharing no line with the package.

Exact where the arguments are fractions: the hockey-stick argument is ``ratio`` = exp(ε) as a
`Fraction`, so no tolerance has to be argued.  The ledger's exact channels and losses serve here too.

============================  =====================================================================
`pair_masses`                 the variation-ratio pair by enumeration of its counts
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

from claims import exact_losses, exact_shuffle
from claims.exact_count_pair import counts_channel

# ---------------------------------------------------------------- finite pairs, exact


def beside(first, second):
    """Return {output: (P, Q)} of two distributions."""
    return {key: (first.get(key, Fraction(0)), second.get(key, Fraction(0))) for key in first | second}


def pair_masses(*, n, p, beta, q0, q1=None):
    """Return {counts of tokens: (P, Q)} for the variation-ratio pair, as exact fractions."""
    channel = counts_channel(p, beta, q0, q1)
    return beside(*(exact_shuffle.shuffled(channel, (own, *(2,) * (n - 1))) for own in (0, 1)))


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


def shuffled_distribution(rows):
    """Return {histogram: probability} of the shuffled reports of users with these distributions."""
    return exact_shuffle.shuffled(rows, range(len(rows)))


def blanket_bound(pmf, n, ratio, pairs=None):
    """Return max over ordered pairs of (1/n) E[(G_1 + ... + G_n)_+] by enumeration, exact."""
    reference, worst = exact_losses.blanket(pmf), Fraction(0)
    for x0, x1 in pairs or itertools.permutations(range(len(pmf)), 2):
        distribution = exact_losses.losses(pmf[x0], pmf[x1], reference, ratio)
        cells = zip(pmf[x0], pmf[x1], reference, strict=True)
        outside = sum(max(first - ratio * second, 0) for first, second, w in cells if not w)
        worst = max(worst, exact_losses.expected_positive_part(distribution, n) + outside)
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
    strong = beta if p == math.inf else beta / (1.0 - 1.0 / p)
    weak = 0.0 if p == math.inf else beta / (p - 1.0)
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

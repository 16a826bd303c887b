"""The published algorithms, term by term, written from the papers; no code is shared with the package.

`delta_of_pair` is Algorithm 1 of Wang (PVLDB 2024, arXiv:2304.05007): each number of clones
c = 0, ..., n - 1 is one term.
`delta_of_blanket` is Lemma 5.3 of Balle, Bell, Gascón, Nissim (2019) for d-ary randomized response: each
number m of users under the blanket and each number a of them who say x is one term.
`delta_on_a_grid` is the algorithm of Su, Cheng, Wang (2025) with the settings of their released code.
"""

import math

import numpy as np
from scipy.special import betainc
from scipy.stats import binom

CHUNK = 500_000  # terms in memory at once
STEPS = 20  # bisections, the T of Algorithm 1


def tail(k, c, share=0.5):
    """Return P(Bin(c, share) >= k), with whole k and c; as an incomplete beta function."""
    inside = (k >= 1) & (k <= c)
    beta = betainc(np.where(inside, k, 1.0), np.where(inside, c - k + 1.0, 1.0), share)
    return np.where(k < 1, 1.0, np.where(k > c, 0.0, beta))


def delta_of_pair(eps, pair, window=math.inf):
    """Return δ of Algorithm 1; with q0 = q1 its two directions are equal, and one is computed.

    With a window, numbers of clones that many standard deviations away from their mean are left out.
    """
    n, p, e = pair.n, pair.p, math.exp(eps)
    alpha = pair.beta / (p - 1.0)
    r = alpha * p / pair.q0
    rest = max(0.0, 1.0 - alpha - alpha * p)
    mean, deviation = (n - 1) * 2.0 * r, math.sqrt((n - 1) * 2.0 * r * (1.0 - 2.0 * r))
    first = int(max(0.0, mean - window * deviation - 1.0))
    last = int(min(n - 1.0, mean + window * deviation + 1.0))

    def low(total):
        f = rest * (n - total) * r / (1.0 - 2.0 * r)
        return np.ceil(((e * p - 1.0) * alpha * total + (e - 1.0) * f) / (alpha * (e + 1.0) * (p - 1.0)))

    found = 0.0
    for start in range(first, last + 1, CHUNK):
        c = np.arange(start, min(start + CHUNK, last + 1), dtype=float)
        threshold = low(c + 1.0)
        terms = (p - e) * alpha * tail(threshold - 1.0, c) + (1.0 - p * e) * alpha * tail(threshold, c)
        if rest > 0.0:
            terms += (1.0 - e) * rest * tail(low(c), c)
        found += float(np.sum(binom.pmf(c, n - 1, 2.0 * r) * terms))
    return found


def epsilon_of_pair(pair, delta, window=math.inf):
    """Return the ends that the paper's bisection of [0, log p] leaves after T = 20 steps."""
    low, high = 0.0, math.log(pair.p)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if delta_of_pair(middle, pair, window) > delta else (low, middle)
    return low, high


def delta_of_blanket(eps, eps0, d, n):
    """Return the blanket's δ of d-ary randomized response, from x to x'.

    With m users under the blanket, a of them saying x and b of them x', the sum of losses is
    d/(e^eps0 + d - 1) times (e^eps0 - 1)(a - b e^eps) - m(e^eps - 1); the m - a others say x' with
    probability 1/(d - 1) each.
    """
    e, e0 = math.exp(eps), math.exp(eps0)
    blanket = d / (e0 + d - 1.0)
    found = 0.0
    for m in range(1, n + 1):
        a = np.arange(m + 1.0)
        gain = (e0 - 1.0) * a - (e - 1.0) * m  # less (e0 - 1) e for each b
        most = np.floor(np.nextafter(gain / ((e0 - 1.0) * e), -1.0))  # b at which the sum is positive
        others, share = m - a, 1.0 / (d - 1.0)
        here = 1.0 - tail(most + 1.0, others, share)
        below = 1.0 - tail(most, np.maximum(others - 1.0, 0.0), share)
        expected = gain * here - (e0 - 1.0) * e * others * share * below
        positive = np.where(most >= 0.0, expected, 0.0)
        found += binom.pmf(m, n, blanket) * float(np.sum(binom.pmf(a, m, 1.0 / d) * positive))
    return found / n


def delta_on_a_grid(eps, eps0, d, n):
    """Return the δ of one FFT of all n losses, each rounded up to a grid of (e^eps0 - 1)/1200."""
    e, e0 = math.exp(eps), math.exp(eps0)
    step, total = (e0 - 1.0) / 1200.0, e0 + d - 1.0
    cells = np.ceil(np.array([1.0 - e0 * e, 1.0 - e, e0 - e, 0.0]) / step).astype(int)
    mass = np.array([1.0, d - 2.0, 1.0, e0 - 1.0]) / total
    span = cells.max() - cells.min()
    length = 1 << int(n * span).bit_length()
    distribution = np.zeros(length)
    np.add.at(distribution, cells - cells.min(), mass)
    distribution = np.fft.irfft(np.fft.rfft(distribution) ** n, length)
    np.maximum(distribution, 0.0, out=distribution)
    totals = (np.arange(length) + n * cells.min()) * step
    positive = totals > 0.0
    return float(np.sum(distribution[positive] * totals[positive]) / distribution.sum() / n)

r"""Theorem 1's trade-off function as printed, in two published versions; neither is a trade-off function.

`ratio_test` explains the slips and has the functions that were meant.  Both functions here are staircases of
slope −1: between two thresholds nothing but the term −α changes.
"""

import math

import numpy as np
from scipy.special import bdtrc

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import log_binomial_pmf
from shufflelib.published.renyi.ratio_test import checked


def _clones(eps0, n):
    """Return v = 0 … n - 1 and the probabilities that v users are clones."""
    v = np.arange(n)
    return v, np.exp(log_binomial_pmf(v, n - 1, math.exp(-eps0)))


def theorem1_tradeoff_icassp24(*, eps0, n, fpr):
    r"""Return h(α) as printed in the conference version, misprints included.

    .. math:: \alpha(t) = \sum_{v=1}^{n-1} \mathbb P\Bigl(A > \frac{tv+t}{tv-1}\Bigr) \mathbb P(C=v), \quad
              g(\alpha) = \inf\{t : \alpha(t) \le \alpha\}, \quad
              h(\alpha) = 1 - \alpha - \sum_{v=1}^{n-1}
              \mathbb P\Bigl(A = \Bigl\lceil\frac{g(\alpha)v-1}{g(\alpha)+1}\Bigr\rceil\Bigr) \mathbb P(C=v)

    with C ~ Bin(n − 1, exp(-eps0)), A ~ Bin(v, 1/2) given C = v, a threshold of +∞ where t v = 1 and
    t > 0.

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included, at most 1000.
    fpr : float
        False-positive rate α in [0, 1].

    Returns
    -------
    float
        As printed: **neither a trade-off function nor a bound**; it may be negative.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    As a function of t, α(t) falls only where t v passes 1, so that g(α) is 1/v for some v, 0 or ∞.
    At eps0 = 1, n = 20 and α = 0.05 it returns 0.929; the trade-off function of the pair meant
    (Proposition 1) has 0.902.
    Cost O(n²).
    Source: Chen, Cao, Ge, ICASSP 2024 (full version), equations (5)–(7).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.theorem1_tradeoff_icassp24(eps0=1.0, n=20, fpr=0.05), 4)
    0.9291
    """
    (eps0, n), fpr = checked(eps0, n), validation.false_positive_rate(fpr)
    v, chance = _clones(eps0, n)
    v, chance = v[1:], chance[1:]
    w = v[::-1, None]  # t = 1/w, rising
    threshold = np.minimum((v + 1) // np.maximum(v - w, 1), v)
    beyond = bdtrc(threshold, v, 0.5)  # P(A > threshold) where v > w
    attained = np.where(v < w, 1.0, np.where(v > w, beyond, 0.0)) @ chance
    allowed = np.flatnonzero(attained <= fpr)
    if chance.sum() <= fpr:  # t below 1/(n - 1): every threshold is negative
        symbol = np.full(v.size, -1)
    elif allowed.size:
        slowest = int(w[allowed[0], 0])
        symbol = -((slowest - v) // (slowest + 1))  # ceiling of (v - w)/(w + 1)
    else:
        symbol = v
    exact = np.where(symbol >= 0, np.exp(log_binomial_pmf(symbol, v, 0.5)), 0.0)
    return 1.0 - fpr - float(exact @ chance)


def theorem1_tradeoff_arxiv24(*, eps0, n, fpr):
    r"""Return h(α) as printed in the arXiv version.

    .. math:: h(\alpha) = 1 - \alpha - c_0 \sum_{v=0}^{n-1} \mathbb P(B_1(v) < A \le B_1(v) + 1 \mid C = v)\,
              \mathbb P(C = v), \quad c_0 = \frac{e^{-\varepsilon_0}-1}{e^{-\varepsilon_0}+1}, \quad
              B_1(v) = \frac{g(\alpha)v-1}{g(\alpha)+1}

    with g(α) = inf{t : α(t) ≤ α} over t ≥ 0 and α(t) of `ratio_test_arxiv24`.

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included, at most 1000.
    fpr : float
        False-positive rate α in [0, 1].

    Returns
    -------
    float
        As printed: **neither a trade-off function nor a bound**; at least 1 − fpr, which would be
        perfect privacy, because c₀ is negative.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    At eps0 = 1, n = 20 and α = 0.05 it returns 0.973; the trade-off function of the pair meant
    (Proposition 1) has 0.902.
    Errata: P(A = k | C = v) is printed with (1/2)^k; here it is the binomial distribution.
    Cost O(n²).
    Source: Chen, Cao, Ge, arXiv:2401.04306v1, Theorem 1.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.theorem1_tradeoff_arxiv24(eps0=1.0, n=20, fpr=0.05), 3)
    0.973
    """
    (eps0, n), fpr = checked(eps0, n), validation.false_positive_rate(fpr)
    v, chance = _clones(eps0, n)
    a, b = (part.ravel() for part in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    a, b = a[(a + b >= 1) & (a + b <= n)], b[(a + b >= 1) & (a + b <= n)]
    with np.errstate(divide="ignore"):
        ratio, cell = np.unique(a / b, return_index=True)
    mass = np.zeros(ratio.size)
    share = 1.0 / (1.0 + math.exp(-eps0))  # of the first symbol under P
    for first, weight in ((1, share), (0, 1.0 - share)):
        count = a + b - 1
        hits = np.exp(log_binomial_pmf(a - first, count, 0.5)) * chance[count] * weight
        with np.errstate(divide="ignore"):
            np.add.at(mass, np.searchsorted(ratio, a / b), hits)
    above = np.append(np.cumsum(mass[::-1])[::-1][1:], 0.0)  # P(a/b > t) at every t
    at = cell[np.flatnonzero(above <= fpr)[0]]
    top, bottom = int(a[at]), int(b[at])
    symbol = (top * v - bottom) // (top + bottom) + 1  # the whole number in (B1, B1 + 1]
    exact = np.exp(log_binomial_pmf(symbol, v, 0.5))
    return 1.0 - fpr + math.tanh(0.5 * eps0) * float(exact @ chance)

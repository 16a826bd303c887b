r"""The "exact" Rényi divergence of a paper: a trade-off function, and an integral along it.

Theorem 1 of Chen, Cao, Ge writes :math:`D_\lambda(P\|Q) = \frac{1}{\lambda-1} \log \int_0^1
|h'(x)|^{1-\lambda}\,dx` for the trade-off function h of the tests "reject P when a/b > t", where a
and b count two symbols.  The identity is right for a trade-off function.  What is printed is not one:

========================  ======================================================================
slip                      consequence
========================  ======================================================================
statement's pair          D_λ = ∞ for every λ > 1 (`theorem1_pair_icassp24`, `…_arxiv24`)
no randomised tests       h is a staircase with slope −1 between jumps: read literally the integral
                          is 1 and D_λ = 0, perfect privacy, for every pair
conference (5)            t v − 1 for t + 1 in the denominator: g(α) = ∞ and h ≈ 1 − α
conference (5), (7)       the sums leave out v = 0
conference (7)            a ceiling for "floor + 1": off by one at every threshold that is attained
conference, all           Δ does not occur: h belongs to Δ = 1, whose D_λ is infinite
arXiv                     c₀ < 0, the test rejects P where P is likely: h lies *above* 1 − α
both                      P(A = k | C = v) with (1/2)^k for (1/2)^v
========================  ======================================================================

`ratio_test_icassp24` and `ratio_test_arxiv24` hold the error rates of the proofs (equations 14–17)
joined by chords, that is with randomised tests.  The second one, reflected, is the trade-off
function of Proposition 1's pair, and the integral along it is that pair's Rényi divergence.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import logsumexp

MOST_USERS = 1000  # the pair is listed cell by cell


@dataclass(frozen=True, eq=False)
class RatioTest:
    """Error rates of the tests "reject P when a/b > t", from t = ∞ down, joined by chords.

    Parameters
    ----------
    log_p, log_q : numpy.ndarray, shape (m,)
        Logarithms of what P and Q put on each step, in the order of rejection.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.published import renyi
    >>> test = renyi.RatioTest(log_p=np.log([0.25, 0.75]), log_q=np.log([0.75, 0.25]))
    >>> round(test.fnr(0.25), 4), round(test.renyi(2.0), 4)
    (0.25, 0.8473)
    """

    log_p: np.ndarray
    log_q: np.ndarray

    @functools.cached_property
    def knots(self):
        """False-positive and false-negative rates at every threshold, from (0, 1) to (1, 0)."""
        fpr = np.append(0.0, np.minimum(np.cumsum(np.exp(self.log_p)), 1.0))
        kept = np.append(np.cumsum(np.exp(self.log_q[::-1]))[::-1], 0.0)
        return fpr, np.minimum(kept, 1.0)

    @property
    def reflected(self):
        """The same tests with the decisions exchanged: the curve reflected in (1/2, 1/2)."""
        return RatioTest(self.log_p[::-1], self.log_q[::-1])

    def fnr(self, fpr):
        """Return the false-negative rate at a false-positive rate in [0, 1]; arrays in, arrays out."""
        fpr = validation.false_positive_rates(fpr)
        steps, rates = self.knots
        last = np.append(np.diff(steps) > 0.0, True)  # rejecting where P has no mass is free
        value = np.interp(fpr, steps[last], rates[last])
        return float(value) if fpr.ndim == 0 else value

    def renyi(self, order):
        r"""Return :math:`\frac{1}{\lambda-1}\log\int_0^1 |h'|^{1-\lambda}`, infinite where h is flat.

        Parameters
        ----------
        order : float
            Order λ > 1.

        Returns
        -------
        float
            Equal to D_order(P‖Q) up to rounding; numerics only.
        """
        flat = np.isneginf(self.log_q) & ~np.isneginf(self.log_p)
        return math.inf if flat.any() else self.renyi_to_first_zero(order)

    def renyi_to_first_zero(self, order):
        r"""Return the same integral over the α at which h falls, which leaves out where h is flat.

        Parameters
        ----------
        order : float
            Order λ > 1.

        Returns
        -------
        float
            Not a Rényi divergence unless h is nowhere flat; it may be negative.  ``-inf`` where h
            is flat throughout.
        """
        order = validation.renyi_order(order)
        both = ~np.isneginf(self.log_p) & ~np.isneginf(self.log_q)
        return logsumexp(order * self.log_p[both] - (order - 1.0) * self.log_q[both]) / (order - 1.0)


def checked(eps0, n):
    """Return both arguments, refusing bad input by name."""
    eps0 = validation.local_budget(eps0)
    n = validation.count(
        n,
        "n",
        at_least=1,
        at_most=MOST_USERS,
        remedy="the curve is listed cell by cell; for more users take the pair's own tradeoff and renyi",
    )
    return eps0, n


def _log_clones(eps0, n):
    """Return log P(A = a, C - A = b) over the square 0 ≤ a, b < n."""
    a, b = np.meshgrid(np.arange(float(n)), np.arange(float(n)), indexing="ij")
    rest = np.maximum(n - 1.0 - a - b, 0.0)
    ways = gammaln(n) - gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(rest + 1.0)
    value = ways - (a + b) * (eps0 + math.log(2.0)) + rest * math.log(-math.expm1(-eps0))
    return np.where(a + b <= n - 1.0, value, -np.inf)


def _ratio_test(eps0, n, log_first, log_second):
    """Return the test for a changed user who reports the first symbol so often under P, else the second."""
    clones = _log_clones(eps0, n)
    shape = (n + 1, n + 1)
    first, second = np.full(shape, -np.inf), np.full(shape, -np.inf)
    first[1:, :-1], second[:-1, 1:] = clones, clones
    a, b = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    log_p = np.logaddexp(log_first + first, log_second + second).ravel()
    log_q = np.logaddexp(log_second + first, log_first + second).ravel()
    rank = np.argsort(-np.arctan2(a, b).ravel(), kind="stable")
    rank = rank[~(np.isneginf(log_p) & np.isneginf(log_q))[rank]]
    return RatioTest(log_p[rank], log_q[rank])


def ratio_test_icassp24(*, eps0, n):
    r"""Return the test of the conference version's proof: P = (A, C − A + 1), Q = (A + 1, C − A).

    .. math:: \alpha(t) = \mathbb P\Bigl(\frac{A}{C-A+1} > t\Bigr), \qquad
              \beta(t) = \mathbb P\Bigl(\frac{A+1}{C-A} \le t\Bigr)

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included, at most 1000.

    Returns
    -------
    RatioTest
        ``renyi`` is infinite for every order above 1: with no first symbol among n reports P is certain.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    With the integral cut at the first zero of h the number is finite and useless in both directions:
    at eps0 = 0.1, n = 100, order 4 it is 0.0897 where the generic pair has 2.1e-4; at eps0 = 4, n = 400,
    order 4 it is 1.00 where binary randomized response has 1.59; for n = 2 it is negative.
    Cost O(n²) in time and memory.
    Source: Chen, Cao, Ge, ICASSP 2024 (full version), equations (14), (15).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> renyi.ratio_test_icassp24(eps0=1.0, n=20).renyi(2.0)
    inf
    """
    return _ratio_test(*checked(eps0, n), -math.inf, 0.0)


def ratio_test_arxiv24(*, eps0, n):
    r"""Return the test of the arXiv version: Proposition 1's pair, Δ ~ Bern(e/(e + 1)).

    .. math:: \alpha(t) = \mathbb P\Bigl(\frac{A+\Delta}{C-A+1-\Delta} > t\Bigr), \qquad
              \beta(t) = \mathbb P\Bigl(\frac{A+1-\Delta}{C-A+\Delta} \le t\Bigr)

    Parameters
    ----------
    eps0 : float
        Local budget in nats.
    n : int
        Number of all users, the one who changes included, at most 1000.

    Returns
    -------
    RatioTest
        ``renyi`` is that of `clones_pair_fmt21`; ``reflected`` is its trade-off function.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number of the stated kind.

    Notes
    -----
    Errata: the test rejects P where P is likely, and the curve lies above 1 − α.  The integral does
    not change: reflecting the curve permutes its chords and keeps their slopes.
    Cost O(n²) in time and memory.
    Source: Chen, Cao, Ge, arXiv:2401.04306v1, proof of Theorem 1; ICASSP 2024 (full version),
    equations (16), (17).

    Examples
    --------
    As printed no test does better than guessing; reflected it is the trade-off function:

    >>> from shufflelib.published import renyi
    >>> test = renyi.ratio_test_arxiv24(eps0=1.0, n=20)
    >>> round(test.fnr(0.05), 4), round(test.reflected.fnr(0.05), 4)
    (0.9771, 0.9023)
    """
    eps0, n = checked(eps0, n)
    return _ratio_test(eps0, n, -math.log1p(math.exp(-eps0)), -eps0 - math.log1p(math.exp(-eps0)))

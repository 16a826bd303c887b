r"""The pairs of distributions that papers reduce shuffling to; each is a profile with a certified ``renyi``.

Every pair here is one of two counts, how often two symbols occur among n reports,

.. math:: P = (A + \Delta_1,\; C - A + \Delta_2), \qquad Q = (A + \Delta_2,\; C - A + \Delta_1),

with C ~ Bin(n − 1, ·) clones among the other users.  `VariationRatioPair` computes all of them.

===========================  ==========================================================  ===============
pair                         changed user's symbols                                      P(clone)
===========================  ==========================================================  ===============
`clones_pair_fmt21`          first with e/(e + 1), else second; exchanged under Q        1/e
`generic_pair`               the same                                                    2/(e + 1)
`theorem1_pair_icassp24`     under P second, under Q first, or none; with 1/e            1/e
`theorem1_pair_arxiv24`      under P second, under Q first, or none; with e/(e + 1)      1/e
===========================  ==========================================================  ===============

`binary_rr_pair` is no reduction but an attack: the output distributions of two neighbouring datasets.
All of them take eps0 from 1e-9 to 340, else `OutOfRegime`.

Theorem 1 of Chen, Cao, Ge writes :math:`D_\lambda(P\|Q) = \frac{1}{\lambda-1} \log \int_0^1
|h'(x)|^{1-\lambda}\,dx` for the trade-off function h of the tests "reject P when a/b > t", where a
and b count the two symbols.  The identity is right for a trade-off function, and with
`clones_pair_fmt21` it is that pair's divergence.  What is printed is no trade-off function:

========================  ======================================================================
slip                      consequence
========================  ======================================================================
statement's pair          D_λ = ∞ for every λ > 1
no randomised tests       h is a staircase with slope −1 between jumps: read literally the integral
                          is 1 and D_λ = 0, perfect privacy, for every pair
conference (5)            t v − 1 for t + 1 in the denominator: g(α) = ∞ and h ≈ 1 − α
conference (5), (7)       the sums leave out v = 0
conference (7)            a ceiling for "floor + 1": off by one at every threshold that is attained
conference, all           Δ does not occur: h belongs to Δ = 1, whose D_λ is infinite
arXiv                     c₀ < 0, the test rejects P where P is likely: h lies *above* 1 − α
both                      P(A = k | C = v) with (1/2)^k for (1/2)^v
========================  ======================================================================
"""

import math

from shufflelib.numerics import validation
from shufflelib.published.closed_form.regime import OutOfRegime
from shufflelib.shuffling.variation_ratio import VariationRatioPair

SMALLEST_BUDGET = 1e-9  # below it exp(eps0) - 1 is lost in rounding
LARGEST_BUDGET = 340.0  # beyond it products of two exponentials overflow


def _checked(eps0, n):
    eps0, n = validation.local_budget(eps0), validation.users(n)
    if not SMALLEST_BUDGET <= eps0 <= LARGEST_BUDGET:
        raise OutOfRegime(
            f"eps0 must be >= {SMALLEST_BUDGET:g} and <= {LARGEST_BUDGET:g}, got {eps0!r}; "
            "at smaller ones exp(eps0) - 1 is lost in rounding, at larger ones shuffling does not amplify"
        )
    return math.exp(eps0), n


def clones_pair_fmt21(*, eps0: float, n: int) -> VariationRatioPair:
    r"""Return the clone pair of Feldman et al. 2021: each other user is a clone with probability exp(-eps0).

    .. math:: C \sim \mathrm{Bin}(n-1, e^{-\varepsilon_0}),\; A \sim \mathrm{Bin}(C, \tfrac12),\;
              \Delta_1 = 1 - \Delta_2 \sim \mathrm{Bern}\bigl(1/(1 + e^{-\varepsilon_0})\bigr)

    Returns
    -------
    VariationRatioPair
        It dominates the mechanism: ``renyi(order).upper`` is the safe bound.

    Notes
    -----
    Hypotheses: pure eps0-LDP, users permuted before an adaptive sequence of randomizers.
    Looser than `generic_pair` (1.05 times at eps0 = 0.1, 2 times at eps0 = 4, for n = 10⁴ and
    order 4), but it holds for adaptive randomizers too.
    Source: Feldman, McMillan, Talwar, FOCS 2021 (arXiv:2012.12803), Theorem 3.1; Proposition 1 of
    Chen, Cao, Ge (ICASSP 2024; arXiv:2401.04306v1).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> at = {"eps0": 1.0, "n": 10_000}
    >>> renyi.clones_pair_fmt21(**at).renyi(4).lower / renyi.generic_pair(**at).renyi(4).upper > 1.46
    True
    """
    e, n = _checked(eps0, n)
    return VariationRatioPair(n=n, p=e, beta=(e - 1.0) / (e + 1.0), q0=2.0 * e * (e / (e + 1.0)))


def generic_pair(*, eps0: float, n: int) -> VariationRatioPair:
    r"""Return the pair of the stronger clones: clone probability 2/(exp(eps0) + 1).

    .. math:: C \sim \mathrm{Bin}\Bigl(n-1, \frac{2}{e^{\varepsilon_0}+1}\Bigr),\;
              A \sim \mathrm{Bin}(C, \tfrac12),\;
              \Delta_1 = 1 - \Delta_2 \sim \mathrm{Bern}\bigl(1/(1 + e^{-\varepsilon_0})\bigr)

    Returns
    -------
    VariationRatioPair
        It dominates the mechanism: ``renyi(order).upper`` is the safe bound.

    Notes
    -----
    Hypotheses: identical, non-adaptive, pure eps0-LDP randomizers.  The blanket
    pair of binary randomized response is this pair, and it dominates every other one in convex order.
    To leading order :math:`D_\lambda = \lambda (e-1)^2/((e+1) n)`.
    Source: Feldman, McMillan, Talwar, SODA 2023 (arXiv:2208.04591).
    Errata: the official erratum withdraws the proof of Lemma 3.5 for general, adaptive randomizers;
    the argument above replaces it in the setting stated here.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> bracket = renyi.generic_pair(eps0=1.0, n=10_000).renyi(4)
    >>> round(bracket.upper, 6), bracket.upper < 1.0001 * bracket.lower
    (0.000318, True)
    """
    e, n = _checked(eps0, n)
    return VariationRatioPair(n=n, p=e, beta=(e - 1.0) / (e + 1.0), q0=e)


def binary_rr_pair(*, eps0: float, n: int) -> VariationRatioPair:
    r"""Return the pair of binary randomized response when all other users hold one value.

    P: all n users hold that value.  Q: one of them holds the other value.

    Returns
    -------
    VariationRatioPair
        Exact for two neighbouring datasets of an eps0-LDP mechanism, so that no valid bound lies
        below: ``renyi(order).lower`` is the safe bound.  The pair is not symmetric; ``renyi`` takes
        the larger direction.

    Notes
    -----
    The published lower bound is the direction D(Q‖P) (`girgis21_lower_exact`).  D(P‖Q) was the
    larger one at every point tried: at n = 1000, eps0 = 4, order 16 it is 2.790 against 0.297, and
    within 1e-8 of the generic pair's, so that there the truth is known.
    Source of the datasets: Girgis, Data, Diggavi, Suresh, Kairouz, CCS 2021 (arXiv:2105.05180).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.binary_rr_pair(eps0=1.0, n=10_000).renyi(4).lower, 6)
    0.000217
    """
    e, n = _checked(eps0, n)
    return VariationRatioPair(n=n, p=e, beta=(e - 1.0) / (e + 1.0), q0=1.0, q1=e)


def theorem1_pair_icassp24(*, eps0: float, n: int) -> VariationRatioPair:
    r"""Return the pair in the statement of Theorem 1, conference version: Δ ~ Bern(exp(-eps0)).

    .. math:: P = (A,\; C - A + \Delta), \quad Q = (A + \Delta,\; C - A), \quad
              C \sim \mathrm{Bin}(n-1, e^{-\varepsilon_0}),\; A \sim \mathrm{Bin}(C, \tfrac12),\;
              \Delta \sim \mathrm{Bern}(e^{-\varepsilon_0})

    Returns
    -------
    VariationRatioPair
        A mathematical object.  It does **not** dominate the mechanism.

    Notes
    -----
    Errata: not the pair that Proposition 1 of the same paper leads to (`clones_pair_fmt21`).  P has outputs
    that Q never has (no first symbol, all n of the second), so that D_λ is infinite for every λ > 1 in both
    directions, and the maximum of Corollary 1 is infinite.  Its hockey-stick divergence falls *below* the
    mechanism's: for n = 1 and e = 3 it has δ(0) = 1/3 where binary randomized response has 1/2.  Its Rényi
    sum over outputs that both distributions have is below the truth too: eps0 = 4, n = 400, order 4: 3.7e-4
    where binary randomized response has 1.59.
    Source: Chen, Cao, Ge, ICASSP 2024 (full version), Theorem 1.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> renyi.theorem1_pair_icassp24(eps0=1.0, n=10_000).renyi(1.1).lower
    inf
    """
    e, n = _checked(eps0, n)
    return _one_sided(e, n, share=1.0 / e)


def theorem1_pair_arxiv24(*, eps0: float, n: int) -> VariationRatioPair:
    r"""Return the pair in the statement of Theorem 1, arXiv version: Δ ~ Bern(1/(1 + exp(-eps0))).

    .. math:: P = (A,\; C - A + \Delta), \quad Q = (A + \Delta,\; C - A), \quad
              C \sim \mathrm{Bin}(n-1, e^{-\varepsilon_0}),\; A \sim \mathrm{Bin}(C, \tfrac12),\;
              \Delta \sim \mathrm{Bern}\Bigl(\frac{1}{1 + e^{-\varepsilon_0}}\Bigr)

    Returns
    -------
    VariationRatioPair
        A mathematical object; with D_λ infinite it dominates the mechanism only vacuously.

    Notes
    -----
    Errata: Δ has the distribution that Proposition 1 gives it, but the pair drops Proposition 1's 1 − Δ.
    D_λ is infinite for every λ > 1 in both directions.  The h(α) printed next to it belongs to
    Proposition 1's pair (`clones_pair_fmt21`).
    Source: Chen, Cao, Ge, arXiv:2401.04306v1, Theorem 1.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> renyi.theorem1_pair_arxiv24(eps0=1.0, n=10_000).renyi(1.1).lower
    inf
    """
    e, n = _checked(eps0, n)
    return _one_sided(e, n, share=e / (e + 1.0))


def _one_sided(e, n, *, share):
    """Return the pair in which the changed user reports a symbol with probability ``share`` only."""
    return VariationRatioPair(n=n, p=math.inf, beta=share, q0=2.0 * e * share)

r"""Parallel composition as published: many queries, each user answers one of them with the full budget.

Wang (PVLDB 2024), Section 6, has three ways to account for K queries, and each becomes a
`VariationRatioPair`:

- *separate cohorts*: n/K users for each query, amplified among themselves;
- *basic*: each user draws a query; the bound for every ε₀-LDP randomizer applies to the mixture;
- *advanced* (Theorem 6.1): each user draws a query; the total variation is the queries' mean,
  :math:`\bar\beta = \sum_k w_k \beta_k`.

Which of them are bounds
------------------------
*Basic* is a bound: the blanket pair of binary randomized response dominates every ε₀-LDP randomizer.  It is
loose as soon as a query has more than two answers.

*Advanced* is not a bound, because the pair is not one in general (see `VariationRatioPair`).  Take the two
levels above four leaves, equally likely.  With e^ε₀ = 9 and n = 2 users, the other one
holding x₀, the exact δ(log 6) is 363/1600 = 0.226875, the pair has 0.211597…; with e^ε₀ = 3 and n = 4,
others x₀, x₀ and its sibling, δ(log 2) is 0.054479…, the pair has 0.053756…  For many users and small ε
it agrees with the blanket's bound to first order, both variances being
:math:`2\bar\beta(e^{\varepsilon_0}-1)`.

*Separate cohorts* is a bound for a cohort if its pair is one.  A user's report hides among the reports of the
same cohort only, so the guarantee of the protocol is that of the worst cohort.

The certified number is ``shuffle(randomizers.mixture(…), n=n)``; for separate cohorts it is the largest of
``shuffle(randomizer, n=size)``.

``eps0`` is the local budget of every query in nats, from 1e-9 to 700; ``d`` is a number of values, a power of
two, at least 2.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.published.renyi.pairs import SMALLEST_BUDGET
from shufflelib.randomizers import generic
from shufflelib.randomizers.values import numbers
from shufflelib.shuffling.variation_ratio import SMALLEST_MASS, VariationRatioPair


def basic_parallel_wang24(*, eps0: float, n: int) -> VariationRatioPair:
    r"""Return the pair of basic parallel composition, which holds for any ε₀-LDP randomizer.

    .. math:: p = q = e^{\varepsilon_0}, \qquad \beta = \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1}

    Parameters
    ----------
    n : int
        Number of users, whatever query they draw.

    Returns
    -------
    VariationRatioPair
        Its numbers are upper bounds for every mixture of ε₀-LDP randomizers.

    Notes
    -----
    Section 6 of Wang 2024 prints e^ε₀/(e^ε₀ - 1) in place of β in the first subscript, a misprint; the
    preceding text has the β above.  Cost as `VariationRatioPair`.

    Examples
    --------
    >>> from shufflelib.published import parallel_composition
    >>> round(parallel_composition.basic_parallel_wang24(eps0=1.0, n=1000).epsilon(delta=1e-6).upper, 4)
    0.1487
    """
    return VariationRatioPair.of(generic(eps0=_budget(eps0)), n=n)


def advanced_parallel_wang24(
    *, eps0: float, betas: ArrayLike, weights: ArrayLike, n: int
) -> VariationRatioPair:
    r"""Return the pair of advanced parallel composition, **as published**, not a bound.

    .. math:: p = q = e^{\varepsilon_0}, \qquad \bar\beta = \sum_k w_k \beta_k

    Parameters
    ----------
    betas : array_like, shape (K,)
        Total-variation bounds of the queries' randomizers, 0 <= β <= (e^ε₀ - 1)/(e^ε₀ + 1).
    weights : array_like, shape (K,)
        Positive probabilities with which a user draws each query, adding up to 1 (within 1e-9).

    Returns
    -------
    VariationRatioPair
        The pair with :math:`\bar\beta`, which is its attribute ``beta``.

    Notes
    -----
    Wang 2024, Theorem 6.1 (which writes β'_k for β_k).  Where the truth is larger: see the module.
    Cost as `VariationRatioPair`.

    Examples
    --------
    >>> from shufflelib.published import parallel_composition
    >>> betas = parallel_composition.range_query_betas(eps0=1.0, d=64)  # six queries
    >>> sixth = [1 / 6] * 6
    >>> pair = parallel_composition.advanced_parallel_wang24(eps0=1.0, betas=betas, weights=sixth, n=1000)
    >>> round(pair.beta, 4), round(pair.epsilon(delta=1e-6).upper, 4)
    (0.1856, 0.0909)
    """
    eps0 = _budget(eps0)
    betas = numbers(
        betas,
        "betas",
        at_least=0.0,
        at_most=math.tanh(0.5 * eps0) * (1 + 1e-12),
        remedy="a total variation is at most (e^eps0 - 1)/(e^eps0 + 1)",
    )
    weights = validation.weights(weights, "weights", betas.size)
    ratio, beta = math.exp(eps0), math.fsum(weights * betas)
    if 0.0 < beta < SMALLEST_MASS * ratio:
        raise ValueError(
            f"eps0 must leave the mixture a mass beta e^-eps0 of at least {SMALLEST_MASS:g}, "
            f"got {eps0!r} at beta = {beta:.3g}; use a smaller one"
        )
    return VariationRatioPair(n=n, p=ratio, beta=beta, q0=ratio)


def separate_cohort_wang24(*, eps0: float, beta: float, n: int, cohorts: int) -> VariationRatioPair:
    r"""Return the pair of one of K separate cohorts of ⌊n/K⌋ users, **as published**.

    .. math:: p = q = e^{\varepsilon_0}, \qquad n_k = \lfloor n/K \rfloor

    Parameters
    ----------
    beta : float
        Total-variation bound of the cohort's randomizer, 0 <= β <= (e^ε₀ - 1)/(e^ε₀ + 1).
    n : int
        Number of users, at least ``cohorts``.
    cohorts : int
        Number K of queries.

    Returns
    -------
    VariationRatioPair
        An upper bound for the cohort where β is the largest possible, (e^ε₀ - 1)/(e^ε₀ + 1).

    Notes
    -----
    Wang 2024, Section 8.3, prints the same β for the best and the worst cohort.  The released code has
    (e - 1)/(e + d - 1) for the best, the level of single values, and (e - 1)/(e + 1) for the worst, the
    level of halves.  It also divides n by K twice for whichever of the two is listed second.

    Examples
    --------
    >>> from shufflelib.published import parallel_composition
    >>> pair = parallel_composition.separate_cohort_wang24(eps0=1.0, beta=0.18, n=6000, cohorts=6)
    >>> pair.n
    1000
    """
    eps0 = _budget(eps0)
    cohorts = validation.count(cohorts, "cohorts", at_least=1)
    n = validation.count(n, "n", at_least=cohorts, remedy="every cohort needs at least one user")
    return VariationRatioPair(n=n // cohorts, p=math.exp(eps0), beta=beta, q0=math.exp(eps0))


def range_query_betas(*, eps0: float, d: int) -> Array:
    r"""Return β of randomized response on every level of the binary hierarchy over d values.

    .. math:: \beta_h = \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0} + 2^{h} - 1},\quad h = 1, \dots, \log_2 d

    Returns
    -------
    numpy.ndarray, shape (log2 d,)
        Coarsest level (two nodes) first; with equal weights their mean is the β̄ of Section 8.3.

    Examples
    --------
    >>> from shufflelib.published import parallel_composition
    >>> parallel_composition.range_query_betas(eps0=1.0, d=8).round(5).tolist()
    [0.46212, 0.30049, 0.17681]
    """
    eps0 = validation.local_budget(eps0)
    nodes = 2.0 ** np.arange(1, _levels(d) + 1)
    return -np.expm1(-eps0) / (1.0 + (nodes - 1.0) * np.exp(-eps0))


def range_query_beta_released(*, eps0: float, d: int) -> float:
    r"""Return the β that the released code of Wang 2024 computes for advanced parallel composition.

    .. math:: \frac{1}{\log_2 d}\,\frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0} + d - 1}

    Returns
    -------
    float
        The last term of the sum that defines β̄, **not** β̄: the loop over levels overwrites its variable
        instead of adding to it.  Far too small, so that ε comes out far too small.

    Notes
    -----
    At ε₀ = 1: d = 64 gives 0.00436 for 0.18558, d = 2048 gives 0.0000762 for 0.10357.

    Examples
    --------
    >>> from shufflelib.published import parallel_composition
    >>> round(parallel_composition.range_query_beta_released(eps0=1.0, d=64), 4)
    0.0044
    >>> round(float(parallel_composition.range_query_betas(eps0=1.0, d=64).mean()), 4)  # of the theorem
    0.1856
    """
    betas = range_query_betas(eps0=eps0, d=d)
    return float(betas[-1]) / betas.size


def _budget(eps0):
    remedy = "below it exp(eps0) - 1 is lost in rounding"
    return validation.real(eps0, "eps0", at_least=SMALLEST_BUDGET, at_most=700.0, remedy=remedy)


def _levels(d):
    d = validation.count(d, "d", at_least=2, at_most=2**40)
    if d & (d - 1):
        raise ValueError(f"d must be a power of two, got {d!r}; pad the domain with values that nobody holds")
    return d.bit_length() - 1

r"""The variation-ratio paper's mixture decomposition, lower bound, and binary search for ε, as printed.

The pair itself is `shufflelib.shuffling.VariationRatioPair`, its closed forms are in `closed_form`.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _rows(table, first, second):
    """Return the table and its rows of x₀ and x₁, which differ."""
    rows = validation.reals(table, "table", at_least=0.0, at_most=1.0, remedy="it holds probabilities")
    if rows.ndim != 2 or not np.allclose(rows.sum(axis=1), 1.0):
        raise ValueError("table must have a probability distribution in each row; pass randomizer.pmf()")
    last = len(rows) - 1
    first = validation.count(first, "first", at_least=0, at_most=last, remedy="it is a row of table")
    second = validation.count(second, "second", at_least=0, at_most=last, remedy="it is a row of table")
    if np.array_equal(rows[first], rows[second]):
        raise ValueError(f"first and second must be rows that differ, got {first} and {second}")
    return rows, rows[first], rows[second]


class MixtureParts(NamedTuple):
    """The components Q₁⁰, Q₁¹, Q₁ and Q_i of the reports, and their weights.

    Attributes
    ----------
    p, beta, q : float
        The smallest numbers with the (p, β)-variation and the q-ratio property.
    alpha, r : float
        β/(p − 1) and αp/q.
    left, right, rest : numpy.ndarray, shape (outputs,)
        Q₁⁰, Q₁¹ and Q₁; Q₁ is zero where its weight 1 − α − αp is.
    others : numpy.ndarray, shape (inputs, outputs)
        Q_i for each row of the table, zero where its weight 1 − 2r is.

    Examples
    --------
    >>> from shufflelib.published import variation_ratio
    >>> parts = variation_ratio.mixture_parts([[0.75, 0.25], [0.25, 0.75]])
    >>> parts.left.tolist(), parts.right.tolist(), parts.rest.tolist()
    ([1.0, 0.0], [0.0, 1.0], [0.0, 0.0])
    """

    p: float
    beta: float
    q: float
    alpha: float
    r: float
    left: Array
    right: Array
    rest: Array
    others: Array


def mixture_parts(table: ArrayLike, *, first: int = 0, second: int = 1) -> MixtureParts:
    r"""Return the mixture decomposition of Lemma 4.3, formulas (1) to (3).

    .. math:: R_1(x_1^0) &= p\alpha Q_1^0 + \alpha Q_1^1 + (1 - \alpha - p\alpha) Q_1 \\
              R_1(x_1^1) &= \alpha Q_1^0 + p\alpha Q_1^1 + (1 - \alpha - p\alpha) Q_1 \\
              R_i(x_i) &= r Q_1^0 + r Q_1^1 + (1 - 2r) Q_i

    Parameters
    ----------
    table : array_like, shape (inputs, outputs)
        Rows are the distributions of a report: those of the first user's two values, and any that other
        users may have.  ``pmf`` of a randomizer returns them for users who share it.
    first, second : int
        Rows of the first user's values, which must differ.

    Notes
    -----
    The decomposition holds.  What Lemma 4.4 makes of it does not: Q₁ and the Q_i differ, and the counts of
    Q₁⁰ and Q₁¹ forget it (``python -m claims wang24-lemma-4.3 wang24-lemma-4.4``).  With p = ∞ the
    weight α is 0 and pα is β; with q = ∞, where another row lacks an output, r is 0.  Floating point.
    Source: Wang (arXiv:2304.05007 before v5), Lemma 4.3.

    Examples
    --------
    For 5-ary randomized response with e^ε₀ = 3 the rest of the first user is uniform on the three other
    options, and that of a user with option 2 is not:

    >>> import math
    >>> from shufflelib import randomizers
    >>> from shufflelib.published import variation_ratio
    >>> parts = variation_ratio.mixture_parts(randomizers.generalized_rr(eps0=math.log(3), d=5).pmf())
    >>> [round(float(mass), 3) for mass in parts.rest]
    [0.0, 0.0, 0.333, 0.333, 0.333]
    >>> [round(float(mass), 3) for mass in parts.others[2]]
    [0.0, 0.0, 0.6, 0.2, 0.2]
    """
    rows, r0, r1 = _rows(table, first, second)
    larger, smaller = np.maximum(r0, r1), np.minimum(r0, r1)
    some = larger > 0.0
    with np.errstate(divide="ignore"):
        p = float(np.max(larger[some] / smaller[some]))
        q = max(1.0, float(np.max(larger[some] / rows[:, some])))
    beta = float(np.sum(np.maximum(r0 - r1, 0.0)))
    alpha = beta / (p - 1.0)
    high = alpha + beta
    r = high / q
    left, right = (np.maximum(gap, 0.0) / np.sum(np.maximum(gap, 0.0)) for gap in (r0 - r1, r1 - r0))
    rounding = 1e-15 * (1.0 + 1.0 / (p - 1.0))
    rest = _scaled(smaller - alpha * (left + right), rounding * larger)
    others = np.array([_scaled(row - r * (left + right), rounding * row) for row in rows])
    return MixtureParts(p, beta, q, alpha, r, left, right, rest, others)


def _scaled(masses, rounding):
    """Return masses as a distribution, with zeros for those that are nothing but rounding."""
    masses = np.where(masses > rounding, masses, 0.0)
    total = masses.sum()
    return masses / total if total > 0.0 else masses


def lower_bound_pair(table: ArrayLike, *, n: int, first: int = 0, second: int = 1) -> VariationRatioPair:
    r"""Return the pair of Theorem 5.1: the counts of reports that x₀ and x₁ make more likely.

    .. math:: p = \frac{R_1(B)}{R_0(B)}, \quad \beta = R_1(B) - R_0(B), \quad
              q_0 = \frac{R_0(A)}{R_*(A)}, \quad q_1 = \frac{R_1(B)}{R_*(B)}

    with A and B the outputs that are likelier under x₀ and x₁, and x* the input of all other users that makes
    min(q₀, q₁) largest.

    Parameters
    ----------
    table : array_like, shape (inputs, outputs)
        Rows are the distributions of a report, as `pmf` of a randomizer returns them.
    first, second : int
        Rows of x₀ and x₁, which must differ.

    Returns
    -------
    VariationRatioPair
        Its divergence is claimed to be a lower bound for the shuffled reports.

    Notes
    -----
    True where R₀(A) = R₁(B), which holds for every symmetric mechanism.  Elsewhere it fails: for
    R₀ = (1, 4)/5, R₁ = (2, 3)/5, n = 2 and e^ε = 5/4 the pair has the larger δ
    (``python -m claims wang24-theorem-5.1``).
    Source: Wang (arXiv:2304.05007 before v5), Theorem 5.1 and Proposition 1.

    Examples
    --------
    For 5-ary randomized response an attack meets the lower bound of the certified bracket:

    >>> from shufflelib import randomizers, shuffle
    >>> from shufflelib.published import variation_ratio
    >>> rr = randomizers.generalized_rr(eps0=1.0, d=5)
    >>> pair = variation_ratio.lower_bound_pair(rr.pmf(), n=1000)
    >>> float(f"{pair.q0:.6g}"), float(f"{pair.q1:.6g}")
    (2.71828, 2.71828)
    >>> pair.epsilon(delta=1e-6).lower <= shuffle(rr, n=1000).epsilon(delta=1e-6).upper
    True
    """
    rows, r0, r1 = _rows(table, first, second)
    falls, rises = r0 > r1, r1 > r0
    with np.errstate(divide="ignore"):
        q0, q1 = r0[falls].sum() / rows[:, falls].sum(axis=1), r1[rises].sum() / rows[:, rises].sum(axis=1)
        p = r1[rises].sum() / r0[rises].sum()
    others = int(np.argmax(np.minimum(q0, q1)))
    beta = float(np.sum((r1 - r0)[rises]))
    return VariationRatioPair(n=n, p=float(p), beta=beta, q0=float(q0[others]), q1=float(q1[others]))


def search_epsilon(pair: VariationRatioPair, *, delta: float, steps: int = 20, upper: bool = True) -> float:
    r"""Return ε after a number of bisections of [0, log p]: Algorithm 1, or Algorithm 3 for the lower bound.

    Parameters
    ----------
    pair : VariationRatioPair
        With a finite p.
    delta : float
        0 < δ < 1.
    steps : int
        T, the number of halvings; the paper prints tables for 10 and 20.
    upper : bool
        Whether to return the end at which δ is met, or the one at which it is exceeded.

    Returns
    -------
    float
        Within log(p)/2^T of the pair's ε, on the promised side.

    Notes
    -----
    `VariationRatioPair.epsilon` encloses the same number to machine precision.
    Source: Wang (arXiv:2304.05007 before v5), Algorithms 1 and 3.

    Examples
    --------
    The first row of Table 4, for T = 20 and T = 10, prints 0.00280 and 0.00284:

    >>> from shufflelib import randomizers
    >>> from shufflelib.published import variation_ratio
    >>> from shufflelib.shuffling import VariationRatioPair
    >>> pair = VariationRatioPair.of(randomizers.generic(eps0=0.1), n=10_000)
    >>> [round(variation_ratio.search_epsilon(pair, delta=1e-6, steps=steps), 5) for steps in (20, 10)]
    [0.00279, 0.00283]
    """
    validation.instance(pair, "pair", VariationRatioPair, remedy="VariationRatioPair.of(randomizer, n=n)")
    delta = validation.real(delta, "delta", above=0.0, below=1.0, remedy="it is a probability")
    steps = validation.count(steps, "steps", at_least=1, at_most=60, remedy="each step halves the error")
    if math.isinf(pair.p):
        raise ValueError("pair must have a finite p, got inf; the search starts at log p")
    low, high = 0.0, math.log(pair.p)
    for _ in range(steps):
        middle = (low + high) / 2.0
        ends = pair.delta(eps=middle)
        if (ends.upper if upper else ends.lower) > delta:
            low = middle
        else:
            high = middle
    return high if upper else low

r"""The reduction to counts of two symbols behind GSPA's μ, **as published**; it is refuted.

Lemma 1 of Chen, Cao and Ge writes the report of every user as a mixture of two common distributions and a
rest; their Theorem 1 concludes that all shuffled reports are a post-processing of how many came from each,

.. math:: \rho_0 = (\Delta_0, \Delta_1, \Delta_2) + V, \qquad \rho_1 = (\Delta_1, \Delta_0, \Delta_2) + V

with :math:`\Delta_2 \sim \mathrm{Bern}(\delta_n)`, :math:`\Delta_0 \sim \mathrm{Bin}(1 - \Delta_2,
e^{\varepsilon_n}/(1 + e^{\varepsilon_n}))`, :math:`\Delta_1 = 1 - \Delta_0 - \Delta_2`, and V the sum over
the other users of one symbol each, drawn with probabilities

.. math:: q_i, \; q_i, \; 1 - 2 q_i, \qquad q_i = \frac{1 - \delta_i}{1 + e^{\varepsilon_i}}

The text prints δ_i as the third probability of V; the three would then add up to 1 for ε_i = 0 only.

What is wrong with the pair as a bound: the other users need not hold as much of the two distributions
(`decomposition_gspa24`), slots with unequal budgets reveal more than the counts, and the event of probability
δ_n, on which the inputs may be distinguished, is the same symbol under both.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import binomial_tail
from shufflelib.numerics.root_finding import delta_root
from shufflelib.numerics.types import Array
from shufflelib.published.closed_form.regime import require
from shufflelib.randomizers import from_pmf
from shufflelib.shuffling.personal.budgets import failures, personal
from shufflelib.shuffling.personal.score_sums import score_distribution


class Decomposition(NamedTuple):
    """The components of Lemma 1, for the inputs of a table.

    ``first`` and ``second`` are the two common distributions; ``rest`` has a row for every other input, what
    equation (11) leaves of it.  An entry below 0 says that the input has no such decomposition.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> table = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]]
    >>> found = personalized.decomposition_gspa24(table, eps0=1.0986122886681098)
    >>> found.first.round(6).tolist(), found.rest.round(6).tolist()
    ([1.0, 0.0], [[0.25, 0.25]])
    """

    first: Array
    second: Array
    rest: Array


def decomposition_gspa24(matrix: ArrayLike, *, eps0: float) -> Decomposition:
    r"""Return the components that Lemma 1 prints, for a randomizer with δ_i = 0.

    .. math:: R(x_1^0) = \frac{e Q^0 + Q^1}{e + 1}, \quad R(x_1^1) = \frac{Q^0 + e Q^1}{e + 1}, \quad
              R(x_i) = \frac{Q^0 + Q^1}{e + 1} + \text{rest}, \qquad e = e^{\varepsilon_0}

    Parameters
    ----------
    matrix : array_like, shape (inputs, outputs)
        One row for each input, with its distribution of reports: the two values of the user who changes, then
        those of other users.

    Returns
    -------
    Decomposition
        As published: the first two equations determine the two distributions; the rest may be negative.

    Raises
    ------
    OutOfRegime
        If two rows differ by more than a factor of e.

    Notes
    -----
    Read with the weights of x_1^1 exchanged, as the proof has them; the statement prints both lines alike.
    The rest is R(x_i) − (R(x_1^0) + R(x_1^1))/(e + 1).  Where all three rows are (e, e, 1)/(2e + 1) in some
    order it is negative: the paper's lemma is that of Feldman, McMillan, Talwar 2023, withdrawn in its
    erratum.  With δ_i > 0 the equations give the two inputs the same third distribution, so that their total
    variation distance is (1 − δ_i)(e − 1)/(e + 1); by the paper's Lemma 4 it may be larger by δ_i.
    Source: Chen, Cao, Ge (AAAI 2024), Lemma 1, equations (9) to (11).

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> rows = [[3, 3, 1], [3, 1, 3], [1, 3, 3]]
    >>> rows = [[x / 7 for x in row] for row in rows]
    >>> personalized.decomposition_gspa24(rows, eps0=1.0986122886681098).rest.round(4).tolist()
    [[-0.0714, 0.2857, 0.2857]]
    """
    table, eps0 = from_pmf(matrix), validation.local_budget(eps0)
    require(
        table.eps0 <= eps0 + 1e-9,
        "rows within a factor of exp(eps0)",
        f"they differ by exp({table.eps0:.6g})",
    )
    given, changed, *others = table.pmf()
    back = math.exp(-eps0)
    first, second = (
        np.maximum(one - back * other, 0.0) / -math.expm1(-eps0)
        for one, other in ((given, changed), (changed, given))
    )
    rest = np.reshape(others, (-1, given.size)) - (given + changed) * back / (1.0 + back)
    return Decomposition(first, second, rest)


def counts_delta_gspa24(*, eps0: ArrayLike, eps: float, delta0: ArrayLike = 0.0) -> float:
    r"""Return δ at ε of the published pair of counts, (ρ₀, ρ₁).

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        Local budgets in nats, n ≥ 2, from 0 to 700; the last one is that of the user who changes.
    delta0 : float or array_like, shape (n,)
        Local δ₀ in [0, 1).

    Returns
    -------
    float
        Of the pair as published, **not a bound** for the reports; accurate to about 1e-8 of its value and
        1e-14, not certified.

    Notes
    -----
    Both directions are equal.  Given the number of symbols 0 and 1 the likelihood ratio rises in the first
    count, so that the positive part is two binomial tails.  From ε = ε_n on it is 0, whatever δ_n.
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 1.  Cost O(g √n) for g different budgets.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> f"{personalized.counts_delta_gspa24(eps0=half, eps=0.3):.3e}"
    '1.070e-07'
    """
    eps0 = personal(eps0)
    delta0 = failures(delta0, eps0)
    eps = validation.central_budget(eps)
    return delta_among(*_clones(eps0, delta0), float(eps0[-1]), float(delta0[-1]), eps)


def counts_epsilon_gspa24(*, eps0: ArrayLike, delta: float, delta0: ArrayLike = 0.0) -> float:
    r"""Return ε at ``delta`` of the published pair of counts.

    Parameters
    ----------
    delta : float
        Central δ in (0, 1); below about 1e-13 the pair's δ is not resolved.

    Returns
    -------
    float
        Of the pair as published, **not a bound**; at most the budget of the user who changes.

    Notes
    -----
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 1.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.counts_epsilon_gspa24(eps0=half, delta=1e-4), 4)
    0.18
    """
    eps0 = personal(eps0)
    delta0 = failures(delta0, eps0)
    clones, own = _clones(eps0, delta0), (float(eps0[-1]), float(delta0[-1]))
    return smallest_epsilon(lambda eps: delta_among(*clones, *own, eps), delta=delta, largest=own[0])


def smallest_epsilon(delta_at, *, delta, largest):
    """Return the ε up to ``largest`` at which a falling δ(ε) comes down to ``delta``."""
    delta = validation.probability(delta, "delta")
    return delta_root(delta_at, delta, largest, safe_above=True, width=1e-9)


def _clones(eps0, delta0) -> tuple[Array, Array]:
    """Return the numbers of other users' symbols 0 and 1 on a window, and their probabilities."""
    chance = 2.0 * (1.0 - delta0) * np.exp(-eps0) / (1.0 + np.exp(-eps0))
    chances, counts = np.unique(chance[:-1], return_counts=True)
    found = score_distribution(chances, np.zeros(chances.size), counts)
    return found.first + np.arange(found.masses.size), np.maximum(found.masses, 0.0)


def delta_among(clones, masses, own, failed, eps):
    """Return δ at ε for one user with budget ``own`` among these numbers of clones."""
    if eps >= own:
        return 0.0
    # s symbols 0 and 1 in all: s − 1 clones and the user's own, or s clones and the user's third symbol
    totals = np.append(clones, clones[-1] + 1.0)
    with_own, without = np.append(0.0, masses), np.append(masses, 0.0)
    largest = (1.0 - failed) / (1.0 + math.exp(-own))
    ratio, least = math.exp(eps), largest * math.exp(-own)
    # P − e^ε Q = (2 rise a/s + level) Bin(s, 1/2)(a) at a first count of a
    rise = with_own * (largest - least) * (1.0 + ratio)
    level = 2.0 * with_own * (least - ratio * largest) - failed * without * math.expm1(eps)
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.floor(np.where(rise > 0.0, -level * totals / (2.0 * rise), totals)) + 1.0
    value = rise * binomial_tail(start - 1.0, totals - 1.0, 0.5) + level * binomial_tail(start, totals, 0.5)
    return min(1.0, math.fsum(np.maximum(value, 0.0)))

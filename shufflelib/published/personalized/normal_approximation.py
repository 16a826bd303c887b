r"""How far the two counts behind shuffling are from a normal distribution, for equal budgets.

With m = n − 1 users, each of whom is a clone of either kind with probability q, the counts are trinomial,

.. math:: (\xi_0, \xi_1) \sim \mathrm{Multinomial}(m; q, q, 1 - 2q), \qquad
          q = \frac{1-\delta_0}{1+e^{\varepsilon_0}}.

The paper compares them with the normal distribution of equal mean and covariance.  Its Lemma 2 bounds a total
variation distance between the two by C/√m.  As stated that is false: a distribution on points and a
distribution with a density have total variation distance 1.  Rounding the normal distribution to cells
repairs it.
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import log_binomial_pmf
from shufflelib.published.closed_form.regime import require

REACH = 9.0  # standard deviations listed on either side
MOST_CELLS = 40_000_000
NODES, WEIGHTS = (part / 2.0 for part in np.polynomial.legendre.leggauss(4))


class NormalApproximation(NamedTuple):
    """Distances between the counts and the normal distribution.

    ``printed`` is eq. (14) as printed, ``largest_cell`` the same with whole cells, and
    ``total_variation`` the distance that Theorem 2's proof needs.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> found = personalized.normal_approximation_gspa24(eps0=1.5, n=100)
    >>> found.largest_cell < found.printed < found.total_variation
    True
    """

    printed: float
    largest_cell: float
    total_variation: float


def normal_approximation_gspa24(*, eps0: float, n: int, delta0: float = 0.0) -> NormalApproximation:
    r"""Return the number of eq. (14) for the normal approximation, and the true total variation distance.

    .. math:: \sup_{k} |P(\xi = k) - h(k)|, \quad
              h(k_0, k_1) = \Pr\bigl(Z \in [k_0, k_0 + \tfrac12] \times [k_1, k_1 + \tfrac12]\bigr), \qquad
              \mathrm{TV} = \tfrac12 \sum_k \bigl|P(\xi = k) - \Pr(\lfloor Z \rceil = k)\bigr|

    Parameters
    ----------
    n : int
        Number of users; (n − 1) q (1 − 2q) must be at least 10; up to about 10⁵ can be listed.
    delta0 : float
        Local δ₀ in [0, 1).

    Returns
    -------
    NormalApproximation
        Floats, accurate to about 1e-10; not certified.

    Raises
    ------
    OutOfRegime
        If (n − 1) q (1 − 2q) < 10, where cells are too coarse for a normal distribution, or too many cells
        would have to be listed.

    Notes
    -----
    Errata: eq. (14) calls the supremum over single cells a total variation distance; that is half the
    *sum* over cells, larger by a factor of the order of n.  Its h integrates over a quarter of a cell, so
    that the figure does not even measure the approximation: it stays near 3/4 of the largest mass.
    The paper's p₀ = (1 − δ₀)/(1 + e^ε₀) is read as the probability q of each kind, as in Theorem 1.
    Source: Chen, Cao, Ge (AAAI 2024), eq. (14).  Cost: about 324 m q (1 − q) cells.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> found = personalized.normal_approximation_gspa24(eps0=1.5, n=100)
    >>> round(found.printed, 4), round(found.total_variation, 4)
    (0.0082, 0.0281)
    """
    eps0, n = validation.local_budget(eps0), validation.users(n)
    delta0 = validation.real(delta0, "delta0", at_least=0.0, below=1.0, remedy="a local δ is in [0, 1)")
    q, m = (1.0 - delta0) * math.exp(-eps0) / (1.0 + math.exp(-eps0)), n - 1
    q_rest = m * q * (1.0 - 2.0 * q)
    require(
        q_rest >= 10.0,
        "(n - 1) q (1 - 2 q) >= 10 with q = (1 - delta0)/(1 + exp(eps0))",
        f"it is {q_rest:.4g}",
    )
    spread = math.sqrt(m * q * (1.0 - q))
    low, high = max(0, math.floor(m * q - REACH * spread)), min(m, math.ceil(m * q + REACH * spread))
    size = high - low + 1
    require(size**2 <= MOST_CELLS, f"at most {MOST_CELLS} cells", f"{size}^2 cells, n = {n}")
    # sum and difference of the two coordinates of the normal distribution are independent
    wide, narrow = 2.0 * m * q, 2.0 * m * q * (1.0 - 2.0 * q)  # variances of ξ0 − ξ1 and of ξ0 + ξ1
    across = np.arange(low, high + 1, dtype=float)
    printed = largest = distance = listed = rounded = 0.0
    for first in across:
        mass = np.exp(
            log_binomial_pmf(first, m, q) + log_binomial_pmf(across, m - first, min(q / (1.0 - q), 1.0))
        )
        quarter = _cells(first - m * q + 0.25, across - m * q + 0.25, 0.5, wide, narrow)
        whole = _cells(first - m * q, across - m * q, 1.0, wide, narrow)
        printed = max(printed, float(np.abs(mass - quarter).max()))
        largest = max(largest, float(np.abs(mass - whole).max()))
        distance += float(np.abs(mass - whole).sum())
        listed, rounded = listed + float(mass.sum()), rounded + float(whole.sum())
    distance += max(1.0 - listed, 0.0) + max(1.0 - rounded, 0.0)  # bound on the mass that is not listed
    return NormalApproximation(printed, largest, 0.5 * distance)


def _cells(x, y, side, wide, narrow):
    """Return the normal distribution's mass of squares with these centres."""
    total = np.zeros(y.size)
    for move0, weight0 in zip(NODES, WEIGHTS, strict=True):
        for move1, weight1 in zip(NODES, WEIGHTS, strict=True):
            first, second = x + side * move0, y + side * move1
            exponent = (first - second) ** 2 / wide + (first + second) ** 2 / narrow
            total += weight0 * weight1 * np.exp(-0.5 * exponent)
    return total * side**2 / (math.pi * math.sqrt(wide * narrow))

r"""Echo of neighbours: overlaps of personal Laplace noise in the clone argument, **as published**.

Liu, Zhao, Xiong, Liu and Chen measure the overlap of user i's noise with user j's and put the sum of these
overlaps in place of the expected number of clones.

The CIKM 2024 successor (Liu, Liu, Xiong, Gu, Chen, arXiv:2407.18157) is not reproduced: known here are its
abstract and its released code, whose bound is refuted in the ledger (``hps24-code-bound``).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.published.closed_form.regime import require
from shufflelib.published.personalized.counts import delta_among, smallest_epsilon
from shufflelib.shuffling.personal.budgets import personal

REACH = 9.0  # standard deviations of the number of clones


def _positive(eps0) -> Array:
    eps0 = personal(eps0)
    require(eps0.min() > 0.0, "positive budgets", f"the smallest is {eps0.min():g}")
    return eps0


def _overlaps(eps0):
    """Return the mean over j of p_ij, for all i but one with the largest budget, and that budget."""
    order = np.sort(eps0)
    shape = order / -np.expm1(-order)  # ε/(1 − e^{−ε})
    # mean over j of e^{−max(ε_i, ε_j)} / shape_j, by running sums over the sorted budgets
    upto = np.cumsum(1.0 / shape)
    after = np.cumsum((np.exp(-order) / shape)[::-1])[::-1]
    after = np.append(after[1:], 0.0)
    overlaps = shape * (np.exp(-order) * upto + after) / order.size
    return np.minimum(overlaps[:-1], 1.0), float(order[-1])


def echo_clones_liu23(*, eps0: ArrayLike) -> float:
    r"""Return the sum of overlaps that replaces the expected number of clones.

    .. math:: S = \sum_{i \ne 1} \frac1n \sum_j p_{ij}, \qquad
              p_{ij} = \frac{\varepsilon_i}{\varepsilon_j}\,
              \frac{1 - e^{-\varepsilon_j}}{1 - e^{-\varepsilon_i}}\, e^{-\max(\varepsilon_i, \varepsilon_j)}

    Notes
    -----
    User 1 is taken to be one with the largest budget.  Errata: the argument needs p_{i1}; the average
    over j conceals how narrow the target's noise is.
    Source: Liu, Zhao, Xiong, Liu, Chen, AAAI 2023 (arXiv:2304.05516), the released code.
    Cost O(n log n).

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.echo_clones_liu23(eps0=half))
    265
    """
    return math.fsum(_overlaps(_positive(eps0))[0])


def echo_epsilon_liu23(*, eps0: ArrayLike, delta: float) -> float:
    r"""Return the closed-form ε at ``delta``.

    .. math:: \varepsilon = \log\Bigl(1 + \frac{e^{\varepsilon_1} - 1}{e^{\varepsilon_1} + 1}
              \Bigl(8\sqrt{\frac{\log(4/\delta)}{S}} + \frac8S\Bigr)\Bigr), \qquad
              \varepsilon_1 = \max_i \varepsilon_i

    Returns
    -------
    float
        As published, **not a bound** for every population; see `echo_clones_liu23`.

    Raises
    ------
    OutOfRegime
        If S < 16 log(4/delta).

    Notes
    -----
    Source: Liu, Zhao, Xiong, Liu, Chen, AAAI 2023 (arXiv:2304.05516), the released code.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.echo_epsilon_liu23(eps0=half, delta=1e-6), 4)
    0.9087
    """
    eps0, log4 = _positive(eps0), math.log(4.0) - math.log(validation.probability(delta, "delta"))
    clones = echo_clones_liu23(eps0=eps0)
    require(clones >= 16.0 * log4, "S >= 16 log(4/delta)", f"S = {clones:.6g} < {16.0 * log4:.6g}")
    return math.log1p(math.tanh(0.5 * float(eps0.max())) * 8.0 * (math.sqrt(log4 / clones) + 1.0 / clones))


def echo_delta_liu23(*, eps0: ArrayLike, eps: float) -> float:
    r"""Return the numerical version: δ at ε of the clone pair with a normal number of clones.

    .. math:: C \sim \mathcal N\Bigl(S, \sum_i p_i(1-p_i)\Bigr),\quad A \sim \mathrm{Bin}(C, \tfrac12),\quad
              (A + D,\, C - A + 1 - D) \text{ against } (A + 1 - D,\, C - A + D)

    with D Bernoulli :math:`e^{\varepsilon_1}/(e^{\varepsilon_1}+1)`, ε₁ the largest budget, and
    p_i the mean over j of p_ij.

    Returns
    -------
    float
        As published, **not a bound**: the normal distribution has no error term, and one user with budget 8
        among n = 20000 with 0.1, all with Laplace noise truncated to [0, 1], has ε ≥ 0.0709 at
        δ = 1e-6, where this function returns 0.0516.

    Notes
    -----
    C is rounded to whole numbers from 0 to n − 1, nine standard deviations wide.
    Source: Liu, Zhao, Xiong, Liu, Chen, AAAI 2023 (arXiv:2304.05516), the released code.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> f"{personalized.echo_delta_liu23(eps0=half, eps=0.3):.3e}"
    '2.141e-05'
    """
    eps0 = _positive(eps0)
    eps = validation.central_budget(eps)
    overlaps, largest = _overlaps(eps0)
    mean, variance = math.fsum(overlaps), max(math.fsum(overlaps * (1.0 - overlaps)), 1e-12)
    reach = REACH * math.sqrt(variance) + 1.0
    clones = np.arange(max(0, math.floor(mean - reach)), min(eps0.size - 1, math.ceil(mean + reach)) + 1.0)
    weight = np.exp(-0.5 * (clones - mean) ** 2 / variance)
    return delta_among(clones, weight / math.fsum(weight), largest, 0.0, eps)


def echo_epsilon_numerical_liu23(*, eps0: ArrayLike, delta: float) -> float:
    """Return ε at ``delta`` of the numerical version, `echo_delta_liu23`.

    Returns
    -------
    float
        As published, **not a bound**; at most the largest budget.

    Raises
    ------
    OutOfRegime
        If a budget is 0.

    Notes
    -----
    Source: Liu, Zhao, Xiong, Liu, Chen, AAAI 2023 (arXiv:2304.05516), the released code.

    Examples
    --------
    >>> from shufflelib.published import personalized
    >>> half = [0.5] * 500 + [2.0] * 500
    >>> round(personalized.echo_epsilon_numerical_liu23(eps0=half, delta=1e-6), 4)
    0.374
    """
    eps0 = _positive(eps0)
    return smallest_epsilon(
        lambda eps: echo_delta_liu23(eps0=eps0, eps=eps), delta=delta, largest=float(eps0.max())
    )

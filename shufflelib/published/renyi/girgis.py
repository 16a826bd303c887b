"""Bounds of Girgis et al.: the first Rényi analysis of shuffling that holds for every eps0.

Orders are whole numbers of at least 2, else `OutOfRegime`; `girgis21_lower_exact` takes any above 1.
"""

import math

import numpy as np
from scipy.special import gammaln

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import log_expm1, logsumexp
from shufflelib.published.closed_form.regime import require
from shufflelib.published.renyi.pairs import binary_rr_pair

LARGEST_SUM = 10**6  # terms of the full sum


def _checked(eps0, n, order):
    eps0, n = validation.local_budget(eps0), validation.users(n)
    order = validation.renyi_order(order)
    require(order.is_integer(), "a whole order >= 2", f"order = {order!r}")
    return eps0, n, order


def effective_users(eps0, n):
    """Return ⌊(n − 1)/(2e)⌋ + 1."""
    return math.floor(0.5 * (n - 1) * math.exp(-eps0)) + 1


def log_binomials(order, j):
    """Return log of the binomial coefficients of ``order`` over j."""
    return gammaln(order + 1.0) - gammaln(j + 1.0) - gammaln(order - j + 1.0)


def log_higher_moments(eps0, n, order, factor):
    """Return the terms j ≥ 3 of both full sums, log of binom(λ, j) j Γ(j/2) (2 ``factor`` s²/m)^{j/2}."""
    j = np.arange(3.0, order + 1.0)
    log_sinh = log_expm1(2.0 * eps0) - eps0 - math.log(2.0)  # (e^2eps0 − 1)/(2 e^eps0)
    scale = math.log(2.0 * factor) + 2.0 * log_sinh - math.log(effective_users(eps0, n))
    return log_binomials(order, j) + np.log(j) + gammaln(0.5 * j) + 0.5 * j * scale


def _log_chernoff(eps0, n, order):
    return eps0 * order - 0.125 * (n - 1) * math.exp(-eps0)


def girgis21_upper(*, eps0: float, n: int, order: int) -> float:
    r"""Bound the Rényi divergence by a sum over all moments up to the order.

    .. math:: \varepsilon(\lambda) = \frac{1}{\lambda-1} \log\Bigl(1
              + \binom\lambda2 \frac{(e^{\varepsilon_0}-1)^2}{\bar n e^{\varepsilon_0}}
              + \sum_{i=3}^{\lambda} \binom\lambda i\, i\, \Gamma(\tfrac i2)
                \Bigl(\frac{(e^{2\varepsilon_0}-1)^2}{2 e^{2\varepsilon_0} \bar n}\Bigr)^{i/2}
              + e^{\varepsilon_0\lambda - \frac{n-1}{8 e^{\varepsilon_0}}}\Bigr),
              \qquad \bar n = \Bigl\lfloor\frac{n-1}{2e^{\varepsilon_0}}\Bigr\rfloor + 1

    Parameters
    ----------
    order : int
        At most 10⁶.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (order, ε)-RDP.  It may exceed eps0.

    Notes
    -----
    Hypotheses: identical pure eps0-LDP randomizers.  No value below the generic pair's was found.
    It is loose: at n = 10⁴ and order 4 it is 2.1 times the generic pair's at eps0 = 0.1, 22 times
    at eps0 = 2 and 120 times at eps0 = 4.
    Source: Girgis, Data, Diggavi, Suresh, Kairouz, CCS 2021 (arXiv:2105.05180), Theorem 1.
    Errata: one released implementation starts the sum at i = 2, which counts the second moment twice.
    Cost does not depend on n; time and memory are O(order).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.girgis21_upper(eps0=1.0, n=10_000, order=4), 5)
    0.00139
    """
    eps0, n, order = _checked(eps0, n, order)
    validation.count(order, "order", at_most=LARGEST_SUM, remedy="use girgis21_upper_simplified")
    log_users = math.log(effective_users(eps0, n))
    second = math.log(0.5 * order * (order - 1.0)) + 2.0 * log_expm1(eps0) - log_users - eps0
    higher = logsumexp(log_higher_moments(eps0, n, order, 1.0))
    excess = logsumexp([second, higher, _log_chernoff(eps0, n, order)])
    return float(np.logaddexp(0.0, excess)) / (order - 1.0)


def girgis21_upper_simplified(*, eps0: float, n: int, order: int) -> float:
    r"""Bound the Rényi divergence by a short formula.

    .. math:: \varepsilon(\lambda) = \frac{1}{\lambda-1} \log\Bigl(
              e^{\lambda^2 (e^{\varepsilon_0}-1)^2/\bar n}
              + e^{\varepsilon_0\lambda - \frac{n-1}{8 e^{\varepsilon_0}}}\Bigr),
              \qquad \bar n = \Bigl\lfloor\frac{n-1}{2e^{\varepsilon_0}}\Bigr\rfloor + 1

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (order, ε)-RDP.  It may exceed eps0 and is infinite
        where the exponent overflows.

    Notes
    -----
    Hypotheses: identical pure eps0-LDP randomizers.  No value below the generic pair's was found.
    Loose: at n = 10⁴ and order 4 it is 6 times the generic pair's at eps0 = 0.1, 165 times at
    eps0 = 2.  It is not a relaxation of `girgis21_upper` as given here everywhere: at eps0 = 0.1,
    n = 1000, order 128 it is 3.16e-3, the full sum 3.52e-3, the generic pair 6.73e-4.
    Source: Girgis, Data, Diggavi, Suresh, Kairouz, CCS 2021 (arXiv:2105.05180); equation (8) of
    Chen, Cao, Ge (ICASSP 2024, full version), equation (4) of arXiv:2401.04306v1.
    Errata: the latter say that without the second exponential the bound is "nearly"
    :math:`\tfrac{2}{n-1} \tfrac{\lambda}{\lambda-1} e^{\varepsilon_0}(e^{\varepsilon_0}-1)^2`; a factor
    λ is missing there (the ratio to Corollary 2 that they draw from it is right).
    Cost O(1).

    Examples
    --------
    Six times the full sum:

    >>> from shufflelib.published import renyi
    >>> round(renyi.girgis21_upper_simplified(eps0=1.0, n=10_000, order=4), 5)
    0.00856
    """
    eps0, n, order = _checked(eps0, n, order)
    log_exponent = 2.0 * math.log(order) + 2.0 * log_expm1(eps0) - math.log(effective_users(eps0, n))
    exponent = math.exp(log_exponent) if log_exponent < 700.0 else math.inf
    return float(np.logaddexp(exponent, _log_chernoff(eps0, n, order))) / (order - 1.0)


def girgis21_lower(*, eps0: float, n: int, order: float) -> float:
    r"""Bound the worst Rényi divergence from below, by binary randomized response's second moment.

    .. math:: \varepsilon(\lambda) = \frac{1}{\lambda-1} \log\Bigl(1
              + \frac{\lambda(\lambda-1)}2 \frac{(e^{\varepsilon_0}-1)^2}{n e^{\varepsilon_0}}\Bigr)

    Returns
    -------
    float
        A lower bound: no bound for all eps0-LDP randomizers can be smaller.

    Notes
    -----
    Equal to `girgis21_lower_exact` at order 2; below it beyond.
    Source: Girgis, Data, Diggavi, Suresh, Kairouz, CCS 2021 (arXiv:2105.05180); equation (9) of
    Chen, Cao, Ge (ICASSP 2024, full version), equation (5) of arXiv:2401.04306v1.
    Cost O(1).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> at = {"eps0": 1.0, "n": 10_000, "order": 4}
    >>> renyi.girgis21_lower(**at) < renyi.girgis21_lower_exact(**at) < renyi.girgis21_upper(**at)
    True
    """
    eps0, n, order = _checked(eps0, n, order)
    second = math.log(0.5 * order * (order - 1.0)) + 2.0 * log_expm1(eps0) - math.log(n) - eps0
    return float(np.logaddexp(0.0, second)) / (order - 1.0)


def girgis21_lower_exact(*, eps0: float, n: int, order: float) -> float:
    r"""Bound the worst Rényi divergence from below by two neighbouring datasets, computed exactly.

    .. math:: \varepsilon(\lambda) = \frac{1}{\lambda-1} \log \mathbb E\Bigl(1
              + \frac{e^{2\varepsilon_0}-1}{n e^{\varepsilon_0}}
                \Bigl(m - \frac{n}{e^{\varepsilon_0}+1}\Bigr)\Bigr)^{\lambda},
              \qquad m \sim \mathrm{Bin}\Bigl(n, \frac{1}{e^{\varepsilon_0}+1}\Bigr)

    Returns
    -------
    float
        The certified lower bound of the formula, hence a lower bound as well.

    Notes
    -----
    Binary randomized response; all other users hold one value; D(changed‖unchanged).  The other
    direction is often larger: `binary_rr_pair` takes the maximum.
    Source: Girgis, Data, Diggavi, Suresh, Kairouz, CCS 2021 (arXiv:2105.05180), the sum over
    central moments written as one expectation.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.girgis21_lower_exact(eps0=1.0, n=10_000, order=4), 6)
    0.000217
    """
    order = validation.real(
        order, "order", above=1.0, at_most=validation.MAX_ORDER, remedy="a Renyi order is a number above 1"
    )
    return binary_rr_pair(eps0=eps0, n=n).reversed.renyi_directed(order)[0]

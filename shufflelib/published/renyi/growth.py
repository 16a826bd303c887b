r"""The rows of a published comparison table, taken literally: orders of growth read as numbers.

Table 1 of Chen, Cao, Ge lists what is known as :math:`O(\cdot)`.  An order of growth has no
constant, so these functions prove nothing; they serve to draw the rows.

==========================  ===================  =======================  ===========================
row                         as listed            here                     taken literally
==========================  ===================  =======================  ===========================
Erlingsson et al. 2019      O(exp(6 eps0) λ/n)   `erlingsson19_growth`    above the truth where tried
Girgis et al. 2021          O(exp(2 eps0) λ/n)   `girgis21_growth`        above the truth where tried
Feldman et al. 2021         O(64 exp(eps0) λ/n)  `clones_fmt21_growth`    refuted from eps0 ≈ 16 on
Feldman et al. 2023         without a constant   none                     see below
Chen, Cao, Ge               O(2 exp(eps0) λ/n)   `gaussian_ccg24`         refuted from eps0 ≈ 2.79 on
lower bound, Girgis et al.  O(exp(eps0) λ/n)     `girgis21_lower_growth`  refuted
==========================  ===================  =======================  ===========================

**Feldman et al. 2023.**  The row has no constant, and none could be verified in a source: there
is no function.  Its shape, :math:`c\,\lambda (1-e^{-\varepsilon_0})^2 e^{\varepsilon_0}/n` for
λ up to :math:`n/(16\,\varepsilon_0 e^{\varepsilon_0})`, fits: over that regime the generic pair's
Rényi divergence divided by :math:`\lambda(1-e^{-\varepsilon_0})^2 e^{\varepsilon_0}/n` is
e/(e + 1) to leading order, and at most 1.004 at every point tried (largest order of the regime,
eps0 from 0.5 to 8, orders 1.05 to 20; the largest, 1.0035, at eps0 = 7.5 and order 1.05).  A constant
c = 1.01 would do for identical, non-adaptive randomizers there; this is numerics, not a proof.
"""

import math

from shufflelib.numerics import validation


def _row(eps0, n, order, log_constant, rate):
    eps0, n = validation.local_budget(eps0), validation.users(n)
    order = validation.renyi_order(order)
    log_value = log_constant + rate * eps0 + math.log(order) - math.log(n)
    return math.exp(log_value) if log_value < 709.0 else math.inf


def erlingsson19_growth(*, eps0: float, n: int, order: float) -> float:
    r"""Return the row of Erlingsson et al.: an order of growth, not a bound.

    .. math:: \frac{e^{6\varepsilon_0} \lambda}{n}

    Returns
    -------
    float
        An order of growth: **the source states no constant**.  Infinite where it overflows.

    Notes
    -----
    Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta (SODA 2019), as listed in
    Table 1 of Chen, Cao, Ge (ICASSP 2024; arXiv:2401.04306v1).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.erlingsson19_growth(eps0=1.0, n=10_000, order=4), 4)
    0.1614
    """
    return _row(eps0, n, order, 0.0, 6.0)


def girgis21_growth(*, eps0: float, n: int, order: float) -> float:
    r"""Return the row of Girgis et al.: an order of growth, not a bound.

    .. math:: \frac{e^{2\varepsilon_0} \lambda}{n}

    Returns
    -------
    float
        An order of growth: **the row states no constant**.  The bound itself is `girgis21_upper`.
        Infinite where it overflows.

    Notes
    -----
    Above the generic pair's divergence wherever it was tried.
    Source: Girgis, Data, Diggavi, Suresh, Kairouz (CCS 2021), as listed in Table 1 of Chen, Cao, Ge
    (ICASSP 2024; arXiv:2401.04306v1).

    Examples
    --------
    Twice the bound of the same paper, `girgis21_upper`:

    >>> from shufflelib.published import renyi
    >>> at = {"eps0": 1.0, "n": 10_000, "order": 4}
    >>> round(renyi.girgis21_growth(**at) / renyi.girgis21_upper(**at), 2)
    2.13
    """
    return _row(eps0, n, order, 0.0, 2.0)


def clones_fmt21_growth(*, eps0: float, n: int, order: float) -> float:
    r"""Return the row of Feldman et al. 2021: an order of growth with a constant, not a bound.

    .. math:: \frac{64\, e^{\varepsilon_0} \lambda}{n}

    Returns
    -------
    float
        An order of growth; the regime of the theorem behind it is not listed.  Infinite where it
        overflows.

    Notes
    -----
    Far above the truth at every eps0 ≤ 12 tried.  Without a regime it fails for every large n at some
    orders once :math:`\varepsilon_0^2 > 256\, e^{\varepsilon_0} \log(1 + e^{-\varepsilon_0})`, eps0 ≈ 16: at
    eps0 = 20, n = 10¹⁰, order 4 it is 12.42 where binary randomized response, all others holding
    one value, has at least 13.13.
    Source: Feldman, McMillan, Talwar (FOCS 2021), as listed in Table 1 of Chen, Cao, Ge (ICASSP
    2024; arXiv:2401.04306v1).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.clones_fmt21_growth(eps0=1.0, n=10_000, order=4), 4)
    0.0696
    """
    return _row(eps0, n, order, math.log(64.0), 1.0)


def girgis21_lower_growth(*, eps0: float, n: int, order: float) -> float:
    r"""Return the lower-bound row of Girgis et al.: an order of growth, not a bound.

    .. math:: \frac{e^{\varepsilon_0} \lambda}{n}

    Returns
    -------
    float
        An order of growth: **the row states no constant**.  The bound itself is `girgis21_lower`.
        Infinite where it overflows.

    Notes
    -----
    Taken literally it is no lower bound: at eps0 = 1, n = 10⁴, order 4 it is 1.09e-3 where every
    eps0-LDP randomizer has at most 3.18e-4.
    Source: Girgis, Data, Diggavi, Suresh, Kairouz (CCS 2021), as listed in Table 1 of Chen, Cao, Ge
    (ICASSP 2024; arXiv:2401.04306v1).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> at = {"eps0": 1.0, "n": 10_000}
    >>> renyi.girgis21_lower_growth(**at, order=4) > 3 * renyi.generic_pair(**at).renyi(4).upper
    True
    """
    return _row(eps0, n, order, 0.0, 1.0)

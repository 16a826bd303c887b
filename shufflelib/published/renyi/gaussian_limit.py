r"""A central limit theorem in place of a bound: shuffling as Gaussian differential privacy.

The two counts behind shuffling are asymptotically normal.  Chen, Cao and Ge put the normal distribution in
their place, without an error term.  Everything here follows from that one number μ.

``n`` is at least 2, else `OutOfRegime`; ``delta0`` is the local δ₀, strictly between 0 and 1.  Every formula
costs O(1).
"""

import math

from scipy.special import ndtr, ndtri

from shufflelib.numerics import validation
from shufflelib.profiles.pairs import Gaussian
from shufflelib.published.closed_form.regime import require

LARGEST_MU = 1e4  # of a `Gaussian` profile; beyond it nothing is private


def _checked(eps0, n):
    eps0, n = validation.local_budget(eps0), validation.users(n)
    require(n >= 2, "n >= 2", f"n = {n}")
    return eps0, n


def gaussian_mu_ccg24(*, eps0: float, n: int) -> float:
    r"""Return the μ with which shuffling is said to be approximately μ-GDP.

    .. math:: \mu = \frac{2 e^{\varepsilon_0/2}}{\sqrt{n-1}}

    Returns
    -------
    float
        An asymptotic value, **not a bound**: `Gaussian` (μ) is its profile.

    Notes
    -----
    The normal limit of the pair (A, C − A + 1), (A + 1, C − A), C ~ Bin(n − 1, exp(-eps0)), which
    ignores the randomness of the changed user's report.  That is why μ does not vanish with eps0.
    Errata: the proof equates T(mixture) with the mixture of T; that is an inequality.
    Refuted as a bound: binary randomized response with e = 50, n = 93, all other users holding one
    value, has δ(log 10) = 0.1268; μ-GDP has 0.0973.  See also `gaussian_ccg24`.
    Source: Chen, Cao, Ge (ICASSP 2024; arXiv:2401.04306v1), Theorem 2.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.gaussian_mu_ccg24(eps0=1.0, n=10_000), 4)
    0.033
    """
    eps0, n = _checked(eps0, n)
    return 2.0 * math.exp(0.5 * eps0) / math.sqrt(n - 1)


def gaussian_ccg24(*, eps0: float, n: int, order: float) -> float:
    r"""Return the Rényi divergence of the normal limit.

    .. math:: \varepsilon(\lambda) = \frac{2 e^{\varepsilon_0} \lambda}{n-1}

    Parameters
    ----------
    order : float
        Rényi order above 1 (the arXiv version asks for at least 2).

    Returns
    -------
    float
        An asymptotic value, **not a bound**; infinite where it overflows.

    Notes
    -----
    Refuted as an upper bound.  At n = 1000, eps0 = 4, order 16 it is 1.749; 3-ary randomized response, all
    others holding a third value, has 2.213, and binary randomized response, all others holding one value,
    2.790.  At n = 10⁴, eps0 = 6, order 8: 0.646 against 1.817 and 2.463.  An event of probability about
    exp(-n exp(-eps0)), that nobody else reports the rare symbol, has privacy loss eps0; for every large n
    some orders fail as soon as :math:`\varepsilon_0^2 > 8 e^{\varepsilon_0} \log(1 + e^{-\varepsilon_0})`,
    that is from eps0 ≈ 2.79 on.  No failure was found below that.  In exact fractions: e = 50, n = 93, order
    2, binary randomized response has 2.181, the formula 2.174.  Where eps0 is small it holds and is loose:
    eps0 = 0.1, n = 10⁴, order 4: 8.8e-4, the generic pair has 2.1e-6.  It exceeds the
    `girgis21_upper_simplified` once :math:`\tfrac{\lambda}{\lambda-1}(e^{\varepsilon_0}-1)^2 < 1`.  On the
    papers' sentence that it and `girgis21_lower` are "nearly identical": the ratio is 5.36 at eps0 = 2, n =
    10⁴, order 4, 6.43 at order 40, 442 at eps0 = 0.1, order 4, and always above 4.
    Source: Chen, Cao, Ge (ICASSP 2024; arXiv:2401.04306v1), Corollary 2.

    Examples
    --------
    The first counterexample: two neighbouring datasets are further apart than the formula claims.

    >>> from shufflelib.published import renyi
    >>> at = {"eps0": 4.0, "n": 1000}
    >>> renyi.gaussian_ccg24(**at, order=16) < 0.7 * renyi.binary_rr_pair(**at).renyi(16).lower
    True
    """
    eps0, n = _checked(eps0, n)
    order = validation.renyi_order(order)
    return 2.0 * math.exp(eps0) * order / (n - 1)


def _event_ccg24(eps0, delta0, n):
    r"""Return :math:`1 - (1 - (1 + e^{-\varepsilon_0}/2)\,\delta_0)^n`."""
    one = (1.0 + 0.5 * math.exp(-eps0)) * delta0
    return -math.expm1(n * math.log1p(-one)) if one < 1.0 else 1.0


def gaussian_tradeoff_ccg24(*, eps0: float, delta0: float, n: int, fpr: float) -> float:
    r"""Return the false-negative rate claimed for (eps0, delta0)-LDP randomizers.

    .. math:: (F \otimes f_{0,\delta'})(\alpha) = (1-\delta')\, F\Bigl(\frac{\alpha}{1-\delta'}\Bigr),
              \quad F(\alpha) = \Phi(\Phi^{-1}(1-\alpha) - \mu), \quad
              \delta' = 1 - \Bigl(1 - \Bigl(1 + \frac{1}{2e^{\varepsilon_0}}\Bigr)\delta_0\Bigr)^n

    and 0 for α > 1 − δ'.

    Returns
    -------
    float
        As printed, **not a bound**: it inherits the normal limit.

    Notes
    -----
    Errata: δ' charges the replacement of the randomizers on one of the two datasets only; the proof
    of the statement it cites charges both (`clones_delta_fmt21`).  Its Lemma 6, which replaces a
    randomizer at all inputs, is false; for the two neighbouring inputs, which suffice, it is true
    (``python -m claims ccg24-lemma-6``).
    Source: Chen, Cao, Ge, ICASSP 2024 (full version), the second Corollary 2, in the appendix.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.gaussian_tradeoff_ccg24(eps0=1.0, delta0=1e-12, n=10_000, fpr=0.05), 4)
    0.9465
    """
    mu = gaussian_mu_ccg24(eps0=eps0, n=n)
    event = _event_ccg24(eps0, validation.probability(delta0, "delta0"), n)
    fpr = validation.false_positive_rate(fpr)
    if fpr >= 1.0 - event:
        return 0.0
    return (1.0 - event) * float(ndtr(-ndtri(fpr / (1.0 - event)) - mu))


def gaussian_delta_ccg24(*, eps0: float, delta0: float, n: int, eps: float) -> float:
    r"""Return the δ at ε claimed for (eps0, delta0)-LDP randomizers.

    .. math:: \delta(\varepsilon) = \delta' + (1 - \delta')\, \Bigl[
              \Phi\Bigl(-\frac\varepsilon\mu + \frac\mu2\Bigr)
              - e^\varepsilon \Phi\Bigl(-\frac\varepsilon\mu - \frac\mu2\Bigr)\Bigr]

    with μ of `gaussian_mu_ccg24` and δ' of `gaussian_tradeoff_ccg24`.

    Returns
    -------
    float
        As printed, **not a bound**: it inherits the normal limit.

    Notes
    -----
    The same statement as `gaussian_tradeoff_ccg24`, read as (ε, δ).
    Source: Chen, Cao, Ge, ICASSP 2024 (full version), the second Corollary 2, in the appendix.

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> at = {"eps0": 4.0, "n": 1000}
    >>> claimed = renyi.gaussian_delta_ccg24(**at, delta0=1e-15, eps=3.5)
    >>> claimed < 0.001 * renyi.binary_rr_pair(**at).delta(3.5).lower
    True
    """
    mu = gaussian_mu_ccg24(eps0=eps0, n=n)
    event = _event_ccg24(eps0, validation.probability(delta0, "delta0"), n)
    eps = validation.central_budget(eps)
    rest = Gaussian(mu).delta(eps).upper if mu <= LARGEST_MU else 1.0
    return event + (1.0 - event) * rest


def clones_delta_fmt21(*, eps: float, delta: float, eps0: float, delta0: float, n: int) -> float:
    r"""Return the central δ of (eps0, delta0)-LDP randomizers from that of clones of eps0-LDP ones.

    .. math:: \delta + (e^{\varepsilon} + 1)\Bigl(1 + \frac{e^{\varepsilon_0}}{2}\Bigr) n\, \delta_0

    Parameters
    ----------
    eps, delta : float
        What the clones prove centrally for pure eps0-LDP randomizers (`clones_pair_fmt21` or its closed
        form): ε ≥ 0 in nats, δ in (0, 1).  From eps0 = 0.45 on also what the stronger clones prove
        (`generic_pair`).
    delta0 : float
        Local δ₀, strictly between 0 and 1.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (eps, this)-DP; at most 1.

    Notes
    -----
    Two constants circulate, :math:`1 + e^{\varepsilon_0}/2` and :math:`1 + e^{-\varepsilon_0}/2`.  They
    are quoted second-hand, each by one code; the larger one is used here, although the smaller one
    suffices for clones (``python -m claims fmt21-theorem-3.8`` prints the proof).  Each of the n reports
    is replaced, on both datasets, which is where e^ε + 1 comes from, by one with clones of a pair that
    is pure for the two neighbouring inputs.  No more is possible: a pure randomizer within a multiple
    of δ₀ at all inputs need not exist (``python -m claims ccg24-lemma-6``).  The stronger clones need
    the maximum of that pair, whose replacement costs :math:`2(e + 2)/(e(e + 1))\,\delta_0` with
    :math:`e = e^{\varepsilon_0}`, which is within the larger constant where :math:`e(e + 1) \ge 4`.
    Source: Feldman, McMillan, Talwar, FOCS 2021 (arXiv:2012.12803), Theorem 3.8.
    Cost O(1).

    Examples
    --------
    >>> from shufflelib.published import renyi
    >>> round(renyi.clones_delta_fmt21(eps=0.1, delta=1e-6, eps0=1.0, delta0=1e-12, n=10_000), 8)
    1.05e-06
    """
    eps = validation.central_budget(eps)
    delta, delta0 = validation.probability(delta, "delta"), validation.probability(delta0, "delta0")
    eps0, n = validation.local_budget(eps0), validation.users(n)
    log_added = float(math.log(n) + math.log(delta0) + math.log1p(0.5 * math.exp(eps0)))
    log_added += eps + math.log1p(math.exp(-eps))
    return min(1.0, delta + math.exp(min(log_added, 0.0)))

r"""F-divergences as functionals of a trade-off function.

Every F-divergence is a function of f = T(P, Q) alone,

.. math:: D_F(P\|Q) = \ell_F(f) = \int_0^{z_f} F\Bigl(\frac1{|f'(x)|}\Bigr) |f'(x)|\,dx
          + F(0)\,(1 - f(0)) + \tau_F\,(1 - z_f),

with :math:`F(0) = \lim_{s\to0} F(s)`, :math:`\tau_F = \lim_{s\to\infty} F(s)/s` and z_f the first zero.
On a polygon it is a sum over segments.  D falls as f rises, so that a polygon below f bounds it from
above.

Source: DRS, Proposition B.4; Wang, Su, Ye, Shokri, Su 2023, appendix B.3.  Errata: that appendix
prints F(0) = lim F(s)/s, which is −∞ for Kullback-Leibler and +∞ for χ²; the limit of F itself is meant.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Interval, each
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.types import T
from shufflelib.profiles.gaussian_tradeoff import GaussianTradeoff
from shufflelib.profiles.tradeoff_functions import TradeoffFunction, checked


def f_divergence(
    f: TradeoffFunction,
    log_excess: Callable[[Any], Any],
    *,
    at_zero: float,
    at_infinity: float,
    name: str = "F-divergence",
) -> Certified[float]:
    r"""Enclose :math:`\ell_F(f)` for any F.

    Parameters
    ----------
    f : TradeoffFunction
        T(P, Q); the divergence is :math:`D_F(P\|Q)`.
    log_excess : callable
        Returns log F̃(e^ℓ) for an array of finite ℓ, where :math:`\tilde F(s) = F(s) - F(1) - F'(1)(s - 1)
        \ge 0` has the same divergence up to F(1), so that no two terms cancel.
    at_zero, at_infinity : float
        F̃(0) and the limit of F̃(s)/s.

    Returns
    -------
    Certified
        ``upper`` is the safe bound, infinite where nothing finite is proved: for a bracket that
        is not exact the polygon below may be distinguishable on a set of tiny mass.

    Examples
    --------
    The squared Hellinger distance, F(s) = (√s − 1)²:

    >>> import numpy as np
    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> f = profiles.ApproximateDP(eps=1.0, delta=0.0)
    >>> def log_hellinger(loss):
    ...     return 2 * np.log(np.abs(np.expm1(loss / 2)))
    >>> round(joint_concavity.f_divergence(f, log_hellinger, at_zero=1.0, at_infinity=1.0).upper, 4)
    0.2264
    """
    checked(f, "f")

    def log_value(pair):
        # F̃ falls below 0 and rises above
        finite, sign = np.isfinite(pair.loss.middle), np.sign(pair.loss.middle)
        sizes = (np.where(finite, size, 0.0) for size in abs(pair.loss))
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = Interval(*(log_excess(sign * size) for size in sizes)).widened(8.0, 64 * UNIT)
            alone = (pair.log_p + np.log(at_infinity)).where(sign > 0.0, pair.log_q + np.log(at_zero))
        return (pair.log_q + excess).where(finite, alone).log_sum()

    lower, upper = log_value(f.high.pair).lower, log_value(f.low.pair).upper
    with np.errstate(over="ignore"):
        lower, upper = np.exp([min(lower, upper, 709.0), upper]).tolist()
    return Certified(lower, upper, source=f.source, statement=f"{name} of {f.statement}")


def kullback_leibler(f: TradeoffFunction) -> Certified[float]:
    r"""Enclose the relative entropy of f = T(P, Q), F(s) = s log s.

    Examples
    --------
    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> round(joint_concavity.kullback_leibler(profiles.ApproximateDP(eps=1.0, delta=0.0)).upper, 6)
    0.462117
    """

    def log_excess(loss):
        """Return log(e^ℓ (ℓ + e^{−ℓ} − 1))."""
        small = np.abs(loss) < 0.05
        u = np.where(small, loss, 0.0)
        series = sum((-u) ** k / math.factorial(k + 2) for k in range(10))  # (ℓ + e^{−ℓ} − 1)/ℓ²
        middle = np.maximum(loss, -700.0)
        direct = np.log(np.maximum(middle + np.expm1(-middle), 0.0)) + middle
        return np.where(small, 2 * np.log(np.abs(u)) + np.log(series) + u, direct)

    return f_divergence(f, log_excess, at_zero=1.0, at_infinity=math.inf, name="Kullback-Leibler divergence")


def chi_square(f: TradeoffFunction) -> Certified[float]:
    r"""Enclose Pearson's χ² of f = T(P, Q), F(s) = (s − 1)²; :math:`e^{D_2} - 1`.

    Examples
    --------
    Infinite as soon as δ > 0:

    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> functions = [profiles.ApproximateDP(eps=0.1, delta=delta) for delta in (0.0, 1e-6)]
    >>> [round(joint_concavity.chi_square(f).upper, 5) for f in functions]
    [0.01001, inf]
    """

    def log_excess(loss):
        """Return 2 log|e^ℓ − 1|."""
        return 2 * (np.maximum(loss, 0.0) + np.log(-np.expm1(-np.abs(loss))))

    return f_divergence(f, log_excess, at_zero=1.0, at_infinity=math.inf, name="chi-square divergence")


def curve_length(f: TradeoffFunction) -> Certified[float]:
    r"""Enclose the length of the trade-off curve, :math:`F(s) = \sqrt{1 + s^2}`: from √2 to 2.

    Notes
    -----
    The vertical piece from (0, 1) to (0, f(0)) counts.  Source: Wang, Su, Ye, Shokri, Su 2023,
    Proposition B.7, which prints :math:`\int_0^1\sqrt{1+f'^2}` and so leaves that piece out:
    the two agree where f(0) = 1.

    Examples
    --------
    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> functions = profiles.Identity(), profiles.ApproximateDP(eps=1.0, delta=0.0)
    >>> [round(joint_concavity.curve_length(f).upper, 6) for f in functions]
    [1.414214, 1.557917]
    """
    checked(f, "f")

    def length(pair):
        ends = zip(pair.log_p.exp(), pair.log_q.exp(), strict=True)
        return Interval(*(np.hypot(p, q) for p, q in ends)).widened(4.0).sum()

    lower, upper = length(f.high.pair).lower, length(f.low.pair).upper
    lower, upper = max(lower, math.sqrt(2.0) * (1 - UNIT)), min(upper, 2.0)
    return Certified(lower, upper, source=f.source, statement=f"length of the curve of {f.statement}")


def renyi(f: TradeoffFunction, *, order: T) -> Certified[T]:
    r"""Enclose the Rényi divergence :math:`D_\lambda(P\|Q)` of f = T(P, Q).

    .. math:: e^{(\lambda-1) D_\lambda} = \int_0^1 |f'(x)|^{1-\lambda}\,dx

    :math:`(e^{(\lambda-1) D_\lambda} - 1)/(\lambda(\lambda-1))` is the power divergence (Corollary B.6).

    Parameters
    ----------
    f : TradeoffFunction
        T(P, Q); the other direction is that of ``f.inverse``.
    order : float or array_like
        Order λ > 1, at most 10⁵.

    Returns
    -------
    Certified
        ``upper`` is the safe bound; infinite where f(x) = 0 for some x < 1.

    Examples
    --------
    λμ²/2 for Gaussian privacy:

    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> 0.5 <= joint_concavity.renyi(profiles.GaussianTradeoff(0.5), order=4.0).upper < 0.50001  # λμ²/2
    True
    """
    checked(f, "f")
    grid = validation.renyi_orders(order, at_most=1e5)
    if isinstance(f, GaussianTradeoff):
        high = low = f.gaussian
    else:
        high, low = f.high.pair, f.low.pair
    lower, upper = each(lambda one: (high.renyi_directed(one)[0], low.renyi_directed(one)[1]), grid)
    return Certified(
        np.minimum(lower, upper),
        upper,
        source=f.source,
        statement=f"Renyi divergence of {f.statement}",
    )

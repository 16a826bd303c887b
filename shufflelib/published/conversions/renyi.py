"""From ε to Rényi divergence, and back to ε or δ, which is lossy at every single order."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Interval
from shufflelib.numerics.types import T
from shufflelib.profiles.tradeoff_functions import ApproximateDP

FAR = 1e100  # nats; a divergence beyond counts as infinite, so that no product overflows


def renyi_from_pure_dp_mironov17(*, eps: float, order: T) -> Certified[T]:
    r"""Enclose the largest Rényi divergence of an ε-differentially private mechanism.

    .. math:: D_\lambda = \frac{1}{\lambda-1} \log\frac{e^{\lambda\varepsilon} + e^{(1-\lambda)\varepsilon}}
              {1 + e^{\varepsilon}} \;\le\; \min\{\varepsilon, \lambda\varepsilon^2/2\}

    Parameters
    ----------
    eps : float
        ε > 0 in nats, at most 700.
    order : float or array_like
        Order λ > 1.

    Returns
    -------
    Certified
        Attained by binary randomized response.

    Notes
    -----
    Source: Mironov (CSF 2017), Proposition 5 (randomized response); every ε-DP pair is a
    post-processing of it (Kairouz, Oh, Viswanath, 2015).

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> round(conversions.renyi_from_pure_dp_mironov17(eps=0.1, order=8.0).upper, 5)  # below λε²/2 = 0.04
    0.03672
    """
    eps = validation.local_budget(eps, "eps")
    bracket = ApproximateDP(eps=eps, delta=0.0).pair.renyi(order)
    return Certified(
        np.minimum(bracket.lower, eps),
        np.minimum(bracket.upper, eps),
        source="Mironov (CSF 2017)",
        statement=f"Renyi divergence of {eps:g}-differential privacy",
    )


class BestOrder(NamedTuple):
    """The smallest ε (or δ) over orders, and the order that gives it.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> conversions.best_over_orders([0.9, 0.7, 0.8], order=[4, 16, 64])
    BestOrder(value=0.7, order=16.0)
    """

    value: float
    order: float


def best_over_orders(values: ArrayLike, *, order: ArrayLike) -> BestOrder:
    """Return the smallest of several bounds and the order that gives it.

    Parameters
    ----------
    values : array_like, shape (m,)
        ε or δ from each order; infinite ones are never chosen before finite ones.
    order : array_like, shape (m,)
        The orders.

    Returns
    -------
    BestOrder
        Every one of the values is a bound, so the smallest is.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> renyi = {4.0: 0.02, 16.0: 0.08, 64.0: 0.32, 256.0: 1.28}  # of 0.1-Gaussian privacy
    >>> bounds = conversions.epsilon_from_renyi_canonne20(order=[*renyi], renyi=[*renyi.values()], delta=1e-6)
    >>> best = conversions.best_over_orders(bounds, order=[*renyi])
    >>> round(best.value, 2), best.order
    (0.46, 64.0)
    """
    values = validation.reals(
        values, "values", at_least=0.0, finite=False, remedy="pass epsilons or deltas, not negative"
    )
    order = validation.renyi_orders(order)
    if values.ndim != 1 or values.shape != order.shape:
        raise ValueError(
            f"values and order must be one-dimensional of equal length, got {values.shape} and {order.shape}"
        )
    best = int(np.argmin(values))
    return BestOrder(float(values[best]), float(order[best]))


def _orders(order, renyi):
    """Return λ, λ − 1, log(1 − 1/λ) and the divergence as intervals."""
    order = validation.renyi_orders(order)
    renyi = validation.reals(
        renyi, "renyi", at_least=0.0, finite=False, remedy="pass the upper bound on a Renyi divergence"
    )
    order, renyi = map(Interval.of, np.broadcast_arrays(order, np.where(renyi > FAR, math.inf, renyi)))
    more = order - 1.0
    return order, more, -(1.0 / more).log1p(), renyi


def _plain(values):
    return float(values) if np.ndim(values) == 0 else values


def epsilon_from_renyi_mironov17(*, order: T, renyi: T, delta: float) -> T:
    r"""Bound ε from Rényi divergence by Markov's inequality.

    .. math:: \varepsilon = D_\lambda + \frac{\log(1/\delta)}{\lambda - 1}

    Parameters
    ----------
    order : float or array_like
        Order λ > 1.
    renyi : float or array_like
        :math:`D_\lambda \ge 0` of the worse direction, possibly infinite; broadcasts with ``order``.

    Returns
    -------
    float or numpy.ndarray
        An upper bound for each order, infinite where the divergence is; `best_over_orders` picks one.

    Notes
    -----
    Source: Mironov (CSF 2017), Proposition 3.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> round(conversions.epsilon_from_renyi_mironov17(order=64.0, renyi=0.32, delta=1e-6), 4)
    0.5393
    """
    _, more, _, divergence = _orders(order, renyi)
    log_delta = Interval.of(validation.probability(delta, "delta")).log()
    return _plain((divergence - log_delta / more).upper)


def epsilon_from_renyi_canonne20(*, order: T, renyi: T, delta: float) -> T:
    r"""Bound ε from Rényi divergence by Markov's inequality with the best constant.

    .. math:: \varepsilon = D_\lambda
              + \frac{\log(1/\delta) + (\lambda-1)\log(1 - 1/\lambda) - \log\lambda}{\lambda-1}

    Parameters
    ----------
    order, renyi, delta
        As for `epsilon_from_renyi_mironov17`.

    Returns
    -------
    float or numpy.ndarray
        An upper bound for each order, at most that of `epsilon_from_renyi_mironov17`.  Where the
        formula is negative, 0: the bound that it inverts holds at negative ε too, and δ(ε) is decreasing.

    Notes
    -----
    Source: Canonne, Kamath, Steinke (NeurIPS 2020; arXiv:2004.00010), Proposition 12.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> round(conversions.epsilon_from_renyi_canonne20(order=64.0, renyi=0.32, delta=1e-6), 2)
    0.46
    """
    at, more, bend, divergence = _orders(order, renyi)
    log_delta = Interval.of(validation.probability(delta, "delta")).log()
    value = divergence + bend - (log_delta + at.log()) / more
    return _plain(np.maximum(value.upper, 0.0))


def delta_from_renyi_canonne20(*, order: T, renyi: T, eps: float) -> T:
    r"""Bound δ at ε from Rényi divergence by Markov's inequality with the best constant.

    .. math:: \delta = \frac{e^{(\lambda-1)(D_\lambda-\varepsilon)}}{\lambda}
              \Bigl(1-\frac1\lambda\Bigr)^{\lambda-1}

    Parameters
    ----------
    order, renyi : float or array_like
        As for `epsilon_from_renyi_mironov17`.
    eps : float
        ε ≥ 0 in nats.

    Returns
    -------
    float or numpy.ndarray
        An upper bound for each order, at most 1; 1 where the divergence is infinite.

    Notes
    -----
    The constant is the smallest for which no pair of distributions has a larger δ, whatever its divergence.
    At a given divergence one order allows less, as it also says that likelihood ratios have mean 1: of order
    2, 0.1 and ε = 0.5 the bound is 0.168, and no pair has more than 0.0383.
    Source: Canonne, Kamath, Steinke (NeurIPS 2020; arXiv:2004.00010), Proposition 12.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> f"{conversions.delta_from_renyi_canonne20(order=64.0, renyi=0.32, eps=0.5):.2e}"
    '6.89e-08'
    """
    at, more, bend, divergence = _orders(order, renyi)
    eps = validation.central_budget(eps)
    log_delta = more * (divergence - min(eps, FAR) + bend) - at.log()
    return _plain(log_delta.exp().within(0.0, 1.0).upper)

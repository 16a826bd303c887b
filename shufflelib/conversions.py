r"""Conversions between the currencies of privacy: (ε, δ), f-DP, Gaussian DP and Rényi DP.

Every name ends in its source.  What each loses:

=========================================  ================================================================
(ε, δ) → f (`wasserman10`)                 nothing about one (ε, δ); everything between the given ones
f → (ε, δ) (`dong22`)                      nothing, if f is symmetric and δ is kept at every ε
μ-GDP → (ε, δ), Rényi (`dong22`)           nothing
Rényi → (ε, δ) (`mironov17`)               a Markov bound on the privacy loss at one order
Rényi → (ε, δ) (`canonne20`)               less: the best bound from one order; still one order at a time
Rényi at all complex orders → f            nothing: `MellinInversion` (in `tradeoff.mellin`)
ε-DP → Rényi (`mironov17`)                 nothing: binary randomized response attains it
=========================================  ================================================================
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib import arguments
from shufflelib.logspace import UNIT
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.results import Certified, Status
from shufflelib.search import first_below
from shufflelib.tradeoff.functions import ApproximateDP, checked
from shufflelib.tradeoff.mellin import MellinInversion, renyi_moments, tradeoff_from_renyi_moments
from shufflelib.tradeoff.mixtures import best_of

__all__ = [
    "BestOrder",
    "MellinInversion",
    "best_over_orders",
    "delta_from_gdp_dong22",
    "delta_from_renyi_canonne20",
    "delta_from_tradeoff_dong22",
    "epsilon_from_gdp_dong22",
    "epsilon_from_renyi_canonne20",
    "epsilon_from_renyi_mironov17",
    "epsilon_from_tradeoff_dong22",
    "renyi_from_gdp_dong22",
    "renyi_from_pure_dp_mironov17",
    "renyi_moments",
    "tradeoff_from_approximate_dp_wasserman10",
    "tradeoff_from_renyi_moments",
]

FARTHEST = 690.0  # nats
FAR = 1e100  # nats; a divergence beyond counts as infinite, so that no product overflows


# ---------------------------------------------------------------- (ε, δ), f and Gaussian privacy


def tradeoff_from_approximate_dp_wasserman10(*, eps, delta):
    r"""Return the trade-off function that one or several (ε, δ) guarantees prove.

    .. math:: f(\alpha) = \max_i f_{\varepsilon_i, \delta_i}(\alpha)

    Parameters
    ----------
    eps, delta : float or array_like
        Guarantees, equal shapes: ε ≥ 0 in nats, δ in [0, 1].

    Returns
    -------
    TradeoffFunction

    Notes
    -----
    Source: Wasserman, Zhou (JASA 2010), Theorem 2.4; Dong, Roth, Su (JRSSB 2022), Propositions 2.5, 2.12.
    """
    eps = arguments.reals(eps, "eps", at_least=0.0, at_most=700.0, remedy="eps is in nats, not negative")
    delta = arguments.reals(delta, "delta", at_least=0.0, at_most=1.0, remedy="delta is a probability")
    if eps.shape != delta.shape:
        raise ValueError(f"eps and delta must have equal shapes, got {eps.shape} and {delta.shape}")
    pieces = [ApproximateDP(eps=float(e), delta=float(d)) for e, d in zip(eps.flat, delta.flat, strict=True)]
    return pieces[0] if len(pieces) == 1 else best_of(pieces)


def delta_from_tradeoff_dong22(f, *, eps):
    r"""Enclose :math:`\delta(\varepsilon) = 1 + f^*(-e^{\varepsilon})`, the larger of f and its inverse.

    Parameters
    ----------
    f : TradeoffFunction
        What is proved of the mechanism, in one order of the neighbours at least.
    eps : float or array_like
        ε ≥ 0 in nats, at most 700.

    Returns
    -------
    Certified
        ``upper`` is the safe end.

    Notes
    -----
    Source: Dong, Roth, Su (JRSSB 2022), Proposition 2.12.
    """
    checked(f, "f")
    grid = arguments.reals(eps, "eps", at_least=0.0, at_most=700.0, remedy="eps is in nats, not negative")
    forward, backward = f.delta(grid), f.inverse.delta(grid)
    return Certified(
        np.maximum(forward.lower, backward.lower),
        np.maximum(forward.upper, backward.upper),
        source=f.source,
        statement=f"delta of {f.statement}",
    )


def epsilon_from_tradeoff_dong22(f, *, delta):
    r"""Enclose the smallest ε ≥ 0 with :math:`1 + f^*(-e^{\varepsilon}) \le \delta` in both orders.

    Parameters
    ----------
    f : TradeoffFunction
        What is proved of the mechanism.
    delta : float or array_like
        Failure probability in (0, 1).

    Returns
    -------
    Certified
        ``upper`` is a proved guarantee, infinite where no ε up to 690 is proved.
    """
    checked(f, "f")
    grid = arguments.reals(
        delta, "delta", above=0.0, below=1.0, remedy="a failure probability lies strictly between 0 and 1"
    )
    ends = np.array([_smallest_eps(f, float(d)) for d in grid.flat]).reshape((*grid.shape, 2))
    unbounded = bool(np.isinf(ends[..., 1]).any())
    return Certified(
        np.minimum(ends[..., 0], ends[..., 1]),
        ends[..., 1],
        Status.UNBOUNDED if unbounded else Status.CERTIFIED,
        f.source,
        f"epsilon of {f.statement}",
    )


def _smallest_eps(f, delta):
    inverse, target = f.inverse, math.log(delta)

    def log_delta(eps, end):
        value = max(getattr(f.delta(eps), end), getattr(inverse.delta(eps), end))
        return math.log(value) if value > 0.0 else -math.inf

    def root(end, **how):
        return first_below(lambda eps: log_delta(eps, end), target, FARTHEST, width=1e-12, **how)

    proved = log_delta(FARTHEST, "upper") <= target
    upper = root("upper", safe_above=True) if proved else math.inf
    if log_delta(FARTHEST, "lower") > target:
        return FARTHEST, upper
    return root("lower", safe_above=False, guess=upper if proved else None), upper


def delta_from_gdp_dong22(*, mu, eps):
    """Enclose δ(ε) of μ-Gaussian privacy; ``mu`` in [1e-9, 1e4], ``eps`` ≥ 0, arrays in, arrays out.

    Source: Dong, Roth, Su (JRSSB 2022), Corollary 2.13.
    """
    return Gaussian(mu).delta(eps)


def epsilon_from_gdp_dong22(*, mu, delta):
    """Enclose the smallest ε of μ-Gaussian privacy at ``delta`` in (0, 1), arrays in, arrays out.

    Source: Dong, Roth, Su (JRSSB 2022), Corollary 2.13, inverted.
    """
    return Gaussian(mu).epsilon(delta)


def renyi_from_gdp_dong22(*, mu, order):
    r"""Enclose :math:`D_\lambda = \lambda\mu^2/2`; ``order`` λ > 1, arrays in, arrays out.

    Source: Dong, Roth, Su (JRSSB 2022), appendix B; Mironov (CSF 2017), Proposition 7.
    """
    return Gaussian(mu).renyi(order)


# ---------------------------------------------------------------- Rényi


def renyi_from_pure_dp_mironov17(*, eps, order):
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
    """
    eps = arguments.local_budget(eps, "eps")
    small = -math.log1p(math.exp(-eps)) - eps
    pair = DiscretePair._from_losses(
        np.array([small, small + eps]),
        np.array([small + eps, small]),
        np.array([-eps, eps]),
        mass_error=np.full(2, 8 * UNIT * (1.0 + eps)),
        loss_error=np.zeros(2),
    )
    bracket = pair.renyi(order)
    return Certified(
        np.minimum(bracket.lower, eps),
        np.minimum(bracket.upper, eps),
        source="Mironov (CSF 2017)",
        statement=f"Renyi divergence of {eps:g}-differential privacy",
    )


class BestOrder(NamedTuple):
    """The smallest ε (or δ) over orders, and the order that gives it."""

    value: float
    order: float


def best_over_orders(values, *, order):
    """Return the smallest of several bounds and its order.

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
    """
    values = arguments.reals(
        values, "values", at_least=0.0, finite=False, remedy="pass epsilons or deltas, not negative"
    )
    order = arguments.reals(order, "order", above=1.0, remedy="orders are above 1")
    if values.ndim != 1 or values.shape != order.shape:
        raise ValueError(
            f"values and order must be one-dimensional of equal length, got {values.shape} and {order.shape}"
        )
    best = int(np.argmin(values))
    return BestOrder(float(values[best]), float(order[best]))


def _orders(order, renyi):
    order = arguments.reals(
        order, "order", above=1.0, at_most=arguments.MAX_ORDER, remedy="order 1 or less proves no epsilon"
    )
    renyi = arguments.reals(
        renyi, "renyi", at_least=0.0, finite=False, remedy="pass the upper end of a Renyi divergence"
    )
    try:
        return np.broadcast_arrays(order, np.where(renyi > FAR, math.inf, renyi))
    except ValueError:
        raise ValueError(
            f"order and renyi must have shapes that broadcast, got {order.shape} and {renyi.shape}"
        ) from None


def _rounded_up(value, size):
    """Return a bound with rounding charged, at least 0; floats for 0-d arrays."""
    with np.errstate(invalid="ignore"):
        value = np.where(np.isinf(size), math.inf, np.maximum(value + 16 * UNIT * size, 0.0))
    return value if value.ndim else float(value)


def epsilon_from_renyi_mironov17(*, order, renyi, delta):
    r"""Bound ε from Rényi divergence by Markov's inequality.

    .. math:: \varepsilon = D_\lambda + \frac{\log(1/\delta)}{\lambda - 1}

    Parameters
    ----------
    order : float or array_like
        Order λ > 1.
    renyi : float or array_like
        :math:`D_\lambda \ge 0` of the worse direction, possibly infinite; broadcasts with ``order``.
    delta : float
        Failure probability in (0, 1).

    Returns
    -------
    float or numpy.ndarray
        An upper bound for each order, infinite where the divergence is; `best_over_orders` picks one.

    Notes
    -----
    Source: Mironov (CSF 2017), Proposition 3.
    """
    order, renyi = _orders(order, renyi)
    log_delta = math.log(arguments.probability(delta, "delta"))
    rest = -log_delta / (order - 1.0)
    return _rounded_up(renyi + rest, renyi + rest)


def epsilon_from_renyi_canonne20(*, order, renyi, delta):
    r"""Bound ε from Rényi divergence by the best bound that one order allows.

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
        formula is negative, 0: the bound it inverts holds at negative ε too, and δ(ε) falls in ε.

    Notes
    -----
    Source: Canonne, Kamath, Steinke (NeurIPS 2020; arXiv:2004.00010), Proposition 12.
    """
    order, renyi = _orders(order, renyi)
    log_delta = math.log(arguments.probability(delta, "delta"))
    more = order - 1.0
    bend, scale = np.log1p(-1.0 / order), np.log(order) / more
    rest = -log_delta / more
    # log(1 − 1/λ) = log(λ − 1) − log λ, exact for orders near 1
    bend = np.where(order < 2.0, np.log(more) - np.log(order), bend)
    return _rounded_up(renyi + rest + bend - scale, renyi + rest - bend + scale)


def delta_from_renyi_canonne20(*, order, renyi, eps):
    r"""Bound δ at ε from Rényi divergence by the best bound that one order allows.

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
    Source: Canonne, Kamath, Steinke (NeurIPS 2020; arXiv:2004.00010), Proposition 12.
    """
    order, renyi = _orders(order, renyi)
    eps = arguments.real(eps, "eps", at_least=0.0, remedy="eps is in nats, not negative")
    eps, more = min(eps, FAR), order - 1.0
    bend = np.where(order < 2.0, np.log(more) - np.log(order), np.log1p(-1.0 / order)) * more
    log_delta = more * (renyi - eps) + bend - np.log(order)
    size = more * (np.where(np.isinf(renyi), 0.0, renyi) + eps) + np.abs(bend) + np.log(order) + 1.0
    slack = 16 * UNIT * size
    value = np.exp(np.minimum(log_delta + slack, 0.0))
    value = np.maximum(value, math.ulp(0.0))
    return value if value.ndim else float(value)

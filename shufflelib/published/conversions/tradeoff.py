"""Between (ε, δ) and trade-off functions."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, each
from shufflelib.numerics.root_finding import delta_root
from shufflelib.numerics.types import T
from shufflelib.profiles.tradeoff_functions import ApproximateDP, TradeoffFunction, checked
from shufflelib.published.joint_concavity.mixtures import best_of

FARTHEST = 690.0  # nats


def tradeoff_from_approximate_dp_wasserman10(*, eps: ArrayLike, delta: ArrayLike) -> TradeoffFunction:
    r"""Return the trade-off function that one or several (ε, δ) guarantees prove.

    .. math:: f(\alpha) = \max_i f_{\varepsilon_i, \delta_i}(\alpha)

    Parameters
    ----------
    eps, delta : float or array_like
        Guarantees, equal shapes: ε ≥ 0 in nats, δ in [0, 1].

    Notes
    -----
    Source: Wasserman, Zhou (JASA 2010), Theorem 2.4; Dong, Roth, Su (JRSSB 2022), Propositions 2.5, 2.12.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> f = conversions.tradeoff_from_approximate_dp_wasserman10(eps=[0.1, 0.5], delta=[1e-2, 1e-6])
    >>> round(f(0.05).lower, 4)  # of 0.95 without any information
    0.9347
    """
    eps = validation.central_budgets(eps, at_most=700.0)
    delta = validation.reals(delta, "delta", at_least=0.0, at_most=1.0, remedy="delta is a probability")
    if eps.shape != delta.shape:
        raise ValueError(f"eps and delta must have equal shapes, got {eps.shape} and {delta.shape}")
    pieces = [ApproximateDP(eps=float(e), delta=float(d)) for e, d in zip(eps.flat, delta.flat, strict=True)]
    return pieces[0] if len(pieces) == 1 else best_of(pieces)


def delta_from_tradeoff_dong22(f: TradeoffFunction, *, eps: T) -> Certified[T]:
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
        ``upper`` is the safe bound.

    Notes
    -----
    Source: Dong, Roth, Su (JRSSB 2022), Proposition 2.12.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> f = conversions.tradeoff_from_approximate_dp_wasserman10(eps=[0.1, 0.5], delta=[1e-2, 1e-6])
    >>> round(conversions.delta_from_tradeoff_dong22(f, eps=0.3).upper, 4)  # between the two
    0.0055
    """
    checked(f, "f")
    grid = validation.central_budgets(eps, at_most=700.0)
    forward, backward = f.delta(grid), f.inverse.delta(grid)
    lower: Any = np.maximum(forward.lower, backward.lower)
    upper: Any = np.maximum(forward.upper, backward.upper)
    return Certified(lower, upper, source=f.source, statement=f"delta of {f.statement}")


def epsilon_from_tradeoff_dong22(f: TradeoffFunction, *, delta: T) -> Certified[T]:
    r"""Enclose the smallest ε ≥ 0 with :math:`1 + f^*(-e^{\varepsilon}) \le \delta` in both orders.

    Parameters
    ----------
    f : TradeoffFunction
        What is proved of the mechanism.
    delta : float or array_like
        Central δ in (0, 1).

    Returns
    -------
    Certified
        ``upper`` is a proved guarantee, infinite where no ε up to 690 is proved.

    Notes
    -----
    Source: Dong, Roth, Su (JRSSB 2022), Proposition 2.12, inverted.

    Examples
    --------
    >>> from shufflelib.published import conversions
    >>> f = conversions.tradeoff_from_approximate_dp_wasserman10(eps=[0.1, 0.5], delta=[1e-2, 1e-6])
    >>> round(conversions.epsilon_from_tradeoff_dong22(f, delta=1e-3).upper, 5)  # between the two
    0.46651
    >>> conversions.epsilon_from_tradeoff_dong22(f, delta=1e-7).upper  # below both guarantees
    inf
    """
    checked(f, "f")
    grid = validation.probabilities(delta, "delta")
    lower, upper = each(lambda one: _smallest_eps(f, one), grid)
    return Certified(
        np.minimum(lower, upper),
        upper,
        source=f.source,
        statement=f"epsilon of {f.statement}",
    )


def _smallest_eps(f, delta):
    inverse = f.inverse

    def larger(eps, end):
        return max(getattr(f.delta(eps), end), getattr(inverse.delta(eps), end))

    def root(end, **how):
        return delta_root(lambda eps: larger(eps, end), delta, FARTHEST, width=1e-12, **how)

    proved = larger(FARTHEST, "upper") <= delta
    upper = root("upper", safe_above=True) if proved else math.inf
    if larger(FARTHEST, "lower") > delta:
        return FARTHEST, upper
    return root("lower", safe_above=False, guess=upper if proved else None), upper

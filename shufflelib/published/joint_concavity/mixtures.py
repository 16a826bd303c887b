r"""Joint concavity: bounds on the components of a mixture bound the mixture.

Let :math:`P_w = \sum_i w_i P_i` and :math:`Q_w = \sum_i w_i Q_i`.  Knowing which component was
drawn can only help a test, so T(P_w, Q_w) lies above the function of the components with their index.  On
polygons that function consists of all segments together, sorted by slope.

Order of reading: `joint_concavity`, then the gain from comparing P_i with Q_j for i ≠ j
(`two_weight_vectors`, `advanced_joint_concavity`, `common_null`).

Source: Wang, Su, Ye, Shokri, Su 2023 (appendix; statements of the main text reconstructed from their
proofs).  A "+" between trade-off functions, as in Proposition B.1, is the sum along a common slope that
the proof of Lemma 3.1 writes out: a merger of segments.  Read *pointwise* it would be false: with
P₁ = Q₁, T(P₂, Q₂) = 0 and w = (1/2, 1/2) the truth at 1/2 is 0, the pointwise sum 1/4.
"""

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.profiles import tradeoff_calculus
from shufflelib.profiles.neyman_pearson import Polygon
from shufflelib.profiles.tradeoff_functions import TradeoffFunction, checked


def _functions(functions, name="functions"):
    if not isinstance(functions, list | tuple) or not functions:
        raise TypeError(
            f"{name} must be a list of at least one trade-off function, got {validation.shown(functions)}"
        )
    return [checked(f, f"{name}[{i}]") for i, f in enumerate(functions)]


def checked_share(value, name, **domain):
    """Return one probability, in [0, 1] or a narrower domain."""
    domain = {"at_least": 0.0, "at_most": 1.0} | domain
    return validation.real(value, name, **domain, remedy="a weight is a probability")


def _enclosed(functions, combine, statement):
    """Return the function whose polygons combine those of the parts, all below or all above them."""
    low = combine([f.low for f in functions], below=True)
    high = combine([f.high for f in functions], below=False)
    source = "; ".join(dict.fromkeys(f.source for f in functions))
    return TradeoffFunction(low, high, statement=statement, source=source)


def _seen(functions, null_weights, alternative_weights, statement):
    """Return the function of the direct sum of the parts."""

    def direct_sum(polygons, below):
        pairs = [polygon.pair for polygon in polygons]
        return Polygon(tradeoff_calculus.direct_sum(pairs, null_weights, alternative_weights))

    return _enclosed(functions, direct_sum, statement)


def joint_concavity(
    functions: Sequence[TradeoffFunction], *, weights: ArrayLike, alternative_weights: ArrayLike | None = None
) -> TradeoffFunction:
    r"""Return T((X, I), (Y, I)), a lower bound for every mixture of the components.

    .. math:: \alpha(t) = \sum_i w_i\,\alpha_i(t), \qquad \beta(t) = \sum_i w_i\,f_i(\alpha_i(t)),
              \qquad -t \in \partial f_i(\alpha_i(t))

    Parameters
    ----------
    functions : list of TradeoffFunction
        :math:`f_i \le T(P_i, Q_i)`.
    weights : array_like, shape (m,)
        Probabilities of the parts.
    alternative_weights : array_like, shape (m,), optional
        Probabilities under the alternative; the same by default.  Segments of part i then become
        steeper by the ratio of the two.

    Returns
    -------
    TradeoffFunction
        A lower bound for T(P_w, Q_w), exact for the parts with their index.

    Notes
    -----
    Symmetric parts give a symmetric function (Proposition 3.2), F-divergences of the result are the
    averages of those of the parts (Proposition 3.3, Corollaries B.5 and B.6).
    Cost: that of sorting all segments.  Source: Lemma 3.1.

    Examples
    --------
    A mechanism that has a large budget once in ten times:

    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> parts = [profiles.ApproximateDP(eps=eps, delta=0.0) for eps in (0.1, 2.0)]
    >>> f = joint_concavity.joint_concavity(parts, weights=[0.9, 0.1])
    >>> [round(part(0.05).lower, 4) for part in (*parts, f)]
    [0.9447, 0.6305, 0.8698]
    """
    functions = _functions(functions)
    weights = validation.weights(weights, "weights", len(functions))
    other = (
        weights
        if alternative_weights is None
        else validation.weights(alternative_weights, "alternative_weights", len(functions))
    )
    return _seen(functions, weights, other, f"a mixture of {len(functions)} parts, the part seen")


def _matrix(functions):
    validation.instance(functions, "functions", list, remedy="pass lists of T(P_i, Q_j)")
    rows = [_functions(row, f"functions[{i}]") for i, row in enumerate(functions)]
    if any(len(row) != len(rows) for row in rows):
        raise ValueError(f"functions must be square, got rows of lengths {[len(row) for row in rows]}")
    return rows


def two_weight_vectors(
    functions: Sequence[Sequence[TradeoffFunction]], *, weights: ArrayLike, alternative_weights: ArrayLike
) -> TradeoffFunction:
    r"""Bound T(Σ wᵢ Pᵢ, Σ w′ᵢ Qᵢ) by pairing equal components as far as possible.

    .. math:: \min\{w_1, w_1'\}\,T(P_1,Q_1) \oplus \min\{w_2, w_2'\}\,T(P_2,Q_2)
              \oplus (w_2'-w_2)_+\,T(P_1,Q_2) \oplus (w_1'-w_1)_+\,T(P_2,Q_1)

    Parameters
    ----------
    functions : list of lists of TradeoffFunction, m × m
        ``functions[i][j]`` is T(P_i, Q_j) or below it.
    weights, alternative_weights : array_like, shape (m,)
        Probabilities of the parts under null and alternative.

    Returns
    -------
    TradeoffFunction
        A lower bound.  The residual weights are paired in order.

    Notes
    -----
    ⊕ merges segments.  Source: Proposition B.1, printed with +, which must not be read pointwise.

    Examples
    --------
    Two components that do not differ, with slightly different probabilities:

    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> same, other = profiles.Identity(), profiles.GaussianTradeoff(1.0)
    >>> parts = [[same, other], [other, same]]
    >>> weights = {"weights": [0.5, 0.5], "alternative_weights": [0.6, 0.4]}
    >>> round(joint_concavity.two_weight_vectors(parts, **weights)(0.05).lower, 4)
    0.9117
    """
    rows = _matrix(functions)
    weights = validation.weights(weights, "weights", len(rows))
    other = validation.weights(alternative_weights, "alternative_weights", len(rows))
    kept = np.minimum(weights, other)
    left, wanted = weights - kept, other - kept
    parts, coupling = [], []
    for i, row in enumerate(rows):
        for j, f in enumerate(row):
            moved = kept[i] if i == j else min(left[i], wanted[j])
            if moved > 0.0:
                parts.append(f)
                coupling.append(moved)
            if i != j:
                left[i] -= moved
                wanted[j] -= moved
    shares = np.array(coupling) / math.fsum(coupling)
    return _seen(parts, shares, shares, "two mixtures with different weights")


def _split(weight, gamma, eta):
    """Return the scales of the two thresholds, refusing parameters outside the lemma."""
    weight = checked_share(weight, "weight", at_least=None, at_most=None, above=0.0, below=1.0)
    gamma, eta = checked_share(gamma, "gamma"), checked_share(eta, "eta")
    if not (gamma < weight < eta or eta < weight < gamma):
        raise ValueError(
            f"gamma and eta must lie on either side of weight={weight!r}, got gamma={gamma!r}, eta={eta!r}; "
            "for gamma = eta = weight use common_null"
        )
    first = (eta - weight) / ((1.0 - weight) * (eta - gamma))
    second = (weight - gamma) / (weight * (eta - gamma))
    return weight, gamma, eta, first, second


def advanced_joint_concavity(
    functions: Sequence[Sequence[TradeoffFunction]], *, weight: float, gamma: float, eta: float
) -> TradeoffFunction:
    r"""Bound T((1 − w)P₀ + wP₁, (1 − w)Q₀ + wQ₁) by four comparisons.

    .. math:: F^* = (1-w)(1-\gamma) F_{00}^* + (1-w)\gamma F_{10}^* + w(1-\eta) F_{01}^* + w\eta F_{11}^*,
              \quad F_{ij}(x) = f_{ij}(x/\kappa_j),

    with :math:`\kappa_0 = \frac{\eta-w}{(1-w)(\eta-\gamma)}`,
    :math:`\kappa_1 = \frac{w-\gamma}{w(\eta-\gamma)}`.

    Parameters
    ----------
    functions : list of lists of TradeoffFunction, 2 × 2
        ``functions[i][j]`` is T(P_i, Q_j) or below it.
    weight : float
        w in (0, 1).
    gamma, eta : float
        Free parameters in [0, 1], one on either side of ``weight``; γ = 0, η = 1 is `joint_concavity`.

    Returns
    -------
    TradeoffFunction
        A lower bound.  It is again a merger of segments: part (i, j) gets one weight under the null
        and another under the alternative.  `best_of` combines several choices.

    Notes
    -----
    Source: Lemma 6.3, its four terms reordered: the null is the distribution that is split, so the term
    (1 − w)γ belongs to T(P₁, Q₀), as δ of T(P, Q) is sup Q − e^ε P.
    For γ = η = w it prints :math:`(1-w)T(P_0, Q_w) + wT(P_1, Q_w)`, pointwise; that is false: for
    P₀ = Q_w, P₁ disjoint and w = 1/2 the truth at 1/2 is 0, the sum 1/4.  Its mirror is true, see
    `common_null`, and so is the line itself if T(·‖·) has its null second, as its H(·‖·) has.

    Examples
    --------
    P₀ = Q₁ and P₁ = Q₀ are mixed to one distribution.  Joint concavity does not use that, four comparisons
    use part of it:

    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> f, same = profiles.GaussianTradeoff(1.0), profiles.Identity()
    >>> four = [[f, same], [same, f]]
    >>> g = joint_concavity.advanced_joint_concavity(four, weight=0.5, gamma=0.45, eta=0.55)
    >>> round(f(0.02).lower, 4), round(g(0.02).lower, 4)
    (0.854, 0.8826)
    """
    rows = _matrix(functions)
    if len(rows) != 2:
        raise ValueError(f"functions must be 2 × 2, got {len(rows)} rows")
    w, gamma, eta, first, second = _split(weight, gamma, eta)
    mixed = np.array([(1 - w) * (1 - gamma), (1 - w) * gamma, w * (1 - eta), w * eta])
    null = mixed * np.array([first, first, second, second])
    parts = [rows[0][0], rows[1][0], rows[0][1], rows[1][1]]
    return _seen(parts, null / math.fsum(null), mixed, "two mixtures of two parts")


def advanced_delta(
    functions: Sequence[Sequence[TradeoffFunction]], *, eps: float, weight: float, gamma: float, eta: float
) -> Certified[float]:
    r"""Bound the hockey-stick divergence of two mixtures of two by four.

    .. math:: H_{\varepsilon}(Q_w\|P_w) \le (1-w)(1-\gamma) H_{\varepsilon_0}(Q_0\|P_0)
              + (1-w)\gamma H_{\varepsilon_0}(Q_0\|P_1) + w(1-\eta) H_{\varepsilon_1}(Q_1\|P_0)
              + w\eta H_{\varepsilon_1}(Q_1\|P_1)

    with :math:`e^{\varepsilon_j} = \kappa_j e^{\varepsilon}`, κ as in `advanced_joint_concavity`, whose
    parameters these are; either may be negative.

    Parameters
    ----------
    functions : list of lists of TradeoffFunction, 2 × 2
        ``functions[i][j]`` is T(P_i, Q_j).
    eps : float
        Budget in nats, at most 700 in size.
    weight, gamma, eta : float
        As there.

    Returns
    -------
    Certified
        The right-hand side; its ``upper`` bounds δ of the mixtures.

    Notes
    -----
    The hockey-stick divergence of `advanced_joint_concavity`, written out.  Source: Lemma 6.2, equations
    (9) and (10).

    Examples
    --------
    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> f, same = profiles.GaussianTradeoff(1.0), profiles.Identity()
    >>> four = [[f, same], [same, f]]
    >>> bracket = joint_concavity.advanced_delta(four, eps=0.5, weight=0.5, gamma=0.45, eta=0.55)
    >>> round(f.delta(0.5).upper, 6), round(bracket.upper, 6)
    (0.238422, 0.131132)
    """
    f = advanced_joint_concavity(functions, weight=weight, gamma=gamma, eta=eta)
    return f.delta(eps)


def common_null(functions: Sequence[TradeoffFunction], *, weights: ArrayLike) -> TradeoffFunction:
    r"""Bound T(P, Σ wᵢ Qᵢ) by the pointwise average of T(P, Qᵢ): one test for all components.

    Parameters
    ----------
    functions : list of TradeoffFunction
        T(P, Q_i) or below it, P the same in all.
    weights : array_like, shape (m,)
        Probabilities of the parts.

    Returns
    -------
    TradeoffFunction
        A lower bound.  For mixed nulls pass the inverses and take the inverse.

    Examples
    --------
    Better than joint concavity, which allows a different test for each component:

    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> parts = [profiles.GaussianTradeoff(0.5), profiles.GaussianTradeoff(1.5)]
    >>> bounds = joint_concavity.joint_concavity, joint_concavity.common_null
    >>> [round(bound(parts, weights=[0.5, 0.5])(0.05).lower, 4) for bound in bounds]
    [0.7008, 0.7157]
    """
    functions = _functions(functions)
    weights = validation.weights(weights, "weights", len(functions))
    averaged = functools.partial(tradeoff_calculus.averaged, weights=weights)
    return _enclosed(functions, averaged, "one distribution against a mixture")


def best_of(functions: Sequence[TradeoffFunction]) -> TradeoffFunction:
    """Return the pointwise maximum of several lower bounds for one trade-off function.

    Examples
    --------
    One bound is better for small false-positive rates, the other in the middle:

    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> both = profiles.GaussianTradeoff(0.5), profiles.ApproximateDP(eps=0.5, delta=1e-6)
    >>> [f([0.01, 0.3]).lower.round(5).tolist() for f in (*both, joint_concavity.best_of(both))]
    [[0.9661, 0.50973], [0.98351, 0.50538], [0.98351, 0.50973]]
    """
    functions = _functions(functions)
    return _enclosed(functions, tradeoff_calculus.highest, f"the best of {len(functions)} bounds")

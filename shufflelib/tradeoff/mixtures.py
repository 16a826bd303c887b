r"""Joint concavity: what is known about the parts of a mixture bounds the mixture.

Let :math:`P_w = \sum_i w_i P_i` and :math:`Q_w = \sum_i w_i Q_i`.  Seeing which part was drawn can
only help a test, so T(P_w, Q_w) lies above the function of the parts with their index.  On polygons
that function is all segments together, sorted by slope.

Order of reading: `joint_concavity`, then what is gained by comparing P_i with Q_j for i ≠ j
(`two_weight_vectors`, `advanced_joint_concavity`, `common_null`), then two mixtures with a structure
(`hidden_swap`, `hidden_among`), then `tightness`.

Source: the mixture-mechanism paper (appendix; statements of the main text reconstructed from their
proofs).  A "+" between trade-off functions, as in Proposition B.1, is the sum along a common slope that
the proof of Lemma 3.1 writes out: a merger of segments.  Read *pointwise* it would be false: with
P₁ = Q₁, T(P₂, Q₂) = 0 and w = (1/2, 1/2) the truth at 1/2 is 0, the pointwise sum 1/4.
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib import arguments
from shufflelib.results import Certified
from shufflelib.tradeoff import polygon
from shufflelib.tradeoff.functions import Identity, TradeoffFunction, checked
from shufflelib.tradeoff.polygon import Polygon

ROUNDING = 1e-12


def _functions(functions, name="functions"):
    functions = list(functions) if isinstance(functions, list | tuple) else [functions]
    if not functions:
        raise ValueError(f"{name} must not be empty; pass at least one trade-off function")
    return [checked(f, f"{name}[{i}]") for i, f in enumerate(functions)]


def _weights(values, name, count):
    weights = arguments.reals(
        values, name, at_least=0.0, at_most=1.0 + 1e-9, remedy="weights are probabilities"
    )
    if weights.shape != (count,):
        raise ValueError(f"{name} must hold one weight per function, {count}, got shape {weights.shape}")
    total = math.fsum(weights)
    if abs(total - 1.0) > 1e-9:
        raise ValueError(f"{name} must sum to 1, got a sum of {total:.12g}; divide by it")
    return weights / total


def _share(value, name, **domain):
    domain = {"at_least": 0.0, "at_most": 1.0} | domain
    return arguments.real(value, name, **domain, remedy="a weight is a probability")


def _seen(functions, null_weights, alternative_weights, statement):
    """Return the function of the direct sum of the parts."""
    low = Polygon(polygon.direct_sum([f.low.pair for f in functions], null_weights, alternative_weights))
    exact = all(f.low is f.high for f in functions)
    high = (
        low
        if exact
        else Polygon(polygon.direct_sum([f.high.pair for f in functions], null_weights, alternative_weights))
    )
    return TradeoffFunction(
        low, high, statement=statement, source="; ".join(dict.fromkeys(f.source for f in functions))
    )


def joint_concavity(functions, *, weights, alternative_weights=None):
    r"""Return T((X, I), (Y, I)), which no mixture of the parts falls below.

    .. math:: \alpha(t) = \sum_i w_i\,\alpha_i(t), \qquad \beta(t) = \sum_i w_i\,f_i(\alpha_i(t)),
              \qquad -t \in \partial f_i(\alpha_i(t))

    Parameters
    ----------
    functions : sequence of TradeoffFunction
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
    """
    functions = _functions(functions)
    weights = _weights(weights, "weights", len(functions))
    other = (
        weights
        if alternative_weights is None
        else _weights(alternative_weights, "alternative_weights", len(functions))
    )
    return _seen(functions, weights, other, f"a mixture of {len(functions)} parts, the part seen")


def ordered_mixture(functions, *, weights):
    r"""Return T((X, I), (Y, I)) for an index with a continuous law, enclosed from an ordered grid.

    Parameters
    ----------
    functions : sequence of TradeoffFunction
        Values of i ↦ f_i at the m + 1 edges of m cells, falling pointwise: each at least the next.
    weights : array_like, shape (m,)
        Probabilities of the cells.

    Returns
    -------
    TradeoffFunction
        Below, each cell is given its later, less private edge; above, its earlier one.

    Notes
    -----
    That the functions fall is the caller's to know.  First order in the cells; `random_start_bound`
    is second order for Gaussian parts.  Source: remark after Lemma 3.1.
    """
    functions = _functions(functions)
    if len(functions) < 2:
        raise ValueError(f"functions must hold the edges of at least one cell, got {len(functions)}")
    weights = _weights(weights, "weights", len(functions) - 1)
    statement = "a mixture over a continuous index, the index seen"
    low, high = (_seen(part, weights, weights, statement) for part in (functions[1:], functions[:-1]))
    return TradeoffFunction(low.low, high.high, statement=statement, source=low.source)


def _matrix(functions):
    if not isinstance(functions, list | tuple) or not functions:
        raise TypeError(f"functions must be a square list of lists of T(P_i, Q_j), got {functions!r}")
    rows = [_functions(row, f"functions[{i}]") for i, row in enumerate(functions)]
    if any(len(row) != len(rows) for row in rows):
        raise ValueError(f"functions must be square, got rows of lengths {[len(row) for row in rows]}")
    return rows


def two_weight_vectors(functions, *, weights, alternative_weights):
    r"""Bound T(Σ wᵢ Pᵢ, Σ w′ᵢ Qᵢ) by pairing as much as possible like with like.

    .. math:: \min\{w_1, w_1'\}\,T(P_1,Q_1) \oplus \min\{w_2, w_2'\}\,T(P_2,Q_2)
              \oplus (w_2'-w_2)_+\,T(P_1,Q_2) \oplus (w_1'-w_1)_+\,T(P_2,Q_1)

    Parameters
    ----------
    functions : sequence of sequences of TradeoffFunction, m × m
        ``functions[i][j]`` is T(P_i, Q_j) or below it.
    weights, alternative_weights : array_like, shape (m,)
        Probabilities of the parts under null and alternative.

    Returns
    -------
    TradeoffFunction
        A lower bound.  What is left of the weights is paired in order.

    Notes
    -----
    ⊕ merges segments.  Source: Proposition B.1, printed with +, which must not be read pointwise.
    """
    rows = _matrix(functions)
    weights = _weights(weights, "weights", len(rows))
    other = _weights(alternative_weights, "alternative_weights", len(rows))
    kept = np.minimum(weights, other)
    parts, coupling = [rows[i][i] for i in range(len(rows))], list(kept)
    left, wanted = weights - kept, other - kept
    givers, takers = list(np.flatnonzero(left > 0.0)), list(np.flatnonzero(wanted > 0.0))
    while givers and takers:
        i, j = givers[0], takers[0]
        moved = min(left[i], wanted[j])
        parts.append(rows[i][j])
        coupling.append(moved)
        left[i] -= moved
        wanted[j] -= moved
        if left[i] <= 0.0 or len(takers) > 1 and wanted[j] > 0.0:
            givers.pop(0)
        if wanted[j] <= 0.0:
            takers.pop(0)
    coupling = np.array(coupling) / math.fsum(coupling)
    return _seen(parts, coupling, coupling, "two mixtures with different weights")


def _split(weight, gamma, eta):
    """Return the scales of the two thresholds, refusing parameters outside the lemma."""
    weight = _share(weight, "weight", at_least=None, at_most=None, above=0.0, below=1.0)
    gamma, eta = _share(gamma, "gamma"), _share(eta, "eta")
    if not (gamma < weight < eta or eta < weight < gamma):
        raise ValueError(
            f"gamma and eta must lie on either side of weight={weight!r}, got gamma={gamma!r}, eta={eta!r}; "
            "for gamma = eta = weight use common_null"
        )
    first = (eta - weight) / ((1.0 - weight) * (eta - gamma))
    second = (weight - gamma) / (weight * (eta - gamma))
    return weight, gamma, eta, first, second


def advanced_joint_concavity(functions, *, weight, gamma, eta):
    r"""Bound T((1 − w)P₀ + wP₁, (1 − w)Q₀ + wQ₁) by four comparisons.

    .. math:: F^* = (1-w)(1-\gamma) F_{00}^* + (1-w)\gamma F_{10}^* + w(1-\eta) F_{01}^* + w\eta F_{11}^*,
              \quad F_{ij}(x) = f_{ij}(x/\kappa_j),

    with :math:`\kappa_0 = \frac{\eta-w}{(1-w)(\eta-\gamma)}`,
    :math:`\kappa_1 = \frac{w-\gamma}{w(\eta-\gamma)}`.

    Parameters
    ----------
    functions : sequence of sequences of TradeoffFunction, 2 × 2
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
    Source: Lemma 6.3, its four terms reordered: the null is the law that is split, so the term
    (1 − w)γ belongs to T(P₁, Q₀), as δ of T(P, Q) is sup Q − e^ε P.
    For γ = η = w it prints :math:`(1-w)T(P_0, Q_w) + wT(P_1, Q_w)`, pointwise; that is false: for
    P₀ = Q_w, P₁ disjoint and w = 1/2 the truth at 1/2 is 0, the sum 1/4.  Its mirror is true, see
    `common_null`, and so is the line itself if T(·‖·) has its null second, as its H(·‖·) has.
    """
    rows = _matrix(functions)
    if len(rows) != 2:
        raise ValueError(f"functions must be 2 × 2, got {len(rows)} rows")
    w, gamma, eta, first, second = _split(weight, gamma, eta)
    mixed = np.array([(1 - w) * (1 - gamma), (1 - w) * gamma, w * (1 - eta), w * eta])
    null = mixed * np.array([first, first, second, second])
    parts = [rows[0][0], rows[1][0], rows[0][1], rows[1][1]]
    return _seen(parts, null / math.fsum(null), mixed, "two mixtures of two parts")


def advanced_delta(functions, *, eps, weight, gamma, eta):
    r"""Bound the hockey-stick divergence of two mixtures of two by four.

    .. math:: H_{\varepsilon}(Q_w\|P_w) \le (1-w)(1-\gamma) H_{\varepsilon_0}(Q_0\|P_0)
              + (1-w)\gamma H_{\varepsilon_0}(Q_0\|P_1) + w(1-\eta) H_{\varepsilon_1}(Q_1\|P_0)
              + w\eta H_{\varepsilon_1}(Q_1\|P_1)

    with :math:`e^{\varepsilon_j} = \kappa_j e^{\varepsilon}`, κ as in `advanced_joint_concavity`, whose
    parameters these are; either may be negative.

    Parameters
    ----------
    functions : sequence of sequences of TradeoffFunction, 2 × 2
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
    Source: Lemma 6.2, equations (9) and (10).
    """
    rows = _matrix(functions)
    eps = arguments.real(eps, "eps", at_least=-700.0, at_most=700.0, remedy="eps is in nats")
    w, gamma, eta, first, second = _split(weight, gamma, eta)
    terms = (
        ((1 - w) * (1 - gamma), rows[0][0], first),
        ((1 - w) * gamma, rows[1][0], first),
        (w * (1 - eta), rows[0][1], second),
        (w * eta, rows[1][1], second),
    )
    ends = [(c, f.delta(max(eps + math.log(k), -700.0))) for c, f, k in terms if c > 0.0]
    lower = math.fsum(c * end.lower for c, end in ends) * (1 - ROUNDING)
    upper = math.fsum(c * end.upper for c, end in ends) * (1 + ROUNDING)
    return Certified(
        lower, upper, source="Lemma 6.2", statement="a bound on delta of two mixtures of two parts"
    )


def common_null(functions, *, weights):
    r"""Bound T(P, Σ wᵢ Qᵢ) by the pointwise average of T(P, Qᵢ): one test serves all parts.

    Parameters
    ----------
    functions : sequence of TradeoffFunction
        T(P, Q_i) or below it, P the same in all.
    weights : array_like, shape (m,)
        Probabilities of the parts.

    Returns
    -------
    TradeoffFunction
        A lower bound.  For mixed nulls pass the inverses and take the inverse.
    """
    functions = _functions(functions)
    weights = _weights(weights, "weights", len(functions))
    low = polygon.averaged([f.low for f in functions], weights, below=True)
    high = polygon.averaged([f.high for f in functions], weights, below=False)
    return TradeoffFunction(
        low,
        high,
        statement="one law against a mixture",
        source="; ".join(dict.fromkeys(f.source for f in functions)),
    )


def best_of(functions):
    """Return the pointwise maximum of several lower bounds for one trade-off function."""
    functions = _functions(functions)
    low = polygon.highest([f.low for f in functions], below=True)
    high = polygon.highest([f.high for f in functions], below=False)
    return TradeoffFunction(
        low,
        high,
        statement=f"the best of {len(functions)} bounds",
        source="; ".join(dict.fromkeys(f.source for f in functions)),
    )


def blend(f, *, rate):
    r"""Return :math:`(1-r)\,\mathrm{Id} + r f`, which is T(P, (1 − r)P + rQ) exactly for f = T(P, Q).

    Parameters
    ----------
    f : TradeoffFunction
        T(P, Q).
    rate : float
        r in [0, 1].
    """
    checked(f, "f")
    rate = _share(rate, "rate")
    if rate == 0.0:
        return Identity()
    return f._mapped(lambda pair: polygon.blended(pair, rate), f"{f.statement}, blended at rate {rate:g}")


def hidden_swap(f, *, weight):
    r"""Bound T((1 − w)P₀ + wQ₀, (1 − w)Q₀ + wP₀), two laws each hidden in the other.

    .. math:: C\bigl(2w\,\mathrm{Id} + (1-2w)\,f_0\bigr), \qquad f_0 = T(P_0, Q_0)

    Parameters
    ----------
    f : TradeoffFunction
        :math:`f_0` or below it.
    weight : float
        w in [0, 1/2].

    Returns
    -------
    TradeoffFunction
        A lower bound.  Where f₀ is not symmetric, slopes below −1 are those of f₀, slopes above −1
        those of the inverse of T(Q₀, P₀) blended in the same way.

    Notes
    -----
    Source: Proposition 6.4, reconstructed from its proof.  Where T(P₀, Q₀) is symmetric it holds as it
    stands.  Where it is not, C(2w Id + (1 − 2w)T(P₀, Q₀)) is no bound: P₀ = (1/2, 1/2), Q₀ = (0, 1),
    w = 1/8: at 9/16 the truth is 1/16, the sum 1/4.  Nor is it with the proof's f₀ = C(T(P₀, Q₀)) if C
    takes the maximum of f and its inverse; with C = min{f, f⁻¹}** throughout it holds again.  The
    proof's intermediate line, the sum without C, is false by itself: P₀ and Q₀ disjoint, w = 1/4: at
    1/4 the truth is 1/4, the sum 3/8.
    """
    checked(f, "f")
    weight = _share(weight, "weight", at_most=0.5)
    return _two_sided(
        blend(f, rate=1.0 - 2.0 * weight),
        blend(f.inverse, rate=1.0 - 2.0 * weight),
        f"{f.statement}, the laws swapped with probability {weight:g}",
    )


def _two_sided(forward, backward, statement):
    """Return the largest function with the steep slopes of one bound and the mirrored ones of another."""

    def stitched(one, two, below):
        sides = Polygon(polygon.steep_side(one.pair)), Polygon(polygon.steep_side(two.pair)).inverse
        return polygon.highest(sides, below=below)

    low = stitched(forward.low, backward.low, below=True)
    high = stitched(forward.high, backward.high, below=False)
    return TradeoffFunction(low, high, statement=statement, source=forward.source)


def hidden_among(f, *, rate):
    r"""Bound T((1 − r)P₀ + rP₁, (1 − r)P₀ + rQ₁), two laws hidden among a third: subsampling.

    .. math:: C\bigl((1-r)\,\mathrm{Id} + r f\bigr)

    Parameters
    ----------
    f : TradeoffFunction
        Below T(P₁, Q₁), T(Q₁, P₁), T(P₀, P₁) **and** T(P₀, Q₁), at least for slopes up to −1.
    rate : float
        r in [0, 1].

    Returns
    -------
    TradeoffFunction
        A lower bound.

    Notes
    -----
    Source: Proposition E.1, which follows from Lemma A.4.  Errata: printed with f = T(P₁, Q₁) and no
    word on P₀; that is false: P₀ disjoint, P₁ and Q₁ binary randomized response with e^ε = 2, r = 1/2:
    at 1/6 the truth is 2/3, the bound 3/4.  Lemma A.4 compares with P₀ too.
    """
    return blend(f, rate=rate).symmetrised


class Tightness(NamedTuple):
    """Whether joint concavity holds with equality, and how much it gives away."""

    tight: bool
    gap: float  # largest T(P_w, Q_w) − T((X, I), (Y, I)) found
    fpr: float  # where


def tightness(p, q, *, weights):
    r"""Decide whether Lemma 3.1 holds with equality for finite laws.

    Parameters
    ----------
    p, q : array_like, shape (m, k)
        Masses of P_i and Q_i, one law per row, on one common support.
    weights : array_like, shape (m,)
        Probabilities of the parts.

    Returns
    -------
    Tightness
        ``tight`` if no gap above 1e-12 exists: both functions are polygons, so the knots decide.

    Notes
    -----
    Equality holds exactly if the likelihood ratio of the mixture, under the mixture, has the law of
    the ratio of the part drawn:

    .. math:: \mathcal L_{P_w}\Bigl(\frac{p_w}{q_w}\Bigr)
              = \sum_i w_i \mathcal L_{P_i}\Bigl(\frac{p_i}{q_i}\Bigr).

    Source: Proposition 6.1, whose :math:`p_w/q_w = \sum_i w_i p_i/q_i` "in distribution" is short for the
    line above, as its Example F.2 spells out; it is not about the variable
    :math:`\sum_i w_i p_i(X)/q_i(X)`.
    """
    p, q = (np.atleast_2d(arguments.reals(part, name, at_least=0.0)) for part, name in ((p, "p"), (q, "q")))
    if p.shape != q.shape or p.ndim != 2:
        raise ValueError(f"p and q must have one shape (parts, outcomes), got {p.shape} and {q.shape}")
    for part, name in ((p, "p"), (q, "q")):
        sums = part.sum(axis=1)
        if np.abs(sums - 1.0).max() > 1e-9:
            raise ValueError(f"{name} must have rows that sum to 1, got sums {sums}")
    weights = _weights(weights, "weights", p.shape[0])
    mixture = Polygon(polygon.pair_of_masses(weights @ p, weights @ q))
    parts = [polygon.pair_of_masses(*rows) for rows in zip(p, q, strict=True)]
    seen = Polygon(polygon.direct_sum(parts, weights, weights))
    x = np.clip(np.concatenate([mixture.knots[0], seen.knots[0]]), 0.0, 1.0)
    gaps = mixture.lower(x) - seen.upper(x)
    worst = int(np.argmax(gaps))
    return Tightness(bool(gaps[worst] <= ROUNDING), max(float(gaps[worst]), 0.0), float(x[worst]))

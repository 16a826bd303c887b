r"""Trade-off functions of mixtures: with the null, of two distributions with each other, and with a third.

`mixture` mixes the alternative with the null, `symmetric_mixture` two distributions with each other
(shuffling), `subsampling_operator` two distributions with a third (subsampling).

Source: Wang, Su, Ye, Shokri, Su 2023.
"""

from shufflelib.profiles import tradeoff_calculus
from shufflelib.profiles.neyman_pearson import Polygon
from shufflelib.profiles.tradeoff_functions import Identity, TradeoffFunction, checked
from shufflelib.published.joint_concavity.mixtures import checked_share


def mixture(f: TradeoffFunction, *, rate: float) -> TradeoffFunction:
    r"""Return :math:`(1-r)\,\mathrm{Id} + r f`, which is T(P, (1 − r)P + rQ) exactly for f = T(P, Q).

    Parameters
    ----------
    f : TradeoffFunction
        T(P, Q).
    rate : float
        r in [0, 1].

    Examples
    --------
    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> f = profiles.GaussianTradeoff(1.0)
    >>> round(f(0.02).lower, 4), round(joint_concavity.mixture(f, rate=0.1)(0.02).lower, 4)
    (0.854, 0.9674)
    """
    checked(f, "f")
    rate = checked_share(rate, "rate")
    if rate == 0.0:
        return Identity()
    return _mixture(f, 1.0 - rate, rate, f"{f.statement}, mixed with the null at rate {rate:g}")


def _mixture(f, kept, rate, statement):
    return f._mapped(lambda part: Polygon(tradeoff_calculus.blended(part.pair, kept, rate)), statement)


def symmetric_mixture(f: TradeoffFunction, *, weight: float) -> TradeoffFunction:
    r"""Bound T((1 − w)P₀ + wQ₀, (1 − w)Q₀ + wP₀), two distributions mixed with each other.

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
        those of the inverse of T(Q₀, P₀) mixed in the same way.

    Notes
    -----
    Source: Proposition 6.4, reconstructed from its proof.  Where T(P₀, Q₀) is symmetric it holds as it
    stands.  Where it is not, C(2w Id + (1 − 2w)T(P₀, Q₀)) is no bound: P₀ = (1/2, 1/2), Q₀ = (0, 1),
    w = 1/8: at 9/16 the truth is 1/16, the sum 1/4.  Nor is it with the proof's f₀ = C(T(P₀, Q₀)) if C
    takes the maximum of f and its inverse; with C = min{f, f⁻¹} throughout it holds again.  The
    proof's intermediate line, the sum without C, is false by itself: P₀ and Q₀ disjoint, w = 1/4: at
    1/4 the truth is 1/4, the sum 3/8.

    Examples
    --------
    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> f = profiles.GaussianTradeoff(1.0)
    >>> round(f(0.02).lower, 4), round(joint_concavity.symmetric_mixture(f, weight=0.25)(0.02).lower, 4)
    (0.854, 0.917)
    """
    checked(f, "f")
    weight = checked_share(weight, "weight", at_most=0.5)
    statement = f"{f.statement}, the distributions swapped with probability {weight:g}"
    if weight == 0.5:
        return Identity()
    shares = 2.0 * weight, 1.0 - 2.0 * weight
    return _two_sided(_mixture(f, *shares, statement), _mixture(f.inverse, *shares, statement), statement)


def _two_sided(forward, backward, statement):
    """Return the largest function with the steep slopes of one bound and the mirrored ones of another."""

    def stitched(one, two, below):
        sides = (
            Polygon(tradeoff_calculus.steep_side(one.pair)),
            Polygon(tradeoff_calculus.steep_side(two.pair)).inverse,
        )
        return tradeoff_calculus.highest(sides, below=below)

    low = stitched(forward.low, backward.low, below=True)
    high = stitched(forward.high, backward.high, below=False)
    return TradeoffFunction(low, high, statement=statement, source=forward.source)


def subsampling_operator(f: TradeoffFunction, *, rate: float) -> TradeoffFunction:
    r"""Bound T((1 − r)P₀ + rP₁, (1 − r)P₀ + rQ₁), two distributions mixed with a third: subsampling.

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

    Examples
    --------
    Amplification by subsampling: a rate of 1 % turns ε into log(1 + (e^ε − 1)/100) and divides δ by 100:

    >>> from math import expm1, log1p
    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> f = joint_concavity.subsampling_operator(profiles.ApproximateDP(eps=1.0, delta=1e-6), rate=0.01)
    >>> f.delta(log1p(0.01 * expm1(1.0))).upper < 1.001e-8  # of 1e-6
    True
    """
    return mixture(f, rate=rate).symmetrised

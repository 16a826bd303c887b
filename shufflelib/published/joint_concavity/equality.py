"""When joint concavity holds with equality: when knowing the component of the mixture gains nothing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.profiles import tradeoff_calculus, tradeoff_polygon
from shufflelib.profiles.neyman_pearson import Polygon

LARGEST_GAP = 1e-12  # that counts as rounding


class Tightness(NamedTuple):
    """Whether joint concavity holds with equality, and how much it loses.

    Examples
    --------
    >>> from shufflelib.published import joint_concavity
    >>> joint_concavity.tightness([[1.0, 0.0]], [[0.5, 0.5]], weights=[1.0]).tight
    True
    """

    tight: bool
    gap: float  # largest T(P_w, Q_w) − T((X, I), (Y, I)) found
    fpr: float  # where


def tightness(p: ArrayLike, q: ArrayLike, *, weights: ArrayLike) -> Tightness:
    r"""Decide whether Lemma 3.1 holds with equality for finite distributions.

    Parameters
    ----------
    p, q : array_like, shape (m, k)
        Masses of P_i and Q_i, one distribution per row, on one common support.
    weights : array_like, shape (m,)
        Probabilities of the components.

    Returns
    -------
    Tightness
        ``tight`` if no gap above 1e-12 exists: both functions are polygons, so the knots decide.

    Notes
    -----
    Equality holds exactly if the likelihood ratio of the mixture, under the mixture, has the distribution of
    the likelihood ratio of the component drawn:

    .. math:: \mathcal L_{P_w}\Bigl(\frac{p_w}{q_w}\Bigr)
              = \sum_i w_i \mathcal L_{P_i}\Bigl(\frac{p_i}{q_i}\Bigr).

    Source: Proposition 6.1, whose :math:`p_w/q_w = \sum_i w_i p_i/q_i` "in distribution" is short for the
    line above, as its Example F.2 spells out; it is not about the variable
    :math:`\sum_i w_i p_i(X)/q_i(X)`.

    Examples
    --------
    Two distributions exchanged: the component reveals everything, the mixture nothing:

    >>> from shufflelib.published import joint_concavity
    >>> verdict = joint_concavity.tightness([[1, 0], [0, 1]], [[0, 1], [1, 0]], weights=[0.5, 0.5])
    >>> verdict.tight, round(verdict.gap, 6), verdict.fpr
    (False, 1.0, 0.0)
    """
    p, q = (np.atleast_2d(validation.reals(part, name, at_least=0.0)) for part, name in ((p, "p"), (q, "q")))
    if p.shape != q.shape or p.ndim != 2:
        raise ValueError(f"p and q must have one shape (parts, outcomes), got {p.shape} and {q.shape}")
    p, q = (
        np.array([validation.weights(row, name, p.shape[1]) for row in part])
        for part, name in ((p, "p"), (q, "q"))
    )
    weights = validation.weights(weights, "weights", p.shape[0])
    mixture = Polygon(tradeoff_polygon.pair_of_masses(weights @ p, weights @ q))
    parts = [tradeoff_polygon.pair_of_masses(*rows) for rows in zip(p, q, strict=True)]
    seen = Polygon(tradeoff_calculus.direct_sum(parts, weights, weights))
    x = np.clip(np.concatenate([mixture.knots[0], seen.knots[0]]), 0.0, 1.0)
    gaps = mixture.lower(x) - seen.upper(x)
    worst = int(np.argmax(gaps))
    return Tightness(bool(gaps[worst] <= LARGEST_GAP), max(float(gaps[worst]), 0.0), float(x[worst]))

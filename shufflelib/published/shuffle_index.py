r"""The shuffle index χ: the number that determines amplification by shuffling as n grows.

Under a reference measure w (see `likelihood_ratios`) the divergence of n shuffled reports is the mean
positive part of a sum of n terms.  As n grows the sum becomes Gaussian, and a Gaussian has one parameter, its
variance:

.. math:: \chi^{-2} = \int \frac{(R_0 - R_1)^2}{w}.

A larger χ is more private.  With the privacy blanket as w it is the index of the upper bound; with the
density of R(x*) it is that of the attack in which all others hold x*.  `ShuffleIndex` holds both.

**Nothing here is certified.**  These are limits for a fixed randomizer as n grows, without an
error term; `central_limit` turns them into δ and ε.  For proved numbers use `shuffle`.

Source: Takagi, Liew, arXiv:2601.19154v4 (known here only through its abstract and a secondary source, in
which the expansion is Lemma 3.2, the band Corollary 3.4 and the condition for its collapse Theorem 3.8); the
formulas are derived and checked independently.  For the attacks: Shvets, arXiv:2602.09029v5 (abstract; a
preprint).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, ndtr

from shufflelib.numerics import validation
from shufflelib.randomizers.local_randomizer import LocalRandomizer

FIXED = 1e-13  # relative variance below which a total counts as known


class ShuffleIndex(NamedTuple):
    r"""The shuffle index of a randomizer, of its blanket and of its best attack; larger is more private.

    Parameters
    ----------
    blanket : float
        χ with the privacy blanket as the reference measure: the limit of the certified upper bound.
    attack : float
        χ with the best R(x*) as the reference measure: the limit of the best attack with equal others.

    Examples
    --------
    >>> from shufflelib.published.shuffle_index import ShuffleIndex
    >>> round(ShuffleIndex(blanket=0.8, attack=1.0).band, 3)
    1.25
    """

    blanket: float
    attack: float

    @property
    def band(self) -> float:
        """Ratio attack/blanket: 1 where the band has no width, else what the two ε differ by, up to logs."""
        return self.attack / self.blanket


def shuffle_index(randomizer: LocalRandomizer) -> ShuffleIndex:
    r"""Return the shuffle index of a randomizer, of blanket and attack, from its output distributions.

    .. math:: \chi^{-2}_{\text{blanket}} = \max \int \frac{(R_0 - R_1)^2}{w}, \qquad
              \chi^{-2}_{\text{attack}} = \max_{x^*} \int \frac{(R_0 - R_1)^2}{R_{x^*}}

    Parameters
    ----------
    randomizer : LocalRandomizer
        The maxima are over its `input_pairs`, and over the x* listed there.

    Returns
    -------
    ShuffleIndex
        Asymptotic, not certified.

    Raises
    ------
    ValueError
        If a report has mass outside the blanket's support: then there is no limit.  For Gaussian noise,
        of which only the far tails are cut off, use `gaussian_index`.

    Notes
    -----
    Direction does not matter: the integrals are symmetric in R_0 and R_1.  The band has no width exactly if
    R(x*) equals the blanket wherever the two reports differ, for instance in randomized response with a
    third option.  Discretised densities are as accurate as their cells, 1e-5 for Laplace noise up to eps0 =
    8; differences R_0 − R_1 lose digits as eps0 falls (1e-14/eps0).  Cost proportional to the number of
    atoms.

    Examples
    --------
    With ten options the best attack attains the bound; with Laplace noise it does not:

    >>> from shufflelib import randomizers
    >>> from shufflelib.published import shuffle_index
    >>> index = shuffle_index.shuffle_index(randomizers.generalized_rr(eps0=1.0, d=10))
    >>> round(index.blanket, 4), round(index.band, 4)
    (1.4087, 1.0)
    >>> round(shuffle_index.shuffle_index(randomizers.laplace(eps0=1.0)).band, 3)
    1.204
    """
    validation.instance(
        randomizer, "randomizer", LocalRandomizer, remedy="build one with shufflelib.randomizers"
    )
    pairs = randomizer.input_pairs()
    references = [pair.blanket for pair in pairs]
    outside = max(max(ratios.r0_outside, ratios.r1_outside) for ratios in references)
    if outside > 0.0:
        raise ValueError(
            f"randomizer must have a blanket wherever its reports fall, got {randomizer!r} with "
            f"{outside:.3g} of a report's mass outside its support; "
            "for Gaussian noise use gaussian_index(sigma=)"
        )
    return ShuffleIndex(
        min(_index(ratios) for ratios in references),
        min(_index(attack) for pair in pairs for attack in pair.attacks),
    )


def _index(ratios):
    if ratios.r0_outside > 0.0 or ratios.r1_outside > 0.0:
        return 0.0
    gap = np.abs(ratios.r0_over_w - ratios.r1_over_w)
    largest = float(gap.max(initial=0.0))
    if largest == 0.0:
        return math.inf
    return 1.0 / largest / math.sqrt(math.fsum(ratios.w * (gap / largest) ** 2))


def generalized_rr_index(*, eps0: float, d: int) -> ShuffleIndex:
    r"""Return the shuffle index of randomized response on d options.

    .. math:: \chi^{-2}_{\text{blanket}} = \frac{2(e-1)^2}{e + d - 1}, \qquad
              \chi^{-2}_{\text{attack}} = \begin{cases} (e-1)^2/e & d = 2 \\
              \chi^{-2}_{\text{blanket}} & d \ge 3\end{cases} \qquad (e = e^{\varepsilon_0})

    Parameters
    ----------
    d : int
        Number of options, at least 2.

    Returns
    -------
    ShuffleIndex
        Asymptotic, not certified.  Exact up to rounding.

    Notes
    -----
    With a third option all others can hold it: R(x*) then equals the blanket except on the output x*, where
    the two reports do not differ.  With d = 2 blanket's and attack's χ² differ by 2e/(e + 1), up to 2.

    Examples
    --------
    >>> from shufflelib.published import shuffle_index
    >>> two, ten = (shuffle_index.generalized_rr_index(eps0=1.0, d=d) for d in (2, 10))
    >>> round(two.blanket, 4), round(ten.blanket, 4)
    (0.7935, 1.4087)
    """
    eps0, d = validation.local_budget(eps0), validation.count(d, "d", at_least=2)
    blanket = math.sqrt(0.5 * (math.exp(eps0) + d - 1.0)) / math.expm1(eps0)
    return ShuffleIndex(blanket, blanket if d > 2 else math.exp(0.5 * eps0) / math.expm1(eps0))


def laplace_index(*, eps0: float) -> ShuffleIndex:
    r"""Return the shuffle index of Laplace noise of scale 1/eps0 on [0, 1].

    .. math:: \chi^{-2}_{\text{blanket}} = \tfrac43\,(e + 2e^{-\varepsilon_0/2} - 3), \qquad
              \chi^{-2}_{\text{attack}} = \tfrac13\,(1 - e^{-1})^2 (2e + 1) \qquad (e = e^{\varepsilon_0})

    Returns
    -------
    ShuffleIndex
        Asymptotic, not certified.  Exact up to rounding; the attack is that of x* = 0 or 1.

    Notes
    -----
    Evaluated as (4/3)(e^{eps0/2} − 1)²(1 + 2e^{−eps0/2}), which does not cancel.

    Examples
    --------
    >>> from shufflelib.published import shuffle_index
    >>> index = shuffle_index.laplace_index(eps0=1.0)
    >>> round(index.blanket, 4), round(index.attack, 4)
    (0.8974, 1.08)
    """
    eps0 = validation.local_budget(eps0)
    blanket = math.sqrt(0.75 / (1.0 + 2.0 * math.exp(-0.5 * eps0))) / math.expm1(0.5 * eps0)
    attack = math.sqrt(3.0 / (2.0 + math.exp(-eps0))) * math.exp(-0.5 * eps0) / -math.expm1(-eps0)
    return ShuffleIndex(blanket, attack)


def gaussian_index(*, sigma: float) -> ShuffleIndex:
    r"""Return the shuffle index of Gaussian noise on {0, 1}.

    .. math:: \chi^{-2}_{\text{blanket}} = 2\bigl[e^{a^2}\Phi(\tfrac{3a}2) - 2\Phi(\tfrac a2)
              + \Phi(-\tfrac a2)\bigr], \qquad \chi^{-2}_{\text{attack}} = e^{a^2} - 1, \qquad a = 1/\sigma

    Parameters
    ----------
    sigma : float
        Standard deviation, 0.03 <= sigma <= 1e6, in units of the distance of the two inputs.

    Returns
    -------
    ShuffleIndex
        Asymptotic, not certified.  Accurate to 1e-14·(1 + sigma), relatively.

    Notes
    -----
    There is no local budget here, yet the index is positive: shuffling amplifies all the same.

    Examples
    --------
    >>> from shufflelib.published import shuffle_index
    >>> index = shuffle_index.gaussian_index(sigma=1.0)
    >>> round(index.blanket, 4), round(index.attack, 4)
    (0.5847, 0.7629)
    """
    sigma = validation.real(sigma, "sigma", at_least=0.03, at_most=1e6, remedy="in units of the inputs 0, 1")
    a = 1.0 / sigma
    half = math.exp(-0.5 * a * a)  # everything in units of e^{a²}, which may overflow
    centred = 0.5 * (erf(1.5 * a / math.sqrt(2.0)) - 3.0 * erf(0.5 * a / math.sqrt(2.0)))
    grown = -math.expm1(-a * a)
    blanket = half / math.sqrt(2.0 * (grown * ndtr(1.5 * a) + half * half * centred))
    return ShuffleIndex(blanket, half / math.sqrt(grown))


def composition_index(reports: ArrayLike, *, shares: ArrayLike) -> float:
    r"""Return the shuffle index of a dataset in which the others hold several values with known shares.

    .. math:: \chi^{-2} = v^\top \Sigma^+ v, \qquad v = R_1 - R_0, \qquad
              \Sigma = \sum_x \pi_x\,\bigl(\operatorname{diag}(R_x) - R_x R_x^\top\bigr)

    Parameters
    ----------
    reports : array_like, shape (inputs, classes)
        Masses of every input's report, each row summing to 1 (within 1e-9); rows 0 and 1 are the changed
        user's two inputs.
    shares : array_like, shape (inputs,)
        π: the share of the other users that holds each input, summing to 1 (within 1e-9).

    Returns
    -------
    float
        χ of this dataset; 0 where some output reveals the changed user's value for any n.  Asymptotic, not
        certified.

    Notes
    -----
    The covariance is that of fixed shares, not of n independent draws from the mixture, whose index would
    be larger.  With one value it is the attack of `shuffle_index`.

    :math:`v^\top\Sigma^+v = \sup_u\, 2\,u^\top v - u^\top\Sigma u` is a supremum of functions linear in π, so
    it is convex in π and largest at a vertex: **to first order no mixed dataset is worse than the worst one
    in which all others hold one value.**

    Source: Shvets, arXiv:2602.09029v5, abstract (I_π, two inputs); the convexity is derived here.
    Cost cubic in the number of classes.

    Examples
    --------
    The change is hidden less well if all others hold a third value than if they hold all three:

    >>> from shufflelib.published import shuffle_index
    >>> reports = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]
    >>> round(shuffle_index.composition_index(reports, shares=[0, 0, 1]), 4)
    0.7906
    >>> round(shuffle_index.composition_index(reports, shares=[1 / 3, 1 / 3, 1 / 3]), 4)
    0.9354
    """
    reports = validation.reals(reports, "reports", at_least=0.0, at_most=1.0)
    if reports.ndim != 2 or reports.shape[0] < 2:
        raise ValueError(
            f"reports must be a matrix of at least two rows, got shape {reports.shape}; "
            "list the changed user's inputs first"
        )
    reports = np.array([validation.weights(row, "reports", reports.shape[1]) for row in reports])
    shares = validation.weights(shares, "shares", reports.shape[0])
    mixture = shares @ reports
    change = reports[1] - reports[0]
    alone = mixture < np.finfo(float).tiny
    if change[alone].any():
        return 0.0
    root = np.sqrt(mixture[~alone])
    scaled, change = reports[:, ~alone] / root, change[~alone] / root
    variance, directions = np.linalg.eigh(np.eye(root.size) - scaled.T @ (shares[:, None] * scaled))
    share = (directions.T @ change) ** 2
    fixed = variance < FIXED  # linear statistics of which the others' reports are constant
    if share[fixed].sum() > 1e-12 * share.sum():
        return 0.0
    information = math.fsum(share[~fixed] / variance[~fixed])
    return 1.0 / math.sqrt(information) if information > 0.0 else math.inf

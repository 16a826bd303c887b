r"""Rényi divergence of shuffled reports whose likelihood ratio is unbounded, as that of Gaussian noise is.

Far out no cover is left, and a bound that gives those outputs up has an infinite divergence.  They are set
apart instead: P = P₁ + P₂, the own report outside of the tails T and inside.  By Minkowski's inequality for
the likelihood ratio in :math:`L^\lambda(Q)`, and because shuffling is data processing,

.. math:: e^{(\lambda-1) D_\lambda(P\|Q)/\lambda} \;\le\;
          \Bigl(\int P_1^\lambda Q^{1-\lambda}\Bigr)^{1/\lambda}
          + \Bigl(\int_T R_0^\lambda R_1^{1-\lambda}\Bigr)^{1/\lambda}.

The first integral is 1 plus λ(λ − 1) times that of
:math:`e^{(\lambda-1)\varepsilon} H_\varepsilon(P_1\|Q) + e^{-\lambda\varepsilon} H_\varepsilon(Q\|P)`
over ε ≥ 0: P₂ adds as much to the second term, at most :math:`e^{\varepsilon} P_2`, as P₁ lacks in mass.
"""

import numpy as np

from shufflelib.covered_pair import CoveredPair
from shufflelib.logspace import UNIT


def renyi_beside_tails(pair, tails, order):
    """Return an upper end of D_order(P‖Q).

    Parameters
    ----------
    pair : CoveredPair
        The pair with its tails given up; it stands above Q‖P.
    tails : Tails
        What the first report does outside and inside of the tails.
    order : float
        Order λ > 1.
    """
    inside = CoveredPair(tails.cover, pair.n)
    inside.__dict__["reversed"] = pair.reversed
    share = (order - 1.0) / order
    log_norms = share * inside.renyi_directed(order)[1], tails.log_moment(order) / order
    return float(np.logaddexp(*log_norms)) / share * (1.0 + 8 * UNIT) + 8 * UNIT

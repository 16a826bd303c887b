r"""Rényi divergence of shuffled reports with unbounded likelihood ratios, as for Gaussian noise.

Far in the tails the reference measure underflows, and mass outside its support would make the divergence
infinite.  The tails T are therefore treated separately: P = P₁ + P₂, according to whether the user's report
lies outside T or in T.  By Minkowski's inequality for the likelihood ratio in :math:`L^\lambda(Q)`, and
because shuffling is data processing,

.. math:: e^{(\lambda-1) D_\lambda(P\|Q)/\lambda} \;\le\;
          \Bigl(\int P_1^\lambda Q^{1-\lambda}\Bigr)^{1/\lambda}
          + \Bigl(\int_T R_0^\lambda R_1^{1-\lambda}\Bigr)^{1/\lambda}.

The first integral is 1 plus λ(λ − 1) times that of
:math:`e^{(\lambda-1)\varepsilon} H_\varepsilon(P_1\|Q) + e^{-\lambda\varepsilon} H_\varepsilon(Q\|P)` over
ε ≥ 0: the contribution of P₂ to the second term, at most :math:`e^{\varepsilon} P_2`, makes up for the mass
that P₁ lacks.  The two reports mirror each other, so that :math:`H_\varepsilon(Q\|P) = H_\varepsilon(P\|Q)`
is at most :math:`H_\varepsilon(P_1\|Q)` plus the mass of P₂, which adds no more than λ − 1 times that mass.
"""

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.profiles.blanket_pair import BlanketPair


class BesideTails:
    """A pair whose tails, where the likelihood ratio is unbounded, are bounded separately.

    Parameters
    ----------
    inputs : InputPair
        Two inputs with their `Tails`.
    n : int
        Number of users.
    """

    def __init__(self, inputs, n):
        self.tails, self.inside = inputs.tails, BlanketPair(inputs.tails.inside, n)
        whole = inputs.blanket
        self.outside = Interval.of(whole.r0_outside).widened(
            absolute=2.0 * whole.precision * whole.r0_outside
        )

    def renyi(self, order):
        """Return upper bounds on D_order(P‖Q) for an array of orders above 1."""
        if self.tails.inside.r0_outside > 0.0:  # so rare that it underflowed
            return np.full(order.shape, math.inf)
        found = Interval.of(self.inside.renyi_directed(order)[1])
        more = Interval.of(order - 1.0, 1.0)
        moment = (found * more).log_add((self.outside * more).log())
        beyond = Interval.of(np.vectorize(self.tails.log_moment, otypes=[float])(order), 4.0)
        return ((moment / order).log_add(beyond / order) / more * order).upper

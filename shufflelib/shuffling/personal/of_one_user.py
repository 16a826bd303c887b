r"""The profile of one user among others with budgets of their own: what the bounds of `delta` are made of.

How many of the other users report a draw from the common reference measure, the M of
`randomize_then_shuffle`, may be revealed.  One user's report and those draws are then one of the pairs under
the privacy blanket, and all of it is their mixture, so that rounds compose.
"""

import math
from functools import partial

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.hockey_stick import Indistinguishable, SymmetricPair
from shufflelib.profiles.privacy_profile import Profile

DRAWN = (
    "all numbers are of one user; as many users report with each budget in all rounds, and where users are "
    "drawn at random, the same share of the users of each budget is drawn"
)


class CrowdPair(SymmetricPair):
    r"""The symmetric pair that dominates one user's report among M draws, M in buckets; known from above.

    .. math:: h(\varepsilon) = \sum_k \Pr[M \in \text{bucket } k]\; H_\varepsilon(m_k + 1)

    Parameters
    ----------
    pairs : sequence of Pair
        The pairs under the blanket of m_k + 1 reports, m_k the smallest of bucket k, in rising order.
    shares : numpy.ndarray
        Upper bounds on the probabilities of the buckets.

    Notes
    -----
    More draws hide more, so that the curve is at least that of the last pair, which is the lower bound.
    """

    from_above = True

    def __init__(self, pairs, shares):
        self.pairs, self.log_shares = tuple(pairs), np.log(shares)
        self.search_width = max(pair.search_width for pair in self.pairs)

    @property
    def max_privacy_loss(self):
        """The largest loss of any of the pairs."""
        return max(one.max_privacy_loss for pair in self.pairs for one in (pair, pair.reversed))

    def _log_curve(self, eps, tolerance):
        """Enclose the log of the mixture."""
        log_h = [pair.log_worst(eps, tolerance) for pair in self.pairs]
        upper = np.minimum.accumulate([one.upper for one in log_h])  # fewer draws bound more
        with np.errstate(invalid="ignore"):
            total = np.logaddexp.reduce(upper + self.log_shares[:, None], axis=0)
        total = np.minimum(total + 64 * UNIT * (1.0 + np.abs(np.maximum(total, -1e3))), 0.0)
        return Interval(np.minimum(log_h[-1].lower, total), total)


class AttackedCrowd(SymmetricPair):
    """What explicit attacks on one user attain at each ε; known from below."""

    max_privacy_loss = math.inf

    def __init__(self, attacks):
        self.attacks = attacks

    def _log_curve(self, eps, tolerance):
        """Enclose the log by the best attack below."""
        found = [max(0.0, *(attack.delta(one) for attack in self.attacks)) for one in eps.tolist()]
        return Interval(Interval.of(np.array(found)).log().lower, np.zeros(eps.size))


def of_one_user(crowd, user, target, statement):
    """Return the profile of a user of this index, the target, in a crowd of personal budgets."""
    return Profile(
        bounds=partial(_bounds, target) if target.eps0 > 0.0 else _nothing,
        statement=f"the reports, shuffled, about {statement}",
        source=f"{crowd.source.rpartition('; neighbours')[0]}; rounds and Renyi divergences have no attack",
        adjacency=crowd.adjacency,
        assumptions=(*crowd.assumptions, DRAWN),
        users=crowd.n,
        population=crowd.n,
        written=f"{type(crowd).__name__}(…).profile(user={user})",
    )


def _bounds(target):
    """Return the mixture of pairs above, and what attacks attain."""
    return Bounds(
        above=(target.crowd,),
        below=(Indistinguishable(),),
        attained=(AttackedCrowd(target.attacks),),
        pure_epsilon=target.eps0,
    )


def _nothing():
    """Return the bounds of a report that does not depend on the value."""
    return Bounds((Indistinguishable(),), (Indistinguishable(),), pure_epsilon=0.0)

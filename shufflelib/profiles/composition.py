r"""Sequential composition: the same data in many adaptive rounds.

Each round may be chosen in view of all earlier outputs.  If a round's pair of output laws has its
curve below that of (P_k, Q_k) for every history, all rounds together have theirs below that of the
product.  A pair taken for itself is composed in each of its two directions, and the worse is shown.
For a mechanism an upper end lets every round use the `Envelope` of all its pairs; a lower end is one
attack repeated in every round.

Source: Zhu, Dong, Wang (AISTATS 2022), Theorem 10; for shuffling Koskela, Heikkilä, Honkela (TMLR
2023), Wang (PVLDB 2024; arXiv:2304.05007), Lemma 7.2 and Theorem 7.3.
"""

import functools
import math

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Status
from shufflelib.numerics.composed_loss import Total
from shufflelib.numerics.log_interval import NOTHING, TOLERANCE, LogBracket
from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.profiles import adjacency
from shufflelib.profiles.discretised_loss import RoundCurve
from shufflelib.profiles.privacy_profile import Pair, PrivacyProfile

__all__ = ["ComposedPair", "ComposedProfile", "compose"]

MOST_ROUNDS = 10**9
WIDTH = 3e-4  # relative width in ε aimed at, not always reached
NARROWEST, WIDEST = 5e-4, 5e-3  # relative widths in δ aimed at
FAR_ABOVE = 30.0  # nats
RESOLUTION = 1e-60  # no smaller δ is asked for


def compose(profiles):
    r"""Return the profile of several adaptive rounds on the same data.

    Parameters
    ----------
    profiles : sequence of PrivacyProfile
        One for each round, in any order, at least one.  ``profile.compose(rounds=K)`` stands for K
        equal ones.

    Returns
    -------
    PrivacyProfile
        `ComposedPair` if all are pairs taken for themselves, else `ComposedProfile`; a single round
        is returned as it is.

    Raises
    ------
    TypeError, ValueError
        If ``profiles`` is not a non-empty sequence of profiles.

    Notes
    -----
    Hypotheses: neighbours differ in the data of one user, the same in all rounds; rounds draw fresh
    randomness (and fresh subsets) and may be chosen adaptively, each within its profile.  The lower
    end grants the attacker that what a round asks may be chosen freely.  Cost: proportional to the
    number of distinct profiles, not to that of rounds.

    Examples
    --------
    Two Gaussian rounds are one with the separations added in squares:

    >>> from shufflelib.profiles.composition import compose
    >>> from shufflelib.profiles import Gaussian
    >>> both = compose([Gaussian(mu=0.3), Gaussian(mu=0.4)]).delta(eps=1.0)
    >>> both.lower < Gaussian(mu=0.5).delta(eps=1.0).lower < both.upper
    True
    """
    if isinstance(profiles, PrivacyProfile | str | bytes) or not hasattr(profiles, "__iter__"):
        raise TypeError(f"profiles must be a sequence of profiles, got {profiles!r}; pass a list")
    profiles = list(profiles)
    if not profiles:
        raise ValueError("profiles must not be empty; pass at least one round")
    for profile in profiles:
        if not isinstance(profile, PrivacyProfile):
            raise TypeError(f"profiles must hold profiles, got {profile!r}; shufflelib.shuffle makes one")
    return _composed([(profile, 1) for profile in profiles])


def repeat(profile, *, rounds):
    r"""Return the profile of equal adaptive rounds on the same data.

    Parameters
    ----------
    profile : PrivacyProfile
        Of one round.
    rounds : int
        Their number, 1 ≤ rounds ≤ 10⁹; 1 returns the profile itself.

    Returns
    -------
    PrivacyProfile
        As for `compose`.

    Raises
    ------
    TypeError, ValueError
        If ``rounds`` is not a whole number in that range.
    """
    rounds = validation.count(
        rounds, "rounds", at_least=1, at_most=MOST_ROUNDS, remedy="rounds is a number of repetitions"
    )
    return _composed([(profile, rounds)])


def _composed(rounds):
    """Compose (profile, count)s, those of composed profiles taken apart, equal ones counted together."""
    kinds = {}
    for profile, count in rounds:
        parts = profile.rounds if isinstance(profile, _Composed) else ((profile, 1),)
        for part, times in parts:
            kinds[id(part)] = part, kinds.get(id(part), (part, 0))[1] + count * times
    rounds = tuple(kinds.values())
    validation.count(sum(count for _, count in rounds), "rounds", at_most=MOST_ROUNDS, remedy="use fewer")
    if len(rounds) == 1 and rounds[0][1] == 1:
        return rounds[0][0]
    if all(isinstance(profile, Pair) for profile, _ in rounds):
        return ComposedPair(rounds)
    return ComposedProfile(rounds)


class _Composed(PrivacyProfile):
    """What pairs and mechanisms share once composed: their rounds, and a limit to what is resolved."""

    def _describe(self, rounds):
        self.rounds = tuple(rounds)
        total = sum(count for _, count in self.rounds)
        kinds = "; ".join(f"{count} of {profile.statement}" for profile, count in self.rounds[:3])
        more = f"; and {len(self.rounds) - 3} more kinds" if len(self.rounds) > 3 else ""
        self.statement = f"{total} adaptive rounds: {kinds}{more}"
        self.adjacency = adjacency.of_rounds(profile.adjacency for profile, _ in self.rounds)
        if self.adjacency != adjacency.NO_DATASETS:
            self.hypotheses = adjacency.united(
                adjacency.COMPOSED, *(profile.hypotheses for profile, _ in self.rounds)
            )
        self.source = "connected dots on either side, composed by a contour integral; " + "; ".join(
            dict.fromkeys(profile.source for profile, _ in self.rounds)
        )

    @property
    def pure_epsilon(self):
        """Sum of the rounds' pure guarantees."""
        return math.fsum(count * profile.pure_epsilon for profile, count in self.rounds)

    def _afresh(self):
        """Drop all dots, so that no answer depends on what was asked before; their values are kept."""
        for pair in self._pairs:
            pair.forget()

    def _log_delta(self, eps, tolerance=TOLERANCE):
        self._afresh()
        return super()._log_delta(eps, tolerance)

    def _tradeoff(self, fpr):
        self._afresh()
        return super()._tradeoff(fpr)

    def _epsilon(self, delta):
        if delta < RESOLUTION:
            return 0.0, self.pure_epsilon
        self._afresh()
        lower, upper = super()._epsilon(delta)
        return lower, min(upper, self.pure_epsilon)

    def epsilon(self, delta):
        """Enclose the smallest ε as every profile does; δ below 1e-60 is not resolved."""
        found = super().epsilon(delta)
        if not (validation.reals(delta, "delta") < RESOLUTION).any():
            return found
        return Certified(found.lower, found.upper, Status.BELOW_RESOLUTION, found.source, found.statement)


def _added(counted):
    """Return both ends of a sum from counts and the ends of one term each."""
    return tuple(
        math.fsum(count * ends[side] for count, ends in counted) * (1.0 + sign * 4 * UNIT)
        for side, sign in ((0, -1.0), (1, 1.0))
    )


class ComposedPair(_Composed, Pair):
    r"""The product of pairs, each repeated: :math:`P_1^{k_1} \otimes P_2^{k_2} \dots` and the same for Q.

    Parameters
    ----------
    rounds : sequence of (Pair, int)
        Distinct pairs and how often each occurs.

    Notes
    -----
    For pairs with many different losses (Gaussian pairs, those of shuffled mechanisms), up to 10⁴ rounds and
    δ from 1e-9 to δ(0)/2, the bracket of δ is at most 0.6 % wide and that of ε at most 0.04 %, relatively;
    ``tests/test_promised_precision.py`` checks a grid.  Both are wider where few values of the total loss
    carry the answer, because the integral smooths them; few rounds of a pair with two or three losses have
    such totals.  For example δ of 30 rounds of (0.9, 0.09, 0.01), (0.5, 0.3, 0.2) is up to 5 % wide, ε of two
    rounds of randomized response with a budget of 1 is 4 % wide at δ = 1e-6, and δ(0) of two rounds of
    (0.999, 0.001), (0.9999, 0.0001) lies between 0.0012 and 0.0018.  For 10⁴ rounds of a Gaussian pair with
    μ = 2 the upper end of ε is infinite.
    Rényi divergences add up, with both ends.
    Cost: a few hundred values of each pair's curve, once; more rounds cost more only where the total ε
    exceeds about 100.

    Examples
    --------
    A hundred answers by randomized response with a budget of 0.1 cost less than half of their sum, 10:

    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> one = DiscretePair(np.log([0.525, 0.475]), np.log([0.475, 0.525]))
    >>> round(one.compose(rounds=100).epsilon(delta=1e-6).upper, 2)
    4.78
    """

    search_width = 1e-7

    def __init__(self, rounds):
        self._describe(rounds)
        self.symmetric = all(pair.symmetric for pair, _ in self.rounds)

    @functools.cached_property
    def _curves(self):
        if "_curves" in self.__dict__.get("reversed", self).__dict__:
            return [curve.reversed for curve in self.reversed._curves]
        return [RoundCurve(pair) for pair, _ in self.rounds]

    @functools.cached_property
    def reversed(self):
        """All rounds reversed."""
        if self.symmetric:
            return self
        other = ComposedPair([(pair.reversed, count) for pair, count in self.rounds])
        other.__dict__["reversed"] = self
        return other

    def forget(self):
        """Drop all dots, those of the reversed rounds too."""
        for one in (self, self.__dict__.get("reversed", self)):
            one.__dict__.pop("_curves", None)
            one.__dict__.pop("_remembered", None)

    @property
    def largest_loss(self):
        """Sum of the rounds' largest losses."""
        return math.fsum(count * pair.largest_loss for pair, count in self.rounds) * (1 + 4 * UNIT)

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose log H of the product, after setting as many dots as that needs."""
        if eps >= self.largest_loss:
            return NOTHING
        above, below, width = self._totals(eps, tolerance)
        upper = above.log_delta(eps, width=width)[1] + above.excess
        lower = below.log_delta(eps, width=width)[0] - below.excess
        together = LogBracket(lower, upper).or_nothing_known()
        apart = self._apart(eps)
        upper = min(together.upper, apart.upper, 0.0)
        return LogBracket(min(max(together.lower, apart.lower), upper), upper)

    def _apart(self, eps):
        """Bound log H by what single rounds say: at least the best of them, at most basic composition.

        This decides where outcomes are rare and telling, which no quadrature resolves.
        """
        share = eps / sum(count for _, count in self.rounds)
        high = [pair.dot(share, NARROWEST).upper + math.log(count) for pair, count in self.rounds]
        low = max(pair.dot(eps, NARROWEST).lower for pair, _ in self.rounds)
        low = max(low, self._some_round(eps))
        return LogBracket(low, logsumexp(high) + _rounding(high))

    def _some_round(self, eps):
        """Return a lower end of log H: some round shows an outcome whose loss is beyond ε + a, far above ε.

        With S such outcomes and h = P(S) − e^{ε + a} Q(S) this has the divergence
        1 − ∏(1 − P(S)) − e^{−a} Σ(P(S) − h), affine in each P(S), so that it is least where each is h or 1.
        """
        shown = [pair.dot(eps + FAR_ABOVE, NARROWEST).lower + math.log(count) for pair, count in self.rounds]
        log_sum = logsumexp(shown)  # at most that of −Σ log(1 − h)
        others = math.exp(-FAR_ABOVE) * (1.0 + sum(count for _, count in self.rounds))
        if log_sum == -math.inf or others >= 1.0:
            return -math.inf
        some = log_sum if log_sum < -40.0 else math.log(-math.expm1(-math.exp(log_sum)))
        return min(some, math.log1p(-others)) - _rounding(shown)

    def _totals(self, eps, tolerance):
        """Return the sums of the rounds' laws on either side, dots added until both agree, and that width."""
        counts = [count for _, count in self.rounds]
        if any(curve.exhausted for curve in self._curves):
            self.forget()  # the dots lie where another question needed them
        while True:
            above = Total([curve.above for curve in self._curves], counts)
            below = Total([curve.below for curve in self._curves], counts)
            if eps >= above.largest:
                if sum(curve.extend() for curve in self._curves):
                    continue
                return above, below, WIDEST
            theta = above.saddle(eps)
            log_scale = above.cumulants(theta)[0] - theta * eps  # of δ
            depth = max(-log_scale / 20.0, 1.0)
            width = max(10.0 * tolerance * depth, min(max(WIDTH * theta * eps, NARROWEST), WIDEST * depth))
            doubts = above.contributions(theta) - below.contributions(theta)
            open_ended = above.log_sure > log_scale + math.log(0.01 * min(width, 1.0))
            stretched = open_ended and sum(curve.extend() for curve in self._curves)
            if not stretched and doubts.sum() <= 0.7 * width:
                return above, below, width
            worth = [
                curve
                for curve, doubt in zip(self._curves, doubts, strict=True)
                if doubt > 0.1 * doubts.sum() and not curve.exhausted
            ]
            if not sum(curve.refine(theta + 1.0) for curve in worth) and not stretched:
                return above, below, width

    def renyi_directed(self, order, enough=0.0):
        """Return both ends of the sum of the rounds' divergences."""
        ends = [(count, pair.renyi_directed(order)) for pair, count in self.rounds]
        return _added(ends)

    def false_negatives(self, fpr):
        """Return both ends of the smallest false-negative rate, null P against alternative Q."""
        return RoundCurve(self).false_negatives(fpr)


class ComposedProfile(_Composed):
    """Profile of adaptive rounds of which at least one is a mechanism; made by `compose`.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> rounds = shuffle(randomizers.generic(eps0=1.0), n=1000).compose(rounds=3)
    >>> round(rounds.pure_epsilon, 6)  # whatever δ, no more than three local budgets
    3.0
    """

    def __init__(self, rounds):
        self._describe(rounds)

    @functools.cached_property
    def above(self):
        """One pair: every round's envelope, composed."""
        return (ComposedPair([(profile.envelope, count) for profile, count in self.rounds]),)

    @functools.cached_property
    def below(self):
        """One attack in every round: each known one if the rounds are equal, else each round's plainest."""
        if len(self.rounds) == 1:
            ((profile, count),) = self.rounds
            return tuple(ComposedPair([(pair, count)]) for pair in profile.below)
        plainest = [
            (max(profile.below, key=lambda pair: pair.dot(0.0, TOLERANCE).lower), count)
            for profile, count in self.rounds
        ]
        return (ComposedPair(plainest),)

    def _renyi(self, order):
        ends = [(count, profile._renyi(order)) for profile, count in self.rounds]
        return _added(ends)


def _rounding(logs):
    """Return what adding up numbers given by these logarithms may be off."""
    return UNIT * (64.0 * len(logs) + 4.0 * max((abs(log) for log in logs if log > -math.inf), default=0.0))

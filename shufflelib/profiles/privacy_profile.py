r"""The privacy profile δ(ε) of a mechanism, or of a pair of distributions on its own.

A mechanism is described from both sides: by pairs that dominate it (their numbers are upper bounds) and by
pairs that it produces (lower bounds).  A pair on its own gives both bounds.  ε at δ, Rényi
divergences and trade-off functions follow from the pairs, and so do rounds and random subsets.

Rounds may depend on all earlier outputs.  A pair on its own is composed in each of its two
directions, and the worse is shown.  For a mechanism an upper bound lets every round use the `Envelope` of all
its pairs; a lower bound is one attack repeated in every round.

Source: for shuffling Koskela, Heikkilä, Honkela (TMLR 2023), Wang (PVLDB 2024; arXiv:2304.05007), Lemma 7.2
and Theorem 7.3; for rounds Zhu, Dong, Wang (AISTATS 2022), Theorem 10.
"""

import dataclasses
import functools
import math
from collections.abc import Iterable

from shufflelib.numerics import validation
from shufflelib.numerics.certified import TOLERANCE, Status
from shufflelib.numerics.optional import counting
from shufflelib.profiles import adjacency
from shufflelib.profiles.composition import ComposedPair, added, locked
from shufflelib.profiles.hockey_stick import Indistinguishable, Pair
from shufflelib.profiles.questions import Questions
from shufflelib.profiles.subsampling import SubsampledPair, SubstitutionPair, max_mixed_privacy_loss

APART = 1.05  # ratio of the two bounds on ε from which on each need not be known as well,
ROUGH = 3e-3, 1e-4  # but to these relative widths, of ε and of δ of one round
RESOLUTION = 1e-60  # no smaller δ is asked for in rounds


class PrivacyProfile(Questions):
    """The privacy profile of a mechanism or a pair: δ, ε, Rényi, trade-off function, rounds, subsampling.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> profile = Gaussian(mu=0.5).compose(rounds=4).subsample(rate=0.1)
    >>> round(profile.delta(eps=0.5).upper, 4)
    0.002
    """

    def subsample(self, rate: float) -> "PrivacyProfile":
        r"""Return the profile of the same mechanism run on a random subset of its users.

        .. math:: \delta'(\varepsilon) \le \gamma\,\delta\bigl(\log(1 + (e^{\varepsilon} - 1)/\gamma)\bigr)

        Parameters
        ----------
        rate : float
            Sampling rate γ = m/N of a population of N users, 1e-9 ≤ γ ≤ 1; the m users drawn are those of
            this profile.  1 returns the profile itself.

        Returns
        -------
        PrivacyProfile
            For a mechanism `SubsampledProfile`, for a pair on its own `SubsampledPairProfile`.

        Notes
        -----
        Hypotheses: the subset has a fixed size, is drawn uniformly without replacement and is not
        revealed; neighbours replace one of the N users.  Subsampling twice multiplies the rates.
        The proof compares a sample that holds the user with one that holds somebody else in their place.
        So the profile must cover replacing a value by any other user's: a metric randomizer with d01 < dmax
        or a joint composition with a smaller ``distance`` is refused.
        Source: Balle, Barthe, Gaboardi (NeurIPS 2018), Theorem 10; Zhu, Dong, Wang (AISTATS 2022),
        Proposition 30; Wang (PVLDB 2024; arXiv:2304.05007), Lemma 7.4 and Proposition 2.
        Erratum: the second line of Proposition 2 has D(P‖Q) on its right, where D(Q‖P) belongs; the two
        agree for the paper's pair, which is symmetric.

        Examples
        --------
        >>> from shufflelib import randomizers, shuffle
        >>> all_report = shuffle(randomizers.binary_rr(eps0=1.0), n=1000)
        >>> one_in_ten = all_report.subsample(rate=0.1)
        >>> one_in_ten.epsilon(1e-6).upper < 0.2 * all_report.epsilon(1e-6).upper
        True
        """
        rate = validation.sampling_rate(rate)
        if rate == 1.0:
            return self
        if not self.adjacency.any_value:
            raise ValueError(
                "profile must cover replacing a value by that of any other user, got the relation "
                f"'{self.adjacency}'; use d01 = dmax, or joint without distance"
            )
        kind = SubsampledPairProfile if isinstance(self, PairProfile) else SubsampledProfile
        return kind(self, rate)

    def compose(self, rounds: int) -> "PrivacyProfile":
        r"""Return the profile of equal adaptive rounds on the same data.

        Parameters
        ----------
        rounds : int
            Their number, 1 ≤ rounds ≤ 10⁹; 1 returns the profile itself.

        Returns
        -------
        PrivacyProfile
            As for `shufflelib.profiles.compose`, which takes unequal rounds.

        Raises
        ------
        TypeError, ValueError
            If ``rounds`` is not a whole number in that range.
        """
        if isinstance(rounds, PrivacyProfile):
            raise TypeError(f"rounds must be a number, got {rounds!r}; use profiles.compose([one, other])")
        return _composed([(self, validation.rounds(rounds))])

    def attacks_on_a_sample(self, rate):
        """Return the attacks on users drawn at random: those of which all that others report is known."""
        found = [pair.on_a_sample(rate) for pair in self.attack_pairs]
        return tuple(pair for pair in found if pair)

    _apart = False

    def _afresh(self):
        """Return the profile, which has forgotten what earlier questions left."""
        return self

    _for_epsilon = _afresh


class PairProfile(PrivacyProfile, Pair):
    """The profile of a pair on its own, which gives both bounds.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> pair = Gaussian(mu=1.0)
    >>> pair.dominating_pairs == pair.attack_pairs == (pair,)
    True
    """

    @property
    def dominating_pairs(self):
        """The pair itself."""
        return (self,)

    attack_pairs = dominating_pairs

    def _renyi(self, order):
        return self.renyi_worst(order)

    def _tradeoff(self, fpr):
        return self.false_negatives(fpr)


def compose(profiles: Iterable[PrivacyProfile]) -> PrivacyProfile:
    r"""Return the profile of several adaptive rounds on the same data.

    Parameters
    ----------
    profiles : sequence of PrivacyProfile
        One for each round, in any order, at least one.  ``profile.compose(rounds=K)`` stands for K
        equal ones.

    Returns
    -------
    PrivacyProfile
        `ComposedPairProfile` if all are pairs on their own, else `ComposedProfile`; a single round
        is returned as it is.

    Notes
    -----
    Hypotheses: neighbours differ in the data of one user, the same in all rounds; rounds draw fresh
    randomness (and fresh subsets) and may be chosen adaptively, each within its profile.  The lower
    bound grants the attacker that what a round asks may be chosen freely.  Cost: proportional to the
    number of distinct profiles, not to that of rounds.

    Examples
    --------
    Two Gaussian rounds are one with the separations added in squares:

    >>> from shufflelib.profiles import compose
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
    for i, profile in enumerate(profiles):
        validation.instance(profile, f"profiles[{i}]", PrivacyProfile, remedy="shufflelib.shuffle makes one")
    return _composed([(profile, 1) for profile in profiles])


def _composed(rounds):
    """Compose (profile, count)s, those of composed profiles taken apart, equal ones counted together."""
    kinds = {}
    for profile, count in rounds:
        parts = profile.rounds if isinstance(profile, _Composed) else ((profile, 1),)
        for part, times in parts:
            kinds[id(part)] = part, kinds.get(id(part), (part, 0))[1] + count * times
    rounds = tuple(kinds.values())
    validation.rounds(sum(count for _, count in rounds))
    if len(rounds) == 1 and rounds[0][1] == 1:
        return rounds[0][0]
    if all(isinstance(profile, PairProfile) for profile, _ in rounds):
        return ComposedPairProfile(rounds)
    return ComposedProfile(rounds)


class _Composed(PrivacyProfile):
    """What pairs and mechanisms share once composed: their rounds, and a limit to what is resolved."""

    def _describe(self):
        total = sum(count for _, count in self.rounds)
        kinds = "; ".join(f"{count} of {profile.statement}" for profile, count in self.rounds[:3])
        more = f"; and {len(self.rounds) - 3} more kinds" if len(self.rounds) > 3 else ""
        what = f": {kinds}{more}" if len(self.rounds) > 1 else f" of {self.rounds[0][0].statement}"
        self.statement = f"{total} adaptive rounds{what}"
        self.adjacency = adjacency.of_rounds(profile.adjacency for profile, _ in self.rounds)
        known = [profile for profile, _ in self.rounds if profile.users is not None]
        self.users = min((profile.users for profile in known), default=None)
        self.population = max((profile.population for profile in known), default=None)
        if self.adjacency != adjacency.NO_DATASETS:
            self.hypotheses = adjacency.united(
                adjacency.COMPOSED, *(profile.hypotheses for profile, _ in self.rounds)
            )
        self.source = (
            "composed as privacy loss distributions, connect-the-dots from both sides; "
            + "; ".join(dict.fromkeys(profile.source for profile, _ in self.rounds))
        )

    def __repr__(self):
        kinds = [
            f"{profile!r}.compose(rounds={count})" if count > 1 else repr(profile)
            for profile, count in self.rounds
        ]
        return kinds[0] if len(kinds) == 1 else f"compose([{', '.join(kinds)}])"

    @property
    def pure_epsilon(self):
        """Sum of the rounds' pure guarantees."""
        return math.fsum(count * profile.pure_epsilon for profile, count in self.rounds)

    def renyi_ceiling(self, order):
        """Return the sum of the rounds' upper bounds."""
        return added((count, (profile.renyi_ceiling(order),) * 2) for profile, count in self.rounds).upper

    def _afresh(self, *widths):
        """Drop all dots, so that no answer depends on what was asked before; their values are kept."""
        for pair in (*self.dominating_pairs, *self.attack_pairs):
            pair.forget(*widths)
        return self

    @functools.cached_property
    def _apart(self):
        """Whether total variations suggest that the two bounds on ε are apart, so that a rough ε will do."""
        above, below = (
            max(pair.log_total_variations() for pair in side)
            for side in (self.dominating_pairs, self.attack_pairs)
        )
        return above > below + 0.5 * math.log(APART)

    def _for_epsilon(self):
        """Return the profile, ready for a question about ε alone, which is answered roughly at first."""
        return self._afresh(*(ROUGH if self._apart else ()))

    @locked()
    @counting("points of curves")
    def _log_delta(self, eps, tolerance=TOLERANCE):
        self._afresh()
        return super()._log_delta(eps, tolerance)

    @locked()
    @counting("points of curves")
    def _tradeoff(self, fpr):
        self._afresh()
        return super()._tradeoff(fpr)

    @locked()
    @counting("points of curves")
    def _epsilon(self, delta):
        if delta < RESOLUTION:
            return 0.0, self.pure_epsilon
        lower, upper = Questions._epsilon(self._for_epsilon(), delta)
        if self._apart and 0.0 < upper <= APART * lower:
            lower, upper = Questions._epsilon(self._afresh(), delta)
        self._afresh()  # other profiles may share the pairs
        return lower, upper

    def epsilon(self, delta):
        """Enclose the smallest ε as every profile does; δ below 1e-60 is not resolved."""
        found = super().epsilon(delta)
        if not (validation.reals(delta, "delta") < RESOLUTION).any():
            return found
        return dataclasses.replace(found, status=Status.BELOW_RESOLUTION)


class ComposedPairProfile(_Composed, ComposedPair, PairProfile):
    """Profile of adaptive rounds that are all pairs on their own; made by `compose`.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> round(Gaussian(mu=0.1).compose(rounds=25).renyi(2.0).upper, 6)
    0.25
    """

    def __init__(self, rounds):
        super().__init__(rounds)
        self._describe()


class ComposedProfile(_Composed):
    """Profile of adaptive rounds of which at least one is a mechanism; made by `compose`.

    Notes
    -----
    Where the two bounds on ε are more than 5 % apart, because the best attack known is that much weaker than
    the guarantee, each is computed to 0.3 % instead of 0.04 %, which takes a third of the time.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> rounds = shuffle(randomizers.generic(eps0=1.0), n=1000).compose(rounds=3)
    >>> round(rounds.pure_epsilon, 6)  # whatever δ, no more than three local budgets
    3.0
    """

    def __init__(self, rounds):
        self.rounds = tuple(rounds)
        self._describe()

    @functools.cached_property
    def dominating_pairs(self):
        """One pair: every round's envelope, composed."""
        return (ComposedPair([(profile.envelope, count) for profile, count in self.rounds]),)

    @functools.cached_property
    def attack_pairs(self):
        """One attack in every round: each known one if the rounds are equal, else each round's plainest."""
        if len(self.rounds) == 1:
            ((profile, count),) = self.rounds
            return tuple(ComposedPair([(pair, count)]) for pair in profile.attack_pairs)
        plainest = [(_plainest(profile.attack_pairs), count) for profile, count in self.rounds]
        return (ComposedPair(plainest),)

    def attacks_on_a_sample(self, rate):
        """Return the attacks of which one world is that of the crowd, in every round."""
        crowds = [
            ([one for pair in profile.attack_pairs if (one := pair.beside_crowd())], count)
            for profile, count in self.rounds
        ]
        if not all(found for found, _ in crowds):
            return ()
        if len(crowds) == 1:
            ((found, count),) = crowds
            rounds = [[(pair, count)] for pair in found]
        else:
            rounds = [[(_plainest(found), count) for found, count in crowds]]
        return tuple(SubsampledPair(ComposedPair(one), rate) for one in rounds)

    def _renyi(self, order):
        ends = [(count, profile._renyi(order)) for profile, count in self.rounds]
        return added(ends)


def _plainest(attacks):
    """Return the attack with the largest total variation."""
    return max(attacks, key=lambda pair: pair.dot(0.0, TOLERANCE).lower)


class SubsampledPairProfile(SubsampledPair, PairProfile):
    """Profile of the mixed pair (γP + (1 − γ)Q, Q); made by `PrivacyProfile.subsample`.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> rare = Gaussian(mu=1.0).subsample(rate=0.01)
    >>> rare.delta(eps=0.1).upper < 0.01
    True
    """

    def __init__(self, pair, rate):
        super().__init__(pair, rate)
        self.statement = f"a share {rate:g} of {pair.statement}"
        self.users, self.population = pair.users, pair.users and pair.population / rate
        self.source = (
            "mixed with the second distribution, connect-the-dots where a question needs the whole curve; "
            + pair.source
        )

    def __repr__(self):
        return f"{self.pair!r}.subsample(rate={self.rate:g})"

    def renyi_ceiling(self, order):
        """Return what the pure guarantee implies, or that of the pair."""
        return min(PairProfile.renyi_ceiling(self, order), self.pair.renyi_ceiling(order))


class SubsampledProfile(PrivacyProfile):
    """Profile of a mechanism run on a random subset; made by `PrivacyProfile.subsample`.

    Upper bounds come from the `SubstitutionPair` of everything that bounds the mechanism, lower bounds
    from attacks in which all other users hold one value x*: the user who replaces the differing one in
    the sample also holds x*, so that the outputs are mixed with those of a sample of x* alone.  If the sample
    answers several rounds, one of the two worlds must be that in which the differing user holds x* as well:
    then the rounds are mixed with that world's.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> sampled = shuffle(randomizers.binary_rr(eps0=1.0), n=100).subsample(rate=0.1)
    >>> round(sampled.pure_epsilon, 3)
    0.159
    """

    def __init__(self, profile, rate):
        self.profile, self.rate = profile, rate
        self.statement = f"{profile.statement}, from a random share {rate:g} of the population"
        self.users, self.population = profile.users, profile.users and profile.population / rate
        self.source = profile.source + "; subset of fixed size, without replacement"
        self.adjacency = profile.adjacency
        self.hypotheses = adjacency.united(adjacency.SUBSAMPLED, profile.hypotheses)

    def __repr__(self):
        return f"{self.profile!r}.subsample(rate={self.rate:g})"

    @functools.cached_property
    def dominating_pairs(self):
        """The symmetric pair that bounds both orders of the neighbours."""
        return (SubstitutionPair(self.profile.envelope, self.rate),)

    @functools.cached_property
    def attack_pairs(self):
        """The attacks whose users are all but one alike; if there are none, nothing is known."""
        return self.profile.attacks_on_a_sample(self.rate) or (Indistinguishable(),)

    @property
    def pure_epsilon(self):
        """The pure guarantee, log(1 + γ(e^ε − 1))."""
        return max_mixed_privacy_loss(self.rate, self.profile.pure_epsilon)

    def renyi_ceiling(self, order):
        """Return what the pure guarantee implies, or that of the mechanism on all its users."""
        return min(super().renyi_ceiling(order), self.profile.renyi_ceiling(order))

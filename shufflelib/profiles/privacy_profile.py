r"""The privacy profile of a mechanism: what bounds it, over rounds and on random subsets of its users.

A mechanism is described from both sides: by pairs that dominate it (their numbers are upper
bounds) and by pairs that it produces (lower bounds).  ε at δ, Rényi
divergences and trade-off functions follow from the pairs, and so do rounds and random subsets.

Rounds may depend on all earlier outputs.  A pair on its own is composed in each of its two
directions, and the worse is shown.  For a mechanism an upper bound lets every round use the `Envelope` of all
its pairs; a lower bound is one attack repeated in every round.

Source: for shuffling Koskela, Heikkilä, Honkela (TMLR 2023), Wang (PVLDB 2024; arXiv:2304.05007), Lemma 7.2
and Theorem 7.3; for rounds Zhu, Dong, Wang (AISTATS 2022), Theorem 10.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable
from functools import partial

from shufflelib.numerics import validation
from shufflelib.numerics.certified import TOLERANCE
from shufflelib.numerics.computed_once import cached_property
from shufflelib.profiles.adjacency import NO_DATASETS, SUBSAMPLED, Adjacency, said_of_rounds, united
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.composition import ComposedPair
from shufflelib.profiles.envelope import Envelope
from shufflelib.profiles.groups import GroupPair, group_of
from shufflelib.profiles.hockey_stick import Indistinguishable, OneWay, Pair
from shufflelib.profiles.questions import PrivacyProfile, added, grouped, repeated, sampled
from shufflelib.profiles.shown import Made
from shufflelib.profiles.subsampling import SubsampledPair, SubstitutionPair, max_mixed_privacy_loss


def unknown(order: float) -> float:
    """Return no upper bound on a Rényi divergence."""
    return math.inf


@dataclasses.dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Profile(PrivacyProfile):
    """The privacy profile of a mechanism, a value.

    Parameters
    ----------
    bounds : callable
        Returns the `Bounds` of the mechanism; called once, when a question first needs them.
    statement, source : str
        What the profile is of, and what proves its bounds.
    adjacency : Adjacency
        Which datasets are neighbours.
    assumptions : tuple of str
        What else all numbers assume.
    users, population : int or float, optional
        How many report in a round, and how many they are drawn from.
    written : Made or str
        The call that makes the profile, or an expression.
    renyi_known : callable
        Takes an order and returns an upper bound on the Rényi divergence that needs no curve.
    rounds : tuple of (PrivacyProfile, int)
        The rounds of a composed profile, and how often each occurs.
    rougher : callable
        Returns `Bounds` for rounds, which are not known as well as a single one, or None if there are no
        others.

    Examples
    --------
    >>> from shufflelib.profiles import Bounds, Gaussian, Profile
    >>> mechanism = Profile(bounds=lambda: Bounds((Gaussian(1.0),), (Gaussian(0.9),)), statement="an example")
    >>> bracket = mechanism.delta(eps=1.0)
    >>> round(bracket.lower, 4), round(bracket.upper, 4)
    (0.0932, 0.1269)
    """

    bounds: Callable[[], Bounds]
    statement: str
    source: str = ""
    adjacency: Adjacency = NO_DATASETS
    assumptions: tuple[str, ...] = ()
    users: float | None = None
    population: float | None = None
    written: Made | str = ""
    renyi_known: Callable[[float], float] = unknown
    rounds: tuple[tuple[PrivacyProfile, int], ...] = ()
    rougher: Callable[[], Bounds | None] | None = None

    def __getstate__(self):
        """Return the fields alone: what questions left is computed again."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @cached_property
    def envelope(self):
        """One symmetric pair that dominates the profile, whichever pair and direction is met."""
        return Envelope.of(self.dominating_pairs)

    @cached_property
    def in_rounds(self) -> PrivacyProfile:
        """The profile that rounds are made of: with the rougher bounds if there are any."""
        rough = self.rougher and self.rougher()
        return dataclasses.replace(self, bounds=lambda: rough, rougher=None) if rough else self

    def renyi_ceiling(self, order):
        """Return an upper bound that needs no curve: the one given, or what pure privacy implies."""
        return min(super().renyi_ceiling(order), self.renyi_known(order))

    def _renyi_sides(self, order):
        """Return both bounds from above and both from below, those of rounds added."""
        if self.rounds:
            every = [(count, one._renyi_sides(order)) for one, count in self.rounds]
            return tuple(added((count, sides[k]) for count, sides in every) for k in (0, 1))
        return super()._renyi_sides(order)


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
        A pair if all are pairs on their own, else a `Profile`; a single round is returned as it is.

    Notes
    -----
    Assumptions: neighbours differ in the data of one user, the same in all rounds; rounds draw fresh
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


@repeated.register(PrivacyProfile)
def _repeated(profile, count):
    return _composed([(profile, count)])


def _composed(rounds):
    """Compose (profile, count)s, those of composed profiles taken apart, equal ones counted together."""
    kinds = {}
    for profile, count in rounds:
        for part, times in profile.rounds or ((profile, 1),):
            kinds[id(part)] = part, kinds.get(id(part), (part, 0))[1] + count * times
    rounds = tuple(kinds.values())
    validation.rounds(sum(count for _, count in rounds))
    if len(rounds) == 1 and rounds[0][1] == 1:
        return rounds[0][0]
    if all(isinstance(profile, Pair) for profile, _ in rounds):
        return product(rounds)
    return Profile(bounds=partial(_bounds_of_rounds, rounds), rounds=rounds, **said_of_rounds(rounds))


def _bounds_of_rounds(rounds):
    """Return above every round's envelope; below one attack in every round.

    That is each known one if the rounds are equal, else each round's plainest.
    """
    rounds = [(profile.in_rounds, count) for profile, count in rounds]
    envelopes = [(_envelope(profile), count) for profile, count in rounds]
    attacks = [(profile.attack_pairs, count) for profile, count in rounds]
    return Bounds((product(envelopes),), _rounds_of_attacks(attacks))


def product(rounds):
    """Return the product of (pair, count)s, in a fixed order if the order of one of them is fixed."""
    composed = ComposedPair([(pair.ordered, count) for pair, count in rounds])
    return OneWay(composed) if any(pair.one_way for pair, _ in rounds) else composed


def _envelope(profile):
    return Envelope.of((profile,)) if isinstance(profile, Pair) else profile.envelope


def _rounds_of_attacks(attacks):
    """Return rounds of attacks, given (attacks, count)s."""
    if len(attacks) == 1:
        ((found, count),) = attacks
        return tuple(product([(pair, count)]) for pair in found)
    return (product([(plainest(found), count) for found, count in attacks]),)


def plainest(attacks):
    """Return the attack with the largest total variation.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> from shufflelib.profiles.privacy_profile import plainest
    >>> plainest([Gaussian(0.1), Gaussian(0.2)])
    Gaussian(mu=0.2)
    """
    return max(attacks, key=lambda pair: pair.log_hockey_stick(0.0, TOLERANCE).lower)


@grouped.register(PrivacyProfile)
def _grouped(profile, size):
    relation = Adjacency(f"{profile.adjacency}, for {group_of(size)}", any_value=False)
    return Profile(
        bounds=partial(_bounds_of_group, profile, size),
        statement=f"{profile.statement}, for a group of {size} users",
        source=profile.source + "; group: a chain of datasets that differ in one user; attack: on one user",
        adjacency=relation,
        assumptions=profile.assumptions,
        users=profile.users,
        population=profile.population,
        written=Made("group", profile, {"size": size}),
    )


def _bounds_of_group(profile, size):
    """Return the chain's pair above; below what is known of one user."""
    one = Envelope.of(pair.ordered for pair in profile.dominating_pairs)
    return Bounds(
        above=(GroupPair(one, size),),
        below=profile.attack_pairs,
        attained=profile.attained_pairs,
        pure_epsilon=size * profile.pure_epsilon * (1.0 + 1e-15),
    )


@sampled.register(Pair)
def _sampled_pair(pair, rate):
    return SubsampledPair(pair, rate)


@sampled.register(Profile)
def _sampled_mechanism(profile, rate):
    return Profile(
        bounds=partial(_bounds_on_a_sample, profile, rate),
        statement=f"{profile.statement}, from a random share {rate:g} of the population",
        source=profile.source + "; subset of fixed size, without replacement",
        adjacency=profile.adjacency,
        assumptions=united(SUBSAMPLED, profile.assumptions),
        users=profile.users,
        population=profile.users and profile.population / rate,
        written=Made("subsample", profile, {"rate": rate}),
        renyi_known=profile.renyi_ceiling,
        rougher=partial(_rougher_on_a_sample, profile, rate),
    )


def _bounds_on_a_sample(profile, rate):
    """Return what bounds a mechanism run on a random subset.

    Upper bounds come from the `SubstitutionPair` of everything that bounds the mechanism, lower bounds
    from attacks in which all other users hold one value x*: the user who replaces the differing one in
    the sample also holds x*, so that the outputs are mixed with those of a sample of x* alone.  If the sample
    answers several rounds, one of the two worlds must be that in which the differing user holds x* as well:
    then the rounds are mixed with that world's.
    """
    return Bounds(
        above=(SubstitutionPair(profile.envelope, rate),),
        below=_attacks_on_a_sample(profile, rate) or (Indistinguishable(),),  # if there are none
        pure_epsilon=max_mixed_privacy_loss(rate, profile.pure_epsilon),
    )


def _rougher_on_a_sample(profile, rate):
    rough = profile.in_rounds
    return None if rough is profile else _bounds_on_a_sample(rough, rate)


def _attacks_on_a_sample(profile, rate):
    """Return the attacks on users drawn at random: those of which all that others report is known."""
    if not profile.rounds:
        found = [pair.on_a_sample(rate) for pair in profile.attack_pairs]
        return tuple(pair for pair in found if pair)
    crowds = [
        ([one for pair in part.in_rounds.attack_pairs if (one := pair.beside_crowd())], count)
        for part, count in profile.rounds
    ]
    if not all(found for found, _ in crowds):
        return ()
    return tuple(SubsampledPair(one, rate) for one in _rounds_of_attacks(crowds))

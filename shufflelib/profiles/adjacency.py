"""Which datasets are neighbours, and what a guarantee assumes: the context of every number.

Differential privacy compares the outputs on two *neighbouring* datasets.  Every profile names its adjacency
relation (`ReplaceOne`, `MoveOne`, …) and its hypotheses, a tuple of sentences; statements, certificates, the
command line and the explorer are made from these two fields.

>>> from shufflelib import randomizers, shuffle
>>> profile = shuffle(randomizers.metric_laplace(d01=0.1, dmax=2.0), n=1000)
>>> print(profile.adjacency)
one user's value moves by at most 0.1 nats, and every other user's value is within 2 nats of both places
>>> profile.adjacency.any_value  # as it would have to for a random subset
False
"""

from dataclasses import dataclass, field

SHUFFLED = (
    "the shuffler is trusted, so that nobody learns who sent which report",
    "all n users are honest: each applies the randomizer once, to one value, with private and independent "
    "randomness; users who collude with the analyst or deviate do not count in n",
    "n is fixed and public, and participation does not depend on the values: neither who takes part or drops "
    "out nor who colludes",
    "nothing is assumed about the values, which may be correlated",
)
COMPOSED = (
    "all of this holds in each round, with fresh randomness; a round may depend on earlier outputs",
    "neighbours differ in the same user in all rounds",
)
SUBSAMPLED = (
    "the users who report are a random subset of fixed size, drawn uniformly without replacement and kept "
    "secret: one subset for all rounds that are sampled together, a new one for each sample",
)


@dataclass(frozen=True)
class Adjacency:
    """Which datasets are neighbours, in words; itself the relation of a pair of distributions without any.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> print(Gaussian(mu=1.0).adjacency)
    none: an ordered pair of distributions, no mechanism
    >>> from shufflelib.profiles.adjacency import MoveOne, ReplaceOne
    >>> ReplaceOne().any_value, MoveOne(d01=0.1, dmax=2.0).any_value
    (True, False)
    """

    text = "none: an ordered pair of distributions, no mechanism"  # the relation in words
    any_value = True  # whether a record may be replaced by that of any other user, which subsampling needs

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class ReplaceOne(Adjacency):
    """Datasets of equal size that differ in one record, whatever the others are.

    Parameters
    ----------
    record, others : str
        What is replaced, and what is arbitrary, in words.
    inputs : tuple of float
        All values that anybody may hold, if the guarantee is for a list of them.

    Examples
    --------
    >>> from shufflelib.profiles.adjacency import ReplaceOne
    >>> print(ReplaceOne())
    replace one user's value, whatever the other users hold
    """

    record: str = "user's value"
    others: str = "the other users hold"
    inputs: tuple[float, ...] = ()
    text: str = field(init=False, repr=False)

    def __post_init__(self):
        listed = f"; all values are among the {len(self.inputs)} inputs listed" if self.inputs else ""
        object.__setattr__(self, "text", f"replace one {self.record}, whatever {self.others}{listed}")


@dataclass(frozen=True)
class MoveOne(Adjacency):
    """Datasets in which one user's value moves a little, while all others are near.

    Parameters
    ----------
    d01 : float
        How far the value moves, in nats.
    dmax : float
        How far every other value may be from its old and from its new place.
    shorter : bool
        Whether moves shorter than ``d01`` are covered too.

    Examples
    --------
    >>> from shufflelib.profiles.adjacency import MoveOne
    >>> print(MoveOne(d01=1.0, dmax=2.0, shorter=False))
    one user's value moves by exactly 1 nats, and every other user's value is within 2 nats of both places
    """

    d01: float = 0.0
    dmax: float = 0.0
    shorter: bool = True

    @property
    def text(self):
        """The relation in words."""
        return (
            f"one user's value moves by {'at most' if self.shorter else 'exactly'} {self.d01:g} nats, "
            f"and every other user's value is within {self.dmax:g} nats of both places"
        )

    @property
    def any_value(self):
        """Whether the move may end at any other user's place."""
        return self.shorter and self.d01 >= self.dmax


@dataclass(frozen=True)
class ReplaceComponents(Adjacency):
    """Datasets of tuples that differ in some components of one user's tuple.

    Parameters
    ----------
    parts : tuple of Adjacency
        The relation of each component.
    most : int
        Number of components that may differ.

    Examples
    --------
    >>> from shufflelib.profiles.adjacency import ReplaceComponents, ReplaceOne
    >>> relation = ReplaceComponents(parts=(ReplaceOne(),) * 3, most=1)
    >>> print(relation)
    replace at most 1 of the 3 components of one user's tuple, whatever the other users hold
    """

    parts: tuple["Adjacency", ...] = ()
    most: int = 1

    @property
    def text(self):
        """The relation in words."""
        said = (
            f"replace one user's tuple of {len(self.parts)} values"
            if self.most == len(self.parts)
            else f"replace at most {self.most} of the {len(self.parts)} components of one user's tuple"
        )
        special = [f"component {j}: {part}" for j, part in enumerate(self.parts) if part != REPLACE_ONE]
        return "; ".join([f"{said}, whatever the other users hold", *special])

    @property
    def any_value(self):
        """Whether the whole tuple may be replaced."""
        return self.most == len(self.parts) and all(part.any_value for part in self.parts)


@dataclass(frozen=True)
class EveryRound(Adjacency):
    """What rounds with different relations have in common: each round's relation holds.

    Examples
    --------
    >>> from shufflelib.profiles.adjacency import EveryRound, MoveOne, ReplaceOne
    >>> EveryRound(rounds=(ReplaceOne(), MoveOne(d01=1.0, dmax=2.0))).any_value
    False
    """

    rounds: tuple["Adjacency", ...] = ()

    @property
    def text(self):
        """The relation in words."""
        return "different in each round: " + "; ".join(map(str, self.rounds))

    @property
    def any_value(self):
        """Whether that holds in every round."""
        return all(one.any_value for one in self.rounds)


REPLACE_ONE = ReplaceOne()
NO_DATASETS = Adjacency()


def of_rounds(relations):
    """Return the relation under which several rounds together are private."""
    kinds = tuple(one for one in dict.fromkeys(relations) if one != NO_DATASETS)
    if not kinds:
        return NO_DATASETS
    return kinds[0] if len(kinds) == 1 else EveryRound(rounds=kinds)


def united(*hypotheses):
    """Return several tuples of hypotheses as one, each sentence once."""
    return tuple(dict.fromkeys(one for part in hypotheses for one in part))


def said_of_rounds(rounds):
    """Return what is said of several (profile, count)s together.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> from shufflelib.profiles.adjacency import said_of_rounds
    >>> said_of_rounds([(Gaussian(0.1), 7)])["written"]
    'Gaussian(mu=0.1).compose(rounds=7)'
    """
    total = sum(count for _, count in rounds)
    kinds = "; ".join(f"{count} of {profile.statement}" for profile, count in rounds[:3])
    more = f"; and {len(rounds) - 3} more kinds" if len(rounds) > 3 else ""
    what = f": {kinds}{more}" if len(rounds) > 1 else f" of {rounds[0][0].statement}"
    relation = of_rounds(profile.adjacency for profile, _ in rounds)
    assumed = [COMPOSED, *(profile.hypotheses for profile, _ in rounds)]
    known = [profile for profile, _ in rounds if profile.users is not None]
    written = [
        f"{profile!r}.compose(rounds={count})" if count > 1 else repr(profile) for profile, count in rounds
    ]
    return {
        "statement": f"{total} adaptive rounds{what}",
        "source": "composed as privacy loss distributions, connect-the-dots from both sides; "
        + "; ".join(dict.fromkeys(profile.source for profile, _ in rounds)),
        "adjacency": relation,
        "hypotheses": () if relation == NO_DATASETS else united(*assumed),
        "users": min((profile.users for profile in known), default=None),
        "population": max((profile.population for profile in known), default=None),
        "written": written[0] if len(written) == 1 else f"compose([{', '.join(written)}])",
    }

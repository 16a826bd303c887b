"""Which datasets are neighbours, and what a guarantee assumes: the context of every number.

Differential privacy compares the outputs on two *neighbouring* datasets.  Every profile names its adjacency
relation, an `Adjacency`, and its assumptions, a tuple of sentences; statements, certificates and the
command line are made from these two fields.

>>> from shufflelib import randomizers, shuffle
>>> profile = shuffle(randomizers.metric_laplace(d01=0.1, dmax=2.0), n=1000)
>>> print(profile.adjacency)
one user's value moves by at most 0.1 nats, and every other user's value is within 2 nats of both places
>>> profile.adjacency.any_value  # as it would have to for a random subset
False
"""

from dataclasses import dataclass

SHUFFLED = (
    "the shuffler is trusted, so that nobody learns who sent which report",
    "all n users are honest: each applies the randomizer once, to one value, with private and independent "
    "randomness; users who collude with the analyst or deviate do not count in n",
    "n is fixed and public, and participation does not depend on the values: neither who takes part or drops "
    "out nor who colludes",
    "nothing is assumed about the values, which may be correlated",
)
LABELLED = (
    "every user's label is drawn uniformly, independently of the values and of all other labels, and anew in "
    "each round; all labels may be known",
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

    Parameters
    ----------
    text : str
        The relation in words.
    any_value : bool
        Whether a record may be replaced by that of any other user, which subsampling needs.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> print(Gaussian(mu=1.0).adjacency)
    none: an ordered pair of distributions, no mechanism
    """

    text: str = "none: an ordered pair of distributions, no mechanism"
    any_value: bool = True

    def __str__(self):
        return self.text


def replace_one(record="user's value", others="the other users hold", inputs=()):
    """Return the relation of datasets of equal size that differ in one record, whatever the others are.

    ``inputs`` are all values that anybody may hold, if the guarantee is for a list of them.

    Examples
    --------
    >>> from shufflelib.profiles.adjacency import replace_one
    >>> print(replace_one())
    replace one user's value, whatever the other users hold
    """
    listed = f"; all values are among the {len(inputs)} inputs listed" if inputs else ""
    return Adjacency(f"replace one {record}, whatever {others}{listed}")


REPLACE_ONE = replace_one()
NO_DATASETS = Adjacency()


def move_one(d01, dmax, shorter):
    """Return the relation in which one user's value moves by d01 nats, all others being within dmax.

    ``shorter`` says whether shorter moves are covered too.

    Examples
    --------
    >>> from shufflelib.profiles.adjacency import move_one
    >>> print(move_one(d01=1.0, dmax=2.0, shorter=False))
    one user's value moves by exactly 1 nats, and every other user's value is within 2 nats of both places
    """
    return Adjacency(
        f"one user's value moves by {'at most' if shorter else 'exactly'} {d01:g} nats, "
        f"and every other user's value is within {dmax:g} nats of both places",
        any_value=shorter and d01 >= dmax,
    )


def replace_components(parts, most):
    """Return the relation of datasets of tuples that differ in at most so many components of one tuple.

    ``parts`` are the relations of the components.

    Examples
    --------
    >>> from shufflelib.profiles.adjacency import replace_components, replace_one
    >>> print(replace_components((replace_one(),) * 3, most=1))
    replace at most 1 of the 3 components of one user's tuple, whatever the other users hold
    """
    whole, size = most == len(parts), len(parts)
    some = f"one user's tuple of {size} values"
    if not whole:
        some = f"at most {most} of the {size} components of one user's tuple"
    special = [f"component {j}: {part}" for j, part in enumerate(parts) if part != REPLACE_ONE]
    text = "; ".join([f"replace {some}, whatever the other users hold", *special])
    return Adjacency(text, any_value=whole and all(part.any_value for part in parts))


def of_rounds(relations):
    """Return the relation under which several rounds together are private."""
    kinds = [one for one in dict.fromkeys(relations) if one != NO_DATASETS]
    if len(kinds) < 2:
        return kinds[0] if kinds else NO_DATASETS
    return Adjacency(
        f"different in each round: {'; '.join(map(str, kinds))}", all(one.any_value for one in kinds)
    )


def united(*assumptions):
    """Return several tuples of assumptions as one, each sentence once."""
    return tuple(dict.fromkeys(one for part in assumptions for one in part))


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
    assumed = [COMPOSED, *(profile.assumptions for profile, _ in rounds)]
    known = [profile for profile, _ in rounds if profile.users is not None]
    written = [
        f"{profile!r}.compose(rounds={count})" if count > 1 else repr(profile) for profile, count in rounds
    ]
    return {
        "statement": f"{total} adaptive rounds{what}",
        "source": "composed as privacy loss distributions, connect-the-dots from both sides; "
        + "; ".join(dict.fromkeys(profile.source for profile, _ in rounds)),
        "adjacency": relation,
        "assumptions": () if relation == NO_DATASETS else united(*assumed),
        "users": min((profile.users for profile in known), default=None),
        "population": max((profile.population for profile in known), default=None),
        "written": written[0] if len(written) == 1 else f"compose([{', '.join(written)}])",
    }

r"""Dummies: what a user reports is hidden among messages that all users add, independently of their values.

The messages of all users are shuffled, so that the analyst sees how often each of d values was sent.  With
independent numbers of dummies N_j of one distribution and the others' messages revealed, a user who sends one
message of each of u values in one dataset, and of v further ones in the other, leaves the pair

.. math:: P = (N+1)^{\otimes u} \otimes N^{\otimes v}, \qquad Q = N^{\otimes u} \otimes (N+1)^{\otimes v} .

It dominates every dataset, because the others' messages are added to it, and all other users without messages
attain it.  A number k has the loss ℓ(k) = log P(N = k - 1) - log P(N = k) among the first, its negative among
the others; for Poisson dummies of mean μ, ℓ(k) = log(k/μ).

Why the bounds are proved: `profiles.integer_noise`.
"""

from functools import partial

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.profiles.adjacency import SHUFFLED, Adjacency, replace_one
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.hockey_stick import OneWay
from shufflelib.profiles.integer_noise import binomial, moved, negative_binomial, poisson
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.profiles.shown import Made

__all__ = ["binomial_dummies", "negative_binomial_dummies", "poisson_dummies"]

MOST_DUMMIES = 1e9  # mean number of each value, so that all numbers can be listed
FEWEST_DUMMIES = 1e-9
LARGEST_RATIO = 0.9999  # of a geometric tail, which is listed
RELATIONS = ("replace", "add", "remove")
ASSUMPTIONS = (
    SHUFFLED[0],
    "all dummies of the n users are sent, as prescribed, with private and independent randomness; users who "
    "send none, collude with the analyst or drop out do not count in n",
    "n is fixed and public, and participation does not depend on the values: neither who takes part or drops "
    "out nor who colludes",
    SHUFFLED[3],
)


def poisson_dummies(
    *, mean_per_user: float, d: int, inputs: int = 1, n: int, neighbours: str = "replace"
) -> Profile:
    r"""Return the certified profile of messages among Poisson dummies.

    .. math:: N_j \sim \mathrm{Poisson}(n\lambda), \qquad \ell(k) = \log\frac{k}{n\lambda}

    Parameters
    ----------
    mean_per_user : float
        Mean number λ > 0 of dummies that a user sends of *each* of the d values; a user who sends
        Poisson(m) dummies with values drawn uniformly has λ = m/d.  1e-9 ≤ nλ ≤ 10⁹.
    d : int
        Number of values, at least 1; at least 2 ``inputs`` for replacement.
    inputs : int, optional
        Number c ≥ 1 of different values that a user reports at most, each once.
    n : int
        Number of users whose dummies are sent, 1 ≤ n ≤ 10¹⁵: honest ones.
    neighbours : {"replace", "add", "remove"}
        Whether c values are replaced by c others, or c are added to nothing (δ of the dataset with them
        against the one without), or removed; the dummies are sent in either case.  For "add" and "remove" the
        number of messages must not be released otherwise.

    Returns
    -------
    Profile
        Both bounds are those of one pair, exact for every dataset.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; "replace" has no δ of its own where 2c > d.

    Notes
    -----
    *Missing dummies.*  Count as n only the users whose dummies arrive: a share of them that is offline or has
    other software lowers n, and nothing else.  More dummies are a post-processing of fewer, so any n that
    surely holds gives an upper bound.

    Up to 2¹⁹ outcomes the pair is written out, so that both bounds agree to six digits or more.  Beyond,
    independent numbers are composed like rounds, with a relative width of about 4e-3 in δ, 3e-4 in ε.
    Rényi divergences are infinite where a value is removed, because then its number may be 0.
    Cost: a list of 31 √(nλ) numbers.

    Source: the privacy loss of a Poisson mechanism on counts; exact, proved in `profiles.integer_noise`.

    Examples
    --------
    Two devices send 2.5 dummies of each value; one value is replaced:

    >>> from shufflelib import shuffling
    >>> bracket = shuffling.poisson_dummies(mean_per_user=2.5, d=10, n=2).delta(eps=0.5)
    >>> round(bracket.lower, 6), round(bracket.upper, 6)
    (0.104846, 0.104846)

    If every tenth device sends none, ε rises:

    >>> for n in (1000, 900):
    ...     profile = shuffling.poisson_dummies(mean_per_user=0.1, d=10, n=n)
    ...     print(round(profile.epsilon(delta=1e-6).upper, 3))
    0.596
    0.633
    """
    n = validation.users(n)
    mean = _parameter(mean_per_user, "mean_per_user", "the mean number that a user sends of each value")
    _expected("mean_per_user", mean * n)
    dummies = poisson(Interval.of(mean) * float(n))
    own = {"mean_per_user": mean}
    return _profile(dummies, "Poisson", "poisson_dummies", own, d, inputs, n, neighbours)


def binomial_dummies(
    *, chance: float, d: int, inputs: int = 1, n: int, neighbours: str = "replace"
) -> Profile:
    r"""Return the certified profile of messages among binomial dummies: each user sends one or none.

    .. math:: N_j \sim \mathrm{Bin}(n, p), \qquad \ell(k) = \log\frac{k\,(1-p)}{(n-k+1)\,p}

    Parameters
    ----------
    chance : float
        Probability p, 0 < p < 1, with which a user sends a dummy of a value, for each of the d values
        independently.
    d, inputs, n, neighbours
        As for `poisson_dummies`.

    Returns
    -------
    Profile
        Both bounds are those of one pair, exact for every dataset.

    Notes
    -----
    As for `poisson_dummies`; Rényi divergences are always infinite, because no dummy leads to n + 1
    messages.  Several possible dummies of a user and a value count as users of their own.

    Examples
    --------
    >>> from shufflelib import shuffling
    >>> bracket = shuffling.binomial_dummies(chance=0.5, d=4, n=1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 3), round(bracket.upper, 3)
    (0.353, 0.353)
    """
    n = validation.users(n)
    chance = _parameter(chance, "chance", "the probability of a dummy of one value", below=1.0)
    _expected("chance", n * chance)
    dummies = binomial(n, Interval.of(chance))
    own = {"chance": chance}
    return _profile(dummies, "binomial", "binomial_dummies", own, d, inputs, n, neighbours)


def negative_binomial_dummies(
    *, shape_per_user: float, chance: float, d: int, inputs: int = 1, n: int, neighbours: str = "replace"
) -> Profile:
    r"""Return the certified profile of messages among negative binomial dummies.

    .. math:: \Pr[N_j = k] \propto \frac{\Gamma(k + nr)}{k!}\, q^k, \qquad
              \ell(k) = \log\frac{k}{(k - 1 + nr)\, q}

    Parameters
    ----------
    shape_per_user : float
        Shape r > 0 of a user's dummies of each value; 1e-9 ≤ nr.
    chance : float
        q, 0 < q ≤ 0.9999: a user sends r q/(1 - q) dummies of each value on average.
    d, inputs, n, neighbours
        As for `poisson_dummies`.

    Returns
    -------
    Profile
        Both bounds are those of one pair, exact for every dataset.

    Notes
    -----
    As for `poisson_dummies`.  Losses of many messages are at most log(1/q) in size for nr ≥ 1.

    Examples
    --------
    >>> from shufflelib import shuffling
    >>> profile = shuffling.negative_binomial_dummies(shape_per_user=0.1, chance=0.5, d=4, n=10_000)
    >>> bracket = profile.epsilon(delta=1e-6)
    >>> round(bracket.lower, 3), round(bracket.upper, 3)
    (0.117, 0.117)
    """
    n = validation.users(n)
    shape = _parameter(shape_per_user, "shape_per_user", "the shape of the number of dummies of each value")
    what = "the ratio by which the probabilities of many dummies fall"
    chance = _parameter(chance, "chance", what, at_most=LARGEST_RATIO)
    _expected("shape_per_user", shape * n)
    dummies = negative_binomial(Interval.of(shape) * float(n), chance)
    _expected("chance", dummies.mean, 1.0 + dummies.deviation**2)
    own = {"shape_per_user": shape, "chance": chance}
    return _profile(dummies, "negative binomial", "negative_binomial_dummies", own, d, inputs, n, neighbours)


def _parameter(value, name, what, **domain):
    """Return a positive parameter of the number of dummies."""
    return validation.real(value, name, above=0.0, remedy=f"it is {what}", **domain)


def _expected(name, *sizes):
    """Refuse a mean or a variance of what cannot be listed."""
    for size in sizes:
        if not FEWEST_DUMMIES <= size <= MOST_DUMMIES:
            raise ValueError(
                f"{name} must leave a mean and a variance of 1e-9 to 10**9 dummies of each value, "
                f"got {size:g}; more dummies are no less private, so that fewer of them give an upper bound"
            )


def _profile(dummies, kind, function, own, d, inputs, n, neighbours):
    """Return the profile of ``inputs`` values moved among such dummies."""
    validation.one_of(neighbours, "neighbours", RELATIONS)
    inputs = validation.count(inputs, "inputs", at_most=10**9, remedy="it counts the values a user reports")
    least = 2 * inputs if neighbours == "replace" else inputs
    d = validation.count(d, "d", at_least=least, remedy="a user's values are different, replaced by others")
    up, down = (inputs * (neighbours != one) for one in ("remove", "add"))
    some = "1 value" if inputs == 1 else f"{inputs} values"
    relation = {
        "replace": replace_one(f"user's {some}"),
        "add": Adjacency(f"one user's {some} added, whatever the others hold; dummies are sent", False),
        "remove": Adjacency(f"one user's {some} removed, whatever the others hold; dummies are sent", False),
    }[neighbours]
    return Profile(
        bounds=partial(_bounds, dummies, up, down),
        statement=f"{some} of a user among {kind} dummies of mean {dummies.mean:g} for each of {d} values, "
        f"n = {n} users ({neighbours})",
        source="the user's messages among the dummies, the other users' messages revealed; "
        "attained where the others send none",
        adjacency=relation,
        assumptions=ASSUMPTIONS,
        users=n,
        population=n,
        written=Made(function, None, {**own, "d": d, "inputs": inputs, "n": n, "neighbours": neighbours}),
    )


def _bounds(dummies, up, down):
    """Return the product of ``up`` pairs and of ``down`` reversed ones; of one kind only in their order."""
    pair = moved(dummies.shifted(), up, down)
    if not (up and down):
        pair = OneWay(pair)
    return Bounds((pair,), (pair,))

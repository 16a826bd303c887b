r"""Dummies: what a user reports is hidden among messages that all users add, independently of their values.

The messages of all users are shuffled, so that the analyst sees how often each of d values was sent.  With
independent numbers of dummies N_j of one distribution and the others' messages revealed, a user who sends one
message of each of u values in one dataset, and of v further ones in the other, leaves the pair

.. math:: P = (N+1)^{\otimes u} \otimes N^{\otimes v}, \qquad Q = N^{\otimes u} \otimes (N+1)^{\otimes v} .

It dominates every dataset, because the others' messages are added to it, and all other users without messages
attain it.  A number k has the loss ℓ(k) = log P(N = k - 1) - log P(N = k) among the first, its negative among
the others; for Poisson dummies of mean μ, ℓ(k) = log(k/μ).

Why the bounds are proved.  ℓ is known in closed form, and so are all masses up to one factor: sums of losses
from the most likely number outward.  Of numbers left out at an end each is at most ρ < 1 times
as likely as the one before, so that together they are at most ρ/(1 - ρ) times the last one listed.  Listed
masses lie between their shares of what is listed and the same less what is left out.  In a pair, what is left
out is an atom between no mass and all of that, with an infinite loss, which δ cannot exceed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import LONG_UNIT, Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.adjacency import SHUFFLED, Adjacency, replace_one
from shufflelib.profiles.finite_products import times
from shufflelib.profiles.hockey_stick import OneWay, Pair
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.privacy_profile import Profile, product
from shufflelib.profiles.questions import Bounds
from shufflelib.profiles.shown import Made

__all__ = ["binomial_dummies", "negative_binomial_dummies", "poisson_dummies"]

LEFT_OUT = 120.0  # e-folds below the most likely number at which numbers are left out
MOST_DUMMIES = 1e9  # mean number of each value, so that all numbers can be listed
FEWEST_DUMMIES = 1e-9
LARGEST_RATIO = 0.9999  # of a geometric tail, which is listed
MOST_ATOMS = 2**19  # of a product that is written out
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

    Source: the privacy loss of a Poisson mechanism on counts; exact, see the proof in `shuffling.dummies`.

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
    dummies = Dummies(partial(_poisson_loss, Interval.of(mean) * float(n)), n * mean, math.sqrt(n * mean))
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
    odds = Interval.of(chance) / (1.0 - Interval.of(chance))
    dummies = Dummies(
        partial(_binomial_loss, n, odds), n * chance, math.sqrt(n * chance * (1.0 - chance)), largest=n
    )
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
    total = Interval.of(shape) * float(n)
    _expected("shape_per_user", shape * n)
    mean = shape * n * chance / (1.0 - chance)
    deviation = math.sqrt(mean / (1.0 - chance))
    _expected("chance", mean, 1.0 + deviation**2)
    dummies = Dummies(partial(_negative_binomial_loss, total, chance), mean, deviation, last_ratio=chance)
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


# ---------------------------------------------------------------- distributions of the number of dummies


def _poisson_loss(mean, k):
    return (Interval.of(k) / mean).log()


def _binomial_loss(trials, odds, k):
    return (Interval.of(k) / (trials - k + 1.0) / odds).log()


def _negative_binomial_loss(shape, ratio, k):
    return (Interval.of(k) / ((Interval.of(k - 1.0) + shape) * ratio)).log()


@dataclass(frozen=True)
class Dummies:
    """The distribution of a number of dummies.

    Parameters
    ----------
    loss : callable
        Takes an array of k ≥ 1 and encloses log P(N = k - 1) - log P(N = k), which has one sign change at
        most.
    mean, deviation : float
        Nearly; they say where to look.
    largest : float
        The largest number possible.
    last_ratio : float
        Supremum of P(N = k + 1)/P(N = k) as k grows; beyond any k it is that or what it is at k.
    """

    loss: Callable[[Any], Interval]
    mean: float
    deviation: float
    largest: float = math.inf
    last_ratio: float = 0.0

    def listed(self):
        """Return numbers, log masses, losses of k and k - 1 and bounds on log of what is left out."""
        width = 16.0 * self.deviation + 64.0
        while True:
            first = max(math.floor(self.mean - width), 0)
            last = min(math.ceil(self.mean + width), self.largest)
            k = np.arange(first, last + 1.0)
            loss = self.loss(k[1:])
            log_mass = _summed(loss)
            ends = log_mass.upper[[0, -1]] - log_mass.upper.max()
            if (first == 0 or ends[0] < -LEFT_OUT) and (last == self.largest or ends[1] < -LEFT_OUT):
                break
            width *= 2.0
        left_out = np.logaddexp(
            log_mass.upper[0] + self._beyond(first, down=True),
            log_mass.upper[-1] + self._beyond(last, down=False),
        )
        listed = log_mass.log_sum()
        log_mass = log_mass - listed
        if left_out > -math.inf:
            left_out += 64 * UNIT * (1.0 + abs(left_out)) - listed.lower
        share = math.exp(min(left_out, 0.0))  # what is left out is at most this share of what is listed
        return k, Interval(log_mass.lower - 2.0 * share, log_mass.upper), loss, left_out

    def _beyond(self, k, down):
        """Return an upper bound on the log of P(N < k) or P(N > k) over P(N = k)."""
        if (down and k == 0) or k == self.largest:
            return -math.inf
        step = self.loss(np.array([k if down else k + 1.0]))
        log_ratio = float(step.upper[0] if down else -step.lower[0])
        if not down and self.last_ratio > 0.0:
            log_ratio = max(log_ratio, math.log(self.last_ratio) + 4 * UNIT)
        if log_ratio >= -1e-12:
            return math.inf
        return log_ratio - math.log(-math.expm1(log_ratio)) + 1e-12 * (1.0 - log_ratio)

    def shifted(self):
        """Return the pair (N + 1, N) as a finite one; see the module for what is left out."""
        k, log_mass, loss, left_out = self.listed()
        log_p, log_q = log_mass.at(slice(None, -1)), log_mass.at(slice(1, None))
        # N + 1 beyond the last number, N at the first, and what is left out of either
        endless, none = k[-1] == self.largest, k[0] == 0.0
        top, bottom = log_mass.at(slice(-1, None)), log_mass.at(slice(0, 1))
        extra_p = Interval(top.lower if endless else np.full(1, -np.inf), _or(top.upper, left_out))
        extra_q = Interval(bottom.lower if none else np.full(1, -np.inf), _or(bottom.upper, left_out))
        extra_p, extra_q = (part.widened(8.0, 8 * UNIT) for part in (extra_p, extra_q))
        nothing, certain = Interval.of(np.full(1, -np.inf)), Interval.of(np.full(1, np.inf))
        return DiscretePair.from_losses(
            Interval.concatenate((nothing, log_p, extra_p)),
            Interval.concatenate((extra_q, log_q, nothing)),
            Interval.concatenate((-certain, loss, certain)),
        )


def _or(log_mass, more):
    return log_mass if more == -math.inf else np.logaddexp(log_mass, more)


def _summed(loss):
    """Enclose log P(N = k) up to a constant, summed from the most likely number outward.

    The two ends of every loss are summed in long doubles, each sum off by its size for each term.
    """
    signs = loss.middle <= 0.0  # masses rise to the most likely number
    mode = int(np.count_nonzero(signs))
    ends = [np.empty(loss.lower.size + 1) for _ in range(2)]
    for end, rising, falling in zip(ends, loss, loss[::-1], strict=True):
        before = np.cumsum(rising[:mode][::-1], dtype=np.longdouble)[::-1]
        after = -np.cumsum(falling[mode:], dtype=np.longdouble)
        end[:] = np.concatenate((before, [0.0], after)).astype(float)
    size = np.maximum(np.abs(ends[0]), np.abs(ends[1])) + 1.0
    return Interval(*ends).widened(absolute=size * (2.0 * UNIT + loss.lower.size * LONG_UNIT))


# ---------------------------------------------------------------- several values at once


def _bounds(dummies, up, down):
    """Return the product of ``up`` pairs and of ``down`` reversed ones; of one kind only in their order."""
    one = dummies.shifted()
    pair = _written_out(one, up, down) or product(
        [(part, k) for part, k in ((one, up), (one.reversed, down)) if k]
    )
    if not (up and down):
        pair = OneWay(pair)
    return Bounds((pair,), (pair,))


def _written_out(one, up, down) -> Pair | None:
    """Return the product as a finite pair, or None if it has too many atoms."""
    found = one if up else one.reversed
    for factor in [one] * (up - bool(up)) + [one.reversed] * (down - (not up)):
        if found.size * factor.size > MOST_ATOMS:
            return None
        found = times(found, factor)
    return found

r"""The profile of n shuffled reports: upper bounds from the privacy blanket, lower bounds from attacks."""

import functools
import itertools

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.profiles import adjacency
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import attacks, blankets
from shufflelib.profiles.privacy_profile import PrivacyProfile
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.response import binary_rr
from shufflelib.shuffling.binary_rr_exact import WorstPopulation
from shufflelib.shuffling.renyi_tails import BesideTails
from shufflelib.shuffling.worst_of_pairs import WorstPair

FEW = 24  # pairs that are not worth gathering


def shuffle(randomizer: LocalRandomizer, n: int) -> PrivacyProfile:
    """Return the certified privacy profile of n shuffled reports.

    Parameters
    ----------
    randomizer : LocalRandomizer
        The mechanism that every user applies to their value, independently.
    n : int
        Number of users, including the one whose value changes, 1 ≤ n ≤ 10¹⁵.

    Returns
    -------
    PrivacyProfile
        ``upper`` bounds come from the privacy blanket, maximised over pairs of inputs and both
        directions, and hold for all neighbouring datasets; ``lower`` bounds from the best of some attacks in
        which all other users hold one value x*, which is a possible dataset, so no valid bound is smaller.
        Binary randomized response, under whatever name, has the exact worst dataset on both sides, see
        `BinaryProfile`.

    Notes
    -----
    Neighbouring datasets differ in one user's value; ``profile.adjacency``, which the randomizer determines,
    says how.  ``profile.hypotheses`` says whom to trust: a shuffler, n honest users who
    do not collude, participation that does not depend on the values.  Cost O(1) in n.
    Source: Balle, Bell, Gascón, Nissim (CRYPTO 2019), Lemma 5.3; Su, Cheng, Wang (arXiv:2504.07414).

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> bracket = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 4), round(bracket.upper, 4)
    (0.0801, 0.0802)
    """
    remedy = "build one with shufflelib.randomizers; protocols of several messages go to shuffle_messages"
    validation.instance(randomizer, "randomizer", LocalRandomizer, remedy=remedy)
    n = validation.users(n)
    return (ShuffledProfile if randomizer.binary_budgets is None else BinaryProfile)(randomizer, n)


class ShuffledProfile(PrivacyProfile):
    """Profile of a shuffled local randomizer; made by `shuffle`.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> profile = shuffle(randomizers.generic(eps0=1.0), n=10_000)
    >>> bracket = profile.delta(eps=0.03)
    >>> f"{bracket.lower:.0e}", f"{bracket.upper:.0e}"
    ('1e-05', '4e-05')
    """

    source = (
        "guarantee: privacy blanket, for all neighbouring datasets; "
        "attack: the best of those tried in which all other users hold one value"
    )

    def __init__(self, randomizer: LocalRandomizer, n: int) -> None:
        self.randomizer, self.n = randomizer, n
        self.users = self.population = n
        self.statement = f"n = {n} shuffled reports of {randomizer}"
        self.adjacency = randomizer.adjacency
        self.hypotheses = (*adjacency.SHUFFLED, *randomizer.hypotheses)
        if self.adjacency != adjacency.REPLACE_ONE:
            self.statement += f" (neighbours: {self.adjacency})"

    def __repr__(self):
        return f"shuffle({self.randomizer!r}, n={self.n})"

    @functools.cached_property
    def input_pairs(self):
        """What the shuffler sees of each candidate pair of inputs."""
        return self.randomizer.input_pairs()

    @functools.cached_property
    def dominating_pairs(self):
        """The pair under the privacy blanket, for each candidate pair of inputs."""
        pairs = self._blanket_pairs(blankets)
        return pairs if len(pairs) <= FEW else (WorstPair(pairs),)

    @functools.cached_property
    def attack_pairs(self):
        """The pair under the full density of R(x*), for each candidate pair of inputs and each x*."""
        return self._blanket_pairs(attacks)

    def _blanket_pairs(self, ratios_of):
        ratios = ratios_of(self.input_pairs, self.randomizer.eps0)
        return tuple(map(BlanketPair, ratios, itertools.repeat(self.n)))

    @property
    def pure_epsilon(self):
        """The local budget, or less where a larger crowd proves less even at δ = 0."""
        return min(super().pure_epsilon, self.randomizer.eps0)

    def renyi_ceiling(self, order):
        """Return what the pure guarantee implies, or the divergence of one report."""
        return min(super().renyi_ceiling(order), self.randomizer.local_renyi(order))

    def _renyi(self, order):
        lower, upper = super()._renyi(order)
        upper = min(upper, self.randomizer.local_renyi(order))
        if self._beside_tails:
            upper = min(upper, max(pair.renyi(order) for pair in self._beside_tails))
        return min(lower, upper), upper

    @functools.cached_property
    def _beside_tails(self):
        """The pairs of inputs with the tails of their reports set apart, none if some have no such tails."""
        if any(inputs.tails is None for inputs in self.input_pairs):
            return ()
        return tuple(BesideTails(inputs, self.n) for inputs in self.input_pairs)


class BinaryProfile(ShuffledProfile):
    """Profile of shuffled binary randomized response: all datasets are searched, so δ and ε are known.

    So are those of every mechanism with two outputs whose extreme inputs mirror each other, such as a number
    in [-1, 1] rounded to a random bit: each of its inputs is a mixture of the two.  The distribution of the
    shuffled reports is linear in each user's, and the hockey-stick divergence is jointly convex, so it is
    largest where all users hold extreme inputs.  In other words, the mechanism is binary randomized response
    on random bits, and for any bits the bound holds.

    Numbers that depend on the whole curve (Rényi divergences, trade-off functions, rounds) have an upper
    bound from the worst population at every ε, which no single dataset need attain, and a lower bound from
    the dataset of equal values.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> bracket = shuffle(randomizers.binary_rr(eps0=1.0), n=1000).delta(eps=0.1)
    >>> f"{bracket.lower:.4e}", f"{bracket.upper:.2e}"
    ('1.7097e-05', '1.71e-05')
    """

    source = "guarantee: every number of ones among the other users, searched; attack: the worst of them"

    @functools.cached_property
    def input_pairs(self):
        """The two extreme inputs."""
        return binary_rr(eps0=self.randomizer.binary_budgets[0]).input_pairs()

    @functools.cached_property
    def dominating_pairs(self):
        """The worst population at every ε."""
        return (WorstPopulation(self.randomizer.binary_budgets[1], self.n),)

    @functools.cached_property
    def _below(self):
        """The worst population of the smaller budget."""
        smaller, larger = self.randomizer.binary_budgets
        return self.dominating_pairs[0] if smaller == larger else WorstPopulation(smaller, self.n)

    def _both(self, question, argument):
        """Return the lower bound of the smaller budget and the upper bound of the larger one."""
        (above,), below = self.dominating_pairs, self._below
        ends = getattr(above, question)(argument)
        return ends if below is above else Interval(getattr(below, question)(argument)[0], ends[1])

    def _log_delta(self, eps):
        return self._both("_log_delta", eps)

    def _epsilon(self, delta):
        return self._both("_epsilon", delta)

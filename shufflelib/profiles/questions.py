r"""The four questions that a privacy profile answers: δ(ε), ε(δ), Rényi divergence and trade-off function.

Two kinds of objects answer them: a `Pair` of distributions on its own, and the `Profile` of a mechanism.
A mechanism is described from both sides: by pairs of distributions that dominate it (their numbers are upper
bounds) and by pairs that it produces (attacks, whose numbers are lower bounds).  A number of the mechanism is
the worst one over its pairs, in both directions.  It is never worse than what the pure guarantee implies:
any pair with :math:`e^{-\varepsilon_0} \le P/Q \le e^{\varepsilon_0}` is a post-processing of binary
randomized response (Kairouz, Oh, Viswanath, ICML 2015).

Source: for shuffling Koskela, Heikkilä, Honkela (TMLR 2023), Wang (PVLDB 2024; arXiv:2304.05007), Lemma 7.2
and Theorem 7.3.
"""

import dataclasses
import functools
import math
from abc import ABC
from collections.abc import Callable
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.certified import (
    TOLERANCE,
    WIDE,
    Certified,
    Interval,
    Status,
)
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.optional import counting
from shufflelib.numerics.side_by_side import answers
from shufflelib.numerics.types import Array
from shufflelib.profiles import connect_the_dots
from shufflelib.profiles.adjacency import NO_DATASETS, Adjacency
from shufflelib.profiles.bounds import Bounds, fewest_missed, largest_renyi
from shufflelib.profiles.cautions import about_epsilon, warning
from shufflelib.profiles.shown import Made, Shown
from shufflelib.profiles.why_wide import THEORY, cause, cause_of_numbers
from shufflelib.profiles.worst_epsilon import COARSE, asking_epsilon

ALONE = 0.2  # share of a Rényi divergence of one report from which on that decides
RESOLUTION = 1e-60  # no smaller δ is asked for in rounds


def epsilons(profiles, deltas):
    """Return ε of each of several profiles at a δ of its own, computed side by side."""
    asked = [one._asking_epsilon(delta) for one, delta in zip(profiles, deltas, strict=True)]
    found = answers(asked)
    return [
        one._epsilon_at(validation.probabilities(delta, "delta"), ends)
        for one, delta, ends in zip(profiles, deltas, found, strict=True)
    ]


def in_both_directions(pairs):
    """Return the pairs and their reverses; a symmetric one stands for both.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> from shufflelib.profiles.questions import in_both_directions
    >>> in_both_directions([Gaussian(1.0)])
    [Gaussian(mu=1)]
    """
    return [one for pair in pairs for one in ((pair,) if pair.symmetric else (pair, pair.reversed))]


def added(counted):
    """Return both bounds of a sum from counts and the ends of one term each."""
    return sum((Interval(*ends) * count for count, ends in counted), start=Interval.of(0.0))


@functools.singledispatch
def sampled(profile, rate):
    """Return a profile on a random subset of the users: registered for each kind of profile."""


@functools.singledispatch
def repeated(profile, count):
    """Return a profile over so many adaptive rounds: registered where rounds are composed."""


@functools.singledispatch
def grouped(profile, size):
    """Return a profile for neighbours that differ in several users: registered where groups are chained."""


class PrivacyProfile(Shown, ABC):
    """The privacy profile of a mechanism or a pair: δ, ε, Rényi, trade-off function, rounds, subsampling.

    All of them are enclosed by pairs: those that dominate the worst case, and attacks that attain it at best.

    Attributes
    ----------
    adjacency : Adjacency
        Which datasets are neighbours: the relation of `shufflelib.profiles.adjacency` that all numbers are
        for.
    assumptions : tuple of str
        What else all numbers assume: whom to trust, and what must not depend on the values.

    Notes
    -----
    Nothing costs more for more users.  δ takes milliseconds for a pair with few kinds of losses, up to a
    second for one with hundreds of them or for many personal budgets; ε takes 8 to 30 values of δ.
    A Rényi divergence or a trade-off function needs hundreds of values unless the pair has few kinds of
    losses: half a second to three for a randomizer on the line, more for a few users with Gaussian noise.

    Examples
    --------
    Four questions that every profile answers:

    >>> from shufflelib.profiles import Gaussian
    >>> profile = Gaussian(mu=0.5)
    >>> round(profile.delta(eps=1.0).upper, 5), round(profile.epsilon(delta=1e-6).upper, 4)
    (0.00683, 2.2541)
    >>> round(profile.renyi(order=1.5).upper, 2), round(profile.tradeoff(fpr=0.05).lower, 2)
    (0.19, 0.87)
    """

    statement = "privacy profile"
    source = ""
    written: Made | str = ""  # the expression that makes it, where that is short
    adjacency: Adjacency = NO_DATASETS
    assumptions: tuple[str, ...] = ()
    users: float | None = None  # how many report in a round, where that is known
    population: float | None = None  # how many they are drawn from
    # of which it is composed: profiles, and how often each occurs
    rounds: tuple[tuple["PrivacyProfile", int], ...] = ()

    bounds: Callable[[], Bounds]

    @property
    def in_rounds(self) -> "PrivacyProfile":
        """The profile that rounds are made of."""
        return self

    @cached_property
    def _bounds(self):
        return self.bounds()

    @property
    def dominating_pairs(self):
        """Pairs whose worst number is at least the true one, a tuple of `Pair`."""
        return self._bounds.above

    @property
    def attack_pairs(self):
        """Pairs whose worst number is at most the true one, a tuple of `Pair`."""
        return self._bounds.below

    @property
    def attained_pairs(self):
        """Pairs whose worst δ, at any one ε, is at most the true one: by default those of the attacks."""
        return self._bounds.attained or self._bounds.below

    @cached_property
    def pure_epsilon(self):
        """The smallest ε known to hold with δ = 0, infinite where there is none; that of rounds is a sum."""
        if self.rounds:
            known = math.fsum(count * one.pure_epsilon for one, count in self.rounds)
        else:
            known = max(one.max_privacy_loss for one in self._directions[0])
        return min(known, self._bounds.pure_epsilon)

    def _certified(self, what, argument, grid, ends, why_wide, *, floor=0.0, ceiling=math.inf):
        """Return a bracket that says for which datasets it holds, and whether a bound is trivial."""
        lower, upper = np.minimum(*ends), ends[1]
        what += f" at {argument} = {grid:.8g}" if grid.ndim == 0 else ""
        source = self.source
        if self.adjacency != NO_DATASETS:
            source += f"; neighbours: {self.adjacency.text}"
        status = Status.of(lower, upper, floor=floor, ceiling=ceiling)
        found = Certified(lower, upper, status, source, f"{what} of {self.statement}", self.assumptions)
        width = np.ravel(np.where(np.isinf(found.width), 0.0, found.width))
        widest = int(np.argmax(width))
        if width[widest] <= WIDE:
            return found
        if any(one.from_above for one in self.dominating_pairs):
            return dataclasses.replace(found, cause=THEORY)
        middle = math.sqrt(np.ravel(found.lower)[widest] * np.ravel(found.upper)[widest])
        return dataclasses.replace(found, cause=why_wide(float(grid.ravel()[widest]), middle))

    def _why_wide(self, eps):
        """Say whether the theory or the numerics keeps the two bounds on δ at ε apart."""
        for tolerance in (COARSE, TOLERANCE):  # what rough values show to be theory, finer ones do too
            sides = [[one.log_hockey_stick(eps, tolerance) for one in side] for side in self._directions]
            found = cause(*(Interval(*map(max, zip(*side, strict=True))) for side in sides))
            if found == THEORY:
                break
        return found

    @overload
    def delta(self, eps: float) -> Certified[float]: ...

    @overload
    def delta(self, eps: ArrayLike) -> Certified[Array]: ...

    @validation.names_checked
    def delta(self, eps):
        r"""Enclose :math:`\delta(\varepsilon) = \max\{H_\varepsilon(P\|Q), H_\varepsilon(Q\|P)\}`.

        Parameters
        ----------
        eps : float or array_like
            Central budget in nats, finite and non-negative.

        Returns
        -------
        Certified
            Floats for a scalar, arrays of the argument's shape otherwise; ``upper`` is the safe bound.
        """
        grid = validation.reals(
            eps, "eps", at_least=0.0, remedy="for delta at a negative eps exchange the roles of P and Q"
        )
        *found, sides = self._delta(grid.ravel())
        *ends, ceiling = (part.reshape(grid.shape) for part in found)

        def why_wide(x, _):
            widest = np.argmax(grid.ravel() == x)
            return cause(*(Interval(*(end[widest] for end in side)) for side in sides))

        return self._certified("delta", "eps", grid, ends, why_wide, ceiling=ceiling)

    def _delta(self, eps, tolerance=TOLERANCE):
        """Return both bounds on δ at every ε, what pure privacy allows there, and log H from both sides."""
        sides = self._directions  # once: another thread may be about to keep equal ones
        curves, found = {id(one): one for side in sides for one in side}, {}  # one may be on both
        for kind in dict.fromkeys(map(type, curves.values())):
            some = {key: one for key, one in curves.items() if type(one) is kind}
            found |= zip(some, kind.log_curves([(one, eps) for one in some.values()], tolerance), strict=True)
        above, below = (
            functools.reduce(Interval.largest, (found[id(one)] for one in side)) for side in sides
        )
        lower, upper = Interval(np.minimum(below.lower, above.upper), above.upper).probabilities()
        ceiling = pure_delta(self.pure_epsilon, eps)
        return lower, np.minimum(upper, ceiling * (1.0 + 16 * UNIT)), ceiling, (above, below)

    @cached_property
    def _directions(self):
        """Pairs above and below δ, each in both directions unless it is symmetric."""
        sides = self.dominating_pairs, self.attained_pairs
        both = {id(pair): in_both_directions([pair]) for pair in (*sides[0], *sides[1])}
        return [[one for pair in side for one in both[id(pair)]] for side in sides]

    @overload
    def epsilon(self, delta: float) -> Certified[float]: ...

    @overload
    def epsilon(self, delta: ArrayLike) -> Certified[Array]: ...

    @validation.names_checked
    def epsilon(self, delta):
        r"""Enclose the smallest ε ≥ 0 with :math:`\delta(\varepsilon) \le` ``delta``.

        Parameters
        ----------
        delta : float or array_like
            Central δ, strictly between 0 and 1.

        Returns
        -------
        Certified
            ``upper`` is a proved guarantee: :math:`\delta(\text{upper}) \le` ``delta``.  Infinite,
            with a status that says so, where no finite ε is proved.  Where the number of users is known, its
            ``warning`` says so if ``delta`` is not below one over it.  Rounds do not resolve a δ below 1e-60.
        """
        grid = validation.probabilities(delta, "delta")
        return self._epsilon_at(grid, self._epsilon(grid.ravel()))

    def _epsilon_at(self, grid, found):
        """Say what is certified of ε at every δ, given both bounds on each."""
        lower, upper = (end.reshape(grid.shape) for end in np.reshape(found, (-1, 2)).T)
        ceiling = self.pure_epsilon
        ends = lower, np.minimum(upper, ceiling)
        found = self._certified(
            "epsilon", "delta", grid, ends, lambda _, x: self._why_wide(x), ceiling=ceiling
        )
        if self.rounds and (grid < RESOLUTION).any():
            found = dataclasses.replace(found, status=Status.BELOW_RESOLUTION)
        if self.users is None or not grid.size:
            return found
        about = about_epsilon(np.min(found.upper), np.max(grid), self.users, self.users / self.population)
        return dataclasses.replace(found, warning=warning(about))

    @counting("points of curves")
    def _epsilon(self, delta):
        return answers([self._asking_epsilon(one) for one in delta.tolist()])

    def _asking_epsilon(self, delta):
        if self.rounds and delta < RESOLUTION:
            return 0.0, self.pure_epsilon
        return (yield from asking_epsilon(self.dominating_pairs, self.attained_pairs, math.log(delta)))

    @overload
    def renyi(self, order: float) -> Certified[float]: ...

    @overload
    def renyi(self, order: ArrayLike) -> Certified[Array]: ...

    @validation.names_checked
    def renyi(self, order):
        r"""Enclose the Rényi divergence :math:`\max\{D_\lambda(P\|Q), D_\lambda(Q\|P)\}`.

        .. math:: e^{(\lambda-1) D_\lambda(P\|Q)} = 1 + \lambda(\lambda-1) \int_0^\infty
                  e^{(\lambda-1)\varepsilon} H_\varepsilon(P\|Q)
                  + e^{-\lambda\varepsilon} H_\varepsilon(Q\|P) \,d\varepsilon

        Parameters
        ----------
        order : float or array_like
            Order λ, 1 < λ ≤ 1e300.

        Returns
        -------
        Certified
            ``upper`` is the safe bound.
        """
        grid = validation.renyi_orders(order, at_most=1e300)
        ceiling = np.array([self.renyi_ceiling(float(x)) for x in grid.ravel()]).reshape(grid.shape)

        above, below = self._renyi_sides(grid)

        def why_wide(order, _):
            return cause_of_numbers(*(np.array(side)[:, grid == order][:, 0] for side in (above, below)))

        return self._certified(
            "Renyi divergence", "order", grid, (below[0], above[1]), why_wide, ceiling=ceiling
        )

    def renyi_ceiling(self, order):
        """Return an upper bound that needs no curve: what pure privacy implies, or the sum over rounds."""
        if self.rounds:
            return added((count, (one.renyi_ceiling(order),) * 2) for one, count in self.rounds).upper
        return float(pure_renyi(self.pure_epsilon, order))

    def _renyi_sides(self, order):
        """Return both bounds of what bounds divergences from above, and of what bounds them from below."""
        below = largest_renyi(self.attack_pairs, order)
        return self._dominating_renyi(order, below[0]), below

    def _dominating_renyi(self, order, least):
        """Return both bounds of the dominating pairs' largest, which is at least so much.

        Moments bound the tails of unbounded losses, at orders at which one report does not decide.  Where
        they do not close them well, and where one does, tails are set apart if that is possible.
        """
        ceilings = np.vectorize(self.renyi_ceiling, otypes=[float])(order)
        apart = self._bounds.renyi
        found = np.stack([least, ceilings])
        asked = (least < ALONE * ceilings) if apart else np.ones(order.shape, bool)
        if asked.any():
            more = least[asked], self.renyi_ceiling
            found[:, asked] = largest_renyi(self.dominating_pairs, order[asked], *more)
        if apart:
            wide = np.isinf(ceilings) | (found[1] > found[0] * (1.0 + 2.0 * connect_the_dots.WIDEST))
            if wide.any():
                found[:, wide] = np.minimum(found[:, wide], apart(order[wide]))
        return np.minimum(found, ceilings)

    @overload
    def tradeoff(self, fpr: float) -> Certified[float]: ...

    @overload
    def tradeoff(self, fpr: ArrayLike) -> Certified[Array]: ...

    @validation.names_checked
    def tradeoff(self, fpr):
        r"""Enclose the smallest false-negative rate of a test with false-positive rate ``fpr``.

        .. math:: f(\alpha) = \sup_\varepsilon \max\{0,\; 1 - \delta(\varepsilon) - e^{\varepsilon}\alpha,\;
                  e^{-\varepsilon}(1 - \delta(\varepsilon) - \alpha)\}

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate α in [0, 1].

        Returns
        -------
        Certified
            ``lower`` is the safe bound.  For a mechanism the worst order of the two neighbours is
            taken; for an ordered pair the null hypothesis is P and the alternative Q.
        """
        grid = validation.false_positive_rates(fpr)
        ends, floor = self._false_negative_rates(grid), pure_false_negatives(self.pure_epsilon, grid)

        def why_wide(fpr, _):
            pairs = self.attack_pairs, self.dominating_pairs
            return cause_of_numbers(*(fewest_missed(one, fpr) for one in pairs))

        return self._certified(
            "false-negative rate", "fpr", grid, ends, why_wide, floor=floor, ceiling=1.0 - grid
        )

    def _false_negative_rates(self, fpr):
        """Enclose the trade-off function, which is known at its ends without a curve."""
        ends = np.stack([1.0 - fpr, 1.0 - fpr])
        inside = (fpr < 1.0) & ((fpr > 0.0) | math.isinf(self.pure_epsilon))
        if inside.any():
            ends[:, inside] = self._tradeoff(fpr[inside])
        return ends

    def _tradeoff(self, fpr):
        above, below = self.dominating_pairs, self.attack_pairs
        return fewest_missed(above, fpr)[0], fewest_missed(below, fpr)[1]

    @validation.names_checked
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
            For a mechanism a `Profile`, for a pair on its own a pair.

        Notes
        -----
        Assumptions: the subset has a fixed size, is drawn uniformly without replacement and is not
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
        return sampled(self, rate)

    @validation.names_checked
    def group(self, size: int) -> "PrivacyProfile":
        r"""Return the profile for neighbouring datasets that differ in up to g users.

        .. math:: \delta_g(\varepsilon) \le \min_{\varepsilon_1 + \dots + \varepsilon_g = \varepsilon}
                  \sum_{i=1}^g e^{\varepsilon_1 + \dots + \varepsilon_{i-1}}\, \delta(\varepsilon_i)
                  \le \frac{e^{\varepsilon} - 1}{e^{\varepsilon/g} - 1}\, \delta(\varepsilon/g)

        Parameters
        ----------
        size : int
            Number g of users who change together, such as a family, or the reports of one person who sends g;
            1 ≤ g ≤ 10⁹.  1 returns the profile itself.

        Returns
        -------
        PrivacyProfile
            ``upper`` bounds hold for all such datasets; ``lower`` bounds are those of a single user, who is a
            group as well, so brackets are about g times as wide as long.

        Raises
        ------
        TypeError, ValueError
            If ``size`` is not a whole number in that range or exceeds the number of users, or if this is a
            pair of distributions without datasets.

        Notes
        -----
        Datasets that differ in g users are the ends of a chain; see `shufflelib.profiles.groups`, which has
        the proof.  A group is no composition: of n Gaussian sums it is g times as far away, where g rounds
        are √g times.  Compose and sample first, ``profile.compose(rounds).group(size)``; a sample that may
        hold any part of the group is refused.
        Source: Dong, Roth, Su (J. R. Stat. Soc. B 84, 2022), Theorem 2.14.

        Examples
        --------
        >>> from shufflelib import randomizers, shuffle
        >>> one = shuffle(randomizers.binary_rr(eps0=1.0), n=10_000)
        >>> [round(one.group(size).epsilon(1e-6).upper, 3) for size in (1, 2, 4)]
        [0.036, 0.075, 0.158]
        """
        remedy = "it counts the users who change together"
        size = validation.count(size, "size", at_most=validation.MAX_ROUNDS, remedy=remedy)
        if self.adjacency == NO_DATASETS:
            raise ValueError(
                f"profile must be of a mechanism with neighbouring datasets, got {self!r}; "
                "a pair of distributions has no users"
            )
        if self.population is not None and size > self.population:
            raise ValueError(f"size must be at most the {self.population:g} users there are, got {size}")
        return self if size == 1 else grouped(self, size)

    @validation.names_checked
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
        return repeated(self, validation.rounds(rounds))


def pure_delta(eps0, eps):
    r"""Return :math:`(e^{\varepsilon_0} - e^{\varepsilon})_+ / (e^{\varepsilon_0} + 1)`; 1 for infinite eps0.

    Examples
    --------
    >>> from shufflelib.profiles.questions import pure_delta
    >>> float(pure_delta(0.0, 1.0)), float(pure_delta(float("inf"), 3.0))
    (0.0, 1.0)
    """
    if math.isinf(eps0):
        return np.ones(np.shape(eps))
    fall = np.expm1(np.minimum(np.asarray(eps, float) - eps0, 0.0))
    return np.abs(fall) / (1.0 + math.exp(-eps0))


def pure_renyi(eps0, order):
    r"""Return the Rényi divergence of binary randomized response, infinite for infinite eps0.

    .. math:: \frac1{\lambda-1}\log\frac{e^{\lambda\varepsilon_0} + e^{(1-\lambda)\varepsilon_0}}
              {e^{\varepsilon_0} + 1}

    Examples
    --------
    >>> from shufflelib.profiles.questions import pure_renyi
    >>> round(float(pure_renyi(1.0, 2.0)), 4)
    0.7353
    """
    order = np.asarray(order, float)
    if math.isinf(eps0):
        return np.full(order.shape, math.inf)
    moment = np.logaddexp(order * eps0, (1.0 - order) * eps0) - np.logaddexp(eps0, 0.0)
    return np.clip(moment / (order - 1.0), 0.0, eps0)


def pure_false_negatives(eps0, fpr):
    r"""Return :math:`\max\{0,\; 1 - e^{\varepsilon_0}\alpha,\; e^{-\varepsilon_0}(1-\alpha)\}`.

    Examples
    --------
    >>> from shufflelib.profiles.questions import pure_false_negatives
    >>> float(pure_false_negatives(float("inf"), 0.5)), float(pure_false_negatives(0.0, 0.25))
    (0.0, 0.75)
    """
    fpr = np.asarray(fpr, float)
    if math.isinf(eps0):
        return np.zeros(fpr.shape)
    with np.errstate(over="ignore"):
        steep = np.where(fpr > 0.0, 1.0 - np.exp(np.minimum(eps0, 709.0)) * fpr, 1.0)
    return np.maximum.reduce([np.zeros(fpr.shape), steep, math.exp(-eps0) * (1.0 - fpr)])

r"""The privacy profile: what an ordered pair of output laws, or the worst of several, gives away.

For an ordered pair (P, Q) the profile is the hockey-stick divergence in both directions,

.. math:: H_\varepsilon(P\|Q) = \sup_A\, P(A) - e^{\varepsilon} Q(A), \qquad \varepsilon \ge 0.

ε at δ, Rényi divergences and trade-off functions follow from it alone.  A mechanism is described
from both sides: by pairs that dominate it (their numbers are upper ends) and by pairs that it
produces (lower ends).  A pair taken for itself stands on both sides.
"""

import functools
import math
from abc import ABC, abstractmethod

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Status
from shufflelib.numerics.log_interval import TOLERANCE, LogBracket
from shufflelib.numerics.root_finding import worst_root
from shufflelib.profiles import connect_the_dots, pure_dp
from shufflelib.profiles.adjacency import NO_DATASETS


class PrivacyProfile(ABC):
    """δ(ε) with a certified bracket, and everything that follows from it.

    Subclasses say which pairs lie above the worst case and which below.

    Attributes
    ----------
    adjacency : ReplaceOne
        Which datasets are neighbours: the relation of `shufflelib.profiles.adjacency` that all numbers are
        for.
    hypotheses : tuple of str
        What else all numbers assume: whom to trust, and what must not depend on the values.

    Notes
    -----
    Nothing costs more for more users.  δ takes milliseconds for a pair with few kinds of losses, up to a
    second for one with hundreds of them or for many personal budgets; ε takes 8 to 30 values of δ.
    A Rényi divergence or a trade-off function is read off hundreds of values unless the pair has few kinds of
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
    adjacency = NO_DATASETS
    hypotheses = ()

    @property
    @abstractmethod
    def above(self):
        """Pairs whose worst number is at least the true one, a tuple of `Pair`."""

    @property
    @abstractmethod
    def below(self):
        """Pairs whose worst number is at most the true one, a tuple of `Pair`."""

    @property
    def pure_epsilon(self):
        """The smallest ε known to hold with δ = 0, infinite where there is none."""
        return max(one.largest_loss for pair in self.above for one in (pair, pair.reversed))

    @functools.cached_property
    def envelope(self):
        """One symmetric pair that stands above the profile, whichever pair and direction is met."""
        from shufflelib.profiles.envelope import Envelope

        return Envelope.of(self.above)

    def _certified(self, lower, upper, what, *, floor=0.0, ceiling=math.inf):
        """Return a bracket that says for which datasets it holds, and whether an end is trivial."""
        source = self.source
        if self.adjacency != NO_DATASETS:
            source += f"; neighbours: {self.adjacency}"
        status = Status.of(lower, upper, floor=floor, ceiling=ceiling)
        return Certified(lower, upper, status, source, f"{what} of {self.statement}")

    def delta(self, eps):
        r"""Enclose :math:`\delta(\varepsilon) = \max\{H_\varepsilon(P\|Q), H_\varepsilon(Q\|P)\}`.

        Parameters
        ----------
        eps : float or array_like
            Central budget in nats, finite and non-negative.

        Returns
        -------
        Certified
            Floats for a scalar, arrays of the argument's shape otherwise; ``upper`` is the safe end.

        Raises
        ------
        TypeError, ValueError
            If ``eps`` is not a finite, non-negative number or a non-empty array of them.
        """
        grid = validation.reals(
            eps, "eps", at_least=0.0, remedy="for delta at a negative eps exchange the roles of P and Q"
        )
        ends = np.array([self._log_delta(float(x)).probabilities() for x in grid.ravel()])
        lower, upper = np.moveaxis(ends.reshape((*grid.shape, 2)), -1, 0)
        ceiling = pure_dp.delta(self.pure_epsilon, grid)
        return self._certified(np.minimum(lower, upper), upper, "delta", ceiling=ceiling)

    def _log_delta(self, eps, tolerance=TOLERANCE):
        worst = {id(pair): pair.log_worst(eps, tolerance) for pair in self._pairs}
        upper = min(max(worst[id(pair)].upper for pair in self.above), 0.0)
        return LogBracket(min(max(worst[id(pair)].lower for pair in self.below), upper), upper)

    @property
    def _pairs(self):
        """All pairs, each once."""
        return {id(pair): pair for pair in (*self.above, *self.below)}.values()

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
            with a status that says so, where no finite ε is proved.

        Raises
        ------
        TypeError, ValueError
            If ``delta`` is not a number in (0, 1) or a non-empty array of them.
        """
        grid = validation.probabilities(delta, "delta")
        ends = np.array([self._epsilon(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        return self._certified(ends[..., 0], ends[..., 1], "epsilon", ceiling=self.pure_epsilon)

    def _epsilon(self, delta):
        target = math.log(delta)
        upper = worst_root(self.above, target, safe_above=True)
        if isinstance(self, Pair):
            lower = worst_root(self.below, target, safe_above=False, guess=upper)
        else:
            lower = worst_root(self.below, target, safe_above=False)
        return min(lower, upper), upper

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
            ``upper`` is the safe end.

        Raises
        ------
        TypeError, ValueError
            If ``order`` is not a finite number above 1 or a non-empty array of them.
        """
        grid = validation.reals(
            order,
            "order",
            above=1.0,
            at_most=1e300,
            remedy="the limit at 1 is the Kullback-Leibler divergence",
        )
        ends = np.array([self._renyi(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        ceiling = pure_dp.renyi(self.pure_epsilon, grid)
        return self._certified(ends[..., 0], ends[..., 1], "Renyi divergence", ceiling=ceiling)

    def _renyi(self, order):
        return _largest_renyi(self.below, order)[0], _largest_renyi(self.above, order)[1]

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
            ``lower`` is the safe end.  For a mechanism the worst order of the two neighbours is
            taken; for an ordered pair the null hypothesis is P and the alternative Q.

        Raises
        ------
        TypeError, ValueError
            If ``fpr`` is not a number in [0, 1] or a non-empty array of them.
        """
        grid = validation.false_positive_rates(fpr)
        ends = np.array([self._false_negative_rate(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        floor = pure_dp.false_negatives(self.pure_epsilon, grid)
        lower, upper = np.minimum(ends[..., 0], ends[..., 1]), ends[..., 1]
        return self._certified(lower, upper, "false-negative rate", floor=floor, ceiling=1.0 - grid)

    def subsample(self, *, rate):
        r"""Return the profile of the mechanism run on a random subset of its users.

        Parameters
        ----------
        rate : float
            Share of the population that is drawn, 1e-9 ≤ rate ≤ 1, without replacement; the users of
            this profile are those drawn.

        Returns
        -------
        PrivacyProfile
            See `shufflelib.profiles.subsampling.subsample`.
        """
        from shufflelib.profiles.subsampling import subsample

        return subsample(self, rate=rate)

    def compose(self, *, rounds):
        r"""Return the profile of equal adaptive rounds on the same data.

        Parameters
        ----------
        rounds : int
            Number of rounds, 1 ≤ rounds ≤ 10⁹.

        Returns
        -------
        PrivacyProfile
            See `shufflelib.profiles.composition.repeat`; `shufflelib.profiles.composition.compose` takes
            unequal rounds.
        """
        from shufflelib.profiles.composition import repeat

        return repeat(self, rounds=rounds)

    def _false_negative_rate(self, fpr):
        """Enclose the trade-off function, which is known at its ends without a curve."""
        if fpr == 1.0:
            return 0.0, 0.0
        if fpr == 0.0 and math.isfinite(self.pure_epsilon):
            return 1.0, 1.0
        return self._tradeoff(fpr)

    def _tradeoff(self, fpr):
        above = [
            end
            for pair in self.above
            for end in (pair.false_negatives(fpr), pair.reversed.false_negatives(fpr))
        ]
        below = [
            end
            for pair in self.below
            for end in (pair.false_negatives(fpr), pair.reversed.false_negatives(fpr))
        ]
        return min(end[0] for end in above), min(end[1] for end in below)


class Pair(PrivacyProfile):
    """An ordered pair (P, Q) of laws, known through its hockey-stick divergence.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> pair = DiscretePair(np.log([0.5, 0.5]), np.log([0.1, 0.9]))
    >>> round(pair.largest_loss, 5), round(pair.reversed.largest_loss, 5)
    (1.60944, 0.58779)
    """

    symmetric = False  # H(P‖Q) = H(Q‖P) at every eps
    heavier = True  # P‖Q is likely to have the larger divergence, and is looked at first
    search_width = 1e-11  # relative width at which a search for ε stops

    @property
    def above(self):
        """The pair itself."""
        return (self,)

    below = above

    @abstractmethod
    def log_hockey_stick(self, eps, tolerance=TOLERANCE) -> LogBracket:
        """Enclose log H_eps(P‖Q) at one eps ≥ 0, aiming at a relative width ``tolerance``."""

    @property
    @abstractmethod
    def reversed(self) -> "Pair":
        """The pair (Q, P)."""

    @property
    @abstractmethod
    def largest_loss(self) -> float:
        """Essential supremum of log P/Q, possibly infinite; H vanishes from there on."""

    @functools.cached_property
    def _remembered(self):
        """Values of the curve already computed for dots; they cost time, never change a result."""
        return {}

    def dot(self, eps, tolerance):
        """Enclose log H_eps(P‖Q), remembering it."""
        key = eps, tolerance
        if key not in self._remembered:
            self._remembered[key] = self.log_hockey_stick(eps, tolerance).or_nothing_known()
        return self._remembered[key]

    def log_worst(self, eps, tolerance=TOLERANCE):
        """Enclose the logarithm of the larger of the two directions."""
        forward = self.log_hockey_stick(eps, tolerance).or_nothing_known()
        if self.symmetric:
            return forward
        backward = self.reversed.log_hockey_stick(eps, tolerance).or_nothing_known()
        return LogBracket(max(forward.lower, backward.lower), max(forward.upper, backward.upper))

    def renyi_directed(self, order, enough=0.0):
        """Return both ends of D_order(P‖Q), which may stay apart where both are at most ``enough``."""
        start = (
            connect_the_dots.RENYI_TOLERANCE,
            connect_the_dots.RENYI_FIRST_DOTS,
            connect_the_dots.RENYI_DEPTH,
        )
        return connect_the_dots.Dots(self, *start).renyi(order, enough)

    def renyi_worst(self, order, enough=0.0):
        """Return both ends of the larger of the two directions, known well where it exceeds ``enough``."""
        if self.symmetric:
            return self.renyi_directed(order, enough)
        one, two = (self, self.reversed) if self.heavier else (self.reversed, self)
        first = one.renyi_directed(order, enough)
        second = two.renyi_directed(order, max(enough, first[0]))
        return tuple(float(end) for end in np.maximum(first, second))  # what is no number stays none

    def false_negatives(self, fpr):
        """Return both ends of the smallest false-negative rate, null P against alternative Q."""
        return connect_the_dots.Dots(self).false_negatives(fpr)

    def _renyi(self, order):
        return self.renyi_worst(order)

    def _tradeoff(self, fpr):
        return self.false_negatives(fpr)


class SymmetricPair(Pair):
    """A pair that has one curve in both directions.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> pair = Gaussian(mu=1.0)
    >>> pair.symmetric, pair.reversed is pair
    (True, True)
    """

    symmetric = True

    @property
    def reversed(self):
        """The pair itself."""
        return self


def _largest_renyi(pairs, order):
    """Return both ends of the largest divergence of several pairs.

    The plainest comes first, so that the others are soon known to be no worse.
    """
    if len(pairs) > 1:
        pairs = sorted(pairs, key=lambda pair: -pair.dot(0.0, connect_the_dots.RENYI_TOLERANCE).lower)
    lower = upper = 0.0
    for pair in pairs:
        lower, upper = np.maximum((lower, upper), pair.renyi_worst(order, lower))
    return float(lower), float(upper)

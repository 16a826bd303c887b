r"""Personal budgets in fixed slots: users are permuted, slot i applies an ε_i-LDP randomizer."""

import math

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval, intersect
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.positive_part_independent import expected_positive_part_of_slots
from shufflelib.numerics.three_point_losses import (
    PRECISION,
    AdaptiveThreePointLosses,
    ThreePointLosses,
    log_outcomes,
)
from shufflelib.profiles.adjacency import REPLACE_ONE, SHUFFLED
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.hockey_stick import SymmetricPair, pointwise
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.questions import pure_delta
from shufflelib.randomizers import values

LISTED_OUTCOMES = 40_000  # of slots with a positive budget; up to here they are enumerated
MOST_KINDS = 10_000  # more distinct budgets are rounded onto a grid, up and down
FEW_KINDS = 500  # size of that grid in the first steps of a search
CURVE_KINDS = 64  # size of that grid where a whole curve of more than FEW_KINDS budgets is asked for
SHARP_KINDS = 8  # distinct budgets up to which a relative width of 1e-6 of δ is aimed at, beyond 1e-4
FARTHEST = 300.0  # nats
NOT_SEEN = "slots do not see each other's reports"
NEAREST = 1e-9  # nats; smaller positive budgets are refused
FEW_RATHER = 1e-3  # relative width from which on few kinds will do
OPEN = 1.0  # width of a bracket of log δ from which on the largest budget is treated apart


class PersonalizedPair(SymmetricPair):
    r"""The pair that dominates n slots, where slot i is ε_i-LDP and the users are permuted uniformly first.

    .. math:: \delta(\varepsilon) = \frac1n\,\mathbb E\Bigl[\Bigl(\sum_{i=1}^n G_i\Bigr)_+\Bigr],\qquad
              G_i = \begin{cases} e^{\varepsilon_i} - e^{\varepsilon} & \text{with probability } r_i\\
              1 - e^{\varepsilon + \varepsilon_i} & \text{with probability } r_i\\
              0 & \text{else}\end{cases}, \qquad r_i = \frac{1}{e^{\varepsilon_i}+1}

    Parameters
    ----------
    eps0 : array_like, shape (k,)
        Local budget of each slot in nats, 0 or 1e-9 ≤ ε_i ≤ 300.
    counts : array_like of int, shape (k,), optional
        How many slots have each of the budgets, if not one; any total up to 10¹⁵.

    Notes
    -----
    Assumptions: the budget belongs to the *slot*; users are permuted before the randomizers are
    applied (Definition 6 of the source), slots do not see each other's reports (`adaptive` drops
    that), randomizers are pure.  If every user keeps their own randomizer and the reports are
    shuffled afterwards, this pair is not a bound.

    Why it is a bound: for any two inputs, the likelihood ratios of slot i's randomizer to
    :math:`w = \inf_x R_x` lie in :math:`[1, e^{\varepsilon_i}]`.  A mean-preserving split to the corners of
    that box raises the expectation of every convex function of the sum, slot by slot, and yields the
    three-point distribution above.  This distribution increases with every ε_i in convex order, so more than
    10 000 distinct budgets may be rounded, up for the upper bound and down for the lower.

    The relative width of the bracket of δ is mostly 1e-6 for up to eight distinct budgets and 1e-4 for up to
    10 000; ``tests/test_promised_precision.py`` checks a grid.  Rényi divergences and trade-off functions of
    more than 500 distinct budgets round them onto 64, which makes a Rényi divergence about 5 % wide; where δ
    of as many is below 1e-65, its upper bound is Chernoff's.  The bracket of δ is wider where δ comes from
    rare slots, for example 4e-6 for 50 slots with a budget of 6 among 9950 with 0.1 at δ = 1e-9, and where
    budgets are rounded, for example 0.15 % for 20 000 budgets between 0.1 and 2 at δ = 1e-9.  Where a few
    budgets above 12 outweigh the spread of all others, the upper bound counts their local δ in full and the
    lower bound may be trivial.

    The pair is symmetric.  Cost: for few slots a list of outcomes, for more proportional to the number of
    distinct budgets.
    Source: Definition 6 of Chen, Cao, Ge (AAAI 2024); the clone probability 2/(e^ε + 1) is that of
    Feldman, McMillan, Talwar (SODA 2023), whose erratum does not concern slots of this kind.

    Examples
    --------
    One slot in ten spends 2.0, the others 1.0:

    >>> from shufflelib.shuffling import PersonalizedPair
    >>> mixed = PersonalizedPair([1.0] * 900 + [2.0] * 100)
    >>> round(mixed.epsilon(delta=1e-6).upper, 3)
    0.185
    """

    source = "loss sum over slots; users permuted before slot-bound randomizers"
    adjacency = REPLACE_ONE
    assumptions: tuple[str, ...] = (
        "the users are permuted uniformly, by a trusted shuffler, before slot i applies its randomizer; "
        "nobody learns who has which slot, but the analyst may know the slot of each report",
        "the budgets of the slots are fixed and public, and do not depend on the values",
        NOT_SEEN,
        *SHUFFLED[1:],
    )
    _slots_of = ThreePointLosses
    _named = "non-adaptive"

    def __init__(self, eps0: ArrayLike, *, counts: ArrayLike | None = None) -> None:
        budgets = values.numbers(
            eps0, "eps0", at_least=0.0, at_most=FARTHEST, remedy="one local budget in nats for each slot"
        )
        if np.any(unresolved := (budgets > 0.0) & (budgets < NEAREST)):
            raise ValueError(
                f"eps0 must hold 0 or budgets >= {NEAREST:g}, got {budgets[unresolved][0]:g}; round it up"
            )
        held = np.ones(budgets.size)
        if counts is not None:
            held = values.whole(counts, "counts", at_least=1, at_most=validation.MAX_USERS).astype(float)
        if held.size != budgets.size:
            raise ValueError(f"counts must hold a number for each of {budgets.size} budgets, got {held.size}")
        self.n = self.users = self.population = validation.users(held.sum())
        self.kinds, where = np.unique(budgets, return_inverse=True)
        self.counts = np.bincount(where, weights=held)
        self.search_width = 2e-8 if self.kinds.size <= SHARP_KINDS else 1e-6
        named = f"{self.kinds[0]:g}" if self.kinds.size == 1 else f"{self.kinds[0]:g} to {self.kinds[-1]:g}"
        self.statement = f"n={self.n} {self._named} slots with budgets {named}"

    @classmethod
    def adaptive(cls, eps0: ArrayLike, *, counts: ArrayLike | None = None) -> "PersonalizedPair":
        r"""Return the pair for slots that see earlier reports: clone probability :math:`e^{-\varepsilon_i}`.

        Parameters
        ----------
        eps0, counts
            As for the class.

        Notes
        -----
        Source: Feldman, McMillan, Talwar (FOCS 2021), slot by slot.
        """
        return _AdaptivePair(eps0, counts=counts)

    @property
    def max_privacy_loss(self):
        """The largest budget."""
        return float(self.kinds[-1])

    @cached_property
    def slots(self):
        """The three-point losses of the slots of each budget."""
        return self._slots_of(self.kinds, self.counts)

    @property
    def _identical(self):
        """The pair of identical randomizers."""
        more, less, mass = self.slots.more, self.slots.less, self.slots.mass
        first, second, mass = (np.concatenate(two) for two in ((more, less), (less, more), (mass, mass)))
        ratios = LikelihoodRatios(first, second, mass, precision=PRECISION, exchangeable=True)
        return BlanketPair(ratios, self.n)

    @cached_property
    def _finite(self):
        """The pair of all outcomes if few, of identical randomizers if budgets are equal, or None."""
        some = self.kinds > 0.0
        if np.sum(log_outcomes(self.counts[some])) > math.log(LISTED_OUTCOMES):
            return self._identical if self.kinds.size == 1 else None
        log_mass, *sums = self.slots[some].outcomes()
        first, second = (part + self.counts[~some].sum() for part in sums)  # a budget of 0 has ratios 1
        keep = first > 0.0
        log_mass = log_mass.at(keep) - Interval.of(float(self.n)).log()
        log_first, log_second = np.log(first[keep]), np.log(second[keep])
        return DiscretePair.from_losses(
            log_mass + log_first,
            log_mass + log_second,
            Interval.of(log_first - log_second, 4.0).widened(absolute=8.0 * PRECISION),
        )

    @cached_property
    def _grids(self):
        """Grids already made, by their size and side; they cost time, never change a result."""
        return {}

    def _grid(self, most, upward):
        """Return the slots, rounded onto a grid where there are more than ``most`` kinds."""
        if self.kinds.size <= most:
            return self.slots
        if (most, upward) not in self._grids:
            self._grids[most, upward] = self._rounded(most, upward)
        return self._grids[most, upward]

    def _rounded(self, most, upward):
        # edges among the budgets themselves, denser where there are more slots and where losses grow faster
        one, two = np.tanh(0.5 * self.kinds), np.expm1(self.kinds)
        scale = one / one[-1] * (two / two[-1])
        position = np.append(0.0, np.cumsum(np.sqrt(self.counts[1:] * np.diff(scale))))
        steps = np.linspace(0.0, position[-1], most)
        gaps = np.flatnonzero(np.diff(position) > steps[1])  # no rounding across a wide gap
        chosen = np.concatenate([np.searchsorted(position, steps), gaps, gaps + 1])
        edges = self.kinds[np.unique(np.clip(chosen, 0, self.kinds.size - 1))]
        where = np.searchsorted(edges, self.kinds, side="left" if upward else "right") - (0 if upward else 1)
        counts = np.bincount(where, weights=self.counts, minlength=edges.size)
        return self._slots_of(edges[counts > 0.0], counts[counts > 0.0])

    def _log_curve(self, eps, tolerance):
        """Enclose log δ(ε): enumeration for few slots, else the contour integral of the loss sum."""
        inside = eps < self.max_privacy_loss
        curve = self._finite.log_hockey_stick if self._finite else self._by_integrals
        lower, upper = np.full((2, eps.size), -math.inf)
        lower[inside], upper[inside] = curve(eps[inside], tolerance)
        return Interval(lower, upper)

    @pointwise
    def _by_integrals(self, eps, tolerance):
        """Enclose log δ at each ε by an integral, the largest budgets apart where it says nothing."""
        found = self._by_contour_integral(eps, tolerance)
        apart, more = 1, found
        while more.upper > more.lower + OPEN and apart < self.kinds.size:
            more = self._largest_apart(apart, eps, tolerance)
            found = Interval(found.lower, min(found.upper, more.upper))
            apart += max(1, apart // 2)
        return found

    def _by_contour_integral(self, eps, tolerance):
        """Enclose log δ by the contour integral; many kinds are rounded up above, down below."""
        if self.kinds.size > SHARP_KINDS:
            tolerance = max(tolerance, 3e-5 if self.kinds.size <= FEW_KINDS else 1e-4)
        most = FEW_KINDS if tolerance >= FEW_RATHER else MOST_KINDS
        upper = expected_positive_part_of_slots(self._grid(most, True), eps, tolerance=tolerance)
        lower = upper
        if self.kinds.size > most:
            lower = expected_positive_part_of_slots(self._grid(most, False), eps, tolerance=tolerance)
        share = eps - Interval.of(float(self.n)).log()
        top = min((upper + share).upper, 0.0)
        found = Interval(min((lower + share).lower, top), top)
        if tolerance < FEW_RATHER and found.upper > found.lower + OPEN:  # too deep for so many kinds
            return intersect(found, self._by_contour_integral(eps, FEW_RATHER))
        return found

    def _largest_apart(self, apart, eps, tolerance):
        r"""Enclose the log of a bound on δ: what slots of the largest budgets gain, added to δ of the others.

        A gain that outweighs the spread of all others by far leaves a quadrature nothing to resolve; as
        :math:`(a + b)_+ \le a_+ + b_+`, such slots add at most their share of the local δ.
        """
        light = type(self)(self.kinds[:-apart], counts=self.counts[:-apart])
        rest = Interval(-math.inf, -math.inf)
        if eps < light.max_privacy_loss:
            rest = light._by_contour_integral(eps, tolerance) + Interval.of(light.n / self.n, 1.0).log()
        local = [float(pure_delta(budget, eps)) for budget in self.kinds[-apart:]]
        alone = Interval.of(math.fsum(local * self.counts[-apart:]) / self.n, 64.0).log()
        return alone.log_add(rest)

    def known_renyi(self, order):
        """Return both bounds of D_order(P‖Q), None for few budgets that are not listed."""
        return self._known(lambda pair: pair.renyi_directed(order))

    def known_false_negatives(self, fpr):
        """Return both bounds of the smallest false-negative rate, None for few budgets not listed."""
        return self._known(lambda pair: pair.false_negatives(fpr))

    def _known(self, ask):
        """Return both bounds of a number; of many budgets that between fewer, rounded up and rounded down."""
        if self._finite:
            return ask(self._finite)
        if self.kinds.size <= FEW_KINDS:
            return None
        grids = (self._grid(CURVE_KINDS, upward) for upward in (True, False))
        lower, upper = zip(*(ask(type(self)(grid.eps0, counts=grid.count)) for grid in grids), strict=True)
        return min(lower), max(upper)


class _AdaptivePair(PersonalizedPair):
    """Slots that see all earlier reports; made by `PersonalizedPair.adaptive`."""

    _slots_of = AdaptiveThreePointLosses
    _named = "adaptive"
    assumptions = tuple(
        "a slot may see the reports of earlier slots" if one == NOT_SEEN else one
        for one in PersonalizedPair.assumptions
    )

r"""The distribution of the likelihood ratios of two reports relative to a reference measure.

A user reports :math:`y \sim R_0` or :math:`y \sim R_1`.  Each other user's report is drawn, independently,
from a distribution whose density is at least :math:`w`, the *reference measure*: the privacy blanket when a
bound must hold whatever values the others have, the full density of :math:`R(x^*)` when all others are known
to hold :math:`x^*`.  What shuffling can hide depends only on the distribution of the privacy amplification
random variable

.. math:: G = \frac{R_0(y) - e^{\varepsilon} R_1(y)}{w(y)}, \qquad y \sim w,

which is 0 with the remaining probability :math:`1-\int w`: the hockey-stick divergence of the shuffled
outputs is at most (for the full density: exactly) :math:`\tfrac1n \mathbb E[(G_1+\dots+G_n)_+]` plus the
mass of :math:`R_0` outside the support of :math:`w`.

Source: Su, Cheng, Wang, arXiv:2504.07414 (the generalized privacy amplification random variable);
for the blanket, Balle, Bell, Gascón, Nissim, CRYPTO 2019, Lemma 5.3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.positive_part_iid import SMALLEST_SIZE

SAME = 1e-11  # relative distance within which ratios and masses count as equal, and are blurred by it
LEAST_OUTSIDE = 2e-290  # mass outside the reference's support that stands for less of it, or for an underflow
LARGEST_RATIO = 1e250  # to a reference measure, if it is made smaller
LEAST_OTHERS = float(np.finfo(float).tiny)  # ratios to a smaller mass have few digits


@dataclass(frozen=True, eq=False)
class LikelihoodRatios:
    r"""Likelihood ratios :math:`(R_0/w,\; R_1/w)` to a reference measure :math:`w`, and their masses.

    Parameters
    ----------
    r0_over_w, r1_over_w : numpy.ndarray, shape (m,)
        Density ratios :math:`R_0/w` and :math:`R_1/w` on each atom, finite and non-negative.
    w : numpy.ndarray, shape (m,)
        Reference mass of each atom; the sum is at most 1, the remainder is the atom (0, 0).
    r0_outside, r1_outside : float
        Mass of :math:`R_0` (of :math:`R_1`) outside the support of w: it is added to δ as it stands.
    outside : numpy.ndarray, shape (2, j), optional
        The same masses, output class by output class, where they are known; then only
        :math:`(R_0 - e^{\varepsilon} R_1)_+` of each class is added.
    loss_outside : float
        Upper bound on :math:`|\log R_0/R_1|` outside the support, a local budget for example.
    precision : float
        Relative error of the entries, charged to both bounds of every number computed from them.
    cell_width : float
        Relative width in δ that cutting a density into cells costs already; nothing finer is then
        asked of the numerics.  0 for a finite randomizer.
    exchangeable : bool
        Whether :math:`(R_0/w, R_1/w)` and :math:`(R_1/w, R_0/w)` have the same distribution, which the
        mechanism knows; the entries, which are rounded, need not show it.
    full : bool
        Whether :math:`w` is a probability distribution, so that what its entries leave of 1 is rounding.
    """

    r0_over_w: np.ndarray
    r1_over_w: np.ndarray
    w: np.ndarray
    r0_outside: float = 0.0
    r1_outside: float = 0.0
    precision: float = 1e-14
    cell_width: float = 0.0
    outside: np.ndarray | None = None
    loss_outside: float = math.inf
    exchangeable: bool = False
    full: bool = False

    @classmethod
    def from_masses(cls, report0, report1, reference, *, precision=1e-14, single_outputs=False, **known):
        """Build the ratios from the masses of two reports and of the reference measure on output classes.

        Parameters
        ----------
        report0, report1, reference : array_like, shape (m,)
            Non-negative masses; ``report0`` and ``report1`` sum to 1, ``reference`` to at most 1.
            Within a class the density ratios must be constant.  Where ``reference`` is below the least
            normal float, 2.2e-308, it counts as 0, which is safe for an upper bound; an attack needs
            `against`.
        single_outputs : bool
            Whether classes outside the support of ``reference`` have constant ratios too.
        known
            What else is known: ``cell_width``, ``exchangeable`` and ``full``.
        """
        report0, report1, reference = (np.asarray(part, float) for part in (report0, report1, reference))
        supported = reference >= LEAST_OTHERS
        ratios = np.stack(
            [report0[supported] / reference[supported], report1[supported] / reference[supported]]
        )
        # classes with equal ratios (to 13 digits) are one atom
        with np.errstate(divide="ignore"):
            _, first, group = np.unique(
                np.round(np.log(ratios), 13), axis=1, return_index=True, return_inverse=True
            )
        most = int(np.bincount(group.ravel(), minlength=1).max())  # added up one by one
        return cls(
            r0_over_w=ratios[0, first],
            r1_over_w=ratios[1, first],
            w=np.bincount(group.ravel(), weights=reference[supported], minlength=first.size),
            r0_outside=float(report0[~supported].sum()),
            r1_outside=float(report1[~supported].sum()),
            precision=precision + (2e-13 + np.finfo(float).eps * most) * (most > 1),
            outside=np.stack([report0[~supported], report1[~supported]]) if single_outputs else None,
            **known,
        )

    @classmethod
    def against(cls, others, report0, report1, **rest):
        """Build the ratios of an attack from masses, ``others`` being what each other user reports.

        A positive mass of the others is raised to the least normal float: an output that they can produce,
        however rarely, is not outside their support, and a larger reference measure tells no more.
        """
        others = np.asarray(others, float)
        return cls.from_masses(
            report0, report1, np.where(others > 0.0, np.maximum(others, LEAST_OTHERS), 0.0), full=True, **rest
        )

    def among_labels(self, labels, *, attack):
        """Return the ratios if each of the other users has the user's label with probability 1/``labels``.

        A report of another label is in the atom (0, 0), as this user cannot send it.  Where the reference
        measure is then below the least normal float, or a ratio above `LARGEST_RATIO`, it is raised for an
        attack, and counts as 0 for a blanket: see `against` and `from_masses`.
        """
        first, second = (part * self.w for part in (self.r0_over_w, self.r1_over_w))
        w, least = self.w / labels, np.maximum(LEAST_OTHERS, np.maximum(first, second) / LARGEST_RATIO)
        if attack:
            w = np.maximum(w, least)
        kept = w >= least
        lost = np.stack([first[~kept], second[~kept]])
        grown = self.w[kept] / w[kept]
        return replace(
            self,
            r0_over_w=self.r0_over_w[kept] * grown,
            r1_over_w=self.r1_over_w[kept] * grown,
            w=w[kept],
            r0_outside=self.r0_outside + math.fsum(lost[0]),
            r1_outside=self.r1_outside + math.fsum(lost[1]),
            outside=None if self.outside is None else np.column_stack([self.outside, lost]),
            precision=self.precision + 8 * UNIT,
            full=False,
        )

    def swapped(self):
        """Return the likelihood ratios with the two reports exchanged, always the same object."""
        return self if self.exchangeable else self._swapped

    @cached_property
    def _swapped(self):
        return replace(
            self,
            r0_over_w=self.r1_over_w,
            r1_over_w=self.r0_over_w,
            r0_outside=self.r1_outside,
            r1_outside=self.r0_outside,
            outside=None if self.outside is None else self.outside[::-1],
        )

    def without_underflow(self):
        """Return the ratios of an attack on a randomizer of which every value has every output.

        What is outside the support has underflowed and is left out; of a report that has, the least normal
        float is left.
        """
        reports = self.r0_over_w, self.r1_over_w
        if max(self.r0_outside, self.r1_outside) == 0.0 and all(np.all(part > 0.0) for part in reports):
            return self
        least = LEAST_OTHERS / self.w
        first, second = (np.where(part > 0.0, part, least) for part in reports)
        inside = {"r0_outside": 0.0, "r1_outside": 0.0, "outside": None}
        return replace(self, r0_over_w=first, r1_over_w=second, **inside)

    def within_budget(self, eps0):
        """Return the ratios of a randomizer with a local budget, which bounds the loss outside the support.

        Without one, if eps0 is infinite, there is enough mass outside to rule out a pure ε, unless listed.
        """
        if eps0 < math.inf:
            return replace(self, loss_outside=eps0) if self.r0_outside or self.r1_outside else self
        if self.outside is not None:
            return self
        return replace(
            self,
            r0_outside=max(self.r0_outside, LEAST_OUTSIDE),
            r1_outside=max(self.r1_outside, LEAST_OUTSIDE),
        )

    @property
    def _loss_outside(self):
        """Largest log R_0/R_1 outside the support of w, -inf if nothing is there."""
        if self.r0_outside == 0.0:
            return -math.inf
        if self.outside is None or np.any((self.outside[0] > 0.0) & (self.outside[1] == 0.0)):
            return self.loss_outside
        report0, report1 = np.log(self.outside[:, self.outside[0] > 0.0])
        return min(float(np.max(report0 - report1)), self.loss_outside)

    def log_outside(self, eps):
        r"""Enclose the log of :math:`\sum (R_0 - e^{\varepsilon} R_1)_+` outside the support of w."""
        shrink = math.exp(-eps)
        first, second = (self.r0_outside, self.r1_outside) if self.outside is None else self.outside
        product = first * shrink
        slack = 2.0 * self.precision * (product + second)
        flushed = (first > 0.0) & (product < SMALLEST_SIZE)  # few digits or none
        slack = slack + np.where(flushed, UNIT * SMALLEST_SIZE, 0.0)
        gap = product - second
        sure, most = (math.fsum(np.maximum(np.ravel(gap + side * slack), 0.0)) for side in (-1.0, 1.0))
        found = Interval(sure, most).widened(4.0).log() + eps
        if self.outside is not None:
            return found
        whole = Interval.of(self.r0_outside).widened(absolute=2.0 * self.precision * self.r0_outside).log()
        return Interval(found.lower, whole.upper)

    @property
    def below_both(self):
        """Whether w is nowhere above either report: a blanket, whose mass is 1 for equal ones only."""
        return bool(np.all(np.minimum(self.r0_over_w, self.r1_over_w) >= 1.0))

    @property
    def max_privacy_loss(self):
        """Largest log R_0/R_1, rounding included; infinite outside the support or where R_1 vanishes."""
        loss = self._loss_outside
        if loss == math.inf or np.any((self.r1_over_w == 0.0) & (self.r0_over_w > 0.0)):
            return math.inf
        on_first = self.r0_over_w > 0.0
        if on_first.any():
            loss = max(
                loss, float(np.max(np.log(self.r0_over_w[on_first]) - np.log(self.r1_over_w[on_first])))
            )
        if loss == -math.inf:
            return 0.0
        return max(loss, 0.0) + 4.0 * self.precision * (1.0 + abs(loss))

    @cached_property
    def _sorted(self):
        """The atoms in a fixed order, and what they are sorted by: their logarithms to 7 digits."""
        atoms = np.stack([self.r0_over_w, self.r1_over_w, self.w])
        with np.errstate(divide="ignore"):
            rounded = np.round(np.log(atoms), 7) + 0.0
        order = np.lexsort(rounded)
        return atoms[:, order], rounded[:, order]

    def key(self):
        """Return what two equal distributions share: atoms to 7 digits, in a fixed order."""
        listed = b"" if self.outside is None else self.outside[:, np.lexsort(self.outside)].tobytes()
        return self._sorted[1].tobytes(), self.r0_outside, self.r1_outside, listed

    def distance(self, other):
        """Return how far apart the entries can be, relatively; infinite unless they agree to 11 digits."""
        if self.key() != other.key():
            return math.inf
        one, two = self._sorted[0], other._sorted[0]
        with np.errstate(invalid="ignore"):
            most = np.max(np.abs(one - two) / np.minimum(one, two), initial=0.0, where=one != two)
        apart = float(most) + abs(self.precision - other.precision)
        return apart if apart <= SAME else math.inf

    def compared(self):
        """Return these ratios, exchangeable if they agree with their exchange to 11 digits."""
        distance = self.distance(self.swapped())
        if self.exchangeable or distance == math.inf:
            return self
        return replace(self.blurred(distance), exchangeable=True)

    def blurred(self, distance):
        """Return these ratios with a precision that covers all others within a distance."""
        return replace(self, precision=self.precision + distance) if distance > 0.0 else self


def combined(combine, parts):
    """Return the ratios made of each tuple of parts, made once, and once for a tuple and its exchange."""
    made = {}
    for some in parts:
        if some not in made:
            one = combine(some)
            made |= {tuple(part.swapped() for part in some): one.swapped(), some: one}
    return tuple(made[some] for some in parts)


def once(all_ratios):
    """Return the ratios that are no earlier ones and no exchange of these, keyed by their places."""
    kept, seen = {}, set()
    for place, ratios in enumerate(all_ratios):
        if ratios not in seen:
            kept[place] = ratios
            seen |= {ratios, ratios.swapped()}
    return kept


def united(all_ratios):
    """Return the ratios, with one object (or its exchange) for all that agree with it to 11 digits.

    For reports of which the mechanism does not say whether they are alike: tables and compositions.
    """
    kept, apart, places, found = {}, {}, {}, []
    for place, ratios in enumerate(all_ratios):
        near = [
            (kept[first].distance(one), exchanged, first)
            for exchanged, one in enumerate((ratios, ratios.swapped()))
            for first in places.get(one.key(), ())
        ]
        distance, exchanged, first = min(near, default=(math.inf, 0, place))
        if distance == math.inf:
            first, exchanged = place, 0
            places.setdefault(ratios.key(), []).append(place)
            kept[place] = ratios
        apart[first] = max(apart.get(first, 0.0), distance if distance < math.inf else 0.0)
        found.append((first, exchanged))
    kept = {first: ratios.blurred(apart[first]).compared() for first, ratios in kept.items()}
    return [kept[first].swapped() if exchanged else kept[first] for first, exchanged in found]


@dataclass(frozen=True)
class Tails:
    r"""Outputs T given up for unbounded likelihood ratios; the two reports mirror each other.

    Parameters
    ----------
    inside : LikelihoodRatios
        Ratios of R_0 without T and of no more than R_1; all mass of R_0 is inside the reference's support.
    log_moment : callable
        Upper bound on :math:`\log \int_T R_0^\lambda R_1^{1-\lambda}` for an order λ.
    """

    inside: LikelihoodRatios
    log_moment: Callable


@dataclass(frozen=True)
class InputPair:
    """One pair of inputs of the user who changes, as the shuffler sees it.

    Parameters
    ----------
    blanket : LikelihoodRatios
        Ratios to the privacy blanket; where a density had to be discretised, in a convex order
        at least the true one (mean-preserving splits), so that what it proves is an upper bound.
    attacks : tuple of LikelihoodRatios
        Ratios to the full density of R(x*), one for each x* tried; where a density had to be discretised,
        in convex order at most the true ones (coarsening), so that what they prove is a lower bound.
    tails : Tails, optional
        What Rényi divergences need where outputs were given up.
    """

    blanket: LikelihoodRatios
    attacks: tuple
    tails: Tails | None = None

    def among_labels(self, labels):
        """Return the pair of a user of whose public label only a share of the others is."""

        def among(ratios, attack=False):
            return ratios.among_labels(labels, attack=attack)

        attacks = combined(lambda one: among(one[0], attack=True), [(one,) for one in self.attacks])
        tails = self.tails and Tails(among(self.tails.inside), self.tails.log_moment)
        return InputPair(among(self.blanket), attacks, tails)

    @classmethod
    def from_rows(cls, rows, blanket, *, mirrored=False, lopsided=()):
        """Build the pair from class masses: rows 0 and 1 are the pair, every row is a candidate x*.

        They are compared unless ``mirrored`` says that rows 0 and 1 mirror each other, and every further row
        itself, but for the ``lopsided`` ones.
        """
        rows = np.asarray(rows, float)
        reference = LikelihoodRatios.from_masses(*rows[:2], blanket, single_outputs=True)
        attacks = attacks_on(rows, mirrored=mirrored, lopsided=lopsided, single_outputs=True)
        if not mirrored:
            return cls(reference.compared(), tuple(united(attacks)))
        return cls(replace(reference, exchangeable=True), attacks)


def attacks_on(rows, *, mirrored=True, lopsided=(), **rest):
    """Return an attack for each row of masses: all others hold its input; rows 0 and 1 are the pair."""

    def attack(place):
        even = mirrored and place > 1 and place not in lopsided
        return LikelihoodRatios.against(rows[place], *rows[:2], exchangeable=even, **rest)

    first = attack(0)
    return first, first.swapped() if mirrored else attack(1), *map(attack, range(2, len(rows)))


def blankets(pairs, eps0):
    """Return the ratios to the blanket for each pair of inputs of a randomizer with a local budget."""
    return [one.within_budget(eps0) for one in once(pair.blanket for pair in pairs).values()]


def attacks(pairs, eps0):
    """Return the ratios of all attacks on each pair; every value has every output if the budget is finite."""
    found = once(attack for pair in pairs for attack in pair.attacks).values()
    return list(found) if math.isinf(eps0) else [attack.without_underflow() for attack in found]

r"""The privacy amplification random variable: two reports measured against a cover.

A user reports :math:`y \sim R_0` or :math:`y \sim R_1`.  The other users' reports contain, each
independently with density at least :math:`w`, the *cover*: the privacy blanket when a bound must
hold whatever value of their domain the others have, the full density of :math:`R(x^*)` when all others
are known to hold :math:`x^*`.  Everything shuffling can hide is in the law of

.. math:: G = \frac{R_0(y) - e^{\varepsilon} R_1(y)}{w(y)}, \qquad y \sim w,

(and 0 with the uncovered probability :math:`1-\int w`), because the hockey-stick divergence of the
shuffled outputs is at most (for the full density: exactly)
:math:`\tfrac1n \mathbb E[(G_1+\dots+G_n)_+]` plus the mass of :math:`R_0` where there is no cover.

Source: Su, Cheng, Wang, arXiv:2504.07414 (the generalized privacy amplification random variable);
for the blanket, Balle, Bell, Gascón, Nissim, CRYPTO 2019, Lemma 5.3.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.loss_distribution import SMALLEST_SIZE

UNRESOLVED = 1e-290  # exposed mass that no number here resolves
LEAST_EXPOSED = 2.0 * UNRESOLVED  # stands for less of it where that must count


@dataclass(frozen=True)
class AmplificationVariable:
    r"""Finite law of the pair :math:`(R_0/w,\; R_1/w)` under a cover :math:`w`.

    Parameters
    ----------
    first, second : numpy.ndarray, shape (m,)
        Density ratios :math:`R_0/w` and :math:`R_1/w` on each atom, finite and non-negative.
    mass : numpy.ndarray, shape (m,)
        Cover mass of each atom; the sum is at most 1, the remainder is the atom (0, 0).
    exposed_first, exposed_second : float
        Mass of :math:`R_0` (of :math:`R_1`) on outputs without cover: it is added to δ as it stands.
    exposed : numpy.ndarray, shape (2, j), optional
        The same masses, output class by output class, where they are known; then only
        :math:`(R_0 - e^{\varepsilon} R_1)_+` of each class is added.
    precision : float
        Relative error of the entries, charged to both ends of every number computed from them.
    cell_width : float
        Relative width in δ that cutting a density into cells costs already; nothing finer is then
        asked of the numerics.  0 for a finite randomizer.
    """

    first: np.ndarray
    second: np.ndarray
    mass: np.ndarray
    exposed_first: float = 0.0
    exposed_second: float = 0.0
    precision: float = 1e-14
    cell_width: float = 0.0
    exposed: np.ndarray | None = None

    @classmethod
    def from_masses(cls, report0, report1, cover, *, precision=1e-14, cell_width=0.0, single_outputs=False):
        """Build the law from the masses of two reports and of the cover on the same output classes.

        Parameters
        ----------
        report0, report1, cover : array_like, shape (m,)
            Non-negative masses; ``report0`` and ``report1`` sum to 1, ``cover`` to at most 1.
            Within a class the density ratios must be constant.
        single_outputs : bool
            Whether classes without cover have constant ratios too, none of them a lump of several.
        """
        report0, report1, cover = (np.asarray(part, float) for part in (report0, report1, cover))
        covered = cover >= np.finfo(float).tiny  # ratios to anything smaller have few digits
        ratios = np.stack([report0[covered] / cover[covered], report1[covered] / cover[covered]])
        # classes with equal ratios (to 13 digits) are one atom
        with np.errstate(divide="ignore"):
            _, first, group = np.unique(
                np.round(np.log(ratios), 13), axis=1, return_index=True, return_inverse=True
            )
        most = int(np.bincount(group.ravel(), minlength=1).max())  # added up one by one
        return cls(
            first=ratios[0, first],
            second=ratios[1, first],
            mass=np.bincount(group.ravel(), weights=cover[covered], minlength=first.size),
            exposed_first=float(report0[~covered].sum()),
            exposed_second=float(report1[~covered].sum()),
            precision=precision + (2e-13 + np.finfo(float).eps * most) * (most > 1),
            cell_width=cell_width,
            exposed=np.stack([report0[~covered], report1[~covered]]) if single_outputs else None,
        )

    def swapped(self):
        """Return the same law with the two reports exchanged."""
        return AmplificationVariable(
            self.second,
            self.first,
            self.mass,
            self.exposed_second,
            self.exposed_first,
            self.precision,
            self.cell_width,
            None if self.exposed is None else self.exposed[::-1],
        )

    def unbounded(self):
        """Return the law with so much exposed that no largest loss is known, unless it is listed."""
        if self.exposed is not None:
            return self
        return replace(
            self,
            exposed_first=max(self.exposed_first, LEAST_EXPOSED),
            exposed_second=max(self.exposed_second, LEAST_EXPOSED),
        )

    @property
    def _exposed_loss(self):
        """Largest log R_0/R_1 on outputs without cover, -inf if there are none; infinite unless listed."""
        if self.exposed_first <= UNRESOLVED:
            return -math.inf
        if self.exposed is None:
            return math.inf
        report0, report1 = np.log(self.exposed[:, self.exposed.min(axis=0) > 0.0])
        alone = np.any((self.exposed[0] > 0.0) & (self.exposed[1] == 0.0))
        return math.inf if alone else float(np.max(report0 - report1, initial=-math.inf))

    def log_exposed(self, eps):
        r"""Enclose the log of :math:`\sum (R_0 - e^{\varepsilon} R_1)_+` over outputs without cover."""
        shrink = math.exp(-eps)
        first, second = (self.exposed_first, self.exposed_second) if self.exposed is None else self.exposed
        product = first * shrink
        slack = 2.0 * self.precision * (product + second)
        flushed = (first > 0.0) & (product < SMALLEST_SIZE)  # few digits or none
        slack = slack + np.where(flushed, UNIT * SMALLEST_SIZE, 0.0)
        gap = product - second
        sure = float(np.sum(np.maximum(gap - slack, 0.0)))
        most = self.exposed_first if self.exposed is None else float(np.sum(np.maximum(gap + slack, 0.0)))
        rise = 0.0 if self.exposed is None else eps
        lower, upper = (math.log(end) if end > 0.0 else -math.inf for end in (sure, most))
        return lower + eps, upper + rise

    @property
    def largest_loss(self):
        """Largest log R_0/R_1, rounding included; infinite where R_0 is exposed or R_1 vanishes."""
        loss = self._exposed_loss
        if loss == math.inf or np.any((self.second == 0.0) & (self.first > 0.0)):
            return math.inf
        on_first = self.first > 0.0
        if on_first.any():
            loss = max(loss, float(np.max(np.log(self.first[on_first]) - np.log(self.second[on_first]))))
        if loss == -math.inf:
            return 0.0
        return max(loss, 0.0) + 4.0 * self.precision * (1.0 + abs(loss))

    @functools.cached_property
    def _sorted(self):
        """The atoms in a fixed order, and what they are sorted by: their logarithms to 11 digits."""
        atoms = np.stack([self.first, self.second, self.mass])
        with np.errstate(divide="ignore"):
            rounded = np.round(np.log(atoms), 11) + 0.0
        order = np.lexsort(rounded)
        return atoms[:, order], rounded[:, order]

    def key(self):
        """Return what tells two laws apart: atoms to 11 digits, in a fixed order."""
        listed = b"" if self.exposed is None else self.exposed[:, np.lexsort(self.exposed)].tobytes()
        return self._sorted[1].tobytes(), self.exposed_first, self.exposed_second, listed

    def distance(self, other):
        """Return how far apart two laws' entries can be, relatively; infinite unless keys agree."""
        if self.key() != other.key():
            return math.inf
        one, two = self._sorted[0], other._sorted[0]
        with np.errstate(invalid="ignore"):
            apart = np.max(np.abs(one - two) / np.minimum(one, two), initial=0.0, where=one != two)
        return float(apart) + abs(self.precision - other.precision)

    def blurred(self, distance):
        """Return the law with a precision that makes it stand for all laws within a distance."""
        return replace(self, precision=self.precision + distance) if distance > 0.0 else self


def distinct(laws):
    """Return the laws without repetitions, keyed by their first places; a law and its exchange are one.

    Each stands for all that agree with it to 11 digits.
    """
    kept, apart, places = {}, {}, {}
    for place, law in enumerate(laws):
        known = [one for one in (law, law.swapped()) if one.key() in places]
        if known:
            first = places[known[0].key()]
            apart[first] = max(apart[first], kept[first].distance(known[0]))
        else:
            places[law.key()] = place
            kept[place], apart[place] = law, 0.0
    return {place: law.blurred(apart[place]) for place, law in kept.items()}


@dataclass(frozen=True)
class Tails:
    r"""Outputs T given up for unbounded likelihood ratios; the two reports mirror each other.

    Parameters
    ----------
    cover : AmplificationVariable
        Law under the cover of R_0 without T and of no more than R_1; no mass of R_0 is exposed.
    log_moment : callable
        Upper end of :math:`\log \int_T R_0^\lambda R_1^{1-\lambda}` for an order λ.
    """

    cover: AmplificationVariable
    log_moment: Callable


@dataclass(frozen=True)
class InputPair:
    """One pair of inputs of the user who changes, as the shuffler sees it.

    Parameters
    ----------
    cover : AmplificationVariable
        Law under the privacy blanket; where a density had to be discretised, in a convex order
        at least the true one (mean-preserving splits), so that what it proves is an upper end.
    attacks : tuple of AmplificationVariable
        Laws under the full density of R(x*), one for each x* tried, in a convex order at most the
        true one (output cells pooled), so that what they prove is a lower end.
    tails : Tails, optional
        What Rényi divergences need where outputs were given up.
    """

    cover: AmplificationVariable
    attacks: tuple
    tails: Tails | None = None

    @classmethod
    def from_rows(cls, rows, blanket, *, precision=1e-14):
        """Build the pair from class masses: rows 0 and 1 are the pair, every row is a candidate x*."""
        rows = np.asarray(rows, float)
        return cls(
            AmplificationVariable.from_masses(
                rows[0], rows[1], blanket, precision=precision, single_outputs=True
            ),
            tuple(
                AmplificationVariable.from_masses(
                    rows[0], rows[1], row, precision=precision, single_outputs=True
                )
                for row in rows
            ),
        )

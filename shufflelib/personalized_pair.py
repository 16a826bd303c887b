r"""Personal budgets in fixed slots: users are permuted, slot i applies an ε_i-LDP randomizer."""

import functools
import math

import numpy as np
from scipy.special import gammaln

from shufflelib import arguments
from shufflelib.amplification import AmplificationVariable
from shufflelib.brackets import TOLERANCE, LogBracket, narrower
from shufflelib.covered_pair import CoveredPair
from shufflelib.logspace import UNIT
from shufflelib.privacy_profile import SymmetricPair
from shufflelib.profiles import DiscretePair
from shufflelib.slot_sums import PRECISION, slot_positive_part_mean

LISTED_OUTCOMES = 40_000  # of slots with a positive budget; up to here they are listed
MOST_KINDS = 10_000  # distinct budgets beyond this many are rounded onto a grid, up and down
SHARP_KINDS = 8  # distinct budgets up to which δ is enclosed to 1e-6, beyond to 1e-4
FEW_KINDS = 500  # and onto this one while a search is still far from its end
FARTHEST = 300.0  # nats
NEAREST = 1e-300  # nats; how rarely a slot of less, but not of nothing, is silent has too few digits
HEAVY = 20.0  # standard deviations of the rest that make a slot's gain a heavy one
RARE = 1.0  # expected number of heavy slots that show anything
FEW_OUTCOMES = 2_000  # of heavy slots, up to which they need not be rare
MOST_SHOWN = 60  # of heavy slots of one kind in an outcome that is listed
REFINED = 32  # outcomes beside which the light slots are summed sharply, for one kind of those
SHARP_BESIDE = 1e-5  # how sharply
UNRESOLVED = 1e-300  # products of rarer outcomes have few digits
HOPELESS = 1000.0  # standard deviations of the rest from which on no quadrature is tried


class _Slot:
    """What a slot shows of the user who changes: mass r of either symbol, 1 − 2r of none, ratios u > v."""

    def __init__(self, eps0):
        e = np.exp(eps0)
        self.mass, self.rest = 1.0 / (e + 1.0), np.tanh(0.5 * eps0)
        self.more, self.less = e, np.ones_like(e)

    @property
    def log_rest(self):
        """Log of the mass of nothing, -inf for a slot without budget, which always shows something."""
        with np.errstate(divide="ignore"):
            return np.log(self.rest)


class _AdaptiveSlot(_Slot):
    """The same with clone probability e^{−ε}, valid when randomizers see the earlier reports."""

    def __init__(self, eps0):
        e = np.exp(eps0)
        self.mass, self.rest = 0.5 / e, -np.expm1(-eps0)
        self.more, self.less = 2.0 * e * (e / (e + 1.0)), 2.0 * e / (e + 1.0)


def _log_outcomes(counts):
    """Return the logs of the numbers of outcomes of so many slots of one kind: either symbol, or none."""
    return np.log((counts + 1.0) * (0.5 * counts + 1.0))


class PersonalizedPair(SymmetricPair):
    r"""The pair that bounds n slots of which slot i is ε_i-LDP, the users uniformly permuted first.

    .. math:: \delta(\varepsilon) = \frac1n\,\mathbb E\Bigl[\Bigl(\sum_{i=1}^n G_i\Bigr)_+\Bigr],\qquad
              G_i = \begin{cases} e^{\varepsilon_i} - e^{\varepsilon} & \text{with probability } r_i\\
              1 - e^{\varepsilon + \varepsilon_i} & \text{with probability } r_i\\
              0 & \text{else}\end{cases}, \qquad r_i = \frac{1}{e^{\varepsilon_i}+1}

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        Local budget of each slot in nats, 0 or 1e-300 ≤ ε_i ≤ 300.

    Raises
    ------
    TypeError, ValueError
        If ``eps0`` is not a non-empty, one-dimensional array of such numbers.

    Notes
    -----
    Hypotheses: the budget belongs to the *slot*; users are permuted before the randomizers are
    applied (Definition 6 of the source), slots do not see each other's reports (`adaptive` drops
    that), randomizers are pure.  Where every user keeps the own randomizer and the reports are
    shuffled afterwards, this pair proves nothing.

    Why it bounds: given what slot i's randomizer makes of two inputs and of the others' values, the
    ratios to :math:`w = \inf_x R_x` lie in :math:`[1, e^{\varepsilon_i}]`; splitting them into the
    corners of that box raises every convex function of the sum, slot by slot, and leaves the
    three-point law above.  It rises with every ε_i in the convex order, so that more than 10 000
    distinct budgets may be rounded, up for the upper end and down for the lower.

    The pair is symmetric.  Cost: few slots a list of outcomes, more of them proportional to the distinct
    budgets.
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
    _slot = _Slot
    _named = "non-adaptive"

    def __init__(self, eps0):
        budgets = arguments.reals(
            eps0, "eps0", at_least=0.0, at_most=FARTHEST, remedy="one local budget in nats for each slot"
        )
        if budgets.ndim != 1:
            raise ValueError(
                f"eps0 must be one-dimensional, one budget for each slot, got shape {budgets.shape}"
            )
        if np.any(unresolved := (budgets > 0.0) & (budgets < NEAREST)):
            raise ValueError(
                f"eps0 must hold 0 or budgets >= {NEAREST:g}, got {budgets[unresolved][0]:g}; round it up"
            )
        self._settle(*np.unique(budgets, return_counts=True))

    @classmethod
    def grouped(cls, eps0, *, counts):
        """Return the pair of many slots with few budgets.

        Parameters
        ----------
        eps0 : array_like, shape (k,)
            Budgets in nats.
        counts : array_like of int, shape (k,)
            How many slots have each; any total up to 10¹⁵.
        """
        pair = cls(eps0)
        budgets = arguments.reals(eps0, "eps0")
        held = arguments.reals(counts, "counts", at_least=1.0, remedy="each budget is that of some slot")
        if held.shape != budgets.shape or np.any(held != np.floor(held)):
            raise ValueError(
                f"counts must hold one whole number for each of the {budgets.size} budgets, got {counts!r}"
            )
        arguments.users(int(held.sum()))
        kinds, where = np.unique(budgets, return_inverse=True)
        pair._settle(kinds, np.bincount(where, weights=held))
        return pair

    @classmethod
    def adaptive(cls, eps0, *, counts=None):
        r"""Return the pair for slots that see earlier reports: clone probability :math:`e^{-\varepsilon_i}`.

        Parameters
        ----------
        eps0 : array_like, shape (n,)
            As for the class.
        counts : array_like of int, shape (n,), optional
            As for `grouped`: how many slots have each of the budgets, if not one.

        Notes
        -----
        Source: Feldman, McMillan, Talwar (FOCS 2021), slot by slot.
        """
        return _AdaptivePair(eps0) if counts is None else _AdaptivePair.grouped(eps0, counts=counts)

    def _settle(self, kinds, counts):
        self.kinds, self.counts = kinds, counts.astype(float)
        self.n = int(self.counts.sum())
        self.search_width = 2e-8 if kinds.size <= SHARP_KINDS else 1e-6
        spread = f"{kinds[0]:g}" if kinds.size == 1 else f"{kinds[0]:g} to {kinds[-1]:g}"
        self.statement = f"n={self.n} {self._named} slots with budgets {spread}"

    @property
    def largest_loss(self):
        """The largest budget, rounding included."""
        return float(self.kinds[-1]) * (1 + 8 * UNIT)

    @functools.cached_property
    def _equal(self):
        """The pair of equal budgets, which is that of identical randomizers; None where they differ."""
        if self.kinds.size > 1:
            return None
        slot = self._slot(self.kinds)
        first, second = np.concatenate([slot.more, slot.less]), np.concatenate([slot.less, slot.more])
        mass = np.concatenate([slot.mass, slot.mass])
        return CoveredPair(AmplificationVariable(first, second, mass, precision=PRECISION), self.n)

    @property
    def _silent(self):
        """How many slots have no budget."""
        return float(self.counts[self.kinds == 0.0].sum())

    @functools.cached_property
    def _few(self):
        return np.sum(_log_outcomes(self.counts[self.kinds > 0.0])) <= math.log(LISTED_OUTCOMES)

    @functools.cached_property
    def _cells(self):
        """All outcomes of few slots: how many of each kind show either symbol, and how many none."""
        told = self.kinds > 0.0
        log_mass, error, first, second = self._outcomes(self.kinds[told], self.counts[told])
        first, second = first + self._silent, second + self._silent
        keep = first > 0.0
        log_mass, log_first, log_second = log_mass[keep], np.log(first[keep]), np.log(second[keep])
        log_mass -= math.log(self.n)
        return DiscretePair.from_losses(
            log_mass + log_first,
            log_mass + log_second,
            log_first - log_second,
            mass_error=error[keep] + 8.0 * UNIT * np.abs(log_mass),
            loss_error=8.0 * PRECISION,
        )

    def _outcomes(self, kinds, counts, most=math.inf):
        """Return log-masses of what some slots can show, their errors, and the sums of either ratio.

        Left out is where more than ``most`` slots of one kind show either symbol; the first shows none.
        """
        log_mass, first, second, slot = np.zeros(1), np.zeros(1), np.zeros(1), self._slot(kinds)
        for r, none, u, v, count in zip(slot.mass, slot.log_rest, slot.more, slot.less, counts, strict=True):
            largest = int(min(count, most))
            a, b = (side.ravel() for side in np.indices((largest + 1, largest + 1)))
            a, b = (side[a + b <= largest] for side in (a, b))
            ways = gammaln(count + 1.0) - gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(count - a - b + 1.0)
            weight = ways + (a + b) * math.log(r) + (count - a - b) * none
            log_mass = np.add.outer(log_mass, weight).ravel()
            first = np.add.outer(first, a * u + b * v).ravel()
            second = np.add.outer(second, a * v + b * u).ravel()
        error = 8.0 * PRECISION * (1.0 + counts.sum()) + 8.0 * UNIT * gammaln(counts + 2.0).sum()
        return log_mass, error + 8.0 * UNIT * np.abs(log_mass), first, second

    @functools.lru_cache(maxsize=4)  # noqa: B019  few grids, as long as the pair lives
    def _grid(self, most, upward):
        """Return kinds and counts, rounded onto a grid where there are more than ``most``."""
        if self.kinds.size <= most:
            return self._slot(self.kinds), self.counts
        # edges among the budgets themselves, denser where there are more slots and where losses grow faster
        one, two = np.tanh(0.5 * self.kinds), np.expm1(self.kinds)
        spread = one / one[-1] * (two / two[-1])
        position = np.append(0.0, np.cumsum(np.sqrt(self.counts[1:] * np.diff(spread))))
        steps = np.linspace(0.0, position[-1], most)
        gaps = np.flatnonzero(np.diff(position) > steps[1])  # nothing is rounded across a wide gap
        chosen = np.concatenate([np.searchsorted(position, steps), gaps, gaps + 1])
        edges = self.kinds[np.unique(np.clip(chosen, 0, self.kinds.size - 1))]
        where = np.searchsorted(edges, self.kinds, side="left" if upward else "right") - (0 if upward else 1)
        counts = np.bincount(where, weights=self.counts, minlength=edges.size)
        return self._slot(edges[counts > 0.0]), counts[counts > 0.0]

    def _rounded(self, eps, most, upward, tolerance):
        slot, counts = self._grid(most, upward)
        return slot_positive_part_mean(
            slot.mass, slot.rest, slot.more, slot.less, counts, eps, tolerance=tolerance
        )

    def _epsilon(self, delta):
        lower, upper = super()._epsilon(delta)
        upper = min(upper, float(self.kinds[-1]))  # the local guarantee survives shuffling
        return min(lower, upper), upper

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose log δ(ε): a list of few slots, else the contour integral of the loss sum."""
        if eps >= self.largest_loss:
            return LogBracket(-math.inf, -math.inf)
        if self._equal is not None:
            return self._equal.log_hockey_stick(eps, tolerance)
        if self._few:
            return self._cells.log_hockey_stick(eps)
        if self.kinds.size > SHARP_KINDS:
            tolerance = max(tolerance, 3e-5 if self.kinds.size <= FEW_KINDS else 1e-4)
        if self._heavy < self.kinds.size:
            return self._beside_the_heavy(eps, tolerance)
        return self._along_the_line(eps, tolerance)

    @functools.cached_property
    def _shown(self):
        """How many slots of each budget are expected to show something."""
        return 2.0 * self.counts * self._slot(self.kinds).mass

    @functools.cached_property
    def _rare(self):
        """Whether, for each larger budget, slots of it and larger ones hardly ever show anything."""
        return np.cumsum(self._shown[::-1])[::-1][1:] < RARE

    @functools.cached_property
    def _weight(self):
        """Gain of each larger budget in standard deviations of all smaller ones; 0 unless rare or few."""
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = self._slot(self.kinds).less * np.expm1(self.kinds)  # its squares may leave the floats
            log_gain = np.log(gain)
            log_spread = 0.5 * np.logaddexp.accumulate(np.log(self._shown) + 2.0 * log_gain)[:-1]
            weight = np.exp(np.minimum(log_gain[1:] - log_spread, 700.0))
        few = np.cumsum(_log_outcomes(self.counts)[::-1])[::-1][1:] <= math.log(FEW_OUTCOMES)
        return np.where((self._rare | few) & (log_spread > -np.inf), weight, 0.0)

    @functools.cached_property
    def _heavy(self):
        """Index of the first heavy budget."""
        outweighs = np.flatnonzero(self._weight > HEAVY)
        return int(outweighs[0]) + 1 if outweighs.size else self.kinds.size

    @functools.cached_property
    def _hopeless(self):
        """Whether no quadrature is tried: rare slots outweigh all it resolves, or it would take minutes."""
        return bool(np.any((self._weight > HOPELESS) & (self._rare | (self.kinds.size > SHARP_KINDS))))

    @functools.cached_property
    def _light(self):
        """The pair of the slots that are not heavy."""
        light = type(self)(self.kinds[:1])
        light._settle(self.kinds[: self._heavy], self.counts[: self._heavy])
        return light

    @functools.cached_property
    def _heavy_outcomes(self):
        """Outcomes of the heavy slots, as many as are listed, and an upper end of the chance of all others.

        None where even those with one showing slot of each kind are many.
        """
        kinds, counts = self.kinds[self._heavy :], self.counts[self._heavy :]
        most = MOST_SHOWN
        while np.sum(_log_outcomes(np.minimum(counts, most))) > math.log(FEW_OUTCOMES):
            most -= 1
        if most == 0:
            return None
        shown = self._shown[self._heavy :][counts > most]  # left out: where ``most`` others of one kind show
        missed = math.fsum(shown**most) / math.factorial(most) * (1 + 1e-9)
        return *self._outcomes(kinds, counts, most), missed

    @functools.cached_property
    def _nothing_shown(self):
        """Lower end of the chance that no slot shows anything."""
        silent = math.fsum(self.counts * self._slot(self.kinds).log_rest)
        return math.exp(silent) * max(1.0 - 16 * PRECISION * (1.0 + self.n), 0.0)

    def _raised(self, level, slack, eps):
        """Enclose the mean of (level + loss sum)₊ in units of e^ε, by Jensen below and the variance above."""
        slot = self._slot(self.kinds)
        middle = 0.5 * (slot.more + slot.less) * -math.expm1(-eps)
        half = 0.5 * slot.less * np.expm1(self.kinds) * (1.0 + math.exp(-eps))
        spread = 2.0 * slot.mass * (half**2 + slot.rest * middle**2)
        variance = max(math.fsum(self.counts * spread) * (1.0 + 64 * PRECISION), 1e-300)  # few digits below
        pull = -math.expm1(-eps) * self.n
        most = level + slack - pull * (1 - 8 * UNIT)
        far = np.abs(most) + np.hypot(most, math.sqrt(variance))
        above = 0.5 * np.where(most > 0.0, far, variance / far)
        return np.maximum(level - slack - pull * (1 + 8 * UNIT), 0.0), above

    def _beside_the_heavy(self, eps, tolerance):
        """Enclose log δ where few slots show much: no quadrature resolves a rare, heavy summand."""
        light = self._light.log_hockey_stick(eps, tolerance)
        light = [math.exp(end) * self._light.n * math.exp(-eps) for end in light]
        low, high = self._one_heavy_alone(eps, light)
        shift = eps - math.log(self.n)
        pad = 16 * PRECISION * (1.0 + math.fsum(self.counts[self._heavy :]))
        pad += 8 * UNIT * (2.0 + eps + math.log(self.n))

        def bracket(low, high):
            low = math.log(low - UNRESOLVED) + shift - pad if low > UNRESOLVED else -math.inf
            return LogBracket(low, min(math.log(high + UNRESOLVED) + shift + pad, 0.0))

        beside = bracket(low, high)
        for refined in (0, REFINED // self._light.kinds.size):
            if self._heavy_outcomes is not None and beside.upper > beside.lower + tolerance:
                listed = self._each_heavy_outcome(eps, light, tolerance, refined)
                beside = narrower(beside, bracket(*listed))
        if beside.upper > beside.lower + max(tolerance, SHARP_BESIDE) and not self._hopeless:
            beside = narrower(beside, self._along_the_line(eps, tolerance))
        return beside

    def _one_heavy_alone(self, eps, light):
        r"""Enclose n δ in units of e^ε by the events in which one heavy slot at most shows its gain.

        With H the sum over the heavy slots and S over the n' others, E S = −n'(e^ε − 1), and
        (H + S)₊ ≤ H₊ + S₊; where heavy slot i alone gains g, E(g + S)₊ is at most half of g + E S plus the
        root of its square and Var S.  Conversely the events "no heavy slot shows anything" and "heavy slot i
        shows its gain, the other heavy ones nothing" are disjoint, and Jensen's inequality holds in each;
        or no light slot shows anything either.
        """
        heavy, held = self._slot(self.kinds[self._heavy :]), self.counts[self._heavy :]
        shrink, seen = math.exp(-eps), held * heavy.mass
        gain, slack = heavy.more * shrink - heavy.less, 16 * PRECISION * (heavy.more * shrink + heavy.less)
        least, most = np.maximum(gain - slack, 0.0), np.maximum(gain + slack, 0.0)
        below, above = self._light._raised(gain, slack, eps)
        above += (math.fsum(seen) * (1 + 4 * UNIT) - heavy.mass) * most  # if others gain too
        silent = math.fsum(held * heavy.log_rest)  # −inf if a slot always shows something
        alone = seen * np.exp(silent - heavy.log_rest)
        low = max(math.fsum(alone * below), math.fsum(alone * least) * self._light._nothing_shown)
        low += math.exp(silent) * light[0]
        return low, math.fsum(seen * np.minimum(most, above)) + light[1]

    def _each_heavy_outcome(self, eps, light, tolerance, refined):
        """Enclose n δ in units of e^ε by what the light slots add to each outcome of the heavy ones.

        First by Jensen's inequality and the variance, then, for some outcomes, by the contour integral.
        Where many show something, and it is not listed, (H + S)₊ ≤ H₊ + S₊.
        """
        log_mass, error, first, second, missed = self._heavy_outcomes
        least, most = np.exp(log_mass - error), np.exp(log_mass + error)
        shrink, slots = math.exp(-eps), self._light._slot(self._light.kinds)
        level, slack = first * shrink - second, 16 * PRECISION * (first * shrink + second)
        below, above = self._light._raised(level, slack, eps)
        below[0], above[0] = max(below[0], light[0]), min(above[0], light[1])
        gap, tolerance = most * above - least * below, max(tolerance, SHARP_BESIDE)
        for i in np.argsort(-gap)[:refined]:
            if i and math.fsum(gap) > 0.5 * tolerance * math.fsum(least * below):
                sharp = slot_positive_part_mean(
                    slots.mass,
                    slots.rest,
                    slots.more,
                    slots.less,
                    self._light.counts,
                    eps,
                    tolerance=tolerance,
                    known=(float(first[i]), float(second[i])),
                )
                below[i] = max(below[i], math.exp(sharp.lower))
                above[i] = min(above[i], math.exp(sharp.upper))
                gap[i] = most[i] * above[i] - least[i] * below[i]
        low, high = math.fsum(least * below), math.fsum(most * above)
        if missed > 0.0:
            heavy = self._slot(self.kinds[self._heavy :])
            gain = heavy.more * shrink - heavy.less + 16 * PRECISION * (heavy.more * shrink + heavy.less)
            seen = self.counts[self._heavy :] * heavy.mass
            high += missed * (math.fsum(seen * np.maximum(gain, 0.0)) + light[1])
        return low, high

    def _along_the_line(self, eps, tolerance):
        """Enclose log δ by the contour integral."""
        most = FEW_KINDS if tolerance >= 1e-3 else MOST_KINDS
        upper = self._rounded(eps, most, True, tolerance)
        lower = upper if self.kinds.size <= most else self._rounded(eps, most, False, tolerance)
        shift = eps - math.log(self.n)
        pad = 8 * UNIT * (2.0 + eps + math.log(self.n))
        low, high = lower.lower + shift - pad, min(upper.upper + shift + pad, 0.0)
        return LogBracket(min(low, high), high)

    def renyi_directed(self, order, enough=0.0):
        """Return both ends of D_order(P‖Q)."""
        if self._equal is not None:
            return self._equal.renyi_directed(order, enough)
        if self._few:
            return self._cells.renyi_directed(order)
        return super().renyi_directed(order, enough)

    def false_negatives(self, fpr):
        """Return both ends of the smallest false-negative rate."""
        if self._equal is None and self._few:
            return self._cells.false_negatives(fpr)
        return super().false_negatives(fpr)


class _AdaptivePair(PersonalizedPair):
    """Slots that see all earlier reports; made by `PersonalizedPair.adaptive`."""

    _slot = _AdaptiveSlot
    _named = "adaptive"

"""The search for the value of one parameter at which a family of profiles begins to miss a target (ε, δ).

The search proves nothing.  The proof is the certificate of the value returned: its profile, evaluated at
the target δ.  So no answer rests on ε being monotone in the parameter; where it is not, the answer is one
of several crossings and not always the last one.
"""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shufflelib.numerics.certified import TOLERANCE, Certified, written
from shufflelib.numerics.optional import counting
from shufflelib.numerics.side_by_side import answers, values
from shufflelib.profiles.questions import PrivacyProfile, in_both_directions

COARSER = 1e3  # the search for a value that fails stops at a width that much larger
FARTHEST, TINY = 20.0, 1e-15  # heights of a δ of 0 or 1, and of a δ that just meets the target
ROUNDING = 1e-12  # of logarithms of δ
STEEP, SHALLOWEST = 2.0, 0.1  # slope of log(-log δ) with which the first step is guessed, and the least
BEYOND, PAST = 1.1, 0.05  # times the step, and the way from the nearer end, to get past the root
MISSING = 1e-2  # share of log δ by which a first attack is to miss the target
MANY_STEPS, JUMPED = 12, 10.0  # after so many steps the search ends at a width that much larger


@dataclass(frozen=True)
class Calibration:
    """The answer to an inverse question, with the proof and a nearby value that is proved to fail.

    Parameters
    ----------
    answer : float or int
        The value that was found.  Its certificate meets the target.
    certificate : Certified
        ε at the target δ for the answer itself: ``certificate.upper <= eps``.
    unproved : float, int or None
        The nearest value tried beyond the answer: its upper bound, on δ at the target ε or on ε at the
        target δ, misses the target.  The search aims at 1e-7 of the answer, for many rounds at 1e-5, and
        stops farther from it where δ is less well known; for example 5e-5 for ``generic``, n = 10⁵ and ε = 5
        at δ = 1e-6.  A small whole number is the next one.  None if the answer is the end of the range.
    fails : float, int or None
        A value at which the *lower* bound on δ at the target ε exceeds the target's: an attack shows that
        the target is missed.  The true limit is between ``answer`` and ``fails``.  The search for
        the nearest such value aims at 1e-4, for many rounds at 1e-2.  None if no such value was found.
    eps, delta : float
        The target.
    quantity : str
        Description of the parameter.
    warning : str
        Why the target may not be what was meant, or an empty text; the first line of ``str()``.

    Examples
    --------
    >>> from shufflelib import calibration, randomizers
    >>> found = calibration.fewest_users(randomizers.binary_rr, eps0=1.0, eps=0.1, delta=1e-6)
    >>> found.certificate.upper <= found.eps, found.fails < found.unproved < found.answer
    (True, True)
    """

    answer: float | int
    certificate: Certified[float]
    unproved: float | int | None
    fails: float | int | None
    eps: float
    delta: float
    quantity: str
    warning: str = ""

    def __str__(self):
        beyond = (
            "no value tried is proved to fail"
            if self.fails is None
            else f"{_exact_or(self.fails, up=self.fails > self.answer)} is proved to fail"
        )
        up = self.unproved is not None and self.unproved < self.answer
        return f"{self.warning}\n" * bool(self.warning) + (
            f"{self.quantity}: {_exact_or(self.answer, up=up)}, proved to give epsilon <= "
            f"{written(self.certificate.upper, up=True, digits=8)} at delta = {self.delta} "
            f"(target {self.eps}); {beyond}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the answer and its certificate as a dictionary of numbers and text."""
        found = {"answer": self.answer, "unproved": self.unproved, "fails": self.fails}
        return found | self.certificate.to_dict() | {"warning": self.warning}


def _exact_or(value, *, up):
    """Write a whole number as it is, a budget rounded to the side on which the statement stays true."""
    return f"{value:,}" if isinstance(value, int) else written(value, up=up, digits=8)


@dataclass
class Family:
    """A family of profiles in one parameter, and the value at which they begin to miss a target.

    The search runs over the logarithm of the parameter, with its sign chosen so that δ rises, and uses
    log(-log δ), which is nearly linear there.
    """

    profile_at: Callable[[Any], PrivacyProfile]
    eps: float
    delta: float
    limits: tuple[float, float]
    tolerance: float
    falling: bool = False
    whole: bool = False
    accuracy: float = TOLERANCE  # of δ, relative
    attack_accuracy: float = TOLERANCE  # the same where an attack is searched for

    def __post_init__(self):
        self.profile = functools.cache(self.profile_at)

    def calibration(self, quantity, *, start, remedy, attacked=None):
        """Return the last value that is proved to work, and one that is proved to fail.

        The latter is looked for from the answer on, or beside ``attacked``, where it nearly is.
        """
        answer, unproved = self.edge(self.proved, start)
        nearest = unproved if answer is None else answer
        beyond = nearest if unproved is None else unproved
        fails = attacked and self._before(attacked, -MISSING)
        if fails is None or not self.attacked(fails) > math.log(self.delta):
            _, fails = self.edge(self.attacked, attacked or beyond, tolerance=COARSER * self.tolerance)
        stride = self.tolerance
        if answer is not None and not self.whole:
            width = max(pair.search_width for pair in self.profile(answer).dominating_pairs)
            if width > stride:  # so near the edge ε is hardly ever proved
                answer, stride = self._before(answer, stride), 2.0 * stride
        while answer is not None:
            certificate = self.profile(answer).epsilon(self.delta)  # depends on no other question
            if certificate.upper <= self.eps:
                return Calibration(answer, certificate, unproved, fails, self.eps, self.delta, quantity)
            # δ at ε was met and ε at δ was not, as both are known to some width only: step back
            stride = max(stride, math.log(min(certificate.upper / self.eps, 2.0)))
            unproved, answer = answer, self._before(answer, stride)
            stride *= 2.0
        raise ValueError(
            f"eps = {self.eps:g} at delta = {self.delta:g} is out of reach ({quantity}): even "
            f"{_exact_or(nearest, up=True)} is not proved to meet it; {remedy}"
        )

    def proved(self, value):
        """Return the upper bound on log δ at the target ε."""
        pairs = self.profile(value).dominating_pairs
        return max(ends.upper[0] for ends in self._curves(pairs, self.accuracy))

    def attacked(self, value):
        """Return the lower bound on log δ at the target ε."""
        pairs = self.profile(value).attack_pairs
        return max(ends.lower[0] for ends in self._curves(pairs, self.attack_accuracy)) - ROUNDING

    def _curves(self, pairs, tolerance):
        return answers([values(one, [self.eps], tolerance) for one in in_both_directions(pairs)])

    @counting("points of curves")
    def edge(self, log_delta, start, *, tolerance=None):
        """Return the last value tried at which a bound on δ meets the target, and the next one tried."""
        first, last = sorted(self._place(limit) for limit in self.limits)
        target, tried = math.log(self.delta), {}
        width = self.tolerance if tolerance is None else tolerance

        def height(place):  # positive where the target is missed
            value = self._value(place)
            if value not in tried:
                reached = log_delta(value)
                if -math.inf < reached < 0.0:
                    ratio = math.log(target / reached)
                    tried[value] = max(ratio, TINY) if reached > target else min(ratio, -TINY)
                else:
                    tried[value] = math.copysign(FARTHEST, reached)
            return tried[value]

        here = min(max(self._place(start), first), last)
        before, most, slope = height(here), math.log(8.0), STEEP
        least = 1e-3
        while True:
            step = -math.copysign(min(max(BEYOND * abs(before) / slope, least), most), before)
            there = min(max(here + step, first), last)
            if there == here:
                break
            after = height(there)
            if (after > 0.0) != (before > 0.0):
                self._narrow(height, *sorted([(here, before), (there, after)]), width)
                break
            if max(abs(before), abs(after)) < FARTHEST:
                slope = max((after - before) / (there - here), SHALLOWEST)
            here, before, least, most = there, after, 4.0 * least, 2.0 * most
        ranked = sorted(tried, key=self._place)
        met = 1 + max((i for i, value in enumerate(ranked) if tried[value] < 0.0), default=-1)
        return ranked[met - 1] if met else None, ranked[met] if met < len(ranked) else None

    def _narrow(self, height, low, high, width):
        """Try values between two places, each with its height, until they are close; sooner if δ jumps.

        A parabola through the two and the last one beside them says where: a little past the root as seen
        from the nearer end, so that the farther one moves too.
        """
        (low, below), (high, above), beside, slow = low, high, low, 0
        for step in itertools.count():
            gap, units = high - low, abs(self._value(high) - self._value(low)) if self.whole else math.inf
            if units <= 1 or gap <= (width if step < MANY_STEPS else JUMPED * width):
                return
            root = low + gap * below / (below - above)
            past = PAST * min(root - low, high - root)
            if not below <= beside[1] <= above and max(above, -below, abs(beside[1])) < FARTHEST:
                far, reached = beside  # places are a parabola of the height
                line = low + gap * (reached - below) / (above - below)
                bent = root + (far - line) / ((reached - below) * (reached - above)) * below * above
                if low < bent < high:
                    root, past = bent, 0.1 * abs(bent - root)
            past = max(past, 0.1 * width, 0.5 * gap / units)
            place = root + past if root - low < high - root else root - past
            if slow == 2 or not low < place < high:
                place, slow = 0.5 * (low + high), 0
            reached = height(place)
            if reached > 0.0:
                beside, high, above = (high, above), place, reached
            else:
                beside, low, below = (low, below), place, reached
            slow = slow + 1 if high - low > 0.5 * gap else 0

    def _before(self, value, stride):
        """Return a value one stride to the safe side, or None at the end of the range."""
        moved = self._value(self._place(value) - stride)
        if self.whole and moved == value:
            moved += 1 if self.falling else -1
        return moved if self.limits[0] <= moved <= self.limits[1] and moved != value else None

    def _place(self, value):
        return -math.log(value) if self.falling else math.log(value)

    def _value(self, place):
        for limit in self.limits:
            if place == self._place(limit):
                return limit
        value = math.exp(-place if self.falling else place)
        return round(value) if self.whole else value

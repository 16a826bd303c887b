"""A failure curve: the claimed and the true value of a claim as functions of one parameter."""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shufflelib.numerics import validation


class Relation(NamedTuple):
    """What is claimed of a number, and when a claimed and a true value contradict it.

    Attributes
    ----------
    sign : str
        ``"≤"``, ``"≥"`` or ``"="``.
    broken : callable
        Takes the claimed and the true value.
    """

    sign: str
    broken: Callable


UPPER = Relation("≤", operator.lt)
LOWER = Relation("≥", operator.gt)


def within(tolerance):
    """Return the relation of an equation that may be wrong by this, relatively."""
    return Relation("=", lambda claimed, true: abs(claimed - true) > tolerance * max(abs(claimed), abs(true)))


@dataclass(frozen=True)
class FailureCurve:
    r"""A claim as a function of one parameter, the others held fixed.

    Parameters
    ----------
    parameter : str
        What varies, as it stands below a picture: ``"users n"``.
    quantity : str
        What is claimed, with the values of all other parameters: ``"δ at ε = 1, ε₀ = 2"``.
    at : tuple of float
        Values of the parameter, increasing.
    claimed, true : tuple of float
        The claim's number and the truth's end that decides against it; NaN outside the claim's regime.
    kind : Relation
        What is claimed of the number.
    """

    parameter: str
    quantity: str
    at: tuple
    claimed: tuple
    true: tuple
    kind: Relation

    def __post_init__(self):
        lengths = {len(self.at), len(self.claimed), len(self.true)}
        if len(lengths) != 1 or len(self.at) < 2:
            raise ValueError(
                f"a failure curve needs two points or more, and as many of each, got {sorted(lengths)}"
            )
        if not all(a < b for a, b in zip(self.at, self.at[1:], strict=False)):
            raise ValueError(f"at must increase, got {validation.shown(self.at)}")

    @property
    def relation(self):
        """The sign of what is claimed."""
        return self.kind.sign

    @property
    def fails(self):
        """Where the claim is wrong, a tuple of bool."""
        return tuple(map(self.kind.broken, self.claimed, self.true))

    @property
    def worst(self):
        """Position of the failure that is largest as a factor; None where the claim never fails."""
        positions = [position for position, failed in enumerate(self.fails) if failed]
        return max(positions, key=self._parted, default=None)

    @property
    def factor(self):
        """By how much the claim fails at its worst; infinite where a number is not positive, 1 if nowhere."""
        return 1.0 if self.worst is None else self._parted(self.worst)[0]

    def _parted(self, position):
        """How far the two numbers are apart: as a factor, and where that is infinite, as a difference."""
        low, high = sorted((self.claimed[position], self.true[position]))
        return (high / low if low > 0.0 else math.inf), high - low

    def description(self):
        """Return in one sentence where the claim fails, and by how much."""
        if self.worst is None:
            return f"{self.quantity}: no failure among {len(self.at)} values of {self.parameter}"
        failing = [value for value, failed in zip(self.at, self.fails, strict=True) if failed]
        here = self.worst
        return (
            f"{self.quantity}: fails at {len(failing)} of {len(self.at)} values, "
            f"{self.parameter} from {failing[0]:.4g} to {failing[-1]:.4g}; worst at {self.at[here]:.4g}, "
            f"where {self.claimed[here]:.4g} is claimed and {self.true[here]:.4g} is proved against it"
        )


class Along(NamedTuple):
    """What a failure curve is computed from; the ledger has the words at its ``axes``.

    Attributes
    ----------
    at : sequence of float
        Values of the parameter, increasing.
    ends : callable
        Takes one of them, returns the truth's end that decides, and the number that is claimed.
    kind : Relation
        `UPPER`, `LOWER`, or `within` a tolerance.
    """

    at: Sequence
    ends: Callable
    kind: Relation = UPPER

    def curve(self, parameter, quantity):
        """Return the `FailureCurve` with these words."""
        true, claimed = (tuple(map(float, ends)) for ends in zip(*map(self.ends, self.at), strict=True))
        return FailureCurve(parameter, quantity, tuple(map(float, self.at)), claimed, true, self.kind)

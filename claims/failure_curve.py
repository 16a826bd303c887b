"""A failure curve: the claimed and the true value of a claim as functions of one parameter."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shufflelib.numerics import validation


@dataclass(frozen=True)
class FailureCurve:
    r"""A claim as a function of one parameter, the others held fixed.

    Use `Along`, or `under_upper_bound`, `over_lower_bound` and `beside_equality`, which differ in where a
    claim fails.

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
    fails : tuple of bool
        Where the claim is wrong.
    relation : str
        What is claimed of the number: ``"≤"``, ``"≥"`` or ``"="``.
    """

    parameter: str
    quantity: str
    at: tuple
    claimed: tuple
    true: tuple
    fails: tuple
    relation: str

    def __post_init__(self):
        lengths = {len(self.at), len(self.claimed), len(self.true), len(self.fails)}
        if len(lengths) != 1 or len(self.at) < 2:
            raise ValueError(
                f"a failure curve needs two points or more, and as many of each, got {sorted(lengths)}"
            )
        if not all(a < b for a, b in zip(self.at, self.at[1:], strict=False)):
            raise ValueError(f"at must increase, got {validation.shown(self.at)}")

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


def under_upper_bound(parameter, quantity, at, claimed, lower):
    """Return the failure curve of an upper bound, which fails where the truth's lower end exceeds it."""
    return _failure_curve(
        parameter, quantity, at, claimed, lower, lambda claimed_value, true: true > claimed_value, "≤"
    )


def over_lower_bound(parameter, quantity, at, claimed, upper):
    """Return the failure curve of a lower bound, which fails where the truth's upper end stays below it."""
    return _failure_curve(
        parameter, quantity, at, claimed, upper, lambda claimed_value, true: true < claimed_value, "≥"
    )


def beside_equality(parameter, quantity, at, claimed, true, *, tolerance):
    """Return the failure curve of an equation, which fails beyond a relative tolerance."""
    return _failure_curve(
        parameter,
        quantity,
        at,
        claimed,
        true,
        lambda claimed_value, true_value: (
            abs(claimed_value - true_value) > tolerance * max(abs(claimed_value), abs(true_value))
        ),
        "=",
    )


def within(tolerance):
    """Return the kind of curve of an equation that may be wrong by this, relatively."""
    return functools.partial(beside_equality, tolerance=tolerance)


def _failure_curve(parameter, quantity, at, claimed, true, wrong, relation):
    claimed, true = (tuple(float(value) for value in values) for values in (claimed, true))
    fails = tuple(
        bool(wrong(claimed_value, true_value))
        for claimed_value, true_value in zip(claimed, true, strict=True)
    )
    at = tuple(float(value) for value in at)
    return FailureCurve(parameter, quantity, at, claimed, true, fails, relation)


class Along(NamedTuple):
    """What a failure curve is computed from; the ledger has the words at its ``axes``.

    Attributes
    ----------
    at : sequence of float
        Values of the parameter, increasing.
    ends : callable
        Takes one of them, returns the truth's end that decides, and the number that is claimed.
    kind : callable
        `under_upper_bound`, `over_lower_bound`, or `within` a tolerance.
    """

    at: Sequence
    ends: Callable
    kind: Callable = under_upper_bound

    def curve(self, parameter, quantity):
        """Return the `FailureCurve` with these words."""
        true, claimed = zip(*map(self.ends, self.at), strict=True)
        return self.kind(parameter, quantity, self.at, claimed, true)

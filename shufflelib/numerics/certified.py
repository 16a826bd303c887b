"""Certified numbers: a lower and an upper end, how the method fared, and what proves them.

`Certified` is what users are given; computations pass on an `interval.Interval`.
"""

import enum
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

import numpy as np

TOLERANCE = 1e-6  # relative width aimed at
MEETING = 1e-6  # relative distance of two ends that meet


class Status(enum.Enum):
    """How a certified bracket came about; the value is the sentence shown to people.

    Examples
    --------
    >>> from shufflelib import Status
    >>> from shufflelib.published import conversions
    >>> f = conversions.tradeoff_from_approximate_dp_wasserman10(eps=0.5, delta=1e-6)
    >>> conversions.epsilon_from_tradeoff_dong22(f, delta=1e-7).status is Status.UNBOUNDED
    True
    """

    CERTIFIED = "certified on both sides"
    TRIVIAL_LOWER = "certified above; the lower end is trivial, because nothing better is known"
    TRIVIAL_UPPER = "certified below; the upper end is trivial, because nothing better is known"
    TRIVIAL = "both ends are trivial, because nothing better is known"
    BELOW_RESOLUTION = (
        "the target lies below what the method can resolve; the ends are the trivial ones: use a larger delta"
    )
    UNBOUNDED = "no finite bound is proved here; the upper end is infinite: use a larger delta or more users"

    @classmethod
    def of(cls, lower, upper, *, floor=0.0, ceiling=np.inf):
        """Return the status of brackets: what can be said of all of them.

        Parameters
        ----------
        lower, upper : float or numpy.ndarray
            Ends of the brackets.
        floor, ceiling : float or numpy.ndarray
            What is known of the quantity before anything is computed, such as 0 and the local guarantee.

        Returns
        -------
        Status
            `UNBOUNDED` if an upper end is infinite.  An end counts as trivial if it is at its floor or
            ceiling while the other end is more than a relative 1e-6 away.
        """
        lower, upper = np.asarray(lower, float), np.asarray(upper, float)
        if np.isinf(upper).any():
            return cls.UNBOUNDED
        apart = upper - lower > MEETING * upper
        low = (apart & (lower <= floor)).any()
        high = (apart & (upper >= np.asarray(ceiling) * (1.0 - MEETING))).any()
        return {
            (False, False): cls.CERTIFIED,
            (True, False): cls.TRIVIAL_LOWER,
            (False, True): cls.TRIVIAL_UPPER,
            (True, True): cls.TRIVIAL,
        }[bool(low), bool(high)]


def written(value, *, up, digits=10):
    """Write an end of a bracket, rounded to the side on which it stays true.

    Parameters
    ----------
    value : float
        The end; infinite ends stay infinite.
    up : bool
        True for an upper end, False for a lower one.
    digits : int
        Significant digits, at most 15.

    Returns
    -------
    str
        The shortest text of so many digits; read back it lies on the given side of ``value``.

    Examples
    --------
    >>> from shufflelib.numerics.certified import written
    >>> written(0.123456789, up=False, digits=4), written(0.123456789, up=True, digits=4)
    ('0.1234', '0.1235')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{float(context.create_decimal_from_float(float(value))):.{digits}g}"


@dataclass(frozen=True)
class Certified:
    """A quantity enclosed from both sides: ``lower <= true value <= upper``.

    Both inequalities include floating-point error, truncated tails and grid error of the computation.  They
    are about the mechanism as stated, with real-valued noise, not about the floats that ``sample`` draws.

    Parameters
    ----------
    lower, upper : float or numpy.ndarray
        Ends of the bracket, equal shapes, never NaN, ``lower <= upper``.
    status : Status, optional
        Whether both ends are proved, or why an end is only trivial; by default `Status.of` the ends.
    source : str
        What proves either end, in words.
    statement : str
        The quantity in words (what is bounded, for whom), used by ``str()``.
    hypotheses : tuple of str
        What the number assumes: whom to trust, and what must not depend on the values.

    Raises
    ------
    ValueError
        If shapes differ, an end is NaN or the ends are inverted: a bug, never a user's error.

    Notes
    -----
    There is no ``__float__``: a caller says which end is meant.  For ε and δ the safe end is
    ``upper``; for a false-negative rate it is ``lower``.

    Examples
    --------
    >>> from shufflelib import Certified
    >>> print(Certified(0.0625, 0.125, source="two proofs", statement="epsilon at delta = 1e-6"))
    epsilon at delta = 1e-6
    0.0625 ≤ value ≤ 0.125
    certified on both sides
    two proofs
    """

    lower: float | np.ndarray
    upper: float | np.ndarray
    status: Status | None = None
    source: str = ""
    statement: str = field(default="", compare=False)
    hypotheses: tuple = field(default=(), compare=False)

    def __post_init__(self):
        lower, upper = np.array(self.lower, float), np.array(self.upper, float)  # copies, to be frozen
        if lower.shape != upper.shape:
            raise ValueError(f"ends of a bracket must have equal shapes, got {lower.shape} and {upper.shape}")
        if not np.all(lower <= upper):
            raise ValueError(f"a bracket must satisfy lower <= upper, got {self.lower!r} and {self.upper!r}")
        if lower.ndim == 0:
            lower, upper = float(lower), float(upper)
        else:
            for end in (lower, upper):
                end.flags.writeable = False
        if self.status is None:
            object.__setattr__(self, "status", Status.of(lower, upper))
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    def __str__(self):
        if np.ndim(self.lower):
            low = written(np.min(self.lower), up=False, digits=6)
            high = written(np.max(self.upper), up=True, digits=6)
            ends = f"{np.size(self.lower)} brackets, {low} … {high}"
        else:
            ends = f"{written(self.lower, up=False)} ≤ value ≤ {written(self.upper, up=True)}"
        provided = "provided that " + "; ".join(self.hypotheses) if self.hypotheses else ""
        lines = (self.statement, ends, self.status.value, self.source, provided)
        return "\n".join(part for part in lines if part)

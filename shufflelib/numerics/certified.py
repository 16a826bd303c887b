"""Numbers with certified lower and upper bounds: `Interval` for computations, `Certified` for users.

Every operation on an `Interval` rounds outward.  It charges what `logspace` says of NumPy: half a unit in the
last place for sums, products and quotients, four units for exp, expm1, log and log1p.  A unit is `UNIT` times
the result.
"""

import enum
import html
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.numerics.optional import data_frame
from shufflelib.numerics.types import Array, T

if TYPE_CHECKING:
    from pandas import DataFrame

TOLERANCE = 1e-6  # relative width aimed at
MEETING = 1e-6  # relative distance of two bounds that agree
WIDE = 2.0  # factor between the bounds from which on a text says so
LEAST = math.ulp(0.0)  # what is positive is at least so much
LEAST_NORMAL = float(np.finfo(float).tiny)
LONG_UNIT = float(np.finfo(np.longdouble).eps)


class Status(enum.Enum):
    """How a certified bracket was obtained; the value is the sentence that users see.

    Examples
    --------
    >>> from shufflelib import Status
    >>> from shufflelib.published import conversions
    >>> f = conversions.tradeoff_from_approximate_dp_wasserman10(eps=0.5, delta=1e-6)
    >>> conversions.epsilon_from_tradeoff_dong22(f, delta=1e-7).status is Status.UNBOUNDED
    True
    """

    CERTIFIED = "certified on both sides"
    TRIVIAL_LOWER = "certified above; the lower bound is trivial, because nothing better is known"
    TRIVIAL_UPPER = "certified below; the upper bound is trivial, because nothing better is known"
    TRIVIAL = "both bounds are trivial, because nothing better is known"
    BELOW_RESOLUTION = (
        "the target is below what the method can resolve, so both bounds are trivial: use a larger delta"
    )
    UNBOUNDED = (
        "no finite bound is proved here; the upper bound is infinite: use a mechanism in which every value "
        "can lead to every report; a larger delta or more users help only where values share most reports"
    )

    @classmethod
    def of(
        cls, lower: ArrayLike, upper: ArrayLike, *, floor: ArrayLike = 0.0, ceiling: ArrayLike = np.inf
    ) -> "Status":
        """Return what holds for all of these brackets.

        ``floor`` and ``ceiling`` are known before anything is computed, such as 0 and the local guarantee.  A
        bound that equals its floor or ceiling is trivial if the other one is more than a relative 1e-6 away.
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


def written(value: float, *, up: bool, digits: int = 10) -> str:
    """Write a bound with at most 15 significant digits: rounded up if it is an upper one, else down.

    Examples
    --------
    >>> from shufflelib.numerics.certified import written
    >>> written(0.123456789, up=False, digits=4), written(0.123456789, up=True, digits=4)
    ('0.1234', '0.1235')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    rounded = context.create_decimal_from_float(float(value))
    if abs(rounded) >= LEAST_NORMAL or rounded == 0 or not rounded.is_finite():
        return f"{float(rounded):.{digits}g}"
    return f"{rounded.normalize(context):g}"  # no float: the nearest one may lie on the other side


def decimals(value: float, *, up: bool, digits: int) -> str:
    """Write a bound with so many decimals, rounded like `written`.

    Examples
    --------
    >>> from shufflelib.numerics.certified import decimals
    >>> decimals(12.3456, up=False, digits=2), decimals(12.3456, up=True, digits=2)
    ('12.34', '12.35')
    """
    if not math.isfinite(value):
        return f"{value}"
    step, context = Decimal(1).scaleb(-digits), Context(prec=350)  # 1e308, with 15 decimals
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return f"{Decimal(float(value)).quantize(step, rounding, context):f}"


@dataclass(frozen=True, repr=False)
class Certified(Generic[T]):
    """A quantity with certified lower and upper bounds: ``lower <= true value <= upper``.

    Both inequalities include floating-point error, truncated tails and grid error of the computation.  They
    are about the mechanism as stated, with real-valued noise, not about the floats that ``sample`` draws.

    Parameters
    ----------
    lower, upper : float or numpy.ndarray
        The two bounds: equal shapes, never NaN, ``lower <= upper``.
    status : Status, optional
        Whether both bounds are proved, or why one is trivial; by default `Status.of` the bounds.
    source : str
        What proves each of the two bounds, in words.
    statement : str
        The quantity in words (what is bounded, for whom), used by ``str()``.
    assumptions : tuple of str
        What the number assumes: whom to trust, and what must not depend on the values.
    cause : str
        Why the bracket is wide, if it is: the theory, the numerics, or both.
    warning : str
        What a reader must know before the number, such as that δ is too large to protect anybody.

    Raises
    ------
    ValueError
        If shapes differ, a bound is NaN or lower > upper: a bug, never a user's error.

    Notes
    -----
    A bracket is not a number: a caller says which bound is meant.  For ε and δ the safe bound is ``upper``;
    for a false-negative rate it is ``lower``.  So ``float(bracket)``, ``bracket < 1`` and unpacking raise a
    `TypeError`.  ``f"{bracket:.3g}"`` writes both bounds, each rounded outward.

    Examples
    --------
    >>> from shufflelib import Certified
    >>> print(Certified(0.0625, 0.125, source="two proofs", statement="epsilon at delta = 1e-6"))
    epsilon at delta = 1e-6
    0.0625 ≤ value ≤ 0.125
    certified on both sides
    two proofs
    >>> f"{Certified(0.0625, 0.125):.2g}"
    '[0.062, 0.13]'
    """

    lower: T
    upper: T
    status: Status = None  # type: ignore[assignment]  # never None once made
    source: str = ""
    statement: str = field(default="", compare=False)
    assumptions: tuple[str, ...] = field(default=(), compare=False)
    cause: str = field(default="", compare=False)
    warning: str = field(default="", compare=False)

    def __post_init__(self):
        lower, upper = np.array(self.lower, float), np.array(self.upper, float)  # copies, to be frozen
        if lower.shape != upper.shape:
            raise ValueError(f"the two bounds must have equal shapes, got {lower.shape} and {upper.shape}")
        if not np.all(lower <= upper):
            raise ValueError(
                f"the two bounds must satisfy lower <= upper, got {self.lower!r} and {self.upper!r}"
            )
        if lower.ndim == 0:
            lower, upper = float(lower), float(upper)
        else:
            for end in (lower, upper):
                end.flags.writeable = False
        if self.status is None:
            object.__setattr__(self, "status", Status.of(lower, upper))
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    def __repr__(self):
        return f"<Certified {self._ends()}: {self.statement}>"

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"

    def _ends(self):
        if np.ndim(self.lower):
            low = written(np.min(self.lower), up=False, digits=6)
            high = written(np.max(self.upper), up=True, digits=6)
            return f"{np.size(self.lower)} brackets, {low} … {high}"
        low, high = written(self.lower, up=False, digits=6), written(self.upper, up=True, digits=6)
        return f"{low} ≤ value ≤ {high}"

    def __str__(self):
        provided = ["provided that", *(f"- {one}" for one in self.assumptions)] if self.assumptions else []
        proofs = self.source.split("; ")
        first = self.warning, self._wide(), self.statement, self._ends(), self.status.value
        return "\n".join(part for part in (*first, *proofs, *provided) if part)

    def _wide(self):
        """Say that the bracket is wide, or nothing."""
        factor = np.max(self.width)
        if not WIDE < factor < np.inf or self.status is Status.UNBOUNDED:
            return ""
        cause = f" ({self.cause})" if self.cause else ""
        times = f"{factor:,.{1 if factor < 10.0 else 0}f}" if factor < 1e6 else f"{factor:.1e}"
        return f"certified, but wide: a factor {times}{cause}"

    @property
    def width(self) -> T:
        """``upper / lower``, a float or an array: 1 if they are equal, infinite if only ``lower`` is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(self.lower == self.upper, 1.0, np.divide(self.upper, self.lower))
        width: Any = float(factor) if factor.ndim == 0 else factor
        return width

    def __format__(self, spec):
        if not spec:
            return str(self)
        match = re.fullmatch(r"\.(\d+)([fg])", spec)
        digits = int(match[1]) if match else 0
        if not 1 <= digits <= 15:
            raise ValueError(
                f"the format of a bracket must be like '.3g' or '.4f', 1 to 15 digits, got {spec!r}"
            )
        as_written = decimals if match[2] == "f" else written
        return ", ".join(
            f"[{as_written(low, up=False, digits=digits)}, {as_written(high, up=True, digits=digits)}]"
            for low, high in np.broadcast(self.lower, self.upper)
        )

    def _refuse(self, *_):
        raise TypeError(
            "a bracket is not one number; use .upper, the proved guarantee, or .lower (for a false-negative "
            "rate the guarantee is .lower)"
        )

    if not TYPE_CHECKING:  # a type checker refuses them as well
        __float__ = __int__ = __iter__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def to_dict(self) -> dict[str, Any]:
        """Return bounds, width, status and all texts as a dictionary that JSON can hold, arrays as lists."""
        ends = {name: np.asarray(getattr(self, name)).tolist() for name in ("lower", "upper", "width")}
        assumed = "; ".join(self.assumptions)
        texts = {"statement": self.statement, "source": self.source, "assumptions": assumed}
        warned = {"warning": self.warning} if self.warning else {}
        return ends | {"status": self.status.name.lower(), "cause": self.cause} | texts | warned

    def to_frame(self, **columns: ArrayLike) -> "DataFrame":
        """Return a row for each number as a `pandas.DataFrame`: lower, upper, and columns of one's own.

        Examples
        --------
        >>> from shufflelib import randomizers, shuffle
        >>> deltas = [1e-8, 1e-6]
        >>> found = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000).epsilon(deltas)
        >>> found.to_frame(delta=deltas, mechanism="10-RR").columns.tolist()
        ['delta', 'mechanism', 'lower', 'upper']
        """
        names = (*columns, "lower", "upper")
        ends = np.atleast_1d(self.lower), np.atleast_1d(self.upper)
        parts = [part.ravel().tolist() for part in np.broadcast_arrays(*columns.values(), *ends)]
        return data_frame(dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True))


class _Ends(NamedTuple):
    lower: Any
    upper: Any


class Interval(_Ends):
    """The true value is at least ``lower`` and at most ``upper``: floats, or arrays of equal shapes.

    Probabilities are mostly kept as intervals of their logarithms, which may be ``-inf``.

    Examples
    --------
    >>> from shufflelib.numerics.certified import Interval
    >>> half = Interval.of(1.0) / 2.0
    >>> half.lower < 0.5 < half.upper, half.upper - half.lower < 1e-15
    (True, True)
    >>> Interval(-1000.0, -999.0).probabilities()  # below the smallest float
    (0.0, 5e-324)
    """

    __slots__ = ()
    __array_ufunc__ = None  # an array plus an interval is an interval

    @classmethod
    def of(cls, value: Any, units: Any = 0.0) -> "Interval":
        """Return the interval of a value known to so many units in its last place, or the interval given."""
        return value if isinstance(value, cls) else cls(value, value).widened(units)

    @classmethod
    def concatenate(cls, parts: Iterable["Interval"]) -> "Interval":
        """Return one interval from several of one-dimensional arrays."""
        return cls(*(np.concatenate(ends) for ends in zip(*(cls.of(part) for part in parts), strict=True)))

    @property
    def middle(self) -> Any:
        """A value inside, for what needs no proof."""
        with np.errstate(over="ignore"):
            return 0.5 * self.lower + 0.5 * self.upper

    def at(self, chosen: Any) -> "Interval":
        """Return the interval of some of the entries."""
        return Interval(self.lower[chosen], self.upper[chosen])

    def where(self, condition: Any, other: Any) -> "Interval":
        """Return these entries where the condition holds, the other interval's elsewhere."""
        ends = zip(self, Interval.of(other), strict=True)
        return Interval(*(np.where(condition, mine, others) for mine, others in ends))

    def widened(self, units: Any = 0.0, absolute: Any = 0.0) -> "Interval":
        """Move each bound outward by units in its last place and by an absolute error."""
        share, (lower, upper) = units * UNIT, self
        if isinstance(lower, np.ndarray) or isinstance(upper, np.ndarray):
            with np.errstate(invalid="ignore", over="ignore"):  # where nothing is known NaN stays
                lower = lower * (1.0 - np.copysign(share, lower)) - absolute
                return Interval(lower, upper * (1.0 + np.copysign(share, upper)) + absolute)
        lower = float(lower) * (1.0 - math.copysign(share, lower)) - absolute
        return Interval(float(lower), float(upper * (1.0 + math.copysign(share, upper)) + absolute))

    def within(self, least: Any = -math.inf, most: Any = math.inf) -> "Interval":
        """Return the part of the interval between two numbers that are known to enclose the value."""
        if isinstance(self.lower, np.ndarray):
            return Interval(np.clip(self.lower, least, most), np.clip(self.upper, least, most))
        return Interval(min(max(self.lower, least), most), max(min(self.upper, most), least))

    # ---------------------------------------------------------------- arithmetic

    def __neg__(self):
        return Interval(-self.upper, -self.lower)

    def __add__(self, other):
        other = Interval.of(other)
        return Interval(self.lower + other.lower, self.upper + other.upper).widened(1.0)

    __radd__ = __add__

    def __sub__(self, other):
        return self + -Interval.of(other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        other = Interval.of(other)
        return self._hull(other, [one * two for one in self for two in other])

    __rmul__ = __mul__

    def __truediv__(self, other):
        """Divide by what is not 0."""
        other = Interval.of(other)
        return self._hull(other, [one / two for one in self for two in other])

    def __rtruediv__(self, other):
        return Interval.of(other) / self

    def _hull(self, other, ends):
        if any(isinstance(end, np.ndarray) for end in ends):
            found = Interval(np.minimum.reduce(ends), np.maximum.reduce(ends))
        else:
            found = Interval(min(ends), max(ends))
        may_underflow = ((self.lower != 0.0) | (self.upper != 0.0)) & (
            (other.lower != 0.0) | (other.upper != 0.0)
        )
        return found.widened(1.0, LEAST * may_underflow)

    def __abs__(self):
        least = np.maximum(np.maximum(self.lower, -self.upper), 0.0)
        return Interval(least, np.maximum(-self.lower, self.upper))

    # ---------------------------------------------------------------- functions that rise

    def _rising(self, function, exact, least=-math.inf):
        """Apply a rising function, off by four units and one float but exact at the argument `exact`."""
        with np.errstate(divide="ignore", over="ignore"):
            lower, upper = Interval(*(function(np.maximum(end, least)) for end in self)).widened(4.0)
        return Interval(lower - LEAST * (self.lower != exact), upper + LEAST * (self.upper != exact))

    def exp(self) -> "Interval":
        """Return e^x."""
        return self._rising(np.exp, exact=-math.inf).within(0.0)

    def expm1(self) -> "Interval":
        """Return e^x − 1."""
        return self._rising(np.expm1, exact=0.0)

    def log(self) -> "Interval":
        """Return log x of what is not negative."""
        return self._rising(np.log, exact=1.0, least=0.0)

    def log1p(self) -> "Interval":
        """Return log(1 + x) of what is not below −1."""
        return self._rising(np.log1p, exact=0.0, least=-1.0)

    def log_add(self, other: Any) -> "Interval":
        """Return log(e^x + e^y)."""
        ends = (np.logaddexp(one, two) for one, two in zip(self, Interval.of(other), strict=True))
        return Interval(*ends).widened(4.0, 8 * UNIT)

    # ---------------------------------------------------------------- sums of an array

    def sum(self) -> "Interval":
        """Return the sum of all entries."""
        return Interval(*(math.fsum(end) for end in self)).widened(1.0)

    def cumsum(self) -> "Interval":
        """Return 0 and the sums of the first 1, 2, … entries, none of them negative."""
        sums = (np.append(0.0, np.cumsum(end, dtype=np.longdouble).astype(float)) for end in self)
        return Interval(*sums).widened(1.0 + len(self.lower) * LONG_UNIT / UNIT)

    def log_sum(self) -> "Interval":
        """Return log Σ e^x."""
        peak, least = (float(np.max(end, initial=-math.inf)) for end in (self.upper, self.lower))
        if math.isinf(peak):  # of nothing, or of what may be infinite
            return Interval(least if least == peak else -math.inf, peak)
        about = logsumexp(self.upper)  # so that the sum below is about 1, whose logarithm has no error
        return (self - about).exp().sum().log() + about

    # ---------------------------------------------------------------- probabilities by their logarithms

    def largest(self, other: "Interval") -> "Interval":
        """Return the interval of the larger of two numbers."""
        return Interval(*(np.maximum(one, two)[()] for one, two in zip(self, other, strict=True)))

    def or_unknown(self) -> "Interval":
        """Return brackets of probabilities, with NaN replaced so that a failure never looks private."""
        lower = np.where(self.lower <= self.upper, self.lower, -np.inf)[()]
        return Interval(lower, np.where(np.isnan(self.upper), 0.0, self.upper)[()])

    def probabilities(self) -> tuple[Any, ...]:
        """Return both bounds of the probability itself, at least 0 and at most 1."""
        none = self.upper == -math.inf
        if isinstance(none, np.ndarray):
            return tuple(np.where(none, 0.0, end) for end in self.exp().within(0.0, 1.0))
        return (0.0, 0.0) if none else tuple(self.exp().within(0.0, 1.0))


LOG_ZERO = Interval(-math.inf, -math.inf)  # of the number 0
UNKNOWN = Interval(-math.inf, math.inf)


def intersect(one: Interval, two: Interval) -> Interval:
    """Return the intersection of two brackets of the same number.

    Examples
    --------
    >>> from shufflelib.numerics.certified import Interval, intersect
    >>> intersect(Interval(-3.0, -1.0), Interval(-2.0, 0.0))
    Interval(lower=-2.0, upper=-1.0)
    """
    return Interval(max(one.lower, two.lower), min(one.upper, two.upper))


def each(ends: Callable[[float], tuple[Any, Any]], grid: Array) -> tuple[Any, Any]:
    """Return lower and upper bounds of a number at all entries of an array, in its shape.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.numerics.certified import each
    >>> lower, upper = each(lambda x: (x - 0.5, x + 0.5), np.array([[1.0, 2.0]]))
    >>> lower.tolist(), upper.tolist()
    ([[0.5, 1.5]], [[1.5, 2.5]])
    """
    found = np.array([ends(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
    return found[..., 0], found[..., 1]

r"""Local randomizers: an output distribution for every input, and what shuffling needs to know of it.

A randomizer maps one user's value to one report. It provides four things: its published
variation-ratio parameters (p, β, q), its output distribution up to symmetry, its privacy blanket
:math:`w(y) \le \inf_x R_x(y)`, and the means to run it (``sample``, ``estimate``).  The type of a field says
which values it takes, and they are checked when it is set.
"""

import dataclasses
import inspect
from abc import ABC, abstractmethod
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.profiles.adjacency import REPLACE_ONE, Adjacency
from shufflelib.profiles.likelihood_ratios import InputPair
from shufflelib.randomizers import values

LARGEST_EXPONENT = 709.0  # exp overflows beyond
LARGEST_TABLE = 10**7  # entries


def whole(at_least, **domain):
    """Return the check of whole numbers of at least some size."""
    return partial(validation.count, at_least=at_least, **domain)


def number(**domain):
    """Return the check of real numbers in a domain of `validation.real`."""
    return partial(validation.real, **domain)


Budget = Annotated[float, validation.local_budget]
Count = Annotated[int, whole(1)]
BinaryLosses = tuple[tuple[float, float], tuple[float, float]]
Options = Annotated[int, whole(2, remedy="one option alone says nothing")]


class Validated:
    """A frozen dataclass whose fields obey their types."""

    if not TYPE_CHECKING:  # a type checker knows the names from the fields

        def __new__(cls, *given, **named):
            """Refuse names of parameters that are none, and say which may be meant."""
            parameters = _parameters(cls)
            if given and all(one.kind is one.KEYWORD_ONLY for one in parameters.values()):
                example = ", ".join(f"{name}=…" for name in parameters)
                raise TypeError(f"{cls.__name__} takes its parameters by name: {cls.__name__}({example})")
            validation.refuse_keywords(cls.__name__, parameters, named)
            return super().__new__(cls)

    def __post_init__(self):
        checked = {name: check(getattr(self, name), name) for name, check in _checks(type(self)).items()}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _set(self, name, value):
        object.__setattr__(self, name, value)


@cache
def _parameters(kind):
    """Return the parameters of a dataclass by name."""
    return inspect.signature(kind).parameters


@cache
def _checks(kind):
    """Return the check of each field that has one."""
    hints = get_type_hints(kind, include_extras=True)
    types = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return {name: one.__metadata__[0] for name, one in types.items() if hasattr(one, "__metadata__")}


def small_table(inputs, outputs):
    """Return the shape of a table of probabilities if it is small enough to be written out."""
    if inputs * outputs > LARGEST_TABLE:
        raise ValueError(
            f"pmf() has at most {LARGEST_TABLE:,} entries, got {inputs:,} inputs and {outputs:,} outputs; "
            "use class_masses(), which takes like outputs together"
        )
    return inputs, outputs


class LocalRandomizer(Validated, ABC):
    """A randomizer that each user applies to one value before shuffling.

    Subclasses are frozen dataclasses whose fields are the mechanism's parameters; ``eps0`` is the
    local budget in nats (infinite where there is none).

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> mechanism = randomizers.from_pmf([[0.75, 0.25], [0.25, 0.75]])
    >>> round(mechanism.eps0, 3), mechanism.beta
    (1.099, 0.5)
    """

    eps0: float
    adjacency: Adjacency = REPLACE_ONE  # which datasets of n values are neighbours
    assumptions: tuple[str, ...] = ()  # what its guarantee assumes beyond what all shuffled reports do
    has_worst_pair = True  # a candidate pair dominates all pairs of inputs (convex order), as mixtures need

    @property
    def p(self) -> float:
        """Published ratio bound: the largest R_x(y)/R_x'(y), infinite where no number holds it."""
        return float(np.exp(self.eps0)) if self.eps0 < LARGEST_EXPONENT else np.inf

    @property
    @abstractmethod
    def beta(self) -> float:
        """Published total-variation bound β, as printed, even where it is loose or wrong."""

    @property
    def q(self) -> float:
        """Published ratio bound between the differing user's report and another user's."""
        return self.p

    def variation_ratio(self) -> tuple[float, float, float]:
        """Return the published (p, β, q), the parameters of the variation-ratio reduction."""
        return self.p, self.beta, self.q

    @property
    def binary_losses(self) -> BinaryLosses | None:
        """The largest losses of two outputs, twice: the mechanism is between the two; None if it is not.

        With the first losses the two outputs are a post-processing of this mechanism's, and with the second
        ones this mechanism's are one of the two.  Both are (eps0, eps0) for binary randomized response;
        rounding keeps those of a table apart.
        """
        return None

    def local_renyi(self, order: float) -> float:
        """Return an upper bound on the Rényi divergence of one report, which shuffling cannot raise."""
        return self.eps0

    def variances(self) -> tuple[float, float] | None:
        """Return the variance of one report as an estimate of the value, or None if no formula is known.

        The mean over values spread evenly and the largest one, for values scaled to [0, 1].
        """
        return None

    @abstractmethod
    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return every pair of inputs, up to symmetry, that can be the worst one."""

    def input_pairs_in_rounds(self) -> tuple[InputPair, ...] | None:
        """Return the same with fewer cells, or None: what rounds are known to is less than a single one."""
        return None

    @abstractmethod
    def sample(self, x: Any, rng: np.random.Generator) -> Any:
        """Randomise the values ``x``, one report for each user, with the numpy Generator ``rng``."""

    @abstractmethod
    def estimate(self, reports: Any) -> Any:
        """Return the unbiased estimate of the population's statistic from all reports."""


class WholeClass:
    """Mixed into a bound for a whole class of randomizers, which cannot be run; ``member`` can be."""

    binary_losses = None  # it is no single mechanism
    member: str

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: there is no single protocol to run."""
        raise TypeError(
            f"{type(self).__name__} stands for all randomizers of a class and cannot be run; "
            f"use one of them, such as {self.member}"
        )

    sample = estimate = _refuse


class Average(ABC):
    """Mixed into mechanisms whose estimate is an average over reports."""

    @abstractmethod
    def moments(self, reports: Any) -> tuple[Any, Any]:
        """Return mean and mean square of what the reports add to the average, each shape () or (d,)."""

    def estimate(self, reports: Any) -> Any:
        """Return the unbiased mean, a float for numbers, else shape (d,)."""
        mean = self.moments(reports)[0]
        return float(mean) if np.ndim(mean) == 0 else mean


class UnbiasedReports(Average):
    """Mixed into mechanisms whose reports have their values for means."""

    def moments(self, reports: ArrayLike) -> tuple[Any, Any]:
        """Return mean and mean square of the reports themselves."""
        reports = values.numbers(reports, "reports")
        return reports.mean(), np.mean(reports**2)


class FiniteRandomizer(LocalRandomizer):
    """A randomizer whose outputs fall into finitely many classes with constant density ratios.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> mechanism = randomizers.generalized_rr(eps0=1.0, d=10)  # x0, x1, x* and all other options
    >>> mechanism.class_masses().shape, round(float(mechanism.blanket().sum()), 3)
    ((3, 4), 0.853)
    """

    binary_at: int | None = None  # the d for which it is binary randomized response with budget eps0
    mirrored = False  # x0 and x1 mirror each other, and so does, but for the lopsided rows, every further x*
    lopsided: tuple[int, ...] = ()

    @abstractmethod
    def class_masses(self) -> np.ndarray:
        """Return class masses, shape (inputs, classes).

        One row for each input up to symmetry: rows 0 and 1 are the worst pair (x0, x1), further
        rows are other inputs x* that the remaining users may hold; each row sums to 1.
        """

    @abstractmethod
    def blanket(self) -> np.ndarray:
        """Return the mass of the blanket, inf over all inputs, on the classes of `class_masses`."""

    @property
    def binary_losses(self) -> BinaryLosses | None:
        """All are eps0 where it is binary randomized response."""
        return ((self.eps0,) * 2,) * 2 if getattr(self, "d", 0) == self.binary_at else None

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the worst pair of inputs, with every row of `class_masses` as a candidate for the others."""
        told = {"mirrored": self.mirrored, "lopsided": self.lopsided}
        return (InputPair.from_rows(self.class_masses(), self.blanket(), **told),)

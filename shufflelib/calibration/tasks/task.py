"""What a task is: a question about users' values, the mechanisms that answer it, and their errors."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from shufflelib.calibration.targets import LARGEST_BUDGET, LARGEST_SIGMA, SMALLEST_BUDGET, SMALLEST_SIGMA
from shufflelib.numerics import validation
from shufflelib.randomizers.integer_noise import LARGEST_VARIANCE, SMALLEST_VARIANCE
from shufflelib.randomizers.multi_message import MultiMessage

LEAST, MOST_ITEMS, MOST_MESSAGES = {"d": 2, "s": 1}, 10**7, 10**12
LEFT_OUT = {"d": "a user holds a number in [0, 1]", "s": "the tasks 'sets' and 'key_value' take it"}
FLOAT_BITS = 64
Sizes: TypeAlias = Mapping[str, int]  # d, s and the like, by name
LIMITS = {
    "eps0": (SMALLEST_BUDGET, LARGEST_BUDGET),
    "messages": (1, MOST_MESSAGES),
    "mu": (SMALLEST_VARIANCE, LARGEST_VARIANCE),
    "sigma": (SMALLEST_SIGMA, LARGEST_SIGMA),
}


@dataclass(frozen=True)
class Candidate:
    """A mechanism for a task, and what it costs.

    Parameters
    ----------
    constructor : callable
        Takes ``eps0``, unless it sends several messages or adds noise to each number, and other arguments.
    name : str
        What it is called where a statement to publish names it.
    bits : callable
        Size of one report of the mechanism; with noise, of one number in it.
    server : str
        Cost of the estimate.
    size : str
        Words after the name, with the sizes that the mechanism chose and that its guarantee depends on.
    noise : str
        The parameter of the noise, if it adds some: ``"sigma"`` or ``"mu"``.
    arguments : callable
        Of the task's arguments: the constructor's, by default the same.
    values : str
        Python of what ``sample`` takes, if that is not as the task says.
    """

    constructor: type
    name: str
    bits: Callable[[Any], int]
    server: str
    size: str = ""
    noise: str = ""
    arguments: Callable[[Sizes], Mapping[str, Any]] = dict
    values: str = ""

    @property
    def finds(self) -> str:
        """What is calibrated: ``"eps0"``, the noise, or the number of each user's blanket ``"messages"``."""
        return self.noise or ("messages" if issubclass(self.constructor, MultiMessage) else "eps0")

    @property
    def limits(self) -> tuple[float, float]:
        """Range of the value looked for."""
        return LIMITS[self.finds]


@dataclass(frozen=True)
class Task:
    """A question about users' values, and the mechanisms that answer it.

    Parameters
    ----------
    candidates : dict
        Each `Candidate` by the name of its constructor.
    sizes : dict
        What every size that must be given is, by its name.
    scope : str
        Words after the task's name in a title, with the sizes.
    holds : str
        What a user holds, in a statement to publish, with the sizes.
    errors : callable
        Of a mechanism, n, the number of dummy messages and the sizes: the standard error at ordinary data
        and the largest one.
    estimated : str
        What the standard error is of: "a share" or something else between 0 and 1.
    ordinary : str
        What ordinary data are.
    central : callable
        Of the sizes: the Euclidean sensitivity of the sum that a trusted curator would add Gaussian noise to.
    sums : dict
        The candidates for an analyst who sees sums instead of shuffled reports; by default there are none.
    changed : int
        How many of the sums the value of one user changes.
    further : callable
        Of a mechanism, n and the number of dummy messages: further columns of a row.
    most : int
        Largest size.
    known : str
        How the errors are known: exact, to first order, or simulated.
    worst : str
        What the worst case covers.
    order : str
        Column by which rows are sorted.
    notes : tuple of str
        What further columns mean.
    arguments : callable
        Of the sizes: the constructors' arguments, by default the sizes themselves.
    values : str
        Python of what ``sample`` takes, with the sizes; by default the users' ``values``.
    options : str
        Python of further arguments of ``estimation.run``, with the sizes.
    """

    candidates: dict[str, Candidate]
    sizes: dict[str, str]
    scope: str
    holds: str
    errors: Callable[[Any, int, int, Sizes], tuple[float, float]]
    estimated: str
    ordinary: str
    central: Callable[[Sizes], float]
    sums: dict[str, Candidate] = field(default_factory=dict)
    changed: int = 1
    further: Callable[[Any, int, int], dict[str, Any]] = lambda mechanism, n, dummy_messages: {}
    most: int = MOST_ITEMS
    known: str = "exact"
    worst: str = "any data"
    order: str = "standard error"
    notes: tuple[str, ...] = ()
    arguments: Callable[[Sizes], Sizes] = dict
    values: str = "values"
    options: str = ""

    def build(self, one: Candidate, value: float, sizes: Sizes) -> Any:
        """Return a candidate's mechanism with the value looked for."""
        if one.noise:
            return one.constructor(**{one.noise: value})
        found = {"eps0": value} if one.finds == "eps0" else {}
        return one.constructor(**found, **one.arguments(self.arguments(sizes)))

    def run(self, one: Candidate, value: float, sizes: Sizes) -> str:
        """Return Python that runs a candidate's mechanism on values and estimates from its reports."""
        built, values = f"randomizers.{self.build(one, value, sizes)!r}", one.values or self.values
        each = f", each={value}" if one.finds == "messages" else ""
        return f"estimation.run({built}, {values.format(**sizes)}, rng{each}{self.options.format(**sizes)})"

    def checked(self, name: str, task: str, value: int | None, most: int | None = None) -> int | None:
        """Return a size, or None if the task has none of this name and none is given."""
        if name not in self.sizes:
            if value is not None:
                raise ValueError(
                    f"{name} must be left out for the task {task!r}, got {value!r}; {LEFT_OUT[name]}"
                )
            return None
        if value is None:
            raise TypeError(f"{name} must be given for the task {task!r}: {self.sizes[name]}")
        most, remedy = most or self.most, self.sizes[name]
        return validation.count(value, name, at_least=LEAST[name], at_most=most, remedy=remedy)


def bits(options: int) -> int:
    """Return how many bits name one of some options."""
    return max(1, math.ceil(math.log2(options)))


def by_name(*candidates: Candidate) -> dict[str, Candidate]:
    """Return candidates by the names of their constructors."""
    return {one.constructor.__name__: one for one in candidates}


def with_dummies(sizes: Sizes) -> Sizes:
    """Return the arguments of a mechanism for exactly s of d + s items, s of them dummies."""
    return {"d": sizes["d"] + sizes["s"], "s": sizes["s"]}

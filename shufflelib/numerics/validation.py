"""What counts as valid input: numbers, counts and arrays, refused by name.

Every public function validates its arguments with these functions: a `TypeError` refuses what does not
represent a number, a `ValueError` what is outside its domain; docstrings list only further errors.  The
message says what was expected, what was given, and what to do about it.  Strings are never parsed: YAML
reads ``1e-8`` as the string ``"1e-8"``, and accepting it here means misreading it silently elsewhere.
"""

import contextlib
import difflib
import functools
import inspect
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

import numpy as np

from shufflelib.numerics.types import Array

MAX_USERS = 10**15
MAX_ORDER = 1e100  # of a Rényi divergence, so that no product with it overflows
MAX_ROUNDS = 10**9
SMALLEST_RATE = 1e-9
INSIDE_UNIT_INTERVAL = {
    "above": 0.0,
    "below": 1.0,
    "remedy": "delta lies strictly between 0 and 1",
}
SIGNS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
WIDTH = 60  # characters of a value that a refusal shows
OTHER_WORDS = {  # names of parameters elsewhere, and here the first that there is
    "alpha": ("order", "fpr"),
    "buckets": ("d",),
    "days": ("rounds",),
    "domain_size": ("d",),
    "epsilon": ("eps", "eps0"),
    "epsilon0": ("eps0",),
    "epsilon_0": ("eps0",),
    "epsilon_local": ("eps0",),
    "eps": ("eps0",),
    "eps0": ("eps",),
    "eps_0": ("eps0",),
    "false_positive_rate": ("fpr",),
    "items": ("d",),
    "k": ("d", "rounds"),
    "local_epsilon": ("eps0",),
    "neighbors": ("neighbours",),
    "noise": ("sigma",),
    "noise_multiplier": ("sigma",),
    "num_users": ("n",),
    "options": ("d",),
    "population": ("n",),
    "q": ("rate",),
    "repetitions": ("rounds",),
    "sampling_rate": ("rate",),
    "scale": ("sigma",),
    "size": ("d", "n"),
    "steps": ("rounds",),
    "t": ("rounds",),
    "users": ("n",),
}
PROBABILITIES = ("f", "flip", "p", "prob", "probability", "q")  # what others give instead of a budget
P = ParamSpec("P")
R = TypeVar("R")


def shown(value) -> str:
    """Return ``repr(value)`` on one line, shortened to 60 characters."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python refuses to write out thousands of digits
        text = f"{type(value).__name__} of too many digits to write out"
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def instance(value, name, kind, *, remedy):
    """Return ``value`` if it is a ``kind``, or raise naming the argument, the value and the remedy."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {shown(value)}; {remedy}")
    return value


def _refuse_non_number(value, name):
    if isinstance(value, str | bytes):
        remedy = "pass a float or an int"
        with contextlib.suppress(ValueError):
            float(value)
            remedy = "convert it with float() or int()"
            if "e" in str(value) and "." not in str(value):
                remedy = "write 1.0e-8, not 1e-8, in YAML, or convert it with float()"
        raise TypeError(f"{name} must be a number, got the string {shown(value)}; {remedy}")
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a number, got {shown(value)}; pass a float or an int")
    if not isinstance(value, numbers.Real | np.number) or isinstance(
        value, np.complexfloating | np.timedelta64
    ):
        raise TypeError(f"{name} must be a real number, got {shown(value)} of type {type(value).__name__}")


def _float(value):
    try:
        return float(value)
    except OverflowError:  # an integer beyond the floats
        return math.inf if value > 0 else -math.inf


def _limit(value):
    """Write a limit of a domain in few digits, or in full where few would change it."""
    few = f"{_float(value):g}"
    return few if float(few) == _float(value) else str(value)


def real(
    value, name, *, above=None, at_least=None, below=None, at_most=None, finite=True, remedy=""
) -> float:
    """Return ``value`` as a float, or raise naming the argument, the value and the remedy."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    _refuse_non_number(value, name)
    number = _float(value)
    ends = (above, at_least, below, at_most)
    limits = [(sign, end) for sign, end in zip(SIGNS, ends, strict=True) if end is not None]
    wrong = math.isnan(number) or (finite and math.isinf(number))
    if wrong or not all(SIGNS[sign](number, end) for sign, end in limits):
        domain = [f"{sign} {_limit(end)}" for sign, end in limits]
        expected = " and ".join(["finite" if finite else "a number", *domain])
        raise ValueError(f"{name} must be {expected}, got {shown(value)}" + (f"; {remedy}" if remedy else ""))
    return number


def _entries(values):
    if isinstance(values, list | tuple):
        for entry in values:
            yield from _entries(entry) if isinstance(entry, list | tuple) else (entry,)


def reals(values, name, **domain) -> Array:
    """Return ``values`` as a float array (0-d for a scalar); every entry obeys the domain of `real`."""
    if isinstance(values, str | bytes | bool | np.bool_) or values is None:
        _refuse_non_number(values, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array of numbers, got {shown(values)}") from None
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must not hold masked entries, got a masked array; pass .compressed()")
    for entry in _entries(values):
        if isinstance(entry, bool | np.bool_):  # among numbers it has become 1.0
            _refuse_non_number(entry, name)
    if array.dtype.kind == "O":  # 10**400, or a fraction
        for entry in array.flat:
            _refuse_non_number(entry, name)
        array = np.array([_float(entry) for entry in array.flat], float).reshape(array.shape)
    if array.dtype.kind not in "fiu":
        _refuse_non_number(array.flat[0] if array.size else values, name)
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty; pass at least one number")
    array = array.astype(float)
    for entry in (array.min(), array.max()):
        real(float(entry), name, **domain)
    return array


def count(value, name, *, at_least=1, at_most=None, remedy="") -> int:
    """Return ``value`` as an int; floats are accepted only when they hold a whole number."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    _refuse_non_number(value, name)
    number = _float(value)
    if not number.is_integer():
        raise ValueError(
            f"{name} must be a whole number, got {shown(value)}" + (f"; {remedy}" if remedy else "")
        )
    real(value, name, at_least=at_least, at_most=at_most, remedy=remedy)
    return int(value)


def users(n) -> int:
    """Return the number of users ``n``: a whole number from 1 to 10**15, the differing user included."""
    return count(
        n, "n", at_least=1, at_most=MAX_USERS, remedy="n counts all users, also the one whose value changes"
    )


def probability(value, name) -> float:
    """Return a δ strictly inside (0, 1)."""
    return real(value, name, **INSIDE_UNIT_INTERVAL)


def probabilities(values, name) -> Array:
    """Return an array of δ strictly inside (0, 1)."""
    return reals(values, name, **INSIDE_UNIT_INTERVAL)


def weights(values, name, count) -> Array:
    """Return the probabilities of ``count`` parts, refusing what does not sum to 1."""
    shares = reals(values, name, at_least=0.0, at_most=1.0 + 1e-9, remedy="weights are probabilities")
    if shares.shape != (count,):
        raise ValueError(f"{name} must hold one weight for each of {count} parts, got shape {shares.shape}")
    total = math.fsum(shares)
    if abs(total - 1.0) > 1e-9:
        raise ValueError(f"{name} must sum to 1, got a sum of {total:.12g}; divide by it")
    return shares / total


def false_positive_rate(fpr) -> float:
    """Return ``fpr`` as a probability, 0 and 1 included."""
    return real(fpr, "fpr", at_least=0.0, at_most=1.0, remedy="a false-positive rate is a probability")


def false_positive_rates(fpr) -> Array:
    """Return an array of probabilities, 0 and 1 included."""
    return reals(fpr, "fpr", at_least=0.0, at_most=1.0, remedy="a false-positive rate is a probability")


def central_budget(eps, **domain) -> float:
    """Return a central ε, not negative."""
    return real(eps, "eps", at_least=0.0, remedy="a central budget is in nats, not negative", **domain)


def central_budgets(eps, **domain) -> Array:
    """Return an array of central ε, not negative."""
    return reals(eps, "eps", at_least=0.0, remedy="a central budget is in nats, not negative", **domain)


def sampling_rate(rate) -> float:
    """Return the share of a population that is drawn, 1e-9 to 1."""
    return real(rate, "rate", at_least=SMALLEST_RATE, at_most=1.0, remedy="the share of users that is drawn")


def rounds(number) -> int:
    """Return how often every user reports: a whole number from 1 to 10**9."""
    return count(number, "rounds", at_most=MAX_ROUNDS, remedy="rounds counts how often every user reports")


def renyi_orders(order, at_most=MAX_ORDER) -> Array:
    """Return an array of orders above 1."""
    remedy = "the limit at 1 is the Kullback-Leibler divergence"
    return reals(order, "order", above=1.0, at_most=at_most, remedy=remedy)


def renyi_order(order) -> float:
    """Return ``order`` as a finite number above 1."""
    return real(order, "order", above=1.0, remedy="a Renyi order is a finite number above 1")


def local_budget(eps0, name="eps0") -> float:
    """Return a local budget in nats, 0 < eps0 <= 700; below 1e-300 digits run out, beyond 700 exp."""
    return real(
        eps0, name, at_least=1e-300, at_most=700.0, remedy="a local budget is positive, in nats, at most 700"
    )


def suggestion(word, known, others=()) -> str:
    """Return a hint at the known word that a misspelt one may mean, or an empty text.

    ``others`` maps other names in use to known ones.

    Examples
    --------
    >>> from shufflelib.numerics.validation import suggestion
    >>> suggestion("laplase", ["laplace", "gaussian"]), suggestion("x", ["y"], {"x": "y"})
    (' (did you mean laplace?)', ' (did you mean y?)')
    """
    if not isinstance(word, str):
        return ""
    others = {other: here for other, here in dict(others).items() if here in known}
    near = difflib.get_close_matches(word.lower(), [*known, *others], 1)
    return f" (did you mean {others.get(near[0], near[0])}?)" if near else ""


def meant(word: str, known: Iterable[str]) -> str:
    """Return a hint at the parameter that another word may mean, or an empty text.

    Examples
    --------
    >>> from shufflelib.numerics.validation import meant
    >>> meant("k", ["eps0", "d"]), meant("alpha", ["order"]), meant("weather", ["eps0", "d"])
    (' (did you mean d?)', ' (did you mean order?)', '')
    """
    known = [*known]
    found = [one for one in OTHER_WORDS.get(word.lower(), ()) if one in known]
    return f" (did you mean {found[0]}?)" if found else suggestion(word, known)


def instead_of_probability(word: str, known: Iterable[str]) -> str:
    """Return how eps0 follows from probabilities, where it is taken and the word is one, or an empty text."""
    if word not in PROBABILITIES or "eps0" not in known:
        return ""
    return "; eps0 is log(p/q), p/q the largest ratio of the probabilities of one report under two values"


def refuse_keywords(takes: str, known: Iterable[str], given: Mapping[str, object]) -> None:
    """Raise a TypeError that names the first keyword that is none, and the one that may be meant."""
    known = [*known]
    for word in given:
        if word not in known:
            near, remedy = meant(word, known), instead_of_probability(word, known)
            got = f", got {shown(given[word])}" * bool(remedy)
            raise TypeError(
                f"{takes} has no parameter {word}{near}{got}; it takes {', '.join(known)}{remedy}"
            )


def names_checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that answers a misnamed keyword, or too many values, with the names that it takes.

    Examples
    --------
    >>> from shufflelib.numerics.validation import names_checked
    >>> @names_checked
    ... def delta(eps):
    ...     return 2.0 ** -eps
    >>> delta(epsilon=1.0)
    Traceback (most recent call last):
        ...
    TypeError: delta has no parameter epsilon (did you mean eps?); it takes eps
    """
    parameters = inspect.signature(function).parameters
    known = [one for one in parameters if one != "self"]
    places = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    takes = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @functools.wraps(function)
    def answered(*given: P.args, **keywords: P.kwargs) -> R:
        if keywords:
            refuse_keywords(takes, known, keywords)
        if len(given) > len(places):
            unnamed = ", ".join(name for name in places if name != "self")
            needed = [name for name in known if parameters[name].default is inspect.Parameter.empty]
            example = f"{takes}({', '.join(f'{name}=…' for name in needed)})"
            taken = f"only {unnamed} without a name" if unnamed else f"its parameters by name: {example}"
            raise TypeError(f"{takes} takes {taken}")
        return function(*given, **keywords)

    return answered


def one_of(value, name: str, choices) -> str:
    """Return the value if it is one of the choices, all strings.

    Examples
    --------
    >>> from shufflelib.numerics.validation import one_of
    >>> one_of("add", "neighbours", ["replace", "add"])
    'add'
    """
    if isinstance(value, str) and value in choices:
        return value
    near = suggestion(value, choices)
    raise ValueError(f"{name} must be one of {', '.join(choices)}, got {shown(value)}{near}")

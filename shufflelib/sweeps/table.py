"""Certified numbers over a grid: one quantity, one or more randomizers, and lists or ranges of parameters."""

import csv
import difflib
import functools
import io
import itertools
import math
from collections.abc import Mapping

import numpy as np

from shufflelib import calibration
from shufflelib.numerics import validation
from shufflelib.profiles.privacy_profile import SMALLEST_RATE
from shufflelib.randomizers.by_name import constructors, parameters, required
from shufflelib.shuffling.shuffled import shuffle
from shufflelib.sweeps.cache import Cache
from shufflelib.sweeps.identity import environment
from shufflelib.sweeps.running import outcomes

MOST_POINTS = 10**6
WHOLE = {"B", "K", "d", "k", "l", "n", "rounds", "s"}  # ranges of these go through whole numbers
RANGE = {"from", "to", "points", "log"}


def _profile(build, n, rate, rounds):
    return shuffle(build(), n=n).subsample(rate=rate).compose(rounds=rounds)


def _ends(result):
    return {"lower": result.lower, "upper": result.upper, "status": result.status.name.lower()}


def _answer(found):
    return {
        "answer": found.answer,
        "unproved": found.unproved,
        "fails": found.fails,
        **_ends(found.certificate),
    }


def _epsilon(build, *, n, delta, rate=1.0, rounds=1):
    return _ends(_profile(build, n, rate, rounds).epsilon(delta))


def _delta(build, *, n, eps, rate=1.0, rounds=1):
    return _ends(_profile(build, n, rate, rounds).delta(eps))


def _renyi(build, *, n, order, rate=1.0, rounds=1):
    return _ends(_profile(build, n, rate, rounds).renyi(order))


def _largest_eps0(build, *, n, eps, delta, rounds=1):
    return _answer(calibration.largest_eps0(build, n=n, eps=eps, delta=delta, rounds=rounds))


def _fewest_users(build, *, eps, delta, rounds=1):
    return _answer(calibration.fewest_users(build(), eps=eps, delta=delta, rounds=rounds))


def _most_rounds(build, *, n, eps, delta, rate=1.0):
    return _answer(calibration.most_rounds(_profile(build, n, rate, 1), eps=eps, delta=delta))


# what is asked, how it is answered, what the answer holds when there is none
NO_BRACKET = {"lower": 0.0, "upper": math.inf}
NO_ANSWER = {"answer": None, "unproved": None, "fails": None, **NO_BRACKET}
QUANTITIES = {
    "epsilon": (_epsilon, NO_BRACKET),
    "delta": (_delta, {"lower": 0.0, "upper": 1.0}),
    "renyi": (_renyi, NO_BRACKET),
    "calibrate eps0": (_largest_eps0, NO_ANSWER),
    "calibrate users": (_fewest_users, NO_ANSWER),
    "calibrate rounds": (_most_rounds, NO_ANSWER),
}
LOOKED_FOR = {"calibrate eps0": "eps0"}  # a randomizer's parameter that the quantity finds
DOMAINS = {
    "n": validation.users,
    "delta": lambda delta: validation.probability(delta, "delta"),
    "eps": lambda eps: validation.real(eps, "eps", at_least=0.0, remedy="a central budget in nats"),
    "order": lambda order: validation.real(order, "order", above=1.0, remedy="a Rényi order exceeds 1"),
    "rate": lambda rate: validation.real(
        rate, "rate", at_least=SMALLEST_RATE, at_most=1.0, remedy="the share of users that is drawn"
    ),
    "rounds": lambda rounds: validation.count(
        rounds, "rounds", at_most=calibration.MAX_ROUNDS, remedy="how often every user reports"
    ),
}


def tabulate(spec, *, n_jobs=None, scheduler=None, cache=None):
    r"""Compute a certified number at every point of a grid.

    Parameters
    ----------
    spec : mapping
        ``quantity``: ``"epsilon"``, ``"delta"``, ``"renyi"``, ``"calibrate eps0"``, ``"calibrate users"`` or
        ``"calibrate rounds"``; ``randomizer``: the name of one, as on the command line, or a list of names;
        then the parameters of both: ``eps0``, ``d``, …, ``n``, ``delta``, ``eps``, ``order``, ``rounds``
        (adaptive, equal), ``rate`` (of subsampling without replacement; the n users are those drawn).
        Each is a number, a list of numbers or a range ``{"from": 1, "to": 1e9, "points": 10, "log": True}``;
        ranges of whole numbers are rounded to such, without repetitions.
    n_jobs, scheduler, cache
        As in `sweep`; a point added to a grid leaves what is kept of the others valid.

    Returns
    -------
    list of dict
        One row for each point, the last parameter varying fastest: the parameters, ``lower`` and ``upper``
        with the true value between them, and ``status``.  What is calibrated has ``answer``,
        ``unproved`` and ``fails`` as well (see `shufflelib.calibration.Calibration`), and its
        ``lower`` and ``upper`` enclose ε there.  Where there is no answer, as for a target out of reach, the
        row has the trivial ends and a status that begins with ``refused:``.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, in one line that names the key, the value and the remedy.
    OSError
        If the cache cannot be written or the scheduler does not answer.

    Examples
    --------
    >>> import math
    >>> from shufflelib import sweeps
    >>> spec = {"quantity": "epsilon", "randomizer": "binary-rr", "eps0": 1, "n": [100, 1000], "delta": 1e-6}
    >>> [math.ceil(1e4 * row["upper"]) / 1e4 for row in sweeps.tabulate(spec, n_jobs=1)]  # rounded up
    [0.4837, 0.1267]
    """
    points = grid_points(spec)
    names = [{"point": point, "with": environment()} for point in points]
    calls = [functools.partial(_row, **point) for point in points]
    store = cache if isinstance(cache, Cache) or cache is None else Cache(cache)
    answers = outcomes(calls, names=names, cache=store, n_jobs=n_jobs, scheduler=scheduler)
    return [point | answer for point, answer in zip(points, answers, strict=True)]


def as_csv(rows):
    """Return rows as CSV, every float with all its digits."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _row(*, quantity, randomizer, **point):
    """Return the answer at one point; at module level, so that workers can find it."""
    answer, nothing = QUANTITIES[quantity]
    asked = {name: value for name, value in point.items() if name in parameters(answer)}
    own = {name: value for name, value in point.items() if name not in asked}
    try:
        return answer(functools.partial(constructors()[randomizer], **own), **asked)
    except ValueError as wrong:
        return nothing | {"status": f"refused: {wrong}"}


def grid_points(spec):
    """Return every point of a grid, each checked as far as that is possible without computing.

    Parameters
    ----------
    spec : mapping
        See `tabulate`.

    Returns
    -------
    list of dict
        ``quantity``, ``randomizer`` and one number for each parameter.

    Raises
    ------
    TypeError, ValueError
        In one line that names the key, the value and the remedy.
    """
    if not isinstance(spec, Mapping):
        raise TypeError("a grid must be a list of keys with values, such as quantity: epsilon")
    for key in spec:
        if not isinstance(key, str):
            raise TypeError(f"a key must be text, got {validation.shown(key)}")
    quantity = _chosen("quantity", spec, QUANTITIES)
    names = spec.get("randomizer")
    names = names if isinstance(names, list) and names else [names]
    names = [_chosen("randomizer", spec | {"randomizer": name}, constructors()) for name in names]
    names = list(dict.fromkeys(names))
    for name in names:
        _check_keys(spec, quantity, name)
    axes = {name: _values(name, spec[name]) for name in spec if name not in ("quantity", "randomizer")}
    size = math.prod(map(len, axes.values())) * len(names)
    if size > MOST_POINTS:
        raise ValueError(
            f"the grid has {size:,} points, more than {MOST_POINTS:,}; use fewer or shorter lists"
        )
    _build_each(names, quantity, axes)
    return [
        {"quantity": quantity, "randomizer": name, **dict(zip(axes, values, strict=True))}
        for name in names
        for values in itertools.product(*axes.values())
    ]


def _chosen(key, spec, known):
    if key not in spec or spec[key] is None:
        raise ValueError(f"{key} is missing; give one of {', '.join(known)}")
    if not isinstance(spec[key], str) or spec[key] not in known:
        listed = isinstance(spec[key], list | dict)
        got = f"a {type(spec[key]).__name__}" if listed else validation.shown(spec[key])
        raise ValueError(f"{key} must be one of {', '.join(known)}; got {got}{_near(spec[key], known)}")
    return spec[key]


def _near(word, known):
    near = difflib.get_close_matches(word, known, 1) if isinstance(word, str) else ()
    return f" (did you mean {near[0]}?)" if near else ""


def _check_keys(spec, quantity, randomizer):
    build, answer = constructors()[randomizer], QUANTITIES[quantity][0]
    found = LOOKED_FOR.get(quantity)
    if found and found not in parameters(build):
        raise ValueError(f"{randomizer} has no {found} to look for; it takes {', '.join(parameters(build))}")
    own = [name for name in parameters(build) if name != found]
    asked = [name for name in parameters(answer) if name != "build"]
    accepted = ["quantity", "randomizer", *own, *asked]
    takes = f"{randomizer} takes {', '.join(own) or 'nothing'}; {quantity} takes {', '.join(asked)}"
    for key in spec:
        if key not in accepted:
            raise ValueError(f"{key[:40]} is no key of this grid{_near(key, accepted)}: {takes}")
    for key in [*required(build), *required(answer)]:
        if key not in spec and key not in ("build", found):
            raise ValueError(f"{key} is missing: {takes}")


def _values(name, value):
    """Return the numbers of one axis, each within its domain where that needs no randomizer."""
    if isinstance(value, Mapping):
        value = _range(name, value)
    values = value if isinstance(value, list | tuple | np.ndarray) else [value]
    if not len(values):
        raise ValueError(f"{name} must not be empty; give at least one number")
    for one in values:
        if isinstance(one, list | tuple | Mapping | np.ndarray):
            raise TypeError(
                f"{name} must be a number, a list of numbers or one range, got a list within a list"
            )
    return list(dict.fromkeys(_number(name, one) for one in values))


def _number(name, value):
    validation.real(value, name, finite=False)
    value = value.item() if isinstance(value, np.generic) else value
    return DOMAINS[name](value) if name in DOMAINS else value


def _range(name, given):
    """Return the numbers of ``{from:, to:, points:, log:}``."""
    for key in given:
        if key not in RANGE:
            raise ValueError(
                f"{name} has the key {validation.shown(key)}; "
                "a range has from, to, points and log: true or false"
            )
    for key in ("from", "to", "points"):
        if key not in given:
            raise ValueError(f"{name} is a range without {key!r}; write {{from: 1, to: 10, points: 4}}")
    log = given.get("log", False)
    if not isinstance(log, bool):
        raise TypeError(f"{name}: log must be true or false, got {validation.shown(log)}")
    first, last = (
        validation.real(
            given[end], f"{name}: {end}", above=0.0 if log else None, remedy="log needs it" if log else ""
        )
        for end in ("from", "to")
    )
    points = validation.count(
        given["points"],
        f"{name}: points",
        at_least=2,
        at_most=MOST_POINTS,
        remedy="for one point give a number",
    )
    values = (np.geomspace if log else np.linspace)(first, last, points).tolist()
    return [round(value) for value in values] if name in WHOLE else values


def _build_each(names, quantity, axes):
    """Build every randomizer once, so that errors are raised at the start."""
    found = {name: 1.0 for key, name in LOOKED_FOR.items() if key == quantity}
    for name in names:
        build = constructors()[name]
        own = [axis for axis in axes if axis in parameters(build)]
        for values in itertools.product(*(axes[axis] for axis in own)):
            build(**dict(zip(own, values, strict=True)), **found)

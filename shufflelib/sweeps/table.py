"""Certified numbers over a grid: one quantity, one or more subjects, and lists or ranges of parameters."""

import functools
import itertools
import json
import math
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from shufflelib.calibration import questions
from shufflelib.calibration.questions import LOOKED_FOR
from shufflelib.calibration.targets import ANALYSTS
from shufflelib.numerics import validation
from shufflelib.numerics.atomic_files import as_path, try_folder, writing
from shufflelib.numerics.typed_numbers import WHOLE
from shufflelib.profiles.questions import epsilons
from shufflelib.randomizers.by_name import parameters, required
from shufflelib.sweeps.running import completed, environment
from shufflelib.sweeps.subjects import QUANTITIES, Given, built, digest, subject_of, subjects

MOST_POINTS = 10**6
COLUMNS = ("answer", "unproved", "fails", "standard error", "worst case", "lower", "upper", "status")
RANGE = {"from", "to", "points", "log"}
NAMES = "quantity", "randomizer", "delta"
MOST_AT_ONCE, FEW = 24, 16  # points of one call, and how many more there are for each in it


DOMAINS = {
    "n": validation.users,
    "delta": lambda delta: validation.probability(delta, "delta"),
    "eps": validation.central_budget,
    "fpr": validation.false_positive_rate,
    "order": validation.renyi_order,
    "rate": validation.sampling_rate,
    "rounds": validation.rounds,
    "dropout": lambda share: validation.real(share, "dropout", at_least=0.0, below=1.0),
}


def tabulate(
    spec: Mapping[str, Any],
    *,
    n_jobs: int = -1,
    scheduler: str | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> list[dict[str, Any]]:
    r"""Compute a certified number at every point of a grid.

    Parameters
    ----------
    spec : mapping
        ``quantity``: ``"epsilon"``, ``"delta"``, ``"renyi"``, ``"tradeoff"``, ``"error"``,
        ``"calibrate eps0"``, ``"calibrate sigma"``, ``"calibrate users"``, ``"calibrate rounds"`` or
        ``"recommend"``; ``randomizer``: the name of one, as on the command line, a mechanism, or a list of
        them; ``pmf``, beside it or instead: a table of probabilities, the file of one, or a list of them; for
        ``"recommend"``, instead of both, ``task``: one of its tasks or a list; then the parameters:
        ``eps0``, ``d``, …, ``n``, ``delta``, ``eps``, ``order``, ``rounds`` (adaptive, equal), ``rate`` (of
        subsampling without replacement; the n users are those drawn), ``analyst`` (``"sums"`` of reports
        instead of shuffled ones) and ``changed`` (of `aggregate`).
        Each is a number, a list of numbers or a range ``{"from": 1, "to": 1e9, "points": 10, "log": True}``;
        ranges of whole numbers are rounded to such, without repetitions.
    n_jobs, scheduler
        As in `sweep`.
    cache : str or os.PathLike, optional
        Folder in which each row is kept as it arrives: a table that was stopped goes on from there, and a
        longer one uses the rows of a shorter one.  Rows of other code or versions, of a table with other
        entries, and damaged ones are computed anew.

    Returns
    -------
    list of dict
        One row for each point, the last parameter varying fastest: the parameters, ``lower`` and ``upper``
        with the true value between them, and ``status``.  What is calibrated has ``answer``,
        ``unproved`` and ``fails`` as well (see `shufflelib.calibration.Calibration`), and its
        ``lower`` and ``upper`` enclose ε there.  An error has ``standard error`` and
        ``worst case`` instead; ``"recommend"`` has a row for each mechanism, with the columns of
        `recommend`, among them ``value``, ``standard error`` and ``bytes``; one that it leaves out has none
        of them, and its status is ``refused:`` and the reason.  Where there is no answer at all, as for a
        target out of reach, the ends are 0 and infinity, and the status begins with ``refused:``.

    Raises
    ------
    TypeError, ValueError
        Before anything is computed, in one line that names the key, the value and the remedy; also with a
        cache for a mechanism that depends on a function, as `randomizers.from_density` does.
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
    rows, _ = answered(grid_points(spec), n_jobs=n_jobs, scheduler=scheduler, cache=cache)
    return rows


def answered(points, *, n_jobs=-1, scheduler=None, cache=None):
    """Return the row of each point, and how many of them were kept already."""
    file = None if cache is None else kept_rows(cache)
    keys = range(len(points)) if file is None else [digest([environment(), point]) for point in points]
    rows = {} if file is None else _read(file, set(keys))
    missing = {key: point for key, point in zip(keys, points, strict=True) if key not in rows}
    kept, names = sum(map(len, rows.values())), list(missing)
    batch = min(MOST_AT_ONCE, 1 + len(names) // FEW)
    parts = [names[first : first + batch] for first in range(0, len(names), batch)]
    calls = {at: functools.partial(_rows, [missing[key] for key in part]) for at, part in enumerate(parts)}
    for at, found in completed(calls, n_jobs=n_jobs, scheduler=scheduler) if calls else ():
        rows.update(zip(parts[at], found, strict=True))
        if file is not None:
            _append(file, zip(parts[at], found, strict=True))
    named = [
        {key: one.name if isinstance(one, Given) else one for key, one in point.items()} for point in points
    ]
    return [point | row for key, point in zip(keys, named, strict=True) for row in rows[key]], kept


def kept_rows(folder):
    """Return the file of rows in a folder, which is made if it is not there and can be written."""
    folder = as_path(folder, "cache")
    try_folder(folder)
    return folder / "rows.jsonl"


def _read(file, wanted):
    """Return the wanted rows by their keys; lines that are not as they were written are passed over."""
    rows = {}
    with writing(file), file.open("a+", errors="replace") as lines:
        lines.seek(0)
        for line in lines:
            checksum, _, entry = line.rstrip("\n").partition(" ")
            key, _, row = entry.partition(" ")
            if key in wanted and checksum == digest(entry)[:16]:
                rows[key] = json.loads(row)
    return rows


def _append(file, entries):
    lines = (f"{key} {json.dumps(row)}" for key, row in entries)
    text = "".join(f"\n{digest(line)[:16]} {line}" for line in lines)
    with writing(file), file.open("a") as out:
        out.write(text)  # a line that is cut short does not spoil the next one


def _rows(points):
    """Return the list of rows of each of some points; at module level, so that workers can find it."""
    try:
        if len(points) > 1 and all(point["quantity"] == "epsilon" for point in points):
            return [[_columns(one.to_dict())] for one in _epsilons(points)]
    except ValueError:
        pass  # one of them is refused, which each says for itself
    return [_answer(**point) for point in points]


def _epsilons(points):
    """Return ε at some points side by side, which costs a third."""
    asked = [{name: value for name, value in point.items() if name not in NAMES} for point in points]
    profiles = [
        questions.profile(built("randomizer", point["randomizer"]), **numbers)
        for point, numbers in zip(points, asked, strict=True)
    ]
    return epsilons(profiles, [point["delta"] for point in points])


def _columns(found):
    return {column: found[column] for column in COLUMNS if column in found}


def _answer(*, quantity, **point):
    """Return the rows of one point."""
    subject = subject_of(quantity)
    try:
        found = QUANTITIES[quantity](built(subject, point.pop(subject)), **point)
    except ValueError as wrong:
        return [{"lower": 0.0, "upper": math.inf, "status": f"refused: {wrong}"}]
    return found if isinstance(found, list) else [_columns(found.to_dict())]


def grid_points(spec, folder=""):
    """Return every point of a grid, each checked as far as that is possible without computing.

    Parameters
    ----------
    spec : mapping
        See `tabulate`.
    folder : str or os.PathLike
        Where files of tables are, unless their paths are absolute.

    Returns
    -------
    list of dict
        ``quantity``, ``randomizer`` (or ``task``) and one value for each parameter.

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
    if spec.get("quantity") is None:
        raise ValueError(f"quantity is missing; give one of {', '.join(QUANTITIES)}")
    quantity = validation.one_of(spec["quantity"], "quantity", QUANTITIES)
    subject = subject_of(quantity)
    ones = subjects(spec, quantity, folder)
    builds = {name: built(subject, one) for name, one in ones.items()}
    taken = _check_keys(spec, quantity, subject, builds)
    axes = {name: _values(name, spec[name]) for name in spec if name not in ("quantity", subject, "pmf")}
    for key in axes:
        if without := [name for name in builds if key not in taken[name]]:
            warnings.warn(f"{key} is left out for {', '.join(without)}, which does not take it", stacklevel=2)
    grids = {name: {key: axes[key] for key in axes if key in taken[name]} for name in builds}
    size = sum(math.prod(map(len, grid.values())) for grid in grids.values())
    if size > MOST_POINTS:
        raise ValueError(
            f"the grid has {size:,} points, more than {MOST_POINTS:,}; use fewer or shorter lists"
        )
    _build_each(builds, quantity, axes)
    return [
        {"quantity": quantity, subject: ones[name], **dict(zip(grid, values, strict=True))}
        for name, grid in grids.items()
        for values in itertools.product(*grid.values())
    ]


def _check_keys(spec, quantity, subject, builds):
    """Return the keys that each subject takes; refuse those that none of them takes, and missing ones."""
    question, found = QUANTITIES[quantity], LOOKED_FOR.get(quantity)
    _, *asked = parameters(question)
    taken = {name: [key for key in parameters(one) if key != found] for name, one in builds.items()}
    accepted = ["quantity", subject, *(["pmf"] if subject == "randomizer" else [])]
    accepted += [*itertools.chain(*taken.values()), *asked]
    for name, build in builds.items():
        if found and found not in parameters(build):
            takes = ", ".join(parameters(build)) or "nothing"
            raise ValueError(f"{name} has no {found} to calibrate; it takes {takes}")
        takes = f"{name} takes {', '.join(taken[name]) or 'nothing'}; {quantity} takes {', '.join(asked)}"
        for key in spec:
            if key not in accepted:
                near = validation.suggestion(key, accepted)
                raise ValueError(f"{key[:40]} is not a key of this grid{near}: {takes}")
        for key in (*required(build), *required(question), *(["n"] if "n" in asked else [])):
            if key not in (*spec, subject, found):
                raise ValueError(f"{key} is missing: {takes}")
    return {name: {*own, *asked} for name, own in taken.items()}


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
    if name == "analyst":
        return validation.one_of(value, name, ANALYSTS)
    validation.real(value, name, finite=False)
    value = value.item() if isinstance(value, np.generic) else value
    if name in WHOLE and isinstance(value, float) and value.is_integer():
        value = int(value)  # a file may say 1e6
    return DOMAINS[name](value) if name in DOMAINS else value


def _range(name, given):
    """Return the numbers of ``{from:, to:, points:, log:}``."""
    if not RANGE - {"log"} <= set(given) <= RANGE:
        raise ValueError(
            f"{name} has the keys {validation.shown(list(given))}; a range has from, to, points and log"
        )
    log = given.get("log", False)
    if not isinstance(log, bool):
        raise TypeError(f"{name}: log must be true or false, got {validation.shown(log)}")
    first, last = (
        validation.real(
            given[end], f"{name}: {end}", above=0.0 if log else None, remedy="log needs it" if log else ""
        )
        for end in ("from", "to")
    )
    some = {"at_least": 2, "at_most": MOST_POINTS, "remedy": "for one point give a number"}
    points = validation.count(given["points"], f"{name}: points", **some)
    values = (np.geomspace if log else np.linspace)(first, last, points).tolist()
    return [round(value) for value in values] if name in WHOLE else values


def _build_each(builds, quantity, axes):
    """Build every subject once, so that errors are raised at the start."""
    found = {name: 1.0 for key, name in LOOKED_FOR.items() if key == quantity}
    for build in builds.values():
        own = [axis for axis in axes if axis in parameters(build)]
        for values in itertools.product(*(axes[axis] for axis in own)):
            build(**dict(zip(own, values, strict=True)), **found)

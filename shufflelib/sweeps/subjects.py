"""What a grid is about: mechanisms by name or given, tables of probabilities, tasks of `recommend`."""

import dataclasses
import functools
import hashlib
import inspect
import json
import os
import warnings
from pathlib import Path

import numpy as np

from shufflelib.calibration.questions import QUESTIONS, tabulated
from shufflelib.calibration.recommendation import recommend
from shufflelib.calibration.tasks import TASKS
from shufflelib.numerics import validation
from shufflelib.numerics.computed_once import cached_property
from shufflelib.randomizers.by_name import constructors, named
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.sweeps.running import PACKAGE

TEXTS = {"python", "run", "sentence"}


def recommended(task, *, n, eps, delta, rounds=1, rate=1.0, dropout=0.0, analyst="reports", **sizes):
    """Return the rows of `recommend`, without their texts, and one for each mechanism that is left out."""
    how = {"rounds": rounds, "rate": rate, "dropout": dropout, "analyst": analyst}
    found = recommend(**task(**sizes), n=n, eps=eps, delta=delta, **how)
    status = {"status": f"certified; standard error {TASKS[found.asked['task']].known}"}
    rows = [{name: row[name] for name in row if name not in TEXTS} | status for row in found]
    return rows + [{"mechanism": name, "status": f"refused: {why}"} for name, why in found.left_out.items()]


QUANTITIES = QUESTIONS | {"recommend": recommended}


@dataclasses.dataclass(frozen=True)
class Given:
    """A mechanism that is given instead of a constructor, and what a table calls it."""

    name: str
    mechanism: LocalRandomizer

    def __call__(self):
        """Return the mechanism, as a constructor does that needs no numbers."""
        return self.mechanism

    @cached_property
    def content(self):
        """A digest of the mechanism's parameters, such as the entries of a table."""
        return digest(self.mechanism)


def digest(value):
    """Name a value by its content."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()[:32]


def _plain(value):
    if isinstance(value, Given):
        return value.content
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    own = type(value).__module__.split(".")[0] == PACKAGE.name
    if not own or not dataclasses.is_dataclass(value):
        raise TypeError(
            f"randomizer must be made of numbers for its rows to be kept, got {validation.shown(value)}; "
            "leave the cache out, or pass its table of probabilities"
        )
    fields = [field.name for field in dataclasses.fields(value) if field.init]
    return [type(value).__name__, {name: getattr(value, name) for name in fields}]


def subject_of(quantity):
    """Return the key under which a grid of a quantity names its subjects."""
    return "task" if quantity == "recommend" else "randomizer"


def built(subject, one):
    """Return what builds a subject of a grid from its parameters."""
    if isinstance(one, Given):
        return one
    return _of_task(one) if subject == "task" else constructors()[one]


@functools.cache
def _of_task(name):
    """Return what checks the sizes of a task, as a constructor its parameters."""
    task = TASKS[name]

    def build(**sizes):
        return {"task": name} | {size: task.checked(size, name, value) for size, value in sizes.items()}

    own = [inspect.Parameter(size, inspect.Parameter.KEYWORD_ONLY) for size in task.sizes]
    build.__signature__ = inspect.Signature(own)
    return build


def subjects(spec, quantity, folder):
    """Return the subjects of a grid by their names; files are looked for in the folder."""
    if subject_of(quantity) == "task":
        tasks = [one.replace("-", "_") if isinstance(one, str) else one for one in _listed(spec, "task")]
        return {name: validation.one_of(name, "task", TASKS) for name in tasks or ["histogram"]}
    found = {}
    for one in _listed(spec, "randomizer"):
        given = isinstance(one, LocalRandomizer)
        name = repr(one) if given else named(one)
        if given and name in found:  # another one, such as a table of the same shape
            name = f"{name}, no. {1 + len(found)}"
        found[name] = Given(name, one) if given else name
    for one in _listed(spec, "pmf"):
        name = os.fspath(one) if isinstance(one, str | os.PathLike) else None
        mechanism, skipped = tabulated(one if name is None else Path(folder, name), quantity, name=name)
        if skipped:
            warnings.warn(f"{name}: skipped {skipped}", stacklevel=3)
        name = name or f"table {1 + len(found)}"
        found[name] = Given(name, mechanism)
    if not found:
        known = ", ".join(constructors())
        raise ValueError(f"randomizer is missing; give one of {known}, or with pmf the file of a table")
    return found


def _listed(spec, key):
    """Return what is given under a key as a list: one, or a list of several; rows of numbers are one."""
    given = spec.get(key)
    if given is None:
        return []
    several = isinstance(given, list | tuple) and given and not isinstance(given[0], list | tuple)
    return given if several else [given]

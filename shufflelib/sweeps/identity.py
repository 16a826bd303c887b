"""What a result depends on: the task's code, and the versions of everything that computes it."""

import functools
import hashlib
import importlib.metadata
import json
import platform
import types
from pathlib import Path

import shufflelib
from shufflelib.sweeps.plain import encode

SHOWING = {"claims", "cli.py", "explore.py", "explorer", "plotting"}  # these make no numbers


@functools.cache
def environment():
    """Name in one line what numbers come from: versions, and a digest of the files that compute them."""
    digest = hashlib.sha256()
    package = Path(shufflelib.__file__).parent
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        if place.parts[0] not in SHOWING:
            digest.update(place.as_posix().encode() + b"\0" + path.read_bytes())
    others = [f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy")]
    python = ".".join(platform.python_version_tuple()[:2])
    own = f"shufflelib {shufflelib.__version__} ({digest.hexdigest()[:16]})"
    return ", ".join([own, *others, f"Python {python}"])


def identity(task):
    """Return a task's name and a digest of all that makes it what it is.

    Parameters
    ----------
    task : function or functools.partial
        Of Python code.

    Returns
    -------
    dict
        ``name`` for people; ``digest`` over the code, the defaults, what the function closes over and,
        of its own module, the functions and plain values that it uses by name.

    Raises
    ------
    TypeError
        If the task is something else, or it closes over what has no plain form.

    Notes
    -----
    Not covered: objects and classes that the task reads from its module, files, and packages other
    than this one, NumPy and SciPy.
    """
    parts = _parts(task, set())
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return {"name": _name(task), "digest": digest}


def _name(task):
    inner = task.func if isinstance(task, functools.partial) else task
    return (
        f"{inner.__module__}.{inner.__qualname__}" if isinstance(inner, types.FunctionType) else repr(inner)
    )


def _parts(task, seen):
    if isinstance(task, functools.partial):
        fixed = {"args": list(task.args), "keywords": task.keywords}
        return ["partial", _parts(task.func, seen), _plain(fixed, task, seen)]
    if not isinstance(task, types.FunctionType):
        raise TypeError(
            f"a task whose results are kept must be a Python function, got {task!r}; wrap it in one"
        )
    if task in seen:
        return ["again", _name(task)]
    seen.add(task)
    try:
        cells = [cell.cell_contents for cell in task.__closure__ or ()]
    except ValueError:  # a cell that is filled later
        cells = []
    fixed = {"defaults": task.__defaults__, "keywords": task.__kwdefaults__, "cells": cells}
    return [_name(task), _code(task.__code__), _plain(fixed, task, seen), _read_by_name(task, seen)]


def _plain(value, task, seen):
    """Encode what a task holds, functions included."""
    if isinstance(value, types.FunctionType | functools.partial):
        return _parts(value, seen)
    if type(value) is dict:
        return [[_plain(key, task, seen), _plain(item, task, seen)] for key, item in value.items()]
    if type(value) in (list, tuple):
        return [_plain(item, task, seen) for item in value]
    try:
        return encode(value)
    except TypeError as wrong:
        raise TypeError(
            f"results of {_name(task)} cannot be kept, because it holds what has no plain form: {wrong}"
        ) from None


def _code(code):
    return [code.co_code.hex(), code.co_names, code.co_varnames, [_constant(one) for one in code.co_consts]]


def _constant(value):
    if isinstance(value, types.CodeType):
        return _code(value)
    if isinstance(value, frozenset):
        return sorted(map(repr, value))  # in an order that does not change from run to run
    return repr(value)


def _names(code):
    nested = [_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*nested)


def _read_by_name(task, seen):
    if task.__module__.split(".")[0] == shufflelib.__name__:
        return []  # the package's files have a digest of their own
    known = {
        name: task.__globals__[name] for name in sorted(_names(task.__code__)) if name in task.__globals__
    }
    parts = []
    for name, value in known.items():
        if isinstance(value, types.FunctionType) and value.__module__ == task.__module__:
            parts.append([name, _parts(value, seen)])
        elif not isinstance(value, types.ModuleType):
            try:
                parts.append([name, encode(value)])
            except TypeError:
                parts.append([name, type(value).__qualname__])
    return parts

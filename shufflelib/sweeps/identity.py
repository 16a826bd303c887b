"""What a result depends on: the task's code, and the versions of everything that computes it."""

import functools
import hashlib
import importlib.metadata
import inspect
import json
import platform
import sys
import sysconfig
import types
from pathlib import Path

import shufflelib
from shufflelib.numerics import validation
from shufflelib.sweeps.plain import encode

INSTALLED = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
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
        ``name`` for people; ``digest`` over the code, the defaults, what the function closes over, and what
        it uses by name: functions and plain values, and the whole file of a module or class of the user's.

    Raises
    ------
    TypeError
        If the task is something else, or it closes over what has no plain form.

    Notes
    -----
    Not covered: what the functions of a module of the user's import in turn, objects other than functions,
    classes and plain values, files, and installed packages other than this one, NumPy and SciPy.  Delete
    the cache after changing those.
    """
    parts = _parts(task, [])
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
            "a task whose results are kept must be a Python function, "
            f"got {validation.shown(task)}; wrap it in one"
        )
    if task in seen:
        return ["again", seen.index(task)]
    seen.append(task)
    cells = [_content(cell) for cell in task.__closure__ or ()]
    fixed = {"defaults": task.__defaults__, "keywords": task.__kwdefaults__, "cells": cells}
    return [_name(task), _code(task.__code__), _plain(fixed, task, seen), _read_by_name(task, seen)]


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # filled later
        return "empty"


def _plain(value, task, seen):
    """Encode what a task holds, functions included."""
    if isinstance(value, types.FunctionType | functools.partial):
        return _parts(value, seen)
    if type(value) is dict:
        return ["dict", [[_plain(key, task, seen), _plain(item, task, seen)] for key, item in value.items()]]
    if type(value) in (list, tuple):
        return [type(value).__name__, [_plain(item, task, seen) for item in value]]
    if type(value) in (set, frozenset):
        return [type(value).__name__, sorted(map(repr, value))]
    try:
        return encode(value)
    except TypeError as wrong:
        raise TypeError(
            f"results of {_name(task)} cannot be kept, because it holds what has no plain form: {wrong}"
        ) from None


def _code(code):
    shape = [code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_freevars]
    constants = [_constant(one) for one in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, shape, constants]


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
    return [[name, _used(value, task, seen)] for name, value in known.items()]


def _used(value, task, seen):
    """Stand for what a task uses by name: its code, its value, or the file that it comes from."""
    value = inspect.unwrap(value) if callable(value) else value  # what is cached or wrapped
    if isinstance(value, types.ModuleType):
        return _file(value.__name__)
    if isinstance(value, type):
        return [value.__qualname__, _file(value.__module__)]
    if isinstance(value, types.FunctionType) and _installed(value.__module__):
        return f"{value.__module__}.{value.__qualname__}"  # of an installed package
    try:
        return _plain(value, task, seen)
    except TypeError:
        return type(value).__qualname__


def _file(module):
    """Return the name of a module, with a digest of its file if it is one of the user's own."""
    path = getattr(sys.modules.get(module), "__file__", None)
    if path is None or _installed(module):
        return module
    return [module, hashlib.sha256(Path(path).read_bytes()).hexdigest()]


def _installed(module):
    """Whether a module belongs to Python, to an installed package or to this one."""
    top = module.split(".")[0]
    path = getattr(sys.modules.get(module), "__file__", None)
    return top in (*sys.stdlib_module_names, shufflelib.__name__) or (
        path is not None and any(Path(path).is_relative_to(folder) for folder in INSTALLED)
    )

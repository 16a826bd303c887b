"""A training run on disk: written whole or not at all, and read back only by the run it belongs to."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

FORMAT = "shufflelib training checkpoint 1"


def save(path, settings, arrays):
    """Write a checkpoint.

    Parameters
    ----------
    path : str or os.PathLike
        The file; an older one is replaced in one step, so that a reader finds the old or the new one.
    settings : dict
        What the run is, as JSON can hold it.
    arrays : dict of str to numpy.ndarray
        What the run has come to; numbers and text only.

    Raises
    ------
    OSError
        If the file cannot be written; nothing is left behind.

    Notes
    -----
    Written beside it first, under a name of its own that ends in ``.partial``.  A process killed at that
    moment leaves such a file; nothing reads it.
    """
    path = Path(path)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, format=np.array(FORMAT), settings=np.array(_text(settings)), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def load(path, settings, names):
    """Read a checkpoint back.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `save` wrote.
    settings : dict
        What the run is that wants to go on.
    names : sequence of str
        The arrays that must be there.

    Returns
    -------
    dict of str to numpy.ndarray

    Raises
    ------
    ValueError
        If the file is damaged, not a checkpoint, or that of another run.

    Notes
    -----
    Nothing in the file is executed: arrays of Python objects are refused.
    """
    remedy = "delete it to start again, or name another file"
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            found = {name: _array(stored, name) for name in ("format", "settings", *names)}
    except Exception as error:  # whatever numpy and zipfile make of a file that is not what it says
        raise ValueError(f"checkpoint {str(path)!r} cannot be read ({error}); {remedy}") from error
    if str(found.pop("format")) != FORMAT:
        raise ValueError(f"checkpoint {str(path)!r} is not a {FORMAT!r}; {remedy}")
    written = str(found.pop("settings"))
    if written != _text(settings):
        raise ValueError(
            f"checkpoint {str(path)!r} belongs to another run: {_difference(written, settings)}; {remedy}"
        )
    return found


def _array(stored, name):
    array = stored[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is not an array")
    return array


def _text(settings):
    return json.dumps(settings, sort_keys=True)


def _difference(written, settings):
    """Say which settings differ, for a reader who has to choose a file."""
    try:
        other = json.loads(written)
    except (ValueError, RecursionError):
        other = None
    if not isinstance(other, dict):
        return "its settings cannot be read"
    differing = sorted(
        name for name in {*settings, *other} if other.get(name, ...) != settings.get(name, ...)
    )
    return f"other {', '.join(differing)}"

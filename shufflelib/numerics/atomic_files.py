"""Files that are there whole or not at all."""

import os
import uuid
from pathlib import Path

from shufflelib.numerics import validation


def replace(path, content):
    """Write a file beside the one that is wanted, then give it its name.

    Parameters
    ----------
    path : pathlib.Path
        What is written; an older file of this name stays until the new one is complete.
    content : bytes
        All of it.

    Raises
    ------
    OSError
        In one line that names the file, the reason and the remedy.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        try:
            beside.write_bytes(content)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as wrong:
        raise unwritable(path, wrong) from wrong


def try_folder(folder):
    """Make a folder if it is not there, and see that files can be written in it.

    Parameters
    ----------
    folder : pathlib.Path
        With its parents.

    Raises
    ------
    OSError
        As `replace` does.
    """
    trial = folder / f".{uuid.uuid4().hex[:8]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            trial.write_bytes(b"\n")
        finally:
            trial.unlink(missing_ok=True)
    except OSError as wrong:
        raise unwritable(folder, wrong) from wrong


def unwritable(path, wrong):
    """Return the error that says why a file or folder cannot be written."""
    reason = wrong.strerror or str(wrong)
    return type(wrong)(
        f"cannot write {os.fspath(path)}: {reason}; make room or give a folder that can be written"
    )


def as_path(value, name):
    """Return a file name as a path; refuse what is none."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise TypeError(f"{name} must be the name of a file or folder, got {validation.shown(value)}")
    return Path(value)

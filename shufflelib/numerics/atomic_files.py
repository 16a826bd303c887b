"""Files that are there whole or not at all."""

import contextlib
import os
import tempfile
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
    with writing(path):
        try:
            beside.write_bytes(content)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


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
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"\n")


@contextlib.contextmanager
def writing(path):
    """Say in one line which file or folder cannot be written, and why."""
    try:
        yield
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise type(wrong)(
            f"cannot write {os.fspath(path)}: {reason}; make room or give a folder that can be written"
        ) from wrong


def as_path(value, name):
    """Return a file name as a path; refuse what is none."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise TypeError(f"{name} must be the name of a file or folder, got {validation.shown(value)}")
    return Path(value)

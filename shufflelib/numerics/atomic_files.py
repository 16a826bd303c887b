"""Files written completely or not at all; errors name the file, the reason and the remedy."""

import contextlib
import os
import tempfile
import uuid
from pathlib import Path

from shufflelib.numerics import validation


def replace(path, content):
    """Write bytes under a temporary name, then rename: an older file stays until the new one is complete."""
    replace_all({path: content})


def replace_all(contents):
    """Write several files, path -> bytes: older ones stay until all new ones are complete."""
    beside = {path: path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}") for path in contents}
    try:
        for path, new in beside.items():
            with writing(path):
                new.write_bytes(contents[path])
        for path, new in beside.items():
            with writing(path):
                os.replace(new, path)
    finally:
        for new in beside.values():
            new.unlink(missing_ok=True)


def try_folder(folder):
    """Make a folder with its parents if it is missing, and check that files can be written in it."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"\n")


@contextlib.contextmanager
def writing(path):
    """Raise an `OSError` that says in one line which file or folder cannot be written, and why."""
    try:
        yield
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise type(wrong)(
            f"cannot write {os.fspath(path)}: {reason}; make room or give a folder that can be written"
        ) from wrong


def as_path(value, name):
    """Return a file name as a path, or raise a `TypeError`."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise TypeError(f"{name} must be the name of a file or folder, got {validation.shown(value)}")
    return Path(value)

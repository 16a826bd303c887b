"""Results on disk, one small checked file for each, so that a sweep that was stopped goes on."""

import hashlib
import json

from shufflelib.numerics.atomic_files import as_path, replace, try_folder
from shufflelib.sweeps.plain import decode, encode

UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


class Missing(LookupError):
    """No sound result of this name is kept."""


class Cache:
    """A folder of results, each known by the name of what it is the result of.

    Parameters
    ----------
    folder : str or os.PathLike
        Made if it is not there.  Delete it, or any file in it, at any time.

    Attributes
    ----------
    found, damaged : int
        How many results were read, and how many files were unsound and therefore passed over.

    Raises
    ------
    TypeError, OSError
        If ``folder`` is no name of a folder, or nothing can be written there.

    Notes
    -----
    A file is one line with the SHA-256 of the rest, then JSON with the full name and the result: it is
    text, and reading it runs no code.  Files are written beside and renamed, so two sweeps may share a
    folder; a file that is truncated, changed or renamed is rejected.
    A name is any plain value; that of a sweep holds the task, the case, the seed and the versions of
    everything that computes it, so that a result of other code is never found.

    Examples
    --------
    >>> import tempfile
    >>> from shufflelib import sweeps
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweeps.Cache(folder).put({"n": 3}, (0.1, 0.2))
    ...     sweeps.Cache(folder).get({"n": 3})
    (0.1, 0.2)
    """

    def __init__(self, folder):
        self.folder = as_path(folder, "cache")
        try_folder(self.folder)
        self.found = self.damaged = 0

    def __repr__(self):
        return f"Cache({str(self.folder)!r})"

    def get(self, name):
        """Return the result of that name.

        Parameters
        ----------
        name : object
            A plain value.

        Returns
        -------
        object
            What was put, type for type and bit for bit.

        Raises
        ------
        LookupError
            `Missing`, if there is none or its file is damaged.
        """
        name = _written(name)
        try:
            content = self._path(name).read_bytes()
        except FileNotFoundError:
            raise Missing(name) from None
        except OSError:
            content = b""
        try:
            result = _result(content, name)
        except UNREADABLE:
            self.damaged += 1
            raise Missing(name) from None
        self.found += 1
        return result

    def put(self, name, result):
        """Keep a result.

        Parameters
        ----------
        name, result : object
            Plain values, see `shufflelib.sweeps.plain.encode`.

        Raises
        ------
        TypeError
            If one of them is not plain.
        OSError
            If the file cannot be written; what was kept before stays.
        """
        name = _written(name)
        try:
            body = f'{{"name": {name},\n"result": {json.dumps(encode(result))}}}\n'.encode()
        except TypeError as wrong:
            raise TypeError(f"a result cannot be kept: {wrong}; or leave cache out") from None
        replace(self._path(name), _checksum(body) + b"\n" + body)

    def _path(self, name):
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.json"


def _written(name):
    return json.dumps(encode(name), sort_keys=True)


def _checksum(body):
    return hashlib.sha256(body).hexdigest().encode()


def _result(content, name):
    checksum, _, body = content.partition(b"\n")
    if _checksum(body) != checksum:
        raise ValueError("the file is not what was written")
    entry = json.loads(body)
    if json.dumps(entry["name"], sort_keys=True) != name:
        raise ValueError("the file is that of another result")
    return decode(entry["result"])

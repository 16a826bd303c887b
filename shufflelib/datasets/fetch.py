"""Download one file: from the first mirror that delivers it, resumable, checked before it takes its name."""

import os
from contextlib import contextmanager
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

TIMEOUT = 30  # seconds without a byte
CHUNK = 1 << 16
LARGEST = 10**8  # bytes, far above any file wanted: an answer that does not end is left there
COMPLETE = 416  # the server has nothing beyond the bytes already here
RESUMED = 206


def fetch(path, urls, *, check):
    """Download a file to ``path``, or leave what came beside it as ``.part``.

    Parameters
    ----------
    path : pathlib.Path
        Where the file shall be; what is there is replaced at the end, in one step.
    urls : iterable of str
        Mirrors of the same content, tried in turn; each goes on from what the one before delivered.
    check : callable
        Takes the path of the finished download and raises ValueError if its content is wrong.

    Raises
    ------
    BlockingIOError
        If another process is downloading the same file.
    ConnectionError
        If no mirror delivers the right content; the message says what each of them did.
    OSError
        If the part cannot be written, or the finished download cannot be renamed.

    Notes
    -----
    A part is resumed by an HTTP range request.  A server that ignores the range sends everything, and
    the download starts afresh.  A part that fails the check is emptied, and if it had been resumed the
    same mirror is asked once for the whole file: the part may have come from other bytes.

    The part is locked as long as it is written: two processes never mix their bytes.  The system takes the
    lock away when a process ends, however it ends.
    """
    part = path.with_name(f"{path.name}.part")
    failures = []
    with _claimed(part) as file:
        for url in urls:
            try:
                _obtain(url, file, part, check)
            except (OSError, HTTPException, ValueError) as error:
                reason = error.reason if type(error) is URLError else error
                failures.append(f"{urlsplit(url).netloc}: {' '.join(str(reason).split())}")
            else:
                os.replace(part, path)
                return
        if _size(file) == 0:
            part.unlink()
    raise ConnectionError(f"{path.name} could not be downloaded ({'; '.join(failures)})")


@contextmanager
def _claimed(part):
    """Open the part for appending, for this process alone."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
            mine = os.path.samestat(os.fstat(file.fileno()), os.stat(part))
        except (BlockingIOError, FileNotFoundError):
            mine = False  # another process writes it, or has just renamed or removed it
        if not mine:
            raise BlockingIOError(f"another process is downloading {part}; wait for it, then try again")
        yield file


def _obtain(url, file, part, check):
    """Complete the part and check it; where it was resumed and is wrong, try once more from nothing."""
    resumed = _size(file) > 0
    _transfer(url, file, part.stem)
    try:
        check(part)
    except ValueError:
        file.truncate(0)
        if not resumed:
            raise
        _obtain(url, file, part, check)


def _transfer(url, file, name):
    """Append to the part what the server has beyond it, or replace it where ranges are ignored."""
    from tqdm import tqdm

    held = _size(file)
    request = Request(url, headers={"Range": f"bytes={held}-"} if held else {})
    try:
        answer = urlopen(request, timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if held and error.code == COMPLETE:
            return
        raise
    with answer:
        start = held if answer.status == RESUMED else 0
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length else None
        file.truncate(start)
        how = {"total": total, "initial": start, "unit": "B", "unit_scale": True, "desc": name}
        with tqdm(disable=None, **how) as progress:
            while chunk := answer.read1(CHUNK):
                if _size(file) + len(chunk) > LARGEST:
                    raise ConnectionError(f"the answer goes on after {LARGEST} bytes")
                file.write(chunk)
                file.flush()
                progress.update(len(chunk))
    if total is not None and _size(file) < total:
        raise ConnectionError(f"the connection ended after {_size(file)} of {total} bytes")


def _size(file):
    return os.fstat(file.fileno()).st_size

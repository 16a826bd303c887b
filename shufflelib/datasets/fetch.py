"""Download one file: from the first mirror that delivers it, resumable, checked before it takes its name."""

import os
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

TIMEOUT = 30  # seconds without a byte
CHUNK = 1 << 16
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
    ConnectionError
        If no mirror delivers the right content; the message says what each of them did.
    OSError
        If the finished download cannot be renamed.

    Notes
    -----
    A part is resumed by an HTTP range request.  A server that ignores the range sends everything, and
    the download starts afresh.  A part that fails the check is deleted, and if it had been resumed the
    same mirror is asked once for the whole file: the part may have come from other bytes.
    """
    part = path.with_name(f"{path.name}.part")
    failures = []
    for url in urls:
        try:
            _obtain(url, part, check)
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if type(error) is URLError else error
            failures.append(f"{urlsplit(url).netloc}: {reason}")
        else:
            os.replace(part, path)
            return
    raise ConnectionError(f"{path.name} could not be downloaded ({'; '.join(failures)})")


def _obtain(url, part, check):
    """Complete the part and check it; where it was resumed and is wrong, try once more from nothing."""
    resumed = _size(part) > 0
    _transfer(url, part)
    try:
        check(part)
    except ValueError:
        part.unlink()
        if not resumed:
            raise
        _obtain(url, part, check)


def _transfer(url, part):
    """Append to the part what the server has beyond it, or replace it where ranges are ignored."""
    from tqdm import tqdm

    held = _size(part)
    request = Request(url, headers={"Range": f"bytes={held}-"} if held else {})
    try:
        answer = urlopen(request, timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == COMPLETE:
            return
        raise
    with answer:
        start = held if answer.status == RESUMED else 0
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length else None
        part.parent.mkdir(parents=True, exist_ok=True)
        how = {"total": total, "initial": start, "unit": "B", "unit_scale": True, "desc": part.stem}
        with part.open("ab" if start else "wb") as file, tqdm(disable=None, **how) as progress:
            while chunk := answer.read1(CHUNK):
                file.write(chunk)
                progress.update(len(chunk))
    if total is not None and _size(part) < total:
        raise ConnectionError(f"the connection ended after {_size(part)} of {total} bytes")


def _size(part):
    return part.stat().st_size if part.exists() else 0

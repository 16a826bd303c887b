"""The IDX file format of MNIST: an array of bytes behind a short header, perhaps compressed by gzip."""

import gzip
import hashlib
import math
import os
import stat
import struct
import zlib

import numpy as np

from shufflelib.numerics import validation

GZIP = b"\x1f\x8b"
UNSIGNED_BYTES = 0x08


def read_idx(path, *, shape, sha256):
    r"""Return the array in an IDX file whose shape and content are known.

    The header is two zero bytes, a code for the type of the entries, the number :math:`k` of dimensions,
    and :math:`k` lengths as big-endian 32-bit numbers.  The entries follow, last index fastest.

    Parameters
    ----------
    path : str or path-like
        A file, plain or compressed by gzip: its first two bytes decide, not its name.
    shape : tuple of int
        The lengths that the header must give.
    sha256 : str
        The sum of the uncompressed file, in hexadecimal digits.

    Returns
    -------
    numpy.ndarray, uint8
        Read-only, of the given shape.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        If there is no such file.
    TypeError
        If ``path`` is not a path.
    ValueError
        If it is not a file, cannot be read, is damaged, or is another one than expected.  Shape and
        length are checked first, so that no more memory is used than the expected array needs.

    Notes
    -----
    Of the six types of entries only unsigned bytes are read, the only one MNIST uses.
    Source: Y. LeCun, C. Cortes, C. J. C. Burges, "The MNIST database of handwritten digits" (1998).
    """
    if not isinstance(path, str | os.PathLike):  # a number would be taken for an open file
        raise TypeError(f"path must be a path, got {validation.shown(path)}")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for a writer
            raise ValueError(f"{path} is not a file")
        with open(path, "rb") as file:
            compressed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            with gzip.GzipFile(fileobj=file) if compressed else file as stream:
                header, entries = _parts(stream, path, shape)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is a damaged gzip file: {error}") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from error
    digest = hashlib.sha256(header)
    digest.update(entries)
    if digest.hexdigest() != sha256:
        raise ValueError(f"{path} is not the original: its SHA-256 is {digest.hexdigest()}, not {sha256}")
    return np.frombuffer(entries, np.uint8).reshape(shape)


def _parts(stream, path, shape):
    """Return header and entries, once both have the expected form."""
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0":
        raise ValueError(f"{path} is not an IDX file: it begins with {magic!r}, not with two zero bytes")
    code, dimensions = magic[2:]
    if code != UNSIGNED_BYTES:
        raise ValueError(f"{path} holds entries of type 0x{code:02x}, expected 0x08, unsigned bytes")
    lengths = stream.read(4 * dimensions)
    if len(lengths) < 4 * dimensions:
        raise ValueError(f"{path} is truncated: it ends within its header")
    found = struct.unpack(f">{dimensions}I", lengths)
    if found != tuple(shape):
        raise ValueError(
            f"{path} holds an array of shape {found}, expected {tuple(shape)}; "
            "is it another file under this name?"
        )
    size = math.prod(shape)
    entries = stream.read(size + 1)
    if len(entries) < size:
        raise ValueError(f"{path} is truncated: {len(entries)} of {size} entries")
    if len(entries) > size:
        raise ValueError(f"{path} goes on after its {size} entries")
    return magic + lengths, entries

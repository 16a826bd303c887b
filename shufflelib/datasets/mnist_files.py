"""MNIST: which files it is, where they are kept, and where they can be downloaded."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from shufflelib.datasets.fetch import fetch
from shufflelib.datasets.idx import read_idx
from shufflelib.datasets.images import Digits
from shufflelib.numerics import validation

VARIABLE = "SHUFFLELIB_DATA"
REMEDY = f"run `make data`, or set {VARIABLE} to a folder that holds mnist/"
BRIGHTEST = 255
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


class IdxFile(NamedTuple):
    """One file: its name without ``.gz``, the shape it holds, the SHA-256 of its uncompressed content."""

    name: str
    shape: tuple
    sha256: str

    def read(self, path):
        """Return the array held by a file that should be this one; see `read_idx` for the errors."""
        return read_idx(path, shape=self.shape, sha256=self.sha256)


FILES = {
    "train_images": IdxFile(
        "train-images-idx3-ubyte",
        (60_000, 28, 28),
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train_labels": IdxFile(
        "train-labels-idx1-ubyte",
        (60_000,),
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "test_images": IdxFile(
        "t10k-images-idx3-ubyte",
        (10_000, 28, 28),
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "test_labels": IdxFile(
        "t10k-labels-idx1-ubyte",
        (10_000,),
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}


def mnist(folder=None):
    """Return MNIST: 60,000 training and 10,000 test images of 28 by 28 pixels.

    Parameters
    ----------
    folder : str or path-like, optional
        A folder that holds ``mnist/``, with the four files of the original distribution, plain or
        compressed; of two, the one ending in ``.gz`` is read.  Else the environment variable
        ``SHUFFLELIB_DATA`` names it, else it is ``data``.

    Returns
    -------
    Digits
        Named ``"mnist"``, 784 pixels per image, in the original order and split.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says where it was looked for.
    ValueError
        If a file is not the original: damaged, truncated, or another one under its name.
    TypeError, ValueError
        If ``folder`` is not a path.

    Notes
    -----
    Every file is checked against the SHA-256 of its uncompressed content.  Takes about a second and
    250 MB of memory, 220 MB of which are the images returned.

    Source: Y. LeCun, C. Cortes, C. J. C. Burges, "The MNIST database of handwritten digits" (1998);
    described in Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document
    recognition", Proceedings of the IEEE 86(11), 1998.

    Examples
    --------
    >>> import tempfile
    >>> from shufflelib import datasets
    >>> with tempfile.TemporaryDirectory() as empty:  # without MNIST, the bundled digits
    ...     datasets.mnist(empty) if datasets.mnist_available(empty) else datasets.digits()
    Digits('digits', 1500 training and 297 test images of 64 pixels)
    """
    folder = mnist_folder(folder)
    arrays = {}
    for field, file in FILES.items():
        held = _stored(file, folder)
        if held is None:
            raise FileNotFoundError(f"no {file.name}.gz and no {file.name} in {folder}; {REMEDY}")
        arrays[field] = _brightness(held) if field.endswith("images") else held.astype(np.int64)
    return Digits("mnist", **arrays)


def mnist_available(folder=None):
    """Whether MNIST is there, all of it; takes half a second, because every file is read and checked.

    Parameters
    ----------
    folder : str or path-like, optional
        As in `mnist`.

    Returns
    -------
    bool
        False if any file, or the folder itself, is missing.

    Raises
    ------
    ValueError
        If a file is there and is not the original: a damaged file is not taken for a missing one.

    Examples
    --------
    >>> import tempfile
    >>> from shufflelib import datasets
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     datasets.mnist_available(empty)
    False
    """
    folder = mnist_folder(folder)
    found = [_stored(file, folder) is not None for file in FILES.values()]  # a list: every file is checked
    return all(found)


def download_mnist(folder=None):
    """Download the files of MNIST that are missing or not the original.

    Parameters
    ----------
    folder : str or path-like, optional
        As in `mnist`; made if it is not there.

    Returns
    -------
    list of str
        Names of the files downloaded; empty if all were there.

    Raises
    ------
    ConnectionError
        If no mirror delivers a file; what came stays beside it as ``.part`` and is gone on from.
    BlockingIOError
        If another process is downloading the same file.
    OSError
        If a file cannot be written, or a finished one cannot take its name.

    Notes
    -----
    11 MB from `MIRRORS`.  A file appears under its name only once its content has been checked; one that
    is not the original is replaced then, and not before.

    Examples
    --------
    >>> from shufflelib import datasets
    >>> datasets.download_mnist("data")  # doctest: +SKIP
    ['train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz', ...]
    """
    folder = mnist_folder(folder)
    fetched = []
    for file in FILES.values():
        try:
            missing = _stored(file, folder) is None
        except ValueError:
            missing = True
        if missing:
            path = folder / f"{file.name}.gz"
            try:
                fetch(path, [mirror + path.name for mirror in MIRRORS], check=file.read)
            except ConnectionError as error:
                raise ConnectionError(f"{error}; where there is a network, {REMEDY}") from error
            fetched.append(path.name)
    return fetched


def mnist_folder(folder=None):
    """Return where the files belong, as an absolute path; the choice is described in `mnist`."""
    if folder is None:
        folder = os.environ.get(VARIABLE) or "data"
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"folder must be a path, got {validation.shown(folder)}; {REMEDY}")
    if "\0" in str(folder):
        raise ValueError(
            f"folder must be a path, got {validation.shown(folder)}, which holds a null character; {REMEDY}"
        )
    try:
        return Path(folder).expanduser().absolute() / "mnist"
    except RuntimeError as error:
        raise ValueError(
            f"folder must be a path, got {validation.shown(folder)}: there is no such user; {REMEDY}"
        ) from error


def _stored(file, folder):
    """Return the array of one file, or None if it is neither there compressed nor plain."""
    for name in (f"{file.name}.gz", file.name):
        try:
            return file.read(folder / name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except ValueError as error:
            raise ValueError(f"{error}; remove it, then {REMEDY}") from error
    return None


def _brightness(images):
    """Return images as rows of float32 in [0, 1]."""
    return np.divide(images.reshape(len(images), -1), BRIGHTEST, dtype=np.float32)

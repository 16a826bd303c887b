"""MNIST: which files it is, where they are kept, and where they can be downloaded."""

import gzip
import hashlib
import math
import os
import zlib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.atomic_files import try_folder
from shufflelib.numerics.optional import remedy
from shufflelib.sgd.datasets.images import Digits

VARIABLE = "SHUFFLELIB_DATA"
REMEDY = f"run `make data`, or set {VARIABLE} to a folder that holds mnist/"
BRIGHTEST = 255
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


class IdxFile(NamedTuple):
    """One file: its name, the shape of its array, and the SHA-256 as downloaded and once decompressed."""

    name: str
    shape: tuple[int, ...]
    sha256: str
    decompressed: str


FILES = {
    "train_images": IdxFile(
        "train-images-idx3-ubyte.gz",
        (60_000, 28, 28),
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train_labels": IdxFile(
        "train-labels-idx1-ubyte.gz",
        (60_000,),
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "test_images": IdxFile(
        "t10k-images-idx3-ubyte.gz",
        (10_000, 28, 28),
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "test_labels": IdxFile(
        "t10k-labels-idx1-ubyte.gz",
        (10_000,),
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}


def mnist(folder: str | os.PathLike[str] | None = None) -> Digits:
    """Return MNIST: 60,000 training and 10,000 test images of 28 by 28 pixels.

    Parameters
    ----------
    folder : str or path-like, optional
        A folder that holds ``mnist/``, with the four files of the original distribution, compressed by gzip.
        Else the environment variable ``SHUFFLELIB_DATA`` names it, else it is ``data``.

    Returns
    -------
    Digits
        Named ``"mnist"``, 784 pixels per image, in the original order and split.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says where it was looked for.
    ValueError
        If a file is not the original: damaged, truncated, or another file under its name.
    TypeError, ValueError
        If ``folder`` is not a path.

    Notes
    -----
    Every file is checked against the SHA-256 of its decompressed bytes.  Takes about a second and 250 MB of
    memory, 220 MB of which are the images returned.

    Source: Y. LeCun, C. Cortes, C. J. C. Burges, "The MNIST database of handwritten digits" (1998);
    described in Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document
    recognition", Proceedings of the IEEE 86(11), 1998.

    Examples
    --------
    >>> import tempfile
    >>> from shufflelib.sgd import datasets
    >>> with tempfile.TemporaryDirectory() as empty:  # without MNIST, the bundled digits
    ...     datasets.mnist(empty) if datasets.mnist_available(empty) else datasets.digits()
    Digits('digits', 1500 training and 297 test images of 64 pixels)
    """
    folder = mnist_folder(folder)
    arrays = {field: _array(folder, file) for field, file in FILES.items()}
    for part in ("train", "test"):
        images = arrays[f"{part}_images"]
        arrays[f"{part}_images"] = np.divide(images.reshape(len(images), -1), BRIGHTEST, dtype=np.float32)
        arrays[f"{part}_labels"] = arrays[f"{part}_labels"].astype(np.int64)
    return Digits("mnist", **arrays)


def mnist_available(folder: str | os.PathLike[str] | None = None) -> bool:
    """Return whether all files of MNIST are present; every file is read and checked.

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
        If a file is there and is not the original: a damaged file is not treated as missing.

    Examples
    --------
    >>> import tempfile
    >>> from shufflelib.sgd import datasets
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     datasets.mnist_available(empty)
    False
    """
    folder = mnist_folder(folder)
    there = [file for file in FILES.values() if (folder / file.name).is_file()]
    for file in there:
        _content(folder, file)
    return len(there) == len(FILES)


def download_mnist(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Download the files of MNIST that are missing or differ from the original.

    Parameters
    ----------
    folder : str or path-like, optional
        As in `mnist`; created if it is missing.

    Returns
    -------
    list of str
        Names of the files downloaded; empty if all were there.

    Raises
    ------
    ConnectionError
        If no mirror delivers a file; the message says what went wrong with each.
    OSError
        If a file cannot be written.

    Notes
    -----
    11 MB from `MIRRORS`, by pooch.  A file appears under its name only once its SHA-256 has been checked; one
    that is not the original is replaced then, and not before.

    Examples
    --------
    >>> from shufflelib.sgd import datasets
    >>> datasets.download_mnist("data")  # doctest: +SKIP
    ['train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz', ...]
    """
    folder = mnist_folder(folder)
    fetched = []
    for file in FILES.values():
        try:
            _content(folder, file)
        except (FileNotFoundError, ValueError):
            _download(folder, file)
            fetched.append(file.name)
    return fetched


def mnist_folder(folder=None) -> Path:
    """Return where the files belong, as an absolute path; the choice is described in `mnist`."""
    if folder is None:
        folder = os.environ.get(VARIABLE) or "data"
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"folder must be a path, got {validation.shown(folder)}; {REMEDY}")
    return Path(folder).absolute() / "mnist"


def _content(folder, file):
    """Return the decompressed bytes of an existing file after checking them."""
    path = folder / file.name
    if not path.is_file():
        raise FileNotFoundError(f"no {file.name} in {folder}; {REMEDY}")
    try:
        content = gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error):
        content = b""
    if hashlib.sha256(content).hexdigest() != file.decompressed:
        raise ValueError(f"{path} is not the original file, as its SHA-256 differs; remove it, then {REMEDY}")
    return content


def _array(folder, file):
    """Return the array in an IDX file: its last bytes, after a header that the SHA-256 has checked."""
    entries = _content(folder, file)[-math.prod(file.shape) :]
    return np.frombuffer(entries, np.uint8).reshape(file.shape)


def _download(folder, file):
    """Download a file from the first mirror that delivers it."""
    with remedy("the download needs it: pip install pooch"):
        import pooch
    try_folder(folder)
    failures = []
    for mirror in MIRRORS:
        try:
            pooch.retrieve(mirror + file.name, file.sha256, fname=file.name, path=folder)
            return
        except (OSError, ValueError) as error:
            failures.append(f"{urlsplit(mirror).netloc}: {' '.join(str(error).split())}")
    raise ConnectionError(
        f"{file.name} could not be downloaded ({'; '.join(failures)}); with a network connection, {REMEDY}"
    )

"""Four small files that stand for MNIST in tests: IDX arrays, their bytes, their sums."""

import gzip
import hashlib
import struct

import numpy as np

from shufflelib.sgd.datasets import __main__ as command
from shufflelib.sgd.datasets import mnist_files

RNG = np.random.default_rng(1)
ARRAYS = {
    "train_images": RNG.integers(0, 256, (40, 5, 3), dtype=np.uint8),
    "train_labels": RNG.integers(0, 10, 40, dtype=np.uint8),
    "test_images": RNG.integers(0, 256, (7, 5, 3), dtype=np.uint8),
    "test_labels": RNG.integers(0, 10, 7, dtype=np.uint8),
}
ARRAYS["train_images"][0, 0] = 0, 128, 255
NAMES = {field: file.name for field, file in mnist_files.FILES.items()}


def packed(array):
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


def sha256(content):
    return hashlib.sha256(content).hexdigest()


PACKED = {NAMES[field]: packed(array) for field, array in ARRAYS.items()}
SMALL = {
    field: mnist_files.IdxFile(
        name, ARRAYS[field].shape, sha256(PACKED[name]), sha256(gzip.decompress(PACKED[name]))
    )
    for field, name in NAMES.items()
}


def stand_in(folder, monkeypatch):
    """Let the small files stand for MNIST, without mirrors; return where they belong, an empty folder."""
    monkeypatch.setattr(mnist_files, "FILES", SMALL)
    monkeypatch.setattr(command, "FILES", SMALL)
    monkeypatch.setattr(mnist_files, "MIRRORS", ())
    monkeypatch.setenv("SHUFFLELIB_DATA", str(folder))
    (folder / "mnist").mkdir()
    return folder / "mnist"


def store(folder):
    """Write all four files."""
    for name, content in PACKED.items():
        (folder / name).write_bytes(content)

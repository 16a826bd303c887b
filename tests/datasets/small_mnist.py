"""Four small files that stand for MNIST in tests: IDX arrays, their bytes, their sums."""

import gzip
import hashlib
import struct

import numpy as np

from shufflelib.datasets import __main__ as command
from shufflelib.datasets import mnist_files

RNG = np.random.default_rng(1)
ARRAYS = {
    "train_images": RNG.integers(0, 256, (40, 5, 3), dtype=np.uint8),
    "train_labels": RNG.integers(0, 10, 40, dtype=np.uint8),
    "test_images": RNG.integers(0, 256, (7, 5, 3), dtype=np.uint8),
    "test_labels": RNG.integers(0, 10, 7, dtype=np.uint8),
}
ARRAYS["train_images"][0, 0] = 0, 128, 255
NAMES = {field: file.name for field, file in mnist_files.FILES.items()}


def idx(array, code=8):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape) + array.tobytes()


def digest(content):
    return hashlib.sha256(content).hexdigest()


CONTENT = {field: idx(array) for field, array in ARRAYS.items()}
PACKED = {f"{NAMES[field]}.gz": gzip.compress(content, mtime=0) for field, content in CONTENT.items()}
SMALL = {
    field: mnist_files.IdxFile(NAMES[field], array.shape, digest(CONTENT[field]))
    for field, array in ARRAYS.items()
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

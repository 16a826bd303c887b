"""What a labelled data set is: images of digits and their labels, split once into training and test."""

import re
from dataclasses import dataclass

import numpy as np

from shufflelib.numerics import validation

DIGITS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Digits:
    """Images of handwritten digits with their labels; one image is one user.

    Parameters
    ----------
    name : str
        What the data are called in the names of figures, such as ``"digits"`` or ``"mnist"``.
    train_images, test_images : numpy.ndarray, shape (n, pixels), float32
        Brightness in [0, 1], row by row; the same number of pixels in both.
    train_labels, test_labels : numpy.ndarray, shape (n,), integer
        The digit shown, 0 to 9.

    Raises
    ------
    TypeError
        If an array is not one, or has another type.
    ValueError
        If shapes do not fit together or values lie outside their range.

    Notes
    -----
    The arrays held are read-only views: what is trained on is what was checked.  Checking costs one pass.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import datasets
    >>> images, labels = np.zeros((30, 64), dtype=np.float32), np.arange(30) % 10
    >>> datasets.Digits("blank", images, labels, images[:10], labels[:10])
    Digits('blank', 30 training and 10 test images of 64 pixels)
    """

    name: str
    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray

    def __post_init__(self):
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a word, got {validation.shown(self.name)}")
        if not re.fullmatch(r"\w[\w-]*", self.name):
            raise ValueError(
                f"name must be a word that can be part of a file name, got {validation.shown(self.name)}"
            )
        for part in ("train", "test"):
            images, labels = getattr(self, f"{part}_images"), getattr(self, f"{part}_labels")
            _check_images(images, f"{part}_images")
            _check_labels(labels, f"{part}_labels", len(images))
        if self.train_images.shape[1] != self.test_images.shape[1]:
            raise ValueError(
                "train_images and test_images must have the same number of pixels, "
                f"got {self.train_images.shape[1]} and {self.test_images.shape[1]}"
            )
        for field in ("train_images", "train_labels", "test_images", "test_labels"):
            held = getattr(self, field).view()
            held.flags.writeable = False
            object.__setattr__(self, field, held)

    def __repr__(self):
        users, pixels = self.train_images.shape
        held_out = len(self.test_images)
        return f"Digits({self.name!r}, {users} training and {held_out} test images of {pixels} pixels)"


def _check_images(images, name):
    if not isinstance(images, np.ndarray) or images.dtype != np.float32:
        found = getattr(images, "dtype", type(images).__name__)
        raise TypeError(f"{name} must be a float32 array, got {found}; convert it with astype(np.float32)")
    if images.ndim != 2 or images.size == 0:
        raise ValueError(f"{name} must have shape (n, pixels), got {images.shape}; make each image a row")
    if not (images.min() >= 0 and images.max() <= 1):
        raise ValueError(
            f"{name} must lie in [0, 1], got values from {images.min()} to {images.max()}; "
            "divide by the greatest brightness"
        )


def _check_labels(labels, name, users):
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "iu":
        found = getattr(labels, "dtype", type(labels).__name__)
        raise TypeError(f"{name} must be an integer array, got {found}; convert it with astype(int)")
    if labels.shape != (users,):
        raise ValueError(f"{name} must have shape ({users},), one label per image, got {labels.shape}")
    if labels.min() < 0 or labels.max() >= DIGITS:
        raise ValueError(f"{name} must hold 0 to 9, got values from {labels.min()} to {labels.max()}")

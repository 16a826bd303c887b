"""What a labelled data set is: images of digits and their labels, split once into training and test."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shufflelib.numerics.types import Integers

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

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.sgd import datasets
    >>> images, labels = np.zeros((30, 64), dtype=np.float32), np.arange(30) % 10
    >>> datasets.Digits("blank", images, labels, images[:10], labels[:10])
    Digits('blank', 30 training and 10 test images of 64 pixels)
    """

    name: str
    train_images: NDArray[np.float32]
    train_labels: Integers
    test_images: NDArray[np.float32]
    test_labels: Integers

    def __repr__(self):
        users, pixels = self.train_images.shape
        held_out = len(self.test_images)
        return f"Digits({self.name!r}, {users} training and {held_out} test images of {pixels} pixels)"

"""Data sets for the notebooks: handwritten digits with their labels.

>>> from shufflelib.sgd import datasets
>>> datasets.digits()
Digits('digits', 1500 training and 297 test images of 64 pixels)

In order of reading:

1. `images`: what a labelled data set is.
2. `bundled`: the small digits that come with scikit-learn, available without a download.
3. `mnist_files`: MNIST, read from files with known checksums, and downloaded by pooch.

Nothing is downloaded except by `download_mnist`, which ``python -m shufflelib.sgd.datasets`` calls.
"""

from shufflelib.sgd.datasets.bundled import digits
from shufflelib.sgd.datasets.images import DIGITS, Digits
from shufflelib.sgd.datasets.mnist_files import download_mnist, mnist, mnist_available

__all__ = [
    "DIGITS",
    "Digits",
    "digits",
    "download_mnist",
    "mnist",
    "mnist_available",
]

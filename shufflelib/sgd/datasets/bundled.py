"""The small digits bundled with scikit-learn: available without a download, loaded on demand."""

import numpy as np

from shufflelib.numerics.optional import remedy
from shufflelib.sgd.datasets.images import Digits

BRIGHTEST = 16  # each pixel counts the dark ones in a square of four by four
TRAINING = 1500  # a multiple of many block sizes
SEED = 0


def digits() -> Digits:
    """Return the bundled 8 by 8 digits, split into 1,500 training and 297 test images.

    Returns
    -------
    Digits
        Named ``"digits"``, 64 pixels per image.  The split is drawn once, from a fixed seed.

    Notes
    -----
    The same writers are in both parts, so test accuracy here says nothing about new writers.
    The split comes from ``numpy.random.RandomState``, whose stream is fixed: it is the same in every
    version of numpy.

    Source: E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits" (UCI, 1998), its test set.

    Examples
    --------
    >>> from shufflelib.sgd import datasets
    >>> data = datasets.digits()
    >>> data.train_images.shape, data.test_labels.shape, float(data.train_images.max())
    ((1500, 64), (297,), 1.0)
    """
    with remedy("the digits come with it: pip install scikit-learn"):
        from sklearn.datasets import load_digits
    bundle = load_digits()
    images = (bundle.data / BRIGHTEST).astype(np.float32)
    order = np.random.RandomState(SEED).permutation(len(images))
    training, test = order[:TRAINING], order[TRAINING:]
    return Digits("digits", images[training], bundle.target[training], images[test], bundle.target[test])

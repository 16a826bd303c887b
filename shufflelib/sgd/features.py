"""Principal components: images reduced to a few numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array

LARGEST = 1e30  # of an entry: beyond, features leave single precision


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """The directions of largest variance of some training images.

    Attributes
    ----------
    mean : numpy.ndarray, shape (pixels,)
        Mean of the training images.
    axes : numpy.ndarray, shape (components, pixels)
        Orthonormal, by falling variance; the entry of largest size of each is positive.
    variances : numpy.ndarray, shape (components,)
        Variance of the training images along each axis, divided by n - 1.

    Notes
    -----
    These numbers are computed from the data without noise, as in the papers.  The privacy of what is trained
    on the features does **not** cover them: anybody who receives them learns about the images.  The
    accounting holds when mean and axes come from public data, or are never released.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> from shufflelib.sgd import datasets
    >>> data = datasets.digits()
    >>> axes = sgd.principal_components(data.train_images, components=30)
    >>> axes.project(data.test_images).shape
    (297, 30)
    """

    mean: Array
    axes: Array
    variances: Array

    def project(self, images: ArrayLike) -> NDArray[np.float32]:
        """Return the features of some images.

        Parameters
        ----------
        images : array_like, shape (n, pixels)
            Finite values, of size at most 1e30.

        Returns
        -------
        numpy.ndarray, shape (n, components), float32

        Raises
        ------
        TypeError, ValueError
            If ``images`` is not such an array.
        """
        images = _rows(images, "images", len(self.mean))
        axes = self.axes.astype(np.float32)
        return (images - self.mean.astype(np.float32)) @ axes.T


def principal_components(images: ArrayLike, *, components: int = 60) -> PrincipalComponents:
    """Find the directions of largest variance.

    Parameters
    ----------
    images : array_like, shape (n, pixels)
        Training images, entries of size at most 1e30; at least two.
    components : int, optional
        Number of directions, from 1 to the number of pixels, and of images.

    Returns
    -------
    PrincipalComponents
        The same on every call; not private, see there.

    Notes
    -----
    Eigenvectors of the covariance, by scikit-learn: cost n pixels² + pixels³; 60,000 images of 784 pixels
    take a few seconds.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> from shufflelib.sgd import datasets
    >>> images = datasets.digits().train_images  # 64 pixels
    >>> axes = sgd.principal_components(images, components=30)
    >>> round(float(axes.variances.sum() / images.var(axis=0).sum()), 2)  # share of the variance kept
    0.96
    """
    from sklearn.decomposition import PCA

    images = _rows(images, "images")
    remedy = "there are no more components than pixels, nor than images"
    components = validation.count(components, "components", at_most=min(images.shape), remedy=remedy)
    found = PCA(components, svd_solver="covariance_eigh").fit(images.astype(np.float64))
    return PrincipalComponents(found.mean_, found.components_, found.explained_variance_)


def _rows(images, name, pixels=None) -> NDArray[np.float32]:
    array = validation.reals(images, name, at_least=-LARGEST, at_most=LARGEST).astype(np.float32)
    if array.ndim != 2 or (pixels is not None and array.shape[1] != pixels):
        wanted = "pixels" if pixels is None else pixels
        raise ValueError(f"{name} must have shape (n, {wanted}), one row for each image, got {array.shape}")
    return array

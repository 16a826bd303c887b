r"""The accuracy of estimates: the mean absolute error, measured and expected."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation


class Measured(NamedTuple):
    """An average over repetitions and the standard error of that average.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> error = estimation.Measured(value=0.021, standard_error=0.001)
    >>> error.value - 2 * error.standard_error < 0.02 < error.value + 2 * error.standard_error
    True
    """

    value: float
    standard_error: float


def mean_absolute_error(estimates: ArrayLike, truth: ArrayLike) -> Measured:
    """Return the mean absolute error of repeated estimates, with its standard error.

    Parameters
    ----------
    estimates : array_like, shape (repetitions,) or (repetitions, d)
        One row for each repetition; errors of the d entries are averaged first.
    truth : float or array_like, shape (d,)
        The true values.

    Returns
    -------
    Measured
        ``value`` and ``standard_error``, the latter from the variation between repetitions.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two repetitions or the shapes do not fit.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> runs = [[0.5, 0.5], [0.3, 0.7]]  # two runs, two frequencies each
    >>> measured = estimation.mean_absolute_error(runs, truth=[0.4, 0.6])
    >>> round(measured.value, 3), round(measured.standard_error, 3)
    (0.1, 0.0)
    """
    estimates, truth = validation.reals(estimates, "estimates"), validation.reals(truth, "truth")
    if estimates.ndim not in (1, 2) or len(estimates) < 2 or truth.shape != estimates.shape[1:]:
        raise ValueError(
            "estimates must hold at least two repetitions, one row each, and truth one row; "
            f"got shapes {estimates.shape} and {truth.shape}"
        )
    errors = np.abs(estimates - truth).reshape(len(estimates), -1).mean(axis=1)
    return Measured(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(errors.size)))


def normal_absolute_error(variance: ArrayLike) -> float:
    r"""Return the mean absolute error of an unbiased, normally distributed estimate.

    .. math:: \mathbb E|Z| = \sqrt{2\sigma^2/\pi}

    Parameters
    ----------
    variance : float or array_like
        σ² >= 0; of an array the errors are averaged.

    Returns
    -------
    float
        An approximation for estimates that are sums of many reports, not a bound: the error relative to
        it is about κ/24 with κ the excess kurtosis of the sum, 1e-5 for 10⁴ Laplace reports.

    Raises
    ------
    TypeError, ValueError
        If a variance is negative or not finite.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> round(estimation.normal_absolute_error(0.01**2), 5)  # 0.8 standard deviations
    0.00798
    """
    variance = validation.reals(variance, "variance", at_least=0.0)
    return float(np.sqrt(2.0 / np.pi * variance).mean())

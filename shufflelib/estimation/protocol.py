"""A protocol from end to end: users, shuffler, analyst, and a certified guarantee."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.types import Array


@dataclass(frozen=True)
class Estimate:
    """The estimate of one run of a protocol, and its privacy loss.

    Parameters
    ----------
    value : float or numpy.ndarray, shape (d,)
        The estimate of the population's statistic.
    standard_error : float or numpy.ndarray, shape (d,)
        Its standard deviation over the protocol's randomness; the protocol says if it is exact or an upper
        bound.
    epsilon : Certified
        Central ε at ``delta`` of exactly what was run; ``upper`` is the guarantee.
    delta : float
        Central δ.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> protocol = estimation.HistogramProtocol(randomizers.binary_rr(eps0=1.0), n=1000)
    >>> result = protocol.run(np.arange(1000) % 2, np.random.default_rng(1))
    >>> result.value.shape, result.delta, result.epsilon.upper < 0.13
    ((2,), 1e-06, True)
    """

    value: float | Array
    standard_error: float | Array
    epsilon: Certified[float]
    delta: float

    def __str__(self):
        width = np.max(self.standard_error)
        what = f"{self.value:.6g}" if np.ndim(self.value) == 0 else f"{np.size(self.value)} frequencies"
        return f"{what} ± {width:.2g} (one standard error)\nat delta = {self.delta:g}: {self.epsilon}"


class Protocol(ABC):
    """A protocol: users report, a shuffler permutes the reports, an analyst estimates.

    Subclasses define what reaches the analyst (`reports`), the estimate (`estimate`, `standard_error`)
    and its guarantee (`certificate`) for ``n`` users at one central ``delta``.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> protocol = estimation.HistogramProtocol(randomizers.binary_rr(eps0=1.0), n=1000)
    >>> data, rng = np.arange(1000) % 2, np.random.default_rng(1)
    >>> reports = protocol.reports(data, rng)  # all that the analyst sees
    >>> protocol.estimate(reports).shape, protocol.repeat(data, 100, rng).shape
    ((2,), (100, 2))
    """

    def __init__(self, n: int, delta: float) -> None:
        self.n, self.delta = validation.users(n), validation.probability(delta, "delta")

    @abstractmethod
    def reports(self, data: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Return what the analyst receives: the protocol up to and including the shuffler."""

    @abstractmethod
    def estimate(self, reports: ArrayLike) -> float | Array:
        """Return the estimate, a function of the reports and of public parameters only.

        One entry for each report: how often each report was seen looks the same, so another number of entries
        than the protocol's is refused.
        """

    @abstractmethod
    def standard_error(self, estimate: Any) -> float | Array:
        """Return the standard error that belongs to an estimate, known without the data."""

    @abstractmethod
    def certificate(self) -> Certified[float]:
        """Return the central ε at ``delta`` as a `Certified`; `epsilon` keeps it."""

    @abstractmethod
    def repeat(self, data: ArrayLike, repetitions: int, rng: np.random.Generator) -> Array:
        """Return the estimates of independent runs, shape (repetitions, ...), drawn efficiently.

        The distribution is that of ``run(data, rng).value``; equal users are drawn together.
        """

    each = 0  # messages that a user sends beside their report

    def _all(self, reports):
        """Return the reports, as many from every user, or refuse counts of them."""
        number, found = self.n * (1 + self.each), np.shape(reports)
        if found and found[0] != number:
            raise ValueError(
                f"reports must hold {number:,} entries, one for each report of n = {self.n:,} users, got "
                f"{found[0]:,}; counts of reports are none: repeat each report as often as it was sent"
            )
        return reports

    @cached_property
    def epsilon(self) -> Certified[float]:
        """Central ε at ``delta``, computed once: it does not depend on the data."""
        return self.certificate()

    def run(self, data: ArrayLike, rng: np.random.Generator) -> Estimate:
        """Run the protocol once.

        Parameters
        ----------
        data : array_like, shape (n,)
            One value for each user.
        rng : numpy.random.Generator
            The users' and the shuffler's randomness.

        Returns
        -------
        Estimate
            Estimate, standard error and the certified ε of what was run.

        Raises
        ------
        TypeError, ValueError
            If ``data`` does not fit the protocol or ``rng`` is not a Generator.

        Notes
        -----
        The certificate is that of the mechanism with real-valued noise and ideal coins.
        """
        value = self.estimate(self.reports(data, rng))
        return Estimate(value, self.standard_error(value), self.epsilon, self.delta)

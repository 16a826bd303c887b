r"""Noise on whole numbers, for sums: every user adds some, and the analyst sees the sum of all reports.

Its point is that sums of such reports are whole numbers, as secure aggregation needs them, and stay so under
noise: no rounding is left out of the guarantee.  `shufflelib.aggregate` certifies the sums.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.types import Integers
from shufflelib.profiles.integer_noise import IntegerNoise, sum_of_discrete_gaussians
from shufflelib.profiles.integer_noise import binomial as sum_of_coins
from shufflelib.profiles.integer_noise import skellam as sum_of_skellams
from shufflelib.randomizers import values
from shufflelib.randomizers.local_randomizer import Validated, number, whole

SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-9, 1e9  # of a sum; its numbers are listed
LARGEST_SENSITIVITY, MOST_TRIALS = 10**6, 10**15
Sensitivity = Annotated[int, whole(1, at_most=LARGEST_SENSITIVITY, remedy="the largest value of a user")]


class NoisyCount(Validated, ABC):
    """A whole number from 0 to ``sensitivity``, reported with noise that is one too.

    Subclasses are frozen dataclasses whose fields are the parameters of the noise.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> randomizers.skellam(mu=4.0).variance
    4.0
    """

    sensitivity: int
    mean = 0.0  # of the noise

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance of the noise of one user."""

    def variances(self) -> tuple[float, float]:
        """Return the variance of one report twice, for values scaled to [0, 1]."""
        return (self.variance / self.sensitivity**2,) * 2

    @abstractmethod
    def summed(self, n: int) -> IntegerNoise:
        """Return the distribution of the noise of n users together."""

    @abstractmethod
    def noise(self, size: int, rng: np.random.Generator) -> Integers:
        """Draw the noise of so many users."""

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Integers:
        """Report whole numbers, shape (n,), for values from 0 to ``sensitivity``."""
        x = values.whole(x, "x", at_least=0, at_most=self.sensitivity)
        return x + self.noise(x.size, values.generator(rng))

    def estimate(self, reports: ArrayLike) -> float:
        """Return the unbiased mean of the values; the sum of the reports and their number suffice."""
        return float(values.numbers(reports, "reports").mean()) - self.mean

    def _listed(self, n, noise):
        """Return the noise of n users if its numbers can be listed."""
        if not SMALLEST_VARIANCE <= n * self.variance <= LARGEST_VARIANCE:
            raise ValueError(
                f"n must leave noise of a variance of 1e-9 to 10**9 in the sum, got n={n} and {self!r}, "
                f"{n * self.variance:g}; fewer users or less noise give an upper bound"
            )
        return noise()


@dataclass(frozen=True, kw_only=True)
class skellam(NoisyCount):
    r"""Build Skellam noise: the difference of two Poisson numbers of mean μ/2.

    .. math:: R_x(k) = e^{-\mu} I_{|k - x|}(\mu)

    Parameters
    ----------
    mu : float
        Variance μ of the noise of one user, 1e-9 <= mu <= 1e9.
    sensitivity : int, optional
        Values are whole numbers from 0 to this one, by default 1.

    Notes
    -----
    The noise of n users together is Skellam noise of variance nμ.  For sums only: see `shufflelib.aggregate`.

    Source: Agarwal, Kairouz, Liu (arXiv:2110.04995), the Skellam mechanism.

    Examples
    --------
    >>> from shufflelib import aggregate, randomizers
    >>> bracket = aggregate(randomizers.skellam(mu=0.5), n=1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 6), round(bracket.upper, 6)
    (0.167376, 0.167376)
    """

    mu: Annotated[float, number(at_least=1e-9, at_most=1e9, remedy="the variance of the noise of one user")]
    sensitivity: Sensitivity = 1

    @property
    def variance(self) -> float:
        """Variance of the noise of one user: μ."""
        return self.mu

    def summed(self, n: int) -> IntegerNoise:
        """Return Skellam noise of variance nμ."""
        return self._listed(n, lambda: sum_of_skellams(Interval.of(self.mu) * float(n)))

    def noise(self, size: int, rng: np.random.Generator) -> Integers:
        """Draw the noise of so many users."""
        return rng.poisson(0.5 * self.mu, size) - rng.poisson(0.5 * self.mu, size)


@dataclass(frozen=True, kw_only=True)
class binomial(NoisyCount):
    r"""Build binomial noise: the number of heads among m coins.

    .. math:: R_x(k) = \binom{m}{k-x} p^{k-x} (1-p)^{m-k+x}

    Parameters
    ----------
    trials : int
        Number m of coins that a user tosses, 1 <= trials <= 10^15.
    p : float, optional
        Probability of heads, 0 < p < 1, by default 1/2.
    sensitivity : int, optional
        Values are whole numbers from 0 to this one, by default 1.

    Notes
    -----
    The noise of n users together is binomial, with nm coins.  Sums below the least and above the largest
    number of heads tell the value, so that no ε holds with δ = 0.  For sums only: see `shufflelib.aggregate`.

    Source: Agarwal, Suresh, Yu, Kumar, McMahan (arXiv:1805.10559), cpSGD.

    Examples
    --------
    Eight coins of each of 1000 users:

    >>> from shufflelib import aggregate, randomizers
    >>> bracket = aggregate(randomizers.binomial(trials=8), n=1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 6), round(bracket.upper, 6)
    (0.080013, 0.080013)
    """

    trials: Annotated[int, whole(1, at_most=MOST_TRIALS, remedy="it counts the coins that a user tosses")]
    p: Annotated[float, number(above=0.0, below=1.0, remedy="the probability of heads")] = 0.5
    sensitivity: Sensitivity = 1

    @property
    def mean(self) -> float:
        """Mean of the noise of one user: m p."""
        return self.trials * self.p

    @property
    def variance(self) -> float:
        """Variance of the noise of one user: m p (1 − p)."""
        return self.trials * self.p * (1.0 - self.p)

    def summed(self, n: int) -> IntegerNoise:
        """Return binomial noise of nm coins."""
        return self._listed(n, lambda: sum_of_coins(n * self.trials, Interval.of(self.p)))

    def noise(self, size: int, rng: np.random.Generator) -> Integers:
        """Draw the noise of so many users."""
        return rng.binomial(self.trials, self.p, size)


@dataclass(frozen=True, kw_only=True)
class discrete_gaussian(NoisyCount):
    r"""Build discrete Gaussian noise: whole numbers with the masses of a Gaussian.

    .. math:: R_x(k) \propto e^{-(k - x)^2/(2\sigma^2)}

    Parameters
    ----------
    sigma : float
        Parameter of the noise of one user, 0.03 <= sigma <= 3e4; from 1 on it is the standard deviation,
        nearly.
    sensitivity : int, optional
        Values are whole numbers from 0 to this one, by default 1.

    Notes
    -----
    The noise of n users together is not discrete Gaussian: `profiles.integer_noise` bounds how far it is from
    that.  A share of each loss stays unknown, at most 5e-4 for sigma = 0.8, 6e-7 for 1 and 2e-8 for 1.1 with
    many users, 3e-3 for 1 with two.  With several users sigma must be about 0.75 or more, 1 with two.
    For sums only: see `shufflelib.aggregate`.

    Source: Canonne, Kamath, Steinke (arXiv:2004.00010); for sums Kairouz, Liu, Steinke (arXiv:2102.06387).

    Examples
    --------
    >>> from shufflelib import aggregate, randomizers
    >>> bracket = aggregate(randomizers.discrete_gaussian(sigma=1.0), n=1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 4), round(bracket.upper, 4)
    (0.1159, 0.1159)
    """

    sigma: Annotated[float, number(at_least=0.03, at_most=3e4, remedy="in units of the values")]
    sensitivity: Sensitivity = 1

    @property
    def variance(self) -> float:
        """Upper bound on the variance of the noise of one user: σ²."""
        return self.sigma * self.sigma

    def summed(self, n: int) -> IntegerNoise:
        """Return the sum of n discrete Gaussians."""
        found = self._listed(n, lambda: sum_of_discrete_gaussians(n, self.sigma))
        if found is None:
            raise ValueError(
                f"sigma must be about 0.75 or more for several users, got {self.sigma!r} and n={n}; sums of "
                "skellam or binomial noise are exact for any amount"
            )
        return found

    def noise(self, size: int, rng: np.random.Generator) -> Integers:
        """Draw the noise of so many users, discrete Laplace numbers kept by a coin each."""
        scale, found = np.floor(self.sigma) + 1.0, np.zeros(0, np.int64)
        while found.size < size:
            chance = -np.expm1(-1.0 / scale)
            drawn = rng.geometric(chance, (2, size + 16))
            offered = drawn[0] - drawn[1]
            excess = (np.abs(offered) - self.variance / scale) / self.sigma
            found = np.append(found, offered[rng.random(offered.size) < np.exp(-0.5 * excess**2)])
        return found[:size]

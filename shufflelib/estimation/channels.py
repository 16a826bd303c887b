r"""What users with personal budgets report: Laplace noise on a number, randomized response on a bit.

Each report is a noisy linear function of its user's value,

.. math:: \mathbb E[y_i] = b_i + g_i x_i, \qquad \operatorname{Var}(y_i) = s_i,

with offset b, gain g and noise variance s known from the budget alone.  An estimator needs nothing else.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.estimation.population import value_range
from shufflelib.numerics.types import Array, Integers
from shufflelib.randomizers import values
from shufflelib.shuffling.personal.budgets import personal
from shufflelib.shuffling.personal.laplace import PersonalLaplace
from shufflelib.shuffling.personal.randomize_then_shuffle import PersonalRandomizedResponse

SMALLEST = 1e-9  # budget below which a report's precision is lost to rounding


class Channel:
    """Reports of n users or slots, number i with the budget ``eps0[i]``.

    Attributes
    ----------
    eps0 : numpy.ndarray, shape (n,)
        Budgets in nats.
    low, high : float
        Range of the values.
    offset, gain, noise : numpy.ndarray, shape (n,)
        b, g and s above.

    Notes
    -----
    A channel checks its ``values``, draws one report for each (``sample``), names the personal randomizers of
    users who keep their own budgets (``own_users``) and draws the sums of the reports of groups of users with
    equal budgets (``sample_totals``), from the sums of their values, shape (repetitions, k), and the budget
    and size of each group.
    """

    offset: Array
    gain: Array
    noise: Array

    def __init__(self, eps0: ArrayLike, low: float, high: float) -> None:
        self.eps0, self.low, self.high = personal(eps0), low, high
        self.eps0.flags.writeable = False

    @property
    def n(self) -> int:
        """Number of users."""
        return self.eps0.size

    def sized(self, entries: NDArray[Any], name: str) -> NDArray[Any]:
        """Return values or reports if there is one for each user."""
        if entries.size != self.n:
            raise ValueError(f"{name} must hold one for each of the {self.n} budgets, got {entries.size}")
        return entries


class LaplaceReports(Channel):
    r"""Numbers with Laplace noise: :math:`y_i = x_i + \mathrm{Lap}(\Delta/\varepsilon_i)`, Δ = high - low.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.LaplaceReports([0.1, 1.0], low=20.0, high=80.0).noise.round().tolist()  # variances
    [720000.0, 7200.0]
    """

    def __init__(self, eps0: ArrayLike, low: float, high: float) -> None:
        super().__init__(eps0, *value_range(low, high))
        if self.eps0.min() < SMALLEST:
            user = int(np.argmin(self.eps0))
            raise ValueError(
                f"eps0 must be positive for Laplace noise (at least {SMALLEST:g}), got {self.eps0[user]:g} "
                f"for user {user}: noise of scale Δ/0 is infinite; leave such users out, or ask for bits, "
                "where a budget of 0 is allowed"
            )
        self.offset, self.gain = np.zeros(self.n), np.ones(self.n)
        self.noise = 2.0 * ((self.high - self.low) / self.eps0) ** 2

    def values(self, data: ArrayLike) -> Array:
        """Return the values clipped to [low, high]."""
        return np.clip(self.sized(values.numbers(data, "data"), "data"), self.low, self.high)

    def sample(self, x: NDArray[Any], rng: np.random.Generator) -> Array:
        """Add to each value noise of scale Δ/ε_i."""
        return x + values.generator(rng).laplace(scale=(self.high - self.low) / self.eps0)

    def sample_totals(
        self, totals: NDArray[Any], eps0: Array, counts: Integers, rng: np.random.Generator
    ) -> Array:
        """Add to each sum the noise of its group: m Laplace variables are Γ(m) - Γ'(m) in their scale."""
        gamma = rng.standard_gamma(counts, size=(2, *totals.shape))
        return totals + (self.high - self.low) / eps0 * (gamma[0] - gamma[1])

    def own_users(self) -> PersonalLaplace:
        """Return the Laplace mechanisms on [0, 1], to which the range is mapped."""
        return PersonalLaplace(self.eps0)


class ResponseReports(Channel):
    r"""Bits by randomized response: flipped with probability :math:`r_i = 1/(e^{\varepsilon_i} + 1)`.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.ResponseReports([0.0, 1.0, 5.0]).gain.round(2).tolist()  # a budget of 0 is pure noise
    [0.0, 0.46, 0.99]
    """

    def __init__(self, eps0: ArrayLike) -> None:
        super().__init__(eps0, 0.0, 1.0)
        if self.eps0.max() < SMALLEST:
            raise ValueError(
                f"eps0 must hold at least one positive budget (at least {SMALLEST:g}), the largest is "
                f"{self.eps0.max():g}: all reports are pure noise"
            )
        odds = np.exp(-self.eps0)
        self.offset, self.gain = odds / (1.0 + odds), np.tanh(self.eps0 / 2.0)
        self.noise = odds / (1.0 + odds) ** 2

    def values(self, data: ArrayLike) -> Integers:
        """Return the bits, given as 0 and 1 or as truth values, refusing anything else."""
        if isinstance(data, np.ndarray) and data.dtype.kind == "b":
            data = data.astype(int)
        return self.sized(values.whole(data, "data", at_least=0, at_most=1), "data")

    def sample(self, x: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Flip each bit with its probability."""
        return x ^ (values.generator(rng).random(self.n) < self.offset)

    def sample_totals(
        self, totals: NDArray[Any], eps0: Array, counts: Integers, rng: np.random.Generator
    ) -> Integers:
        """Draw the number of ones among reports: ones kept and zeros flipped."""
        ones = np.rint(totals).astype(np.int64)
        flip = 1.0 / (1.0 + np.exp(eps0))
        return rng.binomial(ones, 1.0 - flip) + rng.binomial(counts - ones, flip)

    def own_users(self) -> PersonalRandomizedResponse:
        """Return randomized responses on two options."""
        return PersonalRandomizedResponse(self.eps0, d=2)

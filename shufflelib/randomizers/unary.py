r"""Unary encodings: an item becomes a one-hot vector of d bits, each flipped independently."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics.types import Array
from shufflelib.randomizers import values
from shufflelib.randomizers.extremal import patterns
from shufflelib.randomizers.frequency_oracle import FrequencyOracle, Support
from shufflelib.randomizers.local_randomizer import Budget, FiniteRandomizer, Options, small_table


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(FrequencyOracle, FiniteRandomizer):
    """A report of d independent bits."""

    eps0: Budget
    d: Options

    held: ClassVar[Any]  # probabilities of 1 and of 0 for the bit of the held item
    mirrored = True
    _noise_share = 1.0  # of the budget that goes into every other bit

    @property
    def noise(self) -> tuple[float, float]:
        """Probabilities of 1 and of 0 for every other bit."""
        odds = float(np.exp(-self._noise_share * self.eps0))
        return odds / (1.0 + odds), 1.0 / (1.0 + odds)

    @property
    def bits(self) -> tuple[float, float]:
        """Probabilities that a zero and that a one is reported as one."""
        return float(self.noise[0]), float(self.held[0])

    def pmf(self) -> Array:
        """Return the table of probabilities, shape (d, 2^d); output y is the vector of the bits of y."""
        d, outputs = small_table(self.d, 2**self.d)
        ones = np.arange(outputs) >> np.arange(d)[:, None] & 1 == 1
        held, noise = np.where(ones, *self.held), np.where(ones, *self.noise)
        return np.where(np.eye(d, dtype=bool)[:, :, None], held, noise).prod(axis=1)

    def class_masses(self) -> Array:
        """Return the masses of the bits of x0, x1 and x*, "all d bits are one" being a class of its own."""
        inputs = min(self.d, 3)
        ones = patterns(inputs)
        held, noise = np.where(ones, *self.held), np.where(ones, *self.noise)
        holds = np.eye(inputs, dtype=bool)[:, :, None]
        return self._with_all_ones(np.where(holds, held, noise).prod(axis=1))

    def _with_all_ones(self, rows):
        free = self.d - rows.shape[0]
        rows = np.column_stack([rows, rows[:, 0] * self.noise[0] ** free])
        rows[:, 0] *= -np.expm1(free * np.log(self.noise[0]))
        return rows if free else rows[:, 1:]

    def blanket(self) -> Array:
        """Return the exact blanket: the distribution of noise alone, times the least likely held bit."""
        inputs = self.class_masses().shape[0]
        ones = patterns(inputs)
        noise = self._with_all_ones(np.tile(np.prod(np.where(ones, *self.noise), axis=0), (inputs, 1)))[0]
        every = np.arange(noise.size) == noise.size - 1
        return noise * np.where(every, self.held[0] / self.noise[0], self.held[1] / self.noise[1])

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report bits, shape (n, d), dtype uint8."""
        x, rng = values.items(x, "x", self.d), values.generator(rng)
        bits = (rng.random((x.size, self.d)) < self.noise[0]).astype(np.uint8)
        bits[np.arange(x.size), x] = rng.random(x.size) < self.held[0]
        return bits

    def estimate(self, reports: ArrayLike) -> Array:
        """Return unbiased item frequencies, shape (d,)."""
        ones = values.whole(reports, "reports", columns=self.d, at_least=0, at_most=1).mean(axis=0)
        return (ones - self.noise[0]) / self.beta

    @property
    def support(self) -> Support:
        """The items whose bits are one are supported."""
        return Support(float(self.held[0]), float(self.noise[0]))


@dataclass(frozen=True, kw_only=True)
class rappor(UnaryEncoding):
    r"""Build basic RAPPOR: every bit of the one-hot vector is flipped with half the budget.

    .. math:: \Pr[\text{flip}] = 1/(e^{\varepsilon_0/2} + 1)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2.

    Notes
    -----
    Wang 2024, Table 1 [18, 23]: p = q = e^eps0, β = (e^{eps0/2} - 1)/(e^{eps0/2} + 1), which is exact.
    The blanket is exact: the all-ones vector is the only output that no input makes e^eps0 times less likely.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.rappor(eps0=1.0, d=100)
    >>> round(mechanism.beta, 3), round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 3)
    (0.245, 0.106)
    """

    _noise_share = 0.5

    @property
    def beta(self) -> float:
        """Published β = (e^{eps0/2} - 1)/(e^{eps0/2} + 1), exact."""
        return float(np.tanh(self.eps0 / 4.0))

    @property
    def held(self) -> tuple[float, float]:
        """Probabilities of 1 and of 0 for the bit of the held item."""
        return self.noise[::-1]


@dataclass(frozen=True, kw_only=True)
class optimized_unary(UnaryEncoding):
    r"""Build optimized unary encoding: the user's bit is a fair coin, the other bits are rarely one.

    .. math:: \Pr[y_x = 1] = 1/2, \qquad \Pr[y_j = 1] = 1/(e^{\varepsilon_0} + 1) \quad (j \ne x)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2.

    Notes
    -----
    Wang, Blocki, Li, Jha, USENIX Security 2017 ([59] of Wang 2024).  Not in the tables of Wang 2024: β is the
    exact total variation (e^eps0 - 1)/(2(e^eps0 + 1)), half of randomized response's; p = q = e^eps0.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.optimized_unary(eps0=1.0, d=100)
    >>> round(mechanism.beta, 4), round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4)
    (0.2311, 0.1025)
    """

    @property
    def beta(self) -> float:
        """Exact total variation (e^eps0 - 1)/(2(e^eps0 + 1)); no table prints it."""
        return float(0.5 * np.tanh(self.eps0 / 2.0))

    held = (0.5, 0.5)

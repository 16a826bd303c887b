"""Unary encodings: an item, or a set of them, becomes a vector of d bits, each flipped independently."""

from dataclasses import dataclass
from math import comb, exp, fsum, log1p
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics.types import Array
from shufflelib.randomizers import values
from shufflelib.randomizers.frequency_oracle import FrequencyOracle, ItemSupports, Support
from shufflelib.randomizers.local_randomizer import Budget, FiniteRandomizer, Options, small_table

TAIL = 250  # terms of a tail: those of a Poisson tail of mean below 10 have fallen by e^{-800}


def _bits_of_sets(d, s, one, zero):
    """Return how d bits of noise are shared out among up to three disjoint sets of s bits and the rest.

    That is how many sets there are, the probabilities of 0, …, s ones in a set and of 0, …, s zeros (the last
    for s or more) among all other bits; ``one`` and ``zero`` are those of a bit of noise.
    """
    inputs = 3 if d >= 3 * s else 2
    free = d - inputs * s

    def all_one(number):
        return one**number if one < zero else exp(number * log1p(-zero))

    ones = np.array([comb(s, k) * all_one(k) * zero ** (s - k) for k in range(s + 1)])
    few = range(min(s, free + 1))
    rest = np.zeros(s + 1)
    rest[: len(few)] = [float(comb(free, z)) * zero**z * all_one(free - z) for z in few]
    fewer = fsum(rest)
    if free >= s and fewer <= 0.5:
        rest[s] = 1.0 - fewer
    elif free >= s:  # the median number of zeros is below s, so that terms fall like those of a Poisson tail
        terms = [float(comb(free, s)) * zero**s * all_one(free - s)]
        for z in range(s, min(free, s + TAIL)):
            terms.append(terms[-1] * (free - z) / (z + 1) * zero / one)
        rest[s] = fsum(terms)
    return inputs, ones, rest


class FlippedBits(ItemSupports, FiniteRandomizer):
    """A vector of d bits of which those of a user's h items are one, each flipped."""

    held: tuple[float, float]  # probabilities of 1 and of 0 for the bits of the items
    noise: tuple[float, float]  # and for all others
    h = 1
    mirrored = True

    @property
    def bits(self) -> tuple[float, float]:
        """Probabilities that a zero and that a one is reported as one."""
        return float(self.noise[0]), float(self.held[0])

    @property
    def _set(self):
        """Return how many bits tell a user from noise, and their probabilities and those of noise."""
        return self.h, self.held, self.noise

    def _weight(self, ones):
        """Return the density over noise of an input of which so many bits are one: it rises with them."""
        size, *pairs = self._set
        up, down = (held / noise for held, noise in zip(*pairs, strict=True))
        return up**ones * down ** (size - ones)

    def _classes(self):
        """Return the ones in each set and the zeros elsewhere, by class, and the masses of noise on them."""
        size, _, noise = self._set
        inputs, ones, rest = _bits_of_sets(self.d, size, *noise)
        *sets, elsewhere = np.indices((size + 1,) * inputs + (np.count_nonzero(rest),))
        sets, elsewhere = np.reshape(sets, (inputs, -1)), np.flatnonzero(rest)[elsewhere.ravel()]
        return sets, elsewhere, ones[sets], rest[elsewhere]

    def class_masses(self) -> Array:
        """Return masses by the number of ones on x0, x1, x* and of zeros elsewhere."""
        sets, _, noise, rest = self._classes()
        own = np.eye(len(sets), dtype=bool)[:, :, None]
        return np.where(own, noise * self._weight(sets), noise).prod(axis=1) * rest

    def blanket(self) -> Array:
        """Return the exact blanket: the input with as many zero bits as there are."""
        sets, elsewhere, noise, rest = self._classes()
        size = self._set[0]
        fewest = np.maximum(size - (size - sets).sum(axis=0) - elsewhere, 0)
        return noise.prod(axis=0) * rest * self._weight(fewest)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report bits, shape (n, d), dtype uint8."""
        held = (
            values.item_sets(x, "x", self.d, self.h) if self.h > 1 else values.items(x, "x", self.d)[:, None]
        )
        rng, (zero_flipped, one_kept) = values.generator(rng), self.bits
        bits = (rng.random((len(held), self.d)) < zero_flipped).astype(np.uint8)
        np.put_along_axis(bits, held, (rng.random(held.shape) < one_kept).astype(np.uint8), axis=1)
        return bits

    def estimate(self, reports: ArrayLike) -> Array:
        """Return unbiased item frequencies, shape (d,); they sum to about the number of items of a user."""
        bits = values.whole(reports, "reports", columns=self.d, at_least=0, at_most=1)
        return self.unbiased(bits.mean(axis=0))

    @property
    def support(self) -> Support:
        """The items whose bits are one are supported."""
        return Support(*self.bits[::-1])


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(FrequencyOracle, FlippedBits):
    """A report of d independent bits for one item."""

    eps0: Budget
    d: Options

    _noise_share = 1.0  # of the budget that goes into every other bit

    @property
    def noise(self) -> tuple[float, float]:
        """Probabilities of 1 and of 0 for every other bit."""
        odds = float(np.exp(-self._noise_share * self.eps0))
        return odds / (1.0 + odds), 1.0 / (1.0 + odds)

    def pmf(self) -> Array:
        """Return the table of probabilities, shape (d, 2^d); output y is the vector of the bits of y."""
        d, outputs = small_table(self.d, 2**self.d)
        ones = np.arange(outputs) >> np.arange(d)[:, None] & 1 == 1
        held, noise = np.where(ones, *self.held), np.where(ones, *self.noise)
        return np.where(np.eye(d, dtype=bool)[:, :, None], held, noise).prod(axis=1)


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

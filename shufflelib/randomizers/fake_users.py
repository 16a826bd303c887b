r"""Histograms with fake users: one-hot vectors with flipped bits, shuffled with flipped all-zero vectors."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.randomizers import values
from shufflelib.randomizers.frequency_oracle import Support
from shufflelib.randomizers.local_randomizer import Options, number
from shufflelib.randomizers.multi_message import Attack, MultiMessage


@dataclass(frozen=True, kw_only=True)
class cheu_zhilyaev(MultiMessage):
    r"""Build the histogram from fake users: every bit of every vector is flipped with probability ``flip``.

    .. math:: R_x = \bigotimes_j \mathrm{Bern}(f + (1-2f)[j = x]), \qquad \nu = \mathrm{Bern}(f)^{\otimes d}

    Parameters
    ----------
    d : int
        Number of items, at least 2; a message has d bits.
    flip : float
        Probability f of flipping a bit, 0 < f < 1/2.

    Notes
    -----
    Cheu, Zhilyaev (IEEE S&P 2022), [15] of Wang 2024.  Table 3: p = (1-f)²/f², β = 1 - 2f, q = (1-f)/f, all
    exact.

    The published pair is *not* an upper bound.  Only the bits of x0 and x1 depend on the value.  An input
    message that supports neither candidate alone has the bits 11 or 00 equally often; a dummy message has
    00 (1-f)²/f² times as often as 11; and the pair puts both into one class.  With f = 1/4, two users, two
    dummy messages each, d = 3, the other user holding the third item, ratio e^ε = 9/2, the mechanism has
    δ = 0.0084624 and the pair has 0.0049052.  To second order in β the two agree, so that in ε the difference
    is small where ε is.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import multi_message
    >>> protocol = randomizers.cheu_zhilyaev(d=16, flip=0.1)
    >>> profile = multi_message.shuffle_messages(protocol, n=1000, dummy_messages=20_000)
    >>> protocol.beta, round(profile.epsilon(1e-6).upper, 4)
    (0.8, 0.0967)
    """

    d: Options
    flip: Annotated[float, number(above=0.0, below=0.5, remedy="at 1/2 a message is pure noise")]

    @property
    def p(self) -> float:
        """Published p = (1-f)²/f², exact."""
        return ((1.0 - self.flip) / self.flip) ** 2

    @property
    def beta(self) -> float:
        """Published β = 1 - 2f, exact."""
        return 1.0 - 2.0 * self.flip

    @property
    def q(self) -> float:
        """Published q = (1-f)/f, exact."""
        return (1.0 - self.flip) / self.flip

    @property
    def support(self) -> Support:
        """A bit is one with probability 1 - f where held and f elsewhere, in all messages."""
        return Support(1.0 - self.flip, self.flip, np.full(self.d, self.flip))

    @property
    def _bit(self):
        """Distribution of a bit that is not held: (0, 1)."""
        return np.array([1.0 - self.flip, self.flip])

    def message_pmf(self) -> Array:
        """Return the masses of the bits (x0, x1) = 00, 01, 10, 11; the other bits do not depend on them."""
        noise, held = self._bit, self._bit[::-1]
        return np.array([np.outer(held, noise).ravel(), np.outer(noise, held).ravel()])

    def blanket(self) -> Array:
        """Return the masses of the same two bits, both noise."""
        return np.outer(self._bit, self._bit).ravel()

    def attacks(self, n: int, dummy_messages: int) -> tuple[Attack, ...]:
        """Return the analyst who looks at the bits of x0 and x1 only, all others holding a third item.

        In these bits their input messages are distributed as dummy messages.  Without a third item all
        others hold x0, and the analyst looks at the bit of x1.
        """
        if self.d > 2 or n == 1:
            return (Attack(self.likelihood_ratios(), dummy_messages + n - 1),)
        one_bit = LikelihoodRatios.from_masses(self._bit, self._bit[::-1], self._bit)
        return (Attack(one_bit, dummy_messages + n - 1),)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report bits, shape (n, d), dtype uint8."""
        x, rng = values.items(x, "x", self.d), values.generator(rng)
        bits = self.sample_blanket(x.size, rng)
        bits[np.arange(x.size), x] ^= 1
        return bits

    def sample_blanket(self, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """Report flipped zeros, shape (count, d), dtype uint8."""
        count, rng = validation.count(count, "count", at_least=0), values.generator(rng)
        return (rng.random((count, self.d)) < self.flip).astype(np.uint8)

    def supports(self, messages: NDArray[Any]) -> Integers:
        """Count the ones of each bit."""
        return values.whole(messages, "messages", columns=self.d, at_least=0, at_most=1).sum(axis=0)

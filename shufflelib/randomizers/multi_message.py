r"""Multi-message protocols: every user sends one message about their value and k that are pure noise.

The message that depends on the value is the user's *input message*.  The noise messages of all users,
:math:`N = n k` of them, are independent draws from one distribution ν, the *blanket*.  A protocol is
described by four things: its published variation-ratio parameters (p, β, q), the distributions of the input
message and of ν on classes of messages, explicit attacks, and which messages support which item, as in
`frequency_oracle`.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.randomizers.frequency_oracle import FrequencyOracle
from shufflelib.randomizers.local_randomizer import Validated


class Attack(NamedTuple):
    """What an analyst sees of one dataset: one message among ``blanket_messages`` dummy messages.

    ``chance`` is a lower bound on the probability of this view; otherwise the analyst learns nothing.
    """

    ratios: LikelihoodRatios
    blanket_messages: int
    chance: float = 1.0


class MultiMessage(FrequencyOracle, Validated, ABC):
    """What one user sends: a message about their value, and messages drawn from the blanket.

    Subclasses are frozen dataclasses whose fields are the protocol's parameters.

    Attributes
    ----------
    p, q : float
        Published bounds on the ratio of two input messages, possibly infinite, and of one of them to a
        dummy message.
    beta : float
        Published total variation of two input messages.
    """

    p: float
    q: float
    beta: float

    @abstractmethod
    def message_pmf(self) -> Array:
        """Return class masses of the input messages of x0 and x1, the worst pair: shape (2, classes)."""

    @abstractmethod
    def blanket(self) -> Array:
        """Return the mass of a dummy message on the classes of `message_pmf`; it sums to 1."""

    @abstractmethod
    def attacks(self, n: int, dummy_messages: int) -> tuple[Attack, ...]:
        """Return attacks on n input messages and ``dummy_messages`` others, a tuple of `Attack`."""

    @abstractmethod
    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Draw the input messages of users who hold the items ``x``, one for each."""

    @abstractmethod
    def sample_blanket(self, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw ``count`` dummy messages."""

    @abstractmethod
    def supports(self, messages: NDArray[Any]) -> Integers:
        """Count the messages that support each item, shape (items,)."""

    def likelihood_ratios(self) -> LikelihoodRatios:
        """Return the `LikelihoodRatios` of the input messages against the blanket."""
        report0, report1 = self.message_pmf()
        return LikelihoodRatios.from_masses(report0, report1, self.blanket()).compared()

    def estimate(self, messages: NDArray[Any], *, n: int) -> Array:
        """Return unbiased frequencies, shape (items,), from all messages of n users."""
        n = validation.count(n, "n", at_most=len(messages), remedy="every user sends at least one message")
        return self.frequencies(self.supports(messages), n=n, dummy_messages=len(messages) - n)

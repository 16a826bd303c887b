r"""Multi-message protocols: every user sends one message about their value and k that are pure noise.

The message that depends on the value is the user's *input message*.  The noise messages of all users,
:math:`N = n k` of them, are independent draws from one distribution ν, the *blanket*.  A protocol is
described by four things: its published variation-ratio parameters (p, β, q), the distributions of the input
message and of ν on classes of messages, explicit attacks, and which messages *support* which item, from which
a histogram is estimated:

.. math:: \hat f_j = \frac{C_j/n - \text{other} - k\,\text{share}_j}{\text{own} - \text{other}}

with C_j the number of messages that support j.  The original references are those of Wang (VLDB
2024), whose Table 3 prints (p, β, q).
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from shufflelib.numerics import validation
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.randomizers import values
from shufflelib.randomizers.local_randomizer import Validated


class MessageSupport(NamedTuple):
    """Probabilities that a message supports an item.

    ``own``: that the input message supports the item held; ``other``: that it supports another given item;
    ``share``, shape (items,): that a blanket message supports each item.
    """

    own: float
    other: float
    share: np.ndarray


class Attack(NamedTuple):
    """What an analyst sees of one dataset: one message among ``blanket_messages`` blanket messages.

    ``chance`` is a lower end of the probability of this view; otherwise the analyst learns nothing.
    """

    ratios: LikelihoodRatios
    blanket_messages: int
    chance: float = 1.0


class MultiMessage(Validated, ABC):
    """What one user sends: a message about their value, and messages drawn from the blanket.

    Subclasses are frozen dataclasses whose fields are the protocol's parameters.
    """

    @property
    @abstractmethod
    def items(self):
        """Number of items a user may hold."""

    @property
    @abstractmethod
    def p(self):
        """Published bound on the ratio of two input messages, possibly infinite."""

    @property
    @abstractmethod
    def beta(self):
        """Published total variation of two input messages."""

    @property
    @abstractmethod
    def q(self):
        """Published bound on the ratio of an input message to a blanket message."""

    @property
    @abstractmethod
    def support(self):
        """The `MessageSupport`."""

    @abstractmethod
    def message_pmf(self):
        """Return class masses of the input messages of x0 and x1, the worst pair: shape (2, classes)."""

    @abstractmethod
    def blanket(self):
        """Return the mass of a blanket message on the classes of `message_pmf`; it sums to 1."""

    @abstractmethod
    def attacks(self, n, blanket):
        """Return attacks on n input messages and ``blanket`` others, a tuple of `Attack`."""

    @abstractmethod
    def sample(self, x, rng):
        """Draw the input messages of users who hold the items ``x``, one for each."""

    @abstractmethod
    def sample_blanket(self, count, rng):
        """Draw ``count`` blanket messages."""

    @abstractmethod
    def supports(self, messages):
        """Count the messages that support each item, shape (items,)."""

    @abstractmethod
    def draw_supports(self, counts, blanket, repetitions, rng):
        """Draw the supports from how many users hold each item, shape (repetitions, items), exactly."""

    def likelihood_ratios(self):
        """Return the `LikelihoodRatios` of the input messages against the blanket."""
        return LikelihoodRatios.from_masses(*self.message_pmf(), self.blanket())

    def estimate(self, messages, *, n):
        """Return unbiased frequencies, shape (items,), from all messages of n users."""
        n = validation.count(n, "n", at_most=len(messages), remedy="every user sends at least one message")
        return self.frequencies(self.supports(messages), n=n, blanket=len(messages) - n)

    def frequencies(self, supports, *, n, blanket):
        """Return unbiased frequencies from supports on the last axis, of n input and ``blanket`` others."""
        own, other, share = self.support
        return ((supports - blanket * share) / n - other) / (own - other)

    def variance(self, frequency, *, n, blanket):
        r"""Return the exact variance of each frequency's estimate.

        .. math:: \frac{f_j\,\text{own}(1-\text{own}) + (1-f_j)\,\text{other}(1-\text{other})
                  + (N/n)\,\text{share}_j(1-\text{share}_j)}{n(\text{own}-\text{other})^2}

        Parameters
        ----------
        frequency : array_like, shape (items,)
            True share f_j in [0, 1] of the users who hold each item.
        n : int
            Number of users.
        blanket : int
            Number N of blanket messages.

        Returns
        -------
        numpy.ndarray, shape (items,)
            Over the users' coins, for these data; no limit is taken.

        Raises
        ------
        TypeError, ValueError
            If an argument is outside its domain.
        """
        f = values.numbers(frequency, "frequency", at_least=0.0, at_most=1.0)
        if f.size != self.items:
            raise ValueError(f"frequency must hold one share for each of {self.items} items, got {f.size}")
        n, blanket = validation.users(n), validation.count(blanket, "blanket", at_least=0)
        own, other, share = self.support
        noise = f * own * (1 - own) + (1 - f) * other * (1 - other) + blanket / n * share * (1 - share)
        return noise / (n * (own - other) ** 2)

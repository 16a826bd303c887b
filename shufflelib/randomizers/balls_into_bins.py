r"""Multi-message protocols whose messages name a bin: binary sums, balls into bins, mixDUMP."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.randomizers import values
from shufflelib.randomizers.frequency_oracle import Support
from shufflelib.randomizers.local_randomizer import Count, Options, number
from shufflelib.randomizers.multi_message import Attack, MultiMessage

LARGEST_PMF = 0.4688  # times 1/sd bounds every mass of a sum of independent bits (Baillon et al., 2016)
FEW = 0.01  # of the outcomes pay for a bound on how many messages are left


class BinMessages(MultiMessage):
    """Messages are whole numbers; an item is supported by the bins that belong to it."""

    p = math.inf  # published: an input message rules out all other items
    beta = 1.0  # published

    @property
    def support(self) -> Support:
        """Input messages always support the item held and never another."""
        return Support(1.0, 0.0, self._share)

    def attacks(self, n: int, dummy_messages: int) -> tuple[Attack, ...]:
        """Return the pair itself: the others' input messages support known items and are subtracted."""
        return (Attack(self.likelihood_ratios(), dummy_messages),)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Name the user's item."""
        values.generator(rng)
        return values.items(x, "x", self.items)

    def sample_blanket(self, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """Name a bin from ν."""
        count = validation.count(count, "count", at_least=0)
        return values.generator(rng).choice(self._distribution.size, size=count, p=self._distribution)

    def supports(self, messages: NDArray[Any]) -> Integers:
        """Count the messages in the bins of each item."""
        bins = values.items(messages, "messages", self._distribution.size)
        per_bin = np.bincount(bins, minlength=self._distribution.size)
        width = self._distribution.size // self.items
        return per_bin[: width * self.items].reshape(self.items, width).sum(axis=1)

    def draw_supports(
        self, counts: Integers, dummy_messages: int, repetitions: int, rng: np.random.Generator
    ) -> Integers:
        """Add a multinomial blanket to the input messages."""
        cells = np.append(self._share, max(0.0, 1.0 - self._share.sum()))
        noise = rng.multinomial(dummy_messages, cells / cells.sum(), size=repetitions)[:, :-1]
        return noise + self._draw_inputs(counts, repetitions, rng)

    def _draw_inputs(self, counts, repetitions, rng):
        return counts

    @property
    def _distribution(self):
        """ν on the bins."""
        return self._share

    @property
    def _share(self):
        """ν on the items."""
        return np.full(self.items, 1.0 / self.items)


@dataclass(frozen=True, kw_only=True)
class balcer_binary(BinMessages):
    r"""Build the binary sum with a biased coin: the user's bit, and bits that are 1 with probability c.

    .. math:: R_x = \delta_x, \qquad \nu = (1 - c,\; c)

    Parameters
    ----------
    coin : float
        Probability c that a dummy message is 1, 0 < c < 1.

    Notes
    -----
    ``sample`` maps bits (n,) to messages (n,); frequencies are those of 0 and of 1, shape (2,).

    Balcer, Cheu (ITC 2020), [4] of Wang 2024.  Table 3: p = ∞, β = 1, q = max(1/c, 1/(1-c)).  The printed q
    is the worse of two ratios; they are q₀ = 1/(1-c) for a 0 and q₁ = 1/c for a 1, so that the published
    pair is an upper bound and is loose unless c = 1/2.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import multi_message
    >>> protocol = randomizers.balcer_binary(coin=0.25)
    >>> profile = multi_message.shuffle_messages(protocol, n=1000, dummy_messages=20_000)
    >>> protocol.q, round(profile.epsilon(1e-6).upper, 4)
    (4.0, 0.0577)
    """

    coin: Annotated[float, number(above=0.0, below=1.0, remedy="a coin that shows both sides")]

    items = 2

    @property
    def q(self) -> float:
        """Published q = max(1/c, 1/(1-c)), loose unless c = 1/2."""
        return 1.0 / min(self.coin, 1.0 - self.coin)

    @property
    def _share(self):
        return np.array([1.0 - self.coin, self.coin])

    def message_pmf(self) -> Array:
        """Return the two certain messages."""
        return np.eye(2)

    def blanket(self) -> Array:
        """Return the coin's distribution."""
        return self._share


@dataclass(frozen=True, kw_only=True)
class balcer_uniform(balcer_binary):
    r"""Build the binary sum with a fair coin.

    .. math:: R_x = \delta_x, \qquad \nu = (\tfrac12,\; \tfrac12)

    Notes
    -----
    ``sample`` maps bits (n,) to messages (n,); frequencies are those of 0 and of 1, shape (2,).

    Balcer, Cheu, Joseph, Mao (SODA 2021), [5] of Wang 2024.  Table 3: p = ∞, β = 1, q = 2, which is exact.

    Examples
    --------
    A fair coin amplifies more than a biased one, see `balcer_binary`.

    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import multi_message
    >>> protocol = randomizers.balcer_uniform()
    >>> profile = multi_message.shuffle_messages(protocol, n=1000, dummy_messages=20_000)
    >>> protocol.q, round(profile.epsilon(1e-6).upper, 3)
    (2.0, 0.049)
    """

    coin: float = field(default=0.5, init=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class balls_into_bins(BinMessages):
    r"""Build balls into bins: one ball into one of the s bins of the user's item, others into any of d bins.

    .. math:: R_x = \text{uniform on } \{sx, \dots, sx + s - 1\}, \qquad \nu = \text{uniform on } [d]

    Parameters
    ----------
    d : int
        Number of bins, at least 2.
    s : int, optional
        Special bins of each item, at least 1 and at most d/2.  There are floor(d/s) items, with s bins each.

    Notes
    -----
    Luo, Wang, Yi (CCS 2022), [42] of Wang 2024; with s = 1 pureDUMP of Li et al. (PVLDB 2022), [41].
    Table 3: p = ∞, β = 1, q = d/s, which is exact for disjoint sets of special bins.  Where the sets of two
    items overlap, β is smaller and the bound for disjoint sets is an upper bound.

    Examples
    --------
    More special bins for each item hide the input message better, but leave room for fewer items.

    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import multi_message
    >>> for s in (1, 4):
    ...     protocol = randomizers.balls_into_bins(d=16, s=s)
    ...     profile = multi_message.shuffle_messages(protocol, n=1000, dummy_messages=20_000)
    ...     print(protocol.items, round(profile.epsilon(1e-6).upper, 4))
    16 0.1494
    4 0.071
    """

    d: Options
    s: Count = 1

    def __post_init__(self):
        super().__post_init__()
        validation.count(self.s, "s", at_most=self.d // 2, remedy="two items need bins of their own")

    @property
    def items(self) -> int:
        """Number of items with s bins each."""
        return self.d // self.s

    @property
    def q(self) -> float:
        """Published q = d/s, exact."""
        return self.d / self.s

    @property
    def _distribution(self):
        return np.full(self.d, 1.0 / self.d)

    @property
    def _share(self):
        return np.full(self.items, self.s / self.d)

    def message_pmf(self) -> Array:
        """Return certain hits of the bins of x0 and of x1; within them a message carries no information."""
        return np.eye(2, 3)

    def blanket(self) -> Array:
        """Return the probabilities of the bins of x0, of x1 and of the others."""
        return np.array([self.s, self.s, self.d - 2 * self.s]) / self.d

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Throw a ball into one of the bins of the user's item."""
        x = values.items(x, "x", self.items)
        return x * self.s + values.generator(rng).integers(self.s, size=x.size)


@dataclass(frozen=True, kw_only=True)
class mix_dump(BinMessages):
    r"""Build mixDUMP: the user's item by randomized response, and uniformly random items.

    .. math:: R_x(x) = 1 - f, \quad R_x(y) = f/(d-1), \qquad \nu = \text{uniform on } [d]

    Parameters
    ----------
    d : int
        Number of items, at least 2.
    flip : float
        Probability f that the input message names another item, 0 <= f < (d-1)/d; 0 is pureDUMP.

    Notes
    -----
    Li et al. (PVLDB 2022), [41] of Wang 2024.  Table 3: p = (1-f)(d-1)/f, β = ((1-f)(d-1) - f)/(d-1),
    q = (1-f)d, all exact.

    For d >= 3, 1 - α - αp = f(d-2)/(d-1) > 0, where the published reduction may fail.  Here it does not: a
    message that names neither x0 nor x1 is uniform on the other d - 2 items, be it input or dummy message.
    The published pair is then the distribution of the counts (of x0, of x1) itself, and these are sufficient.

    Examples
    --------
    Randomizing the input message too lowers ε, at the price of accuracy.

    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import multi_message
    >>> for flip in (0.0, 0.5):
    ...     protocol = randomizers.mix_dump(d=16, flip=flip)
    ...     profile = multi_message.shuffle_messages(protocol, n=1000, dummy_messages=20_000)
    ...     print(round(profile.epsilon(1e-6).upper, 4))
    0.1494
    0.0659
    """

    d: Options
    flip: Annotated[float, number(at_least=0.0)]

    def __post_init__(self):
        super().__post_init__()
        most = (self.d - 1) / self.d
        validation.real(self.flip, "flip", below=most, remedy="at (d - 1)/d a message is pure noise")

    @property
    def p(self) -> float:
        """Published p = (1-f)(d-1)/f, exact."""
        return (1.0 - self.flip) * (self.d - 1) / self.flip if self.flip > 0.0 else math.inf

    @property
    def beta(self) -> float:
        """Published β = ((1-f)(d-1) - f)/(d-1), exact."""
        return 1.0 - self.flip - self._other

    @property
    def q(self) -> float:
        """Published q = (1-f)d, exact."""
        return (1.0 - self.flip) * self.d

    @property
    def _other(self):
        return self.flip / (self.d - 1)

    @property
    def support(self) -> Support:
        """The probabilities of randomized response."""
        return Support(1.0 - self.flip, self._other, self._share)

    def message_pmf(self) -> Array:
        """Return the masses of x0, of x1 and of the other items together."""
        truth, other = 1.0 - self.flip, self._other
        return np.array([[truth, other, (self.d - 2) * other], [other, truth, (self.d - 2) * other]])

    def blanket(self) -> Array:
        """Return the uniform distribution on the same classes."""
        return np.array([1.0, 1.0, self.d - 2.0]) / self.d

    def attacks(self, n: int, dummy_messages: int) -> tuple[Attack, ...]:
        """Return the analyst who discards all messages that name x*, which all others hold.

        The T messages left are one user's among uniform ones on d - 1 items, because the others' answers are
        uniform where they are not x*.  Given T, the user's message is discarded with a probability that falls
        as T grows and is at most f/(d-1) once T is past the mode of the others' number; a uniform message
        then takes its place.  With probability at least ``chance``, T lies between the mode and an upper
        bound.
        """
        if n == 1 or self.flip == 0.0:
            return (Attack(self.likelihood_ratios(), dummy_messages),)
        rate, others = 1.0 - 1.0 / self.d, n - 1
        mean = dummy_messages * rate + others * self.flip
        variance = dummy_messages * rate / self.d + others * self.flip * (1.0 - self.flip)
        chance = 0.5 - 2.0 * LARGEST_PMF / math.sqrt(variance) - FEW
        if self.d == 2 or chance <= 0.0:
            return ()
        # Hoeffding's inequality for the messages of all others
        most = math.floor(mean + math.sqrt(0.5 * (dummy_messages + others) * math.log(1.0 / FEW))) + 1
        left = np.array([1.0, 1.0, self.d - 3.0]) / (self.d - 1)
        truth, other, rest = 1.0 - self.flip, self._other, (self.d - 3) * self._other
        report0, report1 = np.array([[truth, other, rest], [other, truth, rest]]) + other * left
        return (Attack(LikelihoodRatios.from_masses(report0, report1, left), most - 1, chance * (1 - 1e-9)),)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Name the user's item with probability 1 - f, else one of the others uniformly."""
        x, rng = values.items(x, "x", self.d), values.generator(rng)
        other = (x + rng.integers(1, self.d, size=x.size)) % self.d
        return np.where(rng.random(x.size) < self.flip, other, x)

    def _draw_inputs(self, counts, repetitions, rng):
        """With probability 1 - fd/(d-1) name the user's item, else any item uniformly."""
        truthful = rng.binomial(counts, self.beta, size=(repetitions, counts.size))
        return truthful + rng.multinomial(counts.sum() - truthful.sum(axis=1), self._share)

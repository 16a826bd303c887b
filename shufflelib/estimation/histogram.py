"""Histograms of items: one randomizer for all users, a shuffler, and the unbiased estimate."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.estimation.holders import holders, one_item_each
from shufflelib.estimation.protocol import Protocol
from shufflelib.estimation.shuffler import shuffled_reports
from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.numerics.types import Array, T
from shufflelib.randomizers import values
from shufflelib.randomizers.composite import estimated
from shufflelib.randomizers.frequency_oracle import FrequencyOracle
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.shuffling.shuffled import shuffle


class ItemProtocol(Protocol):
    """Every user randomises one item, the reports are shuffled."""

    def __init__(self, randomizer: Any, items: int, n: int, delta: float) -> None:
        super().__init__(n, delta)
        self.randomizer, self._number = randomizer, items

    def reports(self, data: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Randomise, then shuffle."""
        return shuffled_reports(self.randomizer, self._items(data), rng, self.each)

    def estimate(self, reports: ArrayLike) -> Array:
        """Return the unbiased frequencies that the randomizer's ``estimate`` does."""
        frequencies: Any = estimated(self.randomizer, self._all(reports), self.n)
        return frequencies

    def standard_error(self, estimate: ArrayLike) -> Array:
        """Return the standard error of each frequency, with the estimate, cut to [0, 1], for the truth."""
        return np.sqrt(self._variance(np.clip(estimate, 0.0, 1.0)))

    def certificate(self) -> Certified[float]:
        """Return ε of the shuffled randomizer, with proved lower and upper bounds."""
        return shuffle(self.randomizer, n=self.n).epsilon(self.delta)

    @abstractmethod
    def _variance(self, shares):
        """Return the exact variance of each frequency's estimate, for the true frequencies."""

    def _counts(self, data):
        return np.bincount(self._items(data), minlength=self._number)

    def _items(self, data):
        return one_item_each(data, n=self.n, d=self._number)


class SupportProtocol(ItemProtocol):
    """Frequencies of items, estimated from how many messages support each."""

    def __init__(self, randomizer: Any, n: int, delta: float) -> None:
        super().__init__(randomizer, randomizer.items, n, delta)

    @property
    def dummy_messages(self) -> int:
        """Number of all dummy messages."""
        return self.n * self.each

    def variance(self, data: ArrayLike) -> Array:
        """Return the exact variance of each frequency's estimate for these data, shape (items,)."""
        return self._variance(self._counts(data) / self.n)

    def repeat(self, data: ArrayLike, repetitions: int, rng: np.random.Generator) -> Array:
        """Return the frequencies of independent runs, shape (repetitions, items), drawn from the counts."""
        return repeated(self.randomizer, self._counts(data), self.each, repetitions, rng)

    def _variance(self, shares):
        return self.randomizer.variance(shares, n=self.n, dummy_messages=self.dummy_messages)


def repeated(randomizer, counts, each, repetitions, rng):
    """Draw estimated frequencies from how many users hold each item, who send ``each`` dummy messages."""
    rng, repetitions = values.generator(rng), validation.count(repetitions, "repetitions")
    counts, n = holders(counts, d=randomizer.items)
    supports = randomizer.draw_supports(counts, n * each, repetitions, rng)
    return randomizer.frequencies(supports, n=n, dummy_messages=n * each)


class HistogramProtocol(SupportProtocol):
    """Frequencies of d items: every user randomises one item, the reports are shuffled.

    Parameters
    ----------
    randomizer : LocalRandomizer
        One of `generalized_rr`, `rappor`, `optimized_unary`, `subset`, `local_hash`, `hadamard`.
    n : int
        Number of users.
    delta : float, optional
        Central δ of the certificate.

    Raises
    ------
    TypeError, ValueError
        If the randomizer estimates no histogram, or an argument is outside its domain.

    Notes
    -----
    ``run`` costs what the randomizer's ``sample`` and ``estimate`` cost, O(n d) for some; `simulate` draws
    the estimate from the histogram of the data at a cost that does not depend on n.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> protocol = estimation.HistogramProtocol(randomizers.generalized_rr(eps0=1.0, d=4), n=1000)
    >>> result = protocol.run(np.arange(1000) % 4, np.random.default_rng(1))  # one item for each user
    >>> bool(np.all(abs(result.value - 0.25) < 4 * result.standard_error)), result.epsilon.upper < 0.12
    (True, True)
    """

    def __init__(self, randomizer: LocalRandomizer, *, n: int, delta: float = 1e-6) -> None:
        super().__init__(_oracle(randomizer), n, delta)


def simulate(
    randomizer: LocalRandomizer, *, counts: ArrayLike, repetitions: int, rng: np.random.Generator
) -> Array:
    """Draw estimated frequencies from the number of users who hold each item, without drawing the users.

    Parameters
    ----------
    randomizer : LocalRandomizer
        As for `HistogramProtocol`.
    counts : array_like, shape (d,)
        Users that hold each item, at most 5e8 in total.
    repetitions : int
        Number of independent runs.
    rng : numpy.random.Generator
        Randomness.

    Returns
    -------
    numpy.ndarray, shape (repetitions, d)
        Distributed exactly as the estimate from that many reports, jointly over the items.

    Notes
    -----
    Cost O(d) for generalized RR, unary encodings and local hash (whose hash is taken for a random function),
    O(d k) for subset, O(d K) for Hadamard; none depends on n.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> rr = randomizers.generalized_rr(eps0=1.0, d=4)
    >>> counts = [480_000, 240_000, 160_000, 120_000]  # a million users, none of them drawn individually
    >>> runs = estimation.simulate(rr, counts=counts, repetitions=200, rng=np.random.default_rng(1))
    >>> runs.mean(axis=0).round(2).tolist()
    [0.48, 0.24, 0.16, 0.12]
    """
    return repeated(_oracle(randomizer), counts, 0, repetitions, rng)


def frequency_variance(randomizer: LocalRandomizer, frequency: T, *, n: int) -> T:
    r"""Return the exact variance of a frequency's estimate.

    .. math:: \frac{f\,\text{own}(1-\text{own}) + (1-f)\,\text{other}(1-\text{other})}
              {n\,(\text{own}-\text{other})^2}

    Parameters
    ----------
    randomizer : LocalRandomizer
        As for `HistogramProtocol`; own and other are the probabilities of its ``support``.
    frequency : float or array_like
        True share f in [0, 1] of the users who hold the item.
    n : int
        Number of users.

    Returns
    -------
    float or numpy.ndarray
        The variance for these data, over the users' coins; exact, no limit is taken.

    Examples
    --------
    >>> from shufflelib import estimation, randomizers
    >>> rr, subset = randomizers.generalized_rr(eps0=1.0, d=100), randomizers.subset(eps0=1.0, d=100)
    >>> [round(estimation.frequency_variance(one, 0.01, n=10**6) ** 0.5, 4) for one in (rr, subset)]
    [0.0059, 0.0019]
    """
    return _oracle(randomizer).variance(frequency, n=n)


def _oracle(randomizer):
    if not (isinstance(randomizer, LocalRandomizer) and isinstance(randomizer, FrequencyOracle)):
        raise TypeError(
            f"randomizer must estimate a histogram from supports, got {validation.shown(randomizer)}; "
            "use generalized_rr, rappor, optimized_unary, subset, local_hash or hadamard"
        )
    return randomizer

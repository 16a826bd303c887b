r"""Reports that support items, from which a histogram is estimated: frequency oracles.

A report *supports* an item, or not: the reported item itself, the items of a reported subset, the items that
hash to the reported value, the rows of the Hadamard matrix that are +1 at the reported index, the bits that
are one.  A report supports each item that its user holds with probability ``own`` and any other given item
with probability ``other``; a dummy message, of which a user may send some too, supports item j with
probability ``share``.  Of n users and N dummy messages, with C_j messages that support j, the unbiased
frequency is

.. math:: \hat f_j = \frac{(C_j - N\,\text{share}_j)/n - \text{other}}{\text{own} - \text{other}}, \qquad
          \operatorname{Var}(\hat f_j) = \frac{f_j\,\text{own}(1-\text{own})
          + (1-f_j)\,\text{other}(1-\text{other}) + (N/n)\,\text{share}_j(1-\text{share}_j)}
          {n\,(\text{own}-\text{other})^2}

``draw_supports`` draws the vector C, jointly over items, in a number of draws that does not depend on n.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers, T
from shufflelib.randomizers import values
from shufflelib.randomizers.local_randomizer import Budget, Count, FiniteRandomizer, Options


class Support(NamedTuple):
    """Probabilities that a message supports an item.

    ``own``: that the report supports the item held; ``other``: that it supports another given item;
    ``share``, one number or shape (items,): that a dummy message supports each item.
    """

    own: float
    other: float
    share: float | np.ndarray = 0.0


class ItemSupports:
    """What mechanisms have in common whose reports support items, of which a user holds one or several.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> sets = randomizers.collision(eps0=1.0, d=100, s=5)
    >>> sets.usual_share, round(sets.variance(0.05, n=100_000) ** 0.5, 3)
    (0.05, 0.016)
    """

    d: int
    support: Support  # own > other

    @property
    def items(self) -> int:
        """Number of items a user may hold."""
        return self.d

    @property
    def usual_share(self) -> float:
        """Share of every item if all are equally frequent."""
        return 1.0 / self.items

    def unbiased(self, shares: Array) -> Array:
        """Return the estimated frequencies, from the share of messages that support each item."""
        own, other, _ = self.support
        return (shares - other) / (own - other)

    def variance(self, frequency: T, *, n: int, dummy_messages: int = 0) -> T:
        """Return the exact variance of a frequency's estimate.

        Parameters
        ----------
        frequency : float or array_like
            True share f in [0, 1] of the users who hold the item; with dummy messages that of each item,
            shape (items,), or one number for all.
        n : int
            Number of users.
        dummy_messages : int, optional
            Number N of dummy messages.

        Returns
        -------
        float or numpy.ndarray
            The variance for these data, over the users' coins; exact, no limit is taken.

        """
        own, other, share = self.support
        f = validation.reals(frequency, "frequency", at_least=0.0, at_most=1.0)
        if f.ndim and np.ndim(share) and f.shape != np.shape(share):
            raise ValueError(
                f"frequency must hold one share for each of {self.items} items, got shape {f.shape}"
            )
        n, dummies = validation.users(n), validation.count(dummy_messages, "dummy_messages", at_least=0)
        noise = f * own * (1 - own) + (1 - f) * other * (1 - other) + dummies / n * share * (1 - share)
        variance = noise / (n * (own - other) ** 2)
        found: Any = float(variance) if np.ndim(variance) == 0 else variance
        return found


@dataclass(frozen=True, kw_only=True)
class Sets(ItemSupports, FiniteRandomizer):
    """A mechanism for users who each hold s of d items."""

    eps0: Budget
    d: Options
    s: Count

    @property
    def usual_share(self) -> float:
        """Share s/d of every item if all are equally frequent."""
        return self.s / self.d


class DisjointSets(Sets):
    """A mechanism for sets of which two without a common item are the worst pair."""

    mirrored = True

    def __post_init__(self):
        super().__post_init__()
        remedy = "two users must be able to hold disjoint sets"
        validation.count(self.d, "d", at_least=max(2, 2 * self.s), remedy=remedy)


class KeyValueSupports(Sets):
    r"""Reports of a key and a sign: they support keys, and their signs add up to the values of a key.

    With own and other as above and the contrast c of signs, the value sum of a key per user, T, is estimated
    by the signed share of its reports over c, with

    .. math:: \operatorname{Var}(\hat T) = \frac{f\,\text{own} + (1-f)\,\text{other}}{n c^2} - \frac{m_2}n,
              \qquad \operatorname{Cov}(\hat f, \hat T)
              = \frac Tn \Bigl(\frac{1-\text{other}}{\text{own}-\text{other}} - 1\Bigr),

    where m₂ is the sum of the squares of the key's values per user.
    """

    value_contrast: float
    signs: tuple[int, ...]  # that reports have

    def __post_init__(self):
        super().__post_init__()
        validation.count(self.s, "s", at_most=self.d, remedy="a user holds distinct keys")

    def estimate(self, reports: Any) -> tuple[Array, Array]:
        """Return unbiased key frequencies and value sums per user, both of shape (d,)."""
        key, sign = values.tagged_signs(reports, self.d, self.signs).T
        present, total = (np.bincount(key, w, minlength=self.d) / key.size for w in (sign != 0, sign))
        return self.unbiased(present), total / self.value_contrast

    def sum_variance(self, frequency: T, squares: T, *, n: int) -> T:
        """Return the exact variance of a key's value sum per user, for its share and its sum of squares.

        The sum of squares, per user too, is between 0 and the share: 0 if all values are 0.
        """
        own, other, _ = self.support
        f: Any = frequency
        return ((f * own + (1 - f) * other) / self.value_contrast**2 - squares) / validation.users(n)

    def covariance(self, sums: T, *, n: int) -> T:
        """Return the exact covariance of a key's estimated share and value sum, for its sum per user."""
        own, other, _ = self.support
        total: Any = sums
        return total / validation.users(n) * ((1 - other) / (own - other) - 1)


class FrequencyOracle(ItemSupports):
    """What the mechanisms that estimate histograms of one item for each user have in common.

    Their ``estimate`` takes one entry for each report.  Counts of reports can look like reports: where a
    report is a whole number, as many as there are different ones are refused unless ``n`` is given.
    `shufflelib.estimation.HistogramProtocol` knows n and refuses every other number.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> rr = randomizers.generalized_rr(eps0=1.0, d=10)
    >>> rr.support.own > rr.support.other, round(rr.variance(0.1, n=1000) ** 0.5, 3)
    (True, 0.064)
    """

    def draw_supports(
        self, counts: Integers, dummy_messages: int, repetitions: int, rng: np.random.Generator
    ) -> Integers:
        """Draw how many messages support each item, exactly as if all had been sent.

        Parameters
        ----------
        counts : numpy.ndarray, shape (items,), integer
            Users that hold each item.
        dummy_messages : int
            Number of dummy messages, 0 for mechanisms without them.
        repetitions : int
            Independent draws.
        rng : numpy.random.Generator
            Randomness.

        Returns
        -------
        numpy.ndarray, shape (repetitions, items), integer
            Supports C, jointly over the items of a row; here independent of each other, given the data.
        """
        own, other, share = self.support
        shape = (repetitions, counts.size)
        chances: Any = (counts, own), (counts.sum() - counts, other), (dummy_messages, share)
        supports: Any = sum(rng.binomial(number, chance, size=shape) for number, chance in chances)
        return supports

    def frequencies(self, supports: Integers, *, n: int, dummy_messages: int = 0) -> Array:
        """Return unbiased frequencies from supports on the last axis, of n reports and dummy messages."""
        return self.unbiased((supports - dummy_messages * self.support.share) / n)

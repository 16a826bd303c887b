r"""Bits of some random buckets: Microsoft's dBitFlip."""

from dataclasses import dataclass
from itertools import product
from math import comb, perm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.randomizers import values
from shufflelib.randomizers.local_randomizer import (
    BinaryLosses,
    Budget,
    Count,
    FiniteRandomizer,
    Options,
    small_table,
)


@dataclass(frozen=True, kw_only=True)
class dbitflip(FiniteRandomizer):
    r"""Build dBitFlip: say of d random ones of k buckets whether they hold the value, each bit flipped.

    .. math:: y_j = [x = j] \oplus \mathrm{Bernoulli}\bigl(1/(e^{\varepsilon_0/2} + 1)\bigr), \qquad
              j \in S, \quad S \subseteq \{0, \dots, k-1\} \text{ uniform}, \; |S| = d

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.  For d = 1 a report spends half of it.
    k : int
        Number of buckets, at least 2.
    d : int
        Number of bits in a report, 1 <= d <= k.

    Notes
    -----
    A report is the set S with its bits.  ``sample`` maps buckets (n,) to rows of d buckets and d bits, shape
    (n, 2 d); ``estimate`` returns unbiased frequencies (k,).

    With a = e^{eps0/2} and f(y) the probability of the bits y of S if no bucket of S holds the value, the
    report has probability a f(y) if the user's bucket is in S and its bit is one, f(y)/a if it is zero, and
    f(y) if it is not in S.  So the least over all values is f(y)/a, except for bits that are all one: there
    it is f(y) for d < k and a f(y) for d = k.  The mechanism is symmetric in the buckets.  d = k is `rappor`.

    Assumption: the analyst sees who chose which buckets from the shuffled reports alone.  A device that keeps
    its buckets for several rounds is recognised by them.  Where the buckets of every user are known, only
    users of the same set are a crowd: give their number as n, and their table of d + 1 values to `from_pmf`.

    Not in the tables of Wang 2024: β is the exact total variation; p = q = e^eps0.
    Source: Ding, Kulkarni, Yekhanin (NIPS 2017; arXiv:1712.01524), Section 3.

    Examples
    --------
    More bits of 32 buckets, more accurate and less private:

    >>> from shufflelib import randomizers, shuffle
    >>> for d in (1, 2, 4):
    ...     mechanism = randomizers.dbitflip(eps0=2.0, k=32, d=d)
    ...     print(round(shuffle(mechanism, n=10_000).epsilon(1e-6).upper, 3))
    0.01
    0.018
    0.028
    """

    eps0: Budget
    k: Options
    d: Count

    mirrored = True

    def __post_init__(self):
        super().__post_init__()
        remedy = "no more bits than there are buckets"
        self._set("d", validation.count(self.d, "d", at_most=self.k, remedy=remedy))

    @property
    def binary_losses(self) -> BinaryLosses | None:
        """One bit of two buckets is binary randomized response with half the budget."""
        return ((0.5 * self.eps0,) * 2,) * 2 if (self.k, self.d) == (2, 1) else None

    @property
    def _flip(self):
        """Probability of a flip."""
        odds = float(np.exp(-0.5 * self.eps0))
        return odds / (1.0 + odds)

    @property
    def beta(self) -> float:
        """Exact total variation (e^{eps0/2} - 1)/(e^{eps0/2} + 1) Pr[S meets two given buckets]."""
        missed = (self.k - self.d) / self.k * max(self.k - self.d - 1, 0) / (self.k - 1)
        return float(np.tanh(0.25 * self.eps0)) * (1.0 - missed)

    def pmf(self) -> Array:
        """Return the table of probabilities, shape (k, outputs): sets in order, and the bits of each."""
        k, _ = small_table(self.k, comb(self.k, self.d) * 2**self.d)
        chosen = np.array([s for s in np.ndindex(*(2,) * k) if sum(s) == self.d], bool)
        bits = np.array(list(product((0, 1), repeat=self.d)))
        truth = [[(np.eye(k)[x][s] == bits).T for s in chosen] for x in range(k)]
        rows = np.where(truth, 1.0 - self._flip, self._flip).prod(axis=2)
        return rows.reshape(k, -1) / len(chosen)

    def _classes(self):
        """Return the bit of each input (2 if the set misses it), if all others are one, and their share."""
        inputs, k, d = min(self.k, 3), self.k, self.d
        *bits, others = np.indices((3,) * inputs + (2,)).reshape(inputs + 1, -1)
        held = np.not_equal(bits, 2).sum(axis=0)
        chance = np.array([perm(d, m) * perm(k - d, inputs - m) / perm(k, inputs) for m in range(inputs + 1)])
        rest = np.maximum(d - held, 0)
        share = chance[held] * np.where(others, self._flip**rest, -np.expm1(rest * np.log(self._flip)))
        return np.array(bits)[:, share > 0.0], others[share > 0.0] == 1, share[share > 0.0]

    def class_masses(self) -> Array:
        """Return class masses for x0, x1 and x*: sets, their bits, all other bits."""
        bits, _, share = self._classes()
        own = np.eye(len(bits), dtype=bool)[:, :, None]
        noise = np.array([1.0 - self._flip, self._flip, 1.0])
        return np.where(own, noise[[1, 0, 2]][bits], noise[bits]).prod(axis=1) * share

    def blanket(self) -> Array:
        """Return the exact blanket on the same classes."""
        bits, others_one, share = self._classes()
        odds = np.exp(-0.5 * self.eps0)
        all_one = others_one & (bits != 0).all(axis=0)
        least = np.where(all_one, 1.0 / odds if self.d == self.k else 1.0, odds)
        return np.array([1.0 - self._flip, self._flip, 1.0])[bits].prod(axis=0) * share * least

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report d buckets, ascending, and their bits, shape (n, 2 d)."""
        x, rng = values.items(x, "x", self.k), values.generator(rng)
        order = rng.random((x.size, self.k)).argpartition(self.d - 1, axis=1)
        buckets = np.sort(order[:, : self.d], axis=1)
        bits = (buckets == x[:, None]) ^ (rng.random(buckets.shape) < self._flip)
        return np.hstack([buckets, bits])

    def estimate(self, reports: ArrayLike) -> Array:
        r"""Return unbiased frequencies of the buckets, shape (k,).

        .. math:: \hat f_j = \frac{k}{n d} \sum_{i : j \in S_i} \frac{(a + 1)\, y_{ij} - 1}{a - 1}
        """
        columns = values.whole(reports, "reports", columns=2 * self.d, at_least=0, at_most=self.k - 1)
        buckets, bits = columns[:, : self.d], columns[:, self.d :]
        values.item_sets(buckets, "reports", self.k, self.d)
        if (bits > 1).any():
            raise ValueError(f"reports must hold bits in the last {self.d} columns, got {bits.max()}")
        counts = np.bincount(buckets.ravel(), weights=(bits - self._flip).ravel(), minlength=self.k)
        return counts * self.k / (len(columns) * self.d * np.tanh(0.25 * self.eps0))

r"""Hadamard response: report an index, with odds e^ε₀ where the user's row of a Hadamard matrix is +1."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import hadamard as hadamard_matrix

from shufflelib.numerics.types import Array, Integers
from shufflelib.randomizers import values
from shufflelib.randomizers.extremal import Extremal, patterns
from shufflelib.randomizers.frequency_oracle import FrequencyOracle, Support
from shufflelib.randomizers.local_randomizer import Budget, Count, small_table, whole

MAX_ORDER = 2**30


class HadamardResponse(Extremal):
    """Hadamard response on d items with B blocks of order K/B = 2s."""

    eps0: float
    d: int
    K: int
    s: int
    B: int

    @property
    def _favoured(self):
        """Probability that the report is one of the s favoured outputs."""
        return self.s / (self.s + (self.K - self.s) * np.exp(-self.eps0))

    def _row(self, x):
        """Return block and row (1, ..., 2s - 1) of each item."""
        return x // (2 * self.s - 1), x % (2 * self.s - 1) + 1

    def pmf(self) -> Array:
        """Return the table of probabilities, shape (d, K): row x is the distribution of the report on x."""
        d, outputs = small_table(self.d, self.K)
        block, row = (place[:, None] for place in self._row(np.arange(d)))
        other, column = np.divmod(np.arange(outputs), 2 * self.s)
        hit = (other == block) & (np.bitwise_count(row & column) & 1 == 0)
        return self._favoured / self.s * np.where(hit, 1.0, np.exp(-self.eps0))

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report indices in 0, ..., K-1, shape (n,)."""
        x, rng = values.items(x, "x", self.d), values.generator(rng)
        block, row = self._row(x)
        favoured = rng.random(x.size) < self._favoured
        elsewhere = rng.random(x.size) * (self.K - self.s) >= self.s  # another block, given not favoured
        other = (block + rng.integers(1, max(self.B, 2), size=x.size)) % self.B
        column = rng.integers(0, 2 * self.s, size=x.size)
        column ^= np.where((np.bitwise_count(row & column) & 1) == favoured, row & -row, 0)
        mixed = ~favoured & elsewhere
        column = np.where(mixed, rng.integers(0, 2 * self.s, size=x.size), column)
        return np.where(mixed, other, block) * 2 * self.s + column

    def estimate(self, reports: ArrayLike, *, n: int | None = None) -> Array:
        """Return unbiased item frequencies, shape (d,); d or K reports need ``n``, to be no counts."""
        reports = values.no_counts(values.items(reports, "reports", self.K), {self.d, self.K}, n)
        signed = np.bincount(reports, minlength=self.K).reshape(self.B, 2 * self.s).astype(float)
        width = 1
        while width < 2 * self.s:  # fast Walsh-Hadamard transform of each block
            pairs = signed.reshape(self.B, -1, 2, width)
            signed = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
            width *= 2
        signed = signed.reshape(self.B, -1)[self._row(np.arange(self.d))]
        return signed / (reports.size * -np.expm1(-self.eps0) * self._favoured)


@dataclass(frozen=True, kw_only=True)
class hadamard(FrequencyOracle, HadamardResponse):
    r"""Build Hadamard response with one block: item x takes row x + 1 of the Hadamard matrix of order K.

    .. math:: R_x(y) \propto e^{\varepsilon_0 [H_{x+1, y} = +1]}, \qquad y = 0, \dots, K-1

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2.

    Notes
    -----
    With K the smallest power of two above d, s = K/2, B = 1; ``estimate`` uses a fast transform.

    Wang 2024, Table 1 [1]: p = q = e^eps0, β = (s/2)(e^eps0 - 1)/(s e^eps0 + K - s), which is exact.
    The blanket is exact: the all-ones column 0 is the only index that every row hits.  Third inputs x* are of
    two kinds, the product of the rows of x0 and x1 and any other row; both are rows of `class_masses`.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.hadamard(eps0=1.0, d=100)
    >>> mechanism.K, round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 3)
    (128, 0.103)
    """

    eps0: Budget
    d: Annotated[int, whole(2, at_most=MAX_ORDER - 1)]

    B = 1
    last_hit_by_all = True  # column 0 of the matrix

    @property
    def K(self) -> int:
        """Order of the Hadamard matrix, a power of two."""
        return 1 << self.d.bit_length()

    @property
    def s(self) -> int:
        """Size of a half of it."""
        return self.K // 2

    @property
    def beta(self) -> float:
        """Published β = (s/2)(e^eps0 - 1)/(s e^eps0 + K - s), exact."""
        return float(0.5 * -np.expm1(-self.eps0) * self._favoured)

    def classes(self) -> tuple[NDArray[Any], Array]:
        """Return the hit patterns of x0, x1, their product row and an independent row, and column 0."""
        x = patterns(3 if self.d >= 4 else 2)
        hit = np.concatenate([x[:2], [x[0] == x[1]] if self.d >= 3 else x[:0], x[2:]])
        share = np.full(x.shape[1], 0.5 ** len(x))
        share[0] -= 1.0 / self.K
        return np.column_stack([hit, hit[:, 0]]), np.append(share, 1.0 / self.K)

    @property
    def support(self) -> Support:
        """The items whose rows are +1 at the reported index are supported."""
        return Support(float(1.0 / (1.0 + np.exp(-self.eps0))), 0.5)

    def draw_supports(
        self, counts: Integers, dummy_messages: int, repetitions: int, rng: np.random.Generator
    ) -> Integers:
        """Draw supports: with probability 2 own - 1 any +1 of the user's row, else any index; O(d K)."""
        row = hadamard_matrix(self.K, dtype=np.int8)[1 : self.d + 1] > 0
        truthful = rng.binomial(counts, 2.0 * self.support.own - 1.0, size=(repetitions, counts.size))
        indices = rng.multinomial(counts.sum() - truthful.sum(axis=1), np.full(self.K, 1.0 / self.K))
        for item in range(self.d):
            indices += rng.multinomial(truthful[:, item], row[item] / row[item].sum())
        return indices @ row.T


@dataclass(frozen=True, kw_only=True)
class hadamard_blocks(HadamardResponse):
    r"""Build Hadamard response with B blocks: an item takes a row of its block's matrix, of order K/B.

    .. math:: R_x(y) \propto e^{\varepsilon_0 [y \in C_x]}, \qquad |C_x| = s = K/(2B)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    K : int
        Number of outputs, B times a power of two.
    s : int
        Outputs favoured by each input, K/(2B).
    B : int
        Number of blocks, at least 2.

    Notes
    -----
    For d = B(K/B - 1) items, K/B - 1 in each block; ``estimate`` uses a fast transform.

    Wang 2024, Table 5 [1]: p = q = e^eps0, β = s(e^eps0 - 1)/(s e^eps0 + K - s), exact for items of two
    different blocks, the worst pair (items of one block share half of their outputs).

    Examples
    --------
    As many outputs as with one block, and a lower ε.

    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.hadamard_blocks(eps0=1.0, K=128, s=4, B=16)
    >>> mechanism.d, round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 3)
    (112, 0.046)
    """

    eps0: Budget
    K: Annotated[int, whole(2, at_most=MAX_ORDER)]
    s: Count
    B: Annotated[int, whole(2, remedy="with one block use hadamard(eps0=, d=)")]

    def __post_init__(self):
        super().__post_init__()
        order = self.K // self.B
        if order < 2 or order * self.B != self.K or order & (order - 1):
            raise ValueError(
                f"K must be B times a power of two, got K={self.K!r} with B={self.B!r}; take K = B * 2**m"
            )
        if 2 * self.s != order:
            raise ValueError(f"s must be K/(2B) = {order // 2}, got {self.s!r}; half of a block is favoured")

    @property
    def d(self) -> int:
        """Number of items: the rows of all blocks but the constant ones."""
        return self.K - self.B

    @property
    def lopsided(self) -> tuple[int, ...]:
        """An x* of x0's block."""
        return (2,) if self.s >= 2 else ()

    @property
    def beta(self) -> float:
        """Published β = s(e^eps0 - 1)/(s e^eps0 + K - s), exact."""
        return float(-np.expm1(-self.eps0) * self._favoured)

    def classes(self) -> tuple[NDArray[Any], Array]:
        """Return outputs favoured by x0, x1, an x* of x0's block and an x* of a third block."""
        half = self.s / 2.0
        third = self.s if self.B >= 3 else 0
        hit = np.array([
            [1, 1, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0],
            [1, 0, 1, 0, 0, 0],
            [0, 0, 0, 0, 1, 0],
        ], dtype=bool)  # fmt: skip
        share = np.array([half, half, half, self.s, third, self.K - 2 * self.s - half - third])
        rows = [True, True, self.s >= 2, self.B >= 3]
        return hit[rows], share

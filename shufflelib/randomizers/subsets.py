r"""Subset reports: k of the d items, with odds e^ε₀ if the subset meets what the user holds; and PCKV-GRR."""

from dataclasses import dataclass, field
from itertools import combinations
from math import ceil, comb, floor, perm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers
from shufflelib.randomizers import values
from shufflelib.randomizers.extremal import Extremal, patterns
from shufflelib.randomizers.frequency_oracle import DisjointSets, FrequencyOracle, KeyValueSupports, Support
from shufflelib.randomizers.local_randomizer import small_table

SAMPLE_CELLS = 4_000_000  # random keys held in memory at once while subsets are drawn


def _random_subsets(rng, rows, size, k):
    """Return k distinct numbers below ``size`` in each row, uniformly, shape (rows, k)."""
    step = max(1, SAMPLE_CELLS // max(size, 1))
    parts = [np.empty((0, k), dtype=np.int64)]
    for start in range(0, rows if k else 0, step):
        keys = rng.random((min(step, rows - start), size))
        parts.append(np.argpartition(keys, k - 1, axis=1)[:, :k])
    return np.concatenate(parts) if k else np.empty((rows, 0), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class subset_exponential(DisjointSets, Extremal):
    r"""Build PrivSet: report k of d items, e^eps0 times likelier if they meet the user's s items.

    .. math:: R_x(z) \propto e^{\varepsilon_0 [x \cap z \ne \emptyset]}, \qquad |z| = k

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2 and at least 2 s (so that x0 and x1 can be disjoint).
    s : int
        Items held by each user, at least 1.
    k : int, optional
        Size of the report, 1 to d - s; by default the size at which a random subset meets the user's with
        probability about 1/(e^eps0 + 1), hence the report with about 1/2.  ``repr`` shows the k chosen.  It
        does not depend on what is estimated, and a smaller k can have a smaller ``variance``.

    Notes
    -----
    ``sample`` maps sets (n, s) to subsets (n, k), each row ascending; ``estimate`` returns frequencies
    (d,), which sum to about s.  Drawing costs O(n d).

    Wang 2024, Table 5 [51]: p = q = e^eps0,
    β = (e-1)(C(d-s,k) - C(d-2s,k)) / (e(C(d,k) - C(d-s,k)) + C(d-s,k)) with e = e^eps0, which is exact.
    The table omits the bracket after e; as printed, e C(d,k) - C(d-s,k) + C(d-s,k), it is wrong:
    eps0 = 1, d = 6, s = 2, k = 2 gives 0.2107 instead of 0.2820.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.subset_exponential(eps0=1.0, d=100, s=5)
    >>> mechanism, round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4)
    (subset_exponential(eps0=1.0, d=100, s=5, k=7), 0.1071)
    """

    k: int = None  # type: ignore[assignment]  # never None once made

    def __post_init__(self):
        super().__post_init__()
        most = self.d - self.s
        k = min(most, self._usual_size()) if self.k is None else self.k
        self._set("k", validation.count(k, "k", at_most=most, remedy="larger ones meet every user's set"))

    def _usual_size(self):
        return max(1, ceil(-self.d * np.expm1(-np.log1p(np.exp(-self.eps0)) / self.s)))

    binary_at = 2

    @property
    def beta(self) -> float:
        """Published β (with the missing bracket of Table 5 put back), exact."""
        only_one = self._hit_share(hits=1, inputs=2)
        return float(-np.expm1(-self.eps0) * only_one / self._mean_weight)

    def _hit_share(self, hits, inputs):
        """Return which share of all k-subsets meets ``hits`` given disjoint s-sets and misses the others.

        Integer arithmetic up to one last, correctly rounded division; the smaller set is laid out.
        """
        d, k, s = self.d, self.k, self.s
        missed = range(inputs - hits, inputs + 1)
        if k < inputs * s:
            ways, laid_out = [perm(d - m * s, k) for m in missed], k
        else:
            ways = [perm(d - k, m * s) * perm(d - m * s, (inputs - m) * s) for m in missed]
            laid_out = inputs * s
        signed = ((-1) ** i * comb(hits, i) * way for i, way in enumerate(ways))
        return sum(signed) / perm(d, laid_out)

    @property
    def _miss(self):
        return self._hit_share(hits=0, inputs=1)

    @property
    def _mean_weight(self):
        """Mean over all k-subsets of e^{-eps0} when missed and 1 when hit."""
        return self._hit_share(hits=1, inputs=1) + self._miss * np.exp(-self.eps0)

    def classes(self) -> tuple[NDArray[Any], Array]:
        """Return all hit patterns of x0, x1 and x*, disjoint; no report meets every possible set."""
        inputs = 3 if self.d >= 3 * self.s else 2
        hit = patterns(inputs)
        shares = [self._hit_share(hits, inputs) for hits in range(inputs + 1)]
        return hit, np.array([shares[hits] for hits in hit.sum(axis=0)])

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report subsets, shape (n, k), each row ascending."""
        x, rng = values.item_sets(x, "x", self.d, self.s), values.generator(rng)
        odds = np.array(
            [
                comb(self.s, i) * perm(self.k, i) * perm(self.d - self.k, self.s - i) / perm(self.d, self.s)
                for i in range(min(self.s, self.k) + 1)
            ]
        )
        odds[0] *= np.exp(-self.eps0)
        met = rng.choice(odds.size, size=len(x), p=odds / odds.sum())
        reports = np.empty((len(x), self.k), dtype=np.int64)
        for i in np.unique(met):
            users = np.flatnonzero(met == i)
            kept = np.take_along_axis(x[users], _random_subsets(rng, users.size, self.s, i), axis=1)
            others = _random_subsets(rng, users.size, self.d - self.s, self.k - i)
            for j in range(self.s):  # ascending: renumbers 0, ..., d-s-1 as the items not held
                others += others >= x[users, j, None]
            reports[users] = np.sort(np.column_stack([kept, others]), axis=1)
        return reports

    @property
    def support(self) -> Support:
        """The reported items are supported."""
        own = self.k / self.d / self._mean_weight
        contrast = -np.expm1(-self.eps0) * self._miss * self.k / (self.d - self.s) / self._mean_weight
        return Support(float(own), float(own - contrast))

    def estimate(self, reports: ArrayLike) -> Array:
        """Return unbiased item frequencies, shape (d,); they sum to about s."""
        chosen = values.item_sets(reports, "reports", self.d, self.k)
        return self.unbiased(np.bincount(chosen.ravel(), minlength=self.d) / len(chosen))


@dataclass(frozen=True, kw_only=True)
class subset(FrequencyOracle, subset_exponential):
    r"""Build the k-subset mechanism: report k of d items, e^eps0 times likelier if they hold the user's item.

    .. math:: R_x(z) \propto e^{\varepsilon_0 [x \in z]}, \qquad |z| = k

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2.
    k : int, optional
        Size of the report, 1 to d - 1; by default ⌊d/(e^eps0 + 1)⌋ or ⌈d/(e^eps0 + 1)⌉, at least 1:
        the one with the smaller variance for an item that nobody holds.  No other k has a smaller one.
        ``repr`` shows the k chosen.

    Notes
    -----
    ``sample`` costs O(n d).

    Wang 2024, Table 1 [52, 65]: p = q = e^eps0,
    β = (e-1)(C(d-1,k-1) - C(d-2,k-2)) / (e C(d-1,k-1) + C(d-1,k)) with e = e^eps0, which is exact.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.subset(eps0=1.0, d=16)
    >>> mechanism, round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 3)
    (subset(eps0=1.0, d=16, k=4), 0.105)
    """

    s: int = field(default=1, init=False, repr=False)

    def _usual_size(self):
        odds = float(np.exp(-self.eps0))

        def variance(k):  # of an item that nobody holds, up to a factor without k
            missed = self.d - k
            return (k - 1 + missed * odds) * (k + (missed - 1) * odds) / (k * missed)

        size = self.d * odds / (1.0 + odds)
        return min(max(1, floor(size)), min(self.d - 1, ceil(size)), key=variance)

    def pmf(self) -> Array:
        """Return the table of probabilities, shape (d, C(d, k)); subsets in lexicographic order."""
        d, outputs = small_table(self.d, comb(self.d, self.k))
        holds = np.zeros((outputs, d), dtype=bool)
        np.put_along_axis(holds, np.array(list(combinations(range(d), self.k))), True, axis=1)
        odds = np.where(holds.T, 1.0, np.exp(-self.eps0))
        return odds / odds.sum(axis=1, keepdims=True)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report subsets, shape (n, k), each row ascending."""
        return super().sample(values.items(x, "x", self.d)[:, None], rng)

    @property
    def support(self) -> Support:
        """The reported items are supported."""
        own = self.k / (self.k + (self.d - self.k) * np.exp(-self.eps0))
        return Support(float(own), float((self.k - own) / (self.d - 1)))

    def draw_supports(
        self, counts: Integers, dummy_messages: int, repetitions: int, rng: np.random.Generator
    ) -> Integers:
        """Draw supports, passing through the items once; O(d k).

        Only how many items each user has still to choose is tracked.  Let the other items of a user's subset
        be chosen in the order of the items: with m candidates left, a user who still has a to choose takes
        the next one with probability a/m.  `ahead` counts the users whose held item is still to come, by
        whether it is in their subset and by a, `passed` the others by a.  The held items do not affect the
        choices before them, so the holders of the next item are a random sample of `ahead`.
        """
        k, d, n = self.k, self.d, int(counts.sum())
        left = np.arange(k + 1)
        ahead, passed = np.zeros((2, k + 1, repetitions), np.int64), np.zeros((k + 1, repetitions), np.int64)
        ahead[1, k - 1] = rng.binomial(n, self.support.own, size=repetitions)
        ahead[0, k] = n - ahead[1, k - 1]
        supports = np.empty((d, repetitions), np.int64)
        for item in range(d):
            holders = _without_replacement(ahead.reshape(-1, repetitions), int(counts[item]), rng).reshape(
                ahead.shape
            )
            ahead -= holders
            supports[item] = holders[1].sum(axis=0)
            for group, candidates in ((ahead, d - 1 - item), (passed, d - item)):
                chance = np.minimum(left / max(candidates, 1), 1.0)[:, None]
                taken = rng.binomial(group, chance)
                group -= taken
                group[..., :-1, :] += taken[..., 1:, :]
                supports[item] += taken.sum(axis=tuple(range(taken.ndim - 1)))
            passed += holders.sum(axis=0)
        return supports.T


def _without_replacement(pools, size, rng):
    """Draw ``size`` users without replacement from pools, shape (pools, repetitions), per repetition."""
    drawn, rest = np.empty_like(pools), pools.sum(axis=0)
    wanted = np.full(pools.shape[1], size)
    for number, pool in enumerate(pools):
        rest = rest - pool
        drawn[number] = rng.hypergeometric(pool, rest, wanted)
        wanted = wanted - drawn[number]
    return drawn


@dataclass(frozen=True, kw_only=True)
class pckv_grr(KeyValueSupports, Extremal):
    r"""Build PCKV-GRR: sample one of the user's s key-value pairs, round its value to ±1, randomise.

    .. math:: R_x(j, v) = e^{\varepsilon_0 [(j, v) \in x]} / (s e^{\varepsilon_0} + 2d - s)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of keys, at least 2.
    s : int
        Keys held by each user, 1 to d (every user holds exactly s: padding is the caller's).

    Notes
    -----
    ``sample`` maps (keys (n, s), values (n, s) in [-1, 1]) to rows (key, sign), shape (n, 2);
    ``estimate`` returns key frequencies (d,) and values summed over each key's holders, per user, (d,);
    their quotient estimates the key's mean.

    Wang 2024, Table 1 [33]: p = q = e^eps0, β = s(e^eps0 - 1)/(s e^eps0 + 2d - s), which is exact: two users
    may even hold the same keys with opposite signs.
    Sampling one of s pairs amplifies: randomized response over the 2d options gets odds s(e^eps0 - 1) + 1.

    Examples
    --------
    The more keys a user may hold, the more a report reveals.

    >>> from shufflelib import randomizers, shuffle
    >>> for s in (1, 5):
    ...     mechanism = randomizers.pckv_grr(eps0=1.0, d=100, s=s)
    ...     print(round(mechanism.beta, 5), round(shuffle(mechanism, n=10_000).epsilon(1e-6).upper, 5))
    0.00852 0.00494
    0.04119 0.01168
    """

    signs = -1, 1

    @property
    def beta(self) -> float:
        """Published β = s(e^eps0 - 1)/(s e^eps0 + 2d - s), exact."""
        return self.s * self.value_contrast

    @property
    def _held(self):
        """Probability of each pair held."""
        return 1.0 / (self.s + (2 * self.d - self.s) * np.exp(-self.eps0))

    def classes(self) -> tuple[NDArray[Any], Array]:
        """Return s pairs (key, sign) of each of x0, x1, x* and the other 2d - 3s pairs.

        Where these are too few, x0 and x1 hold the same keys with opposite signs, and x* has half the signs
        of either.
        """
        if 2 * self.d >= 3 * self.s:
            return np.eye(3, 4, dtype=bool), np.array([self.s] * 3 + [2 * self.d - 3 * self.s], float)
        hit = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 0]], dtype=bool)
        half, other = self.s // 2, self.s - self.s // 2
        return hit, np.array([half, other, half, other, 2 * (self.d - self.s)], float)

    def sample(self, x: Any, rng: np.random.Generator) -> NDArray[Any]:
        """Report rows (key, sign), shape (n, 2)."""
        keys, held = values.key_values(x, "x", self.d, self.s)
        n = len(keys)
        chosen = (np.arange(n), values.generator(rng).integers(self.s, size=n))
        truth = 2 * keys[chosen] + (rng.random(n) < (1.0 + held[chosen]) / 2.0)
        other = (truth + rng.integers(1, 2 * self.d, size=n)) % (2 * self.d)
        kept = self._held * (self.s - (self.s - 1) * np.exp(-self.eps0))
        pair = np.where(rng.random(n) < kept, truth, other)
        return np.column_stack([pair // 2, 2 * (pair % 2) - 1])

    @property
    def support(self) -> Support:
        """The reported key is supported."""
        noise = 2.0 * np.exp(-self.eps0) * self._held
        return Support(float(noise + self.value_contrast), float(noise))

    @property
    def value_contrast(self) -> float:
        """Probability that a held pair is reported, less that its opposite is."""
        return float(-np.expm1(-self.eps0) * self._held)

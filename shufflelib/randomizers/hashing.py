r"""Hashed reports: a random hash and a value, likelier if it is the hash of one of the user's items.

The report carries the hash's seed, so the output distribution averages over the hash: the events that x0, x1
and x* hit the reported place are independent, even when hashes of different items collide.  The hash is
treated as a random function; it is computed by splitmix64.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios
from shufflelib.randomizers import values
from shufflelib.randomizers.extremal import Extremal, patterns
from shufflelib.randomizers.frequency_oracle import DisjointSets, FrequencyOracle, Support

MAX_RANGE = 2**32  # hash values are 64 bits wide, so that the bias of a remainder stays below 2**-32
EXACT_SET = 20  # collision counts fall into (s + 1)**3 classes; larger sets are coarsened
BLOCK = 2**20  # hash values held in memory at once while reports are decoded


def _mix(bits):
    """Return splitmix64's finalizer of an array of 64-bit words."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def item_hash(seed, item):
    """Return 64 well mixed bits for each pair (seed, item); arrays broadcast."""
    step = np.asarray(item, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return _mix(_mix(np.asarray(seed, np.uint64)) + step)


class HashedSets(DisjointSets, Extremal):
    r"""A report (hash, place) that is e^eps0 times denser where one of the user's items falls.

    Measure densities in units of 1/Ω.  Each input's density at the reported place is e if one of its items
    hits the place and some a in [1, e] otherwise (a = 1 where none of its items collide).  Under the
    reference measure w = 1, a lower bound on the true blanket, the densities of disjoint sets are independent
    and each has mean Ω.  Where the distribution of a is not enumerated (`exact` is false), two replacements
    bracket the truth:

    - *privacy blanket*: split a to {1, e}, keeping its mean.  A mean-preserving split is larger in convex
      order, and the result is the product distribution in which each input hits with probability s·(chance of
      one item);
    - *attacks*: merge all places that are not hit.  This coarsening is a function of the report
      (post-processing).

    For s = 1 nothing collides, everything is exact, and the places hit by all d items have blanket e.
    Subclasses define ``chance``, with which a given item hits a given place.
    """

    _value_type: ClassVar[Any]
    chance: float  # that a given item hits the reported place

    @property
    def exact(self) -> bool:
        """Whether `class_masses` enumerates every density ratio."""
        return self.s == 1

    @property
    def report_type(self) -> np.dtype[np.void]:
        """Structured type of a report."""
        return np.dtype([("seed", np.uint64), ("value", self._value_type)])

    @property
    def beta(self) -> float:
        """Published β for one hash without overlap, above the true total variation."""
        return float(self._overlap_free * self.chance * -np.expm1(-self.eps0) / self._mean_weight)

    @property
    def _overlap_free(self):
        return self.s

    @property
    def _mean_weight(self):
        """Ω over the size of the range, in units in which a place that is hit has weight 1."""
        return self.s * self.chance + np.exp(-self.eps0) * (1.0 - self.s * self.chance)

    def _states(self):
        """Return (probability, weight) of what one input can be at a place; the first is: it hits."""
        hit = -np.expm1(self.s * np.log1p(-self.chance))
        overlaps = self.chance * -np.expm1(np.arange(self.s) * np.log1p(-self.chance)).sum()
        missed = overlaps + np.exp(-self.eps0) * (1.0 - self.s * self.chance)
        return np.array([hit, 1.0 - hit]), np.array([1.0, missed / (1.0 - hit)])

    def _weighted(self):
        """Return the states of x0, x1 (and x*), shape (inputs, classes), and each class's share of places."""
        probability, weight = self._states()
        inputs = 3 if self.d >= 3 * self.s else 2
        state = np.indices((probability.size,) * inputs).reshape(inputs, -1)
        share = probability[state].prod(axis=0)
        weights = weight[state]
        if self.s == 1:  # split the places hit by x0, x1, x*: does every item hit them?
            by_all = self.chance**self.d
            share = np.append(share, by_all)
            share[0] *= -np.expm1((self.d - inputs) * np.log(self.chance))
            weights = np.column_stack([weights, np.ones(inputs)])
        return weights, share

    @property
    def last_hit_by_all(self) -> bool:
        """Whether places that every item hits are told apart: for s = 1."""
        return self.s == 1

    def classes(self) -> tuple[NDArray[Any], Array]:
        """Return the hits of x0 and x1 after the split that makes them independent."""
        hit = patterns(2)
        return hit, np.where(hit, self.s * self.chance, 1.0 - self.s * self.chance).prod(axis=0)

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the pair of disjoint sets; blanket and attacks differ where `exact` is false."""
        pair = super().input_pairs()[0]
        if self.exact:
            return (pair,)
        weight, share = super()._weighted()
        report0, report1 = share * (weight / self._mean_weight)
        floor = share * (np.exp(-self.eps0) / self._mean_weight)
        reference = LikelihoodRatios.from_masses(report0, report1, floor, exchangeable=True)
        return (InputPair(reference, pair.attacks),)

    def estimate(self, reports: NDArray[np.void]) -> Array:
        """Return unbiased item frequencies, shape (d,)."""
        reports = values.hashed(reports, self.report_type)
        hits = np.empty(self.d)
        step = max(1, BLOCK // reports.size)
        for start in range(0, self.d, step):
            item = np.arange(start, min(start + step, self.d))
            hit = self._hits(item_hash(reports["seed"][:, None], item), reports["value"][:, None])
            hits[item] = hit.mean(axis=0)
        return self.unbiased(hits)

    @property
    def support(self) -> Support:
        """Items that hash to the reported place are supported, others than those held by chance."""
        shown = -np.expm1(-self.eps0) * (1.0 - self.s * self.chance) / self._mean_weight
        return Support(float(self.chance * (1.0 + shown)), self.chance)

    @abstractmethod
    def _hits(self, bits, value):
        """Return whether items with hash ``bits`` hit the reported places."""

    def _seeds(self, rng, n):
        return rng.integers(0, 2**64, size=n, dtype=np.uint64)

    def _reports(self, seed, value):
        reports = np.empty(seed.size, dtype=self.report_type)
        reports["seed"], reports["value"] = seed, value
        return reports


@dataclass(frozen=True, kw_only=True)
class collision(HashedSets):
    r"""Build the (d, s)-collision mechanism: hash the user's s items to 0, ..., l-1, report one value.

    .. math:: R_x(H, z) \propto e^{\varepsilon_0} \quad (z \in H(x)), \qquad
              \Omega = s e^{\varepsilon_0} + l - s,

    each z in H(x) having probability e^eps0/Ω, the rest being spread evenly outside H(x).

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2 and at least 2 s (so that x0 and x1 can be disjoint).
    s : int
        Items held by each user, at least 1.
    l : int, optional
        Number of hash values, s + 1 to 2^32; by default ⌊s e^eps0 + 2 s - 1⌋.

    Notes
    -----
    ``sample`` maps sets (n, s) to a structured array (seed, value), shape (n,); ``estimate`` returns
    frequencies (d,), which sum to about s, at a cost O(n d).

    Wang 2024, Table 5 [54]: p = q = e^eps0, β = min(s, l - s)(e^eps0 - 1)/(s e^eps0 + l - s).

    The printed β is loose, because images of disjoint sets meet and items of one set collide: at
    eps0 = log 3, s = 2, l = 9 the truth is 0.2378 and the table prints 0.3077.

    Exact for s <= 20, except that the blanket used is 1/Ω.  The true one is slightly larger, namely where
    every possible set hits.  For s > 20 see `HashedSets`.

    Examples
    --------
    The printed β, and the total variation.

    >>> from shufflelib import randomizers
    >>> mechanism = randomizers.collision(eps0=1.0, d=100, s=2, l=9)
    >>> rows = mechanism.class_masses()
    >>> round(mechanism.beta, 2), round(float(abs(rows[0] - rows[1]).sum()) / 2, 2)
    (0.28, 0.21)
    """

    l: int = None  # type: ignore[assignment]  # noqa: E741

    def __post_init__(self):
        super().__post_init__()
        size = self._best_range() if self.l is None else self.l
        remedy = "s + 1 to 2^32 hash values"
        self._set("l", validation.count(size, "l", at_least=self.s + 1, at_most=MAX_RANGE, remedy=remedy))

    def _best_range(self):
        return int(min(self.s * np.exp(min(self.eps0, 60.0)) + 2 * self.s - 1, MAX_RANGE))

    _value_type = np.int64

    @property
    def chance(self) -> float:
        """Chance 1/l that a given item hashes to a given value."""
        return 1.0 / self.l

    @property
    def exact(self) -> bool:
        """Whether `class_masses` enumerates every density ratio."""
        return self.s <= EXACT_SET

    @property
    def _overlap_free(self):
        return min(self.s, self.l - self.s)

    def _states(self):
        """Return hit, then: missed with m distinct hash values, m = 1, ..., s."""
        if not self.exact:
            return super()._states()
        s, l, odds = self.s, self.l, np.exp(-self.eps0)  # noqa: E741
        missed = np.zeros(s + 1)
        missed[0] = 1.0
        m = np.arange(s + 1)
        for _ in range(s):  # throw one more item: onto a value already taken, or onto a new one but z
            missed = missed * m / l + np.append(0.0, missed[:-1] * (l - m[1:]) / l)
        hit = -np.expm1(s * np.log1p(-1.0 / l))
        weight = ((s - m[1:]) + (l - s) * odds) / (l - m[1:])
        return np.append(hit, missed[1:]), np.append(1.0, weight)

    def _hits(self, bits, value):
        return (bits % np.uint64(self.l)).astype(np.int64) == value

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[np.void]:
        """Report (seed, value), a structured array of shape (n,)."""
        x, rng = values.item_sets(x, "x", self.d, self.s), values.generator(rng)
        n = len(x)
        seed = self._seeds(rng, n)
        image = np.sort((item_hash(seed[:, None], x) % np.uint64(self.l)).astype(np.int64), axis=1)
        new = np.column_stack([np.ones(n, dtype=bool), np.diff(image, axis=1) > 0])
        distinct = new.sum(axis=1)
        place = np.cumsum(new, axis=1) - 1
        chosen = np.argmax(place == rng.integers(0, distinct)[:, None], axis=1)
        outside = rng.integers(0, self.l - distinct)
        for j in range(self.s):  # ascending: renumbers 0, ..., l-m-1 as the values outside the image
            outside += new[:, j] & (outside >= image[:, j])
        inside = rng.random(n) < distinct * self.chance / self._mean_weight
        return self._reports(seed, np.where(inside, image[np.arange(n), chosen], outside))


@dataclass(frozen=True, kw_only=True)
class local_hash(FrequencyOracle, collision):
    r"""Build local hashing: randomized response on the hash value of the user's item in 0, ..., l-1.

    .. math:: R_x(H, z) \propto e^{\varepsilon_0 [H(x) = z]}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2.
    l : int, optional
        Number of hash values, 2 to 2^32; by default ⌊e^eps0⌋ + 1 or ⌈e^eps0⌉ + 1, the one with the smaller
        variance for an item that nobody holds.  No other l has a smaller one.

    Notes
    -----
    ``estimate`` costs O(n d).

    Wang 2024, Table 1 [59]: p = q = e^eps0, β = (e^eps0 - 1)/(e^eps0 + l - 1).

    The printed β is loose: it is the total variation given a hash that separates x0 from x1, and a
    random hash does so with probability 1 - 1/l.  At eps0 = log 3, l = 4: truth 0.25, printed 0.3333.

    Examples
    --------
    A million items are hashed to four values.

    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.local_hash(eps0=1.0, d=10**6)
    >>> mechanism.l, round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4)
    (4, 0.1011)
    """

    s: int = field(default=1, init=False, repr=False)

    def _best_range(self):
        odds = float(np.exp(min(self.eps0, 60.0)))
        less = int(
            min(odds, MAX_RANGE - 1)
        )  # with m = l - 1 the variance is proportional to odds²/m + m + 2·odds
        return min(less + 1 + (less * (less + 1) < odds**2), MAX_RANGE)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[np.void]:
        """Report (seed, value), a structured array of shape (n,)."""
        return super().sample(values.items(x, "x", self.d)[:, None], rng)

    @property
    def support(self) -> Support:
        """The items that hash to the reported value are supported, others than the one held by chance."""
        own = 1.0 / (1.0 + (self.l - 1) * np.exp(-self.eps0))
        return Support(float(own), 1.0 / self.l)

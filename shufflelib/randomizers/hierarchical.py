r"""Hierarchical randomized response: a random level of a hierarchy of intervals, and the user's node on it.

Any range of values is a union of few nodes (`hierarchy`), so that shares of ranges, and with them the
distribution function and its quantiles, have a variance that grows with log d only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.types import Array, Integers
from shufflelib.randomizers import values
from shufflelib.randomizers.hierarchy import canonical_decomposition, number_of_levels, sum_in_runs
from shufflelib.randomizers.local_randomizer import Budget, Options
from shufflelib.randomizers.mixture import Mixture
from shufflelib.randomizers.response import generalized_rr


@dataclass(frozen=True, kw_only=True)
class hierarchical(Mixture):
    r"""Build hierarchical randomized response: a level drawn of H, and the node on it with the full budget.

    .. math:: R_x = \bigoplus_{h=1}^{H} \tfrac1H \,\mathrm{RR}_{B^h}(\text{node of } x \text{ on level } h),
              \qquad d = B^H

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of values, a power of ``branching``, at most 2^20.
    branching : int, optional
        Children B >= 2 of a node; ``d`` for one level, the flat histogram.

    Notes
    -----
    ``sample`` maps values 0, ..., d-1, shape (n,), to the structured array of `mixture`; ``estimate`` returns
    the unbiased shares of all nodes but the root in one array, coarsest level first.

    The root is known: all users.  Levels 1, …, H have B, …, d nodes.  A node's estimate is the average over
    *all* users of

    .. math:: g = H\,\frac{[\text{report} = \text{node}] - \text{other}}{\text{own} - \text{other}}

    where the node's level was drawn, 0 elsewhere: unbiased for any data, with an exact variance.

    Its guarantee is that of the mixture.  Two users who hold the first and the last value differ on every
    level, and a third may hold a third node on every level that has one, so that the mixture's attacks are
    datasets of this mechanism.
    Source: Cormode, Kulkarni, Srivastava (PVLDB 2019); Wang (PVLDB 2024), Section 8.3, B = 2.

    Examples
    --------
    Ten levels, or one: the standard error of the share of users in [100, 899].

    >>> import numpy as np
    >>> from shufflelib import randomizers
    >>> for branching in (2, 1024):
    ...     mechanism = randomizers.hierarchical(eps0=1.0, d=1024, branching=branching)
    ...     evenly = np.concatenate([np.full(size, 1 / size) for size in mechanism.level_sizes])
    ...     print(round(float(mechanism.range_variance(evenly, 100, 899, n=10**6)[0] ** 0.5), 2))
    0.05
    0.25
    """

    eps0: Budget
    d: Options
    branching: Options = 2

    def __post_init__(self):
        super().__post_init__()
        number_of_levels(self.d, self.branching)

    @property
    def level_sizes(self) -> Integers:
        """Number of nodes of each level, coarsest first, without the root."""
        return self.branching ** np.arange(1, number_of_levels(self.d, self.branching) + 1)

    @cached_property
    def components(self) -> Sequence[generalized_rr]:
        """Randomized response on each level."""
        return tuple(generalized_rr(eps0=self.eps0, d=int(size)) for size in self.level_sizes)

    @cached_property
    def weights(self) -> Sequence[float]:
        """Probability of each level, the same for all."""
        return (1.0 / len(self.components),) * len(self.components)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Any:
        """Report rows (component, report0, report1, …), a structured array of shape (n,); cost O(n H)."""
        held = values.items(x, "x", self.d)
        return super().sample(tuple(held // (self.d // size) for size in self.level_sizes), rng)

    def estimate(self, reports: Any) -> Array:
        """Return unbiased shares of all nodes, coarsest level first."""
        return np.concatenate(super().estimate(reports))

    def by_level(self, nodes: ArrayLike, name: str = "nodes", **domain: Any) -> list[Array]:
        """Return the shares of all nodes as one array for each level."""
        ends = np.cumsum(self.level_sizes)
        checked = values.numbers(nodes, name, **domain)
        if checked.size != ends[-1]:
            raise ValueError(
                f"{name} must hold the {ends[-1]} numbers that this protocol returns, got {checked.size}"
            )
        return np.split(checked, ends[:-1])

    def draw_nodes(self, counts: Integers, rng: np.random.Generator) -> Array:
        """Draw the estimated shares of all nodes from how many users hold each value; cost O(d H)."""
        n, drawn = counts.sum(), rng.multinomial(counts, self.weights)  # (d, H)
        shares = []
        for level, (part, weight) in enumerate(zip(self.components, self.weights, strict=True)):
            there = drawn[:, level].reshape(part.d, -1).sum(axis=1)
            own, other, _ = part.support
            seen = part.draw_supports(there, 0, 1, rng)[0]
            shares.append((seen - there.sum() * other) / (n * weight * (own - other)))
        return np.concatenate(shares)

    def range_shares(self, nodes: ArrayLike, first: ArrayLike, last: ArrayLike) -> Array:
        """Return the share of users in each range, both ends included, from the shares of all nodes."""
        runs = canonical_decomposition(first, last, d=self.d, branching=self.branching)
        tree = [np.ones(1), *self.by_level(nodes)]  # the root is known
        shares: Any = sum(sum_in_runs(part, run) for part, run in zip(tree, runs, strict=True))
        return shares

    def range_variance(self, shares: ArrayLike, first: ArrayLike, last: ArrayLike, *, n: int) -> Array:
        r"""Return the exact variance of `range_shares` from `estimate`'s nodes, over the users' coins.

        .. math:: \frac1n \Bigl(\sum_h \frac{f_h\,\mathbb E[g_{1,h}^2] + (1-f_h)\,\mathbb E[g_{0,h}^2]}{w_h}
                  - \sum_h f_h\Bigr)

        with :math:`f_h` the share of users in the range's nodes on level h and g the sum of their
        contributions: users are independent, and each contributes on one level only.

        Parameters
        ----------
        shares : array_like, shape (nodes,)
            True shares of all nodes in [0, 1].
        first, last : int or array_like, shape (m,)
            Ends of the ranges, both included.
        n : int
            Number of users.

        Returns
        -------
        numpy.ndarray, shape (m,)
            Exact; 0 for the whole domain.
        """
        parts = self.by_level(shares, "frequencies", at_least=0.0, at_most=1.0)
        runs = canonical_decomposition(first, last, d=self.d, branching=self.branching)[1:]
        variances: Any = sum(
            self.scaled_variance(level, (run[:, 1] - run[:, 0]).sum(axis=0), sum_in_runs(part, run))
            for level, (part, run) in enumerate(zip(parts, runs, strict=True))
        )
        return variances / n

    def worst_range_variance(self, first: ArrayLike, last: ArrayLike, *, n: int) -> Array:
        """Return an upper bound on `range_variance` for any data: on each level nobody or everybody."""
        runs = canonical_decomposition(first, last, d=self.d, branching=self.branching)[1:]
        variances: Any = 0.0
        for level, run in enumerate(runs):
            nodes = (run[:, 1] - run[:, 0]).sum(axis=0)
            none, everyone = (self.scaled_variance(level, nodes, share) for share in (0.0, 1.0))
            variances = variances + np.where(nodes > 0, np.maximum(none, everyone), 0.0)
        return variances / n

    def scaled_variance(self, level: int, nodes: Any, share: Any) -> Any:
        """Return n times what ``nodes`` nodes of a level, holding a share of the users, add to a variance."""
        own, other, _ = self.components[level].support
        miss = nodes * other  # probability that a report falls into the nodes if its user is in none of them
        hit = miss + (own - other)
        squared = share * (hit * (1.0 - miss) ** 2 + (1.0 - hit) * miss**2)
        squared = squared + (1.0 - share) * miss * (1.0 - miss)
        return squared / (self.weights[level] * (own - other) ** 2) - share


def padded_size(d: int, branching: int) -> int:
    """Return the least power of ``branching`` that is at least d, at least one level."""
    size = branching
    while size < d:
        size *= branching
    return size

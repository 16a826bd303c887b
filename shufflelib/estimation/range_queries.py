r"""Range queries: how many users hold a value in [a, b], from noisy counts on a hierarchy of intervals.

Summing single values adds their noise up over b - a + 1 of them; on a `hierarchy` at most
:math:`2(B-1)H` counts are summed, so the noise grows with :math:`\log d` only.
In return, each user reports on one level, drawn at random, with the full budget.

Each user's report is a mixture of randomizers, and the mixture's certificate is the protocol's.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.estimation.holders import one_item_each
from shufflelib.estimation.protocol import Protocol
from shufflelib.estimation.shuffler import in_random_order
from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.numerics.types import Array
from shufflelib.randomizers import hierarchical, values
from shufflelib.shuffling.shuffled import shuffle


class RangeQueryProtocol(Protocol):
    r"""Node frequencies of a hierarchy, from which every range is answered.

    Each user draws one of H levels uniformly and reports their node on it by randomized response with the
    full budget; reports are shuffled.  With ``branching`` equal to ``d`` there is one level: the flat
    histogram.

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of values, a power of ``branching``, at most 2^20.
    n : int
        Number of users.
    branching : int, optional
        Children B >= 2 of a node.
    delta : float, optional
        Central δ of the certificate.

    Notes
    -----
    The mechanism is `shufflelib.randomizers.hierarchical`; node estimates are one array, coarsest level
    first.
    Cost of ``run`` O(n H), of ``repeat`` O(d H) for each repetition, whatever n.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation
    >>> errors = []
    >>> for branching in (2, 1024):  # ten levels, or one: the flat histogram
    ...     protocol = estimation.RangeQueryProtocol(eps0=1.0, d=1024, n=10**6, branching=branching)
    ...     evenly = np.concatenate([np.full(size, 1 / size) for size in protocol.sizes])
    ...     errors.append(round(protocol.answer_variance(evenly, 100, 899) ** 0.5, 2))
    >>> errors  # of the share of users in [100, 899]
    [0.05, 0.25]
    """

    def __init__(self, *, eps0: float, d: int, n: int, branching: int = 2, delta: float = 1e-6) -> None:
        super().__init__(n, delta)
        self.randomizer = hierarchical(eps0=eps0, d=d, branching=branching)
        self.d, self.branching = self.randomizer.d, self.randomizer.branching
        self.sizes = self.randomizer.level_sizes

    def _held(self, data):
        return one_item_each(data, n=self.n, d=self.d)

    def reports(self, data: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a level, randomise the node on it, then shuffle."""
        return in_random_order(self.randomizer.sample(self._held(data), rng), rng)

    def estimate(self, reports: ArrayLike) -> Array:
        """Return unbiased frequencies of all nodes, coarsest level first."""
        return self.randomizer.estimate(self._all(reports))

    def repeat(self, data: ArrayLike, repetitions: int, rng: np.random.Generator) -> Array:
        """Return the node frequencies of independent runs, shape (repetitions, nodes); O(d H) each."""
        counts, rng = np.bincount(self._held(data), minlength=self.d), values.generator(rng)
        repetitions = validation.count(repetitions, "repetitions")
        return np.stack([self.randomizer.draw_nodes(counts, rng) for _ in range(repetitions)])

    def node_variance(self, frequencies: ArrayLike) -> Array:
        r"""Return the exact variance of each node's estimate.

        .. math:: \frac1n\Bigl(\frac{f\,\mathbb E[g_1^2] + (1-f)\,\mathbb E[g_0^2]}{w} - f\Bigr),

        with :math:`g_1, g_0` the contributions above, without H, of a user in the node and of another one.

        Parameters
        ----------
        frequencies : array_like, shape (nodes,)
            True shares of the nodes in [0, 1].

        Returns
        -------
        numpy.ndarray, shape (nodes,)
            Over the users' coins, for these data.
        """
        parts = self.randomizer.by_level(frequencies, "frequencies", at_least=0.0, at_most=1.0)
        variances = [self.randomizer.scaled_variance(level, 1.0, part) for level, part in enumerate(parts)]
        return np.concatenate(variances) / self.n

    def standard_error(self, estimate: ArrayLike) -> Array:
        """Return the standard error of each node, with the estimate, cut to [0, 1], for the truth."""
        return np.sqrt(self.node_variance(np.clip(estimate, 0.0, 1.0)))

    def certificate(self) -> Certified[float]:
        """Return ε of the shuffled mixture, with proved lower and upper bounds."""
        return shuffle(self.randomizer, n=self.n).epsilon(self.delta)

    def answer(self, nodes: ArrayLike, first: ArrayLike, last: ArrayLike) -> float | Array:
        """Return the estimated share of users in each range.

        Parameters
        ----------
        nodes : array_like, shape (nodes,)
            Node frequencies, from `estimate`.
        first, last : int or array_like, shape (m,)
            Ends of the ranges, both included.

        Returns
        -------
        float or numpy.ndarray, shape (m,)
            Sums over the canonical decomposition; the whole domain is 1 exactly.

        Notes
        -----
        Cost O(nodes + m H).
        """
        shares = self.randomizer.range_shares(nodes, first, last)
        return float(shares[0]) if np.ndim(first) == np.ndim(last) == 0 else shares

    def answer_variance(self, frequencies: ArrayLike, first: ArrayLike, last: ArrayLike) -> float | Array:
        """Return the exact variance of `answer` over the users' coins, from `estimate`'s nodes.

        Parameters
        ----------
        frequencies : array_like, shape (nodes,)
            True shares of all nodes in [0, 1].
        first, last : int or array_like, shape (m,)
            Ends of the ranges, both included.

        Returns
        -------
        float or numpy.ndarray, shape (m,)
            Exact; 0 for the whole domain.
        """
        variance = self.randomizer.range_variance(frequencies, first, last, n=self.n)
        return float(variance[0]) if np.ndim(first) == np.ndim(last) == 0 else variance

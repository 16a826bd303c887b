r"""Range queries: how many users hold a value in [a, b], from noisy counts on a hierarchy of intervals.

Summing single values adds their noise up over b - a + 1 of them; on a `hierarchy` at most
:math:`2(B-1)H` counts are summed, so the noise grows with :math:`\log d` only.
In return, each user reports on one level, drawn at random, with the full budget.

Each user's report is a mixture of randomizers, and the mixture's certificate is the protocol's.
"""

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.estimation.histogram import ItemProtocol
from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.randomizers import hierarchical, values


class RangeQueryProtocol(ItemProtocol):
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
        mechanism = hierarchical(eps0=eps0, d=d, branching=branching)
        super().__init__(mechanism, mechanism.d, n, delta)
        self.d, self.branching, self.sizes = mechanism.d, mechanism.branching, mechanism.level_sizes

    def repeat(self, data: ArrayLike, repetitions: int, rng: np.random.Generator) -> Array:
        """Return the node frequencies of independent runs, shape (repetitions, nodes); O(d H) each."""
        counts, rng = self._counts(data), values.generator(rng)
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

    _variance = node_variance

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

r"""The wheel mechanism: sets hashed to arcs of a circle."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.randomizers import values
from shufflelib.randomizers.hashing import HashedSets, item_hash

SHORTEST_ARC = 2.0**-32  # points are doubles: an arc's ends are rounded by less than 2**-20 of its length


@dataclass(frozen=True, kw_only=True)
class wheel(HashedSets):
    r"""Build the wheel mechanism: hash the user's s items to arcs of a circle and report a point of it.

    .. math:: R_x(H, z) \propto e^{\varepsilon_0} \quad (z \in H(x)), \qquad
              \Omega = s p e^{\varepsilon_0} + 1 - s p,

    with density e^eps0/Ω on the union H(x) of s arcs of length p, the rest being spread evenly outside.

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2 and at least 2 s (so that x0 and x1 can be disjoint).
    s : int
        Items held by each user, at least 1.
    arc : float, optional
        Arc length p as a fraction of the circle, 2^-32 <= arc < 1/s; by default 1/(s e^eps0 + 2 s - 1).

    Notes
    -----
    ``sample`` maps sets (n, s) to a structured array (seed, value), shape (n,); ``estimate`` returns
    frequencies (d,), which sum to about s, at a cost O(n d).

    Wang 2024, Table 1 [57]: p = q = e^eps0, β = s p(e^eps0 - 1)/(s p e^eps0 + 1 - s p) with p the arc length.

    The printed β is loose, because arcs overlap.  For s = 1 the truth is 1 - p of it: at eps0 = log 3,
    p = 1/4 truth 0.25, printed 0.3333.  For s > 1 it is at most 1 - s p of it: at eps0 = log 3, s = 2,
    p = 1/9 truth between 0.2260 and 0.2393, printed 0.3077; see `HashedSets` for the two bounds.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.wheel(eps0=1.0, d=100, s=5)
    >>> bracket = shuffle(mechanism, n=100_000).epsilon(1e-6)
    >>> round(mechanism.arc, 4), round(bracket.lower, 5), round(bracket.upper, 5)
    (0.0443, 0.00699, 0.00818)
    """

    arc: float = None  # type: ignore[assignment]  # never None once made

    def __post_init__(self):
        super().__post_init__()
        odds = np.exp(-self.eps0)
        best = max(float(odds / (self.s + (2 * self.s - 1) * odds)), SHORTEST_ARC)
        arc = best if self.arc is None else self.arc
        remedy = "s arcs must leave room on the circle"
        longest = 1.0 / self.s
        arc = validation.real(arc, "arc", at_least=SHORTEST_ARC, below=longest, remedy=remedy)
        self._set("arc", arc)

    _value_type = np.float64

    @property
    def chance(self) -> float:
        """Probability that a given arc contains a given point: its length."""
        return self.arc

    def _hits(self, bits, value):
        return (value - bits * 2.0**-64) % 1.0 < self.arc

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[np.void]:
        """Report (seed, value), a structured array of shape (n,), values in [0, 1)."""
        x, rng = values.item_sets(x, "x", self.d, self.s), values.generator(rng)
        n = len(x)
        seed = self._seeds(rng, n)
        start = np.sort(item_hash(seed[:, None], x) * 2.0**-64, axis=1)
        gap = np.diff(start, axis=1, append=start[:, :1] + 1.0)
        union = np.minimum(gap, self.arc)
        total = union.sum(axis=1)
        inside = rng.random(n) < total / self._mean_weight
        length = np.where(inside[:, None], union, gap - union)
        left = np.cumsum(length, axis=1) - length
        at = rng.random(n) * length.sum(axis=1)
        piece = (left <= at[:, None]).sum(axis=1) - 1
        row = np.arange(n)
        value = start[row, piece] + np.where(inside, 0.0, union[row, piece]) + (at - left[row, piece])
        return self._reports(seed, value % 1.0)

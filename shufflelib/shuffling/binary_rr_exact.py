r"""The exact privacy of shuffled binary randomized response: the worst of all datasets, for both bounds.

Of the other users' values only the number s of ones matters, and every s is searched.  See
`binary_rr_all_datasets` for the values and for the bound on whole ranges of s at once.
"""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.binary_rr_all_datasets import LARGEST_TILT, BinaryPopulations, gain_and_tilt
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.adjacency import SHUFFLED, ReplaceOne
from shufflelib.profiles.hockey_stick import SymmetricPair, pointwise
from shufflelib.profiles.privacy_profile import PairProfile

FEW = 1500  # populations up to which all are evaluated one by one
NEAR = 48  # populations tried at either end, and around the best piece
LISTED = 4_000_000  # terms of populations evaluated one by one where the bound on pieces is too coarse
CELLS = 16  # pieces of one length to begin with
PARTS = 4  # into which a piece is cut; near the ends each is that many times longer than the one before
SHORT = 16  # populations in a piece that is not cut any more
MOST = 200_000  # terms of pieces held at once


class WorstPopulation(SymmetricPair, PairProfile):
    r"""The pair of the worst dataset of binary randomized response, for each ε separately.

    .. math:: h(\varepsilon) = \max_{0 \le s \le n-1} H_\varepsilon(P_s \| Q_s)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 ≤ 700.
    n : int
        Number of users.

    Notes
    -----
    δ and ε of this curve are those of the mechanism: for every ε some dataset attains it.  As the maximum of
    convex curves it is the curve of a dominating pair; no single dataset need have it.  Both directions are
    included, because s and n − 1 − s are each other's reverse, so the curve is symmetric.

    The upper bound is a proof by exhaustion.  The range of s is cut into pieces; one whose bound for real s
    is not above the best dataset found is discarded.  The others are cut again, and listed one by one once
    few are left.  As the bound decreases away from the worst end like :math:`s/n^{3/2}`, pieces far from it
    may be long, and the number of pieces grows only with the logarithm of n.  The precision is limited by the
    lattice: the count is a whole number, and its distance from the best threshold varies with s.  The bound
    treats counts as real numbers and misses this effect.  Relative to ε it is :math:`1/(8 n a b)`, and less
    because among many s some come close to the threshold.

    For budgets up to 8, n up to 10¹² and δ from 1e-12 to δ(0)/2 the bracket of ε is at most 1e-6 of ε wide;
    ``tests/test_promised_precision.py`` checks a grid.  It is wider as δ approaches δ(0), where a small
    change of δ is a large one of ε; for example for eps0 = 8 and n = 10⁶ it is 0.5 % wide at 0.9 δ(0) and 6 %
    at 0.99 δ(0).  At n = 10¹⁵ it is up to 6e-6 wide at δ(0)/2.  It is also wider for larger budgets, where
    few of the others report what they do not hold: for example, it is 4 % wide for eps0 = 12, n = 10⁵ at
    δ(0)/2, and for eps0 = 16, n = 10⁶ at 0.9 δ(0) the lower bound is 0.
    Cost O(1) in n beyond a few thousand: for each ε sums of a few dozen terms for some hundred populations.
    ε takes about 0.01 s for budgets up to 8, up to some seconds for larger ones.

    Examples
    --------
    >>> from shufflelib.shuffling import WorstPopulation
    >>> delta = WorstPopulation(eps0=1.0, n=1000).delta(eps=0.1)
    >>> delta.upper < 1.000001 * delta.lower
    True
    """

    statement = "the worst population before binary randomized response"
    source = "exhaustive search over the other users' values"
    search_width = 2e-8
    adjacency = ReplaceOne()
    hypotheses = SHUFFLED

    def __init__(self, eps0: float, n: int) -> None:
        self.eps0, self.n = validation.local_budget(eps0), validation.users(n)

    @property
    def max_privacy_loss(self):
        """The local budget, attained by a count of zero ones."""
        return self.eps0

    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose the log of the largest hockey-stick divergence over all populations."""
        if eps >= self.eps0:
            return Interval(-math.inf, -math.inf)
        others = self.n - 1
        log_gain, tilt = gain_and_tilt(self.eps0, eps)
        gain = Interval.of(log_gain, 8.0).widened(absolute=8 * UNIT * (8.0 + self.eps0))
        # no report is one: c₀ bⁿ⁻¹ is a value of s = 0; no value is above c₀
        no_ones = gain - others * Interval.of(float(np.logaddexp(0.0, -self.eps0)), 8.0)
        if others == 0 or tilt > LARGEST_TILT:
            return Interval(no_ones.lower, gain.upper)
        values = BinaryPopulations(self.eps0, eps, others)
        log_upper = min(gain.upper, values.log_chernoff)
        if not values.summable:
            return Interval(min(no_ones.lower, log_upper), log_upper)
        unit = Interval.of(values.log_unit, 8.0).widened(absolute=gain.upper - log_gain)
        found = unit + Interval(*_search(values, others, max(tolerance, 1e-9))).log()
        log_upper = min(log_upper, found.upper)
        if found.lower > log_upper:  # inconsistent ends: fall back to the trivial bound
            return Interval(-math.inf, gain.upper)
        return Interval(found.lower, log_upper)


def _search(values, others, tolerance):
    """Return a lower and an upper bound on the largest value over all populations."""
    if others < FEW:
        return _listed(values, [0], [others])[:2]
    ceiling = math.exp(min(-values.top, 700.0))  # c₀, a bound without any search
    nodes = values.log_z.size
    best, _, place = _listed(values, [0, others - NEAR], [NEAR, others])
    best = max(best, 0.0)
    first, last = _pieces(others)
    proved, left = -math.inf, []  # pieces that more cutting does not settle
    while first.size:
        bound, middle = values.in_cells(first.astype(float), last.astype(float))
        top = int(np.argmax(middle))
        near = min(max((first[top] + last[top] - NEAR) // 2, 0), others - NEAR)
        if abs(near + NEAR // 2 - place) > NEAR:
            found, _, there = _listed(values, [near], [near + NEAR])
            best, place = max((best, place), (found, there))
        above = ~(bound <= best * (1.0 + 0.5 * tolerance))
        proved = max(proved, float(bound[~above].max(initial=-math.inf)))
        # the gap is due to the lattice, or the bound is trivial, or the piece is short
        final = (bound <= middle + 0.25 * tolerance * best) | (middle >= ceiling) | (last - first < SHORT)
        final |= first.size * PARTS * nodes > MOST
        left.append(np.stack([first, last, bound])[:, above & final])
        first, last = _cut(first[above & ~final], last[above & ~final])
    first, last, bound = np.concatenate(left, axis=1)
    met = bool(np.all(bound <= best * (1.0 + tolerance)))
    if not met and (last - first + 1.0).sum() * nodes <= LISTED:
        lower, upper, _ = _listed(values, first, last)
        if upper < math.inf:
            return max(best, lower), max(proved, upper)
    return best, float(np.max(np.append(bound, proved)))  # NaN stays NaN


def _listed(values, first, last):
    """Return both bounds of the largest value over ranges of s, taken one by one, and where it is."""
    s = np.concatenate([np.arange(i, j + 1.0) for i, j in zip(first, last, strict=True)])
    lower, upper = values.one_by_one(s)
    best = int(np.argmax(lower))
    return float(lower[best]), float(upper.max()), int(s[best])


def _pieces(others):
    """Cut the range of s into pieces, shorter ones near its ends, where the best population usually is."""
    near = np.cumsum(SHORT * PARTS ** np.arange(math.log(others / (4.0 * SHORT), PARTS)))
    inner = np.concatenate([near, others + 1 - near, np.linspace(0, others + 1, CELLS + 1)[1:-1]])
    edges = np.unique(np.append(inner, [0, others + 1]).astype(np.int64))
    return edges[:-1], edges[1:] - 1


def _cut(first, last):
    """Cut ranges of whole numbers into parts."""
    length = last - first + 1
    starts = [first + length * part // PARTS for part in range(PARTS + 1)]
    low, high = np.concatenate(starts[:-1]), np.concatenate(starts[1:]) - 1
    kept = low <= high
    return low[kept], high[kept]

r"""The exact privacy of shuffled reports of two kinds: the worst of all datasets, for both bounds.

Of the other users' values only the number s of ones matters, and every s is searched.  See
`binary_rr_all_datasets` for the values and for the bound on whole ranges of s at once.
"""

import functools
import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.binary_rr_all_datasets import LARGEST_TILT, BinaryPopulations, Rows, gain_and_tilt
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.adjacency import REPLACE_ONE, SHUFFLED
from shufflelib.profiles.hockey_stick import Pair

FEW = 1500  # populations up to which all are evaluated one by one
NEAR = 48  # populations tried at either end, and around the best piece
LISTED = 4_000_000  # terms of populations evaluated one by one where the bound on pieces is too coarse
CELLS = 16  # pieces of one length to begin with
PARTS = 4  # into which a piece is cut; near the ends each is that many times longer than the one before
UNLIKE = 50.0  # variances of the two reports, one over the other, up to which all populations are told apart
RARE = 3e-4  # variance of a report from which on they are; 3.4e-4 is that of a budget of 8
SHORT = 16  # populations in a piece that is not cut any more
MOST = 200_000  # terms of pieces of one ε
TOGETHER = 16  # ε whose populations are searched at once


class WorstPopulation(Pair):
    r"""The pair of the worst dataset of a randomizer with two outputs, for each ε separately.

    .. math:: h(\varepsilon) = \max_{0 \le s \le n-1} H_\varepsilon(P_s \| Q_s)

    The user holds a zero under P_s and a one under Q_s.

    Parameters
    ----------
    eps0 : float
        Largest loss of the report zero in nats, 0 < eps0 ≤ 700, which is the local budget of binary
        randomized response.
    n : int
        Number of users.
    eps1 : float, optional
        Largest loss of the report one; by default ``eps0``, which is binary randomized response.

    Notes
    -----
    δ and ε of this curve are those of the mechanism: for every ε some dataset attains it.  As the maximum of
    convex curves it is the curve of a dominating pair; no single dataset need have it.  With eps1 = eps0 both
    directions are included, because s and n − 1 − s are each other's reverse, so the curve is symmetric.

    *Any two outputs.*  Let every input report one with a probability in [a, b], so that its row is a mixture
    of two extreme rows, whose largest losses are :math:`\varepsilon_0` and :math:`\varepsilon_1`.  The
    distribution of the shuffled reports is linear in each user's row, and the hockey-stick divergence is
    jointly convex.  So it is largest where all users hold extreme inputs, which are these populations.  Of
    two channels the one with both losses larger has the other's reports as a post-processing, as any two
    distributions with losses in :math:`[-\varepsilon_1, \varepsilon_0]` are one of two points with those
    losses (Kairouz, Oh, Viswanath, ICML 2015, for equal losses).

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
    So it is where the two rows are unlike, one variance b(1 − b) more than 50 times the other, and with it
    the probability of a one; the privacy blanket is then within 0.3 % of the truth for thousands of users.

    Cost O(1) in n beyond a few thousand: for each ε sums of a few dozen terms for some hundred populations.
    ε takes about 0.01 s for budgets up to 8, up to some seconds for larger ones.

    Examples
    --------
    >>> from shufflelib.shuffling import WorstPopulation
    >>> delta = WorstPopulation(eps0=1.0, n=1000).delta(eps=0.1)
    >>> delta.upper < 1.000001 * delta.lower
    True
    """

    statement = "the worst population before a randomizer with two outputs"
    source = "exhaustive search over the other users' values"
    search_width, renyi_width = 2e-8, 3.0
    adjacency = REPLACE_ONE
    assumptions = SHUFFLED

    def __init__(self, eps0: float, n: int, eps1: float | None = None) -> None:
        self.eps0, self.n = validation.local_budget(eps0), validation.users(n)
        self.eps1 = self.eps0 if eps1 is None else validation.local_budget(eps1, "eps1")
        self.symmetric = self.eps1 == self.eps0

    @cached_property
    def reversed(self):
        """The pair with the two reports exchanged."""
        return self if self.symmetric else WorstPopulation(self.eps1, self.n, self.eps0)

    @property
    def resolved(self) -> bool:
        """Whether the bracket is narrow: few users, or two rows that are not too unlike."""
        if self.symmetric or self.n <= FEW:
            return True
        rows = Rows.of(self.eps0, self.eps1)
        variances = [math.exp(-math.log1p(math.exp(-abs(x))) * 2 - abs(x)) for x in (rows.zero, rows.one)]
        return min(variances) >= RARE and max(variances) <= UNLIKE * min(variances)

    @property
    def max_privacy_loss(self):
        """The largest loss of the report zero, attained by a count of zero ones."""
        return self.eps0

    def _log_curve(self, eps, tolerance):
        """Enclose the log of the largest hockey-stick divergence over all populations."""
        lower, upper = np.full((2, eps.size), -math.inf)
        below = np.flatnonzero(eps < self.eps0)
        for part in np.array_split(below, -(-below.size // TOGETHER) or 1):
            lower[part], upper[part] = self._below_budget(eps[part], tolerance)
        return Interval(lower, upper)

    def _below_budget(self, eps, tolerance):
        """Enclose the curve at some ε below the budget."""
        others = self.n - 1
        rows = Rows.of(self.eps0, self.eps1)
        log_gain, tilt = gain_and_tilt(rows, eps)
        rounding = 8 * UNIT * (8.0 + self.eps0 + rows.rounding)
        gain = Interval.of(log_gain, 8.0).widened(absolute=rounding)
        # no report is one: c₀ (1 − a)ⁿ⁻¹ is a value of s = 0; no value is above c₀
        no_ones = gain - others * Interval.of(float(np.logaddexp(0.0, -rows.zero)), 8.0 + rows.rounding)
        lower, upper = no_ones.lower, gain.upper.copy()
        some = np.flatnonzero(tilt <= LARGEST_TILT)
        if others == 0 or some.size == 0:
            return lower, upper
        values = BinaryPopulations(self.eps0, eps[some], others, self.eps1)
        upper[some] = np.minimum(upper[some], values.log_chernoff)
        lower = np.minimum(lower, upper)
        summed = np.flatnonzero(values.summable)
        if summed.size:
            at = some[summed]
            unit = Interval.of(values.log_unit[summed], 8.0).widened(absolute=(gain.upper - log_gain)[at])
            found = unit + Interval(*_search(values, summed, others, max(tolerance, 1e-9))).log()
            upper[at] = np.fmin(upper[at], found.upper)
            broken = found.lower > upper[at]  # inconsistent ends: fall back to the trivial bound
            lower[at], upper[at] = np.where(
                broken, (-math.inf * np.ones(at.size), gain.upper[at]), (found.lower, upper[at])
            )
        return lower, upper


def _search(values, which, others, tolerance):
    """Return lower and upper bounds on the largest value over all populations, at some of the ε."""
    if others < FEW:
        return _listed(values, which, np.zeros(which.size), np.full(which.size, others))[:2]
    ceiling = np.exp(np.minimum(-values.top, 700.0))  # c₀, a bound without any search
    best, place = np.zeros((2, values.top.size))
    ends = np.tile([0, others - NEAR], which.size)
    best[which], _, place[which] = _listed(values, np.repeat(which, 2), ends, ends + NEAR)
    best = np.maximum(best, 0.0)
    proved, left = np.full(best.size, -math.inf), []  # pieces that more cutting does not settle
    pieces = _pieces(others)
    asked, (first, last) = np.repeat(which, pieces[0].size), (np.tile(part, which.size) for part in pieces)
    while asked.size:
        bound, middle = values.in_cells(asked, first, last)
        top = _largest(asked, middle)
        at, near = asked[top], np.clip((first[top] + last[top] - NEAR) // 2, 0, others - NEAR)
        away = np.abs(near + NEAR // 2 - place[at]) > NEAR
        if away.any():
            at, near = at[away], near[away]
            found, _, there = _listed(values, at, near, near + NEAR)
            better = (found > best[at]) | ((found == best[at]) & (there > place[at]))
            best[at[better]], place[at[better]] = found[better], there[better]
        above = ~(bound <= best[asked] * (1.0 + 0.5 * tolerance))
        np.maximum.at(proved, asked[~above], bound[~above])
        # the gap is due to the lattice, or the bound is trivial, or the piece is short
        final = (bound <= middle + 0.25 * tolerance * best[asked]) | (middle >= ceiling[asked])
        final |= (last - first < SHORT) | ((np.bincount(asked) * PARTS)[asked] * values.nodes[asked] > MOST)
        left.append([part[above & final] for part in (asked, first, last, bound)])
        asked, first, last = _cut(*(part[above & ~final] for part in (asked, first, last)))
    asked, first, last, bound = (np.concatenate(parts) for parts in zip(*left, strict=True))
    upper = proved.copy()
    np.maximum.at(upper, asked, bound)  # NaN stays NaN
    unmet = np.zeros(best.size, bool)
    unmet[asked[~(bound <= best[asked] * (1.0 + tolerance))]] = True
    terms = np.bincount(asked, last - first + 1.0, best.size) * values.nodes
    listed = np.flatnonzero((unmet & (terms <= LISTED))[asked])
    if listed.size:
        listed = listed[np.argsort(asked[listed], kind="stable")]
        low, high, _ = _listed(values, asked[listed], first[listed], last[listed])
        at = np.unique(asked[listed])
        known = at[high < math.inf]
        best[known] = np.maximum(best[known], low[high < math.inf])
        upper[known] = np.maximum(proved[known], high[high < math.inf])
    return best[which], upper[which]


def _listed(values, which, first, last):
    """Return, for each ε, both bounds of the largest value over its ranges of s, and where it is."""
    which, s, ends = values.one_by_one(which, first, last)
    best = _largest(which, ends.lower)
    return ends.lower[best], np.maximum.reduceat(ends.upper, _starts(which)), s[best].astype(int)


def _starts(which):
    """Return where in a sorted array another number begins."""
    return np.append(0, np.flatnonzero(which[1:] != which[:-1]) + 1)


def _largest(which, value):
    """Return the place of the first largest value for each ε, NaN being larger than all."""
    starts = _starts(which)
    largest = np.maximum.reduceat(value, starts)
    largest = np.repeat(largest, np.diff(np.append(starts, which.size)))
    found = np.flatnonzero((value == largest) | np.isnan(value))
    return found[_starts(which[found])]


@functools.lru_cache(maxsize=32)
def _pieces(others):
    """Cut the range of s into pieces, shorter ones near its ends, where the best population usually is."""
    near = np.cumsum(SHORT * PARTS ** np.arange(math.log(others / (4.0 * SHORT), PARTS)))
    inner = np.concatenate([near, others + 1 - near, np.linspace(0, others + 1, CELLS + 1)[1:-1]])
    edges = np.unique(np.append(inner, [0, others + 1]).astype(np.int64))
    edges.flags.writeable = False
    return edges[:-1], edges[1:] - 1


def _cut(which, first, last):
    """Cut ranges of whole numbers into parts."""
    length = last - first + 1
    starts = np.stack([first + length * part // PARTS for part in range(PARTS + 1)], axis=1)
    low, high = starts[:, :-1].ravel(), starts[:, 1:].ravel() - 1
    kept = low <= high
    return np.repeat(which, PARTS)[kept], low[kept], high[kept]

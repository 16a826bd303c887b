r"""The pair of random allocation: one of m Gaussian reports is shifted, and nobody knows which.

.. math:: P = \frac1m \sum_{i \le m} \mathcal N(a e_i, I_m), \qquad
          Q = \frac1m \sum_{i \le m} \mathcal N(-a e_i, I_m), \qquad a = \frac1\sigma
"""

import functools
import math

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.positive_part_iid import LossDistributions, expected_positive_part
from shufflelib.profiles.discretised_loss import connected, distributions
from shufflelib.profiles.hockey_stick import SymmetricPair, pointwise
from shufflelib.profiles.pairs import DiscretePair, Gaussian
from shufflelib.randomizers import cells

SMALLEST_NOISE, LARGEST_NOISE = 0.2, 1e6
MOST_BLOCKS = 10**6
CELL, FEWEST_CELLS, MOST_CELLS = 0.3, 70, 300  # width of a cell in log l
# tried in this order until both bounds are close: the threshold, in units of m e^ε, above which l is counted
# in full, like a report that identifies its block; and the relative width of δ requested of the quadrature
TRIALS = ((5.0, 3e-4), (2.0, 5e-5), (0.7, 5e-5))
CLOSE = 0.08  # width of log δ
REACH = 9.5  # standard deviations, beyond which lies a mass of 1e-21
PRECISION = 1e-12  # of masses and ratios
NOTHING_LEFT = -36.0  # log δ below which bounds without quadrature suffice
STEEPEST = 0.4  # fall of log δ from one knot to the next
DEEPEST = -25.0  # log δ down to which the knots are that close


class RandomAllocation(SymmetricPair):
    r"""The dominating pair of one epoch of `AllocatedBlocks` when one example is replaced.

    .. math:: H_\varepsilon = \frac1m\, \mathbb E\Bigl(\sum_{i \le m} G_i\Bigr)_+, \qquad
              G_i = e^{a z_i - a^2/2} - e^{\varepsilon} e^{-a z_i - a^2/2}, \qquad z_i \sim \mathcal N(0, 1)

    Parameters
    ----------
    noise_multiplier : float
        σ, 0.2 <= σ <= 1e6.
    blocks : int
        m, from 1 to 10⁶.

    Notes
    -----
    *It dominates.*  Fix the blocks of all other examples, which are drawn independently of this one, and let
    R be the distribution of the reports without it.  With likelihood ratios :math:`l_i, l_i'` of report i,
    given the earlier ones, for the two versions of the example, the reports have distributions
    :math:`\frac1m\sum l_i R` and :math:`\frac1m\sum l_i' R`, hence
    :math:`H_\varepsilon = \mathbb E_R(\frac1m\sum (l_i - e^\varepsilon l_i'))_+`.  Starting from the last
    report, it is enough to determine which shifts g, g' of norm at most C make
    :math:`\mathbb E\,\varphi(l - e^{\varepsilon} l')` largest for a convex φ; the result is convex in the sum
    of the earlier terms, so the step repeats.  Here :math:`l = e^{X - v/2}`, with X normal of variance v.

    1. An independent normal term added to X, and its variance to v, leaves the conditional mean of l: by
       Jensen's inequality the expectation rises.  So both norms are C.
    2. :math:`\varphi(e^{X - v/2} - e^{\varepsilon} e^{Y - v/2})` has the cross derivative
       :math:`-\varphi'' e^{\varepsilon} l\,l' \le 0`, so the expectation falls as the covariance of X and Y
       rises (Plackett's identity).  So the shifts are opposite.

    *It is symmetric*: z ↦ −z exchanges P and Q.

    *It is attained* by an example with constant gradient +C or -C where all other gradients are 0, so the
    pair is exact.  For m = 1 it is (2/σ)-GDP.

    *How it is computed.*  The sum is that of `positive_part_iid`, as for shuffled reports when those of the
    others follow N(0, 1).  The range of z is divided into cells.  Lower bounds: coarsening of the cells.
    Upper bounds: the curve (l, l') is convex, so an arc lies in the triangle of its ends and the point where
    their tangents meet; each point is moved to these corners by a mean-preserving split, in shares
    :math:`\sinh^2\frac{k-v}2,\; \sinh^2\frac{k+v}2,\; 2\cosh k\,\sinh\frac{k-v}2\sinh\frac{k+v}2` over
    :math:`\sinh^2 k`, where log l is v, from -k to k, seen from the middle of the cell. Where l is above 5 m
    e^ε it is counted in full, like a report that identifies its block, and so are the far tails; this keeps
    the tail of the sum light.  Where it is not light enough, the threshold is 2 or 0.7 m e^ε.  Without
    amplification the pair is (2/σ)-GDP, which is the upper bound where it is smaller.

    Cost: two to six quadratures of `positive_part_iid` for each ε, about 0.1 s for σ from 1/2 on, whatever m.

    Examples
    --------
    >>> from shufflelib.sgd import accounting
    >>> many, one = (accounting.RandomAllocation(2.0, blocks).delta(0.2).upper for blocks in (100, 1))
    >>> many < 1e-3, one > 0.3
    (True, True)
    """

    max_privacy_loss = math.inf
    source = "random allocation; integral of the characteristic function, every error included"
    search_width = 1e-5

    def __init__(self, noise_multiplier: float, blocks: int) -> None:
        remedy = "with less noise than that there is no amplification"
        ends = {"at_least": SMALLEST_NOISE, "at_most": LARGEST_NOISE}
        self.noise_multiplier = validation.real(noise_multiplier, "noise_multiplier", **ends, remedy=remedy)
        self.blocks = validation.count(blocks, "blocks", at_most=MOST_BLOCKS)
        self._shift = 1.0 / self.noise_multiplier
        self._alone = Gaussian(2.0 * self._shift)
        self.statement = f"random allocation to {self.blocks} blocks with noise {self.noise_multiplier:g} C"

    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose log H: the lower bound by coarsening, the upper one by a mean-preserving split."""
        alone = self._alone.log_hockey_stick(eps, tolerance).upper
        if alone < NOTHING_LEFT:
            return Interval(-math.inf, alone)
        lower, upper = -math.inf, alone
        for times, width in TRIALS:
            edges = self._edges(eps, times)
            beyond = np.array([self._shift - edges[-1], edges[0] - self._shift])
            tails = logsumexp(log_ndtr(beyond)) + 1e-12
            split = self._mean(self._mean_preserving_split(edges), eps, max(width, tolerance)).upper
            upper = min(Interval.of(split).log_add(tails).upper, upper)
            lower = max(self._mean(self._coarsening(edges), eps, max(width, tolerance)).lower, lower)
            if upper - lower < CLOSE or upper < DEEPEST:
                break
        return Interval(min(lower, upper), upper)

    def _mean(self, atoms, eps, tolerance):
        """Enclose log E(G_1 + … + G_m)₊ - log m for atoms (l, l', mass)."""
        first, second, mass = atoms
        first = first * math.exp(-eps)  # in units of e^ε
        distribution = LossDistributions.of_one(first - second, mass, first + second, PRECISION)
        ends = expected_positive_part(distribution, self.blocks, tolerance=tolerance)
        ends = Interval(*(float(end[0]) for end in ends))
        return (ends + (eps - Interval.of(float(self.blocks)).log())).or_unknown()

    def _ratio(self, z):
        """Return l(z); l'(z) = l(-z)."""
        return np.exp(self._shift * z - 0.5 * self._shift**2)

    def _edges(self, eps, times):
        """Return the cells' ends, up to l = ``times`` m e^ε or to the far tail."""
        last = (math.log(times * self.blocks) + eps) / self._shift + 0.5 * self._shift
        last = min(last, self._shift + REACH)
        count = min(max((last + REACH) * self._shift / CELL, FEWEST_CELLS), MOST_CELLS)
        return np.linspace(-REACH, last, int(count) + 1)

    def _mean_preserving_split(self, edges):
        """Return atoms that dominate (l, l') in convex order: cells split to their corners."""
        a, middle, step = self._shift, 0.5 * (edges[:-1] + edges[1:]), np.diff(edges)
        k, v = 0.5 * a * step[:, None], a * step[:, None] * (cells.NODES - 0.5)
        mass = step[:, None] * cells.WEIGHTS * _density(middle[:, None] + v / a)
        left, right = np.sinh(0.5 * (k - v)) / np.sinh(k), np.sinh(0.5 * (k + v)) / np.sinh(k)
        ends = np.zeros(edges.size)
        ends[:-1] += (mass * left**2).sum(axis=1)
        ends[1:] += (mass * right**2).sum(axis=1)
        corners = (mass * 2.0 * np.cosh(k) * left * right).sum(axis=1)
        inside = 1.0 / np.cosh(k[:, 0])
        # beyond the cells l is left out, to be counted in full; l' is left out before the first one, which
        # raises G, and split to 0 and its largest value beyond the last one
        last = self._ratio(-edges[-1])
        return (
            np.concatenate([self._ratio(edges), inside * self._ratio(middle), [0.0]]),
            np.concatenate([self._ratio(-edges), inside * self._ratio(-middle), [last]]),
            np.concatenate([ends, corners, [ndtr(-edges[-1] - a) / last]]),
        )

    def _coarsening(self, edges):
        """Return atoms that (l, l') dominates in convex order: the means of cells, tails included."""
        edges = np.union1d(edges, 0.5 * (edges[:-1] + edges[1:]))
        first, second, mass = (
            np.r_[
                ndtr(edges[0] - centre),
                cells.integrals(edges, lambda z, centre=centre: _density(z - centre)),
                ndtr(centre - edges[-1]),
            ]
            for centre in (self._shift, -self._shift, 0.0)
        )
        return first / mass, second / mass, mass


class OneSided(SymmetricPair):
    """The symmetric pair whose privacy curve for ε >= 0 is that of a finite PLD."""

    search_width = 1e-9

    def __init__(self, distribution):
        loss, mass = (
            np.append(distribution.loss, np.inf),
            np.append(distribution.mass, distribution.infinity_mass),
        )
        known = mass > 0.0
        loss, log_p = loss[known], np.log(mass[known])
        log_p = Interval.of(log_p).widened(absolute=distribution.slack + 1e-14)
        loss = Interval.of(loss, 100.0).widened(absolute=1e-14)
        self._half = DiscretePair.from_losses(log_p, log_p - loss, loss)

    @property
    def max_privacy_loss(self):
        """Largest finite privacy loss of the PLD, or infinity."""
        return self._half.max_privacy_loss

    def _log_curve(self, eps, tolerance):
        """Enclose the log of the hockey-stick divergence."""
        return self._half.log_hockey_stick(eps, tolerance)


@functools.lru_cache(maxsize=256)
def enclosing_pairs(noise_multiplier, blocks):
    """Return two finite pairs that enclose the pair of random allocation, by connect-the-dots.

    Any number of epochs can be composed of them at once.  Knots are added until log δ falls by no more than
    0.4 from one to the next where δ matters.
    """
    pair = RandomAllocation(noise_multiplier, blocks)
    knots = pair.discretised.knots()
    for least in (2, 1):
        knots = knots.no_steeper(pair, STEEPEST, DEEPEST, least)
    above, below = distributions(*connected(knots, knots))
    return OneSided(above), OneSided(below)


def _density(z):
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)

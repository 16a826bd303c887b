r"""The worst of many blanket pairs: bounded at once by Chernoff, computed only where that does not decide."""

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.optional import counting, tick
from shufflelib.profiles.envelope import Envelope
from shufflelib.profiles.hockey_stick import pointwise

TILTS = np.geomspace(0.02, 50.0, 32)  # in units of one over the sum's standard deviation
LARGEST_EXPONENT = 600.0
LARGEST = 1e140  # loss whose square, times that of n, is a float
BLOCK = 2**16  # atoms that are bounded at once
ROUGH = 0.1  # relative width of a first look at a curve


class WorstPair(Envelope):
    r"""The symmetric pair whose curve is the largest of many blanket pairs', both directions included.

    Parameters
    ----------
    pairs : sequence of BlanketPair
        All with the same number of users n.

    Notes
    -----
    An `Envelope` that does not look at all of its curves.  At each ε every curve has the upper bound

    .. math:: H_\varepsilon \le \frac{M(\theta)^n}{e\,\theta\,n} + \text{mass outside}

    for any θ > 0, some five times the truth in an ordinary tail.  Curves are looked at roughly, in the order
    of these ends, until the next end is below what has been found; of those seen only the ones that may be
    the worst are computed.  Cost of a number: about 30 exponentials for each atom of each pair, some rough
    looks, and one or two curves; O(1) in n.
    """

    def __init__(self, pairs):
        super().__init__(pairs)
        self.directions = tuple(curve.pair for curve in self._curves)
        all_ratios = [pair.ratios for pair in self.directions]
        atoms = max(ratios.w.size for ratios in all_ratios)
        self._first, self._second, self._mass = (
            np.array([np.pad(getattr(ratios, name), (0, atoms - ratios.w.size)) for ratios in all_ratios])
            for name in ("r0_over_w", "r1_over_w", "w")
        )
        self._doubt = max(ratios.precision for ratios in all_ratios) + (atoms + 24) * UNIT

    def ceilings(self, eps):
        """Return an upper bound on log H for every pair and direction, without a quadrature."""
        n, step = self.directions[0].n, max(1, BLOCK // self._mass.shape[1])
        starts = range(0, len(self.directions), step)
        best = np.concatenate([self._chernoff(math.exp(-eps), slice(at, at + step)) for at in starts])
        best += eps - 1.0 - math.log(n) + 1e-9 * (1.0 + np.abs(best))
        outside = np.array([pair.ratios.log_outside(eps)[1] for pair in self.directions])
        return np.minimum(np.logaddexp(best, outside), 0.0)

    def _chernoff(self, shrink, block):
        """Return log M(θ)ⁿ/θ at the best of some θ for some of the directions."""
        n, mass, second = self.directions[0].n, self._mass[block], self._second[block]
        first = self._first[block] * shrink
        value, size = first - second, first + second
        power = (mass * np.clip(value, -LARGEST, LARGEST) ** 2).sum(axis=1)
        spread = np.sqrt(np.maximum(power * n, 1e-300))
        best = np.full(spread.size, math.inf)
        for tilt in TILTS:
            theta = (tilt / spread)[:, None]
            exponent = theta * (value + self._doubt * size)
            grown = mass * np.expm1(np.minimum(exponent, LARGEST_EXPONENT))
            moment = grown.sum(axis=1) + self._doubt * np.abs(grown).sum(axis=1)
            bound = n * np.log1p(np.maximum(moment, -1.0 + UNIT)) - np.log(theta[:, 0])
            best = np.minimum(best, np.where(exponent.max(axis=1) < LARGEST_EXPONENT, bound, math.inf))
        return best

    @counting("curves of pairs")
    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose the largest of all curves."""
        rough = self._rough(eps, max(tolerance, ROUGH))
        lower = upper = max(seen.lower for seen in rough.values())
        for one, seen in sorted(rough.items(), key=lambda item: -item[1].upper):
            if seen.upper <= lower:
                break
            found = one.log_hockey_stick(eps, tolerance) if tolerance < ROUGH else seen
            lower, upper = max(lower, found.lower), max(upper, found.upper)
        return Interval(lower, upper)

    def _rough(self, eps, tolerance):
        """Enclose every curve that can be the largest."""
        ceilings, floor, found = self.ceilings(eps), -math.inf, {}
        for i in np.argsort(-ceilings, kind="stable"):
            if found and ceilings[i] <= floor:
                break
            tick()
            one = self.directions[i]
            found[one] = one.log_hockey_stick(eps, tolerance)
            floor = max(floor, found[one].lower)
        return found

r"""The worst of many covered pairs: bounded at once by Chernoff, computed only where that does not decide."""

import math

import numpy as np

from shufflelib.logspace import UNIT
from shufflelib.loss_sums import TOLERANCE, LogBracket
from shufflelib.privacy_profile import Pair

FEW = 24  # pairs that are not worth gathering
TILTS = np.geomspace(0.02, 50.0, 32)  # in units of one over the sum's standard deviation
LARGEST_EXPONENT = 600.0


def gathered(pairs):
    """Return the pairs themselves, or one that stands for all of them where they are many."""
    pairs = tuple(pairs)
    return pairs if len(pairs) <= FEW else (WorstPair(pairs),)


class WorstPair(Pair):
    r"""The symmetric pair whose curve is the largest of many covered pairs', both directions included.

    Parameters
    ----------
    pairs : sequence of CoveredPair
        All with the same number of users n.

    Notes
    -----
    Why it is a pair: see `shufflelib.envelope.Envelope`.  At each ε every curve has the upper end

    .. math:: H_\varepsilon \le \frac{M(\theta)^n}{e\,\theta\,n} + \text{exposed mass}

    for any θ > 0, some five times the truth in an ordinary tail.  Curves are computed in the order of these
    ends until the next end is below what has been found: the rest cannot be the worst.  Cost of a number:
    about 30 exponentials for each atom of each pair, and some curves; O(1) in n.
    """

    symmetric = True
    source = "largest of several curves"

    def __init__(self, pairs):
        self.pairs = tuple(one for pair in pairs for one in (pair, pair.reversed))
        self.search_width = max(pair.search_width for pair in self.pairs)
        self.statement = f"the worst of {len(pairs)} pairs"
        laws = [pair.variable for pair in self.pairs]
        atoms = max(law.mass.size for law in laws)
        self._first, self._second, self._mass = (
            np.array([np.pad(getattr(law, name), (0, atoms - law.mass.size)) for law in laws])
            for name in ("first", "second", "mass")
        )
        self._doubt = max(law.precision for law in laws) + (atoms + 24) * UNIT

    @property
    def reversed(self):
        """The pair itself: it is symmetric."""
        return self

    @property
    def largest_loss(self):
        """The largest loss of any of the pairs."""
        return max(pair.largest_loss for pair in self.pairs)

    def ceilings(self, eps):
        """Return an upper end of log H for every pair and direction, without a quadrature."""
        n, shrink = self.pairs[0].n, math.exp(-eps)
        first = self._first * shrink
        value, size = first - self._second, first + self._second
        spread = np.sqrt(np.maximum((self._mass * value**2).sum(axis=1) * n, 1e-300))
        best = np.full(spread.size, math.inf)
        for tilt in TILTS:
            theta = (tilt / spread)[:, None]
            exponent = theta * (value + self._doubt * size)
            grown = self._mass * np.expm1(np.minimum(exponent, LARGEST_EXPONENT))
            moment = grown.sum(axis=1) + self._doubt * np.abs(grown).sum(axis=1)
            bound = n * np.log1p(np.maximum(moment, -1.0 + UNIT)) - np.log(theta[:, 0])
            best = np.minimum(best, np.where(exponent.max(axis=1) < LARGEST_EXPONENT, bound, math.inf))
        best += eps - 1.0 - math.log(n) + 1e-9 * (1.0 + np.abs(best))
        exposed = np.array([pair.variable.log_exposed(eps)[1] for pair in self.pairs])
        return np.minimum(np.logaddexp(best, exposed), 0.0)

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose the largest of all curves."""
        ceilings = self.ceilings(eps)
        lower = upper = -math.inf
        for one in np.argsort(-ceilings, kind="stable"):
            if ceilings[one] <= lower:
                upper = max(upper, float(ceilings[one]))
                break
            found = self.pairs[one].log_hockey_stick(eps, tolerance).or_nothing_known()
            lower, upper = max(lower, found.lower), max(upper, found.upper)
        return LogBracket(lower, upper)

"""Many rounds, approximated from a few values of one round's curve: where a search starts, not a bound."""

import functools
import math
from types import SimpleNamespace

import numpy as np

from shufflelib.numerics.certified import LOG_ZERO, Interval
from shufflelib.profiles.composition import ComposedPair
from shufflelib.profiles.hockey_stick import Pair, pointwise

WIDTH = 1e-3  # relative, of the values


class Interpolated(Pair):
    """A pair whose √(−log H) is a cubic between a few values of another's: nothing here is a bound.

    Examples
    --------
    >>> from shufflelib.calibration.nearly_composed import Interpolated
    >>> from shufflelib.profiles import Gaussian
    >>> one = Gaussian(mu=0.5)
    >>> abs(Interpolated(one).log_hockey_stick(0.7).upper - one.log_hockey_stick(0.7).upper) < 1e-3
    True
    """

    max_privacy_loss = math.inf

    def __init__(self, pair):
        self.pair, self.symmetric, self.max_privacy_loss = pair, pair.symmetric, pair.max_privacy_loss

    @functools.cached_property
    def reversed(self):
        """The same of the reversed pair."""
        return self if self.symmetric else Interpolated(self.pair.reversed)

    @functools.cached_property
    def _points(self):
        eps, low, high = self.pair.discretised.knots(0, WIDTH)
        known = np.isfinite(low)
        return eps[known], np.sqrt(-0.5 * (low + high)[known])

    @pointwise
    def _log_curve(self, eps, tolerance):
        """Return log H at one eps ≥ 0, nearly."""
        if eps >= self.max_privacy_loss:
            return LOG_ZERO
        x, y = self._points  # Lagrange's formula through the four nearest
        first = max(min(int(np.searchsorted(x, eps)) - 2, x.size - 4), 0)
        x, y = x[first : first + 4], y[first : first + 4]
        shares = [np.prod(np.delete(eps - x, k) / np.delete(x[k] - x, k)) for k in range(x.size)]
        return Interval.of(-(float(y @ shares) ** 2))


def nearly_composed(profile, rounds):
    """Return what nearly is the profile of equal rounds, as far as a search asks."""
    return SimpleNamespace(
        dominating_pairs=(ComposedPair([(Interpolated(profile.envelope), rounds)]),),
        attack_pairs=tuple(ComposedPair([(Interpolated(pair), rounds)]) for pair in profile.attack_pairs),
    )

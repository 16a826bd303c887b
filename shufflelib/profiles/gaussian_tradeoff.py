"""Gaussian differential privacy as a trade-off function, and mixtures of such functions."""

import math

import numpy as np
from scipy.special import ndtr

from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import tradeoff_polygon
from shufflelib.profiles.neyman_pearson import at_any_slope
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.tradeoff_functions import TradeoffFunction

KNOTS = 4000


class GaussianTradeoff(TradeoffFunction):
    r"""Gaussian differential privacy, :math:`G_\mu(\alpha) = \Phi(\Phi^{-1}(1-\alpha) - \mu)`.

    Parameters
    ----------
    mu : float
        Separation in standard deviations, 1e-9 ≤ μ ≤ 1e4.

    Notes
    -----
    Closed forms where they exist; mixtures and products with other functions use two polygons of
    4000 knots.  Source: DRS, Definition 2.6.

    Examples
    --------
    Twenty-five rounds with μ = 0.1 are one with μ = 0.5:

    >>> import functools
    >>> from shufflelib import profiles
    >>> rounds = [profiles.GaussianTradeoff(0.1)] * 25
    >>> f = functools.reduce(profiles.GaussianTradeoff.tensor, rounds)
    >>> round(f.mu, 6), round(f(0.05).lower, 6)
    (0.5, 0.873865)
    """

    def __init__(self, mu: float) -> None:
        self.gaussian = Gaussian(mu)
        self.statement, self.source = self.gaussian.statement, self.gaussian.source

    @property
    def mu(self) -> float:
        """The separation μ."""
        return self.gaussian.mu

    @cached_property
    def _polygons(self):
        # thresholds on the log ratio log Q/P = μx − μ²/2, as x runs over both distributions
        span = np.linspace(-8.5, 8.5 + self.mu, KNOTS)
        if self.mu > 17.0:  # nothing lies between the two distributions
            half = np.linspace(-8.5, 8.5, KNOTS // 2)
            span = np.concatenate([half, half + self.mu])
        return gaussian_mixture(np.array([self.mu]), np.array([1.0]), self.mu * span - 0.5 * self.mu**2)

    @property
    def low(self):
        """Tangents."""
        return self._polygons[0]

    @property
    def high(self):
        """Chords."""
        return self._polygons[1]

    def _rates(self, fpr):
        return self.gaussian.false_negatives(fpr)

    def _hockey_stick(self, log_slope):
        return at_any_slope(self.gaussian, log_slope)

    @property
    def inverse(self) -> TradeoffFunction:
        """The same function: it is symmetric."""
        return self

    symmetrised = inverse

    def tensor(self, other: TradeoffFunction) -> TradeoffFunction:
        """Return f ⊗ g; for two Gaussian functions that of the hypotenuse of their separations."""
        if isinstance(other, GaussianTradeoff):
            return GaussianTradeoff(math.hypot(self.mu, other.mu))
        return super().tensor(other)


def gaussian_mixture(mu, weights, thresholds, shift=0.0):
    r"""Return polygons below and above the function that shows which of several :math:`G_{\mu_i}` was drawn.

    .. math:: \alpha(t) = \sum_i w_i \Phi\Bigl(-\frac t{\mu_i} - \frac{\mu_i}2\Bigr), \qquad
              \beta(t) = \sum_i w_i \Phi\Bigl(\frac t{\mu_i} - \frac{\mu_i}2\Bigr)

    for thresholds t on log Q/P; the slope at t is :math:`-e^t`.  μᵢ = 0 is allowed; ``shift`` is how far the
    function in question may lie from this one.
    """
    t = np.sort(np.asarray(thresholds, float))[::-1]
    x, y, error = np.zeros(t.size), np.zeros(t.size), 0.0
    for m, w in zip(mu, weights, strict=True):
        if m == 0.0:
            x, y = x + w * (t < 0.0), y + w * (t >= 0.0)
            continue
        a, b = t / m + 0.5 * m, t / m - 0.5 * m
        x, y = x + w * ndtr(-a), y + w * ndtr(b)
        # relative error of the tail at z: the rounding of z times 1 + |z|, z at most 40 above underflow
        for z in (a[0], -b[-1]):
            size = min(max(z, 0.0), 40.0)
            error = max(error, (1.0 + size) * (1.0 + 2.0 * size + m))
    return tradeoff_polygon.touching(x, y, t, error=8 * UNIT * error + len(mu) * UNIT, shift=shift)

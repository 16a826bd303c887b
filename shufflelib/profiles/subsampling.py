r"""Subsampling: m of N users are drawn, without replacement, and only they report.

With rate γ = m/N a pair of distributions is mixed, (γP + (1 − γ)Q, Q).  Written with E = e^ε ≥ 1,

.. math:: H_\varepsilon(\gamma P + (1-\gamma) Q \,\|\, Q) = \gamma\, H_{\varepsilon'}(P\|Q),
          \qquad E' = 1 + \frac{E - 1}{\gamma},

.. math:: H_\varepsilon(Q \,\|\, \gamma P + (1-\gamma) Q) = c\, H_{\varepsilon''}(Q\|P),
          \qquad c = 1 - E(1-\gamma),\; E'' = \gamma E / c .

For a mechanism, neighbouring datasets of N users differ in one of them and the first line bounds the
sample for *both* orders of the neighbours.  The curve at negative ε follows from its own values at
positive ones; the pair with this curve, symmetric, is what composes.
"""

import functools
import math

import numpy as np

from shufflelib.numerics.certified import TOLERANCE
from shufflelib.numerics.interval import LOG_ZERO, Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.hockey_stick import Pair, SymmetricPair


def _log_mixed(log_rate, rate, loss):
    """Return log(1 − rate + rate·e^loss)."""
    if loss < 1.0:
        return math.log1p(rate * math.expm1(loss))
    return float(np.logaddexp(math.log1p(-rate), log_rate + loss))


def max_mixed_privacy_loss(rate, loss):
    """Return an upper end of that for the largest loss."""
    return _log_mixed(math.log(rate), rate, loss) * (1 + 8 * UNIT) if loss < math.inf else loss


class SubsampledPair(Pair):
    r"""The mixed pair (γP + (1 − γ)Q, Q).

    Parameters
    ----------
    pair : Pair
        The pair (P, Q).
    rate : float
        γ in (0, 1).

    Notes
    -----
    Exact: both ends differ as those of the pair do.  Cost: one or two values of its curve.
    """

    def __init__(self, pair, rate):
        self.pair, self.rate = pair, rate
        self.search_width = pair.search_width

    @functools.cached_property
    def reversed(self):
        """The pair (Q, γP + (1 − γ)Q)."""
        return _Remainder(self)

    @property
    def max_privacy_loss(self):
        """Log of 1 − γ + γ times the largest ratio."""
        return max_mixed_privacy_loss(self.rate, self.pair.max_privacy_loss)

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose log γ + log H at the larger ε'."""
        log_rate = math.log(self.rate)
        if eps < 1.0:
            inner = math.log1p(math.expm1(eps) / self.rate)
        else:
            inner = eps - log_rate + math.log1p(-(1.0 - self.rate) * math.exp(-eps))
        found = _beside(self.pair, inner, 8 * UNIT * inner, tolerance)
        slack = 4 * UNIT * abs(log_rate)
        return Interval(found.lower + log_rate - slack, min(found.upper + log_rate + slack, 0.0))


class _Remainder(Pair):
    """The reverse of a mixed pair."""

    def __init__(self, mixed):
        self.reversed_, self.rate = mixed, mixed.rate
        self.pair = mixed.pair.reversed
        self.search_width = mixed.search_width

    @property
    def reversed(self):
        """The mixed pair."""
        return self.reversed_

    @property
    def max_privacy_loss(self):
        """Minus the log of 1 − γ + γ times the smallest ratio."""
        return -math.log1p(self.rate * math.expm1(-self.pair.max_privacy_loss)) * (1 + 8 * UNIT)

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose log c + log H at the larger ε''."""
        spent = math.expm1(eps) * (1.0 - self.rate) / self.rate if eps < 700.0 else math.inf
        if spent >= 1.0:
            return LOG_ZERO
        log_share = math.log(self.rate) + math.log1p(-spent)
        rounding = 8 * UNIT / (1.0 - spent)
        inner = eps - math.log1p(-spent)
        found = _beside(self.pair, inner, 8 * UNIT * inner + spent * rounding, tolerance)
        slack = 4 * UNIT * abs(log_share) + spent * rounding
        return Interval(found.lower + log_share - slack, min(found.upper + log_share + slack, 0.0))


def _beside(pair, eps, doubt, tolerance):
    """Enclose log H where ε is known up to ``doubt``; H falls by at most as much as ε rises."""
    found = pair.log_hockey_stick(eps, tolerance)
    if found.lower > -600.0 and doubt < 1e-7 * math.exp(found.lower):
        return Interval(
            found.lower + math.log1p(-doubt * math.exp(-found.lower)),
            found.upper + math.log1p(doubt * math.exp(-found.lower)),
        )
    return Interval(
        pair.log_hockey_stick(eps + doubt, tolerance).lower,
        pair.log_hockey_stick(max(eps - doubt, 0.0), tolerance).upper,
    )


class SubstitutionPair(SymmetricPair, SubsampledPair):
    r"""The symmetric pair with the mixed pair's curve at ε ≥ 0: it bounds a subsampled mechanism.

    .. math:: h(E) = \begin{cases} \gamma\, h_{PQ}(1 + (E-1)/\gamma) & E \ge 1\\
              1 - E + E\,h(1/E) & E < 1\end{cases}

    Parameters
    ----------
    pair : Pair
        A symmetric pair (P, Q) that bounds the mechanism on the users drawn.
    rate : float
        γ in (0, 1).

    Notes
    -----
    Why it is a pair: with :math:`F(a, b) = \sum (aP - bQ)_+` the mixed pair has F(γ, γ + x) and its
    reverse F(γ − x + γx, γ + γx), x = E − 1.  The first has x(1 − γ) more in both places, and F rises
    along (1, 1) where b ≥ a.  So the curve is the larger of the mixed pair's two, which is convex.
    """

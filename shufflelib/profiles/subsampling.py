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

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.profiles.hockey_stick import Pair, SymmetricPair


def max_mixed_privacy_loss(rate, loss):
    """Return an upper bound on log(1 − rate + rate·e^loss)."""
    rate, loss = Interval.of(rate), Interval.of(loss)
    if loss.upper < 700.0:
        return (rate * loss.expm1()).log1p().upper
    return (-rate).log1p().log_add(rate.log() + loss).upper


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
    Exact: both bounds differ as those of the pair do.  Cost: one or two values of its curve.
    """

    def __init__(self, pair, rate):
        self.pair, self.rate = pair, rate
        self.search_width = pair.search_width
        self.statement = f"a share {rate:g} of {pair.statement}"
        self.users, self.population = pair.users, pair.users and pair.population / rate
        self.source = (
            "mixed with the second distribution, connect-the-dots where a question needs the whole curve; "
            + pair.source
        )

    def __repr__(self):
        return f"{self.pair!r}.subsample(rate={self.rate:g})"

    @cached_property
    def reversed(self):
        """The pair (Q, γP + (1 − γ)Q)."""
        return _Remainder(self)

    @property
    def max_privacy_loss(self):
        """Log of 1 − γ + γ times the largest ratio."""
        return max_mixed_privacy_loss(self.rate, self.pair.max_privacy_loss)

    def _log_curve(self, eps, tolerance):
        """Enclose log γ + log H at the larger ε'."""
        rate, small = Interval.of(self.rate), Interval.of(np.minimum(eps, 1.0))
        near = (small.expm1() / rate).log1p()
        inner = eps - rate.log() + ((rate - 1.0) * Interval.of(-eps).exp()).log1p()
        return (_enclosed(self.pair, near.where(eps < 1.0, inner), tolerance) + rate.log()).within(most=0.0)

    def renyi_ceiling(self, order):
        """Return what the pure guarantee implies, or that of the pair: mixing draws P nearer to Q.

        The moment is convex.
        """
        return min(super().renyi_ceiling(order), self.pair.renyi_ceiling(order))


class _Remainder(Pair):
    """The reverse of a mixed pair."""

    def __init__(self, mixed):
        self._mixed, self.rate = mixed, mixed.rate
        self.pair = mixed.pair.reversed
        self.search_width = mixed.search_width
        self.statement, self.source = f"the reverse of {mixed.statement}", mixed.source
        self.written = f"{mixed!r}.reversed"

    @property
    def reversed(self):
        """The mixed pair."""
        return self._mixed

    @property
    def max_privacy_loss(self):
        """Minus the log of 1 − γ + γ times the smallest ratio."""
        largest = Interval.of(self.pair.max_privacy_loss)
        return -(self.rate * (-largest).expm1()).log1p().lower

    def _log_curve(self, eps, tolerance):
        """Enclose log c + log H at the larger ε''."""
        rate = Interval.of(self.rate)
        spent = Interval.of(np.minimum(eps, 100.0)).expm1() * (1.0 - rate) / rate
        some = spent.upper < 1.0
        lower = np.full(eps.shape, -math.inf)
        upper = np.where(spent.lower >= 1.0, -math.inf, rate.log().upper)
        left = (-spent.at(some)).log1p()
        found = _enclosed(self.pair, eps[some] - left, tolerance)
        lower[some], upper[some] = (found + rate.log() + left).within(most=0.0)
        return Interval(lower, upper)


def _enclosed(pair, eps, tolerance):
    """Enclose log H where each ε itself is enclosed; H falls by at most as much as ε rises."""
    found, doubt = pair.log_hockey_stick(eps.middle, tolerance), eps.upper - eps.lower
    share = Interval.of(doubt) * Interval.of(-found.lower).exp()
    close = share.upper < 1e-7
    share = share.where(close, 0.0)
    lower, upper = found + Interval((-share).log1p().lower, share.log1p().upper)
    if not close.all():
        ends = np.stack([eps.upper[~close], np.maximum(eps.lower[~close], 0.0)])
        (lower[~close], _), (_, upper[~close]) = np.swapaxes(pair.log_hockey_stick(ends, tolerance), 0, 1)
    return Interval(lower, upper)


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

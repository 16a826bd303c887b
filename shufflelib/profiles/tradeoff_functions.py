r"""Trade-off functions as objects: what a test of one distribution against another can achieve.

.. math:: f(\alpha) = T(P, Q)(\alpha) = \inf\{\text{false-negative rate}:
          \text{false-positive rate} \le \alpha\},

null hypothesis P, alternative Q.  The closer f to 1 − α, the more private.  The safe bound on f is the
lower one; a function is kept as two convex polygons that enclose it.

Source: Dong, Roth, Su (JRSSB 2022), "DRS" below.
"""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import LOG_ZERO, Certified, Interval
from shufflelib.numerics.types import T
from shufflelib.profiles import tradeoff_calculus, tradeoff_polygon
from shufflelib.profiles.finite_products import times
from shufflelib.profiles.neyman_pearson import Polygon
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.tradeoff_polygon import MOST_SEGMENTS


class TradeoffFunction:
    r"""A trade-off function enclosed between two convex polygons; made by the functions of this package.

    Parameters
    ----------
    low, high : Polygon
        Below and above; one object where the function is itself a polygon.
    statement, source : str
        What it is the trade-off function of, and what proves it.

    Examples
    --------
    Two rounds, and their δ at the sum of both ε:

    >>> from shufflelib import profiles
    >>> one = profiles.ApproximateDP(eps=0.5, delta=1e-3)
    >>> two = one.tensor(one)
    >>> two
    <trade-off function of ((0.5, 0.001)-differential privacy) ⊗ ((0.5, 0.001)-differential privacy)>
    >>> round(two(0.05).lower, 3), round(two.delta(1.0).upper, 5)
    (0.862, 0.002)
    """

    def __init__(self, low: Polygon, high: Polygon, *, statement: str, source: str) -> None:
        self.low, self.high, self.statement, self.source = low, high, statement, source

    def __repr__(self):
        return f"<trade-off function of {self.statement}>"

    __str__ = __repr__

    def _certified(self, lower, upper, what):
        return Certified(np.minimum(lower, upper), upper, source=self.source, statement=f"{what} of {self}")

    def _mapped(self, step, statement):
        low = step(self.low)
        high = low if self.high is self.low else step(self.high)
        return TradeoffFunction(low, high, statement=statement, source=self.source)

    def __call__(self, fpr: T) -> Certified[T]:
        """Enclose the smallest false-negative rate at a false-positive rate.

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate α in [0, 1].

        Returns
        -------
        Certified
            ``lower`` is the safe bound.
        """
        grid = validation.false_positive_rates(fpr)
        lower, upper = self._rates(grid)
        return self._certified(lower, np.minimum(upper, 1.0), "false-negative rate")

    def _rates(self, fpr):
        return self.low.lower(fpr), self.high.upper(fpr)

    @property
    def inverse(self) -> "TradeoffFunction":
        r"""The trade-off function :math:`f^{-1} = T(Q, P)`: null and alternative exchanged."""
        return self._mapped(lambda polygon: polygon.inverse, f"the inverse of {self.statement}")

    def conjugate(self, slope: T) -> Certified[T]:
        r"""Enclose the convex conjugate :math:`f^*(y) = \sup_{0\le x\le 1} xy - f(x)`.

        Parameters
        ----------
        slope : float or array_like
            y, finite; usually :math:`-e^{\varepsilon}`.

        Returns
        -------
        Certified
            f* falls as f rises: ``upper`` is the safe bound.
        """
        grid = validation.reals(slope, "slope", remedy="the conjugate is taken at -exp(eps)")
        with np.errstate(divide="ignore"):
            log_size = np.log(np.maximum(-grid, 0.0))
        value = (Interval(*self._hockey_stick(log_size)) - 1.0).within(-1.0, 0.0)
        lower, upper = Interval.of(grid).where(grid >= 0.0, value)
        return self._certified(lower, upper, "conjugate")

    def _hockey_stick(self, log_slope):
        """Return both bounds of 1 + f*(−s) for an array of log s, −inf included."""
        return self.high.hockey_stick(log_slope)[0], self.low.hockey_stick(log_slope)[1]

    def delta(self, eps: T) -> Certified[T]:
        r"""Enclose :math:`\delta(\varepsilon) = 1 + f^*(-e^{\varepsilon})`.

        For f = T(P, Q) this is :math:`\sup_A Q(A) - e^{\varepsilon} P(A)`, one direction; the other
        is that of `inverse`.

        Parameters
        ----------
        eps : float or array_like
            Central budget in nats, finite, any sign, at most 700 in size.

        Returns
        -------
        Certified
            ``upper`` is the safe bound.
        """
        grid = validation.reals(
            eps, "eps", at_least=-700.0, at_most=700.0, remedy="eps is in nats; its exponential must exist"
        )
        lower, upper = self._hockey_stick(grid)
        return self._certified(lower, upper, "delta")

    @property
    def symmetrised(self) -> "TradeoffFunction":
        r"""The symmetrisation C(f): all that δ(ε), ε ≥ 0, in both directions, proves.

        With x̄ the point where the slope reaches −1,

        .. math:: C(f)(x) = \begin{cases} f(x) & 0 \le x \le \bar x \\
                  \bar x + f(\bar x) - x & \bar x \le x \le f(\bar x) \\
                  f^{-1}(x) & f(\bar x) \le x \le 1 \end{cases}
                  \qquad \text{if } \bar x \le f(\bar x).

        Otherwise the steep part of f is followed to the diagonal and mirrored there.

        Notes
        -----
        Hypothesis, where C(f) bounds a mechanism: :math:`\delta(\varepsilon) \le 1 + f^*(-e^\varepsilon)` for
        every ε ≥ 0 in both directions. Source: DRS, Definition F.1, as the appendix of Wang, Su, Ye, Shokri,
        Su 2023 gives it.  Errata: there the middle line is misprinted as x̄ − f(x̄) − x.  For x̄ > f(x̄) it
        has max{f, f⁻¹}, which is right where f itself bounds both orders of the distributions, but uses
        slopes above −1, about which δ(ε), ε ≥ 0, says nothing: with f through (0, 1), (0.01, 0.5), (0.4,
        0.05), (1, 0) it gives 0.88 at 0.01.  The mirror is what follows from δ(ε), ε ≥ 0, alone.
        """
        return self._mapped(tradeoff_calculus.steep, f"the symmetrisation of {self.statement}")

    def tensor(self, other: "TradeoffFunction") -> "TradeoffFunction":
        r"""Return :math:`f \otimes g = T(P \times P', Q \times Q')`: both observations seen.

        Parameters
        ----------
        other : TradeoffFunction
            g; :math:`G_\mu \otimes G_\nu = G_{\sqrt{\mu^2+\nu^2}}` in closed form.

        Returns
        -------
        TradeoffFunction
            Exact for two polygons: one segment for each distinct product of slopes.

        Raises
        ------
        ValueError
            If the product has more than 4 million atoms; `coarsened` factors have fewer.

        Notes
        -----
        Special cases: :math:`f \otimes f_{0,\delta}(\alpha) = (1-\delta) f(\alpha/(1-\delta))`, and
        :math:`f_{\varepsilon,\delta} = f_{\varepsilon,0} \otimes f_{0,\delta}`.
        Source: DRS, Definition 3.1; Liu et al. (Rényi paper), Facts 2, 3 and 5.
        """
        checked(other, "other")
        statement, source = f"({self.statement}) ⊗ ({other.statement})", f"{self.source}; {other.source}"
        sides = (self.low, other.low), (self.high, other.high)
        atoms = max(one.pair.size * two.pair.size for one, two in sides)
        if atoms > MOST_SEGMENTS:
            raise ValueError(
                f"other must leave a product of at most {MOST_SEGMENTS} atoms, got {atoms}; "
                "coarsen the factors first, for example with .coarsened(segments=1000)"
            )
        low = Polygon(times(self.low.pair, other.low.pair))
        exact = self.low is self.high and other.low is other.high
        high = low if exact else Polygon(times(self.high.pair, other.high.pair))
        return TradeoffFunction(low, high, statement=statement, source=source)

    def coarsened(self, *, segments: int) -> "TradeoffFunction":
        """Return a bracket of the same function with about that many segments.

        Parameters
        ----------
        segments : int
            At least 2.  The width falls with the square of ``segments``.
        """
        segments = validation.count(segments, "segments", at_least=2, at_most=MOST_SEGMENTS)
        low, above = tradeoff_polygon.coarse(self.low, segments)
        high = above if self.high is self.low else tradeoff_polygon.coarse(self.high, segments)[1]
        return TradeoffFunction(low, high, statement=self.statement, source=self.source)


def checked(value, name):
    """Return a trade-off function, refusing anything else by name."""
    remedy = "make one with from_pair, from_profile, GaussianTradeoff, ApproximateDP or Identity"
    return validation.instance(value, name, TradeoffFunction, remedy=remedy)


class FiniteTradeoff(TradeoffFunction):
    """The trade-off function of a finite pair, a polygon: the two bounds differ by rounding only.

    Examples
    --------
    `from_pair` makes one and checks its masses:

    >>> import numpy as np
    >>> from shufflelib import profiles
    >>> from shufflelib.profiles import DiscretePair
    >>> pair = DiscretePair(np.log([0.75, 0.25]), np.log([0.25, 0.75]))
    >>> f = profiles.FiniteTradeoff(pair, statement="randomized response")
    >>> 0.8499 < f(0.05).lower <= 0.85  # 1 - 3 · 0.05
    True
    """

    def __init__(
        self,
        pair: DiscretePair,
        *,
        statement: str,
        source: str = "Neyman-Pearson lemma; bounds differ by rounding only",
    ) -> None:
        exact = Polygon(pair)
        super().__init__(exact, exact, statement=statement, source=source)

    @property
    def pair(self):
        """The finite pair (P, Q)."""
        return self.low.pair


class Identity(FiniteTradeoff):
    r"""Perfect privacy, :math:`\mathrm{Id}(\alpha) = 1 - \alpha`: the two distributions are equal.

    Examples
    --------
    >>> from shufflelib import profiles
    >>> 0.9499 < profiles.Identity()(0.05).lower <= 0.95
    True
    """

    def __init__(self) -> None:
        super().__init__(DiscretePair([0.0], [0.0]), statement="perfect privacy")


class ApproximateDP(FiniteTradeoff):
    r"""(ε, δ)-differential privacy, :math:`f_{\varepsilon,\delta}`.

    .. math:: f_{\varepsilon,\delta}(\alpha) = \max\{0,\; 1 - \delta - e^{\varepsilon}\alpha,\;
              e^{-\varepsilon}(1 - \delta - \alpha)\}

    Parameters
    ----------
    eps : float
        Budget in nats, 0 ≤ ε ≤ 700.
    delta : float
        Central δ, 0 ≤ δ ≤ 1.

    Notes
    -----
    Source: Wasserman, Zhou (JASA 2010), Theorem 2.4; DRS, Proposition 2.5.

    Examples
    --------
    >>> from shufflelib import profiles
    >>> f = profiles.ApproximateDP(eps=0.1, delta=1e-6)
    >>> round(f(0.05).lower, 4), 1e-6 <= f.delta(0.1).upper < 1.001e-6
    (0.9447, True)
    """

    def __init__(self, *, eps: float, delta: float) -> None:
        self.eps = validation.central_budget(eps, at_most=700.0)
        self.failure = validation.real(
            delta, "delta", at_least=0.0, at_most=1.0, remedy="delta is a probability"
        )
        failure = Interval.of(self.failure)
        large = (-failure).log1p() - (Interval.of(-self.eps).exp()).log1p()
        parts = (LOG_ZERO, large - self.eps, large, failure.log())
        log_p = Interval(*(np.array(ends) for ends in zip(*parts, strict=True)))
        loss = np.array([-math.inf, -self.eps, self.eps, math.inf])
        pair = DiscretePair.from_losses(log_p, log_p.at(slice(None, None, -1)), loss)
        super().__init__(pair, statement=f"({self.eps:g}, {self.failure:g})-differential privacy")

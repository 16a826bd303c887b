r"""Trade-off functions as objects: what a test of one law against another can achieve.

.. math:: f(\alpha) = T(P, Q)(\alpha) = \inf\{\text{false-negative rate}:
          \text{false-positive rate} \le \alpha\},

null hypothesis P, alternative Q.  The closer f to 1 − α, the more private.  The safe end of f is the
lower one; a function is kept as two convex polygons that enclose it.

Source: Dong, Roth, Su (JRSSB 2022), "DRS" below.
"""

import functools
import math

import numpy as np
from scipy.special import ndtr

from shufflelib import arguments
from shufflelib.logspace import UNIT
from shufflelib.profiles import DiscretePair, Gaussian, Pair, PrivacyProfile
from shufflelib.results import Certified
from shufflelib.tradeoff import polygon
from shufflelib.tradeoff.polygon import MOST_SEGMENTS, Polygon

GAUSSIAN_KNOTS = 4000
PROFILE_DOTS = 200
FARTHEST = 300.0  # largest ε at which a curve is asked for


class TradeoffFunction:
    r"""A trade-off function enclosed between two convex polygons; made by the functions of this module.

    Parameters
    ----------
    low, high : Polygon
        Below and above; one object where the function is itself a polygon.
    statement, source : str
        What it is the trade-off function of, and what proves it.
    """

    def __init__(self, low, high, *, statement, source):
        self.low, self.high, self.statement, self.source = low, high, statement, source

    def __repr__(self):
        return f"<trade-off function of {self.statement}>"

    def _certified(self, lower, upper, what):
        return Certified(np.minimum(lower, upper), upper, source=self.source, statement=f"{what} of {self}")

    __str__ = __repr__

    def _mapped(self, step, statement):
        low = Polygon(step(self.low.pair))
        high = low if self.high is self.low else Polygon(step(self.high.pair))
        return TradeoffFunction(low, high, statement=statement, source=self.source)

    def __call__(self, fpr):
        """Enclose the smallest false-negative rate at a false-positive rate.

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate α in [0, 1].

        Returns
        -------
        Certified
            ``lower`` is the safe end.

        Raises
        ------
        TypeError, ValueError
            If ``fpr`` is not a number in [0, 1] or a non-empty array of them.
        """
        grid = arguments.reals(
            fpr, "fpr", at_least=0.0, at_most=1.0, remedy="a false-positive rate is a probability"
        )
        return self._certified(*self._rates(grid), "false-negative rate")

    def _rates(self, fpr):
        return self.low.lower(fpr), self.high.upper(fpr)

    @property
    def inverse(self):
        r"""The trade-off function :math:`f^{-1} = T(Q, P)`: null and alternative exchanged."""
        low = self.low.inverse
        high = low if self.high is self.low else self.high.inverse
        return TradeoffFunction(low, high, statement=f"the inverse of {self.statement}", source=self.source)

    def conjugate(self, slope):
        r"""Enclose the convex conjugate :math:`f^*(y) = \sup_{0\le x\le 1} xy - f(x)`.

        Parameters
        ----------
        slope : float or array_like
            y, finite; usually :math:`-e^{\varepsilon}`.

        Returns
        -------
        Certified
            f* falls as f rises: ``upper`` is the safe end.
        """
        grid = arguments.reals(slope, "slope", remedy="the conjugate is taken at -exp(eps)")
        with np.errstate(divide="ignore"):
            log_size = np.log(np.maximum(-grid, 0.0))
        ends = np.array([self._hockey_stick(float(s)) for s in log_size.ravel()]).reshape((*grid.shape, 2))
        pad = 2 * UNIT
        lower = np.where(grid >= 0.0, grid, ends[..., 0] - 1.0 - pad)
        upper = np.where(grid >= 0.0, grid, ends[..., 1] - 1.0 + pad)
        return self._certified(lower, np.where(grid >= 0.0, grid, np.minimum(upper, 0.0)), "conjugate")

    def _hockey_stick(self, log_slope):
        if log_slope == -math.inf:
            return 1.0, 1.0
        return self.high.hockey_stick(log_slope)[0], self.low.hockey_stick(log_slope)[1]

    def delta(self, eps):
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
            ``upper`` is the safe end.
        """
        grid = arguments.reals(
            eps, "eps", at_least=-700.0, at_most=700.0, remedy="eps is in nats; its exponential must exist"
        )
        ends = np.array([self._hockey_stick(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        return self._certified(ends[..., 0], ends[..., 1], "delta")

    @property
    def first_zero(self):
        """The smallest false-positive rate at which no false negative is left, a `Certified`."""
        return self._certified(self.low.first_zero()[0], self.high.first_zero()[1], "first zero")

    @property
    def symmetrised(self):
        r"""The symmetrisation C(f): all that δ(ε), ε ≥ 0, in both directions, proves.

        With x̄ the point where the slope reaches −1,

        .. math:: C(f)(x) = \begin{cases} f(x) & 0 \le x \le \bar x \\
                  \bar x + f(\bar x) - x & \bar x \le x \le f(\bar x) \\
                  f^{-1}(x) & f(\bar x) \le x \le 1 \end{cases}
                  \qquad \text{if } \bar x \le f(\bar x).

        Otherwise the steep part of f is followed to the diagonal and mirrored there.

        Notes
        -----
        Hypothesis, where C(f) bounds a mechanism: :math:`\delta(\varepsilon) \le 1 + f^*(-e^\varepsilon)`
        for every ε ≥ 0 in both directions.
        Source: DRS, Definition F.1, as the appendix of the mixture-mechanism paper gives it.  Errata:
        there the middle line is misprinted as x̄ − f(x̄) − x.  For x̄ > f(x̄) it has max{f, f⁻¹}, which is
        right where f itself bounds both orders of the laws, but uses slopes above −1, about which δ(ε),
        ε ≥ 0, says nothing: with f through (0, 1), (0.01, 0.5), (0.4, 0.05), (1, 0) it gives 0.88 at
        0.01.  The mirror is what follows from δ(ε), ε ≥ 0, alone.
        """
        return self._mapped(polygon.steep, f"the symmetrisation of {self.statement}")

    def tensor(self, other):
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
        TypeError
            If ``other`` is not a trade-off function.
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
        atoms = max(
            a.pair.loss.size * b.pair.loss.size for a, b in zip(self._sides, other._sides, strict=True)
        )
        if atoms > MOST_SEGMENTS:
            raise ValueError(
                f"other must leave a product of at most {MOST_SEGMENTS} atoms, got {atoms}; "
                "coarsen the factors first, for example with .coarsened(segments=1000)"
            )
        low = Polygon(polygon.product(self.low.pair, other.low.pair))
        exact = self.low is self.high and other.low is other.high
        high = low if exact else Polygon(polygon.product(self.high.pair, other.high.pair))
        return TradeoffFunction(low, high, statement=statement, source=source)

    @property
    def _sides(self):
        return self.low, self.high

    def coarsened(self, *, segments):
        """Return a bracket of the same function with about that many segments.

        Parameters
        ----------
        segments : int
            At least 2.  Below, the segments of a cell are pushed to its steepest and flattest
            slope; above, they are pooled.  The width falls with the square of ``segments``.
        """
        segments = arguments.count(segments, "segments", at_least=2, at_most=MOST_SEGMENTS)
        low, high = self.low.pair, self.high.pair
        return TradeoffFunction(
            Polygon(polygon.spread(low, polygon.cells(low, max(segments // 2, 1)))),
            Polygon(polygon.merged(high, polygon.cells(high, segments))),
            statement=self.statement,
            source=self.source,
        )


def checked(value, name):
    """Return a trade-off function, refusing anything else by name."""
    if not isinstance(value, TradeoffFunction):
        raise TypeError(
            f"{name} must be a trade-off function, got {value!r}; "
            "make one with from_pair, from_profile, GaussianTradeoff, ApproximateDP or Identity"
        )
    return value


class FiniteTradeoff(TradeoffFunction):
    """The trade-off function of a finite pair, a polygon: both ends differ by rounding only."""

    def __init__(self, pair, *, statement, source="Neyman-Pearson lemma; both ends differ by rounding only"):
        exact = Polygon(pair)
        super().__init__(exact, exact, statement=statement, source=source)

    @property
    def pair(self):
        """The finite pair (P, Q)."""
        return self.low.pair


class Identity(FiniteTradeoff):
    r"""Perfect privacy, :math:`\mathrm{Id}(\alpha) = 1 - \alpha`: the two laws are one."""

    def __init__(self):
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
        Failure probability, 0 ≤ δ ≤ 1.

    Notes
    -----
    Source: Wasserman, Zhou (JASA 2010), Theorem 2.4; DRS, Proposition 2.5.
    """

    def __init__(self, *, eps, delta):
        self.eps = arguments.real(
            eps, "eps", at_least=0.0, at_most=700.0, remedy="eps is in nats, not negative"
        )
        self.failure = arguments.real(
            delta, "delta", at_least=0.0, at_most=1.0, remedy="delta is a probability"
        )
        with np.errstate(divide="ignore"):
            seen, rest = float(np.log(self.failure)), float(np.log1p(-self.failure))
        large = rest - math.log1p(math.exp(-self.eps))
        log_p = np.array([-math.inf, large - self.eps, large, seen])
        loss = np.array([-math.inf, -self.eps, self.eps, math.inf])
        # a mass is off by the rounding of its logarithm and of exp(-eps)
        sizes = np.where(np.isfinite(log_p), np.abs(log_p), 0.0)
        error = 8 * UNIT * (2.0 + np.maximum(sizes, sizes[::-1]) + self.eps)
        pair = polygon.pair_of(log_p, log_p[::-1], loss, mass_error=error, loss_error=0.0)
        super().__init__(pair, statement=f"({self.eps:g}, {self.failure:g})-differential privacy")


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
    """

    def __init__(self, mu):
        self.gaussian = Gaussian(mu)
        self.statement, self.source = self.gaussian.statement, self.gaussian.source

    @property
    def mu(self):
        """The separation μ."""
        return self.gaussian.mu

    @functools.cached_property
    def _polygons(self):
        # thresholds on the log ratio log Q/P = μx − μ²/2, as x runs over both laws
        span = np.linspace(-8.5, 8.5 + self.mu, GAUSSIAN_KNOTS)
        if self.mu > 17.0:  # nothing lies between the two laws
            half = np.linspace(-8.5, 8.5, GAUSSIAN_KNOTS // 2)
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
        ends = np.array([self.gaussian.false_negatives(float(a)) for a in fpr.ravel()])
        ends = ends.reshape((*fpr.shape, 2))
        return ends[..., 0], ends[..., 1]

    def _hockey_stick(self, log_slope):
        if log_slope == -math.inf:
            return 1.0, 1.0
        ends = self.gaussian.log_hockey_stick(abs(log_slope))
        low, high = math.exp(ends.lower) * (1 - 4 * UNIT), min(math.exp(ends.upper) * (1 + 4 * UNIT), 1.0)
        high = max(high, math.ulp(0.0))  # it is never quite nothing
        if log_slope >= 0.0:
            return low, high
        s, rest = math.exp(log_slope), -math.expm1(log_slope)
        return (rest + s * low) * (1 - 8 * UNIT), min((rest + s * high) * (1 + 8 * UNIT), 1.0)

    @property
    def inverse(self):
        """The same function: it is symmetric."""
        return self

    symmetrised = inverse

    @property
    def first_zero(self):
        """One."""
        return self._certified(1.0, 1.0, "first zero")

    def tensor(self, other):
        """Return f ⊗ g; for two Gaussian functions that of the hypotenuse of their separations."""
        if isinstance(other, GaussianTradeoff):
            return GaussianTradeoff(math.hypot(self.mu, other.mu))
        return super().tensor(other)


def gaussian_mixture(mu, weights, thresholds):
    r"""Return polygons below and above the function that shows which of several :math:`G_{\mu_i}` was drawn.

    .. math:: \alpha(t) = \sum_i w_i \Phi\Bigl(-\frac t{\mu_i} - \frac{\mu_i}2\Bigr), \qquad
              \beta(t) = \sum_i w_i \Phi\Bigl(\frac t{\mu_i} - \frac{\mu_i}2\Bigr)

    for thresholds t on log Q/P; the slope at t is :math:`-e^t`.  μᵢ = 0 is allowed.
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
        for z in (a, -b):
            size = np.clip(z, 0.0, 40.0)
            error = max(error, float(np.max((1.0 + size) * (1.0 + 2.0 * size + m))))
    return polygon.touching(x, y, t, error=8 * UNIT * error + len(mu) * UNIT)


def from_pair(pair):
    """Return the trade-off function of a finite pair, exact.

    Parameters
    ----------
    pair : DiscretePair
        Null P, alternative Q.

    Returns
    -------
    FiniteTradeoff

    Raises
    ------
    TypeError
        If ``pair`` is not a finite pair; `from_profile` takes any profile.
    """
    if not isinstance(pair, DiscretePair):
        raise TypeError(
            f"pair must be a DiscretePair, got {pair!r}; list its masses, or use from_profile for a bracket"
        )
    return FiniteTradeoff(polygon.normalised(pair), statement=pair.statement)


def from_profile(profile, *, dots=PROFILE_DOTS):
    r"""Return the trade-off function of a privacy profile, enclosed from its values at a grid of ε.

    .. math:: f(\alpha) = \sup_\varepsilon \max\{0,\; 1 - H_\varepsilon(Q\|P) - e^{\varepsilon}\alpha,\;
              e^{-\varepsilon}(1 - H_\varepsilon(P\|Q) - \alpha)\}

    Parameters
    ----------
    profile : PrivacyProfile
        For an ordered pair T(P, Q); for a mechanism the largest symmetric f for which it is f-DP.
    dots : int
        Number of ε at which either direction is evaluated, at least 2.

    Returns
    -------
    TradeoffFunction
        The width falls with the square of ``dots``.

    Notes
    -----
    Cost: four times ``dots`` evaluations of δ, seconds to a minute for a shuffled mechanism.
    Source: DRS, Propositions 2.12 and 2.13 (primal and dual).
    """
    if not isinstance(profile, PrivacyProfile):
        raise TypeError(f"profile must be a PrivacyProfile, got {profile!r}; shuffle() or a pair makes one")
    dots = arguments.count(dots, "dots", at_least=2, at_most=100_000)
    if isinstance(profile, DiscretePair):
        return from_pair(profile)
    if isinstance(profile, Gaussian):
        return GaussianTradeoff(profile.mu)
    if isinstance(profile, Pair):
        directions = profile.reversed, profile
    else:
        directions = profile, profile
    steep, flat = (_curve(one, dots) for one in directions)
    slopes = np.concatenate([steep[0], -flat[0]])
    shrink = np.exp(-flat[0])
    low = np.concatenate([steep[1], 1.0 - shrink * (1.0 - flat[1])])
    high = np.concatenate([steep[2], 1.0 - shrink * (1.0 - flat[2])])
    below, above = polygon.supporting(slopes, low, high)
    return TradeoffFunction(below, above, statement=profile.statement, source=profile.source)


def _curve(profile, dots):
    """Return ε and both ends of the hockey-stick divergence at a grid that covers its fall."""

    def ends(eps):
        if isinstance(profile, Pair):
            log = np.array([profile.log_hockey_stick(float(x)) for x in eps])
            with np.errstate(under="ignore"):
                return np.exp(log[:, 0]) * (1 - 4 * UNIT), np.minimum(np.exp(log[:, 1]) * (1 + 4 * UNIT), 1.0)
        bracket = profile.delta(eps)
        return bracket.lower, bracket.upper

    reach, here = 1e-6, ends(np.array([1e-6]))[1][0]
    while reach < FARTHEST:  # the curve is convex: where it has stopped falling, it has stopped for good
        reach, before = 2.0 * reach, here
        here = ends(np.array([reach]))[1][0]
        if before - here <= 1e-13:
            break
    eps = np.linspace(0.0, 1.0, dots) ** 1.5 * min(reach, FARTHEST)  # denser where the curve bends
    return eps, *ends(eps)

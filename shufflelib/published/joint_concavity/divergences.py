r"""F-divergences as functionals of a trade-off function.

Every F-divergence is a function of f = T(P, Q) alone,

.. math:: D_F(P\|Q) = \ell_F(f) = \int_0^{z_f} F\Bigl(\frac1{|f'(x)|}\Bigr) |f'(x)|\,dx
          + F(0)\,(1 - f(0)) + \tau_F\,(1 - z_f),

with :math:`F(0) = \lim_{s\to0} F(s)`, :math:`\tau_F = \lim_{s\to\infty} F(s)/s` and z_f the first zero.
On a polygon it is a sum over segments.  D falls as f rises, so that a polygon below f bounds it from
above.

Source: DRS, Proposition B.4; Wang, Su, Ye, Shokri, Su 2023, appendix B.3.  Errata: that appendix
prints F(0) = lim F(s)/s, which is −∞ for Kullback-Leibler and +∞ for χ²; the limit of F itself is meant.
"""

import math
from abc import ABC, abstractmethod

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.profiles.connect_the_dots import log_renyi_kernel
from shufflelib.profiles.gaussian_tradeoff import GaussianTradeoff
from shufflelib.profiles.tradeoff_functions import checked


class Divergence(ABC):
    r"""An F-divergence; call it with a trade-off function.

    Subclasses give log F̃(e^ℓ), where :math:`\tilde F(s) = F(s) - F(1) - F'(1)(s - 1) \ge 0` has the
    same divergence up to F(1), so that no two terms cancel.

    Examples
    --------
    A new one needs log F̃, both limits and a name:

    >>> import numpy as np
    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> class Hellinger(joint_concavity.Divergence):
    ...     name, at_zero, at_infinity = "squared Hellinger distance", 1.0, 1.0
    ...     def log_excess(self, loss):  # of (√s − 1)²
    ...         return 2 * np.log(np.abs(np.expm1(loss / 2)))
    >>> round(Hellinger()(profiles.ApproximateDP(eps=1.0, delta=0.0)).upper, 4)
    0.2264
    """

    name = ""
    offset = 0.0  # F(1)

    def __call__(self, f):
        r"""Enclose :math:`\ell_F(f)`.

        Parameters
        ----------
        f : TradeoffFunction
            T(P, Q); the divergence is :math:`D_F(P\|Q)`.

        Returns
        -------
        Certified
            ``upper`` is the safe end, infinite where nothing finite is proved: for a bracket that
            is not exact the polygon below may be distinguishable on a set of tiny mass.
        """
        checked(f, "f")
        closed = self.of_gaussian(f.mu) if isinstance(f, GaussianTradeoff) else None
        lower, upper = closed or (self.of_pair(f.high.pair)[0], self.of_pair(f.low.pair)[1])
        return Certified(
            min(lower, upper),
            upper,
            source=f.source,
            statement=f"{self.name} of {f.statement}",
        )

    def of_pair(self, pair):
        """Return both ends of the sum over the atoms of a finite pair."""
        value = logsumexp(self._log_terms(pair.log_p, pair.log_q, pair.loss))
        ends = []
        for side in (-1.0, 1.0):
            # F̃ falls below 0 and rises above: move every loss toward or away from 0
            slack = pair.loss_error + 4 * UNIT * np.where(np.isfinite(pair.loss), np.abs(pair.loss), 0.0)
            size = np.maximum(np.abs(pair.loss) + side * slack, 0.0)
            terms = self._log_terms(pair.log_p, pair.log_q, np.sign(pair.loss) * size)
            finite = np.where(np.isfinite(terms), np.abs(terms), 0.0)
            terms = terms + side * (pair.mass_error + (64 + 8 * finite) * UNIT)
            ends.append(logsumexp(terms))
        if value == -math.inf:
            ends[0] = -math.inf
        slack = UNIT * (16 + math.log2(pair.loss.size + 1))
        low = math.exp(min(ends[0], 709.0)) * (1 - slack) if ends[0] < math.inf else math.inf
        high = math.exp(ends[1]) * (1 + slack) if ends[1] < 709 else math.inf
        return low + self.offset * (1 - UNIT), high + self.offset * (1 + UNIT)

    def _log_terms(self, log_p, log_q, loss):
        on_both = np.isfinite(loss)
        inner = log_q + self.log_excess(np.where(on_both, loss, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            only_p = log_p + np.log(self.at_infinity)
            only_q = log_q + np.log(self.at_zero)
        return np.where(on_both, inner, np.where(loss > 0.0, only_p, only_q))

    @abstractmethod
    def log_excess(self, loss):
        """Return log F̃(e^ℓ) for finite ℓ."""

    @property
    @abstractmethod
    def at_zero(self):
        """F̃(0)."""

    @property
    @abstractmethod
    def at_infinity(self):
        """Limit of F̃(s)/s."""

    def of_gaussian(self, mu):
        """Return both ends for μ-Gaussian privacy in closed form, or None to use the polygons."""
        return None


def _around(value, relative):
    return value * (1 - relative), value * (1 + relative)


class KullbackLeibler(Divergence):
    r"""Relative entropy, F(s) = s log s; μ²/2 for :math:`G_\mu`.

    Examples
    --------
    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> 0.125 <= joint_concavity.KullbackLeibler()(profiles.GaussianTradeoff(0.5)).upper < 0.12501  # μ²/2
    True
    """

    name = "Kullback-Leibler divergence"
    at_zero, at_infinity = 1.0, math.inf

    def log_excess(self, loss):
        """Return log(e^ℓ (ℓ + e^{−ℓ} − 1))."""
        small = np.abs(loss) < 0.05
        u = np.where(small, loss, 0.0)
        series = sum((-u) ** k / math.factorial(k + 2) for k in range(10))  # (ℓ + e^{−ℓ} − 1)/ℓ²
        with np.errstate(divide="ignore", over="ignore"):
            middle = np.maximum(loss, -700.0)
            direct = np.log(np.maximum(middle + np.expm1(-middle), 0.0)) + middle
            return np.where(small, 2 * np.log(np.abs(u)) + np.log(series) + u, direct)

    def of_gaussian(self, mu):
        """Return μ²/2."""
        return _around(0.5 * mu * mu, 4 * UNIT)


class ChiSquare(Divergence):
    r"""Pearson's χ², F(s) = (s − 1)²; :math:`e^{\mu^2} - 1` for :math:`G_\mu`.

    Examples
    --------
    Infinite as soon as δ > 0:

    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> functions = [profiles.ApproximateDP(eps=0.1, delta=delta) for delta in (0.0, 1e-6)]
    >>> [round(joint_concavity.ChiSquare()(f).upper, 5) for f in functions]
    [0.01001, inf]
    """

    name = "chi-square divergence"
    at_zero, at_infinity = 1.0, math.inf

    def log_excess(self, loss):
        """Return 2 log|e^ℓ − 1|."""
        with np.errstate(divide="ignore"):
            return 2 * (np.maximum(loss, 0.0) + np.log(-np.expm1(-np.abs(loss))))

    def of_gaussian(self, mu):
        """Return e^{μ²} − 1."""
        return _around(math.expm1(mu * mu), 8 * UNIT * (1 + mu * mu)) if mu < 26.0 else (1e290, math.inf)


class RenyiPower(Divergence):
    r"""The power divergence of order λ, a scaled exponential of the Rényi divergence.

    .. math:: F(s) = \frac{s^\lambda - \lambda(s - 1) - 1}{\lambda(\lambda - 1)}, \qquad
              D_\lambda = \frac{\log(1 + \lambda(\lambda-1)\, D_F)}{\lambda - 1}

    Parameters
    ----------
    order : float
        Order λ, 1 < λ ≤ 10⁵.

    Notes
    -----
    Source: Wang, Su, Ye, Shokri, Su 2023, Corollary B.6.

    Examples
    --------
    Half of χ² at order 2:

    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> f = profiles.ApproximateDP(eps=1.0, delta=0.0)
    >>> round(joint_concavity.ChiSquare()(f).upper / joint_concavity.RenyiPower(2.0)(f).upper, 6)
    2.0
    """

    at_infinity = math.inf

    def __init__(self, order):
        self.order = validation.real(
            order, "order", above=1.0, at_most=1e5, remedy="the limit at 1 is KullbackLeibler"
        )
        self.name = f"power divergence of order {self.order:g}"
        self._log_scale = math.log(self.order) + math.log(self.order - 1.0)

    @property
    def at_zero(self):
        """1/λ."""
        return 1.0 / self.order

    def log_excess(self, loss):
        """Return the logarithm of the kernel over λ(λ − 1)."""
        return log_renyi_kernel(loss, self.order) - self._log_scale

    def of_gaussian(self, mu):
        """Return (e^{λ(λ−1)μ²/2} − 1)/(λ(λ − 1))."""
        scale = self.order * (self.order - 1.0)
        power = 0.5 * scale * mu * mu
        if power > 700.0:
            return 1e290, math.inf
        return _around(math.expm1(power) / scale, 8 * UNIT * (2 + power))


class HockeyStick(Divergence):
    r"""The hockey-stick divergence :math:`H_\varepsilon(P\|Q)`, F(s) = (s − e^ε)₊.

    Parameters
    ----------
    eps : float
        ε in nats, 0 ≤ ε ≤ 700.

    Examples
    --------
    The same as δ(ε) of the trade-off function, P and Q exchanged:

    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> f = profiles.GaussianTradeoff(0.5)
    >>> round(joint_concavity.HockeyStick(1.0)(f).upper, 6), round(f.inverse.delta(1.0).upper, 6)
    (0.00683, 0.00683)
    """

    def __init__(self, eps):
        self.eps = validation.real(eps, "eps", at_least=0.0, at_most=700.0, remedy="eps is in nats")
        self.name = f"hockey-stick divergence at {self.eps:g}"

    at_zero, at_infinity = 0.0, 1.0

    def log_excess(self, loss):
        """Return log(e^ℓ − e^ε)₊."""
        with np.errstate(divide="ignore"):
            return loss + np.log(np.maximum(-np.expm1(np.minimum(self.eps - loss, 0.0)), 0.0))

    def of_pair(self, pair):
        """Return both ends, P and Q in this order."""
        return pair.log_hockey_stick(self.eps).probabilities()

    def of_gaussian(self, mu):
        """Return the closed form."""
        bracket = GaussianTradeoff(mu).delta(self.eps)
        return bracket.lower, bracket.upper


class CurveLength(Divergence):
    r"""The length of the trade-off curve, :math:`F(s) = \sqrt{1 + s^2}`; √2 for perfect privacy, at most 2.

    Notes
    -----
    The vertical piece from (0, 1) to (0, f(0)) counts.  Source: Wang, Su, Ye, Shokri, Su 2023,
    Proposition B.7, which prints :math:`\int_0^1\sqrt{1+f'^2}` and so leaves that piece out:
    the two agree where f(0) = 1.

    Examples
    --------
    >>> from shufflelib import profiles
    >>> from shufflelib.published import joint_concavity
    >>> functions = profiles.Identity(), profiles.ApproximateDP(eps=1.0, delta=0.0)
    >>> [round(joint_concavity.CurveLength()(f).upper, 6) for f in functions]
    [1.414214, 1.557917]
    """

    name = "length of the trade-off curve"
    at_zero, at_infinity = 1.0, 1.0  # of F itself: its terms are added as they are

    def log_excess(self, loss):
        """Return log √(1 + e^{2ℓ}), F itself."""
        return 0.5 * np.logaddexp(0.0, 2 * loss)

    def of_pair(self, pair):
        """Return both ends of Σ √(P² + Q²)."""
        value = math.fsum(np.hypot(np.exp(pair.log_p), np.exp(pair.log_q)))
        relative = float(pair.mass_error.max()) + 8 * UNIT
        return max(value * (1 - relative), math.sqrt(2.0) * (1 - UNIT)), min(value * (1 + relative), 2.0)


def renyi(f, *, order):
    r"""Enclose the Rényi divergence :math:`D_\lambda(P\|Q)` of f = T(P, Q).

    .. math:: e^{(\lambda-1) D_\lambda} = \int_0^1 |f'(x)|^{1-\lambda}\,dx

    Parameters
    ----------
    f : TradeoffFunction
        T(P, Q); the other direction is that of ``f.inverse``.
    order : float or array_like
        Order λ > 1, at most 10⁵.

    Returns
    -------
    Certified
        ``upper`` is the safe end; infinite where f(x) = 0 for some x < 1.

    Examples
    --------
    λμ²/2 for Gaussian privacy:

    >>> from shufflelib.published import joint_concavity
    >>> from shufflelib import profiles
    >>> 0.5 <= joint_concavity.renyi(profiles.GaussianTradeoff(0.5), order=4.0).upper < 0.50001  # λμ²/2
    True
    """
    checked(f, "f")
    grid = validation.reals(
        order, "order", above=1.0, at_most=1e5, remedy="the limit at 1 is KullbackLeibler"
    )
    if isinstance(f, GaussianTradeoff):
        ends = [f.gaussian.renyi_directed(float(x)) for x in grid.ravel()]
    else:
        ends = [
            (f.high.pair.renyi_directed(float(x))[0], f.low.pair.renyi_directed(float(x))[1])
            for x in grid.ravel()
        ]
    ends = np.array(ends).reshape((*grid.shape, 2))
    return Certified(
        np.minimum(ends[..., 0], ends[..., 1]),
        ends[..., 1],
        source=f.source,
        statement=f"Renyi divergence of {f.statement}",
    )

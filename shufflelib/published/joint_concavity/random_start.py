r"""One noisy gradient step from a random start: amplification by the randomness of the start.

With start I ~ N(0, 1), noise N(0, 1) and sensitivity μ_I of the gradient at I, the outputs of
neighbouring datasets are the mixtures of P_I = N(0, 1) and of Q_I = N(μ_I, 1) over I.  Joint concavity
over the continuous index gives

.. math:: \alpha(t) = \int \Phi\Bigl(\frac{t}{|\mu_x|} - \frac{|\mu_x|}2\Bigr)\varphi(x)\,dx, \qquad
          \beta(t) = \int \Phi\Bigl(-\frac{t}{|\mu_x|} - \frac{|\mu_x|}2\Bigr)\varphi(x)\,dx

with :math:`\varphi(x) = e^{-x^2/2}/\sqrt{2\pi}`, t a threshold on log p/q.

How the integrals become certified
----------------------------------
In terms of δ the statement reads :math:`\delta(\varepsilon) = \mathbb E\,H_\varepsilon(G_{|\mu_I|})`.
As functions of m = |μ| the values :math:`H_\varepsilon(G_m)` obey, for every ε of any sign,

.. math:: 0 \le \partial_m H \le \tfrac1{\sqrt{2\pi}}, \qquad
          |\partial_m^2 H| \le \frac{0.294}{m} + 0.242,

from :math:`\partial_m H = \varphi(d_1)`, :math:`\partial_m^2 H = \varphi(d_1) d_1 d_2/m`,
:math:`d_1 - d_2 = m`.  So moving the mass of a cell of starts to its mean moves every δ(ε) by at most
one number η, and the trade-off function by at most η.

Source: Wang, Su, Ye, Shokri, Su 2023, Theorem 5.1 and Examples D.1–D.3.  Errata: the printed integrals
carry :math:`e^{-x^2/2}` without :math:`1/\sqrt{2\pi}`, so that α reaches 2.5.

``a`` is the slope of the noiseless linear model y = a x with x² = 1, at most 100 in size.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.types import T
from shufflelib.profiles import tradeoff_polygon
from shufflelib.profiles.gaussian_tradeoff import gaussian_mixture
from shufflelib.profiles.tradeoff_functions import TradeoffFunction

SLOPE = 0.39895  # above 1/√(2π)
REACH = 8.5  # starts kept; P(|I| > 8.5) < 2e-17, charged as distinguishable below
LEFT_OUT = 2e-17
CELLS = 3000
ONE_STEP = "a is in standard deviations of the start"
THRESHOLDS = 3000
FARTHEST = 40.0  # standard deviations; from there on nothing is left of a normal distribution


class RandomStart(NamedTuple):
    r"""Sensitivity of the gradient at a random start I ~ N(0, 1), in units of the noise.

    The function I ↦ |μ_I| ≥ 0 is continuous; between neighbouring ``breaks`` it is monotone and smooth, with
    first and second derivative at most ``slope`` and ``curvature`` in size.

    Examples
    --------
    A custom start: a gradient whose sensitivity falls with the distance from 0.

    >>> import numpy as np
    >>> from shufflelib.published import joint_concavity
    >>> bump = lambda i: np.exp(-np.abs(i))
    >>> start = joint_concavity.RandomStart("a bump", bump, (0.0,), slope=1.0, curvature=1.0)
    >>> round(float(start.separation(1.0)), 4)
    0.3679
    """

    name: str
    separation: Callable[[Any], Any]
    breaks: tuple[float, ...]
    slope: float
    curvature: float


def least_squares(*, a: float) -> RandomStart:
    r"""Least squares without clipping, :math:`\mu_I = a - I`.

    Notes
    -----
    The sensitivity has no bound, the trade-off function is not trivial.  Source: Example D.1.

    Examples
    --------
    The sensitivity vanishes where the start is the solution:

    >>> import numpy as np
    >>> from shufflelib.published import joint_concavity
    >>> joint_concavity.least_squares(a=1.0).separation(np.array([-1.0, 0.0, 1.0])).tolist()
    [2.0, 1.0, 0.0]
    """
    a = validation.real(a, "a", at_least=-100.0, at_most=100.0, remedy=ONE_STEP)
    return RandomStart(f"least squares, a={a:g}", lambda start: np.abs(a - start), (a,), 1.0, 0.0)


def clipped_least_squares(*, a: float, clip: float) -> RandomStart:
    r"""Least squares with clipping, :math:`\mu_I = \max(-c, \min(c, a - I))`.

    Parameters
    ----------
    clip : float
        c, the largest gradient in units of the noise, 1e-6 ≤ c ≤ 100.

    Notes
    -----
    Source: Example D.2.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.published import joint_concavity
    >>> joint_concavity.clipped_least_squares(a=1.0, clip=0.5).separation(np.array([-1.0, 0.0, 1.0])).tolist()
    [0.5, 0.5, 0.0]
    """
    a = validation.real(a, "a", at_least=-100.0, at_most=100.0, remedy=ONE_STEP)
    clip = validation.real(clip, "clip", at_least=1e-6, at_most=100.0, remedy="clip bounds the gradient")
    return RandomStart(
        f"least squares clipped at {clip:g}, a={a:g}",
        lambda start: np.minimum(np.abs(a - start), clip),
        (a - clip, a, a + clip),
        1.0,
        0.0,
    )


def logistic(*, bound: float) -> RandomStart:
    r"""Logistic loss, the worst example at every start.

    .. math:: |\mu_I| = \sup_{|z|\le M} |z|\,\sigma(-I z) = M \sigma(M|I|),
              \qquad \sigma(u) = \frac1{1+e^{-u}}

    Parameters
    ----------
    bound : float
        M, a bound on |x y|, in units of the noise, 1e-6 ≤ M ≤ 20.

    Notes
    -----
    Source: Example D.3.  Errata: it prints the supremum of σ(−I y x) alone; the gradient of
    log(1 + e^{−I y x}) carries the factor y x.  Without it the sensitivity is understated for M > 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.published import joint_concavity
    >>> joint_concavity.logistic(bound=1.0).separation(np.array([-1.0, 0.0, 1.0])).round(4).tolist()
    [0.7311, 0.5, 0.7311]
    """
    m = validation.real(bound, "bound", at_least=1e-6, at_most=20.0, remedy="bound is the largest |x y|")
    return RandomStart(
        f"logistic loss, |xy| <= {m:g}",
        lambda start: m / (1.0 + np.exp(-m * np.abs(start))),
        (0.0,),
        0.25 * m * m,
        0.0963 * m**3,
    )


def _quadrature(start):
    """Return separations, masses and η: moving the mass of each cell to its mean moves each δ(ε) by ≤ η."""
    edges = np.unique(np.clip([*np.linspace(-REACH, REACH, CELLS + 1), *start.breaks], -REACH, REACH))
    left, right, width = edges[:-1], edges[1:], np.diff(edges)
    # the side on which the difference of two tails does not cancel
    mass = np.where(left > 0.0, ndtr(-left) - ndtr(-right), ndtr(right) - ndtr(left))
    density = np.exp(-0.5 * edges**2) / math.sqrt(2.0 * math.pi)
    mean = np.divide(-np.diff(density), mass, out=left.copy(), where=mass > 0.0)
    # the mean is a quotient of differences; its rounding is charged at full slope
    misplaced = 8 * UNIT * (1.0 + np.abs(left) + np.abs(right)) * np.maximum(density[:-1], density[1:])
    separation = start.separation(edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = 0.294 / np.minimum(separation[:-1], separation[1:]) + 0.242
        second_order = (bend * start.slope**2 + SLOPE * start.curvature) * width**2 / 8.0
    first_order = SLOPE * start.slope * width
    eta = math.fsum(mass * np.fmin(second_order, first_order)) + LEFT_OUT + 1e-12
    eta += SLOPE * start.slope * math.fsum(misplaced)
    return start.separation(np.clip(mean, left, right)), mass / math.fsum(mass), eta


def random_start_bound(start: RandomStart) -> TradeoffFunction:
    """Return Theorem 5.1's lower bound for one noisy gradient step from a random start.

    Parameters
    ----------
    start : RandomStart
        Made by `least_squares`, `clipped_least_squares` or `logistic`.

    Returns
    -------
    TradeoffFunction
        A bracket for the curve (α(t), β(t)); its ``lower`` is a lower bound for the mechanism.

    Notes
    -----
    Width about 1e-5, from the cells and from the polygon; up to 0.05 where the separation has a sharp
    kink in the middle of the starts (logistic loss with a large bound, a very small clip).
    Source: Theorem 5.1.

    Examples
    --------
    >>> from shufflelib.published import joint_concavity
    >>> f = joint_concavity.random_start_bound(joint_concavity.logistic(bound=1.0))
    >>> round(f(0.05).lower, 3)
    0.83
    """
    validation.instance(start, "start", RandomStart, remedy="make one with least_squares(a=...)")
    at, weights, eta = _quadrature(start)
    used = weights > 0.0
    largest = float(at.max())
    # quantiles of the log ratio: of each Gaussian part between -9 and 9 deviations
    spread = 9.0 * largest + 0.5 * largest**2
    thresholds = spread * np.sinh(np.linspace(-9.0, 9.0, THRESHOLDS)) / math.sinh(9.0)
    low, high = gaussian_mixture(at[used], weights[used], thresholds, shift=eta)
    return TradeoffFunction(
        low,
        high,
        statement=f"one noisy gradient step, {start.name}",
        source="Theorem 5.1; quadrature error charged to both bounds",
    )


# ---------------------------------------------------------------- the mixtures themselves


def exact_least_squares(*, a: float) -> TradeoffFunction:
    r"""Return the exact T(N(0, 1), N(a, 2)) of the two mixtures of `least_squares`.

    Returns
    -------
    TradeoffFunction
        At least `random_start_bound`, since the start is not observed.

    Examples
    --------
    Theorem 5.1, which reveals the start, has 0.6368:

    >>> from shufflelib.published import joint_concavity
    >>> round(joint_concavity.exact_least_squares(a=1.0)(0.05).lower, 4)
    0.6756
    """
    a = validation.real(a, "a", at_least=-100.0, at_most=100.0, remedy=ONE_STEP)
    return unequal_gaussians(mean=a, variance=2.0)


def unequal_gaussians(*, mean: float, variance: float) -> TradeoffFunction:
    r"""Return T(N(0, 1), N(a, v)) for v > 1, in closed form.

    .. math:: \alpha(r) = \Phi(-x_0 - r) + \Phi(x_0 - r), \quad
              \beta(r) = \Phi\Bigl(\frac{x_0 + r - a}{\sqrt v}\Bigr)
              - \Phi\Bigl(\frac{x_0 - r - a}{\sqrt v}\Bigr), \quad x_0 = -\frac{a}{v-1}

    The best test rejects outside (x₀ − r, x₀ + r).

    Parameters
    ----------
    mean : float
        a, at most 100 in size.
    variance : float
        v, 1.001 ≤ v ≤ 10⁴.

    Returns
    -------
    TradeoffFunction
        Two polygons of 4000 knots.

    Examples
    --------
    A larger variance is detected even without a shift:

    >>> from shufflelib.published import joint_concavity
    >>> [round(joint_concavity.unequal_gaussians(mean=a, variance=2.0)(0.05).lower, 4) for a in (0.0, 1.0)]
    [0.8342, 0.6756]
    """
    a = validation.real(mean, "mean", at_least=-100.0, at_most=100.0, remedy="the null has mean 0")
    v = validation.real(
        variance, "variance", at_least=1.001, at_most=1e4, remedy="the null has variance 1, the smaller one"
    )
    root, centre = math.sqrt(v), -a / (v - 1.0)
    reach = abs(centre) + 9.0 * max(1.0, root) + abs(a)
    r = np.linspace(reach, max(abs(centre) - FARTHEST, 0.0), 4000)[:-1]  # nearer nothing is left
    x = ndtr(-centre - r) + ndtr(centre - r)
    high, low = (centre + r - a) / root, (centre - r - a) / root
    # both limits on one side: take the tails there, so that their difference does not cancel
    y = np.where(low > 0.0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    # log q/p at x₀ ± r
    slope = ((v - 1.0) * r * r / v - a * a / (v - 1.0) - math.log(v)) / 2.0
    steepest = FARTHEST + abs(a) + 9.0 * root  # of the logs of x and y in r
    error = 64 * UNIT * (1.0 + steepest * (reach + abs(centre)) + (v - 1.0) * reach**2 + a * a / (v - 1.0))
    below, above = tradeoff_polygon.touching(x, y, slope, error=error)
    return TradeoffFunction(
        below, above, statement=f"N({a:g}, {v:g}) against N(0, 1)", source="Neyman-Pearson lemma, closed form"
    )


def renyi_least_squares(*, a: float, order: T, noise: float = 1.0) -> Certified[T]:
    r"""Enclose :math:`D_\lambda(N(a, 1+\sigma^2)\,\|\,N(0, \sigma^2))`, infinite from λ = 1 + σ² on.

    .. math:: D_\lambda = \frac{\lambda a^2}{2s} + \frac12\log\frac{\sigma^2}{1+\sigma^2}
              + \frac{1}{2(\lambda-1)} \log\frac{\sigma^2}{s}, \qquad
              s = \lambda\sigma^2 + (1-\lambda)(1+\sigma^2) = 1 + \sigma^2 - \lambda

    Parameters
    ----------
    order : float or array_like
        Order λ > 1.
    noise : float
        Standard deviation σ of the noise; 1 in Theorem 5.1.

    Returns
    -------
    Certified
        Infinite on both sides where s ≤ 0: Rényi privacy proves nothing there, the trade-off
        function still does.

    Examples
    --------
    Nothing finite from order 2 on, where the trade-off function still holds:

    >>> from shufflelib.published import joint_concavity
    >>> [round(joint_concavity.renyi_least_squares(a=1.0, order=order).upper, 4) for order in (1.5, 2.0)]
    [1.8466, inf]
    """
    a = validation.real(a, "a", at_least=-100.0, at_most=100.0, remedy=ONE_STEP)
    noise = validation.real(
        noise, "noise", at_least=1e-3, at_most=1e3, remedy="noise is a standard deviation"
    )
    grid = validation.renyi_orders(order)
    exact = [float(1 + Fraction(noise) ** 2 - Fraction(one)) for one in grid.flat]  # s, whose sign decides
    room = np.array(exact).reshape(grid.shape)
    at, square, more = Interval.of(grid), Interval.of(noise) * noise, Interval.of(grid) - 1.0
    widths = -(-more / square).log1p() / more  # s/σ² = 1 − (λ − 1)/σ²
    shift = at * a * a / Interval.of(np.where(room > 0.0, room, 1.0), 1.0)
    value = 0.5 * (shift + widths - (1.0 / square).log1p())
    lower, upper = value.within(0.0).where(room > 0.0, math.inf)
    return Certified(
        lower,
        upper,
        source="closed form",
        statement="Renyi divergence of one noisy least-squares step from a random start",
    )

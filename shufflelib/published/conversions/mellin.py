r"""From Rényi moments of complex orders back to δ: nothing is lost if all orders are known."""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.numerics.logspace import UNIT

MOST_NODES = 2_000_000
PRECISION = 1e-12  # relative error of a moment, as a share of M(c)


class MellinInversion:
    r"""Recover hockey-stick divergences from Rényi moments of complex orders.

    .. math:: H_\varepsilon(P\|Q) = \frac{1}{2\pi i} \int_{c-i\infty}^{c+i\infty}
              \frac{M(\lambda)\,e^{-(\lambda-1)\varepsilon}}{\lambda(\lambda-1)}\,d\lambda, \qquad
              M(\lambda) = \mathbb E_Q (P/Q)^\lambda, \quad c > 1

    Parameters
    ----------
    moment : callable
        M, complex arrays in, complex arrays out, finite for real parts up to 2c − 1; its error is at most
        1e-12 M(c)(1 + t) at c + it, guaranteed by the caller.
    line : float
        c, 1.01 ≤ c ≤ 1000.  The best choice is near the order at which
        :math:`M(c)e^{-(c-1)\varepsilon}` is smallest.
    tolerance : float
        Absolute error aimed at for ε ≥ 0, 1e-12 … 0.1.
    decay : float
        A μ with :math:`|M(c+it)| \le M(c)\,e^{-\mu^2t^2/2}`, guaranteed by the caller; 0 claims nothing.
        For μ-Gaussian privacy, and products with it, it is μ.

    Notes
    -----
    Why the error is known.  Trapezoidal nodes a step h apart give, by Poisson's summation,
    :math:`\sum_k e^{(c-1)kL} H_{\varepsilon+kL}`, L = 2π/h: the wanted term and positive ones, bounded
    by :math:`H_\varepsilon \le 1` on the left and :math:`H_\varepsilon \le M(2c-1)e^{-2(c-1)\varepsilon}`
    on the right.  As :math:`|M(c+it)| \le M(c)`, leaving out the nodes beyond T costs at most
    :math:`M(c)e^{-(c-1)\varepsilon}/(\pi T)`.  The number of nodes, about
    M(c)/tolerance, is what a finite pair needs, whose moments do not decay along the line.

    δ at many ε is a trade-off function: `tradeoff_from_approximate_dp_wasserman10`.  The other direction has
    the moments :math:`M(1-\lambda)`.

    Examples
    --------
    From the moments of Gaussian privacy, μ = 0.5, back to its δ:

    >>> import numpy as np
    >>> from shufflelib.published import conversions
    >>> from shufflelib import profiles
    >>> inversion = conversions.MellinInversion(lambda x: np.exp(x * (x - 1) / 8), decay=0.5)
    >>> round(inversion.hockey_stick(0.1).upper, 4), round(profiles.GaussianTradeoff(0.5).delta(0.1).upper, 4)
    (0.1593, 0.1593)
    """

    def __init__(self, moment, *, line=4.0, tolerance=1e-6, decay=0.0):
        if not callable(moment):
            raise TypeError(f"moment must be a function of complex orders, got {moment!r}")
        self.line = validation.real(
            line, "line", at_least=1.01, at_most=1e3, remedy="the line lies right of 1"
        )
        tolerance = validation.real(
            tolerance, "tolerance", at_least=1e-12, at_most=0.1, remedy="it is an absolute error"
        )
        decay = validation.real(decay, "decay", at_least=0.0, remedy="0 claims no decay")
        ends = np.abs(moment(np.array([self.line, 2.0 * self.line - 1.0], complex)))
        if not np.all(np.isfinite(ends)):
            raise ValueError(
                f"line must leave M(line) and M(2 line - 1) finite, got line={line!r}; use a smaller one"
            )
        self._peak, self._beyond = (float(end) * (1.0 + 2.0 * PRECISION) for end in ends)
        self._period = (math.log(1.0 + self._beyond) - math.log(0.1 * tolerance)) / (self.line - 1.0)
        step = 2.0 * math.pi / self._period
        cutoff = 1.25 * self._peak / (math.pi * tolerance)
        if decay > 0.0:
            cutoff = min(cutoff, 1.0 + math.sqrt(2.0 * max(math.log(cutoff), 1.0)) / decay)
        count = min(math.ceil(cutoff / step), MOST_NODES)
        self._order = self.line + 1j * step * np.arange(count + 1)
        self._last = step * count
        self._left_out = self._peak * math.exp(-0.5 * (decay * self._last) ** 2) / (math.pi * self._last)
        value = np.asarray(moment(self._order), complex)
        if not np.all(np.isfinite(value)):
            raise ValueError("moment must be finite on the whole line, got NaN or infinite values")
        self._weight = value / (self._order * (self._order - 1.0)) * (step / math.pi)
        self._weight[0] *= 0.5
        self._rounding = (4.0 + self.line) * (PRECISION + 64 * UNIT * (1.0 + self._period)) * self._peak
        self._rounding *= 1.0 + math.log1p(self._last)

    def hockey_stick(self, eps):
        r"""Enclose :math:`H_\varepsilon(P\|Q)`.

        Parameters
        ----------
        eps : float or array_like
            ε ≥ 0 in nats.

        Returns
        -------
        Certified
            Proved if the moments are as precise as stated.
        """
        grid = validation.central_budgets(eps, at_most=700.0)
        flat = grid.reshape(-1)
        value = np.array([np.sum(self._weight * np.exp((1.0 - self._order) * e)).real for e in flat])
        fall = np.exp((1.0 - self.line) * flat)
        ratio = math.exp(-(self.line - 1.0) * self._period)
        aliased = (1.0 + self._beyond * fall**2) * ratio / (1.0 - ratio)
        # the phase t ε of node t is rounded: beyond T its share is at most log T
        phase = 8 * UNIT * flat * self._peak * fall * (1.0 + math.log1p(self._last))
        other = self._left_out * fall + self._rounding * fall / (self.line - 1.0) + phase
        lower = np.clip(value - aliased - other, 0.0, 1.0).reshape(grid.shape)
        upper = np.clip(value + other, 0.0, 1.0).reshape(grid.shape)
        return Certified(lower, upper, source="Mellin inversion", statement="hockey-stick divergence")

r"""From Rényi moments of complex orders back to δ and f: nothing is lost if all orders are known."""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.pairs import DiscretePair

MOST_NODES = 2_000_000
BLOCK = 1 << 14
TABLE = 128
SEARCHES = 60
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def renyi_moments(pair):
    r"""Return :math:`M(\lambda) = \mathbb E_Q (P/Q)^\lambda` of complex orders, for a finite pair.

    Parameters
    ----------
    pair : DiscretePair
        With P and Q of one support.

    Returns
    -------
    callable
        Complex arrays in, complex arrays out; :math:`M(\lambda) = e^{(\lambda-1)D_\lambda(P\|Q)}` for
        real λ > 1, and M(1 − λ) belongs to the reversed pair.

    Examples
    --------
    At order 2 it is 1 + χ², however M was obtained:

    >>> import numpy as np
    >>> from shufflelib.published import conversions
    >>> from shufflelib.profiles import DiscretePair
    >>> moment = conversions.renyi_moments(DiscretePair(np.log([0.75, 0.25]), np.log([0.25, 0.75])))
    >>> round(float(moment(2.0).real), 4)
    2.3333
    """
    if not isinstance(pair, DiscretePair):
        raise TypeError(f"pair must be a DiscretePair, got {pair!r}")
    if np.isinf(pair.loss).any():
        raise ValueError(
            "pair must have one support for both distributions; its Renyi moments are infinite otherwise"
        )

    def moment(order):
        order = np.asarray(order, complex)
        if order.ndim == 1 and order.size > TABLE:
            step = (order[-1] - order[0]) / (order.size - 1)
            if np.abs(order - order[0] - step * np.arange(order.size)).max() < 1e-9:
                return evenly_spaced(order[0], step, order.size)
        return np.exp(order[..., None] * pair.loss + pair.log_q).sum(axis=-1)

    def evenly_spaced(first, step, count):
        # every order is one of few coarse steps plus one of few fine ones
        strides = first + step * TABLE * np.arange(-(-count // TABLE))
        coarse = np.exp(np.multiply.outer(strides, pair.loss) + pair.log_q)
        fine = np.exp(np.multiply.outer(pair.loss, step * np.arange(TABLE)))
        return (coarse @ fine).ravel()[:count]

    return moment


class MellinInversion:
    r"""Recover hockey-stick divergences from Rényi moments of complex orders.

    .. math:: H_\varepsilon(P\|Q) = \frac{1}{2\pi i} \int_{c-i\infty}^{c+i\infty}
              \frac{M(\lambda)\,e^{-(\lambda-1)\varepsilon}}{\lambda(\lambda-1)}\,d\lambda, \qquad
              M(\lambda) = \mathbb E_Q (P/Q)^\lambda, \quad c > 1

    Parameters
    ----------
    moment : callable
        M, complex arrays in, complex arrays out, finite for real parts up to 2c − 1.
    line : float
        c, 1.01 ≤ c ≤ 1000.  The best choice is near the order at which
        :math:`M(c)e^{-(c-1)\varepsilon}` is smallest.
    tolerance : float
        Absolute error aimed at for ε ≥ 0, 1e-12 … 0.1.
    precision : float
        Error of M(c + it) as a share of M(c)(1 + t), guaranteed by the caller.
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

    def __init__(self, moment, *, line=4.0, tolerance=1e-6, precision=1e-12, decay=0.0):
        if not callable(moment):
            raise TypeError(f"moment must be a function of complex orders, got {moment!r}")
        self.line = validation.real(
            line, "line", at_least=1.01, at_most=1e3, remedy="the line lies right of 1"
        )
        self.tolerance = validation.real(
            tolerance, "tolerance", at_least=1e-12, at_most=0.1, remedy="it is an absolute error"
        )
        self.precision = validation.real(
            precision, "precision", at_least=0.0, at_most=1e-3, remedy="it is a share of M"
        )
        decay = validation.real(decay, "decay", at_least=0.0, remedy="0 claims no decay")
        ends = np.abs(moment(np.array([self.line, 2.0 * self.line - 1.0], complex)))
        if not np.all(np.isfinite(ends)):
            raise ValueError(
                f"line must leave M(line) and M(2 line - 1) finite, got line={line!r}; use a smaller one"
            )
        self._peak, self._beyond = (float(end) * (1.0 + 2.0 * self.precision) for end in ends)
        self._period = (math.log(1.0 + self._beyond) - math.log(0.1 * self.tolerance)) / (self.line - 1.0)
        step = 2.0 * math.pi / self._period
        cutoff = 1.25 * self._peak / (math.pi * self.tolerance)
        if decay > 0.0:
            cutoff = min(cutoff, 1.0 + math.sqrt(2.0 * max(math.log(cutoff), 1.0)) / decay)
        count = min(math.ceil(cutoff / step), MOST_NODES)
        self._order = self.line + 1j * step * np.arange(count + 1)
        self._last = step * count
        self._left_out = self._peak * math.exp(-0.5 * (decay * self._last) ** 2) / (math.pi * self._last)
        blocks = range(0, count + 1, BLOCK)
        value = np.concatenate([np.asarray(moment(self._order[i : i + BLOCK]), complex) for i in blocks])
        if not np.all(np.isfinite(value)):
            raise ValueError("moment must be finite on the whole line, got NaN or infinite values")
        self._weight = value / (self._order * (self._order - 1.0)) * (step / math.pi)
        self._weight[0] *= 0.5
        self._rounding = (4.0 + self.line) * (self.precision + 64 * UNIT * (1.0 + self._period)) * self._peak
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
        grid = validation.reals(
            eps, "eps", at_least=0.0, at_most=700.0, remedy="eps is in nats, not negative"
        )
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


def tradeoff_from_renyi_moments(moment, *, fpr, line=4.0, tolerance=1e-6, precision=1e-12, decay=0.0):
    r"""Bound T(P, Q) from below by the Rényi moments of complex orders.

    .. math:: f(\alpha) = \sup_{\varepsilon\ge0} \max\{1 - H_\varepsilon(Q\|P) - e^{\varepsilon}\alpha,\;
              e^{-\varepsilon}(1 - H_\varepsilon(P\|Q) - \alpha)\}

    Parameters
    ----------
    moment : callable
        M as in `MellinInversion`; its reverse is :math:`M(1-\lambda)`.
    fpr : float or array_like
        False-positive rate α in [0, 1].
    line, tolerance, precision, decay : float
        As there.

    Returns
    -------
    float or numpy.ndarray
        A lower bound on f(α), the safe side; it falls short by about ``tolerance`` and by what the
        search over ε leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.published import conversions
    >>> from shufflelib import profiles
    >>> moment = lambda order: np.exp(order * (order - 1) / 8)
    >>> f = conversions.tradeoff_from_renyi_moments(moment, fpr=0.05, decay=0.5)
    >>> round(f, 6), round(profiles.GaussianTradeoff(0.5)(0.05).lower, 6)
    (0.873865, 0.873865)
    """
    grid = validation.false_positive_rates(fpr)
    setting = {"line": line, "tolerance": tolerance, "precision": precision, "decay": decay}
    toward = MellinInversion(moment, **setting)
    back = MellinInversion(lambda order: moment(1.0 - order), **setting)
    best = np.array([max(0.0, _highest(back, a, False), _highest(toward, a, True)) for a in grid.flat])
    best = np.maximum(best - 8 * UNIT, 0.0).reshape(grid.shape)
    return best if best.ndim else float(best)


def _highest(inversion, fpr, tilted):
    """Return the best line met by a golden-section search: its height is concave in e^ε (in e^{−ε})."""

    def height(eps):
        value = 1.0 - inversion.hockey_stick(eps).upper
        return (value - fpr) * math.exp(-eps) if tilted else value - fpr * math.exp(eps)

    low, high = 0.0, 40.0
    eps = [low + (1.0 - GOLDEN) * (high - low), low + GOLDEN * (high - low)]
    value = [height(x) for x in eps]
    best = max(height(0.0), *value)
    for _ in range(SEARCHES):
        if value[0] < value[1]:
            low, eps, value = eps[0], [eps[1], 0.0], [value[1], 0.0]
            eps[1] = low + GOLDEN * (high - low)
            value[1] = height(eps[1])
        else:
            high, eps, value = eps[1], [0.0, eps[0]], [0.0, value[0]]
            eps[0] = low + (1.0 - GOLDEN) * (high - low)
            value[0] = height(eps[0])
        best = max(best, *value)
        if high - low < 1e-7:
            break
    return best

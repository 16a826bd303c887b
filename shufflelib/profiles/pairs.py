r"""Pairs of distributions known outright: any finite pair, and two shifted Gaussians."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri

from shufflelib.numerics import validation
from shufflelib.numerics.certified import LEAST, LONG_UNIT, Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import NO_SQUARE, UNIT, logsumexp, mills_ratio
from shufflelib.numerics.types import Array
from shufflelib.profiles import connect_the_dots
from shufflelib.profiles.hockey_stick import Pair, SymmetricPair
from shufflelib.profiles.neyman_pearson import Polygon

FARTHEST = 0.45 * float(np.log(np.finfo(np.longdouble).max))  # nats; e^{2·FARTHEST} is a long double
MOST = 1e-9  # log of the most that masses add up to
LARGEST_MU = 1e4  # separation of two Gaussians, in standard deviations


class DiscretePair(Pair):
    r"""Any finite pair of distributions.

    Parameters
    ----------
    log_p, log_q : array_like, shape (m,)
        Natural logarithms of the masses on a common support; ``-inf`` for zero.  Each distribution's masses
        sum to 1 (within 1e-9).

    Notes
    -----
    Cost O(m log m), once, and O(log m) for each ε.  Rounding of the inputs' logarithms is charged to both
    bounds.

    Examples
    --------
    Randomized response that tells the truth with probability 3/4; δ(log 2) is 1/4:

    >>> import math
    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> bracket = DiscretePair(np.log([0.75, 0.25]), np.log([0.25, 0.75])).delta(eps=math.log(2))
    >>> bracket.lower <= 0.25 <= bracket.upper
    True
    """

    statement = "a finite pair (P, Q)"
    source = "exact sums over the support"

    def __init__(self, log_p: ArrayLike, log_q: ArrayLike) -> None:
        log_p = _log_masses(log_p, "log_p")
        log_q = _log_masses(log_q, "log_q")
        if log_p.shape != log_q.shape:
            raise ValueError(
                f"log_p and log_q must have equal shapes, got {log_p.shape} and {log_q.shape}; "
                "list both distributions on one common support"
            )
        with np.errstate(invalid="ignore"):
            loss = log_p - log_q
        shared = np.isfinite(loss)
        size = np.abs(log_p[shared]).max(initial=0.0) + np.abs(log_q[shared]).max(initial=0.0)
        # an atom that only one distribution has is as large as its one logarithm
        sizes = np.where(shared, size, np.minimum(np.abs(log_p), np.abs(log_q)))
        sizes = np.where(np.isfinite(sizes), sizes, 0.0)
        log_p, log_q = (
            Interval.of(part).widened(absolute=4 * UNIT * (1.0 + sizes)) for part in (log_p, log_q)
        )
        self._fill(log_p, log_q, Interval.of(loss, 4.0).widened(absolute=2 * UNIT * size))

    @classmethod
    def from_losses(cls, log_p, log_q, loss):
        """Build the pair from losses known better than the difference of the logarithms says.

        Parameters
        ----------
        log_p, log_q : Interval or numpy.ndarray, shape (m,)
            Natural logarithms of the masses; an array is taken as exact.
        loss : Interval or numpy.ndarray, shape (m,)
            log(P/Q) of each atom; not read where a distribution has no mass.
        """
        pair = cls.__new__(cls)
        pair._fill(*(Interval.of(part) for part in (log_p, log_q, loss)))
        return pair

    def _fill(self, log_p, log_q, loss):
        """Keep the atoms in the order of their losses, without those that neither distribution has."""
        not_p, not_q = np.isneginf(log_p.upper), np.isneginf(log_q.upper)
        loss = loss.where(~not_q, np.inf).where(~not_p, -np.inf)
        kept = np.flatnonzero(~(not_p & not_q))
        order = kept[np.argsort(loss.middle[kept], kind="stable")]
        self.log_p, self.log_q, self.loss = (part.at(order) for part in (log_p, log_q, loss))

    @property
    def size(self):
        """Number of atoms."""
        return self.loss.lower.size

    @cached_property
    def reversed(self):
        """The pair (Q, P)."""
        return DiscretePair.from_losses(self.log_q, self.log_p, -self.loss)

    @property
    def max_privacy_loss(self):
        """Largest loss on the support of P, rounding included."""
        return float(self.loss.upper[~np.isneginf(self.log_p.upper)].max())

    @cached_property
    def _ends(self):
        """The curves that the lower ends of all masses and losses have, and the upper ones."""
        return tuple(
            _Excess(log_p, loss, side)
            for log_p, loss, side in zip(self.log_p, self.loss, (-1, 1), strict=True)
        )

    def _log_curve(self, eps, tolerance):
        """Enclose log Σ P (1 − e^{eps − loss})₊."""
        return Interval(*(end.log_at(eps) for end in self._ends)).within(most=0.0)

    def known_renyi(self, order):
        """Return both bounds of D_order(P‖Q), from Σ Q φ(loss), φ falling below 0 and rising above.

        It is infinite where a loss is infinite and the atom surely has a mass, else the upper bound is.
        """
        if np.isposinf(self.loss.upper[-1]):
            endless = np.isposinf(self.loss.upper)
            if np.any(np.isposinf(self.loss.lower) & ~np.isneginf(self.log_p.lower)):
                return math.inf, math.inf
            rest = (part.at(~endless) for part in (self.log_p, self.log_q, self.loss))
            return DiscretePair.from_losses(*rest).known_renyi(order)[0], math.inf
        size = abs(self.loss)
        signed = (np.copysign(end, self.loss.middle) for end in size)
        terms = Interval(*(connect_the_dots.log_renyi_kernel(loss, order) for loss in signed))
        total = (self.log_q + terms.widened(4.0, 64 * UNIT)).log_sum()
        return tuple(
            Interval(*(connect_the_dots.renyi_from_moment(end, order) for end in total)).widened(8.0)
        )

    def known_false_negatives(self, fpr):
        """Return both bounds of T(P, Q)(fpr) by the Neyman-Pearson lemma: reject for small P/Q first."""
        return float(self._polygon.lower(fpr)), float(self._polygon.upper(fpr))

    @cached_property
    def _polygon(self):
        return Polygon(self.normalised())

    def normalised(self):
        """Return the pair with masses that sum to 1; the constructor allows 1e-9."""
        log_p, log_q = (part - part.log_sum() for part in (self.log_p, self.log_q))
        return DiscretePair.from_losses(log_p, log_q, self.loss.widened(absolute=16 * UNIT))


def _log_masses(values, name) -> Array:
    array = validation.reals(values, name, at_most=MOST, finite=False, remedy="use -inf for a mass of zero")
    if array.ndim != 1:
        raise TypeError(f"{name} must be a one-dimensional array of logarithms of masses, got {values!r}")
    total = math.exp(logsumexp(array))
    if abs(total - 1.0) > 1e-9:
        raise ValueError(
            f"{name} must hold the logarithms of masses that sum to 1, got a sum of {total:.12g}"
        )
    return array


class _Excess:
    r"""A bound on :math:`h(\varepsilon) = \sum_i p_i (1 - e^{\varepsilon - \ell_i})_+`, for every ε.

    Between two losses h is linear in e^ε.  With rising losses and :math:`S_j = \sum_{i \ge j} p_i`, for
    :math:`\ell_{j-1} \le \varepsilon < \ell_j`

    .. math:: h = (1 - e^{\varepsilon - \ell_j})\, S_j + e^{\varepsilon} D_j, \qquad
              D_j = \sum_{i > j} (e^{-\ell_{i-1}} - e^{-\ell_i})\, S_i .

    No term is negative, so that rounding is a share of h: less than 20 units for the functions and products
    that a term passes through, and two sums of m terms in long doubles, which are kept.  Underflow loses less
    than the smallest of these for each term, times e^ε.  A finite loss beyond `FARTHEST` is rounded outward.

    Parameters
    ----------
    log_p, loss : numpy.ndarray, shape (m,)
        The atoms.
    side : {-1, 1}
        Whether it is a lower or an upper bound.
    """

    def __init__(self, log_p, loss, side):
        self._largest = loss.max(initial=0.0)
        loss = np.where(np.isposinf(loss) | (loss <= FARTHEST), loss, FARTHEST if side < 0 else np.inf)
        order = np.argsort(loss, kind="stable")
        order = order[np.searchsorted(loss[order], 0.0, side="right") :]
        self._loss = np.append(loss[order], np.inf)  # an atom without mass ends the list
        log_mass = np.minimum(log_p[order], MOST)
        mass = np.append(np.exp(log_mass.astype(np.longdouble)), 0.0)
        self._reach = np.cumsum(mass[::-1])[::-1]
        wide = self._loss.astype(np.longdouble)
        with np.errstate(invalid="ignore"):
            gap = np.fmax(np.diff(wide), 0.0)  # 0 between two infinite losses
        falls = -np.expm1(-gap) * np.exp(-wide[:-1]) * self._reach[1:]
        self._later = np.append(np.cumsum(falls[::-1])[::-1], 0.0)
        self._share = side * (20 * UNIT + 2 * mass.size * LONG_UNIT)
        self._lost = side * 4 * mass.size * np.finfo(np.longdouble).tiny

    def log_at(self, eps):
        """Return the bound on log h at an array of ε."""
        last = self._loss.size - 1
        at = np.minimum(np.searchsorted(self._loss, eps, side="right"), last)
        grown = np.exp(np.minimum(eps, FARTHEST).astype(np.longdouble))
        with np.errstate(divide="ignore", invalid="ignore"):  # beyond all losses, where h is 0
            gain = -np.expm1((eps - self._loss[at]).astype(np.longdouble))
            value = gain * self._reach[at] + grown * self._later[at]
            value = np.maximum(value + self._share * value + self._lost * grown, 0.0)
            log_value = np.log(np.where((at < last) & (eps < self._largest), value, 0.0)).astype(float)
        return Interval.of(log_value, 4.0)[int(self._share > 0.0)]


class Gaussian(SymmetricPair):
    r"""The pair (N(0, 1), N(μ, 1)): μ-Gaussian differential privacy.

    .. math:: H_\varepsilon = \Phi\!\left(-\tfrac\varepsilon\mu + \tfrac\mu2\right)
              - e^{\varepsilon} \Phi\!\left(-\tfrac\varepsilon\mu - \tfrac\mu2\right)

    Parameters
    ----------
    mu : float
        Separation in standard deviations, 1e-9 ≤ μ ≤ 1e4.

    Notes
    -----
    Evaluated as φ(a)(m(a) − m(b)) with Mills' ratio m, so that no two tails are subtracted.
    Source: Dong, Roth, Su (JRSSB 2022), Corollary 2.13; Balle, Wang (ICML 2018), Theorem 8.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> print(Gaussian(mu=1.0).epsilon(delta=1e-6))
    epsilon at delta = 1e-06 of 1-Gaussian differential privacy
    4.88655 ≤ value ≤ 4.88656
    certified on both sides
    closed form
    """

    source = "closed form"

    def __init__(self, mu: float) -> None:
        self.mu = validation.real(
            mu, "mu", at_least=1e-9, at_most=LARGEST_MU, remedy="mu is a separation, positive"
        )
        self.statement = f"{self.mu:g}-Gaussian differential privacy"

    def __repr__(self):
        return f"Gaussian(mu={self.mu:g})"

    @property
    def max_privacy_loss(self):
        """Infinite."""
        return math.inf

    def _log_curve(self, eps, tolerance):
        """Enclose the closed form."""
        with np.errstate(over="ignore"):
            a, b = eps / self.mu - 0.5 * self.mu, eps / self.mu + 0.5 * self.mu
        lower = np.full(eps.shape, -math.inf)
        upper = np.full(eps.shape, -0.5 * NO_SQUARE**2)  # H is less than e^{−a²/2}
        for which, bounds in ((a < -1.0, _near), ((a >= -1.0) & (a <= NO_SQUARE), _far)):
            if which.any():
                lower[which], upper[which] = bounds(eps[which], a[which], b[which])
        return Interval(lower, upper)

    def known_renyi(self, order):
        """Return both bounds of order·μ²/2."""
        return tuple(Interval.of(self.mu) * self.mu * (0.5 * order))

    def renyi_ceiling(self, order):
        """Return the upper bound of order·μ²/2."""
        return self.known_renyi(order)[1]

    def known_false_negatives(self, fpr):
        """Return both bounds of Φ(Φ⁻¹(1 − fpr) − μ)."""
        if fpr in (0.0, 1.0):
            return 1.0 - fpr, 1.0 - fpr
        z = -float(ndtri(fpr))
        value = Interval.of(float(ndtr(z - self.mu)), 16.0 * (1.0 + (z - self.mu) ** 2 + z * z))
        return tuple((value + Interval(0.0, LEAST)).within(0.0, 1.0))


def _near(eps, a, b):
    """Return bounds on log(Φ(−a) − φ(a) m(b)); the second term is e^ε Φ(−b) where e^ε overflows too."""
    value = ndtr(-a) - 0.5 * np.exp(-0.5 * a * a) * erfcx(b / math.sqrt(2))
    slack = 40 * UNIT * (1.0 + b)
    return np.log(np.maximum(value - slack, LEAST)), np.log(np.minimum(value + slack, 1.0))


def _far(eps, a, b):
    """Return bounds on log φ(a) + log(m(a) − m(b))."""
    mills_a, mills_b = mills_ratio(a), mills_ratio(b)
    difference = mills_a - mills_b
    error = 8 * UNIT * (np.abs(a) + np.abs(b)) * (1 + np.abs(a))
    error = np.minimum(error, 8 * UNIT * np.abs(a) * mills_a + difference * 16 * UNIT) + 16 * UNIT * mills_a
    error += 4 * UNIT * eps * mills_b  # the rounding of eps/μ moves a and b together: H' = −φ(a) m(b)
    scale, relative = -0.5 * a * a - 0.5 * math.log(2 * math.pi), 8 * UNIT * (1.0 + a * a) * 2
    with np.errstate(divide="ignore"):
        low, high = np.log(np.maximum(difference - error, 0.0)), np.log(difference + error)
    return scale + low - relative, scale + high + relative

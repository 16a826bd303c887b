r"""The privacy profile: what an ordered pair of output laws, or the worst of several, gives away.

For an ordered pair (P, Q) the profile is the hockey-stick divergence in both directions,

.. math:: H_\varepsilon(P\|Q) = \sup_A\, P(A) - e^{\varepsilon} Q(A), \qquad \varepsilon \ge 0.

ε at δ, Rényi divergences and trade-off functions follow from it alone.  A mechanism is described
from both sides: by pairs that dominate it (their numbers are upper ends) and by pairs that it
produces (lower ends).  A pair taken for itself stands on both sides.

Reading order: `PrivacyProfile`, `Pair`, then the two pairs known in closed form.
"""

import functools
import math
from abc import ABC, abstractmethod

import numpy as np
from scipy.special import erfcx, ndtr, ndtri

from shufflelib import arguments, dots
from shufflelib.logspace import UNIT, logsumexp
from shufflelib.loss_sums import TOLERANCE, LogBracket
from shufflelib.results import Certified, Status
from shufflelib.search import worst_root

TINY = math.ulp(0.0)


class PrivacyProfile(ABC):
    """δ(ε) with a certified bracket, and everything that follows from it.

    Subclasses say which pairs lie above the worst case and which below.
    """

    statement = "privacy profile"
    source = ""

    @property
    @abstractmethod
    def above(self):
        """Pairs whose worst number is at least the true one, a tuple of `Pair`."""

    @property
    @abstractmethod
    def below(self):
        """Pairs whose worst number is at most the true one, a tuple of `Pair`."""

    @property
    def pure_epsilon(self):
        """The smallest ε known to hold with δ = 0, infinite where there is none."""
        return max(one.largest_loss for pair in self.above for one in (pair, pair.reversed))

    @functools.cached_property
    def envelope(self):
        """One symmetric pair that stands above the profile, whichever pair and direction is met."""
        from shufflelib.envelope import Envelope

        return Envelope.of(self.above)

    def _certified(self, lower, upper, what, status=Status.CERTIFIED):
        return Certified(lower, upper, status, self.source, f"{what} of {self.statement}")

    def delta(self, eps):
        r"""Enclose :math:`\delta(\varepsilon) = \max\{H_\varepsilon(P\|Q), H_\varepsilon(Q\|P)\}`.

        Parameters
        ----------
        eps : float or array_like
            Central budget in nats, finite and non-negative.

        Returns
        -------
        Certified
            Floats for a scalar, arrays of the argument's shape otherwise; ``upper`` is the safe end.

        Raises
        ------
        TypeError, ValueError
            If ``eps`` is not a finite, non-negative number or a non-empty array of them.
        """
        grid = arguments.reals(
            eps, "eps", at_least=0.0, remedy="for delta at a negative eps exchange the roles of P and Q"
        )
        ends = np.array([self._log_delta(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        lower, upper = np.exp(ends[..., 0]), np.exp(ends[..., 1])
        upper = np.where(
            np.isneginf(ends[..., 1]), 0.0, np.minimum(np.maximum(upper * (1 + 4 * UNIT), TINY), 1.0)
        )
        lower = np.minimum(lower * (1 - 4 * UNIT), upper)
        return self._certified(lower, upper, "delta")

    def _log_delta(self, eps, tolerance=TOLERANCE):
        worst = {id(pair): pair.log_worst(eps, tolerance) for pair in self._pairs}
        upper = min(max(worst[id(pair)].upper for pair in self.above), 0.0)
        return min(max(worst[id(pair)].lower for pair in self.below), upper), upper

    @property
    def _pairs(self):
        """All pairs, each once."""
        return {id(pair): pair for pair in (*self.above, *self.below)}.values()

    def epsilon(self, delta):
        r"""Enclose the smallest ε ≥ 0 with :math:`\delta(\varepsilon) \le` ``delta``.

        Parameters
        ----------
        delta : float or array_like
            Failure probability, strictly between 0 and 1.

        Returns
        -------
        Certified
            ``upper`` is a proved guarantee: :math:`\delta(\text{upper}) \le` ``delta``.  Infinite,
            with a status that says so, where no finite ε is proved.

        Raises
        ------
        TypeError, ValueError
            If ``delta`` is not a number in (0, 1) or a non-empty array of them.
        """
        grid = arguments.reals(
            delta,
            "delta",
            above=0.0,
            below=1.0,
            remedy="a failure probability lies strictly between 0 and 1",
        )
        ends = np.array([self._epsilon(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        unbounded = bool(np.isinf(ends[..., 1]).any())
        return self._certified(
            ends[..., 0], ends[..., 1], "epsilon", Status.UNBOUNDED if unbounded else Status.CERTIFIED
        )

    def _epsilon(self, delta):
        target = math.log(delta)
        upper = worst_root(self.above, target, safe_above=True)
        if isinstance(self, Pair):
            lower = worst_root(self.below, target, safe_above=False, guess=upper)
        else:
            lower = worst_root(self.below, target, safe_above=False)
        return min(lower, upper), upper

    def renyi(self, order):
        r"""Enclose the Rényi divergence :math:`\max\{D_\lambda(P\|Q), D_\lambda(Q\|P)\}`.

        .. math:: e^{(\lambda-1) D_\lambda(P\|Q)} = 1 + \lambda(\lambda-1) \int_0^\infty
                  e^{(\lambda-1)\varepsilon} H_\varepsilon(P\|Q)
                  + e^{-\lambda\varepsilon} H_\varepsilon(Q\|P) \,d\varepsilon

        Parameters
        ----------
        order : float or array_like
            Order λ > 1, finite.

        Returns
        -------
        Certified
            ``upper`` is the safe end.

        Raises
        ------
        TypeError, ValueError
            If ``order`` is not a finite number above 1 or a non-empty array of them.
        """
        grid = arguments.reals(
            order, "order", above=1.0, remedy="the limit at 1 is the Kullback-Leibler divergence"
        )
        ends = np.array([self._renyi(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        unbounded = bool(np.isinf(ends[..., 1]).any())
        return self._certified(
            ends[..., 0],
            ends[..., 1],
            "Renyi divergence",
            Status.UNBOUNDED if unbounded else Status.CERTIFIED,
        )

    def _renyi(self, order):
        worst = {id(pair): pair.renyi_worst(order) for pair in self._pairs}
        return max(worst[id(pair)][0] for pair in self.below), max(worst[id(pair)][1] for pair in self.above)

    def tradeoff(self, fpr):
        r"""Enclose the smallest false-negative rate of a test with false-positive rate ``fpr``.

        .. math:: f(\alpha) = \sup_\varepsilon \max\{0,\; 1 - \delta(\varepsilon) - e^{\varepsilon}\alpha,\;
                  e^{-\varepsilon}(1 - \delta(\varepsilon) - \alpha)\}

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate α in [0, 1].

        Returns
        -------
        Certified
            ``lower`` is the safe end.  For a mechanism the worst order of the two neighbours is
            taken; for an ordered pair the null hypothesis is P and the alternative Q.

        Raises
        ------
        TypeError, ValueError
            If ``fpr`` is not a number in [0, 1] or a non-empty array of them.
        """
        grid = arguments.reals(
            fpr, "fpr", at_least=0.0, at_most=1.0, remedy="a false-positive rate is a probability"
        )
        ends = np.array([self._tradeoff(float(x)) for x in grid.ravel()]).reshape((*grid.shape, 2))
        return self._certified(np.minimum(ends[..., 0], ends[..., 1]), ends[..., 1], "false-negative rate")

    def subsample(self, *, rate):
        r"""Return the profile of the mechanism run on a random subset of its users.

        Parameters
        ----------
        rate : float
            Share of the population that is drawn, 1e-9 ≤ rate ≤ 1, without replacement; the users of
            this profile are those drawn.

        Returns
        -------
        PrivacyProfile
            See `shufflelib.subsampling.subsample`.
        """
        from shufflelib.subsampling import subsample

        return subsample(self, rate=rate)

    def compose(self, *, rounds):
        r"""Return the profile of equal adaptive rounds on the same data.

        Parameters
        ----------
        rounds : int
            Number of rounds, 1 ≤ rounds ≤ 10⁹.

        Returns
        -------
        PrivacyProfile
            See `shufflelib.composition.repeat`; `shufflelib.composition.compose` takes unequal rounds.
        """
        from shufflelib.composition import repeat

        return repeat(self, rounds=rounds)

    def _tradeoff(self, fpr):
        above = [
            end
            for pair in self.above
            for end in (pair.false_negatives(fpr), pair.reversed.false_negatives(fpr))
        ]
        below = [
            end
            for pair in self.below
            for end in (pair.false_negatives(fpr), pair.reversed.false_negatives(fpr))
        ]
        return min(end[0] for end in above), min(end[1] for end in below)


class Pair(PrivacyProfile):
    """An ordered pair (P, Q) of laws, known through its hockey-stick divergence."""

    symmetric = False  # H(P‖Q) = H(Q‖P) at every eps
    search_width = 1e-11  # relative width at which a search for ε stops

    @property
    def above(self):
        """The pair itself."""
        return (self,)

    below = above

    @abstractmethod
    def log_hockey_stick(self, eps, tolerance=TOLERANCE) -> LogBracket:
        """Enclose log H_eps(P‖Q) at one eps ≥ 0, aiming at a relative width ``tolerance``."""

    @property
    @abstractmethod
    def reversed(self) -> "Pair":
        """The pair (Q, P)."""

    @property
    @abstractmethod
    def largest_loss(self) -> float:
        """Essential supremum of log P/Q, possibly infinite; H vanishes from there on."""

    @functools.cached_property
    def _remembered(self):
        """Values of the curve already computed for dots; they cost time, never change a result."""
        return {}

    def dot(self, eps, tolerance):
        """Enclose log H_eps(P‖Q), remembering it."""
        key = eps, tolerance
        if key not in self._remembered:
            self._remembered[key] = self.log_hockey_stick(eps, tolerance)
        return self._remembered[key]

    def log_worst(self, eps, tolerance=TOLERANCE):
        """Enclose the logarithm of the larger of the two directions."""
        forward = self.log_hockey_stick(eps, tolerance)
        if self.symmetric:
            return forward
        backward = self.reversed.log_hockey_stick(eps, tolerance)
        return LogBracket(max(forward.lower, backward.lower), max(forward.upper, backward.upper))

    def renyi_directed(self, order):
        """Return both ends of D_order(P‖Q)."""
        return dots.Dots(self).renyi(order)

    def renyi_worst(self, order):
        """Return both ends of the larger of the two directions."""
        forward = self.renyi_directed(order)
        backward = forward if self.symmetric else self.reversed.renyi_directed(order)
        return max(forward[0], backward[0]), max(forward[1], backward[1])

    def false_negatives(self, fpr):
        """Return both ends of the smallest false-negative rate, null P against alternative Q."""
        return dots.Dots(self).false_negatives(fpr)

    def _tradeoff(self, fpr):
        return self.false_negatives(fpr)


class DiscretePair(Pair):
    r"""Any finite pair of laws.

    Parameters
    ----------
    log_p, log_q : array_like, shape (m,)
        Natural logarithms of the masses on a common support; ``-inf`` for zero.  Each law's masses
        sum to 1 (within 1e-9).

    Raises
    ------
    TypeError, ValueError
        If shapes differ, entries are NaN or ``+inf``, or a law's masses do not sum to 1.

    Notes
    -----
    Cost O(m) for each number.  Rounding of the inputs' logarithms is charged to both ends.
    """

    statement = "a finite pair (P, Q)"
    source = "exact sums over the support; both ends differ by rounding only"

    def __init__(self, log_p, log_q):
        log_p = _log_masses(log_p, "log_p")
        log_q = _log_masses(log_q, "log_q")
        if log_p.shape != log_q.shape:
            raise ValueError(
                f"log_p and log_q must have equal shapes, got {log_p.shape} and {log_q.shape}; "
                "list both laws on one common support"
            )
        keep = ~(np.isneginf(log_p) & np.isneginf(log_q))
        log_p, log_q = log_p[keep], log_q[keep]
        with np.errstate(invalid="ignore"):
            loss = log_p - log_q
        finite = np.isfinite(loss)
        size = np.abs(log_p[finite]).max(initial=0.0) + np.abs(log_q[finite]).max(initial=0.0)
        same = np.ones(loss.size)
        self._fill(
            log_p, log_q, loss, mass_error=4 * UNIT * (1.0 + size) * same, loss_error=2 * UNIT * size * same
        )

    @classmethod
    def _from_losses(cls, log_p, log_q, loss, *, mass_error, loss_error):
        pair = cls.__new__(cls)
        pair._fill(log_p, log_q, loss, mass_error=mass_error, loss_error=loss_error)
        return pair

    def _fill(self, log_p, log_q, loss, *, mass_error, loss_error):
        order = np.argsort(loss, kind="stable")
        self.log_p, self.log_q, self.loss = log_p[order], log_q[order], loss[order]
        self.mass_error, self.loss_error = mass_error[order], loss_error[order]

    @property
    def reversed(self):
        """The pair (Q, P)."""
        return DiscretePair._from_losses(
            self.log_q, self.log_p, -self.loss, mass_error=self.mass_error, loss_error=self.loss_error
        )

    @property
    def largest_loss(self):
        """Largest loss on the support of P, rounding included."""
        on_p = self.loss[~np.isneginf(self.log_p)]
        return float(on_p[-1] + self.loss_error.max() + 4 * UNIT * abs(on_p[-1]))

    @functools.cached_property
    def _loss_ends(self):
        slack = np.where(np.isinf(self.loss), 0.0, self.loss_error + 4 * UNIT * np.abs(self.loss))
        return self.loss - slack, self.loss + slack

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose log Σ P (1 − e^{eps − loss})₊, terms added from the small end."""
        first = np.searchsorted(self.loss, eps - self.loss_error.max(initial=0.0) - 8 * UNIT * (1 + eps))
        ends = []
        for loss, side in zip(self._loss_ends, (-1.0, 1.0), strict=True):
            with np.errstate(divide="ignore"):
                part = np.log(np.maximum(-np.expm1(np.minimum(eps - loss[first:], 0.0)), 0.0))
            ends.append(logsumexp(self.log_p[first:] + side * self.mass_error[first:] + part))
        slack = UNIT * (8 + math.log2(self.loss.size + 1))
        slack = [slack + 4 * UNIT * abs(end) if end > -math.inf else 0.0 for end in ends]
        return LogBracket(ends[0] - slack[0], min(ends[1] + slack[1], 0.0))

    def renyi_directed(self, order):
        """Return both ends of D_order(P‖Q), from Σ Q φ(loss) with φ ≥ 0."""
        if np.isposinf(self.loss[-1]):
            return math.inf, math.inf
        low, high = self._loss_ends
        toward = np.where(self.loss > 0, np.maximum(low, 0.0), np.minimum(high, 0.0))
        away = np.where(self.loss > 0, high, low)
        ends = []
        for loss, side in ((toward, -1.0), (away, 1.0)):
            terms = self.log_q + dots.log_renyi_kernel(loss, order)
            size = np.where(np.isfinite(terms), np.abs(terms), 0.0)
            total = logsumexp(terms + side * (self.mass_error + (64 + 4 * size) * UNIT))
            ends.append(dots.renyi_from_moment(total, order) * (1.0 + side * 8 * UNIT))
        return tuple(ends)

    def false_negatives(self, fpr):
        """Return both ends of T(P, Q)(fpr) by the Neyman-Pearson lemma: reject for small P/Q first."""
        p, q = np.exp(self.log_p), np.exp(self.log_q)
        p, q = p / math.fsum(p), q / math.fsum(q)
        # null P: reject where Q/P is largest, that is where the loss is smallest
        spent = np.concatenate([[0.0], np.cumsum(p)])
        kept = np.concatenate([np.cumsum(q[::-1])[::-1], [0.0]])
        value = float(np.interp(fpr, spent, kept)) if fpr < spent[-1] else 0.0
        i = min(int(np.searchsorted(spent, fpr, side="right")), p.size) - 1
        slope = math.exp(min(-self.loss[i], 700.0))
        # an error of the masses moves a normalised partial sum S by R dS + S dR, R the rest
        rounding = self.mass_error + UNIT * (16 + math.sqrt(p.size))
        p_error, q_error = np.cumsum(p * rounding), np.cumsum(q * rounding)
        rest = min(1.0, float(spent[i + 1]))
        spread = value * q_error[i] + (1.0 - value) * (q_error[-1] - (q_error[i - 1] if i > 0 else 0.0))
        spread += slope * (rest * (p_error[-1] - p_error[i]) + (1.0 - float(spent[i])) * p_error[i])
        spread += 8 * UNIT * (value + slope * fpr)
        return max(value - spread, 0.0), min(value + spread, 1.0)


def _log_masses(values, name):
    if isinstance(values, str | bytes):
        arguments.reals(values, name)
    array = np.asarray(values, dtype=float) if np.asarray(values).dtype.kind in "fiu" else None
    if array is None or array.ndim != 1:
        raise TypeError(f"{name} must be a one-dimensional array of logarithms of masses, got {values!r}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty; list at least one mass")
    if np.isnan(array).any() or np.isposinf(array).any():
        raise ValueError(f"{name} must not hold NaN or +inf; use -inf for a mass of zero")
    total = math.exp(logsumexp(array))
    if abs(total - 1.0) > 1e-9:
        raise ValueError(
            f"{name} must hold the logarithms of masses that sum to 1, got a sum of {total:.12g}"
        )
    return array


class Gaussian(Pair):
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
    """

    symmetric = True
    source = "closed form; both ends differ by rounding only"

    def __init__(self, mu):
        self.mu = arguments.real(mu, "mu", at_least=1e-9, at_most=1e4, remedy="mu is a separation, positive")
        self.statement = f"{self.mu:g}-Gaussian differential privacy"

    @property
    def reversed(self):
        """The same pair: it is symmetric."""
        return self

    @property
    def largest_loss(self):
        """Infinite."""
        return math.inf

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose the closed form."""
        a, b = eps / self.mu - 0.5 * self.mu, eps / self.mu + 0.5 * self.mu
        if a < -1.0:
            value = ndtr(-a) - math.exp(eps) * ndtr(-b) if eps < 700 else ndtr(-a)
            slack = 40 * UNIT * (1.0 + b * b)
            return LogBracket(math.log(max(value - slack, TINY)), math.log(min(value + slack, 1.0)))
        mills_a, mills_b = (math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2))) for x in (a, b))
        difference = mills_a - mills_b
        scale = -0.5 * a * a - 0.5 * math.log(2 * math.pi)
        error = 16 * UNIT * mills_a + 8 * UNIT * (abs(a) + abs(b)) * (1 + abs(a))
        error = min(error, 16 * UNIT * mills_a + 8 * UNIT * abs(a) * mills_a + difference * 16 * UNIT)
        relative = 8 * UNIT * (1.0 + a * a) * 2
        low = math.log(difference - error) if difference > error else -math.inf
        return LogBracket(scale + low - relative, scale + math.log(difference + error) + relative)

    def renyi_directed(self, order):
        """Return both ends of order·μ²/2."""
        value = 0.5 * order * self.mu**2
        return value * (1 - 4 * UNIT), value * (1 + 4 * UNIT)

    def false_negatives(self, fpr):
        """Return both ends of Φ(Φ⁻¹(1 − fpr) − μ)."""
        if fpr in (0.0, 1.0):
            return 1.0 - fpr, 1.0 - fpr
        z = -float(ndtri(fpr))
        value = float(ndtr(z - self.mu))
        relative = 16 * UNIT * (1.0 + (z - self.mu) ** 2 + z * z)
        return value * (1 - relative), min(value * (1 + relative), 1.0)

r"""The worst of many blanket pairs: all bounded without an integral, computed where that does not decide."""

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT, mills_ratio
from shufflelib.numerics.optional import counting
from shufflelib.profiles.hockey_stick import SymmetricPair
from shufflelib.profiles.questions import in_both_directions

ESSEEN = 0.4748  # the constant of the Berry-Esseen theorem for equal distributions
LARGEST_EXPONENT = 500.0
STEPS = 12  # of Newton's method at most
CLOSE = 0.1  # relative length of a step that is not taken any more
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
MOST_KNOTS = 150
BLOCK = 2**15  # atoms that are bounded at once
MOST = 2**20  # values of curves kept at once
ROUGH = 0.02  # relative width of a first look at a curve


class WorstPair(SymmetricPair):
    r"""The symmetric pair whose curve is the largest of many blanket pairs', both directions included.

    Parameters
    ----------
    pairs : sequence of BlanketPair
        All with the same number of users n.

    Notes
    -----
    An `Envelope` that does not look at all of its curves.  At each ε every curve has upper bounds, plus the
    mass outside: with S the sum of the losses of n users, M(θ) the generating function of one loss and P_θ
    the distribution tilted by any θ > 0,

    .. math:: n H_\varepsilon = M(\theta)^n\, \mathbb E_\theta(S_+ e^{-\theta S}) .

    The function is at most 1/(eθ), which is Chernoff's bound.  It rises to that at 1/θ, with a slope of at
    most 1, and falls again.  So its mean differs from that of a normal variable with the mean and variance of
    S by at most the smaller of

    .. math:: \frac{\mathbb E_\theta|X|^3}{\sigma^2}, \qquad
              \frac{2}{e\,\theta}\; 0.4748\, \frac{\mathbb E_\theta|X|^3}{\sqrt n\,\sigma^3},

    with X one loss minus its mean: the first is the distance of the distribution functions integrated over
    all thresholds (Goldstein, Ann. Probab. 38, 2010, Theorem 1.1), the second is twice the largest value
    times the largest distance (Shevtsova, arXiv:1111.6554, the Berry-Esseen theorem).  These bounds are a
    tenth to a third above the truth for a thousand users, closer for more.

    Curves are looked at roughly, in the order of these ends, until the next end is below what has been found;
    of those seen only the ones that may be the worst are computed.  A curve that is needed at several ε is
    asked for all of them at once; which are needed at an ε does not depend on the others.  Ends of all curves
    are known at knots, between which chords bound them; only where these leave it open is an end computed at
    the ε itself.  Cost of a number: a few exponentials for each atom of each pair, some rough looks, and one
    or two curves; O(1) in n.
    """

    def __init__(self, pairs):
        self.pairs = tuple(pairs)
        self.search_width = max(pair.search_width for pair in self.pairs)
        self.directions = tuple(in_both_directions(self.pairs))
        all_ratios = [pair.ratios for pair in self.directions]
        atoms = max(ratios.w.size for ratios in all_ratios)
        self._first, self._second, self._mass = (
            np.array([np.pad(getattr(ratios, name), (0, atoms - ratios.w.size)) for ratios in all_ratios])
            for name in ("r0_over_w", "r1_over_w", "w")
        )
        self._doubt = max(ratios.precision for ratios in all_ratios) + (atoms + 24) * UNIT
        self._open = np.array([ratios.r0_outside > 0.0 for ratios in all_ratios])

    @property
    def max_privacy_loss(self):
        """The largest loss of any of the pairs."""
        return max(one.max_privacy_loss for one in self.directions)

    def ceilings(self, eps, some=None):
        """Return an upper bound on log H at one ε for all or some of the directions, without a quadrature."""
        some = np.arange(len(self.directions)) if some is None else some
        n, blocks = self.directions[0].n, range(0, some.size, max(1, BLOCK // self._mass.shape[1]))
        sums = [self._log_sums(math.exp(-eps), some[at : at + blocks.step]) for at in blocks]
        best = np.concatenate([*sums, np.empty(0)])
        best += eps - math.log(n) + 1e-9 * (1.0 + np.abs(best))
        for i in np.flatnonzero(self._open[some]):
            outside = self.directions[some[i]].ratios.log_outside(eps)[1]
            best[i] = np.logaddexp(best[i], outside)
        return np.minimum(best, 0.0)

    @cached_property
    def _knots(self):
        """Ceilings at the knots asked for so far; they cost time, never change a result."""
        return {0: self.ceilings(0.0)}

    def _chords(self, eps):
        """Return upper bounds on log H of every direction: below chords between knots, as H is convex in e^ε.

        A curve like that of a Gaussian pair falls by about half a nat from one knot to the next.
        """
        width = 2.5 * math.exp(float(self._knots[0].max()))
        knot = int(min((eps / width) ** 2, MOST_KNOTS))
        if knot == MOST_KNOTS:
            return self.ceilings(eps)
        knot += (width * math.sqrt(knot + 1.0) < eps) - (width * math.sqrt(knot) > eps)  # after rounding
        left, right = width * math.sqrt(knot), width * math.sqrt(knot + 1.0)
        for one, at in ((knot, left), (knot + 1, right)):
            if one not in self._knots:
                self._knots[one] = self.ceilings(at)
        share = math.expm1(eps - left) / math.expm1(right - left)
        weights = 1.0 - share + 4e-15, share + 4e-15  # each with the rounding of the share
        parts = (self._knots[knot + i] + math.log(weights[i]) for i in (0, 1))
        best = np.logaddexp(*parts)
        return np.minimum(best + 1e-12 * (1.0 + np.abs(best)), 0.0)

    def _log_sums(self, shrink, block):
        """Return upper bounds on log E(G₁ + … + G_n)₊ for some of the directions."""
        n, doubt, mass = self.directions[0].n, self._doubt, self._mass[block]
        first, second = self._first[block] * shrink, self._second[block]
        value, size, best = first - second, first + second, np.full(len(mass), math.inf)
        live = np.arange(len(mass))
        with np.errstate(all="ignore"):  # a bound that is NaN is none
            slope, bend = (n * part.sum(axis=1) for part in (mass * value, mass * value * value))
            theta = (np.hypot(slope, np.sqrt(8.0 * bend)) - slope) / (2.0 * bend)  # of a Gaussian sum
            theta = np.where(np.isfinite(theta), np.maximum(theta, 1e-300), 1.0)
            for _ in range(STEPS):
                above = value + doubt * size
                steepest = LARGEST_EXPONENT / np.maximum(above.max(axis=1), 1e-300)
                theta = np.minimum(theta, steepest)
                grown = mass * np.expm1(theta[:, None] * above)
                moment = grown.sum(axis=1) + doubt * np.abs(grown).sum(axis=1)
                tilted = (grown + mass) / (1.0 + moment)[:, None]
                weighted = tilted * value
                mean, variance = weighted.sum(axis=1), (weighted * value).sum(axis=1)
                variance -= mean * mean
                log_moment = n * np.log1p(np.maximum(moment, -1.0 + UNIT))
                best[live] = np.fmin(best[live], log_moment - 1.0 - np.log(theta))
                # a step of Newton's method, where it is one
                rise = n * (mean + theta * variance)
                better = np.where(rise > 0.0, (2.0 + theta * theta * n * variance) / rise, math.inf)
                better = np.minimum(np.clip(better, 0.25 * theta, 4.0 * theta), steepest)
                far = ~(np.abs(better - theta) <= CLOSE * theta)
                near = np.flatnonzero(~far)
                if near.size:
                    parts = (part[near] for part in (theta, tilted, value, size, mean, variance))
                    bound = log_moment[near] + np.log(self._near_gaussian(*parts))
                    best[live[near]] = np.fmin(best[live[near]], bound)
                if near.size == live.size:
                    break
                live, theta, mass, value, size = (part[far] for part in (live, better, mass, value, size))
        return best

    def _near_gaussian(self, theta, tilted, value, size, mean, variance):
        """Return upper bounds on E(S₊ e^{−θS}) for the sum S under the distributions tilted by θ."""
        n, doubt = self.directions[0].n, self._doubt
        share = 6.0 * doubt * (1.0 + theta * size.max(axis=1))  # by which a tilted mass may be off
        weighted = tilted * size
        shift = 2.0 * share * weighted.sum(axis=1)
        unsure = 2.0 * share * (weighted * size).sum(axis=1) + 4.0 * (np.abs(mean) + shift) * shift
        least = variance - unsure
        away = np.abs(value - mean[:, None]) + (shift[:, None] + doubt * size)
        none = np.maximum(1.0 - tilted.sum(axis=1), 0.0) + share
        third = (tilted * away**3).sum(axis=1) + none * (np.abs(mean) + shift) ** 3
        third *= 1.0 + 2.0 * share
        deviation = np.sqrt(n * variance)
        at = n * mean / deviation
        beyond = theta * deviation - at
        gaussian = deviation * np.exp(-0.5 * at * at) * (1.0 - beyond * mills_ratio(beyond)) / ROOT_TWO_PI
        moved = n * shift + math.sqrt(n) * unsure / np.sqrt(
            least
        )  # by at most which a mean of slope 1 is off
        apart = np.fmin(third / least, 2.0 * ESSEEN / math.e * third / (theta * np.sqrt(n * least) * least))
        bound = gaussian * (1.0 + 1e-9) + moved + apart
        return np.where((least > 0.0) & (share < 1e-3) & (beyond > -30.0) & (bound > 0.0), bound, math.inf)

    @counting("curves of pairs")
    def _log_curve(self, eps, tolerance):
        """Enclose the largest of all curves at every ε."""
        lower, upper = np.empty((2, eps.size))
        step = max(1, MOST // len(self.directions))
        for start in range(0, eps.size, step):
            some = slice(start, start + step)
            lower[some], upper[some] = self._largest(eps[some], tolerance)
        return Interval(lower, upper)

    def _largest(self, eps, tolerance):
        """Enclose the largest of all curves at some ε."""
        lower, upper = self._rough(eps, max(tolerance, ROUGH))
        if tolerance < ROUGH:
            best = np.zeros(lower.shape, bool)
            best[np.arange(eps.size), lower.argmax(axis=1)] = True
            self._ask(best, eps, tolerance, lower, upper)
            rest = ~best & (upper > lower.max(axis=1, keepdims=True))
            self._ask(rest, eps, tolerance, lower, upper)
        return lower.max(axis=1), upper.max(axis=1)

    def _rough(self, eps, tolerance):
        """Enclose every curve that can be the largest; the others are no larger than these."""
        ceilings = np.array([self._chords(x) for x in eps.tolist()])
        lower, upper = np.full((2, *ceilings.shape), -math.inf)
        first = np.zeros(ceilings.shape, bool)
        first[np.arange(eps.size), ceilings.argmax(axis=1)] = True
        self._ask(first, eps, tolerance, lower, upper)
        left = (ceilings > lower.max(axis=1, keepdims=True)) & ~first
        for k in np.flatnonzero(left.any(axis=1)):
            some = np.flatnonzero(left[k])
            ceilings[k, some] = np.minimum(ceilings[k, some], self.ceilings(eps[k], some))
        order, rank = np.argsort(np.where(left, -ceilings, math.inf), axis=1, kind="stable"), 0
        while rank < len(self.directions):
            end = rank + max(1, rank // 2)
            asked = np.zeros(ceilings.shape, bool)
            np.put_along_axis(asked, order[:, rank:end], True, axis=1)
            asked &= left & (ceilings > lower.max(axis=1, keepdims=True))
            if not asked.any():
                break
            self._ask(asked, eps, tolerance, lower, upper)
            rank = end
        return lower, upper

    def _ask(self, asked, eps, tolerance, lower, upper):
        """Ask each direction for its curve where it is wanted, and write down what it answers."""
        for i in np.flatnonzero(asked.any(axis=0)):
            some = asked[:, i]
            lower[some, i], upper[some, i] = self.directions[i].log_hockey_stick(eps[some], tolerance)

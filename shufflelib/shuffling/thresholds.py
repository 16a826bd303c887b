r"""Sample and threshold: a random share of the users report, and a value is shown if enough of them hold it.

Let c other users hold a value.  Without the user who changes its number is :math:`X \sim \mathrm{Bin}(c, s)`,
with them :math:`Y \sim \mathrm{Bin}(c + 1, s)`; numbers below the threshold T are one symbol ⊥.  With
:math:`E = e^\varepsilon` and :math:`\Pr[Y = k] = \Pr[X = k]\,(c+1)(1-s)/(c+1-k)`,

.. math:: H(Y\|X) = \sum_{k \ge T} \Pr[Y = k] \Bigl(1 - \frac{E\,(c+1-k)}{(c+1)(1-s)}\Bigr)_+, \qquad
          H(X\|Y) = \Bigl(\sum_{k < T} \Pr[Y = k] \Bigl(\frac{c+1-k}{(c+1)(1-s)} - E\Bigr)\Bigr)_+

as long as no number k ≥ T is likelier under X by more than E.

Why no other c is worse.  Without a threshold a further user adds the same coin to both numbers, so that both
divergences fall in c, and the threshold lowers them.  With f(c) = Pr[X = T - 1], as long as the sums are over
all k ≥ T and all k < T, a further user adds s (f(c + 1) - E f(c)) to the first and s (E f(c + 1) - f(c)) to
the second.  As f(c + 1)/f(c) = (c + 1)(1 - s)/(c + 2 - T) falls in c, they rise up to the first c with

.. math:: E\,(c + 2 - T) \ge (c + 1)(1 - s), \qquad c + 2 - T \ge E\,(c + 1)(1 - s)

and from there the threshold hides nothing that counts: they fall.  For E (1 - s) ≥ 1 the second is always 0.
"""

import math
from functools import partial

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT, binomial_pmf_error, log_binomial_pmf
from shufflelib.profiles.adjacency import SHUFFLED, Adjacency, replace_one
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.composition import ComposedPair
from shufflelib.profiles.finite_products import times
from shufflelib.profiles.hockey_stick import Indistinguishable, Pair, pointwise
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.profiles.shown import Made

__all__ = ["sample_and_threshold"]

RELATIONS = ("add or remove", "replace")
LARGEST_THRESHOLD = 10**6
WIDTH = 16.0  # deviations of the numbers that are added up
BESIDE = np.array([-1.0, 0.0, 1.0])  # numbers of others tried, from where the worst is
TRIED = (0.0, 0.1, 0.3, 1.0)  # ε of attacks
MOST_ATTACKED, MOST_LISTED = 10**6, 400  # others in an attack on one value and on two
ASSUMPTIONS = (
    "whoever collects the reports is trusted to show numbers at or above the threshold only, and nobody sees "
    "the others, or how many there are, or which users report",
    "every user reports independently with the given probability, by private randomness",
    SHUFFLED[3],
)


def sample_and_threshold(*, rate: float, threshold: int, neighbours: str = "add or remove") -> Profile:
    r"""Return the certified profile of a histogram of a sample, of numbers at or above a threshold.

    .. math:: \delta(\varepsilon) = \max_c \max\{H_\varepsilon(Y\|X),\, H_\varepsilon(X\|Y)\}, \qquad
              X \sim \mathrm{Bin}(c, s),\; Y \sim \mathrm{Bin}(c+1, s)

    Parameters
    ----------
    rate : float
        Probability s with which a user reports, 1e-9 ≤ s < 1, independently of all others.
    threshold : int
        Smallest number T of reports of a value that is shown, 1 ≤ T ≤ 10⁶.
    neighbours : {"add or remove", "replace"}
        Whether a user's report is added or removed, which changes one number, or its value is replaced by
        another one, which changes two.

    Returns
    -------
    Profile
        δ and ε are those of the worst dataset at every ε, on both sides, for any number of users and of
        values.  For "replace", Rényi divergences, trade-off functions and rounds upper bounds grant the
        worst one at every ε, which no single dataset need attain; lower bounds are those of some datasets.

    Notes
    -----
    The numbers below the threshold must not be shown to anybody; a server that sees them, or the values they
    belong to, is outside the theorem.  δ is positive at every ε: T users who all report a value show that
    each of them holds it.

    Source: exact, see the proof in `shuffling.thresholds`; the mechanism is that of Bharadwaj, Cormode,
    "Sample-and-threshold differential privacy" (AISTATS 2022).

    Examples
    --------
    A tenth of the users report, 20 reports are shown:

    >>> from shufflelib import shuffling
    >>> bracket = shuffling.sample_and_threshold(rate=0.105, threshold=20).epsilon(delta=1e-8)
    >>> round(bracket.lower, 4), round(bracket.upper, 4)
    (0.318, 0.318)
    """
    remedy = "it is the probability with which a user reports"
    rate = validation.real(rate, "rate", at_least=validation.SMALLEST_RATE, below=1.0, remedy=remedy)
    remedy = "it is the smallest number that is shown"
    threshold = validation.count(threshold, "threshold", at_most=LARGEST_THRESHOLD, remedy=remedy)
    validation.one_of(neighbours, "neighbours", RELATIONS)
    changed = Adjacency("add or remove one user's value, whatever the others hold", any_value=False)
    return Profile(
        bounds=partial(_bounds, rate, threshold, neighbours == "replace"),
        statement=f"numbers of at least {threshold} reports, of users who report with probability {rate:g}",
        source="the worst number of other users who hold the value, at every ε",
        adjacency=replace_one() if neighbours == "replace" else changed,
        assumptions=ASSUMPTIONS,
        written=Made(
            "sample_and_threshold", None, {"rate": rate, "threshold": threshold, "neighbours": neighbours}
        ),
    )


def _bounds(rate, threshold, replaced):
    """Return the worst number of others at every ε, and attacks with one for some ε."""
    worst = WorstNumber(rate, threshold)
    some = {worst.others(eps) for eps in (-0.5 * math.log1p(-rate), -math.log1p(-rate), *TRIED)}
    some = {c for c in some if c <= (MOST_LISTED if replaced else MOST_ATTACKED)}
    listed = [_thresholded(rate, threshold, int(c)) for c in sorted(some)]
    if not replaced:
        return Bounds((worst,), tuple(listed) or (Indistinguishable(),), attained=(worst,))
    alone = listed if threshold > 1 else []  # nobody else holds the other value, which is not shown
    both = [times(one, other.reversed) for one in listed for other in listed]
    above = ComposedPair([(worst, 1), (worst.reversed, 1)])
    return Bounds((above,), (*alone, *both) or (Indistinguishable(),))


class WorstNumber(Pair):
    """The pair (Y, X) of the worst number of other users who hold a value, for each ε and order separately.

    The largest of convex curves is convex, so that it is the curve of a pair, which dominates all of them.
    """

    search_width = 1e-9

    def __init__(self, rate, threshold, present=True):
        self.rate, self.threshold, self.present = rate, threshold, present
        self.log_stay = float(np.log1p(-rate))

    @cached_property
    def reversed(self):
        """The pair (X, Y)."""
        return WorstNumber(self.rate, self.threshold, not self.present)

    @property
    def max_privacy_loss(self):
        """None where the user is present; else every number is likelier by 1/(1 − s) at most."""
        return math.inf if self.present else -self.log_stay * (1.0 + 8 * UNIT)

    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose the divergence at the first number from which on it falls, and beside it."""
        if not self.present:
            return self._absent(eps)
        found = [self._present(eps, c) for c in self._beside(self.others(eps))]
        return tuple(max(ends) for ends in zip(*found, strict=True))

    def _beside(self, c):
        return {max(c + step, self.threshold - 1.0) for step in BESIDE.tolist()}

    def others(self, eps):
        """Return the number of others at which H(Y‖X) is largest, to within 1.

        The divisor e^ε − 1 + s is known to a few units, and the quotient is at most 10¹⁵.
        """
        grown = math.expm1(min(eps, 40.0))
        c = ((1.0 - self.rate) + (1.0 + grown) * (self.threshold - 2.0)) / (grown + self.rate)
        return float(max(math.ceil(c), self.threshold - 1))

    def _present(self, eps, c):
        """Enclose log H(Y‖X) for c others."""
        first, (mean, deviation) = float(self.threshold), self._spread(c)
        last = min(c + 1.0, math.ceil(max(first, mean) + WIDTH * deviation + 64.0))
        k = np.arange(first, last + 1.0)
        times = (c + 1.0 - k) / (c + 1.0) * math.exp(min(eps - self.log_stay, 700.0))
        gain = Interval.of(1.0 - times).widened(1.0, _doubt(eps, self.log_stay, times))
        log_mass = _log_masses(k, c + 1.0, self.rate)
        beyond = -math.inf
        if last < c + 1.0:
            log_ratio = (
                math.log((c + 1.0 - last) / (last + 1.0)) + math.log(self.rate) - self.log_stay + 1e-12
            )
            beyond = log_mass.upper[-1] + log_ratio - math.log(-math.expm1(log_ratio)) + 1e-9
        total = (log_mass + gain.within(least=0.0).log()).log_sum()
        return total.lower, float(np.logaddexp(total.upper, beyond)) + 8 * UNIT

    def _absent(self, eps):
        """Enclose the largest log H(X‖Y), which is 0 from E (1 − s) = 1 on.

        Close to that the place of the worst number loses its digits; there a smaller ε, whose divergence is
        larger, gives the upper bound.  At ε = 0 the two directions are equal.
        """
        if eps >= -self.log_stay * (1.0 + 4 * UNIT):
            return -math.inf, -math.inf
        closest = 4.0 * math.sqrt((self.threshold + 1.0) * (1.0 - self.log_stay) * 1e-15)
        farthest = -self.log_stay - closest
        if farthest <= 0.0:
            return -math.inf, max(self._present(0.0, c)[1] for c in self._beside(self.others(0.0)))
        at = min(eps, farthest)
        stays = math.exp(at + self.log_stay)
        worst = math.ceil((stays + self.threshold - 2.0) / -math.expm1(at + self.log_stay))
        ends = [self._missing(at, c) for c in self._beside(float(worst))]
        lower, upper = (max(end) for end in zip(*ends, strict=True))
        return (lower if at == eps else -math.inf), upper

    def _missing(self, eps, c):
        """Enclose log H(X‖Y) for c others, from what is below the threshold."""
        mean, deviation = self._spread(c)
        last = self.threshold - 1.0
        first = max(0.0, math.floor(min(last, mean) - WIDTH * deviation - 64.0))
        k = np.arange(first, last + 1.0)
        ratio = (c + 1.0 - k) / (c + 1.0) * math.exp(-self.log_stay)
        gain = Interval.of(ratio - math.exp(eps))
        gain = gain.widened(1.0, _doubt(eps, self.log_stay, ratio + math.exp(eps)))
        log_mass = _log_masses(k, c + 1.0, self.rate)
        terms = log_mass.exp() * gain
        total = terms.sum()
        upper = total.upper
        if first > 0.0:  # what is left out is at most a share ρ/(1 − ρ) of the first, times the largest gain
            log_ratio = math.log(first / (c + 2.0 - first)) - math.log(self.rate) + self.log_stay + 1e-12
            share = math.exp(log_ratio) / -math.expm1(log_ratio) * (1.0 + 1e-9)
            upper += share * math.exp(log_mass.upper[0] - self.log_stay) * (1.0 + 1e-9)
        return tuple(Interval(max(total.lower, 0.0), max(upper, 0.0)).log())

    def _spread(self, c):
        """Return the mean and the deviation of Y, nearly."""
        mean = (c + 1.0) * self.rate
        return mean, math.sqrt(mean * (1.0 - self.rate))


def _log_masses(k, n, rate):
    """Enclose log Pr[Bin(n, rate) = k]."""
    log_mass = log_binomial_pmf(k, n, rate)
    return Interval.of(log_mass).widened(absolute=binomial_pmf_error(log_mass))


def _doubt(eps, log_stay, size):
    """Return the error of a likelihood ratio times e^ε: of logarithms and of their exponential."""
    return size * (16.0 + 8.0 * min(abs(eps), 800.0) + 8.0 * abs(log_stay)) * UNIT


def _thresholded(rate, threshold, c):
    """Return the pair (Y, X) for c others; numbers that are left out are between none and all of the rest."""
    mean = (c + 1.0) * rate
    reach = 30.0 * math.sqrt(mean * (1.0 - rate)) + 200.0
    last = min(c + 1.0, math.ceil(max(mean, threshold) + reach))
    k = np.arange(threshold, last + 1.0)
    masses = []
    for n in (c + 1.0, float(c)):
        below = _log_masses(np.arange(0.0, threshold), n, rate).log_sum()
        shown = Interval(*np.atleast_1d(below.lower, below.upper)), _log_masses(k, n, rate)
        masses.append(Interval.concatenate(shown))
    rest = Interval(np.full(1, -np.inf), np.full(1, -290.0))  # by Bernstein's inequality
    none = Interval.of(np.full(1, -np.inf))
    log_y = Interval.concatenate((masses[0], rest, none))
    log_x = Interval.concatenate((masses[1], none, rest))
    with np.errstate(invalid="ignore"):
        return DiscretePair.from_losses(log_y, log_x, log_y - log_x)

r"""The product of pairs of distributions: what adaptive rounds on the same data reveal together.

If a round's pair of output distributions has its curve below that of (P_k, Q_k) for every history, all rounds
together have theirs below that of the product.

Source: Zhu, Dong, Wang (AISTATS 2022), Theorem 10.
"""

import contextlib
import functools
import math
import threading

import numpy as np

from shufflelib.numerics.certified import LOG_ZERO, Interval
from shufflelib.numerics.composed_loss import ComposedPLD
from shufflelib.numerics.logspace import logsumexp
from shufflelib.profiles.connect_the_dots import DOT_TOLERANCE
from shufflelib.profiles.discretised_loss import DiscretisedLoss
from shufflelib.profiles.hockey_stick import Pair, pointwise

WIDTH = 3e-4  # relative width in ε aimed at, not always reached
NARROWEST, WIDEST = 5e-4, 5e-3  # relative widths in δ aimed at, with that in ε
ROUGHEST = 0.5  # relative width of δ at which an integral still says more than Chernoff's bound
GLANCE = 1e-4  # relative width of a total variation that is only looked at
FAR_ABOVE = 30.0  # nats
NOTICED = 0.1  # share of a width from which on it is worth more dots


_LOCK = threading.RLock()


@contextlib.contextmanager
def locked():
    """Hold a lock, as all questions to the same rounds share their dots: a decorator."""
    with _LOCK:
        yield


def added(counted):
    """Return both bounds of a sum from counts and the ends of one term each."""
    return sum((Interval(*ends) * count for count, ends in counted), start=Interval.of(0.0))


class ComposedPair(Pair):
    r"""The product of pairs, each repeated: :math:`P_1^{k_1} \otimes P_2^{k_2} \dots` and the same for Q.

    Parameters
    ----------
    rounds : sequence of (Pair, int)
        Distinct pairs and how often each occurs.

    Notes
    -----
    For pairs with many different losses (Gaussian pairs, those of shuffled mechanisms), up to 10⁴ rounds and
    δ from 1e-9 to δ(0)/2, the bracket of δ is at most 0.6 % wide and that of ε at most 0.04 %, relatively;
    ``tests/test_promised_precision.py`` checks a grid.  Both are wider where few values of the total loss
    carry the answer, because the integral smooths them; few rounds of a pair with two or three losses have
    such totals.  For example δ of 30 rounds of (0.9, 0.09, 0.01), (0.5, 0.3, 0.2) is up to 5 % wide, ε of two
    rounds of randomized response with a budget of 1 is 4 % wide at δ = 1e-6, and δ(0) of two rounds of
    (0.999, 0.001), (0.9999, 0.0001) lies between 0.0012 and 0.0018.  For 10⁴ rounds of a Gaussian pair with
    μ = 2 the upper bound on ε is infinite.
    Rényi divergences add up, with both bounds.
    Cost: a few hundred values of each pair's curve, once; more rounds cost more only where the total ε
    exceeds about 100.

    Examples
    --------
    A hundred answers by randomized response with a budget of 0.1 cost less than half of their sum, 10:

    >>> import numpy as np
    >>> from shufflelib.profiles import DiscretePair
    >>> one = DiscretePair(np.log([0.525, 0.475]), np.log([0.475, 0.525]))
    >>> round(one.compose(rounds=100).epsilon(delta=1e-6).upper, 2)
    4.78
    """

    search_width = 1e-7
    width, dot_tolerance = WIDTH, DOT_TOLERANCE

    def __init__(self, rounds):
        self.rounds = tuple(rounds)
        self.symmetric = all(pair.symmetric for pair, _ in self.rounds)

    @functools.cached_property
    def _curves(self):
        if "_curves" in self.__dict__.get("reversed", self).__dict__:
            return [curve.reversed for curve in self.reversed._curves]
        return [DiscretisedLoss(pair, self.dot_tolerance) for pair, _ in self.rounds]

    @functools.cached_property
    def reversed(self):
        """All rounds reversed."""
        if self.symmetric:
            return self
        other = ComposedPair([(pair.reversed, count) for pair, count in self.rounds])
        other.__dict__["reversed"] = self
        other.width, other.dot_tolerance = self.width, self.dot_tolerance
        return other

    def forget(self, width=WIDTH, dot_tolerance=DOT_TOLERANCE):
        """Drop all dots, those of the reversed rounds too, and aim at relative widths of ε and of dots."""
        for one in (self, self.__dict__.get("reversed", self)):
            one.__dict__.pop("_curves", None)
            one.__dict__.pop("_remembered", None)
            one.width, one.dot_tolerance = width, dot_tolerance

    @property
    def max_privacy_loss(self):
        """Sum of the rounds' largest losses."""
        return added((count, (pair.max_privacy_loss,) * 2) for pair, count in self.rounds).upper

    def log_total_variations(self):
        """Return about the log of the sum of all rounds' total variations."""
        return logsumexp([pair.dot(0.0, GLANCE).upper + math.log(count) for pair, count in self.rounds])

    @locked()
    @pointwise
    def _log_curve(self, eps, tolerance):
        """Enclose log H of the product, after setting as many dots as that needs."""
        if eps >= self.max_privacy_loss:
            return LOG_ZERO
        above, below, width = self._totals(eps, tolerance)
        width = min(width, ROUGHEST)
        upper = above.log_delta(eps, width=width)[1] + above.slack
        lower = below.log_delta(eps, width=width)[0] - below.slack
        found = self._beside_single_rounds(eps, Interval(lower, upper).or_unknown())
        upper = min(found.upper, 0.0)
        return Interval(min(found.lower, upper), upper)

    def _beside_single_rounds(self, eps, found):
        """Narrow a bracket of log H by what single rounds say: at least the best, at most basic composition.

        This decides where outcomes are rare and their losses large, which no quadrature resolves.  The curves
        are evaluated only where their dots leave open whether it does.
        """
        lower, upper = found
        share = eps / sum(count for _, count in self.rounds)
        if self._log_sum(share, dots_only=True).lower < upper:
            upper = min(upper, self._log_sum(share).upper)
        if self._log_sum(eps, dots_only=True).upper > lower:
            best = max(pair.dot(eps, NARROWEST).lower for pair, _ in self.rounds)
            lower = max(lower, best, self._some_round(eps))
        return Interval(lower, upper)

    def _log_sum(self, eps, *, dots_only=False):
        """Enclose the log of the sum of all rounds' H at one ε."""
        each = (
            (curve.forward.between_dots(eps) if dots_only else pair.dot(eps, NARROWEST))
            + Interval.of(float(count)).log()
            for curve, (pair, count) in zip(self._curves, self.rounds, strict=True)
        )
        return Interval(*(np.array(ends) for ends in zip(*each, strict=True))).log_sum()

    def _some_round(self, eps):
        """Return a lower bound on log H: in some round the loss is beyond ε + a, far above ε.

        With S such outcomes and h = P(S) − e^{ε + a} Q(S) this has the divergence
        1 − ∏(1 − P(S)) − e^{−a} Σ(P(S) − h), affine in each P(S), so that it is least where each is h or 1.
        """
        log_sum = self._log_sum(eps + FAR_ABOVE).lower  # at most that of −Σ log(1 − h)
        others = Interval.of(-FAR_ABOVE).exp() * (1.0 + sum(count for _, count in self.rounds))
        if log_sum == -math.inf or others.upper >= 1.0:
            return -math.inf
        one = Interval.of(log_sum, 1.0)  # below e^{−40} the next line changes less than that
        some = one if log_sum < -40.0 else (-(-one.exp()).expm1()).log()
        return min(some.lower, (-others).log1p().lower)

    def _totals(self, eps, tolerance):
        """Return the composed PLDs of both sides, dots added until both agree, and that width."""
        counts, widest = [count for _, count in self.rounds], WIDEST * self.width / WIDTH
        if any(curve.exhausted for curve in self._curves):
            self.forget(self.width, self.dot_tolerance)  # the dots lie where another question needed them
        while True:
            above = ComposedPLD([curve.pessimistic for curve in self._curves], counts)
            below = ComposedPLD([curve.optimistic for curve in self._curves], counts)
            if eps >= above.largest:
                if sum(curve.extend() for curve in self._curves):
                    continue
                return above, below, WIDEST
            theta = above.saddle(eps)
            log_scale = above.cumulants(theta)[0] - theta * eps  # of δ
            depth = max(-log_scale / 20.0, 1.0)
            width = min(max(self.width * theta * eps, NARROWEST), widest * depth)
            width = max(width, 20.0 * tolerance * depth, 2.0 * tolerance * theta * eps)  # asked for no more
            moments = above.contributions(theta)
            doubts = moments - below.contributions(theta)
            open_ended = above.log_infinity_mass > log_scale + math.log(0.01 * min(width, 1.0))
            stretched = open_ended and sum(curve.extend() for curve in self._curves)
            if not stretched:
                if doubts.sum() <= 0.7 * width:
                    return above, below, width
                # once the width of the values is what is left, more dots hardly help
                log_refinable = [
                    curve.log_refinable(theta + 1.0)
                    + math.log(count * theta * (theta + 1.0))
                    - moment / count
                    for curve, count, moment in zip(self._curves, counts, moments, strict=True)
                ]
                if logsumexp(log_refinable) <= math.log(NOTICED * doubts.sum()):
                    return above, below, width
            worth = [
                curve
                for curve, doubt in zip(self._curves, doubts, strict=True)
                if doubt > 0.1 * doubts.sum() and not curve.exhausted
            ]
            if not sum(curve.refine(theta + 1.0) for curve in worth) and not stretched:
                return above, below, width

    def renyi_directed(self, order, skip_below=0.0):
        """Return both bounds of the sum of the rounds' divergences."""
        ends = [(count, pair.renyi_directed(order)) for pair, count in self.rounds]
        total = added(ends)
        return total.lower, total.upper

    def renyi_ceiling(self, order):
        """Return the sum of the rounds'."""
        return added((count, (pair.renyi_ceiling(order),) * 2) for pair, count in self.rounds).upper

    def false_negatives(self, fpr):
        """Return both bounds of the smallest false-negative rate, null P against alternative Q."""
        return DiscretisedLoss(self).false_negatives(fpr)

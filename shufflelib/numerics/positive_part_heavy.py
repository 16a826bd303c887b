r"""The loss sum over slots of which few outweigh all others: no quadrature resolves a rare, heavy summand.

With H the sum over the heavy slots and S that over the n' light ones, :math:`E(H + S)_+` is enclosed in
two ways, the finer one where the first leaves much open.

*One heavy slot alone.*  :math:`(H + S)_+ \le H_+ + S_+`, and where slot i alone gains g, E(g + S)₊ is at
most half of g + E S plus the root of its square and Var S, where :math:`E S = -n'(e^{\varepsilon} - 1)`.
Conversely the events "no heavy slot shows anything" and "heavy slot i shows its gain, the other heavy
ones nothing" are disjoint, and Jensen's inequality holds in each; or no light slot shows anything either.

*Each outcome of the heavy slots.*  What they show is listed, and E(h + S)₊ is enclosed for each value h of
H, by the same two inequalities and, for the outcomes that leave most open, by the contour integral of S.
The chance that more show something than is listed is charged.
"""

import functools
import math

import numpy as np

from shufflelib.numerics.certified import LogInterval, intersect
from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.numerics.three_point_losses import PRECISION, log_outcomes

HEAVY = 20.0  # standard deviations of the rest that make a slot's gain a heavy one
RARE = 1.0  # expected number of heavy slots that show anything
FEW_OUTCOMES = 2_000  # that are listed; heavy slots with no more of them need not be rare
MOST_SHOWN = 61  # slots of one kind that show something in an outcome that is listed
REFINED = 32  # outcomes beside which the light slots are summed sharply, for one kind of those
SHARP = 1e-5  # how sharply
HOPELESS = 1000.0  # standard deviations of the rest from which on one quadrature over all is not tried
QUICK_KINDS = 8  # kinds of slots up to which it is where the heavy ones are not rare


def weights(slots):
    """Return which larger kinds are rare, and gains in deviations of smaller ones, 0 unless rare or few."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_gain = np.log(slots.gap)  # whose squares may leave the floats
        log_spread = 0.5 * np.logaddexp.accumulate(np.log(slots.expected_clones) + 2.0 * log_gain)[:-1]
        weight = np.exp(np.minimum(log_gain[1:] - log_spread, 700.0))
    rare = np.cumsum(slots.expected_clones[::-1])[::-1][1:] < RARE
    few = np.cumsum(log_outcomes(slots.count)[::-1])[::-1][1:] <= math.log(FEW_OUTCOMES)
    return rare, np.where((rare | few) & (log_spread > -np.inf), weight, 0.0)


def first_heavy(slots):
    """Return the index of the first heavy kind, the number of kinds if there is none."""
    outweighs = np.flatnonzero(weights(slots)[1] > HEAVY)
    return int(outweighs[0]) + 1 if outweighs.size else slots.count.size


def hopeless(slots):
    """Whether no quadrature over all slots is tried: it would resolve nothing, or take minutes."""
    rare, weight = weights(slots)
    return bool(np.any((weight > HOPELESS) & (rare | (slots.count.size > QUICK_KINDS))))


def _raised(slots, level, slack, eps):
    """Enclose the log of the mean of (level + loss sum)₊ in units of e^ε, by Jensen and by the variance."""
    middle = 0.5 * (slots.more + slots.less) * -math.expm1(-eps)
    half = 0.5 * slots.gap * (1.0 + math.exp(-eps))
    spread = 2.0 * slots.mass * (half**2 + slots.residual_mass * middle**2)
    variance = max(math.fsum(slots.count * spread) * (1.0 + 64 * PRECISION), 1e-300)  # few digits below
    pull = -math.expm1(-eps) * math.fsum(slots.count)
    most = level + slack - pull * (1 - 8 * UNIT)
    far = 0.5 * (np.abs(most) + np.hypot(most, math.sqrt(variance)))
    above = np.log(far) + np.where(most > 0.0, 0.0, math.log(0.25 * variance) - 2.0 * np.log(far))
    gains = slots.more * math.exp(-eps) * (1 + 2 * PRECISION) - slots.less * (1 - 2 * PRECISION)
    largest = math.fsum(slots.count * np.where(slots.residual_mass > 0.0, np.maximum(gains, 0.0), gains))
    above = np.where(level + slack + largest + 8 * UNIT * abs(largest) > 0.0, above, -np.inf)
    return _log(np.maximum(level - slack - pull * (1 + 8 * UNIT), 0.0)), above


def _log(numbers):
    with np.errstate(divide="ignore"):
        return np.log(numbers)


class HeavyLosses:
    """Heavy slots beside the pair of the light ones.

    Parameters
    ----------
    slots : ThreePointLosses
        The heavy ones.
    light : PersonalizedPair
        Of all others.
    """

    def __init__(self, slots, light):
        self.slots, self.light = slots, light
        self._seen = np.log(slots.count * slots.mass)

    @functools.cached_property
    def outcomes(self):
        """Outcomes, as many as are listed, and the log of the chance of others; None if too many.

        They are too many where even those with one showing slot of each kind are.
        """
        most = MOST_SHOWN
        while np.sum(log_outcomes(np.minimum(self.slots.count, most))) > math.log(FEW_OUTCOMES):
            most -= 1
        if most == 0:
            return None
        clones = self.slots.expected_clones[
            self.slots.count > most
        ]  # left out: where ``most`` others of one kind show
        missed = float(logsumexp(most * np.log(clones))) - math.lgamma(most + 1.0) + 1e-9
        return *self.slots.outcomes(most), missed

    def log_hockey_stick(self, eps, tolerance):
        """Enclose log δ."""
        light = self.light.log_hockey_stick(eps, tolerance)
        light = [end + math.log(self.light.n) - eps for end in light]
        beside = self._one_alone(eps, light)
        for refined in (0, max(1, REFINED // self.light.kinds.size)):
            if self.outcomes is not None and beside.upper > beside.lower + tolerance:
                beside = intersect(beside, self._each_outcome(eps, light, tolerance, refined))
        return beside

    def _one_alone(self, eps, light):
        """Enclose log δ by the events in which one heavy slot at most shows its gain."""
        gain, slack = self._gain(eps)
        least, most = _log(np.maximum(gain - slack, 0.0)), _log(np.maximum(gain + slack, 0.0))
        below, above = _raised(self.light.slots, gain, slack, eps)
        others = math.fsum(self.slots.count * self.slots.mass) * (1 + 4 * UNIT) - self.slots.mass
        above = np.minimum(np.logaddexp(above, np.log(others) + most), most)  # others may gain too
        no_clone, nobody = (
            math.fsum(slots.count * slots.log_residual_mass) for slots in (self.slots, self.light.slots)
        )
        alone = self._seen + no_clone - self.slots.log_residual_mass
        low = max(logsumexp(alone + below), logsumexp(alone + least) + nobody * (1 + 16 * PRECISION))
        low = np.logaddexp(low, no_clone + light[0]) + no_clone * 16 * PRECISION
        return self._bracket(eps, low, np.logaddexp(logsumexp(self._seen + above), light[1]))

    def _each_outcome(self, eps, light, tolerance, refined):
        """Enclose log δ by what the light slots add to each outcome, summed sharply for some of these."""
        log_mass, error, first, second, missed = self.outcomes
        shrink = math.exp(-eps)
        slack = 16 * PRECISION * (first * shrink + second)
        below, above = _raised(self.light.slots, first * shrink - second, slack, eps)
        below[0], above[0] = max(below[0], light[0]), min(above[0], light[1])
        low, high, tolerance = log_mass - error + below, log_mass + error + above, max(tolerance, SHARP)
        unit = np.max(high, initial=-1e300)
        unsure = np.exp(high - unit) - np.exp(low - unit)
        for i in 1 + np.argsort(-unsure[1:])[:refined]:
            if math.fsum(unsure) > 0.5 * tolerance * math.fsum(np.exp(low - unit)):
                known = float(first[i]), float(second[i])
                sharp = self.light.expected_positive_part(eps, tolerance, known)
                low[i] = max(low[i], log_mass[i] - error[i] + sharp.lower)
                high[i], unsure[i] = min(high[i], log_mass[i] + error[i] + sharp.upper), 0.0
        gains = logsumexp(self._seen + _log(np.maximum(sum(self._gain(eps)), 0.0)))
        left_out = missed + np.logaddexp(gains, light[1])  # there (H + S)₊ ≤ H₊ + S₊
        return self._bracket(eps, logsumexp(low), np.logaddexp(logsumexp(high), left_out))

    def _gain(self, eps):
        """Return what a slot gains in units of e^ε, and its rounding."""
        more, less = self.slots.more * math.exp(-eps), self.slots.less
        return more - less, 16 * PRECISION * (more + less)

    def _bracket(self, eps, low, high):
        """Return the bracket of log δ for the logs of n δ in units of e^ε."""
        users = self.light.n + math.fsum(self.slots.count)
        pad = 64 * PRECISION + 8 * UNIT * (2.0 + eps + math.log(users))
        low, high = (float(end) + eps - math.log(users) for end in (low, high))
        size = [16 * UNIT * abs(end) if math.isfinite(end) else 0.0 for end in (low, high)]
        return LogInterval(min(low - pad - size[0], high), min(high + pad + size[1], 0.0))

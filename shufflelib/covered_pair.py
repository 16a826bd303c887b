r"""One user's two reports among the others' covers: the pair every shuffled mechanism reduces to."""

import functools
import math

import numpy as np

from shufflelib import dots
from shufflelib.logspace import UNIT
from shufflelib.loss_sums import TOLERANCE, LogBracket, LossLaw, positive_part_mean
from shufflelib.privacy_profile import Pair
from shufflelib.renyi_sums import LARGEST_ORDER, RenyiSum

FARTHEST = 640.0  # nats; beyond it e^{-ε} has no digits left and H is bounded by its value here


class CoveredPair(Pair):
    r"""Two reports of one user among n − 1 covers.

    .. math:: H_\varepsilon = \tfrac1n\,\mathbb E[(G_1+\dots+G_n)_+] + \text{exposed mass}

    With the full density of the others' reports as the cover, this is the pair of shuffled outputs
    itself; with the privacy blanket it dominates every dataset.
    """

    statement = "a pair of reports under a cover"
    source = "contour integral with every error charged"

    def _log_ever(self):
        """Return a lower end of log H at every ε: the outputs that one report alone can produce."""
        variable = self.variable
        alone = variable.second == 0.0
        seen = math.fsum(variable.first[alone] * variable.mass[alone])
        if variable.exposed_second == 0.0:
            seen += variable.exposed_first
        doubt = variable.precision + 16 * UNIT
        left = 1.0 - math.fsum(variable.mass[~alone]) - doubt * variable.mass.size
        if seen == 0.0 or left <= 0.0:
            return -math.inf
        return math.log(seen) + (self.n - 1) * math.log(left) * (1 + 8 * UNIT) - doubt * variable.mass.size

    def __init__(self, variable, n):
        self.variable, self.n = variable, n
        self.symmetric = variable.key() == variable.swapped().key()
        self.search_width = max(2e-8, 0.1 * variable.cell_width)

    @functools.cached_property
    def reversed(self):
        """The pair with the two reports exchanged."""
        if self.symmetric:
            return self
        other = CoveredPair(self.variable.swapped(), self.n)
        other.__dict__["reversed"] = self  # so that both share what they remember
        return other

    @property
    def largest_loss(self):
        """Largest log-ratio of the two reports on covered outputs; infinite if some are exposed."""
        return self.variable.largest_loss

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose the logarithm of the loss sum's positive part over n, plus the exposed mass."""
        variable = self.variable
        if eps >= self.largest_loss:
            return LogBracket(
                -math.inf, math.log(variable.exposed_first) if variable.exposed_first > 0.0 else -math.inf
            )
        if eps > FARTHEST:
            return LogBracket(self._log_ever(), self.log_hockey_stick(FARTHEST, tolerance).upper)
        shrink = math.exp(-eps)  # everything in units of e^eps, which may be large
        law = LossLaw(
            variable.first * shrink - variable.second,
            variable.mass,
            variable.first * shrink + variable.second,
            variable.precision,
        )
        ends = positive_part_mean(law, self.n, tolerance=max(tolerance, variable.cell_width))
        shift = eps - math.log(self.n)
        rounding = 4 * UNIT * (2.0 + eps + math.log(self.n))
        lower, upper = ends.lower + shift - rounding, ends.upper + shift + rounding
        if variable.exposed_first > 0.0:
            upper = float(np.logaddexp(upper, math.log(variable.exposed_first))) + rounding
            sure = variable.exposed_first - math.exp(eps) * variable.exposed_second if eps < 700 else 0.0
            if sure > 0.0:
                lower = float(np.logaddexp(lower, math.log(sure))) - rounding
        return LogBracket(min(lower, 0.0), min(upper, 0.0))

    @functools.cached_property
    def _renyi_sum(self):
        return RenyiSum.of(self.variable, self.n)

    def renyi_directed(self, order):
        """Return both ends of D_order(P‖Q): a lattice sum for up to three losses, else from dots."""
        variable = self.variable
        if np.any((variable.second == 0.0) & (variable.first > 0.0) & (variable.mass > 0.0)):
            return math.inf, math.inf  # an output that the second report cannot produce
        moment = self._renyi_sum.log_moment(min(order, LARGEST_ORDER)) if self._renyi_sum else None
        if moment is None:
            return super().renyi_directed(order)
        lower, upper = (dots.renyi_from_moment(end, min(order, LARGEST_ORDER)) for end in moment)
        # D rises with the order, up to the largest loss
        upper = upper if order <= LARGEST_ORDER else math.inf
        return lower * (1 - 8 * UNIT), min(upper * (1 + 8 * UNIT), self.largest_loss)

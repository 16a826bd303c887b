"""Both ends of a number so small that only its logarithm is a float."""

import math
from typing import NamedTuple

from shufflelib.numerics.logspace import UNIT

TOLERANCE = 1e-6  # relative width aimed at
LEAST = math.ulp(0.0)  # what is positive is at least so much


class LogInterval(NamedTuple):
    """Natural logarithms of a lower and an upper end."""

    lower: float
    upper: float

    def or_unknown(self):
        """Return the bracket of a probability; an end that is no number says nothing, never "private"."""
        if self.lower <= self.upper:
            return self
        return LogInterval(-math.inf, 0.0 if math.isnan(self.upper) else self.upper)

    def probabilities(self):
        """Return both ends of the probability itself; below the normal floats they are a last place wider."""
        lower = max(math.exp(self.lower) * (1 - 4 * UNIT) - LEAST, 0.0)
        upper = 0.0 if self.upper == -math.inf else math.exp(self.upper) * (1 + 4 * UNIT) + LEAST
        return lower, min(upper, 1.0)


LOG_ZERO = LogInterval(-math.inf, -math.inf)  # of the number 0
UNKNOWN = LogInterval(-math.inf, math.inf)


def intersect(one, two):
    """Return what two brackets of one number say together."""
    return LogInterval(max(one.lower, two.lower), min(one.upper, two.upper))

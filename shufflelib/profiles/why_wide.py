"""Why two bounds are apart: because of the theory or because of the numerics."""

import numpy as np

from shufflelib.numerics.certified import LEAST, Interval

THEORY = "theory: no closer bound or attack is known"


def cause(upper, lower):
    """Say why what is known from above and from below, intervals on a log scale, is far apart.

    Examples
    --------
    >>> from shufflelib.numerics.certified import Interval
    >>> from shufflelib.profiles.why_wide import cause
    >>> cause(Interval(-1.0, -0.9), Interval(-3.0, -2.9))
    'theory: no closer bound or attack is known'
    """
    theory = upper.lower - lower.upper if upper.lower > lower.upper else 0.0
    numerics = sum(high - low for low, high in (upper, lower) if high > low)
    if theory >= numerics:
        return THEORY
    return "numerics: more computation would narrow it"


def cause_of_numbers(above, below):
    """Return `cause` for both bounds of what bounds a number from above, and of what bounds it from below."""
    return cause(*(Interval(*np.log(np.maximum(side, LEAST))) for side in (above, below)))

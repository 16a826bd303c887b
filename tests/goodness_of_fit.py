"""Whether counts follow a distribution: Pearson's test, with all rare cells taken as one."""

import numpy as np
from scipy.stats import chisquare

RARE = 8  # fewer expected counts than this


def p_value(observed, probabilities):
    """Return the p-value of the counts of all cells; a cell without probability must be empty."""
    observed, probabilities = np.asarray(observed, float), np.asarray(probabilities, float)
    expected = probabilities * (observed.sum() / probabilities.sum())
    assert observed[expected == 0.0].sum() == 0.0
    rare = expected < RARE
    cells = [np.append(part[~rare], part[rare].sum()) for part in (observed, expected)]
    observed, expected = (part[cells[1] > 0.0] for part in cells)
    return chisquare(observed, expected).pvalue

"""The envelope of several pairs: the largest of their curves."""

import numpy as np
import pytest

from finite_pairs import discrete
from shufflelib import randomizers, shuffle
from shufflelib.profiles import Gaussian
from shufflelib.profiles.envelope import Envelope

TABLE = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
ALIKE = shuffle(randomizers.from_pmf(TABLE), n=1000).dominating_pairs
CROSSING = Gaussian(0.8), discrete([(0.75, 0.25), (0.25, 0.75)])


@pytest.mark.parametrize(("pairs", "last"), [(ALIKE, 0.5), (CROSSING, 1.0)])
def test_the_envelope_is_the_largest_of_all_curves(pairs, last):
    """At every ε, whatever was asked before or is asked with it."""
    envelope, grid = Envelope(pairs), np.linspace(0.0, last, 60)
    found = envelope.log_hockey_stick(grid, 1e-5)
    for i in np.random.default_rng(5).permutation(grid.size).tolist():
        every = [pair.log_worst(float(grid[i]), 1e-5) for pair in pairs]
        one = envelope.log_hockey_stick(float(grid[i]), 1e-5)
        assert one == (max(each.lower for each in every), max(each.upper for each in every))
        assert one == (found.lower[i], found.upper[i])

"""The envelope of several pairs: the largest curve, of which it evaluates few others."""

import math

import numpy as np
import pytest

from finite_pairs import discrete
from shufflelib import randomizers, shuffle
from shufflelib.profiles import Gaussian
from shufflelib.profiles.envelope import Envelope

TABLE = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
ALIKE = shuffle(randomizers.from_pmf(TABLE), n=1000).dominating_pairs
CROSSING = Gaussian(0.8), discrete([(0.75, 0.25), (0.25, 0.75)])


@pytest.mark.parametrize(("pairs", "last", "share"), [(ALIKE, 0.5, 0.7), (CROSSING, 1.0, 0.9)])
def test_curves_left_out_are_not_the_largest(pairs, last, share):
    """In any order of ε the envelope is the largest of all curves; some are left out."""
    envelope, grid = Envelope(pairs), np.linspace(0.0, last, 60)
    for eps in np.random.default_rng(5).permutation(grid).tolist():
        found, every = envelope.log_hockey_stick(eps, 1e-5), [pair.log_worst(eps, 1e-5) for pair in pairs]
        assert found == (max(one.lower for one in every), max(one.upper for one in every))
    evaluated = [len(curve._values) for curve in envelope._curves]
    assert max(evaluated) == grid.size
    assert sum(evaluated) < share * grid.size * len(evaluated)


def test_a_ceiling_is_above_the_curve():
    """Between two values, beyond the last one, and before any, of curves that reach 0 too."""
    pair = shuffle(randomizers.binary_rr(eps0=1.0), n=10).attack_pairs[0]
    curve = Envelope((pair,))._curves[0]
    assert curve.ceiling(0.5) == math.inf
    ends = (0.0, 0.1, 0.4, pair.max_privacy_loss, 2.0)
    for eps in ends:
        curve.log_hockey_stick(eps, 1e-6)
    for eps in np.linspace(0.0, 3.0, 61).tolist():
        assert pair.log_hockey_stick(eps).lower <= curve.ceiling(eps)
    assert curve.ceiling(2.5) == -math.inf

r"""Extremal mechanisms: every output's density is e^ε₀ for the inputs that hit it and 1 for the others.

All that matters of such a mechanism is how the outputs are shared out among the patterns "hit by x0?",
"hit by x1?", "hit by x*?".  Why pairs that hit as little as possible in common are the worst ones:
replacing an item that both inputs hold by a free item of one of them turns the weights (e, e), (1, 1) of two
equally heavy groups of outputs into (e, 1), (1, e).  :math:`R_0 - e^\varepsilon R_1` keeps its sum over the
two and moves apart, so its distribution under the blanket rises in convex order, and with it every bound.
"""

from abc import abstractmethod
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shufflelib.numerics.types import Array
from shufflelib.randomizers.local_randomizer import FiniteRandomizer


def patterns(inputs):
    """Return all hit patterns of some inputs, shape (inputs, 2**inputs), the pattern "hit by all" first."""
    return np.array(list(product((True, False), repeat=inputs))).T


class Extremal(FiniteRandomizer):
    """A mechanism whose output distribution is given by who hits which share of the outputs."""

    mirrored = True

    last_hit_by_all = False  # whether every input of the whole domain hits the last class

    @abstractmethod
    def classes(self) -> tuple[NDArray[Any], Array]:
        """Return (hit, share): who hits each class, and its share of the outputs, in any unit.

        Shapes (inputs, classes), (classes,).
        """

    def _weighted(self):
        """Return the density of every input on each class, 1 where it hits, and the class's share."""
        hit, share = self.classes()
        return np.where(hit, 1.0, np.exp(-self.eps0)), share

    def class_masses(self) -> Array:
        """Return class masses, shape (inputs, classes): rows x0, x1, then further inputs x*."""
        weight, share = self._weighted()
        mass = share * weight
        return (mass / mass.sum(axis=1, keepdims=True))[:, share > 0.0]

    def blanket(self) -> Array:
        """Return the exact blanket: e on outputs that every input hits, 1 elsewhere."""
        weight, share = self._weighted()
        least = np.full(share.size, np.exp(-self.eps0))
        if self.last_hit_by_all:
            least[-1] = 1.0
        return (share * least / (share * weight[0]).sum())[share > 0.0]

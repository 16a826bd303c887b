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


def independent(inputs, chance, by_all=0.0):
    """Return (hit, share, everyone) when each input hits an output independently with probability ``chance``.

    ``by_all`` is the share of the outputs that every input of the whole domain hits.
    """
    hit = patterns(inputs)
    share = np.where(hit, chance, 1.0 - chance).prod(axis=0)
    hit = np.column_stack([hit, hit[:, 0]])
    share = np.append(share, by_all)
    share[0] -= by_all
    return hit, share, np.arange(share.size) == share.size - 1


def disjoint(inputs, size, outputs):
    """Return (hit, share, everyone) when each input hits ``size`` outputs of its own among ``outputs``."""
    hit = np.column_stack([np.eye(inputs, dtype=bool), np.zeros(inputs, dtype=bool)])
    share = np.append(np.full(inputs, size, float), outputs - inputs * size)
    return hit, share, np.zeros(inputs + 1, dtype=bool)


class Extremal(FiniteRandomizer):
    """A mechanism whose output distribution is given by who hits which share of the outputs."""

    mirrored = True

    @abstractmethod
    def classes(self) -> tuple[NDArray[Any], Array, NDArray[np.bool_]]:
        """Return (hit, share, everyone): who hits each class, its share of the outputs, does everyone hit it.

        Shapes (inputs, classes), (classes,), (classes,); shares may be in any unit.
        """

    def class_masses(self) -> Array:
        """Return class masses, shape (inputs, classes): rows x0, x1, then further inputs x*."""
        hit, share, _ = self.classes()
        mass = share * np.where(hit, 1.0, np.exp(-self.eps0))
        return (mass / mass.sum(axis=1, keepdims=True))[:, share > 0.0]

    def blanket(self) -> Array:
        """Return the exact blanket: e on outputs that every input hits, 1 elsewhere."""
        hit, share, everyone = self.classes()
        total = (share * np.where(hit[0], 1.0, np.exp(-self.eps0))).sum()
        return (share * np.where(everyone, 1.0, np.exp(-self.eps0)) / total)[share > 0.0]

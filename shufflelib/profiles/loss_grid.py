r"""One round's privacy loss on a grid, one distribution from above and one from below.

Accountants that convolve privacy loss distributions want losses that are multiples of one step.  The
distributions of `discretised_loss` are brought there without losing their sides:

* **above**: all dots lie on the grid, so that the chords between them turn only there;
* **below**: the polygon below the curve is replaced by one that turns only on the grid and lies below it.
  It is drawn from the largest loss to the smallest.  Each line touches the polygon, and ends at the
  multiple of the step next to the point where it does, so that the small masses of large losses are kept.

Both errors are of second order in the step.

Source: the upper half is connect-the-dots, Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (PoPETs 2022).
"""

import math
from typing import NamedTuple

import numpy as np

from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.optional import counting
from shufflelib.profiles.discretised_loss import (
    FAR,
    NO_KNOTS,
    Knots,
    connected,
    distribution,
    distributions,
    divided,
    kinks,
)

LOWEST = 20.0  # nats; e^{-LOWEST} beside 1 still tells multiples of the step apart
LARGEST_INDEX = 10**6  # of a loss on the grid; larger losses count as infinite
WIDTH = 1e-3  # between the two polygons, in units of their height, where the curve has not yet fallen
DEEPEST = 40.0  # e-folds that it has fallen from where on it need not be known better
MOST_KNOTS = 2000  # in both directions
MOST_PIECES = 16  # of one gap at once


class LossOnGrid(NamedTuple):
    """Both directions of a pair with knots on a grid, as many as that grid shows.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> from shufflelib.profiles.loss_grid import LossOnGrid
    >>> index, mass, infinity_mass = LossOnGrid.of(Gaussian(mu=1.0), step=0.1).above()
    >>> round(0.1 * float(index @ mass), 2)  # its mean is 1/2
    0.5
    """

    ahead: Knots
    behind: Knots
    step: float

    @classmethod
    @counting("points of curves")
    def of(cls, pair, step):
        """Return the knots of a pair (P, Q) at multiples of a step, in nats."""
        ahead = behind = _first(pair, step)
        if not pair.symmetric:
            behind = _first(pair.reversed, step)
        while ahead.eps.size + behind.eps.size <= MOST_KNOTS:
            size = ahead.eps.size, behind.eps.size
            further = _further(ahead, behind, step)
            ahead = ahead.joined(pair, further[0])
            behind = ahead if pair.symmetric else behind.joined(pair.reversed, further[1])
            if (ahead.eps.size, behind.eps.size) == size:
                break
        return cls(ahead, behind, step)

    @property
    def reversed(self):
        """The same knots for (Q, P)."""
        return LossOnGrid(self.behind, self.ahead, self.step)

    def _distributions(self):
        return distributions(*connected(self.ahead, self.behind, LOWEST))

    def above(self):
        """Return multiples of the step with their masses, and the mass at an infinite loss, from above."""
        found = self._distributions()[0]
        return self._listed(found, 1.0 + found.slack)

    def below(self):
        """Return the same from below; no loss is infinite.

        That of a symmetric pair is its own reversal: it has e^{-l} times as much mass at -l as at l.
        """
        kept = self._distributions()[1]
        top = min(LARGEST_INDEX * self.step, FAR)
        loss = np.append(np.minimum(kept.loss, top), top)
        points = _on_grid(*_polygon(loss, np.append(kept.mass, kept.infinity_mass)), self.step)
        found = distribution(*points, below=True)
        index, mass, _ = self._listed(found, 1.0 / ((1.0 + found.slack) * (1.0 + kept.slack)))
        if self.behind is self.ahead:
            index, mass = _mirrored(index, mass, self.step)
        return index, mass, 0.0

    def _listed(self, found, factor):
        index = np.rint(found.loss / self.step).astype(int)
        return index, found.mass * factor, min(found.infinity_mass * factor, 1.0)


def _first(pair, step):
    """Return the first knots of one direction, moved to the grid."""
    eps = np.append(pair.discretised.knots().eps, step)
    return NO_KNOTS.joined(pair, _on_multiples(eps, step, np.ceil))


def _on_multiples(eps, step, rounded=np.rint):
    return step * np.unique(np.minimum(rounded(eps / step), LARGEST_INDEX))


def _further(ahead, behind, step):
    """Return the ε ahead and behind where the polygons on either side of the curve differ too much."""
    x, low, high = connected(ahead, behind, LOWEST)
    height = 2.0 * kinks(x, low, high)[3] / np.diff(x)  # of a triangle between the polygons
    split = height.size - (ahead.eps.size - 1)
    errors = []
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        errors.append(height[split:] / np.exp(ahead.high[:-1]))
        near = height[:split][::-1] / np.exp(behind.high[:split] - behind.eps[:split])
    errors.append(np.append(near, np.zeros(behind.eps.size - 1 - split)))
    if behind is ahead:
        errors = [np.maximum(*errors)] * 2
    further = []
    for knots, error in zip((ahead, behind), errors, strict=True):
        depth = knots.high[0] - knots.high[:-1]  # rare losses need not be known as well
        with np.errstate(invalid="ignore"):
            most = np.where(depth < DEEPEST, error / (WIDTH * (1.0 + depth)), 0.0)  # it falls with the square
        pieces = np.minimum(np.ceil(np.sqrt(np.nan_to_num(most))), np.rint(np.diff(knots.eps) / step))
        pieces = np.clip(pieces, 1, MOST_PIECES).astype(int)
        further.append(_on_multiples(divided(knots.eps, pieces), step))
    return further


def _mirrored(index, mass, step):
    """Return the positive losses with their masses, and with e^{-loss} times as much at their opposites.

    The curve at ε ≥ 0 depends on the positive losses only.  If there is room for more mass, it has loss 0;
    if there is too much, the smallest losses become 0, which lowers the curve.
    """
    index, mass = index[index > 0], mass[index > 0]
    both = 1.0 + np.exp(-step * index)
    most = 1.0 - 4.0 * (index.size + 1) * UNIT
    larger = np.append(np.cumsum((mass * both)[:0:-1])[::-1], 0.0)
    mass = np.minimum(mass, np.maximum(most - larger, 0.0) / both)
    zero = max(most - float(np.sum(mass * both)), 0.0)
    return (
        np.concatenate([-index[::-1], [0], index]),
        np.concatenate([(np.exp(-step * index) * mass)[::-1], [zero], mass]),
    )


def _polygon(loss, mass):
    """Return x = e^ε − 1 from −1 on where the curve of a finite distribution turns, and the curve there."""
    x = np.append(-1.0, np.expm1(loss))
    beyond = np.cumsum((mass * np.exp(-loss))[::-1])[::-1]  # sums of positive terms
    return x, np.append(np.cumsum((beyond * np.diff(x))[::-1])[::-1], 0.0)


def _on_grid(x, h, step):
    """Return points whose chords lie below those of a convex falling polygon, and meet only on the grid."""
    index, height = math.floor(math.log1p(x[-1]) / step), 0.0
    points = [(math.expm1(index * step), height)]
    while points[-1][0] > -1.0:
        here = points[-1][0]
        left = np.flatnonzero(x < here)
        rise = (h[left] - height) / (here - x[left])
        touched = int(left[np.argmin(rise)])
        index = min(index - 1, math.floor(math.log1p(x[touched]) / step) if touched else index - 1)
        there = math.expm1(index * step) if touched and index * step > -LOWEST else -1.0
        height += max(float(rise.min()), 0.0) * (here - there)
        points.append((there, height))
    at, drawn = np.array(points[::-1]).T
    known = h > 0.0
    beside = np.interp(x[known], at, drawn) / h[known]
    return at, drawn / (max(float(beside.max()), 1.0) * (1.0 + 64 * x.size * UNIT))

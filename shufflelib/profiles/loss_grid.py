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

import numpy as np

from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.optional import progress
from shufflelib.profiles.discretised_loss import FAR, Direction, DiscretisedLoss, distribution

LOWEST = 20.0  # nats; e^{-LOWEST} beside 1 still tells multiples of the step apart
LARGEST_INDEX = 10**6  # of a loss on the grid; larger losses count as infinite
WIDTH = 1e-3  # between the two polygons, in units of their height, where the curve has not yet fallen
DEEPEST = 40.0  # e-folds that it has fallen from where on it need not be known better
MOST_DOTS = 2000  # in both directions


class _OnGrid(Direction):
    """One direction of a pair, all dots at multiples of the step."""

    def __init__(self, pair, step):
        self.step = step
        super().__init__(pair)

    def _first(self):
        index = np.append(np.ceil(super()._first() / self.step), 1.0)
        return self.step * np.unique(np.minimum(index, LARGEST_INDEX))

    def add(self, eps):
        """Evaluate the curve at the multiples of the step next to further ε."""
        super().add(self.step * np.unique(np.rint(eps / self.step)))

    def halve_where(self, error):
        """Halve all gaps that are wide for what is left to know."""
        depth = self.high[0] - self.high[:-1]  # rare losses need not be known as well
        wide = (depth < DEEPEST) & (error > WIDTH * (1.0 + depth))
        self.halve(np.flatnonzero(wide & (np.diff(self.eps) > 1.5 * self.step)))


class LossOnGrid(DiscretisedLoss):
    """Both directions of a pair with dots on a grid, as many as that grid shows.

    Parameters
    ----------
    pair : Pair
        The pair (P, Q).
    step : float
        Of the grid, in nats, positive.

    Examples
    --------
    >>> from shufflelib.profiles import Gaussian
    >>> from shufflelib.profiles.loss_grid import LossOnGrid
    >>> index, mass, infinity_mass = LossOnGrid(Gaussian(mu=1.0), step=0.1).above()
    >>> round(0.1 * float(index @ mass), 2)  # its mean is 1/2
    0.5
    """

    curve = _OnGrid  # type: ignore[assignment]
    lowest = LOWEST

    def __init__(self, pair, step):
        super().__init__(pair, step)
        for _ in progress(iter(self._refined, False), desc="connecting the dots", delay=2.0):
            if self.size > MOST_DOTS:
                break

    def _refined(self):
        """Add dots where the polygons on either side of the curve differ most; say whether any were."""
        size, x = self.size, self._dots()[0]
        height = 2.0 * self._drawn()[2] / np.diff(x)  # of a triangle between the polygons
        split = height.size - (self.forward.eps.size - 1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ahead = height[split:] / np.exp(self.forward.high[:-1])
            near = height[:split][::-1]
            behind = near / np.exp(self.backward.high[:split] - self.backward.eps[:split])
        behind = np.append(behind, np.zeros(self.backward.eps.size - 1 - split))
        if self.backward is self.forward:
            self.forward.halve_where(np.maximum(ahead, behind))
        else:
            self.forward.halve_where(ahead)
            self.backward.halve_where(behind)
        return self.size > size

    def above(self):
        """Return multiples of the step with their masses, and the mass at an infinite loss, from above."""
        return self._listed(self.pessimistic, 1.0 + self.pessimistic.slack)

    def below(self):
        """Return the same from below; no loss is infinite.

        That of a symmetric pair is its own reversal: it has e^{-l} times as much mass at -l as at l.
        """
        kept = self.optimistic
        top = min(LARGEST_INDEX * self.forward.step, FAR)
        loss = np.append(np.minimum(kept.loss, top), top)
        points = _on_grid(*_polygon(loss, np.append(kept.mass, kept.infinity_mass)), self.forward.step)
        found = distribution(*points, below=True)
        index, mass, _ = self._listed(found, 1.0 / ((1.0 + found.slack) * (1.0 + kept.slack)))
        if self.backward is self.forward:
            index, mass = _mirrored(index, mass, self.forward.step)
        return index, mass, 0.0

    def _listed(self, found, factor):
        index = np.rint(found.loss / self.forward.step).astype(int)
        return index, found.mass * factor, min(found.infinity_mass * factor, 1.0)


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

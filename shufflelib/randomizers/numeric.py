r"""Numbers in [-1, 1]: piecewise, Duchi et al. and Harmony, whose outputs fall into finitely many classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.randomizers import values
from shufflelib.randomizers.extremal import Extremal
from shufflelib.randomizers.local_randomizer import Average, Budget, Count, FiniteRandomizer, UnbiasedReports


@dataclass(frozen=True, kw_only=True)
class piecewise(UnbiasedReports, Extremal):
    r"""Build the piecewise mechanism on [-1, 1]: e^eps0 times denser on an interval around the value.

    .. math:: C = \frac{e^{\varepsilon_0/2} + 1}{e^{\varepsilon_0/2} - 1}, \qquad
              y \in [-C, C], \qquad
              \text{denser on } [\ell, \ell + C - 1],\; \ell = \tfrac{C+1}{2} x - \tfrac{C-1}{2}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.

    Notes
    -----
    ``sample`` maps floats (n,) in [-1, 1] to floats (n,) in [-C, C]; ``estimate`` returns the mean.

    Wang 2024, Table 1 [50]: p = q = e^eps0, β = 1 - e^{-eps0/2}, which is exact for the pair -1, +1.
    Further inputs x*: 0, whose interval overlaps those of -1 and +1 when C > 3.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.piecewise(eps0=1.0)  # reports lie in [-C, C]
    >>> round(mechanism.C, 4), round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4)
    (4.083, 0.1363)
    """

    eps0: Budget

    @property
    def beta(self) -> float:
        """Published β = 1 - e^{-eps0/2}, exact."""
        return float(-np.expm1(-self.eps0 / 2.0))

    @property
    def _gap(self):
        """Distance of the intervals of -1 and +1 over the length C - 1 of an interval: e^{eps0/2} - 1."""
        return np.expm1(self.eps0 / 2.0)

    @property
    def C(self) -> float:
        """Largest report."""
        return float(1.0 + 2.0 / self._gap)

    @property
    def _inside(self):
        """Probability that the report falls in the interval around the value."""
        return 1.0 / (1.0 + np.exp(-self.eps0 / 2.0))

    def classes(self) -> tuple[NDArray[Any], Array]:
        """Return the intervals of -1, +1 and 0, lengths in units of C - 1; none is hit by every input."""
        if self._gap >= 1.0:  # the interval of 0 lies between the other two
            hit = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
            share = [1.0, 1.0, 1.0, self._gap - 1.0]
        else:
            hit = [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 1, 0, 1]]
            overlap = (1.0 - self._gap) / 2.0
            share = [overlap, 1.0 - overlap, overlap, 1.0 - overlap, self._gap]
        return np.array(hit, dtype=bool), np.array(share)

    def variances(self) -> tuple[float, float] | None:
        """Return the variance over 4, of values scaled to [0, 1]: least for the value in the middle."""
        least = (self._gap + 4.0) / (3.0 * self._gap**2)
        return (least + 1.0 / (3.0 * self._gap)) / 4.0, (least + 1.0 / self._gap) / 4.0

    def _left(self, x):
        return (self.C + 1.0) / 2.0 * x - (self.C - 1.0) / 2.0

    def density(self, y: ArrayLike, x: ArrayLike) -> Array:
        """Return the density of the report ``y`` for the value ``x`` in [-1, 1]; arrays broadcast."""
        y = validation.reals(y, "y")
        left = self._left(validation.reals(x, "x", at_least=-1.0, at_most=1.0))
        inside = (left <= y) & (y <= left + (self.C - 1.0))
        peak = self._inside * self._gap / 2.0
        return np.where(np.abs(y) <= self.C, peak * np.where(inside, 1.0, np.exp(-self.eps0)), 0.0)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report floats in [-C, C], shape (n,)."""
        x, rng = values.numbers(x, "x", at_least=-1.0, at_most=1.0), values.generator(rng)
        left, width = self._left(x), self.C - 1.0
        outside = rng.random(x.size) * (self.C + 1.0) - self.C
        outside += width * (outside > left)
        return np.where(rng.random(x.size) < self._inside, left + width * rng.random(x.size), outside)


@dataclass(frozen=True, kw_only=True)
class SignedCorners(Average, FiniteRandomizer):
    """A report whose worst pair of inputs, opposite corners, is randomized response on the nearer corner."""

    eps0: Budget
    d: Count = 1

    @property
    def beta(self) -> float:
        """Published β = (e^eps0 - 1)/(e^eps0 + 1)."""
        return float(np.tanh(self.eps0 / 2.0))

    binary_at = 1

    mirrored = True

    _ties = 0.0  # share of the outputs at the same distance from both corners

    def _masses(self, rows):
        """Return masses of the sides of x0 and of x1, and of the ties if there are any."""
        rows = np.column_stack([(1.0 - self._ties) * rows, self._ties * rows.sum(axis=1)])
        return rows if self._ties else rows[:, :2]

    def class_masses(self) -> Array:
        """Return class masses for opposite corners x0, x1 and for the centre."""
        odds = np.exp(-self.eps0)
        side = np.array([1.0, odds]) / (1.0 + odds)
        return self._masses(np.array([side, side[::-1], [0.5, 0.5]]))

    def blanket(self) -> Array:
        """Return the exact blanket: uniform."""
        odds = np.exp(-self.eps0)
        return self._masses(np.full((1, 2), odds / (1.0 + odds)))[0]

    def _points(self, x):
        """Return the users' values with shape (n, d)."""
        columns = None if self.d == 1 else self.d
        return values.numbers(x, "x", columns=columns, at_least=-1.0, at_most=1.0).reshape(-1, self.d)


@dataclass(frozen=True, kw_only=True)
class duchi(SignedCorners):
    r"""Build Duchi et al.'s mechanism on [-1, 1]^d: a sign vector, likelier in the half-space of the value.

    .. math:: v_j = \pm 1 \text{ with mean } x_j, \qquad
              R(t \mid v) = \frac{2^{1-d}}{e^{\varepsilon_0}+1}
              \left(e^{\varepsilon_0},\; \tfrac{e^{\varepsilon_0}+1}{2},\; 1\right)
              \text{ for } t \cdot v \;(>, =, <)\; 0

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int, optional
        Number of coordinates, at least 1.

    Notes
    -----
    ``sample`` maps floats (n, d) (or (n,) for d = 1) in [-1, 1] to signs of the same shape;
    ``estimate`` returns the mean, shape (d,) (a float for d = 1).

    Wang 2024, Table 5 [18]: p = q = e^eps0, β = (e^eps0 - 1)/(e^eps0 + 1).

    For d = 1 it is Microsoft's 1BitMean, with x/m mapped from [0, 1] to [-1, 1] (Ding, Kulkarni, Yekhanin,
    NIPS 2017): one bit, whose probability is linear in the value.

    Odd d: β is exact, the worst pair (opposite corners) is binary randomized response.  For d = 1 so is the
    whole mechanism, after a random rounding, and `shufflelib.shuffle` has its exact δ and ε.

    Even d: with the textbook's closed halves, t·v >= 0 and t·v <= 0, ties belong to both and their
    density is e^eps0 + 1 times that of the far half: at d = 2, e^eps0 = 3 the ratio is 4, so the textbook
    mechanism is log(e^eps0 + 1)-LDP only.  Here a tie counts half for either side, which restores eps0 and
    treats the coordinates alike (with ties broken by the first coordinate, d = 2 ignores the second).
    With τ = C(d, d/2)/2^d the share of ties, the true β is (1 - τ) times the printed one: at d = 2,
    e^eps0 = 3 truth 0.25, printed 0.5.

    Examples
    --------
    Ties add noise, and even d has them; for d = 1 the exact ε is known.

    >>> from shufflelib import randomizers, shuffle
    >>> for d in (1, 2, 3):
    ...     print(round(shuffle(randomizers.duchi(eps0=1.0, d=d), n=1000).epsilon(1e-6).upper, 3))
    0.127
    0.103
    0.149
    """

    def variances(self) -> tuple[float, float] | None:
        """Return the variance over 4, of values scaled to [0, 1]: largest for the one in the middle."""
        worst = 1.0 / np.tanh(self.eps0 / 2.0) ** 2
        return ((worst - 1.0 / 3.0) / 4.0, worst / 4.0) if self.d == 1 else None

    @property
    def _ties(self):
        return self._central(self.d // 2) if self.d % 2 == 0 else 0.0

    @staticmethod
    def _central(half):
        """Return C(2m, m)/4^m for m = half."""
        return float(np.exp(np.log1p(-0.5 / np.arange(1, half + 1)).sum()))

    @property
    def _contrast(self):
        """Mean of t_j v_j: E|t·v|/d = C(2m, m)/4^m with m = ⌊d/2⌋, times β."""
        return self._central(self.d // 2) * np.tanh(self.eps0 / 2.0)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report signs ±1, shape (n, d), or (n,) for d = 1."""
        points, rng = self._points(x), values.generator(rng)
        corner = np.where(rng.random(points.shape) < (1.0 + points) / 2.0, 1, -1)
        signs = 2 * rng.integers(0, 2, size=points.shape) - 1
        side = np.where(rng.random(len(points)) < 1.0 / (1.0 + np.exp(-self.eps0)), 1, -1)
        signs[side * (signs * corner).sum(axis=1) < 0] *= -1
        return signs[:, 0] if self.d == 1 else signs

    def moments(self, reports: ArrayLike) -> tuple[Any, Any]:
        """Return mean and mean square of the signs, divided by how much of a value is left in them."""
        signs = values.whole(
            reports, "reports", columns=None if self.d == 1 else self.d, at_least=-1, at_most=1
        )
        if (signs == 0).any():
            raise ValueError("reports must hold signs, -1 or +1, got 0")
        mean = signs.mean(axis=0) / self._contrast
        return mean, np.full_like(mean, self._contrast**-2.0)


@dataclass(frozen=True, kw_only=True)
class harmony(SignedCorners):
    r"""Build Harmony on [-1, 1]^d: one random coordinate's sign, randomised.

    .. math:: \Pr[(j, +)] = \frac1d \left(\frac12 + \frac{x_j}{2}
              \frac{e^{\varepsilon_0} - 1}{e^{\varepsilon_0} + 1}\right)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int, optional
        Number of coordinates, at least 1.

    Notes
    -----
    ``sample`` maps floats (n, d) (or (n,) for d = 1) in [-1, 1] to rows (coordinate, sign), shape (n, 2);
    ``estimate`` returns the mean, shape (d,) (a float for d = 1).

    Wang 2024, Table 5 [46]: p = q = e^eps0, β = (e^eps0 - 1)/(e^eps0 + 1), which is exact for opposite
    corners: binary randomized response for every d.  For d = 1 so is the whole mechanism, after a random
    rounding, and `shufflelib.shuffle` has its exact δ and ε; for more coordinates the others
    may hold corners between the two, and only the bound of the privacy blanket is proved.

    Examples
    --------
    One coordinate has its exact ε; for more, the bound is the same for every d.

    >>> from shufflelib import randomizers, shuffle
    >>> for d in (1, 2, 100):
    ...     print(round(shuffle(randomizers.harmony(eps0=1.0, d=d), n=1000).epsilon(1e-6).upper, 3))
    0.127
    0.149
    0.149
    """

    @property
    def lopsided(self) -> tuple[int, ...]:
        """The corner between, if it cannot share as many coordinates with x0 as with x1."""
        return (2,) if self.d > 1 and self.d % 2 == 1 else ()

    def class_masses(self) -> Array:
        """Return class masses for opposite corners and one between, by the coordinates that it shares.

        For one coordinate the third row is the centre.
        """
        rows = super().class_masses()
        if self.d == 1:
            return rows
        shared = self.d // 2 / self.d
        first, second = (share * rows[:2] for share in (shared, 1.0 - shared))
        return np.vstack([np.hstack([first, second]), np.hstack([first[0], second[1]])])

    def blanket(self) -> Array:
        """Return the exact blanket: uniform."""
        shared = self.d // 2 / self.d
        least = super().blanket()
        return least if self.d == 1 else np.concatenate([shared * least, (1.0 - shared) * least])

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report rows (coordinate, sign), shape (n, 2)."""
        points, rng = self._points(x), values.generator(rng)
        n = len(points)
        coordinate = rng.integers(self.d, size=n)
        mean = points[np.arange(n), coordinate] * np.tanh(self.eps0 / 2.0)
        return np.column_stack([coordinate, np.where(rng.random(n) < (1.0 + mean) / 2.0, 1, -1)])

    def moments(self, reports: ArrayLike) -> tuple[Any, Any]:
        """Return mean and mean square of d times the sign, divided by how much of a value is left in it."""
        coordinate, sign = values.tagged_signs(reports, self.d, (-1, 1)).T
        scale = self.d / np.tanh(self.eps0 / 2.0)
        total = np.bincount(coordinate, weights=sign, minlength=self.d) / sign.size * scale
        square = np.bincount(coordinate, minlength=self.d) / sign.size * scale**2
        return (total[0], square[0]) if self.d == 1 else (total, square)

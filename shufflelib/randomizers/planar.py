r"""Planar Laplace noise: geo-indistinguishable locations, seen from two places a distance d01 apart.

Everything is in elliptic coordinates with the two places as foci, f = d01/2 to either side of the midpoint:

.. math:: y = f(-\cosh\mu\cos\nu,\; \sinh\mu\sin\nu), \quad
          |y - x_0| = f(\cosh\mu - \cos\nu), \quad |y - x_1| = f(\cosh\mu + \cos\nu),

with area element :math:`f^2(\sinh^2\mu + \sin^2\nu)\,d\mu\,d\nu`.  The loss
:math:`\log R_0/R_1 = d_{01}\cos\nu` depends on the *row* ν alone, and the mass of a row is a closed form,

.. math:: R_0(d\nu) = \frac{f^2}{\pi} e^{f\cos\nu} \left(\frac{K_1(f)}{f} + \sin^2\nu\, K_0(f)\right) d\nu.

The places within dmax of both x0 and x1 form a lens.  The blanket :math:`\inf_x R_x(y)` asks for the place of
the lens that is farthest from a report y: the point opposite y on an arc, at distance
:math:`d_{max} + \min_j |y - x_j|`, or, where the line from y to the farther *tip* of the lens meets the
segment from x0 to x1, that tip.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import iti0k0, k0, k0e, k1e

from shufflelib.numerics import validation
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.types import Array
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios
from shufflelib.randomizers import values
from shufflelib.randomizers.cells import NODES, WEIGHTS, coarsened
from shufflelib.randomizers.local_randomizer import Average
from shufflelib.randomizers.metric import CELL_WIDTH, MetricRandomizer, refuse_far_apart

REFERENCE_ROWS = 60, 80  # on the half-plane of x0: up to d01 = 3, and from 4 on
ATTACK_ROWS = 32
COLUMNS = 60  # at least
WIDEST_COLUMN = 0.1  # in μ
LONGEST_COLUMN = 4.0  # nats: Gauss's rule with 8 nodes gives e^{-τ} to 1e-13
REACH = 40.0  # nats; cells end there for a reference measure, at dmax more for an attack
NEGLIGIBLE = 1e-3  # in log R_0/w
LEVELS = 40  # of R_0/w, at most
NARROWEST_LEVEL = 0.05  # in log R_0/w
SMALLEST_HOLE = 1e-6  # mass; 1 minus the cells' masses has few digits when it is small
TIP_ATOMS, FAR_ATOMS = 1500, 500  # about, into which the cells of an attack from there are merged
FEW_PLACES = 1000  # up to which all distances are formed
TAIL_NODES, TAIL_WEIGHTS = np.polynomial.laguerre.laggauss(24)


class _Cells(NamedTuple):
    """Cells of the quadrant of x0 above the axis; nodes have the axes (row, column, in row, in column)."""

    row_ends: np.ndarray  # in ν
    column_ends: np.ndarray  # in μ
    nu: np.ndarray
    mu: np.ndarray
    area: np.ndarray  # of a node, over 2π

    @classmethod
    def of(cls, focal, reach, rows):
        farthest = np.arccosh(1.0 + reach / focal)
        width = min(WIDEST_COLUMN, LONGEST_COLUMN / (reach + focal), farthest / COLUMNS)
        columns = int(np.ceil(farthest / width))
        row_ends = np.linspace(0.0, np.pi / 2.0, rows + 1)
        column_ends = np.linspace(0.0, farthest, columns + 1)
        nu = (row_ends[1] * (np.arange(rows)[:, None] + NODES))[:, None, :, None]
        mu = (column_ends[1] * (np.arange(columns)[:, None] + NODES))[None, :, None, :]
        area = focal**2 * (np.sinh(mu) ** 2 + np.sin(nu) ** 2) / (2.0 * np.pi)
        return cls(
            row_ends, column_ends, nu, mu, area * np.outer(WEIGHTS * row_ends[1], WEIGHTS * column_ends[1])
        )


@dataclass(frozen=True, kw_only=True)
class planar_laplace(Average, MetricRandomizer):
    r"""Build the planar Laplace mechanism, distances in nats; the pair is at (0, 0) and (d01, 0).

    .. math:: R_x(y) = \frac{1}{2\pi} e^{-|y - x|}, \qquad
              w(y) = \frac{1}{2\pi} \exp\Bigl(-\max_{x:\, |x - x_0|, |x - x_1| \le d_{max}} |y - x|\Bigr)

    Parameters
    ----------
    d01, dmax : float
        How far one user moves, and largest distance of the other users to both places, in nats;
        1e-9 <= d01 <= dmax <= 100.

    Notes
    -----
    ``sample`` maps places (n, 2), within dmax of both and of each other, to reports (n, 2);
    ``estimate`` returns the mean place, shape (2,).

    Wang 2024, Table 2 [3]: p = e^d01, q = e^dmax, β = 2∫_0^{d01/2}∫ e^{-|(x - d01/2, y)|}/(2π) dy dx, exact.
    The paper finds no closed form; there is one:

    .. math:: \beta = \frac2\pi \left(\int_0^z K_0(t)\,dt - z K_0(z)\right), \quad z = d_{01}/2.

    The reference measure is the exact blanket, except in cells that the boundary of the tip's region crosses:
    there it is the smaller e^{-dmax} max(R_0, R_1), which agrees with it to second order.  Simpler reference
    measures are weaker.  With that of the disc around the lens, e^{-√(dmax² - d01²/4)} R_midpoint, the
    variance of the loss is larger by 3 % at d01 = dmax = 0.1, by 43 % at d01 = 1, dmax = 3; e^{-dmax}
    max(R_0, R_1) by 0.01 % and 0.5 %, but by 18 % at d01 = dmax = 4.

    The attacks are x* at x0, at a tip of the lens and at the far end of its axis.

    The bounds do not hold for moves shorter than d01; pass their length as d01: at dmax = 6, n = 1000 the
    upper bound on δ(1) is 0.0656 for d01 = 5.82 and 0.0653 for d01 = 6.

    The published pair is not an upper bound where few users are within reach: at d01 = 0.3, dmax = 10,
    n = 1000, δ = 1e-6 it has ε = 0.2970, an attack finds 0.2987.

    The discretisation raises the variance of the loss under the reference measure by at most 4e-4 for
    d01 <= 1, 7e-4 at 2, 2e-3 at 4, 6e-3 at 8, and lowers that of the attacks by at most 5e-3.  At δ near
    1e-6 an upper bound on δ is then less than 2e-3 too large for d01 <= 1, 1e-2 at 4.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.planar_laplace(d01=1.0, dmax=2.0)
    >>> bracket = shuffle(mechanism, n=10_000).delta(eps=0.05)
    >>> round(mechanism.beta, 4), 1e-8 < bracket.lower < bracket.upper < 1e-5
    (0.296, True)
    """

    @property
    def beta(self) -> float:
        """Published β in closed form, exact."""
        focal = self.d01 / 2.0
        return float(2.0 / np.pi * (iti0k0(focal)[1] - focal * k0(focal)))

    def density(self, y: ArrayLike, x: ArrayLike) -> Array:
        """Return the density of the reports ``y`` for the places ``x``, both of shape (..., 2)."""
        y, x = validation.reals(y, "y"), validation.reals(x, "x")
        return np.exp(-np.linalg.norm(y - x, axis=-1)) / (2.0 * np.pi)

    @property
    def _focal(self):
        return self.d01 / 2.0

    @property
    def _rows(self):
        """Number of rows of cells under the reference measure, and for x* at x0."""
        return int(np.clip(20.0 * self.d01, *REFERENCE_ROWS))

    @property
    def _tip(self):
        """Distance of the lens's tips from the midpoint."""
        return np.sqrt((self.dmax - self._focal) * (self.dmax + self._focal))

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the pair, with x* at x0, at a tip of the lens and at the far end of its axis."""
        return self._pairs

    @cached_property
    def _pairs(self):
        focal = self._focal
        attacks = (
            self._attack_from_x0(),
            replace(self._attack(np.arcsinh(self._tip / focal), np.pi / 2.0, TIP_ATOMS), exchangeable=True),
            self._attack(np.arccosh(max(self.dmax / focal - 1.0, 1.0)), np.pi, FAR_ATOMS),
        )
        return (InputPair(self._reference(), attacks),)

    def _reference(self):
        """Return atoms at levels of R_0/w and at the rows' ends: a mean-preserving split twice."""
        cells = _Cells.of(self._focal, REACH, self._rows)
        nu, row_ends = cells.nu[:, 0, :, 0], cells.row_ends
        # in a row: R_1/R_0 = e^{-d01 cos ν} goes to its values at the two ends
        down, up = (
            np.expm1(2.0 * self.d01 * np.sin((end + nu) / 2.0) * np.sin((end - nu) / 2.0))
            for end in (row_ends[:-1, None], row_ends[1:, None])
        )
        first = up / (up - down)

        # in a cell: R_0/w goes to the levels around the cell's range
        mass, elsewhere, log_ratio, lowest, highest = self._seen_from_the_tip(cells)
        spacing = max(NARROWEST_LEVEL, (self.dmax - lowest.min()) / LEVELS)
        top = np.maximum(np.floor((self.dmax - highest) / spacing - 1e-9), 0.0).astype(int)
        bottom = np.maximum(np.ceil((self.dmax - lowest) / spacing + 1e-9).astype(int), top + 1)
        fall = log_ratio - (self.dmax - spacing * top)[..., None, None]
        to_bottom = np.expm1(fall) / np.expm1(-spacing * (bottom - top))[..., None, None]
        # elsewhere R_0/w = e^dmax
        rest = np.exp(-self.dmax) * (elsewhere.sum(axis=(1, 3)) + self._beyond(cells))

        split = np.zeros((row_ends.size, bottom.max() + 1))
        row = np.arange(self._rows)
        for share, end in ((first, row), (1.0 - first, row + 1)):
            part = mass * share[:, None, :, None]
            np.add.at(split, (end, 0), (rest * share).sum(axis=1))
            np.add.at(split, (end[:, None], top), (part * (1.0 - to_bottom)).sum(axis=(2, 3)))
            np.add.at(split, (end[:, None], bottom), (part * to_bottom).sum(axis=(2, 3)))
        log_high = np.broadcast_to(self.dmax - spacing * np.arange(split.shape[1]), split.shape)
        log_low = log_high - self.d01 * np.cos(row_ends)[:, None]
        used = split > 0.0
        high, low, split = np.exp(log_high[used]), np.exp(log_low[used]), split[used]
        return LikelihoodRatios(
            np.append(high, low),
            np.append(low, high),
            np.append(split, split),
            precision=5e-11,  # a share of a narrow level
            cell_width=CELL_WIDTH,
            exchangeable=True,
        )

    def _seen_from_the_tip(self, cells):
        r"""Return w, log R_0/w and its ranges where a tip is the farthest place, and R_0 elsewhere.

        Both half-planes count.  With v = sin ν, h the tip's distance from the midpoint and
        :math:`t^2 = h^2 + f^2\cosh^2\mu + 2fh\sinh\mu\,v - f^2v^2` the squared distance from the tip,
        log R_0/w is t - f cosh μ + f cos ν.  On a hyperbola t - f cosh μ rises, since the ray from the tip
        lies between those from the foci; in v it is concave.
        """
        focal, tip = self._focal, self._tip

        def from_tip(mu, v):
            rise = 2.0 * focal * tip * np.sinh(mu) * v - (focal * v) ** 2
            return np.sqrt(tip**2 + (focal * np.cosh(mu)) ** 2 + rise)

        nu, mu = cells.row_ends[:, None], cells.column_ends[None, :]
        # the ray from the tip meets the segment; the left side is largest at a corner with the smaller ν
        behind = tip * np.cosh(mu) * np.cos(nu) - focal * np.sinh(mu) * np.sin(nu) <= tip
        inside = behind[:-1, :-1] & behind[:-1, 1:]

        v = np.sin(nu)
        corner = from_tip(mu[:, :-1], v) - focal * np.cosh(mu[:, :-1])
        lowest = np.minimum(corner[:-1], corner[1:]) + focal * np.cos(nu[1:])
        peak = np.clip(tip / focal * np.sinh(mu[:, 1:]), v[:-1], v[1:])
        highest = from_tip(mu[:, 1:], peak) - focal * np.cosh(mu[:, 1:]) + focal * np.cos(nu[:-1])
        inside &= lowest < self.dmax - NEGLIGIBLE  # a smaller difference has few digits
        lowest, highest = (np.where(inside, end, self.dmax) for end in (lowest, highest))

        distance = from_tip(cells.mu, np.sin(cells.nu))
        near = focal * (np.cosh(cells.mu) - np.cos(cells.nu))
        log_ratio, at_node = distance - near, inside[..., None, None]
        mass = np.where(at_node, 2.0 * cells.area * np.exp(-distance), 0.0)
        elsewhere = np.where(at_node, 0.0, 2.0 * cells.area * np.exp(-near))
        return mass, elsewhere, log_ratio, lowest, highest

    def _beyond(self, cells):
        r"""Return the mass of R_0 at the rows' nodes beyond the last column, where f cosh μ > f + REACH.

        .. math:: \frac{f^2}{\pi} e^{f\cos\nu} \int (\sinh^2\mu + \sin^2\nu) e^{-f\cosh\mu}\,d\mu, \qquad
                  d\mu = \frac{ds}{f \sinh\mu}, \quad s = f\cosh\mu
        """
        focal, nu = self._focal, cells.nu[:, 0, :, 0]
        sinh = np.sqrt((REACH + TAIL_NODES) / focal * ((REACH + TAIL_NODES) / focal + 2.0))
        rising, flat = (TAIL_WEIGHTS @ (sinh**power) for power in (1.0, -1.0))
        mass = np.exp(-REACH - 2.0 * focal * np.sin(nu / 2.0) ** 2) * (rising + np.sin(nu) ** 2 * flat)
        return focal / np.pi * mass * WEIGHTS * cells.row_ends[1]

    def _attack_from_x0(self):
        """Return one output for each row, all others at x0."""
        row_ends = np.linspace(0.0, np.pi / 2.0, self._rows + 1)
        nu = row_ends[:-1, None] + NODES * row_ends[1]
        focal = self._focal
        mass = np.exp(-self.d01 * np.sin(nu / 2.0) ** 2) * WEIGHTS * row_ends[1] / np.pi
        mass *= focal * k1e(focal) + (focal * np.sin(nu)) ** 2 * k0e(focal)
        near, far = mass.sum(axis=1), (mass * np.exp(-self.d01 * np.cos(nu))).sum(axis=1)
        report0, report1 = np.append(near, far), np.append(far, near)
        return LikelihoodRatios.against(report0, report0, report1, precision=1e-13, cell_width=CELL_WIDTH)

    def _attack(self, mu_star, nu_star, atoms):
        """Return cells, like ones merged into some atoms, all others at one place.

        The density of R_* is not smooth at the place itself: around it one large cell is left, whose mass
        under R_* is 1 minus that of the other cells.
        """
        focal, cells = self._focal, _Cells.of(self._focal, self.dmax + REACH, ATTACK_ROWS)
        place = focal * np.array([-np.cosh(mu_star) * np.cos(nu_star), np.sinh(mu_star) * np.sin(nu_star)])
        x, y = -np.cosh(cells.mu) * np.cos(cells.nu), np.sinh(cells.mu) * np.sin(cells.nu)
        near, far = (
            (cells.area * np.exp(-focal * (np.cosh(cells.mu) + side * np.cos(cells.nu)))).sum(axis=(2, 3))
            for side in (-1.0, 1.0)
        )
        width = 1.5 * max(cells.row_ends[1], cells.column_ends[1])
        beside = np.maximum(cells.column_ends[:-1] - mu_star, mu_star - cells.column_ends[1:]) < width
        parts = []
        for mirrored in (False, True):
            nu_seen = np.pi - nu_star if mirrored else nu_star
            around = np.maximum(cells.row_ends[:-1] - nu_seen, nu_seen - cells.row_ends[1:]) < width
            for below in (False, True):
                span = np.hypot(focal * x * (-1) ** mirrored - place[0], focal * y * (-1) ** below - place[1])
                others = (cells.area * np.exp(-span)).sum(axis=(2, 3))
                hole = around[:, None] & beside & (not below or place[1] < 1e-9 * self.dmax)
                parts.append((*((far, near) if mirrored else (near, far)), others, hole))
        return _with_hole(*(np.stack(part).ravel() for part in zip(*parts, strict=True)), atoms)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report places, shape (n, 2)."""
        x, rng = values.numbers(x, "x", columns=2), values.generator(rng)
        farthest = np.maximum(np.hypot(*x.T), np.hypot(x[:, 0] - self.d01, x[:, 1]))
        if farthest.max() > self.dmax * (1.0 + 1e-12):
            raise ValueError(
                f"x must be within dmax={self.dmax:g} of (0, 0) and of ({self.d01:g}, 0), "
                f"got a place at {farthest.max():g}; use a larger dmax"
            )
        refuse_far_apart(_diameter(x), self.dmax)
        length, angle = rng.gamma(2.0, size=len(x)), rng.uniform(0.0, 2.0 * np.pi, size=len(x))
        return x + np.column_stack([length * np.cos(angle), length * np.sin(angle)])

    def moments(self, reports: ArrayLike) -> tuple[Any, Any]:
        """Return mean and mean square of both coordinates of the reports."""
        reports = values.numbers(reports, "reports", columns=2)
        return reports.mean(axis=0), np.mean(reports**2, axis=0)


def _diameter(places):
    """Return the largest distance between two places."""
    # loaded here: no certificate needs it, and it takes as long to load as all of NumPy
    from scipy.spatial import ConvexHull
    from scipy.spatial.distance import pdist

    places = np.unique(places, axis=0)
    if len(places) > FEW_PLACES:
        places = places[ConvexHull(places, qhull_options="QJ").vertices]
    return float(pdist(places).max(initial=0.0))


def _with_hole(report0, report1, others, hole, atoms):
    """Merge the hole, with the likeliest cell if its mass is negligible, and then like cells."""
    group = np.where(hole, 0, 1 + np.arange(hole.size))
    report0, report1, others = (np.bincount(group, weights=part) for part in (report0, report1, others))
    others[0] = left = 1.0 - others[1:].sum()
    if left < SMALLEST_HOLE:
        into = 1 + int(np.argmax(others[1:]))
        left += others[into]
        for part in (report0, report1, others):
            part[into] += part[0]
        report0, report1, others = report0[1:], report1[1:], others[1:]
    rest = {"precision": 1e-12 + 1e-15 / left, "cell_width": CELL_WIDTH}
    return coarsened(LikelihoodRatios.against(others, report0, report1, **rest), atoms)

r"""Cells of a continuous report, with errors on a known side: split for upper, merged for lower bounds.

In a cell the likelihood ratios :math:`(R_0/w, R_1/w)` vary within a box, and their means are known.

- *Privacy blanket*: a mean-preserving split moves each ratio to the ends of its interval.  That raises
  :math:`R_0 - E R_1` in convex order, and bounds stay bounds.
- *Attacks*: the masses of each cell under all inputs are those of one output.  This coarsening is
  post-processing, so attacks stay attacks.

Both errors are of second order in the width of a cell.

Where there are too many atoms (a, b) = (R_0/w, R_1/w), of cells in a plane or of several reports, they are
merged on a mesh of the quadrant of all (a, b): rays, on which log(a/b) is constant, and on each ray a few
values of the size s = a + b.

- `mean_preserving_split`: an atom is replaced first by two on the neighbouring rays, of the same size s, then
  each of these by two on the same ray; each time the means of a and of b are kept.
- `coarsened`: the atoms of a cell of the mesh are replaced by one, the cell taken as a single output.

A split stays in the cone spanned by the atoms, so the largest loss does not grow.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

NODES, WEIGHTS = (part / 2.0 for part in np.polynomial.legendre.leggauss(8))
NODES = NODES + 0.5
MOST_WIDENING = 4.0  # log of the last cell's width over the first one's
FEWEST, MOST = 80, 300  # cells of a stretch
AT_ONE_NAT = 10.0  # cells, if there were no fewest
MOST_ATOMS = 1000
MOST_COMPARED = 20_000  # atoms up to which equal ratios are merged exactly
MERGING_WIDTH = 1e-5  # of δ, relative: the precision asked of the numerics once atoms have been merged
ROUNDING = 2e-15  # of a recomputed ratio or mass
LEAST = float(np.finfo(float).tiny)
FLOOR = 0.25  # share of rays and cells that is spaced evenly, share of a loss that counts everywhere
BINS = 64  # of a ray's sizes, to find its cells
LEAST_COST = 1e-150  # where all sizes of a ray are alike or rare, its cells are spaced evenly
BLOCK = 1 << 16  # atoms at once


def enough(length, share=1.0):
    """Return how many cells a log-ratio that changes by ``length`` nats needs: 80 up to 2.8, 300 from 5.5.

    A relative error of 1e-6 to 4e-5 in ε is left.  It grows as the square of a cell's length: relative to the
    whole stretch while losses are small, in nats where large ones decide.
    """
    return int(share * min(max(FEWEST, AT_ONE_NAT * length**2), MOST))


def widening(length, cells):
    """Return the ends of cells of [0, length] whose widths grow as e^y, by a factor e^4 at most."""
    bend = min(length, MOST_WIDENING)
    ends = -length / bend * np.log1p(np.linspace(0.0, 1.0, cells + 1) * np.expm1(-bend))
    ends[-1] = length
    return ends


def log_linear_masses(edges, log_density):
    """Return the masses of cells in each of which the log-density is linear, from its values at the edges."""
    left, right = log_density[..., :-1], log_density[..., 1:]
    fall = np.maximum(np.abs(right - left), np.finfo(float).tiny)
    mean_decay = -np.expm1(-fall) / fall
    return np.diff(edges) * np.exp(np.maximum(left, right)) * mean_decay


def integrals(edges, density):
    """Return the integrals of a smooth density over cells, by Gauss's rule with eight nodes."""
    width = np.diff(edges)[:, None]
    return (WEIGHTS * width * density(edges[:-1, None] + NODES * width)).sum(axis=1)


def along(log_ratio, mean):
    """Return what `split` needs of a ratio that is monotone in each cell, from its logarithm at the edges."""
    return log_ratio[:-1], mean, log_ratio[1:]


def split(mass, log0, log1):
    """Return atoms (R_0/w, R_1/w, mass) at the corners of every cell's box: a mean-preserving split.

    ``log0`` and ``log1`` hold one end, the mean and the other end of each ratio, as logarithms; ``mass`` is
    that of the reference measure.  Both ratios are at their first or both at their other ends as often as
    possible.  That is the split of every point of a cell in which both are exponentials of one variable; and
    if the ends of the second are given from high to low, it is the largest of all splits in convex order.
    """
    left0, up0, right0 = _ends_and_share(*log0)
    left1, up1, right1 = _ends_and_share(*log1)
    both = np.minimum(up0, up1)
    shares = 1.0 - np.maximum(up0, up1), both, up0 - both, up1 - both
    first = np.concatenate([left0, right0, right0, left0])
    second = np.concatenate([left1, right1, left1, right1])
    mass = np.concatenate([mass * share for share in shares])
    ratios, place = np.unique(
        np.stack([first, second]), axis=1, return_inverse=True
    )  # cells meet at their ends
    mass = np.bincount(place.ravel(), weights=mass)
    kept = mass >= np.finfo(float).tiny
    return *ratios[:, kept], mass[kept]


def _ends_and_share(left, mean, right):
    """Return both bounds of a ratio, the share of the other one between them, in the order of `split`."""
    length = np.expm1(right - left)
    share = np.expm1(mean - left) / np.where(length == 0.0, np.inf, length)
    return np.exp(left), np.clip(share, 0.0, 1.0), np.exp(right)


def mirrored(first, second, mass, **rest):
    """Return likelihood ratios from half of the outputs; on the other half the reports change roles."""
    first, second = np.append(first, second), np.append(second, first)
    return LikelihoodRatios(first, second, np.append(mass, mass), exchangeable=True, **rest)


def of_masses(first, second, mass, *, outside, precision, cell_width):
    """Return the ratios of some masses; equal ratios become one atom unless there are too many atoms."""
    used = mass >= LEAST
    r0_outside, r1_outside = (
        float(np.minimum(beyond + part[~used].sum(), 1.0))
        for beyond, part in zip(outside, (first, second), strict=True)
    )
    if not used.all():
        first, second, mass = first[used], second[used], mass[used]
    if mass.size > MOST_COMPARED:
        return LikelihoodRatios(
            first / mass, second / mass, mass, r0_outside, r1_outside, precision, cell_width
        )
    return LikelihoodRatios.from_masses(
        np.append(first, r0_outside),
        np.append(second, r1_outside),
        np.append(mass, 0.0),
        precision=precision,
        cell_width=cell_width,
    )


def mean_preserving_split(ratios, most=MOST_ATOMS):
    """Return ratios with at most about ``most`` atoms, losses larger in convex order."""
    if ratios.w.size <= most:
        return ratios
    node, size, left, share = _on_rays(ratios, most // (8 if ratios.r0_outside > 0.0 else 4))
    right = np.minimum(left + 1, node.size - 1)
    parts = (left, size, ratios.w * (1.0 - share)), (right, size, ratios.w * share)
    mesh = _Mesh.of(parts, node, most - node.size)
    mass, last = np.zeros(mesh.ends.size), mesh.ends.shape[1] - 1
    for ray, size, part in _pieces(*parts):
        cell = mesh.cell(ray, size)
        further = np.minimum(cell + 1, last)
        near = mesh.ends[ray, cell]
        width = mesh.ends[ray, further] - near
        share = np.clip((size - near) / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
        for there, moved in ((cell, part * (1.0 - share)), (further, part * share)):
            mass += np.bincount(ray * (last + 1) + there, weights=moved, minlength=mass.size)
    mass = mass.reshape(mesh.ends.shape)
    ray, cell = np.nonzero(mass)
    mass, size = mass[ray, cell], mesh.ends[ray, cell]
    return _merged(ratios, mass * size * expit(node[ray]), mass * size * expit(-node[ray]), mass)


def coarsened(ratios, most=MOST_ATOMS):
    """Return ratios with at most about ``most`` atoms, losses smaller in convex order."""
    if ratios.w.size <= most:
        return ratios
    node, size, ray, _ = _on_rays(ratios, most // 4)
    parts = ray, size, ratios.w, ratios.r0_over_w, ratios.r1_over_w
    mesh = _Mesh.of([parts[:3]], node, most - node.size)
    masses = np.zeros((3, mesh.ends.size))
    for ray, size, mass, *ratio in _pieces(parts):
        place = ray * mesh.ends.shape[1] + mesh.cell(ray, size)
        for total, part in zip(masses, (mass, *(mass * one for one in ratio)), strict=True):
            total += np.bincount(place, weights=part, minlength=total.size)
    mass, first, second = masses[:, masses[0] > 0.0]
    return _merged(ratios, first, second, mass)


def _pieces(*parts):
    """Yield pieces of arrays, so that what is made of them takes little memory."""
    for arrays in parts:
        for start in range(0, arrays[0].size, BLOCK):
            yield tuple(one[start : start + BLOCK] for one in arrays)


def _on_rays(ratios, count):
    """Return about ``count`` rays, the size of each atom, the ray before it and the share of the next one."""
    angle, size = _polar(ratios)
    node = _rays(ratios.w, angle, size, count)
    found = [_between(node, piece) for (piece,) in _pieces((angle,))]
    return node, size, *(np.concatenate(part) for part in zip(*found, strict=True))


def _polar(ratios):
    """Return angle log(a/b), possibly infinite, and size a + b of each atom; none has a = b = 0."""
    with np.errstate(divide="ignore"):
        angle = np.log(ratios.r0_over_w)
        angle -= np.log(ratios.r1_over_w)
    return angle, ratios.r0_over_w + ratios.r1_over_w


def _rays(mass, angle, size, count):
    """Return the angles of about ``count`` rays, spaced by the cube root of what a split costs."""
    finite = np.isfinite(angle)
    ends = np.unique(angle[~finite])
    if not finite.any():
        return ends
    low, high = angle.min(where=finite, initial=np.inf), angle.max(where=finite, initial=-np.inf)
    if low == high:
        return np.sort(np.append(ends, low))
    bins = np.linspace(low, high, 10 * count + 1)
    total = np.zeros(bins.size - 1)
    for some, *parts in _pieces((finite, mass, angle, size)):
        mass, angle, size = (part[some] for part in parts)
        # a split widens G by size·(σ(high) - σ(low))
        cost = mass * size * size * (expit(angle) * expit(-angle)) ** 2
        place = np.minimum(np.searchsorted(bins, angle, side="right") - 1, bins.size - 2)
        total += np.bincount(place, weights=cost, minlength=total.size)
    rank = np.append(0.0, np.cumsum(np.cbrt(total)))
    rank = (1.0 - FLOOR) * rank / max(rank[-1], LEAST) + FLOOR * np.linspace(0.0, 1.0, bins.size)
    node = np.interp(np.linspace(0.0, 1.0, count), rank, bins)
    node[0], node[-1] = low, high
    return np.unique(np.append(ends, node))


def _between(node, angle):
    r"""Return the ray before each atom and the share of the next one.

    The sizes are equal, and the mean is (σ(u), σ(-u)) with σ(u) = 1/(1 + e^{-u}):

    .. math:: \sigma(u) - \sigma(v) = \sigma(u)\, \sigma(-v)\, (1 - e^{v-u}) .
    """
    left = np.searchsorted(node, angle, side="right") - 1
    right = np.minimum(left + 1, node.size - 1)
    inside = angle > node[left]  # elsewhere the atom is on its ray
    u, low, high = angle[inside], node[left[inside]], node[right[inside]]
    share = np.zeros(angle.size)
    log_size = log_expit(u) - log_expit(high)
    share[inside] = np.exp(log_size) * np.expm1(low - u) / np.expm1(low - high)
    return left, np.minimum(share, 1.0)


class _Mesh(NamedTuple):
    """Cells of rays: least log size, length, number, ranks at ends of bins, sizes at ends of cells."""

    low: np.ndarray
    length: np.ndarray
    many: np.ndarray
    rank: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, parts, node, count):
        """Cut every ray's sizes into cells, about ``count`` in all, of widths that a split costs alike.

        ``parts`` are rays, sizes and masses of atoms.
        """
        low, high = np.full(node.size, np.inf), np.full(node.size, -np.inf)
        for ray, size, _ in _pieces(*parts):
            np.minimum.at(low, ray, size)
            np.maximum.at(high, ray, size)
        met = high >= low
        low, high = np.log(np.where(met, low, 1.0)), np.log(np.where(met, high, 1.0))
        mesh, cost = cls(low, high - low, *np.empty((3, 0))), np.zeros(node.size * BINS)
        for ray, size, mass in _pieces(*parts):
            place = ray * BINS + mesh._place(ray, size)[0]
            cost += np.bincount(place, weights=mass * size**2, minlength=cost.size)
        tilt = np.tanh(0.5 * np.abs(node)) + FLOOR * np.max(np.tanh(0.5 * np.abs(node)))
        cost = np.cbrt(cost.reshape(node.size, BINS)) * np.cbrt((tilt * mesh.length / BINS) ** 2)[:, None]
        cost = np.maximum((1.0 - FLOOR) * cost + FLOOR * cost.mean(axis=1, keepdims=True), LEAST_COST)
        cells = np.where(mesh.length > 0.0, np.ceil(count * cost.sum(axis=1) / cost.sum()), 0.0)
        rank = np.pad(np.cumsum(cost, axis=1), ((0, 0), (1, 0)))
        rank *= (cells / rank[:, -1])[:, None]
        order, grid = np.arange(int(cells.max()) + 1), np.linspace(0.0, 1.0, BINS + 1)
        shares = np.array([np.interp(order, row, grid) for row in rank])
        ends = np.exp(low[:, None] + mesh.length[:, None] * shares)
        return mesh._replace(many=cells, rank=rank, ends=ends)

    def _place(self, ray, size):
        """Return the bin of each atom, and where it is in units of them."""
        share = (np.log(size) - self.low[ray]) / (np.where(self.length > 0.0, self.length, 1.0)[ray] / BINS)
        return np.clip(share, 0, BINS - 1).astype(int), share

    def cell(self, ray, size):
        """Return the cell of each atom."""
        place, share = self._place(ray, size)
        rank = self.rank[ray, place]
        here = rank + (share - place) * (self.rank[ray, place + 1] - rank)
        return np.clip(here, 0, np.maximum(self.many[ray] - 1, 0)).astype(int)


def _merged(ratios, first, second, mass):
    """Return the ratios of merged masses, with all else as in ``ratios``."""
    entries = np.append(ratios.r0_over_w, ratios.r1_over_w)
    exponents = np.abs(np.log(entries[entries > 0.0]))  # of recomputed exponentials, and their rounding
    return of_masses(
        first,
        second,
        mass,
        outside=(ratios.r0_outside, ratios.r1_outside),
        precision=ratios.precision + ROUNDING * (16.0 + float(exponents.max(initial=0.0))),
        cell_width=max(ratios.cell_width, MERGING_WIDTH),
    )

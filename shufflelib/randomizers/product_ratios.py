r"""Products of likelihood ratios: those of tuples, with a bounded number of atoms.

For independent reports :math:`y_1, \dots, y_k`, the densities, the blankets and the likelihood ratios
:math:`a = R_0/w`, :math:`b = R_1/w` multiply.  The number of atoms multiplies too.  Where there are too many,
they are merged on a mesh of the quadrant of all (a, b): rays, on which log(a/b) is constant, and on each ray
a few values of the size s = a + b.

- *Mean-preserving split*: an atom is replaced first by two on the neighbouring rays, of the same size s, then
  each of these by two on the same ray; each time the means of a and of b are kept.
- *Coarsening*: the atoms of a cell are replaced by one, the cell taken as a single output.

Both errors have a known sign.  With all other factors given, the loss of a tuple is
:math:`G = A\,a - e^\varepsilon B\,b`, affine in the pair (a, b) of one factor, for all A, B >= 0.  A split
that keeps the means of a and b keeps that of G, so it raises :math:`\mathbb E\,\phi(G)` for every convex φ;
averaged over the other factors, and over the other users, it raises :math:`\mathbb E(\sum G)_+`.  Factors may
therefore be split one after the other, and products of factors too.  Coarsening is a function of the report,
in one factor or in the product.

A split stays in the cone spanned by the atoms, so the largest loss does not grow.  Both errors are of second
order in the width of a cell of the mesh.

Where ratios are unbounded, as those of Gaussian reports are, cells reach far out, and a split would move mass
there.  The largest sizes, with 10⁻²⁰ of the reports' mass, therefore count as outside the support of w: a
smaller reference measure is one too.
"""

import math
from dataclasses import replace
from functools import reduce

import numpy as np
from scipy.special import expit

from shufflelib.profiles.likelihood_ratios import LEAST_OUTSIDE, LikelihoodRatios

MOST_ATOMS = 1000
MOST_COMPARED = 20_000  # atoms up to which equal ratios are merged exactly
MERGING_WIDTH = 1e-5  # of δ, relative: the precision asked of the numerics once atoms have been merged
ROUNDING = 2e-15  # of a recomputed ratio or mass
LEAST = float(np.finfo(float).tiny)
FLOOR = 0.25  # share of rays and cells that is spaced evenly, share of a loss that counts everywhere
BINS = 64  # of a ray's sizes, to find its cells
LEAST_COST = 1e-150  # where all sizes of a ray are alike or rare, its cells are spaced evenly
GIVEN_UP = 1e-20  # mass of both reports where their ratios are largest, if these are unbounded


def product_of_blankets(factors):
    """Return ratios of tuples whose losses are no smaller, in convex order, from those of their entries.

    Where the reference measure underflows, the mass of a report counts as outside its support.
    """

    def times(one, other):
        return mean_preserving_split(_bounded(_times(one, other, 0.0, LEAST_OUTSIDE)))

    return reduce(times, map(_bounded, factors))


def product_of_attacks(factors):
    """Return ratios of tuples whose losses are no larger, in convex order, from those of their entries.

    A mass that underflows is raised to the least normal float: an output that a report can produce,
    however rarely, does not rule the report out.
    """
    return reduce(lambda one, other: coarsened(_times(one, other, LEAST, 0.0)), map(coarsened, factors))


def _bounded(ratios):
    """Return the ratios without the largest sizes, if there is no largest one: they count as outside w."""
    if ratios.r0_outside == 0.0:
        return ratios
    size = ratios.r0_over_w + ratios.r1_over_w
    order = np.argsort(-size)
    beyond = int(np.searchsorted(np.cumsum((size * ratios.w)[order]), GIVEN_UP))
    kept = size <= size[order[min(beyond, size.size - 1)]]
    changes = {"w": ratios.w[kept], "outside": None}
    for side in ("r0", "r1"):
        part, outside = getattr(ratios, f"{side}_over_w"), getattr(ratios, f"{side}_outside")
        changes[f"{side}_over_w"] = part[kept]
        changes[f"{side}_outside"] = math.fsum([outside, *(part * ratios.w)[~kept]])
    return replace(ratios, **changes)


def _times(one, other, least, least_outside):
    """Return the likelihood ratios of two independent reports.

    Positive masses are at least ``least``; at least ``least_outside`` is outside the support if the reference
    measure underflows somewhere.
    """
    reference, reports, outside = np.maximum(np.multiply.outer(one.w, other.w), least), [], []
    for side in ("r0", "r1"):
        here, there = getattr(one, f"{side}_over_w"), getattr(other, f"{side}_over_w")
        made = np.logical_and.outer(here > 0.0, there > 0.0)
        mass = np.maximum(np.multiply.outer(one.w * here, other.w * there), least)
        reports.append(np.where(made, mass, 0.0).ravel())
        here, there = getattr(one, f"{side}_outside"), getattr(other, f"{side}_outside")
        outside.append(
            max(here + there - here * there, least_outside if np.any(made & (reference < LEAST)) else 0.0)
        )
    pairs = [*reports, reference.ravel()]
    seen = (pairs[0] > 0.0) | (pairs[1] > 0.0)  # elsewhere the loss is 0
    parts = "r0_over_w", "r1_over_w", "w"
    equal = all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)
    if equal and made.size > MOST_COMPARED:  # outputs (y, z) and (z, y) are one atom
        weight = (np.triu(np.full(made.shape, 2.0)) - np.eye(one.w.size)).ravel()
        pairs, seen = [part * weight for part in pairs], seen & (weight > 0.0)
    return _of_masses(
        *(part[seen] for part in pairs),
        outside=outside,
        precision=one.precision + other.precision + ROUNDING,
        cell_width=one.cell_width + other.cell_width,
    )


def _of_masses(first, second, mass, *, outside, precision, cell_width):
    """Return the ratios of some masses; equal ratios become one atom unless there are too many atoms."""
    used = mass >= LEAST
    r0_outside, r1_outside = (
        float(np.minimum(beyond + part[~used].sum(), 1.0))
        for beyond, part in zip(outside, (first, second), strict=True)
    )
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
    angle, size = _polar(ratios)
    node = _rays(ratios.w, angle, size, most // (8 if ratios.r0_outside > 0.0 else 4))
    left, right, share = _between(node, angle)
    ray, size = np.append(left, right), np.append(size, size)
    mass = np.append(ratios.w * (1.0 - share), ratios.w * share)
    cell, ends = _cells(ray, size, mass, node, most - node.size)
    near = ends[ray, cell]
    width = ends[ray, np.minimum(cell + 1, ends.shape[1] - 1)] - near
    share = np.clip((size - near) / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
    mass = _gathered(
        np.append(ray, ray), np.append(cell, cell + 1), np.append(mass * (1.0 - share), mass * share)
    )
    ray, cell = np.nonzero(mass)
    mass, size = mass[ray, cell], ends[ray, cell]
    return _merged(ratios, mass * size * expit(node[ray]), mass * size * expit(-node[ray]), mass)


def coarsened(ratios, most=MOST_ATOMS):
    """Return ratios with at most about ``most`` atoms, losses smaller in convex order."""
    if ratios.w.size <= most:
        return ratios
    angle, size = _polar(ratios)
    node = _rays(ratios.w, angle, size, most // 4)
    ray = _between(node, angle)[0]
    cell = _cells(ray, size, ratios.w, node, most - node.size)[0]
    mass = _gathered(ray, cell, ratios.w)
    first, second = (
        _gathered(ray, cell, ratios.w * ratio)[mass > 0.0] for ratio in (ratios.r0_over_w, ratios.r1_over_w)
    )
    return _merged(ratios, first, second, mass[mass > 0.0])


def _polar(ratios):
    """Return angle log(a/b), possibly infinite, and size a + b of each atom; none has a = b = 0."""
    with np.errstate(divide="ignore"):
        return np.log(ratios.r0_over_w) - np.log(ratios.r1_over_w), ratios.r0_over_w + ratios.r1_over_w


def _rays(mass, angle, size, count):
    """Return the angles of about ``count`` rays, spaced by the cube root of what a split costs."""
    finite = np.isfinite(angle)
    ends = np.unique(angle[~finite])
    if not finite.any():
        return ends
    angle, low, high = angle[finite], angle[finite].min(), angle[finite].max()
    if low == high:
        return np.sort(np.append(ends, low))
    bins = np.linspace(low, high, 10 * count + 1)
    # a split widens G by size·(σ(high) - σ(low))
    mass, size = mass[finite], size[finite]
    cost = mass * size * size * (expit(angle) * expit(-angle)) ** 2
    place = np.minimum(np.searchsorted(bins, angle, side="right") - 1, bins.size - 2)
    rank = np.append(0.0, np.cumsum(np.cbrt(np.bincount(place, weights=cost, minlength=bins.size - 1))))
    rank = (1.0 - FLOOR) * rank / max(rank[-1], LEAST) + FLOOR * np.linspace(0.0, 1.0, bins.size)
    node = np.interp(np.linspace(0.0, 1.0, count), rank, bins)
    node[0], node[-1] = low, high
    return np.unique(np.append(ends, node))


def _between(node, angle):
    r"""Return the two rays next to each atom and the share of the second.

    The sizes are equal, and the mean is (σ(u), σ(-u)) with σ(u) = 1/(1 + e^{-u}):

    .. math:: \sigma(u) - \sigma(v) = \frac{\sinh((u-v)/2)}{2\cosh(u/2)\cosh(v/2)} .
    """
    left = np.searchsorted(node, angle, side="right") - 1
    right = np.minimum(left + 1, node.size - 1)
    inside = angle > node[left]  # elsewhere the atom is on its ray
    u, low, high = angle[inside], node[left[inside]], node[right[inside]]
    share = np.zeros(angle.size)
    share[inside] = np.sinh(0.5 * (u - low)) / np.sinh(0.5 * (high - low)) * _cosh_ratio(high, u)
    return left, right, np.minimum(share, 1.0)


def _cosh_ratio(u, v):
    """Return cosh(u/2)/cosh(v/2), which may be moderate where both are not."""
    u, v = np.abs(u), np.abs(v)
    return np.exp(0.5 * (u - v)) * (1.0 + np.exp(-u)) / (1.0 + np.exp(-v))


def _cells(ray, size, mass, node, count):
    """Cut every ray's sizes into cells, about ``count`` in all, of widths that a split of them costs alike.

    Return the cell of each atom, and the ends of all cells, shape (rays, most cells of a ray + 1).
    """
    size = np.log(size)
    low, high = np.full(node.size, np.inf), np.full(node.size, -np.inf)
    np.minimum.at(low, ray, size)
    np.maximum.at(high, ray, size)
    met = high >= low
    low, length = np.where(met, low, 0.0), np.where(met, high - low, 0.0)
    bins = np.where(length > 0.0, length, 1.0)[ray] / BINS
    share = (size - low[ray]) / bins
    place = np.clip(share, 0, BINS - 1).astype(int)
    cost = np.bincount(ray * BINS + place, weights=mass * np.exp(2.0 * size), minlength=node.size * BINS)
    tilt = np.tanh(0.5 * np.abs(node)) + FLOOR * np.max(np.tanh(0.5 * np.abs(node)))
    cost = np.cbrt(cost.reshape(node.size, BINS)) * np.cbrt((tilt * length / BINS) ** 2)[:, None]
    cost = np.maximum((1.0 - FLOOR) * cost + FLOOR * cost.mean(axis=1, keepdims=True), LEAST_COST)
    cells = np.where(length > 0.0, np.ceil(count * cost.sum(axis=1) / cost.sum()), 0.0)
    rank = np.pad(np.cumsum(cost, axis=1), ((0, 0), (1, 0)))
    rank *= (cells / rank[:, -1])[:, None]
    here = rank[ray, place] + (share - place) * (rank[ray, place + 1] - rank[ray, place])
    cell = np.clip(here, 0, np.maximum(cells[ray] - 1, 0)).astype(int)
    many, grid = np.arange(int(cells.max()) + 1), np.linspace(0.0, 1.0, BINS + 1)
    shares = np.array([np.interp(many, row, grid) for row in rank])
    return cell, np.exp(low[:, None] + length[:, None] * shares)


def _gathered(ray, cell, mass):
    """Return the mass in each cell of each ray, shape (rays, cells)."""
    wide = int(cell.max()) + 1
    return np.bincount(ray * wide + cell, weights=mass, minlength=(int(ray.max()) + 1) * wide).reshape(
        -1, wide
    )


def _merged(ratios, first, second, mass):
    """Return the ratios of merged masses, with all else as in ``ratios``."""
    entries = np.append(ratios.r0_over_w, ratios.r1_over_w)
    exponents = np.abs(np.log(entries[entries > 0.0]))  # of recomputed exponentials, and their rounding
    return _of_masses(
        first,
        second,
        mass,
        outside=(ratios.r0_outside, ratios.r1_outside),
        precision=ratios.precision + ROUNDING * (16.0 + float(exponents.max(initial=0.0))),
        cell_width=max(ratios.cell_width, MERGING_WIDTH),
    )

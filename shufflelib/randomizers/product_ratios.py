r"""Products of likelihood ratios: those of tuples, with a bounded number of atoms.

For independent reports :math:`y_1, \dots, y_k`, the densities, the blankets and the likelihood ratios
:math:`a = R_0/w`, :math:`b = R_1/w` multiply.  The number of atoms multiplies too, and where there are too
many they are merged, see `cells`.

Both errors have a known sign.  With all other factors given, the loss of a tuple is
:math:`G = A\,a - e^\varepsilon B\,b`, affine in the pair (a, b) of one factor, for all A, B >= 0.  A split
that keeps the means of a and b keeps that of G, so it raises :math:`\mathbb E\,\phi(G)` for every convex φ;
averaged over the other factors, and over the other users, it raises :math:`\mathbb E(\sum G)_+`.  Factors may
therefore be split one after the other, and products of factors too.  Coarsening is a function of the report,
in one factor or in the product.

Where ratios are unbounded, as those of Gaussian reports are, cells reach far out, and a split would move mass
there.  The largest sizes, with 10⁻²⁰ of the reports' mass, therefore count as outside the support of w: a
smaller reference measure is one too.
"""

import math
from dataclasses import replace
from functools import reduce

import numpy as np

from shufflelib.profiles.likelihood_ratios import LEAST_OUTSIDE
from shufflelib.randomizers.cells import (
    BLOCK,
    LEAST,
    MOST_COMPARED,
    ROUNDING,
    coarsened,
    mean_preserving_split,
    of_masses,
)

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
    sides = [(f"{side}_over_w", f"{side}_outside") for side in ("r0", "r1")]
    equal = all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("w", *dict(sides)))
    equal = equal and one.w.size**2 > MOST_COMPARED  # outputs (y, z) and (z, y) are one atom
    pieces, underflow = [], [False, False]
    rows = max(BLOCK // other.w.size, 1)
    for start in range(0, one.w.size, rows):
        row, column = np.ogrid[start : min(start + rows, one.w.size), : other.w.size]
        reference, reports = np.maximum(one.w[row] * other.w[column], least), []
        for k, (ratio, _) in enumerate(sides):
            here, there = getattr(one, ratio)[row], getattr(other, ratio)[column]
            made = (here > 0.0) & (there > 0.0)
            mass = np.maximum((one.w[row] * here) * (other.w[column] * there), least)
            reports.append(np.where(made, mass, 0.0))
            underflow[k] |= bool(np.any(made & (reference < LEAST)))
        seen = (reports[0] > 0.0) | (reports[1] > 0.0)  # elsewhere the loss is 0
        pieces.append([part[seen] for part in (*reports, reference)])
        if equal:
            weight = (2.0 * (row < column) + (row == column))[seen]
            pieces[-1] = [(part * weight)[weight > 0.0] for part in pieces[-1]]
    outside = []
    for (_, beyond), lost in zip(sides, underflow, strict=True):
        here, there = getattr(one, beyond), getattr(other, beyond)
        outside.append(max(here + there - here * there, least_outside if lost else 0.0))
    masses = [np.concatenate(part) for part in zip(*pieces, strict=True)]
    del pieces  # which is as much memory
    return of_masses(
        *masses,
        outside=outside,
        precision=one.precision + other.precision + ROUNDING,
        cell_width=one.cell_width + other.cell_width,
    )

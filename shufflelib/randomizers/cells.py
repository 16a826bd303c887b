r"""Cells of a continuous report, with errors on a known side: split for upper, merged for lower bounds.

In a cell the likelihood ratios :math:`(R_0/w, R_1/w)` vary within a box, and their means are known.

- *Privacy blanket*: a mean-preserving split moves each ratio to the ends of its interval.  That raises
  :math:`R_0 - E R_1` in convex order, and bounds stay bounds.
- *Attacks*: the masses of each cell under all inputs are those of one output.  This coarsening is
  post-processing, so attacks stay attacks.

Both errors are of second order in the width of a cell.
"""

import numpy as np

from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

NODES, WEIGHTS = (part / 2.0 for part in np.polynomial.legendre.leggauss(8))
NODES = NODES + 0.5
MOST_WIDENING = 4.0  # log of the last cell's width over the first one's
FEWEST, MOST = 48, 300  # cells of a stretch
AT_ONE_NAT = 6.0  # cells, if there were no fewest


def enough(length):
    """Return how many cells a log-ratio that changes by ``length`` nats needs: 48 up to 2.8, 300 from 7.1.

    An error of some 1e-5 to 1e-4 in ε is left.  It is the square of a cell's length, in units of the loss's
    deviation if the loss is small; large losses decide one by one, and need cells that are short in nats.
    """
    return int(min(max(FEWEST, AT_ONE_NAT * length**2), MOST))


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

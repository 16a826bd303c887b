r"""Convex polygons as trade-off functions: a list of segments is a finite pair of distributions.

A segment that spends dα of false-positive rate to save dβ of false-negative rate is an atom with
masses (dα, dβ) under (P, Q).  By the Neyman-Pearson lemma every finite pair is such a list, sorted by
falling slope, and every falling convex polygon from (0, f(0)) to (1, 0) is one.  So whatever is done
to trade-off functions is done to pairs, see `tradeoff_calculus`.
"""

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.convex_hull import hull
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import discretised_loss
from shufflelib.profiles.neyman_pearson import Polygon
from shufflelib.profiles.pairs import DiscretePair

MOST_SEGMENTS = 4_000_000
STEEPEST = 600.0  # log of a slope whose tangent is used
TINY = 1e-150  # stands for a rate too small for a float, above it


def pair_of_masses(p, q):
    """Return the finite pair with masses ``p`` and ``q``, arrays or intervals."""
    log_p, log_q = Interval.of(p).log(), Interval.of(q).log()
    with np.errstate(invalid="ignore"):
        loss = log_p - log_q
    return DiscretePair.from_losses(log_p, log_q, loss)


# ---------------------------------------------------------------- polygons from knots


def through(x, y, *, below):
    """Return the polygon through knots that are proved to lie below (or above) a convex curve.

    Below: each point of the curve dominates a point of the polygon, so that resorting its segments
    keeps it below.  Above: the lower convex hull of the knots, (0, 1) and (1, 0).
    """
    x, y = np.clip(x, 0.0, 1.0), np.clip(y, 0.0, 1.0)
    if below:
        x = np.minimum.accumulate(x[::-1])[::-1]
        y = np.minimum.accumulate(y)
        x, y = np.concatenate([[0.0], x, [x[-1], 1.0]]), np.concatenate([[1.0], y, [0.0, 0.0]])
    else:
        y = np.minimum(y, np.minimum((1.0 - x) * (1.0 + 4 * UNIT), 1.0))
        x, y = np.append(np.append(0.0, x), 1.0), np.append(np.append(1.0, y), 0.0)
        chosen = hull(x, y)  # (0, 1) belongs to it even where the curve starts lower
        x, y = np.append(0.0, x[chosen]), np.append(1.0, y[chosen])
    p, q = np.diff(x), -np.diff(y)
    used = (p > 0.0) | (q > 0.0)
    return Polygon(pair_of_masses(Interval.of(p[used], 2.0), Interval.of(np.maximum(q[used], 0.0), 2.0)))


def touching(x, y, log_slope, *, error, shift=0.0):
    """Return polygons below and above a convex curve from points on it with their tangents.

    Parameters
    ----------
    x, y : numpy.ndarray
        False-positive and false-negative rates, relative error ``error`` each.
    log_slope : numpy.ndarray
        Log of minus the slope of a tangent at each point.
    error : float
        Relative error of ``x``, ``y`` and the slopes.
    shift : float
        How far the function in question may lie from the curve.
    """
    slope = np.exp(np.minimum(log_slope, STEEPEST))
    value, doubt = 1.0 - y - slope * x, 3.0 * (error + UNIT) * (y + slope * x) + 2 * UNIT
    below, _ = supporting(log_slope, value - doubt, value + doubt, shift=shift)
    grow, order = 1.0 + 2.0 * error + 16 * UNIT, np.argsort(x)
    x, y = np.maximum(x, TINY) * grow, np.maximum(y, TINY) * grow + shift
    return below, through(x[order], y[order], below=False)


def supporting(log_slope, low, high, *, shift=0.0):
    """Return polygons below and above a convex f from sup_A Q(A) − s P(A), known within [low, high].

    These values are a hockey-stick curve, that of (Q, P); the distributions of its loss that
    `discretised_loss` draws on either side of it are the polygons.  ``shift`` is charged to f itself.
    """
    used = (log_slope > -discretised_loss.LOWEST) & (log_slope < STEEPEST)
    if not used.any():
        return through(np.zeros(1), np.zeros(1), below=True), through(np.zeros(1), np.ones(1), below=False)
    slopes = np.expm1(log_slope[used])
    order = np.argsort(slopes)
    x, low, high = slopes[order], low[used][order], high[used][order]
    starts = np.flatnonzero(np.append(True, np.diff(x) > 0.0))  # slopes asked for in both directions
    x, low, high = x[starts], np.maximum.reduceat(low, starts), np.minimum.reduceat(high, starts)
    low, high = np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)
    base = np.maximum(-x, 0.0)
    rounding = 64 * UNIT * (base + high)
    low, high = np.maximum(low - rounding, base), np.minimum(high + rounding, 1.0)
    above, below = discretised_loss.distributions(x, low, high)
    return _falling(above, shift, below=True), _falling(below, shift, below=False)


def coarse(polygon, count):
    """Return polygons below and above another, through tangents at about ``count`` slopes.

    A gap in which the loss rises by g and that holds a mass m costs about m g, so that each gets an equal
    share of the sum of √(m g).
    """
    pair = polygon.pair
    loss, log_p, log_q = (part.middle for part in (pair.loss, pair.log_p, pair.log_q))
    finite = np.isfinite(loss)
    if not finite.any():
        return polygon, polygon
    loss, mass = loss[finite], np.exp(log_p[finite]) + np.exp(log_q[finite])
    cost = np.cumsum(np.sqrt(mass * np.diff(loss, prepend=loss[0])))
    nearest = np.searchsorted(cost, np.linspace(0.0, cost[-1], count))
    slopes = -np.unique(loss[np.minimum(nearest, loss.size - 1)])
    return supporting(slopes, *polygon.hockey_stick(slopes))


def _falling(distribution, shift, *, below):
    """Return the polygon of a privacy loss distribution, the loss that of Q against P, moved by ``shift``."""
    q = distribution.mass[::-1]
    p = q * np.exp(-distribution.loss[::-1])
    x, y = np.append(0.0, np.cumsum(p)), np.append(np.cumsum(q[::-1])[::-1], 0.0)
    total = y[0] + distribution.infinity_mass
    rounding = (q.size + 32) * UNIT
    if not below:
        missing = max(1.0 - total * (1.0 - distribution.slack), 0.0)
        return through(x * (1.0 + rounding), y + (missing + shift + rounding), below=False)
    # lowered, and cut where it meets 0
    lower = max(total * (1.0 + distribution.slack) - 1.0, 0.0) + shift + rounding
    kept = y > lower
    x = np.append(x[kept], np.interp(lower, y[::-1], x[::-1]))
    y = np.append(y[kept] - lower, 0.0)
    return through(x * (1.0 - rounding), y, below=True)

r"""The calculus on polygons: what is done to trade-off functions is done to pairs of distributions.

==================  ==============================================================
`direct_sum`        joint concavity: the index of the mixture is seen
`steep`             symmetrisation from the segments steeper than -1
`steep_side`        those segments alone, continued with slope -1
`blended`           pointwise average with perfect privacy
`highest`           pointwise maximum
`averaged`          pointwise average
==================  ==============================================================
"""

import functools

import numpy as np

from shufflelib.numerics.certified import LOG_ZERO, Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.neyman_pearson import Polygon
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.tradeoff_polygon import TINY, through


def direct_sum(pairs, null_weights, alternative_weights):
    """Return the pair that shows which component was drawn, drawn with these weights under P and Q."""
    parts = []
    for pair, a, b in zip(pairs, null_weights, alternative_weights, strict=True):
        if a == 0.0 and b == 0.0:
            continue
        log_a, log_b = Interval.of(float(a)).log(), Interval.of(float(b)).log()
        loss = pair.loss if a == b or a * b == 0.0 else pair.loss + (log_a - log_b)
        parts.append((pair.log_p + log_a, pair.log_q + log_b, loss))
    return DiscretePair.from_losses(*(Interval.concatenate(part) for part in zip(*parts, strict=True)))


def steep(polygon):
    r"""Return the symmetric polygon of the segments steeper than −1, a segment of slope −1, and the mirror.

    Where the steep segments cross the diagonal they are cut there.
    """
    pair = polygon.pair
    before = pair.loss.middle < 0.0
    parts, last = [part.at(before) for part in (pair.log_p, pair.log_q, pair.loss)], int(before.sum())
    above_diagonal = np.subtract(*polygon.knots[::-1])[: last + 1]
    middle = np.empty(0)
    if above_diagonal[-1] < 0.0:
        last = int(np.flatnonzero(above_diagonal <= 0.0)[0])
        cut = np.ones(last)
        cut[-1:] = above_diagonal[last - 1] / (above_diagonal[last - 1] - above_diagonal[last])
        log_p, log_q, loss = (part.at(slice(last)) for part in parts)
        log_p, log_q = (part + Interval.of(cut).log() for part in (log_p, log_q))
    else:
        log_p, log_q, loss = parts
        with np.errstate(divide="ignore"):
            middle = np.log(above_diagonal[-1:])
    # the middle and the cut are differences of the two rates there, off by their errors
    doubt = sum(rates.upper[last] - rates.lower[last] for rates in polygon.rates)
    pad = 2 * doubt / max(float(polygon.knots[1][last]), TINY) + 16 * UNIT
    log_p, log_q, loss = (
        Interval.concatenate(part)
        for part in (
            (log_p, middle, log_q),
            (log_q, middle, log_p),
            (loss, np.zeros(middle.size), -loss),
        )
    )
    return Polygon(DiscretePair.from_losses(log_p.widened(absolute=pad), log_q.widened(absolute=pad), loss))


def blended(pair, kept, weight):
    """Return the pair (P, kept · P + weight · Q), shares adding up to 1: observations are hidden in P."""
    kept, weight = Interval.of(kept), Interval.of(weight)
    keep = kept.log() if kept.lower < 0.5 else (-weight).log1p()
    gain = weight.log() if weight.lower < 0.5 else (-kept).log1p()
    log_q = (pair.log_p + keep).log_add(pair.log_q + gain)
    if kept.upper == 0.0:
        return DiscretePair.from_losses(pair.log_p, log_q, pair.loss)
    loss = pair.loss.where(np.isfinite(pair.loss.middle) | (pair.loss.middle > 0.0), 0.0)
    near = -(weight * Interval(*(np.minimum(end, 30.0) for end in -loss)).expm1()).log1p()
    far = -(gain - loss).log_add(keep)
    # the exponential may overflow on the left; on the right hardly anything may be kept
    direct = (loss.middle > -30.0) & ((loss.middle < 1.0) | (kept.lower > 0.5))
    return DiscretePair.from_losses(pair.log_p, log_q, near.where(direct, far))


def steep_side(pair):
    """Return the pair whose curve follows the segments steeper than −1, then slope −1 down to 0."""
    before = pair.loss.middle < 0.0
    log_p, log_q = pair.log_p.at(before), pair.log_q.at(before)
    rest = pair.log_q.at(~before).log_sum()
    left = (1.0 - log_p.exp().sum() - rest.exp()).within(0.0).log()
    flat_p, flat_q = (Interval(*np.array([rest, part]).T) for part in (left, LOG_ZERO))
    return DiscretePair.from_losses(
        Interval.concatenate([log_p, flat_p]),
        Interval.concatenate([log_q, flat_q]),
        Interval.concatenate([pair.loss.at(before), np.array([0.0, np.inf])]),
    )


def highest(polygons, *, below):
    """Return the pointwise maximum of polygons, from their lower (or upper) ends."""
    return functools.reduce(functools.partial(_higher, below=below), polygons)


def _higher(one, two, *, below):
    rates = [np.minimum((part.below if below else part.above)[0], 1.0) for part in (one, two)]
    x = np.unique(np.concatenate([*rates, [0.0, 1.0]]))
    first, second = (part.lower(x) if below else part.upper(x) for part in (one, two))
    gap, y = first - second, np.maximum(first, second)
    cross = np.flatnonzero(gap[:-1] * gap[1:] < 0.0)
    share = gap[cross] / (gap[cross] - gap[cross + 1])
    at_x = x[cross] + share * (x[cross + 1] - x[cross])
    at_y = np.minimum(*(part[cross] + share * (part[cross + 1] - part[cross]) for part in (first, second)))
    # interpolation cancels: its error is that of the value on the left
    at_y = at_y + (-8 if below else 8) * UNIT * y[cross]
    order = np.argsort(np.append(x, at_x), kind="stable")
    scale = 1.0 + (-16 if below else 16) * UNIT
    return through(np.append(x, at_x)[order] * scale, np.append(y, at_y)[order] * scale, below=below)


def averaged(polygons, weights, *, below):
    """Return the pointwise average of polygons, from their lower (or upper) ends."""
    x = [(part.below if below else part.above)[0] for part in polygons]
    x = np.unique(np.clip(np.concatenate([*x, [0.0, 1.0]]), 0.0, 1.0))
    y = sum(
        w * (part.lower(x) if below else part.upper(x)) for part, w in zip(polygons, weights, strict=True)
    )
    scale = 1.0 + (-16 if below else 16) * UNIT * (1 + len(weights))
    return through(x * scale, y * scale, below=below)

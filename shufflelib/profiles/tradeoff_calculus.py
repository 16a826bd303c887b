r"""The calculus on polygons: what is done to trade-off functions is done to pairs of distributions.

==================  ==============================================================
`direct_sum`        joint concavity: the index of the mixture is seen
`product`           tensor product: two independent observations
`steep`             symmetrisation from the segments steeper than -1
`steep_side`        those segments alone, continued with slope -1
`blended`           pointwise average with perfect privacy
`highest`           pointwise maximum
`averaged`          pointwise average
==================  ==============================================================
"""

import math

import numpy as np

from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.tradeoff_polygon import TINY, Polygon, through


def direct_sum(pairs, null_weights, alternative_weights):
    """Return the pair that shows which component was drawn, drawn with these weights under P and Q."""
    parts = []
    for pair, a, b in zip(pairs, null_weights, alternative_weights, strict=True):
        if a == 0.0 and b == 0.0:
            continue
        with np.errstate(divide="ignore"):
            log_a, log_b = float(np.log(a)), float(np.log(b))
        shift = log_a - log_b if a > 0.0 and b > 0.0 else 0.0
        loss_error = pair.loss_error + (8 * UNIT * (1.0 + abs(log_a) + abs(log_b)) if shift != 0.0 else 0.0)
        size = 8 * UNIT * (1.0 + sum(abs(part) for part in (log_a, log_b) if part > -math.inf))
        parts.append(
            (pair.log_p + log_a, pair.log_q + log_b, pair.loss + shift, pair.mass_error + size, loss_error)
        )
    log_p, log_q, loss, mass_error, loss_error = (np.concatenate(part) for part in zip(*parts, strict=True))
    return DiscretePair.from_losses(log_p, log_q, loss, mass_error=mass_error, loss_error=loss_error)


def product(first, second):
    """Return the product pair: both observations are seen."""
    with np.errstate(invalid="ignore"):
        log_p, log_q, loss, mass_error, loss_error = (
            np.add.outer(a, b).ravel()
            for a, b in (
                (first.log_p, second.log_p),
                (first.log_q, second.log_q),
                (first.loss, second.loss),
                (first.mass_error, second.mass_error),
                (first.loss_error, second.loss_error),
            )
        )
    finite = np.where(np.isfinite(loss), np.abs(loss), 0.0)
    size = np.where(np.isfinite(log_p), np.abs(log_p), 0.0) + np.where(np.isfinite(log_q), np.abs(log_q), 0.0)
    pair = DiscretePair.from_losses(
        log_p,
        log_q,
        loss,
        mass_error=mass_error + 2 * UNIT * (1.0 + size),
        loss_error=loss_error + 2 * UNIT * finite,
    )
    return _merged(pair)


def _pooled(logs, starts, counts):
    """Return the logs of the sums of consecutive cells, and the errors of adding one by one and of logs."""
    peak = np.maximum.reduceat(logs, starts)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        sums = peak + np.log(np.add.reduceat(np.exp(logs - np.repeat(peak, counts)), starts))
    return sums, UNIT * (counts + 8.0 * (1.0 + np.abs(peak)))


def _merged(pair):
    """Return the pair with atoms of equal loss as one."""
    starts = np.flatnonzero(np.append(True, pair.loss[1:] != pair.loss[:-1]))
    counts = np.diff(np.append(starts, pair.loss.size))
    (log_p, rounding_p), (log_q, rounding_q) = (
        _pooled(part, starts, counts) for part in (pair.log_p, pair.log_q)
    )
    return DiscretePair.from_losses(
        log_p,
        log_q,
        pair.loss[starts],
        mass_error=np.maximum.reduceat(pair.mass_error, starts) + np.maximum(rounding_p, rounding_q),
        loss_error=np.maximum.reduceat(pair.loss_error, starts),
    )


def steep(pair):
    r"""Return the symmetric pair made of the segments steeper than −1, a segment of slope −1, and the mirror.

    Where the steep segments cross the diagonal they are cut there.
    """
    before = pair.loss < 0.0
    log_p, log_q, loss = pair.log_p[before], pair.log_q[before], pair.loss[before]
    mass_error, loss_error = pair.mass_error[before], pair.loss_error[before]
    polygon = Polygon(pair)
    above_diagonal = np.subtract(*polygon.knots[::-1])[: loss.size + 1]
    last = loss.size
    middle = np.empty(0)
    if above_diagonal[-1] < 0.0:
        last = int(np.flatnonzero(above_diagonal <= 0.0)[0])
        log_p, log_q, loss = log_p[:last].copy(), log_q[:last].copy(), loss[:last]
        mass_error, loss_error = mass_error[:last], loss_error[:last]
        drop = above_diagonal[last - 1] - above_diagonal[last]
        with np.errstate(divide="ignore"):
            share = np.log(above_diagonal[last - 1]) - np.log(drop)
        log_p[-1:], log_q[-1:] = log_p[-1:] + share, log_q[-1:] + share
    else:
        with np.errstate(divide="ignore"):
            middle = np.log(above_diagonal[-1:])
    blank = np.zeros(middle.size)
    # the middle and the cut are differences of the two rates there, off by their errors
    doubt = sum(float(part[last]) for part in polygon.doubt)
    pad = 4 * doubt / max(float(polygon.knots[1][last]), TINY) + 16 * UNIT
    return DiscretePair.from_losses(
        np.concatenate([log_p, middle, log_q]),
        np.concatenate([log_q, middle, log_p]),
        np.concatenate([loss, blank, -loss]),
        mass_error=np.concatenate([mass_error, blank, mass_error]) + pad,
        loss_error=np.concatenate([loss_error, blank, loss_error]),
    )


def blended(pair, kept, weight):
    """Return the pair (P, kept · P + weight · Q), shares adding up to 1: observations are hidden in P."""
    with np.errstate(divide="ignore"):
        keep = float(np.log(kept) if kept < 0.5 else np.log1p(-weight))
        gain = float(np.log(weight) if weight < 0.5 else np.log1p(-kept))
    loss = np.where(np.isneginf(pair.loss), 0.0, pair.loss)
    log_q = np.logaddexp(pair.log_p + keep, pair.log_q + gain)
    with np.errstate(divide="ignore"):
        near = -np.log1p(weight * np.expm1(np.minimum(-loss, 30.0)))
        far = -np.logaddexp(keep, gain - loss)
    # the exponential may overflow on the left; on the right hardly anything may be kept
    direct = (loss > -30.0) & ((loss < 1.0) | (kept > 0.5))
    mixed = np.where(direct, near, far) if kept > 0.0 else loss
    return DiscretePair.from_losses(
        pair.log_p,
        log_q,
        mixed,
        mass_error=pair.mass_error + 8 * UNIT * (1.0 + np.abs(np.where(np.isfinite(log_q), log_q, 0.0))),
        loss_error=pair.loss_error + 8 * UNIT * (1.0 + np.abs(np.where(np.isfinite(mixed), mixed, 0.0))),
    )


def steep_side(pair):
    """Return the pair whose curve follows the segments steeper than −1, then slope −1 down to 0."""
    before = pair.loss < 0.0
    rest = float(logsumexp(pair.log_q[~before]))
    flat = np.array([rest, -np.inf]), np.array([rest, -np.inf])
    used = min(math.fsum(np.exp(pair.log_p[before])) + math.exp(rest), 1.0)
    with np.errstate(divide="ignore"):
        flat[0][1] = np.log1p(-used) if used < 1.0 else -np.inf
    error = pair.mass_error.max() + 16 * UNIT
    return DiscretePair.from_losses(
        np.concatenate([pair.log_p[before], flat[0]]),
        np.concatenate([pair.log_q[before], flat[1]]),
        np.concatenate([pair.loss[before], [0.0, np.inf]]),
        mass_error=np.append(pair.mass_error[before], [error, error]),
        loss_error=np.append(pair.loss_error[before], [0.0, 0.0]),
    )


def highest(polygons, *, below):
    """Return the pointwise maximum of polygons, from their lower (or upper) ends."""
    first, *others = polygons
    for other in others:
        first = _higher(first, other, below=below)
    return first


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

r"""Connecting the dots: Rényi divergences and trade-off functions from a pair's hockey-stick curve.

As a function of :math:`E = e^{\varepsilon}` the curve H is convex and falling.  Between two dots it
lies below their chord, and around a dot above every line through it that is no steeper than the chord on
its left and no flatter than the one on its right; one such line is below the whole curve.

A Rényi divergence is an integral of H against a power of E.  Chords are integrated from their value at
the centroid of that power on each gap.  From below the range is cut between the dots, and each piece is
given the line through its dot, whichever its slope; where the dot is the centroid of its piece the slope
does not count (Jensen's inequality).  A trade-off function is a supremum of lines
:math:`1 - H - E\alpha`, taken over the dots (below) and over the corners of the continued chords (above).

Source: the upper half is connect-the-dots, Doroshenko, Ghazi, Kamath, Kumar, Manurangsi
(PoPETs 2022).
"""

import copy
import math
from itertools import repeat

import numpy as np

from shufflelib.numerics.logspace import UNIT, complement, log1mexp, logsumexp
from shufflelib.numerics.root_finding import gaussian_scale
from shufflelib.numerics.side_by_side import answers
from shufflelib.profiles.discretised_loss import divided

WIDEST = 1e-3  # of its log-moment, and of a value
NEGLIGIBLE = 4e-5  # of a large log-moment
NARROW = 1e-5  # share of a false-negative rate to which it is computed
LARGEST_ORDER = 1e5  # beyond it only what monotonicity says
MOST_DOTS = 700  # in both directions, beyond which a question is answered
MOST_AT_ONCE = 40  # dots of one batch
MOST_PARTS = 8  # into which a gap is divided at once
SHIFTS = np.arange(-16.0, 0.75, 0.25)  # of the logarithms of the parts tried
FURTHER_ORDERS = 1.0 + np.geomspace(0.05, 1e4, 24)  # of moments that bound a tail, over the order asked for
CENTROID = 1e-4  # share of a gap within which its centroid is known
STALLED = 3  # rounds of new dots without gain after which a question is answered
CLEAR = 4.0  # times the width of its dots that a gap exceeds the best dot by, if more dots may help
LONGER = np.array([1.4, 2.0, 3.0])  # times as far the dots reach if what lies beyond them matters
DOT_TOLERANCE = 1e-5  # relative width of the values connected
SHARE = 0.05  # of the width aimed at that a value has
FIRST_DOTS = 9  # on each curve, before it is known where more are needed
FARTHER = 4.0  # ratio of the first dots beyond those
SHALLOW = 50.0  # e-folds over which a Gaussian pair's curve falls between the first dots,
SHALLOWER = 10.0  # and where what lies beyond matters only in absolute terms
DEPTH = 690.0  # e-folds of H below which no first dot is set but the last
ROUNDING = 1e-11  # of the logarithm of a weighted integral
SERIES = 0.05  # size of λℓ up to which the kernel is a power series
FARTHEST = 709.0  # nats; no dot lies beyond, where e^ε would overflow


def log_renyi_kernel(loss, order):
    r"""Return :math:`\log\varphi`, :math:`\varphi(\ell) = e^{\lambda\ell} - 1 - \lambda(e^{\ell}-1) \ge 0`.

    Summed against Q, φ gives :math:`e^{(\lambda-1)D_\lambda(P\|Q)} - 1` without cancellation.
    """
    loss = np.asarray(loss, float)
    more = order - 1.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        near = order * np.abs(loss) < SERIES
        u = np.where(near, order * loss, 0.0)  # Σ ℓ^k (λ^k − λ)/k!
        series = np.zeros_like(u)
        for k in range(11, 1, -1):
            series = series * u + (-math.expm1((1 - k) * math.log(order)) / math.factorial(k))
        middle = np.clip(loss, -700.0, 30.0 / order)  # e^ℓ (e^{(λ−1)ℓ} − 1) − (λ−1)(e^ℓ − 1)
        direct = np.exp(middle) * np.expm1(more * middle) - more * np.expm1(middle)
        big = np.maximum(loss, 0.0)  # e^{λℓ} factored out
        fall = more * (np.exp(-more * big) - np.exp(-order * big))
        large = order * big + np.log(np.maximum(-np.expm1(-more * big) - fall, 0.0))
        value = np.where(order * loss > 30.0, large, np.log(np.maximum(direct, 0.0)))
        value = np.where(near, 2.0 * np.log(np.abs(u)) + np.log(series), value)
        return np.where(loss == np.inf, np.inf, np.where(loss == -np.inf, math.log(more), value))


def tolerance_for(pair, orders, least):
    """Return a relative width of values that does for divergences which are at least so much, or about more.

    They are about those of two Gaussians with the same H at ε = 0, as long as these are far from the largest
    loss.
    """
    orders = np.minimum(orders, LARGEST_ORDER)
    finest, largest = pair.renyi_tolerance, pair.max_privacy_loss
    if SHARE * NEGLIGIBLE * (orders.min() - 1.0) * largest <= finest:
        return finest
    square = 2.0 * math.pi * math.exp(2.0 * pair.log_hockey_stick(0.0, finest).upper)
    about = np.maximum(least, np.minimum(0.5 * orders * square, 0.5 * largest))
    return max(finest, min(SHARE * NEGLIGIBLE * float(np.min((orders - 1.0) * about)), WIDEST))


def renyi_from_moment(log_moment, order):
    r"""Return :math:`\log(1 + e^{\text{log moment}})/(\lambda - 1)`."""
    return float(np.logaddexp(0.0, log_moment)) / (order - 1.0)


class HockeyStickCurve:
    r"""One direction of a pair: dots (ε, log H) with both bounds, the abscissa kept as x = e^ε − 1.

    Where the loss is unbounded and moments of other orders μ are known, they bound the curve and its tail,

    .. math:: H_\varepsilon \le c_\mu M_\mu e^{(1-\mu)\varepsilon},\qquad
              M_\mu = e^{(\mu-1) D_\mu(P\|Q)},\quad c_\mu = (\mu-1)^{\mu-1}/\mu^\mu,

    because :math:`(r - E)_+ \le c_\mu r^\mu E^{1-\mu}` for the likelihood ratio r.
    """

    def __init__(self, pair, tolerance=DOT_TOLERANCE, *, shallow=False):
        self.pair, self.last, self.tolerance = pair, pair.max_privacy_loss, tolerance
        self.shallow = shallow
        self.orders = self.scales = self.eps = self.low = self.high = np.empty(0)
        self.add(self._first())

    def _first(self):
        """Return a grid over the range in which a Gaussian pair's curve falls to nothing, and dots beyond."""
        self.add(np.zeros(1))
        start, end = self.high[0], min(self.last, FARTHEST)
        if start == -np.inf or end <= 0.0:
            return np.ones(1)
        fall = SHALLOWER if self.shallow else SHALLOW
        inner = min(gaussian_scale(start)(max(start - fall, -DEPTH)), end)
        if self.shallow:
            return np.linspace(0.0, inner, FIRST_DOTS)
        end = end if self.last < math.inf else min(max(FARTHER * inner, 1.0), end)
        beyond = inner * FARTHER ** np.arange(1.0, 1.0 + math.ceil(math.log(end / inner, FARTHER)))
        return np.concatenate([np.linspace(0.0, inner, FIRST_DOTS), np.minimum(beyond, end)])

    def farther(self):
        """Return a few ε beyond the last dot, none where the curve is known to be 0 or nothing is a float."""
        if self.eps[-1] >= min(self.last, FARTHEST):
            return np.empty(0)
        return np.unique(np.minimum(self.eps[-1] * LONGER, FARTHEST))

    def add(self, eps):
        """Evaluate the curve at further ε, all at once."""
        eps = np.setdiff1d(eps, self.eps)
        if eps.size:
            self.insert(eps, self.pair.log_hockey_stick(eps, self.tolerance))

    def insert(self, eps, ends):
        """Add dots at further ε, given both bounds on log H there."""
        order = np.argsort(np.append(self.eps, eps))
        self.eps = np.append(self.eps, eps)[order]
        self.x = np.expm1(self.eps)
        self.low = np.append(self.low, ends.lower)[order]
        self.high = np.append(self.high, np.where(eps >= self.last, -np.inf, ends.upper))[order]
        self._made_to_fall()

    def bound_by_moments(self, log_moments):
        """Bound the curve by what moments imply, given as pairs of an order μ and log M."""
        orders, log_moments = np.array(log_moments, float).reshape(-1, 2).T
        rounding = 64 * UNIT * (1.0 + np.abs(log_moments) + orders * np.log(orders))
        self.orders = orders
        self.scales = log_moments + (orders - 1.0) * np.log(orders - 1.0) - orders * np.log(orders) + rounding
        self._made_to_fall()

    def _made_to_fall(self):
        """Let the bounds of all dots know of each other, and of the moments."""
        if self.orders.size:
            by_moments = self.scales + (1.0 - self.orders) * self.eps[:, None] * (1.0 - 8 * UNIT)
            self.high = np.minimum(self.high, by_moments.min(axis=1))
        self.high = np.minimum.accumulate(self.high)
        self.low = np.minimum(np.maximum.accumulate(self.low[::-1])[::-1], self.high)

    @property
    def log_beyond(self):
        """Upper bound on log H after the last dot."""
        return self.high[-1]

    def log_tail(self, s):
        """Return an upper bound on log ∫ E^s H dE after the last dot."""
        if self.log_beyond == -np.inf:
            return -math.inf
        if s < -2.0:
            return (s + 1.0) * self.eps[-1] - math.log(-s - 1.0) + self.log_beyond
        beyond, scales = self.orders - s - 2.0, self.scales
        beyond, scales = beyond[beyond > 0.0], scales[beyond > 0.0]
        tails = scales - beyond * self.eps[-1] * (1.0 - 8 * UNIT) - np.log(beyond)
        return float(tails.min(initial=np.inf))

    def chords(self, s):
        """Return upper bounds on log ∫ E^s H dE over each gap, and the logs of what the values' width adds.

        That width is taken to fall geometrically inside a gap where this is less than along a chord, which
        narrower gaps would show: it is no end of anything.
        """
        weight, share = _powers(self.eps, s)
        early, late = np.maximum(share - CENTROID, 0.0), np.minimum(share + CENTROID, 1.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            fall = np.exp(np.diff(self.high))  # H_right / H_left
            chord = self.high[:-1] + np.log1p(-early * (1.0 - np.where(np.isnan(fall), 1.0, fall)))
            wide = _log_difference(self.high, self.low)
            noise = weight + np.logaddexp(wide[:-1] + np.log1p(-early), wide[1:] + np.log(late))
            length = np.diff(self.eps)
            k = s + 1.0 + np.diff(wide) / length
            inside = wide[:-1] + (s + 1.0) * self.eps[:-1] + np.maximum(k * length, 0.0)
            inside += np.log(-np.expm1(-np.abs(k) * length) / np.abs(k))
        return weight + chord, np.where(np.isfinite(inside), np.minimum(noise, inside), noise)

    def lines(self, s):
        """Return lower bounds on log ∫ E^s H dE over each gap, proved for their sum."""
        eps, low, high = self.eps, self.low, self.high
        if eps.size < 2:
            return np.empty(0)
        cuts = np.concatenate(
            [eps[:1], 0.5 * (eps[1:-1] + eps[2:]), eps[-1:]]
        )  # of the first gap, at its left
        grid = np.empty(2 * cuts.size - 2)
        grid[::2], grid[1::2] = cuts[:-1], eps[1:]
        with np.errstate(
            divide="ignore", invalid="ignore"
        ):  # pieces of no length between neighbouring floats
            weight, share = _powers(grid, s)
        # pieces left and right of each dot but the first; E in units of the dot's own
        left, right = weight[::2], np.append(weight[1::2], -np.inf)
        before = -np.expm1(cuts[:-1] - eps[1:]) * np.maximum(1.0 - share[::2] - CENTROID, 0.0)
        after = np.expm1(cuts[1:] - eps[1:]) * np.append(np.minimum(share[1::2] + CENTROID, 1.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steep = np.expm1(high[:-1] - low[1:]) / np.expm1(-np.diff(eps))
            flat = np.append(
                np.expm1(np.minimum(high[2:] - low[1:-1], 0.0)) / np.expm1(np.diff(eps)[1:]), 0.0
            )
            heavier = right + np.log(after) > left + np.log(before)  # the sum falls with the slope
            slope = np.where(heavier, steep, flat)
            grown, shrunk = -slope * before, slope * after
            lost = ~(shrunk > -1.0)  # H ≥ 0 says more on the right, that H falls on the left
            left = left + low[1:] + np.log1p(np.where(lost, 0.0, grown))
            right = right + low[1:] + np.where(lost, -np.inf, np.log1p(np.where(lost, 0.0, shrunk)))
            return np.logaddexp(left, np.append(-np.inf, right[:-1]))

    def inside(self, parts):
        """Return new ε that divide every gap into so many equal parts."""
        return np.setdiff1d(divided(self.eps, parts), self.eps)


def parts_for(log_doubts, log_aim, most=MOST_AT_ONCE):
    """Return into how many parts to divide each gap of several curves, so that their doubts add up to an aim.

    The doubt of a gap in k parts is taken to be 1/k² of what it was, which k in proportion to its third root
    uses best; k is a power of two, so that other questions need the same dots.
    """
    log_doubt = np.concatenate(log_doubts)
    peak = log_doubt.max()
    doubt = np.exp(log_doubt - peak)
    aim = max(math.exp(min(log_aim - peak, 700.0)), doubt.sum() / MOST_PARTS**2)
    root = np.cbrt(doubt)
    best = np.log2(root + 1e-30) + 0.5 * math.log2(root.sum() / aim)
    parts = 2.0 ** np.clip(np.rint(best + SHIFTS[:, None]), 0.0, math.log2(MOST_PARTS))  # ever finer
    enough = np.append(np.flatnonzero((doubt / parts**2).sum(axis=1) <= aim), SHIFTS.size - 1)[0]
    at_most = np.count_nonzero((parts - 1.0).sum(axis=1) <= most) - 1
    chosen = parts[min(enough, max(at_most, 0))].astype(int)
    if np.all(chosen == 1):  # many gaps are alike
        chosen[np.argsort(log_doubt)[-most:]] = 2
    return np.split(chosen, np.cumsum([part.size for part in log_doubts])[:-1])


def _powers(eps, s):
    r"""Return log ∫ E^s dE over each gap and the centroid's share of the gap, within 1e-4 of it."""
    a, r = eps[:-1], np.diff(eps)

    def log_size(k):  # log ∫ E^{k-1} dE over the gap, E measured in units of its left end
        if k == 0.0:
            return np.log(r)
        grown = np.maximum(k * r, 0.0) + np.log(-np.expm1(-np.abs(k) * r))
        return grown - math.log(abs(k))

    weight = log_size(s + 1.0)
    centroid = np.expm1(log_size(s + 2.0) - weight)  # in units of the left end, from there
    narrow = (abs(s) + 2.0) * r < 1e-2
    share = np.where(narrow, 0.5 + s * r / 12.0, centroid / np.expm1(r))
    return (s + 1.0) * a + weight, np.clip(share, 0.0, 1.0)


def _log_difference(high, low):
    """Return log(e^high − e^low), at least log(e^high · 1e-12), so that nothing is −inf but 0."""
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isneginf(high), 0.0, low - high)
        return high + log1mexp(np.minimum(gap, -1e-12))


class ConnectTheDots:
    """Both directions of a pair with their first dots; every question adds its own to a copy."""

    def __init__(self, pair, *options, **more):
        self.forward = self.backward = HockeyStickCurve(pair, *options, **more)
        if not pair.symmetric:
            self.backward = HockeyStickCurve(pair.reversed, *options, **more)

    def _copied(self):
        forward = copy.copy(self.forward)
        return forward, forward if self.backward is self.forward else copy.copy(self.backward)

    def _answers(self, question, *given):
        """Ask one question for each entry of some arrays, all side by side."""
        return answers([question(*self._copied(), *one) for one in zip(*given, strict=True)])

    def renyi(self, orders, skip_below=0.0, ceiling=None):
        """Return both bounds of D_λ(P‖Q) for every order λ, which may stay apart if at most ``skip_below``.

        ``ceiling`` is an upper bound on the divergence at any order: higher ones bound the tail of the curve.
        """
        return self._answers(_renyi, orders, *_lists(orders, skip_below), repeat(ceiling, len(orders)))

    def renyi_worst(self, orders, skip_below=0.0, ceilings=(None, None)):
        """Return both bounds of the larger direction, which share their dots."""
        more = (repeat(ceiling, len(orders)) for ceiling in ceilings)
        return self._answers(_larger_renyi, orders, *_lists(orders, skip_below), *more)

    def false_negatives(self, fprs):
        """Return both bounds of the smallest false-negative rates, null P against alternative Q."""
        return self._answers(_false_negatives, fprs)

    def fewest_missed(self, fprs, enough=1.0):
        """Return both bounds of the smaller of that rate and of the one with P and Q exchanged.

        A rate of at least ``enough`` need not be known well.
        """
        return self._answers(_fewest_missed, fprs, *_lists(fprs, enough))


def _lists(like, *values):
    return [np.broadcast_to(value, np.shape(like)).tolist() for value in values]


def _larger_renyi(forward, backward, order, skip_below, ceiling, other_ceiling):
    first = yield from _renyi(forward, backward, order, skip_below, ceiling)
    if backward is forward:
        return first
    # beyond which the second raises the upper bound
    enough = max(skip_below, first[1] if first[1] < math.inf else first[0])
    second = yield from _renyi(backward, forward, order, enough, other_ceiling)
    return tuple(float(end) for end in np.maximum(first, second))  # NaN stays NaN


def _renyi(forward, backward, order, skip_below, ceiling=None):
    """Ask for dots until D_order(P‖Q) is known well, or to be at most ``skip_below``; return its bounds."""
    if forward.last <= 0.0:  # P = Q
        return 0.0, 0.0
    if order > LARGEST_ORDER and ceiling is None:  # D rises with the order, up to the largest loss
        lower, _ = yield from _renyi(forward, backward, LARGEST_ORDER, skip_below)
        return lower, forward.last
    if ceiling:
        further = ((other, (other - 1.0) * ceiling(other)) for other in (order * FURTHER_ORDERS).tolist())
        forward.bound_by_moments([(other, moment) for other, moment in further if moment < math.inf])
    before, stalled = math.inf, 0
    while True:
        pieces = _pieces(forward, backward, order)
        low, high, noise = (logsumexp(np.concatenate(part)) for part in zip(*pieces, strict=True))
        rounding = ROUNDING + 8 * UNIT * (order + 2.0) * min(forward.eps[-1], 700.0)
        low, high = low - rounding, high + rounding
        # a large log-moment is nearly a multiple of D
        width = forward.pair.renyi_width * forward.tolerance * max(low, 1.0)
        width = min(width, max(WIDEST, forward.tolerance / SHARE))
        tail, farther = pieces[0][1][-1], forward.farther()
        if tail > low + math.log(0.05 * width) and forward.orders.size and farther.size:
            yield [(forward, farther)]
            continue
        if high - low < width or forward.eps.size + backward.eps.size > MOST_DOTS or high == math.inf:
            break
        if renyi_from_moment(high, order) <= skip_below:
            break
        if ceiling and renyi_from_moment(noise, order) >= ceiling(order):
            break
        # what more dots improve: beside the width of the values themselves, which they do not
        gains = [
            _log_difference(_log_difference(above[: below.size], below), noise)
            for below, above, noise in pieces
        ]
        left, aim = logsumexp(np.concatenate(gains)), low + math.log(0.8 * width)
        if left < aim:
            break
        # once the width of the values is what is left, more dots do not help
        stalled = stalled + 1 if left < noise and high - low >= 0.9 * before else 0
        if stalled == STALLED:
            break
        most, before = 2 * MOST_AT_ONCE if left >= noise else MOST_AT_ONCE // 2, high - low
        curves = [forward, backward]
        if backward is forward:
            curves, gains = [forward], [np.logaddexp(*gains)]
        parts = parts_for(gains, aim, most)
        wanted = [(curve, curve.inside(part)) for curve, part in zip(curves, parts, strict=True)]
        wanted = [(curve, eps) for curve, eps in wanted if eps.size]
        if not wanted:  # no float lies between the dots
            break
        yield wanted
    lower, upper = (min(renyi_from_moment(end, order), forward.last) for end in (low, high))
    upper = min(upper, ceiling(order)) if ceiling else upper
    return min(lower, upper), upper


def _pieces(forward, backward, order):
    """Return, of each curve's weighted integral over each gap, three logarithms.

    They are those of the lower bound, of the upper bound, and of what the width of the values adds.
    """
    scale, found = math.log(order) + math.log(order - 1.0), []
    for curve, s in ((forward, order - 2.0), (backward, -order - 1.0)):
        above, noise = curve.chords(s)
        below = np.minimum(curve.lines(s), above)
        found.append((scale + below, np.append(scale + above, scale + curve.log_tail(s)), scale + noise))
    return found


def _fewest_missed(forward, backward, fpr, enough):
    first = yield from _false_negatives(forward, backward, fpr, enough)
    if backward is forward:
        return first
    second = yield from _false_negatives(backward, forward, fpr, min(first[0], enough))
    return tuple(map(min, first, second))


def _false_negatives(forward, backward, fpr, enough=1.0):
    """Ask for dots until the smallest false-negative rate, null P against alternative Q, is known well.

    It is also known well enough once it is at least ``enough``.
    """
    if forward.last <= 0.0:  # P = Q
        return complement(fpr)
    while True:
        sides = [_supremum(backward, fpr, tilted=False), _supremum(forward, fpr, tilted=True)]
        low = max(0.0, *(best for best, _, _ in sides))
        high = min(max(0.0, *(tops.max() for _, tops, _ in sides)), complement(fpr)[1])
        # the width of the dots themselves, which more dots do not improve, does not count
        gains = [np.where(tops - low > CLEAR * noise, tops - low, 0.0) for _, tops, noise in sides]
        aim = NARROW * high + 1e-12
        if high - low <= aim or low >= enough - aim or forward.eps.size + backward.eps.size > MOST_DOTS:
            break
        beyond = [curve.farther() for curve in (backward, forward)]
        wanted = [
            (curve, eps)
            for curve, eps, gain in zip((backward, forward), beyond, gains, strict=True)
            if gain[-1] > aim and eps.size
        ]
        if wanted:
            yield wanted[:1] if backward is forward else wanted
            continue
        with np.errstate(divide="ignore"):
            parts = [np.ceil(0.5 * np.log2(1.2 * gain[:-1] / aim)) for gain in gains]
        many = sum(np.count_nonzero(part > 0.0) for part in parts)
        most = math.floor(math.log2(max(min(MOST_PARTS, MOST_AT_ONCE / max(many, 1)), 2.0)))
        wanted = [
            (curve, curve.inside(2 ** np.clip(part, 0.0, most).astype(int)))
            for curve, part in zip((backward, forward), parts, strict=True)
        ]
        wanted = [(curve, eps) for curve, eps in wanted if eps.size]
        if backward is forward and len(wanted) == 2:
            wanted = [(forward, np.union1d(*(eps for _, eps in wanted)))]
        if not wanted:  # nothing to gain, or no float lies between the dots
            break
        yield wanted
    return min(low, high), high


def _supremum(curve, fpr, *, tilted):
    r"""Enclose :math:`\sup_E\, 1 - H - E\alpha`, or with ``tilted`` :math:`\sup_E (1 - H - \alpha)/E`.

    Returns the best value at a dot and, for each gap and beyond the last dot, an upper bound and the width of
    its dots.
    """

    def line(x, h):
        return (1.0 - h - fpr) / (1.0 + x) if tilted else 1.0 - h - fpr - x * fpr

    x, low, high, gap = curve.x, np.exp(curve.low), np.exp(curve.high), np.diff(curve.x)
    best = float(np.max(line(x, high)))
    # slopes that the curve has at most on the left and at least on the right of each gap
    left = np.concatenate([[-np.inf], (low[1:-1] - high[:-2]) / gap[:-1]])
    right = np.minimum(np.concatenate([(high[2:] - low[1:-1]) / gap[1:], [0.0]]), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        meet = (np.diff(low) - right * gap) / (left - right)  # where the two continued chords meet
    meet = np.clip(np.where(np.isfinite(meet) & (left < right), meet, 0.0), 0.0, gap)
    floor = np.maximum(low[1:] - right * (gap - meet), low[1:])  # H is at least this there
    ends = np.maximum(line(x[:-1], low[:-1]), line(x[1:], low[1:]))
    wide = (high - low) / (1.0 + x) if tilted else high - low
    tops = np.append(np.maximum(ends, line(x[:-1] + meet, floor)), line(x[-1], 0.0))
    tops = np.fmin(tops + 8 * UNIT, 1.0)  # NaN says nothing
    return best - 8 * UNIT, tops, np.append(np.maximum(wide[:-1], wide[1:]), 0.0)

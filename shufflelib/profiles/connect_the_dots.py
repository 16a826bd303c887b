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

import math

import numpy as np

from shufflelib.numerics.logspace import UNIT, complement, log1mexp, logsumexp

WIDTH = 1e-3  # relative width aimed at
LARGEST_ORDER = 1e5  # beyond it only what monotonicity says
MOST_DOTS = 700  # in both directions, beyond which a question is answered
MOST_AT_ONCE = 40
FURTHER_ORDERS = 1.0 + np.geomspace(0.05, 1e4, 24)  # of moments that bound a tail, over the order asked for
CENTROID = 1e-4  # share of a gap within which its centroid is known
STALLED = 3  # rounds of new dots without gain after which a question is answered
CLEAR = 4.0  # times the width of its dots that a gap exceeds the best dot by, if more dots may help
LONGER = 1.4  # times as far the dots reach once more if what lies beyond them matters
QUARTER = 0.25  # of its doubt is what a gap keeps when it is halved
DOT_TOLERANCE = 1e-5  # relative width of the values connected
RENYI_TOLERANCE = 1e-4  # the same for a Rényi divergence, which is not known better than WIDTH
FIRST_DOTS = 9  # on each curve, before it is known where more are needed
DEPTH = 690.0  # e-folds of H below which dots are set only where a question needs them
SHALLOW = 50.0  # the same where a question needs few
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

    def __init__(self, pair, tolerance=DOT_TOLERANCE, depth=DEPTH, log_moments=()):
        self.pair, self.last = pair, pair.max_privacy_loss
        self.tolerance, self.depth = tolerance, depth
        orders, log_moments = np.array(log_moments, float).reshape(-1, 2).T
        rounding = 64 * UNIT * (1.0 + np.abs(log_moments) + orders * np.log(orders))
        self.orders = orders
        self.scales = log_moments + (orders - 1.0) * np.log(orders - 1.0) - orders * np.log(orders) + rounding
        self.eps = self.low = self.high = np.empty(0)
        self.add(self._first())

    def _first(self):
        """Return a grid over the range in which the curve falls to nothing, its end included."""
        negligible = max(self.pair.dot(0.0, self.tolerance).upper - self.depth, -DEPTH)
        end = 1.0
        if 0.0 < self.last < math.inf:
            end = min(self.last, FARTHEST)
        elif self.last > 0.0:
            while end < FARTHEST and self.pair.dot(end, 1e-2).upper > negligible:
                end = min(2.0 * end, FARTHEST)
        inner = end
        while inner > 1e-12 * end and self.pair.dot(0.5 * inner, 1e-2).upper < negligible:
            inner *= 0.5
        return np.unique(np.append(np.linspace(0.0, inner, FIRST_DOTS), end))

    def add(self, eps):
        """Evaluate the curve at further ε."""
        eps = np.setdiff1d(eps, self.eps)
        ends = [self.pair.dot(float(x), self.tolerance) for x in eps]
        high = np.where(eps >= self.last, -np.inf, [end.upper for end in ends])
        by_moments = self.scales + (1.0 - self.orders) * eps[:, None] * (1.0 - 8 * UNIT)
        high = np.minimum(high, by_moments.min(axis=1, initial=np.inf))
        low = np.minimum([end.lower for end in ends], high)
        order = np.argsort(np.append(self.eps, eps))
        self.eps = np.append(self.eps, eps)[order]
        self.high = np.minimum.accumulate(np.append(self.high, high)[order])
        low = np.append(self.low, low)[order]
        self.low = np.minimum(np.maximum.accumulate(low[::-1])[::-1], self.high)
        self.x = np.expm1(self.eps)

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

    def halve(self, gaps):
        """Add the middles of the given gaps."""
        self.add(0.5 * (self.eps[gaps] + self.eps[gaps + 1]))


def most_doubtful(log_doubts, most=MOST_AT_ONCE, log_aim=-math.inf):
    """Return the gaps of several curves that together carry most of the doubt, no more than the aim needs."""
    log_doubt = np.concatenate(log_doubts)
    peak = log_doubt.max()
    doubt, aim = np.exp(log_doubt - peak), math.exp(min(log_aim - peak, 700.0))
    ranked = np.argsort(doubt)[::-1]
    gone = np.cumsum(doubt[ranked])
    needed = np.clip((gone[-1] - aim) / (1.0 - QUARTER), 0.5 * gone[-1], 0.9 * gone[-1])
    chosen = np.zeros(doubt.size, bool)
    chosen[ranked[: int(np.searchsorted(gone, needed)) + 1][:most]] = True
    ends = np.cumsum([part.size for part in log_doubts])[:-1]
    return [np.flatnonzero(part) for part in np.split(chosen, ends)]


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
    """Both directions of a pair, dotted; refined for one question from the same start."""

    curve = HockeyStickCurve

    def __init__(self, pair, *options, **moments):
        self.forward = self.curve(pair, *options, **moments)
        self.backward = self.forward if pair.symmetric else self.curve(pair.reversed, *options)

    @property
    def size(self):
        """Number of dots in both directions; a symmetric pair's curve is counted for each."""
        return self.forward.eps.size + self.backward.eps.size

    def renyi(self, order, skip_below=0.0):
        """Return both bounds of D_order(P‖Q), which may stay apart where both are at most ``skip_below``."""
        if self.forward.last <= 0.0:  # P = Q
            return 0.0, 0.0
        if order > LARGEST_ORDER:  # D rises with the order, up to the largest loss
            return self.renyi(LARGEST_ORDER)[0], self.forward.last
        rounding = ROUNDING + 8 * UNIT * (order + 2.0) * min(self.forward.eps[-1], 700.0)
        before, stalled = math.inf, 0
        while True:
            pieces = list(self._pieces(order))
            low, high, noise = (
                logsumexp(np.concatenate([piece[part] for _, *piece in pieces])) for part in (0, 1, 2)
            )
            low, high = low - rounding, high + rounding
            tail, end = pieces[0][2][-1], self.forward.eps[-1]
            if tail > low + math.log(0.05 * WIDTH) and self.forward.orders.size and end < FARTHEST:
                self.forward.add(np.array([min(LONGER * end, FARTHEST)]))
                continue
            if high - low < WIDTH or self.size > MOST_DOTS or high == math.inf:
                break
            if renyi_from_moment(high, order) <= skip_below:
                break
            # what more dots improve: beside the width of the values themselves, which they do not
            gains = [
                _log_difference(_log_difference(above[: below.size], below), noise)
                for _, below, above, noise in pieces
            ]
            left, aim = logsumexp(np.concatenate(gains)), low + math.log(0.8 * WIDTH)
            if left < aim:
                break
            # once the width of the values is what is left, more dots do not help
            stalled = stalled + 1 if left < noise and high - low >= 0.9 * before else 0
            if stalled == STALLED:
                break
            most = 2 * MOST_AT_ONCE if left >= noise else MOST_AT_ONCE // 2
            before, size = high - low, self.size
            curves = [curve for curve, *_ in pieces]
            if self.backward is self.forward:
                curves, gains = curves[:1], [np.logaddexp(*gains)]
            for curve, gaps in zip(curves, most_doubtful(gains, most, aim), strict=True):
                curve.halve(gaps)
            if self.size == size:  # no float lies between the dots
                break
        return tuple(min(renyi_from_moment(end, order), self.forward.last) for end in (low, high))

    def _pieces(self, order):
        """Yield each curve and, of its weighted integral over each gap, three logarithms.

        They are those of the lower bound, of the upper bound, and of what the width of the values adds.
        """
        scale = math.log(order) + math.log(order - 1.0)
        for curve, s in ((self.forward, order - 2.0), (self.backward, -order - 1.0)):
            above, noise = curve.chords(s)
            below = np.minimum(curve.lines(s), above)
            yield curve, scale + below, np.append(scale + above, scale + curve.log_tail(s)), scale + noise

    def false_negatives(self, fpr):
        """Return both bounds of the smallest false-negative rate, null P against alternative Q."""
        if self.forward.last <= 0.0:  # P = Q
            return complement(fpr)
        while True:
            sides = [_supremum(self.backward, fpr, tilted=False), _supremum(self.forward, fpr, tilted=True)]
            low = max(0.0, *(best for best, _, _ in sides))
            high = min(max(0.0, *(tops.max() for _, tops, _ in sides)), complement(fpr)[1])
            # the width of the dots themselves, which more dots do not improve, does not count
            gains = [np.where(tops - low > CLEAR * noise, tops - low, 0.0) for _, tops, noise in sides]
            aim, size = WIDTH * 1e-2 * high + 1e-12, self.size
            if high - low <= aim or not np.any(np.concatenate(gains)) or size > MOST_DOTS:
                return min(low, high), high
            for curve, gain in zip((self.backward, self.forward), gains, strict=True):
                if gain.any():
                    with np.errstate(divide="ignore"):
                        curve.halve(*most_doubtful([np.log(gain)], most=12))
            if self.size == size:  # no float lies between the dots
                return min(low, high), high


def renyi_by_moments(pair, order, ceiling, skip_below=0.0):
    """Return both bounds of D_order(P‖Q) where the loss is unbounded.

    ``ceiling`` is an upper bound on the divergence at any order; higher ones bound the tail of the curve.
    """
    further = ((other, (other - 1.0) * ceiling(other)) for other in (order * FURTHER_ORDERS).tolist())
    log_moments = [(other, moment) for other, moment in further if moment < math.inf]
    dots = ConnectTheDots(pair, RENYI_TOLERANCE, SHALLOW, log_moments=log_moments)
    lower, upper = dots.renyi(order, skip_below)
    upper = min(upper, ceiling(order))
    return min(lower, upper), upper


def _supremum(curve, fpr, *, tilted):
    r"""Enclose :math:`\sup_E\, 1 - H - E\alpha`, or with ``tilted`` :math:`\sup_E (1 - H - \alpha)/E`.

    Returns the best value at a dot and, for each gap, an upper bound inside it and the width of its dots.
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
    ends[-1] = max(ends[-1], line(x[-1], 0.0))  # beyond the last dot
    wide = (high - low) / (1.0 + x) if tilted else high - low
    tops = np.fmin(np.maximum(ends, line(x[:-1] + meet, floor)) + 8 * UNIT, 1.0)  # NaN says nothing
    return best - 8 * UNIT, tops, np.maximum(wide[:-1], wide[1:])

r"""Connecting the dots: Rényi divergences and trade-off functions from a pair's hockey-stick curve.

As a function of :math:`E = e^{\varepsilon}` the curve H is convex and falling.  Between two dots it
lies below their chord, and above the neighbouring chords continued.  A Rényi divergence is an
integral of H against a power of E, so on each gap I, with weight :math:`W_I` and centroid
:math:`c_I` of that power,

.. math:: \text{(continued chords)}(c_I)\, W_I \;\le\; \int_I E^{s} H(E)\,dE \;\le\; \text{chord}(c_I)\, W_I,

on the left by Jensen's inequality, on the right exactly for the chord.  A trade-off function is a
supremum of lines :math:`1 - H - E\alpha`, taken over the dots (below) and over the corners of the
continued chords (above).

Source: the upper half is connect-the-dots, Doroshenko, Ghazi, Kamath, Kumar, Manurangsi
(PoPETs 2022).
"""

import math

import numpy as np

from shufflelib.logspace import UNIT, logsumexp

WIDTH = 1e-3  # relative width aimed at
MOST_DOTS = 700
DOT_TOLERANCE = 1e-5  # relative width of the values connected
SMALLEST = -690.0  # log H below which a dot only says "at most e^-690"


def log_renyi_kernel(loss, order):
    r"""Return :math:`\log\varphi`, :math:`\varphi(\ell) = e^{\lambda\ell} - 1 - \lambda(e^{\ell}-1) \ge 0`.

    Summed against Q, φ gives :math:`e^{(\lambda-1)D_\lambda(P\|Q)} - 1` without cancellation.
    """
    loss = np.asarray(loss, float)
    more, scale = order - 1.0, np.abs(loss) * max(1.0, order)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = np.where(scale < 0.05, loss, 0.0)  # Σ ℓ^k (λ^k − λ)/k!
        series = sum(
            ((order * u) ** k - order * u**k if order > 2.0 else u**k * order * math.expm1((k - 1) * math.log(order)))
            / math.factorial(k)
            for k in range(2, 12)
        )
        middle = np.clip(loss, -700.0, 30.0 / order)  # e^ℓ (e^{(λ−1)ℓ} − 1) − (λ−1)(e^ℓ − 1)
        direct = np.exp(middle) * np.expm1(more * middle) - more * np.expm1(middle)
        big = np.maximum(loss, 0.0)  # e^{λℓ} factored out
        large = order * big + np.log1p(-order * np.exp(-more * big) + more * np.exp(-order * big))
        value = np.where(order * loss > 30.0, large, np.log(np.maximum(direct, 0.0)))
        value = np.where(scale < 0.05, np.log(series), value)
        return np.where(loss == np.inf, np.inf, np.where(loss == -np.inf, math.log(more), value))


def renyi_from_moment(log_moment, order):
    r"""Return :math:`\log(1 + e^{\text{log moment}})/(\lambda - 1)`."""
    return float(np.logaddexp(0.0, log_moment)) / (order - 1.0)


class Curve:
    """One direction of a pair: dots (ε, H) with both ends, the abscissa kept as x = e^ε − 1."""

    def __init__(self, pair):
        self.pair, self.last = pair, pair.largest_loss
        self.eps = self.low = self.high = np.empty(0)
        self.add(self._first())

    def _first(self):
        """Return a grid over the range in which the curve falls to nothing, its end included."""
        end = self.last
        if not math.isfinite(end):
            end = 1.0
            while end < 600.0 and self.pair.log_hockey_stick(end, 1e-2).upper > SMALLEST:
                end *= 2.0
        inner = end
        while inner > 1e-12 * end and self.pair.log_hockey_stick(0.5 * inner, 1e-2).upper < SMALLEST:
            inner *= 0.5
        return np.unique(np.append(np.linspace(0.0, inner, 25), end))

    def add(self, eps):
        """Evaluate the curve at further ε."""
        eps = np.setdiff1d(eps, self.eps)
        ends = [self.pair.log_hockey_stick(float(x), DOT_TOLERANCE) for x in eps]
        low = np.exp([end.lower for end in ends])
        high = np.where(eps >= self.last, 0.0, np.exp([max(end.upper, SMALLEST) for end in ends]))
        order = np.argsort(np.append(self.eps, eps))
        self.eps = np.append(self.eps, eps)[order]
        low = np.append(self.low, np.minimum(low, high))[order]
        self.high = np.minimum.accumulate(np.append(self.high, high)[order])
        self.low = np.minimum(np.maximum.accumulate(low[::-1])[::-1], self.high)
        self.x = np.expm1(self.eps)

    @property
    def mass_beyond(self):
        """Upper end of H after the last dot."""
        return self.high[-1]

    def slopes(self):
        """Return, for each gap, slopes the curve has at most on its left and at least on its right."""
        gap = np.diff(self.x)
        left = np.concatenate([[-np.inf], (self.low[1:-1] - self.high[:-2]) / gap[:-1]])
        right = np.concatenate([(self.high[2:] - self.low[1:-1]) / gap[1:], [0.0]])
        return left, np.minimum(right, 0.0)

    def within(self, share):
        """Enclose H inside each gap, at the given share of its length from the left."""
        gap, (left, right) = np.diff(self.x), self.slopes()
        chord = self.high[:-1] + share * np.diff(self.high)
        continued = np.maximum(self.low[:-1] + left * gap * share, self.low[1:] - right * gap * (1.0 - share))
        return np.minimum(np.maximum(continued, self.low[1:]), chord), chord

    def halve(self, priority, most=40):
        """Add the middles of the gaps that together carry most of ``priority``."""
        ranked = np.argsort(priority)[::-1]
        share = np.cumsum(priority[ranked])
        chosen = ranked[: int(np.searchsorted(share, 0.9 * share[-1])) + 1][:most]
        self.add(0.5 * (self.eps[chosen] + self.eps[chosen + 1]))


def _powers(eps, s):
    r"""Return log ∫ E^s dE over each gap and the centroid's share of the gap, within 1e-4 of it."""
    a, r = eps[:-1], np.diff(eps)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):

        def log_integral(power):  # log ∫ E^power dE over the gap
            k = power + 1.0
            if k == 0.0:
                return np.log(r)
            kr = k * r
            magnitude = np.where(kr > 0, kr + np.log(-np.expm1(-np.abs(kr))), np.log(-np.expm1(-np.abs(kr))))
            return k * a + magnitude - math.log(abs(k))

        weight = log_integral(s)
        ratio = np.exp(log_integral(s + 1.0) - weight - a)  # centroid / E_left
        share = (ratio - 1.0) / np.expm1(r)
        narrow = (abs(s) + 2.0) * r < 1e-2
        share = np.where(narrow, 0.5 + s * r / 12.0, share)
    return weight, np.clip(share, 0.0, 1.0)


class Dots:
    """Both directions of a pair, dotted; refined on demand and kept for later questions."""

    def __init__(self, pair):
        self.forward = Curve(pair)
        self.backward = self.forward if pair.symmetric else Curve(pair.reversed)

    def _exhausted(self):
        return self.forward.eps.size + self.backward.eps.size > MOST_DOTS

    def renyi(self, order):
        """Return both ends of D_order(P‖Q)."""
        if self.forward.mass_beyond > 0.0:
            return renyi_from_moment(self._moments(order)[0], order), math.inf
        while True:
            low, high = self._moments(order)
            if high - low < WIDTH or self._exhausted():
                break
            for curve, s in ((self.forward, order - 2.0), (self.backward, -order - 1.0)):
                weight, share = _powers(curve.eps, s)
                below, above = curve.within(share)
                curve.halve(np.exp(weight - weight.max()) * (above - below + 1e-300))
        return tuple(min(renyi_from_moment(end, order), self.forward.last) for end in (low, high))

    def _moments(self, order):
        log_ends = ([], [])
        for curve, s in ((self.forward, order - 2.0), (self.backward, -order - 1.0)):
            weight, share = _powers(curve.eps, s)
            lower, upper = curve.within(np.minimum(share + 1e-4, 1.0))[0], curve.within(np.maximum(share - 1e-4, 0.0))[1]
            with np.errstate(divide="ignore"):
                log_ends[0].append(weight + np.log(lower))
                log_ends[1].append(weight + np.log(upper))
            # beyond the last dot of the backward curve: at most its value times the rest of the weight
            if curve is self.backward and s < 0 and curve.mass_beyond > 0.0:
                log_ends[1].append(np.array([-order * curve.eps[-1] - math.log(order) + math.log(curve.mass_beyond)]))
        scale = math.log(order) + math.log(order - 1.0)
        low, high = (scale + logsumexp(np.concatenate(end)) for end in log_ends)
        return low - 1e-11, high + 1e-11

    def false_negatives(self, fpr):
        """Return both ends of the smallest false-negative rate, null P against alternative Q."""
        while True:
            sides = [_supremum(self.backward, fpr, tilted=False), _supremum(self.forward, fpr, tilted=True)]
            low = max(0.0, *(side[0] for side in sides))
            high = min(max(0.0, *(side[1].max() for side in sides)), 1.0 - fpr)
            if high - low <= WIDTH * 1e-2 * high + 1e-12 or self._exhausted():
                return min(low, high), high
            for curve, (_, tops) in zip((self.backward, self.forward), sides, strict=True):
                if tops.max() > low:
                    curve.halve(np.where(tops > low, tops - low, 0.0), most=12)


def _supremum(curve, fpr, *, tilted):
    r"""Enclose :math:`\sup_E\, 1 - H - E\alpha`, or with ``tilted`` :math:`\sup_E (1 - H - \alpha)/E`.

    Returns the best value at a dot and, for each gap, an upper bound inside it.
    """

    def line(x, h):
        return (1.0 - h - fpr) / (1.0 + x) if tilted else 1.0 - h - fpr - x * fpr

    best = float(np.max(line(curve.x, curve.high)))
    gap, (left, right) = np.diff(curve.x), curve.slopes()
    with np.errstate(invalid="ignore", divide="ignore"):
        # where the two continued chords meet; H is at least their value there
        meet = (np.diff(curve.low) - right * gap) / (left - right)
    meet = np.clip(np.where(np.isfinite(meet) & (left < right), meet, 0.0), 0.0, gap)
    floor = np.maximum(curve.low[1:] - right * (gap - meet), curve.low[1:])
    ends = np.maximum(line(curve.x[:-1], curve.low[:-1]), line(curve.x[1:], curve.low[1:]))
    ends[-1] = max(ends[-1], line(curve.x[-1], 0.0))  # beyond the last dot
    return best * (1 - 8 * UNIT), np.maximum(ends, line(curve.x[:-1] + meet, floor)) + 8 * UNIT

"""Searches for where a falling function reaches a target, with the result on the safe side."""

import math

import numpy as np
from scipy.special import ndtri, ndtri_exp

from shufflelib.numerics.certified import LEAST_NORMAL
from shufflelib.numerics.logspace import mills_ratio

DEGREE = 5  # of polynomials through known points
FURTHER = 12.0  # times the step past a root at which another point is tried
STALLED = 3  # steps that gain little until a bracket is halved
SHORT, BENT = 0.05, 0.1  # doubt about a straight step, as a share of it, and about what bends it
LOOSE = 0.1  # by how many nats a value is above a chord of a convex function, where a bound is loose
AGAIN = 20  # steps of a second search, before such a value
CLOSE = 1e-3  # relative distance of two points between which a step is trusted
LEAST_PLACE = -40.0  # of a δ that is 1 to all digits
FARTHEST = 5000.0  # nats; beyond it no finite answer is looked for
LARGEST_MU = 30.0  # separation of two Gaussians, in standard deviations
NO_SHIFT = -7.0  # log δ(0) below which that is negligible beside a standard deviation
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
NEWTON_STEPS, SETTLED = 40, 1e-13


def gaussian_scale(log_start):
    """Return a map of log δ to the ε that it has for two Gaussians which share ``log_start`` at ε = 0.

    For other pairs ε is nearly linear in it.

    Examples
    --------
    >>> from shufflelib.numerics.root_finding import gaussian_scale
    >>> from shufflelib.profiles import Gaussian
    >>> start = Gaussian(mu=0.5).log_hockey_stick(0.0).upper
    >>> round(gaussian_scale(start)(Gaussian(mu=0.5).log_hockey_stick(2.0).upper), 6)
    2.0
    """
    log_start = min(log_start, 0.0)
    small = log_start < NO_SHIFT
    mu = ROOT_TWO_PI * math.exp(log_start) if small else -2.0 * float(ndtri(-0.5 * math.expm1(log_start)))
    mu = min(mu, LARGEST_MU)

    def scaled(log_value):
        if not log_value > -math.inf:
            return math.inf
        log_value = min(log_value, log_start)
        eps = mu * (0.5 * mu + math.sqrt(-2.0 * log_value))  # above the root, as δ is at most exp(−a²/2)
        for _ in range(NEWTON_STEPS):
            a = eps / mu - 0.5 * mu
            ratio = float(mills_ratio(a))
            shifted = ratio if small else float(mills_ratio(a + mu))
            gap = max(mu * (1.0 - a * ratio) if small else ratio - shifted, LEAST_NORMAL)  # δ is φ(a) gap
            step = (math.log(gap / ROOT_TWO_PI) - 0.5 * a * a - log_value) * gap / shifted
            eps += step
            if abs(step) <= SETTLED * eps:
                break
        return max(eps, 0.0)

    return scaled


def certified_root(
    log_value, target, last, *, safe_above, log_start=None, guess=None, width=1e-10, steps=200
):
    """Return an x ≥ 0 near the point where a falling function reaches ``target``, on one side of it.

    Parameters
    ----------
    log_value : callable
        Falls, up to rounding; its values are logarithms, ``-inf`` from ``last`` on, which may be infinite.
    safe_above : bool
        True: the function was evaluated at x and is at most ``target`` there (x is infinite if no such point
        is found).  False: it was evaluated at x and exceeds ``target`` there (x is 0 if there is none).
    log_start : float, optional
        About the value at 0, above ``target``; evaluated if not given.
    guess, width : float
        Where to start, and the relative width at which to stop.
    """
    if log_start is None:
        log_start = log_value(0.0)
        if log_start <= target:
            return 0.0
    search = searched(target, last, safe_above, log_start, guess, width, steps)
    found = None
    while True:
        try:
            found = log_value(search.send(found))
        except StopIteration as end:
            return end.value


def delta_root(delta_at, delta, last, **how):
    """Return an ε up to ``last`` near which a falling δ(ε) reaches ``delta``, as `certified_root` does."""

    def log_delta(eps):
        value = delta_at(eps)
        return math.log(value) if value > 0.0 else -math.inf

    return certified_root(log_delta, math.log(delta), last, **how)


def searched(target, last, safe_above, log_start, guess, width, steps=200):
    """Yield points at which values are wanted; return the root."""
    # points, places, whether they are left of the root, and values
    known = np.array([[0.0], [_place(log_start)], [1.0], [log_start]])
    x = guess if guess is not None and 0.0 < guess < last else gaussian_scale(log_start)(target)
    if not 0.0 < x < last:
        x = 0.5 * last if math.isfinite(last) else 1.0
    root, before, beyond = yield from _narrowed(known, x, target, last, safe_above, width, steps)
    if before is None:
        return root
    x = 0.5 * (before[0, -1] + beyond)
    again = yield from _narrowed(before, x, target, last, safe_above, width, AGAIN, chords=False)
    return min(root, again[0])


def _narrowed(known, x, target, last, safe_above, width, steps, chords=True):
    """Yield points as `searched` does, from what is known; return the root, and where a bound may be loose.

    There a value exceeds the chord, which a convex function does not: what was known before, and where.
    """
    goal, tried, most, loose = _place(target), math.nan, math.inf, (None, None)
    stalled, length = 0, math.inf
    for _ in range(steps):
        value = yield x
        if x == tried and value > most and loose[0] is None and safe_above:
            loose = known, x
        # NaN counts as above where the safe side is above, and as below where it is below
        left = not value <= target if safe_above else value > target
        row = [x, _place(value), left, value]
        known = np.insert(known, np.searchsorted(known[0], x, side="right"), row, axis=1)
        points, places, lefts, values = known
        # the neighbouring points between which the root is, the safe one as near as any
        at = int(np.argmin(np.append(lefts, 0.0)) if safe_above else np.flatnonzero(lefts)[-1] + 1)
        low, high = points[at - 1], points[at] if at < points.size else last
        if low > FARTHEST if math.isinf(high) else high - low <= width * high:
            break
        if math.isinf(high):
            x = 2.0 * low
            continue
        stalled = stalled + 1 if high - low > 0.5 * length else 0
        length = high - low
        high_place = places[at] if at < points.size else math.inf
        if math.isinf(high_place):  # only the lower end is near: extrapolate through it
            rise = (places[at - 1] - places[at - 2]) / (low - points[at - 2]) if at > 1 else 0.0
            root = min(low + (goal - places[at - 1]) / rise, high) if rise > 0.0 else 0.5 * (low + high)
            doubt = 0.2 * (root - low)
            chord = high - (high - low) * math.exp(target - values[at - 1])
            far = chords and high == last and root > 0.5 * (low + high)
            if far and low < chord < high:  # mostly not much beyond
                # convex is what falls as a function of e^x; as one of x it exceeds the chord by this at most
                most = target + LOOSE + math.log((high - low) / -math.expm1(low - high))
                x = tried = chord
                continue
        elif last - high < 0.5 * (last - low) < math.inf:  # it falls to 0 like a power of the distance
            power = (values[at] - values[at - 1]) / math.log((last - high) / (last - low))
            root = last - (last - low) * math.exp((target - values[at - 1]) / power)
            doubt = SHORT * min(root - low, high - root)
        else:
            root, doubt = _interpolated(points, places, at, goal)
        safe, other = (high, low) if safe_above else (low, high)
        beside = points[max(at - 2, 0) : at + 2]
        closest = np.min(np.abs(beside - safe)[beside != safe], initial=abs(other - safe))
        if closest <= CLOSE * safe and abs(safe - root) + doubt <= width * safe:
            break
        # step a little past the root: to the safe side if that will be all, else as seen from the nearer
        # side, so that the bracket shrinks on both
        past = max(doubt, 0.6 * width * root)
        right = safe_above if doubt <= 0.3 * width * root else root - low < high - root
        sides = (1.0, -1.0, FURTHER) if right else (-1.0, 1.0, -FURTHER)
        x = next((float(there) for side in sides if low < (there := root + side * past) < high), None)
        if stalled >= STALLED or x is None:
            x, stalled = float(0.5 * (low + high)), 0
        if not low < x < high:
            break
    return float(high if safe_above else low), *loose


def _place(log_value):
    """Return a map of log δ in which ε is nearly linear: the quantile of a Gaussian tail."""
    log_value = np.minimum(np.where(np.isnan(log_value), 0.0, log_value), 0.0)
    return np.maximum(-ndtri_exp(log_value), LEAST_PLACE)


def _interpolated(points, places, at, goal):
    """Return where a curve through known points is at a goal, between the last two of them, and a doubt.

    Polynomials in the place, of rising degree through ever farther points, as long as they come together.
    """
    low, high = points[at - 1], points[at]
    order = np.argsort(np.abs(places - goal), kind="stable")
    order = [at - 1, at, *(i for i in order.tolist() if i not in (at - 1, at))][: DEGREE + 1]
    y, x = places[order], points[order].tolist()
    if not -math.inf < y[0] < y[1]:
        return 0.5 * (low + high), 0.5 * (high - low)
    root, changed = None, math.inf
    doubt = SHORT * (high - low)
    for k in range(1, len(order)):
        if not math.isfinite(y[k]) or y[k] in y[:k]:
            break
        # Neville's scheme: x[j] becomes the value of the polynomial through points j, …, k
        for j in range(k - 1, -1, -1):
            x[j] = (x[j] * (y[k] - goal) + x[j + 1] * (goal - y[j])) / (y[k] - y[j])
        if root is None:
            root, doubt = x[0], SHORT * min(x[0] - low, high - x[0])
            continue
        change = abs(x[0] - root)
        if not low < x[0] < high or change > 0.5 * changed:
            break
        root, changed, doubt = x[0], change, BENT * change
    return root, doubt

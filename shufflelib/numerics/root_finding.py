"""Searches for ε: where a falling function reaches a target, with the result on the safe side."""

import math

from scipy.special import ndtri

from shufflelib.numerics.certified import LEAST, TOLERANCE
from shufflelib.numerics.logspace import mills_ratio

COARSE = 3e-3  # relative width of δ asked for where a rough ε will do
CRUDE = 1.0  # the same where δ is only to be seen to be too small
FAR = 0.03  # relative step of a search from which on rough values are tried first
NEAR = 0.98  # share of the best ε below which an attack is given up
SHORT, BENT = 0.05, 0.1  # doubt about a straight step, as a share of it, and about what bends it
CLOSE = 1e-3  # relative distance of two points between which a step is trusted
FARTHEST = 5000.0  # nats; beyond it no finite answer is looked for
LARGEST_MU = 30.0  # separation of two Gaussians, in standard deviations
NO_SHIFT = -7.0  # log δ(0) below which that is negligible beside a standard deviation
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
NEWTON_STEPS, SETTLED = 40, 1e-13


def _gaussian_scale(log_start):
    """Return a map of log δ to the ε that it has for two Gaussians which share ``log_start`` at ε = 0.

    For other pairs ε is nearly linear in it.
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
            gap = max(mu * (1.0 - a * ratio) if small else ratio - shifted, LEAST)  # δ is φ(a) gap
            step = (math.log(gap / ROOT_TWO_PI) - 0.5 * a * a - log_value) * gap / shifted
            eps += step
            if abs(step) <= SETTLED * eps:
                break
        return max(eps, 0.0)

    return scaled


def gaussian_epsilon(log_start, log_value):
    """Return the ε at which two Gaussians that share log δ(0) with a curve have a smaller value of δ.

    Examples
    --------
    >>> from shufflelib.numerics.root_finding import gaussian_epsilon
    >>> from shufflelib.profiles import Gaussian
    >>> start = Gaussian(mu=0.5).log_hockey_stick(0.0).upper
    >>> round(gaussian_epsilon(start, Gaussian(mu=0.5).log_hockey_stick(2.0).upper), 6)
    2.0
    """
    return _gaussian_scale(log_start)(log_value)


def certified_root(
    log_value, target, last, *, safe_above, log_rough=None, log_start=None, guess=None, width=1e-10, steps=200
):
    """Return an x ≥ 0 near the point where a falling function reaches ``target``, on one side of it.

    Parameters
    ----------
    log_value : callable
        Falls, up to rounding; its values are logarithms, ``-inf`` from ``last`` on, which may be infinite.
    safe_above : bool
        True: the function was evaluated at x and is at most ``target`` there (x is infinite if no such point
        is found).  False: it was evaluated at x and exceeds ``target`` there (x is 0 if there is none).
    log_rough : callable, optional
        Encloses the function roughly; called while steps are long, and used where it excludes the target.
    log_start : float, optional
        About the value at 0, above ``target``; evaluated if not given.
    guess, width : float
        Where to start, and the relative width at which to stop.
    """
    if log_start is None:
        log_start = log_value(0.0)
        if log_start <= target:
            return 0.0
    scaled = _gaussian_scale(log_start)
    goal = scaled(target)
    low, low_place = 0.0, 0.0
    high, high_place = last, math.inf
    long = guess is None or not 0.0 < guess < last
    if long:
        guess = goal
    x = guess if 0.0 < guess < last else (0.5 * last if math.isfinite(last) else 1.0)
    stalled, before = 0, (math.inf, math.inf)
    for _ in range(steps):
        gap, at = high - low, x
        ends = log_rough(x) if long and log_rough else (-math.inf, math.inf)
        value = log_value(x) if ends[0] <= target <= ends[1] else ends[safe_above]
        # NaN counts as above where the safe side is above, and as below where it is below
        if not value <= target if safe_above else value > target:
            before, low, low_place = (low, low_place), x, scaled(value)
        else:
            before, high, high_place = (high, high_place), x, scaled(value)
        if low > FARTHEST if math.isinf(high) else high - low <= width * high:
            break
        if math.isinf(high):
            x = 2.0 * low
        elif math.isinf(high_place) and low == 0.0:
            x = 0.5 * low + 0.5 * high
        else:
            if math.isinf(high_place):  # only the lower end is near: extrapolate through it
                other, place = before if 0.0 < before[1] < low_place else (0.0, 0.0)
                rise = (low_place - place) / (low - other)
                root = min(low + (goal - low_place) / rise, high) if rise > 0.0 else high
                doubt = 0.2 * abs(root - x)
            else:
                root, bend = _interpolated((low, low_place), (high, high_place), before, goal)
                doubt = SHORT * abs(root - x) if bend is None else BENT * bend
            stalled = stalled + 1 if high - low > 0.5 * gap else 0
            safe, near = (high, low) if safe_above else (low, high)
            near = min(abs(other - safe) for other in (near, before[0]))
            if near <= CLOSE * safe and abs(safe - root) + doubt <= width * safe:
                break
            # step a little past the root: to the safe side if that will be all, else as seen from the nearer
            # side, so that the bracket shrinks on both
            right = safe_above if doubt <= 0.3 * width * x else root - low < high - root
            past = max(doubt, 0.3 * width * x)
            x = root + past if right else root - past
            if stalled >= 3 or not low < x < high:
                x, stalled = 0.5 * (low + high), 0
            if not low < x < high:
                break
        long = abs(x - at) > FAR * x
    return high if safe_above else low


def _interpolated(low, high, third, goal):
    """Return where the parabola in y through three points (x, y) is at a goal, and how far from the chord."""
    x, y, z, w, *third = map(float, (*low, *high, *third))  # an overflow of Python's floats is no warning
    if not w > y:
        return 0.5 * (x + z), None
    slope = (z - x) / (w - y)
    chord = x + (goal - y) * slope
    if not math.isfinite(third[1]) or third[1] in (y, w):
        return chord, None
    bend = ((third[0] - z) / (third[1] - w) - slope) / (third[1] - y)
    root = chord + bend * (goal - y) * (goal - w)
    return (root, abs(root - chord)) if x < root < z else (chord, None)


def epsilon_at_delta(pairs, target, *, safe_above, guess=None):
    """Return the worst ε over pairs and directions, proved on the side asked for."""
    directions = []
    for pair in pairs:
        both = (pair,) if pair.symmetric else (pair, pair.reversed)[:: 1 if pair.forward_is_dominant else -1]
        directions += [(one.dot(0.0, COARSE)[safe_above], one) for one in both]
    best = 0.0
    # rounded, as the two directions of a pair have the same total variation
    for start, one in sorted(directions, key=lambda found: -round(found[0], 2)):
        if start <= target if safe_above else not start > target:
            continue
        if best and not safe_above and one.dot(NEAR * best, CRUDE).upper <= target:
            continue  # an attack that is too weak
        if best and one.dot(best, COARSE).upper <= target:
            continue  # its ε is at most the best one so far
        best = max(best, _root(one, target, safe_above, start, best or guess))
    return best


def enclosed_epsilon(dominating, attacks, delta):
    """Return a lower bound on ε at ``delta`` by the attacks, and an upper one by the dominating pairs."""
    target = math.log(delta)
    upper = epsilon_at_delta(dominating, target, safe_above=True)
    return min(epsilon_at_delta(attacks, target, safe_above=False, guess=upper), upper), upper


def _root(pair, target, safe_above, log_start, guess):
    return certified_root(
        lambda eps: pair.dot(eps, TOLERANCE)[safe_above],
        target,
        pair.max_privacy_loss,
        safe_above=safe_above,
        log_rough=lambda eps: pair.dot(eps, COARSE),
        log_start=log_start,
        guess=guess,
        width=pair.search_width,
    )

"""Searches for ε: where a falling function reaches a target, with the result on the safe side."""

import math

from shufflelib.numerics.certified import TOLERANCE

COARSE = 3e-3  # relative width of δ asked for where a rough ε will do
CRUDE = 1.0  # the same where δ is only to be seen to be too small
FAR = 0.03  # relative step of a search from which on rough values are tried first
NEAR = 0.98  # share of the best ε below which an attack is given up
FARTHEST = 5000.0  # nats; beyond it no finite answer is looked for


def _shape(log_value):
    """Return the root of a logarithm, with its sign; nearly linear in ε for a hockey-stick divergence."""
    return math.copysign(math.sqrt(abs(log_value)), -log_value) if log_value > -math.inf else math.inf


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
    goal = _shape(target)
    low, low_shape = 0.0, _shape(log_start)
    high, high_shape = last, math.inf
    long = guess is None or not 0.0 < guess < last
    if long:  # as if Gaussian: H(0) = μ/√(2π), H(ε) ≈ H(0) exp(−ε²/2μ²)
        guess = 2.5 * math.exp(log_start) * math.sqrt(2.0 * (log_start - target))
    x = guess if 0.0 < guess < last else (0.5 * last if math.isfinite(last) else 1.0)
    stalled, blurred = 0, False
    for _ in range(steps):
        before, at = high - low, x
        ends = log_rough(x) if long and log_rough else (-math.inf, math.inf)
        mixed, blurred = blurred, not ends[0] <= target <= ends[1]
        value = ends[safe_above] if blurred else log_value(x)
        # NaN counts as above where the safe side is above, and as below where it is below
        if not value <= target if safe_above else value > target:
            low, low_shape = x, _shape(value)
        else:
            high, high_shape = x, _shape(value)
        if low > FARTHEST if math.isinf(high) else high - low <= width * high:
            break
        if math.isinf(high):
            x = 2.0 * low
        elif math.isinf(high_shape) and low == 0.0:
            x = 0.5 * low + 0.5 * high
        else:
            if math.isinf(high_shape):  # only the lower end is near: extrapolate from the start through it
                start = _shape(log_start)
                root = low * (goal - start) / max(low_shape - start, 1e-3)
                past, stalled = 0.2, 0
            else:
                share = (goal - low_shape) / (high_shape - low_shape) if high_shape > low_shape else 0.5
                root = low + share * (high - low)
                past = 0.4 * (high - low) / high if low > 0.0 else 0.03  # about twice what bends the line
                past = 0.2 if mixed and not blurred else past  # the line still goes through a rough value
                stalled = stalled + 1 if high - low > 0.5 * before else 0
            # step a little past the root, seen from the nearer side, so that the bracket shrinks on both
            past = max(past * abs(root - x), 0.3 * width * x)
            x = root + past if root - low < high - root else root - past
            if stalled >= 3 or not low < x < high:
                x, stalled = 0.5 * (low + high), 0
            if not low < x < high:
                break
        long = abs(x - at) > FAR * x
    return high if safe_above else low


def epsilon_at_delta(pairs, target, *, safe_above, guess=None):
    """Return the worst ε over pairs and directions, proved on the side asked for.

    Of several directions each gets a rough root first; those that can still decide are refined, with the very
    values of δ that a reader of the profile is given.
    """
    directions = [one for pair in pairs for one in ((pair,) if pair.symmetric else (pair, pair.reversed))]
    starts = [one.log_hockey_stick(0.0, COARSE)[safe_above] for one in directions]
    near, best = {}, 0.0
    for i in sorted(range(len(directions)), key=lambda i: -starts[i]):
        if starts[i] <= target if safe_above else not starts[i] > target:
            continue
        if best and not safe_above and directions[i].log_hockey_stick(NEAR * best, CRUDE).upper <= target:
            continue  # an attack that is too weak
        if len(directions) > 1:
            near[i] = _root(directions[i], target, COARSE, safe_above, starts[i], guess)
            best = max(best, near[i])
        else:
            near[i] = guess
    best = 0.0
    for i in sorted(near, key=lambda i: near[i] or 0.0, reverse=True):
        if best and directions[i].log_hockey_stick(best, COARSE).upper <= target:
            continue  # its ε is at most the best one so far
        best = max(best, _root(directions[i], target, TOLERANCE, safe_above, starts[i], near[i]))
    return best


def enclosed_epsilon(dominating, attacks, delta):
    """Return a lower bound on ε at ``delta`` by the attacks, and an upper one by the dominating pairs."""
    target = math.log(delta)
    upper = epsilon_at_delta(dominating, target, safe_above=True)
    return min(epsilon_at_delta(attacks, target, safe_above=False, guess=upper), upper), upper


def _root(pair, target, tolerance, safe_above, log_start, guess):
    return certified_root(
        lambda eps: pair.log_hockey_stick(eps, tolerance)[safe_above],
        target,
        pair.max_privacy_loss,
        safe_above=safe_above,
        log_rough=lambda eps: pair.log_hockey_stick(eps, COARSE).or_unknown(),
        log_start=log_start,
        guess=guess,
        width=1e-3 if tolerance == COARSE else pair.search_width,
    )

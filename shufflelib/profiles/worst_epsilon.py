"""ε at a given δ, for the worst of several pairs in both directions."""

import math
from typing import Any, NamedTuple

import numpy as np

from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.root_finding import gaussian_scale, searched
from shufflelib.numerics.side_by_side import Values, answers, together, values

COARSE, COARSER = 2e-3, 1e-2  # relative widths of δ asked for where a rough ε will do, or a guess
ROUGH = 1e-3  # that asked for where the two bounds on ε are far apart:
MEET = 0.95  # share of the upper one below which the lower one is, and of the upper bound on total variation
FALLEN = 3.0  # nats below that from which on ε is as well known, relatively, as δ
CLEARLY = 1.0  # nats above a target from which on δ at ε = 0 need not be better known
ASTRAY = 1.5  # factor of ε by which a Gaussian pair misleads, from which on a rough search comes first,
FAR_OFF, CELLS = 3.0, 1e-7  # also if the first value is so many nats off, where ε is searched no finer
ABOUT = 3e-5  # up to that relative width


def rough_epsilon(pairs, target):
    """Return an upper bound on the worst ε over pairs and directions, roughly."""

    def question():
        (starts,) = yield from _starts(target, pairs)
        return (yield from _largest_epsilon(starts, target, True, None, COARSER))

    return answers([question()])[0]


def asking_epsilon(dominating, attacks, target):
    """Ask for values until ε at log δ = ``target`` is known: from below by attacks, from above.

    Both bounds are known well, or roughly where that tells them apart and a rough value costs less.
    """
    above, below = yield from _starts(target, dominating, attacks)
    high, low = (max(start.about for start in starts) for starts in (above, below))
    apart = far_apart(low, high, target) and any(pair.rough_is_cheaper for pair in dominating)
    upper = lower = None
    for tolerance in (ROUGH, TOLERANCE) if apart else (TOLERANCE,):
        sides = (
            _largest_epsilon(above, target, True, upper, tolerance),
            _largest_epsilon(below, target, False, lower, tolerance),
        )
        upper, lower = yield from together(sides)
        if lower < MEET * upper:
            break
    return min(lower, upper), upper


def far_apart(log_low, log_high, target):
    """Return whether both bounds on ε at a δ will be far apart, given both on total variation, as logs.

    These may be rough: nothing is proved by them.
    """
    return log_low < log_high + math.log(MEET) and target < log_high - FALLEN


class _Start(NamedTuple):
    """One direction of a pair, about log H at 0, and both bounds on that if they were asked for."""

    pair: Any
    about: float
    ends: Interval | None


def _starts(target, *sides):
    """Ask for the values at ε = 0 of several lists of pairs in both directions, unless known to be enough.

    The two directions differ where the masses of one distribution are off by rounding.
    """
    both = [[(pair,) if pair.symmetric else (pair, pair.reversed) for pair in pairs] for pairs in sides]
    curves = [
        [one for pair in pairs for one in pair[:: 1 if pair[0].forward_is_dominant else -1]] for pairs in both
    ]
    every = {id(one): one for side in curves for one in side}
    about = {key: one.about_total_variation() for key, one in every.items()}
    asked = {key: Values(every[key], COARSER) for key in every if not about[key] > target + CLEARLY}
    if asked:
        yield [(one, np.zeros(1)) for one in asked.values()]
    ends = {key: one.ends for key, one in asked.items()}
    about |= {key: float(found.middle[0]) for key, found in ends.items()}
    return [[_Start(one, about[id(one)], ends.get(id(one))) for one in side] for side in curves]


def _largest_epsilon(starts, target, safe_above, guess, tolerance):
    """Ask for values until the worst ε over pairs and directions is known on one side; return it."""
    unsure = {
        id(pair): Values(pair, tolerance)
        for pair, _, ends in starts
        if ends and ends.lower[0] <= target < ends.upper[0]
    }
    if unsure:
        yield [(one, np.zeros(1)) for one in unsure.values()]
    left = []
    for pair, about, ends in starts:
        ends = unsure[id(pair)].ends if id(pair) in unsure else ends
        value = float(ends[safe_above][0]) if ends else about
        if not value <= target if safe_above else value > target:
            left.append((value, pair))
    if not left:
        return 0.0
    # rounded, as pairs may have the same total variation
    (start, pair), *left = sorted(left, key=lambda found: -round(found[0], 2))
    first = best = yield from _one_epsilon(pair, target, safe_above, start, guess, tolerance)
    seen = [Values(pair, COARSER) for _, pair in left]
    if best and seen:
        yield [(one, np.array([best])) for one in seen]
    for (start, pair), rough in zip(left, seen, strict=True):
        known = None
        if best:
            ends = rough.ends
            if best > first and not ends.upper[0] <= target:
                ends = yield from values(pair, [best], COARSER)
            if ends.upper[0] <= target:
                continue
            value = float(ends[safe_above][0])
            known, guess = (None, best) if value - target < COARSER else ((best, value), None)
        found = yield from _one_epsilon(pair, target, safe_above, start, guess, tolerance, known)
        best = max(best, found)
    return best


def _one_epsilon(pair, target, safe_above, log_start, guess, tolerance, known=None):
    """Ask for values until ε of one direction is known; ``known`` is a place, and a rough value there."""
    roughly = COARSER if pair.rough_is_cheaper else COARSE
    if not guess:
        scaled = gaussian_scale(log_start)
        expected = scaled(target)
        if known is None and 0.0 < expected < pair.max_privacy_loss:
            known = expected, float((yield from values(pair, [expected], roughly))[safe_above][0])
        if known and 0.0 < (reached := scaled(known[1])) < math.inf:  # says by how much the scale is off
            guess = known[0] * expected / reached
            astray = math.isinf(pair.max_privacy_loss) and not 1.0 / ASTRAY < guess / known[0] < ASTRAY
            if astray or (pair.search_width > CELLS and abs(known[1] - target) > FAR_OFF):
                guess = yield from _crossing(pair, target, safe_above, log_start, guess, roughly, ABOUT)
    width = tolerance if tolerance > ROUGH else pair.search_width
    return (yield from _crossing(pair, target, safe_above, log_start, guess, tolerance, width))


def _crossing(pair, target, safe_above, log_start, guess, tolerance, width):
    search = searched(target, pair.max_privacy_loss, safe_above, log_start, guess, width)
    found = None
    while True:
        try:
            x = search.send(found)
        except StopIteration as end:
            return end.value
        found = float((yield from values(pair, [x], tolerance))[safe_above][0])

"""Sums of flipped bits: Figure 2 of the white paper on exposure notifications, and the draft for DAP.

A user's vector of bits is flipped bit by bit, and the analyst sees the sums.  Which numbers are right
depends on the neighbours: one coordinate, or one report with a single 1 replaced by zeros (deletion), changes
one sum; one such report replaced by another changes two.
"""

import functools
import math
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from claims import exact_channels, systems
from claims.claim import Check, holds_if, smaller_if
from shufflelib import aggregate, randomizers

FIGURE_2 = systems.SYSTEMS["enpa"]["figure_2"]
CELLS = [(n, delta, printed) for n, row in FIGURE_2.items() for delta, printed in row.items()]


@functools.cache
def sums(n, neighbours, eps0=8.0):
    """Return the profile of the sums of n vectors of five flipped bits."""
    flipped = 1.0 / (1.0 + math.exp(eps0))
    return aggregate(randomizers.unary(d=5, p=flipped, q=1.0 - flipped), n, neighbours=neighbours)


def delta_of_two_sums(n, eps, eps0=8.0):
    """Return δ if a user leaves the bin of all others for an empty one: every pair of sums, in floats.

    In the bin that is left zeros are counted, in the other one ones: both are flips of the n − 1 others, and
    the user's bit, which is a flip in one dataset and no flip in the other.
    """
    flip = 1.0 / (1.0 + math.exp(eps0))
    reach = 14.0 * math.sqrt(n * flip) + 60.0
    k = np.arange(max(0, math.floor(n * flip - reach)), math.ceil(n * flip + reach))
    others = binom.pmf(k, n - 1, flip)
    before, after = (np.convolve(others, user) for user in ((1.0 - flip, flip), (flip, 1.0 - flip)))
    return float(np.maximum(np.outer(before, before) - math.exp(eps) * np.outer(after, after), 0.0).sum())


def _figure_2(effort):
    within = sum(sums(n, "coordinate").delta(eps).upper <= delta for n, delta, eps in CELLS)
    factors = {(n, delta): delta_of_two_sums(n, eps) / delta for n, delta, eps in CELLS}
    small = sum(factor > 1.0 + 1e-9 for factor in factors.values())
    evidence = (
        f"{within} of {len(CELLS)} cells hold if one coordinate differs; if one bin is replaced by another, "
        f"{small} are too small"
    )
    steps = (
        f"one coordinate: certified delta at the printed epsilon is at most the column's in {within} cells",
        f"everybody in one bin, one user leaves it: delta of all pairs of sums is larger in {small} cells",
        f"n = 10^4, delta = 10^-6, epsilon = 8.00: {factors[10**4, 1e-6]:.0f} times as large",
        f"n = 10^5, delta = 10^-5, epsilon = 0.84: {factors[10**5, 1e-5]:.1f} times as large",
    )
    return smaller_if(within == len(CELLS) and small == 20, evidence, steps)


def _figure_2_certified():
    cells = [(n, delta, eps) for n, delta, eps in CELLS if n <= 10**5]  # more users take seconds a cell
    found = [sums(n, "replace").delta(eps).lower > delta for n, delta, eps in cells]
    steps = (
        f"up to 10^5 users: certified delta of a replaced bin is larger in {sum(found)} of {len(cells)}",
    )
    return smaller_if(sum(found) == 11, "certified bounds", steps)


def _never_weaker(effort):
    one, moved = (sums(10**4, which).epsilon(1e-6) for which in ("coordinate", "replace"))
    evidence = (
        f"n = 10^4, delta = 10^-6: at most {one.upper:.6g} for one coordinate, at least "
        f"{moved.lower:.5g} for one bin replaced by another, whose local budget is 16"
    )
    steps = (
        f"one coordinate: [{one.lower:.7g}, {one.upper:.7g}]",
        f"two coordinates: [{moved.lower:.7g}, {moved.upper:.7g}]",
        "the local budget is 8 for the first and 16 for the second: neither is exceeded",
    )
    return smaller_if(one.upper <= 8.0 < moved.lower <= 16.0, evidence, steps)


def _never_weaker_by_enumeration():
    delta = delta_of_two_sums(10**4, 8.0)
    steps = (f"delta of two datasets at epsilon = 8, all pairs of sums: {delta:.6g}, above 10^-6",)
    return smaller_if(delta > 1e-6, "two explicit datasets", steps)


def _local(effort):
    flip = Fraction(1, 4)  # e^ε₀ = 3
    keep = 1 - flip
    rows = [[keep if a == b else flip for b in (1, 0)] for a in (1, 0)]
    one = exact_channels.largest_ratio(rows)
    two = exact_channels.largest_ratio(
        [[x * y for x in rows[a] for y in rows[b]] for a, b in ((0, 1), (1, 0))]
    )
    evidence = f"e^eps0 = 3: largest ratio {one} if one coordinate differs, {two} if two do"
    steps = (
        f"one bit, flipped with probability {flip}: largest ratio of a report's probabilities {one}",
        f"two bits, 10 replaced by 01: largest ratio {two}",
    )
    return smaller_if(one == 3 and two == 9, evidence, steps)


def _local_by_budget():
    flipped = 1.0 / (1.0 + math.exp(8.0))
    moved = randomizers.unary(d=5, p=flipped, q=1.0 - flipped).eps0
    steps = (f"five bins, one replaced by another: local budget {moved:.6g}, twice 8",)
    return smaller_if(abs(moved - 16.0) < 1e-9, "the package's budget", steps)


def _in_the_text(effort):
    eps = sums(10**5, "coordinate").epsilon(1e-5)
    evidence = f"n = 100,000, delta = 10^-5, one coordinate: epsilon in [{eps.lower:.7g}, {eps.upper:.7g}]"
    return holds_if(round(eps.lower, 2) == round(eps.upper, 2) == 0.83, evidence)


def _histogram(effort):
    rows = systems.SYSTEMS["dap"]["histogram"]
    steps, held = [], True
    for eps0, (printed, _) in rows.items():
        zero, moved = (sums(10**5, which, float(eps0)).delta(printed).upper for which in ("zero", "replace"))
        held &= max(zero, moved) <= 1e-9
        steps.append(
            f"eps0 = {eps0}, eps = {printed}: delta <= {zero:.2g} (deletion), {moved:.2g} (replacement)"
        )
    return holds_if(held, f"{len(rows)} rows hold for both relations; {steps[0]}", steps)


def _deviations(effort):
    found = {}
    for eps0, (_, printed) in systems.SYSTEMS["dap"]["histogram"].items():
        e = math.exp(float(eps0))
        found[eps0] = abs(math.sqrt(1e5 * e) / (e - 1.0) - printed)  # √(n q(1 − q))/(1 − 2q), q = 1/(1 + e)
    return holds_if(max(found.values()) < 1e-4, f"three rows agree to {max(found.values()):.1g}")


CHECKS = {
    "enpa-local": Check(_local, _local_by_budget),
    "enpa-figure-2": Check(_figure_2, _figure_2_certified),
    "enpa-never-weaker": Check(_never_weaker, _never_weaker_by_enumeration),
    "enpa-text-0.83": Check(_in_the_text),
    "dap-histogram": Check(_histogram),
    "dap-deviations": Check(_deviations),
}

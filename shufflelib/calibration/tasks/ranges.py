"""Values 0, ..., d-1 in order: shares of ranges, quantiles, and the whole distribution.

All are answered by hierarchical randomized response; the candidates are its numbers of children.  The values
are padded to a power of that number by values that nobody holds.
"""

import dataclasses
import functools
import math

import numpy as np

from shufflelib import randomizers
from shufflelib.calibration.tasks.task import Candidate, Task, bits
from shufflelib.randomizers.hierarchical import hierarchical, padded_size
from shufflelib.randomizers.hierarchy import MOST_VALUES

CHILDREN = (2, 4, 8, 16, 32)
RANGES, SEED = 1000, 1
RUNS, FEWER_RUNS, MANY_VALUES = 100, 10, 4096


def _candidate(branching):
    return Candidate(
        randomizers.hierarchical,
        "randomized response on a random level of a hierarchy",
        lambda one: bits(one.level_sizes.size) + bits(one.d),
        "O(n log d + d)",
        " with {0.branching:,} children of each node and {0.d:,} values",
        arguments=functools.partial(_arguments, branching=branching),
    )


def _arguments(sizes, branching):
    """Return the arguments of a hierarchy; without a number of children, those of the flat histogram."""
    size = sizes["d"] if branching is None else padded_size(sizes["d"], branching)
    return {"d": size, "branching": branching or size}


def evenly(mechanism: hierarchical, d: int) -> np.ndarray:
    """Return the shares of all nodes if users are spread evenly over the first d values."""
    held = np.where(np.arange(mechanism.d) < d, 1.0 / d, 0.0)
    nodes = [held.reshape(size, -1).sum(axis=1) for size in mechanism.level_sizes]
    return np.concatenate(nodes).clip(0.0, 1.0)  # but for rounding


def _errors_of(mechanism, n, d, first, last):
    usual = math.sqrt(np.mean(mechanism.range_variance(evenly(mechanism, d), first, last, n=n)))
    return usual, math.sqrt(np.max(mechanism.worst_range_variance(first, last, n=n)))


def _range_errors(mechanism, n, dummy_messages, sizes):
    """Return the root mean square over ranges drawn at random, and the largest of them and a long one."""
    d = sizes["d"]
    ends = np.sort(np.random.default_rng(SEED).integers(0, d, size=(2, RANGES)), axis=0)
    return _errors_of(mechanism, n, d, np.append(ends[0], 1), np.append(ends[1], max(d - 2, 1)))


def _rank_errors(mechanism, n, dummy_messages, sizes):
    """Return the root mean square over all values of the share up to them, and the largest one."""
    d = sizes["d"]
    last = np.unique(np.linspace(0, d - 2, min(d - 1, RANGES)).astype(int))
    return _errors_of(mechanism, n, d, np.zeros_like(last), last)


def _kolmogorov_errors(mechanism, n, dummy_messages, sizes):
    """Return the mean Kolmogorov distance, simulated for users spread evenly and for all at one value."""
    d, rng = sizes["d"], np.random.default_rng(SEED)
    spread, single = np.zeros((2, mechanism.d), int)
    spread[:d] = n // d
    spread[: n % d] += 1
    single[d // 3] = n
    distances = []
    for counts in (spread, single):
        truth, last = np.cumsum(counts)[:d] / n, np.arange(d)
        runs = [
            np.max(np.abs(mechanism.range_shares(mechanism.draw_nodes(counts, rng), 0 * last, last) - truth))
            for _ in range(RUNS if d <= MANY_VALUES else FEWER_RUNS)
        ]
        distances.append(float(np.mean(runs)))
    return distances[0], max(distances)


RANGE = Task(
    {f"hierarchy_{children}": _candidate(children) for children in CHILDREN} | {"flat": _candidate(None)},
    sizes={"d": "the number of values, in order"},
    scope=" of {d:,} values in order",
    holds="one of {d:,} values in order",
    errors=_range_errors,
    estimated="the share of a range",
    ordinary="root mean square over a thousand ranges drawn at random, values spread evenly",
    worst="any data, the largest of these ranges and of the one without both ends (an upper bound)",
    central=lambda sizes: 1.0,
    most=MOST_VALUES,
    notes=("x central is relative to a curator who answers a single range with Gaussian noise.",),
    options=", estimate=estimation.ranges, first=[0], last=[{d} // 3]",
)
QUANTILE = dataclasses.replace(
    RANGE,
    errors=_rank_errors,
    estimated="a rank",
    ordinary="the share of users up to a value: root mean square over the values, users spread evenly",
    worst="any data, the largest over the values (an upper bound)",
    options=", estimate=estimation.quantiles, probabilities=[0.25, 0.5, 0.75]",
)
DISTRIBUTION = dataclasses.replace(
    RANGE,
    sizes={"d": "the number of bins"},
    scope=" of a number in {d:,} bins",
    holds="one of {d:,} bins of a number in [0, 1]",
    errors=_kolmogorov_errors,
    estimated="the distribution",
    ordinary="the mean Kolmogorov distance to the truth with users spread evenly",
    most=2**16,
    known="simulated",
    worst="the same with all users at one value, if that is larger (not all data)",
    options=", estimate=estimation.distribution",
    values="np.clip((values * {d}).astype(int), 0, {d} - 1)",
)

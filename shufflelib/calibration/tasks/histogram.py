"""Shares of d items, of which every user holds one."""

import math

from shufflelib import randomizers
from shufflelib.calibration.tasks.errors import frequency_errors
from shufflelib.calibration.tasks.task import FLOAT_BITS, Candidate, Task, bits, by_name

HISTOGRAM = Task(
    by_name(
        Candidate(randomizers.generalized_rr, "randomized response", lambda one: bits(one.d), "O(n + d)"),
        Candidate(randomizers.rappor, "basic RAPPOR", lambda one: one.d, "O(n d)"),
        Candidate(randomizers.optimized_unary, "optimized unary encoding", lambda one: one.d, "O(n d)"),
        Candidate(
            randomizers.subset,
            "subset selection",
            lambda one: min(one.d, one.k * bits(one.d)),
            "O(n k), k items a report",
            " of {0.k:,} options",
        ),
        Candidate(
            randomizers.local_hash,
            "local hashing",
            lambda one: FLOAT_BITS + bits(one.l),
            "O(n d)",
            " to {0.l:,} values",
        ),
        Candidate(
            randomizers.hadamard,
            "Hadamard response",
            lambda one: bits(one.K),
            "O(n + K log K)",
            " with one block of order {0.K:,}",
        ),
        Candidate(
            randomizers.balls_into_bins,
            "balls into bins (several messages)",
            lambda one: bits(one.d),
            "O(messages + d)",
        ),
    ),
    sizes={"d": "the number of items; 'mean' needs none"},
    scope=" of {d:,} items",
    holds="one of {d:,} options",
    errors=frequency_errors,
    estimated="a share",
    ordinary="all items equally frequent",
    central=lambda sizes: math.sqrt(2.0),
    sums=by_name(
        Candidate(randomizers.rappor, "basic RAPPOR", lambda one: FLOAT_BITS * one.d, "O(n d)"),
        Candidate(randomizers.skellam, "Skellam noise", lambda one: FLOAT_BITS, "O(n d)", noise="mu"),
    ),
    changed=2,
)

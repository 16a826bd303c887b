"""Shares of d items, of which every user holds up to s.

Every set is filled up to s items with dummies (`shufflelib.estimation.padded`), so that mechanisms for sets
of exactly s of d + s items apply, and hide how many items a user holds.
"""

import math

from shufflelib import randomizers
from shufflelib.calibration.tasks.errors import frequency_errors
from shufflelib.calibration.tasks.task import FLOAT_BITS, Candidate, Task, bits, by_name, with_dummies

SETS = Task(
    by_name(
        Candidate(
            randomizers.subset_exponential,
            "PrivSet",
            lambda one: min(one.d, one.k * bits(one.d)),
            "O(n k), k items a report",
            ", which reports {0.k:,} of the options and dummies,",
        ),
        Candidate(
            randomizers.collision,
            "the collision mechanism",
            lambda one: FLOAT_BITS + bits(one.l),
            "O(n d)",
            " with {0.l:,} values",
        ),
        Candidate(
            randomizers.wheel,
            "the wheel mechanism",
            lambda one: 2 * FLOAT_BITS,
            "O(n d)",
            " with arcs of length {0.arc!r}",
        ),
        Candidate(randomizers.sampled_rappor, "basic RAPPOR of one item drawn", lambda one: one.d, "O(n d)"),
    ),
    sizes={"d": "the number of items", "s": "how many items a user may hold"},
    scope=" of up to {s:,} of {d:,} items",
    holds="a set of up to {s:,} of {d:,} options, filled up to {s:,} with dummies",
    errors=frequency_errors,
    estimated="a share",
    ordinary="all items equally frequent, dummies too",
    central=lambda sizes: math.sqrt(2.0 * sizes["s"]),
    arguments=with_dummies,
    values="estimation.padded(sets, d={d}, s={s})",
)

"""Which of up to millions of items users hold, one item each."""

import math

from shufflelib.calibration.tasks.discoveries import threshold
from shufflelib.calibration.tasks.errors import frequency_error
from shufflelib.calibration.tasks.histogram import HISTOGRAM
from shufflelib.calibration.tasks.task import Task

# reports and estimates whose cost does not grow with the number of items times that of users, or little
SHORT = ("generalized_rr", "local_hash", "hadamard", "balls_into_bins")


def _errors(mechanism, n, dummy_messages, sizes):
    """Return the standard error of an item that nobody holds, and the largest one."""
    none, all_of_them = (frequency_error(mechanism, share, n, dummy_messages) for share in (0.0, 1.0))
    return none, max(none, all_of_them)


def _further(mechanism, n, dummy_messages):
    least = threshold(mechanism, n, dummy_messages)
    return {"threshold": least.share, "found from": least.found_from}


HEAVY_HITTERS = Task(
    {name: HISTOGRAM.candidates[name] for name in SHORT},
    sizes={"d": "the number of items"},
    scope=" among {d:,} items",
    holds="one of {d:,} options",
    errors=_errors,
    estimated="a share",
    ordinary="of an item that nobody holds",
    central=lambda sizes: math.sqrt(2.0),
    further=_further,
    order="found from",
    options=", estimate=estimation.heavy_hitters",
    notes=(
        "threshold: estimated share from which an item is listed; with probability 95 %, proved, the list "
        "names no item that nobody holds.  found from: share that is listed so often, by the normal "
        "approximation.",
    ),
)

"""Which of up to millions of items users hold, one item each."""

import functools
import math

from shufflelib.calibration.tasks.discoveries import threshold
from shufflelib.calibration.tasks.errors import frequency_errors
from shufflelib.calibration.tasks.histogram import HISTOGRAM
from shufflelib.calibration.tasks.task import Task

# reports and estimates whose cost does not grow with the number of items times that of users, or little
SHORT = ("generalized_rr", "local_hash", "hadamard", "balls_into_bins")


def _further(mechanism, n, dummy_messages):
    least = threshold(mechanism, n, dummy_messages)
    return {"threshold": least.share, "found from": least.found_from}


HEAVY_HITTERS = Task(
    {name: HISTOGRAM.candidates[name] for name in SHORT},
    sizes={"d": "the number of items"},
    scope=" among {d:,} items",
    holds="one of {d:,} options",
    errors=functools.partial(frequency_errors, usual=0.0),
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

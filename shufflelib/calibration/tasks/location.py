"""Where users are: shares of the cells of a square, which is a histogram of d times d items."""

import dataclasses
import math

from shufflelib.calibration.tasks.histogram import HISTOGRAM
from shufflelib.calibration.tasks.task import MOST_ITEMS

LOCATION = dataclasses.replace(
    HISTOGRAM,
    arguments=lambda sizes: {"d": sizes["d"] ** 2},
    values="np.clip((places * {d}).astype(int), 0, {d} - 1) @ [{d}, 1]",
    sizes={"d": "cells along each side of the square"},
    scope=" in a square of {d:,} by {d:,} cells",
    holds="one of {d:,} by {d:,} cells of a square",
    ordinary="all cells equally frequent",
    most=math.isqrt(MOST_ITEMS),
    notes=(
        "places: an array of shape (n, 2) with entries in [0, 1]; the guarantee holds for moves of any "
        "length.  planar_laplace is left out: its guarantee is for moves of one length.",
    ),
)

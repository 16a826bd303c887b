"""The tasks of `recommend`: one file for each question, which lists mechanisms, errors and words."""

from shufflelib.calibration.tasks.heavy_hitters import HEAVY_HITTERS
from shufflelib.calibration.tasks.histogram import HISTOGRAM
from shufflelib.calibration.tasks.key_value import KEY_VALUE
from shufflelib.calibration.tasks.location import LOCATION
from shufflelib.calibration.tasks.mean import MEAN
from shufflelib.calibration.tasks.ranges import DISTRIBUTION, QUANTILE, RANGE
from shufflelib.calibration.tasks.sets import SETS

TASKS = {
    "histogram": HISTOGRAM,
    "mean": MEAN,
    "sets": SETS,
    "key_value": KEY_VALUE,
    "location": LOCATION,
    "heavy_hitters": HEAVY_HITTERS,
    "range": RANGE,
    "quantile": QUANTILE,
    "distribution": DISTRIBUTION,
}

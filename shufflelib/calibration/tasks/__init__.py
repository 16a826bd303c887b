"""The tasks of `recommend`: one file for each question, which lists mechanisms, errors and words."""

from shufflelib.calibration.tasks.histogram import HISTOGRAM
from shufflelib.calibration.tasks.mean import MEAN

TASKS = {"histogram": HISTOGRAM, "mean": MEAN}

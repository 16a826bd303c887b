"""The mean of numbers in [0, 1]."""

from shufflelib import randomizers
from shufflelib.calibration.tasks.errors import mean_errors
from shufflelib.calibration.tasks.task import FLOAT_BITS, Candidate, Task, by_name

MEAN = Task(
    by_name(
        Candidate(
            randomizers.duchi,
            "one random bit (Duchi et al.)",
            lambda one: 1,
            "O(n)",
            values="2 * values - 1",
        ),
        Candidate(
            randomizers.piecewise,
            "the piecewise mechanism",
            lambda one: FLOAT_BITS,
            "O(n)",
            values="2 * values - 1",
        ),
        Candidate(randomizers.laplace, "Laplace noise", lambda one: FLOAT_BITS, "O(n)", " of scale 1/eps0"),
    ),
    sizes={},
    scope="",
    holds="a number in [0, 1]",
    errors=mean_errors,
    estimated="the mean",
    ordinary="values spread evenly over [0, 1]",
    central=lambda sizes: 1.0,
    sums=by_name(
        Candidate(randomizers.gaussian, "Gaussian noise", lambda one: FLOAT_BITS, "O(n)", noise="sigma"),
        Candidate(randomizers.laplace, "Laplace noise", lambda one: FLOAT_BITS, "O(n)", " of scale 1/eps0"),
    ),
)

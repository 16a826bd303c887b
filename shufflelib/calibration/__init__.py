"""Inverse questions for a target (ε, δ): the largest budget, the fewest users, the best mechanism.

>>> from shufflelib import calibration, randomizers
>>> found = calibration.fewest_users(randomizers.binary_rr, eps0=2.0, eps=0.5, delta=1e-6)
>>> found.answer, found.certificate.upper <= 0.5, found.fails
(494, True, 492)

In order of reading:

1. `targets`: one parameter searched for: `largest_eps0`, `smallest_sigma`, `fewest_users`, `most_rounds`.
2. `tasks`, `recommendation`: every mechanism for a task, at the same target, sorted by its error.
3. `questions`: what can be asked of a mechanism by name, on the command line and in tables.

`search` has the search that the first two share.
"""

from shufflelib.calibration.recommendation import Recommendation as Recommendation
from shufflelib.calibration.recommendation import recommend as recommend
from shufflelib.calibration.search import Calibration as Calibration
from shufflelib.calibration.targets import fewest_users as fewest_users
from shufflelib.calibration.targets import largest_eps0 as largest_eps0
from shufflelib.calibration.targets import most_rounds as most_rounds
from shufflelib.calibration.targets import smallest_sigma as smallest_sigma

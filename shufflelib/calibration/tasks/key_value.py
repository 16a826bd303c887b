"""Of d keys, of which every user holds up to s: the shares of the keys and the means of their values.

Users hold exactly s of d + s keys once filled up with dummies of value 0 (`estimation.padded_pairs`).
"""

import math

from shufflelib import randomizers
from shufflelib.calibration.tasks.errors import frequency_errors
from shufflelib.calibration.tasks.task import Candidate, Task, bits, by_name, with_dummies


def _bits(mechanism):
    return bits(3 * mechanism.d)


def _further(mechanism, n, dummy_messages):
    """Return the standard error of the mean of a key's values spread evenly: its sum's over its share."""
    share = mechanism.usual_share
    return {"mean error": math.sqrt(mechanism.sum_variance(share, share / 3.0, n=n)) / share}


KEY_VALUE = Task(
    by_name(
        Candidate(randomizers.pckv_grr, "PCKV-GRR", _bits, "O(n + d)"),
        Candidate(randomizers.privkv, "PrivKV with half of eps0 for the key", _bits, "O(n + d)"),
    ),
    sizes={"d": "the number of keys", "s": "how many keys a user may hold"},
    scope=" pairs, up to {s:,} of {d:,} keys",
    holds="up to {s:,} of {d:,} keys with a number in [-1, 1] each, filled up to {s:,} with dummies",
    errors=frequency_errors,
    estimated="a share",
    ordinary="all keys equally frequent, dummies too",
    central=lambda sizes: math.sqrt(2.0 * sizes["s"]),
    further=_further,
    arguments=with_dummies,
    values="estimation.padded_pairs(keys, values, d={d}, s={s})",
    order="mean error",
    notes=(
        "mean error: standard error of the mean of such a key's values, spread evenly over [-1, 1]: that of "
        "their sum over the share, to first order.",
    ),
)

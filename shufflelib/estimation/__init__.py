"""Protocols of the shuffle model run on data: users, shuffler, analyst, and a certified guarantee.

>>> import numpy as np
>>> from shufflelib import estimation
>>> protocol = estimation.FrequencyProtocol(np.full(10_000, 1.0))
>>> result = protocol.run(estimation.bits(10_000, density=0.7), np.random.default_rng(1))
>>> abs(result.value - 0.7) < 4 * result.standard_error, round(result.epsilon.upper, 4)
(True, 0.0433)

In order of reading:

1. `shuffler`: the shuffle as one explicit step.
2. `channels`: what users with personal budgets report.
3. `protocol`: what a protocol is; `personal`: mean and frequency of users with personal budgets.
4. `histogram`: frequencies of d items; `counts`: their distribution for millions of users at once;
   `multi_message`: the same with many messages per user.
5. `hierarchy` and `range_queries`: how many users hold a value in [a, b].
6. `population` and `accuracy`: synthetic users, and the error of estimates.
"""

from shufflelib.estimation.accuracy import Measured, mean_absolute_error, normal_absolute_error
from shufflelib.estimation.channels import LaplaceReports, ResponseReports
from shufflelib.estimation.hierarchy import canonical_decomposition
from shufflelib.estimation.histogram import HistogramProtocol, frequency_variance, simulate
from shufflelib.estimation.multi_message import MultiMessageProtocol
from shufflelib.estimation.personal import (
    FrequencyProtocol,
    MeanProtocol,
    PermutedFrequencyProtocol,
    PermutedMeanProtocol,
)
from shufflelib.estimation.population import apportion, bits, clipped_normal, group_budgets, zipf_counts
from shufflelib.estimation.protocol import Estimate, Protocol
from shufflelib.estimation.range_queries import RangeQueryProtocol
from shufflelib.estimation.shuffler import in_random_order

__all__ = [
    "Estimate",
    "FrequencyProtocol",
    "HistogramProtocol",
    "LaplaceReports",
    "MeanProtocol",
    "Measured",
    "MultiMessageProtocol",
    "PermutedFrequencyProtocol",
    "PermutedMeanProtocol",
    "Protocol",
    "RangeQueryProtocol",
    "ResponseReports",
    "apportion",
    "bits",
    "canonical_decomposition",
    "clipped_normal",
    "frequency_variance",
    "group_budgets",
    "in_random_order",
    "mean_absolute_error",
    "normal_absolute_error",
    "simulate",
    "zipf_counts",
]

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
4. `histogram`: frequencies of d items, run or, for millions of users at once, drawn from counts;
   `multi_message`: the same with many messages per user; `holders`: who holds which items.
5. `intervals`: reports of any mechanism in, estimates with confidence intervals out.
6. `range_queries`, and `ordered` with intervals: how many users hold a value in [a, b].
7. `population` and `accuracy`: synthetic users, and the error of estimates.
8. `audit`: what draws of somebody's own sampler show.
"""

from shufflelib.estimation.accuracy import Measured as Measured
from shufflelib.estimation.accuracy import mean_absolute_error as mean_absolute_error
from shufflelib.estimation.accuracy import normal_absolute_error as normal_absolute_error
from shufflelib.estimation.audit import Audit as Audit
from shufflelib.estimation.audit import audit as audit
from shufflelib.estimation.channels import LaplaceReports as LaplaceReports
from shufflelib.estimation.channels import ResponseReports as ResponseReports
from shufflelib.estimation.histogram import HistogramProtocol as HistogramProtocol
from shufflelib.estimation.histogram import frequency_variance as frequency_variance
from shufflelib.estimation.histogram import simulate as simulate
from shufflelib.estimation.holders import padded as padded
from shufflelib.estimation.holders import padded_pairs as padded_pairs
from shufflelib.estimation.intervals import heavy_hitters as heavy_hitters
from shufflelib.estimation.intervals import intervals as intervals
from shufflelib.estimation.intervals import run as run
from shufflelib.estimation.multi_message import MultiMessageProtocol as MultiMessageProtocol
from shufflelib.estimation.ordered import distribution as distribution
from shufflelib.estimation.ordered import quantiles as quantiles
from shufflelib.estimation.ordered import ranges as ranges
from shufflelib.estimation.personal import FrequencyProtocol as FrequencyProtocol
from shufflelib.estimation.personal import MeanProtocol as MeanProtocol
from shufflelib.estimation.personal import PermutedFrequencyProtocol as PermutedFrequencyProtocol
from shufflelib.estimation.personal import PermutedMeanProtocol as PermutedMeanProtocol
from shufflelib.estimation.population import apportion as apportion
from shufflelib.estimation.population import bits as bits
from shufflelib.estimation.population import clipped_normal as clipped_normal
from shufflelib.estimation.population import group_budgets as group_budgets
from shufflelib.estimation.population import zipf_counts as zipf_counts
from shufflelib.estimation.protocol import Estimate as Estimate
from shufflelib.estimation.protocol import Protocol as Protocol
from shufflelib.estimation.range_queries import RangeQueryProtocol as RangeQueryProtocol
from shufflelib.estimation.shuffler import in_random_order as in_random_order
from shufflelib.randomizers.hierarchy import canonical_decomposition as canonical_decomposition

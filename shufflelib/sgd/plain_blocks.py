"""Training without any privacy: the baseline."""

from dataclasses import dataclass

import numpy as np

from shufflelib.numerics.types import Floats
from shufflelib.randomizers.local_randomizer import Count
from shufflelib.sgd.block_reports import BlockReports
from shufflelib.sgd.example_gradients import ExampleGradients
from shufflelib.sgd.network import Network


@dataclass(frozen=True)
class PlainBlocks(BlockReports):
    """Average gradients without clipping or noise; blocks in a new random order each epoch.  Not private.

    Parameters
    ----------
    blocks, block_size : int
        Number of blocks, and of examples in each, at least 1.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.PlainBlocks(blocks=200, block_size=300)
    >>> reports.examples, reports.noise(size=10, block=0, rng=None)
    (60000, 0.0)
    """

    blocks: Count
    block_size: Count

    def release(self, gradients: ExampleGradients, network: Network) -> Floats:
        """Return the average gradient."""
        return gradients.mean()

    def noise(self, size: int, block: int, rng: np.random.Generator) -> float:
        """Return 0."""
        return 0.0

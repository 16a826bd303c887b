"""Training without any privacy: the baseline."""

from dataclasses import dataclass

from shufflelib.randomizers.local_randomizer import Count
from shufflelib.sgd.block_reports import BlockReports


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

    def release(self, gradients, network):
        """Return the average gradient."""
        return gradients.mean()

    def noise(self, size, block, rng):
        """Return 0."""
        return 0.0

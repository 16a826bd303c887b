r"""The training of the code released with Chen, Cao, Ge 2024 (Rényi), which is not Algorithm 1."""

from dataclasses import dataclass

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.types import Floats, Integers
from shufflelib.sgd.block_reports import LaplaceNoise, scaled_down
from shufflelib.sgd.example_gradients import ExampleGradients
from shufflelib.sgd.network import NETWORK, Network


@dataclass(frozen=True)
class BatchClippedBlocks(LaplaceNoise):
    r"""The released program: a batch's average is clipped by its largest column sum; the order never changes.

    .. math:: N(g) = \sum_{\text{layers}} \Bigl(\max_k \sum_i |W_{ik}| + \sum_k |b_k|\Bigr), \qquad
              z = \frac{g}{\max(1, N(g)/C)} + \operatorname{Lap}\Bigl(\frac{2C}{\varepsilon_0 s}\Bigr)^d

    with g = (W, b in all layers) the average gradient of a batch of s examples.

    Parameters
    ----------
    eps0 : float
        The ε₀ that enters the noise, in nats, 1e-9 <= eps0 <= 700.  No report has this budget.
    clip, blocks, block_size
        As for `LaplaceBlocks`; a block is a batch.

    Notes
    -----
    Three things differ from Algorithm 1.

    1. *The average is clipped, not each example.*  One example can move the average of a batch from one end
       of the clipped set to the other, so clipping leaves no 1/s in the sensitivity.
    2. *N is not the ℓ₁ norm.*  A layer's matrix counts by its largest column (numpy's ``norm(W, ord=1)``), so
       the entries of a layer with h outputs can add up to h N.  With H the largest number of outputs of a
       layer, clipped gradients have ℓ₁ norms up to H C, and `sensitivity` is 2 H C.  It is approached where
       one layer of equal columns dominates, which takes an input of large norm, as biases count in full.
    3. *The order is fixed.*  The released code permutes the examples once, before it forms batches; every
       epoch then sees the same batch at the same step.

    The noise is calibrated to 2C/s: in the worst case s H times too little for one example, 300,000 times
    with s = 300 and 1,000 hidden units.  Where no average is clipped, which is usual on MNIST, one example
    moves it by ``‖g_j - g_j'‖₁/s`` with unclipped gradients, and the report's budget for that pair is
    ``eps0 ‖g_j - g_j'‖₁/(2C)``.

    Source: the program ``Shuffled-SGD.py`` published with Chen, Cao, Ge 2024 (Rényi) by its authors.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.BatchClippedBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300)
    >>> round(reports.calibrated_to, 4), reports.sensitivity(sgd.Network((60, 1000, 10)))
    (0.0667, 20000.0)
    """

    def sensitivity(self, network: Network) -> float:
        """Return 2 H C, the ℓ₁ distance that the released average is proved not to exceed.

        Raises TypeError if ``network`` is not a `Network`.
        """
        network = validation.instance(network, "network", Network, remedy=NETWORK)
        return 2.0 * self.clip * max(network.widths[1:])

    def order(self, previous: Integers | None, rng: np.random.Generator) -> Integers:
        """Return the batches as they come, in every epoch."""
        return np.arange(self.blocks)

    def release(self, gradients: ExampleGradients, network: Network) -> Floats:
        """Return the average gradient, scaled down if N exceeds C."""
        average = gradients.mean().astype(np.float64)
        size = sum(
            float(np.abs(weights).sum(axis=0).max() + np.abs(bias).sum())
            for weights, bias in network.layers(average)
        )
        return scaled_down(average, size, self.clip)

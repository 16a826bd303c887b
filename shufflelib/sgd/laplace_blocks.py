r"""Algorithm 1 of Chen, Cao, Ge 2024 (Rényi): ℓ₁ clipping, Laplace noise, blocks reshuffled each epoch."""

from dataclasses import dataclass

from shufflelib.numerics.types import Floats
from shufflelib.sgd.block_reports import LaplaceNoise
from shufflelib.sgd.example_gradients import ExampleGradients
from shufflelib.sgd.network import Network


@dataclass(frozen=True)
class LaplaceBlocks(LaplaceNoise):
    r"""Every example's gradient is clipped in ℓ₁, averaged over its block, and Laplace noise is added.

    .. math:: \tilde g_j = \frac{g_j}{\max(1, \|g_j\|_1/C)}, \qquad
              z_i = \frac1s \sum_{j \in S_{\pi(i)}} \tilde g_j + b_i, \qquad
              b_i \sim \operatorname{Lap}\Bigl(\frac{2C}{\varepsilon_0 s}\Bigr)^d, \qquad
              \theta \leftarrow \theta - \eta z_i

    for a block size s, in a new random order π of the blocks each epoch.

    Parameters
    ----------
    eps0 : float
        Budget of one report in nats, 1e-9 <= eps0 <= 700.
    clip : float
        Clipping bound C, 1e-9 <= clip <= 1e9.
    blocks : int
        Number of blocks, at least 1; one step each.
    block_size : int
        Examples in each block, s >= 1.

    Notes
    -----
    *One example replaced.*  Two clipped gradients have ℓ₁ norms at most C, so the average of a block moves by
    at most ``‖g̃_j - g̃_j'‖₁/s <= 2C/s``, attained by opposite gradients.  The densities of the two reports
    differ at each point by at most a factor e^{eps0}: **the report is eps0-LDP in one example**, whatever
    parameters the earlier reports led to.

    *Whole block replaced.*  All s examples move, the average by up to 2C, the densities by up to e^{s eps0}.
    Attained too: a block of gradients +C against a block of gradients -C.

    *What shuffling needs.*  Amplification by shuffling m reports is proved for randomizers that are eps0-LDP
    between **all** inputs: the other reports must be able to look like the changed one.  Here an input is a
    block.  Theorem 3 puts eps0 and m into Theorem 2; eps0 holds between blocks that differ in one example,
    and between all blocks the budget is s eps0.  The gap cannot be closed: a block of gradients -C among
    blocks of +C lies s eps0 noise scales away from them, is identified in any order, and an example in it
    has the local guarantee alone.  With m = 200, s = 300, eps0 = 2, one epoch, δ(1) is then at least 0.393,
    as of one Laplace report (`accounting.one_example`); Theorem 3 says 0.0009.  Proved for 200 reports that
    are eps0-LDP between all inputs is 1.3e-4, or 1.3e-6 if none depends on another.  Blocks of MNIST split
    at random are far more alike; a guarantee is for all data.

    What is proved for the fixed split: eps0 for each epoch, as each example is in one report, composed over
    epochs; and shuffling with the budget `eps0_between_blocks`.  For s = 1, or with eps0 divided by s, that
    is real amplification.

    The papers call m the number of blocks in the split, in the order and in (m - 1) of Theorem 3, and write
    1/m for the average over a block and 2C/(eps0 m) for the noise: there m is s = n/m.  Table 2 lists
    "batch size m" as 300 (Chen, Cao, Ge 2024) and 100 (arXiv v1 of it).

    Guarantees are those of real numbers.  Norms are rounded up, so every example stays within C in single
    precision too; the rounding of a block's sum, and of the noise, is not included.

    Source: Chen, Cao, Ge 2024 (Rényi), Algorithm 1 and Theorem 3.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300)
    >>> round(reports.noise_scale, 4), reports.eps0_between_blocks
    (0.0333, 600.0)
    """

    @property
    def sensitivity(self) -> float:
        """The ℓ₁ distance 2C/s that one example can move a block's clipped average."""
        return self.calibrated_to

    @property
    def eps0_between_blocks(self) -> float:
        """Budget of a report between any two blocks, 2C / noise scale."""
        return self.block_size * self.eps0

    def release(self, gradients: ExampleGradients, network: Network) -> Floats:
        """Return the average of the clipped gradients."""
        return gradients.clipped_mean(gradients.l1_norms(), self.clip)

r"""Examples clipped in ℓ₂ and Gaussian noise: on a fixed split, or with blocks drawn anew in each epoch."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from shufflelib.numerics.types import Array, Floats, Integers
from shufflelib.randomizers.local_randomizer import Count, number
from shufflelib.sgd.block_reports import BlockReports, Clip
from shufflelib.sgd.example_gradients import ExampleGradients
from shufflelib.sgd.network import Network


@dataclass(frozen=True)
class GaussianNoise(BlockReports):
    """Clipped sums over blocks, divided by one number s, with Gaussian noise of deviation σC/s.

    Parameters as for `GaussianBlocks`.
    """

    noise_multiplier: Annotated[
        float, number(above=0.0, at_most=1e6, remedy="in units of what one example adds")
    ]
    clip: Clip
    blocks: Count
    block_size: Count

    @property
    def sensitivity(self) -> float:
        """The ℓ₂ distance 2C/s that one replaced example can move a block's clipped sum divided by s."""
        return 2.0 * self.clip / self.block_size

    @property
    def noise_scale(self) -> float:
        """Standard deviation σC/s of the noise in each coordinate."""
        return self.noise_multiplier * self.clip / self.block_size

    def release(self, gradients: ExampleGradients, network: Network) -> Floats:
        """Return the sum of the clipped gradients divided by s, however many there are."""
        mean = gradients.clipped_mean(gradients.l2_norms(), self.clip)
        return mean * np.float32(len(gradients) / self.block_size)

    def noise(self, size: int, block: int, rng: np.random.Generator) -> Array:
        """Draw Gaussian noise, independent in each coordinate."""
        return self.noise_scale * rng.standard_normal(size)


@dataclass(frozen=True)
class GaussianBlocks(GaussianNoise):
    r"""Algorithm 1 with ℓ₂ clipping and Gaussian noise: a fixed split, blocks reshuffled each epoch.

    .. math:: z_i = \frac1s \sum_{j \in S_{\pi(i)}} \frac{g_j}{\max(1, \|g_j\|_2/C)}
                    + \mathcal N\Bigl(0, \frac{\sigma^2 C^2}{s^2}\Bigr)^d

    for the s examples of block S_i, in a new random order π of the blocks each epoch.

    Parameters
    ----------
    noise_multiplier : float
        σ, the deviation of the noise in units of C/s, 0 < noise_multiplier <= 1e6.
    clip : float
        Clipping bound C, 1e-9 <= clip <= 1e9.
    blocks : int
        Number of blocks m, at least 1; one step each.
    block_size : int
        Examples in each block, s >= 1.

    Notes
    -----
    An example is in one report of an epoch, which it moves by at most 2C/s: each epoch is (2/σ)-GDP, T epochs
    are (2√T/σ)-GDP.  The order does not amplify, as for `LaplaceBlocks`: the other examples of a block can
    reveal its position.

    Guarantees are those of real numbers; see `LaplaceBlocks`.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.GaussianBlocks(noise_multiplier=2.0, clip=1.0, blocks=200, block_size=300)
    >>> round(reports.noise_scale, 5), round(reports.sensitivity, 5)
    (0.00667, 0.00667)
    """


@dataclass(frozen=True)
class AllocatedBlocks(GaussianNoise):
    r"""Random allocation: in each epoch every example draws a block, uniformly and independently.

    .. math:: A_j \sim \operatorname{Uniform}\{1, \dots, m\}, \qquad
              z_i = \frac1s \sum_{j : A_j = i} \frac{g_j}{\max(1, \|g_j\|_2/C)}
                    + \mathcal N\Bigl(0, \frac{\sigma^2 C^2}{s^2}\Bigr)^d

    Parameters
    ----------
    noise_multiplier, clip, blocks
        As for `GaussianBlocks`.
    block_size : int
        s = n/m, the mean number of examples in a block, at least 1.

    Notes
    -----
    Blocks differ in size, some may be empty.  Sums are divided by s and not by the block's own size, which
    depends on who is in it; so one example moves one report of an epoch, by at most 2C/s.

    That block stays secret, and the other examples of the block do not reveal it, as they are drawn anew.  A
    fixed split lacks this property.  `accounting.one_example` computes the resulting amplification.

    A sampler that draws the blocks once and reuses them in every epoch is not this one, and `one_example`
    does not cover it; `accounting.reused_allocation` does.  The analyst can average the T reports of a block,
    so that as much is revealed as by one epoch with noise σ/√T: for σ = 1, 100 blocks, three epochs and
    δ = 1e-6 ε is at least 4.83 there, and at most 1.69 here.

    Guarantees are those of real numbers, and of an allocation that stays secret, as the noise has to.

    Source: Chua, Ghazi, Harrison, Leeman, Kamath, Kumar, Manurangsi, Sinha, Zhang, "Balls-and-bins sampling
    for DP-SGD" (AISTATS 2025); Feldman, Shenfeld, "Privacy amplification by random allocation" (2025).

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import sgd
    >>> reports = sgd.AllocatedBlocks(noise_multiplier=1.0, clip=1.0, blocks=4, block_size=2)
    >>> reports.order(None, np.random.default_rng(1)).tolist()  # each example's step
    [1, 2, 3, 3, 0, 0, 3, 3]
    """

    def order(self, previous: Integers | None, rng: np.random.Generator) -> Integers:
        """Return the step in which each example reports, drawn anew for each epoch, shape (examples,)."""
        return rng.integers(self.blocks, size=self.examples)

    def turn(self, order: Integers, step: int) -> tuple[int, Integers]:
        """Return the step's number and the examples that chose it."""
        return step, np.flatnonzero(order == step)

    def is_size(self, examples: int) -> bool:
        """Say whether a block can have this many examples: any part of them, or none."""
        return 0 <= examples <= self.examples

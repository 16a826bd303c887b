"""The report of a training step about one block: the one place where noise is added to data."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Floats, Integers
from shufflelib.randomizers import values
from shufflelib.randomizers.local_randomizer import Count, Validated, number
from shufflelib.sgd.example_gradients import ExampleGradients
from shufflelib.sgd.network import NETWORK, Network

SMALLEST, LARGEST_CLIP = 1e-9, 1e9  # beyond, what is released or its noise leaves single precision
Clip = Annotated[
    float, number(at_least=SMALLEST, at_most=LARGEST_CLIP, remedy="the clipping bound is a norm of gradients")
]


class BlockReports(Validated, ABC):
    """Blocks of examples that report one after the other; each report is a vector like the parameters.

    Unless a subclass says otherwise, the training set is split into ``blocks`` consecutive runs of
    ``block_size`` examples, before anything is computed.  Subclasses say in which order blocks report, what
    is computed from a block's gradients, and which noise is added.

    Attributes
    ----------
    blocks : int
        Number of blocks, which is also the number of steps in an epoch.
    block_size : int
        Examples in each block, on average where blocks differ.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import sgd
    >>> reports = sgd.LaplaceBlocks(eps0=1.0, clip=1.0, blocks=3, block_size=100)
    >>> isinstance(reports, sgd.BlockReports), reports.examples
    (True, 300)
    >>> reports.turn(np.array([2, 0, 1]), step=0)  # block 2 comes first: the last hundred examples
    (2, slice(200, 300, None))
    """

    blocks: int
    block_size: int

    @property
    def examples(self) -> int:
        """Number of examples in all blocks together."""
        return self.blocks * self.block_size

    def order(self, previous: Integers | None, rng: np.random.Generator) -> Integers:
        """Return the order of the blocks in an epoch: a new random one, whatever the last one was."""
        return rng.permutation(self.blocks)

    def turn(self, order: Integers, step: int) -> tuple[int, slice | Integers]:
        """Return the block that reports in a step of an epoch, and the rows of its examples.

        Parameters
        ----------
        order : numpy.ndarray
            What `order` returned for the epoch.
        step : int
            From 0 to blocks - 1.
        """
        block = int(order[step])
        return block, slice(block * self.block_size, (block + 1) * self.block_size)

    def is_size(self, examples: int) -> bool:
        """Say whether a block can have this many examples."""
        return examples == self.block_size

    @abstractmethod
    def release(self, gradients: ExampleGradients, network: Network) -> Floats:
        """Return what the noise is added to, a function of the block's gradients: float vector (size,)."""

    @abstractmethod
    def noise(self, size: int, block: int, rng: np.random.Generator) -> float | Array:
        """Draw the noise of one report, shape (size,)."""

    def report(
        self, gradients: ExampleGradients, network: Network, block: int, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Return one block's report: what is released of its gradients, plus noise, in single precision.

        Parameters
        ----------
        gradients : ExampleGradients
            Of the block's examples, at the current parameters.
        network : Network
            The network they belong to.
        block : int
            Number of the block.
        rng : numpy.random.Generator
            The block's own randomness.

        Raises
        ------
        TypeError, ValueError
            If an argument is of another kind, or the gradients are not those of a block.
        """
        validation.instance(
            gradients, "gradients", ExampleGradients, remedy="as Network.gradients returns them"
        )
        validation.instance(network, "network", Network, remedy=NETWORK)
        block = validation.count(block, "block", at_least=0, at_most=self.blocks - 1)
        if not self.is_size(len(gradients)):
            raise ValueError(
                f"gradients must be of the {self.block_size} examples of one block, got {len(gradients)}"
            )
        noise = self.noise(network.size, block, values.generator(rng))
        return (self.release(gradients, network) + noise).astype(np.float32)


@dataclass(frozen=True)
class LaplaceNoise(BlockReports):
    """Blocks whose reports carry Laplace noise of scale 2C/(s eps0) in each coordinate.

    Parameters as for `LaplaceBlocks`.
    """

    eps0: Annotated[float, number(at_least=SMALLEST, at_most=700.0, remedy="a local budget in nats")]
    clip: Clip
    blocks: Count
    block_size: Count

    @property
    def calibrated_to(self) -> float:
        """The ℓ₁ distance 2C/s that the noise hides."""
        return 2.0 * self.clip / self.block_size

    @property
    def noise_scale(self) -> float:
        """Scale of the noise, 2C/(s eps0)."""
        return self.calibrated_to / self.eps0

    def noise(self, size: int, block: int, rng: np.random.Generator) -> Array:
        """Draw Laplace noise, independent in each coordinate."""
        return rng.laplace(0.0, self.noise_scale, size)


def scaled_down(vector, norm, bound):
    """Return the vector divided by max(1, norm / bound); zero if the norm is not finite."""
    return vector / max(1.0, norm / bound) if np.isfinite(norm) else np.zeros_like(vector)

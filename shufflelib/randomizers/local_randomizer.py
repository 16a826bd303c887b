r"""What a local randomizer is: an output law for every input, and what the shuffler makes of it.

A randomizer takes one user's value to one report.  Four things are asked of it: its published
variation-ratio parameters (p, β, q), its output law up to symmetry, its privacy blanket
:math:`w(y) \le \inf_x R_x(y)`, and the means to run it (``sample``, ``estimate``).
"""

from abc import ABC, abstractmethod

import numpy as np

from shufflelib.amplification import InputPair


class LocalRandomizer(ABC):
    """A randomizer that each user applies to one value before shuffling.

    Subclasses are frozen dataclasses whose fields are the mechanism's parameters; ``eps0`` is the
    local budget in nats (infinite where there is none).
    """

    eps0: float

    @property
    def p(self) -> float:
        """Published ratio bound: the largest R_x(y)/R_x'(y)."""
        return float(np.exp(self.eps0))

    @property
    @abstractmethod
    def beta(self) -> float:
        """Published total-variation bound β, as printed, even where it is loose or wrong."""

    @property
    def q(self) -> float:
        """Published ratio bound between the differing user's report and another user's."""
        return float(np.exp(self.eps0))

    @abstractmethod
    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return every pair of inputs, up to symmetry, that can be the worst one."""

    @abstractmethod
    def sample(self, x, rng):
        """Randomise the values ``x``, one report for each user, with the numpy Generator ``rng``."""

    @abstractmethod
    def estimate(self, reports):
        """Return the unbiased estimate of the population's statistic from all reports."""


class FiniteRandomizer(LocalRandomizer):
    """A randomizer whose outputs fall into finitely many classes with constant density ratios."""

    @abstractmethod
    def pmf(self) -> np.ndarray:
        """Return class masses, shape (inputs, classes).

        One row for each input up to symmetry: rows 0 and 1 are the worst pair (x0, x1), further
        rows are other inputs x* that the remaining users may hold; each row sums to 1.
        """

    @abstractmethod
    def blanket(self) -> np.ndarray:
        """Return the mass of the blanket, inf over all inputs, on the classes of `pmf`."""

    def input_pairs(self):
        """Return the worst pair of inputs, with every row of `pmf` as a candidate for the others."""
        return (InputPair.from_rows(self.pmf(), self.blanket()),)

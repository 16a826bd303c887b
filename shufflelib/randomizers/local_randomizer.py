r"""What a local randomizer is: an output law for every input, and what the shuffler makes of it.

A randomizer takes one user's value to one report.  Four things are asked of it: its published
variation-ratio parameters (p, β, q), its output law up to symmetry, its privacy blanket
:math:`w(y) \le \inf_x R_x(y)`, and the means to run it (``sample``, ``estimate``).
"""

from abc import ABC, abstractmethod

import numpy as np

from shufflelib.profiles.adjacency import ReplaceOne
from shufflelib.profiles.likelihood_ratios import InputPair

LARGEST_EXPONENT = 709.0  # exp overflows beyond


class LocalRandomizer(ABC):
    """A randomizer that each user applies to one value before shuffling.

    Subclasses are frozen dataclasses whose fields are the mechanism's parameters; ``eps0`` is the
    local budget in nats (infinite where there is none).

    Examples
    --------
    >>> from shufflelib import LocalRandomizer
    >>> mechanism = LocalRandomizer.from_pmf([[0.75, 0.25], [0.25, 0.75]])
    >>> round(mechanism.eps0, 3), mechanism.beta
    (1.099, 0.5)
    """

    eps0: float
    adjacency = ReplaceOne()  # which datasets of n values are neighbours
    hypotheses = ()  # what its guarantee assumes beyond what all shuffled reports do
    has_worst_pair = True  # a candidate pair is above all pairs of inputs, equal ones too, in convex order

    @staticmethod
    def from_pmf(matrix):
        r"""Build any finite randomizer from its table of probabilities, pure LDP or not.

        .. math:: R_x(y) = \text{matrix}[x, y], \qquad w(y) = \min_x R_x(y)

        Parameters
        ----------
        matrix : array_like, shape (inputs, outputs)
            Probabilities, one row for each of at least two inputs; zeros are welcome.  Rows sum to 1
            within 1e-9 and are divided by their sums.

        Returns
        -------
        Tabulated
            ``eps0``, ``p`` and ``q`` (largest ratio, infinite where a zero meets a positive entry),
            ``beta`` (largest total variation), ``pmf()``, ``blanket()``.  ``sample`` maps inputs (n,) to
            outputs (n,); ``estimate`` returns unbiased frequencies of the inputs.

        Raises
        ------
        TypeError, ValueError
            If ``matrix`` is no such table; in ``estimate`` if rows are linearly dependent.

        Notes
        -----
        The mechanism is taken to be the table.  Every entry is known up to 1e-14 relatively, and up to
        twice the largest distance of a row's sum from 1: that much is charged to both ends.  A table
        printed with few digits is another mechanism than the one it was printed from.

        The upper ends cover all pairs of inputs in both orders, the lower ends all inputs x* for up to 24
        triples of a pair and x*, else the 24 most promising.  Where no input reports an output, all
        but :math:`(R_0 - e^\varepsilon R_1)_+` of it is harmless.  Cost O(1) in n; a number costs some
        milliseconds for each pair and order.
        Source: Balle, Bell, Gascón, Nissim (CRYPTO 2019), Lemma 5.3; Su, Cheng, Wang (arXiv:2504.07414).

        Examples
        --------
        >>> from shufflelib import LocalRandomizer, shuffle
        >>> mechanism = LocalRandomizer.from_pmf([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
        >>> shuffle(mechanism, n=10_000).epsilon(1e-6).upper < 0.1
        True
        """
        from shufflelib.randomizers.tabulated import tabulated

        return tabulated(matrix)

    @staticmethod
    def from_density(cdf, *, inputs, edges, slope, survival=None, eps0=float("inf")):
        r"""Build any continuous randomizer from its distribution functions, with certified cells.

        .. math:: M_x = \text{cdf}(b, x) - \text{cdf}(a, x), \qquad
                  \Bigl|\frac{d}{dy} \log\frac{R_x(y)}{R_{x'}(y)}\Bigr| \le \text{slope} \text{ on } (a, b)

        Parameters
        ----------
        cdf : callable
            ``cdf(y, x)``: probability that the report for the input x is at most y, for an array of y;
            accurate to 1e-15 relatively.
        inputs : array_like, shape (k,)
            All values that users may hold, at least two numbers.
        edges : array_like, shape (cells + 1,)
            Rising ends of the cells; kinks and jumps of the densities belong among them, and the first and
            the last may be infinite.  Some hundreds are plenty.
        slope : float or array_like, shape (cells,)
            Bound on how fast the log-ratio of any two inputs' densities changes inside a cell; for one
            number that of all cells.  Infinite where there is none: those cells are exposed.
        survival : callable, optional
            ``survival(y, x)`` = 1 − cdf, accurate where it is small.  Without it the cells above the median
            whose mass is below 2e-6 are exposed, their digits being lost.
        eps0 : float, optional
            A local budget in nats known to hold; it caps the ratios in wide cells.

        Returns
        -------
        CutDensity
            ``eps0`` (given or proved by the cells, infinite where mass is exposed), ``beta`` (a lower end).
            ``sample`` maps values among ``inputs`` (n,) to floats (n,), inverting ``cdf``; ``estimate``
            returns unbiased frequencies of the inputs.

        Raises
        ------
        TypeError, ValueError
            If an argument is outside its domain, or the functions return no distribution functions.

        Notes
        -----
        A density seen at points certifies nothing; the masses of cells and a slope do.  Exposed mass,
        that outside the edges included, is added to δ.  Numbers hold for the inputs listed; further inputs
        may be held by other users only where their density is nowhere below the least of those listed.
        The error is of second order in slope times width, except in the few cells where two inputs compete
        for the least density, where it is of the first; cost of a number is proportional to the cells, O(1)
        in n.  Source: Balle, Bell, Gascón, Nissim (CRYPTO 2019), Lemma 5.3, for the blanket.

        Examples
        --------
        Half the noise is Laplace of scale 1, half of scale 4: a mechanism from no paper.

        >>> import numpy as np
        >>> from shufflelib import LocalRandomizer, shuffle
        >>> def cdf(y, x):
        ...     tail = (np.exp(-np.abs(y - x)) + np.exp(-np.abs(y - x) / 4.0)) / 4.0
        ...     return np.where(y < x, tail, 1.0 - tail)
        >>> edges = np.concatenate([[-np.inf], np.linspace(-8.0, 9.0, 137), [np.inf]])
        >>> mechanism = LocalRandomizer.from_density(
        ...     cdf, inputs=[0.0, 1.0], edges=edges, slope=2.0, survival=lambda y, x: cdf(-y, -x), eps0=1.0
        ... )
        >>> bracket = shuffle(mechanism, n=10_000).epsilon(1e-6)
        >>> 0.018 < bracket.lower < bracket.upper < 0.030
        True
        """
        from shufflelib.randomizers.cut_density import cut_density

        return cut_density(cdf, inputs=inputs, edges=edges, slope=slope, survival=survival, eps0=eps0)

    @property
    def p(self) -> float:
        """Published ratio bound: the largest R_x(y)/R_x'(y), infinite where no number holds it."""
        return float(np.exp(self.eps0)) if self.eps0 < LARGEST_EXPONENT else np.inf

    @property
    @abstractmethod
    def beta(self) -> float:
        """Published total-variation bound β, as printed, even where it is loose or wrong."""

    @property
    def q(self) -> float:
        """Published ratio bound between the differing user's report and another user's."""
        return float(np.exp(self.eps0)) if self.eps0 < LARGEST_EXPONENT else np.inf

    def local_renyi(self, order):
        """Return an upper end of the Rényi divergence of one report, which shuffling cannot raise."""
        return self.eps0

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
    """A randomizer whose outputs fall into finitely many classes with constant density ratios.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> mechanism = randomizers.generalized_rr(eps0=1.0, d=10)  # x0, x1, x* and all other options
    >>> mechanism.pmf().shape, round(float(mechanism.blanket().sum()), 3)
    ((3, 4), 0.853)
    """

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

r"""A randomizer given by its table of probabilities: any finite mechanism, pure LDP or not."""

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.optional import PATIENCE, progress
from shufflelib.numerics.types import Array
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios, once, united
from shufflelib.randomizers import candidate_pairs, values
from shufflelib.randomizers.local_randomizer import LARGEST_TABLE, BinaryLosses, FiniteRandomizer
from shufflelib.randomizers.written_tables import (
    COUNTS,
    refuse_labels_as_numbers,
    refuse_row_as_labels,
    transposed,
)

SUM_TOLERANCE = 1e-9
ROUNDING = 1e-14  # relative, of an entry and of a row's sum
LEAST_ENTRY = 1e-290  # ratios to smaller ones may be no floats
FULL_RANK = 1e-10  # smallest singular value against the largest


@dataclass(frozen=True, repr=False)
class from_pmf(FiniteRandomizer):
    r"""Build any finite randomizer from its table of probabilities, pure LDP or not.

    .. math:: R_x(y) = \text{matrix}[x, y], \qquad w(y) = \min_x R_x(y)

    Parameters
    ----------
    matrix : array_like, shape (inputs, outputs)
        Probabilities, one row for each of at least two inputs; zeros are welcome.  Rows sum to 1
        within 1e-9 and are divided by their sums.  A positive entry is at least 1e-290: smaller ones
        are no probabilities that floats can be trusted with, often the tail of a density that underflowed.

    Raises
    ------
    TypeError, ValueError
        If ``matrix`` is not such a table; in ``estimate`` if rows are linearly dependent.

    Notes
    -----
    ``eps0``, ``p`` and ``q`` (largest ratio, infinite where a zero meets a positive entry),
    ``beta`` (largest total variation), ``pmf()``, ``blanket()``.  ``sample`` maps inputs (n,) to
    outputs (n,); ``estimate`` returns unbiased frequencies of the inputs.

    The mechanism is taken to be the table.  The relative error of every entry is taken to be 1e-14 plus
    twice the largest distance of a row's sum from 1; both bounds of a bracket include it.  A table
    rounded to few digits is a different mechanism from the original.

    The upper bounds hold for all pairs of inputs in both orders.  The lower bounds use all triples of a pair
    and an input x* if there are up to 24, else the 24 most promising.  An output outside the blanket's
    support adds :math:`(R_0 - e^\varepsilon R_1)_+` only.

    Cost: O(1) in n.  Pairs that differ in the order of outputs alone count as one, so that a thousand inputs
    of a symmetric mechanism take seconds.  With d inputs and m outputs an ε takes about 5 + m/4 kB and
    2 + m/80 + dm/25000 ms for each pair that remains.  Refused with an estimate are pairs that take more than
    2 GB or more than ten minutes to compare; a table has at most 10 million entries.

    Source: Balle, Bell, Gascón, Nissim (CRYPTO 2019), Lemma 5.3; Su, Cheng, Wang (arXiv:2504.07414).

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.from_pmf([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    >>> shuffle(mechanism, n=10_000).epsilon(1e-6).upper < 0.1
    True
    """

    matrix: ArrayLike

    def __post_init__(self):
        if isinstance(self.matrix, str | bytes | os.PathLike):
            raise TypeError(
                f"matrix must be a table of numbers, got {validation.shown(self.matrix)}; "
                "read a file first: numpy.load for .npy, pandas.read_parquet for parquet, "
                "numpy.loadtxt(path, delimiter=',') for lines of numbers"
            )
        refuse_labels_as_numbers(self.matrix)
        refuse_row_as_labels(getattr(self.matrix, "column_names", getattr(self.matrix, "columns", ())))
        remedy = f"entries are probabilities; {COUNTS}"
        most = 1.0 + SUM_TOLERANCE
        matrix = validation.reals(self.matrix, "matrix", at_least=0.0, at_most=most, remedy=remedy)
        if matrix.ndim != 2 or matrix.shape[0] < 2:
            raise ValueError(
                "matrix must have shape (inputs, outputs) with at least two inputs, "
                f"got shape {matrix.shape}; one row for each input"
            )
        tiny = np.argwhere((matrix > 0.0) & (matrix < LEAST_ENTRY))
        if tiny.size:
            row, column = tiny[0].tolist()
            raise ValueError(
                f"matrix must have entries that are 0 or at least {LEAST_ENTRY:g}, got "
                f"{float(matrix[row, column])!r} in row {row}, column {column}; "
                "report so rare an output as one of the others: add its column to another one"
            )
        if matrix.size > LARGEST_TABLE:
            raise ValueError(
                f"matrix must have at most {LARGEST_TABLE:,} entries, got shape {matrix.shape}; merge "
                "outputs that all inputs report in the same proportion"
            )
        self._set("matrix", tuple(map(tuple, matrix.tolist())))
        wrong = np.abs(self._sums - 1.0)
        if wrong.max() > SUM_TOLERANCE:
            row = int(np.argmax(wrong))
            remedy = transposed(self.matrix) or "divide every row by its sum"
            raise ValueError(
                f"matrix must have rows that sum to 1 (within {SUM_TOLERANCE:g}), got the sum "
                f"{self._sums[row]:.12g} in row {row}; {remedy}"
            )

    has_worst_pair = False

    def __repr__(self):
        inputs, outputs = self._rows.shape
        return f"from_pmf({inputs} inputs, {outputs} outputs, eps0={self.eps0:.6g})"

    @cached_property
    def _sums(self):
        return np.array([math.fsum(row) for row in self.matrix])

    @cached_property
    def _rows(self):
        return np.array(self.matrix) / self._sums[:, None]

    @property
    def precision(self) -> float:
        """Relative error charged for every entry."""
        return ROUNDING + 2.0 * float(np.max(np.abs(self._sums - 1.0)))

    @cached_property
    def eps0(self) -> float:
        """Largest log-ratio of two rows, rounded up; infinite where a zero meets a positive entry."""
        return candidate_pairs.local_budget(self._rows, self.precision)

    @cached_property
    def beta(self) -> float:
        """Largest total variation between two rows."""
        return candidate_pairs.total_variation(self._rows)

    @cached_property
    def binary_losses(self) -> BinaryLosses | None:
        """Those of a table with two different outputs."""
        return candidate_pairs.binary_losses(np.array(self.matrix), self._rows, self.precision)

    def pmf(self) -> Array:
        """Return the table, shape (inputs, outputs), rows divided by their sums, in the order given."""
        return self._rows.copy()

    class_masses = pmf  # every output is a class of its own

    def blanket(self) -> Array:
        """Return the least of every column, shape (outputs,)."""
        return self._rows.min(axis=0)

    @cached_property
    def _pairs(self):
        rows, blanket, rest = self._rows, self.blanket(), {"single_outputs": True}
        pairs, distance = candidate_pairs.kinds(rows)
        attacks = candidate_pairs.promising_attacks(rows, pairs, precision=self.precision, **rest)
        precision = self.precision + 3.0 * distance  # of a ratio of entries
        cost = candidate_pairs.cost(len(pairs), *rows.shape)
        references = united(
            LikelihoodRatios.from_masses(rows[i], rows[j], blanket, precision=precision, **rest)
            for i, j in progress(pairs, desc=f"{len(pairs):,} pairs, {cost}", delay=PATIENCE)
        )
        kept = once(references)
        return tuple(InputPair(reference, attacks[pairs[place]]) for place, reference in kept.items())

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return all pairs of inputs with different likelihood ratios, and the most promising attacks.

        A pair without an attack among those repeats the most promising one of all.
        """
        return self._pairs

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report outputs in 0, …, outputs − 1, shape (n,), for inputs in 0, …, inputs − 1."""
        x, rng = values.items(x, "x", len(self._rows)), values.generator(rng)
        reports = np.empty(x.size, dtype=np.int64)
        for item in np.unique(x):
            held = x == item
            reports[held] = rng.choice(self._rows.shape[1], size=int(held.sum()), p=self._rows[item])
        return reports

    def estimate(self, reports: ArrayLike, *, n: int | None = None) -> Array:
        """Return unbiased frequencies of the inputs, shape (inputs,), by least squares.

        As many reports as there are outputs need ``n``, the number of users, to be no counts.
        """
        outputs = self._rows.shape[1]
        reports = values.items(reports, "reports", outputs)
        found = frequencies(self._rows, np.bincount(reports, minlength=outputs) / reports.size)
        values.no_counts(reports, {outputs}, n)
        return found


def frequencies(rows, observed):
    r"""Return :math:`\hat f` with :math:`\hat f R = \text{observed}` by the pseudo-inverse.

    Unbiased where the rows are linearly independent; raises ValueError where they are not.
    """
    found, _, rank, _ = np.linalg.lstsq(rows.T, observed, rcond=FULL_RANK)
    if rank < rows.shape[0]:
        raise ValueError(
            f"estimate needs linearly independent rows, got {rows.shape[0]} inputs whose distributions "
            "are mixtures of each other; the reports do not determine the frequencies"
        )
    return found

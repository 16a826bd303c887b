"""The mechanisms that the page offers, and nothing else that a link may name."""

import functools
from collections.abc import Callable
from typing import NamedTuple

from shufflelib import randomizers
from shufflelib.randomizers.written_tables import read_table


class Mechanism(NamedTuple):
    """A constructor of a randomizer, its name in the menu, and the controls that it takes."""

    text: str
    build: Callable
    parameters: tuple = ("eps0",)


@functools.lru_cache(maxsize=256)
def tabulated(matrix):
    r"""Return the randomizer of a matrix; where it is one line of text, semicolons separate its rows.

    Examples
    --------
    >>> from shufflelib.explorer.mechanisms import tabulated
    >>> tabulated("0.75, 0.25; 0.25, 0.75") == tabulated("0.75; 0.25\n0.25; 0.75")
    True
    """
    return randomizers.from_pmf(_written(matrix).rows)


def skipped_lines(matrix):
    r"""Return the lines of a matrix that are no rows, with their numbers; empty if there are none.

    Examples
    --------
    >>> from shufflelib.explorer.mechanisms import skipped_lines
    >>> skipped_lines("yes;no\n0.75;0.25\n0.25;0.75"), skipped_lines("0.75,0.25;0.25,0.75")
    ("line 1: 'yes;no'", '')
    """
    return _written(matrix).skipped


def _written(matrix):
    one_line = len(matrix.strip().splitlines()) == 1
    return read_table(matrix.replace(";", "\n") if one_line else matrix)


@functools.lru_cache(maxsize=256)
def on_one_line(matrix):
    """Write a matrix as a link holds it: commas between numbers, semicolons between rows."""
    return ";".join(",".join(f"{one}" for one in row) for row in tabulated(matrix).matrix)


ON_ITEMS = ("eps0", "d")  # frequencies of items can be estimated from the reports
MECHANISMS = {
    "generalized_rr": Mechanism("Randomized response, d options", randomizers.generalized_rr, ON_ITEMS),
    "binary_rr": Mechanism("Binary randomized response", randomizers.binary_rr),
    "rappor": Mechanism("RAPPOR: d bits, each flipped", randomizers.rappor, ON_ITEMS),
    "optimized_unary": Mechanism("Optimized unary encoding", randomizers.optimized_unary, ON_ITEMS),
    "subset": Mechanism("Subset selection, d options", randomizers.subset, ON_ITEMS),
    "local_hash": Mechanism("Local hashing of d options", randomizers.local_hash, ON_ITEMS),
    "hadamard": Mechanism("Hadamard response, d options", randomizers.hadamard, ON_ITEMS),
    "duchi": Mechanism("Duchi: number in [-1, 1] to a bit", randomizers.duchi),
    "piecewise": Mechanism("Piecewise: number in [-1, 1]", randomizers.piecewise),
    "laplace": Mechanism("Laplace noise, number in [0, 1]", randomizers.laplace),
    "gaussian": Mechanism("Gaussian noise, number in [0, 1]", randomizers.gaussian, ("sigma",)),
    "from_pmf": Mechanism("Your own matrix", tabulated, ("matrix",)),
    "generic": Mechanism("Every ε₀-LDP randomizer at once", randomizers.generic),
}

"""The mechanisms that the page offers, and nothing else that a link may name."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from shufflelib import randomizers
from shufflelib.randomizers.by_name import read_matrix


@dataclass(frozen=True)
class Mechanism:
    """A constructor of a randomizer and the controls that it takes.

    Parameters
    ----------
    text : str
        As in the menu.
    build : callable
        Takes the parameters by name.
    parameters : tuple of str
        Names of fields of a `Setting`.
    histogram : bool
        Whether frequencies of items can be estimated from the reports.
    """

    text: str
    build: Callable
    parameters: tuple = ("eps0",)
    histogram: bool = False


@functools.lru_cache(maxsize=256)
def tabulated(matrix):
    r"""Return the randomizer of a matrix; where it is one line of text, semicolons separate its rows.

    Examples
    --------
    >>> from shufflelib.explorer.mechanisms import tabulated
    >>> tabulated("0.75, 0.25; 0.25, 0.75") == tabulated("0.75; 0.25\n0.25; 0.75")
    True
    """
    one_line = len(matrix.strip().splitlines()) == 1
    return read_matrix(matrix.replace(";", "\n") if one_line else matrix)


@functools.lru_cache(maxsize=256)
def on_one_line(matrix):
    """Write a matrix as a link holds it: commas between numbers, semicolons between rows."""
    return ";".join(",".join(f"{one}" for one in row) for row in tabulated(matrix).matrix)


def _items(text, build):
    return Mechanism(text, build, ("eps0", "d"), histogram=True)


MECHANISMS = {
    "generalized_rr": _items("Randomized response, d options", randomizers.generalized_rr),
    "binary_rr": Mechanism("Binary randomized response", randomizers.binary_rr),
    "rappor": _items("RAPPOR: d bits, each flipped", randomizers.rappor),
    "optimized_unary": _items("Optimized unary encoding", randomizers.optimized_unary),
    "subset": _items("Subset selection, d options", randomizers.subset),
    "local_hash": _items("Local hashing of d options", randomizers.local_hash),
    "hadamard": _items("Hadamard response, d options", randomizers.hadamard),
    "duchi": Mechanism("Duchi: number in [-1, 1] to a bit", randomizers.duchi),
    "piecewise": Mechanism("Piecewise: number in [-1, 1]", randomizers.piecewise),
    "laplace": Mechanism("Laplace noise, number in [0, 1]", randomizers.laplace),
    "gaussian": Mechanism("Gaussian noise, number in [0, 1]", randomizers.gaussian, ("sigma",)),
    "from_pmf": Mechanism("Your own matrix", tabulated, ("matrix",)),
    "generic": Mechanism("Every ε₀-LDP randomizer at once", randomizers.generic),
}

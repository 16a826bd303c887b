"""The mechanisms that the page offers, and nothing else that a link may name."""

from collections.abc import Callable
from dataclasses import dataclass

from shufflelib import randomizers


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

    @property
    def has_budget(self):
        """Whether the mechanism is ε₀-LDP for a finite ε₀."""
        return "eps0" in self.parameters


def _items(text, build):
    return Mechanism(text, build, ("eps0", "d"), histogram=True)


MECHANISMS = {
    "generalized_rr": _items("Randomized response on d options", randomizers.generalized_rr),
    "binary_rr": Mechanism("Binary randomized response", randomizers.binary_rr),
    "rappor": _items("RAPPOR: d bits, each flipped", randomizers.rappor),
    "optimized_unary": _items("Optimized unary encoding of d options", randomizers.optimized_unary),
    "subset": _items("Subset selection among d options", randomizers.subset),
    "local_hash": _items("Local hashing of d options", randomizers.local_hash),
    "hadamard": _items("Hadamard response on d options", randomizers.hadamard),
    "duchi": Mechanism("Duchi: a number in [-1, 1] to one of two", randomizers.duchi),
    "piecewise": Mechanism("Piecewise: a number in [-1, 1]", randomizers.piecewise),
    "laplace": Mechanism("Laplace noise on a number in [0, 1]", randomizers.laplace),
    "gaussian": Mechanism("Gaussian noise on a number in [0, 1]", randomizers.gaussian, ("sigma",)),
    "generic": Mechanism("Every ε₀-LDP randomizer at once", randomizers.generic),
}

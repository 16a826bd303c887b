"""Randomizers by the names that people type: ``generalized-rr`` for `generalized_rr`."""

import functools
import inspect

from shufflelib import randomizers
from shufflelib.randomizers.local_randomizer import LocalRandomizer

OTHERS = {"cdf", "matrix", "randomizer", "randomizers"}  # parameters that are not numeric


@functools.cache
def constructors():
    """Return the constructor of every randomizer with numeric parameters only, by its hyphenated name."""
    built = {name.replace("_", "-"): getattr(randomizers, name) for name in randomizers.__all__}
    return {
        name: build
        for name, build in built.items()
        if issubclass(build, LocalRandomizer) and not OTHERS & set(parameters(build))
    }


def parameters(build):
    """Return the parameters of a constructor's signature by name."""
    return inspect.signature(build).parameters


def required(build):
    """Return the names of a constructor's required parameters."""
    return [name for name, one in parameters(build).items() if one.default is inspect.Parameter.empty]

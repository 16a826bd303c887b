"""Randomizers by the names that people type: ``generalized-rr`` for `generalized_rr`."""

import functools
import inspect

from shufflelib import randomizers

# several messages have a shuffler of their own
MULTI_MESSAGE = {"balcer_binary", "balcer_uniform", "balls_into_bins", "cheu_zhilyaev", "mix_dump"}
OTHERS = {"cdf", "matrix", "randomizer", "randomizers"}  # parameters that are no numbers


@functools.cache
def constructors():
    """Return the constructor of every randomizer that is made from numbers alone, by its name in words."""
    built = {
        name.replace("_", "-"): getattr(randomizers, name)
        for name in randomizers.__all__
        if name not in MULTI_MESSAGE
    }
    return {name: build for name, build in built.items() if not OTHERS & set(parameters(build))}


def parameters(build):
    """Return what a constructor takes: its signature's parameters by name."""
    return inspect.signature(build).parameters


def required(build):
    """Return the names of the parameters that a constructor cannot do without."""
    return [name for name, one in parameters(build).items() if one.default is inspect.Parameter.empty]

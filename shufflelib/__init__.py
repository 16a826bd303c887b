"""Privacy amplification by shuffling: privacy certified from both sides, and the published bounds.

>>> from shufflelib import shuffle, randomizers
>>> bracket = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000).epsilon(delta=1e-6)
>>> round(bracket.lower, 4), round(bracket.upper, 4)
(0.0801, 0.0802)
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shufflelib import (
        calibration,
        estimation,
        interop,
        profiles,
        published,
        randomizers,
        registry,
        sgd,
        shuffling,
        sweeps,
    )
    from shufflelib.calibration.recommendation import recommend
    from shufflelib.numerics.certified import Certified, Status
    from shufflelib.randomizers.local_randomizer import LocalRandomizer
    from shufflelib.registry.writing import record
    from shufflelib.shuffling.aggregated import aggregate
    from shufflelib.shuffling.shuffled import shuffle

    __version__: str

__all__ = [
    "Certified",
    "LocalRandomizer",
    "Status",
    "aggregate",
    "calibration",
    "estimation",
    "interop",
    "profiles",
    "published",
    "randomizers",
    "recommend",
    "record",
    "registry",
    "sgd",
    "shuffle",
    "shuffling",
    "sweeps",
]

_HOME = {
    "Certified": "numerics.certified",
    "LocalRandomizer": "randomizers.local_randomizer",
    "Status": "numerics.certified",
    "aggregate": "shuffling.aggregated",
    "recommend": "calibration.recommendation",
    "record": "registry.writing",
    "shuffle": "shuffling.shuffled",
}


if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name):
        """Load a public name on first use, so that the import itself costs nothing."""
        if name == "__version__":
            return importlib.import_module("importlib.metadata").version("shufflelib")
        if name not in __all__:
            near = importlib.import_module("shufflelib.numerics.validation").suggestion(name, __all__)
            raise AttributeError(f"module 'shufflelib' has no attribute {name!r}{near}")
        module = importlib.import_module(f"shufflelib.{_HOME.get(name, name)}")
        return getattr(module, name) if name in _HOME else module


def __dir__():
    return [*__all__, "__version__"]

"""The types that public signatures share.

`T` is what a `Certified` holds and what a formula takes and returns: a number, or an array of numbers.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating[Any]]  # of any precision
Integers: TypeAlias = NDArray[np.integer[Any]]
Reals: TypeAlias = Sequence[float] | Array
T = TypeVar("T", float, Array)

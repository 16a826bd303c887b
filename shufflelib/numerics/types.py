"""The types that public signatures share: a number where a number is given, an array where an array is.

`T` is what a `Certified` holds.  `Reals` is what is read as an array: lists, rows of lists, arrays.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = Sequence[float] | Sequence[Sequence[float]] | NDArray[np.floating[Any] | np.integer[Any]]
T = TypeVar("T", float, Array)

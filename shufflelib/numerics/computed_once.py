"""What an object computes when first asked and then keeps."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any, TypeVar

V = TypeVar("V", covariant=True)


class cached_property(functools.cached_property[V]):  # noqa: TID251
    """As in functools since Python 3.12: no lock, so threads that compute at once each use their own value.

    In Python 3.11 a child that is forked while another thread computes would wait for its lock for ever.
    """

    def __init__(self, func: Callable[[Any], V]) -> None:
        super().__init__(func)
        self.lock = contextlib.nullcontext()

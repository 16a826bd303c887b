"""What an object computes when first asked and then keeps."""

import functools
from typing import Any, Self, TypeVar, overload

V = TypeVar("V", covariant=True)


class cached_property(functools.cached_property[V]):  # noqa: TID251
    """As in functools, but without a lock, and threads that compute at once keep the same value.

    In Python 3.11 a child that is forked while another thread computes would wait for its lock for ever;
    later the value that one thread has may be replaced by that of another.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> V: ...

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        found = self.func(instance)
        return vars(instance).setdefault(self.attrname, found)

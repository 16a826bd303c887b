"""Validation of users' values and of reports: one row for each user, errors that name the argument."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers


def _shaped(array, name, columns):
    wanted = "(n,)" if columns is None else f"(n, {columns})"
    if array.ndim != (1 if columns is None else 2) or (columns is not None and array.shape[1] != columns):
        raise ValueError(f"{name} must have shape {wanted}, one row for each user, got shape {array.shape}")
    return array


def numbers(values, name, *, columns=None, **domain) -> Array:
    """Return a float array of shape (n,) or (n, columns), its entries in the domain of `validation.reals`."""
    return _shaped(validation.reals(values, name, **domain), name, columns)


def whole(values, name, *, columns=None, at_least, at_most) -> Integers:
    """Return an integer array of shape (n,), or (n, columns), with entries in [at_least, at_most]."""
    array = numbers(values, name, columns=columns, at_least=at_least, at_most=at_most)
    fractional = array != np.floor(array)
    if fractional.any():
        raise ValueError(f"{name} must hold whole numbers, got {float(array[fractional][0])!r}; round first")
    return array.astype(np.int64)


def items(values, name, d) -> Integers:
    """Return one item in 0, ..., d-1 for each user, shape (n,)."""
    return whole(values, name, at_least=0, at_most=d - 1)


def no_counts(reports, outputs, n) -> Integers:
    """Return reports, one for each of the n users; without n, as many as there are outputs may be counts."""
    if n is None and reports.size in outputs:
        raise ValueError(
            f"reports has {reports.size} entries, as many as counts of reports would have; repeat each "
            f"report as often as it was sent, or pass n={reports.size} if so many users sent one each"
        )
    one_each(reports, n)
    return reports


def one_each(reports, n) -> int:
    """Return how many reports there are, which is n if that is given."""
    if n is not None and len(reports) != validation.users(n):
        raise ValueError(f"reports must hold n = {n:,} reports, one for each user, got {len(reports):,}")
    return len(reports)


def item_sets(values, name, d, s) -> Integers:
    """Return s distinct items in 0, ..., d-1 for each user, shape (n, s), each row ascending."""
    ascending = np.sort(whole(values, name, columns=s, at_least=0, at_most=d - 1), axis=1)
    repeated = (np.diff(ascending, axis=1) == 0).any(axis=1)
    if repeated.any():
        row = ascending[repeated][0].tolist()
        raise ValueError(f"{name} must hold {s} distinct items in each row, got {row}; remove the repetition")
    return ascending


def key_values(values, name, d, s) -> tuple[Integers, Array]:
    """Return the pair (keys, values), both of shape (n, s): distinct keys, values in [-1, 1]."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise TypeError(f"{name} must be a tuple (keys, values) of two arrays, got {type(values).__name__}")
    keys = whole(values[0], f"{name}[0] (keys)", columns=s, at_least=0, at_most=d - 1)
    held = numbers(values[1], f"{name}[1] (values)", columns=s, at_least=-1.0, at_most=1.0)
    if keys.shape != held.shape:
        raise ValueError(f"{name} must hold one value for each key, got shapes {keys.shape} and {held.shape}")
    item_sets(keys, f"{name}[0] (keys)", d, s)
    return keys, held


def tagged_signs(reports, d, signs) -> Integers:
    """Return reports as rows (key, sign), shape (n, 2): a key in 0, ..., d-1 and one of ``signs``."""
    reports = whole(reports, "reports", columns=2, at_least=-1, at_most=max(d - 1, 1))
    items(reports[:, 0], "reports[:, 0] (keys)", d)
    if not np.isin(reports[:, 1], signs).all():
        wrong = reports[~np.isin(reports[:, 1], signs)][0].tolist()
        raise ValueError(f"reports must hold signs in {signs} in the second column, got the row {wrong}")
    return reports


def hashed(reports, dtype) -> NDArray[Any]:
    """Return reports that carry their hash's seed: a structured array (seed, value) of shape (n,)."""
    if not isinstance(reports, np.ndarray) or reports.dtype != dtype:
        raise TypeError(
            "reports must be the structured array (seed, value) that sample returns, "
            f"got {type(reports).__name__}; a value without its seed cannot be decoded"
        )
    if reports.size == 0:
        raise ValueError("reports must not be empty; pass at least one report")
    return _shaped(reports, "reports", None)


def generator(rng) -> np.random.Generator:
    """Return ``rng`` if it is a numpy Generator."""
    return validation.instance(rng, "rng", np.random.Generator, remedy="pass numpy.random.default_rng(seed)")

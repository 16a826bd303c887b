"""Items of users: one for each, the number of users who hold each, or sets of up to s, filled up."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers
from shufflelib.randomizers import values

MOST_USERS = 5 * 10**8  # numpy draws hypergeometric samples below 10**9


def one_item_each(data, *, n, d):
    """Return the items, 0 to d − 1, that n users hold, shape (n,)."""
    items = values.items(data, "data", d)
    if items.size != n:
        raise ValueError(f"data must hold one item for each of {n} users, got {items.size}")
    return items


def holders(counts, *, d):
    """Return how many users hold each of d items, shape (d,), and how many there are in all."""
    counts = values.whole(counts, "counts", at_least=0, at_most=MOST_USERS)
    if counts.size != d:
        raise ValueError(f"counts must hold one number for each of {d} items, got {counts.size} numbers")
    return counts, validation.count(counts.sum(), "counts (their sum)", at_least=1, at_most=MOST_USERS)


def padded(sets: Iterable[Any], *, d: int, s: int) -> Integers:
    """Return every user's set of up to s items, filled up to exactly s with dummy items.

    Parameters
    ----------
    sets : iterable
        Distinct items in 0, ..., d-1 of each user, at most s of them, possibly none.
    d : int
        Number of items.
    s : int
        Most items of a user.

    Returns
    -------
    numpy.ndarray, shape (n, s)
        Sets of s of d + s items: a user who holds s - r items gets the r dummies d, ..., d+r-1.

    Raises
    ------
    TypeError, ValueError
        If an item is outside its domain or repeated, or a user holds more than s.

    Notes
    -----
    A mechanism for sets of s of d + s items then hides how many items a user holds too.  Of its d + s
    estimates, that of item d + j is the share of users who hold fewer than s - j items.
    A user of more than s items must drop some, for example at random, and the estimates are then of what is
    left.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.padded([[3, 1], [0], []], d=4, s=2).tolist()
    [[3, 1], [0, 4], [4, 5]]
    """
    d, s = validation.count(d, "d", at_least=2), validation.count(s, "s", at_most=d)
    held = [np.asarray(items) for items in sets]
    if not held:
        raise ValueError("sets must not be empty; pass one set for each user")
    sizes = np.array([items.size for items in held])
    filled = np.full((sizes.size, max(s, sizes.max())), -1)
    there = np.arange(filled.shape[1]) < sizes[:, None]
    if there.any():
        filled[there] = values.whole(
            np.concatenate([items for items in held if items.size]), "sets", at_least=0, at_most=d - 1
        )
    ascending = np.sort(filled, axis=1)
    repeated = ((np.diff(ascending, axis=1) == 0) & (ascending[:, 1:] >= 0)).any(axis=1)
    if (wrong := repeated | (sizes > s)).any():
        user = int(np.argmax(wrong))
        raise ValueError(
            f"sets must hold at most s = {s} distinct items for each user, got {held[user].tolist()} for "
            f"user {user}; drop items at random, or use a larger s"
        )
    dummies = d + np.arange(s) - sizes[:, None]
    return np.where(there, filled, dummies)


def padded_pairs(
    keys: Iterable[Any], values_of_keys: Iterable[Any], *, d: int, s: int
) -> tuple[Integers, Array]:
    """Return every user's up to s key-value pairs, filled up to exactly s with dummy keys of value 0.

    Parameters
    ----------
    keys : iterable
        Distinct keys in 0, ..., d-1 of each user, at most s of them, possibly none.
    values_of_keys : iterable
        One number in [-1, 1] for each key of each user.
    d, s : int
        Number of keys, and most keys of a user.

    Returns
    -------
    tuple of numpy.ndarray, both of shape (n, s)
        Keys as `padded` returns them, and values.

    Raises
    ------
    TypeError, ValueError
        As for `padded`; if there is not one number for each key, or one is outside its domain.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> keys, held = estimation.padded_pairs([[3, 1], [0]], [[0.5, -1.0], [0.25]], d=4, s=2)
    >>> keys.tolist(), held.tolist()
    ([[3, 1], [0, 4]], [[0.5, -1.0], [0.25, 0.0]])
    """
    keys, numbers = list(keys), list(values_of_keys)
    if [len(held) for held in keys] != [len(held) for held in numbers]:
        raise ValueError("values_of_keys must hold one number for each key of each user; give both alike")
    filled = padded(keys, d=d, s=s)
    held = np.zeros(filled.shape)
    there = filled < d
    if there.any():
        given = np.concatenate([np.asarray(one, float) for one in numbers])
        held[there] = values.numbers(given, "values_of_keys", at_least=-1.0, at_most=1.0)
    return filled, held

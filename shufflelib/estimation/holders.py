"""Validation of items: one item for each user, or the number of users who hold each."""

from shufflelib.numerics import validation
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

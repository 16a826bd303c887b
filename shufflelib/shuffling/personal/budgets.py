"""Validation of personal budgets: one-dimensional arrays, one entry for each of at least two users."""

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.randomizers import values


def personal(eps0) -> Array:
    """Return local budgets as a float array of shape (n,), n ≥ 2, entries from 0 to 700 nats."""
    eps0 = values.numbers(
        eps0, "eps0", at_least=0.0, at_most=700.0, remedy="local budgets are in nats, from 0 to 700"
    )
    if eps0.size < 2:
        raise ValueError("eps0 must hold at least 2 budgets, one for each user, got 1")
    return eps0


def failures(delta0, eps0) -> Array:
    """Return local δ₀, one for each entry of ``eps0``; a scalar holds for all."""
    delta0 = validation.reals(delta0, "delta0", at_least=0.0, below=1.0, remedy="a local δ is in [0, 1)")
    if delta0.ndim and delta0.shape != eps0.shape:
        raise ValueError(
            f"delta0 must be a number or have the shape of eps0, {eps0.shape}, got shape {delta0.shape}"
        )
    return np.broadcast_to(delta0, eps0.shape)

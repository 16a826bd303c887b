r"""The pair (P₀, Q₀) of `clones` as a list of atoms (a, b), from either side.

An atom has its mass from a count C of clones and a count A among them, and its loss from the ratio a/b
alone.  Few atoms are listed one by one; many are grouped in cells of the ratio.  Mass more than
`REACH` standard deviations out is truncated, and charged to the safe side.
"""

import itertools
import math

import numpy as np

from shufflelib.numerics.logspace import UNIT, binomial_pmf_error, log_binomial_pmf
from shufflelib.profiles.pairs import DiscretePair

REACH = 9.0  # standard deviations kept of C and of A given C
BLOCK = 64  # values of C treated together
CELLS = 40_000  # cells of equal width in (a − b)/(a + b)


def swap(eps0):
    """Return w = 1/(e^ε₀ + 1)."""
    return 1.0 / (math.exp(eps0) + 1.0)


def log_clones(c, n, eps0):
    """Return log P(C = c), from the rarer of clones and others, so that neither rate is a difference."""
    if n == 1:
        return np.zeros(c.size)
    if eps0 > 1.0:
        return log_binomial_pmf(c, n - 1, 2.0 / (math.exp(eps0) + 1.0))
    return log_binomial_pmf(n - 1 - c, n - 1, math.tanh(0.5 * eps0))


def _window(count, rate):
    """Return the first and last value kept of a binomial distribution, and a bound on the mass beyond."""
    spread = REACH * (math.sqrt(count * rate * (1.0 - rate)) + REACH / 3.0 + 1.0)
    first, last = max(0, math.floor(count * rate - spread)), min(count, math.ceil(count * rate + spread))
    return first, last, (0.0 if first == 0 and last == count else 2.0 * math.exp(-0.5 * REACH**2))


def _left_out(n, eps0):
    """Return a bound on the mass beyond the windows, under P₀ and under Q₀."""
    first, last, beyond = _window(n - 1, 2.0 * swap(eps0))
    return beyond + (0.0 if _window(last, 0.5)[2] == 0.0 else 2.0 * math.exp(-0.5 * REACH**2))


def count(n, eps0):
    """Return about how many atoms there are to list."""
    first, last, _ = _window(n - 1, 2.0 * swap(eps0))
    low, high, _ = _window(last, 0.5)
    return (last - first + 1) * (high - low + 1)


def _error(n):
    """Relative error of a mass: two binomial masses, w rounded."""
    return 2.0 * float(binomial_pmf_error(5.0 * REACH**2)) + 32 * UNIT * (1.0 + REACH * math.sqrt(n))


def _blocks(n, eps0):
    """Yield a, b, log p₀ for blocks of values of C."""
    first, last, _ = _window(n - 1, 2.0 * swap(eps0))
    for start in range(first, last + 1, BLOCK):
        c = np.arange(start, min(start + BLOCK, last + 1))
        weight = log_clones(c, n, eps0)
        low, _, _ = _window(int(c[0]), 0.5)
        _, high, _ = _window(int(c[-1]), 0.5)
        heads = np.arange(low, high + 1)
        a, total = np.meshgrid(heads, c)
        log_mass = weight[:, None] + log_binomial_pmf(a, total, 0.5)
        inside = a <= total
        yield a[inside] + 1.0, (total - a)[inside].astype(float), log_mass[inside]


def listed(n, eps0):
    """Return pairs below and above, every atom listed; one pair if no mass is truncated."""
    a, b, log_mass = (np.concatenate(part) for part in zip(*_blocks(n, eps0), strict=True))
    # (a, b) has mass p₀ = pmf(a − 1 of a + b − 1) and q₀ = pmf(a), q₀ / p₀ = b / a
    with np.errstate(divide="ignore"):
        loss = np.log(a) - np.log(b)
    every_b = b == 0.0
    log_p = np.concatenate([log_mass, np.full(int(every_b.sum()), -np.inf)])
    log_q = np.concatenate([log_mass - loss, log_mass[every_b]])  # its mirror (0, c + 1) under Q₀ alone
    loss = np.concatenate([loss, np.full(int(every_b.sum()), -np.inf)])
    finite = np.where(np.isfinite(loss), np.abs(loss), 0.0)
    error = _error(n) + 4 * UNIT * np.abs(np.where(np.isfinite(log_p), log_p, 0.0))
    pair = DiscretePair.from_losses(
        log_p, log_q, loss, mass_error=error + 4 * UNIT * finite, loss_error=4 * UNIT * (1.0 + finite)
    )
    return _with_left_out(pair, pair, n, eps0)


def _coins(first, count, low, high):
    """Return P(Bin(m, 1/2) = a), a = low … high, a row for each m = first … first + count − 1."""
    rows = np.empty((count, high - low + count))
    rows[0] = np.exp(log_binomial_pmf(np.arange(low + 1 - count, high + 1), first, 0.5))
    for previous, row in itertools.pairwise(rows):  # Pascal's rule
        row[0] = 0.0  # wrong, and one column more in each row: none of them is returned
        np.add(previous[1:], previous[:-1], out=row[1:])
        row *= 0.5
    return rows[:, count - 1 :]


def gathered(n, eps0):
    r"""Return pairs below and above, atoms grouped in cells of y = (a − b)/(a + b).

    The mean of both distributions has mass r = P(C = c) Bin(c + 1, 1/2)(a) at (a, b), the distributions have
    r(1 ± y).  So a mean-preserving split moves an atom to the two edges of its cell and keeps both of its
    masses.  The distribution of y is symmetric: one half of the cells mirrors the other.  It requires so
    many clones that |y| stays away from 1.
    """
    first, last, _ = _window(n - 1, 2.0 * swap(eps0))
    highest = {c: _window(c, 0.5)[1] + 1 for c in range(first, last + 1)}
    reach = max((2.0 * a - c - 1.0) / (c + 1.0) for c, a in highest.items())
    half = CELLS // 2
    near, far = np.zeros(half), np.zeros(half)
    for start in range(first, last + 1, BLOCK):
        c = np.arange(start, min(start + BLOCK, last + 1))
        low, high = (start + 1) // 2, highest[int(c[-1])]
        mass = _coins(start + 1, c.size, low, high) * np.exp(log_clones(c, n, eps0))[:, None]
        excess = 2.0 * np.arange(low, high + 1) - (c[:, None] + 1.0)  # a − b
        mass *= np.heaviside(excess, 0.5)
        # y over the width of a cell, slightly less: the mass beyond the last cell was truncated anyway
        place = np.abs(excess) * (half * (1.0 - 8 * UNIT) / (reach * (c + 1.0)))[:, None]
        cell = place.astype(np.intp)
        share = mass * (place - cell)
        far += np.bincount(cell.ravel(), share.ravel(), half)[:half]
        near += np.bincount(cell.ravel(), (mass - share).ravel(), half)[:half]
    width, pooled = reach / half, near + far
    added = (last - first + 1) * (2.0 + width * last)  # terms of one cell's sum, at most
    error = _error(n) + UNIT * (BLOCK + added)
    inner = np.divide(far, pooled, out=np.zeros(half), where=pooled > 0.0)
    mean = width * (np.arange(half) + inner)
    edges, spread = width * np.arange(half + 1), np.append(near, 0.0) + np.append(0.0, far)
    rounding = 32 * UNIT / (1.0 - reach)
    below = _mirrored(spread, edges, mass_error=error + rounding, loss_error=rounding)
    # an error of the masses moves a mean within its cell
    moved = rounding + 8.0 * error * width / (1.0 - reach)
    above = _mirrored(pooled, mean, mass_error=error + moved, loss_error=moved)
    return _with_left_out(below, above, n, eps0)


def _mirrored(mass, y, *, mass_error, loss_error):
    """Return the pair with masses ``mass`` (1 ± y) at y and at −y."""
    log_mass, y = np.log(mass[mass > 0.0]), y[mass > 0.0]
    toward, away = log_mass + np.log1p(y), log_mass + np.log1p(-y)
    loss, error = np.log1p(y) - np.log1p(-y), mass_error + 4 * UNIT * np.abs(log_mass)
    return DiscretePair.from_losses(
        np.append(toward, away),
        np.append(away, toward),
        np.append(loss, -loss),
        mass_error=np.append(error, error),
        loss_error=loss_error,
    )


def _with_left_out(below, above, n, eps0):
    """Return the pairs with the truncated mass: perfectly distinguishable, or not at all."""
    mass = _left_out(n, eps0)  # a bound: its surplus, 1e-17, is far below what every knot is moved by
    if mass == 0.0:
        return below, above
    log_mass = math.log(mass)
    return (
        _with_atoms(below, [log_mass, -math.inf], [-math.inf, log_mass], [math.inf, -math.inf]),
        _with_atoms(above, [log_mass], [log_mass], [0.0]),
    )


def _with_atoms(pair, log_p, log_q, loss):
    none = np.zeros(len(loss))
    return DiscretePair.from_losses(
        np.append(pair.log_p, log_p),
        np.append(pair.log_q, log_q),
        np.append(pair.loss, loss),
        mass_error=np.append(pair.mass_error, none),
        loss_error=np.append(pair.loss_error, none),
    )

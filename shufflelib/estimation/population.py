"""Synthetic populations: groups of users with budgets, clipped normal values, bits, Zipf counts.

The defaults are those of Chen, Cao, Ge, "A Generalized Shuffle Framework" (AAAI 2024), where printed.
"""

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import NO_SQUARE
from shufflelib.numerics.types import Array, Integers
from shufflelib.randomizers import values

SHARES = (0.54, 0.37, 0.09)  # conservative, moderate, liberal: Acquisti and Grossklags 2005, in that paper
BUDGETS = (0.1, 0.5, 1.0)
MOST_ITEMS = 10**7
ROUNDING = 1e-9  # shares such as 1 - 0.09 - 0.5 must add up to 1


def apportion(shares: ArrayLike, n: int) -> Integers:
    """Return integers that add up to n, in proportion to the shares (largest-remainder method).

    Parameters
    ----------
    shares : array_like, shape (k,)
        Non-negative, adding up to 1.
    n : int
        Number of users.

    Returns
    -------
    numpy.ndarray, shape (k,), integer
        Each within 1 of ``n * share``; of equal remainders the first is rounded up.

    Raises
    ------
    TypeError, ValueError
        If ``shares`` is not a distribution or ``n`` is not a number of users.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.apportion([0.54, 0.37, 0.09], 1000).tolist()
    [540, 370, 90]
    """
    shares = values.numbers(shares, "shares", at_least=0.0, at_most=1.0)
    n = validation.users(n)
    if abs(shares.sum() - 1.0) > ROUNDING:
        raise ValueError(
            f"shares must add up to 1, got {validation.shown(shares.tolist())} with sum {shares.sum():g}"
        )
    exact = n * shares / shares.sum()
    whole = np.floor(exact + ROUNDING).astype(np.int64)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: n - whole.sum()]] += 1
    return whole


def group_budgets(n: int, *, shares: ArrayLike = SHARES, eps0: ArrayLike = BUDGETS) -> Array:
    """Return one budget for each user of a population of groups.

    Parameters
    ----------
    n : int
        Number of users.
    shares : array_like, shape (k,), optional
        Share of each group; by default 54 % conservative, 37 % moderate and 9 % liberal users.
    eps0 : array_like, shape (k,), optional
        Budget of each group in nats, non-negative; by default 0.1, 0.5 and 1.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Group after group.  To make budgets and values independent, put the *values* in random order.

    Raises
    ------
    TypeError, ValueError
        If the two lists do not match or an argument is outside its domain.

    Notes
    -----
    Chen, Cao, Ge (AAAI 2024), "Application and Experiments".

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.group_budgets(10, shares=[0.6, 0.3, 0.1], eps0=[0.1, 0.5, 1.0]).tolist()
    [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5, 0.5, 0.5, 1.0]
    """
    eps0 = values.numbers(eps0, "eps0", at_least=0.0, at_most=700.0)
    counts = apportion(shares, n)
    if eps0.size != counts.size:
        raise ValueError(
            f"eps0 must hold one budget for each share, got {eps0.size} budgets for {counts.size} shares"
        )
    return np.repeat(eps0, counts)


def clipped_normal(
    n: int,
    rng: np.random.Generator,
    *,
    mean: float = 50.0,
    sigma: float = 15.0,
    low: float = 20.0,
    high: float = 80.0,
) -> Array:
    r"""Draw values :math:`\min(\max(N(\mu, \sigma^2), \ell), h)`.

    Parameters
    ----------
    n : int
        Number of users.
    rng : numpy.random.Generator
        Randomness.
    mean, sigma : float, optional
        Mean and standard deviation before clipping, ``sigma`` positive.
    low, high : float, optional
        Ends of the range, ``low < high``.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Values in ``[low, high]``.

    Notes
    -----
    GSPA (AAAI 2024) takes N(50, σ²) clipped to [20, 80] and does not print σ; 15 is a choice made here.
    The published mean estimator's error does not depend on the values, hence not on it.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import estimation
    >>> x = estimation.clipped_normal(10_000, np.random.default_rng(1))
    >>> float(x.min()), float(x.max()), bool(abs(x.mean() - 50.0) < 1.0)
    (20.0, 80.0, True)
    """
    n, rng = validation.users(n), values.generator(rng)
    low, high = value_range(low, high)
    mean, sigma = validation.real(mean, "mean"), validation.real(sigma, "sigma", above=0.0)
    return np.clip(rng.normal(mean, sigma, size=n), low, high)


def value_range(low, high):
    """Return the validated ends of an interval, ``low < high``, both finite."""
    low = validation.real(low, "low")
    high = validation.real(high, "high", above=low, remedy="the range of values must not be empty")
    validation.real(high - low, "high - low", at_most=NO_SQUARE, remedy="rescale the values")
    return low, high


def bits(n: int, *, density: float = 0.7) -> Integers:
    """Return n bits of which the share ``density`` is 1, ones first (the records of GSPA, AAAI 2024).

    Parameters
    ----------
    n : int
        Number of users.
    density : float, optional
        Share of ones in [0, 1]; the number of ones is rounded.

    Returns
    -------
    numpy.ndarray, shape (n,), integer

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.bits(10, density=0.7).tolist()
    [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    """
    density = validation.real(density, "density", at_least=0.0, at_most=1.0)
    return np.repeat([1, 0], apportion([density, 1.0 - density], n))


def zipf_counts(n: int, *, d: int, exponent: float = 1.0) -> Integers:
    r"""Return how many of n users hold each of d items when shares fall as :math:`1/j^a`.

    Parameters
    ----------
    n : int
        Number of users.
    d : int
        Number of items, 2 ≤ d ≤ 10⁷.
    exponent : float, optional
        a >= 0; 0 makes all items equally frequent.

    Returns
    -------
    numpy.ndarray, shape (d,), integer
        Adds up to n, most frequent item first.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.zipf_counts(1_000_000, d=4).tolist()
    [480000, 240000, 160000, 120000]
    """
    d = validation.count(d, "d", at_least=2, at_most=MOST_ITEMS)
    exponent = validation.real(exponent, "exponent", at_least=0.0, at_most=100.0)
    shares = np.arange(1, d + 1) ** -exponent
    return apportion(shares / shares.sum(), n)

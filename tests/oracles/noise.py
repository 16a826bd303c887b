"""Sums of noise on whole numbers and of Laplace noise, from the masses of one user, in 40 digits."""

import math
from itertools import product

import mpmath

DIGITS, LEAST = 40, mpmath.mpf(10) ** -36


def discrete_gaussian(sigma):
    """Return the masses of one user's noise, {k: mass}."""
    with mpmath.workdps(DIGITS):
        scale = 2 * mpmath.mpf(sigma) ** 2
        return _listed(lambda k: mpmath.exp(-mpmath.mpf(k * k) / scale))


def skellam(mu):
    """Return the masses of the difference of two Poisson numbers of mean mu/2, summed over both."""
    with mpmath.workdps(DIGITS):
        mean = mpmath.mpf(mu) / 2

        def poisson(k):
            return mpmath.exp(-mean) * mean**k / mpmath.factorial(k)

        last = next(k for k in range(10**6) if k > mean and poisson(k) < LEAST)
        one = [poisson(k) for k in range(last + 1)]
        found = {}
        for i, j in product(range(last + 1), repeat=2):
            found[i - j] = found.get(i - j, 0) + one[i] * one[j]
        return found


def _listed(mass):
    last = next(k for k in range(10**6) if mass(k) < LEAST)
    found = {k: mass(k) for k in range(-last, last + 1)}
    total = sum(found.values())
    return {k: one / total for k, one in found.items()}


def summed(masses, n):
    """Return the masses of the sum of n independent numbers."""
    with mpmath.workdps(DIGITS):
        found = {0: mpmath.mpf(1)}
        for _ in range(n):
            more = {}
            for (i, a), (j, b) in product(found.items(), masses.items()):
                more[i + j] = more.get(i + j, 0) + a * b
            found = {k: one for k, one in more.items() if one > LEAST}
        return found


def shifted(masses, shifts):
    """Return {numbers: (P, Q)} of independent numbers, each shifted in P by so much (in Q if negative)."""
    keys, cells = sorted(masses), {}
    spread = max(map(abs, shifts))
    places = range(keys[0], keys[-1] + spread + 1)
    for numbers in product(places, repeat=len(shifts)):
        cells[numbers] = tuple(
            math.prod(masses.get(k - max(side * by, 0), 0) for k, by in zip(numbers, shifts, strict=True))
            for side in (1, -1)
        )
    return cells


def hockey_stick(cells, eps):
    """Return the sum of (P − e^ε Q)₊."""
    with mpmath.workdps(DIGITS):
        ratio = mpmath.exp(mpmath.mpf(eps))
        return float(sum(max(p - ratio * q, 0) for p, q in cells.values()))


TAILS = {1: (1,), 2: (2, 1), 3: (8, 5, 1)}  # P(S > x) = e^-x (a + bx + cx²)/(2a) for x ≥ 0


def laplace_tail(x, n):
    """Return P(S > x) of the sum of Laplace noise of scale 1 of up to three users."""
    size = abs(x)
    tail = mpmath.exp(-size) * sum(a * size**k for k, a in enumerate(TAILS[n])) / (2 * TAILS[n][0])
    return tail if x >= 0 else 1 - tail


def laplace_shift(n, shift, eps):
    """Return δ(ε) of S + shift and S: the best threshold, by bisection of the ratio of densities."""
    with mpmath.workdps(DIGITS):
        shift, eps = mpmath.mpf(shift), mpmath.mpf(eps)

        def density(x):
            size = abs(x)
            a = TAILS[n]
            own = [a[k] - (k + 1) * (a[k + 1] if k + 1 < n else 0) for k in range(n)]
            return mpmath.exp(-size) * sum(one * size**k for k, one in enumerate(own)) / (2 * a[0])

        low, high = -200 - shift, 200 + shift
        for _ in range(150):
            middle = (low + high) / 2
            below = mpmath.log(density(middle - shift) / density(middle)) < eps
            low, high = (middle, high) if below else (low, middle)
        value = laplace_tail(low - shift, n) - mpmath.exp(eps) * laplace_tail(low, n)
        return float(max(value, 0))


def laplace_cells(n, shift, cuts):
    """Return the masses of cells of S + shift and S."""
    with mpmath.workdps(DIGITS):
        edges = [-40, *(mpmath.mpf(16 * k) / cuts - 8 for k in range(cuts + 1)), 40]
        tails = [[laplace_tail(edge - by, n) for edge in edges] for by in (shift, 0)]
        rows = [[1, *one, 0] for one in tails]
        return [[a - b for a, b in zip(row, row[1:], strict=False)] for row in rows]

"""The weighted integrals behind dotted Rényi divergences, against exact ones of curves with kinks."""

import math

import mpmath
import numpy as np
import pytest

from shufflelib.profiles import connect_the_dots


def kinked(rng, kinks):
    """Return ε of the corners of a convex falling chain of lines, its heights there; 0 at the last corner."""
    eps = np.unique(np.concatenate([[0.0], rng.uniform(0.0, 10.0 ** rng.uniform(-6.0, 0.8), kinks)]))
    slopes = -np.sort(10.0 ** rng.uniform(-12.0, 1.0, eps.size - 1))[::-1]
    heights = np.append(np.cumsum((slopes * np.diff(np.expm1(eps)))[::-1])[::-1], 0.0)
    return eps, np.abs(heights) / max(1.0, abs(heights[0]))


def height(corners, heights, eps):
    """Return the chain's value at one ε in 50 digits."""
    i = int(np.clip(np.searchsorted(corners, eps) - 1, 0, corners.size - 2))
    a, b, x = (mpmath.exp(mpmath.mpf(float(part))) for part in (corners[i], corners[i + 1], eps))
    share = (x - a) / (b - a)
    return max((1 - share) * mpmath.mpf(heights[i]) + share * mpmath.mpf(heights[i + 1]), mpmath.mpf(0))


def integral(corners, heights, s):
    """Return ∫ E^s H dE over the chain in 50 digits."""

    def power(k, a, b):
        a, b = mpmath.exp(mpmath.mpf(float(a))), mpmath.exp(mpmath.mpf(float(b)))
        return mpmath.log(b / a) if k == 0 else (b**k - a**k) / k

    total = mpmath.mpf(0)
    for i in range(corners.size - 1):
        a, b = (mpmath.exp(mpmath.mpf(float(end))) for end in corners[i : i + 2])
        slope = (mpmath.mpf(heights[i + 1]) - mpmath.mpf(heights[i])) / (b - a)
        level = mpmath.mpf(heights[i]) - slope * a
        total += level * power(s + 1, *corners[i : i + 2]) + slope * power(s + 2, *corners[i : i + 2])
    return total


def dotted(eps, low, high):
    """Return a curve that consists of given dots."""
    curve = object.__new__(connect_the_dots.HockeyStickCurve)
    curve.eps, curve.x, curve.low, curve.high = eps, np.expm1(eps), low, high
    return curve


@pytest.mark.parametrize("s", [0.0, -1.0, -2.0, -1.5, 2.0, 30.0, -31.0, -400.0, 400.0])
@pytest.mark.parametrize("blur", [0.0, 1e-3])
def test_lines_and_chords_enclose_the_integral_wherever_the_kinks_are(s, blur):
    rng = np.random.default_rng(round(s) + 1000)
    with mpmath.workdps(50):
        for kinks in (1, 1, 1, 1, 2, 2, 3, 4, 6, 8, 11):  # one: a line, which is met exactly
            corners, heights = kinked(rng, kinks)
            eps = rng.uniform(0.0, corners[-1], int(rng.integers(1, 9)))
            some = rng.choice(corners, int(rng.integers(0, corners.size)), replace=False)
            near = np.clip(some + 1e-9 * corners[-1], 0.0, corners[-1])  # gaps of most unequal length
            eps = np.unique(np.concatenate([eps, some, near, corners[[0, -1]]]))
            log_h = np.array(
                [float(mpmath.log(height(corners, heights, x) or mpmath.mpf("1e-5000"))) for x in eps]
            )
            log_h[-1] = -math.inf
            high = np.minimum.accumulate(log_h + blur * rng.uniform(0.0, 1.0, eps.size) + 1e-15)
            low = np.minimum(high, log_h - blur * rng.uniform(0.0, 1.0, eps.size) - 1e-15)
            curve = dotted(eps, np.maximum.accumulate(low[::-1])[::-1], high)
            truth = mpmath.log(integral(corners, heights, s))
            below, above = map(connect_the_dots.logsumexp, (curve.lines(s), curve.chords(s)[0]))
            slack = connect_the_dots.ROUNDING + 1e-15 * (abs(s) + 2.0)
            assert below - slack <= truth <= above + slack

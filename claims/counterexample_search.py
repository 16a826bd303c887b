r"""The search for a point at which a claim fails: spread evenly first, then downhill.

Points come from a Sobol sequence over the whole stated regime; from the most promising ones a simplex search
follows the objective.  The objective is positive exactly where the claim fails, and NaN outside its regime.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from claims.claim import QUICK, Check, Finding, Verdict, Worded
from shufflelib.profiles.questions import in_both_directions
from shufflelib.shuffling import shuffle

STARTS = 2  # points from which the simplex search sets out
STEPS = 40  # evaluations of each, at most three for each point of the sequence
COARSE = 1e-3  # relative width of δ in a search; both bounds stay proved


@dataclass(frozen=True)
class Axis:
    """One coordinate of a regime.

    Parameters
    ----------
    low, high : float
        Ends.
    scale : callable
        From [low, high] to the scale on which points are even: ``math.log`` or ``float``.
    back : callable
        Its inverse, with rounding to whole numbers if need be.
    """

    low: float
    high: float
    scale: Callable = math.log
    back: Callable = math.exp

    def at(self, share):
        """Return the coordinate at a share of the way from low to high."""
        low, high = self.scale(self.low), self.scale(self.high)
        return min(max(self.back(low + min(max(share, 0.0), 1.0) * (high - low)), self.low), self.high)


def logarithmic(low, high):
    """Return an axis of positive numbers, even in the logarithm."""
    return Axis(low, high)


def whole(low, high):
    """Return an axis of whole numbers, even in the logarithm."""
    return Axis(low, high, back=lambda x: round(math.exp(x)))


def linear(low, high):
    """Return an axis of numbers, evenly spaced."""
    return Axis(low, high, scale=float, back=float)


LOCAL = logarithmic(1e-3, 10.0)  # eps0
CROWD = whole(2, 10**9)  # n
RISK = logarithmic(1e-12, 1e-1)  # delta


class Worst(NamedTuple):
    """Where a claim comes closest to failing, or fails by most.

    Attributes
    ----------
    excess : float
        Positive: the claim fails there by this much; -inf if the regime was never met.
    point : dict
        The coordinates.
    tried : int
        Points inside the regime at which the claim was examined.
    """

    excess: float
    point: dict
    tried: int

    @property
    def factor(self):
        """The excess of a logarithm as a factor."""
        return math.exp(self.excess)

    def description(self):
        """Return the point in words."""
        return ", ".join(f"{name}={value:.6g}" for name, value in self.point.items())


def worst(excess, effort, **axes):
    """Search a regime for the point at which a claim fails by most.

    Parameters
    ----------
    excess : callable
        Takes the coordinates by name; positive where the claim fails, NaN outside its regime.
    effort : Effort
        Number of points and seed.
    **axes : Axis
        The regime's box.

    Returns
    -------
    Worst
        Deterministic for one effort.
    """
    seen = []

    def value(shares):
        point = {name: axis.at(share) for (name, axis), share in zip(axes.items(), shares, strict=True)}
        found = excess(**point)
        if not math.isnan(found):
            seen.append((found, point))
        return -found if not math.isnan(found) else math.inf

    grid = qmc.Sobol(len(axes), seed=effort.seed).random_base2(max(1, math.ceil(math.log2(effort.points))))
    grid = grid[: effort.points]
    first = np.array([value(shares) for shares in grid])
    for start in np.argsort(first, kind="stable")[:STARTS]:
        if math.isfinite(first[start]):
            minimize(
                value,
                grid[start],
                method="Nelder-Mead",
                bounds=[(0.0, 1.0)] * len(axes),
                options={"maxfev": min(STEPS, 3 * effort.points), "initial_simplex": _simplex(grid[start])},
            )
    if not seen:
        return Worst(-math.inf, {}, 0)
    most, point = max(seen, key=lambda one: one[0])
    return Worst(most, point, len(seen))


def _simplex(start):
    """Return corners a twentieth of the box away from a point, turned inwards at the edges."""
    steps = np.where(start < 0.5, 0.05, -0.05)
    return np.vstack([start, start + np.diag(steps)])


def searched(excess, held, failed=None, **axes):
    """Return the check that searches a regime for a point at which a claim fails.

    Parameters
    ----------
    excess : callable
        As for `worst`.
    held : callable
        Takes the `Worst`, returns what is told of it.
    failed : callable, optional
        Takes the `Worst` of a claim that fails, returns what is told, and the steps.
    **axes : Axis
        The regime's box.
    """

    def check(effort):
        found = worst(excess, effort, **axes)
        if not found.tried:
            return Finding(Verdict.HOLDS, f"no point of the regime was met by {effort.points} points")
        if found.excess <= 0.0:
            return Finding(Verdict.HOLDS, held(found))
        return Finding(Verdict.REFUTED, *((held(found),) if failed is None else failed(found)))

    return check


def never_fails_in(excess, **axes):
    """Return the search as the whole check of a claim that holds; the ledger words what was found.

    Its words may name ``tried``, the largest ``factor`` and ``where`` it is.
    """

    def told(lines):
        def held(found):
            return lines[0].format(tried=found.tried, factor=found.factor, where=found.description())

        return searched(excess, held, **axes)

    return Check(Worded(told))


def confirming(check):
    """Return a search as the confirmation of a small exact counterexample, which is told first."""
    return lambda: check(QUICK)


def halved(check):
    """Return a check that tries half as many points, because each of them is slow."""
    return lambda effort: check(effort._replace(points=max(4, effort.points // 2)))


@functools.lru_cache(maxsize=1024)
def attacks(randomizer, n):
    """Return the attacked pairs of a randomizer among n users, in both orders where these differ."""
    return in_both_directions(shuffle(randomizer, n=n).attack_pairs)


def log_delta_attained(randomizer, *, n, eps):
    """Return the log of a δ that a dataset attains at ``eps``: a certified lower bound."""
    return max(pair.log_hockey_stick(eps, COARSE).lower for pair in attacks(randomizer, n))


def claims_too_much(randomizer, *, n, eps, delta):
    """Return by how much log δ that an attack attains exceeds the log δ that is claimed at ``eps``."""
    if eps >= randomizer.eps0:
        return -math.inf  # the local guarantee says as much
    return log_delta_attained(randomizer, n=n, eps=eps) - math.log(delta)

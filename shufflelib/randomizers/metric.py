r"""Metric privacy: ε₀ is a distance, and one user moves from one given place to another.

A randomizer is :math:`d`-private when :math:`R_x(y) \le e^{d(x,x')} R_{x'}(y)` for all places x, x': close
places are hard to distinguish, far ones may be distinguished.  Distances are in nats: 3 km at 0.5 nats per km
are 1.5.  Every bound is for one user who moves from x0 to x1, at a distance of ``d01``, while all other users
are within ``dmax`` of both places.  It says nothing about larger moves or about users farther away.

.. math:: d_{01} = d(x_0, x_1), \qquad d_{max} = \max_x \max\{d(x, x_0),\, d(x, x_1)\}
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.profiles.adjacency import Adjacency, move_one
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios
from shufflelib.randomizers import additive, values
from shufflelib.randomizers.local_randomizer import LocalRandomizer, UnbiasedReports, WholeClass, number

NEAREST = 1e-9  # nats
FARTHEST = 100.0  # nats: even among 1e15 users, those farther than 35 provide no privacy
CELL_WIDTH = 1e-4  # of δ, relative: the precision asked of the numerics
LONGEST_SHORTENED = math.log(27 / 4)  # moves of Laplace noise up to which shorter ones reveal less


Distance = Annotated[
    float, number(at_least=NEAREST, at_most=FARTHEST, remedy="a distance in nats: privacy per km times km")
]


def refuse_far_apart(widest, dmax):
    """Refuse a population in which two users are too far from each other."""
    if widest > dmax * (1.0 + 1e-12):
        raise ValueError(
            f"x must hold places within dmax={dmax:g} of each other, got two at a distance of {widest:g}; "
            "nothing is proved for either: use a larger dmax"
        )


@dataclass(frozen=True, kw_only=True)
class MetricRandomizer(LocalRandomizer):
    """A metric randomizer for one pair of places, ``d01`` apart, with all others within ``dmax`` of both."""

    d01: Distance
    dmax: Distance

    def __post_init__(self):
        super().__post_init__()
        remedy = "it is the largest distance to x0 or x1, and these are d01 apart"
        validation.real(self.dmax, "dmax", at_least=self.d01, remedy=remedy)

    @property
    def eps0(self) -> float:
        """Local guarantee towards the pair: its distance."""
        return self.d01

    @property
    def adjacency(self) -> Adjacency:
        """One user moves by d01; all others are within dmax of both places."""
        return move_one(self.d01, self.dmax, shorter=self._holds_for_shorter)

    _holds_for_shorter = False  # whether shorter moves are proved to reveal no more, at the same dmax

    @property
    def q(self) -> float:
        """Published ratio bound e^dmax between the differing user's report and another user's."""
        return float(np.exp(self.dmax))


class OnLine(MetricRandomizer):
    """A metric randomizer on a line, the pair at 0 and d01."""

    def _places(self, x) -> Array:
        """Return the users' places if the bounds hold: within dmax of 0, of d01 and of each other."""
        x = values.numbers(x, "x", **self._domain)
        refuse_far_apart(float(np.ptp(x)), self.dmax)
        return x

    @property
    def _domain(self):
        """Places within dmax of both."""
        return {"at_least": self.d01 - self.dmax, "at_most": self.dmax}


@dataclass(frozen=True, kw_only=True)
class metric_generic(WholeClass, MetricRandomizer):
    r"""Build the worst case over all metric randomizers: it holds for each one that all users share.

    .. math:: w = e^{-d_{max}} \max(R_0, R_1), \qquad
              \left(\tfrac{R_0}{w}, \tfrac{R_1}{w}\right) \in
              \{(q, q/p),\; (q/p, q)\} \text{ with mass } \tfrac{p}{q(p+1)} \text{ each}

    Parameters
    ----------
    d01, dmax : float
        How far one user may move, and largest distance of the other users to both places, in nats;
        1e-9 <= d01 <= dmax <= 100.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; ``sample`` and ``estimate`` always raise TypeError.

    Notes
    -----
    Its blanket pair dominates that of every metric randomizer; its attacks are on two of them.

    Wang 2024, Table 2: p = e^d01, q = e^dmax, β = (e^d01 - 1)/(e^d01 + 1).  Here the published pair
    is an upper bound, and it is the one used.  Every R_x is at least w.  Where R_0 >= R_1 the likelihood
    ratios are (q, qρ), 1/p <= ρ <= 1, and G = q(1 - Eρ) is linear in ρ: a mean-preserving split of ρ to 1 and
    1/p is larger in convex order.  Let c be the mass on (q, q).  Together with c(p - 1)/(p + 1) of the
    residual mass 1 - ∫w, it is below mass cp/(p + 1) on each of (q, q/p) and (q/p, q) in convex order: the
    masses and the means c q (1 - E) are equal, and the two new losses are the ends of an interval that
    contains q(1 - E) and 0 as long as E <= p.  Only ratios between 1/p and p are needed, so moves shorter
    than d01 are covered too.

    The attacks: x* = x0 in randomized response on {x0, x1}, and x* at distance dmax from both in

    .. math:: R_0 = \left(\tfrac{sp}{p+1}, \tfrac{s}{p+1}, 1-s\right), \quad R_* = (r, r, 1 - 2r), \quad
              r = \tfrac{sp}{q(p+1)}, \quad s = \frac{q-1}{q - 2p/(q(p+1))},

    which is randomized response with three options where d01 = dmax.

    Examples
    --------
    The farther away the others may be, the weaker the amplification.

    >>> from shufflelib import randomizers, shuffle
    >>> for dmax in (1.0, 3.0):
    ...     mechanism = randomizers.metric_generic(d01=1.0, dmax=dmax)
    ...     print(round(shuffle(mechanism, n=10_000).epsilon(1e-6).upper, 5))
    0.04321
    0.12655
    """

    member = "metric_laplace(d01=..., dmax=...)"

    _holds_for_shorter = True

    @property
    def beta(self) -> float:
        """Published β = (e^d01 - 1)/(e^d01 + 1), exact."""
        return float(np.tanh(self.d01 / 2.0))

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the published pair, attacked through two options and through three."""
        likely = 1.0 / (1.0 + np.exp(-self.d01))
        side = np.array([likely, np.exp(-self.d01) * likely])
        high, low = np.exp(self.dmax), np.exp(self.dmax - self.d01)
        mass = np.exp(-self.dmax) * likely
        reference = LikelihoodRatios(
            np.array([high, low]),
            np.array([low, high]),
            np.array([mass, mass]),
            precision=self._precision,
            exchangeable=True,
        )
        parts = np.array([-np.expm1(-self.dmax), np.exp(-self.dmax) * (1.0 - 2.0 * mass)])
        inside, aside = parts / parts.sum()
        report0, report1 = np.append(inside * side, aside), np.append(inside * side[::-1], aside)
        far = np.array([inside * mass, inside * mass, 1.0 - 2.0 * inside * mass])
        rest = {"precision": self._precision}
        near = LikelihoodRatios.against(side, side, side[::-1], **rest)
        attacks = near, LikelihoodRatios.against(far, report0, report1, exchangeable=True, **rest)
        return (InputPair(reference, attacks),)

    @property
    def _precision(self):
        return 1e-14 + 1e-15 * self.dmax


@dataclass(frozen=True, kw_only=True)
class metric_laplace(UnbiasedReports, OnLine):
    r"""Build the Laplace mechanism on a line, distances in nats; the pair is at 0 and d01.

    .. math:: R_x(y) = \tfrac12 e^{-|y - x|}, \qquad
              w(y) = \tfrac12 e^{-\varrho - |y - d_{01}/2|}, \quad \varrho = d_{max} - d_{01}/2

    Parameters
    ----------
    d01, dmax : float
        How far one user may move, and largest distance of the other users to both places, in nats;
        1e-9 <= d01 <= dmax <= 100.

    Notes
    -----
    ``sample`` maps floats (n,) in [d01 - dmax, dmax], no two of them more than dmax apart, to floats
    (n,); ``estimate`` returns the mean.

    Wang 2024, Table 2 [2]: p = e^d01, q = e^dmax, β = 1 - e^{-d01/2}, which is exact.

    Within dmax of both places means within ϱ of their midpoint, so that w is the exact blanket: that of
    `laplace` on [0, 1] with eps0 = d01, its mass divided and its ratios multiplied by e^{dmax - d01}.
    The attacks are x* at 0, at the midpoint, and at the far ends of the line; with many users a far end
    is the strongest as soon as dmax is well above d01.

    The published pair is not an upper bound.  At e^d01 = e^dmax = 4 and n = 2, the other at x1, both reports
    fall beyond x1 with probability 1/4 or 1/16: δ(log 3.5) >= 1/32, the pair has 1/72.  At d01 = 1,
    dmax = 6, n = 1000, δ = 1e-6 it has ε = 0.9224, an attack finds 0.9999.

    The bounds hold for moves of d01, and for shorter ones if e^d01 <= 27/4.  With x = 1/p the loss G is, by
    the symmetry of w, distributed as

    .. math:: \frac{G}{q} \in \{x - E u,\; u - E x\} \text{ with density } \tfrac14 u^{-3/2}
              \text{ on } (x, 1) \text{ and mass } \tfrac12 \text{ at } u = 1, \text{ each over } q.

    For a >= 0, E(G/q - a)₊ decreases in x term by term.  For c = -a > 0 and E <= p, E(-G/q - c)₊ has the
    derivative c x^{-3/2}/2 - E (Ex - c)^{-1/2}/2 in x where c < (E - 1)x, and a negative one elsewhere; with
    c = κx it is negative if κ² (E - κ) < E², and the left side is at most 4E³/27.  So a shorter move, which
    is a larger x, lowers G in convex order, as long as E <= 27/4.

    Examples
    --------
    The same two places, the others near or far.

    >>> from shufflelib import randomizers, shuffle
    >>> for dmax in (1.0, 3.0):
    ...     mechanism = randomizers.metric_laplace(d01=1.0, dmax=dmax)
    ...     bracket = shuffle(mechanism, n=10_000).delta(eps=0.05)
    ...     print(bracket.lower < 1e-6, bracket.upper < 1e-6)
    True True
    False False
    """

    @property
    def _holds_for_shorter(self):
        return self.d01 <= LONGEST_SHORTENED

    @property
    def beta(self) -> float:
        """Published β = 1 - e^{-d01/2}, exact."""
        return float(-np.expm1(-self.d01 / 2.0))

    def density(self, y: ArrayLike, x: ArrayLike) -> Array:
        """Return the density of the report ``y`` for the place ``x``; arrays broadcast."""
        y, x = validation.reals(y, "y"), validation.reals(x, "x", **self._domain)
        return 0.5 * np.exp(-np.abs(y - x))

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the pair 0, d01 with x* at 0, d01, the midpoint and the far end dmax."""
        return (additive.laplace_pair(self.d01, self.dmax, cell_width=CELL_WIDTH),)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report floats, shape (n,)."""
        x = self._places(x)
        return x + values.generator(rng).laplace(size=x.size)

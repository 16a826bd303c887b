r"""The witch hat: Laplace noise with its tails clipped to a flat brim of finite length."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.profiles.likelihood_ratios import InputPair, attacks_on
from shufflelib.randomizers import cells, values
from shufflelib.randomizers.local_randomizer import number
from shufflelib.randomizers.metric import CELL_WIDTH, OnLine

CELLS = 72  # on each stretch where all densities are exponentials


@dataclass(frozen=True, kw_only=True)
class witch_hat(OnLine):
    r"""Build the (B, m, F)-witch_hat mechanism on a line, distances in nats; the pair is at 0 and d01.

    .. math:: R_x(y) = \frac{\max(1, e^{m - |y - x|})}{2(e^m - 1) + 2b}, \quad
              |y - \tfrac{d_{01}}2| \le b + m, \qquad b = \frac{2B}{F}

    Parameters
    ----------
    d01, dmax : float
        How far one user moves, and largest distance of the other users to both places, in nats;
        1e-9 <= d01 <= dmax <= 100.
    brim : float
        B, half the length of the brim in units of length; 2B/F >= dmax - d01/2, so that every hat has room.
    height : float
        m, the largest loss in nats, 0 < m <= 100.
    scale : float, optional
        F, twice the length of one nat; F = 2 measures lengths in nats.

    Notes
    -----
    ``sample`` maps floats (n,) in [d01 - dmax, dmax], no two of them more than dmax apart, to floats
    (n,); ``estimate`` returns the mean.

    Wang 2024, Table 2 [53]: p = e^d01, q = e^dmax,
    β = 2(e^m - e^{d01/F} + d01/F - m)/(F(e^m - 1) + 2B).

    The density is that of the authors' program: e^{-2|z - x|/F}/N up to the distance mF/2 from x, e^{-m}/N
    beyond, on [-B - mF/2, B + mF/2] (github.com/wangsw/ShuffleMDP: Numerical/witchhat_data.py, and section D
    of the supplement).  The printed β has two errors, d01/F for m - d01/F and the factor 2 for F; for places
    a distance d = F d01/2 apart the total variation is

    .. math:: \frac{F(e^m - e^{m-u} - u)}{F(e^m - 1) + 2B}, \quad u = \min(d/F, m) = \min(d_{01}/2, m):

    at F = 2, m = 2, B = 3, d01 = 1 truth 0.2564, printed 0.4516; at d01 = 3 truth 0.4516, printed 0.2564.
    The table's d01 is a loss in p and a length in β; at F = 2 they agree.  No β that falls as d01 grows, as
    the printed one does, to 0 at d01 = mF, can bound a total variation.

    Local guarantee: min(d01, m).  The blanket max(1, e^{m - ϱ - |y - d01/2|}) over the same normaliser, with
    ϱ = dmax - d01/2, is exact.  The attacks are x* at 0, at the midpoint and at the far end of the places.
    The bounds do not hold for moves shorter than d01; pass their length as d01.

    Examples
    --------
    The privacy loss never exceeds the height, however far apart two places are.

    >>> from shufflelib import randomizers, shuffle
    >>> hat = randomizers.witch_hat(d01=3.0, dmax=3.0, brim=3.0, height=1.0)
    >>> noise = randomizers.metric_laplace(d01=3.0, dmax=3.0)
    >>> shuffle(hat, n=1000).delta(eps=0.1).upper < 1e-6 < shuffle(noise, n=1000).delta(eps=0.1).lower
    True
    """

    brim: Annotated[float, number(at_least=0.0, at_most=1e12)]
    height: Annotated[float, number(above=0.0, at_most=100.0, remedy="the largest loss in nats")]
    scale: Annotated[float, number(at_least=1e-9, at_most=1e9, remedy="twice the length of one nat")] = 2.0

    def __post_init__(self):
        super().__post_init__()
        least = self.scale / 2.0 * (self.dmax - self.d01 / 2.0) * (1.0 - 1e-12)
        validation.real(self.brim, "brim", at_least=least, remedy="every place needs room for its hat")

    @property
    def eps0(self) -> float:
        """Local guarantee towards the pair: its distance, at most the height."""
        return min(self.d01, self.height)

    @property
    def p(self) -> float:
        """Published ratio bound e^d01."""
        return float(np.exp(self.d01))

    @property
    def beta(self) -> float:
        """Published β, as printed; see `witch_hat` for its erratum."""
        u = self.d01 / self.scale
        hat = np.expm1(self.height)
        return float(2.0 * (hat - np.expm1(u) + u - self.height) / (self.scale * hat + 2.0 * self.brim))

    @property
    def _centre(self):
        return self.d01 / 2.0

    @property
    def _room(self):
        """Half the length of the brim, in nats."""
        return 2.0 * self.brim / self.scale

    @property
    def _log_total(self):
        """Logarithm of the normaliser, in units of the hat's top."""
        return np.log(-2.0 * np.expm1(-self.height) + 2.0 * self._room * np.exp(-self.height))

    def _log_density(self, y, x, away=0.0):
        """Return the log density around x, the hat lowered by ``away`` nats."""
        return np.maximum(-self.height, -away - np.abs(y - x)) - self._log_total

    def density(self, y: ArrayLike, x: ArrayLike) -> Array:
        """Return the density of the report ``y`` for the place ``x``; arrays broadcast."""
        y, x = validation.reals(y, "y"), validation.reals(x, "x", **self._domain)
        inside = np.abs(y - self._centre) <= self._room + self.height
        return np.where(inside, np.exp(self._log_density(y, x)), 0.0)

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the pair 0, d01 with x* at 0, d01, the midpoint and the far end dmax."""
        radius = self.dmax - self._centre
        places = np.array(list(dict.fromkeys((0.0, self.d01, self._centre, self.dmax))))
        end = self._room + self.height
        bends = [place + side * self.height for place in places for side in (-1.0, 0.0, 1.0)]
        bends += [self._centre + side * max(self.height - radius, 0.0) for side in (-1.0, 1.0)]
        bends = np.clip([*bends, -np.inf, np.inf], self._centre - end, self._centre + end)
        stretches = zip(np.unique(bends)[:-1], np.unique(bends)[1:], strict=True)
        edges = np.unique([np.linspace(low, high, CELLS + 1) for low, high in stretches])
        rest = {"precision": 1e-13 + 1e-15 * (self.dmax + self.height), "cell_width": CELL_WIDTH}
        rows = cells.log_linear_masses(edges, self._log_density(edges, places[:, None]))

        half = edges[edges <= self._centre]
        report0, report1 = (self._log_density(half, place) for place in places[:2])
        log_reference = self._log_density(half, self._centre, radius)
        reference = cells.log_linear_masses(half, log_reference)
        split = cells.split(
            reference,
            *(
                cells.along(log - log_reference, np.log(row[: reference.size] / reference))
                for log, row in zip((report0, report1), rows, strict=False)
            ),
        )
        attacks = attacks_on(rows, lopsided=(3,), **rest)
        return (InputPair(cells.mirrored(*split, **rest), attacks),)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report floats, shape (n,)."""
        x, rng = self._places(x), values.generator(rng)
        under_hat = -2.0 * np.expm1(-self.height) * np.exp(-self._log_total)
        noise = -np.log1p(rng.random(x.size) * np.expm1(-self.height))
        noise *= rng.choice([-1.0, 1.0], size=x.size)
        beside = self._centre - self._room - self.height + 2.0 * self._room * rng.random(x.size)
        beside += 2.0 * self.height * (beside > x - self.height)
        return np.where(rng.random(x.size) < under_hat, x + noise, beside)

    def estimate(self, reports: ArrayLike) -> float:
        """Return the unbiased mean, a float."""
        hat = -2.0 * np.expm1(-self.height) - 2.0 * self.height * np.exp(-self.height)
        share = hat * np.exp(-self._log_total)
        reach = (self._room + self.height) * (1.0 + 1e-12)
        reports = values.numbers(
            reports, "reports", at_least=self._centre - reach, at_most=self._centre + reach
        )
        return float(self._centre + (reports.mean() - self._centre) / share)

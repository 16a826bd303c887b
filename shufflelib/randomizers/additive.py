r"""Additive noise, Laplace and Gaussian: continuous reports, whose `cells` have errors on a known side."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf, log_ndtr, ndtr

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.types import Array
from shufflelib.profiles.likelihood_ratios import InputPair, Tails, attacks_on
from shufflelib.randomizers import cells, values
from shufflelib.randomizers.local_randomizer import Budget, LocalRandomizer, UnbiasedReports, number

# cells on each side of 1/2: where R_0²/w is large, evenly spaced, and in the tail; and those for rounds
GAUSSIAN_CELLS, GAUSSIAN_CELLS_IN_ROUNDS = (450, 150, 250), (60, 100, 250)
LEAST_WITH_FEWER = 1.0  # σ; below, large losses decide, and need all cells
GAUSSIAN_REACH = 7.5  # standard deviations within which the first two lie
GAUSSIAN_END = 36.3  # standard deviations beyond which the tail, of mass 7e-289, is outside w's support
GAUSSIAN_REFERENCE_END = 36.5  # the same for the other input, whose density underflows at 38
CELL_WIDTH = 1e-5  # of δ, relative: the precision asked of the numerics
LARGEST_LOG_RATIO = 680.0  # exp overflows at 709


@dataclass(frozen=True, kw_only=True)
class laplace(UnbiasedReports, LocalRandomizer):
    r"""Build the Laplace mechanism on [0, 1], scale 1/eps0.

    .. math:: R_x(y) = \frac{\varepsilon_0}{2} e^{-\varepsilon_0 |y - x|}, \qquad
              w(y) = \frac{\varepsilon_0}{2} e^{-\varepsilon_0 (1/2 + |y - 1/2|)}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.

    Notes
    -----
    ``sample`` maps floats (n,) in [0, 1] to floats (n,); ``estimate`` returns the mean.

    Wang 2024, Table 1 [21]: p = q = e^eps0, β = 1 - e^{-eps0/2}, which is exact.

    The pair 0, 1 is the worst.  Under w, the ratio R_x/w has the same mean as R_0/w and crosses it once if
    x <= 1/2 (R_1/w otherwise), so it is smaller in convex order.  As R_0/w and -R_1/w decrease together, the
    sum R_0 - E R_1 is larger in convex order than every R_x - E R_x'.

    Other users' value x*: 1/R_{x*}(y) is convex in x*, hence so is ∫(R_0 - R_1)²/R_{x*}, and for many users
    one of the ends 0, 1 is the best attack.  For few users an inner value can be slightly better: for
    eps0 = 0.3, n = 3, eps = 0.03, x* = 0.2 has δ 0.25 % above the best of 0, 1/2, 1.

    The tails y < 0, y > 1 have constant ratios and are single atoms.  Cells on [0, 1/2] widen as e^{eps0 y}
    (up to e^4), which minimises the error in the variance of the loss under the blanket.  The relative error
    is 4e-5 at eps0 = 1, below 8e-5 up to 8, and at most 6e-6 (eps0/8)^2 beyond; that of the attacks is half
    as large.  It is invisible: the bounds are 20 % apart, and more cells cost time in proportion.

    Examples
    --------
    A single report without shuffling has δ(0.15) = 0.346.

    >>> from shufflelib import randomizers, shuffle
    >>> bracket = shuffle(randomizers.laplace(eps0=1.0), n=1000).delta(eps=0.15)
    >>> bracket.lower < 1e-8 < bracket.upper < 1e-7
    True
    """

    eps0: Budget

    @property
    def beta(self) -> float:
        """Published β = 1 - e^{-eps0/2}, exact."""
        return float(-np.expm1(-self.eps0 / 2.0))

    def density(self, y: ArrayLike, x: ArrayLike) -> Array:
        """Return the density of the report ``y`` for the value ``x`` in [0, 1]; arrays broadcast."""
        y, x = validation.reals(y, "y"), validation.reals(x, "x", at_least=0.0, at_most=1.0)
        return self.eps0 / 2.0 * np.exp(-self.eps0 * np.abs(y - x))

    def variances(self) -> tuple[float, float] | None:
        """Return 2/eps0² twice: it does not depend on the value."""
        return (2.0 / self.eps0**2,) * 2

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the pair 0, 1 with x* in {0, 1, 1/2}."""
        return (laplace_pair(self.eps0, self.eps0, cell_width=CELL_WIDTH),)

    def input_pairs_in_rounds(self) -> tuple[InputPair, ...]:
        """Return that pair with half as many cells."""
        return (laplace_pair(self.eps0, self.eps0, cell_width=CELL_WIDTH, share=0.5),)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report floats, shape (n,)."""
        x = values.numbers(x, "x", at_least=0.0, at_most=1.0)
        return x + values.generator(rng).laplace(scale=1.0 / self.eps0, size=x.size)


def laplace_pair(d01, dmax, *, cell_width, share=1.0):
    """Return the pair 0, d01 for noise of scale 1 and others within dmax of both.

    The reference measure is the noise around the midpoint, times e^{d01/2 - dmax}.  Beyond the two places all
    ratios to it are constant, and each tail is one cell.  The attacks are from both places, from the midpoint
    and from the far end dmax.  ``share`` is that of the usual number of cells.
    """
    rest = {"precision": 1e-14 + 1e-15 * dmax, "cell_width": cell_width}
    half = cells.widening(d01 / 2.0, cells.enough(d01, share))
    edges = np.append(half, d01 - half[-2::-1])
    if dmax > d01:
        beyond = dmax - d01
        edges = np.append(edges, d01 + cells.widening(beyond, cells.enough(2.0 * beyond, share))[1:])
    distances = [np.abs(edges - place) for place in dict.fromkeys((0.0, d01, d01 / 2.0, dmax))]
    inside = 0.5 * cells.log_linear_masses(edges, -np.array(distances))
    rows = np.column_stack([[0.5 * np.exp(-far[[0, -1]]) for far in distances], inside])
    # the midpoint is as far from one place as from the other, the far end is not
    return InputPair(laplace_split(half, dmax, **rest), attacks_on(rows, lopsided=(3,), **rest))


def laplace_split(half, top, *, slope=1.0, **rest):
    r"""Return the mean-preserving split of noise of scale 1 around 0 and d01 against a symmetric measure.

    .. math:: \nu(y) = \tfrac12 e^{-\text{top} + \text{slope}\, y} \text{ on } [0, d_{01}/2], \qquad
              \nu(y) = \tfrac12 e^{-\text{top} - |y|} \text{ on } y < 0

    The cells of [0, d01/2] end at ``half``; ``top`` is the log-ratio of R_0 to ν before 0.
    """
    d01 = 2.0 * half[-1]
    report0, report1, reference = (
        0.5 * np.append(np.exp(log[0]), cells.log_linear_masses(half, log))
        for log in (-half, half - d01, slope * half - top)
    )
    split = cells.split(
        reference,
        cells.along(np.append(top, top - (1.0 + slope) * half), np.log(report0 / reference)),
        cells.along(np.append(top - d01, top - d01 + (1.0 - slope) * half), np.log(report1 / reference)),
    )
    return cells.mirrored(*split, **rest)


@dataclass(frozen=True, kw_only=True)
class gaussian(UnbiasedReports, LocalRandomizer):
    r"""Build the Gaussian mechanism on {0, 1}; it has no pure local budget, yet shuffling amplifies it.

    .. math:: R_x = \mathcal N(x, \sigma^2), \qquad w = \min(R_0, R_1)

    Parameters
    ----------
    sigma : float
        Standard deviation, 0.03 <= sigma <= 1e6 (below, the two inputs share less than 1e-61 of mass).

    Notes
    -----
    ``sample`` maps 0s and 1s (n,) to floats (n,); ``estimate`` returns the mean.

    Not in the tables of Wang 2024: p = q = eps0 = ∞ and β = 2Φ(1/(2σ)) - 1, the exact total variation.

    The likelihood ratios are unbounded.  For outputs more than 36.3 σ below 0 or 36.5 σ below 1 (or where
    R_0/w exceeds e^680, for σ < 0.041), the mass of R_0 counts as outside the support of w, while w keeps the
    ratio R_1/w.  That is an upper bound: (a + b)_+ <= a_+ + b for b >= 0 gives
    (1/n) E(ΣG)_+ <= R_0(tail) + (1/n) E(ΣG')_+, and likewise beyond 1.  The mass outside is 2e-276 for
    sigma = 1, 4e-261 at 1/2, 5e-155 at 1/10; it is added to upper bounds.

    Rényi divergences treat these tails separately (`renyi_tails`) and never exceed order/(2σ²), the
    divergence of one report.  For one of several reports, in `joint` or `mixture`, only the latter bound is
    proved.  Losses without exponential moments are left to `BlanketPair`, which treats the outputs with the
    largest losses one by one: they account for δ far below 1e-12.

    The only inputs are 0 and 1, hence x* in {0, 1}.  Cells are narrow where R_0²/w is large, around -1, and
    few beyond 7.5 σ, which small δ and high orders need.  The relative error in the variance of the loss
    under the blanket is 6e-6 for σ = 5, 1.8e-5 at 1, 6.2e-5 at 1/2; that of the attacks is half as large.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> noise = randomizers.gaussian(sigma=5.0)  # no pure local budget, yet a central guarantee
    >>> noise.eps0, shuffle(noise, n=1000).delta(eps=0.02).upper < 1e-5
    (inf, True)
    """

    sigma: Annotated[float, number(at_least=0.03, at_most=1e6, remedy="in units of the inputs 0, 1")]

    @property
    def eps0(self) -> float:
        """Infinite: no pure local guarantee holds."""
        return np.inf

    @property
    def beta(self) -> float:
        """Exact total variation 2Φ(1/(2σ)) - 1."""
        return float(erf(1.0 / (2.0 * np.sqrt(2.0) * self.sigma)))

    def local_renyi(self, order: float) -> float:
        """Return order/(2σ²), the Rényi divergence of one report."""
        return order / (2.0 * self.sigma**2) * (1.0 + 4 * UNIT)

    def variances(self) -> tuple[float, float] | None:
        """Return σ² twice: it does not depend on the value."""
        return (self.sigma**2,) * 2

    def density(self, y: ArrayLike, x: ArrayLike) -> Array:
        """Return the density of the report ``y`` for the value ``x``, 0 or 1; arrays broadcast."""
        y, x = validation.reals(y, "y"), validation.reals(x, "x", at_least=0.0, at_most=1.0)
        if ((x != 0.0) & (x != 1.0)).any():
            raise ValueError(
                "x must hold 0 and 1 only, got a number in between; this mechanism has two inputs"
            )
        return np.exp(-0.5 * ((y - x) / self.sigma) ** 2) / (self.sigma * np.sqrt(2.0 * np.pi))

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the pair 0, 1 with x* in {0, 1}."""
        return (self._pair(*GAUSSIAN_CELLS),)

    def input_pairs_in_rounds(self) -> tuple[InputPair, ...] | None:
        """Return that pair with half as many cells, none of the tail's left out, or None for little noise."""
        return (self._pair(*GAUSSIAN_CELLS_IN_ROUNDS, parts=5),) if self.sigma >= LEAST_WITH_FEWER else None

    def _pair(self, *numbers, parts=1):
        """Return the pair with so many cells, each integrated in so many parts.

        Across a part the density changes by a factor e^4 at most, where eight nodes are as
        precise as is charged; a cell may be wider.
        """
        edges = self._edges(*numbers)
        cut, places = edges[0], np.arange(edges.size)
        inner = np.interp(np.arange(parts * places[-1] + 1) / parts, places, edges)
        report0, report1 = (
            cells.integrals(inner, lambda y, x=x: self.density(y, x)).reshape(-1, parts).sum(axis=1)
            for x in (0, 1)
        )
        tail0, tail1 = float(ndtr(cut / self.sigma)), float(ndtr((cut - 1.0) / self.sigma))
        rest = {"precision": 1e-14 + 1e-15 * ((1.0 - cut) / self.sigma) ** 2, "cell_width": CELL_WIDTH}
        # on the left half R_1 is the reference measure; R_0 is outside its support in the tail
        log_ratio = (0.5 - edges) / self.sigma**2
        first, second, mass = cells.split(
            report1, cells.along(log_ratio, np.log(report0 / report1)), np.zeros((3, report1.size))
        )
        inside = cells.mirrored(np.append(0.0, first), np.append(1.0, second), np.append(tail1, mass), **rest)
        reference = replace(inside, r0_outside=tail0, r1_outside=tail0)
        beyond = reference.r1_over_w == 0.0  # there R_1 is outside the support
        inside = replace(reference, r0_over_w=np.where(beyond, 0.0, reference.r0_over_w), r0_outside=0.0)
        near, far = np.append(tail0, report0), np.append(tail1, report1)
        attacks = attacks_on([np.append(near, far), np.append(far, near)], **rest)
        return InputPair(reference, attacks, Tails(inside, lambda order: self._log_moment(cut, order)))

    def _log_moment(self, cut, order):
        """Return the log of ∫ R_0^λ R_1^{1−λ} over the tails below ``cut`` and above 1 − ``cut``."""
        whole = 0.5 * order * (order - 1.0) / self.sigma**2  # times the distribution with mean 1 − λ
        log_tails = log_ndtr((cut + np.array([order - 1.0, -order])) / self.sigma)
        size = whole + np.max(np.abs(log_tails))
        return whole + float(np.logaddexp(*log_tails)) + 64 * UNIT * (1.0 + size)

    def _edges(self, heavy, even, beyond):
        """Return the cells' ends up to 1/2: a tail, and some as dense as (R_0²/w)^{1/3} and some evenly."""
        farthest = 0.5 - LARGEST_LOG_RATIO * self.sigma**2
        cut = max(-GAUSSIAN_REACH * self.sigma, farthest)
        end = max(-GAUSSIAN_END * self.sigma, 1.0 - GAUSSIAN_REFERENCE_END * self.sigma, farthest)
        tail = np.linspace(end, cut, beyond + 1)[:-1] if end < cut else []
        fine = np.linspace(cut, 0.5, 12_001)
        distance = ((fine + 1.0) / self.sigma) ** 2
        density = np.exp((distance.min() - distance) / 6.0)
        rank = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
        rank = heavy * rank / rank[-1] + even * np.linspace(0.0, 1.0, fine.size)
        near = np.interp(np.arange(heavy + even + 1.0), rank, fine)
        return np.append(tail, near)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report floats, shape (n,)."""
        x = values.whole(x, "x", at_least=0, at_most=1)
        return x + values.generator(rng).normal(scale=self.sigma, size=x.size)

r"""A continuous randomizer given by its distribution functions, discretised with certified errors.

The values of a density at some points prove nothing about the points between them.  Two things do: the exact
masses :math:`M_x` of cells, and a bound on the change of the log-ratio of two densities inside a cell.  By
the mean value theorem, :math:`R_x/R_{x'}` equals :math:`M_x/M_{x'}` somewhere in the cell, hence lies within
a factor :math:`e^{\pm r}`, r = slope times width, of it everywhere.

- *Blanket.*  In a cell where :math:`R_b` has the least mass, :math:`w = \kappa R_b` with the largest κ ≤ 1
  that the ranges prove to be below every :math:`R_x`.  It is 1 except where two inputs compete for the least.
- *Upper bound.*  :math:`(R_0/w, R_1/w)` lies in a box, with known mean.  A mean-preserving split of each
  ratio to the ends of its interval raises :math:`R_0 - E R_1` in convex order.  Of all joint distributions
  with those marginals, the countermonotone one is the largest: :math:`f(a - E b)` is submodular for convex f.
- *Lower bound.*  Each cell is merged into one output; this coarsening is post-processing.

Both errors are of second order in r.  Where no bound on the slope is known, the upper bound counts the mass
of the cell as outside the reference measure's support.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.types import Array, Reals
from shufflelib.profiles.adjacency import Adjacency, replace_one
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios, united
from shufflelib.randomizers import candidate_pairs, cells, values
from shufflelib.randomizers.local_randomizer import LocalRandomizer, number
from shufflelib.randomizers.tabulated import frequencies

CDF_ERROR = 1e-15  # relative, of the functions given
UNRELIABLE = 1e-9  # relative error of a cell's mass above which it counts as outside the support
WIDEST = 30.0  # factor e^r: the mass of a wider cell counts as outside the support
CELL_WIDTH = 1e-5  # of δ, relative: the precision asked of the numerics
BISECTIONS = 80


@dataclass(frozen=True, repr=False)
class from_density(LocalRandomizer):
    r"""Build any continuous randomizer from its distribution functions, with certified cells.

    .. math:: M_x = \text{cdf}(b, x) - \text{cdf}(a, x), \qquad
              \Bigl|\frac{d}{dy} \log\frac{R_x(y)}{R_{x'}(y)}\Bigr| \le \text{slope} \text{ on } (a, b)

    Parameters
    ----------
    cdf : callable
        ``cdf(y, x)``: probability that the report for the input x is at most y, for an array of y;
        accurate to 1e-15 relatively.
    inputs : array_like, shape (k,)
        All values that users may hold, at least two numbers.
    edges : array_like, shape (cells + 1,)
        Rising ends of the cells; kinks and jumps of the densities belong among them, and the first and
        the last may be infinite.  Some hundreds are plenty.
    slope : float or array_like, shape (cells,)
        Bound on how fast the log-ratio of any two inputs' densities changes inside a cell; a single
        number holds for all cells.  Infinite where no bound is known: the mass of those cells counts as
        outside the reference measure's support.
    survival : callable, optional
        ``survival(y, x)`` = 1 − cdf, accurate where it is small.  Without it the cells above the median
        whose mass is below 2e-6 count as outside the support, because their digits are lost.
    eps0 : float, optional
        A local budget in nats known to hold; it caps the ratios in wide cells.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or the functions are not distribution functions.

    Notes
    -----
    ``eps0`` (given or proved by the cells, infinite where some mass is outside the support), ``beta`` (a
    lower bound).  ``sample`` maps values among ``inputs`` (n,) to floats (n,), inverting ``cdf``;
    ``estimate`` returns unbiased frequencies of the inputs.

    The values of a density at points certify nothing; the masses of cells and a slope do.  Mass
    outside the support of the reference measure, including that beyond the edges, is added to δ.  The bounds
    hold for the inputs listed; other users may hold a further input only if its density is nowhere below the
    least of those listed.  The error is of second order in slope times width, except in the few cells where
    two inputs compete for the least density, where it is of first order.  The cost of one value is
    proportional to the number of cells, O(1) in n.  Source: Balle, Bell, Gascón, Nissim (CRYPTO 2019), Lemma
    5.3, for the blanket.

    Examples
    --------
    An equal mixture of Laplace noise of scales 1 and 4.

    >>> import numpy as np
    >>> from shufflelib import randomizers, shuffle
    >>> def cdf(y, x):
    ...     tail = (np.exp(-np.abs(y - x)) + np.exp(-np.abs(y - x) / 4.0)) / 4.0
    ...     return np.where(y < x, tail, 1.0 - tail)
    >>> edges = np.concatenate([[-np.inf], np.linspace(-8.0, 9.0, 137), [np.inf]])
    >>> mechanism = randomizers.from_density(
    ...     cdf, inputs=[0.0, 1.0], edges=edges, slope=2.0, survival=lambda y, x: cdf(-y, -x), eps0=1.0
    ... )
    >>> bracket = shuffle(mechanism, n=10_000).epsilon(1e-6)
    >>> 0.018 < bracket.lower < bracket.upper < 0.030
    True
    """

    cdf: Callable[[Any, Any], Any]
    inputs: Reals = field(kw_only=True)
    edges: Reals = field(kw_only=True)
    slope: float | Reals = field(kw_only=True)
    survival: Callable[[Any, Any], Any] | None = field(default=None, kw_only=True)
    eps0: Annotated[float, number(above=0.0, finite=False, remedy="inf if no local budget is known")] = field(
        default=math.inf, kw_only=True
    )

    def __post_init__(self):
        super().__post_init__()
        if not callable(self.cdf) or not (self.survival is None or callable(self.survival)):
            raise TypeError("cdf and survival must be functions of (y, x), y an array and x one input")
        inputs = values.numbers(self.inputs, "inputs")
        if inputs.size < 2 or np.unique(inputs).size < inputs.size:
            raise ValueError(f"inputs must hold at least two different numbers, got {inputs.tolist()}")
        edges = values.numbers(self.edges, "edges", finite=False)
        if edges.size < 3 or not np.all(np.diff(edges) > 0.0):
            raise ValueError("edges must rise strictly and bound at least two cells; sort them")
        cells = edges.size - 1
        slope = validation.reals(
            self.slope, "slope", at_least=0.0, finite=False, remedy="inf where there is no bound"
        )
        if slope.shape not in ((), (cells,)):
            raise ValueError(f"slope must be one number or one for each of {cells} cells, got {slope.shape}")
        self._set("inputs", tuple(inputs.tolist()))
        self._set("edges", tuple(edges.tolist()))
        self._set("slope", tuple(np.broadcast_to(slope, cells).tolist()))
        self._check_budget()
        self._set("eps0", self._proved_budget())

    def _check_budget(self):
        """Refuse a budget that the masses of the cells contradict."""
        mass, error, _ = self._masses
        least, most = (mass + error).min(axis=0), (mass - error).max(axis=0)
        positive = most > 1e-290
        with np.errstate(divide="ignore"):
            loss = float(np.max(np.log(most[positive]) - np.log(least[positive]), initial=0.0))
        if loss > self.eps0 + 1e-9 * (1.0 + self.eps0):
            raise ValueError(
                f"eps0 must be a budget that the masses of all cells keep, got {self.eps0:g} where one shows "
                f"{loss:.6g}; use a larger one, or inf"
            )

    has_worst_pair = False

    def __repr__(self):
        return f"from_density({len(self.inputs)} inputs, {len(self.slope)} cells, eps0={self.eps0:.6g})"

    # ---- cells -------------------------------------------------------------------------------

    def _values(self, function, name, ends):
        """Return a distribution function at all edges, one row for each input; ``ends`` at ∓∞."""
        edges = np.array(self.edges)
        finite, rows = np.isfinite(edges), []
        for x in self.inputs:
            row = np.where(edges < 0.0, *ends)
            found = np.asarray(function(edges[finite], x), float)
            if found.shape != (int(finite.sum()),) or not np.all((found >= 0.0) & (found <= 1.0)):
                raise ValueError(
                    f"{name} must return probabilities, one for each y, got {found!r} for x = {x:g}"
                )
            row[finite] = found
            rows.append(row)
        return np.array(rows)

    @cached_property
    def _masses(self):
        """Return cell masses, their absolute errors, and the mass outside, by input."""
        below = self._values(self.cdf, "cdf", (0.0, 1.0))
        mass, scale = np.diff(below, axis=1), below[:, 1:].copy()
        outside = below[:, 0] + (1.0 - below[:, -1]) + CDF_ERROR * (below[:, -1] < 1.0)
        if self.survival is not None:
            above = self._values(self.survival, "survival", (1.0, 0.0))
            if np.abs(below + above - 1.0).max() > 1e-12:
                raise ValueError("survival must be 1 - cdf; return P(report > y) for input x")
            nearer = above[:, :-1] < scale
            mass = np.where(nearer, -np.diff(above, axis=1), mass)
            scale = np.where(nearer, above[:, :-1], scale)
            outside = below[:, 0] + above[:, -1]
        error = 2.0 * CDF_ERROR * scale
        if np.any(mass < -error):
            raise ValueError("cdf must not fall, got a cell of negative mass; check cdf, survival and edges")
        return np.maximum(mass, 0.0), error, outside

    @cached_property
    def _range(self):
        """Return r for every cell."""
        width, slope = np.diff(self.edges), np.array(self.slope)
        return np.where(slope == 0.0, 0.0, np.where(slope > 0.0, slope, 1.0) * width)

    @cached_property
    def _reliable(self):
        """Return which cells have masses known to many digits, for every input."""
        mass, error, _ = self._masses
        return np.all(error <= UNRELIABLE * mass, axis=0) & (mass.min(axis=0) >= np.finfo(float).tiny)

    @cached_property
    def _used(self):
        """Return the cells in the reference measure's support; the mass of the others counts as outside."""
        return self._reliable & (np.minimum(self._range, self.eps0) < WIDEST)

    @cached_property
    def precision(self) -> float:
        """Relative error charged for every mass."""
        mass, error, _ = self._masses
        return 1e-14 + float(np.max((error / np.maximum(mass, 1e-300))[:, self._reliable], initial=0.0))

    def _interval(self, center):
        """Return both bounds of log-ratios around ``center`` in the cells of the support."""
        r, budget = self._range[self._used], self.eps0
        center = np.clip(center, -budget, budget)
        return np.maximum(center - r, -budget), np.minimum(center + r, budget)

    # ---- parameters ------------------------------------------------------------------------------

    def _proved_budget(self):
        """Return the budget known, or what the cells prove, infinite where some mass is outside."""
        mass, _, outside = self._masses
        if math.isfinite(self.eps0) or outside.max() > 0.0 or not self._used.all():
            return self.eps0
        log_mass = np.log(mass)
        loss = float(np.max(log_mass.max(axis=0) - log_mass.min(axis=0) + self._range))
        return loss + 4.0 * self.precision * (1.0 + loss)

    @cached_property
    def beta(self) -> float:
        """Largest total variation of two inputs on the cells, a lower bound of that of the densities."""
        return candidate_pairs.total_variation(self._coarsened)

    @cached_property
    def _coarsened(self):
        """Masses of the reliable cells; all other mass is merged into the heaviest of them."""
        rows = self._masses[0][:, self._reliable]
        if rows.size == 0:
            raise ValueError(
                "edges must leave cells that every input reports; no mass is known to nine digits"
            )
        heaviest = int(np.argmax(rows.min(axis=0)))
        rows[:, heaviest] += 1.0 - rows.sum(axis=1)
        return rows

    # ---- likelihood ratios ------------------------------------------------------------------------

    @cached_property
    def _blanket(self):
        """Return the input of least mass and log κ in the cells of the support."""
        log_mass = np.log(self._masses[0][:, self._used])
        least = np.argmin(log_mass, axis=0)
        most = np.zeros(least.size)
        for x in range(len(self.inputs)):
            high = self._interval(np.min(log_mass, axis=0) - log_mass[x])[1]
            most = np.where(least == x, most, np.maximum(most, high))
        return least, -most - 2.0 * self.precision * (most > 0.0)

    def _ratio(self, x):
        """Return the least value, the mean and the largest value of log R_x/w in the cells of the support."""
        log_mass = np.log(self._masses[0][:, self._used])
        least, log_share = self._blanket
        center = log_mass[x] - log_mass[least, np.arange(least.size)]
        low, high = (np.where(least == x, 0.0, end) for end in self._interval(center))
        return low - log_share, center - log_share, high - log_share

    def _reference(self, i, j):
        least, log_share = self._blanket
        mass, error, outside = self._masses
        weight = mass[:, self._used][least, np.arange(least.size)] * np.exp(log_share)
        atoms = cells.split(weight, self._ratio(i), self._ratio(j)[::-1])
        outside = outside + (mass + error)[:, ~self._used].sum(axis=1)
        precision = self.precision + 1e-14
        return LikelihoodRatios(*atoms, float(outside[i]), float(outside[j]), precision, CELL_WIDTH)

    @cached_property
    def _pairs(self):
        rest = {"precision": self.precision, "cell_width": CELL_WIDTH}
        attacks = candidate_pairs.promising_attacks(self._coarsened, **rest)
        references = united(self._reference(i, j) for i, j in attacks)
        found = zip(references, attacks.values(), strict=True)
        return tuple(InputPair(reference, some) for reference, some in found)

    @property
    def adjacency(self) -> Adjacency:
        """One user's value is replaced; everybody holds one of the inputs listed."""
        return replace_one(inputs=self.inputs)

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return all pairs of inputs, and the most promising attacks."""
        return self._pairs

    # ---- sampling ---------------------------------------------------------------------------------

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report floats, shape (n,), for values among ``inputs``: the distribution function inverted."""
        x, rng = values.numbers(x, "x"), values.generator(rng)
        if not np.isin(x, self.inputs).all():
            wrong = float(x[~np.isin(x, self.inputs)][0])
            raise ValueError(f"x must hold values among the inputs {self.inputs}, got {wrong!r}")
        chance, reports = rng.random(x.size), np.empty(x.size)
        for held in np.unique(x):
            reports[x == held] = self._inverse(chance[x == held], held)
        return reports

    def _inverse(self, chance, x):
        ends = np.array(self.edges)[np.isfinite(self.edges)][[0, -1]]
        low, high = (np.full(chance.size, end) for end in ends)
        span = ends[1] - ends[0]
        while np.any(out := np.asarray(self.cdf(low, x)) > chance):
            low, span = np.where(out, low - span, low), 2.0 * span
        while np.any(out := np.asarray(self.cdf(high, x)) < chance) and span < 1e300:
            high, span = np.where(out, high + span, high), 2.0 * span
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            small = np.asarray(self.cdf(middle, x)) < chance
            low, high = np.where(small, middle, low), np.where(small, high, middle)
        return high

    def estimate(self, reports: ArrayLike) -> Array:
        """Return unbiased frequencies of the inputs, shape (inputs,), by least squares on cell counts."""
        reports = values.numbers(reports, "reports")
        mass = self._masses[0]
        rows = np.concatenate([mass, (1.0 - mass.sum(axis=1))[:, None]], axis=1)
        cell = np.searchsorted(self.edges, reports) - 1
        cell = np.where((cell >= 0) & (cell < mass.shape[1]), cell, mass.shape[1])
        return frequencies(rows, np.bincount(cell, minlength=rows.shape[1]) / reports.size)

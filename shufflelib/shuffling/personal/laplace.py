r"""Laplace noise with a personal scale for each user: the reference measure for each target."""

import math

import numpy as np

from shufflelib.randomizers import cells
from shufflelib.randomizers.additive import laplace_split
from shufflelib.shuffling.personal.attack import OthersSum, Scores
from shufflelib.shuffling.personal.randomize_then_shuffle import PersonalRandomizers, Reference

CELLS = 24  # on each half of [0, 1]
CELL_WIDTH = 2e-4  # of δ, relative: the precision asked of the numerics
SLOPES = np.linspace(0.0, 1.0, 9)  # inner slopes s of ν tried, as shares of the target's budget a
# reports in (-outer, inner] are counted against their mirror images about 1/2
MIRRORED = tuple((math.inf, t) for t in (-5.0, -1.5, 0.0, 0.25, 0.5)) + tuple(
    (r, r) for r in (0.003, 0.01, 0.03, 0.06, 0.12, 0.25, 0.5)
)
# or only reports above a threshold are counted, which the others rarely exceed
THRESHOLDS = (0.4, 0.55, 0.7, 0.85, 1.0)
NOTHING = Scores(0.0, 0.0), Scores(0.0, 0.0)


class PersonalLaplace(PersonalRandomizers):
    r"""Laplace noise on values in [0, 1], each user with their own scale 1/ε_i, then shuffled.

    .. math:: R_{i,x}(y) = \tfrac{\varepsilon_i}2 e^{-\varepsilon_i|y-x|}, \qquad
              \inf_x R_{i,x}(y) = w_i(y) = \tfrac{\varepsilon_i}2 e^{-\varepsilon_i(1/2 + |y - 1/2|)}

    and, for a target with budget a and a slope 0 ≤ s ≤ a,

    .. math:: \nu(y) = K e^{-s|y-1/2|} \text{ on } [0,1], \qquad
              \nu(y) = K e^{-s/2 - a\,\mathrm{dist}(y, [0,1])} \text{ outside}, \qquad
              c_i = \inf_y \frac{w_i(y)}{\nu(y)} .

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        Local budgets in nats, one for each of n ≥ 2 users, from 0 to 700.  A user with budget 0
        sends no report, has ε = 0, and does not amplify the others' privacy.

    Notes
    -----
    *Weights.*  For ε_i ≤ a the ratio w_i/ν rises outside [0, 1] and is monotone on either half of it, so that
    its infimum is at an end or in the middle.  For ε_i > a it is 0: in the tails, the density of a user with
    less noise is negligible against that of a target with more.  A target with more noise than all others
    keeps its local guarantee.  Equal budgets and s = a give the privacy blanket.  s is chosen by the smallest
    variance of R_0 − R_1 against Σ c_i ν, after the split into cells; any choice is valid.

    *The pair 0, 1 is the worst.*  ν is symmetric about 1/2 and unimodal, with slopes of log ν within [−a, a].
    So R_x/ν increases up to x and decreases from there on, {R_x/ν > t} is an interval, and for x ≤ 1/2 its
    midpoint is at most x.  Shifted by −x, its mass under R_0 is that of the original under R_x, and it moves
    away from 1/2, losing mass under ν: E(R_0/ν − t)₊ ≥ E(R_x/ν − t)₊ for all t, which is the convex order; by
    reflection the same holds for x > 1/2 and for R_1.  Finally R_0/ν falls and R_1/ν rises in y, so that
    R_0/ν − e^ε R_1/ν is the comonotone sum, which is the largest in convex order.

    *Ranges of targets.*  For a in [lo, hi], R_a is R_hi with further noise Z, which is 0 with probability
    (a/hi)² and otherwise Laplace of scale 1/a.  Add the same noise to ν: conditional expectations only lower
    the convex order, so that the loss L at hi is an upper bound for a, with reference measure ν_a = ν * Z.
    As log w_i has slopes within [−ε_i, ε_i], w_i ≥ c_i ν_a / E exp(ε_i |Z|), and E exp(ε_i|Z|) ≤ ρ² + (1 −
    ρ²) lo/(lo − ε_i), ρ = lo/hi, for ε_i < lo.  The true δ does *not* increase with the target's
    budget: a target with much noise among users with little has less amplification.

    *Cells.*  On a cell of [0, 1/2], R_0/ν decreases and R_1/ν increases on a convex curve.  A mean-preserving
    split moves each of its points to the curve's two ends and the corner below it: an upper bound.

    Cost of one ε as for randomized response; 400 distinct budgets take about half a minute.

    Examples
    --------
    >>> from shufflelib.shuffling import personal
    >>> crowd = personal.PersonalLaplace([0.5] * 500 + [2.0] * 500)
    >>> f"{crowd.delta(user=0, eps=0.1).upper:.1e}"
    '5.4e-08'
    """

    name = "Laplace noise with personal scales"

    def _reference(self, low, high, budgets, counts):
        half = cells.widening(0.5 * high, CELLS)
        rest = {"precision": 1e-13 + 1e-15 * high, "cell_width": CELL_WIDTH}
        best = None
        for slope in SLOPES:
            inner = 0.5 * high * slope
            log_peak = math.log(_peak(high, inner))
            ratios = laplace_split(half, inner + log_peak, slope=slope, **rest)
            weights = _weights(low, high, inner, budgets)
            separation = float(ratios.w @ (ratios.r0_over_w - ratios.r1_over_w) ** 2)
            figure = float(weights @ counts) / separation  # the number of draws from ν, by what one reveals
            if best is None or figure > best[0]:
                best = figure, Reference(ratios, weights)
        return best[1]

    def _others(self, counts):
        """Subtract reports near 1 from reports near 0, or count those far from 0; all others hold 0."""
        reporting, budgets = self._budgets > 0.0, np.maximum(self._budgets, 1e-300)
        attacks = {}
        for threshold in THRESHOLDS:
            far = np.where(reporting, _between(budgets, threshold, math.inf), 0.0)
            attacks[threshold] = OthersSum(Scores(far, np.zeros(far.size)), counts)
        for outer, inner in MIRRORED:
            near = np.where(reporting, _between(budgets, -outer, inner), 0.0)
            far = np.where(reporting, _between(budgets, 1.0 - inner, 1.0 + outer), 0.0)
            attacks[outer, inner] = OthersSum(Scores(near, far), counts)
        return attacks

    def _target_scores(self, low, high, counted):
        """Return (p, q, rest) and (q, p, rest) with p at most, q and rest at least every target's.

        Such a pair is the target's report kept with some probability and otherwise replaced by a constant.
        """
        if counted in THRESHOLDS:
            ends = np.array([low, high])  # both probabilities are monotone in the budget
            p = 1.0 - _between(ends, -math.inf, counted - 1.0).max()
            q = _between(ends, counted, math.inf).max()
            return (Scores(p, 0.0), Scores(q, 0.0)) if p > q else NOTHING
        outer, inner = counted
        peak = math.log((1.0 + outer) / (1.0 - inner)) / (inner + outer) if outer < math.inf else 0.0
        range_ = np.array([low, high, min(max(peak, low), high)])
        near = _between(range_, -outer, inner)  # monotone in the budget
        far = _between(range_, -1.0 - outer, inner - 1.0)  # falls, or rises up to the peak
        p, q = max(near.min() + far.min() - far.max(), 0.0), far.max()
        return (Scores(p, q), Scores(q, p)) if p > q else NOTHING


def _peak(budget, inner):
    """Return a/(2K) for a slope that lowers log ν by ``inner`` = s/2 from the middle to the ends."""
    return math.exp(-inner) - 0.5 * budget * (math.expm1(-inner) / inner if inner > 0.0 else -1.0)


def _weights(low, high, inner, budgets):
    """Return c_i of users with these budgets, for all targets in [low, high]."""
    usable = budgets <= high if low == high else budgets < low
    edge, middle = np.exp(inner - budgets), np.exp(-0.5 * budgets)
    weights = budgets / high * _peak(high, inner) * np.minimum(edge, middle)
    if low < high:
        kept = (low / high) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = weights / (kept + (1.0 - kept) * low / (low - budgets))
    return np.where(usable, weights, 0.0)


def _between(budgets, low, high):
    """Return P(low < noise <= high) for low < high."""
    if high <= 0.0:
        return -0.5 * np.exp(budgets * high) * np.expm1(-budgets * (high - low))
    if low >= 0.0:
        return -0.5 * np.exp(-budgets * low) * np.expm1(-budgets * (high - low))
    return -0.5 * (np.expm1(budgets * low) + np.expm1(-budgets * high))

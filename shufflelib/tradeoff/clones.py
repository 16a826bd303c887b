r"""Shuffling by joint concavity: the clone pair conditioned on the number of clones.

With :math:`w = 1/(e^{\varepsilon_0}+1)`, :math:`C \sim \mathrm{Bin}(n-1, 2w)`,
:math:`A \sim \mathrm{Bin}(C, 1/2)`, the clone pair is

.. math:: P = (1-w)P_0 + wQ_0,\quad Q = (1-w)Q_0 + wP_0, \qquad
          P_0 = \mathcal L(A+1, C-A),\; Q_0 = \mathcal L(A, C-A+1).

C is seen in both laws, so that T(P₀, Q₀) is *equal* to its mixture over C (`conditioned_on_clones`);
what is lost is lost by mixing P₀ with Q₀ (`shuffle_bound`).  `clone_pair` loses nothing.

Source: the mixture-mechanism paper, Proposition 4.1, Theorem 4.2, Corollary 4.3.  Its reduction to the
clone pair cites the stronger clone of Feldman, McMillan, Talwar (SODA 2023), whose official erratum
withdraws the proof for general randomizers; for identical, non-adaptive, pure ε₀-LDP randomizers the
pair is valid by another argument (binary randomized response's blanket dominates every other).
"""

import math

import numpy as np

from shufflelib import arguments
from shufflelib.closed_form.regime import require
from shufflelib.logspace import PMF_ERROR, UNIT, log_binomial_pmf
from shufflelib.tradeoff import polygon
from shufflelib.tradeoff.functions import TradeoffFunction
from shufflelib.tradeoff.mixtures import hidden_swap
from shufflelib.tradeoff.polygon import Polygon

LISTED_ATOMS = 1_000_000
SCANNED = 64  # thresholds
REACH = 9.0  # standard deviations kept of C and of A given C
CELLS = 20_000  # cells of equal width in log(a/b) once there are more atoms
MOST_USERS = 1_000_000


def _swap(eps0):
    """Return w = 1/(e^ε₀ + 1)."""
    return 1.0 / (math.exp(eps0) + 1.0)


def _parameters(eps0, n):
    eps0, n = arguments.local_budget(eps0), arguments.users(n)
    if n > MOST_USERS:
        raise ValueError(
            f"n must be at most {MOST_USERS}, got {n}; for more users use from_profile on VariationRatioPair"
        )
    return n, eps0


def _window(count, rate):
    """Return the first and last value kept of a binomial law, and a bound on the mass beyond."""
    spread = REACH * (math.sqrt(count * rate * (1.0 - rate)) + REACH / 3.0 + 1.0)
    first, last = max(0, math.floor(count * rate - spread)), min(count, math.ceil(count * rate + spread))
    return first, last, (0.0 if first == 0 and last == count else 2.0 * math.exp(-0.5 * REACH**2))


def _log_clones(c, n, eps0):
    """Return log P(C = c), from the rarer of clones and others, so that neither rate is a difference."""
    if n == 1:
        return np.zeros(c.size)
    if eps0 > 1.0:
        return log_binomial_pmf(c, n - 1, 2.0 / (math.exp(eps0) + 1.0))
    return log_binomial_pmf(n - 1 - c, n - 1, math.tanh(0.5 * eps0))


def _blocks(n, eps0):
    """Yield a, b, log p₀ for blocks of values of C; then the mass left out is at most `_left_out`."""
    first, last, _ = _window(n - 1, 2.0 * _swap(eps0))
    for start in range(first, last + 1, 64):
        c = np.arange(start, min(start + 64, last + 1))
        weight = _log_clones(c, n, eps0)
        low, _, _ = _window(int(c[0]), 0.5)
        _, high, _ = _window(int(c[-1]), 0.5)
        heads = np.arange(low, high + 1)
        a, total = np.meshgrid(heads, c)
        log_mass = weight[:, None] + log_binomial_pmf(a, total, 0.5)
        inside = a <= total
        yield a[inside] + 1.0, (total - a)[inside].astype(float), log_mass[inside]


def _left_out(n, eps0):
    first, last, beyond = _window(n - 1, 2.0 * _swap(eps0))
    return beyond + (0.0 if _window(last, 0.5)[2] == 0.0 else 2.0 * math.exp(-0.5 * REACH**2))


def _error(n):
    """Relative error of a mass: two binomial masses, w rounded."""
    return 2 * PMF_ERROR * (1.0 + 5.0 * REACH**2 / 10.0) + 32 * UNIT * (1.0 + REACH * math.sqrt(n))


def _listed(n, eps0):
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
    pair = polygon.pair_of(
        log_p, log_q, loss, mass_error=error + 4 * UNIT * finite, loss_error=4 * UNIT * (1.0 + finite)
    )
    return pair, pair


def _binned(n, eps0):
    """Return pairs below and above, atoms gathered in cells of log(a/b)."""
    widest = max(float(np.abs(np.log(a[b > 0] / b[b > 0])).max()) for a, b, _ in _blocks(n, eps0))
    edges = np.linspace(-widest, widest, CELLS + 1)
    pooled, first_share, only_p = np.zeros(CELLS), np.zeros(CELLS), 0.0
    for a, b, log_mass in _blocks(n, eps0):
        mass, seen = np.exp(log_mass), b > 0.0
        only_p += mass[~seen].sum()
        loss = np.log(a[seen] / b[seen])
        cell = np.clip(np.searchsorted(edges, loss, side="right") - 1, 0, CELLS - 1)
        share = np.expm1(edges[cell + 1] - loss) / np.expm1(edges[cell + 1] - edges[cell])
        share = np.clip(share, 0.0, 1.0)
        pooled += np.bincount(cell, mass[seen], CELLS)
        first_share += np.bincount(cell, mass[seen] * share, CELLS)
    ends = [(first_share, edges[:-1]), (np.maximum(pooled - first_share, 0.0), edges[1:])]
    p = np.concatenate([part for part, _ in ends] + [[only_p, 0.0]])
    q = np.concatenate([part * np.exp(-loss) for part, loss in ends] + [[0.0, only_p]])
    error = _error(n) + 1e-12
    used = (p > 0.0) | (q > 0.0)
    below = polygon.pair_of_masses(p[used], q[used], mass_error=error)
    q_pooled = sum(part * np.exp(-loss) for part, loss in ends)
    p, q = np.append(pooled, [only_p, 0.0]), np.append(q_pooled, [0.0, only_p])
    used = (p > 0.0) | (q > 0.0)
    return below, polygon.pair_of_masses(p[used], q[used], mass_error=error)


def _with_left_out(pair, mass, *, below):
    """Return the pair with the mass left out: told apart perfectly, or not at all."""
    if mass == 0.0:
        return pair
    log_mass = math.log(mass)
    extra = np.array([log_mass, -np.inf]) if below else np.array([log_mass])
    loss = np.array([np.inf, -np.inf]) if below else np.zeros(1)
    return polygon.pair_of(
        np.append(pair.log_p, extra),
        np.append(pair.log_q, extra[::-1]),
        np.append(pair.loss, loss),
        mass_error=np.append(pair.mass_error, np.zeros(extra.size)),
        loss_error=np.append(pair.loss_error, np.zeros(extra.size)),
    )


def conditioned_on_clones(*, eps0, n):
    r"""Return T(P₀, Q₀) of the clone pair, by conditioning on the number of clones.

    .. math:: \alpha_0(t) = \sum_i w_i F_i\Bigl(i - \frac{i+1}{t+1}\Bigr), \qquad
              \beta_0(t) = \sum_i w_i \Bigl(1 - F_i\Bigl(i + 1 - \frac{i+1}{t+1}\Bigr)\Bigr)

    at the knots t = a/b, F_i the distribution function of Bin(i, 1/2).

    Parameters
    ----------
    eps0 : float
        Local budget in nats, at most 700.
    n : int
        Number of all users, at most 10⁶.

    Returns
    -------
    TradeoffFunction
        A polygon with knots at all ratios a/b while there are at most 10⁶ of them; beyond, they are
        gathered in 20000 cells of log(a/b), pushed apart below and pooled above.  What lies more than
        9 standard deviations out, below 1e-17, is told apart below and not at all above.

    Notes
    -----
    Cost O(n).  Source: Proposition 4.1.  Errata: the proof prints β without the 1 − in two places.
    """
    n, eps0 = _parameters(eps0, n)
    first, last, _ = _window(n - 1, 2.0 * _swap(eps0))
    low, high, _ = _window(last, 0.5)
    listed = (last - first + 1) * (high - low + 1) <= LISTED_ATOMS
    below, above = _listed(n, eps0) if listed else _binned(n, eps0)
    mass = _left_out(n, eps0)
    lower = Polygon(_with_left_out(below, mass, below=True))
    upper = lower if above is below and mass == 0.0 else Polygon(_with_left_out(above, mass, below=False))
    return TradeoffFunction(
        lower,
        upper,
        statement=f"the clones of n={n} users with eps0={eps0:g}, the swap not counted",
        source="Proposition 4.1",
    )


def clone_pair(*, eps0, n):
    """Return T(P, Q) of the clone pair itself, nothing given away; parameters as for `shuffle_bound`."""
    n, eps0 = _parameters(eps0, n)
    f = conditioned_on_clones(eps0=eps0, n=n)
    parts = []
    for side in dict.fromkeys((f.low, f.high)):
        parts.append(Polygon(_swapped(side.pair, _swap(eps0))))
    return TradeoffFunction(
        parts[0],
        parts[-1],
        statement=f"the clone pair of n={n} users with eps0={eps0:g}",
        source="the clone pair, exact",
    )


def _swapped(pair, w):
    keep, swap = math.log1p(-w), math.log(w)
    log_p = np.logaddexp(pair.log_p + keep, pair.log_q + swap)
    log_q = np.logaddexp(pair.log_q + keep, pair.log_p + swap)
    # log((1−w)e^ℓ + w) − log((1−w) + w e^ℓ), odd in ℓ
    size = np.abs(pair.loss)
    with np.errstate(invalid="ignore", over="ignore"):
        gain = np.log1p((1.0 - 2.0 * w) * -np.expm1(-size) / (w + (1.0 - w) * np.exp(-size)))
    loss = np.sign(pair.loss) * gain
    error = pair.mass_error + 16 * UNIT * (1.0 + keep - swap)
    return polygon.pair_of(
        log_p,
        log_q,
        loss,
        mass_error=error + 4 * UNIT * np.maximum(np.abs(log_p), np.abs(log_q)),
        loss_error=pair.loss_error + 16 * UNIT * (1.0 + np.abs(loss)),
    )


def shuffle_bound(*, eps0, n):
    r"""Return :math:`C(f_{\mathrm{Shuffle}})`, which bounds the clone pair from below.

    .. math:: f_{\mathrm{Shuffle}} = 2w\,\mathrm{Id} + (1-2w)\,T(P_0, Q_0),
              \qquad w = \frac{1}{e^{\varepsilon_0}+1}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, at most 700.
    n : int
        Number of all users, the one who changes included, at most 10⁶.

    Returns
    -------
    TradeoffFunction
        ``.lower`` is the safe end.

    Notes
    -----
    Source: Theorem 4.2; symmetric, so that Proposition 6.4 applies as it stands.  Errata: its proof claims
    equality with the clone pair's own function; that fails for n = 1 already, where the pair is
    randomized response with f(0) = 1 and the bound starts at 2w.
    """
    n, eps0 = _parameters(eps0, n)
    bound = hidden_swap(conditioned_on_clones(eps0=eps0, n=n), weight=_swap(eps0))
    bound.statement, bound.source = f"f_Shuffle for n={n}, eps0={eps0:g}", "Theorem 4.2"
    return bound


def delta_corollary43(*, eps0, n, eps):
    r"""Return Corollary 4.3's δ(ε), its choice of threshold as printed.

    .. math:: \delta(\varepsilon) = 1 - e^{\varepsilon}\alpha_0(t) - 2w(1-\alpha_0(t)) - (1-2w)\beta_0(t),
              \quad t = \inf\{t : -e^{\varepsilon} + 2w - (1-2w)\,l(t) \le 0\},

    .. math:: l(t) = -\frac{\sum_i w_i\,p_i(\lfloor i + 1 - \frac{i+1}{t+1}\rfloor)}
              {\sum_i w_i\,p_i(\lfloor i - \frac{i+1}{t+1}\rfloor)}

    Parameters
    ----------
    eps0, eps : float
        Local and central budget in nats.
    n : int
        Number of all users, 2 to 2000.

    Returns
    -------
    float
        A number in [0, 1], never above ``shuffle_bound(...).delta(eps)``, which is the bound itself.

    Raises
    ------
    OutOfRegime
        If no threshold meets the printed condition.

    Notes
    -----
    Errata: the proof sets f(α(t)) = β(t); the blended value is meant, as in the first line here.
    l(t) is an average over i of slopes at the last atom up to t, not the slope −1/t of f₀ at its
    knot (the proof restricts itself to differentiable points, of which there are none between knots);
    t is then not the maximiser and δ comes out *below* the conjugate: an approximation of the bound
    from the wrong side.  For ε₀ = log 3, n = 2, ε = log 2 it is 1/8, the pair's own δ is 3/16.
    """
    eps0, n = arguments.local_budget(eps0), arguments.count(n, "n", at_least=2, at_most=2000)
    eps = arguments.real(eps, "eps", at_least=0.0, at_most=700.0, remedy="eps is in nats")
    w, i = _swap(eps0), np.arange(n)
    weight = np.exp(_log_clones(i, n, eps0))
    pair = conditioned_on_clones(eps0=eps0, n=n).low.pair
    spent, kept = Polygon(pair).knots
    losses = np.unique(pair.loss[np.isfinite(pair.loss)])

    def slope(log_t):
        cut = np.floor((i + 1) / (1.0 + math.exp(-log_t)) * (1 + 4 * UNIT)) - 1.0  # i − (i + 1)/(t + 1)
        reach, base = (weight @ np.exp(log_binomial_pmf(part, i, 0.5)) for part in (cut + 1.0, cut))
        return reach / base if base > 0.0 else math.inf

    def meets(knot):
        return -math.exp(eps) + 2.0 * w + (1.0 - 2.0 * w) * slope(losses[knot]) <= 0.0

    require(meets(losses.size - 1), "a threshold t that meets the printed condition", f"eps = {eps!r}")
    low, high = 0, losses.size - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle + 1, high)
    # l(t) is not quite monotone: look a little before what bisection finds
    low = next(knot for knot in range(max(low - SCANNED, 0), low + 1) if meets(knot))
    knot = int(np.searchsorted(pair.loss, losses[low], side="right"))
    alpha, beta = spent[knot], kept[knot]
    value = 1.0 - math.exp(eps) * alpha - 2.0 * w * (1.0 - alpha) - (1.0 - 2.0 * w) * beta
    return min(max(value, 0.0), 1.0)

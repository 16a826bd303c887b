r"""Rényi moments of shuffled reports: a lattice sum, certified on both sides at a cost flat in n.

Let a report under its reference measure take three values: less likely under the first input (density ratios
:math:`u_0 < v_0`), more likely (:math:`u_1 > v_1`), or equally likely (:math:`u_2 = v_2`, zero for
a report outside the support of w).  With the counts (a, b, c) of n such reports, trinomial with masses m,

.. math:: e^{(\lambda-1)D_\lambda} - 1 = \frac1n\,\mathbb E\bigl[V\varphi(U/V)\bigr],\qquad
          U = u_0a + u_1b + u_2c,\quad V = v_0a + v_1b + v_2c,

with :math:`\varphi(r) = r^\lambda - 1 - \lambda(r-1) \ge 0`, so that nothing cancels.

* **Few nodes.** The summand f(a, s), s = a + b, is analytic in each variable where the real parts of
  U and V are positive: in a strip around the window.  Summing every k-th point, k times, instead of
  every point changes the sum by at most

  .. math:: 2\Bigl(\frac1{e^{2\pi\tau/k}-1} + \frac1{e^{2\pi\tau}-1}\Bigr) \int \bigl|f(x \pm i\tau)\bigr|\,dx

  plus what sits on the border (residues of the cotangent).  With |1/Γ(x+iy)| ≤ e^{y²ψ'(x)/2}/Γ(x)
  the modulus is at most a real function, whose integral is bounded cell by cell: the logarithm of
  the trinomial mass is concave, everything else is monotone in affine functions of (a, s).
  At k = 0.7 standard deviations this is 1e-17 of the sum; k = 1 costs nothing.
* **Tails.** Outside the window boxes (intervals of a and of s) carry at most Chernoff's bound of
  their mass times the largest :math:`V\varphi(U/V)`, which rises with |U − V| and falls with V.
* **Rounding** of masses, ratios and kernel is charged to both bounds.
"""

import math

import numpy as np

from shufflelib.numerics.logspace import UNIT, binomial_pmf_error, log1mexp, log_binomial_pmf, logsumexp
from shufflelib.profiles.connect_the_dots import log_renyi_kernel
from shufflelib.profiles.renyi_lattice_errors import box_edges, log_aliases, log_tails

LARGEST_ORDER = 1e9  # tried up to here
COMPLETE = 8 * UNIT  # missing mass that is the rounding of masses that leave nothing
MOST_NODES = 1_500_000  # a window with more is refused; one takes about a second
STRIDE = 0.7  # first distance of the nodes, in standard deviations
REACH = 9.7  # first distance from a peak to the window's end, in standard deviations
DEPTH = 38.0  # peaks lower by so many nats are ignored
AIM = 1e-9  # relative size of tails and aliases at which the window is wide and the stride fine enough
ROUNDS = 8
USABLE = 1e-3  # of the moment's logarithm, relative where that is large; a wider bracket is not returned
SMALLEST = float(np.finfo(float).tiny)
FARTHEST = 1e100  # ratio of densities
LARGEST = 1e138  # density; the square of what 1e15 of them add up to is still a float


class RenyiSum:
    """The lattice sum of one blanket pair; `of` builds it where the pair has at most three values."""

    def __init__(self, n, first, second, mass, precision):
        self.n, self.precision = n, precision
        self.u, self.v, self.mass = first, second, mass
        self.gain = first - second  # gain[2] is 0
        self.share = mass[0] + mass[1]
        self.rho, self.rest = mass[0] / self.share, mass[1] / self.share

    @classmethod
    def of(cls, ratios, n):
        """Return the sum for finite likelihood ratios, or None where they have more than three values."""
        u, v, m = ratios.r0_over_w, ratios.r1_over_w, ratios.w
        more, less, same = (np.flatnonzero(which) for which in (u > v, u < v, u == v))
        missing = 1.0 - math.fsum(m)
        null = missing > 8.0 * ratios.precision
        complete = missing <= COMPLETE and not ratios.below_both
        decided = null or complete  # whether anything is missing at all
        if (
            ratios.r0_outside > 0.0
            or ratios.r1_outside > 0.0
            or ratios.cell_width > 0.0
            or max(u.max(), v.max()) > LARGEST
            or not decided
            or more.size != 1
            or less.size != 1
            or same.size + null > 1
            or u[more[0]] > FARTHEST * v[more[0]]
            or v[less[0]] > FARTHEST * max(u[less[0]], u[more[0]] / FARTHEST)
        ):
            return None
        keep = np.concatenate([*sorted((less, more), key=lambda one: m[one[0]]), same])  # the rarer one first
        first, second, mass = (
            np.append(part[keep], np.zeros(3 - keep.size)) if keep.size < 3 else part[keep]
            for part in (u, v, m)
        )
        if null:
            mass = np.append(mass[:2], missing)
        return cls(n, first, second, mass, ratios.precision)

    # ---- the summand -------------------------------------------------------------------------

    def _log_summand(self, a, s, order):
        """Return log f at lattice points and the logarithm of its error."""
        b, c = s - a, self.n - s
        valid = b >= 0.0
        b = np.where(valid, b, 0.0)
        log_weight = self._log_share(a, b, s)
        lean = 2.0 * np.abs(a - s * self.rho)
        slack = binomial_pmf_error(np.where(valid, log_weight, 0.0))
        if self.mass[2] > 0.0:
            other = log_binomial_pmf(s, self.n, self.share)
            log_weight = log_weight + other
            lean = lean + np.abs(s - self.n * self.share) / self.mass[2]
            slack = slack + binomial_pmf_error(other)
        slack = slack + 2.0 * self.precision * (1.0 + lean)
        terms = np.stack([np.broadcast_to(part, log_weight.shape) for part in (a, b, c)])
        big_u, big_v = (np.tensordot(part, terms, 1) for part in (self.u, self.v))
        gap = self.gain[0] * a + self.gain[1] * b
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(gap >= 0.0, np.log1p(gap / big_v), -np.log1p(-gap / big_u))
            # U and V are sums of positive terms; their difference rounds on the scale of their sum
            loss_error = 2.0 * self.precision + 4 * UNIT * (
                (big_u + big_v) / np.maximum(big_u, big_v) + np.abs(loss)
            )
            loss_error = np.where(np.isfinite(loss), loss_error, 0.0)
            kernel = log_renyi_kernel(loss, order)
            size = np.where(np.isfinite(kernel), np.abs(kernel), 0.0)
            slack = slack + (64.0 + 4.0 * size) * UNIT
            log_f = log_weight + np.log(big_v) + kernel
            # |φ'| = λ e^ℓ |e^{(λ−1)ℓ} − 1|
            reach = (order - 1.0) * (np.abs(loss) + loss_error)
            steep = math.log(order) + log1mexp(-reach) + order * loss_error
            steep = steep + order * np.maximum(loss, 0.0) + np.minimum(loss, 0.0)
            moved = log_weight + np.log(big_v) + np.where(np.isfinite(loss), steep, -np.inf)
            error = np.logaddexp(log_f + np.log(slack), moved + slack + np.log(loss_error))
        empty = ~valid | (big_v <= 0.0)
        return np.where(empty, -np.inf, log_f), np.where(empty | np.isnan(error), -np.inf, error)

    # ---- where the summand lives ---------------------------------------------------------------

    def _tilted(self, order, start):
        """Return a stationary point of log(mass · U^λ V^{1−λ}) as counts, by damped iteration."""
        counts = np.array(start, float)
        live = self.mass > 0.0
        for _ in range(400):
            pull = order * self.u / (self.u @ counts) - (order - 1.0) * self.v / (self.v @ counts)
            with np.errstate(divide="ignore", over="ignore"):
                log_next = np.where(live, np.log(self.mass) + pull, -np.inf)
                goal = np.exp(log_next - logsumexp(log_next)) * self.n
                following = np.where(live, np.sqrt(np.maximum(goal, 1e-9) * np.maximum(counts, 1e-9)), 0.0)
            following *= self.n / following.sum()
            if np.max(np.abs(following - counts)) < 1e-3 * math.sqrt(
                counts.min(where=live, initial=self.n) + 1.0
            ):
                return following
            counts = following
        return counts

    def _highest_on_a_grid(self, order):
        """Return the counts, their total at its mean, at which log(mass · U^λ V^{1−λ}) is largest."""
        part = 1.0 / (1.0 + np.exp(np.linspace(-45.0, 45.0, 1801)))
        total = self.n * self.share
        counts = np.stack([total * part, total * part[::-1], np.full(part.size, self.n - total)])
        live = self.mass > 0.0
        most_likely = self.n * self.mass[live, None]
        lean = counts[live] * (np.log(np.maximum(counts[live], SMALLEST)) - np.log(most_likely))  # 0 for 0
        height = order * np.log(self.u @ counts) - (order - 1.0) * np.log(self.v @ counts) - lean.sum(axis=0)
        return counts[:, int(np.argmax(height))]

    def _spread(self, counts, order):
        """Return standard deviations of a and of s around given counts."""
        inverse = 1.0 / (counts + 1.0)
        along_a = np.array([1.0, -1.0, 0.0])
        along_s = np.array([0.0, 1.0, -1.0])
        big_v = self.v @ counts
        convex = (order - 1.0) * np.outer(self.v, self.v) / big_v**2
        hessian = np.diag(inverse)
        pieces = {}
        for with_ratio in (True, False):
            form = hessian - convex if with_ratio else hessian
            aa, ss, cross = along_a @ form @ along_a, along_s @ form @ along_s, along_a @ form @ along_s
            if self.mass[2] == 0.0:
                ss, cross = 1.0, 0.0
            det = aa * ss - cross**2
            pieces[with_ratio] = (ss / det, aa / det) if aa > 0.0 and det > 0.0 else None
        plain, tilted = pieces[False], pieces[True] or pieces[False]
        return tuple(math.sqrt(min(max(t, p), 9.0 * p)) for t, p in zip(tilted, plain, strict=True))

    def _centres(self, order):
        """Return (log height, counts, standard deviations) of the places where the summand is large."""
        mean = self.n * self.mass
        found = []
        spread = self._spread(mean, 1.0)
        for side in (-1.5, 1.5):
            counts = mean + side * spread[0] * np.array([1.0, -1.0, 0.0])
            found.append((counts, mean, spread))
        more = self.gain > 0.0
        unequal = self.n * self.share * np.where(more, 1.0 - 1e-6, 1e-6)
        no_less = np.where(self.gain == 0.0, mean, unequal)
        only_more = self.n * np.where(self.mass > 0.0, np.where(more, 1.0 - 2e-9, 1e-9), 0.0)
        for start in (mean, no_less, only_more, self._highest_on_a_grid(order)):
            counts = self._tilted(order, start)
            found.append((counts, counts, self._spread(counts, order)))
        centres = []
        for probe, counts, deviations in found:
            s = np.clip(np.rint(probe[0] + probe[1]), 1.0, self.n)
            s = s if self.mass[2] > 0.0 else float(self.n)
            a = np.clip(np.rint(probe[0]), 0.0, s)
            height = self._log_summand(np.array([a]), np.array([s]), order)[0][0]
            centres.append((height, counts, deviations))
        return centres

    def _window(self, order, reach):
        """Return the ranges of a and of s in which the summand is evaluated."""
        centres = self._centres(order)
        top = max(height for height, _, _ in centres)
        ends_a, ends_s = [], []
        for height, counts, (spread_a, spread_s) in centres:
            if height > top - DEPTH:
                total = counts[0] + counts[1]
                ends_a += [counts[0] - reach * spread_a - 2.0, counts[0] + reach * spread_a + 2.0]
                ends_s += [total - reach * spread_s - 2.0, total + reach * spread_s + 2.0]
        best = max(centres, key=lambda centre: centre[0])[1]
        return (min(ends_a), max(ends_a)), (min(ends_s), max(ends_s)), best

    # ---- the sum ---------------------------------------------------------------------------------

    def log_moment(self, order):
        r"""Enclose :math:`\log(e^{(\lambda-1)D_\lambda} - 1)`; None where that takes too many nodes."""
        reach, stride, low, high = REACH, STRIDE, -math.inf, math.inf
        for _ in range(ROUNDS):
            trial = self._attempt(order, reach, stride)
            if trial is None:
                break
            lower, upper, tails, aliases = trial
            low, high = max(low, lower), min(high, upper)
            aim = math.log(AIM * max(1.0, low))  # relative to the logarithm, which is what counts
            if max(tails, aliases) <= aim:
                break
            reach *= 1.5 if tails > aim else 1.0
            stride *= 0.75 if aliases > aim else 1.0
        return (low, high) if 0.0 <= high - low < USABLE * max(1.0, abs(low)) else None

    def _attempt(self, order, reach, stride):
        n, flat = self.n, self.mass[2] == 0.0
        (a_low, a_high), (s_low, s_high), best = self._window(order, reach)
        a_low, a_high = max(math.floor(a_low), 0.0), min(math.ceil(a_high), float(n))
        s_low, s_high = max(math.floor(s_low), 1.0), min(math.ceil(s_high), float(n))
        if flat:
            s_low = s_high = float(n)
        a_high = min(a_high, s_high)
        k = self._strides(order, best, stride, (a_low, a_high, s_low, s_high))
        a_count = math.floor((a_high - a_low) / k[0]) + 1
        s_count = math.floor((s_high - s_low) / k[1]) + 1
        if a_count * s_count > MOST_NODES:
            return None
        a = (a_low + k[0] * np.arange(a_count))[:, None]
        s = (s_low + k[1] * np.arange(s_count))[None, :]
        log_f, log_error = self._log_summand(a, s, order)
        total = logsumexp(log_f)
        if total == -math.inf:
            return None
        size = math.log(k[0] * k[1])
        aliases = -math.inf
        for axis in (0, 1):
            if k[axis] > 1.0:
                log_mass = self._log_mass(a, s)
                aliases = float(
                    np.logaddexp(aliases, log_aliases(self, a, s, k, axis, log_mass, log_f, order))
                )
        ends_a = (a[0, 0] - 0.5 * k[0], a[-1, 0] + 0.5 * k[0])
        ends_s = (s[0, 0] - 0.5 * k[1], s[0, -1] + 0.5 * k[1])
        a_edges = box_edges(*ends_a, -0.5, n + 0.5, max(k[0], 1.0))
        s_edges = np.array([n - 0.5, n + 0.5]) if flat else box_edges(*ends_s, 0.5, n + 0.5, max(k[1], 1.0))
        inside = ((a_edges[:-1] >= ends_a[0]) & (a_edges[1:] <= ends_a[1]))[:, None] & (
            (s_edges[:-1] >= ends_s[0]) & (s_edges[1:] <= ends_s[1])
        )[None, :]
        tails = log_tails(self, a_edges, s_edges, inside, order)
        total += size
        error = logsumexp(log_error) + size
        ulps = 8 * (UNIT + self.precision) * (4.0 + abs(total) + math.log(n))
        spread = float(np.logaddexp(error, aliases))
        upper = float(np.logaddexp(np.logaddexp(total, spread), tails)) + ulps
        gap = spread - total
        lower = total + math.log1p(-math.exp(gap)) - ulps if gap < -1e-12 else -math.inf
        return lower - math.log(n), upper - math.log(n), tails - total, aliases - total

    def _log_share(self, a, b, s):
        """Return log P(a of s), from the rarer of the two, whose chance is the more precise."""
        return log_binomial_pmf(a, s, self.rho) if self.rho <= 0.5 else log_binomial_pmf(b, s, self.rest)

    def _log_mass(self, a, s):
        value = self._log_share(a, s - a, s)
        return value + log_binomial_pmf(s, self.n, self.share) if self.mass[2] > 0.0 else value

    def _strides(self, order, counts, stride, window):
        """Return odd strides along a and s, 1 wherever the window comes near the lattice's border."""
        a_low, a_high, s_low, s_high = window
        big_u = self.u @ counts
        strides = []
        for parts, step, room in (
            ((0, 1), np.array([1.0, -1.0, 0.0]), min(a_low, s_low - a_high)),
            ((1, 2), np.array([0.0, 1.0, -1.0]), min(s_low - a_high, self.n - s_high)),
        ):
            bend = sum(1.0 / (counts[j] + 0.5) for j in parts)
            bend += max(order - 2.0, 0.0) * (self.u @ step / big_u) ** 2
            k = 2.0 * math.floor(0.5 * stride / math.sqrt(bend)) - 1.0
            strides.append(k if k >= 3.0 and room > 4.0 * k else 1.0)
        if self.mass[2] == 0.0:
            strides[1] = 1.0
        return strides

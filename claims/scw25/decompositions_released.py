"""The code released with the decomposition bounds: rounding, rows of its table, its lower bounds."""

import math
import random
from fractions import Fraction

import numpy as np

from claims import exact_channels, exact_shuffle
from claims.claim import Check, Finding, Verdict, holds_if, refuted_if
from claims.exact_count_pair import printed, witness
from claims.exact_losses import blanket, expected_positive_part, losses, summed
from claims.exact_tests import random_channel
from claims.failure_curve import LOWER, Along, within
from shufflelib import randomizers, shuffle

CELLS = 1200  # to the largest loss e − 1
N, RISK = 4000, 1e-6


def rounded(distribution, step, direction=math.ceil):
    """Return the distribution of G with every value moved to the grid."""
    return summed((direction(value / step) * step, mass) for value, mass in distribution.items())


def on_grid(values, masses, eps0, direction=np.ceil, n=N):
    """Return (1/n) E(sum of n)₊ by the released scheme: losses on its grid, one transform.

    The sum is folded on a ring of 24 standard deviations, which it does not fill.
    """
    step = math.expm1(eps0) / CELLS
    cells, masses = direction(values / step), masses / masses.sum()
    mean = float(masses @ cells)
    deviation = math.sqrt((float(masses @ cells**2) - mean**2) * n)
    size = 1 << math.ceil(math.log2(24 * deviation))
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    middle = round(n * mean)
    factor = sum(m * np.exp(-1j * angle * (k - mean)) for m, k in zip(masses, cells, strict=True))
    ring = np.fft.irfft(factor**n * np.exp(1j * angle * (middle - n * mean)), size)
    place = np.fft.fftfreq(size, 1 / size) + middle
    return step * float(np.maximum(ring, 0.0) @ np.maximum(place, 0.0)) / n


def _response(eps0, d, attacked):
    """Return losses of d-ary response under the blanket, or under the distribution of a third option."""
    e = math.exp(eps0)
    shared, masses = (1 / e, [1, d - 3, e, 1]) if attacked else (0.0, [1, d - 2, e - 1, 1])

    def at(eps):
        ratio = math.exp(eps)
        values = [1 - e * ratio, 1 - ratio, (1 - ratio) * shared, e - ratio]
        return np.array(values), np.array(masses) / (e + d - 1)

    return at


def _released(eps0, d, eps, attacked, n=N):
    """Return the released δ at one ε."""
    return on_grid(*_response(eps0, d, attacked)(eps), eps0, n=n)


def _rounding_up(effort):
    rng, cases = random.Random(effort.seed), 2 * effort.points
    for _ in range(cases):
        channel, n = random_channel(rng, 2), rng.randint(1, 3)
        ratio = 1 + Fraction(rng.randint(0, 8), 8)
        distribution = losses(*channel, blanket(channel), ratio)
        if expected_positive_part(
            rounded(distribution, Fraction(1, rng.randint(3, 20))), n
        ) < expected_positive_part(distribution, n):
            return Finding(Verdict.REFUTED, "rounding up lost something")
    truth = shuffle(randomizers.generalized_rr(eps0=0.1, d=100), n=N).epsilon(RISK).upper
    above = 1.15 * truth
    still = _released(0.1, 100, above, attacked=False)
    evidence = (
        f"{cases} exact cases; eps0 = 0.1, 100 options, n = 4000, delta = 1e-6: 15 % above the certified "
        f"{truth:.6f} the released bound is still {still:.3g}"
    )
    return holds_if(still > RISK, evidence)


def _lower_bound(effort):
    upper = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=N).epsilon(RISK).upper
    above = 1.015 * upper
    still = _released(1.0, 10, above, attacked=True)
    steps = (
        "ten options, eps0 = 1, n = 4000, delta = 1e-6; grid step (e - 1)/1200",
        f"certified upper bound for every dataset: epsilon <= {upper:.6f}",
        f"released lower bound, losses rounded up: delta >= {still:.4g} at epsilon = {above:.6f}",
    )
    evidence = f"the 'lower bound' exceeds {above:.6f}, the certified upper bound is {upper:.6f}"
    return refuted_if(still > RISK, evidence, steps)


def _lower_bound_in_fractions():
    channel, ratio = exact_shuffle.randomized_response(3, 10), Fraction(8, 7)
    distribution = losses(channel[0], channel[1], channel[2], ratio)
    found, truth = (
        expected_positive_part(one, 2) for one in (rounded(distribution, Fraction(2, CELLS)), distribution)
    )
    others = exact_shuffle.delta(channel, 0, 1, (2,), ratio)
    steps = (
        "ten options, e^eps0 = 3, n = 2, the other holds a third option, e^epsilon = 8/7, step 2/1200",
        f"'lower bound' {printed(found)}",
        f"the delta of that dataset, twice: {printed(truth)}, {printed(others)}",
    )
    refuted = found > truth == others
    return refuted_if(refuted, "in exact fractions", steps)


def _attacked_by_users(n):
    """Return 10⁶ δ of ten options at ε = 2.4/√n, ε₀ = 1, at most, and by the released lower bound."""
    eps = 2.4 / math.sqrt(n)
    upper = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=n).delta(eps).upper
    return 1e6 * upper, 1e6 * _released(1.0, 10, eps, attacked=True, n=n)


# ---------------------------------------------------------------- the row for every mechanism


def _generic_row(e, ratio):
    return summed([(1 - e * ratio, 1 / (2 * e)), (e - ratio, 1 / (2 * e)), (Fraction(0), 1 - 1 / e)])


def _generic_for(n):
    """Return (true δ, the row's) of binary response at e^ε₀ = 3, e^ε = 3/2."""
    e, ratio = Fraction(3), Fraction(3, 2)
    truth, _ = exact_shuffle.worst_delta(exact_shuffle.randomized_response(e, 2), n, ratio)
    return truth, expected_positive_part(_generic_row(e, ratio), n)


def _generic_at_zero(n=10**6, eps0=2.0):
    """Return δ(0) of three options, and the row's: (e − 1)/n times a symmetric walk of Bin(n, 1/e) steps."""
    e = math.exp(eps0)
    claimed = (e - 1) * math.sqrt(1 / e / n / (2 * math.pi))
    return shuffle(randomizers.generalized_rr(eps0=eps0, d=3), n=n).delta(0.0).lower, claimed + 1e-6


# ---------------------------------------------------------------- RAPPOR on few options


def _gamma(root, d):
    return 1 / root + (root - 1 / root) / (1 + root) ** d


def _row(root, d, ratio, moved):
    """Return RAPPOR's row with what few options move from the loss e - eE."""
    e, t = root**2, (root + 1) ** 2
    rows = [(1 - e * ratio, 1 / t), (e - ratio, 1 / t), (0 * e, 1 - _gamma(root, d))]
    return [*rows, (e - e * ratio, 1 / (root * t) - moved), (1 - ratio, root / t + e * moved)]


def _coded(root, d, ratio):
    """Return the row as coded: a power misplaced, and divided by γ."""
    return _row(root, d, ratio, 1 / root / _gamma(root, d) / (1 + root**d))


def _meant(root, d, ratio):
    return _row(root, d, ratio, 1 / root / (1 + root) ** d)


def _rappor(effort):
    root, d, ratio = Fraction(11, 10), 3, Fraction(101, 100)
    rows = _coded(root, d, ratio)
    total, least = sum(mass for _, mass in rows), min(mass for _, mass in rows)
    steps = (
        "e^(eps0/2) = 11/10, D = 3, e^epsilon = 101/100",
        f"mass of e - eE as coded: {float(rows[3][1]):.6f}",
        f"sum of all masses as coded: {float(total):.6f}",
    )
    evidence = f"a mass of {float(least):.4f} and a sum of {float(total):.4f}"
    return refuted_if(least < 0 and total > 1, evidence, steps)


def _rappor_by_enumeration():
    root, d, ratio = Fraction(11, 10), 3, Fraction(101, 100)
    channel = exact_channels.rappor(root, d)
    distribution = losses(channel[0], channel[1], blanket(channel), ratio)
    e = root**2
    mass, coded = distribution[e - e * ratio], _coded(root, d, ratio)[3][1]
    meant = summed(_meant(root, d, ratio)) == distribution
    steps = (
        f"all 8 reports listed: mass of e - eE {float(mass):.6f}, as coded {float(coded):.6f}",
        f"with a parenthesis and no division by gamma all masses agree exactly: {meant}",
    )
    return refuted_if(meant and mass > 0 > coded, "by enumeration", steps)


def _rappor_by_options(d):
    """Return the probability of the loss e - eE at ε₀ = 0.1, as meant and as coded."""
    return [row(math.exp(0.05), d, 1.01)[3][1] for row in (_meant, _coded)]


# ---------------------------------------------------------------- Hadamard response's attack


def _one_array():
    """Return 1 − q/w as coded under w, where p and w are one array, at ratio 1."""
    e = math.exp(0.1)
    a, b, c = (np.arange(8) >> bit & 1 for bit in range(3))
    w = e ** (a + c)
    return w / w.sum(), 1 - e**b / w, (e**a - e**b) / e**c, e**c / (e**c).sum()


def _aliased(effort):
    w, loss, meant, distribution = _one_array()
    mean = float(loss @ w)
    truth = shuffle(randomizers.hadamard(eps0=0.1, d=7), n=100_000).delta(0.0).upper
    steps = (
        "eps0 = 0.1, epsilon = 0: the mean of the losses is a lower bound of their mean positive part",
        f"mean as coded {mean:.6f}, with arrays of their own {float(meant @ distribution):.1g}",
        f"n = 10^5: certified delta of every dataset at most {truth:.6f}",
    )
    evidence = (
        f"the 'lower bound' at epsilon = 0 is {mean:.4f} for any n; the truth at n = 10^5 is below "
        f"{truth:.4f}"
    )
    return refuted_if(mean > truth, evidence, steps)


def _aliased_by_sampling():
    w, loss, _, _ = _one_array()
    drawn = np.random.default_rng(2).choice(loss, size=(200, 2000), p=w).mean(axis=1)
    low = np.maximum(drawn, 0).mean() - 5 * drawn.std() / math.sqrt(drawn.size)
    most = 0.5 * (math.exp(0.1) - 1) / math.sqrt(2000)  # half the deviation of the mean of losses up to e − 1
    steps = (f"n = 2000: mean positive part by sampling at least {low:.4f}; delta(0) is at most {most:.4f}",)
    return refuted_if(low > most, "by sampling", steps)


def _aliased_by_users(n):
    """Return the certified δ(0) of Hadamard response at ε₀ = 0.1, and the released lower bound."""
    w, loss, _, _ = _one_array()
    return shuffle(randomizers.hadamard(eps0=0.1, d=7), n=n).delta(0.0).upper, float(loss @ w)


def _twenty_cells(effort):
    eps0, cells = 0.05, 20
    y = np.linspace(0, 1, cells + 1)
    p = np.concatenate([[0.5], 0.5 * -np.diff(np.exp(-eps0 * y)), [0.5 * math.exp(-eps0)]])
    tail = 0.5 * math.exp(-eps0)
    w = 0.5 * np.abs(np.diff(np.exp(-eps0 * np.abs(y - 0.5)))) * math.exp(-eps0 / 2)
    w, q = np.concatenate([[tail], w, [tail]]), p[::-1]
    ratios = randomizers.laplace(eps0=eps0).input_pairs()[0].blanket
    fine = [ratios.w @ part for part in (ratios.r0_over_w**2, ratios.r0_over_w * ratios.r1_over_w)]
    coarse = np.sum(p * p / w), np.sum(p * q / w)
    lost = 1 - (coarse[0] ** 2 - coarse[1] ** 2) / (fine[0] ** 2 - fine[1] ** 2)
    steps = (f"two reports of budget 0.05: variance of the loss smaller by {lost:.3g} of itself in 20 cells",)
    evidence = (
        f"the coarsening proves {lost:.1g} less variance than the blanket has; no dataset above the result "
        "is known"
    )
    return Finding(Verdict.NOT_DECIDED if lost > 1e-7 else Verdict.HOLDS, evidence, steps)


CHECKS = {
    "scw25-code-rounding": Check(_rounding_up),
    "scw25-code-lower-bound": Check(
        _lower_bound,
        _lower_bound_in_fractions,
        Along((20, 60, 150, 300, 700, 1500, 4000), _attacked_by_users, LOWER),
    ),
    "scw25-code-generic": Check(
        witness(lambda: _generic_for(3)), witness(_generic_at_zero), Along(range(1, 11), _generic_for)
    ),
    "scw25-code-rappor": Check(
        _rappor,
        _rappor_by_enumeration,
        Along((3, 5, 10, 15, 20, 30, 40, 50, 70, 100, 140, 200, 300), _rappor_by_options, within(1e-3)),
    ),
    "scw25-code-hadamard": Check(
        _aliased,
        _aliased_by_sampling,
        Along((1, 2, 5, 10, 3000, 10_000, 30_000, 100_000), _aliased_by_users, LOWER),
    ),
    "scw25-code-laplace-cells": Check(_twenty_cells),
}

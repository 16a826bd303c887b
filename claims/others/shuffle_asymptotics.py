"""The limit of shuffling for many users: the shuffle index."""

import math
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from claims import exact_shuffle
from claims.claim import Check, Worded, holds_if, undecided
from claims.exact_losses import blanket
from claims.exact_tests import RATIOS, always, random_channel
from shufflelib import randomizers, shuffle
from shufflelib.published.central_limit import asymptotic_epsilon
from shufflelib.published.shuffle_index import gaussian_index, generalized_rr_index

# ---------------------------------------------------------------- the shuffle index


def _information(first, second, reference):
    return sum((a - b) ** 2 / w for a, b, w in zip(first, second, reference, strict=True))


def _collapse(rng):
    """Band without width exactly if some R(x*) equals the blanket wherever the two reports differ."""
    channel = (
        exact_shuffle.randomized_response(Fraction(rng.randint(5, 40), 4), rng.randint(2, 5))
        if rng.random() < 0.5
        else random_channel(rng)
    )
    first, second, reference = *channel[:2], blanket(channel)
    collapsed = any(
        all(r == w or a == b for a, b, r, w in zip(first, second, row, reference, strict=True))
        for row in channel
    )
    attack = max(_information(first, second, row) for row in channel)
    return (attack == _information(first, second, reference)) == collapsed and attack <= _information(
        first, second, reference
    )


def _response_collapses(rng):
    e, d = rng.choice((Fraction(rng.randint(5, 40), 4), *RATIOS)), rng.randint(2, 12)
    channel = exact_shuffle.randomized_response(e, d)
    ends = (
        _information(*channel[:2], blanket(channel)),
        max(_information(*channel[:2], row) for row in channel),
    )
    known = ends[0] == 2 * (e - 1) ** 2 / (e + d - 1)
    return known and (ends[0] == ends[1]) == (d >= 3)


LIMITS = (
    (
        "10 options, eps0 = 4",
        lambda: randomizers.generalized_rr(eps0=4.0, d=10),
        generalized_rr_index(eps0=4.0, d=10),
    ),
    (
        "3 options, eps0 = 1",
        lambda: randomizers.generalized_rr(eps0=1.0, d=3),
        generalized_rr_index(eps0=1.0, d=3),
    ),
)


def _one_number(effort):
    steps, good = [], True
    for name, build, index in LIMITS:
        ratios = []
        for n in (10**4, 10**8) if effort.points < 64 else (10**4, 10**6, 10**8, 10**10):
            delta = 1e-3 / math.sqrt(n)  # so that epsilon stays the same number of deviations
            found = shuffle(build(), n=n).epsilon(delta)
            limit = asymptotic_epsilon(chi=index.blanket, n=n, delta=delta)
            ratios.append((found.lower / limit - 1, found.upper / limit - 1))
            steps.append(
                f"{name}, n = {n:.0e}: certified over limit - 1 = {ratios[-1][0]:.2e} to {ratios[-1][1]:.2e}"
            )
        good &= max(map(abs, ratios[-1])) < max(0.02 * max(map(abs, ratios[0])), 2e-5)
    proved = shuffle(LIMITS[0][1](), n=1000).epsilon(1e-6).lower
    limit = asymptotic_epsilon(chi=LIMITS[0][2].blanket, n=1000, delta=1e-6)
    steps.append(
        f"{LIMITS[0][0]}, n = 1000, delta = 1e-6: the limit {limit:.4f}, the truth at least {proved:.4f}"
    )
    evidence = f"certified bounds converge like n^-1/2; at finite n the limit is no bound: {steps[-1]}"
    return holds_if(good, evidence, steps)


def _gaussian_band(effort):
    steps, apart = [], True
    for sigma in (0.5, 1.0, 2.0, 5.0):
        index = gaussian_index(sigma=sigma)
        y = np.linspace(-12 * sigma, 1 + 12 * sigma, 200_001)
        zero, one = (np.exp(-0.5 * ((y - x) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi)) for x in (0, 1))
        gap, width = (zero - one) ** 2, y[1] - y[0]
        found = [(np.sum(gap / w) * width) ** -0.5 for w in (np.minimum(zero, one), zero)]
        steps.append(
            f"sigma = {sigma}: {found[0]:.5f} to {found[1]:.5f}, in closed form {index.blanket:.5f} to "
        )
        steps[-1] += f"{index.attack:.5f}"
        apart &= found[1] > 1.01 * found[0] and np.allclose(found, index, rtol=1e-4)
    evidence = f"Gaussian noise on {{0, 1}}, by quadrature: {steps[1]}"
    return holds_if(apart, evidence, steps)


def _log_tail(t):
    """Return log of φ(t) − tΦ(−t)."""
    if t > 1e4:
        return -t * t / 2 - 2 * math.log(t) - 0.5 * math.log(2 * math.pi)
    phi = -t * t / 2 - 0.5 * math.log(2 * math.pi)
    return phi + math.log1p(-t * math.exp(float(log_ndtr(-t)) - phi))


def _moderate(effort):
    chi, steps, ratios = generalized_rr_index(eps0=1.0, d=3).blanket, [], []
    for power in (6, 30, 300, 10**4, 10**6):
        size = power * math.log(10.0)  # log n; delta = 1/n
        low, high = 0.0, 2 * math.sqrt(size)
        for _ in range(100):
            t = 0.5 * (low + high)
            low, high = (t, high) if _log_tail(t) - math.log(chi) - size / 2 > -size else (low, t)
        ratios.append(t / math.sqrt(size))
        steps.append(f"n = 10^{power}: epsilon chi sqrt(n/log n) = {ratios[-1]:.5f}")
    n = 10**6
    found = shuffle(randomizers.generalized_rr(eps0=1.0, d=3), n=n).epsilon(1 / n)
    scale = math.sqrt(math.log(n) / n) / chi
    steps.append(f"n = 10^6: certified {found.lower / scale:.5f} to {found.upper / scale:.5f}")
    rises = all(a < b < 1 for a, b in zip(ratios, ratios[1:], strict=False)) and ratios[-1] > 0.9999
    near = abs(found.upper / scale / ratios[0] - 1) < 0.01
    evidence = (
        f"delta = 1/n, three options: {steps[0]}, {steps[-2]}: true in the limit, which is reached slowly"
    )
    return holds_if(rises and near, evidence, steps)


def _by_transform(ratio, masses, n):
    """Return E[(G_1 + … + G_n)_+]/n by one transform, and its number of points.

    The losses G = A − ratio·B are multiples of 1/(3√n).  Their distribution is tilted to mean zero, so that
    what wraps around and what is rounded are small beside δ itself.
    """
    step = 1.0 / (3.0 * math.sqrt(n))
    cells = np.rint(np.array([a - ratio * b for a, b, _ in masses]) / step).astype(int)
    mass = np.array([m for *_, m in masses])

    def moment(tilt):
        weighted = mass * np.exp(tilt * step * cells)
        return weighted.sum(), weighted @ cells / weighted.sum()

    tilt = brentq(lambda tilt: moment(tilt)[1], 0.0, 50.0)
    total, _ = moment(tilt)
    tilted = mass * np.exp(tilt * step * cells) / total
    size = 1 << math.ceil(math.log2(30.0 * math.sqrt(n * (tilted @ cells**2))))
    one = np.bincount(cells % size, tilted, size)
    at = step * np.fft.fftfreq(size, 1.0 / size)
    sums = np.fft.irfft(np.fft.rfft(one) ** n, size)
    mean = (sums * np.maximum(at, 0.0) * np.exp(-tilt * np.maximum(at, 0.0))).sum()
    return math.exp(n * math.log(total)) * mean / n, size


def _transform(effort):
    """Both bounds for e^ε₀ = 3 on three options, at e^ε = 1 + 4/√n, where all losses are on a lattice."""
    blanketed = [(3.0, 1.0, 0.2), (1.0, 3.0, 0.2), (1.0, 1.0, 0.2), (0.0, 0.0, 0.4)]
    third = [(3.0, 1.0, 0.2), (1.0, 3.0, 0.2), (1.0 / 3.0, 1.0 / 3.0, 0.6)]
    steps, worst, points = [], 0.0, []
    for root in (10, 30, 50) if effort.points < 64 else (10, 30, 100, 200):
        n, ratio = root * root, 1.0 + 4.0 / root
        certified = shuffle(randomizers.generalized_rr(eps0=math.log(3.0), d=3), n=n).delta(math.log(ratio))
        (upper, size), (lower, _) = (_by_transform(ratio, each, n) for each in (blanketed, third))
        errors = abs(upper / certified.upper - 1.0), abs(lower / certified.lower - 1.0)
        worst, points = max(worst, *errors), [*points, size / n]
        steps.append(
            f"n = {n}, {size} points: delta {lower:.7g} to {upper:.7g}, certified {certified.lower:.7g} to "
            f"{certified.upper:.7g}"
        )
    evidence = (
        f"both bounds within {worst:.1g} of certified ones, relatively, by transforms of at most "
        f"{max(points):.0f} n points"
    )
    return holds_if(worst < 1e-5 and max(points) < 400.0, evidence, steps)


CHECKS = {
    "tl26-one-number": Check(_one_number),
    "tl26-band-collapses": always(_collapse),
    "tl26-response": always(_response_collapses),
    "tl26-gaussian": Check(_gaussian_band),
    "tl26-theorem-3.5": Check(_moderate),
    "tl26-accountant": Check(_transform),
    "tl26-theorem-4.2": Check(Worded(undecided)),
}

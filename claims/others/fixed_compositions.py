"""What shuffled histograms reveal about one user when the others' counts are known."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import rel_entr
from scipy.stats import binom, poisson, skellam

from claims.claim import Check, holds_if
from claims.exact_tests import always, random_channel
from shufflelib.published.shuffle_index import composition_index

ROWS = np.array([[0.5, 0.3, 0.2], [0.3, 0.45, 0.25]])


def _counts(people):
    """Return the pmf of the counts of the first two of three outputs; ``people`` counts who holds what."""
    distribution = np.zeros((sum(people) + 1,) * 2)
    distribution[0, 0] = 1.0
    for row, times in zip(ROWS, people, strict=True):
        for _ in range(times):
            new = row[2] * distribution
            new[1:, :] += row[0] * distribution[:-1, :]
            new[:, 1:] += row[1] * distribution[:, :-1]
            distribution = new
    return distribution


def _neighbours(n, share):
    ones = round(share * (n - 1))
    return [_counts((n - ones - x, ones + x)) for x in (0, 1)]


def _jensen_shannon(first, second):
    middle = 0.5 * (first + second)
    seen = middle > 0
    return sum(0.5 * rel_entr(distribution[seen], middle[seen]).sum() for distribution in (first, second))


SIZES = (21, 41, 81)  # half of the others, or none, hold the second value


def _divergence_rate(effort):
    steps, good = [], True
    for share in (0.0, 0.5):
        constant = composition_index(ROWS, shares=[1 - share, share]) ** -2
        scaled = []
        for n in SIZES:
            gap = _jensen_shannon(*_neighbours(n, share)) - constant / (8 * n)
            scaled.append(gap * n * n)
            steps.append(f"share {share}, n = {n}: JSD - I/(8n) = {gap:.3e}, times n^2 {scaled[-1]:.4f}")
        good &= abs(scaled[-1]) < 1.3 * abs(scaled[-2])  # were the constant wrong, twice as large
    evidence = f"three outputs, n = 21, 41, 81, by enumeration: {steps[-1]}, which does not grow"
    return holds_if(good, evidence, steps)


def _larger_than_proxy(rng):
    rows, share = random_channel(rng, 2), Fraction(rng.randint(1, 9), 10)
    change = [b - a for a, b in zip(*rows, strict=True)]
    if not any(change):
        return True
    mixture = [(1 - share) * a + share * b for a, b in zip(*rows, strict=True)]
    # 1/(v' S⁻¹ v) loses share (1 − share) when S + share (1 − share) v v' replaces S
    proxy = sum(v * v / m for v, m in zip(change, mixture, strict=True))
    covariance = [
        [(a == b) * m - (1 - share) * x * rows[0][b] - share * y * rows[1][b] for b in range(len(change))]
        for a, (m, x, y) in enumerate(zip(mixture, *rows, strict=True))
    ]
    constant = _quadratic_form(covariance, change)
    return constant > proxy and 1 / proxy - 1 / constant == share * (1 - share)


def _quadratic_form(covariance, change):
    """Return v' S⁻¹ v without the last output, whose count the others determine, by exact elimination."""
    rows = [[*row[:-1], v] for row, v in zip(covariance[:-1], change, strict=False)]
    for pivot, row in enumerate(rows):  # S is positive definite: no pivot is 0
        for other in rows[pivot + 1 :]:
            factor = other[pivot] / row[pivot]
            other[:] = [a - factor * b for a, b in zip(other, row, strict=True)]
    return sum(row[-1] ** 2 / row[pivot] for pivot, row in enumerate(rows))


def _curves(effort):
    steps, good = [], True
    for share in (0.0, 0.5):
        constant, errors = composition_index(ROWS, shares=[1 - share, share]) ** -2, []
        for n in SIZES:
            mu, distributions, worst = math.sqrt(constant / n), _neighbours(n, share), 0.0
            for t in (-1.0, 0.0, 0.5, 1.0, 2.0):
                limit = mu * (
                    math.exp(-t * t / 2) / math.sqrt(2 * math.pi) - t * 0.5 * math.erfc(t / math.sqrt(2))
                )
                for a, b in (distributions, distributions[::-1]):
                    worst = max(worst, abs(np.maximum(a - math.exp(t * mu) * b, 0).sum() - limit))
            errors.append(worst * n)
            steps.append(f"share {share}, n = {n}: largest error times n {errors[-1]:.4f}")
        good &= errors[-1] < 1.3 * errors[0] + 0.02
    evidence = f"both directions, t from -1 to 2, by enumeration: {steps[-1]}, which stays bounded"
    return holds_if(good, evidence, steps)


def _repeated(effort):
    zero, one, m, steps = 0.3, 0.5, 2, []
    square = (one - zero) ** 2 / zero / (1 - zero)
    for n in (100, 400):
        bits = np.arange(m * n + 1)
        alone = binom.pmf(bits, m * n, zero)
        mixed = np.convolve(
            binom.pmf(np.arange(m * (n - 1) + 1), m * (n - 1), zero), binom.pmf(np.arange(m + 1), m, one)
        )
        steps.append(f"n = {n}, messages apart: 8 n JSD = {8 * n * _jensen_shannon(alone, mixed):.5f}")
    pairs = [np.outer([1 - x, x], [1 - x, x]).ravel() for x in (zero, one)]
    tuples = float(np.sum((pairs[1] - pairs[0]) ** 2 / pairs[0]))
    steps.append(f"m chi^2 = {m * square:.5f}")
    steps.append(
        f"tuples: chi^2 of the product {tuples:.5f}, (1 + chi^2)^m - 1 = {(1 + square) ** m - 1:.5f}"
    )
    apart = 8 * 400 * _jensen_shannon(alone, mixed)
    good = abs(tuples - (1 + square) ** m + 1) < 1e-12 and abs(apart / (m * square) - 1) < 0.02
    evidence = f"two messages kept together {tuples:.4f}, shuffled apart {m * square:.4f} in the limit"
    return holds_if(good and tuples > m * square, evidence, steps)


def _tends_to(cases, what):
    """Return the check that pairs of distributions tend to their limits, of the order 1/n or faster."""

    def check(effort):
        gaps = {
            n: max(0.5 * np.abs(a - b).sum() for a, b in zip(pair, limit, strict=True))
            for n, pair, limit in cases()
        }
        steps = tuple(f"n = {n}, {what} and its shift {gap:.2g}" for n, gap in gaps.items())
        first, second, third = gaps.values()
        return holds_if(first > 5 * second > 25 * third, steps[-1], steps)

    return check


def _boundary():
    for n in (100, 1000, 10_000):
        flip, k = 1 / (1 + n / 1.0), np.arange(60)  # e^eps0 = n: the mean number of flips tends to 1
        rest = binom.pmf(k, n - 1, flip)
        pair = [s * rest + (1 - s) * np.concatenate([[0], rest[:-1]]) for s in (1 - flip, flip)]
        yield n, pair, [poisson.pmf(k, 1.0), np.concatenate([[0], poisson.pmf(k[:-1], 1.0)])]


def _inside():
    """Flips of zeros less flips of ones, half of the others holding either value."""
    for n in (101, 1001, 10_001):
        flip, half, reach = 1 / (1 + n / 2.0), (n - 1) // 2, 40  # e^eps0 = n/2: c^2 = 1/2, two flips
        flips = binom.pmf(np.arange(reach + 1), half, flip)
        distribution = np.convolve(flips, flips[::-1])  # of the difference, from -reach to reach
        before, after = np.append(distribution, 0.0), np.append(0.0, distribution)
        at = np.arange(-reach, reach + 2)
        pair = [before * (1 - x) + after * x for x in (flip, 1 - flip)]
        yield n, pair, [skellam.pmf(at - x, 1.0, 1.0) for x in (0, 1)]


CHECKS = {
    "sh26-jensen-shannon": Check(_divergence_rate),
    "sh26-larger-than-proxy": always(_larger_than_proxy),
    "sh26-curves": Check(_curves),
    "sh26-repetition": Check(_repeated),
    "sh26-boundary": Check(_tends_to(_boundary, "e^eps0 = n: total variation to Poisson")),
    "sh26-boundary-inside": Check(_tends_to(_inside, "e^eps0 = n/2: total variation to Skellam(1, 1)")),
}

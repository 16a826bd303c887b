r"""Sums of shuffled values with geometric noise, as the code released with the metric-privacy paper has them.

A user's number plus noise is sent as so many ones, so that the analyst sees the sum of n values and the sum N
of n two-sided geometric numbers, of masses in proportion to :math:`p^{|k|}`, :math:`p = e^{-u}`: it is the
difference of two negative binomial numbers.  Datasets a distance d apart leave the pair (N + d, N), and
(ε, δ)-metric privacy bounds :math:`\delta_d(\varepsilon d)` by δ for every d.

The code takes one loss for all d, that of neighbours at the end a of all but δ of the noise:

.. math:: \varepsilon = \log\frac{P(N = a)}{P(N = a + 1)}, \qquad
          a = \Bigl\lfloor \frac1t \log\frac{4\,\mathbb E e^{tN}}{\delta} \Bigr\rfloor, \quad t = u/\sqrt n .

But the tail of N falls by p a step for every n.  So far apart the loss for each step tends to u: two numbers
are told apart as well as by one report.
"""

import math
from fractions import Fraction

import numpy as np
from scipy.stats import nbinom

from claims.claim import Check, holds_if, smaller_if
from shufflelib import randomizers, shuffle

DELTA = 1e-3  # of the code's examples


def noise(n, unit):
    """Return the masses of the sum of n two-sided geometric numbers from −m to m, and m."""
    p = math.exp(-unit)
    reach = int(14 * math.sqrt(2 * n * p) / (1 - p) + 80 / unit)
    one = nbinom.pmf(np.arange(2 * reach + 1 + int(4 * n * p / (1 - p))), n, 1 - p)
    middle = one.size - 1
    return np.correlate(one, one, "full")[middle - reach : middle + reach + 1], reach


def moved(masses, distance, eps):
    """Return δ of a shift by a distance at ε."""
    return float(np.maximum(masses[:-distance] - math.exp(eps) * masses[distance:], 0.0).sum())


def chernoff_end(n, p, delta):
    """Return a: all but δ/2 of the noise is smaller in size."""
    t = -math.log(p) / math.sqrt(n)
    log_moment = n * (2 * math.log1p(-p) - math.log1p(-p * math.exp(t)) - math.log1p(-p * math.exp(-t)))
    return int((math.log(4 / delta) + log_moment) / t)


def code_epsilon(n, unit, delta=DELTA):
    """Return ε for each unit of distance as the released code computes it, n ≥ 2."""
    (masses, middle), end = noise(n, unit), chernoff_end(n, math.exp(-unit), delta)
    return math.log(masses[middle + end] / masses[middle + end + 1])


def two_users(distance, delta=Fraction(1, 1000)):
    """Return exact δ of two users with p = 1/2 so far apart, and e^ε as computed."""
    end = chernoff_end(2, 0.5, float(delta))

    def mass(k):
        return Fraction(3 * abs(k) + 5, 27) / 2 ** abs(k)

    ratio = mass(end) / mass(end + 1)
    gaps = (mass(k) - ratio**distance * mass(k + distance) for k in range(-4 * distance - 60, distance + 1))
    return sum(max(gap, 0) for gap in gaps), ratio


def nearest_failure(n, unit, delta=DELTA, most=2000):
    """Return the smallest distance at which the ε of the code is exceeded, and δ there."""
    masses, _ = noise(n, unit)
    eps = code_epsilon(n, unit, delta)
    for d in range(1, min(most, masses.size // 2)):
        if (found := moved(masses, d, d * eps)) > delta:
            return d, found
    return None


def _geometric(effort):
    steps, near = [], True
    for n in (2, 10, 100, 450):
        for unit in (0.1, 0.4, 0.8):
            eps, (masses, _) = code_epsilon(n, unit), noise(n, unit)
            found = moved(masses, 1, eps)
            near &= found <= DELTA
            steps.append(f"n = {n}, {unit} nats a unit: computed {eps:.4g}, delta one unit apart {found:.2g}")
    far = next(d for d in range(1, 400) if two_users(d)[0] > Fraction(1, 1000))
    exact, ratio = two_users(far)
    steps.append(
        f"two users, p = 1/2, delta = 1/1000: e^eps = {ratio}; {far} apart delta = {float(exact):.4g}"
    )
    d, found = nearest_failure(10, 0.8)
    steps.append(f"n = 10, 0.8 nats a unit, delta = 1/1000: {d} apart delta = {found:.3g}")
    return smaller_if(near and exact > Fraction(1, 1000), f"{steps[-2]}; {steps[-1]}", steps)


def cheu(bits, delta=DELTA, log=math.log):
    """Return ε of a sum with so many random bits as the code computes it, with natural logs or others."""
    return math.sqrt(32 * log(4 / delta) / (bits - math.sqrt(2 * bits * log(2 / delta))))


def _response(effort):
    steps, less = [], []
    for users, bits in ((100, 1000), (100, 10_000), (300, 100_000)):
        sent = users * 1000
        one = randomizers.binary_rr(
            eps0=math.log(2 * sent / bits - 1)
        )  # a bit is random with chance bits/sent
        found = shuffle(one, n=sent).epsilon(DELTA)
        computed = [cheu(bits, log=log) for log in (math.log, math.log10)]
        less.append(min(computed) / found.upper)
        steps.append(
            f"{bits:,} random of {sent:,} bits: computed {computed[0]:.4g}, with log10 {computed[1]:.4g}, "
            f"certified {found.upper:.3g}"
        )
    evidence = f"delta = {DELTA:g}, one unit apart: {steps[0]}; {steps[-1]}"
    return holds_if(min(less) > 1, evidence, steps)


def _optimal(effort):
    steps, good, k, p = [], True, np.arange(400), math.exp(-0.1)
    for n in (10, 100, 1000):
        one = nbinom.pmf(k, 1 / n, 1 - p)
        alone = np.correlate(one, one, "full")[399:401]  # at 0 and 1, where the loss is largest
        steps.append(f"{n} users: one report alone {math.log(alone[0] / alone[1]):.4g}")
        good &= math.log(alone[0] / alone[1]) > math.log(n)
    two = nbinom.pmf(k, 0.5, 1 - p)
    summed = np.convolve(two, two)[:400]
    good &= np.allclose(summed, (1 - p) * p**k, rtol=1e-10)
    return holds_if(good, f"0.1 nats a unit of the sum; {'; '.join(steps)}", steps)


def _largest(holds, low, high):
    """Return the largest number, to 1e-6, at which a condition holds that holds up to there."""
    for _ in range(24):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def geometric_deviation(n, unit):
    """Return the standard deviation of the sum of n two-sided geometric numbers."""
    return math.sqrt(2 * n * math.exp(-unit)) / -math.expm1(-unit)


def bits_deviation(bits, sent):
    """Return that of the estimated sum of so many bits of which ``bits`` are random."""
    flip = 0.5 * bits / sent
    return math.sqrt(sent * flip * (1 - flip)) / (1 - 2 * flip)


def deviations(n, eps=0.1, numbers=1000):
    """Return standard errors of a sum of random bits, of geometric noise: by the code's ε, one unit apart."""
    sent = n * numbers

    def certified(bits):
        return shuffle(randomizers.binary_rr(eps0=math.log(2 * sent / bits - 1)), n=sent).delta(eps).upper

    few = [
        _largest(one, 100, 0.9 * sent) for one in (lambda b: cheu(b) > eps, lambda b: certified(b) > DELTA)
    ]
    units = [
        _largest(one, eps, 5.0)
        for one in (lambda u: code_epsilon(n, u) < eps, lambda u: moved(noise(n, u)[0], 1, eps) < DELTA)
    ]
    return [(bits_deviation(b, sent), geometric_deviation(n, u)) for b, u in zip(few, units, strict=True)]


def _order(effort):
    steps, good, best = [], True, geometric_deviation(1, 0.1)
    for n in (100, 300):
        for words, (bits, noisy) in zip(
            ("as computed", "certified one unit apart"), deviations(n), strict=True
        ):
            good &= best < noisy < bits
            steps.append(f"{n} users, {words}: random bits {bits:.3g}, geometric noise {noisy:.3g}")
    evidence = (
        f"standard errors of a sum at epsilon = 0.1, delta = 1e-3: optimal {best:.3g}; {steps[0]}; {steps[1]}"
    )
    return holds_if(good, evidence, steps)


CHECKS = {
    "acp25-code-geometric": Check(_geometric),
    "acp25-code-response": Check(_response),
    "acp25-code-optimal": Check(_optimal),
    "acp25-code-order": Check(_order),
}

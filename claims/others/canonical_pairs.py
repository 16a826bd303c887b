"""Canonical pairs: all other users hold one of the two values between which one user changes.

The likelihood ratio of n reports is then the mean of n independent ratios of one report, drawn as the value
of the others gives them: only their distribution counts.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq, linprog

from claims import exact_channels as channels
from claims import exact_shuffle
from claims.claim import Check, holds_if
from claims.exact_losses import summed
from claims.exact_tests import POSITIVE, RATIOS, always, random_channel, random_distribution, share_of_bound
from shufflelib import randomizers, shuffle

LEVELS = (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(5, 2))  # e^eps
SQUARES = (5, 10, 17)  # numbers of options d with a whole √(d − 1)


def _pair(channel, n):
    """Return the masses of n users' histograms if the others hold value 0 and one holds 0, or 1."""
    return exact_shuffle.neighbours(channel, n, held=0)


def _curve(channel, n):
    """Return both directed δ of the canonical pair at `LEVELS`."""
    p, q = _pair(channel, n)
    return [
        sum(max(a - level * b, 0) for a, b in zip(*ends, strict=True))
        for ends in ((p, q), (q, p))
        for level in LEVELS
    ]


def _ratios(null, changed):
    """Return the distribution of the likelihood ratio under the null."""
    return summed((b / a, a) for a, b in zip(null, changed, strict=True))


def _chi_square(null, changed):
    return sum((b - a) ** 2 / a for a, b in zip(null, changed, strict=True))


def _refined(rng, channel):
    """Return a channel whose outputs are split in two, with the same shares in all rows."""
    shares = [random_distribution(rng, 2, weights=POSITIVE) for _ in channel[0]]
    return [[p * share for p, parts in zip(row, shares, strict=True) for share in parts] for row in channel]


def _response(channel):
    """Return binary randomized response with the largest ratio of the first two rows."""
    return exact_shuffle.randomized_response(channels.largest_ratio(channel[:2]), 2)


# ---------------------------------------------------------------- privacy


def _compression(rng):
    rows, n = _refined(rng, random_channel(rng, 2)[:2]), rng.randint(1, 2)
    spread = _ratios(*rows)
    quotient = [list(spread.values()), [ratio * mass for ratio, mass in spread.items()]]
    return _curve(rows, n) == _curve(quotient, n)


def _endpoint(rng):
    pair = random_channel(rng, 2)[:2]
    e = channels.largest_ratio(pair)
    found, bound = _chi_square(*pair), (e - 1) ** 2 / e
    return found <= bound and (found == bound) == (set(_ratios(*pair)) <= {e, 1 / e})


def _obstruction(rng):
    """Half of d outputs are likely, a run that starts at the input: all rows differ."""
    e, half, n = rng.choice(RATIOS), rng.randint(1, 3), rng.randint(1, 3)
    rows = channels.staircase(e, [(1, (1,) * half + (0,) * half)])
    pairs = zip(*(_curve([rows[0], row], n) for row in rows[1:]), strict=True)  # all pairs, up to shifts
    worst = [max(deltas) for deltas in pairs]
    return len({*map(tuple, rows)}) == 2 * half and worst == _curve(
        exact_shuffle.randomized_response(e, 2), n
    )


def _dichotomy(rng):
    rows, n = random_channel(rng, 2)[:2], rng.randint(1, 3)
    square, variation = _chi_square(*rows), _curve(rows, n)[0]
    return 4 * n * variation**2 <= square <= 2 * n * (channels.largest_ratio(rows) - 1) * variation


def _extremal(rng):
    rows, n = random_channel(rng, 2)[:2], rng.randint(1, 3)
    measures = [
        (*_curve(one, n), _chi_square(p, q), _chi_square(q, p))
        for one in (rows, _response(rows))
        for p, q in (_pair(one, n),)
    ]
    return all(found <= most for found, most in zip(*measures, strict=True))


def _rigid(rng):
    """Both curves for all ε determine the distribution of the likelihood ratio, and are determined by it."""
    rows, n = random_channel(rng, 2)[:2], rng.randint(1, 3)
    response = _response(rows)
    saturated = _ratios(*_pair(rows, n)) == _ratios(*_pair(response, n))
    return saturated == (_ratios(*rows) == _ratios(*response))


# ---------------------------------------------------------------- estimation


def _mean_ratios(channel):
    """Return the distribution of the ratios of all rows to their mean, under the mean."""
    columns = [(column, sum(column) / len(column)) for column in zip(*channel, strict=True)]
    return summed((tuple(p / mean for p in column), mean) for column, mean in columns)


def _budget(channel):
    """Return χ_*, the largest chi-squared divergence of two rows."""
    return max(_chi_square(*pair) for pair in itertools.permutations(channel, 2))


def _information(channel):
    """Return Fisher's information of one report at even frequencies, in directions that keep their sum."""
    spread, d = _mean_ratios(channel), len(channel)
    return [[sum(m * (v[i] - 1) * (v[j] - 1) for v, m in spread.items()) for j in range(d)] for i in range(d)]


def _trace(channel):
    return sum(row[i] for i, row in enumerate(_information(channel)))


def _relabelled(channel):
    """Return the channel that draws a permutation of the inputs, names it and applies it."""
    orders = list(itertools.permutations(range(len(channel))))
    return [[p / len(orders) for order in orders for p in channel[order[x]]] for x in range(len(channel))]


def _rebuilt(rng):
    channel = random_channel(rng, rng.randint(2, 4))
    spread = _mean_ratios(channel)
    built = [[v[x] * mass for v, mass in spread.items()] for x in range(len(channel))]
    rows_add_up = all(sum(row) == 1 for row in built)
    return rows_add_up and _mean_ratios(built) == spread == _mean_ratios(_refined(rng, channel))


def _trace_bound(rng):
    channel = random_channel(rng, rng.randint(2, 5))
    return _trace(channel) <= (len(channel) - 1) * _budget(channel)


def _symmetrised(rng):
    channel = random_channel(rng, rng.randint(2, 3))
    d, evened = len(channel), _relabelled(channel)
    even = [[_trace(channel) * (d * (i == j) - 1) / d / (d - 1) for j in range(d)] for i in range(d)]
    return _information(evened) == even and _budget(evened) <= _budget(channel)


def _risks(channel):
    """Return E|u|² for each value, u a report's share in the unbiased estimate; None if there is none."""
    rows = np.array(channel, dtype=float)
    mean, d = rows.mean(axis=0), len(rows)
    away = rows / mean - 1
    scores = np.linalg.pinv(away * mean @ away.T, rcond=1e-9, hermitian=True) @ away
    told_apart = np.allclose(rows @ scores.T, np.eye(d) - 1 / d, atol=1e-6)
    return rows @ (scores**2).sum(axis=0) if told_apart else None


def _averaged(rng):
    """The mean of the plain risks is that at even shares; the evened risk is the same for all values."""
    channel = channels.normalised([[rng.randint(1, 9) for _ in range(4)] for _ in range(3)])
    plain, evened = _risks(channel), _risks(_relabelled(channel))
    if plain is None:
        return None
    share = evened.max() / plain.mean()
    return min(share, 1.0) if share < 1 + 1e-6 and np.ptp(evened) < 1e-6 else f"{channel}: {share}"


def _product(v):
    """Return n χ_*/(d − 1) times the squared error of all shares, for values in proportion to a vector."""
    d, total = len(v), sum(v)
    q, h = sum(Fraction(d * x, total) ** 2 for x in v), sum(Fraction(total, d * x) for x in v)
    return (q * h - d * d) / (d * (q - d))


def _least(d):
    return Fraction((1 + math.isqrt(d - 1)) ** 2, d)


def _orbit(rng):
    d = rng.choice(SQUARES)
    large = rng.choice((1, 1, 2, d - 1))
    v = [rng.choice((2, math.isqrt(d - 1), 7))] * large + [1] * (d - large)
    v = v if rng.random() < 0.5 else rng.choices((1, 2, 3, 10, 10**6), k=d)
    if len(set(v)) == 1:
        return None
    found = _least(d) / _product(v)
    return found if found <= 1 else f"{v} needs only {_product(v)}"


def _any_channel(rng):
    d = rng.choice((2, 5))
    channel = random_channel(rng, d)
    if not _budget(channel):
        return None
    share = _least(d) * _trace(channel) / ((d - 1) * _budget(channel))
    return share if share <= 1 else f"{channel}: {share}"


def _one_of_the_subsets(rng):
    """The k-subset and the 1-subset of the same information, in floating point."""
    d, e = rng.randint(3, 30), rng.choice((1.01, 1.5, 3.0, 20.0))
    k = rng.randint(2, d - 1)
    q = d * d * (k * e * e + d - k) / (k * e + d - k) ** 2
    high = 1 + math.sqrt((q - d) * (d - 1) / d)
    low = (d - high) / (d - 1)
    budgets = q * (1 / high + (d - 1) / low) - d * d, q * (k / e + d - k) * (k * e + d - k) / d - d * d
    share = budgets[0] / budgets[1]
    return share if share < 1 else f"d = {d}, k = {k}, e = {e}: {share}"


def _raw_cap(rng):
    d, e = rng.randint(2, 12), rng.choice((Fraction(11, 10), Fraction(3, 2), Fraction(3), Fraction(20)))

    def squares(v):
        return sum(Fraction(d * x, sum(v)) ** 2 for x in v) - d

    size = math.floor(d / (e + 1))
    best = max(squares([e] * k + [1] * (d - k)) for k in (size, size + 1) if 0 < k < d)
    if rng.random() < 0.5:
        k = rng.randint(0, d)
        v = [e] * k + [1] * (d - k)
    else:
        v = [1 + (e - 1) * Fraction(rng.randint(0, 4), 4) for _ in range(d)]
    share = squares(v) / best
    return share if share <= 1 else f"d = {d}, e = {e}: {v} tells more"


def _two_orbits(effort):
    """Most information at a budget as a linear program over 40 orbits; a vertex mixes at most two."""
    rng, most, programs = random.Random(effort.seed), 0, min(4 * effort.points, 200)
    for _ in range(programs):
        d = rng.randint(2, 6)
        drawn = [np.array(rng.choices((1, 2, 3, 5, 9, 30), k=d), dtype=float) for _ in range(39)]
        drawn.append(np.ones(d))  # the symbol that tells nothing
        drawn = [d * v / v.sum() for v in drawn]
        squares, inverse = (np.array([(v**power).sum() for v in drawn]) for power in (2.0, -1.0))
        budgets = (squares * inverse - d * d) / (d * (d - 1))
        budget = rng.uniform(0.0, budgets.max())
        found = linprog(
            d - squares, A_ub=budgets[None], b_ub=[budget], A_eq=np.ones((1, 40)), b_eq=[1], method="highs-ds"
        )
        most = max(most, int((found.x > 1e-9).sum()))
    evidence = f"{programs} linear programs over 40 orbits: at most {most} are mixed"
    return holds_if(most <= 2, evidence)


# ---------------------------------------------------------------- a random share of the users answers


def thinned_error(eps0, rate, d, n):
    """Return the standard error of a share at even data if a random share of n users answers.

    The number of answers corrects the count of each option.
    """
    truth = 1 / (1 + (d - 1) * math.exp(-eps0))
    lie = math.exp(-eps0) * truth
    variances = [rate * (p * (1 - 2 / d) + 1 / d**2) - (rate * (p - 1 / d)) ** 2 for p in (truth, lie)]
    return math.sqrt((variances[0] + (d - 1) * variances[1]) / d / n) / (rate * (truth - lie))


def _budget_of(error, rate, d, n):
    return brentq(lambda eps0: thinned_error(eps0, rate, d, n) - error, 1e-3, 60.0, rtol=1e-12)


# users, options, local budget without thinning, central budget
TARGETS = ((1000, 16, 1.3, 0.1), (10**6, 101, 1.4, 0.001), (1000, 3, 0.8, 0.1), (10**5, 256, 2.0, 0.005))


def _thinning(effort):
    """If only a share answers, at the same error, an attack has a larger δ than is proved if all answer."""
    d, at = 17, 4
    own = [Fraction((e + 1) * (e + d - 1), e * d) for e in (1, at)]
    third = [Fraction(2 * (e + d - 1), d) for e in (1, at)]
    steps = [f"{d} options, ratio 1 or {at}, all others hold the value that changes: budget times error "]
    steps[0] += f"{own[0]} or {own[1]}; they hold a third value: {third[0]} or {third[1]}"
    least = math.inf
    for n, options, eps0, eps in TARGETS:
        plain = randomizers.generalized_rr(eps0=eps0, d=options)
        proved, error = shuffle(plain, n).delta(eps).upper, thinned_error(eps0, 1, options, n)
        for rate in (0.5,) if effort.points < 64 else (0.9, 0.5, 0.1):
            same = _budget_of(error, rate, options, n)
            bold = randomizers.generalized_rr(eps0=same * (1 - 1e-9), d=options)
            attacked = shuffle(randomizers.poisson_sampled(bold, rate=rate), n).delta(eps).lower
            least = min(least, attacked / proved)
            steps.append(
                f"n = {n}, d = {options}, eps = {eps}: all answer, eps0 = {eps0}, delta <= {proved:.3g}; "
                f"a share {rate}, eps0 = {same:.4f}, the same error, delta >= {attacked:.3g}"
            )
    evidence = f"{steps[0]}; certified at equal error, thinning multiplies delta by {least:.2f} or more"
    return holds_if(own[1] < own[0] and third[1] > third[0] and least > 1, evidence, steps)


CHECKS = {
    "sg26-compression": always(_compression, most=300),
    "sg26-endpoint": always(_endpoint),
    "sg26-obstruction": always(_obstruction, most=100),
    "sg26-dichotomy": always(_dichotomy, most=300),
    "sg26-lower-bound": always(_trace_bound, most=300),
    "sg26-symmetrization": always(_symmetrised, most=100),
    "sg26-augmented": share_of_bound(_orbit, 12),
    "sg26-thinning": Check(_thinning),
    "sg26-subsets": share_of_bound(_one_of_the_subsets, 12),
    "sa26-law": always(_rebuilt, most=300),
    "sa26-extremal": always(_extremal, most=300),
    "sa26-rigidity": always(_rigid, most=300),
    "sa26-averaging": share_of_bound(_averaged, 6, most=300),
    "sa26-two-orbits": Check(_two_orbits),
    "sa26-minimax": share_of_bound(_any_channel, 8, most=200),
    "sa26-raw-cap": share_of_bound(_raw_cap, 12),
}

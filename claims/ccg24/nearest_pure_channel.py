r"""How far an (ε₀, δ₀)-LDP channel is from the nearest ε₀-LDP one: Lemma 6 of Chen, Cao, Ge's appendix.

The counterexample is `exact_channels.telling_pairs`: k inputs, an output for each ordered pair (i, j), and
one for all. With λ = e^(−ε₀) and a = δ₀/(1 − λ) input i sends output (i, j) with probability a, j with aλ²,
any other with aλ, so that the probability under i exceeds e^ε₀ times that under j by a − aλ = δ₀. Let L be
ε₀-LDP, and let at output (i, j) row i of L lack t of a, and row j have s more than aλ². From a − t ≤ e^ε₀
(aλ² + s) follows t + e^ε₀ s ≥ δ₀. The sum over all ordered pairs is at least k(k − 1) δ₀. A row lacks at
most its total variation distance to L in all, and has at most that much more, so that the sum is at most (1
+ e^ε₀) times the sum of k distances. The largest distance is therefore at least (k − 1) δ₀/(1 + e^ε₀),
which no multiple of δ₀ bounds. It is attained: move δ₀/(1 + e^ε₀) from the first to the second of the two
probabilities, for every ordered pair.

For two inputs an ε₀-LDP pair is within δ₀/(1 + e^ε₀) of both distributions, whatever these are: they are a
post-processing of the four symbols of Kairouz, Oh, Viswanath, for which the same move is possible.
"""

import itertools
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from claims import exact_channels as channels
from claims.claim import Check, refuted_if
from claims.exact_count_pair import printed
from claims.exact_tests import LEAST_GAP, divergence
from claims.failure_curve import Along

RATIO, FAILURE = Fraction(2), Fraction(1, 100)  # e^eps0 and delta0


def failure(channel, e):
    """Return the least δ₀ with which a channel is (log e, δ₀)-LDP, over all events and pairs of inputs."""
    return max(divergence(*pair, e) for pair in itertools.permutations(channel, 2))


def needed(inputs, e, delta0):
    """Return the largest distance of a row of `telling_pairs` to any ε₀-LDP channel, which is attained."""
    return (inputs - 1) * delta0 / (1 + e)


def claimed(e, delta0):
    """Return the distance of Lemma 6."""
    return (1 + 1 / (2 * e)) * delta0


def moved(channel, e, delta0):
    """Return `telling_pairs` after a move of δ₀/(1 + e) at every ordered pair, which makes it ε₀-LDP."""
    share, pairs = delta0 / (1 + e), itertools.permutations(range(len(channel)), 2)
    rows = [list(row) for row in channel]
    for output, (i, j) in enumerate(pairs):
        rows[i][output] -= share
        rows[j][output] += share
    return rows


def _by_summation(effort):
    channel = channels.telling_pairs(RATIO, FAILURE, 5)
    own, says, least = failure(channel, RATIO), claimed(RATIO, FAILURE), needed(5, RATIO, FAILURE)
    rows = moved(channel, RATIO, FAILURE)
    away = max(channels.total_variation(pair) for pair in zip(channel, rows, strict=True))
    pure = failure(rows, RATIO) == 0
    steps = (
        "five inputs, an output for each ordered pair (i, j) and one for all; e^eps0 = 2, delta0 = 1/100",
        "output (i, j) has probability 2 delta0 from i, delta0/2 from j, delta0 from the others",
        f"the largest hockey-stick divergence of two rows at e^eps0 = 2: {own}, so it is (log 2, 1/100)-LDP",
        "an eps0-LDP row i lacks t of 2 delta0, row j has s more than delta0/2: t + 2 s >= delta0",
        "summed over 20 pairs, all t of a row at most its distance to L, all s too: 3 (sum of distances)",
        f">= 20 delta0, so that one of the five rows is at least 4 delta0/3 = {printed(least)} away",
        f"claimed: within (1 + 1/4) delta0 = {printed(says)} for all inputs",
        f"attained by moving delta0/3 at each pair: distance {printed(away)}, eps0-LDP: {pure}",
        "k inputs need (k - 1) delta0/(1 + e^eps0), so that no multiple of delta0 is enough for every k",
    )
    evidence = (
        f"five inputs, e^eps0 = 2: a (log 2, 1/100)-LDP channel is {least} from every log 2-LDP one, claimed "
        f"{says}; for k inputs (k - 1) delta0/(1 + e^eps0)"
    )
    return refuted_if(own == FAILURE and least > says and away == least and pure, evidence, steps)


def _by_programming():
    found = [
        (e, k, distance_to_pure(channels.telling_pairs(Fraction(e), FAILURE / k, k), e) / float(FAILURE / k))
        for e, k in ((2, 5), (2, 8), (3, 7))
    ]
    steps = tuple(
        f"e^eps0 = {e}, {k} inputs, linear program over all eps0-LDP channels: {distance:.6f} delta0, "
        f"claimed {float(claimed(Fraction(e), 1)):.6f}"
        for e, k, distance in found
    )
    return refuted_if(all(d > 1 + 0.5 / e + LEAST_GAP for e, _, d in found), "by linear programming", steps)


def distance_to_pure(channel, e):
    """Return the least t such that a channel with ratios up to e has rows within total variation t."""
    channel = np.array([[float(x) for x in row] for row in channel])
    d, m = channel.shape
    size = d * m
    rows, limits = [], []
    for (i, j), y in itertools.product(itertools.permutations(range(d), 2), range(m)):
        row = np.zeros(2 * size + 1)
        row[i * m + y], row[j * m + y] = 1.0, -e
        rows.append(row)
        limits.append(0.0)
    for k in range(size):
        row = np.zeros(2 * size + 1)
        row[k], row[size + k] = -1.0, -1.0
        rows.append(row)
        limits.append(-channel.flat[k])
    sums = np.zeros((d, 2 * size + 1))
    for i in range(d):
        row = np.zeros(2 * size + 1)
        row[size + i * m : size + (i + 1) * m], row[-1] = 1.0, -1.0
        rows.append(row)
        limits.append(0.0)
        sums[i, i * m : (i + 1) * m] = 1.0
    found = linprog(np.eye(2 * size + 1)[-1], np.array(rows), limits, sums, np.ones(d), method="highs")
    return found.fun


def _of_inputs(k):
    """Return the distance in units of δ₀ that k inputs need at e^ε₀ = 2, and what is claimed."""
    return needed(k, RATIO, 1), claimed(RATIO, 1)


CHECKS = {"ccg24-lemma-6": Check(_by_summation, _by_programming, Along(range(2, 16), _of_inputs))}

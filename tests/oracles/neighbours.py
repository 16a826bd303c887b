"""All pairs of neighbouring datasets of a few users, as exact distributions of what is released.

A pair is a dictionary {output: (P, Q)} of fractions; the truth of a profile is the worst over a list of them.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction as F

from oracles.brute_force import (
    beside,
    both_ways,
    renyi_moment,
    shuffled_distribution,
    swapped,
    tradeoff,
)

# ---------------------------------------------------------------- lists of pairs


def input_pairs(rows):
    return list(itertools.combinations(range(len(rows)), 2))


def crowds(rows, size):
    return itertools.combinations_with_replacement(range(len(rows)), size)


def labelled(rows, n, labels):
    """Return the pairs of n reports with public labels: the first user's is known, the others' uniform."""
    others = [[one / labels for one in row] * labels for row in rows]
    own = [[*row, *[F(0)] * (len(row) * (labels - 1))] for row in rows]
    return [
        beside(*(shuffled_distribution([own[x], *(others[z] for z in crowd)]) for x in pair))
        for pair in input_pairs(rows)
        for crowd in crowds(rows, n - 1)
    ]


def tensor(parts):
    """Return all combinations of inputs, and the distribution of the tuple of outputs for each."""
    held = list(itertools.product(*(range(len(rows)) for rows in parts)))
    distributions = [
        [
            math.prod(masses)
            for masses in itertools.product(*(rows[x] for rows, x in zip(parts, xs, strict=True)))
        ]
        for xs in held
    ]
    return held, distributions


def shuffled(rows, n, pairs=None):
    """List the neighbours of a shuffled finite randomizer: all other users, all pairs of inputs."""
    found = []
    for others in crowds(rows, n - 1):
        released = [shuffled_distribution([rows[y] for y in (x, *others)]) for x in range(len(rows))]
        found += [beside(released[i], released[j]) for i, j in pairs or input_pairs(rows)]
    return found


def groups(rows, n, size):
    """List the datasets of a shuffled finite randomizer that differ in up to so many users."""
    found = []
    for others in crowds(rows, n - size):
        released = [shuffled_distribution([rows[y] for y in (*held, *others)]) for held in crowds(rows, size)]
        found += [beside(*pair) for pair in itertools.combinations(released, 2)]
    return found


def subsampled(rows, drawn, population):
    """List the neighbours where a subset of fixed size is drawn and shuffled."""

    def sampled(dataset):
        total, subsets = Counter(), list(itertools.combinations(dataset, drawn))
        for subset in subsets:
            for key, mass in shuffled_distribution([rows[x] for x in subset]).items():
                total[key] += mass / len(subsets)
        return total

    found = []
    for others in crowds(rows, population - 1):
        released = [sampled((x, *others)) for x in range(len(rows))]
        found += [beside(released[i], released[j]) for i, j in input_pairs(rows)]
    return found


def by_ratio(pair):
    """Merge the outputs with equal P/Q, which changes no divergence."""
    merged = {}
    for p, q in pair.values():
        if p or q:
            key = p / q if q else math.inf
            old = merged.get(key, (F(0), F(0)))
            merged[key] = (old[0] + p, old[1] + q)
    return merged


def product(one, other):
    """Return the pair of two independent rounds."""
    return by_ratio({(a, b): (p * r, q * s) for a, (p, q) in one.items() for b, (r, s) in other.items()})


def composed(*rounds):
    """List the products of one pair from each round's list."""
    found = [{1: (F(1), F(1))}]
    for one in rounds:
        found = [product(before, by_ratio(now)) for before in found for now in one]
    return found


def any_direction(pairs):
    """List the pairs and the pairs with their distributions exchanged."""
    return [way for pair in pairs for way in (pair, swapped(pair))]


def mixed(pair, rate):
    """Return the pair (rate P + (1 - rate) Q, Q)."""
    return {key: (rate * p + (1 - rate) * q, q) for key, (p, q) in pair.items()}


def personal(rows_of_users, target):
    """List the neighbours where each user has rows of their own and the target's input changes."""

    def released(dataset):
        return shuffled_distribution([rows[x] for rows, x in zip(rows_of_users, dataset, strict=True)])

    found = []
    inputs = range(len(rows_of_users[target]))
    for others in itertools.product(inputs, repeat=len(rows_of_users) - 1):
        outputs = [released((*others[:target], x, *others[target:])) for x in inputs]
        found += [beside(outputs[i], outputs[j]) for i, j in itertools.combinations(inputs, 2)]
    return found


def sums_under_a_reference_measure(first, second, reference, n):
    """Return {(A, B): base mass} of the sums of n independent (R_0/w, R_1/w), missing mass at (0, 0).

    The two distributions of n reports have masses A and B times the base mass over n.
    """
    atoms = [((a / w, b / w), w) for a, b, w in zip(first, second, reference, strict=True) if w]
    atoms.append(((F(0), F(0)), 1 - sum(reference)))
    distribution = {(F(0), F(0)): F(1)}
    for _ in range(n):
        longer = Counter()
        for (a, b), mass in distribution.items():
            for (x, y), share in atoms:
                longer[a + x, b + y] += mass * share
        distribution = longer
    return distribution


def slots(odds):
    """List the one pair of permute-then-randomize, slot i with odds e^ε_i: one symbol for each slot."""
    pair = {}
    for symbols in itertools.product((0, 1, None), repeat=len(odds)):
        base, first, second = F(1), F(0), F(0)
        for e, symbol in zip(odds, symbols, strict=True):
            base *= F(1, e + 1) if symbol is not None else F(e - 1, e + 1)
            if symbol is not None:
                first += (e, 1)[symbol]
                second += (1, e)[symbol]
        pair[symbols] = (base * first / len(odds), base * second / len(odds))
    return [pair]


# ---------------------------------------------------------------- the worst of a list


class Worst:
    """The worst of a list of pairs in every question; ratio = e^ε is a fraction.

    Of datasets either may be the null hypothesis of a trade-off function; a pair has its first for that.
    """

    def __init__(self, pairs, of_datasets=True):
        self.pairs = [by_ratio(pair) for pair in pairs]
        self.directions = any_direction(self.pairs)
        self.hypotheses = self.directions if of_datasets else self.pairs
        self.found = {}

    def delta(self, ratio):
        if ratio not in self.found:
            self.found[ratio] = max(both_ways(pair, ratio) for pair in self.pairs)
        return self.found[ratio]

    def renyi(self, order):
        """Return the largest Rényi divergence of a whole order."""
        moments = [renyi_moment(pair, order) for pair in self.directions]
        if None in moments:
            return math.inf
        worst = max(moments)
        return math.log1p(float(worst - 1)) / (order - 1)

    def tradeoff(self, fpr):
        """Return the smallest false-negative rate at false-positive rate ``fpr``."""
        return min(tradeoff(pair, fpr) for pair in self.hypotheses)

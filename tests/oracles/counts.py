"""Numbers of messages in fractions: dummies beside a user's messages, and samples shown above a threshold."""

import math
from fractions import Fraction as F
from itertools import product


def coins(n, p):
    """List the masses of Bin(n, p)."""
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def moved(distribution, up, down):
    """Return {numbers: (P, Q)} from the masses of one number: ``up`` have one more in P, ``down`` in Q."""
    still, more = [*distribution, 0], [0, *distribution]
    cells = {}
    for numbers in product(range(len(still)), repeat=up + down):
        p = math.prod((more if i < up else still)[k] for i, k in enumerate(numbers))
        q = math.prod((still if i < up else more)[k] for i, k in enumerate(numbers))
        cells[numbers] = (p, q)
    return cells


def shown(n, rate, threshold):
    """Return {what is shown: its probability}; below the threshold that is nothing, None."""
    distribution = coins(n, rate)
    below = sum(distribution[:threshold], F(0))
    return {None: below} | {k: distribution[k] for k in range(threshold, n + 1)}


def changed(c, rate, threshold):
    """Return {what is shown: (with the user, without)} of one value that c others hold."""
    more, still = shown(c + 1, rate, threshold), shown(c, rate, threshold)
    return {key: (more.get(key, F(0)), still.get(key, F(0))) for key in more | still}

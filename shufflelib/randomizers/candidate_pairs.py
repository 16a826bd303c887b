r"""Pairs of inputs and attacks of a randomizer of which only the output probabilities are known.

For k inputs there are k(k − 1)/2 pairs, each in two orders, and k attacks on each.  Upper bounds need every
pair: no cheap order among them holds for all ε and n.  Pairs with the same likelihood ratios are merged.
Lower bounds are valid for any selection of attacks, so only the most promising are kept.
"""

import math
from itertools import combinations

import numpy as np

from shufflelib.numerics.logspace import NO_SQUARE
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

MOST_ATTACKS = 24
TILTS = (0.15, 0.6, 2.4)  # in units of the loss's standard deviation: five of them for 1000, 70 and 4 users
LARGEST_TILT = 600.0
MIRRORED = 1e-9  # relative distance at which two extreme rows no longer mirror each other
LARGEST_BUDGET = 700.0


def total_variation(rows):
    """Return the largest total variation between two rows."""
    return max(
        float(np.max(np.maximum(row - rows[i + 1 :], 0.0).sum(axis=1))) for i, row in enumerate(rows[:-1])
    )


def promising_attacks(rows, **rest):
    """Return the attacks on each pair of rows of class masses; the strongest of all for a pair without any.

    ``rest`` is passed on to `LikelihoodRatios.against`.
    """
    pairs = list(combinations(range(len(rows)), 2))
    attacks = {
        (i, j, x): LikelihoodRatios.against(rows[x], rows[i], rows[j], **rest)
        for i, j, x in _promising_triples(rows, pairs)
    }
    strongest = next(iter(attacks.values()))
    return {
        pair: tuple(one for (*changed, _), one in attacks.items() if tuple(changed) == pair) or (strongest,)
        for pair in pairs
    }


def _promising_triples(rows, pairs):
    r"""Return up to 24 triples (i, j, x): all other users hold x, one user changes from i to j.

    Strongest first by each of several measures in turn: the mass that x never reports;
    :math:`\int (R_i - R_j)^2 / R_x`, which decides for many users; and
    :math:`\log\int R_x e^{\pm\theta(R_i - R_j)/R_x}`, which decides for few.
    """
    triples = [(i, j, x) for i, j in pairs for x in range(len(rows))]
    if len(triples) <= MOST_ATTACKS:
        return triples
    scores = np.concatenate([_scores(rows[i] - rows[j], rows) for i, j in pairs], axis=1)
    ranking = np.argsort(-scores, axis=1, kind="stable")
    return [triples[t] for t in dict.fromkeys(ranking.T.ravel().tolist())][:MOST_ATTACKS]


def _scores(gap, rows):
    """Return every measure of one pair for every x, shape (measures, inputs)."""
    supported = rows > 0.0
    others = np.where(supported, rows, 1.0)
    outside = np.maximum(
        np.where(supported, 0.0, np.maximum(gap, 0.0)).sum(axis=1),
        np.where(supported, 0.0, np.maximum(-gap, 0.0)).sum(axis=1),
    )
    ratio = np.where(supported, np.clip(gap / others, -NO_SQUARE, NO_SQUARE), 0.0)
    power = (rows * ratio**2).sum(axis=1)
    scores = [outside, power + outside]
    for tilt in TILTS:
        theta = (tilt / np.sqrt(np.maximum(power, 1e-300)))[:, None]
        for side in (-1.0, 1.0):
            grown = np.exp(np.minimum(side * theta * ratio, LARGEST_TILT))
            # divided by θ: on the scale of one user's loss, so that small losses do not win by their tilt
            scores.append(np.log((rows * grown).sum(axis=1)) / theta[:, 0] + outside)
    return np.array(scores)


def local_budget(rows, precision):
    """Return an upper bound on the largest log-ratio of two rows, infinite where only one of them is zero."""
    used = rows.max(axis=0) > 0.0
    low, high = rows[:, used].min(axis=0), rows[:, used].max(axis=0)
    if np.any(low == 0.0):
        return math.inf
    loss = float(np.max(np.log(high) - np.log(low)))
    return loss + 4.0 * precision * (1.0 + loss)


def binary_budgets(rows, precision):
    """Return budgets of binary randomized response between which the rows are, None if they are not.

    Outputs whose probabilities are proportional count as one.  All rows of two outputs are mixtures of the
    two extreme ones, in which either output is rarest.
    """
    rows = rows[:, rows.max(axis=0) > 0.0]
    if rows.min() == 0.0:
        return None
    columns = rows / rows.sum(axis=0)
    apart = np.abs(columns / columns[:, :1] - 1.0).max(axis=0)
    second = int(np.argmax(apart))
    is_first = apart <= 4.0 * precision
    as_second = np.abs(columns / columns[:, [second]] - 1.0).max(axis=0) <= 4.0 * precision
    if is_first[second] or not np.all(is_first | as_second):
        return None
    rarest = [float(rows[:, part].sum(axis=1).min()) for part in (is_first, ~is_first)]
    low, high = min(rarest), max(rarest)
    doubt = 2.0 * precision + 4.0 * rows.shape[1] * np.finfo(float).eps
    least, most = low * (1.0 - doubt), high * (1.0 + doubt)
    if high > low * (1.0 + MIRRORED) or most >= 0.5:
        return None
    inner, outer = (math.log1p(-chance) - math.log(chance) for chance in (most, least))
    inner, outer = inner * (1.0 - 1e-15) - 1e-15, outer * (1.0 + 1e-15) + 1e-15
    return (inner, outer) if 0.0 < inner and outer <= LARGEST_BUDGET else None

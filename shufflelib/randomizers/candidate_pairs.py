r"""Pairs of inputs and attacks of a randomizer of which only the output probabilities are known.

For k inputs there are k(k − 1)/2 pairs, each in two orders, and k attacks on each.  Upper bounds need every
pair: no cheap order among them holds for all ε and n.  Pairs that differ in the order of their outputs are of
one kind: they have the same likelihood ratios, and one of each kind is enough.
Lower bounds are valid for any selection of attacks, so only the most promising are kept.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from shufflelib.numerics.logspace import NO_SQUARE
from shufflelib.numerics.optional import PATIENCE, progress
from shufflelib.profiles.likelihood_ratios import SAME, LikelihoodRatios, united

MOST_ATTACKS = 24
NEAR = 1e-13  # relative distance of entries that are counted as equal
BLOCK = 2**19  # entries that are compared or scored at once
MOST_MEMORY = 2e9  # bytes, for all pairs
MOST_TIME = 600.0  # seconds, to compare pairs
CODES = np.uint16, np.uint32, np.uint64
TILTS = (0.15, 0.6, 2.4)  # in units of the loss's standard deviation: five of them for 1000, 70 and 4 users
LARGEST_TILT = 600.0
MIRRORED = 1e-9  # relative distance at which two extreme rows no longer mirror each other
LARGEST_BUDGET = 700.0


def total_variation(rows):
    """Return the largest total variation between two rows."""
    return max(
        float(np.max(np.maximum(row - rows[i + 1 :], 0.0).sum(axis=1))) for i, row in enumerate(rows[:-1])
    )


def memory(pairs, outputs):
    """Return about how many bytes the likelihood ratios of pairs take."""
    return pairs * (5e3 + 250.0 * outputs)


def cost(pairs, inputs, outputs):
    """Say about how much memory and time one ε takes.

    Examples
    --------
    >>> from shufflelib.randomizers.candidate_pairs import cost
    >>> cost(4950, 100, 100), cost(499_500, 1000, 1000)
    ('148 MB and 18 s', '127,372 MB and 7.6 h')
    """
    time = pairs * (2e-3 + 1.3e-5 * outputs + 4e-8 * inputs * outputs)
    said = f"{time:.0f} s" if time < 3600.0 else f"{time / 3600.0:,.1f} h"
    return f"{memory(pairs, outputs) / 1e6:,.0f} MB and {said}"


def kinds(rows):
    """Return one pair of rows of each kind, and a bound on the relative distance of entries in one kind.

    In pairs of one kind the columns, two entries and the least of all rows, are the same in another order.
    Raises ValueError with an estimate if these are too many for 2 GB, or for ten minutes of comparing.
    """
    numbers, distance = _numbered(rows)
    _, column = np.unique(numbers.min(axis=0), return_inverse=True)  # numbers rise with the entries
    places = np.sort(np.unique(rows, axis=0, return_index=True)[1])  # of inputs that are not the same
    numbers, many = numbers[places], len(places)
    if many == 1:
        return [(0, 0)], 0.0
    outputs = rows.shape[1]
    if many * (many - 1) / 2 * (2e-6 + 1e-8 * outputs) > MOST_TIME:
        _refuse(many, outputs, "comparing them takes more than ten minutes")
    entries, columns = int(numbers.max()) + 1, int(column.max()) + 1
    code_type = next((one for one in CODES if entries**2 * columns <= np.iinfo(one).max), None)
    if code_type is None:
        found = list(combinations(places.tolist(), 2))  # of a few inputs with many outputs
        if memory(len(found), outputs) > MOST_MEMORY:
            _refuse(many, outputs, f"all {len(found):,} differ")
        return found, 0.0
    numbers, column = numbers.astype(code_type), column.astype(code_type)
    first, second = numbers * code_type(entries * columns), numbers * code_type(columns) + column
    seen, found, step = set(), [], max(1, BLOCK // outputs)
    for i in progress(range(many - 1), desc=f"{many:,} inputs, each with the others", delay=PATIENCE):
        for start in range(i + 1, many, step):
            codes = np.sort(first[i] + second[start : start + step], axis=1)
            for j, code in enumerate(codes, start):
                if code.tobytes() not in seen:
                    seen |= {code.tobytes(), np.sort(first[j] + second[i]).tobytes()}
                    found.append((int(places[i]), int(places[j])))
        if memory(len(found), outputs) > MOST_MEMORY:
            _refuse(many, outputs, f"{i + 1:,} inputs alone have {len(found):,}")
    return found, distance if len(found) < many * (many - 1) // 2 else 0.0


def _refuse(many, outputs, most):
    pairs = many * (many - 1) // 2
    raise ValueError(
        f"matrix must have fewer pairs of inputs that differ by more than the order of outputs: {most}; "
        f"with all {pairs:,} of {many:,} inputs and {outputs:,} outputs an epsilon takes up to "
        f"{cost(pairs, many, outputs)}; merge inputs, or use randomizers.generic(eps0=...), whose bound "
        "holds for every mechanism of this local budget"
    )


def _numbered(rows):
    """Return a number for each entry, the same for those that are nearly equal, and the distance of these."""
    values, place = np.unique(rows, return_inverse=True)
    for near in (NEAR, 0.0):
        starts = np.append(True, values[1:] > values[:-1] * (1.0 + near))
        number = np.cumsum(starts) - 1
        low = values[starts][number]
        distance = float(np.max((values - low) / np.where(low > 0.0, low, 1.0)))
        if distance <= SAME:
            break
    return number[place].reshape(rows.shape), distance


def promising_attacks(rows, pairs=None, **rest):
    """Return the attacks on each pair of rows of class masses; the strongest of all for a pair without any.

    All pairs are looked at unless some are given; ``rest`` is passed on to `LikelihoodRatios.against`.
    """
    pairs = list(combinations(range(len(rows)), 2)) if pairs is None else pairs
    attacks = {
        (i, j, x): LikelihoodRatios.against(rows[x], rows[i], rows[j], **rest)
        for i, j, x in _promising_triples(rows, pairs)
    }
    attacks = dict(zip(attacks, united(attacks.values()), strict=True))
    found = {}
    for (i, j, _), one in attacks.items():
        found.setdefault((i, j), []).append(one)
    strongest = next(iter(attacks.values()))
    return {pair: tuple(found.get(pair, (strongest,))) for pair in pairs}


def _promising_triples(rows, pairs):
    r"""Return up to 24 triples (i, j, x): all other users hold x, one user changes from i to j.

    Strongest first by each of several measures in turn: the mass that x never reports;
    :math:`\int (R_i - R_j)^2 / R_x`, which decides for many users; and
    :math:`\log\int R_x e^{\pm\theta(R_i - R_j)/R_x}`, which decides for few.
    """
    inputs = len(rows)
    if len(pairs) * inputs <= MOST_ATTACKS:
        return [(i, j, x) for i, j in pairs for x in range(inputs)]
    step, scores, triples = max(1, BLOCK // rows.size), None, None
    for start in progress(range(0, len(pairs), step), desc="attacks on blocks of pairs", delay=PATIENCE):
        block = pairs[start : start + step]
        here = np.concatenate([_scores(rows[i] - rows[j], rows) for i, j in block], axis=1)
        places = np.broadcast_to(start * inputs + np.arange(len(block) * inputs), here.shape)
        if start:
            here, places = np.hstack([scores, here]), np.hstack([triples, places])
        best = np.argsort(-here, axis=1, kind="stable")[:, :MOST_ATTACKS]
        scores, triples = np.take_along_axis(here, best, axis=1), np.take_along_axis(places, best, axis=1)
    order = list(dict.fromkeys(triples.T.ravel().tolist()))[:MOST_ATTACKS]
    return [(*pairs[place // inputs], place % inputs) for place in order]


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


def binary_losses(matrix, rows, precision):
    """Return the largest losses of two outputs between which the rows are, None if they are not.

    Outputs whose probabilities are proportional count as one.  All rows of two outputs are mixtures of the
    two extreme ones, in which either output is rarest.  With more outputs, three or more rows are such
    mixtures only if outputs that count as one are exactly proportional in the ``matrix``, before rows were
    divided by their sums; two rows are always a post-processing of two outputs with their largest losses
    (Kairouz, Oh, Viswanath 2015).
    """
    used = rows.max(axis=0) > 0.0
    matrix, rows = matrix[:, used], rows[:, used]
    if rows.min() == 0.0:
        return None
    columns = rows / rows.sum(axis=0)
    apart = np.abs(columns / columns[:, :1] - 1.0).max(axis=0)
    second = int(np.argmax(apart))
    is_first = apart <= 4.0 * precision
    as_second = np.abs(columns / columns[:, [second]] - 1.0).max(axis=0) <= 4.0 * precision
    if is_first[second] or not np.all(is_first | as_second):
        return None
    if len(rows) > 2 and not all(_proportional(matrix[:, part]) for part in (is_first, ~is_first)):
        return None
    doubt = 2.0 * precision + 4.0 * rows.shape[1] * np.finfo(float).eps
    merged = np.column_stack([rows[:, part].sum(axis=1) for part in (is_first, ~is_first)])
    losses = np.log(merged.max(axis=0)) - np.log(merged.min(axis=0))
    slack, most = 2.0 * doubt + 1e-15 * np.abs(np.log(merged)).max(axis=0), losses
    if len(rows) == 2 and rows.shape[1] > 2:  # columns that count as one are so within the precision
        one, other = rows[np.argsort(-merged[:, 0])]
        each = np.log(one) - np.log(other)
        most = np.maximum(losses, [each.max(), -each.min()])
        slack = np.maximum(slack, 2.0 * doubt + 1e-15 * np.abs(np.log(rows)).max())
    inner, outer = losses - slack, most + slack
    if np.ptp(merged.min(axis=0)) <= MIRRORED * merged.min():  # the two outputs mirror each other
        inner[:], outer[:] = inner.min(), outer.max()
    if inner.min() <= 0.0 or outer.max() > LARGEST_BUDGET:
        return None
    return tuple(inner.tolist()), tuple(outer.tolist())


def _proportional(columns):
    """Return whether all columns are exact multiples of the first."""
    top, *others = [[Fraction(entry) for entry in row] for row in columns.tolist()]
    return all(row[0] * one == top[0] * entry for row in others for entry, one in zip(row, top, strict=True))

"""Local randomizers as small tables of exact fractions, one row of output probabilities for each input."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import prod


def normalised(weights):
    """Return rows of weights divided by their sums."""
    rows = [[Fraction(x) for x in row] for row in weights]
    totals = [sum(row) for row in rows]
    return [[x / total for x in row] for row, total in zip(rows, totals, strict=True)]


def sets(d, s):
    """Return all sets of s of d items."""
    return [frozenset(chosen) for chosen in combinations(range(d), s)]


def likely_pairs(e):
    """Return three inputs that share three outputs, two of which are e times as likely as the third."""
    return normalised([(e, e, 1), (e, 1, e), (1, e, e)])


def subsets(e, d, s, k):
    """Return subset selection: a k-subset of d items, e times likelier if it meets the user's s items."""
    return normalised([[e if held & report else 1 for report in sets(d, k)] for held in sets(d, s)])


def local_hash(e, d, range_size):
    """Return local hashing by a random function: an output is the set of items that hash to the report."""
    patterns = [frozenset(c) for k in range(d + 1) for c in combinations(range(d), k)]
    ways = [Fraction(range_size * (range_size - 1) ** (d - len(s)), range_size**d) for s in patterns]
    total = Fraction(e) + range_size - 1
    return [
        [way * (e if x in s else 1) / total for way, s in zip(ways, patterns, strict=True)] for x in range(d)
    ]


def hadamard(e, d, blocks=1):
    """Return Hadamard response with blocks of 2^k > d/blocks outputs, d/blocks items in each block."""
    order = 1 << (d // blocks).bit_length()
    rows = []
    for block in range(blocks):
        for x in range(d // blocks):
            signs = [(((x + 1) & y).bit_count() + 1) % 2 for y in range(order)]
            rows.append([e if other == block and sign else 1 for other in range(blocks) for sign in signs])
    return normalised(rows)


def rappor(root, d, s=1):
    """Return basic RAPPOR on one of the user's s items, e = root²: every bit is flipped with 1/(root + 1)."""
    rows = fake_users(Fraction(1, root + 1), d)
    return [[sum(masses) / s for masses in zip(*(rows[i] for i in held), strict=True)] for held in sets(d, s)]


def _held(d, s):
    """Return what a user may hold: s of d keys, each with a value ±1."""
    keys, signs = combinations(range(d), s), list(product((-1, 1), repeat=s))
    return [dict(zip(chosen, values, strict=True)) for chosen in keys for values in signs]


def key_values(e, d, s):
    """Return PCKV-GRR: one of 2d pairs (key, sign), e times likelier for the s pairs that the user holds."""
    pairs = list(product(range(d), (-1, 1)))
    return normalised([[e if pair in own.items() else 1 for pair in pairs] for own in _held(d, s)])


def priv_kv(e1, e2, d, s):
    """Return PrivKV for users who hold s of d keys with values ±1: (key, sign or absent)."""
    keep, sign = Fraction(e1, e1 + 1), Fraction(e2, e2 + 1)

    def distribution(value, out):
        if value is None:
            return keep if out == 0 else (1 - keep) / 2
        return 1 - keep if out == 0 else keep * (sign if out == value else 1 - sign)

    return [
        [distribution(own.get(key), out) / d for key in range(d) for out in (1, -1, 0)] for own in _held(d, s)
    ]


def piecewise(root):
    """Return the piecewise mechanism at the inputs -1, +1, 0 with e = root², root >= 2, on its intervals."""
    lengths = (1, 1, 1, root - 2)
    return normalised(
        [[length * (root**2 if i == j else 1) for j, length in enumerate(lengths)] for i in range(3)]
    )


def laplace(root, cells=2):
    """Return Laplace noise at the inputs j/cells with e^(eps0/cells) = root, coarsened at these points.

    Coarsening is post-processing: its privacy loss is a lower bound for the mechanism.
    """

    def below(steps):
        tail = Fraction(1, 2) / Fraction(root) ** abs(steps)
        return tail if steps <= 0 else 1 - tail

    edges = range(cells + 1)
    rows = [[Fraction(0), *(below(y - x) for y in edges), Fraction(1)] for x in edges]
    return [[b - a for a, b in zip(row, row[1:], strict=False)] for row in rows]


def corners(e, d):
    """Return Duchi et al.'s mechanism at the corners of the cube, a tie counting for both halves."""
    points = list(product((-1, 1), repeat=d))
    dots = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in points] for x in points]
    likely = [[Fraction(e, e + 1) if dot >= 0 else 0 for dot in row] for row in dots]
    rare = [[Fraction(1, e + 1) if dot <= 0 else 0 for dot in row] for row in dots]
    half = sum(1 for dot in dots[0] if dot >= 0)
    return [[(a + b) / half for a, b in zip(*rows, strict=True)] for rows in zip(likely, rare, strict=True)]


def one_coordinate(e, d):
    """Return Harmony at the corners of the cube: the randomised sign of one random coordinate."""
    shift = Fraction(e - 1, 2 * (e + 1))
    points = product((-1, 1), repeat=d)
    return [[(Fraction(1, 2) + v * x[j] * shift) / d for j in range(d) for v in (1, -1)] for x in points]


def fake_users(flip, d):
    """Return Cheu and Zhilyaev's messages: flipped one-hot vectors, and last the blanket message."""
    outputs = list(product((0, 1), repeat=d))
    return [
        [prod(1 - flip if bit == (j == item) else flip for j, bit in enumerate(bits)) for bits in outputs]
        for item in (*range(d), None)
    ]


def bins(d, s):
    """Return balls into bins, s of d bins for each item, and last the blanket message."""
    rows = [[Fraction(int(y // s == x), s) for y in range(d)] for x in range(d // s)]
    return [*rows, [Fraction(1, d)] * d]


def mixed_dummies(flip, d):
    """Return mixDUMP: the user's item or with ``flip`` another one, and last the blanket message."""
    rows = [[1 - flip if y == x else flip / (d - 1) for y in range(d)] for x in range(d)]
    return [*rows, [Fraction(1, d)] * d]


def telling_pairs(e, failure, d):
    """Return an (eps0, failure)-LDP channel: an output for each ordered pair of d inputs, and one for all.

    Output (i, j) has probability a from input i, a/e² from j and a/e from the others, a = failure/(1 - 1/e):
    i exceeds e times j by ``failure`` there, and no two inputs differ by more than that anywhere.
    """
    e = Fraction(e)
    high = failure / (1 - 1 / e)
    pairs = list(permutations(range(d), 2))
    rows = [[high if x == i else high / e**2 if x == j else high / e for i, j in pairs] for x in range(d)]
    return [[*row, 1 - sum(row)] for row in rows]


def staircase(e, patterns):
    """Return a channel with likelihoods 1 and e only: an extreme point of all with this ratio, or a mixture.

    Parameters
    ----------
    e : Fraction
        Ratio of the two likelihoods.
    patterns : list of (int, sequence of int)
        A weight, and for each input whether it makes an output likely; all cyclic shifts are outputs, too.
    """
    columns = [(weight, (*bits[s:], *bits[:s])) for weight, bits in patterns for s in range(len(bits))]
    inputs = range(len(patterns[0][1]))
    return normalised([[weight * (e if bits[x] else 1) for weight, bits in columns] for x in inputs])


def rarely_asked(channel, chance):
    """Return the channel of a user who answers with a small probability, and else reports a common output."""
    return [[chance * mass for mass in row] + [1 - chance] for row in channel]


def total_variation(channel):
    """Return the largest total variation between two rows."""
    return max(sum(max(a - b, 0) for a, b in zip(r, s, strict=True)) for r in channel for s in channel)


def largest_ratio(channel):
    """Return the largest ratio of two rows' probabilities of one output."""
    return max(max(column) / min(column) for column in zip(*channel, strict=True) if max(column))

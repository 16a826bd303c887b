"""Decompositions of local randomizers: the general clone, its tables, what is claimed of the bounds."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
from scipy.integrate import quad

from claims import exact_channels, exact_shuffle
from claims.claim import Check, Finding, Verdict, holds_if, smaller_if
from claims.exact_count_pair import printed
from claims.exact_losses import apart, blanket, blanket_delta, expected_positive_part, losses, summed
from claims.exact_tests import POSITIVE, always, never_fails, random_channel, random_distribution, tensor
from shufflelib import randomizers, shuffle
from shufflelib.published import renyi

E, RATIO = Fraction(3), Fraction(3, 2)


def _pairs(channel):
    return list(permutations(range(len(channel)), 2))


def _blanket_is_best(rng):
    channel, n = random_channel(rng), rng.randint(1, 3)
    ratio = 1 + Fraction(rng.randint(0, 8), 8)
    best = blanket(channel)
    other = [w * Fraction(rng.randint(1, 12), 12) for w in best]
    bounds = [blanket_delta(channel, n, ratio, reference, _pairs(channel)) for reference in (best, other)]
    return exact_shuffle.worst_delta(channel, n, ratio)[0] <= bounds[0] <= bounds[1]


def _attack_is_exact(rng):
    channel, n = random_channel(rng), rng.randint(1, 3)
    ratio, held = 1 + Fraction(rng.randint(0, 8), 8), rng.randrange(3)
    truth = exact_shuffle.delta(channel, 0, 1, (held,) * (n - 1), ratio)
    return truth == blanket_delta(channel, n, ratio, channel[held], [(0, 1)])


# ---------------------------------------------------------------- the table of losses


def _table(build, sizes, rows, what):
    """Return the check of one row: the distribution of G of ever more options against the table's."""

    def check(effort):
        steps, found, above = [], [], True
        for size in sizes:
            channel = build(size)
            distribution = losses(channel[0], channel[1], blanket(channel), RATIO)
            found.append(apart(distribution, summed(rows(size))))
            above &= all(
                expected_positive_part(summed(rows(size)), n) >= expected_positive_part(distribution, n)
                for n in (1, 2, 3)
            )
            steps.append(f"{size} {what}: total variation to the table {float(found[-1]):.3g}")
        falls = all(b <= a for a, b in zip(found, found[1:], strict=False)) and found[-1] < Fraction(1, 50)
        evidence = (
            f"{', '.join(steps)}; its bound for up to three users is never below the distribution's "
            f"own: {above}"
        )
        return holds_if(falls and above, evidence, steps)

    return check


def _response_row(d):
    total = E + d - 1
    return [
        (1 - E * RATIO, 1 / total),
        (1 - RATIO, (d - 2) / total),
        (E - RATIO, 1 / total),
        (Fraction(0), (E - 1) / total),
    ]


def _four_values(e, masses):
    """Return a row whose reports are likely or not under either input, in four masses, or do not differ."""
    values = (1 - e * RATIO, e - e * RATIO, 1 - RATIO, e - RATIO)
    return [*zip(values, masses, strict=True), (Fraction(0), 1 - sum(masses))]


def _two_classes_row(_):
    return _four_values(E, [1 / (2 * (1 + E))] * 4)


def _unary_row(_):
    t = 2 * (E + 1)
    return _four_values(E, (1 / t, 1 / (E * t), E / t, 1 / t))


ROOT = 2


def _rappor_row(_):
    t = Fraction((ROOT + 1) ** 2)
    return _four_values(Fraction(ROOT**2), (1 / t, 1 / (ROOT * t), ROOT / t, 1 / t))


def _unary(d):
    """Return optimized unary encoding: the user's bit kept with 1/2, the others set with 1/(e + 1)."""
    noise = 1 / (E + 1)

    def distribution(x, bits):
        chances = (Fraction(1, 2) if j == x else noise if bit else 1 - noise for j, bit in enumerate(bits))
        return math.prod(chances)

    return [[distribution(x, bits) for bits in product((0, 1), repeat=d)] for x in range(d)]


def _finite_rappor(effort):
    for d in (2, 3, 5, 8):
        gamma = Fraction(1, ROOT) + (ROOT - Fraction(1, ROOT)) / (1 + ROOT) ** d
        if sum(blanket(exact_channels.rappor(ROOT, d))) != gamma:
            return Finding(Verdict.REFUTED, f"D = {d}")
    return Finding(Verdict.HOLDS, "D = 2, 3, 5, 8 in exact fractions, e^(eps0/2) = 2")


def _laplace_blanket(effort):
    worst = 0.0
    for eps0 in (0.1, 1.0, 4.0):
        ends = -80 / eps0, 1 + 80 / eps0

        def least(y, scale=eps0):
            return scale / 2 * math.exp(-scale * max(abs(y), abs(y - 1)))

        gamma = quad(least, *ends, points=[0, 0.5, 1], limit=200)[0]
        worst = max(worst, abs(gamma / math.exp(-eps0 / 2) - 1))
    evidence = f"eps0 = 0.1, 1, 4: by quadrature to {max(worst, 1e-12):.1g}"
    return holds_if(worst < 1e-7, evidence)


# ---------------------------------------------------------------- compositions


def _mirrored(rng):
    """Return two rows that are each other's mirror image, so that their ratios can be exchanged."""
    row = random_distribution(rng, rng.randint(2, 3), POSITIVE)
    return [row, row[::-1]]


def _joint(rng):
    parts = [_mirrored(rng) for _ in range(2)]
    channel, n, ratio = (
        [tensor(*rows) for rows in product(*parts)],
        rng.randint(1, 2),
        1 + Fraction(rng.randint(0, 8), 8),
    )
    whole = tensor(*map(blanket, parts))
    bound = {pair: blanket_delta(channel, n, ratio, whole, [pair]) for pair in _pairs(channel)}
    farthest = max(bound[a, b] for a, b in bound if a + b == 3)  # both answers differ
    truth = exact_shuffle.worst_delta(channel, n, ratio)[0]
    return whole == blanket(channel) and truth <= farthest == max(bound.values())


def _parallel(rng):
    one, two = (random_channel(rng, 2) for _ in range(2))
    share, n, ratio = Fraction(rng.randint(1, 9), 10), rng.randint(1, 3), 1 + Fraction(rng.randint(0, 8), 8)
    channel = [[share * x for x in a] + [(1 - share) * x for x in b] for a, b in zip(one, two, strict=True)]
    distribution = losses(*channel, blanket(channel), ratio)
    weighted = summed(
        (value, c * mass)
        for c, part in ((share, one), (1 - share, two))
        for value, mass in losses(*part, blanket(part), ratio).items()
    )
    bound = blanket_delta(channel, n, ratio, blanket(channel), [(0, 1), (1, 0)])
    return distribution == weighted and exact_shuffle.worst_delta(channel, n, ratio)[0] <= bound


MIRRORED = never_fails(_joint, "two channels with mirrored inputs, all datasets, all pairs", most=400)
RESPONSE = exact_shuffle.randomized_response(9, 2)
LOPSIDED = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(5, 6), Fraction(1, 6)]]


def _by_answers(first, second, number):
    """Return the largest number of two inputs that differ in both answers, and that of (0, 0), (1, 0)."""
    channel = [tensor(*rows) for rows in product(first, second)]
    return max(number(channel, (a, 3 - a)) for a in range(4)), number(channel, (0, 2))


def _tuples(effort):
    def bound(channel, pair):
        return blanket_delta(channel, 2, RATIO, blanket(channel), [pair])

    def truth(channel, pair):
        return max(exact_shuffle.delta(channel, *pair, (x,), 1) for x in range(4))

    found = MIRRORED(effort)
    both, one = _by_answers(RESPONSE, LOPSIDED, bound)
    true_both, true_one = _by_answers(*(exact_shuffle.randomized_response(e, 2) for e in (11, 5)), truth)
    steps = (
        "first answer: binary response, e^eps0 = 9; second: (1, 1)/2 for one value, (5, 1)/6 for the other",
        "the bound for n = 2 at e^epsilon = 3/2",
        f"both answers differ: at most {printed(both)}",
        f"the first answer differs, the second has (1, 1)/2 for both inputs: {printed(one)}",
        "the truth, as opposed to the bound: binary responses, e^eps0 = 11 and 5, n = 2, epsilon = 0",
        f"both answers differ: at most {true_both}, the first only: {true_one}",
        found.evidence,
    )
    if found.verdict is not Verdict.HOLDS:
        return found._replace(steps=steps)
    evidence = f"{found.evidence}; else one answer that differs may be worse than two, {one} > {both}"
    return smaller_if(one > both, evidence, steps)


def _tuples_by_summation():
    """The bound for two users from its definition: both reports in the blanket, one of them, or none."""

    def bound(channel, pair):
        rows = np.array(channel, float)
        mass, gap = rows.min(axis=0), rows[pair[0]] - float(RATIO) * rows[pair[1]]
        gains = gap / mass
        pairs = np.maximum(gains[:, None] + gains, 0.0) * np.outer(mass, mass)
        return pairs.sum() / 2 + (1 - mass.sum()) * np.maximum(gap, 0.0).sum()

    both, one = _by_answers(RESPONSE, LOPSIDED, bound)
    steps = (f"by summation in floating point: both answers differ {both:.7f}, the first only {one:.7f}",)
    return smaller_if(one > both + 1e-9, "by summation", steps)


HALF = Fraction(1, 2)


def _poisson(effort):
    rows = [[HALF * x for x in row] + [HALF] for row in exact_shuffle.randomized_response(3, 2)]
    absent, ratio, n = [*rows, [Fraction(0), Fraction(0), Fraction(1)]], Fraction(2), 3
    bound = blanket_delta(rows, n, ratio, blanket(rows), [(0, 1), (1, 0)])
    replaced = exact_shuffle.worst_delta(rows, n, ratio)[0]
    removed = max(
        exact_shuffle.delta(absent, *ends, others, ratio)
        for x in (0, 1)
        for ends in ((x, 2), (2, x))
        for others in ((0, 0), (0, 1), (1, 1))
    )
    steps = (
        "binary randomized response with e^eps0 = 3, half the users silent, n = 3, e^epsilon = 2",
        f"the bound: {bound}",
        f"one user's value is replaced: {replaced} at worst",
        f"one user is removed: {removed} at worst",
    )
    evidence = f"replacing {replaced} <= {bound}, the bound; removing a user has {removed}"
    return smaller_if(replaced <= bound < removed, evidence, steps)


# ---------------------------------------------------------------- tightness


def _nearly_match(effort):
    steps, ratios = [], {}
    cases = {
        "10-ary response, eps0 = 0.1": randomizers.generalized_rr(eps0=0.1, d=10),
        "10-ary response, eps0 = 2": randomizers.generalized_rr(eps0=2.0, d=10),
        "Laplace, eps0 = 0.1": randomizers.laplace(eps0=0.1),
        "Laplace, eps0 = 2": randomizers.laplace(eps0=2.0),
    }
    for name, randomizer in cases.items():
        both = shuffle(randomizer, n=1000).epsilon(1e-6)
        ratios[name] = both.upper / both.lower
        steps.append(
            f"{name}, n = 1000, delta = 1e-6: {both.lower:.6g} to {both.upper:.6g}, {ratios[name]:.4f}"
        )
    binary = shuffle(randomizers.binary_rr(eps0=1.0), n=1000).epsilon(1e-6).upper
    reference = renyi.generic_pair(eps0=1.0, n=1000).epsilon(1e-6).lower
    steps.append(f"binary response, eps0 = 1: the truth {binary:.6g}, the blanket's bound {reference:.6g}")
    near, far = max(list(ratios.values())[:2]), min(ratios["Laplace, eps0 = 2"], reference / binary)
    noise = ratios["Laplace, eps0 = 2"]
    evidence = (
        f"for randomized response on ten options within {100 * (near - 1):.2g} %; upper over lower is "
        f"{noise:.3f} for Laplace noise at eps0 = 2, {reference / binary:.3f} for binary response at eps0 = 1"
    )
    return smaller_if(near < 1.001 and far > 1.1, evidence, steps)


CHECKS = {
    "scw25-optimal-decomposition": always(_blanket_is_best, most=400),
    "scw25-lower-bound": always(_attack_is_exact),
    "scw25-table-response": Check(
        _table(lambda d: exact_shuffle.randomized_response(E, d), (2, 3, 9), _response_row, "options")
    ),
    "scw25-table-local-hash": Check(
        _table(lambda d: exact_channels.local_hash(E, d, 2), (2, 4, 8), _two_classes_row, "options")
    ),
    "scw25-table-hadamard": Check(
        _table(lambda d: exact_channels.hadamard(E, d), (3, 15, 127), _two_classes_row, "options")
    ),
    "scw25-table-unary": Check(_table(_unary, (2, 5, 8), _unary_row, "options")),
    "scw25-table-rappor": Check(
        _table(lambda d: exact_channels.rappor(ROOT, d), (2, 4, 8), _rappor_row, "options")
    ),
    "scw25-rappor-finite": Check(_finite_rappor),
    "scw25-table-laplace": Check(_laplace_blanket),
    "scw25-joint": Check(_tuples, _tuples_by_summation),
    "scw25-parallel": always(_parallel, most=400),
    "scw25-poisson": Check(_poisson),
    "scw25-nearly-match": Check(_nearly_match),
}

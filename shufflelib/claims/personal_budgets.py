"""Users with budgets of their own: the reduction of the generalized shuffle framework, and its normal law."""

import math
from fractions import Fraction

import numpy as np

from shufflelib import personalized
from shufflelib.claims import exact
from shufflelib.claims.claim import Claim, Finding, Verdict
from shufflelib.claims.counts_pair import above_the_claim, both_ways

SOURCE = "Chen, Cao, Ge (AAAI 2024)"
SLOTS = (
    "With delta_i = 0, for users permuted before slots with fixed randomizers see them (Definition 6), the "
    "two counts do bound the slots' reports if these are not adaptive; the normal law is then a limit "
    "without error term."
)

# ---------------------------------------------------------------- a failure that tells all


def _reveal(chance):
    """Return the channel that shows the value with this chance and else a blank: (0, chance)-LDP."""
    return [[chance if y == x else Fraction(0) for y in range(3)] + [1 - chance] for x in range(3)]


def _two_inputs_apart(effort):
    chance = Fraction(1, 1000)
    rows = _reveal(chance)
    apart = exact.hockey_stick(dict(enumerate(rows[0])), dict(enumerate(rows[1])), 1)
    lines = (
        "report = value with chance delta_0 = 1/1000, else blank; (0, delta_0)-LDP",
        "eps_i = 0: both inputs have weights (1-delta_0)/2, (1-delta_0)/2, delta_0 on the same three laws",
    )
    return above_the_claim(apart, Fraction(0), lines, said="total variation of the two inputs")


def _two_inputs_apart_again():
    e, chance = Fraction(3), Fraction(1, 10)
    high, low = (1 - chance) * e / (1 + e), (1 - chance) / (1 + e)
    laws = [dict(zip("A01B", row, strict=True)) for row in ((chance, high, low, 0), (0, low, high, chance))]
    lemma = high - low  # weights high, low and delta on common laws
    lines = (
        "the four-symbol randomizer of Lemma 4 itself, e = 3, delta_i = 1/10; Lemma 1 leaves high - low",
    )
    return above_the_claim(
        exact.hockey_stick(*laws, 1), lemma, lines, said="total variation of the two inputs"
    )


def _others_share_too_little(effort):
    e = Fraction(3)
    rows = [[Fraction(x, 7) for x in row] for row in ((3, 3, 1), (3, 1, 3), (1, 3, 3))]
    left = rows[2][0] - (rows[0][0] + rows[1][0]) / (e + 1)
    steps = (
        "three inputs in sevenths: (3, 3, 1), (3, 1, 3), (1, 3, 3); log(3)-LDP, delta_i = 0",
        "(9), (10): Q0 + Q1 = R0 + R1, so (11) leaves R2 - (R0 + R1)/(e + 1) for the rest",
        f"output 0: {rows[2][0]} - {(rows[0][0] + rows[1][0]) / (e + 1)} = {left}",
    )
    return Finding(Verdict.REFUTED if left < 0 else Verdict.HOLDS, f"the rest has probability {left}", steps)


def _others_share_too_little_again():
    steps = [(1.0 - 2 * e / (e + 1)) / (2 * e + 1) for e in (1.5, 3.0, 20.0)]
    said = (
        f"weights e, e, 1: (1 - 2e/(e+1))/(2e+1) = {', '.join(f'{x:.4g}' for x in steps)} at e = 1.5, 3, 20"
    )
    return Finding(Verdict.REFUTED if max(steps) < 0 else Verdict.HOLDS, said, (said,))


def _failure_in_the_crowd(effort):
    chance, ratio = Fraction(1, 1000), 50
    truth = exact.delta(_reveal(chance), 0, 1, (2,) * 4, ratio)
    half = (1 - chance) / 2
    rows = [[half, half, chance], [half, half, chance]]  # rho_0 and rho_1 at eps_n = 0
    lines = (
        "report = value with chance 1/1000, else blank; n = 5, four others hold a third value, e^eps = 50",
        "eps_i = 0: Delta_0 and Delta_1 have the same law, so that rho_0 = rho_1",
    )
    return above_the_claim(truth, both_ways(rows, 0, 1, (0,) * 4, ratio), lines)


def _failure_by_hand():
    chance = Fraction(1, 1000)
    lines = ("by hand: 'the value x0 is among the reports' has chance 1/1000 under x0 and 0 under x1",)
    return above_the_claim(chance, Fraction(0), lines)


# ---------------------------------------------------------------- the normal law


def _points_against_density(effort):
    found = personalized.normal_approximation_gspa24(eps0=0.5, n=120)
    steps = (
        "the counts are whole numbers with probability 1, the normal law gives whole numbers probability 0",
        "so the total variation distance is 1 for every m, above C/sqrt(m) for m > C^2",
        f"rounded to cells, eps0 = 1/2, n = 120: {found.total_variation:.4g}, that is "
        f"{found.total_variation * 120**0.5:.3g}/sqrt(n)",
    )
    return Finding(Verdict.REFUTED, "the distance of a law on points to a law with a density is 1", steps)


def _points_by_sampling():
    draws = np.random.default_rng(7).normal(20.0, 4.0, size=(100_000, 2))
    hits = int(np.all(draws == np.round(draws), axis=1).sum())
    steps = (
        f"{hits} of 100000 draws of the normal law are pairs of whole numbers, where all draws of the "
        "counts are",
    )
    return Finding(Verdict.REFUTED if hits < 100 else Verdict.HOLDS, "sampling", steps)


def _plain_distance(n, eps0=0.5):
    """Return half the sum, and the largest, of the differences between counts and a midpoint normal law."""
    q, m = 1 / (1 + math.exp(eps0)), n - 1
    k = np.arange(m + 1)
    a, b = np.meshgrid(k, k, indexing="ij")
    rest = np.maximum(m - a - b, 0)
    lgamma = np.array([math.lgamma(x + 1.0) for x in range(m + 1)])
    mass = np.exp(
        lgamma[m] - lgamma[a] - lgamma[b] - lgamma[rest] + (a + b) * math.log(q) + rest * math.log1p(-2 * q)
    )
    mass = np.where(a + b <= m, mass, 0.0)
    wide, narrow = 2 * m * q, 2 * m * q * (1 - 2 * q)
    x, y = a - m * q, b - m * q
    normal = np.exp(-0.5 * ((x - y) ** 2 / wide + (x + y) ** 2 / narrow)) / (
        math.pi * math.sqrt(wide * narrow)
    )
    return 0.5 * float(np.abs(mass - normal).sum()), float(mass.max())


def _single_cells(effort):
    found = personalized.normal_approximation_gspa24(eps0=0.5, n=150)
    steps = (
        f"eps0 = 1/2, n = 150: equation (14) is {found.printed:.5g}, with whole cells "
        f"{found.largest_cell:.3g}",
        f"half the sum over cells, the total variation distance: {found.total_variation:.5g}",
    )
    refuted = found.total_variation > 2 * found.printed
    said = (
        f"equation (14) gives {found.printed:.3g} where the distance is {found.total_variation:.3g} (n = 150)"
    )
    return Finding(Verdict.REFUTED if refuted else Verdict.HOLDS, said, steps)


def _single_cells_again():
    distance, peak = _plain_distance(150)
    steps = (
        f"midpoint rule: distance {distance:.4g}; no difference of cells exceeds the largest mass, "
        f"{peak:.4g}",
    )
    return Finding(Verdict.REFUTED if distance > 2 * peak else Verdict.HOLDS, "a midpoint rule", steps)


def _rate(effort):
    small, large = (personalized.normal_approximation_gspa24(eps0=0.5, n=n) for n in (120, 480))
    distance, printed_ratio = small.total_variation / large.total_variation, small.printed / large.printed
    steps = (
        f"eps0 = 1/2, n = 120 and 480: total variation {small.total_variation:.5g}, "
        f"{large.total_variation:.5g}",
        f"ratio {distance:.4g} = sqrt(4), the rate 1/sqrt(n); equation (14): ratio {printed_ratio:.4g}, the "
        "rate 1/n",
    )
    said = f"four times the users divide the distance by {distance:.3g}"
    return Finding(Verdict.REFUTED if distance < 2.5 else Verdict.HOLDS, said, steps)


def _rate_again():
    (small, _), (large, _) = _plain_distance(120), _plain_distance(480)
    steps = (f"midpoint rule: {small:.5g}, {large:.5g}, ratio {small / large:.4g}",)
    return Finding(Verdict.REFUTED if small / large < 2.5 else Verdict.HOLDS, "a midpoint rule", steps)


CLAIMS = (
    Claim(
        id="gspa24-lemma-1",
        statement=(
            "Two inputs of an (eps_i, delta_i)-LDP randomizer are mixtures of three common laws, with "
            "weight delta_i on one and the same third law."
        ),
        source=f"{SOURCE}, Lemma 1, equations (9), (10)",
        verdict=Verdict.REFUTED,
        check=_two_inputs_apart,
        confirm=_two_inputs_apart_again,
        reading=(
            "With delta_i = 0. Else the symbols A and B of its own Lemma 4 tell the inputs apart. Both "
            "equations are printed with the weights of the first input in the text consulted; the proof "
            "exchanges them."
        ),
    ),
    Claim(
        id="gspa24-lemma-1-others",
        statement=(
            "Every other input is a mixture with weight (1-delta_i)/(1+e^eps_i) on each of the first two "
            "laws."
        ),
        source=f"{SOURCE}, Lemma 1, equation (11)",
        verdict=Verdict.REFUTED,
        check=_others_share_too_little,
        confirm=_others_share_too_little_again,
        reading=(
            "The lemma behind it was withdrawn by its authors (erratum of arXiv:2208.04591). With weights "
            "e^-eps_i/2 it is Feldman, McMillan, Talwar (FOCS 2021)."
        ),
    ),
    Claim(
        id="gspa24-theorem-1",
        statement=(
            "Shuffled (eps_i, delta_i)-PLDP reports are a post-processing of rho_0 or rho_1, the counts of "
            "two symbols."
        ),
        source=f"{SOURCE}, Theorem 1",
        verdict=Verdict.REFUTED,
        check=_failure_in_the_crowd,
        confirm=_failure_by_hand,
        reading=SLOTS,
    ),
    Claim(
        id="gspa24-lemma-2",
        statement=(
            "The total variation distance between two counts of m users and the normal law is at most "
            "C/sqrt(m)."
        ),
        source=f"{SOURCE}, Lemma 2",
        verdict=Verdict.REFUTED,
        check=_points_against_density,
        confirm=_points_by_sampling,
        reading="With the normal law rounded to whole numbers, and a C that depends on the budgets.",
    ),
    Claim(
        id="gspa24-equation-14",
        statement=(
            "The total variation distance is the largest difference of single probabilities, with h over "
            "half-cells."
        ),
        source=f"{SOURCE}, equation (14)",
        verdict=Verdict.REFUTED,
        check=_single_cells,
        confirm=_single_cells_again,
        reading="It is half the sum over cells; the largest one is smaller by a factor of the order of n.",
    ),
    Claim(
        id="gspa24-rate",
        statement="The convergence rate of Lemma 2 is nearly 1/n, so that the error can be neglected.",
        source=f"{SOURCE}, Comparison with existing results",
        verdict=Verdict.REFUTED,
        check=_rate,
        confirm=_rate_again,
        reading="Equation (14) falls as 1/n, as single probabilities do.",
    ),
)

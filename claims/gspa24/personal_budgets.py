"""Personal budgets: the generalized shuffle framework's reduction to two counts."""

import itertools
import math
from fractions import Fraction

import numpy as np

from claims import exact_shuffle
from claims.claim import Check, Verdict, Worded, refuted_if
from claims.exact_channels import likely_pairs
from claims.exact_count_pair import both_ways, witness
from claims.exact_tests import divergence, four_symbols
from claims.failure_curve import LOWER, Along
from claims.others.before_the_pair import left_over

# ---------------------------------------------------------------- a failure that reveals the input


def _reveal(chance):
    """Return the channel that reveals the value with this probability and else a blank: (0, chance)-LDP."""
    return [[chance if y == x else Fraction(0) for y in range(3)] + [1 - chance] for x in range(3)]


def _two_inputs_apart():
    """Return the total variation of two inputs with (0, 1/1000)-LDP, and that of what Lemma 1 has."""
    rows = _reveal(Fraction(1, 1000))
    return divergence(rows[0], rows[1], 1), Fraction(0)


def _apart_by_failure(chance):
    """Return the distance of the two distributions of Lemma 4 at e^ε = 3, and what Lemma 1 leaves of it."""
    p, q = four_symbols(Fraction(3), chance)
    return divergence(p, q, 1), p[1] - p[2]  # weights high, low and delta on common distributions


def _others_share_too_little(effort):
    e = Fraction(3)
    rows = likely_pairs(e)
    left = rows[2][0] - (rows[0][0] + rows[1][0]) / (e + 1)
    steps = (
        "three inputs in sevenths: (3, 3, 1), (3, 1, 3), (1, 3, 3); log(3)-LDP, delta_i = 0",
        "(9), (10) with e and 1 exchanged in one: Q0 + Q1 = R0 + R1, so (11) leaves R2 - (R0 + R1)/(e + 1)",
        f"output 0: {rows[2][0]} - {(rows[0][0] + rows[1][0]) / (e + 1)} = {left}",
    )
    return refuted_if(left < 0, f"the rest has probability {left}", steps)


def _others_share_too_little_again():
    left = ", ".join(f"{left_over(e):.4g}" for e in (1.5, 3.0, 20.0))
    evidence = f"weights e, e, 1: (1 - 2e/(e+1))/(2e+1) = {left} at e = 1.5, 3, 20"
    return refuted_if(max(map(left_over, (1.5, 3.0, 20.0))) < 0, evidence, (evidence,))


def _weight_to_be_had(eps):
    """Return the weight on both distributions that the third input can have, and the lemma's."""
    e = Fraction(math.exp(eps))
    return min(c / (a + b) for a, b, c in zip(*likely_pairs(e), strict=True)), 1 / (1 + e)


def one_budget_among_zeros(n, e, ratio):
    """Return δ of the two counts for budgets log e, 0, …, 0, the first user being the one who changes.

    In the randomize-then-shuffle model these are the reports of binary randomized response.
    """
    high, low, half = Fraction(e) / (e + 1), 1 / (Fraction(e) + 1), Fraction(1, 2)
    return both_ways([[high, low], [low, high], [half, half]], 0, 1, (2,) * (n - 1), ratio)


def _one_slot_with_budget(n, e, ratio):
    """Return δ of the reports, in order, of n binary slots with budgets log e, 0, …, 0; the others hold 0.

    The user who changes has the first slot with probability 1/n; slots with budget 0 reveal nothing.
    """
    first = Fraction(e) / (e + 1), 1 / (Fraction(e) + 1)
    moved = [((n - 1) * a + b) / n for a, b in zip(first, first[::-1], strict=True)]
    return both_ways([first, moved], 0, 1, (), ratio)


def _order_reveals_more():
    return _one_slot_with_budget(6, 99, 5), one_budget_among_zeros(6, 99, 5)


def _order_by_enumeration():
    """Every report of five slots, every slot of the user who changes; every outcome of the two counts."""
    n, e, ratio = 5, 99, 5
    first, coin = (Fraction(e, e + 1), Fraction(1, e + 1)), (Fraction(1, 2),) * 2
    distributions = [{}, {}]
    for reports in itertools.product((0, 1), repeat=n):
        for value, distribution in enumerate(distributions):
            for changed in range(n):
                rows = [first] + [coin] * (n - 1)
                truths = [y == (value if slot == changed else 0) for slot, y in enumerate(reports)]
                chances = [row[0 if true else 1] for row, true in zip(rows, truths, strict=True)]
                distribution[reports] = distribution.get(reports, 0) + math.prod(chances) / n
    counts = [{}, {}]
    for symbols in itertools.product((0, 1), repeat=n):
        for value, distribution in enumerate(counts):
            chance = first[symbols[0] != value] * Fraction(1, 2) ** (n - 1)
            distribution[sum(symbols)] = distribution.get(sum(symbols), 0) + chance
    return [exact_shuffle.larger(*pair, ratio) for pair in (distributions, counts)]


def _both(*ends):
    """Return a check of several counterexamples, *refuted* if each is one; each has a list of words."""

    def told(words):
        def check(effort=None):
            found = [witness(one).told(lines)() for one, lines in zip(ends, words, strict=True)]
            evidence = ". ".join(one.evidence for one in found)
            every = all(one.verdict is Verdict.REFUTED for one in found)
            return refuted_if(every, evidence, [step for one in found for step in one.steps])

        return check

    return Worded(told)


def _slots_and_counts(eps):
    """Return δ at e^ε = 5 of six slots, one with this budget, in order, and of the counts of symbols."""
    e = Fraction(math.exp(eps))
    return _one_slot_with_budget(6, e, 5), one_budget_among_zeros(6, e, 5)


def _failure_among_users():
    chance, ratio = Fraction(1, 1000), 50
    truth = exact_shuffle.delta(_reveal(chance), 0, 1, (2,) * 4, ratio)
    half = (1 - chance) / 2
    rows = [[half, half, chance], [half, half, chance]]  # rho_0 and rho_1 at eps_n = 0
    return truth, both_ways(rows, 0, 1, (0,) * 4, ratio)


CHECKS = {
    "gspa24-lemma-1": Check(
        witness(_two_inputs_apart, "total variation of the two inputs"),
        witness(lambda: _apart_by_failure(Fraction(1, 10)), "total variation of the two inputs"),
        Along([Fraction(k, 40) for k in range(13)], _apart_by_failure),
    ),
    "gspa24-lemma-1-others": Check(
        _others_share_too_little,
        _others_share_too_little_again,
        Along(np.linspace(0.1, 5.0, 15), _weight_to_be_had, LOWER),
    ),
    "gspa24-theorem-1": Check(
        _both(_order_reveals_more, _failure_among_users),
        _both(_order_by_enumeration, lambda: (Fraction(1, 1000), Fraction(0))),
        Along(np.linspace(2.0, 7.0, 16), _slots_and_counts),
    ),
}

r"""Local failures: Theorem 3.8 of Feldman, McMillan, Talwar (FOCS 2021) on (ε₀, δ₀)-LDP reports, proved anew.

Let P and Q be the reports on the two inputs of the user who changes, and e = e^ε₀. They are a
post-processing of the four symbols of Kairouz, Oh, Viswanath, with probabilities (δ₀, ..., 0) and (0, ...,
δ₀). Moving δ₀/(1 + e) from the first to the last symbol of the one, and back in the other, makes the pair
ε₀-LDP: it gives P′ and Q′ within δ₀/(1 + e) of P and Q.

A report of another user has a distribution R with P ≤ eR and Q ≤ eR but for δ₀ each, hence (P + Q)/(2e) ≤ R
but for δ₀/e, and (P′ + Q′)/(2e) ≤ R but for δ₀/e + δ₀/(e(1 + e)). That near to R is a mixture of P′ and Q′,
with weight 1/(2e) each, and a rest: a clone of either with these probabilities. As (2e + 3)(e − 1) ≥ 0, the
distance is at most (1 + 1/(2e)) δ₀. So n reports are, on both datasets, within n(1 + 1/(2e)) δ₀ of reports
that the pair of clones bounds.

No step needs one ε₀-LDP randomizer near the given one at all inputs; there may be none within any multiple
of δ₀ (`ccg24.nearest_pure_channel`).
"""

from fractions import Fraction

from claims import exact_channels as channels
from claims import exact_shuffle
from claims.ccg24.nearest_pure_channel import failure
from claims.claim import Check, Verdict, Worded
from claims.exact_count_pair import both_ways
from claims.exact_tests import four_symbols, random_channel, share_of_bound


def _clones(e):
    """Return the rows of the pair of clones: both inputs of the user who changes, and all other users'."""
    own = [e / (e + 1), 1 / (e + 1)]
    return [[*own, 0], [*own[::-1], 0], [1 / (2 * e), 1 / (2 * e), 1 - 1 / e]]


def _failing(rng):
    """Return a channel and an e^ε₀: failures that reveal the input or a pair, or a larger ratio than that."""
    kind, d, e = rng.randrange(3), rng.randint(2, 4), Fraction(rng.randint(5, 40), 4)
    if kind == 0:
        chance = Fraction(1, 10 ** rng.randint(1, 4))
        pure = channels.subsets(e, d, 1, 1)
        return [
            [(1 - chance) * x for x in row] + [chance * (y == told) for y in range(d)]
            for told, row in enumerate(pure)
        ], e
    if kind == 1:
        return channels.telling_pairs(e, Fraction(1, 10 ** rng.randint(1, 3)) * (1 - 1 / e) / d**2, d), e
    rows = random_channel(rng)
    return rows, 1 + (channels.largest_ratio(rows) - 1) * Fraction(rng.randint(1, 9), 10)


def _failures_charged(rng):
    """Return the worst dataset's δ as a share of the clones' and what is added for local failures."""
    channel, e = _failing(rng)
    n = rng.randint(1, 3 if len(channel) < 4 else 2)
    if e == 1:
        return None
    ratio, delta0 = 1 + Fraction(rng.randint(0, 40), 40) * (e - 1), failure(channel, e)
    truth = exact_shuffle.worst_delta(channel, n, ratio)[0]
    bound = both_ways(_clones(e), 0, 1, (2,) * (n - 1), ratio) + added(e, ratio, n, delta0)
    if truth > bound:
        return f"{channel}, n = {n}, e^eps0 = {e}, delta0 = {delta0}, e^eps = {ratio}: {truth} > {bound}"
    return truth / bound if bound else 0


def added(e, ratio, n, delta0):
    """Return what the theorem adds to δ."""
    return (ratio + 1) * (1 + 1 / (2 * e)) * n * delta0


def clone_distance(e, delta0):
    """Return the distance within which the proof finds a report with a clone."""
    return delta0 / e + delta0 / (e * (1 + e))


def _proof(e, delta0):
    """Return the proof's lines with the numbers of an example, and whether each of them is right."""
    p, q = four_symbols(e, delta0)
    share = delta0 / (1 + e)
    moved = [p[0] - share, *p[1:3], share], [share, *q[1:3], q[3] - share]
    ratio, away = channels.largest_ratio(moved), channels.total_variation([p, moved[0]])
    lines = (
        f"e^eps0 = {e}, delta0 = {delta0}; P, Q: the reports on the two inputs of the user who changes",
        f"they are a processing of four symbols, P = ({', '.join(map(str, p))}), Q its mirror image",
        f"delta0/(1 + e^eps0) = {share} moved between first and last symbol: P', Q' of largest ratio {ratio} "
        f"and distance {away}",
        "another user's report R has (P + Q)/(2 e^eps0) <= R but for delta0/e^eps0, and the moved pair has",
        f"(P' + Q')/(2 e^eps0) <= R but for {clone_distance(e, delta0)}: that near to R are clones",
        f"that is at most (1 + 1/(2 e^eps0)) delta0 = {(1 + 1 / (2 * e)) * delta0}, as (2e + 3)(e - 1) >= 0",
        f"n reports charge n times it on both datasets: {added(e, 2, 10, delta0)} at e^eps = 2, n = 10",
        "only these two inputs need a pure pair; at all inputs none need be as near (ccg24-lemma-6)",
    )
    return lines, ratio == e and away == share and clone_distance(e, delta0) <= (1 + 1 / (2 * e)) * delta0


def _searched_and_proved(words):
    def check(effort):
        lines, right = _proof(Fraction(3), Fraction(1, 100))
        found = share_of_bound(_failures_charged, 6, most=96).check.told(words)(effort)
        return found._replace(verdict=found.verdict if right else Verdict.REFUTED, steps=lines)

    return check


CHECKS = {"fmt21-theorem-3.8": Check(Worded(_searched_and_proved))}

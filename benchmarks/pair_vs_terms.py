"""One ε of the generic pair at δ = 0.01/n, as in Wang's Figure 1: our enclosure beside Algorithm 1.

Algorithm 1 (Wang, PVLDB 2024, arXiv:2304.05007) adds up all numbers of clones in each of 20 bisections.
Beyond 1e5 users one of the 20 equal sums is timed and counted twenty times; what is compared then is δ at our
ε.  "12 deviations" leaves out all numbers of clones further away.  dp-accounting is given both distributions
cell by cell and rounds every loss up by at most 1e-4, so the truth is that much below its ε at most.
"""

import math

from benchmarks.pair_delta import EPS0, STEP, accountant, pair_of
from benchmarks.published_terms import STEPS, delta_of_pair, epsilon_of_pair
from benchmarks.runner import Benchmark, Case, Peer

WHOLE, ONE_SUM = 10**5, 10**7  # largest n at which all bisections run, and one of them
WINDOWED, CELLS = 10**8, 10**3


def accounted(n, delta):
    """Return dp-accounting's ε, and how far below it the truth can be."""
    eps = float(accountant(n, EPS0, True).get_epsilon_for_delta(delta))
    return eps - STEP, eps


def case(n):
    """Ask for ε; the peers' ends are those of their bisection, or of the side they round to."""
    pair, delta = pair_of(n), 0.01 / n

    def inside(answer, found):
        known = pair.delta(answer.upper)
        return known.lower * (1.0 - 1e-9) <= found <= known.upper * (1.0 + 1e-9)

    def bisected(window):
        low, high = epsilon_of_pair(pair, delta, window)
        return low * (1.0 - 1e-9), high * (1.0 + 1e-9)

    peers = []
    if n <= WHOLE:
        peers += [Peer("term by term", lambda answer: bisected(math.inf))]
    elif n <= ONE_SUM:
        peers += [Peer("term by term", lambda answer: delta_of_pair(answer.upper, pair), inside, STEPS)]
    if n <= WINDOWED:
        peers += [Peer("12 deviations", lambda answer: bisected(12.0))]
    if n <= CELLS:
        peers += [Peer("dp-accounting", lambda answer: accounted(n, delta))]
    return Case(
        ours=lambda: pair_of(n).epsilon(delta=delta),
        peers=tuple(peers),
        facts=lambda answer: {"relative width": answer.upper / answer.lower - 1.0},
    )


BENCHMARK = Benchmark(
    name="pair_vs_terms",
    title=r"$\varepsilon$ of the generic pair",
    grows="users",
    sizes=tuple(10**k for k in range(2, 13)),
    quick=(100, 300),
    case=case,
)

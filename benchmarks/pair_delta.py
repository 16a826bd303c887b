"""One δ of the generic pair: our enclosure beside Algorithm 1's sum over all clones, and dp-accounting.

The generic pair is that of stronger clones, exact for binary randomized response.  "12 deviations" is a
kinder peer that leaves out all numbers of clones further away.  dp-accounting is given both distributions
cell by cell; its two estimates, rounded up and down, are its bracket.
"""

import math

import numpy as np
from scipy.stats import binom

from benchmarks.published_terms import delta_of_pair
from benchmarks.runner import Benchmark, Case, Peer
from shufflelib import randomizers
from shufflelib.shuffling import VariationRatioPair

EPS0 = 1.0
STEP = 1e-4  # of dp-accounting's grid of losses
MOST = {"term by term": 10**6, "12 deviations": 10**9, "dp-accounting": 10**3}


def pair_of(n, eps0=EPS0):
    """Return a pair without cached results of an earlier call."""
    return VariationRatioPair.of(randomizers.generic(eps0=eps0), n=n)


def cells(n, eps0, window=9.0):
    """Return both log-pmfs at the counts (a, b) within so many deviations, as dictionaries."""
    e = math.exp(eps0)
    share = 2.0 / (e + 1.0)
    spread = window * math.sqrt(n * share * (1.0 - share))
    totals = np.arange(max(1, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1)
    p, q = {}, {}
    for s in totals:
        reach = window * math.sqrt(0.25 * s)
        a = np.arange(max(0, math.floor(s / 2 - reach)), min(s, math.ceil(s / 2 + reach)) + 1)
        both = binom.logpmf(s, n, share) + binom.logpmf(a, s, 0.5) - math.log(n)
        for distribution, mine, other in ((p, a, s - a), (q, s - a, a)):
            distribution.update(zip(zip(a, s - a, strict=True), both + np.log(e * mine + other), strict=True))
        # each distribution's weight at (a, b) is (e a + b)/(n share (e + 1)/2) = (e a + b)/n
    return p, q


def accountant(n, eps0, pessimistic):
    """Return dp-accounting's privacy loss distribution of the pair, rounded to one side."""
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution.from_two_probability_mass_functions(
        *cells(n, eps0), pessimistic_estimate=pessimistic, value_discretization_interval=STEP, symmetric=True
    )


def accounted_delta(n, eps0, eps):
    """Return dp-accounting's two estimates of δ; its rounding errors, 1e-14 absolute, widen them."""
    low, high = (accountant(n, eps0, rounded_up).get_delta_for_epsilon(eps) for rounded_up in (False, True))
    return float(low) - 1e-14, float(high) + 1e-14


def case(n):
    """Ask for δ at an ε that falls with n, so that δ stays between 1e-10 and 1e-6."""
    eps = min(5.0 / math.sqrt(n), 0.9 * EPS0)

    def of_terms(window, answer):
        value = delta_of_pair(eps, pair_of(n), window)
        return value * (1.0 - 1e-6), value * (1.0 + 1e-6)

    peers = {
        "term by term": lambda answer: of_terms(math.inf, answer),
        "12 deviations": lambda answer: of_terms(12.0, answer),
        "dp-accounting": lambda answer: accounted_delta(n, EPS0, eps),
    }
    return Case(
        ours=lambda: pair_of(n).delta(eps),
        peers=tuple(Peer(name, call) for name, call in peers.items() if n <= MOST[name]),
    )


BENCHMARK = Benchmark(
    name="pair_delta",
    title=r"$\delta$ of the generic pair",
    grows="users",
    sizes=tuple(10**k for k in range(2, 13)),
    quick=(30, 1000),
    case=case,
)

"""ε at δ = 1e-6 of many rounds of the generic pair: ours beside prv-accountant and dp-accounting.

Once the number of rounds grows, at 10⁴ users; once the number of users, at a hundred rounds.  prv-accountant
is given the pair's loss as a cumulative distribution and asked for ε to within a thousandth of its value;
dp-accounting is given the pair's profile on a grid, connects the dots and rounds up.  Both tables are made
beforehand and cost the peers nothing; ours includes all of its setting up.
"""

import functools
import math
import warnings

import numpy as np
from scipy.stats import binom

from benchmarks.pair_delta import EPS0, pair_of
from benchmarks.published_terms import delta_of_pair
from benchmarks.runner import Benchmark, Case, Peer

DELTA, USERS, ROUNDS = 1e-6, 10**4, 100
FEW = 100  # users, where fewer than ten rounds are asked
CLOSE = 0.01  # by which connect-the-dots may lie above, relatively
MOST_ROUNDS, MOST_USERS = 10**4, 10**5  # of the peers
POINTS, DEVIATIONS = 3000, 13.0  # of the table of losses, and how far out it goes


def loss_edges(n, points=POINTS):
    """Return equally spaced losses, by standard deviations (e^eps0 - 1) sqrt(2/(n (e^eps0 + 1)))."""
    e = math.exp(EPS0)
    deviation = (e - 1.0) / math.sqrt((e + 1.0) * n / 2.0)
    reach = min(DEVIATIONS * deviation, EPS0)
    return np.linspace(-reach, reach, points)


@functools.cache
def loss_table(n):
    """Return losses and cumulative masses of the pair under P, summed over a + b = s within 14 deviations.

    For a given s the loss is log((e a + b)/(a + e b)) with a from Bin(s, 1/2), weighted by (e a + b)/n.
    """
    e = math.exp(EPS0)
    share = 2.0 / (e + 1.0)
    spread = 14.0 * math.sqrt(n * share * (1.0 - share))
    totals = np.arange(max(1.0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1.0)
    edges = loss_edges(n)
    ratio = np.exp(edges)
    cumulative = np.zeros(edges.size)
    for s, weight in zip(totals, binom.pmf(totals, n, share), strict=True):
        if weight < 1e-25:
            continue
        most = np.floor(s * (ratio * e - 1.0) / ((e - 1.0) * (1.0 + ratio)))  # loss <= edge: a <= most
        here, below = binom.cdf(most, s, 0.5), binom.cdf(most - 1.0, s - 1.0, 0.5)
        cumulative += weight * s / n * ((e - 1.0) * 0.5 * below + here)
    return edges, cumulative / cumulative[-1]


def prv(n, rounds, eps_error):
    """Return (lower, upper) of prv-accountant."""
    import prv_accountant

    edges, cumulative = loss_table(n)
    order_two = float(np.sum(np.diff(cumulative) * np.exp(0.5 * (edges[1:] + edges[:-1]))))

    class Loss(prv_accountant.PrivacyRandomVariable):
        def cdf(self, t):
            return np.interp(np.asarray(t, float), edges, cumulative, left=0.0, right=1.0)

        def rdp(self, alpha):
            return alpha * math.log(order_two) / 2.0  # close to Gaussian; only sets the window

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accountant = prv_accountant.PRVAccountant(
            Loss(), eps_error=eps_error, delta_error=1e-3 * DELTA, max_self_compositions=rounds
        )
        lower, _, upper = accountant.compute_epsilon(DELTA, rounds)
    return float(lower), float(upper)


@functools.cache
def profile_table(n):
    """Return a step and δ at its multiples."""
    step = 2.0 * loss_edges(n)[-1] / POINTS
    last = math.ceil(loss_edges(n)[-1] / step)
    deltas = [delta_of_pair(k * step, pair_of(n), 14.0) for k in range(0, last + 1)]
    return step, last, np.maximum.accumulate(np.clip(deltas, 0.0, 1.0)[::-1])[::-1]


def connect_the_dots(n, rounds):
    """Return the ε that dp-accounting proves."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    step, last, deltas = profile_table(n)
    above = np.exp(np.arange(1, last + 1) * step)
    # symmetric: H(-eps) = 1 - e^-eps (1 - H(eps))
    below = 1.0 - (1.0 - deltas[1:]) / above
    both = np.concatenate([below[::-1], deltas])
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(step, -last, last, both)
    distribution = privacy_loss_distribution.PrivacyLossDistribution(pmf)
    return float(distribution.self_compose(rounds).get_epsilon_for_delta(DELTA))


def above(answer, eps):
    """Return whether an ε rounded up lies above our lower bound, and not far above our upper one."""
    return answer.lower <= eps <= answer.upper * (1.0 + CLOSE)


def case(n, rounds):
    """Compute ε of a pair without cached results."""
    peers = []
    if n <= MOST_USERS and rounds <= MOST_ROUNDS:
        loss_table(n), profile_table(n)
        peers += [Peer("prv-accountant", lambda answer: prv(n, rounds, 1e-3 * answer.upper))]
        peers += [Peer("dp-accounting", lambda answer: connect_the_dots(n, rounds), above)]
    return Case(
        ours=lambda: pair_of(n).compose(rounds=rounds).epsilon(DELTA),
        peers=tuple(peers),
        facts=lambda answer: {"relative width": answer.upper / answer.lower - 1.0},
    )


BY_ROUNDS = Benchmark(
    name="composition_by_rounds",
    title=r"$\varepsilon$ of $K$ rounds, $n = 10^4$",
    grows="rounds",
    sizes=(10, 100, 1000, 10**4, 10**5, 10**6),
    quick=(3,),
    case=lambda rounds: case(USERS if rounds >= 10 else FEW, rounds),
)
BY_USERS = Benchmark(
    name="composition_by_users",
    title=r"$\varepsilon$ of 100 rounds",
    grows="users",
    sizes=(10**3, 10**4, 10**5, 10**6, 10**8, 10**10, 10**12),
    quick=(100,),
    case=lambda n: case(n, ROUNDS),
)

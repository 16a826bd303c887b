"""Sixty Rényi orders of the generic pair: our lattice sum beside adding up every cell.

The peer adds all cells (a, b) within 12 standard deviations, vectorised, as numerical Rényi accounting of the
clone pair is usually done.  It times two orders and multiplies, and stops at 1e5 users.
"""

import math

import numpy as np
from scipy.special import gammaln

from benchmarks.pair_delta import pair_of
from benchmarks.runner import Benchmark, Case, Peer

ORDERS = np.concatenate([np.geomspace(1.001, 2.0, 15), np.geomspace(2.1, 1e4, 45)])
SAMPLE = (2.0, 32.0)  # orders the peer is timed at
MOST_USERS = 10**5  # of the peer
EPS0 = 2.0


def renyi_of_cells(n, eps0, order, window=12.0):
    """Return D_order by adding every cell, in blocks of whole rows."""
    e = math.exp(eps0)
    share = 2.0 / (e + 1.0)
    mean, spread = n * share, window * math.sqrt(n * share * (1.0 - share))
    totals = np.arange(max(1.0, math.floor(mean - spread)), min(n, math.ceil(mean + spread)) + 1.0)
    reach = window * math.sqrt(0.25 * totals[-1])
    found = 0.0
    for block in np.array_split(totals, max(1, totals.size // 200)):
        s = block[:, None]
        a = np.floor(s / 2.0) + np.arange(-math.floor(reach), math.ceil(reach) + 1.0)[None, :]
        b, c = s - a, n - s
        inside = (a >= 0.0) & (b >= 0.0)
        a, b = np.where(inside, a, 0.0), np.where(inside, b, 0.0)
        log_mass = gammaln(n + 1.0) - gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(c + 1.0)
        log_mass += s * math.log(share / 2.0) + c * math.log1p(-share)
        under_q = np.where(inside, (a + e * b) / (n * share / 2.0 * (e + 1.0)), 0.0)
        ratio = np.where(inside, (e * a + b) / np.maximum(a + e * b, 1.0), 1.0)
        found += float(
            np.sum(
                np.where(inside, np.exp(np.minimum(log_mass, 0.0)), 0.0)
                * under_q
                * (ratio**order - 1.0 - order * (ratio - 1.0))
            )
        )
    return math.log1p(found) / (order - 1.0)


def same(answer, cells, n):
    """Say whether the peer's two orders lie in our bracket, up to their rounding."""
    known = pair_of(n, EPS0).renyi(np.array(SAMPLE))
    return bool(np.all((known.lower * (1 - 1e-5) <= cells) & (cells <= known.upper * (1 + 1e-5))))


def case(n):
    """Compute all orders of a pair without cached results."""
    peer = Peer(
        "term by term",
        lambda answer: np.array([renyi_of_cells(n, EPS0, order) for order in SAMPLE]),
        lambda answer, cells: same(answer, cells, n),
        evaluations=ORDERS.size / len(SAMPLE),
    )
    return Case(
        ours=lambda: pair_of(n, EPS0).renyi(ORDERS),
        peers=(peer,) if n <= MOST_USERS else (),
        facts=lambda answer: {"relative width": float(np.max(answer.upper / answer.lower - 1.0))},
    )


BENCHMARK = Benchmark(
    name="renyi_orders",
    title="60 Rényi orders",
    grows="users",
    sizes=(10**3, 10**4, 10**5, 10**6, 10**8, 10**10, 10**12),
    quick=(100,),
    case=case,
)

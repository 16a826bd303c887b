"""Cost of composing the generic pair against the number of rounds: ours beside prv-accountant.

    python benchmarks/composition.py

Both sides run here, on the same machine, one after the other, and answer the same question: ε at
δ = 1e-6 of K rounds with 10⁴ users and eps0 = 1.  The peer is given the pair's loss as a cumulative
distribution read off the curve itself, and asked for ε to within 1e-3 of the value, relatively; its
time includes setting up.  Ours includes setting up too, and is asked for its usual bracket.
"""

import csv
import math
import time
import warnings
from pathlib import Path

import numpy as np

from shufflelib import randomizers
from shufflelib.shuffling import VariationRatioPair

USERS, EPS0, DELTA = 10**4, 1.0, 1e-6
ROUNDS = (10, 100, 1000, 10**4, 10**5, 10**6)
MOST_ROUNDS = 10**4  # of the peer
POINTS = 3000  # at which the peer's distribution is tabulated
FOLDER = Path(__file__).parents[1] / "build" / "bench"


def loss_table(n, eps0):
    """Return losses and cumulative masses of the pair under P, listed cell by cell within 14 deviations."""
    e = math.exp(eps0)
    share = 2.0 / (e + 1.0)
    spread = 14.0 * math.sqrt(n * share * (1.0 - share))
    totals = np.arange(max(1.0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1.0)
    # loss of a given a + b = s: (e a + b)/(a + e b), a ~ Bin(s, 1/2): normal scores keep the table short
    from scipy.stats import binom

    weight = binom.pmf(totals, n, share)
    edges = np.linspace(-0.13, 0.13, POINTS)
    ratio = np.exp(edges)
    cumulative = np.zeros(POINTS)
    for s, w in zip(totals, weight, strict=True):
        if w < 1e-25:
            continue
        most = np.floor(s * (ratio * e - 1.0) / ((e - 1.0) * (1.0 + ratio)))  # loss <= edge means a <= most
        # the mass under P is w(s)·(e a + b)·2/(n share (e + 1)); Σ a Bin(a) = s/2 · shifted Bin
        here, below = binom.cdf(most, s, 0.5), binom.cdf(most - 1.0, s - 1.0, 0.5)
        cumulative += w * s / (n * share) * 2.0 / (e + 1.0) * ((e - 1.0) * 0.5 * below + here)
    return edges, cumulative / cumulative[-1]


def peer(table, rounds, eps_error):
    """Return (lower, upper) of prv-accountant."""
    import prv_accountant

    edges, cumulative = table
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
    return lower, upper


def main():
    """Print and write one row per number of rounds."""
    table, rows = loss_table(USERS, EPS0), []
    for rounds in ROUNDS:
        start = time.perf_counter()
        pair = VariationRatioPair.of(randomizers.generic(eps0=EPS0), n=USERS)  # nothing is kept between rows
        ours = pair.compose(rounds=rounds).epsilon(DELTA)
        row = {
            "rounds": rounds,
            "ours": time.perf_counter() - start,
            "lower": ours.lower,
            "upper": ours.upper,
        }
        row["relative width"] = (ours.upper - ours.lower) / ours.upper
        if rounds <= MOST_ROUNDS:
            start = time.perf_counter()
            lower, upper = peer(table, rounds, 1e-3 * ours.upper)
            row |= {"prv-accountant": time.perf_counter() - start, "its lower": lower, "its upper": upper}
            row["overlap"] = bool(lower <= ours.upper and ours.lower <= upper)
        rows.append(row)
        print(", ".join(f"{key} {value:.4g}" for key, value in row.items()), flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "composition.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[-2 if len(rows) > 1 else 0] | rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

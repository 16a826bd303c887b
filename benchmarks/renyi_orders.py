"""Cost of sixty Rényi orders of the generic pair: our lattice sum beside adding up every cell.

    python benchmarks/renyi_orders.py

Both sides run here, on the same machine, one after the other.  The peer adds all cells (a, b) within
12 standard deviations, vectorised, as numerical Rényi accounting of the clone pair is usually done; it
is written here from the definition and shares no code with the package.  It times two orders and
multiplies, and stops at 1e5 users, where the window holds about 2e7 cells.
"""

import csv
import math
import time
from pathlib import Path

import numpy as np
from scipy.special import gammaln

from shufflelib import randomizers
from shufflelib.shuffling import VariationRatioPair

ORDERS = np.concatenate([np.geomspace(1.001, 2.0, 15), np.geomspace(2.1, 1e4, 45)])
SAMPLE = (2.0, 32.0)  # orders the peer is timed at
MOST_USERS = 10**5  # of the peer
EPS0 = 2.0
FOLDER = Path(__file__).parents[1] / "build" / "bench"


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


def main():
    """Print and write one row per number of users."""
    rows = []
    for n in (10**3, 10**4, 10**5, 10**6, 10**9, 10**12):
        pair = VariationRatioPair.of(randomizers.generic(eps0=EPS0), n=n)
        start = time.perf_counter()
        bracket = pair.renyi(ORDERS)
        ours = time.perf_counter() - start
        width = float(np.max((bracket.upper - bracket.lower) / bracket.upper))
        row = {"n": n, "ours": ours, "largest relative width": width}
        if n <= MOST_USERS:
            start = time.perf_counter()
            cells = [renyi_of_cells(n, EPS0, order) for order in SAMPLE]
            theirs = (time.perf_counter() - start) * ORDERS.size / len(SAMPLE)
            known = pair.renyi(np.array(SAMPLE))
            apart = np.max(np.abs(np.array(cells) / known.upper - 1.0))
            row |= {"cells": theirs, "cells / ours": theirs / ours, "cells off by": float(apart)}
        rows.append(row)
        print(", ".join(f"{key} {value:.3g}" for key, value in row.items()), flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "renyi_orders.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

"""Cost against n of one ε of the variation-ratio pair: our enclosure beside paper 004's Algorithm 1.

    python benchmarks/pair_vs_terms.py [--long] [--figure]

Both sides run here, on the same machine, one after the other.  The peer is Algorithm 1 as printed
(Wang, PVLDB 2024, arXiv:2304.05007): every number of clones c = 0, ..., n - 1 is one term, and T = 20
bisections of [0, log p] evaluate the sum.  It is written here from the paper and shares no code with the
package; its terms are vectorised.  Beyond 1e5 users one of its 20 equal evaluations is timed and multiplied.
The column "window" is a kinder peer, that leaves out all c beyond 12 standard deviations.
"""

import argparse
import csv
import math
import time
from pathlib import Path

import numpy as np
from scipy.special import betainc
from scipy.stats import binom

from shufflelib import randomizers
from shufflelib.shuffling import VariationRatioPair

CHUNK = 500_000  # terms in memory at once
STEPS = 20  # the paper's T
WHOLE, WINDOWED = 10**5, 10**10  # up to here all bisections run: over all terms, over the window
FOLDER = Path(__file__).parents[1] / "build" / "bench"


def tail(k, c):
    """Return P(Bin(c, 1/2) >= k), with whole k and c; as an incomplete beta function."""
    inside = (k >= 1) & (k <= c)
    beta = betainc(np.where(inside, k, 1.0), np.where(inside, c - k + 1.0, 1.0), 0.5)
    return np.where(k < 1, 1.0, np.where(k > c, 0.0, beta))


def delta_of_terms(eps, pair, window=math.inf):
    """Return δ of Algorithm 1; with q0 = q1 its two directions are equal, and one is computed."""
    n, p, e = pair.n, pair.p, math.exp(eps)
    alpha = pair.beta / (p - 1.0)
    r = alpha * p / pair.q0
    rest = max(0.0, 1.0 - alpha - alpha * p)
    mean, deviation = (n - 1) * 2.0 * r, math.sqrt((n - 1) * 2.0 * r * (1.0 - 2.0 * r))
    first = int(max(0.0, mean - window * deviation - 1.0))
    last = int(min(n - 1.0, mean + window * deviation + 1.0))

    def low(total):
        f = rest * (n - total) * r / (1.0 - 2.0 * r)
        return np.ceil(((e * p - 1.0) * alpha * total + (e - 1.0) * f) / (alpha * (e + 1.0) * (p - 1.0)))

    found = 0.0
    for start in range(first, last + 1, CHUNK):
        c = np.arange(start, min(start + CHUNK, last + 1), dtype=float)
        threshold = low(c + 1.0)
        terms = (p - e) * alpha * tail(threshold - 1.0, c) + (1.0 - p * e) * alpha * tail(threshold, c)
        if rest > 0.0:
            terms += (1.0 - e) * rest * tail(low(c), c)
        found += float(np.sum(binom.pmf(c, n - 1, 2.0 * r) * terms))
    return found


def epsilon_of_terms(pair, delta, window=math.inf):
    """Return ε after the paper's bisection, T = 20."""
    low, high = 0.0, math.log(pair.p)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if delta_of_terms(middle, pair, window) > delta else (low, middle)
    return high


def seconds(call, repeats):
    """Return the result of a call and its best time."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return result, best


def measure(eps0, n, largest):
    """Return one row of the table."""
    pair, delta = VariationRatioPair.of(randomizers.generic(eps0=eps0), n=n), 0.01 / n
    ends, ours = seconds(lambda: fresh(eps0, n).epsilon(delta=delta), 3)
    row = {"n": n, "lower": ends.lower, "upper": ends.upper, "bracket": ends.upper / ends.lower - 1.0}
    row["ours seconds"] = ours
    if n <= WHOLE:
        peer, row["terms seconds"] = seconds(lambda: epsilon_of_terms(pair, delta), 1)
        row["excess"] = peer / ends.upper - 1.0
    elif n <= largest:
        peer, once = seconds(lambda: delta_of_terms(ends.upper, pair), 1)
        row["terms seconds"], row["delta"] = STEPS * once, peer / delta - 1.0
    if n <= WINDOWED:
        row["window seconds"] = seconds(lambda: epsilon_of_terms(pair, delta, 12.0), 1)[1]
    return row


def fresh(eps0, n):
    """Return a pair that remembers nothing of an earlier call."""
    return VariationRatioPair.of(randomizers.generic(eps0=eps0), n=n)


def ratio(row, peer):
    """Return how many times longer a peer takes, as text."""
    return f"{row[peer] / row['ours seconds']:.3g}" if peer in row else ""


def show(rows):
    """Print the table, ratios first."""
    print(
        f"{'n':>6} {'terms/ours':>11} {'window/ours':>12} {'ours s':>8} {'terms s':>9} {'window s':>9} "
        f"{'bracket':>9} {'eps':>13} {'peer - ours':>14}"
    )
    for row in rows:
        checked = f"eps {row['excess']:+.0e}" if "excess" in row else ""
        checked = f"delta {row['delta']:+.0e}" if "delta" in row else checked
        times = [f"{row[name]:.3g}" if name in row else "" for name in ("terms seconds", "window seconds")]
        print(
            f"{row['n']:>6.0e} {ratio(row, 'terms seconds'):>11} {ratio(row, 'window seconds'):>12} "
            f"{row['ours seconds']:>8.3f} {times[0]:>9} {times[1]:>9} {row['bracket']:>9.1e} "
            f"{row['upper']:>13.9g} {checked:>14}",
            flush=True,
        )


def save(rows, draw):
    """Write build/bench/pair_vs_terms.csv, and a picture of the seconds if asked."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with open(FOLDER / "pair_vs_terms.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    if draw:
        from shufflelib import plotting

        fig, ax = plotting.figure(
            titles=[r"One $\varepsilon$ of the pair: cost against $n$"],
            height=3.2,
            xscale="log",
            yscale="log",
            xlabel="users $n$",
            ylabel="seconds",
        )
        names = {
            "terms seconds": "every term",
            "window seconds": "12 deviations",
            "ours seconds": "shufflelib",
        }
        for (name, label), marker in zip(names.items(), "sDo", strict=True):
            known = [(row["n"], row[name]) for row in rows if name in row]
            ax.plot(*zip(*known, strict=True), marker=marker, markerfacecolor="white", label=label)
        with plotting.style():
            ax.legend(loc="upper left")
        (FOLDER / "pair_vs_terms.png").write_bytes(plotting.png(fig, dpi=200))
    print(f"written to {FOLDER.relative_to(FOLDER.parents[1])}/")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--eps0", type=float, default=1.0, help="local budget of the generic randomizer")
    arguments.add_argument("--long", action="store_true", help="time all terms up to 1e8 users, for minutes")
    arguments.add_argument("--figure", action="store_true", help="draw build/bench/pair_vs_terms.png")
    given = arguments.parse_args()
    measured = [measure(given.eps0, 10**k, 10**8 if given.long else 10**7) for k in range(2, 13)]
    show(measured)
    save(measured, given.figure)

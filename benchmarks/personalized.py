"""Cost of one certified ε for n slots with a budget of their own each, beside a plain Fourier sum.

    python benchmarks/personalized.py

Both sides run here, on the same machine, one after the other.  The peer multiplies the characteristic
functions of all slots on a grid of frequencies and inverts them once, as numerical accounting does,
without any bound on its error; it evaluates δ at one ε, and a search for ε needs about twelve of them.
It is written here from the definition and shares no code with the package; it stops at 1e4 slots.
"""

import csv
import math
import time
from pathlib import Path

import numpy as np

from shufflelib.shuffling import PersonalizedPair

DELTA = 1e-4
EVALUATIONS = 12  # of δ, in a search for one ε by the secant method
FREQUENCIES = 1 << 13
MOST_SLOTS = 10**4  # of the peer
FOLDER = Path(__file__).parents[1] / "build" / "bench"


def fourier_delta(budgets, eps):
    """Return E[(ΣG)₊]/n from the product of all characteristic functions, atoms split on a grid."""
    mass = 1.0 / (np.exp(budgets) + 1.0)
    gains = np.array([np.exp(budgets) - math.exp(eps), 1.0 - np.exp(eps + budgets)])
    mean, variance = float((mass * gains).sum()), float((mass * gains**2).sum())
    step = (abs(mean) + 12.0 * math.sqrt(variance)) * 2.0 / FREQUENCIES
    phase = 2j * math.pi * np.arange(FREQUENCIES // 2 + 1) / FREQUENCIES
    log_product = np.zeros(phase.size, complex)
    for block in np.array_split(np.arange(budgets.size), max(1, budgets.size // 200)):
        turned = np.ones((block.size, phase.size), complex)
        for gain in gains[:, block]:
            cell = np.floor(gain / step)
            share = (gain / step - cell)[:, None]
            split = np.exp(np.outer(cell, phase)) * (1.0 - share + share * np.exp(phase))
            turned += mass[block, None] * (split - 1.0)
        log_product += np.log(turned).sum(axis=0)
    masses = np.roll(np.fft.irfft(np.exp(log_product).conj(), FREQUENCIES), FREQUENCIES // 2)
    totals = (np.arange(FREQUENCIES) - FREQUENCIES // 2) * step
    return float(np.sum(masses * np.maximum(totals, 0.0))) / budgets.size


def main():
    """Print and write one row per number of slots."""
    rows = []
    for n in (10**3, 10**4, 10**5, 10**6):
        budgets = np.random.default_rng(0).uniform(0.0, 2.0, n)
        start = time.perf_counter()
        pair = PersonalizedPair(budgets)
        bracket = pair.epsilon(DELTA)
        ours = time.perf_counter() - start
        row = {"slots": n, "ours": ours, "relative width": bracket.upper / bracket.lower - 1.0}
        if n <= MOST_SLOTS:
            start = time.perf_counter()
            peer = fourier_delta(budgets, bracket.upper)
            theirs = (time.perf_counter() - start) * EVALUATIONS
            row |= {"Fourier": theirs, "Fourier / ours": theirs / ours, "Fourier off by": peer / DELTA - 1.0}
        rows.append(row)
        print(", ".join(f"{key} {value:.3g}" for key, value in row.items()), flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "personalized.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

"""One certified ε for n slots with personal budgets, beside a plain Fourier sum.

The peer multiplies the characteristic functions of all slots, one by one, on a grid of frequencies and
inverts them once, as numerical accounting does, without any bound on its error; it evaluates δ at one ε, and
a search for ε needs about twelve of them.  It stops at 1e4 slots.
"""

import math

import numpy as np

from benchmarks.runner import Benchmark, Case, Peer
from shufflelib.shuffling import PersonalizedPair

DELTA = 1e-4
EVALUATIONS = 12  # of δ, in a search for one ε by the secant method
FREQUENCIES = 1 << 13
MOST_SLOTS = 10**4  # of the peer
BELOW, ABOVE = 1e-3, 0.05  # by which its δ may differ: a mean-preserving split to the grid raises it


def fourier_delta(budgets, eps):
    """Return E[(ΣG)₊]/n from the product of all characteristic functions, atoms split to a grid."""
    mass = 1.0 / (np.exp(budgets) + 1.0)
    gains = np.array([np.exp(budgets) - math.exp(eps), 1.0 - np.exp(eps + budgets)])
    mean, variance = float((mass * gains).sum()), float((mass * gains**2).sum())
    step = (abs(mean) + 12.0 * math.sqrt(variance)) * 2.0 / FREQUENCIES
    phase = 2j * math.pi * np.arange(FREQUENCIES // 2 + 1) / FREQUENCIES
    log_product = np.zeros(phase.size, complex)
    for block in np.array_split(np.arange(budgets.size), max(1, budgets.size // 200)):
        characteristic = np.ones((block.size, phase.size), complex)
        for gain in gains[:, block]:
            cell = np.floor(gain / step)
            share = (gain / step - cell)[:, None]
            split = np.exp(np.outer(cell, phase)) * (1.0 - share + share * np.exp(phase))
            characteristic += mass[block, None] * (split - 1.0)
        log_product += np.log(characteristic).sum(axis=0)
    masses = np.roll(np.fft.irfft(np.exp(log_product).conj(), FREQUENCIES), FREQUENCIES // 2)
    totals = (np.arange(FREQUENCIES) - FREQUENCIES // 2) * step
    return float(np.sum(masses * np.maximum(totals, 0.0))) / budgets.size


def case(n):
    """Ask for ε of budgets drawn evenly from (0, 2); the peer's δ at our upper bound is checked."""
    budgets = np.random.default_rng(0).uniform(0.0, 2.0, n)
    peer = Peer(
        "term by term",
        lambda answer: fourier_delta(budgets, answer.upper),
        lambda answer, delta: -BELOW < delta / DELTA - 1.0 < ABOVE,
        evaluations=EVALUATIONS,
    )
    return Case(
        ours=lambda: PersonalizedPair(budgets).epsilon(DELTA),
        peers=(peer,) if n <= MOST_SLOTS else (),
        facts=lambda answer: {"relative width": answer.upper / answer.lower - 1.0},
    )


BENCHMARK = Benchmark(
    name="personalized",
    title=r"$\varepsilon$ of personal budgets",
    grows="slots",
    sizes=(10**3, 10**4, 10**5, 10**6),
    quick=(10,),
    case=case,
)

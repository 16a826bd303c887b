"""Protocols run on data: the ones that tests go through, what they are run on, and exact pmfs of bits."""

from fractions import Fraction as F
from itertools import product

import numpy as np

from shufflelib import estimation, randomizers

RANGE = {"low": 20.0, "high": 80.0}


REPETITIONS = 1000


def paper(n=10_000, **groups):
    return estimation.group_budgets(n, **groups)


def seeded(seed=0):
    return np.random.default_rng(seed)


PERSONAL = {
    "Algorithm 1": lambda eps0: estimation.MeanProtocol(eps0, **RANGE),
    "slots, mean": lambda eps0: estimation.PermutedMeanProtocol(eps0, **RANGE),
    "Algorithm 2": estimation.FrequencyProtocol,
    "slots, frequency": estimation.PermutedFrequencyProtocol,
}
MECHANISMS = {
    "generalized RR": randomizers.generalized_rr,
    "subset": randomizers.subset,
    "local hash": randomizers.local_hash,
    "Hadamard": randomizers.hadamard,
    "RAPPOR": randomizers.rappor,
    "optimized unary": randomizers.optimized_unary,
}


def data_for(name, n, rng):
    if "mean" in name or name == "Algorithm 1":
        return estimation.clipped_normal(n, rng)
    return rng.permutation(estimation.bits(n))


def response_runs(ratios, x):
    """Every outcome of users with e^eps_i = ratio_i who hold the bits x: (reports, probability)."""
    for reports in product((0, 1), repeat=len(x)):
        mass = F(1)
        for ratio, held, said in zip(ratios, x, reports, strict=True):
            mass *= (ratio if held == said else 1) / F(ratio + 1)
        yield reports, mass


def moments(distribution):
    mean = sum(mass * value for value, mass in distribution)
    return mean, sum(mass * (value - mean) ** 2 for value, mass in distribution)

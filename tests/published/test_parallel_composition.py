"""Parallel composition as published, against the truth: which pair is a bound and which is none."""

import math

import numpy as np
import pytest

from oracles.mixtures import binary_levels
from shufflelib import randomizers, shuffle
from shufflelib.published import parallel_composition

DELTA = 1e-6


def test_beta_of_the_theorem_and_of_the_released_code():
    for eps0, d in ((0.1, 64), (1.0, 64), (3.0, 2048)):
        e, levels = math.exp(eps0), int(math.log2(d))
        terms = [(e - 1) / (e + 2.0 ** (h + 1) - 1) / levels for h in range(levels)]
        assert np.mean(parallel_composition.range_query_betas(eps0=eps0, d=d)) == pytest.approx(
            sum(terms), rel=1e-13
        )
        assert parallel_composition.range_query_beta_released(eps0=eps0, d=d) == pytest.approx(
            terms[-1], rel=1e-13
        )
    assert parallel_composition.range_query_beta_released(eps0=1.0, d=64) == pytest.approx(
        0.0043577, abs=1e-7
    )
    assert binary_levels(1.0, 64).beta == pytest.approx(0.1855833, abs=1e-7)


def test_separate_cohorts():
    """⌊n/K⌋ users each; the worst cohort is the guarantee, binary response's pair a bound for it."""
    betas = parallel_composition.range_query_betas(eps0=1.0, d=64)
    worst, best = (
        parallel_composition.separate_cohort_wang24(eps0=1.0, beta=beta, n=10_000, cohorts=6)
        for beta in (betas[0], betas[-1])
    )
    assert worst.n == best.n == 1666
    exact, largest = (
        shuffle(randomizers.generalized_rr(eps0=1.0, d=d), n=1666).epsilon(DELTA).upper for d in (2, 64)
    )
    pair = worst.epsilon(DELTA).upper
    blanket = shuffle(randomizers.generic(eps0=1.0), n=1666).epsilon(DELTA).upper
    assert exact < pair == pytest.approx(blanket, rel=1e-5)
    assert best.epsilon(DELTA).upper == pytest.approx(largest, rel=1e-2)
    together = shuffle(binary_levels(1.0, 64), n=10_000).epsilon(DELTA).upper
    assert largest < together < pair / 3  # the best cohort is better off, the worst far worse

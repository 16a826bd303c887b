"""Parallel composition as published, against the truth: which pair is a bound and which is none."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import oracles
from oracles.mixtures import CASES, LOG, RATIOS, binary_levels, hierarchy
from shufflelib import randomizers, shuffle
from shufflelib.published import parallel_composition
from shufflelib.shuffling import VariationRatioPair

DELTA = 1e-6


def test_basic_is_a_bound_and_loose():
    for eps0, d, n in ((0.1, 64, 1000), (1.0, 2048, 10_000), (4.0, 64, 10_000)):
        basic = parallel_composition.basic_parallel_wang24(eps0=eps0, n=n).epsilon(DELTA)
        proved = shuffle(binary_levels(eps0, d), n=n).epsilon(DELTA)
        assert proved.upper < 0.95 * basic.lower
    for case in CASES.values():
        for n in case.users if case.mixture.eps0 < LOG(3.5) else ():
            basic = parallel_composition.basic_parallel_wang24(eps0=LOG(3), n=n)
            assert all(F(basic.delta(LOG(ratio)).upper) >= case.truth(n, ratio) for ratio in RATIOS)


@pytest.mark.parametrize(
    "e, n, ratio, others, truth, published",
    [
        (9, 2, 6, (0,), F(363, 1600), 0.2115972),
        (9, 5, 6, (0, 0, 0, 0), None, 0.0889014),
        (3, 4, 2, (0, 0, 1), None, 0.0537561),
        (3, 5, 2, (0, 0, 0, 0), None, 0.0391109),
    ],
)
def test_advanced_is_below_the_truth(e, n, ratio, others, truth, published):
    """Two levels above four leaves, x0 = 0, x1 = 3: witnesses in exact fractions."""
    rows = hierarchy(e, 4)
    exact = max(oracles.shuffled_hockey_stick(rows, *pair, others, F(ratio)) for pair in ((0, 3), (3, 0)))
    assert truth is None or exact == truth
    betas = [F(e - 1, e + 1), F(e - 1, e + 3)]
    pair = oracles.pair_masses(n=n, p=e, beta=sum(betas) / 2, q0=e)
    claimed = parallel_composition.advanced_parallel_wang24(
        eps0=LOG(e), betas=[float(b) for b in betas], weights=[0.5, 0.5], n=n
    ).delta(LOG(ratio))
    assert claimed.upper == pytest.approx(float(oracles.both_ways(pair, F(ratio))), rel=1e-9)
    assert claimed.upper == pytest.approx(published, abs=1e-7) and exact > F(claimed.upper) * (1 + F(1, 100))
    assert shuffle(binary_levels(LOG(e), 4), n=n).delta(LOG(ratio)).upper >= exact


def test_advanced_is_below_an_attack_in_epsilon_too():
    mix = binary_levels(5.0, 64)
    claimed = VariationRatioPair.of(mix, n=50).epsilon(1e-3)
    assert claimed.upper < 0.87 * shuffle(mix, n=50).epsilon(1e-3).lower


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


@pytest.mark.parametrize("d, factor", [(64, 7), (2048, 40)])
def test_the_released_value_is_far_below_what_an_attack_shows(d, factor):
    beta = parallel_composition.range_query_beta_released(eps0=1.0, d=d)
    claimed = parallel_composition.advanced_parallel_wang24(
        eps0=1.0, betas=[beta], weights=[1.0], n=10_000
    ).epsilon(1e-6)
    assert factor * claimed.upper < shuffle(binary_levels(1.0, d), n=10_000).epsilon(1e-6).lower


def test_separate_cohorts():
    """⌊n/K⌋ users each; the worst cohort is the guarantee, binary response's pair a bound for it."""
    betas = parallel_composition.range_query_betas(eps0=1.0, d=64)
    worst, best = (
        parallel_composition.separate_cohort_wang24(eps0=1.0, beta=beta, n=10_000, cohorts=6)
        for beta in (betas[0], betas[-1])
    )
    assert worst.n == best.n == 1666
    ends = [shuffle(randomizers.generalized_rr(eps0=1.0, d=d), n=1666).epsilon(DELTA) for d in (2, 64)]
    assert worst.epsilon(DELTA).upper >= ends[0].lower and ends[0].upper == pytest.approx(
        worst.epsilon(DELTA).upper, rel=1e-5
    )
    assert best.epsilon(DELTA).upper == pytest.approx(ends[1].upper, rel=1e-2)
    together = shuffle(binary_levels(1.0, 64), n=10_000).epsilon(DELTA).upper
    assert ends[1].upper < together < ends[0].upper / 3  # the best cohort is better off, the worst far worse

"""Poisson subsampling: against enumeration in exact fractions; which neighbours the formula is for."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from oracles.mixtures import rr
from shufflelib import randomizers


def test_published_numbers_and_classes():
    one = randomizers.generalized_rr(eps0=1.0, d=4)
    sampled = randomizers.poisson_sampled(one, rate=0.25)
    assert (sampled.eps0, sampled.p, sampled.q) == (one.eps0, one.p, one.q)
    assert sampled.beta == pytest.approx(0.25 * one.beta)
    for ratios in (sampled.input_pairs()[0].blanket, *sampled.input_pairs()[0].attacks):
        void = (ratios.r0_over_w == 1.0) & (ratios.r1_over_w == 1.0)
        assert ratios.w[void].sum() >= 0.75 and ratios.w @ ratios.r0_over_w == pytest.approx(1.0)
    assert sampled.input_pairs()[0].blanket.w.sum() == pytest.approx(0.75 + 0.25 * one.blanket().sum())


def test_reports_follow_the_distribution_and_estimates_are_unbiased():
    rng, n, rate = np.random.default_rng(5), 60_000, 0.3
    sampled = randomizers.poisson_sampled(rr(3, 3), rate=rate)
    reports = sampled.sample(np.full(n, 2), rng)
    symbol = np.where(reports["sent"], reports["report"], 3)
    distribution = np.append(rate * np.array([0.2, 0.2, 0.6]), 1 - rate)
    assert chisquare(np.bincount(symbol, minlength=4), n * distribution).pvalue > 1e-4
    assert not reports["report"][~reports["sent"]].any()
    assert np.allclose(sampled.estimate(reports), [0, 0, 1], atol=0.05)

    shared = randomizers.poisson_sampled(randomizers.rappor(eps0=2.0, d=3), rate=0.5)
    held = np.array([0, 1, 1, 2, 2])
    means = np.array([shared.estimate(shared.sample(held, rng)) for _ in range(800)])
    error = means.std(axis=0) / math.sqrt(len(means))
    assert np.all(np.abs(means.mean(axis=0) - [0.2, 0.4, 0.4]) < 4.5 * error)
    pair = randomizers.poisson_sampled(randomizers.joint([rr(3, 2), randomizers.laplace(eps0=1.0)]), rate=0.9)
    shares, mean = pair.estimate(pair.sample((np.zeros(500, int), np.ones(500)), rng))
    assert shares.shape == (2,) and mean == pytest.approx(1.0, abs=0.5)
    nobody = shared.sample(held, rng)
    nobody["sent"] = False
    assert np.all(shared.estimate(nobody) == 0.0)


def test_refuses_wrong_data():
    sampled, rng = randomizers.poisson_sampled(rr(3, 2), rate=0.5), np.random.default_rng(0)
    with pytest.raises(ValueError, match="x must"):
        sampled.sample(np.array([0, 2]), rng)
    with pytest.raises(TypeError, match="rng"):
        sampled.sample(np.array([0, 1]), 7)
    for reports in (np.array([0, 1]), [0, 1], None):
        with pytest.raises(TypeError, match="structured"):
            sampled.estimate(reports)
    with pytest.raises(ValueError, match="empty"):
        sampled.estimate(sampled.sample(np.array([0, 1]), rng)[:0])

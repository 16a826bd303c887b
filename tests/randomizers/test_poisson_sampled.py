"""Poisson subsampling: against enumeration in exact fractions; which neighbours the formula is for."""

import math
from fractions import Fraction as F
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import chisquare

import oracles
from shufflelib import randomizers, shuffle

LOG = math.log
DELTA = 1e-6


def voided(rows, rate):
    """The distribution of a report or of void, the last column."""
    return [[rate * mass for mass in row] + [1 - rate] for row in rows]


def rr(e, d):
    return randomizers.generalized_rr(eps0=LOG(e), d=d)


def test_void_symbols_change_no_divergence():
    """The multiset with voids and the multiset of reports sent determine each other: one divergence."""
    rows, rate, n = oracles.generalized_rr(3, 2), F(1, 3), 4
    for others in combinations_with_replacement((0, 1), n - 1):
        with_void = oracles.shuffled_distributions(voided(rows, rate), 0, 1, others)
        sent = {}
        for histogram, (p, q) in with_void.items():
            old = sent.get(histogram[:-1], (0, 0))
            sent[histogram[:-1]] = old[0] + p, old[1] + q
        assert len(sent) == len(with_void)
        assert oracles.both_ways(sent, F(3, 2)) == oracles.both_ways(with_void, F(3, 2))


def test_the_formula_is_for_replaced_values_not_for_absent_users():
    """Binary response, e = 3, rate 1/2, n = 3: 13/512 bounds replacing; 21/128 is removing."""
    rows, ratio, n = voided(oracles.generalized_rr(3, 2), F(1, 2)), F(2), 3
    assert oracles.blanket_bound(rows, n, ratio) == F(13, 512)
    assert oracles.worst_shuffled_hockey_stick(rows, n, ratio) == F(9, 512)
    absent = [*rows, [F(0), F(0), F(1)]]
    removed = max(
        oracles.both_ways(oracles.shuffled_distributions(absent, x, 2, others), ratio)
        for x in (0, 1)
        for others in combinations_with_replacement((0, 1), n - 1)
    )
    assert removed == F(21, 128)
    sampled = randomizers.poisson_sampled(rr(3, 2), rate=0.5)
    assert shuffle(sampled, n=n).delta(LOG(2)).upper == pytest.approx(13 / 512, rel=1e-10)


@pytest.mark.parametrize("eps0", [0.1, 2.0])
def test_less_participation_is_more_private_and_close_to_a_fixed_subset(eps0):
    one, n = randomizers.generalized_rr(eps0=eps0, d=10), 10_000
    rates = (0.1, 0.3, 0.5, 0.8, 1.0)
    found = [shuffle(randomizers.poisson_sampled(one, rate=s), n=n).epsilon(DELTA) for s in rates]
    assert all(a.upper < b.lower for a, b in zip(found, found[1:], strict=False))
    assert found[-1].upper == pytest.approx(shuffle(one, n=n).epsilon(DELTA).upper, rel=1e-6)
    for rate, got in zip(rates[:-1], found, strict=False):
        assert got.upper < (1 + 2e-4) * got.lower
        fixed = shuffle(one, n=round(rate * n)).subsample(rate=rate).epsilon(DELTA)
        assert got.upper == pytest.approx(fixed.lower, rel=0.01)
        assert got.upper - got.lower < fixed.upper - fixed.lower


def test_small_rates():
    """ε grows at least as the root of the rate."""
    one = randomizers.generalized_rr(eps0=0.1, d=10)
    assert 0.0 < shuffle(randomizers.poisson_sampled(one, rate=1e-9), n=1000).delta(1e-6).upper < 1e-9
    few, more = (
        shuffle(randomizers.poisson_sampled(one, rate=s), n=1000).epsilon(DELTA) for s in (0.01, 0.04)
    )
    assert 2.0 < more.lower / few.upper < 4.0


def test_continuous_ones_and_compositions():
    lap = randomizers.laplace(eps0=1.0)
    got = shuffle(randomizers.poisson_sampled(lap, rate=0.25), n=2000).delta(0.05)
    fixed = shuffle(lap, n=500).subsample(rate=0.25).delta(0.05)
    assert fixed.lower < got.upper < 1.05 * fixed.upper and got.lower > 0.9 * fixed.lower
    # void in one coordinate of two
    both = randomizers.joint([randomizers.poisson_sampled(rr(3, 3), rate=0.5), rr(2, 2)])
    whole = randomizers.joint([rr(3, 3), rr(2, 2)])
    assert shuffle(both, n=1000).epsilon(DELTA).upper < shuffle(whole, n=1000).epsilon(DELTA).lower
    # void for the whole tuple
    seldom = randomizers.poisson_sampled(whole, rate=0.5)
    assert shuffle(seldom, n=1000).epsilon(DELTA).upper < shuffle(whole, n=1000).epsilon(DELTA).lower


def test_published_numbers_and_classes():
    one = randomizers.generalized_rr(eps0=1.0, d=4)
    sampled = randomizers.poisson_sampled(one, rate=0.25)
    assert (sampled.eps0, sampled.p, sampled.q) == (one.eps0, one.p, one.q)
    assert sampled.beta == pytest.approx(0.25 * one.beta)
    distribution, blanket = sampled.class_masses(), sampled.blanket()
    assert (
        np.allclose(distribution.sum(axis=1), 1)
        and np.all(distribution[:, -1] == 0.75)
        and blanket[-1] == 0.75
    )
    assert np.allclose(blanket[:-1], 0.25 * one.blanket())


def test_reports_follow_the_distribution_and_estimates_are_unbiased():
    rng, n, rate = np.random.default_rng(5), 60_000, 0.3
    sampled = randomizers.poisson_sampled(rr(3, 3), rate=rate)
    reports = sampled.sample(np.full(n, 2), rng)
    symbol = np.where(reports["sent"], reports["report"], 3)
    distribution = np.array(voided(oracles.generalized_rr(3, 3), F(3, 10))[2], float)
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

"""One batch of an epoch for every example: the instruments against closed forms, draws and each other."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from claims import batches_of_an_epoch as epoch
from claims.others import one_batch_of_an_epoch as ledger
from shufflelib.profiles import Gaussian


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
def test_one_batch_is_the_gaussian_mechanism(sigma):
    exact = 2.0 * ndtr(0.5 / sigma) - 1.0
    assert epoch.by_integral(1.0 / sigma, 0.0, 1) == pytest.approx(exact, rel=1e-4)
    assert epoch.total_variation(sigma, 1).lower <= exact * (1 + 1e-9)
    assert exact <= min(epoch.total_variation(sigma, 1).upper, epoch.by_chi_square(sigma, 1))
    whole = Gaussian(1.0 / sigma).epsilon(epoch.DELTA)
    assert 0.9 * whole.lower < epoch.of_others_at_minus_c(sigma, 1) <= whole.upper


@pytest.mark.parametrize(("first", "second"), [(1.0, 0.0), (1.0, -1.0), (2.0, 1.0)])
def test_the_integral_is_the_mean_of_many_draws(first, second):
    z = np.random.default_rng(3).normal(size=(100_000, 20))
    ratios = [np.exp(shift * z - 0.5 * shift**2).mean(axis=1) for shift in (first, second)]
    gap = 0.5 * np.abs(ratios[0] - ratios[1])
    assert epoch.by_integral(first, second, 20) == pytest.approx(gap.mean(), abs=4 * gap.std() / 300)


def test_the_sum_of_reports_and_the_chi_square_are_below_and_above_several_epochs():
    """The sum is a Gaussian mechanism with mean E/σ and variance EM."""
    for sigma, batches, epochs in ((3.2689, 100, 40), (4.0, 10, 2)):
        found = epoch.total_variation(sigma, batches, epochs)
        assert 2.0 * ndtr(0.5 * math.sqrt(epochs / batches) / sigma) - 1.0 < found.lower
        assert found.upper < epoch.by_chi_square(sigma, batches, epochs)


def test_the_test_of_the_largest_report_attains_the_separation_for_every_number_of_updates():
    updates = np.unique(np.geomspace(2, 1e9, 5_000).astype(int))
    for m in map(int, updates):
        attained = ledger.largest_coordinate(m)
        assert ledger.claimed_below_threshold(m) < attained < ledger.at_most(m), m
        if m >= 5:  # the step of the proof
            t = 1.0 / ledger.threshold(m)
            tail = 4.0 / (3.0 * t + math.sqrt(t * t + 8.0))  # Sampford's bound, over φ(t)
            assert float(ndtr(-t)) < tail / (m * math.sqrt(2.0 * math.pi))
            assert (m + 1) * tail < m / t
    assert ledger.at_most(10**9) < 0.5 * (1.0 + (4.0 * math.pi * math.log(1e9)) ** -0.25)


def test_less_noise_never_helps():
    for m in (2, 10, 100):
        ends = [epoch.total_variation(scale * ledger.threshold(m), m) for scale in (1.0, 0.8)]
        assert ends[0].upper < ends[1].lower


def test_rows_of_several_epochs_are_inside_certified_bounds():
    for setting, printed in ledger.ROWS.items():
        found = epoch.total_variation(*setting)
        assert found.lower - 5e-6 <= printed <= found.upper + 5e-6, setting
        assert found.upper < 1.02 * found.lower

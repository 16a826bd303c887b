"""Rényi divergences of shuffled Gaussian reports, whose likelihood ratio is unbounded."""

import math

import mpmath
import numpy as np
import pytest

from shufflelib import Status, randomizers, shuffle
from shufflelib.numerics.logspace import logsumexp
from shufflelib.randomizers import additive


def log_density(y, mean, sigma):
    return -0.5 * ((y - mean) / sigma) ** 2 - math.log(sigma * math.sqrt(2.0 * math.pi))


def two_reports(sigma, other, order):
    """Return the larger D_order of two shuffled reports, the other user holding ``other``, on a grid."""
    reach = (order + 13.0) * sigma + order
    y = np.linspace(-reach, 1.0 + reach, 601)
    crowd = log_density(y, other, sigma)
    pair = []
    for value in (0.0, 1.0):
        report = log_density(y, value, sigma)
        pair.append(np.logaddexp(np.add.outer(report, crowd), np.add.outer(crowd, report)) - math.log(2.0))
    return max(
        (logsumexp(order * p + (1.0 - order) * q) + 2.0 * math.log(y[1] - y[0])) / (order - 1.0)
        for p, q in (pair, pair[::-1])
    )


@pytest.mark.parametrize(("sigma", "order"), [(0.5, 1.2), (1.0, 4.0), (4.0, 2.0)])
def test_two_users(sigma, order):
    bracket = shuffle(randomizers.gaussian(sigma=sigma), n=2).renyi(order)
    truth = max(two_reports(sigma, other, order) for other in (0.0, 1.0))
    assert 0.97 * truth < bracket.lower <= truth * (1 + 1e-9)
    local = order / (2.0 * sigma**2)
    assert truth <= bracket.upper * (1 + 1e-9) and bracket.upper <= min(1.5 * truth, local * (1 + 1e-12))


@pytest.mark.parametrize("order", [1.01, 2.0, 30.0])
@pytest.mark.parametrize("sigma", [1.0, 50.0])
def test_one_user(sigma, order):
    bracket = shuffle(randomizers.gaussian(sigma=sigma), n=1).renyi(order)
    truth = order / 2.0 / mpmath.mpf(sigma) ** 2
    assert bracket.lower <= truth <= bracket.upper <= truth * (1 + 1e-6)
    assert bracket.lower > 0.99 * truth


@pytest.mark.parametrize(("sigma", "order"), [(0.3, 1.01), (1.0, 1.5), (1.0, 20.0), (5.0, 4.0), (0.05, 2.0)])
def test_one_report_in_the_tails(sigma, order):
    mechanism = randomizers.gaussian(sigma=sigma)
    (pair,) = mechanism.input_pairs()
    cut = mechanism._edges(*additive.GAUSSIAN_CELLS)[0]
    with mpmath.workdps(40):
        s, k = mpmath.mpf(sigma), mpmath.mpf(order)
        whole = mpmath.exp(k * (k - 1) / (2 * s * s))  # times the normal distribution about 1 − order
        inside = [mpmath.ncdf((end - (1 - k)) / s) for end in (mpmath.mpf(cut), 1 - mpmath.mpf(cut))]
        outside = inside[0] + mpmath.ncdf(((1 - k) - (1 - mpmath.mpf(cut))) / s)
        truth = mpmath.log(whole * outside)
    assert truth <= pair.tails.log_moment(order) <= truth + 1e-9 * (1 + abs(truth))
    assert pair.tails.inside.r0_outside == 0.0 and math.isfinite(pair.tails.inside.max_privacy_loss)
    assert pair.tails.inside.r1_outside == pair.blanket.r1_outside


def test_the_tails_count_in_the_bound():
    mechanism = randomizers.gaussian(sigma=1.0)
    (pair,) = mechanism.input_pairs()
    assert shuffle(mechanism, n=10**6).renyi(20.0).upper >= pair.tails.log_moment(20.0) / 19.0 > 1.9


def test_two_reports_of_each_user():
    """Of the divergence of one user's reports, 4, not even a twentieth is left."""
    mechanism = randomizers.joint([randomizers.gaussian(sigma=1.0)] * 2)
    bracket = shuffle(mechanism, n=1000).renyi(4.0)
    assert 0.0119 < bracket.lower < bracket.upper < 0.14 and bracket.status is Status.CERTIFIED
    local = shuffle(mechanism, n=1000).renyi(10.0)
    assert local.upper == mechanism.local_renyi(10.0) and local.status is Status.TRIVIAL_UPPER


def test_a_sample_of_the_users():
    everybody = shuffle(randomizers.gaussian(sigma=1.0), n=1000)
    sampled = everybody.subsample(rate=0.1).renyi(4.0)
    assert 0.5 * sampled.upper < sampled.lower < sampled.upper < 0.02 * everybody.renyi(4.0).upper


def test_many_users_and_a_large_order():
    """The bound that sets the tails apart is twenty times larger here than that of higher moments."""
    bracket = shuffle(randomizers.gaussian(sigma=5.0), n=10**4).renyi(50.0)
    assert bracket.lower < bracket.upper < 1.2 * bracket.lower


def test_poisson_sampled_reports():
    """A tenth of the reports: an amplified, finite end below that of all reports."""
    mechanism = randomizers.gaussian(sigma=1.0)
    thinned = shuffle(randomizers.poisson_sampled(mechanism, rate=0.1), n=10**4).renyi(2.0)
    assert (
        0.5 * thinned.upper
        < thinned.lower
        < thinned.upper
        < 0.2 * shuffle(mechanism, n=10**4).renyi(2.0).upper
    )


def test_one_report_of_a_mixture_has_no_larger_divergence_than_the_worst_component():
    parts = [randomizers.gaussian(sigma=sigma) for sigma in (1.0, 2.0)]
    assert randomizers.mixture(parts, [0.5, 0.5]).local_renyi(4.0) == parts[0].local_renyi(4.0)

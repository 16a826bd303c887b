"""Reports of vectors: the closed forms agree with the masses, opposite vectors are the worst pair."""

import math
from fractions import Fraction

import numpy as np
import pytest

from claims import exact_losses
from claims.others.vector_means import Cap, Ramp, attacked, over_central, proved
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

REPORTS = [Cap(1.1), Cap(2.0), Ramp(0.3), Ramp(1.5)]


@pytest.mark.parametrize("report", REPORTS, ids=["cap", "large cap", "ramp", "steep ramp"])
def test_the_masses_have_the_index_and_the_moment_of_the_closed_forms(report):
    uniform, first, second, blanket = report.masses()
    assert all(abs(part.sum() - 1) < 1e-12 for part in (uniform, first, second))
    assert np.all(blanket <= np.minimum(first, second) * (1 + 1e-12))
    split = 1e-4  # of the cells
    assert ((first - second) ** 2 / blanket).sum() == pytest.approx(report.information, rel=split)
    if isinstance(report, Cap):
        assert ((first - second) ** 2 / uniform).sum() == pytest.approx(report.attack)
        edge = (report.root - 1) / (report.root + 1)
        t = np.array([(1 + edge) / 2, 0, -(1 + edge) / 2])  # mean of each part
    else:
        t = np.linspace(-1, 1, first.size)
    assert (first * t).sum() ** -2 == pytest.approx(report.moment, rel=split)


@pytest.mark.parametrize("report", [Cap(2), Ramp(1.0)], ids=["cap", "ramp"])
def test_opposite_vectors_are_the_worst_pair_in_samples_of_directions(report):
    """The mean positive part of (R_x - E R_x')/w - threshold is largest at the opposite vector."""
    v = np.random.default_rng(1).normal(size=(200_000, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)

    def ratio(x):
        if isinstance(report, Cap):
            return np.where(v @ x >= (report.root - 1) / (report.root + 1), report.root**2, 1.0)
        return 1 + 2 * report.slope * np.maximum(v @ x, 0) / (1 - report.slope / 2)

    for E in (1.0, 1.5):
        for threshold in (-1.0, 0.0, 0.5):
            parts = [
                np.maximum(ratio(np.array([0, 0, 1])) - E * ratio(np.array(x)) - threshold, 0).mean()
                for x in ([0, 0, 1], [0, 0.6, 0.8], [1, 0, 0], [0, 0.6, -0.8], [0, 0, -1])
            ]
            assert parts[-1] >= max(parts) * (1 - 3e-3), "up to the error of sampling"


def test_half_spheres_lose_more_in_more_dimensions():
    """Their error over the bound, 1/(d (E|t|)²), is that of a small budget in three dimensions."""

    def times(d):
        mean = math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)  # of |t|
        return 1 / (d * mean**2)

    assert times(1) == pytest.approx(1) and times(10**6) == pytest.approx(math.pi / 2, rel=1e-5)
    near = Cap(1 + 1e-6)
    assert near.moment * near.information / 12 == pytest.approx(times(3)) == pytest.approx(4 / 3, rel=1e-5)


def test_two_users_by_hand():
    root = Fraction(2)
    share = [x / (root + 1) for x in (1, root - 1, 1)]
    first = [m * like for m, like in zip(share, (root, 1 / root, 1 / root), strict=True)]
    blanket = [m / root for m in share]
    losses = exact_losses.losses(first, first[::-1], blanket, Fraction(3, 2))
    truth = exact_losses.expected_positive_part(losses, 2)
    _, *masses = Cap(2).masses()
    found = BlanketPair(LikelihoodRatios.from_masses(*masses, exchangeable=True), 2).delta(np.log(1.5))
    assert found.lower <= float(truth) <= found.upper < float(truth) + 1e-9


def test_an_attack_needs_no_more_than_is_proved_and_the_limit_is_near():
    for root in (1.05, 1.5):
        assert attacked(Cap(root), 1000, 1e-6) < proved(Cap(root), 1000, 1e-6)
    for report in (Cap(1.1), Ramp(1.5)):
        limit = report.moment * report.information / 12
        assert over_central(report, 10**6, 1e-6)[0] == pytest.approx(limit, rel=1e-3)
        assert limit >= 1, "the lower bound"

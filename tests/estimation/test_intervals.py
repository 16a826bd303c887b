"""Confidence intervals cover the truth as often as they say, and variances are those of simulated reports."""

import numpy as np
import pytest

from shufflelib import estimation, randomizers
from shufflelib.calibration.tasks.discoveries import score_interval

D, S, N, RUNS = 8, 3, 1500, 200
ITEMS = {
    "generalized_rr": randomizers.generalized_rr(eps0=2.0, d=D),
    "optimized_unary": randomizers.optimized_unary(eps0=1.0, d=D),
    "subset": randomizers.subset(eps0=1.0, d=D),
    "local_hash": randomizers.local_hash(eps0=2.0, d=D),
    "hadamard": randomizers.hadamard(eps0=2.0, d=D),
}
SETS = {
    "subset_exponential": randomizers.subset_exponential(eps0=2.0, d=D, s=S),
    "collision": randomizers.collision(eps0=2.0, d=D, s=S),
    "wheel": randomizers.wheel(eps0=2.0, d=D, s=S),
    "sampled_rappor": randomizers.sampled_rappor(eps0=3.0, d=D, s=S),
    "unary": randomizers.unary(d=D, h=S, p=0.2, q=0.7),
}
KEYS = {
    "pckv_grr": randomizers.pckv_grr(eps0=3.0, d=D, s=S),
    "privkv": randomizers.privkv(eps0=4.0, d=D, s=S),
}
MEANS = {
    "duchi": randomizers.duchi(eps0=1.0),
    "duchi in three dimensions": randomizers.duchi(eps0=1.0, d=3),
    "harmony": randomizers.harmony(eps0=1.0, d=3),
    "piecewise": randomizers.piecewise(eps0=1.0),
    "laplace": randomizers.laplace(eps0=1.0),
    "planar_laplace": randomizers.planar_laplace(d01=1.0, dmax=2.0),
}


def columns(table, *names):
    return (np.array([row[name] for row in table]) for name in names)


def uneven_sets(rng):
    """Return sets of S of D items, some items far more popular than others."""
    return np.argsort(rng.exponential(1.0 / np.arange(1, D + 1) ** 2, size=(N, D)), axis=1)[:, -S:]


def check(covered, least, most=0.972):
    assert least < np.mean(covered) < most, np.mean(covered)


@pytest.mark.parametrize("name", ITEMS)
def test_intervals_of_shares_cover_as_often_as_they_say(name):
    rng = np.random.default_rng(1)
    holds = np.minimum(rng.geometric(0.5, N) - 1, D - 1)
    truth, covered = np.bincount(holds, minlength=D) / N, []
    for _ in range(RUNS):
        estimate, lower, upper = columns(
            estimation.run(ITEMS[name], holds, rng), "estimate", "lower", "upper"
        )
        assert np.all((lower < estimate) & (estimate < upper))
        covered.append((lower <= truth) & (truth <= upper))
    check(covered, 0.93)


@pytest.mark.parametrize("name", SETS)
def test_variances_and_intervals_of_sets_are_those_of_simulated_reports(name):
    rng, mechanism = np.random.default_rng(2), SETS[name]
    sets = uneven_sets(rng)
    truth = np.bincount(sets.ravel(), minlength=D) / N
    estimates, covered = [], []
    for _ in range(RUNS):
        estimate, lower, upper = columns(estimation.run(mechanism, sets, rng), "estimate", "lower", "upper")
        estimates.append(estimate)
        covered.append((lower <= truth) & (truth <= upper))
    variance = mechanism.variance(truth, n=N)
    assert np.mean(estimates, axis=0) == pytest.approx(truth, abs=4.5 * np.sqrt(variance.max() / RUNS))
    assert np.mean(np.var(estimates, axis=0) / variance) == pytest.approx(1.0, abs=0.12)
    check(covered, 0.93)


@pytest.mark.parametrize("name", KEYS)
def test_intervals_of_keys_and_their_means_cover_as_often_as_they_say(name):
    rng, mechanism = np.random.default_rng(3), KEYS[name]
    keys = uneven_sets(rng)
    held = np.where(rng.random((N, S)) < 0.5 + keys / (4 * D), 1.0, -1.0)
    truth = np.bincount(keys.ravel(), minlength=D) / N
    totals = np.bincount(keys.ravel(), weights=held.ravel(), minlength=D) / N
    shares, means, sums = [], [], []
    for _ in range(RUNS):
        found = estimation.run(mechanism, (keys, held), rng)
        for covered, true, names in (
            (shares, truth, ("lower", "upper")),
            (means, totals / truth, ("mean lower", "mean upper")),
        ):
            lower, upper = columns(found, *names)
            covered.append((lower <= true) & (true <= upper))
        sums.append(mechanism.estimate(mechanism.sample((keys, held), rng))[1])
    check(shares, 0.93)
    check(means, 0.935, 0.995)  # the values' own part of the variance is left in
    variance = mechanism.sum_variance(truth, truth, n=N)  # all values are ±1
    assert np.mean(np.var(sums, axis=0) / variance) == pytest.approx(1.0, abs=0.12)
    assert np.mean(sums, axis=0) == pytest.approx(totals, abs=4.5 * np.sqrt(variance.max() / RUNS))


@pytest.mark.parametrize("name", MEANS)
def test_intervals_of_means_cover_the_mean_of_a_population_as_often_as_they_say(name):
    rng, mechanism, covered = np.random.default_rng(4), MEANS[name], []
    shape = {"duchi in three dimensions": (N, 3), "harmony": (N, 3), "planar_laplace": (N, 2)}.get(name, N)
    low, high = (0.0, 1.0) if name in ("laplace", "planar_laplace") else (-1.0, 1.0)
    for _ in range(2 * RUNS):
        x = low + (high - low) * rng.random(shape) ** 2
        lower, upper = columns(estimation.run(mechanism, x, rng), "lower", "upper")
        truth = low + (high - low) / 3.0
        covered.append((lower <= truth) & (truth <= upper))
    check(covered, 0.92, 0.98)


@pytest.mark.parametrize("name", KEYS)
def test_covariances_of_shares_and_sums_are_those_of_simulated_reports(name):
    rng, mechanism = np.random.default_rng(8), KEYS[name]
    keys = uneven_sets(rng)
    shares, sums = np.array(
        [mechanism.estimate(mechanism.sample((keys, np.ones((N, S))), rng)) for _ in range(3 * RUNS)]
    ).swapaxes(0, 1)
    truth = np.bincount(keys.ravel(), minlength=D) / N
    measured = np.mean((shares - truth) * (sums - truth), axis=0)
    assert measured.sum() == pytest.approx(mechanism.covariance(truth, n=N).sum(), rel=0.15)


def test_intervals_know_blanket_messages():
    rng, mechanism, covered = np.random.default_rng(5), randomizers.balls_into_bins(d=D), []
    holds = np.arange(N) % D
    for _ in range(RUNS):
        lower, upper = columns(estimation.run(mechanism, holds, rng, each=3), "lower", "upper")
        covered.append((lower <= 1.0 / D) & (1.0 / D <= upper))
    check(covered, 0.93)


def test_the_ends_are_the_shares_at_a_distance_of_z_standard_errors():
    mechanism, share = randomizers.generalized_rr(eps0=3.0, d=4), np.array([0.02, 0.4])
    for end in score_interval(mechanism, share, n=2000, z=2.5):
        assert np.abs(end - share) == pytest.approx(2.5 * np.sqrt(mechanism.variance(end, n=2000)))


def test_more_confidence_is_a_wider_interval():
    rng, mechanism = np.random.default_rng(6), ITEMS["generalized_rr"]
    reports = mechanism.sample(np.arange(N) % D, rng)
    narrow, wide = (estimation.intervals(mechanism, reports, confidence=one)[0] for one in (0.5, 0.99))
    assert wide["lower"] < narrow["lower"] < narrow["upper"] < wide["upper"]
    assert list(estimation.intervals(mechanism, reports).to_frame().columns) == [
        "item",
        "estimate",
        "lower",
        "upper",
    ]


def test_counts_of_reports_are_refused():
    with pytest.raises(ValueError, match="as many as counts of reports would have"):
        estimation.intervals(ITEMS["generalized_rr"], np.arange(D))
    assert len(estimation.intervals(ITEMS["generalized_rr"], np.arange(D), n=D)) == D
    with pytest.raises(ValueError, match="reports must hold n = 9"):
        estimation.intervals(SETS["unary"], np.zeros((D, D), int), n=9)


def test_a_key_that_nobody_seems_to_hold_may_have_any_mean():
    rng, mechanism = np.random.default_rng(7), KEYS["privkv"]
    keys = np.tile(np.arange(S), (200, 1))
    last = estimation.run(mechanism, (keys, np.ones((200, S))), rng)[D - 1]
    assert (last["mean lower"], last["mean upper"]) == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"each": 2}, "each must be 0 for generalized_rr"),
        ({"confidence": 1.0}, "confidence must be"),
    ],
)
def test_bad_input_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        estimation.run(ITEMS["generalized_rr"], np.arange(N) % D, np.random.default_rng(1), **wrong)


def test_heavy_hitters_are_those_of_one_item_each():
    with pytest.raises(TypeError, match="mechanism must be"):
        estimation.heavy_hitters(SETS["collision"], np.zeros(3))
    with pytest.raises(ValueError, match="mistakes must be"):
        estimation.heavy_hitters(ITEMS["generalized_rr"], np.zeros(30), mistakes=0.0)


def test_mechanisms_without_an_estimate_of_their_own_are_refused():
    mixed = randomizers.mixture(
        [randomizers.binary_rr(eps0=1.0), randomizers.binary_rr(eps0=2.0)], [0.5, 0.5]
    )
    with pytest.raises(TypeError, match="mechanism must estimate shares"):
        estimation.intervals(mixed, np.zeros(10), n=10)
    several = randomizers.balls_into_bins(d=4)
    with pytest.raises((TypeError, ValueError), match="n must be"):
        estimation.intervals(several, np.zeros(10))

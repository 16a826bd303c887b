"""Gaussian blocks and random allocation: what is sent out, what a change of one example does, what is proved.

The oracles integrate on a grid or draw losses; they share no line with the package.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from sgd_cases import gaussian_delta, single
from shufflelib import sgd
from shufflelib.sgd import Network, accounting

BOTH = (sgd.GaussianBlocks, sgd.AllocatedBlocks)
NETWORK = Network((5, 4, 3))


def reports(kind=sgd.AllocatedBlocks, **changes):
    return kind(**{"noise_multiplier": 1.0, "clip": 0.7, "blocks": 6, "block_size": 8, **changes})


# ---------------------------------------------------------------- what is sent out


def examples(rng, n, scale=1.0):
    features = (scale * rng.normal(size=(n, 5))).astype(np.float32)
    return features, rng.integers(3, size=n)


SIZES = [(sgd.GaussianBlocks, 8), *((sgd.AllocatedBlocks, size) for size in (0, 1, 3, 8, 20))]


@pytest.mark.parametrize(("kind", "size"), SIZES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0, 1e6])
def test_a_report_is_the_sum_of_clipped_gradients_over_one_number_whatever_the_size(kind, size, scale):
    rng = np.random.default_rng(1)
    parameters = NETWORK.initial(rng)
    gradients = NETWORK.gradients(parameters, *examples(rng, size, scale))
    found = reports(kind, noise_multiplier=1e-9).report(gradients, NETWORK, 0, rng)
    assert found.shape == (NETWORK.size,) and found.dtype == np.float32
    each = np.array([single(gradients, j) for j in range(size)]).reshape(size, NETWORK.size)
    norms = np.linalg.norm(each, axis=1)
    expected = (each * np.minimum(1.0, 0.7 / np.maximum(norms, 1e-300))[:, None]).sum(axis=0) / 8
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", BOTH)
def test_neighbours_are_within_the_sensitivity_and_opposite_gradients_attain_it(kind):
    rng = np.random.default_rng(3)
    one, worst = reports(kind), 0.0
    for trial in range(300):
        scale = 10.0 ** rng.uniform(-4, 12)
        parameters = (10.0 ** rng.uniform(-2, 1) * NETWORK.initial(rng)).astype(np.float32)
        features, labels = examples(rng, 8, 10.0 ** rng.uniform(-3, 3))
        other, classes = features.copy(), labels.copy()
        other[0], classes[0] = scale * rng.normal(size=5), rng.integers(3)
        if trial % 3 == 0:  # the same inputs with another class pull the other way
            other[0] = features[0]
        moved = [
            one.release(NETWORK.gradients(parameters, *pair), NETWORK).astype(float)
            for pair in ((features, labels), (other, classes))
        ]
        worst = max(worst, float(np.linalg.norm(moved[0] - moved[1])))
    assert one.sensitivity == pytest.approx(2 * 0.7 / 8)
    assert 0.5 * one.sensitivity < worst <= one.sensitivity * (1 + 1e-6)
    up = sgd.network.ExampleGradients([np.ones((1, 1), np.float32)], [np.full((1, 2), 9.0, np.float32)])
    down = sgd.network.ExampleGradients([np.ones((1, 1), np.float32)], [np.full((1, 2), -9.0, np.float32)])
    ends = [sgd.AllocatedBlocks(1.0, 0.7, 6, 8).release(side, Network((1, 2))) for side in (up, down)]
    assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(one.sensitivity, rel=1e-5)


@pytest.mark.parametrize("kind", BOTH)
def test_noise_is_normal_with_the_deviation_that_accounting_uses(kind):
    one = reports(kind, noise_multiplier=1.3)
    drawn = one.noise(200_000, 0, np.random.default_rng(4))
    assert one.noise_scale == pytest.approx(1.3 * 0.7 / 8)
    assert stats.kstest(drawn / (1.3 * 0.7 / 8), "norm").pvalue > 1e-3


def test_allocation_is_uniform_independent_and_new_in_each_epoch():
    one, rng = reports(blocks=4, block_size=3), np.random.default_rng(5)
    drawn = np.array([one.order(None, rng) for _ in range(20_000)])
    assert drawn.shape == (20_000, 12)
    for i, j in ((0, 1), (3, 11)):  # two examples in one epoch
        table = np.bincount(4 * drawn[:, i] + drawn[:, j], minlength=16)
        assert stats.chisquare(table).pvalue > 1e-4
    table = np.bincount(4 * drawn[:-1, 0] + drawn[1:, 0], minlength=16)  # one example in two epochs
    assert stats.chisquare(table).pvalue > 1e-4
    sizes = (drawn == 0).sum(axis=1)  # binomial, not fixed
    assert sizes.var() == pytest.approx(12 * 3 / 16, rel=0.05) and sizes.min() == 0


# ---------------------------------------------------------------- training


def training(kind=sgd.AllocatedBlocks, *, blocks=12, block_size=2, **changes):
    rng = np.random.default_rng(7)
    features, labels = examples(rng, 24)
    settings = {"step_size": 0.3, "seed": 9, "watch": {"same": (features, labels)}, **changes}
    one = reports(kind, blocks=blocks, block_size=block_size)
    return sgd.Training(one, NETWORK, features, labels, **settings)


@pytest.mark.parametrize("steps", [1, 5, 1000])
def test_averages_follow_their_formula_and_do_not_touch_training(steps, monkeypatch):
    path, run = [], training(averaged_steps=steps)
    average, gradients = np.zeros(NETWORK.size), Network.gradients

    def watched(network, parameters, *block):
        path.append(parameters.astype(float))
        return gradients(network, parameters, *block)

    with monkeypatch.context() as watching:
        watching.setattr(Network, "gradients", watched)
        run.run(3)
    path = [*path[1:], run.parameters.astype(float)]  # after each step
    for t, parameters in enumerate(path, start=1):
        share = 1.0 / min(t, steps)
        average = (1 - share) * average + share * parameters
    assert np.allclose(run.averaged, average, atol=1e-5)
    assert run.parameters.tobytes() == training().run(3).parameters.tobytes()
    rng = np.random.default_rng(7)
    assert run.accuracies["same"][-1] == NETWORK.accuracy(run.averaged, *examples(rng, 24))
    if steps == 1:
        assert np.array_equal(run.averaged, run.parameters)
    if steps == 1000:
        assert np.allclose(run.averaged, np.mean(path, axis=0), atol=1e-5)


# ---------------------------------------------------------------- what is proved


def losses(sigma, blocks, runs, seed):
    """Draw log P/Q under P."""
    a, rng = 1 / sigma, np.random.default_rng(seed)
    z = rng.normal(size=(runs, blocks))
    z[:, 0] += a
    return special.logsumexp(a * z, axis=1) - special.logsumexp(-a * z, axis=1)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 10.0])
def test_one_block_is_the_gaussian_mechanism(sigma):
    pair = accounting.RandomAllocation(sigma, 1)
    for eps in (0.0, 1.0 / sigma, 4.0 / sigma):
        exact, found = gaussian_delta(2 / sigma, eps), pair.delta(eps)
        assert found.lower <= exact <= found.upper * (1 + 1e-12)
        assert found.lower >= 0.97 * exact and found.upper <= 1.001 * exact


@pytest.mark.parametrize("sigma", [1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("blocks", [30, 10**4])
def test_much_noise_agrees_with_the_central_limit(sigma, blocks):
    pair = accounting.RandomAllocation(sigma, blocks)
    mu = 2.0 / (sigma * math.sqrt(blocks))
    for eps in (0.0, mu, 2.0 * mu):
        found = pair.delta(eps)
        assert found.lower >= 0.97 * gaussian_delta(mu, eps) and found.upper <= 1.03 * gaussian_delta(mu, eps)


def test_epochs_agree_with_drawn_losses():
    """Ten epochs, above and below; small δ cannot be drawn, so δ is of order 1e-3."""
    one = reports(noise_multiplier=2.0, blocks=10)
    drawn = sum(losses(2.0, 10, 60_000, seed=20 + epoch) for epoch in range(10))
    profile = accounting.one_example(one, epochs=10)
    for eps in np.quantile(drawn, [0.7, 0.97]):
        gain = np.maximum(-np.expm1(eps - drawn), 0.0)
        mean, error = gain.mean(), 5 * gain.std() / math.sqrt(gain.size)
        found = profile.delta(float(eps))
        assert found.lower <= mean + error and mean - error <= found.upper
        assert found.upper <= 1.12 * mean + error and found.lower >= 0.88 * mean - error
    found = [accounting.one_example(one, epochs=epochs).epsilon(1e-5) for epochs in (1, 10, 50)]
    for before, after in zip(found, found[1:], strict=False):
        assert before.upper < after.upper and before.lower < after.lower
    assert all(end.upper < 1.05 * end.lower for end in found)
    fixed = accounting.one_example(
        reports(sgd.GaussianBlocks, noise_multiplier=2.0, blocks=10), epochs=10
    ).epsilon(1e-5)
    assert found[1].upper < 0.8 * fixed.lower


@pytest.mark.parametrize("epochs", [1, 9])
@pytest.mark.parametrize("sigma", [0.7, 3.0])
def test_a_fixed_split_is_gaussian_and_not_better(sigma, epochs):
    profile = accounting.one_example(
        reports(sgd.GaussianBlocks, noise_multiplier=sigma, block_size=50), epochs=epochs
    )
    mu = 2 * math.sqrt(epochs) / sigma
    for eps in (0.0, 0.5 * mu, 2 * mu):
        exact, found = gaussian_delta(mu, eps), profile.delta(eps)
        assert exact * (1 - 1e-12) <= found.upper <= exact * (1 + 1e-9)
        assert 0.98 * exact <= found.lower <= exact


@pytest.mark.parametrize(("eps", "blocks", "epochs"), [(1.0, 1, 4), (0.5, 10, 3)])
def test_the_noise_multiplier_keeps_its_target_and_hardly_less_does(eps, blocks, epochs):
    sigma = accounting.noise_multiplier(eps=eps, delta=1e-5, blocks=blocks, epochs=epochs)

    def reached(sigma):
        one = reports(noise_multiplier=sigma, blocks=blocks)
        return accounting.one_example(one, epochs=epochs).epsilon(1e-5)

    assert 0.97 * eps < reached(sigma).lower <= reached(sigma).upper <= eps
    assert reached(0.98 * sigma).upper > eps
    if blocks == 1:
        assert gaussian_delta(2 * math.sqrt(epochs) / sigma, eps) <= 1e-5


# ---------------------------------------------------------------- blocks that are reused


def exact_delta(sigma, blocks, chosen, eps):
    """Integrate: the last report in closed form, the others on a grid, whose error is e^{−2π²/0.2²}."""
    a, grid = 1 / sigma, np.linspace(-9, 9, 91)
    others = np.stack(np.meshgrid(*[grid] * (blocks - 1)), axis=-1).reshape(-1, blocks - 1)
    weight = stats.norm.pdf(others).prod(axis=1) * (grid[1] - grid[0]) ** (blocks - 1)

    def mean(sign, size):  # over the subsets of the other blocks with that size
        ratio, subsets = (
            np.exp(sign * a * others - a * a / 2),
            itertools.combinations(range(blocks - 1), size),
        )
        return sum(ratio[:, list(own)].prod(axis=1) for own in subsets) / math.comb(blocks, chosen)

    without = mean(1, chosen) - math.exp(eps) * mean(-1, chosen)
    up, down = mean(1, chosen - 1), math.exp(eps) * mean(-1, chosen - 1)
    root = np.sqrt(without**2 + 4 * up * down * math.exp(-a * a))
    ratio = np.where(without > 0, 2 * down * math.exp(-a * a) / (without + root), (root - without) / (2 * up))
    start = (np.log(ratio) + a * a / 2) / a  # the sum is positive beyond it
    gain = without * stats.norm.sf(start) + up * stats.norm.sf(start - a) - down * stats.norm.sf(start + a)
    return float((weight * gain).sum())


@pytest.mark.parametrize(
    ("blocks", "chosen", "epochs", "wide"),
    [(2, 1, 1, 1.1), (2, 1, 4, 1.1), (3, 1, 2, 1.1), (3, 2, 1, 2.5), (4, 2, 2, 2.5), (4, 3, 1, 2.5)],
)
def test_blocks_that_are_reused_enclose_the_integral(blocks, chosen, epochs, wide):
    sigma = 2.0 * math.sqrt(epochs)
    settings = {"blocks": blocks, "chosen": chosen, "epochs": epochs}
    profile = accounting.reused_allocation(noise_multiplier=sigma, **settings)
    for eps in (0.0, 0.5, 1.5):
        exact, found = exact_delta(2.0, blocks, chosen, eps), profile.delta(eps)
        assert found.lower <= exact * (1 + 1e-9) and exact * (1 - 1e-9) <= found.upper
        assert found.upper <= wide * exact and exact <= wide * found.lower


@pytest.mark.parametrize("blocks", [1, 4])
def test_all_blocks_are_the_gaussian_mechanism(blocks):
    profile = accounting.reused_allocation(noise_multiplier=6.0, blocks=blocks, chosen=blocks, epochs=9)
    exact, found = gaussian_delta(math.sqrt(blocks), 0.7), profile.delta(0.7)
    assert found.lower <= exact * (1 + 1e-12) and exact * (1 - 1e-12) <= found.upper
    assert found.upper == pytest.approx(found.lower, rel=1e-9)


def test_the_largest_report_is_that_of_drawn_ones():
    """For little noise it shows more than the sum of all reports does."""
    up, down = (np.random.default_rng(9).normal(size=(200_000, 20)) for _ in range(2))
    up[:, :2] += 2.0
    down[:, :2] -= 2.0
    most, least = up.max(axis=1), down.max(axis=1)
    drawn = max(np.mean(most > c) - 3.0 * np.mean(least > c) for c in np.linspace(0.0, 5.0, 101))
    found = accounting.attacks.largest_report(0.5, 20, 2).delta(math.log(3.0))
    assert found.lower == pytest.approx(drawn, abs=0.01)
    profile = accounting.reused_allocation(noise_multiplier=0.5, blocks=100, epochs=1, chosen=2)
    of_sum = stats.norm.cdf(0.4 - 3.0 / 0.8) - math.exp(3.0) * stats.norm.cdf(-0.4 - 3.0 / 0.8)
    assert profile.delta(3.0).lower > 10 * of_sum


def test_a_sampler_that_reuses_its_blocks_needs_noise_for_all_epochs():
    valid = {"noise_multiplier": 1.0, "blocks": 3, "epochs": 4}
    for name, value in (("noise_multiplier", 0.39), ("blocks", 0), ("epochs", 0), ("chosen", 4)):
        with pytest.raises(ValueError, match=name):
            accounting.reused_allocation(**(valid | {name: value}))


# ---------------------------------------------------------------- hostile arguments


def test_accounting_refuses_what_it_cannot_reach():
    for kind in BOTH:
        for value in (0, -1, 1.5, math.nan, "2", None, True):
            with pytest.raises((TypeError, ValueError), match="epochs"):
                accounting.one_example(reports(kind, blocks=1), epochs=value)
    with pytest.raises(ValueError, match="noise multiplier"):
        accounting.noise_multiplier(eps=1e-9, delta=1e-30, blocks=1, epochs=10**6)
    with pytest.raises((TypeError, ValueError), match="averaged_steps"):
        training(averaged_steps=0)


def test_blocks_that_are_reused_are_not_covered():
    """Three reports of one split average to one with noise σ/√3: far more than three fresh splits reveal."""
    fresh = accounting.one_example(reports(blocks=100), epochs=3).epsilon(1e-6)
    reused = accounting.reused_allocation(noise_multiplier=1.0, blocks=100, epochs=3).epsilon(1e-6)
    assert fresh.upper <= 1.69 and reused.lower >= 4.83
    assert "at least 4.83 there, and at most 1.69 here" in " ".join(sgd.AllocatedBlocks.__doc__.split())
    for place in (accounting.one_example, accounting.noise_multiplier):
        assert "reveal more, see `AllocatedBlocks`" in " ".join(place.__doc__.split())


@pytest.mark.parametrize("epochs", [4, 16])
def test_reused_blocks_are_one_epoch_with_the_averaged_noise_and_no_less(epochs):
    once = accounting.one_example(reports(noise_multiplier=1.0, blocks=10), epochs=1)
    reused = accounting.reused_allocation(noise_multiplier=math.sqrt(epochs), blocks=10, epochs=epochs)
    for eps in (0.0, 0.5, 2.0):
        found, same = reused.delta(eps), once.delta(eps)
        assert same.upper * (1 - 1e-9) <= found.upper <= same.upper * (1 + 1e-9)
        assert same.lower * (1 - 1e-9) <= found.lower <= same.lower * (1 + 1e-9)

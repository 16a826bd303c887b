"""Networks, clipping and noise of shuffled SGD: gradients, sensitivities against neighbouring data, attacks.

The oracle writes a network as plain loops over layers in double precision, takes one example at a time, and
clips the whole gradient vector: it shares no line with the package.
"""

import math

import numpy as np
import pytest
from scipy import special, stats

from sgd_cases import CASES, RNG, WIDTHS, adversarial, block, single
from shufflelib import sgd
from shufflelib.sgd import ExampleGradients, Network, datasets


def oracle_loss(widths, parameters, x, y):
    a, start = np.asarray(x, float), 0
    for layer, (i, o) in enumerate(zip(widths[:-1], widths[1:], strict=True)):
        w = parameters[start : start + i * o].reshape(i, o)
        a = np.array([math.fsum(a * w[:, k]) + parameters[start + i * o + k] for k in range(o)])
        start += (i + 1) * o
        if layer < len(widths) - 2:
            a = np.where(a > 0, a, 0.0)
    return float(special.logsumexp(a) - a[y])


def oracle_gradient(widths, parameters, x, y, step=1e-6):
    gradient = np.zeros(len(parameters))
    for k in range(len(parameters)):
        up, down = parameters.copy(), parameters.copy()
        up[k] += step
        down[k] -= step
        gradient[k] = (oracle_loss(widths, up, x, y) - oracle_loss(widths, down, x, y)) / (2 * step)
    return gradient


# ---------------------------------------------------------------- principal components


def test_principal_components_are_right_singular_vectors_with_a_fixed_sign():
    images = datasets.digits().train_images
    ours = sgd.principal_components(images, components=20)
    centred = images - images.mean(axis=0, dtype=np.float64)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(np.abs(np.sum(ours.axes * axes[:20], axis=1)), 1.0, atol=1e-9)
    assert np.allclose(ours.variances, singular[:20] ** 2 / (len(images) - 1), rtol=1e-9)
    assert np.all(ours.axes[np.arange(20), np.abs(ours.axes).argmax(axis=1)] > 0)
    assert np.allclose(np.abs(ours.project(images)), np.abs(centred @ axes[:20].T), atol=1e-4)
    again = sgd.principal_components(images.copy(), components=20)
    assert np.array_equal(ours.axes, again.axes) and ours.project(images).dtype == np.float32


# ---------------------------------------------------------------- the network


@pytest.mark.parametrize("widths", WIDTHS)
def test_gradients_match_finite_differences(widths):
    parameters, features, labels = block(widths, 4, dtype=np.float64)
    gradients = Network(widths).gradients(parameters, features, labels)
    weights = np.array([0.3, -1.0, 2.0, 0.0])
    total = np.zeros(len(parameters))
    for j in range(4):
        expected = oracle_gradient(widths, parameters, features[j], labels[j])
        assert np.allclose(single(gradients, j), expected, atol=1e-7)
        total += weights[j] * expected
    assert np.allclose(gradients.weighted_sum(weights), total, atol=1e-7)


def test_accuracy_counts_the_highest_scores_in_chunks_as_in_one():
    widths = (4, 6, 3)
    parameters, features, labels = block(widths, 20_000)
    network = Network(widths)
    layers = network.layers(parameters)
    scores = np.maximum(features @ layers[0][0] + layers[0][1], 0) @ layers[1][0] + layers[1][1]
    assert network.accuracy(parameters, features, labels) == np.mean(scores.argmax(axis=1) == labels)


def test_initial_weights_fill_their_interval_and_biases_are_zero():
    network = Network((60, 40, 10))
    for weights, bias in network.layers(network.initial(RNG(1))):
        reach = math.sqrt(6 / sum(weights.shape))
        assert stats.kstest(weights.ravel() / reach, stats.uniform(-1, 2).cdf).pvalue > 1e-4
        assert not bias.any()


# ---------------------------------------------------------------- clipping


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("widths", WIDTHS[:3])
def test_released_averages_are_within_their_bounds(widths, case):
    network = Network(widths)
    gradients = network.gradients(*adversarial(widths, case))
    algorithm1, algorithm3, batch = mechanisms(30, clip=0.5)
    assert np.abs(algorithm1.release(gradients, network).astype(float)).sum() <= 0.5 * (1 + 1e-5)
    assert np.linalg.norm(algorithm3.release(gradients, network)) <= 0.5 * (1 + 1e-12)
    assert np.abs(batch.release(gradients, network)).sum() <= batch.sensitivity(network) / 2 * (1 + 1e-12)


def test_clipping_is_the_papers_formula():
    widths = (5, 7, 3)
    network = Network(widths)
    gradients = network.gradients(*block(widths, 30))
    algorithm1, algorithm3, _ = mechanisms(30, clip=20.0)
    each = np.array([single(gradients, j) for j in range(30)])
    norms = np.abs(each).sum(axis=1)
    assert (norms < 20.0).any() and (norms > 20.0).any()
    clipped = each / np.maximum(1.0, norms / 20.0)[:, None]
    assert np.allclose(algorithm1.release(gradients, network), clipped.mean(axis=0), rtol=1e-3, atol=1e-5)
    for clip in (1e-3, 1e3):
        _, algorithm3, _ = mechanisms(30, clip=clip)
        mean = each.mean(axis=0)
        expected = mean / max(1.0, np.sqrt(mean @ mean) / clip)
        assert np.allclose(algorithm3.release(gradients, network), expected, rtol=1e-3, atol=1e-6 * clip)


def mechanisms(size, *, clip, eps0=2.0, blocks=4):
    return (
        sgd.LaplaceBlocks(eps0=eps0, clip=clip, blocks=blocks, block_size=size),
        sgd.PersonalClients(eps=np.full(blocks, eps0), delta=1e-5, clip=clip, client_size=size),
        sgd.BatchClippedBlocks(eps0=eps0, clip=clip, blocks=blocks, block_size=size),
    )


# ---------------------------------------------------------------- sensitivities: neighbours, released sums


def opposite(widths, size, *, magnitude):
    """Return a block at parameters 0, and the same block with its last example turned into its opposite.

    At parameters 0 a linear model with two classes has d = (∓1/2, ±1/2): the label turns the gradient around.
    """
    features = np.full((size, widths[0]), magnitude, dtype=np.float32)
    labels = np.zeros(size, dtype=int)
    changed = labels.copy()
    changed[-1] = 1
    return np.zeros(Network(widths).size, dtype=np.float32), features, labels, changed


def test_one_example_moves_algorithm_1_by_its_sensitivity_and_no_further():
    widths = (4, 2)
    network = Network(widths)
    for size in (1, 5, 60):
        reports = mechanisms(size, clip=3.0)[0]
        parameters, features, labels, changed = opposite(widths, size, magnitude=100.0)
        moved = distance(reports, network, parameters, (features, labels), (features, changed), order=1)
        assert 0.999 * reports.sensitivity <= moved <= reports.sensitivity * (1 + 1e-4)
        assert reports.sensitivity == pytest.approx(2 * 3.0 / size)
        assert reports.noise_scale == pytest.approx(2 * 3.0 / (2.0 * size))
        whole = distance(reports, network, parameters, (features, labels), (features, 1 - labels), order=1)
        assert whole / reports.noise_scale == pytest.approx(reports.eps0_between_blocks, rel=1e-3)


def distance(reports, network, parameters, one, other, *, order):
    released = [
        np.asarray(reports.release(network.gradients(parameters, *data), network), float)
        for data in (one, other)
    ]
    return float(np.linalg.norm(released[0] - released[1], ord=order))


def test_one_example_moves_algorithm_3_by_twice_the_clipping_bound():
    """The printed 2C/m is not the sensitivity: clipped after the average, single examples are unbounded."""
    widths, size, clip = (4, 2), 50, 2.0
    network, reports = Network(widths), mechanisms(size, clip=clip)[1]
    parameters = np.zeros(network.size, dtype=np.float32)
    features = np.full((size, 4), 0.01, dtype=np.float32)
    features[-1] = 1e5
    labels = np.arange(size) % 2
    changed = labels.copy()
    changed[-1] = 1 - changed[-1]
    moved = distance(reports, network, parameters, (features, labels), (features, changed), order=2)
    assert 0.999 * reports.sensitivity <= moved <= reports.sensitivity * (1 + 1e-6)
    assert reports.sensitivity == 2 * clip and moved > 0.99 * size * reports.calibrated_to
    assert np.allclose(reports.mu, 2 * clip / reports.sigma)


def test_the_released_code_clips_by_largest_column_sums():
    widths = (5, 7, 3)
    network = Network(widths)
    gradients = network.gradients(*block(widths, 30))
    mean = np.mean([single(gradients, j) for j in range(30)], axis=0)
    size = sum(np.linalg.norm(part, ord=1) for pair in network.layers(mean) for part in pair)
    for clip in (size / 3, size * 3):
        released = mechanisms(30, clip=clip)[2].release(gradients, network)
        assert np.allclose(released, mean / max(1.0, size / clip), rtol=1e-3, atol=1e-6)


# ---------------------------------------------------------------- noise


def test_noise_has_the_distribution_that_the_mechanisms_say():
    network, rng = Network((60, 50, 10)), RNG(3)
    zero = ExampleGradients([np.zeros((1, 60)), np.zeros((1, 50))], [np.zeros((1, 50)), np.zeros((1, 10))])
    laplace = sgd.LaplaceBlocks(eps0=0.7, clip=10.0, blocks=3, block_size=1)
    noise = np.concatenate([laplace.report(zero, network, k, rng) for k in range(3)])
    assert stats.kstest(noise, stats.laplace(0, 2 * 10.0 / 0.7).cdf).pvalue > 1e-3
    assert stats.kstest(noise, stats.laplace(0, 0.9 * 2 * 10.0 / 0.7).cdf).pvalue < 1e-3
    personal = sgd.PersonalClients(eps=[0.5, 2.0], delta=[1e-5, 1e-3], clip=2.0, client_size=1)
    for client, sigma in enumerate(
        [4 * math.sqrt(2 * math.log(1.25e5)) / 0.5, 2 * math.sqrt(2 * math.log(1250))]
    ):
        noise = np.concatenate([personal.report(zero, network, client, rng) for _ in range(4)])
        assert stats.kstest(noise, stats.norm(0, sigma).cdf).pvalue > 1e-3
        assert stats.kstest(noise, stats.norm(0, 0.9 * sigma).cdf).pvalue < 1e-3
    batch = sgd.BatchClippedBlocks(eps0=0.7, clip=10.0, blocks=3, block_size=1)
    noise = np.concatenate([batch.report(zero, network, 0, rng) for _ in range(3)])
    assert stats.kstest(noise, stats.laplace(0, 2 * 10.0 / 0.7).cdf).pvalue > 1e-3


def test_orders_are_those_of_the_algorithms():
    algorithm1, algorithm3, batch = mechanisms(1, clip=1.0, blocks=8)
    rng = RNG(0)
    last = np.arange(8)
    orders = [algorithm1.order(last, rng) for _ in range(4000)]
    places = np.bincount([8 * place + order[place] for order in orders for place in range(8)], minlength=64)
    assert stats.chisquare(places).pvalue > 1e-3
    first = algorithm3.order(None, rng)
    assert sorted(first) == list(range(8)) and np.array_equal(algorithm3.order(first, rng), first)
    assert np.array_equal(batch.order(None, rng), np.arange(8))
    assert sorted(sgd.PlainBlocks(8, 1).order(first, rng)) == list(range(8))


# ---------------------------------------------------------------- hostile arguments


def test_networks_refuse_what_does_not_fit():
    network = Network((5, 3))
    parameters, features, labels = block((5, 3), 4)
    for wrong in (
        (parameters[:-1], features, labels),
        (parameters, features[:, :4], labels),
        (parameters, features, labels[:3]),
        (parameters, features, labels - 5),
        (parameters, features, labels + 3),
        (parameters, features, labels + 0.5),
    ):
        for method in (network.gradients, network.accuracy):
            with pytest.raises((TypeError, ValueError), match="parameters|features|labels"):
                method(*wrong)
    with pytest.raises(ValueError, match="features"):
        network.accuracy(parameters, features[:0], labels[:0])
    with pytest.raises(TypeError, match="parameters"):
        network.gradients(parameters.tolist(), features, labels)
    with pytest.raises(TypeError, match="rng"):
        network.initial(1)
    with pytest.raises(TypeError, match="network"):
        mechanisms(3, clip=1.0)[2].sensitivity((5, 3))
    with pytest.raises(ValueError, match="gradients"):
        mechanisms(3, clip=1.0)[0].report(network.gradients(parameters, features, labels), network, 0, RNG(0))


@pytest.mark.parametrize("wrong", [np.ones(6), np.ones((0, 6)), np.full((2, 2), np.nan), "1", [[1.0, 1e300]]])
def test_principal_components_refuse_what_is_not_images(wrong):
    images = np.eye(6, dtype=np.float32)
    with pytest.raises((TypeError, ValueError), match="images"):
        sgd.principal_components(wrong, components=1)
    with pytest.raises(ValueError, match="components"):
        sgd.principal_components(images, components=7)
    for other in (images[:, :5], images * np.float32(1e38)):
        with pytest.raises(ValueError, match="images"):
            sgd.principal_components(images, components=2).project(other)

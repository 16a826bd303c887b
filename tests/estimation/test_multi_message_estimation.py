"""Histograms from many messages per user: unbiased, with the stated variance, drawn with the right pmf."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chisquare

from shufflelib import estimation, randomizers
from shufflelib.shuffling import multi_message

PROTOCOLS = {
    "coin": randomizers.balcer_binary(coin=0.2),
    "bins": randomizers.balls_into_bins(d=5),
    "special bins": randomizers.balls_into_bins(d=11, s=3),
    "fake users": randomizers.cheu_zhilyaev(d=6, flip=0.2),
    "mixDUMP": randomizers.mix_dump(d=6, flip=0.4),
}
SEEDS = range(200)


def population(protocol, n):
    """Unequal shares, the last item rare."""
    shares = 1.0 / np.arange(1, protocol.items + 1)
    return np.repeat(np.arange(protocol.items), estimation.apportion(shares / shares.sum(), n))


def check_moments(estimates, truth, variance):
    runs = len(estimates)
    assert np.all(np.abs(estimates.mean(axis=0) - truth) < 4.5 * np.sqrt(variance / runs))
    assert np.all(np.abs(estimates.var(axis=0) / variance - 1.0) < 4.5 * math.sqrt(2.0 / runs))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_counts_give_unbiased_frequencies_with_the_exact_variance(name):
    protocol = estimation.MultiMessageProtocol(PROTOCOLS[name], n=10_000, each=7)
    data = population(PROTOCOLS[name], 10_000)
    truth = np.bincount(data, minlength=PROTOCOLS[name].items) / 10_000
    runs = [protocol.repeat(data, 1, np.random.default_rng(seed))[0] for seed in SEEDS]
    check_moments(np.array(runs), truth, protocol.variance(data))


def exact_supports(name):
    """Pmf of the supports of one user who holds item 0, one who holds 1, and one blanket message each."""
    if name == "coin":
        inputs, noise = [{(1, 0): 1.0}, {(0, 1): 1.0}], {(1, 0): 0.8, (0, 1): 0.2}
    elif name == "special bins":  # 7 bins, 3 for each of two items
        inputs, noise = [{(1, 0): 1.0}, {(0, 1): 1.0}], {(1, 0): 3 / 7, (0, 1): 3 / 7, (0, 0): 1 / 7}
    elif name == "mixDUMP":
        eye = [tuple(row) for row in np.eye(3, dtype=int).tolist()]
        inputs = [{eye[y]: 0.6 if x == y else 0.2 for y in range(3)} for x in (0, 1)]
        noise = dict.fromkeys(eye, 1 / 3)
    else:

        def bits(held):
            chance = [0.7 if j == held else 0.3 for j in range(3)]
            return {
                y: math.prod(c if b else 1 - c for b, c in zip(y, chance, strict=True))
                for y in product((0, 1), repeat=3)
            }

        inputs, noise = [bits(0), bits(1)], bits(None)
    distribution = Counter({(0,) * len(next(iter(noise))): 1.0})
    for single in (*inputs, noise, noise):
        longer = Counter()
        for seen, mass in distribution.items():
            for y, chance in single.items():
                longer[tuple(a + b for a, b in zip(seen, y, strict=True))] += mass * chance
        distribution = longer
    return distribution


TINY = {
    "coin": PROTOCOLS["coin"],
    "special bins": randomizers.balls_into_bins(d=7, s=3),
    "fake users": randomizers.cheu_zhilyaev(d=3, flip=0.3),
    "mixDUMP": randomizers.mix_dump(d=3, flip=0.4),
}


@pytest.mark.parametrize("name", TINY)
def test_mean_and_variance_are_exact(name):
    protocol, distribution = TINY[name], exact_supports(name)
    masses = np.array(list(distribution.values()))
    estimates = protocol.frequencies(np.array(list(distribution)), n=2, blanket=2)
    mean = masses @ estimates
    truth = np.array([0.5, 0.5, 0.0][: protocol.items])
    assert np.allclose(mean, truth, atol=1e-12)
    variance = masses @ (estimates - mean) ** 2
    assert np.allclose(protocol.variance(truth, n=2, blanket=2), variance, rtol=1e-10)


@pytest.mark.parametrize("drawn", ["messages", "counts"])
@pytest.mark.parametrize("name", TINY)
def test_joint_distribution_of_supports(name, drawn):
    """Both ways of running a protocol, against enumeration of all outputs of two users."""
    protocol, rng, runs = TINY[name], np.random.default_rng(7), 2_500
    if drawn == "counts":
        counts = np.array([1, 1, 0][: protocol.items])
        seen = protocol.draw_supports(counts, 2, runs, rng)
    else:
        whole = estimation.MultiMessageProtocol(protocol, n=2, each=1)
        seen = [protocol.supports(whole.reports([0, 1], rng)) for _ in range(runs)]
    distribution = exact_supports(name)
    found = Counter(tuple(int(c) for c in row) for row in seen)
    assert set(found) <= set(distribution)
    cells = [key for key in distribution if distribution[key] * runs >= 5]
    observed = [found[key] for key in cells]
    expected = [distribution[key] * runs for key in cells]
    rest = runs - sum(observed), runs - sum(expected)
    if rest[1] > 1:
        observed, expected = [*observed, rest[0]], [*expected, rest[1]]
    scale = sum(observed) / sum(expected)
    assert chisquare(observed, np.array(expected) * scale).pvalue > 1e-4


def test_run_states_what_is_certified():
    protocol = estimation.MultiMessageProtocol(PROTOCOLS["bins"], n=1_000, each=4, delta=1e-5)
    data = population(PROTOCOLS["bins"], 1_000)
    result = protocol.run(data, np.random.default_rng(3))
    profile = multi_message.shuffle_messages(PROTOCOLS["bins"], n=1_000, blanket=4_000)
    assert result.epsilon.upper == profile.epsilon(delta=1e-5).upper
    truth = np.bincount(data) / 1_000
    assert np.all(np.abs(result.value - truth) < 5 * result.standard_error)
    assert np.allclose(result.standard_error, np.sqrt(protocol.variance(data)))  # does not depend on the data


def least_flip(**at):
    """Return nearly the least flip probability that is proved to give ε = 0.5 at δ = 1e-6."""

    def above(flip):
        protocol = randomizers.cheu_zhilyaev(d=16, flip=flip)
        delta = multi_message.shuffle_messages(protocol, **at).delta(0.5).upper
        return math.log(max(delta, 1e-300) / 1e-6)

    return brentq(above, 1e-7, 0.499, rtol=1e-4)


def test_error_falls_with_messages_to_the_central_one():
    errors, evenly = [], np.full(16, 1 / 16)  # the variance does not depend on the data
    for each in (1, 4, 16, 64, 256):
        at = {"n": 5_000, "blanket": 5_000 * each}
        flip = least_flip(**at)
        variance = randomizers.cheu_zhilyaev(d=16, flip=flip).variance(evenly, **at)
        errors.append(estimation.normal_absolute_error(variance))
    assert all(more < less for less, more in zip(errors, errors[1:], strict=False))
    assert 0.97 < errors[4] / errors[3] < 1.0


# ---- bad input


def test_wrong_data_is_refused():
    protocol = estimation.MultiMessageProtocol(PROTOCOLS["bins"], n=3, each=2)
    rng = np.random.default_rng(1)
    for bad in ([0, 1], [0, 1, 5], [0, 1, -1], [0.5, 1, 2], [], ["0", "1", "2"], [math.nan, 0, 1]):
        with pytest.raises((TypeError, ValueError)):
            protocol.run(bad, rng)
    with pytest.raises(TypeError, match="rng"):
        protocol.run([0, 1, 2], 7)
    with pytest.raises(TypeError, match="multi-message"):
        estimation.MultiMessageProtocol(randomizers.binary_rr(eps0=1.0), n=3, each=2)
    with pytest.raises(ValueError, match="frequency"):
        PROTOCOLS["bins"].variance([0.5, 0.5], n=3, blanket=4)
    with pytest.raises(ValueError, match="messages"):
        PROTOCOLS["bins"].estimate([0, 9], n=1)

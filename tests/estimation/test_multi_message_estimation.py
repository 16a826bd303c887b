"""Histograms from many messages per user: unbiased, with the stated variance, drawn with the right pmf."""

import math
from collections import Counter

import numpy as np
import pytest

from goodness_of_fit import p_value
from oracles import multi_message as oracle
from shufflelib import estimation, randomizers
from shufflelib.shuffling import multi_message

BINS = randomizers.balls_into_bins(d=5)


def population(protocol, n):
    """Unequal shares, the last item rare."""
    shares = 1.0 / np.arange(1, protocol.items + 1)
    return np.repeat(np.arange(protocol.items), estimation.apportion(shares / shares.sum(), n))


def exact_supports(name):
    """Pmf of the supports of one user who holds item 0, one who holds 1, and one blanket message each."""
    protocol, inputs, noise = oracle.PROTOCOLS[name]
    distribution = Counter()
    for messages, mass in oracle.multisets([inputs[0], inputs[1], noise, noise]).items():
        distribution[tuple(protocol.supports(np.array(messages)).tolist())] += float(mass)
    return distribution


def first_two(protocol):
    """Return the numbers of users who hold each item: one holds item 0, one holds item 1."""
    return np.eye(protocol.items, dtype=int)[:2].sum(axis=0)


@pytest.mark.parametrize("name", oracle.PROTOCOLS)
def test_mean_and_variance_are_exact(name):
    protocol, distribution = oracle.PROTOCOLS[name][0], exact_supports(name)
    masses = np.array(list(distribution.values()))
    estimates = protocol.frequencies(np.array(list(distribution)), n=2, dummy_messages=2)
    mean = masses @ estimates
    truth = first_two(protocol) / 2
    assert np.allclose(mean, truth, atol=1e-12)
    variance = masses @ (estimates - mean) ** 2
    assert np.allclose(protocol.variance(truth, n=2, dummy_messages=2), variance, rtol=1e-10)


@pytest.mark.parametrize("drawn", ["messages", "counts"])
@pytest.mark.parametrize("name", oracle.PROTOCOLS)
def test_joint_distribution_of_supports(name, drawn):
    """Both ways of running a protocol, against enumeration of all outputs of two users."""
    protocol, rng, runs = oracle.PROTOCOLS[name][0], np.random.default_rng(7), 2_500
    if drawn == "counts":
        seen = protocol.draw_supports(first_two(protocol), 2, runs, rng)
    else:
        whole = estimation.MultiMessageProtocol(protocol, n=2, each=1)
        seen = [protocol.supports(whole.reports([0, 1], rng)) for _ in range(runs)]
    distribution = exact_supports(name)
    found = Counter(tuple(int(c) for c in row) for row in seen)
    assert set(found) <= set(distribution)
    assert p_value([found[key] for key in distribution], list(distribution.values())) > 1e-4


def test_run_states_what_is_certified():
    protocol = estimation.MultiMessageProtocol(BINS, n=1_000, each=4, delta=1e-5)
    data = population(BINS, 1_000)
    result = protocol.run(data, np.random.default_rng(3))
    profile = multi_message.shuffle_messages(BINS, n=1_000, dummy_messages=4_000)
    assert result.epsilon.upper == profile.epsilon(delta=1e-5).upper
    truth = np.bincount(data) / 1_000
    assert np.all(np.abs(result.value - truth) < 5 * result.standard_error)
    assert np.allclose(result.standard_error, np.sqrt(protocol.variance(data)))  # does not depend on the data


# ---- bad input


def test_wrong_data_is_refused():
    protocol = estimation.MultiMessageProtocol(BINS, n=3, each=2)
    rng = np.random.default_rng(1)
    for bad in ([0, 1], [0, 1, 5], [0, 1, -1], [0.5, 1, 2], [], ["0", "1", "2"], [math.nan, 0, 1]):
        with pytest.raises((TypeError, ValueError)):
            protocol.run(bad, rng)
    with pytest.raises(TypeError, match="rng"):
        protocol.run([0, 1, 2], 7)
    with pytest.raises(TypeError, match="multi-message"):
        estimation.MultiMessageProtocol(randomizers.binary_rr(eps0=1.0), n=3, each=2)
    with pytest.raises(ValueError, match="frequency"):
        BINS.variance([0.5, 0.5], n=3, dummy_messages=4)
    with pytest.raises(ValueError, match="messages"):
        BINS.estimate([0, 9], n=1)

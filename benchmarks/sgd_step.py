"""One step of private training: a whole block at once beside one example after the other.

A step takes the gradients of a block's examples, clips each in the l1 norm, averages, adds Laplace noise and
moves the parameters.  The peer does as Algorithm 1 of Chen, Cao, Ge reads: it forms each example's gradient,
clips it and adds it up.  Both use the same noise and must arrive at the same parameters.
"""

import numpy as np

from benchmarks.runner import Benchmark, Case, Peer
from shufflelib.sgd import LaplaceBlocks, Network

WIDTHS, STEP_SIZE, EPS0, CLIP, SEED = (60, 100, 10), np.float32(0.05), 2.0, 10.0, 0


def step(network, reports, parameters, features, labels):
    """Return the parameters after one step of ours."""
    gradients = network.gradients(parameters, features, labels)
    return parameters - STEP_SIZE * reports.report(gradients, network, 0, np.random.default_rng(SEED))


def step_by_examples(network, reports, parameters, features, labels):
    """Return the parameters after one step, example by example."""
    (w1, b1), (w2, b2) = network.layers(parameters)
    total = np.zeros(network.size)
    for x, y in zip(features, labels, strict=True):
        hidden = np.maximum(0.0, x @ w1 + b1)
        scores = hidden @ w2 + b2
        error = np.exp(scores - scores.max())
        error /= error.sum()
        error[y] -= 1.0
        back = (w2 @ error) * (hidden > 0)
        gradient = np.concatenate([np.outer(x, back).ravel(), back, np.outer(hidden, error).ravel(), error])
        total += gradient / max(1.0, np.abs(gradient).sum() / CLIP)
    noise = np.random.default_rng(SEED).laplace(0.0, 2.0 * CLIP / (len(labels) * EPS0), network.size)
    return parameters - STEP_SIZE * (total / len(labels) + noise).astype(np.float32)


def case(block_size):
    """Take one step of a network with a hidden layer on random examples."""
    rng = np.random.default_rng(SEED)
    network = Network(WIDTHS)
    reports = LaplaceBlocks(eps0=EPS0, clip=CLIP, blocks=1, block_size=block_size)
    features = rng.normal(size=(block_size, WIDTHS[0])).astype(np.float32)
    given = network, reports, network.initial(rng), features, rng.integers(WIDTHS[-1], size=block_size)
    peer = Peer(
        "term by term",
        lambda answer: step_by_examples(*given),
        lambda answer, theirs: bool(np.allclose(answer, theirs, rtol=1e-3, atol=1e-5)),
    )
    return Case(ours=lambda: step(*given), peers=(peer,))


BENCHMARK = Benchmark(
    name="sgd_step",
    title="One step of private SGD",
    grows="examples in a block",
    sizes=(10, 30, 100, 300, 1000, 3000, 10**4),
    quick=(10,),
    case=case,
)

"""One epoch of training on n examples in blocks of a hundred: private, and without clipping and noise."""

import numpy as np

from benchmarks.runner import Benchmark, Case, Peer
from benchmarks.sgd_step import CLIP, EPS0, SEED, STEP_SIZE, WIDTHS
from shufflelib.sgd import LaplaceBlocks, Network, PlainBlocks, Training

BLOCK = 100


def case(n):
    """Train a network with a hidden layer for one epoch on random examples."""
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(n, WIDTHS[0])).astype(np.float32)
    labels = rng.integers(WIDTHS[-1], size=n)

    def epoch(reports):
        run = Training(reports, Network(WIDTHS), features, labels, step_size=float(STEP_SIZE), seed=SEED)
        return run.run(1).epochs

    blocks = {"blocks": n // BLOCK, "block_size": BLOCK}
    private, plain = LaplaceBlocks(eps0=EPS0, clip=CLIP, **blocks), PlainBlocks(**blocks)
    peer = Peer("without privacy", lambda answer: epoch(plain), lambda answer, theirs: answer == theirs == 1)
    return Case(ours=lambda: epoch(private), peers=(peer,))


BENCHMARK = Benchmark(
    name="sgd_epoch",
    title="One epoch of private SGD",
    grows="examples",
    sizes=(10**3, 3000, 10**4, 3 * 10**4, 10**5),
    quick=(200,),
    case=case,
)

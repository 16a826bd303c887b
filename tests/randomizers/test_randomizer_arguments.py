"""What ``sample`` and ``estimate`` refuse, and what randomizers do at the ends of their domains."""

import numpy as np
import pytest

from oracles.populations import ESTIMATED, population
from shufflelib import randomizers


def name_of(value):
    return getattr(value, "__name__", None)


@pytest.mark.parametrize(("constructor", "arguments", "name"), [
    (randomizers.subset, {"d": 4, "k": 4}, "k"),
    (randomizers.subset, {"d": 4, "k": 0}, "k"),
    (randomizers.subset_exponential, {"d": 6, "s": 3, "k": 4}, "k"),
    (randomizers.subset_exponential, {"d": 3, "s": 2}, "d"),
    (randomizers.sampled_rappor, {"d": 100, "s": 9}, "s"),
    (randomizers.sampled_rappor, {"d": 3, "s": 2}, "d"),
    (randomizers.pckv_grr, {"d": 3, "s": 4}, "s"),
    (randomizers.privkv, {"d": 3, "s": 4}, "s"),
    (randomizers.privkv, {"d": 3, "s": 1, "eps1": 1.0}, "eps1"),
    (randomizers.privkv, {"d": 3, "s": 1, "eps1": "0.5"}, "eps1"),
    (randomizers.local_hash, {"d": 4, "l": 1}, "l"),
    (randomizers.local_hash, {"d": 4, "l": 2**33}, "l"),
    (randomizers.collision, {"d": 4, "s": 2, "l": 2}, "l"),
    (randomizers.collision, {"d": 3, "s": 2}, "d"),
    (randomizers.wheel, {"d": 4, "s": 2, "arc": 0.5}, "arc"),
    (randomizers.wheel, {"d": 4, "s": 2, "arc": 0.0}, "arc"),
    (randomizers.hadamard_blocks, {"K": 12, "s": 3, "B": 2}, "K"),
    (randomizers.hadamard_blocks, {"K": 9, "s": 2, "B": 2}, "K"),
    (randomizers.hadamard_blocks, {"K": 8, "s": 1, "B": 2}, "s"),
    (randomizers.hadamard_blocks, {"K": 8, "s": 4, "B": 1}, "B"),
], ids=name_of)  # fmt: skip
def test_inconsistent_sizes(constructor, arguments, name):
    with pytest.raises((ValueError, TypeError), match=f"{name} must"):
        constructor(eps0=1.0, **arguments)


BAD_VALUES = {
    "items": ([-1, 0], [0, 6], [0.5], [float("nan")], ["a"], [True, False], [[0, 1]], 3, [], None, "0"),
    "sets": ([[0, 0, 1]], [[0, 1]], [0, 1, 2], [[0, 1, 9]], [[0, 1, -1]], [[0.5, 1, 2]], None, []),
    "numbers": ([2.0], [-1.5], [float("nan")], [float("inf")], ["a"], [[0.1], [0.2]], 0.5, None, []),
    "keyed": (
        [0, 1, 2],
        None,
        ([[0, 1, 2]], [[2.0, 0.0, 0.0]]),
        ([[0, 1, 2]], [[float("nan"), 0.0, 0.0]]),
        ([[0, 0, 2]], [[0.0, 0.0, 0.0]]),
        ([[0, 1, 2], [0, 1, 2]], [[0.0, 0.0, 0.0]]),
        ([[0, 1, 9]], [[0.0, 0.0, 0.0]]),
    ),
}
HOLDERS = {
    "items": ("generalized_rr", "rappor", "dbitflip", "optimized_unary", "subset", "local_hash", "hadamard"),
    "sets": ("sampled_rappor", "subset_exponential", "collision", "wheel"),
    "numbers": ("laplace", "gaussian", "piecewise", "duchi", "harmony"),
    "keyed": ("pckv_grr", "privkv"),
}
WRONG_INPUTS = [
    (mechanism, bad)
    for kind, names in HOLDERS.items()
    for mechanism in ESTIMATED
    if type(mechanism).__name__ in names and not (kind == "numbers" and getattr(mechanism, "d", 1) > 1)
    for bad in BAD_VALUES[kind]
]


def test_sample_and_estimate_refuse_by_name():
    rng = np.random.default_rng(0)
    assert len(WRONG_INPUTS) > 100
    for mechanism, bad in WRONG_INPUTS:
        with pytest.raises((ValueError, TypeError), match="^x"):
            mechanism.sample(bad, rng)
    for mechanism in ESTIMATED:
        x, _ = population(mechanism, rng, 10)
        for generator in (None, 0, np.random.RandomState(0)):
            with pytest.raises(TypeError, match="rng.*default_rng"):
                mechanism.sample(x, generator)
        for reports in (None, [], "reports", [float("nan")]):
            with pytest.raises((ValueError, TypeError), match="^reports"):
                mechanism.estimate(reports)


def test_estimate_refuses_foreign_reports():
    for mechanism, reports in [
        (randomizers.generalized_rr(eps0=1.0, d=4), [4]),
        (randomizers.rappor(eps0=1.0, d=4), [[0, 1, 2, 0]]),
        (randomizers.dbitflip(eps0=1.0, k=4, d=2), [[1, 1, 0, 0]]),
        (randomizers.dbitflip(eps0=1.0, k=4, d=2), [[0, 1, 2, 0]]),
        (randomizers.dbitflip(eps0=1.0, k=4, d=2), [[0, 4, 1, 0]]),
        (randomizers.dbitflip(eps0=1.0, k=4, d=2), [[0, 1, 1]]),
        (randomizers.subset(eps0=1.0, d=4, k=2), [[1, 1]]),
        (randomizers.local_hash(eps0=1.0, d=4), np.zeros(3, dtype=int)),
        (randomizers.harmony(eps0=1.0, d=4), [[0, 0]]),
        (randomizers.duchi(eps0=1.0, d=2), [[0, 1]]),
        (randomizers.pckv_grr(eps0=1.0, d=4, s=1), [[4, 1]]),
        (randomizers.privkv(eps0=1.0, d=4, s=1), [[-1, 1]]),
    ]:
        with pytest.raises((ValueError, TypeError), match="^reports"):
            mechanism.estimate(reports)


# ---- extremes

MILLION = 10**6
LARGE = {
    randomizers.generic: {},
    randomizers.laplace: {},
    randomizers.piecewise: {},
    randomizers.binary_rr: {},
    randomizers.generalized_rr: {"d": MILLION},
    randomizers.rappor: {"d": MILLION},
    randomizers.optimized_unary: {"d": MILLION},
    randomizers.subset: {"d": MILLION},
    randomizers.local_hash: {"d": MILLION},
    randomizers.hadamard: {"d": MILLION},
    randomizers.hadamard_blocks: {"K": 2**20, "s": 2, "B": 2**18},
    randomizers.sampled_rappor: {"d": MILLION, "s": 8},
    randomizers.pckv_grr: {"d": MILLION, "s": 50},
    randomizers.wheel: {"d": MILLION, "s": 50},
    randomizers.duchi: {"d": MILLION},
    randomizers.harmony: {"d": MILLION},
    randomizers.subset_exponential: {"d": MILLION, "s": 50},
    randomizers.collision: {"d": MILLION, "s": 20},
    randomizers.privkv: {"d": MILLION, "s": 50},
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("eps0", (1e-9, 1.0, 30.0, 700.0))
@pytest.mark.parametrize("constructor", LARGE, ids=name_of)
def test_extremes_neither_overflow_nor_warn(constructor, eps0):
    mechanism = constructor(eps0=eps0, **LARGE[constructor])
    assert 0.0 < mechanism.beta <= 1.0 and np.isfinite(mechanism.p)
    if hasattr(mechanism, "pmf"):
        np.testing.assert_allclose(mechanism.class_masses().sum(axis=1), 1.0, rtol=1e-13)
    for pair in mechanism.input_pairs():
        for ratios in (pair.blanket, *pair.attacks):
            assert (
                np.isfinite(ratios.r0_over_w).all()
                and np.isfinite(ratios.r1_over_w).all()
                and (ratios.w > 0).all()
            )
            for ratio, outside in (
                (ratios.r0_over_w, ratios.r0_outside),
                (ratios.r1_over_w, ratios.r1_outside),
            ):
                assert (ratio * ratios.w).sum() + outside == pytest.approx(1.0, rel=1e-12)
            if eps0 <= 30.0:
                assert max(ratios.r0_outside, ratios.r1_outside) < 1e-290  # underflow, counted as outside
                assert ratios.r0_over_w.max() <= mechanism.p * (1 + 1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [
        randomizers.generalized_rr(eps0=1.0, d=64),
        randomizers.hadamard(eps0=1.0, d=64),
        randomizers.from_pmf(np.where(np.eye(64, dtype=bool), 0.37, 0.01)),
        randomizers.binary_rr(eps0=1.0),
    ],
    ids=repr,
)
def test_counts_of_reports_are_no_reports(mechanism):
    """64 counts of 500 users are whole numbers below 64, as reports are."""
    d = len(mechanism.pmf())
    counts = np.bincount(np.arange(500) % d, minlength=d) if d > 2 else np.array([1, 0])
    with pytest.raises(ValueError, match=f"reports has {d} entries.*pass n={d}"):
        mechanism.estimate(counts)
    with pytest.raises(ValueError, match="reports must hold n = 500 reports, one for each user, got"):
        mechanism.estimate(counts, n=500)
    rng = np.random.default_rng(0)
    reports = mechanism.sample(np.arange(d), rng)
    assert mechanism.estimate(reports, n=d).shape == (d,)
    assert mechanism.estimate(np.tile(reports, 3)) == pytest.approx(mechanism.estimate(reports, n=d))
    if not mechanism.has_worst_pair:
        return
    both = randomizers.joint([mechanism, mechanism])  # whose parts may get as many reports by chance
    assert both.estimate(both.sample((np.arange(d), np.arange(d)), rng))[0].shape == (d,)

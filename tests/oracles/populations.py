"""Randomizers that can be run, and users for each of them."""

import numpy as np

from shufflelib import randomizers


def random_sets(rng, n, d, s):
    return np.argsort(rng.random((n, d)) + np.linspace(0, 0.4, d), axis=1)[:, :s]


def item_counts(x, d):
    return np.bincount(np.ravel(x), minlength=d) / len(x)


ESTIMATED = [
    randomizers.binary_rr(eps0=1.0),
    randomizers.generalized_rr(eps0=1.0, d=6),
    randomizers.rappor(eps0=1.0, d=6),
    randomizers.optimized_unary(eps0=1.0, d=6),
    randomizers.dbitflip(eps0=1.0, k=6, d=2),
    randomizers.dbitflip(eps0=1.0, k=6, d=6),
    randomizers.sampled_rappor(eps0=1.0, d=7, s=3),
    randomizers.subset(eps0=1.0, d=6),
    randomizers.subset_exponential(eps0=1.0, d=8, s=3, k=3),
    randomizers.pckv_grr(eps0=1.0, d=6, s=3),
    randomizers.local_hash(eps0=1.0, d=6),
    randomizers.collision(eps0=1.0, d=7, s=3),
    randomizers.wheel(eps0=1.0, d=7, s=3),
    randomizers.hadamard(eps0=1.0, d=6),
    randomizers.hadamard_blocks(eps0=1.0, K=12, s=2, B=3),
    randomizers.laplace(eps0=1.0),
    randomizers.gaussian(sigma=1.0),
    randomizers.piecewise(eps0=1.0),
    randomizers.duchi(eps0=1.0),
    randomizers.duchi(eps0=1.0, d=2),
    randomizers.duchi(eps0=1.0, d=4),
    randomizers.duchi(eps0=1.0, d=5),
    randomizers.harmony(eps0=1.0),
    randomizers.harmony(eps0=1.0, d=3),
    randomizers.privkv(eps0=1.5, d=6, s=3, eps1=0.7),
]


def population(mechanism, rng, n):
    """Return users' values and the statistic that `estimate` must hit."""
    name = type(mechanism).__name__
    if name in ("pckv_grr", "privkv"):
        keys, held = random_sets(rng, n, mechanism.d, mechanism.s), rng.uniform(-1, 1, (n, mechanism.s)) ** 2
        return (keys, held), np.array([item_counts(keys, mechanism.d),
                                       np.bincount(keys.ravel(), held.ravel(), mechanism.d) / n])  # fmt: skip
    if name in ("laplace", "gaussian", "piecewise", "duchi", "harmony"):
        d = getattr(mechanism, "d", 1)
        x = rng.random((n, d)) ** np.arange(1, d + 1)
        x = np.round(x) if name == "gaussian" else x
        return (x[:, 0], x[:, 0].mean()) if d == 1 else (x, x.mean(axis=0))
    if name == "dbitflip":
        x = random_sets(rng, n, mechanism.k, 1)[:, 0]
        return x, item_counts(x, mechanism.k)
    sets_held = name in ("sampled_rappor", "subset_exponential", "collision", "wheel")
    x = random_sets(rng, n, mechanism.d, mechanism.s if sets_held else 1)
    return (x if sets_held else x[:, 0]), item_counts(x, mechanism.d)

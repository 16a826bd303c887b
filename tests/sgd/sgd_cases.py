"""Blocks of examples for tests of shuffled SGD, random and adversarial, and whole gradients from factors."""

import numpy as np

import oracles
from shufflelib.sgd import Network

RNG = np.random.default_rng
WIDTHS = [(5, 3), (5, 7, 3), (6, 8, 4, 5), (3, 1, 2)]


def block(widths, size, seed=0, dtype=np.float32, spread=1.0):
    rng = RNG(seed)
    features = (spread * rng.normal(size=(size, widths[0]))).astype(dtype)
    parameters = rng.normal(size=Network(widths).size).astype(dtype)
    return parameters, features, rng.integers(widths[-1], size=size)


def single(gradients, j):
    """Return example j's gradient as one vector in double precision, from the outer products."""
    parts = []
    for a, d in zip(gradients.inputs, gradients.errors, strict=True):
        parts += [np.outer(a[j].astype(float), d[j].astype(float)).ravel(), d[j].astype(float)]
    return np.concatenate(parts)


def adversarial(widths, case):
    parameters, features, labels = block(widths, 30)
    if case == "huge features":
        features[::3] *= np.float32(1e37)
    elif case == "huge parameters":
        parameters *= np.float32(1e25)
    elif case == "both":
        parameters, features = parameters * np.float32(1e20), features * np.float32(1e36)
    elif case == "tiny features":
        features *= np.float32(1e-38)
    elif case == "one far out":
        features[7] = 1e12
    return parameters, features, labels


CASES = ["random", "huge features", "huge parameters", "both", "tiny features", "one far out"]


def gaussian_delta(mu, eps):
    return float(oracles.gaussian_delta(mu, eps))

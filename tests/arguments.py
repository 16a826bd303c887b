"""What an argument means wherever it occurs: one good value, and where drawn ones lie.

Drawn numbers lie evenly in their logarithm, ends included.  What may be refused is part of the range on
purpose: a refusal is an answer too, provided that it is a good one.
"""

import math

from hypothesis import strategies as st

from shufflelib import profiles, randomizers, sgd
from shufflelib.profiles import DiscretePair, Gaussian

TEN = randomizers.generalized_rr(eps0=1.0, d=10)
CURVE = profiles.GaussianTradeoff(1.0)


def between(low, high, *ends):
    """Numbers whose logarithm is uniform, both ends of the range and others among them."""
    inside = st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))
    return st.one_of(inside, inside, inside, st.sampled_from((low, high, *ends)))


def whole(low, high, *ends):
    return between(low, high, *ends).map(round)


def several(one, least=2, most=5):
    return st.lists(one, min_size=least, max_size=most)


SHARES = st.one_of(between(1e-12, 0.5), between(1e-12, 0.5).map(lambda x: 1.0 - x))
DELTA = st.one_of(between(1e-300, 0.5), between(1e-12, 0.5), between(1e-12, 0.5).map(lambda x: 1.0 - x))
EPS0 = st.one_of(between(1e-12, 700.0), between(0.01, 20.0))
EPS = st.one_of(st.just(0.0), between(1e-12, 700.0), between(1e-3, 3.0))
ORDER = st.one_of(between(1e-15, 1e6).map(lambda x: 1.0 + x), st.integers(2, 40))
USERS = st.one_of(whole(1, 10**15), st.integers(1, 60))
WEIGHTS = several(between(1e-6, 1.0)).map(lambda w: [x / math.fsum(w) for x in w])

ARGUMENTS = {
    "a": (0.5, between(1e-9, 100.0)),
    "alternative_weights": ([0.5, 0.5], WEIGHTS),
    "B": (2, None),
    "beta": (0.3, st.one_of(st.just(0.0), between(1e-9, 1.0))),
    "betas": ([0.2, 0.3], several(between(1e-9, 1.0))),
    "dummy_messages": (1000, whole(1, 10**14)),
    "block_size": (5, None),
    "blocks": (10, None),
    "bound": (0.5, between(1e-6, 20.0)),
    "branching": (2, None),
    "brim": (10.0, between(1e-3, 1e3)),
    "chi": (2.0, between(1e-12, 1e12)),
    "chance": (0.25, SHARES),
    "client": (1, None),
    "clip": (1.0, between(1e-6, 100.0)),
    "cohorts": (2, whole(1, 100)),
    "coin": (0.5, SHARES),
    "d": (16, st.one_of(whole(2, 10**6), st.integers(2, 40))),
    "d01": (1.0, between(1e-9, 100.0)),
    "delta": (0.01, DELTA),
    "delta0": (1e-9, DELTA),
    "density": (0.7, None),
    "distance": (1, None),
    "dmax": (1.0, between(1e-9, 100.0)),
    "dots": (5, None),
    "each": (4, None),
    "epochs": (2, None),
    "eps": (0.5, EPS),
    "eps0": (1.0, EPS0),
    "exponent": (1.0, None),
    "f": (CURVE, None),
    "flip": (0.25, SHARES),
    "fpr": (0.1, st.one_of(st.sampled_from((0.0, 1.0)), DELTA)),
    "functions": ([CURVE, CURVE], None),
    "height": (1.0, between(1e-6, 100.0)),
    "high": (1.0, None),
    "inputs": (2, None),
    "K": (16, None),
    "k": (3, None),
    "labels": (3, st.one_of(whole(1, 10**15), st.integers(1, 60))),
    "log_p": ([math.log(0.25), math.log(0.75)], None),
    "log_q": ([math.log(0.5), math.log(0.5)], None),
    "low": (0.0, None),
    "matrix": ([[0.25, 0.75], [0.5, 0.5]], None),
    "mean": (0.5, between(1e-9, 100.0)),
    "mean_per_user": (0.5, between(1e-9, 1e6)),
    "messages": (1000, whole(1, 10**14)),
    "mu": (1.0, between(1e-9, 1e4)),
    "n": (100, USERS),
    "neighbours": ("replace", None),
    "noise": (1.0, None),
    "noise_multiplier": (1.0, None),
    "order": (2, ORDER),
    "p": (3.0, st.one_of(st.just(math.inf), between(1e-9, 1e300).map(lambda x: 1.0 + x))),
    "pair": (DiscretePair([0.0], [0.0]), None),
    "profile": (Gaussian(0.1), None),
    "profiles": ([Gaussian(0.1), Gaussian(0.2)], None),
    "q": (3.0, between(1.0, 1e300)),
    "q0": (3.0, between(1.0, 1e300)),
    "q1": (3.0, None),
    "randomizer": (TEN, None),
    "randomizers": ([TEN, TEN], None),
    "rate": (0.5, between(1e-9, 1.0)),
    "relative": (0.1, None),
    "renyi": (0.1, st.one_of(st.just(math.inf), between(1e-12, 700.0))),
    "reports": (sgd.PlainBlocks(blocks=10, block_size=5), None),
    "rounds": (3, whole(1, 10**6)),
    "s": (4, st.one_of(st.just(1), st.integers(1, 8), whole(1, 10**5))),
    "sensitivity": (2, whole(1, 10**6)),
    "shape_per_user": (0.5, between(1e-6, 1e3)),
    "sigma": (1.0, between(0.03, 1e6)),
    "slack": (0.1, st.one_of(st.sampled_from((0.0, 1.0)), DELTA)),
    "threshold": (3, whole(1, 10**6)),
    "total_delta": (0.5, DELTA),
    "trials": (4, whole(1, 10**15)),
    "value_discretization_interval": (1e-3, between(1e-6, 1.0)),
    "variance": (2.0, between(1.001, 1e4)),
    "weight": (0.25, SHARES),
    "weights": ([0.5, 0.5], WEIGHTS),
}
PLAIN = {name: good for name, (good, _) in ARGUMENTS.items()}
DOMAINS = {name: drawn for name, (_, drawn) in ARGUMENTS.items() if drawn is not None}

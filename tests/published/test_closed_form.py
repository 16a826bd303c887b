"""Published closed forms against the truth: sound where tried, as loose as stated, known failures."""

import inspect
import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

import oracles
from claims import exact_channels, exact_shuffle
from closed_form_cases import DELTAS, GENERIC, PAIR, SPECIFIC, generic_pair, name_of
from shufflelib.published import closed_form
from shufflelib.published.closed_form import BlanketBounds, OutOfRegime


def test_every_closed_form_is_in_a_list():
    offered = {name for name, thing in vars(closed_form).items() if inspect.isfunction(thing)}
    assert {name_of(bound) for bound in (*GENERIC, *SPECIFIC, *PAIR)} | {"over"} == offered


@pytest.mark.parametrize("bound", GENERIC, ids=name_of)
def test_generic_bounds_are_above_the_generic_pair(bound):
    """The generic pair is the blanket pair of binary randomized response: every bound here is above it."""
    tried = 0
    for eps0, delta in itertools.product((1e-3, 0.1, 0.5, 2.0, 6.0, 10.0), (0.9, 0.5, *DELTAS, 9.9e-3)):
        e = math.exp(eps0)
        edges = 16 * e * math.log(4 / delta), 8 * (e + 1) * math.log(2 / delta), 2.0, 30.0, 1000.0, 10**6
        for n in {math.ceil(edge * (1 + 1e-9)) for edge in edges if edge < 1.1e6}:
            try:
                value = bound(eps0=eps0, n=n, delta=delta)
            except OutOfRegime:
                continue
            tried += 1
            assert oracles.float_pair_delta(min(value, eps0), n=n, **generic_pair(eps0)) <= delta
    assert tried > 10


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("pmf", "blanket"),
    [
        (exact_shuffle.randomized_response(3, 2), BlanketBounds.generalized_rr(eps0=math.log(3), d=2)),
        (exact_shuffle.randomized_response(3, 3), BlanketBounds.generalized_rr(eps0=math.log(3), d=3)),
        (exact_shuffle.randomized_response(9, 4), BlanketBounds.generalized_rr(eps0=math.log(9), d=4)),
        (exact_channels.subsets(3, 4, 1, 2), BlanketBounds.extremal(eps0=math.log(3), gamma=0.5)),
        (exact_channels.subsets(3, 4, 1, 2), BlanketBounds.similarity(eps0=math.log(3), gamma=0.5)),
        (exact_channels.subsets(3, 4, 1, 3), BlanketBounds.extremal(eps0=math.log(3), gamma=0.4)),
        (exact_shuffle.randomized_response(3, 3), BlanketBounds.generic(eps0=math.log(3))),
    ],
)
def test_blanket_bounds_against_exact_enumeration(pmf, blanket, n):
    """Exact: at the returned ε the privacy blanket's delta is at most the target."""
    assert float(sum(min(row[y] for row in pmf) for y in range(len(pmf[0])))) >= blanket.gamma - 1e-15
    for bound, delta in itertools.product(SPECIFIC, (F(1, 3), F(1, 20), F(1, 1000))):
        eps = bound(blanket=blanket, n=n, delta=float(delta))
        ratio = F(math.exp(eps)) * (1 + F(1, 10**13))
        assert oracles.blanket_bound(pmf, n, ratio, pairs=[(0, 1)]) <= delta


def random_pairs(seed, count):
    """Adversarial variation-ratio parameters: p to infinity, beta near both ends, 2r near 1, delta near 1."""
    rng = np.random.default_rng(seed)
    while count:
        eps0 = 10.0 ** rng.uniform(-3, 1.2)
        p = math.exp(eps0) if rng.random() < 0.9 else math.inf
        top = 1.0 if p == math.inf else math.tanh(eps0 / 2.0)
        beta = top * rng.choice([1.0, 1.0 - 10.0 ** rng.uniform(-6, 0), 10.0 ** rng.uniform(-3, 0)])
        strong = beta if p == math.inf else beta / (1.0 - 1.0 / p)
        least = max(1.0, 2.0 * strong)
        q = least * 10.0 ** rng.choice([rng.uniform(0, 3), rng.uniform(0, 0.05)])
        if rng.random() < 0.3 and p < math.inf:
            q = max(least, p)
        delta = 0.999 * 10.0 ** rng.uniform(-8, 0) if rng.random() < 0.5 else rng.uniform(0.01, 0.999)
        r, log4 = strong / q, math.log(4.0 / delta)
        start = rng.choice([8.0 * math.log(2.0 / delta) / r, min(6.0 * r, 0.5) * log4 / (4.0 * r * r)])
        n = int(start * (1.0 + 10.0 ** rng.uniform(-3, 1)) + 2)
        if n <= 50_000:
            count -= 1
            yield {"p": p, "beta": beta, "q": q, "n": n, "delta": delta}


def test_asymptotic_bound_is_above_the_pair():
    tried = 0
    for point in random_pairs(seed=48, count=3000):
        try:
            value = closed_form.variation_ratio_asymptotic(**point)
        except OutOfRegime:
            continue
        tried += 1
        delta = point.pop("delta")
        assert oracles.float_pair_delta(value, **point) <= 0.05 * delta
    assert tried > 500

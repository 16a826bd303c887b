"""Published closed forms against the truth: sound where tried, as loose as stated, known failures."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

import oracles
from closed_form_cases import DELTAS, GENERIC, SPECIFIC, generic_pair, name_of
from shufflelib.published import closed_form
from shufflelib.published.closed_form import BlanketBounds, OutOfRegime


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
        (oracles.generalized_rr(3, 2), BlanketBounds.generalized_rr(eps0=math.log(3), d=2)),
        (oracles.generalized_rr(3, 3), BlanketBounds.generalized_rr(eps0=math.log(3), d=3)),
        (oracles.generalized_rr(9, 4), BlanketBounds.generalized_rr(eps0=math.log(9), d=4)),
        (oracles.subset_mechanism(3, 4, 2), BlanketBounds.extremal(eps0=math.log(3), gamma=0.5)),
        (oracles.subset_mechanism(3, 4, 2), BlanketBounds.similarity(eps0=math.log(3), gamma=0.5)),
        (oracles.subset_mechanism(3, 4, 3), BlanketBounds.extremal(eps0=math.log(3), gamma=0.4)),
        (oracles.generalized_rr(3, 3), BlanketBounds.generic(eps0=math.log(3))),
    ],
)
def test_blanket_bounds_against_exact_enumeration(pmf, blanket, n):
    """Exact: at the returned ε the privacy blanket's delta is at most the target."""
    assert float(sum(min(row[y] for row in pmf) for y in range(len(pmf[0])))) >= blanket.gamma - 1e-15
    for bound, delta in itertools.product(SPECIFIC, (F(1, 3), F(1, 20), F(1, 1000))):
        eps = bound(blanket=blanket, n=n, delta=float(delta))
        ratio = F(math.exp(eps)) * (1 + F(1, 10**13))
        assert oracles.blanket_bound(pmf, n, ratio, pairs=[(0, 1)]) <= delta


def test_moments_of_the_extremal_design_are_exact_bounds():
    """The derivation of `BlanketBounds.extremal` against the distribution of L, for the subset mechanism."""
    for e, d, k in itertools.product((F(3, 2), F(3), F(20)), (3, 4, 5), (1, 2, 3)):
        pmf = oracles.subset_mechanism(e, d, k)
        reference = [min(row[y] for row in pmf) for y in range(len(pmf[0]))]
        gamma = sum(reference)
        if k >= d:
            continue
        blanket = BlanketBounds.extremal(eps0=math.log(e), gamma=float(gamma))
        for share in (0.1, 0.5, 0.9):
            eps = share * math.log(e)
            ratio = F(math.exp(eps))
            losses = [gamma * (a - ratio * b) / w for a, b, w in zip(pmf[0], pmf[1], reference, strict=True)]
            second = sum(w / gamma * loss**2 for w, loss in zip(reference, losses, strict=True))
            assert float(max(losses)) == pytest.approx(blanket.b_plus(eps), rel=1e-12)
            assert float(max(losses) - min(losses)) == pytest.approx(blanket.b_range(eps), rel=1e-12)
            assert float(second) <= blanket.c(eps) * (1 + 1e-12)
            if k in (1, d - 1):  # no output likely (unlikely) under both inputs: equality
                assert float(second) == pytest.approx(blanket.c(eps), rel=1e-12)


# eps0, n, blanket ε of 10-ary randomized response, of 100-ary, at delta = 1e-6 (by direct summation)
@pytest.mark.parametrize(
    ("eps0", "n", "ten", "hundred"),
    [(0.1, 10**3, 0.004197, 0.001179), (1.0, 10**6, 0.001854, 0.000544), (4.0, 10**5, 0.109909, 0.068431)],
)
def test_specific_bounds_lie_above_the_blanket_itself(eps0, n, ten, hundred):
    for d, exact in ((10, ten), (100, hundred)):
        blanket = BlanketBounds.generalized_rr(eps0=eps0, d=d)
        hoeffding, bennett = (bound(blanket=blanket, n=n, delta=1e-6) for bound in SPECIFIC)
        assert exact <= bennett <= 1.75 * exact
        assert bennett <= hoeffding
        assert bennett <= closed_form.blanket_bennett(eps0=eps0, n=n, delta=1e-6)


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


def monotone_beyond_omega(*, p, beta, q, n, delta):
    """Return whether K Omega >= g(n-1) + beta/2: the condition that Appendix C needs."""
    strong = beta if p == math.inf else beta / (1.0 - 1.0 / p)
    weak, r = strong - beta, strong / q
    rest = max(0.0, 1.0 - strong - weak)
    g = rest * r / (1.0 - 2.0 * r) if rest > 1e-12 else 0.0
    omega = 2.0 * r * (n - 1) - math.sqrt(min(6.0 * r, 0.5) * (n - 1) * math.log(4.0 / delta))
    return (0.5 * (strong + weak) - g) * omega >= g * (n - 1) + 0.5 * beta


def test_analytic_bound_is_above_the_pair_where_its_proof_holds():
    tried, violations = 0, 0
    for point in random_pairs(seed=47, count=6000):
        try:
            value = closed_form.variation_ratio_analytic(**point)
        except OutOfRegime:
            continue
        parameters = {key: number for key, number in point.items() if key != "delta"}
        below = oracles.float_pair_delta(value, **parameters) > point["delta"]
        if monotone_beyond_omega(**point):
            tried += 1
            assert not below, point
        violations += below
    assert tried > 500
    assert violations > 50  # elsewhere in the printed regime the theorem fails in bulk


# p, beta, q, n, delta, published bound, exact ε
WITNESSES = [
    (1000, F(24, 25), 2, 3, F(1, 10), 0.7803953256, 6.3085404),
    (100, F(43, 50), 2, 5, F(1, 100), 0.6025652837, 4.2144250),
    (3, F(1, 3), 3, 28, F(1, 100), 0.1764799561, 0.2945665),
    (3, F(1, 3), 3, 49, F(1, 10**4), 0.1643255953, 0.4693053),
    (3, F(1, 6), 3, 358, F(1, 10**8), 0.0157109054, 0.2015603),
]


@pytest.mark.parametrize(("p", "beta", "q", "n", "delta", "printed", "truth"), WITNESSES)
def test_finding_analytic_bound_below_the_exact_value(p, beta, q, n, delta, printed, truth):
    """Theorem 4.7 inside its printed regime: the bound, and what the pair really has (kept as published)."""
    point = {"p": float(p), "beta": float(beta), "q": float(q), "n": n, "delta": float(delta)}
    value = closed_form.variation_ratio_analytic(**point)
    assert value == pytest.approx(printed, rel=1e-8)
    assert not monotone_beyond_omega(**point)
    if n < 50:  # exact: fractions, no tolerance (the ratio is rounded up)
        masses = oracles.pair_masses(n=n, p=p, beta=beta, q0=q)
        assert oracles.both_ways(masses, F(math.exp(value)) * (1 + F(1, 10**12))) > delta
        assert oracles.both_ways(masses, F(math.exp(truth))) == pytest.approx(float(delta), rel=1e-5)
    else:
        pair = {key: number for key, number in point.items() if key != "delta"}
        assert oracles.float_pair_epsilon(float(delta), **pair) == pytest.approx(truth, rel=1e-6)


def test_finding_analytic_bound_is_violated_by_a_real_mechanism():
    """4-ary randomized response, exp(eps0) = 3, n = 28, all others holding a third value: exact."""
    value = closed_form.variation_ratio_analytic(p=3.0, beta=1 / 3, q=3.0, n=28, delta=0.01)
    truth = oracles.shuffled_hockey_stick(
        oracles.generalized_rr(3, 4), 0, 1, (2,) * 27, F(math.exp(value)) * (1 + F(1, 10**12))
    )
    assert truth > F(28, 1000)

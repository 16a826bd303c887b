"""Rényi lattice sums: enclosed, narrow, and sound even where the window and the stride are bad."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

import oracles
from shufflelib import randomizers, shuffle
from shufflelib.profiles import renyi_lattice_sum
from shufflelib.profiles.renyi_lattice_sum import RenyiSum
from shufflelib.shuffling import BlanketPair, VariationRatioPair

CASES = oracles.reference("clone_pair")


def generic(n, eps0):
    ratio = math.exp(eps0)
    return VariationRatioPair(n=n, p=ratio, beta=(ratio - 1) / (ratio + 1), q0=ratio)


def supported(pair):
    return BlanketPair(pair.ratios, pair.n)


def by_addition(ratios, n, order):
    """D from every lattice point, in plain floating point; the distribution has two or three values."""
    u, v, m = (np.append(part, 0.0)[:3] for part in (ratios.r0_over_w, ratios.r1_over_w, ratios.w))
    flat = abs(1.0 - ratios.w.sum()) < 1e-12 and ratios.w.size == 2
    a = np.arange(n + 1.0)[:, None]
    b = n - a if flat else np.arange(n + 1.0)[None, :]
    c = n - a - b
    rest = 1.0 - m[0] - m[1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_mass = gammaln(n + 1) - gammaln(a + 1) - gammaln(b + 1) + a * np.log(m[0]) + b * np.log(m[1])
        if not flat:
            log_mass = log_mass - gammaln(c + 1) + c * np.log(rest)
        top, bottom = (w[0] * a + w[1] * b + w[2] * c for w in (u, v))
        r = top / bottom
        # r^λ − 1 − λ(r − 1), by its series where it would cancel
        x = r - 1.0
        small = order * (order - 1) / 2 * x**2 * (1 + (order - 2) / 3 * x * (1 + (order - 3) / 4 * x))
        kernel = np.where(np.abs(x) * order < 1e-3, small, r**order - 1.0 - order * x)
        terms = np.where((c >= 0) & (bottom > 0), np.exp(log_mass) * bottom * kernel, 0.0)
    return math.log1p(terms.sum() / n) / (order - 1)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_reference_rows_lie_inside_a_narrow_bracket(case):
    pair = VariationRatioPair(
        n=int(case["n"]), **{name: float(case[name]) for name in ("p", "beta", "q0", "q1") if name in case}
    )
    for order, *truths in case["renyi"]:
        for one, truth in zip((supported(pair), supported(pair.reversed)), map(float, truths), strict=True):
            lower, upper = one.renyi_directed(float(order))
            assert lower <= truth * (1 + 1e-15) and truth <= upper * (1 + 1e-15)
            # rounding p to a float already moves p − 1
            narrow = 1e-9 if pair.p > 1.01 else 1e-7
            assert math.isinf(truth) or upper - lower <= narrow * truth


DISTRIBUTIONS = {
    "generic": lambda: generic(1500, 1.0).ratios,
    "three values": lambda: VariationRatioPair(n=1500, p=3.0, beta=1 / 3, q0=3.0).ratios,
    "asymmetric": lambda: VariationRatioPair(n=1500, p=4.0, beta=0.3, q0=3.0, q1=2.0).ratios,
    "binary": lambda: shuffle(randomizers.binary_rr(eps0=1.5), n=1500).attack_pairs[0].ratios,
}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 4.0, 17.3])
def test_strided_sum_equals_the_full_sum(distribution, order):
    ratios = DISTRIBUTIONS[distribution]()
    truth = by_addition(ratios, 1500, order)
    lower, upper = BlanketPair(ratios, 1500).renyi_directed(order)
    assert upper - lower <= 1e-9 * upper
    assert lower * (1 - 1e-8) <= truth <= upper * (1 + 1e-8)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("order", [1.5, 4.0, 17.3])
def test_bounds_of_tails_and_aliases_hold_where_they_matter(distribution, order, monkeypatch):
    ratios = DISTRIBUTIONS[distribution]()
    exact = BlanketPair(ratios, 1500).renyi_directed(order)
    truth = math.log(math.expm1((order - 1) * 0.5 * sum(exact)))
    lattice = RenyiSum.of(ratios, 1500)
    cut = crossed = False
    for reach, stride in [(2.0, 0.7), (4.0, 0.7), (12.0, 2.0), (12.0, 3.0), (4.0, 2.0)]:
        lower, upper, *_ = lattice._attempt(order, reach, stride)
        assert lower <= truth + 1e-9 and truth <= upper + 1e-9
        with monkeypatch.context() as patch:  # without its two bounds the sum is wrong
            patch.setattr(renyi_lattice_sum, "log_tails", lambda *_: -math.inf)
            patch.setattr(renyi_lattice_sum, "log_aliases", lambda *_: -1e300)
            lower, upper, *_ = lattice._attempt(order, reach, stride)
        cut |= reach == 2.0 and upper < truth - 1e-9
        crossed |= stride > 1.0 and not lower - 1e-9 <= truth <= upper + 1e-9
    assert cut and crossed


@pytest.mark.parametrize(
    ("pair", "order", "truth"),
    [
        # one outcome alone gives so much: everybody reports the rarer of the two
        ({"n": 601, "p": 1000.0, "beta": 0.5, "q0": 1.5, "q1": 2.0}, 200.0, 3.594894),
        ({"n": 601, "p": 1000.0, "beta": 0.9, "q0": 2.0, "q1": 6.0}, 100.0, 2.07332),
    ],
)
def test_a_peak_in_the_corner_of_the_lattice_is_not_missed(pair, order, truth):
    assert VariationRatioPair(**pair).renyi(order).upper >= truth


@pytest.mark.parametrize("n", [10**3, 10**4, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("eps0", [0.1, 2.0, 6.0])
def test_brackets_are_narrow_at_every_order(n, eps0):
    orders = np.array([1.0001, 1.7, 2.0, 30.0, 1000.0, 1e4])
    bracket = generic(n, eps0).renyi(orders)
    assert np.all(bracket.upper - bracket.lower <= 1e-6 * bracket.upper)
    assert np.all(np.diff(bracket.upper) > 0.0)
    assert np.all(bracket.upper <= eps0 * (1 + 1e-12))

"""Numbers printed in papers, numbers of independent codes, and the reference files."""

import math
from fractions import Fraction as F

import pytest

import oracles
from shufflelib import randomizers, shuffle
from shufflelib.shuffling import VariationRatioPair, blanket_profile


def generic_pair(eps0, n):
    p = math.exp(eps0)
    return VariationRatioPair(n=n, p=p, beta=math.tanh(eps0 / 2), q0=p)


# ---------------------------------------------------------------- independent codes, delta = 1e-6

# eps0, n, generic, 10-RR blanket and attack, 100-RR blanket and attack; printed to six decimals
NUMERICAL = [
    (0.1, 10**3, 0.009917, 0.004197, 0.004197, 0.001179, 0.001179),
    (0.1, 10**6, 0.000200, 0.000077, 0.000077, 0.000017, 0.000017),
    (1.0, 10**3, 0.148671, 0.080162, 0.080132, 0.025471, 0.025470),
    (1.0, 10**6, 0.003514, 0.001854, 0.001854, 0.000544, 0.000544),
    (2.0, 10**3, 0.397088, 0.272767, 0.272649, 0.101209, 0.101199),
    (2.0, 10**6, 0.009517, 0.006597, 0.006597, 0.002346, 0.002346),
    (4.0, 10**3, 1.852908, 1.527445, 1.526898, 0.761217, 0.761164),
    (4.0, 10**6, 0.034280, 0.031882, 0.031882, 0.019792, 0.019792),
]


def close(value, expected):
    """Equal to the six decimals printed, or to 3.5e-5: the 16 digits of `grr_blanket.json` confirm ours."""
    return abs(value - expected) <= max(1.1e-6, 3.5e-5 * expected)


@pytest.mark.parametrize(("eps0", "n", "generic", "above10", "below10", "above100", "below100"), NUMERICAL)
def test_blanket_and_attack_agree_with_an_independent_code(
    eps0, n, generic, above10, below10, above100, below100
):
    assert close(generic_pair(eps0, n).epsilon(1e-6).upper, generic)
    assert close(shuffle(randomizers.generic(eps0=eps0), n=n).epsilon(1e-6).upper, generic)
    for d, above, below in ((10, above10, below10), (100, above100, below100)):
        got = shuffle(randomizers.generalized_rr(eps0=eps0, d=d), n=n).epsilon(1e-6)
        assert close(got.upper, above)
        assert close(got.lower, below)


DENSITIES = [
    (randomizers.laplace(eps0=0.1), 10**3, 0.009743, 0.009521),
    (randomizers.laplace(eps0=1.0), 10**3, 0.13020, 0.11047),
    (randomizers.laplace(eps0=2.0), 10**4, 0.09460, 0.07186),
    (randomizers.laplace(eps0=4.0), 10**4, 0.32810, 0.24451),
    (randomizers.gaussian(sigma=1.0), 10**3, 0.21223, 0.17172),
    (randomizers.gaussian(sigma=2.0), 10**4, 0.02035, 0.01706),
    (randomizers.gaussian(sigma=5.0), 10**4, 0.00641, 0.00591),
]


@pytest.mark.parametrize(("randomizer", "n", "above", "below"), DENSITIES, ids=str)
def test_additive_noise_agrees_with_an_independent_code(randomizer, n, above, below):
    """To the digits printed, up to a discretisation error of 1e-4 on either side."""
    got = shuffle(randomizer, n=n).epsilon(1e-6)
    for value, expected in ((got.upper, above), (got.lower, below)):
        digits = 6 if expected < 0.01 and randomizer.eps0 == 0.1 else 5 if expected < 1 else 4
        assert value == pytest.approx(expected, abs=1.1 * 10.0**-digits, rel=1e-4)


# ---------------------------------------------------------------- reference files


def label(case):
    return " ".join(
        f"{key}={case[key]}" for key in ("name", "exp_eps0", "eps0", "d", "k", "n") if key in case
    )


def within(bracket, value, relative, absolute=0.0):
    """Assert that ``value`` is inside the bracket, up to what rounding the float input alone moves it."""
    slack = relative * abs(value) + absolute
    assert bracket.lower - slack <= value <= bracket.upper + slack


def width(bracket):
    return (bracket.upper - bracket.lower) / bracket.upper if bracket.upper > 0.0 else 0.0


@pytest.mark.parametrize("case", oracles.reference("clone_pair"), ids=label)
def test_clone_pair_reference(case):
    distribution = {key: float(case[key]) for key in ("p", "beta", "q0", "q1")}
    pair = VariationRatioPair(n=case["n"], **distribution)
    # p is a float here: where p - 1 is small, its rounding alone moves the value by more than 1e-9
    allowed = 1e-9 if distribution["p"] > 1.01 else 2e-6
    for eps, forward, backward in case["hockey_stick"]:
        truth, got = max(float(forward), float(backward)), pair.delta(eps)
        within(got, truth, 0.0, 1e-300)
        assert width(got) <= allowed or got.upper < 1e-300
    for order, forward, backward in case["renyi"]:
        truth, got = max(float(forward), float(backward)), pair.renyi(float(order))
        if math.isinf(truth):
            assert got.upper == math.inf
            continue
        within(got, truth, 0.0)
        assert width(got) <= allowed
    for fpr, fnr in case["tradeoff"]:
        got = pair.tradeoff(fpr)
        within(got, float(fnr), 0.0)
        assert got.upper - got.lower <= max(allowed * got.upper, 1e-12)


@pytest.mark.parametrize("case", oracles.reference("grr_exact"), ids=label)
def test_generalized_rr_worst_dataset_reference(case):
    """A value of 17 digits is itself rounded: half a unit is allowed."""
    e, d, n, ratio = case["exp_eps0"], case["d"], case["n"], F(*case["exp_eps"])
    got = blanket_profile(randomizers.generalized_rr(eps0=math.log(e), d=d), n=n).delta(math.log(ratio))
    within(got, case["worst_dataset_delta"], 4e-15, 1e-15)
    assert got.upper == pytest.approx(case["blanket_delta"], rel=1e-9, abs=1e-12)
    if case["variation_ratio_pair_delta"] is not None:
        five = randomizers.generalized_rr(eps0=math.log(e), d=d)
        pair = VariationRatioPair.of(five, n=n).delta(math.log(ratio))
        within(pair, case["variation_ratio_pair_delta"], 4e-15, 1e-15)
        assert pair.lower <= case["worst_dataset_delta"] * (1 + 1e-12)
    generic = shuffle(randomizers.generic(eps0=math.log(e)), n=n).delta(math.log(ratio)).upper
    assert generic == pytest.approx(case["binary_pair_delta"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", oracles.reference("grr_blanket"), ids=label)
def test_generalized_rr_blanket_reference(case):
    randomizer = randomizers.generalized_rr(eps0=case["eps0"], d=case["k"])
    got = blanket_profile(randomizer, n=case["n"]).epsilon(case["delta"])
    assert got.upper == pytest.approx(case["blanket_eps"], rel=1e-6)
    assert got.lower <= case["blanket_eps"] * (1 + 1e-9)

"""Accounting of shuffled SGD: enumerated compositions, simulated attacks, formulas as printed.

The oracles enumerate with exact fractions or draw reports; they share no line with the package.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import oracles
from oracles import neighbours, renyi_formulas
from sgd_cases import gaussian_delta
from shufflelib import sgd
from shufflelib.sgd import accounting

DELTA = 1e-5


def algorithm1(eps0=2.0, blocks=200, block_size=300):
    return sgd.LaplaceBlocks(eps0=eps0, clip=10.0, blocks=blocks, block_size=block_size)


def clients(eps=(0.5, 1.0, 2.0), delta=DELTA, **how):
    return sgd.PersonalClients(eps=list(eps), delta=delta, clip=2.0, client_size=10, **how)


# ---------------------------------------------------------------- one example


@pytest.mark.parametrize("epochs", [1, 2, 5, 8])
@pytest.mark.parametrize("odds", [2, 7])
def test_one_example_is_the_composition_of_randomized_responses(epochs, odds):
    truth = Fraction(odds, odds + 1)
    (masses,) = neighbours.composed(*[[{0: (truth, 1 - truth), 1: (1 - truth, truth)}]] * epochs)
    profile = accounting.one_example(algorithm1(eps0=math.log(odds)), epochs=epochs)
    for expansion in (1, 2, 5, 30):
        exact = float(oracles.hockey_stick(masses, expansion))
        upper = profile.delta(math.log(expansion)).upper
        assert exact * (1 - 1e-9) <= upper <= exact * 1.01 + 1e-9


def test_the_attack_has_the_distribution_of_simulated_reports():
    """Few and close blocks, so that others are often the smallest; the event is one the attacker can see."""
    reports, rng, runs = algorithm1(eps0=1.0, blocks=4, block_size=3), np.random.default_rng(3), 400_000
    centre = np.array([0.0, 3.0, 3.0, 3.0])
    smallest = [(rng.laplace(size=(runs, 4)) + np.r_[moved, centre[1:]]).min(axis=1) for moved in (0.0, 1.0)]
    cells = np.r_[-np.inf, np.linspace(0.0, 1.0, accounting.attacks.CELLS + 1), np.inf]
    p, q = (np.histogram(one, cells)[0] / runs for one in smallest)
    for eps in (0.0, 0.3):
        below = np.cumsum(p - math.exp(eps) * q).max()  # the target's reports are the smaller ones
        beyond = np.cumsum((q - math.exp(eps) * p)[::-1]).max()
        attained = max(below, beyond)
        assert accounting.one_example(reports, epochs=1).delta(eps).lower == pytest.approx(attained, abs=5e-3)


def test_theorem_3_is_below_an_attack_for_blocks_of_several_examples():
    """Table 2 of Chen, Cao, Ge 2024 (Rényi) with eps0 = 2: one epoch and all fifty."""
    reports = algorithm1()
    mu = 2 * math.e / math.sqrt(199)
    one = accounting.one_example(reports, epochs=1)
    assert one.delta(1.0).lower > 0.39 > 400 * gaussian_delta(mu, 1.0)
    assert one.renyi(4.0).lower > 5 * accounting.theorem3_renyi_ccg24(reports, epochs=1, order=4.0)
    fifty = accounting.one_example(reports, epochs=50).epsilon(DELTA)
    published = accounting.theorem3_epsilon_ccg24(reports, epochs=50, delta=DELTA)
    assert 14.7 < published < 14.8 and 88 < fifty.lower < fifty.upper < 100


# ---------------------------------------------------------------- one block


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_one_block_is_the_clone_pair_at_the_budget_of_a_block(blocks):
    reports = algorithm1(eps0=math.log(8) / 3, blocks=blocks, block_size=3)
    profile = accounting.one_block(reports, epochs=1)
    for expansion in (1, 2, 5):
        exact = float(oracles.hockey_stick(renyi_formulas.proposition1(blocks, 8), expansion))
        assert exact * (1 - 1e-9) <= profile.delta(math.log(expansion)).upper <= exact * 1.001


# ---------------------------------------------------------------- clients, the released code, the papers


def test_one_client_is_gaussian_with_what_its_noise_is():
    reports = clients()
    for client, eps in enumerate((0.5, 1.0, 2.0)):
        mu = 4 * eps / (0.4 * math.sqrt(2 * math.log(1.25 / DELTA)))
        profile = accounting.one_client(reports, client=client, epochs=9)
        found = profile.delta(mu)
        assert found.upper == pytest.approx(gaussian_delta(3 * mu, mu), rel=1e-9) and found.lower == 0.0
        assert found.upper >= gaussian_delta(3 * mu, mu) * (1 - 1e-13)


def test_the_released_code_has_a_budget_that_grows_with_width_and_block():
    reports = sgd.BatchClippedBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300)
    found = accounting.released_code(reports, sgd.Network((60, 1000, 10)), epochs=50)
    assert found.lower == 0.0 and found.upper == pytest.approx(50 * 1000 * 300 * 2.0)
    assert found.upper >= 50 * 1000 * 300 * 2.0


def test_published_numbers_are_those_that_are_printed():
    reports = algorithm1(eps0=1.5)
    for epochs, order in ((1, 2.0), (50, 7.5)):
        printed = 2 * epochs * math.exp(1.5) * order / 199
        found = accounting.theorem3_renyi_ccg24(reports, epochs=epochs, order=order)
        assert found == pytest.approx(printed, rel=1e-12)
        eps = accounting.theorem3_epsilon_ccg24(reports, epochs=epochs, delta=DELTA)
        assert gaussian_delta(math.sqrt(2 * printed / order), eps) == pytest.approx(DELTA, rel=1e-6)
    shares = np.array([(1 - DELTA) / (1 + math.exp(eps)) for eps in (0.5, 1.0, 2.0)])
    mu = math.sqrt(7 * 2 / (shares.sum() - shares.max()))
    for how in ({}, {"calibrated_to": 4.0}):
        eps = accounting.theorem5_epsilon_gspa24(clients(**how), epochs=7, delta=DELTA)
        assert gaussian_delta(mu, eps) == pytest.approx(DELTA, rel=1e-6)


# ---------------------------------------------------------------- hostile arguments

RELEASED = sgd.BatchClippedBlocks(eps0=2.0, clip=1.0, blocks=3, block_size=2)


@pytest.mark.parametrize(
    ("call", "reports", "more"),
    [
        (accounting.one_example, algorithm1(), {}),
        (accounting.one_block, algorithm1(eps0=0.1), {}),
        (accounting.one_client, clients(), {"client": 0}),
        (accounting.theorem3_epsilon_ccg24, algorithm1(), {"delta": DELTA}),
        (accounting.theorem5_epsilon_gspa24, clients(), {"delta": DELTA}),
    ],
)
@pytest.mark.parametrize("wrong", [RELEASED, None, "reports", 2.0])
def test_accounting_refuses_reports_of_other_kinds(call, reports, more, wrong):
    call(reports, epochs=1, **more)
    with pytest.raises(TypeError, match="reports"):
        call(wrong, epochs=1, **more)


def test_accounting_refuses_budgets_without_amplification():
    with pytest.raises(ValueError, match="eps0_between_blocks"):
        accounting.one_block(algorithm1(), epochs=1)
    with pytest.raises(ValueError, match="eps0"):
        accounting.one_example(algorithm1(eps0=301.0), epochs=1)
    quiet = sgd.GaussianBlocks(noise_multiplier=0.01, clip=1.0, blocks=3, block_size=10)
    assert accounting.one_example(quiet, epochs=1).delta(1.0).lower > 0.99
    with pytest.raises(ValueError, match="noise_multiplier .* got 0.01; at epochs=1000000"):
        accounting.one_example(quiet, epochs=10**6)
    with pytest.raises(TypeError, match="network"):
        accounting.released_code(RELEASED, (60, 10), epochs=1)
    with pytest.raises(TypeError, match="reports"):
        accounting.released_code(algorithm1(), sgd.Network((6, 2)), epochs=1)
    with pytest.raises(ValueError):
        accounting.theorem3_epsilon_ccg24(algorithm1(blocks=1), epochs=1, delta=DELTA)

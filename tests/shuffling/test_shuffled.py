"""Shuffled mechanisms against every dataset on small domains; pairs against each other."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from claims import exact_channels
from shufflelib import randomizers, shuffle
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios
from shufflelib.shuffling import BlanketPair


def test_repeated_attacks_are_tried_once():
    for build, many in (
        (randomizers.generalized_rr(eps0=1.0, d=10), 2),
        (randomizers.binary_rr(eps0=1.0), 1),
    ):
        assert len(shuffle(build, n=10).attack_pairs) == many


def test_mass_outside_the_blanket_has_infinite_loss():
    """An output that only one input can produce identifies it whenever it is sent."""
    pair = InputPair.from_rows([[0.9, 0.1, 0.0], [0.9, 0.0, 0.1]], [0.9, 0.0, 0.0])
    profile = BlanketPair(pair.blanket, 100)
    assert profile.delta(3.0).upper == pytest.approx(0.1, rel=1e-9)
    assert profile.epsilon(0.05).upper == math.inf
    assert "no finite bound" in str(profile.epsilon(0.05))


@pytest.mark.parametrize("precision", [1e-3, 0.0])
def test_the_loss_of_one_report_alone_holds_for_all_likelihood_ratios_within_their_precision(precision):
    """Outputs with large losses rarer and all others more frequent, by ``precision``."""
    first, second, mass = np.array([2.0, 0.5, 0.75]), np.array([0.0, 1.0, 1.25]), np.array([0.25, 0.5, 0.125])
    pair = BlanketPair(LikelihoodRatios(first, second, mass, precision=precision), 4)
    found = math.exp(pair._log_ever())
    given = F(2) * F(1, 4) * (1 - F(5, 8)) ** 3
    least = given * (1 - F(precision)) ** 2 * ((1 - F(5, 8) * (1 + F(precision))) / (1 - F(5, 8))) ** 3
    assert found <= least and found >= given * (1 - 40 * F(precision) - F(1, 10**12))


@pytest.mark.parametrize("many", range(4))
def test_extreme_outputs_set_aside_leave_the_distribution_of_all_others(many):
    """Their first report becomes 0; what is then equal becomes one atom, and no mass is lost or doubled."""
    mass = np.array([0.25, 2.0**-17, 2.0**-15, 0.5, 2.0**-16, 0.125])
    first = np.array([1.5, 64.0, 16.0, 0.5, 32.0, 0.75])
    pair = BlanketPair(LikelihoodRatios(first, np.ones(6), mass), 1000)
    assert pair._extreme[0].tolist() == [1, 4, 2]
    tame = pair._tame(0.5 * first[:, None], np.array([many]))
    held = tame.masses[:, 0] > 0.0
    values, masses, sizes = (part[held, 0] for part in (tame.values, tame.masses, tame.sizes))
    expected = {}
    for i in range(6):
        value = (0.0 if i in [1, 4, 2][:many] else 0.5 * first[i]) - 1.0
        expected[value] = expected.get(value, 0.0) + mass[i]
    assert dict(zip(values.tolist(), masses.tolist(), strict=True)) == expected
    assert values.size == len(expected)
    assert sizes.tolist() == [value + 2.0 for value in values]


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("eps", [200.0, 530.0, 540.0, 600.0, 639.9, 700.0])
def test_an_output_of_one_report_alone_counts_however_rare_it_is(n, eps):
    """R_0 = (1, 3.6e-92), R_1 = (1, 0): the second output identifies the input, at every ε."""
    rare = 7.2e-92
    distribution = LikelihoodRatios(np.array([2.0, rare]), np.array([2.0, 0.0]), np.array([0.5, 0.5]))
    pair = BlanketPair(distribution, n)
    low, high = pair.log_hockey_stick(eps)
    with mpmath.workdps(400):
        shrink, truth = mpmath.exp(-mpmath.mpf(eps)), mpmath.mpf(0)
        for k in range(n + 1):  # reports from the second output
            total = k * mpmath.mpf(rare) + (n - k) * 2 * (1 - 1 / shrink)
            truth += mpmath.binomial(n, k) * max(total, 0) / mpmath.mpf(2) ** n
        assert low <= mpmath.log(truth / n) <= high
    assert pair.epsilon(1e-100).upper == math.inf


def test_masses_outside_the_support_are_as_precise_as_their_products():
    ratios = LikelihoodRatios(
        np.ones(1), np.ones(1), np.ones(1), 1e-200, 0.0, outside=np.array([[1e-200], [0.0]])
    )
    for eps in np.linspace(250.0, 290.0, 81):
        low, high = ratios.log_outside(eps)
        assert low <= math.log(1e-200) * (1 - 4e-16) and math.log(1e-200) * (1 + 4e-16) <= high


def test_the_attacks_of_a_large_table_are_some_of_all():
    """PCKV-GRR written as a table of twelve rows: an attack that the mechanism tries is not among the 24."""
    rows = np.array(exact_channels.key_values(3, 3, 2), float)
    table = shuffle(randomizers.from_pmf(rows), n=4).delta(0.3)
    attained = shuffle(randomizers.pckv_grr(eps0=math.log(3), d=3, s=2), n=4).delta(0.3).lower
    assert table.lower < 0.95 * attained < attained <= table.upper
    assert "the best of those tried" in table.source

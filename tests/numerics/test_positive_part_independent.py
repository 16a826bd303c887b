"""Sums over slots: bins of slots bound the modulus of every slot, and lose nothing where all are alike."""

import mpmath
import numpy as np
import pytest

from shufflelib.numerics.positive_part_independent import (
    DOUBT,
    PRECISION,
    _Slots,
    expected_positive_part_of_slots,
)
from shufflelib.numerics.saddle_point import Losses, Tilt
from shufflelib.numerics.three_point_losses import ThreePointLosses

ANGLES = np.concatenate([np.linspace(0.0, 3.0, 301), np.geomspace(3.0, 300.0, 200)])


def slots(rng, kinds, alike):
    mass = rng.dirichlet([1.0, 1.0, 2.0], size=kinds).T
    values = np.sort(rng.uniform(-1.0, 1.0, size=(2, kinds)), axis=0)
    if alike:
        mass, values = np.repeat(mass[:, :1], kinds, axis=1), np.repeat(values[:, :1], kinds, axis=1)
    count = rng.integers(1, 20, size=kinds).astype(float)
    losses = Losses(values, mass[:2], np.abs(values), mass[2], mass[2], count, DOUBT, together=True)
    return _Slots(losses, np.full(1, np.inf))


def log_modulus(terms, omega):
    turns = (terms.tilt.masses[:, :, None] * np.exp(1j * terms.losses.values[:, :, None] * omega)).sum(axis=0)
    return terms.count @ np.log(np.abs(turns + terms.tilt.zero_mass[:, None]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kinds", [1, 2, 7, 60])
def test_bins_of_slots_bound_the_modulus_at_every_angle(seed, kinds):
    terms = slots(np.random.default_rng(seed), kinds, alike=False)
    exact = log_modulus(terms, ANGLES)
    least = exact - 1e-9 * np.maximum(1.0, -exact)
    for size in {1, kinds}:
        gathered = terms._gather(size)
        assert np.all(terms._log_modulus_at_most(ANGLES, *gathered) >= least)
        for back in (0.01, 0.3, 2.0):  # and at every angle of a row that begins before
            assert np.all(terms._log_modulus_at_most(ANGLES - 0.9 * back, *gathered, back) >= least)


@pytest.mark.parametrize("seed", range(4))
def test_slots_that_are_alike_lose_nothing_in_a_bin(seed):
    terms = slots(np.random.default_rng(seed), 5, alike=True)
    exact = log_modulus(terms, ANGLES)
    turned = np.abs(terms.losses.values[0] - terms.losses.values[1])[0] * ANGLES / (2 * np.pi)
    assert turned.max() > 1.0  # more than a turn, where the angle alone says nothing
    for size in (1, 2, 5):
        bound = terms._log_modulus_at_most(ANGLES, *terms._gather(size))
        np.testing.assert_allclose(bound, exact, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("budgets", "eps"),
    [((282.00361024692313, 283.06060478431766), 17.29707806332804), ((200.3, 291.7), 0.5), ((5.0, 6.5), 2.0)],
)
def test_two_slots_of_any_budget(budgets, eps):
    """Logarithms near 300 of which sums are formed are rounded by more than a unit."""
    bracket = expected_positive_part_of_slots(
        ThreePointLosses(np.array(budgets), np.ones(2)), eps, tolerance=1e-6
    )
    with mpmath.workdps(60):
        ratio, kinds = mpmath.exp(mpmath.mpf(eps)), []
        for budget in budgets:
            odds = mpmath.exp(mpmath.mpf(budget))
            shown = 1 / (odds + 1)
            kinds.append(((shown, odds - ratio), (shown, 1 - ratio * odds), (1 - 2 * shown, mpmath.mpf(0))))
        truth = mpmath.log(sum(p * q * max(a + b, 0) for p, a in kinds[0] for q, b in kinds[1]) / ratio)
    assert bracket.lower <= truth <= bracket.upper < bracket.lower + 1e-2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("largest", [0.1, 1.0, 20.0])
def test_the_error_of_the_cumulant_holds_for_all_slots_within_their_precision(seed, largest):
    """Masses and terms off by ``PRECISION``, all one way: the cumulant in 40 digits moves by no more."""
    rng = np.random.default_rng(seed)
    mass, values = rng.uniform(0.05, 0.45, 3), rng.uniform(-1.0, 1.0, (2, 3)) * largest
    sizes, count = np.abs(values) + rng.uniform(0.0, 3.0, (2, 3)), np.array([1.0, 7.0, 50.0])
    none = 1.0 - 2.0 * mass
    losses = Losses(values, np.stack([mass, mass]), sizes, none, none, count, DOUBT, together=True)
    terms = _Slots(losses, np.full(1, np.inf))
    for side in (-1, 0, 1):
        with mpmath.workdps(40):
            off, cumulant = side * mpmath.mpf(PRECISION), mpmath.mpf(0)
            for r, held, *kind in zip(mass, count, values.T, sizes.T, strict=True):
                shown = sum(
                    mpmath.expm1(mpmath.mpf(x) + off * mpmath.mpf(y)) for x, y in zip(*kind, strict=True)
                )
                cumulant += mpmath.mpf(held) * mpmath.log1p(mpmath.mpf(r) * (1 + off) * shown)
            moved = abs(cumulant - terms.cumulant)
        assert moved <= terms.cumulant_error
        assert side == 0 or terms.cumulant_error <= 40.0 * moved


def test_the_error_of_the_cumulant_holds_for_losses_that_are_never_0():
    values, masses, zero = np.array([[-0.5], [-0.4]]), np.full((2, 1), 0.5), np.zeros(1)
    tilt = Tilt(Losses(values, masses, 0.0 * values, zero, zero, np.ones(1), PRECISION), 1.0)
    with mpmath.workdps(40):
        grown = sum(mpmath.expm1(mpmath.mpf(x)) for x in values.ravel()) / 2
        moved = abs(mpmath.log1p(grown * (1 + mpmath.mpf(PRECISION))) - mpmath.log1p(grown))
    assert moved <= tilt.cumulant_error[0] * (1 + 1e-9)
    assert tilt.cumulant_error[0] <= 1.01 * moved


@pytest.mark.parametrize("largest", [1.5, 8.0, 29.0])
def test_many_losses_of_which_few_are_large_keep_the_digits_of_their_cumulant(largest):
    """With e^K near 1 nothing cancels, whichever way masses are off by ``PRECISION``."""
    count = np.array([1e10])
    values, masses = np.array([[-1e-5], [2e-5], [largest]]), np.array([[0.6], [0.3], [1e-20]])
    zero = 1.0 - masses.sum(axis=0)
    tilt = Tilt(Losses(values, masses, 0.0 * values, zero, np.ones(1), count, PRECISION), 1.0)
    for side in (-1, 0, 1):
        with mpmath.workdps(40):
            off = 1 + side * mpmath.mpf(PRECISION)
            pairs = zip(masses.ravel(), values.ravel(), strict=True)
            grown = sum(mpmath.mpf(p) * off * mpmath.expm1(mpmath.mpf(x)) for p, x in pairs)
            moved = abs(mpmath.log1p(grown) - tilt.cumulant[0])
        assert moved <= tilt.cumulant_error[0]
    assert count[0] * tilt.cumulant_error[0] < 1e-4 * count[0] * PRECISION

"""Sums over slots: bins of slots bound the modulus of every slot, and lose nothing where all are alike."""

import numpy as np
import pytest

from shufflelib.slot_sums import _Slots

ANGLES = np.concatenate([np.linspace(0.0, 3.0, 301), np.geomspace(3.0, 300.0, 200)])


def slots(rng, kinds, alike):
    mass = rng.dirichlet([1.0, 1.0, 2.0], size=kinds).T
    values = np.sort(rng.uniform(-1.0, 1.0, size=(2, kinds)), axis=0)
    if alike:
        mass, values = np.repeat(mass[:, :1], kinds, axis=1), np.repeat(values[:, :1], kinds, axis=1)
    count = rng.integers(1, 20, size=kinds).astype(float)
    return _Slots(mass[:2], mass[2], values, np.abs(values), count)


def log_modulus(terms, omega):
    turns = (terms.masses[:, :, None] * np.exp(1j * terms.values[:, :, None] * omega)).sum(axis=0)
    return terms.count @ np.log(np.abs(turns + terms.rest[:, None]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kinds", [1, 2, 7, 60])
def test_bins_of_slots_bound_the_modulus_at_every_angle(seed, kinds):
    terms = slots(np.random.default_rng(seed), kinds, alike=False)
    exact = log_modulus(terms, ANGLES)
    for count, bins in terms._bins:
        assert np.all(
            terms._log_modulus_at_most(ANGLES, count, bins) >= exact - 1e-9 * np.maximum(1.0, -exact)
        )


@pytest.mark.parametrize("seed", range(4))
def test_slots_that_are_alike_lose_nothing_in_a_bin(seed):
    terms = slots(np.random.default_rng(seed), 5, alike=True)
    exact = log_modulus(terms, ANGLES)
    for count, bins in terms._bins:
        bound = terms._log_modulus_at_most(ANGLES, count, bins)
        turned = np.abs(terms.values[0] - terms.values[1])[0] * ANGLES / (2 * np.pi)
        assert turned.max() > 1.0  # more than a turn, where the angle alone says nothing
        np.testing.assert_allclose(bound, exact, rtol=1e-6, atol=1e-6)

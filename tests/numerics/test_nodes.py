"""Which nodes can matter: none that does is missing, none is there twice, and values there are right."""

import mpmath
import numpy as np
import pytest

from shufflelib.numerics import nodes
from shufflelib.numerics import positive_part_iid as few_atoms
from shufflelib.numerics.logspace import UNIT

LATTICES = [(1.0, -1.0), (1.0, -0.5), (1.0, 0.3, -0.7)]


def drawn(rng, atoms, sums, kept):
    """Draw losses and their masses, one column for each sum; ``kept`` is their mass, the rest is at 0."""
    values = 10.0 ** rng.uniform(-3.0, 0.0, sums) * rng.uniform(-2.0, 1.0, (atoms, sums))
    return values, kept * rng.dirichlet(rng.choice([0.2, 1.0, 5.0], atoms), sums).T


def squared_modulus(values, masses, angles):
    """Return |φ|² as 1 less a sum of what is not negative, so that nothing cancels near 1."""
    x, m = np.append(values, 0.0), np.append(masses, max(1.0 - masses.sum(), 0.0))
    one, two = np.triu_indices(x.size, 1)
    return 1.0 - 4.0 * (m[one] * m[two]) @ np.sin(0.5 * np.outer(x[one] - x[two], angles)) ** 2


def listed(values, masses, step, count, nothing, n):
    room = -0.25 * np.expm1(-2.0 * nothing / n)
    few, groups = few_atoms.listed(
        values, masses, np.maximum(1.0 - masses.sum(axis=0), 0.0), step, count, room
    )
    found = [[] for _ in count]
    for which, number in groups:
        for k in np.unique(which):
            assert not found[k]  # a sum is in one group
            found[k] = number[which == k].tolist()
    return few, found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [10**3, 10**5, 10**8, 10**12])
@pytest.mark.parametrize("kept", [1.0, 0.7])
def test_no_node_of_few_atoms_is_missing_or_twice_there(seed, n, kept):
    rng = np.random.default_rng(seed)
    values, masses = drawn(rng, int(rng.integers(1 + (kept == 1.0), 6)), 12, kept)
    step, count = 10.0 ** rng.uniform(-3.0, 1.0, 12), rng.integers(1, 20_000, 12)
    few, found = listed(values, masses, step, count, np.full(12, 40.0), n)
    for k in range(12):
        if few[k]:
            exact = squared_modulus(values[:, k], masses[:, k], step[k] * np.arange(count[k]))
            matter = np.flatnonzero(np.log(np.maximum(exact, 1e-300)) > -80.0 / n + 64 * UNIT)
            assert set(matter.tolist()) <= set(found[k])
            assert found[k] == sorted(set(found[k])) and found[k][-1] < count[k]
        else:
            assert not found[k]


@pytest.mark.parametrize("values", LATTICES)
def test_a_lattice_returns_far_from_the_real_axis(values):
    values, masses = 0.01 * np.array(values)[:, None], np.full((len(values), 1), 0.9 / len(values))
    few, found = listed(values, masses, np.array([0.4]), np.array([200_000]), np.array([40.0]), 10**7)
    assert few[0] and max(found[0]) > 100_000
    assert len(found[0]) < 10_000


@pytest.mark.parametrize("sums", [1, 2, 7])
def test_what_is_listed_does_not_depend_on_other_sums(sums):
    rng = np.random.default_rng(sums)
    values, masses = drawn(rng, 3, sums, 0.9)
    step, count = 10.0 ** rng.uniform(-2.0, 0.0, sums), rng.integers(1, 20_000, sums)
    together = listed(values, masses, step, count, np.full(sums, 40.0), 10**6)[1]
    for k in range(sums):
        one = slice(k, k + 1)
        alone = listed(values[:, one], masses[:, one], step[one], count[one], np.full(1, 40.0), 10**6)
        assert alone[1][0] == together[k]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [20, 10**3, 10**6])
def test_no_node_of_many_atoms_is_missing_or_twice_there(seed, n):
    """Spread out, on a lattice that returns, and with rare large losses."""
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=60), np.arange(-40, 21) / 10.0, np.append(rng.normal(size=60), 30.0)][seed % 3]
    masses = rng.dirichlet(np.ones(values.size)) * rng.choice([1.0, 0.6])
    masses[-1] *= 1e-6
    step, count, nothing = 10.0 ** rng.uniform(-2.0, 0.0), int(rng.integers(1, 20_000)), 40.0 / n
    one = values[:, None], masses[:, None], np.array([step]), np.array([count]), np.array([nothing])
    _, number, phi = (np.concatenate(part) for part in zip(*nodes.of_each(*one), strict=True))
    exact = masses @ np.exp(1j * np.outer(values, step * np.arange(count))) + (1.0 - masses.sum())
    assert number.size == np.unique(number).size and np.all(number < count)
    assert set(np.flatnonzero(np.log(np.abs(exact)) > -nothing + 1e-9).tolist()) <= set(number.tolist())
    np.testing.assert_allclose(1.0 + phi, exact[number], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("atoms", [3, 40, 200])
@pytest.mark.parametrize("n", [100, 10**3, 10**6])
def test_no_node_of_many_atoms_depends_on_other_sums(atoms, n):
    """Some masses are 0, and few atoms may stand beside more."""
    rng = np.random.default_rng(atoms)
    values, masses = rng.normal(size=(atoms, 9)), rng.dirichlet(np.ones(atoms), 9).T
    masses[rng.random(masses.shape) < 0.2] = 0.0
    step, count, nothing = 10.0 ** rng.uniform(-2.0, 0.0, 9), rng.integers(1, 9_000, 9), np.full(9, 40.0 / n)
    together = list(nodes.of_each(values, masses, step, count, nothing))
    which, number, phi = (np.concatenate(part) for part in zip(*together, strict=True))
    for k in range(9):
        one = values[:, [k]], masses[:, [k]], step[[k]], count[[k]], nothing[[k]]
        alone = [np.concatenate(part) for part in zip(*nodes.of_each(*one), strict=True)]
        assert np.array_equal(alone[1], number[which == k]) and np.array_equal(alone[2], phi[which == k])


def test_values_at_listed_nodes_lose_no_more_than_a_few_roundings():
    rng = np.random.default_rng(3)
    values, masses = drawn(rng, 4, 3, 0.8)
    step, which, number = (
        np.array([1e-3, 0.1, 2.0]),
        np.repeat(np.arange(3), 40),
        np.tile(np.arange(40) ** 2, 3),
    )
    found = few_atoms.at_each(values, masses, step, which, number)
    with mpmath.workdps(60):
        for k, j, phi in zip(which, number, found, strict=True):
            parts = list(zip(values[:, k].tolist(), masses[:, k].tolist(), strict=True))
            angle = mpmath.mpf(float(step[k])) * int(j)
            exact = sum(m * (mpmath.expjpi(angle * mpmath.mpf(x) / mpmath.pi) - 1) for x, m in parts)
            away = float(angle) * sum(m * abs(x) for x, m in parts)
            assert abs(exact - complex(phi)) <= (len(parts) + 12) * UNIT * away


def test_sums_with_many_nodes_do_not_come_all_at_once():
    values, masses = np.tile([[1.0], [-0.7], [0.2], [-0.4]], 9), np.tile([[0.3], [0.3], [0.2], [0.2]], 9)
    step, count = np.full(9, 1e-5), np.full(9, 60_000)
    found = list(nodes.of_each(values, masses, step, count, np.full(9, 40.0)))
    assert sum(which.size for which, _, _ in found) == 9 * 60_000
    assert max(which.size for which, _, _ in found) <= 2 * nodes.BLOCK

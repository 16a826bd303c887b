"""Every finite randomizer against an oracle that enumerates all outputs and all inputs of a small domain."""

from dataclasses import dataclass
from math import exp, log

import numpy as np
import pytest

from claims import exact_shuffle
from oracles.small_domains import (
    EPS,
    FINITE,
    FINITE_CASES,
    hockey,
    of_distribution,
    thresholds,
)
from shufflelib import randomizers
from shufflelib.randomizers.local_randomizer import FiniteRandomizer


@dataclass(frozen=True, kw_only=True)
class lopsided(FiniteRandomizer):
    """A mechanism of two values that do not mirror each other: the second one answers evenly."""

    eps0 = log(2.0)
    beta = 0.25

    def class_masses(self):
        return np.array([[0.75, 0.25], [0.5, 0.5]])

    def blanket(self):
        return self.class_masses().min(axis=0)

    sample = estimate = None


CASES = [*FINITE_CASES, pytest.param(lopsided(), lopsided().class_masses(), id="lopsided")]


def convex_test(first, second, reference, eps, threshold):
    """Σ w (G - threshold)_+, G = (R_0 - e^eps R_1)/w: what convex order compares."""
    return np.maximum(first - exp(eps) * second - threshold * reference, 0.0).sum()


@pytest.mark.parametrize(("mechanism", "matrix"), CASES)
def test_pmf_is_a_distribution_with_the_published_ratio(mechanism, matrix):
    rows, blanket = mechanism.class_masses(), mechanism.blanket()
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-14)
    assert (rows > 0).all() and (blanket > 0).all()
    assert (blanket <= rows * (1 + 1e-14)).all()
    ratio = (matrix.max(axis=0) / matrix.min(axis=0)).max()
    assert mechanism.p == mechanism.q == pytest.approx(exp(mechanism.eps0))
    one_bit = isinstance(mechanism, type(FINITE["dbitflip2"][0])) and mechanism.d == 1
    if isinstance(mechanism, type(FINITE["privkv4"][0])) or one_bit:
        assert ratio <= mechanism.p * (1 + 1e-12)  # published p is loose
    elif not isinstance(mechanism, type(FINITE["collision4"][0])):
        assert ratio == pytest.approx(mechanism.p, rel=1e-12)
        ends = [(first / second).max() for first, second in (rows[:2], rows[1::-1])]
        assert max(ends) == pytest.approx(mechanism.p, rel=1e-12)
        if getattr(mechanism, "mirrored", True):
            assert min(ends) == pytest.approx(mechanism.p, rel=1e-12)


WITH_TABLE = [case for case in FINITE_CASES if hasattr(case.values[0], "pmf") and case.id != "generic"]


@pytest.mark.parametrize(("mechanism", "matrix"), WITH_TABLE)
def test_pmf_is_the_table_of_inputs_and_outputs(mechanism, matrix):
    def columns(table):
        return sorted(map(tuple, np.round(table.T, 12)))

    assert columns(mechanism.pmf()) == columns(matrix)


def test_a_table_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="use class_masses"):
        randomizers.rappor(eps0=1.0, d=100).pmf()


@pytest.mark.parametrize(("mechanism", "matrix"), CASES)
def test_blanket_mass_is_exact(mechanism, matrix):
    truth = matrix.min(axis=0).sum()
    if getattr(mechanism, "s", 1) > 1 and hasattr(mechanism, "l"):
        assert 0.75 * truth < mechanism.blanket().sum() <= truth * (1 + 1e-13)
    else:
        assert mechanism.blanket().sum() == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize(("mechanism", "matrix"), CASES)
def test_worst_pair_by_hockey_stick(mechanism, matrix, eps):
    truth = max(hockey(a, b, eps) for a in matrix for b in matrix)
    claimed = max(
        of_distribution(distribution, eps, 0.0)
        for pair in mechanism.input_pairs()
        for distribution in (pair.blanket, pair.blanket.swapped())
    )
    assert claimed == pytest.approx(truth, rel=1e-12, abs=1e-15)
    rows = mechanism.class_masses()
    assert max(hockey(*rows[:2], eps), hockey(*rows[1::-1], eps)) <= truth + 1e-15
    if eps == 0.0:
        assert hockey(*rows[:2], eps) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("eps", (0.0, 0.7))
@pytest.mark.parametrize(("mechanism", "matrix"), CASES)
def test_worst_pair_in_convex_order_under_the_blanket(mechanism, matrix, eps):
    blanket = matrix.min(axis=0)
    exact = mechanism.blanket().sum() == pytest.approx(blanket.sum(), rel=1e-12)
    for t in thresholds(mechanism.p):
        truth = max(convex_test(a, b, blanket, eps, t) for a in matrix for b in matrix)
        truth += max(-t, 0.0) * (1 - blanket.sum())  # the residual mass is the atom 0
        ends = [
            [of_distribution(one, eps, t) + max(-t, 0.0) * (1 - one.w.sum()) for one in both]
            for both in ((pair.blanket, pair.blanket.swapped()) for pair in mechanism.input_pairs())
        ]
        claimed = max(map(max, ends))
        assert claimed >= truth - 1e-12
        if getattr(mechanism, "mirrored", True):
            assert claimed == pytest.approx(max(map(min, ends)), rel=1e-11, abs=1e-14)
        if exact:
            assert claimed == pytest.approx(truth, rel=1e-11, abs=1e-14)


def moments(first, second, others):
    a, b = first / others, second / others
    return np.array(
        [(others * f).sum() for f in (a * a, a * b, b * b, a**3, a * a * b, np.sqrt(a), np.sqrt(b))]
    )


@pytest.mark.parametrize(("mechanism", "matrix"), CASES)
def test_attacks_are_real_datasets(mechanism, matrix):
    mirrored = getattr(mechanism, "mirrored", True)
    firsts = range(1) if mirrored else range(len(matrix))  # by symmetry; for piecewise it is -1
    pairs = [(matrix[i], np.delete(matrix, i, axis=0)) for i in firsts]
    tables = [moments(a, b, c) for a, others in pairs for b in others for c in matrix]
    if hasattr(mechanism, "eps1"):  # a holder of value 0 is the mean of holders of ±1
        half = [(matrix[4 * i : 4 * i + 4]).mean(axis=0) for i in range(len(matrix) // 4)]
        tables += [moments(a, b, c) for a, others in pairs for b in others for c in half]
    if mechanism == FINITE["generic"][0]:
        three = np.array(exact_shuffle.randomized_response(3, 3), float)
        tables.append(moments(*three))
    tables = np.array(tables)
    for pair in mechanism.input_pairs():
        assert len(pair.attacks) >= 2
        for ratios in pair.attacks:
            assert ratios.w.sum() == pytest.approx(1.0, rel=1e-13) and ratios.r0_outside == 0.0
            found = moments(ratios.r0_over_w * ratios.w, ratios.r1_over_w * ratios.w, ratios.w)
            assert np.abs(tables / found - 1).max(axis=1).min() < 1e-10


# ---- the tables of Wang 2024: exact, loose, wrong

EXACT = [name for name in FINITE if not name.startswith(
    ("local_hash", "wheel", "collision", "privkv", "sampled_rappor", "duchi2", "duchi4"))]  # fmt: skip
LOOSE = {  # mechanism: (truth, printed)
    "local_hash2": (0.25, 1 / 3),
    "local_hash3": (0.25, 0.5),
    "local_hash4": (4 / 15, 0.4),
    "wheel1": (4 / 15, 0.4),
    "collision4": (31 / 128, 0.5),
    "collision6": (34 / 189, 2 / 7),
    "privkv4": (0.5, 13 / 24),
    "privkv6": (1 / 3, 0.375),
    "privkv3": (11 / 24, 0.75),
    "privkv_signs": (19 / 55, 27 / 55),
    "duchi2": (0.25, 0.5),
    "duchi4": (0.3125, 0.5),
}


@pytest.mark.parametrize("name", EXACT)
def test_published_beta_is_exact(name):
    mechanism, matrix = FINITE[name]
    truth = max(hockey(a, b, 0.0) for a in matrix for b in matrix)
    assert mechanism.beta == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("name", LOOSE)
def test_published_beta_is_loose(name):
    mechanism, matrix = FINITE[name]
    truth = max(hockey(a, b, 0.0) for a in matrix for b in matrix)
    assert truth == pytest.approx(LOOSE[name][0], rel=1e-9)
    assert mechanism.beta == pytest.approx(LOOSE[name][1], rel=1e-9)
    assert truth < mechanism.beta

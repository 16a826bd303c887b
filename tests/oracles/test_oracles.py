"""The oracles agree with each other: exact fractions, high precision and floating point."""

import math
from fractions import Fraction as F

import pytest

import oracles


@pytest.mark.parametrize(
    ("p", "beta", "q0", "q1"), [(3, F(1, 2), 3, 3), (3, F(1, 4), 5, 2), (math.inf, F(1, 2), 4, 4)]
)
def test_oracles_of_the_pair_agree(p, beta, q0, q1):
    n = 7
    masses = oracles.pair_masses(n=n, p=p, beta=beta, q0=q0, q1=q1)
    assert sum(first for first, _ in masses.values()) == sum(second for _, second in masses.values()) == 1
    precise = oracles.MpPair(n=n, p=p, beta=float(beta), q0=q0, q1=q1)
    for ratio in (F(1), F(3, 2), F(2)):
        exact = oracles.hockey_stick(masses, ratio), oracles.hockey_stick(oracles.swapped(masses), ratio)
        assert [float(part) for part in precise.delta(math.log(ratio))] == pytest.approx(
            [float(x) for x in exact]
        )
        if q0 == q1:
            got = oracles.float_pair_delta(math.log(ratio), n=n, p=float(p), beta=float(beta), q=q0)
            assert got == pytest.approx(float(exact[0]), rel=1e-11)
    moment = oracles.renyi_moment(masses, 3)
    if moment is not None:
        assert float(precise.renyi(3)[0]) == pytest.approx(math.log(moment) / 2)
    # the trade-off is the conjugate of the profile, attained at one of the likelihood ratios
    slopes = {second / first for first, second in masses.values() if first} | {F(0)}
    heights = {slope: sum(max(b - slope * a, 0) for a, b in masses.values()) for slope in slopes}
    for fpr in (F(0), F(1, 100), F(1, 4), F(1)):
        best = max(1 - heights[slope] - slope * fpr for slope in slopes)
        assert oracles.tradeoff(masses, fpr) == max(best, 0)


def test_oracles_of_the_mechanisms_agree():
    """Witness of the formula sheet, and: attack <= worst dataset <= blanket, pair = binary blanket."""
    five = oracles.generalized_rr(3, 5)
    assert float(oracles.shuffled_hockey_stick(five, 0, 1, (2,) * 4, F(2))) == pytest.approx(
        0.0117808, abs=1e-7
    )
    pair = oracles.pair_masses(n=5, p=3, beta=F(2, 7), q0=3)
    assert float(oracles.hockey_stick(pair, F(2))) == pytest.approx(0.0094008, abs=1e-7)
    three = oracles.generalized_rr(3, 3)
    attack = oracles.shuffled_hockey_stick(three, 0, 1, (2,) * 3, F(3, 2))
    worst = oracles.worst_shuffled_hockey_stick(three, 4, F(3, 2), pairs=[(0, 1)])
    assert attack <= worst <= oracles.blanket_bound(three, 4, F(3, 2), pairs=[(0, 1)])
    binary = oracles.blanket_bound(oracles.generalized_rr(3, 2), 4, F(3, 2))
    assert binary == oracles.both_ways(oracles.pair_masses(n=4, p=3, beta=F(1, 2), q0=3), F(3, 2))


def test_gaussian_oracle():
    assert float(oracles.gaussian_delta(1, 0)) == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-14)
    assert float(oracles.gaussian_delta(1, 1)) == pytest.approx(0.126936737507, abs=1e-11)

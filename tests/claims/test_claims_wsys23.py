"""The ledger of the mixture-mechanism paper: every finding, its second computation, its instruments."""

import math
import random
from fractions import Fraction as F

import pytest

import claims
import oracles
from claims import QUICK, Effort, Verdict, exact_tests
from claims.exact_tests import (
    above,
    blended,
    chained_divergence,
    convex_hull,
    corners,
    false_negatives,
    is_lower_bound,
    largest_delta,
    least_false_negatives,
    never_fails,
    random_distribution,
    too_high,
)
from claims.wsys23 import (
    clone_mixture,
)

# ---------------------------------------------------------------- the instruments


def distributions(seed, count=2, **more):
    rng = random.Random(seed)
    return [random_distribution(rng, **more) for _ in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_the_best_tests_are_those_of_the_oracle_and_of_a_linear_program(seed):
    p, q = distributions(seed)
    pair, curve = dict(enumerate(zip(p, q, strict=True))), corners(p, q)
    for alpha in (F(0), F(1, 7), F(1, 2), F(1)):
        assert false_negatives(curve, alpha) == oracles.tradeoff(pair, alpha)
        assert least_false_negatives(p, q, alpha) == pytest.approx(float(false_negatives(curve, alpha)))
    for ratio in (F(1), F(3, 2), F(4)):
        assert largest_delta(curve, ratio) == oracles.hockey_stick(oracles.swapped(pair), ratio)
    assert curve[0] == (0, 1) and curve[-1] == (1, 0) and convex_hull(curve)[-1] == (1, 0)


def test_orders_of_curves():
    near, far = corners([F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)]), corners([F(1, 2), F(1, 2)], [F(0), F(1)])
    assert above(near, far) and not above(far, near) and above(near, near)
    assert is_lower_bound(far, near) and not is_lower_bound(near, far)
    assert blended(1, far)[1][1] == F(1, 2)
    # a curve above another only for slopes flatter than -1 is no matter of eps >= 0
    assert is_lower_bound([(F(0), F(1)), (F(1, 2), F(1, 2)), (F(1), F(1, 2))], corners([F(1)], [F(1)]))


def test_a_divergence_from_its_curve():
    p, q = [F(1, 2), F(1, 2), F(0)], [F(0), F(1, 4), F(3, 4)]
    square = chained_divergence(corners(p, q), lambda s: (s - 1) ** 2, F(1), F(10))
    assert square == F(3, 4) + F(1, 4) + 10 * F(1, 2)


@pytest.mark.parametrize(("factor", "verdict"), [(F(1001, 1000), Verdict.REFUTED), (F(1), Verdict.HOLDS)])
def test_a_witness_needs_more_than_equality(factor, verdict):
    p, q = [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]
    check, confirm, _ = too_high(p, q, F(1, 4), lambda alpha: factor * F(5, 8))
    assert check.told(("two outputs",))(QUICK).verdict is confirm().verdict is verdict


@pytest.mark.parametrize(
    ("factor", "verdict"), [(F(999, 1000), Verdict.HOLDS), (F(1001, 1000), Verdict.REFUTED)]
)
def test_joint_concavity_a_thousandth_higher_is_refuted(factor, verdict):
    def scaled(rng):
        p, q = (random_distribution(rng) for _ in range(2))
        seen = corners(
            exact_tests.beside([F(1, 3), F(2, 3)], [p, p]), exact_tests.beside([F(1, 3), F(2, 3)], [q, q])
        )
        return above(corners(p, q), [(x, factor * y) for x, y in seen])

    assert never_fails(scaled, "equal parts")(QUICK).verdict is verdict


def test_a_tenth_too_much_of_the_identity_is_seen(monkeypatch):
    monkeypatch.setattr(clone_mixture, "blended", lambda w, curve: blended(w * F(11, 10), curve))
    check = claims.named("wsys23-theorem-4.2").check
    assert check(Effort(16)).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- witnesses, again by other means


@pytest.mark.parametrize(("e", "n"), [(3, 1), (3, 4), (F(3, 2), 3)])
def test_the_pair_of_clones_is_the_variation_ratio_pair(e, n):
    e = F(e)
    masses = oracles.pair_masses(n=n, p=e, beta=(e - 1) / (e + 1), q0=e, q1=e)
    pair = dict(enumerate(zip(*clone_mixture._clone_pair(e, n), strict=True)))
    for ratio in (F(1), F(5, 4), F(2)):
        assert oracles.both_ways(pair, ratio) == oracles.both_ways(masses, ratio)


def test_the_failure_curve_of_corollary_43_is_the_sum_in_fractions():
    for n, ratio in ((3, F(3, 2)), (6, F(6, 5)), (8, F(2))):
        lower, claimed = clone_mixture._in_floating_point(n, math.log(ratio))
        assert claimed == pytest.approx(float(clone_mixture._corollary(3, n, ratio)[1]), abs=1e-9)
        assert lower <= clone_mixture._both_deltas(3, n, ratio)[0] <= lower * (1 + 1e-6)


def test_a_claim_a_thousandth_lower_leaves_no_failure_at_its_touching_points():
    p, q = [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]
    curve = corners(p, q)
    fails = [
        too_high(p, q, F(1), lambda x, c=c: c * false_negatives(curve, x)).failure_curve.curve("α", "T").worst
        is not None
        for c in (F(999, 1000), F(1), F(1001, 1000))
    ]
    assert fails == [False, False, True]

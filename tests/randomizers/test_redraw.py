"""Randomized response told by the share of answers drawn anew from all options, against exact fractions."""

import decimal
import math
import random
from fractions import Fraction as F

import numpy as np
import pytest

from fuzz_answers import check_refusal
from oracles import neighbours
from shufflelib import randomizers, shuffle
from test_hostile import FOREIGN, is_refused

# redraw, d, users -> eps0 (4 decimals) and epsilon at delta = 1e-8, as an accountant of its own has them
DEPLOYED = [
    (0.01, 16, 7.3683, {10**6: 0.27055, 10**7: 0.08063}),
    (0.01, 32, 8.0612, {10**6: 0.39185, 10**7: 0.11595}),
    (0.01, 4096, 12.9129, {10**6: 6.29129, 10**7: 2.03175}),
    (0.05, 469, 9.0952, {10**6: 0.67728}),
]


@pytest.mark.parametrize(("redraw", "d", "eps0", "central"), DEPLOYED)
def test_what_deployed_clients_get(redraw, d, eps0, central):
    mechanism = randomizers.generalized_rr(redraw=redraw, d=d)
    assert abs(mechanism.eps0 - eps0) < 6e-5
    for n, eps in central.items():
        found = shuffle(mechanism, n=n).epsilon(1e-8)
        assert found.lower - 1e-5 <= eps <= found.upper + 1e-5
        assert found.upper - found.lower < 2e-5


@pytest.mark.parametrize(("nominal", "true"), [(1, 1.32558), (3, 3.06460), (5, 5.02341)])
def test_keeping_with_the_chance_of_the_truth_and_drawing_from_all_is_no_such_budget(nominal, true):
    """With 60 options: the other draw includes the truth."""
    keep = math.exp(nominal) / (math.exp(nominal) + 59)
    assert abs(randomizers.generalized_rr(redraw=1 - keep, d=60).eps0 - true) < 6e-6


def rows(redraw, d):
    """Return the table: the truth stays, or any option is drawn."""
    return [[(1 - redraw) * (x == y) + redraw / d for y in range(d)] for x in range(d)]


def drawn(seed):
    rng = random.Random(seed)
    return F(rng.randrange(1, 63), 64), rng.randrange(2, 5), rng.randrange(1, 4)


@pytest.mark.parametrize(("redraw", "d", "n"), [drawn(seed) for seed in range(12)])
def test_bounds_enclose_the_worst_dataset(redraw, d, n):
    """Exactly: a share of 64ths is a float."""
    profile = shuffle(randomizers.generalized_rr(redraw=float(redraw), d=d), n=n)
    worst = neighbours.Worst(neighbours.shuffled(rows(redraw, d), n), of_datasets=True)
    for ratio in (F(1), F(5, 4), F(2)):
        found, exact = profile.delta(math.log(ratio)), float(worst.delta(ratio))
        assert found.lower <= exact * (1 + 1e-12) + 1e-15
        assert found.upper >= exact * (1 - 1e-12) - 1e-15
        assert found.upper <= 1.6 * exact + 1e-13


@pytest.mark.parametrize("redraw", [1e-12, 1e-3, 0.3, 0.999, math.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("d", [2, 7, 10**15])
def test_the_budget_is_the_next_float_above_the_logarithm(redraw, d):
    found = randomizers.generalized_rr(redraw=redraw, d=d).eps0
    odds = 1 + (1 - F(redraw)) * d / F(redraw)
    with decimal.localcontext(prec=80):
        exact = (decimal.Decimal(odds.numerator) / odds.denominator).ln()
    assert decimal.Decimal(math.nextafter(found, 0.0)) < exact <= decimal.Decimal(found)


def test_samples_repeat_the_truth_as_often_as_said():
    mechanism, rng = randomizers.generalized_rr(redraw=0.5, d=4), np.random.default_rng(1)
    reports = mechanism.sample(np.full(40_000, 3), rng)
    assert abs((reports == 3).mean() - 0.625) < 4 * math.sqrt(0.25 / 40_000)


def test_bad_shares_are_refused_by_name():
    make = {"redraw": 0.1, "d": 4}
    for value in (*FOREIGN.values(), 0.0, 1.0, -0.1, 1e-13, math.inf):
        if value is not None:
            is_refused(randomizers.generalized_rr, make, "redraw", value)
    for value in (*FOREIGN.values(), 1, 2.5, 10**16, math.inf):
        is_refused(randomizers.generalized_rr, make, "d", value)
    for given in ({"d": 4}, {"eps0": 1.0, **make}):
        with pytest.raises(TypeError, match="eps0 .*redraw") as refusal:
            randomizers.generalized_rr(**given)
        check_refusal(refusal.value, ("eps0", "redraw"))
    for other in (randomizers.binary_rr, randomizers.generic):
        with pytest.raises(TypeError, match="redraw"):
            other(redraw=0.1)

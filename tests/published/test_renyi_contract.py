"""One contract for every published Rényi formula: its side of the truth, its regime."""

import itertools
import math
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

import oracles
from oracles import renyi_formulas
from shufflelib.published import closed_form, renyi
from shufflelib.published.renyi import OutOfRegime, over

# ---------------------------------------------------------------- truth, exact


@cache
def divergence(kind, e, n, order):
    """Return the larger Rényi divergence of both directions of a pair.

    ``clones``: the pair of FMT'21, above every mechanism, adaptive ones too.  ``binary``: binary randomized
    response, all others holding one value, below the worst case.
    """
    e = F(e)
    if kind == "binary":
        return max(renyi_formulas.binary_divergences(e, n, order))
    masses = renyi_formulas.proposition1(n, e)
    return max(renyi_formulas.divergence(way, order) for way in (masses, oracles.swapped(masses)))


UPPER = (renyi.girgis21_upper, renyi.girgis21_upper_simplified)
LOWER = (renyi.girgis21_lower, renyi.girgis21_lower_exact)
REFUTED = (renyi.gaussian_ccg24,)
GROWTH = (  # no constant is claimed
    renyi.erlingsson19_growth,
    renyi.girgis21_growth,
    renyi.clones_fmt21_growth,
    renyi.girgis21_lower_growth,
)
FORMULAS = (*UPPER, *LOWER, *REFUTED, *GROWTH)
WHOLE = (*UPPER, renyi.girgis21_lower)  # only whole orders from 2 on
OTHERS = {  # not functions of (eps0, n, order); tested for themselves
    "binary_rr_pair",
    "clones_delta_fmt21",
    "clones_pair_fmt21",
    "gaussian_delta_ccg24",
    "gaussian_mu_ccg24",
    "gaussian_tradeoff_ccg24",
    "generic_pair",
    "theorem1_pair_arxiv24",
    "theorem1_pair_icassp24",
}


def by_name(one):
    return one.__name__


each = pytest.mark.parametrize("bound", FORMULAS, ids=by_name)


def test_the_contract_covers_every_public_name():
    listed = {by_name(one) for one in FORMULAS}
    offered = {name for name, thing in vars(renyi).items() if callable(thing)}
    assert listed | OTHERS | {"over", "OutOfRegime"} == offered
    assert over is closed_form.over and OutOfRegime is closed_form.OutOfRegime


# ---------------------------------------------------------------- soundness

BUDGETS = (F(101, 100), F(3, 2), 3, 12)
USERS = (1, 2, 3, 8, 25)
ORDERS = (2, 3, 7, 30)
HAIR = 1e-11  # the formulas are rounded, the truth is not


@pytest.mark.parametrize("bound", UPPER, ids=by_name)
def test_an_upper_bound_is_above_every_mechanism(bound):
    for e, n, order in itertools.product(BUDGETS, USERS, ORDERS):
        truth, value = divergence("clones", e, n, order), bound(eps0=math.log(e), n=n, order=order)
        assert value >= truth * (1 - HAIR), (e, n, order, value, truth)


@pytest.mark.parametrize("bound", LOWER, ids=by_name)
def test_a_lower_bound_is_below_an_attack(bound):
    for e, n, order in itertools.product(BUDGETS, USERS, ORDERS):
        truth, value = divergence("binary", e, n, order), bound(eps0=math.log(e), n=n, order=order)
        assert value <= truth * (1 + HAIR), (e, n, order, value, truth)


# ---------------------------------------------------------------- regimes


@pytest.mark.parametrize("bound", WHOLE, ids=by_name)
def test_only_whole_orders_from_two_on(bound):
    for order in (2, 2.0, np.int64(2), 3, 10**4):
        assert math.isfinite(bound(eps0=0.5, n=1000, order=order))
    for order in (1.5, math.nextafter(1.0, 2.0), math.nextafter(2.0, 0.0), math.nextafter(2.0, 3.0), 2.5):
        with pytest.raises(OutOfRegime, match="whole order"):
            bound(eps0=0.5, n=1000, order=order)


def test_the_full_sum_has_a_largest_order_and_says_what_to_use_beyond():
    with pytest.raises(ValueError, match="girgis21_upper_simplified"):
        renyi.girgis21_upper(eps0=1.0, n=100, order=10**6 + 1)
    assert renyi.girgis21_upper_simplified(eps0=1.0, n=100, order=10**6 + 1) > 1.0


def test_the_normal_limit_needs_a_second_user():
    calls = (
        lambda n: renyi.gaussian_ccg24(eps0=1.0, n=n, order=2),
        lambda n: renyi.gaussian_mu_ccg24(eps0=1.0, n=n),
        lambda n: renyi.gaussian_delta_ccg24(eps0=1.0, delta0=1e-9, n=n, eps=0.1),
        lambda n: renyi.gaussian_tradeoff_ccg24(eps0=1.0, delta0=1e-9, n=n, fpr=0.1),
    )
    for call in calls:
        assert math.isfinite(call(2))
        with pytest.raises(OutOfRegime, match="n >= 2"):
            call(1)

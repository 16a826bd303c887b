"""One contract for every published Rényi formula: its verdict, its looseness, its shape, its manners."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as F
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import oracles
from oracles import renyi_formulas
from shufflelib.published import closed_form, renyi
from shufflelib.published.renyi import OutOfRegime, over

# ---------------------------------------------------------------- truth, exact


@cache
def masses(kind, e, n):
    """Return the exact masses of a pair.

    ``generic``: the pair of the stronger clones, above every pure eps0-LDP mechanism.
    ``clones``: the pair of FMT'21, above adaptive ones too.  ``binary``: binary randomized response,
    all others holding one value, below the worst case.
    """
    e = F(e)
    if kind == "binary":
        return renyi_formulas.binary_masses(e, n)
    q0 = e if kind == "generic" else 2 * e * e / (e + 1)
    return oracles.pair_masses(n=n, p=e, beta=(e - 1) / (e + 1), q0=q0)


@cache
def divergence(kind, e, n, order):
    """Return the larger Rényi divergence of both directions."""
    one = masses(kind, e, n)
    return max(renyi_formulas.divergence(way, order) for way in (one, oracles.swapped(one)))


class Formula(NamedTuple):
    """A published formula, on which side of the truth it belongs, and what became of that claim."""

    bound: Callable
    side: str  # "upper", "lower" or "" (an order of growth)
    verdict: str  # "holds", "refuted"
    looseness: tuple  # (e, n, order, ratio): over the generic pair, for lower bounds under binary RR
    whole: bool  # only whole orders >= 2


FORMULAS = (
    Formula(renyi.girgis21_upper, "upper", "holds", (2, 40, 3, 13.295), True),
    Formula(renyi.girgis21_upper_simplified, "upper", "holds", (2, 40, 3, 22.909), True),
    Formula(renyi.girgis21_lower, "lower", "holds", (2, 40, 3, 1.0464), True),
    Formula(renyi.girgis21_lower_exact, "lower", "holds", (2, 40, 3, 1.0422), False),
    Formula(renyi.gaussian_ccg24, "upper", "refuted", (2, 40, 3, 12.257), False),
    Formula(renyi.erlingsson19_growth, "", "no constant", (2, 40, 3, 191.21), False),
    Formula(renyi.girgis21_growth, "", "no constant", (2, 40, 3, 11.951), False),
    Formula(renyi.clones_fmt21_growth, "", "no constant", (2, 40, 3, 382.43), False),
    Formula(renyi.girgis21_lower_growth, "", "no constant", (2, 40, 3, 5.9754), False),
)
UPPER = tuple(one for one in FORMULAS if (one.side, one.verdict) == ("upper", "holds"))
LOWER = tuple(one for one in FORMULAS if one.side == "lower")
WHOLE = tuple(one for one in FORMULAS if one.whole)
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
    return getattr(one, "bound", one).__name__


each = pytest.mark.parametrize("formula", FORMULAS, ids=by_name)


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


def check_above(bound, kind):
    """Assert that the formula is nowhere below the pair that dominates every mechanism."""
    for e, n, order in itertools.product(BUDGETS, USERS, ORDERS):
        truth, value = divergence(kind, e, n, order), bound(eps0=math.log(e), n=n, order=order)
        assert value >= truth * (1 - HAIR), (e, n, order, value, truth)


def check_below(bound):
    """Assert that the formula is nowhere above the divergence of two datasets of binary RR."""
    for e, n, order in itertools.product(BUDGETS, USERS, ORDERS):
        truth, value = divergence("binary", e, n, order), bound(eps0=math.log(e), n=n, order=order)
        assert value <= truth * (1 + HAIR), (e, n, order, value, truth)


def check_tight(formula):
    """Assert the stated distance from the truth, to a thousandth: neither looser nor smaller."""
    e, n, order, stated = formula.looseness
    value = formula.bound(eps0=math.log(e), n=n, order=order)
    if formula.side == "lower":
        ratio = divergence("binary", e, n, order) / value
    else:
        ratio = value / divergence("generic", e, n, order)
    assert ratio == pytest.approx(stated, rel=1e-3)


@pytest.mark.parametrize("formula", UPPER, ids=by_name)
def test_an_upper_bound_is_above_every_mechanism(formula):
    check_above(formula.bound, "clones")


@pytest.mark.parametrize("formula", LOWER, ids=by_name)
def test_a_lower_bound_is_below_an_attack(formula):
    check_below(formula.bound)


@pytest.mark.parametrize("formula", UPPER, ids=by_name)
@pytest.mark.parametrize(("eps0", "n"), [(0.1, 10**4), (1.0, 10**4), (3.0, 10**5), (8.0, 10**6)])
def test_an_upper_bound_is_above_the_certified_pair_for_many_users(formula, eps0, n):
    for order in (2, 8, 64):
        certified = renyi.generic_pair(eps0=eps0, n=n).renyi(order)
        assert formula.bound(eps0=eps0, n=n, order=order) >= certified.upper


@each
def test_looseness_is_as_stated(formula):
    check_tight(formula)


# ---------------------------------------------------------------- shape


@each
def test_more_users_never_give_a_larger_value(formula):
    users = [10, 11, 30, 100, 101, 10**3, 10**4, 10**6, 10**9, 10**15]
    for eps0 in (0.1, 2.0):
        values = [formula.bound(eps0=eps0, n=n, order=4) for n in users]
        assert all(b <= a * (1 + 1e-9) for a, b in zip(values, values[1:], strict=False)), values
        assert values[-1] < 1e-2 * values[0]


@each
def test_a_larger_budget_and_a_larger_order_give_larger_values(formula):
    """Orders where the Chernoff term of the Girgis bounds is negligible; it alone falls with the order."""
    budgets = (1e-3, 0.01, 0.3, 1.0, 2.5, 5.0, 9.0, 30.0)
    by_budget = [formula.bound(eps0=eps0, n=10**4, order=3) for eps0 in budgets]
    by_order = [formula.bound(eps0=1.0, n=10**5, order=order) for order in (2, 3, 5, 20, 100)]
    for values in (by_budget, by_order):
        assert all(a < b for a, b in itertools.pairwise(values)), values
    if by_name(formula).startswith("girgis21") and not by_name(formula).endswith("growth"):
        assert 0.0 < by_budget[0] < 1e-8  # vanishes with eps0; the normal limit and the rows do not


# ---------------------------------------------------------------- regimes


@pytest.mark.parametrize("formula", WHOLE, ids=by_name)
def test_only_whole_orders_from_two_on(formula):
    for order in (2, 2.0, np.int64(2), 3, 10**4):
        assert math.isfinite(formula.bound(eps0=0.5, n=1000, order=order))
    for order in (1.5, math.nextafter(1.0, 2.0), math.nextafter(2.0, 0.0), math.nextafter(2.0, 3.0), 2.5):
        with pytest.raises(OutOfRegime, match="whole order"):
            formula.bound(eps0=0.5, n=1000, order=order)


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

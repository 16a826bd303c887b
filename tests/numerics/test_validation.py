"""Hostile input at every public entry: refused by name, with the value and what to do; extremes answered."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from shufflelib.numerics import validation
from shufflelib.profiles import DiscretePair
from shufflelib.shuffling import VariationRatioPair

NAN, INF = math.nan, math.inf
NOT_NUMBERS = ("1e-8", b"1", None, True, np.True_, 1j, object(), [], {})
LOGS = np.log([0.5, 0.5])


def test_a_refusal_names_the_argument_the_value_what_is_accepted_and_the_remedy():
    for call, value in ((validation.real, -1.5), (validation.real, NAN), (validation.reals, [0.5, -1.5])):
        with pytest.raises(
            ValueError, match=r"^eps must be finite and >= 0, got .*; swap the roles"
        ) as error:
            call(value, "eps", at_least=0.0, remedy="swap the roles")
        assert repr(np.ravel(value)[-1].item()) in str(error.value)
    for value in NOT_NUMBERS:
        with pytest.raises(TypeError, match="^eps must"):
            validation.real(value, "eps")


@pytest.mark.parametrize(("q0", "q1"), [(1.0, 1.0), (1.0, 1.1)])
def test_a_pair_without_probability_left_is_refused(q0, q1):
    with pytest.raises(ValueError, match=r"q0.*got q0=.*larger"):
        VariationRatioPair(n=10, p=1.5, beta=0.2, q0=q0, q1=q1)


@pytest.mark.parametrize(
    ("log_p", "log_q", "error"),
    [
        ([], [], ValueError),
        (LOGS, LOGS[:1], ValueError),
        (LOGS, np.log([1.0]), ValueError),
        ([0.0, 0.0], LOGS, ValueError),
        ([[0.0]], [[0.0]], TypeError),
    ],
)
def test_discrete_pairs_refuse_what_is_no_distribution(log_p, log_q, error):
    with pytest.raises(error, match="^log_"):
        DiscretePair(log_p, log_q)


def test_reals_keeps_shape_and_leaves_the_input_alone():
    grid = np.array([[1, 2], [3, 4]])
    got = validation.reals(grid, "x", at_least=1.0)
    got[0, 0] = 9.0
    assert grid[0, 0] == 1 and got.shape == (2, 2) and got.dtype == float


def test_reals_takes_fractions_and_refuses_durations():
    assert validation.reals([Fraction(1, 2), 10**400], "x", finite=False).tolist() == [0.5, math.inf]
    for wrong in (
        np.timedelta64(5, "s"),
        [np.timedelta64(5, "s")],
        [Fraction(1, 2), True],
        [0.5, True],
        [0.5, "1"],
    ):
        with pytest.raises(TypeError, match="x must be a (real )?number, got"):
            validation.reals(wrong, "x")


LONG = {
    "string": "1" * 10**5,
    "bytes": b"1" * 10**5,
    "integer": -(10**400),
    "integer that Python does not write out": -(10**5000),
    "rows of unequal length": [[0.1] * 1000, [0.1]],
    "nested list": [[["0.1"] * 50] * 50] * 50,
    "dictionary": {i: i for i in range(1000)},
    "array of strings": np.full((50, 50), "a" * 500),
    "array in an argument of one number": np.ones((100, 100)),
}


@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
def test_a_long_value_is_shown_shortened_on_one_line(value):
    def refuse(call):
        with pytest.raises((TypeError, ValueError), match="^eps must") as error:
            call(value, "eps", at_least=0.0, remedy="eps is in nats, not negative")
        assert "got" in str(error.value)
        assert len(str(error.value)) < 200 and "\n" not in str(error.value)

    refuse(validation.real)
    if not (isinstance(value, np.ndarray) and value.dtype == float):
        refuse(validation.reals)


def test_whole_numbers_beyond_the_floats_are_infinite_on_their_own_side():
    assert validation.real(10**400, "x", finite=False, remedy="") == INF
    assert validation.real(-(10**400), "x", finite=False, remedy="") == -INF
    with pytest.raises(ValueError, match="x"):
        validation.real(-(10**400), "x", at_least=0.0, finite=False, remedy="")


@pytest.mark.parametrize(
    ("limit", "written"), [(10**15, "1e+15,"), (10**15 - 1, "999999999999999,"), (0.5, "0.5,")]
)
def test_the_end_of_a_domain_is_written_so_that_it_can_be_met(limit, written):
    with pytest.raises(ValueError, match=f"x must be finite and <= {re.escape(written)} got"):
        validation.real(limit + 1, "x", at_most=limit)

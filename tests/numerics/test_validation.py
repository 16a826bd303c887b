"""Hostile input at every public entry: refused by name, with the value and what to do; extremes answered."""

import math
import re
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.numerics import validation
from shufflelib.profiles import DiscretePair
from shufflelib.shuffling import VariationRatioPair

NAN, INF = math.nan, math.inf
NOT_NUMBERS = ("1e-8", b"1", None, True, np.True_, 1j, object(), [], {})
GENERIC = randomizers.generic(eps0=1.0)
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


@pytest.mark.parametrize("empty", [[], np.empty((0, 3))], ids=["list", "array"])
def test_an_empty_array_is_refused(empty):
    with pytest.raises(ValueError, match="^eps must not be empty"):
        shuffle(GENERIC, n=5).delta(empty)


def test_the_yaml_trap_is_explained():
    with pytest.raises(TypeError, match=r"delta must be a number, got the string '1e-8'; write 1\.0e-8"):
        shuffle(GENERIC, n=10).epsilon("1e-8")


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
        ([NAN, 0.0], LOGS, ValueError),
        ([INF, 0.0], LOGS, ValueError),
        ([0.0, 0.0], LOGS, ValueError),
        ([[0.0]], [[0.0]], TypeError),
        (0.0, 0.0, TypeError),
        ("ab", LOGS, TypeError),
        (["a", "b"], LOGS, TypeError),
        (None, LOGS, TypeError),
        ([None, 0.0], LOGS, TypeError),
        ([True, False], LOGS, TypeError),
    ],
)
def test_discrete_pairs_refuse_what_is_no_distribution(log_p, log_q, error):
    with pytest.raises(error, match="^log_"):
        DiscretePair(log_p, log_q)


@pytest.mark.parametrize("n", [1, 2])
def test_a_budget_of_700_neither_overflows_nor_warns(n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for randomizer in (
            randomizers.generic(eps0=700.0),
            randomizers.generalized_rr(eps0=700.0, d=10),
            randomizers.subset(eps0=700.0, d=16, k=4),
        ):
            got = shuffle(randomizer, n=n).epsilon(1e-6)
            assert 0.0 <= got.lower <= got.upper <= 700.0 * (1 + 1e-9)
            assert got.lower > 1.0  # nobody hides behind e^-700
        p = math.exp(700.0)
        pair = VariationRatioPair(n=n, p=p, beta=1.0 - 1e-15, q0=p)
        assert 1.0 < pair.epsilon(1e-6).lower <= pair.epsilon(1e-6).upper <= 700.0 * (1 + 1e-9)


@pytest.mark.parametrize("n", [1, 5, 10**9])
def test_a_delta_of_1e_300_is_answered_or_refused_honestly(n):
    for profile in (shuffle(GENERIC, n=n), VariationRatioPair(n=n, p=math.e, beta=math.tanh(0.5), q0=math.e)):
        got = profile.epsilon(1e-300)
        assert 0.0 <= got.lower <= got.upper
        assert got.upper >= min(1.0, 36.0 / math.sqrt(n)) * 0.5  # never looks private
        assert got.upper <= 1.0 + 1e-9 or math.isinf(got.upper)
        small = profile.delta(1.0 - 1e-9)
        assert 0.0 <= small.lower <= small.upper


@pytest.mark.parametrize("n", [1, 10**15])
def test_the_ends_of_the_range_of_users_are_answered(n):
    for value in (n, float(n), np.int64(n), np.float64(n)):
        assert 0.0 < shuffle(GENERIC, n=value).epsilon(1e-12).upper <= 1.0 + 1e-9


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


def test_a_short_value_is_shown_whole():
    for value in (*NOT_NUMBERS, -1.5, 10**30, [0.1, [0.2, 0.3]], np.float64(0.5), np.array([0.1, 0.2])):
        assert validation.shown(value) == repr(value)
    assert validation.shown(np.eye(2)) == "array([[1., 0.], [0., 1.]])"
    for value in LONG.values():
        assert len(validation.shown(value)) <= validation.WIDTH
    assert validation.shown("1" * 10**5).startswith("'111") and "..." in validation.shown("1" * 10**5)


HEAVY = ("matplotlib", "sklearn", "dp_accounting", "ipywidgets", "papermill", "joblib", "IPython")


def test_importing_the_package_is_light():
    code = f"import sys, shufflelib; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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

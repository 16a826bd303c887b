"""`Certified`: frozen, ordered, never NaN, and silent about which end a caller wants."""

import dataclasses
import math

import numpy as np
import pytest

from shufflelib import Certified, Status
from shufflelib.numerics.interval import Interval


def test_scalars_become_floats_and_arrays_read_only():
    one = Certified(1, np.float64(2.0))
    assert (type(one.lower), type(one.upper)) == (float, float)
    many = Certified([0.0, 1.0], [0.5, 1.0])
    for end in (many.lower, many.upper):
        with pytest.raises(ValueError, match="read-only"):
            end[0] = 7.0


def test_the_caller_s_arrays_are_neither_frozen_nor_shared():
    low, high = np.zeros(2), np.ones(2)
    got = Certified(low, high)
    low[0] = 0.5
    high[0] = 0.25
    assert got.lower.tolist() == [0.0, 0.0]
    assert got.upper.tolist() == [1.0, 1.0]


def test_fields_cannot_be_reassigned():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Certified(0.0, 1.0).upper = 0.5


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (1.0, 0.5, "lower <= upper"),
        (float("nan"), 1.0, "lower <= upper"),
        (0.0, float("nan"), "lower <= upper"),
        ([0.0, 1.0], [1.0, 0.5], "lower <= upper"),
        ([0.0, 1.0], 1.0, "equal shapes"),
        (0.0, [1.0], "equal shapes"),
    ],
)
def test_inverted_nan_or_mismatched_ends_are_refused(lower, upper, words):
    with pytest.raises(ValueError, match=words):
        Certified(lower, upper)


def test_an_infinite_upper_end_is_allowed_and_said():
    got = Certified(0.3, np.inf, Status.UNBOUNDED)
    assert "infinite" in str(got)


def test_there_is_no_float_of_a_bracket():
    with pytest.raises(TypeError):
        float(Certified(0.0, 1.0))


def test_printing_gives_statement_ends_status_and_source():
    text = str(Certified(0.25, 0.5, source="a proof", statement="epsilon of something"))
    for words in ("epsilon of something", "0.25 ≤ value ≤ 0.5", Status.CERTIFIED.value, "a proof"):
        assert words in text
    assert "3 brackets" in str(Certified(np.zeros(3), np.ones(3)))


def test_probabilities_of_logarithms():
    assert Interval(-math.inf, -math.inf).probabilities() == (0.0, 0.0)
    assert Interval(-800.0, -800.0).probabilities() == (0.0, math.ulp(0.0))
    assert not Interval(-math.inf, math.nan).probabilities()[1] < 1.0  # NaN never looks private

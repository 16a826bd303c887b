"""`Certified`: frozen, ordered, never NaN, and silent about which end a caller wants."""

import json
import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from shufflelib import Certified, Status
from shufflelib.numerics.certified import Interval, written


def test_scalars_become_floats_and_arrays_read_only():
    one = Certified(1, np.float64(2.0))
    assert (type(one.lower), type(one.upper)) == (float, float)
    many = Certified([0.0, 1.0], [0.5, 1.0])
    for end in (many.lower, many.upper):
        with pytest.raises(ValueError, match="read-only"):
            end[0] = 7.0


@pytest.mark.parametrize("value", [5e-324, -5e-324, 1.234567e-310, 2.2250738585072014e-308, 0.1, -1e300])
@pytest.mark.parametrize("digits", [1, 2, 6, 15])
def test_a_written_bound_is_rounded_outward_below_the_normal_floats_too(value, digits):
    low, high = (Fraction(written(value, up=up, digits=digits)) for up in (False, True))
    assert low <= Fraction(value) <= high
    assert high - low <= Fraction(10) ** (1 - digits) * abs(Fraction(value))


def test_the_caller_s_arrays_are_neither_frozen_nor_shared():
    low, high = np.zeros(2), np.ones(2)
    got = Certified(low, high)
    low[0] = 0.5
    high[0] = 0.25
    assert got.lower.tolist() == [0.0, 0.0]
    assert got.upper.tolist() == [1.0, 1.0]


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


@pytest.mark.parametrize(
    "use", [float, int, tuple, lambda one: one < 1.0, lambda one: one >= one, lambda one: max(one, 2.0)]
)
def test_a_bracket_used_as_a_number_says_which_end_is_meant(use):
    with pytest.raises(TypeError, match=r"\.upper, the proved guarantee"):
        use(Certified(0.0, 1.0))


def test_a_format_rounds_both_ends_outward():
    assert f"{Certified(0.12345, 0.12355):.3g}" == "[0.123, 0.124]"
    assert f"{Certified([0.25, 0.5], [0.75, np.inf]):.1g}" == "[0.2, 0.8], [0.5, inf]"
    assert f"{Certified(0.0, 1.0, statement='delta')}".startswith("delta")
    assert f"{Certified([0.12345, 1e300], [0.12355, np.inf]):.3f}".startswith("[0.123, 0.124], [1000000")
    assert f"{Certified(0.0, 1.0):.15f}" == "[0.000000000000000, 1.000000000000000]"
    with pytest.raises(ValueError, match=r"like '\.3g'"):
        f"{Certified(0.0, 1.0):.3e}"


def test_the_first_line_says_that_a_bracket_is_wide_and_why():
    wide = Certified(0.1, 1.3, statement="epsilon", cause="theory: an example")
    assert str(wide).splitlines()[0] == "certified, but wide: a factor 13 (theory: an example)"
    assert wide.width == pytest.approx(13.0)
    assert str(Certified(1e-306, 1e-20)).startswith("certified, but wide: a factor 1.0e+286\n")
    assert str(Certified(1.0, 2.0, statement="epsilon")).splitlines()[0] == "epsilon"
    assert Certified([0.0, 0.0, 1.0], [0.0, 1.0, 3.0]).width.tolist() == [1.0, math.inf, 3.0]


def test_a_dictionary_holds_what_json_can():
    found = json.loads(json.dumps(Certified([0.1, 0.2], [0.3, 0.4], assumptions=("a", "b")).to_dict()))
    assert (found["lower"], found["status"], found["assumptions"]) == ([0.1, 0.2], "certified", "a; b")


def test_printing_gives_statement_ends_status_and_source():
    text = str(Certified(0.25, 0.5, source="a proof", statement="epsilon of something"))
    for words in ("epsilon of something", "0.25 ≤ value ≤ 0.5", Status.CERTIFIED.value, "a proof"):
        assert words in text
    assert "3 brackets" in str(Certified(np.zeros(3), np.ones(3)))


def test_probabilities_of_logarithms():
    assert Interval(-math.inf, -math.inf).probabilities() == (0.0, 0.0)
    assert Interval(-800.0, -800.0).probabilities() == (0.0, math.ulp(0.0))
    assert not Interval(-math.inf, math.nan).probabilities()[1] < 1.0  # NaN never looks private


# ---------------------------------------------------------------- intervals, against arithmetic of 200 digits

VERBS = {
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.expm1(),
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "abs": lambda x: abs(x),
    "minus": lambda x: -x,
    "plus": lambda x: x + 0.1,
    "from": lambda x: 0.1 - x,
    "times": lambda x: x * -0.3,
    "over": lambda x: x / 0.3,
    "under": lambda x: 1.0 / x,
    "beside": lambda x: (x.log() - (x * 2.0).log()).exp(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_operations_round_outward_and_no_further_than_they_say(verb):
    values = np.append(10.0 ** np.random.default_rng(1).uniform(-290.0, 2.5, 200), [1.0, 5e-324, 700.0])
    if verb in ("exp", "expm1", "abs", "minus", "plus", "from", "times", "over"):
        values = np.concatenate([values, -values])
    if verb == "under":
        values = values[values > 1e-300]
    array = VERBS[verb](Interval.of(values))
    with flint.ctx.workprec(700):
        for i, value in enumerate(values.tolist()):
            truth = VERBS[verb](flint.arb(value))
            for found in (VERBS[verb](Interval.of(value)), array.at(i)):
                low, high = (flint.arb(float(end)) for end in found)
                assert low <= truth <= high
                assert not high - low > 1e-14 * abs(truth) + 1e-322 or verb == "beside"


def test_sums_of_intervals_enclose_the_sums():
    rng = np.random.default_rng(2)
    for size in (1, 7, 3000):
        logs = np.append(rng.uniform(-800.0, 5.0, size), -np.inf)
        numbers = Interval.of(logs).exp()
        total, running, log_total = numbers.sum(), numbers.cumsum(), Interval.of(logs).log_sum()
        with flint.ctx.workprec(700):
            truth = sum((flint.arb(x).exp() for x in logs[:-1]), flint.arb(0))
            assert total.lower <= truth <= total.upper <= total.lower * (1 + 1e-14)
            assert running.lower[-1] <= truth <= running.upper[-1] <= running.lower[-1] * (1 + 1e-14)
            assert (
                log_total.lower
                <= truth.log()
                <= log_total.upper
                <= log_total.lower + 2e-14 + 1e-15 * abs(log_total.lower)
            )
    nothing, unbounded = Interval.of(np.full(2, -np.inf)), Interval(np.zeros(2), np.array([1.0, np.inf]))
    assert nothing.log_sum() == (-math.inf, -math.inf) and unbounded.log_sum() == (-math.inf, math.inf)


def test_logarithms_of_sums_of_two():
    for one, two in (
        (0.0, 0.0),
        (-1e-3, -7.0),
        (-800.0, -801.0),
        (math.log(0.5), math.log(0.5)),
        (3.0, -900.0),
    ):
        found = Interval.of(one).log_add(two)
        with flint.ctx.workprec(700):
            truth = (flint.arb(one).exp() + flint.arb(two).exp()).log()
            assert found.lower <= truth <= found.upper <= found.lower + 1e-14 * (1 + abs(found.lower))


def test_a_frame_has_a_row_for_each_number():
    frame = Certified(lower=[0.1, 0.2], upper=[0.3, 0.4]).to_frame(n=[10, 100], bound="ours")
    assert frame.to_dict("list") == {
        "n": [10, 100],
        "bound": ["ours", "ours"],
        "lower": [0.1, 0.2],
        "upper": [0.3, 0.4],
    }
    assert len(Certified(lower=0.1, upper=0.2).to_frame()) == 1
    with pytest.raises(ValueError):
        Certified(lower=[0.1, 0.2], upper=[0.3, 0.4]).to_frame(n=[1, 2, 3])

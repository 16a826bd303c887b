"""Searches for where a falling function reaches a target."""

import math

import pytest

from shufflelib.numerics.root_finding import certified_root


@pytest.mark.parametrize("off", [-1e-9, -1e-13, 0.0, 1e-13, 1e-9])
@pytest.mark.parametrize("safe_above", [True, False])
def test_a_guess_at_the_root_is_enough(safe_above, off):
    """One end of the range is far, and nothing sends the search there."""
    asked = []

    def log_value(x):
        asked.append(x)
        return -0.5 * x * x - 1.0

    found = certified_root(
        log_value, -9.0, 50.0, safe_above=safe_above, log_start=-1.0, guess=4.0 * (1.0 + off), width=1e-7
    )
    assert found == pytest.approx(4.0, rel=1e-6)
    assert found >= 4.0 * (1.0 - 1e-15) if safe_above else found <= 4.0 * (1.0 + 1e-15)
    assert len(asked) <= 8


@pytest.mark.parametrize("power", [1.0, 1.3, 9.0])
@pytest.mark.parametrize("safe_above", [True, False])
def test_a_root_near_the_end_takes_few_values(safe_above, power):
    """There the function falls to 0 like a power of the distance, as δ does at the largest loss."""
    asked = []

    def log_value(x):
        asked.append(x)
        return power * math.log(-math.expm1(x - 3.0)) if x < 3.0 else -math.inf

    found = certified_root(log_value, -20.0, 3.0, safe_above=safe_above, log_start=-0.1, width=1e-9)
    root = 3.0 + math.log1p(-math.exp(-20.0 / power))
    assert found == pytest.approx(root, rel=2e-9)
    assert log_value(found) <= -20.0 if safe_above else log_value(found) > -20.0
    assert len(asked) <= 12


@pytest.mark.parametrize("safe_above", [True, False])
def test_a_function_may_be_zero_long_before_the_end_of_the_range(safe_above):
    def log_value(x):
        return math.log(-math.expm1(x - 3.0)) if x < 3.0 else -math.inf

    found = certified_root(log_value, -20.0, math.inf, safe_above=safe_above, log_start=-0.1, width=1e-9)
    assert found == pytest.approx(3.0 + math.log1p(-math.exp(-20.0)), rel=2e-9)

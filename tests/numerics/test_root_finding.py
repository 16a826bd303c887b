"""Searches for where a falling function reaches a target."""

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

"""Coarse curves for all tests of the explorer."""

import pytest

from shufflelib.explorer import pictures, questions


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Draw curves through two or three points."""
    monkeypatch.setattr(pictures, "USERS", (100, 10**6))
    monkeypatch.setattr(pictures, "BUDGETS", (0.5, 2.0))
    monkeypatch.setattr(questions, "FALSE_ALARMS", (0.0, 0.5, 1.0))
    monkeypatch.setattr(questions, "ORDERS", (2.0, 8.0))

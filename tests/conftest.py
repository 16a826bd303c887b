"""Marks the slow tests, which `slow.txt` lists."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

SLOW = [line for line in Path(__file__).with_name("slow.txt").read_text().splitlines() if line[0] != "#"]


def pytest_collection_modifyitems(items):
    for item in items:
        if any(fnmatchcase(item.nodeid, pattern) for pattern in SLOW):
            item.add_marker(pytest.mark.slow)

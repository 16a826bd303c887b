"""Rows on disk: they survive a kill and a full disk, and no damaged one is believed."""

import subprocess
import sys

import pytest

from shufflelib.sweeps import tabulate
from shufflelib.sweeps.table import answered, grid_points

SPEC = {"quantity": "delta", "randomizer": "binary-rr", "eps0": [1, 2.0], "n": [10, 20, 50], "eps": 0.2}
POINTS = grid_points(SPEC)


def lines(folder):
    return (folder / "rows.jsonl").read_text().splitlines()[1:]


def test_what_is_kept_is_not_run_again_and_comes_back_as_it_was(tmp_path, monkeypatch):
    fresh, found = answered(POINTS, n_jobs=2, cache=tmp_path)
    assert found == 0 and len(lines(tmp_path)) == 6 and fresh == tabulate(SPEC, n_jobs=1)
    monkeypatch.setattr("shufflelib.sweeps.table.completed", lambda *_, **__: 1 / 0)
    assert answered(POINTS, cache=tmp_path) == (fresh, 6)


def test_a_longer_table_uses_what_is_kept_of_a_shorter_one(tmp_path):
    tabulate(SPEC, n_jobs=1, cache=tmp_path)
    longer = SPEC | {"n": [5, 10, 20, 50]}
    rows, found = answered(grid_points(longer), n_jobs=1, cache=tmp_path)
    assert (found, len(rows)) == (6, 8)
    assert rows == tabulate(longer, n_jobs=2)


def test_rows_of_other_code_are_not_used(tmp_path, monkeypatch):
    tabulate(SPEC, n_jobs=1, cache=tmp_path)
    monkeypatch.setattr("shufflelib.sweeps.table.environment", lambda: "shufflelib of another day")
    assert answered(POINTS, n_jobs=1, cache=tmp_path)[1] == 0


DAMAGE = {
    "cut short": lambda content: content[:-5],
    "empty": lambda content: b"",
    "a changed number": lambda content: content.replace(b'"upper": 0.', b'"upper": 0.0', 1),
    "no text": lambda content: bytes(range(256)),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_row_is_computed_again(tmp_path, damage):
    expected = tabulate(SPEC, n_jobs=1, cache=tmp_path)
    file = tmp_path / "rows.jsonl"
    file.write_bytes(damage(file.read_bytes()))
    again, found = answered(POINTS, n_jobs=1, cache=tmp_path)
    assert again == expected and found < 6
    assert answered(POINTS, n_jobs=1, cache=tmp_path) == (expected, 6)


def test_two_sweeps_share_a_folder(tmp_path):
    code = (
        f"import sys; from shufflelib.sweeps import tabulate; tabulate({SPEC}, n_jobs=1, cache=sys.argv[1])"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, tmp_path]) for _ in range(2)]
    assert [one.wait(timeout=100) for one in both] == [0, 0]
    assert answered(POINTS, n_jobs=1, cache=tmp_path) == (tabulate(SPEC, n_jobs=1), 6)

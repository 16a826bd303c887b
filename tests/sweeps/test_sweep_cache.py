"""Rows on disk: they survive a kill and a full disk, and no damaged one is believed."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from shufflelib import randomizers
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


def test_rows_of_a_table_are_kept_by_its_entries_not_by_its_name(tmp_path):
    spec = {"quantity": "delta", "pmf": str(tmp_path / "own.npy"), "n": [10, 20], "eps": 0.2}
    kept, other = {"n_jobs": 1, "cache": tmp_path / "kept"}, np.array([[0.7, 0.3], [0.4, 0.6]])
    for table, found in ((np.eye(2) / 2 + 0.25, 0), (other, 0), (np.eye(2) / 2 + 0.25, 2)):
        np.save(tmp_path / "own.npy", table)
        assert answered(grid_points(spec), **kept)[1] == found
    mechanism = randomizers.from_pmf(other.tolist())
    mechanism.blanket()  # what it has computed makes no difference
    for subject in ({"pmf": other}, {"pmf": None, "randomizer": mechanism}):
        assert answered(grid_points(spec | subject), **kept)[1] == 2


def test_what_depends_on_a_function_is_not_kept(tmp_path):
    edges = {"inputs": [0.0, 1.0], "edges": [-50.0, 0.0, 50.0], "slope": 0.4, "survival": None}
    noise = randomizers.from_density(lambda y, x: 1.0 / (1.0 + np.exp(x - y)), **edges)
    spec = {"quantity": "delta", "randomizer": noise, "n": 10, "eps": 0.2}
    with pytest.raises(TypeError, match="must be made of numbers for its rows to be kept"):
        tabulate(spec, n_jobs=1, cache=tmp_path)


def test_a_sweep_that_is_killed_goes_on_and_gives_the_same_table(tmp_path):
    spec = {"quantity": "error", "randomizer": "binary-rr", "n": list(range(100, 4100)), "eps0": 1.0}
    code = f"from shufflelib.sweeps import tabulate; tabulate({spec}, n_jobs=1, cache={str(tmp_path)!r})"
    killed, file = subprocess.Popen([sys.executable, "-c", code]), tmp_path / "rows.jsonl"
    while not file.exists() or file.stat().st_size < 20_000:
        assert killed.poll() is None
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    rows, found = answered(grid_points(spec), n_jobs=1, cache=tmp_path)
    assert 100 < found < 4000 and rows == tabulate(spec, n_jobs=1)

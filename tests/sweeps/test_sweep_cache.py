"""Results on disk: they survive a kill and a full disk, and no unsound one is believed."""

import collections
import errno
import functools
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from shufflelib import Certified, Status, __version__
from shufflelib.sweeps import Cache, cases, grid, plain, sweep
from shufflelib.sweeps.identity import environment
from test_sweeps import first_draw


def counted(rng, case, log):
    with open(log, "a") as file:
        file.write(f"{case}\n")
    time.sleep(0.02)
    return case, rng.random(3), {"inf": math.inf, "small": 5e-324}


def executions(log):
    return collections.Counter(map(int, Path(log).read_text().split())) if Path(log).exists() else {}


def same(one, other):
    return plain.encode(one) == plain.encode(other)


def counting(tmp_path, cases=12):
    log = str(tmp_path / "log")
    return log, grid(case=range(cases), log=[log])


def test_what_is_kept_is_not_run_again_and_comes_back_as_it_was(tmp_path):
    log, cases = counting(tmp_path)
    fresh = sweep(counted, cases, seed=3, n_jobs=2, cache=tmp_path / "cache")
    again = sweep(counted, cases, seed=3, cache=str(tmp_path / "cache"))
    assert same(fresh, again) and same(fresh, sweep(counted, cases, seed=3, n_jobs=1))
    assert set(executions(log).values()) == {2}  # once for the cache, once without one
    sweep(counted, cases, seed=4, n_jobs=1, cache=tmp_path / "cache")
    sweep(counted, cases[:3], seed=3, n_jobs=1, cache=tmp_path / "cache")
    assert set(executions(log).values()) == {3}


def test_equal_cases_keep_numbers_of_their_own(tmp_path):
    cases = grid(case=[1, 1, 1])
    fresh = sweep(first_draw, cases, seed=3, n_jobs=1, cache=tmp_path)
    assert len(set(fresh)) == 3 and fresh == sweep(first_draw, cases, seed=3, n_jobs=1, cache=tmp_path)


SCRIPT = """
import sys
import test_sweep_cache as kept
folder, log, jobs = sys.argv[1:]
kept.sweep(
    kept.counted, kept.grid(case=range(40), log=[log]), seed=3, n_jobs=int(jobs), cache=folder
)
"""


def start(tmp_path, log, jobs):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, tmp_path / "cache", log, str(jobs)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        start_new_session=True,
    )


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def test_a_killed_sweep_continues(tmp_path):
    log, cases = counting(tmp_path, 40)
    running = start(tmp_path, log, 2)
    try:
        wait_for(lambda: len(list((tmp_path / "cache").glob("*.json"))) >= 5)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    files = list((tmp_path / "cache").glob("*.json"))
    kept = [json.loads(file.read_text().partition("\n")[2])["name"]["case"]["case"] for file in files]
    assert 5 <= len(kept) < 40
    resumed = sweep(counted, cases, seed=3, n_jobs=1, cache=tmp_path / "cache")
    runs = executions(log)
    assert set(runs) == set(range(40)) and {runs[case] for case in kept} == {1}
    assert same(resumed, sweep(counted, cases, seed=3, n_jobs=1))


def test_two_sweeps_share_a_folder(tmp_path):
    log, cases = counting(tmp_path, 40)
    both = [start(tmp_path, log, 1) for _ in range(2)]
    assert [one.wait(timeout=100) for one in both] == [0, 0]
    before = executions(log)
    cache = Cache(tmp_path / "cache")
    shared = sweep(counted, cases, seed=3, n_jobs=1, cache=cache)
    assert (cache.found, cache.damaged, executions(log)) == (40, 0, before)
    assert same(shared, sweep(counted, cases, seed=3, n_jobs=1))
    assert len(os.listdir(tmp_path / "cache")) == 40  # nothing half written is left


def signed(body):
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def resigned(change):
    """Change an entry's JSON and make its checksum right."""

    def apply(content, other):
        entry = json.loads(content.partition(b"\n")[2])
        change(entry)
        return signed(json.dumps(entry).encode())

    return apply


DAMAGE = {
    "cut short": lambda content, other: content[:-20],
    "empty": lambda content, other: b"",
    "another number": lambda content, other: content.replace(b'"small": 5e-324', b'"small": 5e-323'),
    "not text": lambda content, other: bytes(range(256)),
    "another's": lambda content, other: other,
    "no entry": lambda content, other: signed(b"[1]"),
    "no JSON": lambda content, other: signed(b"{"),
    "too deep": lambda content, other: signed(b"[" * 100_000),
    "unknown form": resigned(lambda entry: entry.update(result={"!pickle": "gASVAA=="})),
    "array of objects": resigned(lambda entry: entry.update(result={"!array": ["|O", [1], "AAAAAAAAAAA="]})),
    "array too short": resigned(lambda entry: entry.update(result={"!array": ["<f8", [2], "AAAAAAAAAAA="]})),
    "no result": resigned(lambda entry: entry.pop("result")),
    "older code": resigned(lambda entry: entry["name"].update({"with": "shufflelib 0.0.9"})),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_result_is_computed_again_and_no_other(tmp_path, damage):
    log, cases = counting(tmp_path, 3)
    expected = sweep(counted, cases, seed=3, n_jobs=1, cache=tmp_path / "cache")
    one, other, _ = sorted((tmp_path / "cache").iterdir())
    one.write_bytes(damage(one.read_bytes(), other.read_bytes()))
    cache = Cache(tmp_path / "cache")
    assert same(sweep(counted, cases, seed=3, n_jobs=1, cache=cache), expected)
    assert (cache.found, cache.damaged, sorted(executions(log).values())) == (2, 1, [1, 1, 2])
    assert Cache(tmp_path / "cache").damaged == 0 and len(os.listdir(tmp_path / "cache")) == 3


def test_results_of_other_versions_are_not_used(tmp_path, monkeypatch):
    log, cases_ = counting(tmp_path, 3)
    sweep(counted, cases_, seed=3, n_jobs=1, cache=tmp_path / "cache")
    monkeypatch.setattr(cases, "environment", lambda: environment().replace(__version__, "0.0.0"))
    sweep(counted, cases_, seed=3, n_jobs=1, cache=tmp_path / "cache")
    assert set(executions(log).values()) == {2}
    for part in (f"shufflelib {__version__}", f"numpy {np.__version__}", "scipy", "Python 3"):
        assert part in environment()


PLAIN = [
    None, True, 3, 10**30, -0.0, 0.1, 5e-324, math.inf, "é\ud800", [], (), {}, [1, (2.0, "a")],
    {"a": {"b": 1}}, {1: 2}, {"!tuple": 1}, {(1, 2): None}, np.float64(0.1), np.float32(0.1),
    np.int64(3), np.bool_(True),
    np.arange(6).reshape(2, 3), np.array([0.1, np.nan]), np.zeros((0, 2)), np.array(["ab", "c"]),
    Certified(0.1, 0.2, Status.CERTIFIED, "a proof", "a number"),
    Certified(np.zeros(2), np.array([1.0, math.inf]), Status.UNBOUNDED),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_come_back_bit_for_bit(tmp_path, value):
    Cache(tmp_path).put("name", value)
    back = Cache(tmp_path).get("name")
    assert type(back) is type(value) and repr(back) == repr(value)
    assert same(back, value) and json.dumps(plain.encode(back)) == json.dumps(plain.encode(value))
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype and back.tobytes() == value.tobytes() and back.flags.writeable


@pytest.mark.parametrize("value", [object(), {1}, b"a", 1j, np.array([None]), print, [[{2}]]], ids=repr)
def test_what_is_not_plain_is_refused_with_a_remedy(tmp_path, value):
    with pytest.raises(TypeError, match="no plain form; use numbers"):
        Cache(tmp_path).put("name", value)
    assert os.listdir(tmp_path) == []


def odd(rng, case):
    return object()


def test_what_cannot_be_kept_is_an_error(tmp_path):
    with pytest.raises(TypeError, match="or leave cache out"):
        sweep(odd, grid(case=[1]), seed=0, n_jobs=1, cache=tmp_path)
    with pytest.raises(TypeError, match="must be a Python function"):
        sweep(dict, grid(case=[1]), seed=0, n_jobs=1, cache=tmp_path)
    with pytest.raises(TypeError, match="cannot be kept, because it holds"):
        sweep(functools.partial(first_draw, case=object()), [{}], seed=0, n_jobs=1, cache=tmp_path)
    with pytest.raises(TypeError, match="cache must be the name of"):
        sweep(first_draw, grid(case=[1]), seed=0, n_jobs=1, cache=3)


def test_a_folder_that_cannot_be_written_is_said_before_anything_runs(tmp_path):
    log, cases = counting(tmp_path, 2)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot write .*file.*make room or give a folder") as raised:
        sweep(counted, cases, seed=0, n_jobs=1, cache=tmp_path / "file" / "cache")
    assert "\n" not in str(raised.value) and not executions(log)


def test_a_full_disk_keeps_what_was_written_before(tmp_path, monkeypatch):
    log, cases = counting(tmp_path, 5)
    write, done = Path.write_bytes, []

    def fill(path, content):
        if len(content) > 10:
            done.append(path)
        if len(done) > 2:
            write(path, content[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left on device; make room"):
        patch.setattr(Path, "write_bytes", fill)
        sweep(counted, cases, seed=0, n_jobs=1, cache=tmp_path / "cache")
    cache = Cache(tmp_path / "cache")
    assert len(os.listdir(cache.folder)) == 2
    sweep(counted, cases, seed=0, n_jobs=1, cache=cache)
    assert (cache.found, cache.damaged) == (2, 0)

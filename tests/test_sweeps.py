"""Sweeps: the same numbers for any number of workers, seeds that never meet, results that survive a kill."""

import collections
import errno
import functools
import hashlib
import importlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

from shufflelib import Certified, Status, __version__, calibration, estimation, randomizers, shuffle
from shufflelib.sweeps import Cache, WorkerError, cases, grid, plain, sweep, table, tabulate
from shufflelib.sweeps.identity import environment, identity
from shufflelib.sweeps.spec import SweepFile

CASES = grid(fc=[0.1, 0.5], eps_c=[0.1, 0.2, 0.4])


def error(rng, fc, eps_c):
    eps0 = estimation.group_budgets(500, shares=[fc, 0.91 - fc, 0.09], eps0=[eps_c, 0.5, 1.0])
    protocol = estimation.FrequencyProtocol(eps0)
    return estimation.mean_absolute_error(protocol.repeat(estimation.bits(500), 50, rng), 0.7)


def first_draw(rng, case):
    return rng.random()


def fail(rng, case):
    raise ArithmeticError(f"case {case}")


def test_numbers_do_not_depend_on_the_number_of_workers():
    alone = sweep(error, CASES, seed=5, n_jobs=1)
    assert len(alone) == 6 and len(set(alone)) == 6
    assert sweep(error, CASES, seed=5) == alone
    assert sweep(error, CASES, seed=5, n_jobs=2) == alone
    assert sweep(error, CASES, seed=6, n_jobs=1) != alone
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert sweep(error, CASES, seed=5) == alone


def test_every_case_has_a_seed_of_its_own_that_its_place_decides():
    draws = sweep(first_draw, grid(case=range(200)), seed=1)
    assert len(set(draws)) == 200
    assert sweep(first_draw, grid(case=range(3)), seed=1) == draws[:3]
    child = np.random.SeedSequence(1).spawn(3)[2]
    assert draws[2] == np.random.default_rng(child).random()


def test_results_come_in_the_order_of_the_cases():
    assert sweep(lambda rng, case: case, grid(case=range(20)), seed=0, n_jobs=2) == list(range(20))


def test_a_grid_is_every_combination_in_order():
    assert grid(a=[1, 2], b=np.array([3.0])) == [{"a": 1, "b": 3.0}, {"a": 2, "b": 3.0}]
    assert grid() == [{}]


def test_errors_of_the_task_are_raised():
    with pytest.raises(ArithmeticError, match="case 1"):
        sweep(fail, grid(case=[1]), seed=0)


def test_bad_input_is_refused_by_name():
    cases = [
        (lambda: sweep(3, CASES, seed=0), "task"),
        (lambda: sweep(error, [], seed=0), "cases"),
        (lambda: sweep(error, CASES, seed=-1), "seed"),
        (lambda: sweep(error, CASES, seed=math.nan), "seed"),
        (lambda: sweep(error, CASES, seed=0, n_jobs=0), "n_jobs"),
        (lambda: sweep(error, CASES, seed=0, n_jobs=1.5), "n_jobs"),
        (lambda: grid(n="12"), "n must"),
        (lambda: grid(n=3), "n must"),
        (lambda: grid(n=[]), "n must"),
    ]
    for call, name in cases:
        with pytest.raises((TypeError, ValueError), match=name):
            call()


@pytest.mark.parametrize("cases", [None, 5, "ab", {"n": 1}, [1], [{"rng": 1}]])
def test_cases_that_are_no_keyword_arguments_are_refused_by_name(cases):
    with pytest.raises(TypeError, match="cases must"):
        sweep(dict, cases, seed=1)


def pids(rng, case):
    time.sleep(0.3)
    return os.getpid()


def test_all_cores_are_used_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    everywhere = {*sweep(pids, grid(case=range(4)), seed=0)}
    assert joblib.cpu_count() == 1 or (len(everywhere) > 1 and os.getpid() not in everywhere)
    with joblib.parallel_config(n_jobs=1):
        assert {*sweep(pids, grid(case=range(2)), seed=0)} == {os.getpid()}


def die(rng, case):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_said_in_one_line():
    with pytest.raises(WorkerError, match="a worker process was killed") as raised:
        sweep(die, grid(case=range(4)), seed=0, n_jobs=2)
    assert "\n" not in str(raised.value)


# results on disk


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
import test_sweeps
folder, log, jobs = sys.argv[1:]
test_sweeps.sweep(
    test_sweeps.counted, test_sweeps.grid(case=range(40), log=[log]), seed=3, n_jobs=int(jobs), cache=folder
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


def written(source, name="task"):
    """Return a function from its source, in a module of its own making."""
    space = {"__name__": "made"}
    exec(source, space)
    return space[name]


BASE = "def help(x):\n    return x + 1\nK = 3\ndef task(rng, n, m=2):\n    return help(n) + K * m\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("+ K", "- K"), ("m=2", "m=3"), ("x + 1", "x + 2"), ("K = 3", "K = 4"), ("help(n)", "abs(n)")],
)
def test_a_changed_task_is_another_task(old, new):
    assert identity(written(BASE)) == identity(written("# moved\n\n" + BASE))
    changed = identity(written(BASE.replace(old, new)))
    assert changed["name"] == "made.task" and changed != identity(written(BASE))


def test_what_a_task_holds_belongs_to_it():
    def holding(value):
        return lambda rng: value

    assert identity(holding(1.0)) == identity(holding(1.0)) != identity(holding(1))
    partial = functools.partial
    assert identity(partial(counted, log="a")) != identity(partial(counted, log="b"))
    assert identity(partial(holding, holding(1))) != identity(partial(holding, holding(2)))
    recursive = written("def task(rng, n):\n    return n and task(rng, n - 1)\n")
    assert identity(recursive) == identity(recursive)


def test_a_task_has_the_same_identity_in_every_process():
    words = {"a", "b", "c", "d"}
    source = f"def task(rng, n):\n    return n in {words!r} or n in {{1, 2, 3}}\n"
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_sweeps as t; "
    code += "print(t.identity(t.written(sys.argv[2]))['digest'])"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent), source],
            env={**os.environ, "PYTHONHASHSEED": salt}, capture_output=True, text=True, check=True,
        ).stdout
        for salt in ("1", "2")
    }  # fmt: skip
    assert digests == {identity(written(source))["digest"] + "\n"}


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


def test_what_cannot_be_kept_is_said(tmp_path):
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


# tables of certified numbers

SPEC = {"quantity": "epsilon", "randomizer": "binary-rr", "eps0": [1, 2.0], "n": [10, 50], "delta": 1e-3}


def test_a_table_has_the_numbers_of_the_library(tmp_path):
    asked = {"quantity": "delta", "randomizer": "binary-rr", "eps0": [1, 2.0], "n": [10, 20], "eps": 0.3}
    rows = tabulate(asked, n_jobs=1)
    assert [(row["eps0"], row["n"]) for row in rows] == [(1, 10), (1, 20), (2.0, 10), (2.0, 20)]
    rows += tabulate(asked | {"eps0": 1, "n": 5, "rounds": 2, "rate": 0.5}, n_jobs=1)
    for row in rows:
        profile = shuffle(randomizers.binary_rr(eps0=row["eps0"]), n=row["n"])
        profile = profile.subsample(rate=row.get("rate", 1)).compose(rounds=row.get("rounds", 1))
        expected = profile.delta(0.3)
        assert (row["lower"], row["upper"], row["status"]) == (expected.lower, expected.upper, "certified")
    rows = rows[-1:]
    assert list(rows[0]) == "quantity randomizer eps0 n eps rounds rate lower upper status".split()
    profile = shuffle(randomizers.generalized_rr(eps0=1.0, d=3), n=30)
    common = {"randomizer": "generalized-rr", "eps0": 1.0, "d": 3, "n": 30}
    for quantity, axis, value in (("epsilon", "delta", 0.01), ("renyi", "order", 3.0)):
        (row,) = tabulate({"quantity": quantity, **common, axis: value}, n_jobs=1)
        expected = getattr(profile, quantity)(value)
        assert (row["lower"], row["upper"]) == (expected.lower, expected.upper)


def test_a_table_of_calibrated_settings():
    target = {"eps": 0.5, "delta": 1e-3}
    asked = {"quantity": "calibrate users", "randomizer": "binary-rr", "eps0": 1.0, **target}
    (row,) = tabulate(asked, n_jobs=1)
    found = calibration.fewest_users(randomizers.binary_rr(eps0=1.0), **target)
    assert (row["answer"], row["unproved"], row["fails"]) == (found.answer, found.unproved, found.fails)
    assert (row["lower"], row["upper"]) == (found.certificate.lower, found.certificate.upper)
    asked = {"quantity": "calibrate eps0", "randomizer": "generalized-rr", "d": 3, "n": 20, **target}
    (row,) = tabulate(asked, n_jobs=1)
    build = functools.partial(randomizers.generalized_rr, d=3)
    assert row["answer"] == calibration.largest_eps0(build, n=20, **target).answer
    asked = {
        "quantity": "calibrate rounds",
        "randomizer": "binary-rr",
        "eps0": 0.1,
        "n": 5,
        "rate": 0.5,
        **target,
    }
    (row,) = tabulate(asked, n_jobs=1)
    profile = shuffle(randomizers.binary_rr(eps0=0.1), n=5).subsample(rate=0.5)
    assert row["answer"] == calibration.most_rounds(profile, **target).answer


def test_a_point_without_an_answer_looks_like_no_privacy():
    asked = {
        "quantity": "calibrate users",
        "randomizer": "binary-rr",
        "eps0": 1.0,
        "eps": 1e-9,
        "delta": 1e-99,
    }
    (row,) = tabulate(asked, n_jobs=1)
    assert (row["answer"], row["lower"], row["upper"]) == (None, 0.0, math.inf)
    assert row["status"].startswith("refused: ") and "out of reach" in row["status"]


def test_ranges_and_several_randomizers():
    points = table.grid_points(
        SPEC
        | {
            "randomizer": ["binary-rr", "laplace"],
            "n": {"from": 10, "to": 1e5, "points": 5, "log": True},
            "eps0": {"from": 0.5, "to": 1.5, "points": 3},
            "rounds": {"from": 1, "to": 3, "points": 9},
        }
    )
    assert len(points) == 2 * 5 * 3 * 3
    assert list(dict.fromkeys(point["n"] for point in points)) == [10, 100, 1000, 10**4, 10**5]
    assert list(dict.fromkeys(point["eps0"] for point in points)) == [0.5, 1.0, 1.5]
    assert list(dict.fromkeys(point["rounds"] for point in points)) == [1, 2, 3]
    assert all(type(point["n"]) is int for point in points)


def test_a_longer_table_uses_what_is_kept_of_a_shorter_one(tmp_path):
    tabulate(SPEC, n_jobs=1, cache=tmp_path)
    cache = Cache(tmp_path)
    rows = tabulate(SPEC | {"n": [5, 10, 50]}, n_jobs=1, cache=cache)
    assert (cache.found, len(rows)) == (4, 6)
    assert rows == tabulate(SPEC | {"n": [5, 10, 50]}, n_jobs=2)


def test_a_file_becomes_a_table_with_all_digits(tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_text(json.dumps(SPEC))  # JSON is YAML
    said = SweepFile.open(path).run(n_jobs=1)
    assert "4 rows, 0 of them kept" in said and str(tmp_path / "grid.csv") in said
    head, *lines = (tmp_path / "grid.csv").read_text().splitlines()
    assert head == "quantity,randomizer,eps0,n,delta,lower,upper,status"
    rows = tabulate(SPEC, n_jobs=1)
    assert [tuple(map(float, line.split(",")[5:7])) for line in lines] == [
        (row["lower"], row["upper"]) for row in rows
    ]
    (tmp_path / "grid.csv").write_text("an older table")
    next((tmp_path / "grid.cache").iterdir()).write_text("damaged")
    assert "3 of them kept" in (said := SweepFile.open(path).run(n_jobs=1)) and "1 damaged" in said
    assert (tmp_path / "grid.csv").read_text().splitlines() == [head, *lines]
    assert sorted(os.listdir(tmp_path)) == ["grid.cache", "grid.csv", "grid.yaml"]


def test_what_a_task_reads_from_other_files_is_part_of_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    digests = set()
    for body in ("n", "2 * n"):
        (tmp_path / "model_of_mine.py").write_text(f"def simulate(n):\n    return {body}\n")
        sys.modules.pop("model_of_mine", None)
        importlib.invalidate_caches()
        for read in (
            "from model_of_mine import simulate\n",
            "import model_of_mine\nsimulate = model_of_mine.simulate\n",
            f"import functools\n@functools.lru_cache\ndef simulate(n):\n    return {body}\n",
        ):
            digests.add(identity(written(read + "def task(rng, n):\n    return simulate(n)\n"))["digest"])
        whole = "import model_of_mine\ndef task(rng, n):\n    return model_of_mine.simulate(n)\n"
        digests.add(identity(written(whole))["digest"])
        chosen = f"chosen = {{{len(body)}}}\ndef task(rng, n):\n    return n in chosen\n"
        digests.add(identity(written(chosen))["digest"])
    sys.modules.pop("model_of_mine", None)
    assert len(digests) >= 8  # the first two ways read the same function

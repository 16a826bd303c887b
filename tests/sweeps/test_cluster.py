"""Sweeps on a real cluster of two workers: same numbers, and a killed worker costs nothing but time."""

import collections
import os
import re
import signal
import socket
import time
from pathlib import Path

import joblib
import pytest

from shufflelib import __version__
from shufflelib.cli import main
from shufflelib.sweeps import Cache, WorkerError, grid, running, sweep

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    # every worker is a process under a nanny that starts it anew; ports are free ones
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def draws(rng, n):
    return rng.normal(size=n).mean(), int(rng.integers(10**9))


CASES = grid(n=[10, 1000, 5, 70, 3, 20000])


def process(rng, case):
    time.sleep(0.05)
    return os.getpid()


def test_the_numbers_are_those_of_this_machine(cluster, monkeypatch):
    alone = sweep(draws, CASES, seed=5, n_jobs=1)
    assert sweep(draws, CASES, seed=5, n_jobs=2) == alone
    assert sweep(draws, CASES, seed=5, scheduler=cluster.scheduler_address) == alone
    with distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        assert sweep(draws, CASES, seed=5) == alone
    monkeypatch.setenv("SHUFFLELIB_SCHEDULER", cluster.scheduler_address)
    assert sweep(draws, CASES, seed=5) == alone
    workers = {worker.pid for worker in cluster.workers.values()}
    assert {*sweep(process, grid(case=range(20)), seed=5, n_jobs=1)} == workers  # the variable decides
    monkeypatch.setenv("SHUFFLELIB_SCHEDULER", "")
    assert {*sweep(process, grid(case=range(2)), seed=5, n_jobs=1)} == {os.getpid()}


VICTIM = 9


def note(path, case):
    with open(path, "a") as file:
        file.write(f"{case}\n")


def notes(path):
    return collections.Counter(map(int, Path(path).read_text().split()))


def killing(rng, case, folder, kept):
    """Return a number; the first process that tries the victim is killed in the middle of it."""
    begun, ended, killed = (Path(folder) / name for name in ("begun", "ended", "killed"))
    note(begun, case)
    time.sleep(0.05)
    if case == VICTIM and kept and not killed.exists():
        killed.touch()
        before = sum(notes(ended).values())
        while len(list(Path(kept).glob("*.json"))) < before:  # what this worker did before has arrived
            time.sleep(0.02)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    note(ended, case)
    return case, rng.random(4).tolist()


def test_a_killed_worker_loses_nothing_and_repeats_nothing(cluster, tmp_path):
    (tmp_path / "alone").mkdir()
    alone = grid(case=range(30), folder=[str(tmp_path / "alone")], kept=[""])
    expected = sweep(killing, alone, seed=8, n_jobs=1)
    cache = Cache(tmp_path / "cache")
    cases = grid(case=range(30), folder=[str(tmp_path)], kept=[str(cache.folder)])
    before = {worker.pid for worker in cluster.workers.values()}
    assert sweep(killing, cases, seed=8, scheduler=cluster.scheduler_address, cache=cache) == expected
    assert notes(tmp_path / "begun") == collections.Counter(range(30)) + collections.Counter([VICTIM])
    assert notes(tmp_path / "ended") == collections.Counter(range(30))
    assert len(os.listdir(cache.folder)) == 30
    assert before != {worker.pid for worker in cluster.workers.values()}  # one was killed indeed
    assert sweep(killing, cases, seed=8, scheduler=cluster.scheduler_address, cache=cache) == expected
    assert (cache.found, cache.damaged) == (30, 0)
    assert notes(tmp_path / "ended") == collections.Counter(range(30))


def die(rng, case):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_case_that_kills_its_workers_is_one_line(cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(WorkerError, match="killed every worker that tried it") as raised:
        sweep(die, grid(case=[1]), seed=0, scheduler=cluster.scheduler_address)
    assert "\n" not in str(raised.value)


def fail(rng, case):
    raise ArithmeticError(f"case {case}")


def test_errors_of_the_task_are_raised_and_what_is_done_is_kept(cluster, tmp_path):
    with pytest.raises(ArithmeticError, match="case 1"):
        sweep(fail, grid(case=[1]), seed=0, scheduler=cluster.scheduler_address, cache=tmp_path)
    assert os.listdir(tmp_path) == []


def test_workers_with_other_code_are_refused(cluster, monkeypatch):
    monkeypatch.setattr(running, "environment", lambda: "shufflelib 9.9.9")
    message = rf"has shufflelib {re.escape(__version__)} .*, this machine shufflelib 9\.9\.9; install"
    with pytest.raises(WorkerError, match=message):
        sweep(draws, CASES, seed=5, scheduler=cluster.scheduler_address)


def test_a_table_from_the_cluster_is_the_table_of_this_machine(cluster, tmp_path, capsys):
    path = tmp_path / "grid.yaml"
    path.write_text("{quantity: delta, randomizer: binary-rr, eps0: [1, 2], n: [10, 20, 50], eps: 0.2}")
    assert main(["sweep", str(path), "--jobs", "1"]) == 0
    there = ["--output", str(tmp_path / "there.csv"), "--scheduler", cluster.scheduler_address]
    assert main(["sweep", str(path), *there]) == 0
    assert "6 rows, 0 of them kept" in capsys.readouterr().out.splitlines()[1]
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "grid.csv").read_bytes()


def closed_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr(running, "TO_ANSWER", 1)
    with pytest.raises(OSError, match="does not answer; start one with 'dask scheduler'") as raised:
        sweep(draws, CASES, seed=5, scheduler=f"tcp://127.0.0.1:{closed_port()}")
    assert "\n" not in str(raised.value)
    with pytest.raises(OSError, match="xyz://.*does not answer"):
        sweep(draws, CASES, seed=5, scheduler="xyz://127.0.0.1:1")
    for wrong in ("127.0.0.1:8786", "", 8786):
        with pytest.raises(ValueError, match="scheduler must be an address such as tcp://"):
            sweep(draws, CASES, seed=5, scheduler=wrong)


def test_a_scheduler_without_workers_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(running, "TO_START", 0.2)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        with pytest.raises(OSError, match="has no workers; start one with 'dask worker tcp://"):
            sweep(draws, CASES, seed=5, scheduler=empty.scheduler_address)

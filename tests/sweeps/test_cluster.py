"""Sweeps on a real cluster of two workers: same numbers, and a killed worker costs nothing but time."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from shufflelib.__main__ import main
from shufflelib.sweeps import WorkerError, grid, running, sweep
from test_sweeps import die, fail

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
    monkeypatch.setenv("SHUFFLELIB_SCHEDULER", cluster.scheduler_address)
    assert sweep(draws, CASES, seed=5) == alone
    workers = {worker.pid for worker in cluster.workers.values()}
    assert {*sweep(process, grid(case=range(20)), seed=5, n_jobs=1)} == workers  # the variable decides
    monkeypatch.setenv("SHUFFLELIB_SCHEDULER", "")
    assert {*sweep(process, grid(case=range(2)), seed=5, n_jobs=1)} == {os.getpid()}


def killing(rng, case, killed):
    """Return a number; the first process that tries case 9 is killed in the middle of it."""
    time.sleep(0.05)
    if case == 9 and killed and not Path(killed).exists():
        Path(killed).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return case, rng.random(4).tolist()


def test_a_killed_worker_costs_nothing_but_time(cluster, tmp_path):
    expected = sweep(killing, grid(case=range(30), killed=[""]), seed=8, n_jobs=1)
    before = {worker.pid for worker in cluster.workers.values()}
    cases = grid(case=range(30), killed=[str(tmp_path / "killed")])
    assert sweep(killing, cases, seed=8, scheduler=cluster.scheduler_address) == expected
    assert before != {worker.pid for worker in cluster.workers.values()}  # one was killed indeed


def test_errors_of_the_task_are_raised_and_a_case_that_kills_its_workers_is_one_line(cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(ArithmeticError, match="case 1"):
        sweep(fail, grid(case=[1]), seed=0, scheduler=cluster.scheduler_address)
    with pytest.raises(WorkerError, match="killed every worker that tried it") as raised:
        sweep(die, grid(case=[1]), seed=0, scheduler=cluster.scheduler_address)
    assert "\n" not in str(raised.value)


def test_workers_with_other_code_are_refused(cluster, monkeypatch, tmp_path):
    there, here = running.environment(), running.environment.__wrapped__
    monkeypatch.setattr(running, "PACKAGE", tmp_path)  # on this machine alone
    running.environment.cache_clear()
    message = f"a worker of the cluster has {there}, this machine {here()}; install"
    try:
        with pytest.raises(WorkerError, match=message):
            sweep(draws, CASES, seed=5, scheduler=cluster.scheduler_address)
    finally:
        running.environment.cache_clear()


def test_a_table_from_the_cluster_is_the_table_of_this_machine(cluster, tmp_path, capsys):
    path = tmp_path / "grid.yaml"
    (tmp_path / "own.csv").write_text("0.8, 0.2\n0.3, 0.7")
    grid = "{quantity: delta, randomizer: binary-rr, pmf: own.csv, eps0: [1, 2], n: [10, 20, 50], eps: 0.2}"
    path.write_text(grid)
    assert main(["sweep", str(path), "--jobs", "1"]) == 0
    there = ["--output", str(tmp_path / "there.csv"), "--scheduler", cluster.scheduler_address]
    assert main(["sweep", str(path), *there]) == 0
    assert "9 rows, 0 of them from" in capsys.readouterr().out.splitlines()[1]
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "grid.csv").read_bytes()


def closed_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 1)
    with pytest.raises(OSError, match="does not answer; start one with 'dask scheduler'") as raised:
        sweep(draws, CASES, seed=5, scheduler=f"tcp://127.0.0.1:{closed_port()}")
    assert "\n" not in str(raised.value)
    with pytest.raises(OSError, match="xyz://.*does not answer"):
        sweep(draws, CASES, seed=5, scheduler="xyz://127.0.0.1:1")
    for wrong in ("127.0.0.1:8786", "", 8786):
        with pytest.raises(ValueError, match="scheduler must be an address such as tcp://"):
            sweep(draws, CASES, seed=5, scheduler=wrong)


def test_a_scheduler_without_workers_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 1)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        with pytest.raises(OSError, match="has no workers; start one with 'dask worker tcp://"):
            sweep(draws, CASES, seed=5, scheduler=empty.scheduler_address)

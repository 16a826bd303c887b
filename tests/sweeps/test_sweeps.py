"""Sweeps: the same numbers for any number of workers, and seeds that never meet."""

import math
import os
import signal
import time

import joblib
import numpy as np
import pytest

from shufflelib import estimation
from shufflelib.sweeps import WorkerError, grid, sweep

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


def test_every_case_has_a_seed_of_its_own_that_its_place_decides():
    draws = sweep(first_draw, grid(case=range(200)), seed=1)
    assert len(set(draws)) == 200
    assert sweep(first_draw, grid(case=range(3)), seed=1) == draws[:3]
    child = np.random.SeedSequence(1).spawn(3)[2]
    assert draws[2] == np.random.default_rng(child).random()


def test_results_come_in_the_order_of_the_cases():
    assert sweep(lambda rng, case: case, grid(case=range(20)), seed=0, n_jobs=2) == list(range(20))


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
        (lambda: sweep(dict, [1], seed=1), "cases must"),
        (lambda: sweep(dict, [{"rng": 1}], seed=1), "cases must"),
        (lambda: sweep(dict, {"n": 1}, seed=1), "cases must"),
    ]
    for call, name in cases:
        with pytest.raises((TypeError, ValueError), match=name):
            call()


def pids(rng, case):
    time.sleep(0.3)
    return os.getpid()


def test_all_cores_are_used_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    everywhere = {*sweep(pids, grid(case=range(4)), seed=0)}
    assert joblib.cpu_count() == 1 or (len(everywhere) > 1 and os.getpid() not in everywhere)
    assert {*sweep(pids, grid(case=range(2)), seed=0, n_jobs=1)} == {os.getpid()}


def die(rng, case):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_said_in_one_line():
    with pytest.raises(WorkerError, match="a worker process was killed") as raised:
        sweep(die, grid(case=range(4)), seed=0, n_jobs=2)
    assert "\n" not in str(raised.value)

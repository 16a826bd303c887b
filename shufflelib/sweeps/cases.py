"""A task of one's own on many cases, each with random numbers of its own."""

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.sweeps.running import completed


def grid(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """Return every combination of some parameters as a list of dictionaries.

    Parameters
    ----------
    **axes : iterable
        Values of each parameter; the last one varies fastest.

    Raises
    ------
    TypeError, ValueError
        If an axis is a string, not iterable, or empty.

    Examples
    --------
    >>> from shufflelib import sweeps
    >>> sweeps.grid(n=[10, 20], eps0=[1.0])
    [{'n': 10, 'eps0': 1.0}, {'n': 20, 'eps0': 1.0}]
    """
    values = {}
    for name, axis in axes.items():
        if isinstance(axis, str | bytes) or not np.iterable(axis):
            raise TypeError(f"{name} must be a list or an array of values, got {validation.shown(axis)}")
        values[name] = axis.tolist() if isinstance(axis, np.ndarray) else list(axis)
        if not values[name]:
            raise ValueError(f"{name} must not be empty; pass at least one value")
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


def sweep(
    task: Callable[..., Any],
    cases: Sequence[Mapping[str, Any]],
    *,
    seed: int,
    n_jobs: int = -1,
    scheduler: str | None = None,
) -> list[Any]:
    """Run a task once for each case, in parallel.

    Parameters
    ----------
    task : callable
        Called as ``task(rng=..., **case)`` with a generator of its own.
    cases : sequence of mapping
        Keyword arguments, for example from `grid`.
    seed : int
        Non-negative; case number i always gets child number i of its ``SeedSequence``.
    n_jobs : int
        Processes on this machine: a positive number, or -1 for one on each core.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``tcp://127.0.0.1:8786``, whose workers do the work instead; by
        default what the environment variable ``SHUFFLELIB_SCHEDULER`` says.

    Returns
    -------
    list
        Results in the order of the cases, bit for bit the same for any number of workers, on this machine
        or a cluster.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; errors of the task are raised as they are.
    OSError
        If the scheduler does not answer.
    WorkerError
        If workers are killed for good.

    Notes
    -----
    To keep results on disk, so that a sweep that was stopped goes on, pass
    ``joblib.Memory(folder, verbose=0).cache(task)`` as the task; see there for what it takes for a change.
    Dask sends tasks as pickles: use a cluster you trust.  A terminal shows one bar, a log a line a minute.

    Examples
    --------
    >>> from shufflelib import sweeps
    >>> def furthest(rng, n):
    ...     return abs(rng.normal(size=n)).max()
    >>> few, many = sweeps.sweep(furthest, sweeps.grid(n=[10, 100_000]), seed=1, n_jobs=1)
    >>> bool(few < 3.0 < many)
    True
    """
    if not callable(task):
        raise TypeError(f"task must be callable, got {validation.shown(task)}")
    if isinstance(cases, str | bytes | Mapping) or not np.iterable(cases):
        raise TypeError(
            f"cases must be a list of dictionaries of keyword arguments, got {validation.shown(cases)}"
        )
    cases = list(cases)
    if not cases:
        raise ValueError("cases must not be empty; pass at least one dictionary of keyword arguments")
    for case in cases:
        if not isinstance(case, Mapping) or "rng" in case:
            raise TypeError(
                f"cases must hold dictionaries without the key 'rng', got {validation.shown(case)}; see grid"
            )
    seed = validation.count(seed, "seed", at_least=0)
    children = np.random.SeedSequence(seed).spawn(len(cases))
    pairs = zip(children, cases, strict=True)
    calls = {place: functools.partial(_seeded, task, *pair) for place, pair in enumerate(pairs)}
    results = dict(completed(calls, n_jobs=n_jobs, scheduler=scheduler))
    return [results[place] for place in calls]


def _seeded(task, seed, case):
    """Run one case with its own generator; at module level, so that workers can find it."""
    return task(rng=np.random.default_rng(seed), **case)

"""Sweeps: one task over many parameters, in parallel, with the same numbers for any number of workers.

>>> def task(rng, n):
...     return rng.normal(size=n).mean()
>>> sweep(task, grid(n=[10, 1000]), seed=1, n_jobs=1) == sweep(task, grid(n=[10, 1000]), seed=1, n_jobs=2)
True
"""

import itertools
from collections.abc import Mapping

import numpy as np

from shufflelib import arguments


def grid(**axes):
    """Return every combination of some parameters as a list of dictionaries.

    Parameters
    ----------
    **axes : iterable
        Values of each parameter; the last one varies fastest.

    Returns
    -------
    list of dict

    Raises
    ------
    TypeError, ValueError
        If an axis is a string, not iterable, or empty.

    Examples
    --------
    >>> grid(n=[10, 20], eps0=[1.0])
    [{'n': 10, 'eps0': 1.0}, {'n': 20, 'eps0': 1.0}]
    """
    values = {}
    for name, axis in axes.items():
        if isinstance(axis, str | bytes) or not np.iterable(axis):
            raise TypeError(f"{name} must be a list or an array of values, got {axis!r}")
        values[name] = axis.tolist() if isinstance(axis, np.ndarray) else list(axis)
        if not values[name]:
            raise ValueError(f"{name} must not be empty; pass at least one value")
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


def sweep(task, cases, *, seed, n_jobs=None):
    """Run a task once for each case, in parallel.

    Parameters
    ----------
    task : callable
        Called as ``task(rng=..., **case)`` with a generator of its own.
    cases : sequence of mapping
        Keyword arguments, for example from `grid`.
    seed : int
        Non-negative; case number i always gets child number i of its ``SeedSequence``.
    n_jobs : int, optional
        Workers: a positive number, or -1 for one on each core; by default what ``joblib.parallel_config``
        says, one if it says nothing.

    Returns
    -------
    list
        Results in the order of the cases, the same for any number of workers and any backend that hands
        results over one by one (loky, threading, Dask; not multiprocessing).

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; errors of the task are raised as they are.

    Notes
    -----
    The work goes to the joblib backend that is configured: inside
    ``joblib.parallel_config(backend="dask")`` to a Dask cluster.  A progress bar shows on a terminal.
    """
    from joblib import Parallel, delayed
    from tqdm import tqdm

    if not callable(task):
        raise TypeError(f"task must be callable, got {task!r}")
    if isinstance(cases, str | bytes | Mapping) or not hasattr(cases, "__iter__"):
        raise TypeError(f"cases must be a list of dictionaries of keyword arguments, got {cases!r}")
    cases = list(cases)
    if not cases:
        raise ValueError("cases must not be empty; pass at least one dictionary of keyword arguments")
    for case in cases:
        if not isinstance(case, Mapping) or "rng" in case:
            raise TypeError(f"cases must hold dictionaries without the key 'rng', got {case!r}; see grid")
    seed = arguments.count(seed, "seed", at_least=0)
    if n_jobs is not None and not (isinstance(n_jobs, int) and n_jobs == -1):
        n_jobs = arguments.count(n_jobs, "n_jobs", remedy="or pass -1 for one worker on each core")
    children = np.random.SeedSequence(seed).spawn(len(cases))
    calls = (delayed(_seeded)(task, child, case) for child, case in zip(children, cases, strict=True))
    results = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    return list(tqdm(results, total=len(cases), disable=None))


def _seeded(task, seed, case):
    """Run one case with its own generator; at module level, so that workers can find it."""
    return task(rng=np.random.default_rng(seed), **case)

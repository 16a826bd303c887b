"""Sweeps: one task over many parameters, on all cores or a cluster, with the same numbers on any of them.

>>> from shufflelib import sweeps
>>> def task(rng, n):
...     return rng.normal(size=n).mean()
>>> cases = sweeps.grid(n=[10, 1000])
>>> sweeps.sweep(task, cases, seed=1, n_jobs=1) == sweeps.sweep(task, cases, seed=1, n_jobs=1)
True

`grid` lists the cases, `sweep` runs a task of one's own on each, `tabulate` computes certified numbers
over a grid written down as a dictionary or, for the command ``shufflelib sweep``, as a YAML file.
A `Cache` keeps each result on disk as soon as it is there, so that a sweep that was stopped goes on.

In order of reading:

1. `cases`: a task of one's own on many cases; `running`: on all cores or a cluster.
2. `table`: certified numbers over a grid; `spec`: the grid in a YAML file.
3. `cache`: results on disk; `plain`: as text; `identity`: what a result depends on.
"""

from shufflelib.sweeps.cache import Cache
from shufflelib.sweeps.cases import grid, sweep
from shufflelib.sweeps.running import WorkerError
from shufflelib.sweeps.table import tabulate

__all__ = ["Cache", "WorkerError", "grid", "sweep", "tabulate"]

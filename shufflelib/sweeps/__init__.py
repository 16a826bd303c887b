"""Sweeps: one task over many parameters, on all cores or a cluster, with identical numbers.

>>> from shufflelib import sweeps
>>> def task(rng, n):
...     return rng.normal(size=n).mean()
>>> cases = sweeps.grid(n=[10, 1000])
>>> sweeps.sweep(task, cases, seed=1, n_jobs=1) == sweeps.sweep(task, cases, seed=1, n_jobs=1)
True

`grid` lists the cases, `sweep` runs a task of one's own on each, `tabulate` computes certified numbers
over a grid written down as a dictionary or, for the command ``shufflelib sweep``, as a YAML file.

In order of reading:

1. `cases`: a task of one's own on many cases; `running`: on all cores or a cluster, by joblib.
2. `table`: certified numbers over a grid, kept on disk; `subjects`: the mechanisms and tasks that it is
   about; `spec`: the grid in a YAML file, and the table in a file.
"""

from shufflelib.sweeps.cases import grid as grid
from shufflelib.sweeps.cases import sweep as sweep
from shufflelib.sweeps.running import WorkerError as WorkerError
from shufflelib.sweeps.table import tabulate as tabulate

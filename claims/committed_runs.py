"""Rows of the committed figures and tables of the papers, for claims about what was trained or measured."""

import csv
from pathlib import Path

FIGURES = Path(__file__).resolve().parents[1] / "figures/papers"
CLOSE = 0.5  # points: two accuracies that differ by no more count as the same
NEAR = 2.0  # points: an accuracy that is no further below another one approaches it
ONE = "one run"  # what a table says in place of a number of runs
COUNTS = f"the mean of several runs, up to {CLOSE:g} points apart, counts as reproduced"


def told(mean, least, most, runs):
    """Return in words an accuracy in per cent, and the spread of its runs.

    Parameters
    ----------
    mean, least, most : str
        In per cent; the last two are not read for a single run.
    runs : str
        How many, or `ONE`.

    Examples
    --------
    >>> from claims.committed_runs import ONE, told
    >>> told("94.42", "94.11", "94.79", "3"), told("91.18", "", "", ONE)
    ('94.42 % (94.11 to 94.79 in 3 runs)', '91.18 % (one run)')
    """
    return f"{mean} % ({ONE if runs == ONE else f'{least} to {most} in {runs} runs'})"


def committed(name):
    """Return the rows of a committed table or figure as mappings from column to text.

    Parameters
    ----------
    name : str
        A file below ``figures/papers`` without its ending.

    Examples
    --------
    >>> from claims.committed_runs import committed
    >>> committed("ccg24_table1")[0]["as listed"]
    'O(e^(6 eps0) λ/n)'
    """
    with (FIGURES / f"{name}.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def last_runs(name, column, by, **columns):
    """Return, for each value of a column, another one after the last epoch of each run, in per cent.

    Parameters
    ----------
    name : str
        A file as for `committed`.
    column, by : str
        The accuracy, and what distinguishes the groups of runs.
    **columns : str
        What the rows must hold.
    """
    rows = [row for row in committed(name) if all(row[key] == value for key, value in columns.items())]
    last = max(int(row["epoch"]) for row in rows)
    runs = {}
    for row in rows:
        if int(row["epoch"]) == last:
            share = 1.0 if column.endswith("%") else 100.0  # a column that is not in per cent has shares
            runs.setdefault(row[by], []).append(share * float(row[column]))
    return runs


def last_accuracies(name, column, by, **columns):
    """Return the means of `last_runs`."""
    runs = last_runs(name, column, by, **columns)
    return {group: sum(values) / len(values) for group, values in runs.items()}

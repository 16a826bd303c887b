"""Rows of the committed figures and tables of the papers, for claims about what was trained or measured."""

import csv
from pathlib import Path

FIGURES = Path(__file__).resolve().parents[1] / "figures/papers"
CLOSE = 0.5  # points: two accuracies that differ by no more count as the same


def told(runs):
    """Return in words how many runs stand behind an accuracy, and what counts as reproduced.

    Examples
    --------
    >>> from claims.committed_runs import told
    >>> told(1)
    'one run, its spread unknown; up to 0.5 points apart counts as reproduced'
    """
    how = "one run, its spread unknown" if runs == 1 else f"the mean of {runs} runs"
    return f"{how}; up to {CLOSE:g} points apart counts as reproduced"


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


def last_accuracies(name, column, by, **columns):
    """Return, for each value of a column, the mean of another one after the last epoch, in per cent.

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
    return {group: sum(values) / len(values) for group, values in runs.items()}

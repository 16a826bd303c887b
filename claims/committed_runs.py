"""Rows of the committed figures and tables of the papers, for claims about what was trained or measured."""

import csv
from pathlib import Path

FIGURES = Path(__file__).resolve().parents[1] / "figures/papers"


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

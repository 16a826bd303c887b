"""Tables as files: CSV of record and Markdown, the same bytes on every run."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from viz.files import publish


@dataclass(frozen=True)
class SavedTable:
    """A table that was saved, as a notebook shows it."""

    name: str
    markdown: str

    def __repr__(self):
        return f"{self.name}.csv, {self.name}.md"

    def _repr_markdown_(self):
        return self.markdown


def save_table(rows, name, *, parameters=None):
    """Write a table as CSV (12 significant digits) and as Markdown (6).

    Parameters
    ----------
    rows : iterable of Mapping
        Column name to value; a column absent from a row stays empty.
    name : str
        File name without suffix; the folder is that of `viz.save`.
    parameters : Mapping, optional
        Written above the data as ``# key: value``.

    Returns
    -------
    SavedTable
        For the last line of a notebook's cell.

    Examples
    --------
    >>> import os, tempfile, viz
    >>> from unittest import mock
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, SHUFFLELIB_FIGURES=folder):
    ...     saved = viz.save_table([{"n": 1000, "eps": 0.13}], "00_example")
    >>> print(saved.markdown.rstrip())
    | n | eps |
    | --- | --- |
    | 1000 | 0.13 |
    """
    table = pd.DataFrame(list(rows), dtype=object)
    short = table.map(_text, digits=6).replace(r"\|", r"\\|", regex=True)
    lines = [table.columns, ["---"] * table.shape[1], *short.to_numpy()]
    markdown = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    above = "".join(f"# {key}: {_text(value)}\n" for key, value in (parameters or {}).items())
    data = above + table.map(_text).to_csv(index=False, lineterminator="\n")
    publish(name, {"csv": data.encode(), "md": markdown.encode()})
    return SavedTable(name, markdown)


def _text(value, digits=12):
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float | np.floating) else str(value)

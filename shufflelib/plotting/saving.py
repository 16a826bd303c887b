"""Figures and tables as files: the same bytes on every run, and nothing half-written."""

import csv
import io
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from shufflelib.numerics.atomic_files import replace
from shufflelib.plotting.labels import move_apart
from shufflelib.plotting.looks import Curve
from shufflelib.plotting.style import style


def png(fig, *, dpi=100):
    """Return the figure as PNG bytes.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(width=2.0)
    >>> plotting.png(fig)[1:4]
    b'PNG'
    """
    return _render(fig, "png", {"Software": None}, dpi=dpi)


def svg(fig, **how):
    """Return the figure as SVG bytes."""
    return _render(fig, "svg", {"Date": None, "Creator": None}, **how)


def _render(fig, form, metadata, **how):
    buffer = io.BytesIO()
    with style():
        fig.savefig(buffer, format=form, metadata=metadata, **how)
    return buffer.getvalue()


@contextmanager
def _settled(fig):
    """Lay the figure out once and hold it there, so that every format shows the same layout."""
    with style():
        fig.draw_without_rendering()
    move_apart(fig)
    engine = fig.get_layout_engine()
    fig.set_layout_engine("none")
    try:
        yield
    finally:
        fig.set_layout_engine(engine)


@dataclass(frozen=True)
class Saved:
    """The files that were written; a notebook shows the picture or the table itself.

    Examples
    --------
    >>> from pathlib import Path
    >>> from shufflelib import plotting
    >>> plotting.Saved((Path("figures/00_table.csv"), Path("figures/00_table.md")))
    00_table.csv, 00_table.md
    """

    paths: tuple
    picture: bytes | None = field(default=None, repr=False)
    markdown: str | None = field(default=None, repr=False)

    def __repr__(self):
        return ", ".join(path.name for path in self.paths)

    def _repr_png_(self):
        return self.picture

    def _repr_markdown_(self):
        return self.markdown


def save_figure(fig, data, name, *, parameters=None):
    """Write a figure as PNG, PDF, SVG and CSV; the CSV holds the authoritative data.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        What to draw.
    data : iterable of Curve or of Mapping
        The data that the figure shows; a mapping is one row.
    name : str
        File name without suffix, beginning with the notebook's number.
    parameters : Mapping, optional
        Written above the data as ``# key: value``.

    Returns
    -------
    Saved
        The paths; in a notebook it shows the picture.

    Notes
    -----
    Files go to the folder named by ``SHUFFLELIB_FIGURES``, else ``figures``.  Each is written
    beside its place and renamed, all are rendered before the first is written, and none holds
    a date or a version: a second run writes the same bytes.  Where ``SHUFFLELIB_FORMATS`` is set to
    ``png``, as on coarse grids, PDF and SVG are left out, which take most of the time.

    Examples
    --------
    >>> import os, tempfile
    >>> from unittest import mock
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(width=2.0)
    >>> curves = [plotting.curve("EFMRTT'19", [0.25, 0.5], [0.12, 0.23])]
    >>> plotting.draw_curves(ax, curves)
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, SHUFFLELIB_FIGURES=folder):
    ...     plotting.save_figure(fig, curves, "00_example", parameters={"n": 10_000})
    00_example.png, 00_example.pdf, 00_example.svg, 00_example.csv
    """
    rows = rows_of(data)
    undated = {"CreationDate": None, "Producer": None, "Creator": None}
    draw = {
        "png": lambda: png(fig, dpi=200),
        "pdf": lambda: _render(fig, "pdf", undated),
        "svg": lambda: svg(fig, dpi=200),
    }
    wanted = os.environ.get("SHUFFLELIB_FORMATS", "png pdf svg").split()
    with _settled(fig):
        content = {form: draw[form]() for form in wanted}
    content["csv"] = as_csv(rows, parameters or {})
    return Saved(_publish(content, name), picture=content["png"])


def save_table(rows, name, *, parameters=None):
    """Write a table as CSV (12 significant digits) and as Markdown (6).

    Parameters
    ----------
    rows : iterable of Mapping
        Column name to value; a column absent from a row stays empty.
    name, parameters
        As for `save_figure`.

    Returns
    -------
    Saved
        The two paths; in a notebook it shows the table.

    Examples
    --------
    >>> import os, tempfile
    >>> from unittest import mock
    >>> from shufflelib import plotting
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, SHUFFLELIB_FIGURES=folder):
    ...     saved = plotting.save_table([{"n": 1000, "eps": 0.13}], "00_example")
    >>> print(saved.markdown.rstrip())
    | n | eps |
    | --- | --- |
    | 1000 | 0.13 |
    """
    rows = list(rows)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[_text(row.get(column), 6).replace("|", r"\|") for column in columns] for row in rows]
    markdown = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    content = {"csv": as_csv(rows, parameters or {}), "md": markdown.encode()}
    return Saved(_publish(content, name), markdown=markdown)


def _text(value, digits=12):
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float | np.floating) else str(value)


def rows_of(data):
    """Return what `save_figure` takes as data as rows of a table.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> from shufflelib.plotting.saving import rows_of
    >>> rows_of([plotting.curve("EFMRTT'19", [0.25], [0.12]), {"x": 1}])[1]
    {'x': 1}
    """
    return [row for one in data for row in (one.rows() if isinstance(one, Curve) else [one])]


def as_csv(rows, parameters):
    r"""Return rows as the bytes of a CSV file, ``# key: value`` lines first.

    Examples
    --------
    >>> from shufflelib.plotting.saving import as_csv
    >>> as_csv([{"n": 1000, "eps": 0.5}], {})
    b'n,eps\n1000,0.5\n'
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    out.writelines(f"# {key}: {_text(value)}\n" for key, value in parameters.items())
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(row.get(column)) for column in columns] for row in rows)
    return out.getvalue().encode()


def _publish(content, name):
    folder = Path(os.environ.get("SHUFFLELIB_FIGURES") or "figures")
    folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / f"{name}.{suffix}" for suffix in content)
    for path, data in zip(paths, content.values(), strict=True):
        replace(path, data)
    return paths

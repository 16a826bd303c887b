"""A small table: text in a terminal, HTML in a notebook, CSV in a file."""

import csv
import html
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shufflelib.numerics.optional import data_frame

if TYPE_CHECKING:
    from pandas import DataFrame


class Table(Sequence[dict[str, Any]]):
    """Rows with the same columns, in a meaningful order.

    Parameters
    ----------
    rows : sequence of dict
        Text and numbers by column.
    title : str
        What the table says, in a line above it.
    notes : tuple of str
        What holds for all rows, in lines below it.
    hidden : tuple of str
        Columns that the CSV and the dictionary have, and the text and the HTML do not.

    Examples
    --------
    >>> from shufflelib.numerics.tables import Table
    >>> print(Table([{"bound": "exact", "epsilon": 0.125}, {"bound": "older", "epsilon": 2.0}]))
    bound  epsilon
    exact    0.125
    older        2
    """

    def __init__(
        self,
        rows: Iterable[dict[str, Any]],
        *,
        title: str = "",
        notes: Iterable[str] = (),
        hidden: Iterable[str] = (),
    ) -> None:
        self.rows, self.title, self.notes, self.hidden = list(rows), title, tuple(notes), tuple(hidden)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    @property
    def _shown(self):
        return [name for name in self.columns if name not in self.hidden]

    def to_frame(self) -> "DataFrame":
        """Return rows and all columns, hidden ones too, as a `pandas.DataFrame`."""
        return data_frame(self.rows)

    def _cells(self):
        return [[_text(row.get(name)) for name in self._shown] for row in self.rows]

    def _numeric(self):
        return [all(_is_number(row.get(name)) for row in self.rows) for name in self._shown]

    def __str__(self):
        lines, numeric = [self._shown, *self._cells()], self._numeric()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, numeric, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join(part for part in (self.title, *shown, *self.notes) if part)

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        numeric = self._numeric()

        def line(cells, tag):
            return "".join(
                f'<{tag} style="text-align: {"right" if right else "left"}">{html.escape(cell)}</{tag}>'
                for cell, right in zip(cells, numeric, strict=True)
            )

        body = "".join(f"<tr>{line(cells, 'td')}</tr>" for cells in self._cells())
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        title = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        head = f"<thead><tr>{line(self._shown, 'th')}</tr></thead>"
        return f"<table>{title}{head}<tbody>{body}</tbody></table>{notes}"

    def to_dict(self) -> dict[str, Any]:
        """Return title, rows and notes as a dictionary that JSON can hold."""
        rows = [{name: _plain(value) for name, value in row.items()} for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def to_csv(self) -> str:
        """Return the rows as CSV, every float with all its digits."""
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()


def _is_number(value):
    return value is None or isinstance(value, int | float | np.number)


def _text(value):
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value

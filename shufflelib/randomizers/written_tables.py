"""Tables of probabilities as people write them: text, files of text, NumPy's files, parquet.

Every line of a table is used, or named as skipped, or refused with its number.  Nothing is evaluated or run.
"""

import io
import math
import re
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from shufflelib.numerics import optional, validation
from shufflelib.numerics.typed_numbers import typed

LARGEST_FILE = 10**9  # bytes
SEPARATORS = (";", "\t", ",")  # the first that a line has; spaces where it has none
LIST = re.compile(r"\[\s*(?:\[[^\[\]]*\]\s*(?:,\s*)?)+\]")
NO_NUMBERS = {"nan", "inf", "infinity", "na", "n.a.", "none", "null"}  # where a number is missing
DECIMAL_LABEL = re.compile(r"[0-9OolI]*[.%/][0-9OolI.%/eE+-]*")
SAFE_PYARROW = (14, 0, 1)  # earlier ones may run what a file says
COUNTS = "counts of reports only estimate them"


class Written(NamedTuple):
    """The rows of a table, and the lines that are none: their numbers and texts."""

    rows: list
    skipped: str = ""


def read_table(text):
    r"""Read a table of probabilities from text, one row for each value that a user may hold.

    Parameters
    ----------
    text : str
        Lines of numbers 0.5, 50 % or 1/2, perhaps in quotes, with commas, semicolons, tabs or spaces between
        them; or a list of rows [[0.75, 0.25], [0.25, 0.75]].  Lines that begin with # are skipped, and so
        is a title: a first line in which nothing looks like a number.

    Returns
    -------
    Written
        ``rows`` and ``skipped``, which is empty if every line is a row.

    Raises
    ------
    ValueError
        In one line that names the row, its line and says what is wrong with it.

    Examples
    --------
    >>> from shufflelib.randomizers.written_tables import read_table
    >>> read_table("75%, 25%\n1/4, 3/4").rows
    [[0.75, 0.25], [0.25, 0.75]]
    >>> read_table("yes;no\n0.75;0.25\n0.25;0.75").skipped
    "line 1: 'yes;no'"
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith("["):
        return Written(_rows_of(_listed(text)))
    found = [(place, line.strip(" ")) for place, line in enumerate(text.split("\n"), 1) if line.strip()]
    skipped = [(place, line) for place, line in found if line.startswith("#")]
    lines = [(place, line) for place, line in found if not line.startswith("#")]
    if lines and _is_title(lines[0][1]):
        skipped = sorted([*skipped, lines.pop(0)])
    named = ", ".join(f"line {place}: {validation.shown(line)}" for place, line in skipped)
    if not lines:
        raise ValueError(
            "the text is empty; give one row of probabilities for each value"
            + (f"; skipped {named}" if named else "")
        )
    return Written(_rows_of([(place, _cells(line)) for place, line in lines]), named)


def _is_title(line):
    """Return whether nothing in a line looks like a number."""
    words = {cell.lower() for cell in _cells(line)}
    numeric = any(letter.isnumeric() or letter in "%/" for letter in line)
    return not numeric and not words & NO_NUMBERS and any(map(str.isalpha, line))


def _listed(text):
    """Return the rows of a list of lists, each with its line and its cells."""
    inside = text.strip()
    if not LIST.fullmatch(inside):
        raise ValueError("a list of rows must be written as [[0.75, 0.25], [0.25, 0.75]]")
    before = text.count("\n", 0, text.index("["))
    return [
        (1 + before + inside.count("\n", 0, found.start()), _cells(found[1].replace("\n", " ").strip()))
        for found in re.finditer(r"\[([^\[\]]*)\]", inside)
    ]


def _cells(line):
    line = re.sub(r"\s+%", "%", line)
    separator = next((one for one in SEPARATORS if one in line), None)
    return [_unquoted(cell.strip()) for cell in line.split(separator)]


def _unquoted(cell):
    quoted = len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "\"'"
    return cell[1:-1].strip() if quoted else cell


def _number(cell):
    """Return the number of a cell, or None."""
    try:
        value = float(typed(cell[cell[:1] in ("+", "-") :], "share"))
    except ValueError:
        return None
    return -value if cell[0] == "-" else value


def _rows_of(lines):
    """Return the numbers in lines of cells, each with its place in the text, if they are rows."""
    rows = [[_number(cell) for cell in cells] for _, cells in lines]
    for count, (row, (place, cells)) in enumerate(zip(rows, lines, strict=True), 1):
        name = f"row {count}" if place == count else f"row {count} (line {place})"
        if None in row:
            cell = cells[row.index(None)]
            got = f"got {validation.shown(cell)}" if cell else "one is missing; write 0 where it is 0"
            remedy = "; write decimals with a point" if "," in cell else ""
            first = "; put # before it if it is a title" if count == 1 and cell else ""
            if row[0] is None and None not in (row[1:] or [None]) and cell and not remedy:
                first = "; leave it out if it names the row"
            raise ValueError(f"{name} must hold numbers, {got}{remedy}{first}")
        if len(row) != len(rows[0]):
            many = f"{len(row)} number{'s' * (len(row) != 1)}"
            raise ValueError(f"{name} has {many}, row 1 has {len(rows[0])}; make them equal")
        _refuse_unless_probabilities(name, row, rows)
    return rows


def transposed(rows):
    """Return what to do where each column of a table sums to 1, but not each row; else an empty text.

    Examples
    --------
    >>> from shufflelib.randomizers.written_tables import transposed
    >>> transposed([[0.7, 0.1], [0.3, 0.9]]), transposed([[0.7, 0.3], [0.1, 0.8]])
    ('every column does: transpose the table, one row for each value', '')
    """
    numbers = not any(None in row or len(row) != len(rows[0]) for row in rows)
    if numbers and all(abs(math.fsum(column) - 1.0) <= 1e-9 for column in zip(*rows, strict=True)):
        return "every column does: transpose the table, one row for each value"
    return ""


def _refuse_unless_probabilities(name, row, rows):
    if wrong := [one for one in row if not 0.0 <= one <= 1.0]:
        raise ValueError(
            f"{name} holds {wrong[0]:g}; probabilities lie between 0 and 1; {COUNTS}, percentages need a %"
        )
    if abs(math.fsum(row) - 1.0) > 1e-9:
        remedy = "must sum to 1; give more digits" if abs(sum(row) - 1.0) < 0.01 else "must sum to 1"
        if other := transposed(rows):
            remedy = f"must sum to 1; {other}"
        raise ValueError(f"{name} sums to {sum(row):.12g}; the probabilities of a row {remedy}")


def read_file(path):
    """Read a table of probabilities from a file: text as `read_table` does, ``.npy``, ``.npz``, ``.parquet``.

    Parameters
    ----------
    path : str or os.PathLike
        What the file is is seen from its first bytes, not from its name.

    Returns
    -------
    Written
        ``rows`` and ``skipped``.

    Raises
    ------
    ValueError, OSError
        In one line that says what is wrong.
    ImportError
        For parquet without pyarrow; it says what to do.
    """
    path = Path(path)
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"the file has more than {LARGEST_FILE:,} bytes; give a smaller table")
    data = path.read_bytes()
    if data.startswith((b"\x93NUMPY", b"PK\x03\x04")):
        return Written(_rows_of_array(_array(data)))
    if data.startswith(b"PAR1"):
        return Written(_rows_of_array(_parquet(data)))
    try:
        return read_table(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError(
            "the file is no text in UTF-8; save the table as CSV, or from Python with numpy.save"
        ) from None


def _array(data):
    """Return the array of an ``.npy`` file, or the only one of an ``.npz`` file."""
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        if len(found.files) == 1 and found.zip.infolist()[0].file_size <= LARGEST_FILE:
            return found[found.files[0]]
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as wrong:
        raise ValueError(
            f"no array of numbers can be read: {str(wrong).splitlines()[0]}; save it from Python with "
            "numpy.save(path, numpy.asarray(table, float))"
        ) from None
    raise ValueError(
        f"the archive must hold one array, got {validation.shown(found.files)}; save it alone, "
        "from Python with numpy.save, or the table as CSV"
    )


def _parquet(data):
    """Return the columns of a parquet file as an array."""
    with optional.remedy("a parquet file needs it: pip install pyarrow; or save the table as CSV"):
        import pyarrow
        from pyarrow import parquet
    if tuple(int(part) for part in pyarrow.__version__.split(".")[:3]) < SAFE_PYARROW:
        raise ImportError("pyarrow must be 14.0.1 or later; update it, or save the table as CSV")
    table = parquet.read_table(io.BytesIO(data))
    refuse_row_as_labels(table.column_names)
    return np.column_stack([np.asarray(column) for column in table.columns])


def _rows_of_array(array):
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        got = f"shape {array.shape} of {array.dtype}" if isinstance(array, np.ndarray) else "something else"
        raise ValueError(
            f"the file must hold a table of numbers, one row for each value, got {got}; no index"
        )
    rows = array.tolist()
    for count, row in enumerate(rows, 1):
        _refuse_unless_probabilities(f"row {count}", row, rows)
    return rows


def refuse_labels_as_numbers(frame):
    """Refuse a frame with columns of text beside columns of numbers.

    Parameters
    ----------
    frame : object
        What is no `pandas.DataFrame` is passed over.

    Raises
    ------
    ValueError
        That says how to make the column an index.

    Examples
    --------
    >>> from shufflelib.randomizers.written_tables import refuse_labels_as_numbers
    >>> refuse_labels_as_numbers([[0.75, 0.25], [0.25, 0.75]])
    """
    if not hasattr(frame, "set_index"):
        return
    texts = [label for label, column in frame.items() if any(isinstance(one, str) for one in column)]
    if 0 < len(texts) < len(frame.columns):
        raise ValueError(
            f"matrix has text in its column {texts[0]!r}; pass matrix.set_index({texts[0]!r}) if it names "
            "the rows, else drop it"
        )


def refuse_row_as_labels(labels):
    """Refuse names of columns that are numbers of a first row, which is then missing in the table.

    Parameters
    ----------
    labels : sequence
        Names of columns; those that are no strings are passed over.

    Raises
    ------
    ValueError
        That says how to keep the row.

    Examples
    --------
    >>> from shufflelib.randomizers.written_tables import refuse_row_as_labels
    >>> refuse_row_as_labels(["yes", "no"]), refuse_row_as_labels(["0", "1", "2"])
    (None, None)
    """
    labels = [one for one in labels if isinstance(one, str)]
    if any(DECIMAL_LABEL.fullmatch(one.strip()) for one in labels) or (labels and set(labels) <= {"0", "1"}):
        raise ValueError(
            f"matrix has columns named {validation.shown(labels)}, which may be its first row; read the file "
            "with header=None, or pass matrix.to_numpy() if they are names"
        )

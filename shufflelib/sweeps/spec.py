"""A grid written down in a YAML file, and the table that comes of it, with where its numbers are from."""

import datetime
import json
import os
from importlib.metadata import version

from shufflelib.numerics.atomic_files import as_path, replace, try_folder
from shufflelib.numerics.certified import written
from shufflelib.numerics.optional import data_frame, remedy
from shufflelib.numerics.tables import Table
from shufflelib.numerics.yaml_files import load
from shufflelib.sweeps.running import environment
from shufflelib.sweeps.subjects import Given
from shufflelib.sweeps.table import answered, grid_points

NEEDS = "a sweep file needs it: pip install joblib pyyaml threadpoolctl tqdm"
PARQUET = "a parquet file needs it: pip install pandas pyarrow; or name an output that ends in .csv"
SIDES = {
    "lower": "certified: the true value is at least this",
    "upper": "certified: the true value is at most this",
    "answer": "certified to meet the target",
    "unproved": "nearest value tried that is not certified to meet the target",
    "fails": "certified to miss the target",
    "value": "certified to meet the target",
    "proved delta": "certified: the true value is at most this",
    "standard error": "no bound; the status says how it is known",
    "worst case": "no bound; the status says how it is known",
    "x central": "no bound; to a percent",
    "mean error": "no bound; to first order",
    "threshold": "certified to list no item that nobody holds, with probability 95 %",
    "found from": "no bound; by the normal approximation",
}


def sweep_file(path, *, output=None, cache=None, n_jobs=-1, scheduler=None, **keys):
    """Write the table of a grid in a YAML file, and say in one line what was done.

    Parameters
    ----------
    path : str or os.PathLike
        The YAML file; see `shufflelib.sweeps.tabulate` for its keys.
    output, cache : str or os.PathLike, optional
        The table, named so only when complete, and the folder in which rows are kept meanwhile; by default
        beside the YAML file and the output, with the endings ``.csv`` and ``.cache``.  A CSV file has bounds
        rounded outward to ten digits, below lines that begin with ``# `` and say where they are from; with
        the ending ``.parquet``, these are the ``attrs`` of the frame that pandas reads.
    n_jobs, scheduler
        As in `shufflelib.sweeps.sweep`.
    **keys
        Keys of the grid that replace those of the file, such as ``rounds=10``.

    Returns
    -------
    rows : list of dict
        The table.
    summary : str
        One line.

    Raises
    ------
    TypeError, ValueError, OSError
        In one line that names the file and, for what is wrong in it, the key, value and remedy.
    ImportError
        Before anything is computed, if a package is missing; it says what to install.
    KeyboardInterrupt
        When stopped, with a line that says how to go on.
    """
    path = as_path(path, "spec")
    try:
        spec = load(path, NEEDS)
        spec = spec | keys if isinstance(spec, dict) else spec
        points = grid_points(spec, path.parent)
    except (TypeError, ValueError) as wrong:
        raise ValueError(f"{path}: {wrong}") from None
    output = path.with_suffix(".csv") if output is None else as_path(output, "output")
    cache = output.with_suffix(".cache") if cache is None else as_path(cache, "cache")
    taken = output.resolve() in (path.resolve(), cache.resolve())
    if taken or (output.exists() and not output.is_file()):
        raise ValueError(f"output must be a file to write a table to, got {output}; name one ending in .csv")
    parquet = output.suffix == ".parquet"
    if parquet:
        with remedy(PARQUET):
            import pandas  # noqa: F401
            import pyarrow  # noqa: F401
    origin = _origin(spec, points)
    try_folder(output.parent)
    try:
        rows, found = answered(points, n_jobs=n_jobs, scheduler=scheduler, cache=cache)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; what is done is kept in {cache}, and the same command goes on from there"
        ) from None
    origin |= {name: side for name, side in SIDES.items() if any(name in row for row in rows)}
    if parquet:
        frame = data_frame(rows)
        frame.attrs = origin
        replace(output.resolve(), frame.to_parquet(engine="pyarrow"))
    else:
        about = "".join(f"# {name}: {text}\n" for name, text in origin.items())
        replace(output.resolve(), (about + Table(map(_outward, rows)).to_csv()).encode())
    summary = f"{output}: {len(rows)} rows, {found} of them from {cache}"
    refused = sum(row["status"].startswith("refused") for row in rows)
    return rows, f"{summary}; {refused} refused, see their status" if refused else summary


def _origin(spec, points):
    """Return what the numbers come from: the code, the day, the grid, and the content of its tables."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.now(datetime.UTC)
    day = now if seconds is None else datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
    given = [one for point in points for one in point.values() if isinstance(one, Given)]
    return {
        "shufflelib": f"{version('shufflelib')} ({environment()})",
        "date": day.date().isoformat(),
        "spec": json.dumps(spec),
        **{f"content of {one.name}": one.content for one in given},
    }


def _outward(row):
    """Return a row with its bounds as text of ten digits, each rounded to the side on which it stays true."""
    return row | {name: written(row[name], up=name == "upper") for name in ("lower", "upper") if name in row}

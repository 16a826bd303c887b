"""A grid written down in a YAML file, and the table that comes of it."""

from shufflelib.numerics.atomic_files import as_path, replace, try_folder
from shufflelib.numerics.certified import written
from shufflelib.numerics.tables import Table
from shufflelib.numerics.yaml_files import load
from shufflelib.sweeps.table import answered, grid_points

NEEDS = "a sweep file needs it: pip install joblib pyyaml threadpoolctl tqdm"


def sweep_file(path, *, output=None, cache=None, n_jobs=-1, scheduler=None, **keys):
    """Write the table of a grid in a YAML file, and say in one line what was done.

    Parameters
    ----------
    path : str or os.PathLike
        The YAML file; see `shufflelib.sweeps.tabulate` for its keys.
    output, cache : str or os.PathLike, optional
        The CSV file, named so only when complete, its bounds rounded outward to ten digits, and the folder
        in which rows are kept meanwhile; by default beside the YAML file and the output, with the endings
        ``.csv`` and ``.cache``.
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
        points = grid_points(spec | keys if isinstance(spec, dict) else spec)
    except (TypeError, ValueError) as wrong:
        raise ValueError(f"{path}: {wrong}") from None
    output = path.with_suffix(".csv") if output is None else as_path(output, "output")
    cache = output.with_suffix(".cache") if cache is None else as_path(cache, "cache")
    taken = output.resolve() in (path.resolve(), cache.resolve())
    if taken or (output.exists() and not output.is_file()):
        raise ValueError(f"output must be a file to write a table to, got {output}; name one ending in .csv")
    try_folder(output.parent)
    try:
        rows, found = answered(points, n_jobs=n_jobs, scheduler=scheduler, cache=cache)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; what is done is kept in {cache}, and the same command goes on from there"
        ) from None
    replace(output.resolve(), Table([_outward(row) for row in rows]).to_csv().encode())
    summary = f"{output}: {len(rows)} rows, {found} of them from {cache}"
    refused = sum(row["status"].startswith("refused") for row in rows)
    return rows, f"{summary}; {refused} refused, see their status" if refused else summary


def _outward(row):
    """Return a row with its bounds as text of ten digits, each rounded to the side on which it stays true."""
    return row | {name: written(row[name], up=name == "upper") for name in ("lower", "upper") if name in row}

"""A grid written down in a YAML file, and the table that comes of it."""

import re
from pathlib import Path

from shufflelib.numerics.atomic_files import as_path, replace, try_folder
from shufflelib.numerics.certified import written
from shufflelib.numerics.optional import remedy
from shufflelib.numerics.tables import Table
from shufflelib.numerics.typed_numbers import WHOLE, ambiguous, typed
from shufflelib.sweeps.picture import drawn, layout, plotting_tools
from shufflelib.sweeps.table import answered, grid_points

EXPONENT = re.compile(r"[-+]?(\d+\.?|\d*\.\d+)[eE][-+]?\d+$")


def sweep_file(path, *, output=None, cache=None, plot=False, n_jobs=-1, scheduler=None, **keys):
    """Write the table of a grid in a YAML file, and say in one line what was done.

    Parameters
    ----------
    path : str or os.PathLike
        The YAML file; see `shufflelib.sweeps.tabulate` for its keys.
    output, cache : str or os.PathLike, optional
        The CSV file, named so only when complete, its bounds rounded outward to ten digits, and the folder
        in which rows are kept meanwhile; by default beside the YAML file and the output, with the endings
        ``.csv`` and ``.cache``.
    plot : bool
        Whether to draw the table as well, beside the output with the ending ``.png``.
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
        spec = load(path)
        points = grid_points(spec | keys if isinstance(spec, dict) else spec)
        if plot:
            layout(points)
            plotting_tools()
    except (TypeError, ValueError) as wrong:
        raise ValueError(f"{path}: {wrong}") from None
    output = path.with_suffix(".csv") if output is None else as_path(output, "output")
    cache = output.with_suffix(".cache") if cache is None else as_path(cache, "cache")
    taken = output.resolve() in (path.resolve(), cache.resolve())
    if plot and output.suffix == ".png":
        raise ValueError(f"output must not end in .png, the ending of the plot, got {output}; use .csv")
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
    if plot:
        picture = output.with_suffix(".png")
        replace(picture.resolve(), drawn(rows))
        summary += f"; drawn in {picture}"
    refused = sum(row["status"].startswith("refused") for row in rows)
    return rows, f"{summary}; {refused} refused, see their status" if refused else summary


def _outward(row):
    """Return a row with its bounds as text of ten digits, each rounded to the side on which it stays true."""
    return row | {name: written(row[name], up=name == "upper") for name in ("lower", "upper") if name in row}


def load(path):
    """Return what a YAML file says, read safely: nothing in it is run.

    Parameters
    ----------
    path : pathlib.Path
        A file with one mapping.

    Raises
    ------
    ValueError, OSError
        In one line, if the file cannot be read or is not YAML.
    ImportError
        If PyYAML is missing; it says what to install.
    """
    with remedy("a sweep file needs it: pip install joblib pyyaml threadpoolctl tqdm"):
        import yaml

    class Loader(yaml.SafeLoader):
        """Reads 1e-8 as a number, as YAML 1.2 does, and refuses a key that is given twice."""

        def construct_mapping(self, node, deep=False):
            keys = [key.value for key, _ in node.value]
            for place, (key, _) in enumerate(node.value):
                if key.value in keys[:place]:
                    problem = f"{key.value} is given twice; keep one"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            return super().construct_mapping(node, deep)

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+.0123456789"))
    try:
        loader = Loader(Path(path).read_bytes())
        node = loader.get_single_node()
        misread = [
            f"line {one.start_mark.line + 1}: {name} must be a number read in one way, got {one.value}"
            for name, one in _numbers(node, set())
            if _is_misread(name, one.value, loader.construct_object(one))
        ]
        found = None if node is None else loader.construct_document(node)
    except OSError as wrong:
        raise type(wrong)(f"cannot read {path}: {wrong.strerror}; name a YAML file") from None
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        reason = getattr(wrong, "problem", None) or str(wrong).splitlines()[0]
        raise ValueError(f"no YAML: {where}{reason}") from None
    if misread:
        raise ValueError(f"{misread[0]}; write thousands as 100000, and no zero in front")
    return found


def _numbers(node, seen, name=None):
    """Yield the numbers of a file that begin with a digit, each with the key of its line."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if node.id == "mapping":
        for key, value in node.value:
            yield from _numbers(value, seen, f"{key.value}" if name is None else name)
    elif node.id == "sequence":
        for value in node.value:
            yield from _numbers(value, seen, name)
    elif node.tag.endswith((":int", ":float")) and node.value[:1].isdigit():
        yield name, node


def _is_misread(name, text, value):
    """Return whether people read a number otherwise than YAML: 100.000 users, 0100 or 1:30."""
    if name in WHOLE and ambiguous(text):
        return True
    try:
        return typed(text.replace("_", "")) != value
    except ValueError:
        return True

"""A grid written down in a YAML file, and the table that comes of it."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from shufflelib.numerics.atomic_files import as_path, replace, try_folder
from shufflelib.sweeps.cache import Cache
from shufflelib.sweeps.table import as_csv, grid_points, tabulate

NOT_DECIMAL = re.compile(r"[-+]?0[0-9_]+$|.*:")


@dataclass(frozen=True)
class SweepFile:
    """A YAML file with a grid, where its table goes and where results are kept meanwhile.

    Parameters
    ----------
    path : pathlib.Path
        The YAML file, see `shufflelib.sweeps.tabulate` for its keys.
    output : pathlib.Path
        The CSV file that is written when all is done, under its name only when complete.
    cache : Cache
        Where each result is kept as it arrives.
    spec : dict
        What the file says, already checked.
    """

    path: Path
    output: Path
    cache: Cache
    spec: dict

    @classmethod
    def open(cls, path, *, output=None, cache=None):
        """Read and check a file, and see that everything can be written.

        Parameters
        ----------
        path : str or os.PathLike
            The YAML file.
        output, cache : str or os.PathLike, optional
            By default beside the YAML file and the output, with the endings ``.csv`` and ``.cache``.

        Returns
        -------
        SweepFile

        Raises
        ------
        TypeError, ValueError, OSError
            In one line that names the file and, for what is wrong in it, the key, value and remedy.
        """
        path = as_path(path, "spec")
        spec = load(path)
        try:
            grid_points(spec)
        except (TypeError, ValueError) as wrong:
            raise ValueError(f"{path}: {wrong}") from None
        output = path.with_suffix(".csv") if output is None else as_path(output, "output")
        cache = output.with_suffix(".cache") if cache is None else as_path(cache, "cache")
        taken = output.resolve() in (path.resolve(), cache.resolve())
        if taken or (output.exists() and not output.is_file()):
            raise ValueError(
                f"output must be a file to write a table to, got {output}; name one ending in .csv"
            )
        try_folder(output.parent)
        return cls(path, output, Cache(cache), spec)

    def run(self, *, n_jobs=None, scheduler=None):
        """Compute what is not kept, write the table and say what was done.

        Parameters
        ----------
        n_jobs, scheduler
            As in `shufflelib.sweeps.sweep`.

        Returns
        -------
        str
            One line.

        Raises
        ------
        ValueError, OSError
            As `shufflelib.sweeps.tabulate` does; what was done is kept.
        """
        rows = tabulate(self.spec, n_jobs=n_jobs, scheduler=scheduler, cache=self.cache)
        replace(self.output.resolve(), as_csv(rows))
        refused = sum(row["status"].startswith("refused") for row in rows)
        summary = [f"{self.output}: {len(rows)} rows, {self.cache.found} of them kept in {self.cache.folder}"]
        summary += [f"{refused} refused, see their status"] * bool(refused)
        summary += [f"{self.cache.damaged} damaged results computed anew"] * bool(self.cache.damaged)
        return "; ".join(summary)


def load(path):
    """Return what a YAML file says, read safely: nothing in it is run.

    Parameters
    ----------
    path : pathlib.Path
        A file with one mapping.

    Returns
    -------
    object

    Raises
    ------
    ValueError, OSError
        In one line, if the file cannot be read, is not YAML or repeats a key.
    ImportError
        If PyYAML is missing; it says what to install.
    """
    try:
        import yaml
    except ImportError as wrong:
        raise ImportError("yaml is missing; a sweep file needs it: pip install shufflelib[sweeps]") from wrong

    class Strict(yaml.SafeLoader):
        def construct_mapping(self, node, deep=False):
            keys = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
            for key, times in keys.items():
                if times > 1:
                    raise ValueError(
                        f"line {node.start_mark.line + 1}: {key[:40]} is given {times} times; keep one"
                    )
            return super().construct_mapping(node, deep)

        def plain_number(self, node):
            if NOT_DECIMAL.match(node.value):
                line = node.start_mark.line + 1
                raise ValueError(f"line {line}: YAML reads {node.value[:40]} in base 8 or 60; write base 10")
            kind = node.tag.rpartition(":")[2]
            return getattr(super(), f"construct_yaml_{kind}")(node)

    for kind in ("int", "float"):
        Strict.add_constructor(f"tag:yaml.org,2002:{kind}", Strict.plain_number)

    try:
        content = path.read_bytes()
    except OSError as wrong:
        raise type(wrong)(f"cannot read {path}: {wrong.strerror}; name a YAML file") from None
    try:
        return yaml.load(content, Strict)
    except yaml.MarkedYAMLError as wrong:
        where = f"line {wrong.problem_mark.line + 1}: " if wrong.problem_mark else ""
        raise ValueError(f"{path} is no YAML: {where}{wrong.problem}") from None
    except (yaml.YAMLError, RecursionError) as wrong:
        raise ValueError(f"{path} is no YAML: {str(wrong).splitlines()[0]}") from None
    except ValueError as wrong:
        raise ValueError(f"{path}: {wrong}") from None

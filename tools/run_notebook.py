"""Run one notebook with its parameters and publish its figures, all or nothing.

    python tools/run_notebook.py notebooks/00_tour.ipynb build/quick/00_tour.ipynb --profile quick

Parameters come from ``params/<notebook>.yaml`` beside the notebook; in the quick profile those in
``params/quick.yaml`` replace them.  The notebook draws into a scratch folder, and only after its
last cell are the figures, their list (``<target>.files``) and the executed notebook moved to their
places.  Exit status: 1 if a cell fails, 2 if the parameters do not fit the notebook.
"""

import argparse
import ast
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import yaml


def declared_parameters(notebook):
    """Return name -> literal of the one cell tagged ``parameters``; anything else in it is refused."""
    cells = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise ValueError(f"one cell must be tagged 'parameters', found {len(cells)}")
    declared = {}
    for line in ast.parse(cells[0].source).body:
        target = line.target if isinstance(line, ast.AnnAssign) else getattr(line, "targets", [None])[0]
        try:
            declared[target.id] = ast.literal_eval(line.value)
        except (AttributeError, ValueError, TypeError):
            raise ValueError(
                f"the parameters cell may only assign literals, got {ast.unparse(line)!r}; "
                "derive values in a later cell, overrides are injected in between"
            ) from None
    return declared


def fits(value, default):
    """Whether a value may replace a default: same type, or an int for a float, item by item in lists."""
    if default is None:
        return True
    if isinstance(default, list | tuple):
        return isinstance(value, list | tuple) and all(
            any(fits(item, known) for known in default) or not default for item in value
        )
    return type(value) is type(default) or (type(value) is int and type(default) is float)


def chosen_parameters(path, profile, declared):
    """Return the parameters of one run, each known to the notebook and of the type declared there."""
    folder = path.parent / "params"
    chosen = yaml.safe_load((folder / f"{path.stem}.yaml").read_text()) or {}
    if profile == "quick":
        quick = yaml.safe_load((folder / "quick.yaml").read_text()) or {}
        chosen |= quick.get(path.stem) or {}
    for name, value in chosen.items():
        if name not in declared:
            raise ValueError(
                f"unknown parameter {name!r}; the notebook declares {', '.join(declared) or 'none'}"
            )
        if not fits(value, declared[name]):
            hint = "; YAML reads 1e-8 as text, write 1.0e-8" if isinstance(value, str) else ""
            raise ValueError(f"parameter {name!r} is {declared[name]!r} in the notebook, got {value!r}{hint}")
    if "interactive" in declared:
        chosen["interactive"] = False
    return chosen


def strip(executed):
    """Remove what differs between two runs of the same notebook: times, paths, random identifiers."""
    kept = ("kernelspec", "language_info")
    executed.metadata = {key: value for key, value in executed.metadata.items() if key in kept}
    for number, cell in enumerate(executed.cells):
        cell.id = f"cell-{number}"
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
    return executed


def report(path, notebook, error):
    """Print which cell of the notebook failed, its source, and the traceback from that cell on."""
    tagged = next(n for n, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", []))
    number = error.cell_index + (error.cell_index <= tagged)  # from 1, without the injected cell
    trace = "\n".join(error.traceback) or f"{error.ename}: {error.evalue}"
    trace = re.sub(r"\x1b\[[0-9;]*m", "", trace)
    print(
        f"{path}: cell {number} of {len(notebook.cells)} failed\n\n{error.source}\n\n{trace}", file=sys.stderr
    )


def run(path, target, profile, figures):
    """Run the notebook and return the exit status."""
    notebook = nbformat.read(path, as_version=4)
    try:
        declared = declared_parameters(notebook)
        parameters = chosen_parameters(path, profile, declared)
    except (ValueError, OSError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    import papermill  # a second to import: a refusal should not wait for it

    started = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.stem}-", dir=target.parent) as scratch:
        drawn = Path(scratch, "figures").absolute()
        drawn.mkdir()
        os.environ["SHUFFLELIB_FIGURES"] = str(drawn)
        try:
            executed = papermill.execute_notebook(
                str(path),
                None,
                parameters,
                kernel_name="python3",
                language="python",
                cwd=str(path.parent),
                progress_bar=False,
                coalesce_streams=True,
                extra_arguments=["--IPKernelApp.log_level=CRITICAL"],  # it reports its own shutdown
            )
        except papermill.PapermillExecutionError as error:
            report(path, notebook, error)
            return 1
        files = sorted(drawn.iterdir())
        strangers = [file.name for file in files if not file.name.startswith(path.stem.split("_")[0])]
        if strangers:
            print(f"{path}: figures must begin with the notebook's number, got {strangers}", file=sys.stderr)
            return 1
        finished = Path(scratch, path.name)
        nbformat.write(strip(executed), finished)
        listed = Path(scratch, "files")
        listed.write_text("".join(f"{figures / file.name}\n" for file in files))
        figures.mkdir(parents=True, exist_ok=True)
        for file in files:
            os.replace(file, figures / file.name)
        os.replace(listed, target.with_suffix(".files"))
        os.replace(finished, target)
    print(f"{path.stem} ({profile}): {time.monotonic() - started:.1f} s, {len(files)} files", flush=True)
    return 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("notebook", type=Path)
    arguments.add_argument("target", type=Path)
    arguments.add_argument("--profile", choices=("full", "quick"), default="full")
    arguments.add_argument("--figures", type=Path, default=Path("figures"))
    given = arguments.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(run(given.notebook, given.target, given.profile, given.figures))
    except KeyboardInterrupt:
        sys.exit(f"{given.notebook}: interrupted, nothing written")

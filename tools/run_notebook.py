"""Run one notebook with its parameters and publish its figures, all or nothing.

    python tools/run_notebook.py notebooks/explorer.ipynb build/quick/explorer.ipynb --profile quick

The full profile takes the parameters as the notebook declares them; the quick one replaces some, as
``params/quick.yaml`` in the folder of notebooks says.  The notebook draws into a scratch folder, and only
after its last cell are the figures that changed, the list of all (``<target>.files``), what the run depends
on (``<target>.d``, for make) and the executed notebook moved to their places, as ``publish.py`` and
``needs.py`` say.  Two runs of one notebook take turns, and each clears what a killed one left, but
for the checkpoints of long training, from which the next run of the same code goes on.
Exit status: 1 if a cell fails or nothing can be written, 2 if the parameters do not fit the notebook.
"""

import argparse
import ast
import errno
import fcntl
import hashlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import yaml

import needs
import publish

sys.modules["rfc3987_syntax"] = None  # jsonschema's check of addresses: two seconds to import, not used here
import nbformat  # noqa: E402


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
    chosen = {}
    if profile == "quick":
        folder = next(above / "params" for above in path.absolute().parents if (above / "params").is_dir())
        quick = yaml.safe_load((folder / "quick.yaml").read_text(encoding="utf-8")) or {}
        chosen = quick.get(path.stem) or {}
    for name, value in chosen.items():
        if name not in declared:
            raise ValueError(
                f"unknown parameter {name!r}; the notebook declares {', '.join(declared) or 'none'}"
            )
        if not fits(value, declared[name]):
            hint = "; YAML reads 1e-8 as text, write 1.0e-8" if isinstance(value, str) else ""
            raise ValueError(f"parameter {name!r} is {declared[name]!r} in the notebook, got {value!r}{hint}")
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


@contextmanager
def alone(folder):
    """Make a folder, for this process alone, with an empty one in it; remove both at the end.

    The lock is the system's, so it ends with the process; what a killed one left is removed as well.
    """
    while True:
        folder.mkdir(exist_ok=True)
        try:
            held = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue  # another process has just removed it
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(held), os.stat(folder)):
                break
        except FileNotFoundError:
            pass
        os.close(held)
    try:
        yield tempfile.mkdtemp(dir=folder)  # a killed run's kernel may still write under the old name
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


@contextmanager
def checkpoints(path, target, parameters):
    """Make a folder for what a stopped run may leave to the next run of the same code; yield it."""
    sources = [file for file in needs.needs(path) if file.suffix in (".py", ".ipynb")]
    code = b"".join(source.read_bytes() for source in sources) + repr(parameters).encode()
    digest = hashlib.sha256(code).hexdigest()[:16]
    folder = target.with_name(f".{target.stem}.{digest}.checkpoints").absolute()
    for other in set(folder.parent.glob(f".{target.stem}.*.checkpoints")) - {folder}:
        shutil.rmtree(other, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    try:
        yield folder
    finally:
        if not os.listdir(folder):
            folder.rmdir()


def no_room(error):
    """Whether a cell failed because a file could not grow."""
    reasons = map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
    return any(reason in error.evalue for reason in reasons)


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
    try:
        notebook = nbformat.read(path, as_version=4)
        declared = declared_parameters(notebook)
        parameters = chosen_parameters(path, profile, declared)
    except (ValueError, OSError, yaml.YAMLError) as error:
        print(f"{path}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        figures.mkdir(parents=True, exist_ok=True)
        if not os.access(figures, os.W_OK):
            raise PermissionError(errno.EACCES, "cannot write there", str(figures))
        if os.stat(figures).st_dev != os.stat(target.parent).st_dev:
            raise OSError(errno.EXDEV, f"must be on the disk that holds {target.parent}", str(figures))
        with (
            alone(target.with_name(f".{target.stem}")) as scratch,
            checkpoints(path, target, parameters) as kept,
        ):
            os.environ["SHUFFLELIB_CHECKPOINTS"] = str(kept)
            status = execute(path, target, profile, figures, notebook, parameters, Path(scratch))
            for file in kept.iterdir() if status == 0 else ():
                file.unlink()
            return status
    except OSError as wrong:
        message = [path, wrong.strerror or wrong, wrong.filename]
        print(*filter(None, message), sep=": ", end="; put that right and run again\n", file=sys.stderr)
        return 1


def doubtful(executed):
    """Return what is wrong with the first output that warns or shows a NaN, or None."""
    for number, cell in enumerate(executed.cells):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                return f"cell {number} warns: {output.text.strip()}"
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            if re.search(r"\bnan\b", text, re.IGNORECASE):
                return f"cell {number} shows a NaN: {text.strip()[:200]}"
    return None


def once_started(run, tries=3):
    """Return what the run returns; begin again if its kernel died before the first cell.

    A kernel binds ports that were free a moment before: another program may have taken one since.
    """
    for left in reversed(range(tries)):
        try:
            return run()
        except RuntimeError as error:
            if not left or "Kernel died before replying" not in str(error):
                raise


def execute(path, target, profile, figures, notebook, parameters, scratch):
    """Run the notebook in a scratch folder, publish what it made, and return the exit status."""
    import papermill  # a second to import: a refusal should not wait for it

    started, clock = time.time(), time.monotonic()
    own = path.stem.split("_")[0]
    rule = needs.rule(target, path, own=own)
    drawn = (scratch / "figures").absolute()
    drawn.mkdir()
    os.environ["SHUFFLELIB_FIGURES"] = str(drawn)
    os.environ["TQDM_DISABLE"] = "1"
    os.environ["SHUFFLELIB_FORMATS"] = "png" if profile == "quick" else "png pdf svg"
    os.environ["SHUFFLELIB_FRAMES"] = "9" if profile == "quick" else "30"  # nobody moves a slider
    tempfile.tempdir = str(scratch.absolute())  # where the file about the kernel's connection goes
    try:
        executed = once_started(
            lambda: papermill.execute_notebook(
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
        )
    except papermill.PapermillExecutionError as error:
        if no_room(error):
            print(f"{path}: {error.ename}: {error.evalue}", file=sys.stderr)
        else:
            report(path, notebook, error)
        return 1
    if complaint := doubtful(executed):
        print(f"{path}: {complaint}", file=sys.stderr)
        return 1
    files = sorted(drawn.iterdir())
    strangers = [file.name for file in files if not file.name.startswith(own)]
    if strangers:
        print(f"{path}: figures must begin with the notebook's number, got {strangers}", file=sys.stderr)
        return 1
    finished, listed = scratch / path.name, scratch / "files"
    nbformat.write(strip(executed), finished)
    os.utime(finished, (started, started))  # what was edited during the run is newer than its result
    listed.write_text("".join(f"{figures / file.name}\n" for file in files), encoding="utf-8")
    anew = publish.publish(drawn, figures)
    needs.record(target, rule, anew)
    os.replace(listed, target.with_suffix(".files"))
    os.replace(finished, target)
    count = f"{len(files)} files, {len(anew)} figures written anew"
    print(f"{path.stem} ({profile}): {time.monotonic() - clock:.1f} s, {count}", flush=True)
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

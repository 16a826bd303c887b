"""The files that a notebook or a script depends on: the modules it imports, and what these read.

Imports are followed wherever they stand, in functions as well.  A package may load names on first use:
what its ``__init__`` imports under ``if TYPE_CHECKING`` counts for who asks for that name.  The few modules
that open files, or compute the names of modules, are listed in `READS` with what they read; a table beside
a notebook counts if the notebook names it.
"""

import ast
import functools
import os
import re
from pathlib import Path

import nbformat

DATA = "build/data.seen"  # written by make anew where other files of MNIST are there than before
READS = {
    "claims/__init__.py": ("claims/ledger.toml", "claims/*/*.py"),
    "claims/items.py": ("claims/items.toml",),
    "claims/systems.py": ("claims/deployed.toml",),
    "claims/committed_runs.py": ("figures/papers/*_mnist.csv", "figures/papers/gspa24_accuracies.csv"),
    "shufflelib/__init__.py": (),  # imports names when asked for them
    "shufflelib/sgd/datasets/mnist_files.py": (DATA,),
    "shufflelib/sweeps/running.py": (),  # compares the package with that of results kept in a file
}


def code(path):
    """Return the Python of a script or of a notebook's code cells."""
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    cells = (cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    return "\n".join(
        "pass" if line[:1] in ("%", "!") else line for cell in cells for line in cell.splitlines()
    )


@functools.cache
def imports(path):
    """Return the dotted names that a file may import, and name -> dotted name of those it loads on first use.

    The last part of a dotted name need not be a module.
    """
    try:
        now, lazy, waiting = [], {}, [(ast.parse(code(path)), False)]
    except SyntaxError:  # it will not run
        return [], {}
    while waiting:
        node, unused = waiting.pop()
        if isinstance(node, ast.Import):
            now += [] if unused else [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = {one.name: f"{node.module}.{one.name}" for one in node.names}
            lazy, now = (lazy | names, now) if unused else (lazy, now + list(names.values()))
        elif isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            waiting += [(child, True) for child in node.body] + [(child, unused) for child in node.orelse]
        elif not isinstance(node, ast.expr):
            waiting += [(child, unused) for child in ast.iter_child_nodes(node)]
    return now, lazy


@functools.cache
def modules(name, folder):
    """Return the files below a folder that importing a dotted name executes."""
    parts, files = name.split("."), []
    for depth in range(1, len(parts) + 1):
        here = folder.joinpath(*parts[:depth])
        found = next(filter(Path.is_file, (here / "__init__.py", here.with_suffix(".py"))), None)
        if found is None:  # a name in the module above, which may load it on first use
            above = folder.joinpath(*parts[: depth - 1], "__init__.py")
            if depth > 1 and parts[depth - 1] in (lazy := imports(above)[1] if above.is_file() else {}):
                files += modules(lazy[parts[depth - 1]], folder)
            return files
        files.append(found)
    for other in imports(found)[1].values() if found.name == "__init__.py" and len(parts) == 1 else ():
        files += modules(other, folder)  # ``import package``, after which any of its names may be used
    return files


def needs(path, root=Path()):
    """Return the paths below the root, its own included, of all that a notebook or a script depends on."""
    found, waiting = set(), {path}
    while waiting:
        path = waiting.pop()
        found.add(path)
        if path.suffix in (".py", ".ipynb"):
            here = {file for name in imports(root / path)[0] for home in (path.parent, Path())
                    for file in modules(name, root / home)}  # fmt: skip
            read = READS.get(path.as_posix(), ())
            there = {file for pattern in read for file in root.glob(pattern)}
            there |= {file for file in (root / path).parent.glob("*.csv") if file.name in code(root / path)}
            waiting |= {file.relative_to(root) for file in here | there} - found
            found |= {Path(DATA)} if DATA in read else set()
    return sorted(found)


def rule(target, path, *, own="none"):
    """Return what make includes to know when a target made from a notebook or script is out of date.

    Files that have gone need an empty rule, or make would stop.  Figures whose names begin with ``own`` are
    left out: a notebook that reads what it drew before does not depend on itself.
    """
    files = [file.as_posix() for file in needs(path)]
    files = [file for file in files if not re.match(rf"figures/.*\b{own}_", file)]
    gone = [f"{file}:" for file in files if file != DATA]
    return "\n".join([f"{target}: {' '.join(files)}", *gone])


def record(target, rule, anew=()):
    """Write beside a target what make includes: its rule, and in comments which figures were written anew.

    Make takes the file for whole if its last line says so.
    """
    lines = [rule, *(f"# anew {' '.join(line.split())}" for line in anew), "# whole", ""]
    written = target.with_suffix(".d.new")
    try:
        written.write_text("\n".join(lines), encoding="utf-8")
        os.replace(written, target.with_suffix(".d"))  # a part of it would stop make
    finally:
        written.unlink(missing_ok=True)

"""The floors of the package: who may import whom, and that nobody goes in circles."""

import ast
import graphlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "shufflelib"
FLOORS = (
    {"numerics"},
    {"profiles"},
    {"randomizers"},
    {"shuffling"},
    {"published", "calibration"},
    {"estimation", "sgd", "sweeps"},
    {"explorer", "cli"},
    {"__main__"},
)
BESIDE = {"plotting", "datasets"}  # may use numerics only; calibration and all above may use them
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
LATE = {  # imports inside functions, of what needs a package that is optional
    ("shufflelib.cli", "shufflelib.sweeps.spec"),
    ("shufflelib.explorer.sliders", "shufflelib.plotting"),
}


def modules():
    """Return the path of every module of the package by its name."""
    names = {
        path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
    }
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imports(known):
    """Yield (importer, imported, whether inside a function) for all imports within the package."""
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        late = {
            id(inner)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for inner in ast.walk(function)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shufflelib":
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    yield name, full if full in known else node.module, id(node) in late


KNOWN = modules()
IMPORTS = tuple(imports(KNOWN))


def room(name):
    return name.split(".")[1] if "." in name else ""


def test_at_most_fourteen_things_stand_beside_the_packages_own_file():
    entries = {path.stem for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "__init__.py")}
    assert entries == {*FLOOR, *BESIDE} and len(entries) <= 14


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_no_import_points_up(name):
    for importer, imported, _ in IMPORTS:
        above, below = room(importer), room(imported)
        if importer != name or above == below or not above or not below:
            continue
        if above in BESIDE:
            assert below == "numerics", f"{importer} imports {imported}"
        elif below not in BESIDE:
            assert FLOOR[below] < FLOOR[above], f"{importer} imports {imported}"


def test_no_import_goes_in_circles_and_none_hides_in_a_function():
    graph = {name: set() for name in KNOWN}
    for importer, imported, _ in IMPORTS:
        if not imported.startswith(importer + "."):  # a package gathers what its modules offer
            graph[importer].add(imported)
    assert list(graphlib.TopologicalSorter(graph).static_order())
    assert {(importer, imported) for importer, imported, late in IMPORTS if late} <= LATE


def test_the_ledger_stands_beside_the_package():
    assert not [path for path in PACKAGE.rglob("*.py") if "import claims" in path.read_text(encoding="utf-8")]
    assert not [path for path in PACKAGE.rglob("*.py") if "from claims" in path.read_text(encoding="utf-8")]

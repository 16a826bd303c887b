"""What the contracts in pyproject.toml leave unsaid: how many rooms there are, and that no import hides."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "shufflelib"
TREES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in PACKAGE.rglob("*.py")
}
LATE = {  # imports inside functions, of what needs a package that is optional
    ("cli.py", "from shufflelib.sweeps.spec import SweepFile"),
    ("explorer/sliders.py", "from shufflelib.plotting import png"),
}


def late_imports(tree):
    """Yield each import of the package that stands inside a function, as it is written."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    line = ast.unparse(node)
                    if "shufflelib" in line or line.startswith("from ."):
                        yield line


def test_at_most_fourteen_things_stand_beside_the_packages_own_file():
    entries = {path.name for path in PACKAGE.iterdir()} - {"__pycache__", "__init__.py"}
    assert len(entries) <= 14, sorted(entries)


def test_no_import_hides_in_a_function():
    found = {(path, line) for path, tree in TREES.items() for line in late_imports(tree)}
    assert found == LATE


def test_only_the_packages_own_file_looks_up_modules_by_name():
    users = {path for path, tree in TREES.items() if "import_module" in ast.unparse(tree)}
    assert users == {"__init__.py"}

"""What the contracts in pyproject.toml leave unsaid: how many rooms there are, and that no import hides."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from shufflelib import randomizers, shuffle

PACKAGE = Path(__file__).resolve().parents[2] / "shufflelib"
TREES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in PACKAGE.rglob("*.py")
}
LATE = {  # imports inside functions, of what needs a package that is optional
    ("__main__.py", "from shufflelib.sweeps.spec import sweep_file"),
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


def test_no_import_hides_in_a_function():
    found = {(path, line) for path, tree in TREES.items() for line in late_imports(tree)}
    assert found == LATE


def test_only_the_packages_own_file_looks_up_modules_by_name():
    users = {path for path, tree in TREES.items() if "import_module" in ast.unparse(tree)}
    assert users == {"__init__.py"}


@pytest.mark.parametrize("name", ["shufflelib", "shufflelib.sgd.datasets"])
def test_what_is_optional_is_loaded_only_when_used(name):
    heavy = {"matplotlib", "ipywidgets", "sklearn", "dp_accounting", "pooch"}
    code = f"import sys, {name}; print(*{heavy} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "\n"


def test_one_delta_is_followed_in_ten_files():
    entered = []

    def note(frame, event, _):
        if event == "call" and str(PACKAGE) in frame.f_code.co_filename:
            entered.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10**5).delta(0.005)
    finally:
        sys.setprofile(None)
    changes = sum(one != two for one, two in zip(entered, entered[1:], strict=False))
    assert len(set(entered)) <= 10 and changes <= 60, (sorted(set(entered)), changes)

"""What make runs again after a change, and what it leaves alone: the tree, and the reader's environment."""

import ast
import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import needs
import publish
from test_build import NOTEBOOKS, ROOT
from test_faults import checkout, done, make, script

STUBS = {
    "shufflelib/__init__.py": "if TYPE_CHECKING:\n    from shufflelib.core import exact",
    "shufflelib/core.py": "def exact():\n    from shufflelib import late",
    "shufflelib/late.py": "",
    "shufflelib/sgd/__init__.py": "",
    "shufflelib/sgd/datasets/__init__.py": "from shufflelib.sgd.datasets.mnist_files import mnist",
    "shufflelib/sgd/datasets/mnist_files.py": "mnist = 1",
    "shufflelib/text.py": "words = 1",
    "claims/__init__.py": "import claims.checks",
    "claims/checks/__init__.py": "",
    "claims/checks/one.py": "",
    "claims/ledger.toml": "",
    "claims/items.toml": "",
    "figures/papers/index.csv": "",
    "tools/draw_ideas.py": "",
    "tools/figures_page.py": "",
}
CELLS = {
    "00_small": "from shufflelib import exact",
    "course/01_text": "from shufflelib.text import words",
    "course/02_data": "from shufflelib.sgd.datasets import mnist",
    "papers/03_claims": "import claims",
}
ALL = set(CELLS)


def state(folder):
    """Write what runs of all notebooks leave, without running them."""
    until = time.time() + 5
    for profile in ("full", "quick"):
        for name in CELLS:
            target = Path("build", profile, f"{name}.ipynb")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("{}\n")
            target.with_suffix(".files").write_text("figures/papers/index.csv\n")
            needs.record(target, needs.rule(target, Path("notebooks", f"{name}.ipynb")))
        ideas = Path("build", profile, "ideas.drawn")
        ideas.touch()
        needs.record(ideas, needs.rule(ideas, Path("tools/draw_ideas.py")))
    Path(needs.DATA).write_text("\n")
    for path in folder.rglob("*"):
        late = 3 if path.parts[len(folder.parts)] == "build" else 2 if path.name == "installed" else 1
        if not path.is_symlink() and not path.is_relative_to(folder / "build/data.seen"):
            os.utime(path, (until - 60 + late,) * 2)
    os.utime(needs.DATA, (until - 60,) * 2)


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Return a checkout of a few notebooks that have all run."""
    folder = checkout(tmp_path)
    (folder / "tools").unlink()
    (folder / "tools").mkdir()
    (folder / "requirements.lock").unlink()
    for name in ("requirements.lock", "tools/run_notebook.py", "tools/needs.py", "tools/publish.py"):
        shutil.copy(ROOT / name, folder / name)
    for name, text in STUBS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name, cell in CELLS.items():
        path = folder / f"notebooks/{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)]), path)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("SHUFFLELIB_DATA", raising=False)
    needs.imports.cache_clear()
    needs.modules.cache_clear()
    state(folder)
    return folder


def tree(folder):
    """Return path -> time and content of all that is below a folder."""
    return {
        path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


def reruns(folder, *arguments, **environment):
    """Return what `make -n figures` would run, having seen that it changes nothing."""
    before = tree(folder)
    shown = done(make(folder, "-n", "figures", *arguments, **environment))
    assert tree(folder) == before
    return set(re.findall(r"run_notebook.py notebooks/(\S+)\.ipynb", shown))


def test_nothing_runs_again_without_a_change(built):
    assert reruns(built) == reruns(built, "PROFILE=full") == set()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("notebooks/course/01_text.ipynb", {"course/01_text"}),
        ("shufflelib/text.py", {"course/01_text"}),
        ("shufflelib/core.py", {"00_small"}),
        ("shufflelib/late.py", {"00_small"}),
        ("shufflelib/__init__.py", ALL - {"papers/03_claims"}),
        ("claims/checks/one.py", {"papers/03_claims"}),
        ("claims/ledger.toml", {"papers/03_claims"}),
        ("shufflelib/sgd/datasets/mnist_files.py", {"course/02_data"}),
    ],
)
def test_only_what_depends_on_a_change_runs_again(built, changed, expected):
    os.utime(built / changed)
    assert reruns(built, "PROFILE=full") == reruns(built) == expected
    (built / changed).rename(built / "gone")
    if not changed.startswith("notebooks"):  # a module that has gone
        assert reruns(built) == expected


@pytest.mark.parametrize("share", [0, 0.02, 0.5, 1])
def test_a_damaged_list_of_what_the_pictures_need_stops_no_make(built, share):
    listed = built / "build/quick/ideas.d"
    text = listed.read_text()
    listed.write_text(text[: int(share * len(text))])
    done(make(built, "-n", "help"))
    assert ("tools/draw_ideas.py" in done(make(built, "-n", "figures"))) == (share < 1)


def test_coarse_grids_concern_the_quick_profile_alone(built):
    os.utime(built / "notebooks/params/quick.yaml")
    assert reruns(built) == ALL and reruns(built, "PROFILE=full") == set()


@pytest.mark.parametrize("elsewhere", [None, "moved ' here"])
def test_data_that_arrive_run_the_notebooks_that_want_them(built, elsewhere):
    more = {"SHUFFLELIB_DATA": elsewhere} if elsewhere else {}
    data = built / (elsewhere or "data") / "mnist"
    data.mkdir(parents=True)
    assert reruns(built, **more) == set()
    for name in ("a-ubyte.gz", "b-ubyte.gz"):
        (data / name).touch()
        assert reruns(built, **more) == {"course/02_data"}
        done(make(built, needs.DATA, **more))
        assert reruns(built, **more) == {"course/02_data"}
        shutil.copystat(needs.DATA, "build/quick/course/02_data.ipynb")
        assert reruns(built, **more) == set()
    shutil.rmtree(data)
    assert reruns(built, **more) == {"course/02_data"}


def test_a_copied_checkout_and_a_damaged_build_are_only_looked_at(built):
    (built / ".venv/home").write_text("elsewhere\n")
    (built / "build/quick/00_small.ipynb").write_text("")
    (built / "build/quick/papers/03_claims.files").write_text("figures/gone.csv\n")
    lock = built / "build/matplotlib/fonts.matplotlib-lock"
    lock.parent.mkdir()
    lock.touch()
    os.utime(lock, (0, 0))
    assert reruns(built) == {"00_small", "papers/03_claims"}
    before = tree(built)
    assert "pip install" in done(make(built, "-n", "lint"))
    done(make(built, "help"))
    assert tree(built) == before


def test_a_copied_checkout_installs_itself_once(built):
    script(built / ".venv/bin/python", '[ "$2" != pip ] && exec true; echo "$@" >>installs')
    (built / ".venv/home").write_text("elsewhere\n")
    for _ in range(2):
        done(make(built, ".venv/installed"))
        assert (built / "installs").read_text().count("\n") == 1
    assert (built / ".venv/home").read_text() == f"{built.resolve()}\n"


def test_of_the_environment_only_what_is_named_is_passed_on(built):
    script(built / ".venv/bin/python", f'env >"{built}/seen"')
    mine = {
        "PYTHONPATH": "x",
        "PIP_TARGET": "x",
        "MKL_NUM_THREADS": "7",
        "MY_OWN": "1",
        "SHUFFLELIB_FIGURES": "x",
    }
    kept = {"PIP_CERT": "x", "HTTPS_PROXY": "p", "SHUFFLELIB_FUZZ": "3", "LC_ALL": "C", "PIP_INDEX_URL": "y"}
    done(make(built, "data", **mine, **kept))
    seen = dict(line.split("=", 1) for line in (built / "seen").read_text().splitlines() if "=" in line)
    assert not mine.keys() & seen.keys() and kept.items() <= seen.items()
    assert (seen["PYTHONHASHSEED"], seen["MPLBACKEND"], seen["PATH"]) == ("0", "agg", os.environ["PATH"])
    assert seen["SHUFFLELIB_DATA"] == f"{built}/data"
    done(make(built, "lab", **mine))
    assert f"SHUFFLELIB_FIGURES={built}/build/lab/figures\n" in (built / "seen").read_text()


@pytest.mark.parametrize("name", ["python3", "python3.12", "python3.13"])
def test_one_interpreter_is_enough_under_any_name(tmp_path, name):
    (tmp_path / name).symlink_to(sys.executable)
    tell = "tell: ; $(info [$(PYTHON) $(NEWEST)])"
    run = [shutil.which("make"), "--silent", "--eval", tell, "-f", ROOT / "Makefile", "tell"]
    told = subprocess.run(run, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert told.stdout == f"[{name} {name if '.' in name else ''}]\n"


def test_what_is_written_anew_is_listed_once(built):
    ran = Path("build/quick/00_small.ipynb")
    needs.record(ran, needs.rule(ran, Path("notebooks/00_small.ipynb")), ["figures/00_a: is new"])
    assert "  figures/00_a: is new\n" in done(make(built, "figures"))
    assert "  nothing\n" in done(make(built, "figures"))


# the closure of imports, in the project itself


def test_a_module_concerns_only_the_notebooks_that_reach_it():
    module = Path("shufflelib/estimation/range_queries.py")
    wants = {path.stem for path in NOTEBOOKS if module in needs.needs(path.relative_to(ROOT), ROOT)}
    assert "14_ranges" in wants and "01_why_shuffle" not in wants
    text = Path("viz/explorer/words.py")
    wants = [path.stem for path in NOTEBOOKS if text in needs.needs(path.relative_to(ROOT), ROOT)]
    assert wants == ["explorer"]
    table = Path("notebooks/course/census_1994.csv")
    assert table in needs.needs(Path("notebooks/course/01_why_shuffle.ipynb"), ROOT)
    assert table not in needs.needs(Path("notebooks/course/02_what_the_analyst_can_tell.ipynb"), ROOT)


def test_modules_that_open_files_of_the_project_say_which():
    opens = re.compile(r"\b__file__\b|import_module\(|importlib\.resources|pkgutil\.")
    paths = [path for home in ("shufflelib", "claims") for path in (ROOT / home).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in paths if opens.search(path.read_text())}
    assert found | {"shufflelib/sgd/datasets/mnist_files.py"} == needs.READS.keys()


IMPORTED = """
import sys
from pathlib import Path
{}
names = [name for name in sys.modules if name.split(".")[0] in ("shufflelib", "claims")]
print(*(Path(sys.modules[name].__file__).relative_to(Path.cwd()) for name in names), sep="\\n")
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_all_that_a_notebook_imports_is_among_its_needs(path):
    found = needs.needs(path.relative_to(ROOT), ROOT)
    statements = [ast.unparse(one) for one in ast.parse(needs.code(path)).body]
    statements = [one for one in statements if one.startswith(("import ", "from "))]
    shown = subprocess.run(
        [sys.executable, "-c", IMPORTED.format("\n".join(statements))],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    imported = {Path(line) for line in shown.stdout.split()}
    assert imported and imported <= set(found)


# figures of record


@pytest.fixture
def figures(tmp_path):
    """Return a folder with a figure of record, and a function that publishes another one over it."""
    placed, drawn = tmp_path / "placed", tmp_path / "drawn"
    placed.mkdir()

    def draw(value, dot=0, label="a", folder=drawn, table="| x |\n| 1.23457 |\n", title="A"):
        folder.mkdir(exist_ok=True)
        shade = np.full((20, 30, 3), 250, dtype=np.uint8)
        shade[3, 4] -= dot
        titled = PngInfo()
        titled.add_text("Title", title)
        Image.fromarray(shade).save(folder / "00_a.png", pnginfo=titled)
        (folder / "00_a.csv").write_text(f"# n: 10\nbound,x\n{label},{value}\n")
        (folder / "00_a.pdf").write_text(f"{value} {dot} {label}")
        (folder / "00_t.csv").write_text("x\n1.234567\n")
        (folder / "00_t.md").write_text(table)
        return publish.publish(folder, placed) if folder == drawn else None

    draw("2.0", folder=placed)
    return placed, draw


@pytest.mark.parametrize(
    "new",
    [
        {"value": "2.0"},
        {"value": "2.0000001"},
        {"value": "2", "dot": 2},
        {"value": 2, "table": "|x|\n|1.23456|\n"},
    ],
)
def test_figures_that_another_processor_draws_alike_stay_as_they_are(figures, new):
    placed, draw = figures
    before = tree(placed)
    assert draw(**new) == [] and tree(placed) == before


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ({"value": "2.000001"}, "00_a: 1 entries differ, first row 1, x: 2.0 became 2.000001"),
        ({"value": "2.0", "label": "b"}, "00_a: 1 entries differ, first row 1, bound: a became b"),
        ({"value": "2.0", "dot": 3}, "00_a: drawn differently"),
        ({"value": "2.0", "title": "B"}, "00_a: drawn differently"),
        ({"value": "2.0", "table": "| y |\n| 1.23457 |\n"}, "00_t: drawn differently"),
    ],
)
def test_a_number_that_moves_or_another_picture_writes_all_files_of_a_figure(figures, new, said):
    placed, draw = figures
    assert draw(**new) == [f"{placed}/{said}"]
    name = said.partition(":")[0]
    draw(**new, folder=(placed.parent / "again"))
    for path in placed.glob(f"{name}.*"):
        assert path.read_bytes() == (placed.parent / "again" / path.name).read_bytes()


@pytest.mark.parametrize("new", [{"value": "3"}, {"value": "2.0", "dot": 9}, {"value": "3", "dot": 9}])
@pytest.mark.parametrize("moved", range(4))
def test_a_figure_of_which_a_killed_run_moved_a_part_is_written_whole(figures, monkeypatch, new, moved):
    placed, draw = figures
    left, replace = iter(range(moved)), os.replace

    def killed(*paths):
        if next(left, None) is None:
            raise KeyboardInterrupt
        replace(*paths)

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr("publish.os.replace", killed)
        draw(**new)
    draw(**new)
    draw(**new, folder=(placed.parent / "again"))
    for path in placed.iterdir():
        assert path.read_bytes() == (placed.parent / "again" / path.name).read_bytes()


def test_a_missing_file_is_added_and_a_damaged_or_new_figure_written(figures):
    placed, draw = figures
    (placed / "00_a.pdf").unlink()
    kept = (placed / "00_a.png").stat().st_mtime_ns
    assert draw("2.0000001") == [] and (placed / "00_a.pdf").read_text() == "2.0000001 0 a"
    assert (placed / "00_a.png").stat().st_mtime_ns == kept
    (placed / "00_a.png").write_bytes(b"\x89PNG, damaged")
    assert draw("2.0") == [f"{placed}/00_a: was damaged"]
    for path in placed.glob("00_t.*"):
        path.unlink()
    assert draw("2.0") == [f"{placed}/00_t: is new"]

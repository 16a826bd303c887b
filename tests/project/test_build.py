"""The build: one truth about dependencies, notebooks that cannot go stale, runs that are all or nothing."""

import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import check_figures
import figures_page
import run_notebook
import shufflelib
from shufflelib.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_environment_says_what_pyproject_says():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["name"] == PROJECT["name"]
    python, *named, pip, package = environment["dependencies"]
    assert pip == "pip" and package == {"pip": ["-e ."]}
    assert python == f"python {PROJECT['requires-python']}"
    extras = PROJECT["optional-dependencies"]
    needed = {*PROJECT["dependencies"], *extras["app"], *extras["notebooks"], *extras["sweeps"]}
    assert sorted(named) == sorted(needed)


EXTRAS = {
    "requirements.lock": {"notebooks", "test", "cluster", "sweeps", "interop"},
    "requirements-book.lock": {"app", "book", "browser"},
}


def pinned(lock):
    """Return the versions of each package that a lock pins: one, or one for each version of Python."""
    pins = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / lock).read_text(), flags=re.MULTILINE):
        pins.setdefault(name, []).append(version)
    return pins


@pytest.mark.parametrize("lock", EXTRAS)
def test_a_lock_holds_every_dependency(lock):
    versions = pinned(lock)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    always = [*PROJECT["dependencies"], *build] if lock == "requirements.lock" else []
    extras = [PROJECT["optional-dependencies"][name] for name in EXTRAS[lock]]
    for requirement in map(Requirement, sum(extras, always)):
        pins = versions[requirement.name.replace("_", "-").lower()]
        assert all(version in requirement.specifier for version in pins)


def test_the_two_locks_agree_and_hold_every_extra():
    assert set.union(*EXTRAS.values()) == set(PROJECT["optional-dependencies"])
    first, second = map(pinned, EXTRAS)
    assert {name: first[name] for name in first & second.keys()} == {
        name: second[name] for name in first & second.keys()
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stripped_and_takes_its_parameters(path):
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata.kernelspec.name == "python3"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    declared = run_notebook.declared_parameters(notebook)
    for profile in ("full", "quick"):
        run_notebook.chosen_parameters(path, profile, declared)


def test_quick_parameters_belong_to_notebooks():
    quick = yaml.safe_load((ROOT / "notebooks/params/quick.yaml").read_text()) or {}
    assert set(quick) <= {path.stem for path in NOTEBOOKS}


def project(folder, *cells, quick="n: 5, delta: 1.0e-8"):
    """Write a project of one notebook; return the arguments that run it."""
    (folder / "notebooks/params").mkdir(parents=True)
    (folder / "notebooks/params/quick.yaml").write_text(f"00_small: {{{quick}}}\n")
    parameters = nbformat.v4.new_code_cell(
        "n: int = 10_000  # users\ndelta: float = 1e-6",
        metadata={"tags": ["parameters"]},
    )
    notebook = nbformat.v4.new_notebook(cells=[parameters, *map(nbformat.v4.new_code_cell, cells)])
    nbformat.write(notebook, folder / "notebooks/00_small.ipynb")
    return folder


def execute(folder, profile="quick"):
    target = folder / "build/00_small.ipynb"
    command = [sys.executable, ROOT / "tools/run_notebook.py", "notebooks/00_small.ipynb", target]
    environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_PREFER_ENV_PATH": "1"}
    return target, subprocess.run(
        [*command, "--profile", profile, "--figures", "figures"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("quick", "complaint"),
    [
        ("delta: 1e-8", "write 1.0e-8"),
        ("n: 1.0e+4", "parameter 'n' is 10000 in the notebook, got 10000.0"),
        ("n: true", "got True"),
        ("n: 3, detla: 1.0e-3", "unknown parameter 'detla'"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(tmp_path, capsys, quick, complaint):
    path = project(tmp_path, quick=quick) / "notebooks/00_small.ipynb"
    assert run_notebook.run(path, tmp_path / "build/00_small.ipynb", "quick", tmp_path / "figures") == 2
    message = capsys.readouterr().err
    assert complaint in message and message.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["notebooks"]


def test_the_parameters_cell_holds_literals_only(tmp_path):
    project(tmp_path)
    notebook = nbformat.read(tmp_path / "notebooks/00_small.ipynb", as_version=4)
    notebook.cells[0].source += "\nusers = list(range(n))"
    with pytest.raises(ValueError, match="derive values in a later cell"):
        run_notebook.declared_parameters(notebook)
    notebook.cells[0].metadata = {}
    with pytest.raises(ValueError, match="found 0"):
        run_notebook.declared_parameters(notebook)


KEEP = """
import os
from pathlib import Path
kept = Path(os.environ["SHUFFLELIB_CHECKPOINTS"], "epoch")
assert kept.exists() or kept.write_text("1") == 0
""".strip()


def test_a_stopped_run_leaves_its_checkpoints_to_the_next(tmp_path):
    target, first = execute(project(tmp_path, KEEP))
    assert first.returncode == 1 and len(list(target.parent.glob("*.checkpoints"))) == 1
    target, second = execute(tmp_path)
    assert second.returncode == 0 and not list(target.parent.glob("*.checkpoints"))


def test_checkpoints_are_kept_for_a_target_given_from_here(tmp_path, monkeypatch):
    path = project(tmp_path) / "notebooks/00_small.ipynb"
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    for kept in (0, 1):
        with run_notebook.checkpoints(path, Path("build/00_small.ipynb"), {}) as folder:
            assert len(os.listdir(folder)) == kept
            Path(folder, "epoch").touch()


WRITE = """
import os
import pkgutil
from pathlib import Path
print(Path(os.environ["SHUFFLELIB_FIGURES"], "00_a.csv").write_text(f"x\\n{n}\\n"))
""".strip()


def test_a_run_publishes_its_figures_and_repeats_byte_for_byte(tmp_path):
    check = "assert (n, delta) == (7, 1e-8)\nprint('one')\nprint('two')"
    project(tmp_path, check, WRITE, quick="n: 7, delta: 1.0e-8")
    target, done = execute(tmp_path)
    assert done.returncode == 0, done.stderr
    first = target.read_bytes()
    assert (tmp_path / "figures/00_a.csv").read_text() == "x\n7\n"
    assert target.with_suffix(".files").read_text() == "figures/00_a.csv\n"
    assert sorted(os.listdir(tmp_path / "build")) == ["00_small.d", "00_small.files", "00_small.ipynb"]
    assert str(tmp_path).encode() not in first
    execute(tmp_path)
    assert target.read_bytes() == first


def test_a_failed_run_changes_nothing_and_shows_the_cell(tmp_path):
    project(tmp_path, WRITE, "bound = 1 / (n - 5)")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/00_a.csv").write_text("old\n")
    target, done = execute(tmp_path)
    assert done.returncode == 1
    assert "notebooks/00_small.ipynb: cell 3 of 3 failed\n\nbound = 1 / (n - 5)" in done.stderr
    assert "ZeroDivisionError" in done.stderr and "papermill" not in done.stderr and "\x1b" not in done.stderr
    assert os.listdir(target.parent) == []
    assert (tmp_path / "figures/00_a.csv").read_text() == "old\n"


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ("import warnings\nwarnings.warn('careful')", "warns: "),
        ("float('nan')", "shows a NaN: nan"),
    ],
)
def test_a_warning_or_a_nan_in_an_output_is_a_failure(tmp_path, cell, complaint):
    target, done = execute(project(tmp_path, cell))
    assert done.returncode == 1 and complaint in done.stderr and not target.exists()


def test_check_figures_sees_numbers(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    data = "# n: 10\nbound,x,upper\nclones,1,{}\n"
    (old / "00_a.csv").write_text(data.format(2.0))
    (new / "00_a.csv").write_text(data.format(2.000001))
    assert list(check_figures.differences(old, new)) == []
    (new / "00_a.csv").write_text(data.format(2.00001))
    assert list(check_figures.differences(old, new)) == [
        "00_a.csv: 1 entries differ, first row 1, upper: 2.0 became 2.00001"
    ]
    (new / "00_a.csv").write_text(data.format(2.0) + "clones,2,3\n")
    assert "00_a.csv: 3 entries differ" in next(check_figures.differences(old, new))
    (new / "00_b.csv").write_text("x\n1\n")
    assert "00_b.csv: not in " in list(check_figures.differences(old, new))[1]
    (new / "00_b.csv").unlink()
    (old / "00_c_mnist.csv").write_text("x\n1\n")  # of data that need not be there
    assert len(list(check_figures.differences(old, new))) == 1


PAGES = [path.relative_to(ROOT).as_posix() for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("book/*.md")])]
NAMED = re.compile(
    r"\b(?:shufflelib|figures|notebooks|tests|tools|benchmarks|book)/[\w./-]*\w"
    r"|(?<=`)\w[\w-]*\.(?:md|toml|lock|yml|bib|cff)(?=`)"
)


def written(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "book/bounds.md", "book/ledger.md"]
)
def test_a_page_names_only_files_that_exist(page):
    named = NAMED.findall(written(page))
    assert named and [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_only_functions_that_exist(page):
    for name in sorted(set(re.findall(r"\bshufflelib(?:\.\w+)+", written(page)))):
        pkgutil.resolve_name(name)


def test_every_published_bound_is_in_the_index():
    """Functions named after a publication, such as ``clones_fmt21``, each have a place in the table."""
    apart = ("sweeps", "__main__")
    index, missing = written("book/bounds.md"), []
    for found in pkgutil.walk_packages(shufflelib.__path__, "shufflelib."):
        if not any(part in found.name for part in apart):
            home = importlib.import_module(found.name)
            named = [name for name in vars(home) if re.search(r"^[a-z].*\d\d$", name)]
            own = [name for name in named if getattr(getattr(home, name), "__module__", "") == home.__name__]
            missing += [name for name in own if name not in index]
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page):
    failed = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    parsed = doctest.DocTestParser().get_doctest(written(page), {}, page, page, 0)
    assert failed.run(parsed).failed == 0


def test_a_command_of_the_readme_prints_what_it_shows(capsys):
    shown = re.findall(
        r"^```console\n\$ shufflelib (.*)\n((?:.*\n)*?)```$", written("README.md"), re.MULTILINE
    )
    assert shown
    for command, expected in shown:
        assert main(command.split()) == 0
        printed = capsys.readouterr().out
        assert doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS), printed


def test_the_readme_stays_short():
    assert len(written("README.md").splitlines()) <= 150


def test_ci_runs_the_test_command_and_nothing_else():
    script = ROOT / ".ci/run"
    assert os.access(script, os.X_OK)
    assert script.read_text().splitlines()[-1] == "exec make test-all"


def test_notebooks_hold_no_absolute_paths():
    for path in NOTEBOOKS:
        source = "\n".join("".join(cell["source"]) for cell in json.loads(path.read_text())["cells"])
        assert not re.search(r"(?<![\w.\]/:])/(?:home|root|tmp|work|Users)/", source), path.name


def test_a_notebook_begins_again_if_its_kernel_died_before_the_first_cell():
    died = [RuntimeError("Kernel died before replying to kernel_info")] * 2

    def run():
        if died:
            raise died.pop()
        return "executed"

    assert run_notebook.once_started(run) == "executed"
    died += [RuntimeError("Kernel died before replying to kernel_info")] * 3
    with pytest.raises(RuntimeError, match="Kernel died"):
        run_notebook.once_started(run)
    died[:] = [RuntimeError("another reason")]
    with pytest.raises(RuntimeError, match="another reason"):
        run_notebook.once_started(run)


def test_the_list_of_figures_says_what_the_pictures_say(tmp_path):
    for name, words in (
        ("ideas/delta", ""),
        ("course/01_1_surveys", "At most 3 | 4"),
        ("papers/sgd_mnist", "5"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        titled = PngInfo()
        titled.add_text("Title", words)
        Image.new("L", (1, 1)).save(tmp_path / f"{name}.png", pnginfo=titled)
    page = figures_page.page(tmp_path)
    rows = [line for line in page.splitlines() if line.startswith("| <a")]
    assert [line.split('"')[1] for line in rows] == [
        "ideas/delta.png", "course/01_1_surveys.png", "papers/sgd_mnist.png"
    ]  # fmt: skip
    assert r"| At most 3 \| 4 |" in rows[1] and "](../notebooks/course/01_why_shuffle.ipynb)" in page
    assert page.index("papers/sgd.ipynb") < page.index(rows[2])
    assert figures_page.page(ROOT / "figures") == (ROOT / "figures/README.md").read_text(encoding="utf-8")

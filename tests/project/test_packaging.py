"""The wheel: what is in it, and that it computes where nothing but numpy and scipy is installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import shufflelib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ALWAYS = ("numpy", "scipy")
OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_CONFIG_FILE": os.devnull,
    "SOURCE_DATE_EPOCH": "1000000000",
}
NO_NETWORK = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise OSError("no network in this test")
sys.addaudithook(refuse)
"""


def run(*command, **given):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **given)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Unpack the source distribution that the build backend makes of a copy of the checkout."""
    folder = tmp_path_factory.mktemp("source")
    checkout = folder / "checkout"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "shufflelib", checkout / "shufflelib", ignore=ignored)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, checkout)
    build = "import sys; from flit_core import buildapi; print(buildapi.build_sdist(sys.argv[1]))"
    name = run(sys.executable, "-c", build, folder, cwd=checkout).strip()
    with tarfile.open(folder / name) as archive:  # before Python 3.11.4 there is no filter
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / name.removesuffix(".tar.gz")


def built(source, folder):
    """Build the wheel from the source distribution, without the network."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    run(sys.executable, "-m", "pip", "wheel", *options, source, env={**os.environ, **OFFLINE})
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    return built(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """Install the wheel where only numpy and scipy are, and where no socket connects."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in ALWAYS:
        installed = Path(find_spec(name).origin).parents[1]
        for part in (name, f"{name}.libs"):
            if (installed / part).exists():
                (packages / part).symlink_to(installed / part)
        for part in installed.glob(f"{name}-*.dist-info"):
            (packages / part.name).symlink_to(part)
    (packages / "no_network.py").write_text(NO_NETWORK)
    (packages / "no_network.pth").write_text("import no_network\n")
    python = folder / "bin" / "python"
    install = ("--python", python, "install", "--quiet", "--no-deps", wheel)
    run(sys.executable, "-m", "pip", *install, env={**os.environ, **OFFLINE})
    return folder / "bin"


def answered(bare, *arguments, program="shufflelib", folder=None, **environment):
    """Return what a program of the bare environment prints, run elsewhere with a bare path."""
    given = {"PATH": str(bare), "HOME": str(bare), "PYTHONWARNINGS": "error", **environment}
    return run(bare / program, *arguments, cwd=folder or bare, env=given)


def test_one_version_and_one_date_everywhere():
    version = PROJECT["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version)
    assert shufflelib.__version__ == version
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == version
    newest = re.search(r"^## \[(.+?)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest.groups() == (version, citation["date-released"])


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    information = f"shufflelib-{PROJECT['version']}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"shufflelib", information}
    package = ROOT / "shufflelib"
    files = [*package.rglob("*.py"), package / "py.typed"]
    modules = {path.relative_to(ROOT).as_posix() for path in files}
    assert {name for name in names if name.startswith("shufflelib/")} == modules
    assert {name.removeprefix(f"{information}/") for name in names} - modules == {
        "METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE",
    }  # fmt: skip


def test_the_wheel_needs_numpy_and_scipy_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        information = archive.read(f"shufflelib-{PROJECT['version']}.dist-info/METADATA").decode()
    needed = re.findall(r"^Requires-Dist: ([\w-]+)(?!.*extra ==)", information, re.MULTILINE)
    assert set(needed) == set(ALWAYS)


def test_the_installed_command_answers(bare, tmp_path):
    message = answered(bare, "--help", folder=tmp_path)
    assert message.startswith("usage: shufflelib")
    for quantity in ("epsilon", "delta", "renyi", "calibrate", "sweep"):
        assert f"\n    {quantity}" in message, quantity
    ten = "--randomizer generalized-rr --eps0 1 --d 10 --n 100000".split()
    found = json.loads(answered(bare, "epsilon", *ten, "--delta", "1e-8", "--json", folder=tmp_path))
    m = shufflelib.shuffle(shufflelib.randomizers.generalized_rr(eps0=1.0, d=10), n=100_000)
    expected = m.epsilon(delta=1e-8)
    assert (found["lower"], found["upper"]) == pytest.approx((expected.lower, expected.upper), rel=1e-12)
    asked = "calibrate users --randomizer generic --eps0 1 --eps 0.1 --delta 1e-8".split()
    assert answered(bare, *asked, folder=tmp_path)
    assert answered(bare, "delta", *ten, "--eps", "0.01", folder=tmp_path).startswith("delta at eps = 0.01")
    assert os.listdir(tmp_path) == []


def test_a_missing_extra_is_one_clear_line(bare, tmp_path):
    (tmp_path / "grid.yaml").write_text("quantity: delta\nrandomizer: generic\neps0: 1.0\nn: 9\neps: 0.1\n")
    given = {"PATH": str(bare), "HOME": str(bare)}
    done = subprocess.run(
        [bare / "shufflelib", "sweep", "grid.yaml"],
        cwd=tmp_path, env=given, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "pip install joblib pyyaml threadpoolctl tqdm" in done.stderr
    assert os.listdir(tmp_path) == ["grid.yaml"]


REMEDY = re.compile(r"pip install +(?!--no-deps)((?:[^\s\"`);,:]| (?=[a-z]))+)")
TEXTS = "shufflelib/**/*.py", "claims/**/*.py", "*.md", "book/**/*.md", "book/**/*.js", "notebooks/**/*.md"
EXTRAS = PROJECT["optional-dependencies"]
OPTIONAL = {re.split(r"[ <>=]", one)[0] for needs in EXTRAS.values() for one in needs}
OPTIONAL |= {"pyarrow", "nbgrader"}


def test_every_remedy_names_packages_that_an_extra_needs_or_an_extra_of_a_clone():
    """Only parquet files need pyarrow, and only who grades a class nbgrader, which no extra installs."""
    found = {}
    for pattern in TEXTS:
        for path in ROOT.glob(pattern):
            for words in REMEDY.findall(path.read_text(encoding="utf-8")):
                found[words.strip()] = path
    assert len(found) > 6
    for words, path in found.items():
        if words.startswith(("'.", ".")):
            extra = re.fullmatch(r"'\.\[(\w+)\]'|\.( in its folder| +)?", words)
            assert extra and (extra[1] is None or extra[1] in EXTRAS), (path, words)
        else:
            assert set(words.split()) <= OPTIONAL, (path, words)
    whole = {" ".join(re.split(r"[ <>=]", one)[0] for one in needs) for needs in EXTRAS.values()}
    assert {"dp-accounting", "joblib pyyaml threadpoolctl tqdm"} <= found.keys() & whole

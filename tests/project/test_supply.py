"""What comes from elsewhere: pinned packages and their licences, no network, no code out of data."""

import ast
import re

import pytest

import licences
from test_build import ROOT

SOURCES = sorted([*(ROOT / "shufflelib").rglob("*.py"), *(ROOT / "tools").glob("*.py")])

# the locks


@pytest.mark.parametrize("lock", licences.LOCKS)
def test_every_line_of_a_lock_is_a_pinned_version_with_its_hashes(lock):
    text = re.sub(r"^ *#.*\n", "", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entry = r"[a-z0-9.-]+==[\w.+!]+( ; [^\n\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    left = re.sub(entry, "", text)
    assert left == "" and text != ""


@pytest.mark.parametrize("lock", licences.LOCKS)
def test_a_lock_names_no_host(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host|(^|\s)(-e|-i|-f|file:)\s", text)


# licences

PERMITTED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU",
    "MPL-2.0", "PSF-2.0", "Public-Domain", "Zlib",
}  # fmt: skip
TESTS_ALONE = {"python-flint": {"LGPL-3.0-or-later"}}  # nothing that a user installs imports them


def listed():
    """Return package -> licence, as the committed list has them, one dictionary for each lock."""
    text = (ROOT / "LICENSES-THIRD-PARTY.md").read_text(encoding="utf-8")
    text = text.replace("| package | licence |\n", "")
    parts = re.split(r"^## `(.*)`$", text, flags=re.MULTILINE)[1:]
    rows = (re.findall(r"^\| (\w[\w.-]*) \| (.+) \|$", part, flags=re.MULTILINE) for part in parts[1::2])
    return dict(zip(parts[::2], map(dict, rows), strict=True))


def test_the_list_of_licences_names_every_locked_package():
    for lock in licences.LOCKS:
        assert list(listed()[lock]) == sorted(licences.locked(lock)), f"{lock}: run make licences"


def test_no_licence_is_of_an_unexpected_kind():
    for rows in listed().values():
        for name, words in rows.items():
            permitted = PERMITTED | TESTS_ALONE.get(name, set()) | {""}
            assert set(re.split(r" AND | OR |[()]", words)) <= permitted, name


# the network


def names(tree):
    """Return the dotted names of what a module imports, in full, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_the_download_of_data_and_the_explorers_server_know_the_network():
    networking = r"(socket|ssl|ftplib|smtplib|http\.client|http\.server|urllib\.request|urllib3)\b"
    networking += r"|(requests|httpx|aiohttp|pooch)\b"
    users = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if any(re.match(networking, name) for name in names(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert users == {"shufflelib/datasets/mnist_files.py", "shufflelib/explorer/server.py"}


# no code out of data

CODE = {"eval", "exec", "compile", "__import__", "execfile"}
LOADERS = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle", "runpy", "ctypes"}
READERS = {
    "yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load", "joblib.load", "torch.load",
    "pandas.read_pickle", "os.system", "os.popen",
}  # fmt: skip


def risks(tree):
    """Return everything in a module that could make code out of what it reads."""
    yield from (name for name in names(tree) if name.split(".")[0] in LOADERS)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called, options = ast.unparse(node.func), {one.arg: ast.unparse(one.value) for one in node.keywords}
        if called in CODE | READERS or called.startswith("builtins."):
            yield called
        if called in ("np.load", "numpy.load") and options.get("allow_pickle") != "False":
            yield called
        if options.get("shell", "False") != "False":
            yield f"{called}(shell=...)"


def test_nothing_that_is_read_becomes_code():
    found = {
        (path.relative_to(ROOT).as_posix(), risk)
        for path in SOURCES
        for risk in risks(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()

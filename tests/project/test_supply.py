"""What comes from elsewhere: pinned packages and their licences, no network, no code out of data."""

import ast
import os
import re
import subprocess
import sys
import warnings
from importlib.metadata import PackageNotFoundError

import pytest

import licences
import serve_explorer
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


def test_the_list_says_what_the_installed_packages_say():
    for lock, rows in listed().items():
        for name, words in rows.items():
            try:
                assert words == licences.licence(name), f"{lock}: run make licences"
            except PackageNotFoundError:
                pass  # of the book, which need not be installed


def test_no_licence_is_of_an_unexpected_kind():
    for rows in listed().values():
        for name, words in rows.items():
            permitted = PERMITTED | TESTS_ALONE.get(name, set()) | {""}
            assert set(re.split(r" AND | OR |[()]", words)) <= permitted, name


def test_a_package_without_a_licence_is_refused(monkeypatch):
    monkeypatch.setattr(licences, "metadata", lambda name: {"License-Expression": "MIT OR Apache-2.0"})
    assert licences.licence("anything") == "MIT OR Apache-2.0"

    class Silent(dict):
        def get_all(self, key):
            return None

    monkeypatch.setattr(
        licences, "metadata", lambda name: Silent({"License-Expression": None, "License": None})
    )
    with pytest.raises(ValueError, match="does not name its licence"):
        licences.licence("anything")


# the network

CUT_OFF = '''
"""Python without a network: only this machine itself can be reached."""
import sys

HERE = ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", None)


def guard(event, given):
    if event == "socket.getaddrinfo":
        host = given[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(given[1], tuple):
        host = given[1][0]
    else:
        return
    if host not in HERE:
        raise SystemExit(f"the network was used: {host}")


sys.addaudithook(guard)
'''
USE_ALL = """
import importlib, pkgutil, sys
import claims.__main__, shufflelib
for module in pkgutil.walk_packages(shufflelib.__path__, "shufflelib."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
from shufflelib.__main__ import main
main("epsilon --randomizer binary_rr --eps0 1 --n 100 --delta 1e-6".split())
claims.__main__.main([])
from shufflelib import datasets, plotting
datasets.digits()
fig, ax = plotting.figure(width=3.4)
plotting.save_figure(fig, [{"x": 1.0}], "00_a")
"""


@pytest.fixture
def python(tmp_path, monkeypatch):
    """Return a function that runs code in a Python without a network."""
    (tmp_path / "sitecustomize.py").write_text(CUT_OFF)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path / "figures"))
    return lambda code: subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )


def test_no_module_and_no_command_uses_the_network(python):
    used = python(USE_ALL)
    assert used.returncode == 0, used.stderr
    assert "epsilon" in used.stdout
    for host in ("192.0.2.1", "example.org"):
        used = python(f"import urllib.request as r; r.urlopen('http://{host}')")
        assert used.returncode == 1 and f"the network was used: {host}" in used.stderr


def names(tree):
    """Return the dotted names of what a module imports, in full, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_the_download_of_data_knows_the_network():
    networking = r"(socket|ssl|ftplib|smtplib|http\.client|http\.server|urllib\.request|urllib3)\b"
    networking += r"|(requests|httpx|aiohttp|pooch)\b"
    users = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if any(re.match(networking, name) for name in names(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert users == {"shufflelib/datasets/mnist_files.py"}


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


@pytest.mark.parametrize(
    "line",
    [
        "eval(text)", "import pickle", "from pickle import loads", "def f():\n    import dill",
        "yaml.load(x, L)", "np.load(f)", "np.load(f, allow_pickle=True)", "run(x, shell=True)",
        "os.system(x)", "builtins.exec(x)",
    ],
)  # fmt: skip
def test_the_scan_sees_a_risk(line):
    assert list(risks(ast.parse(line)))


def test_nothing_that_is_read_becomes_code():
    found = {
        (path.relative_to(ROOT).as_posix(), risk)
        for path in SOURCES
        for risk in risks(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


# the explorer


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return the command that `make app` becomes."""
    started = []
    monkeypatch.setattr(serve_explorer, "ROOT", tmp_path)
    monkeypatch.setenv("JUPYTER_PATH", "")
    monkeypatch.setattr(os, "execv", lambda program, command: started.append(command))
    serve_explorer.main(["--port=8866"])
    return started[0]


def configured(command):
    """Return Voilà as that command sets it up."""
    served = pytest.importorskip("voila.app").Voila()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        served.parse_command_line(command[3:])
    return served


def test_the_explorer_is_served_to_this_machine_alone_and_hides_its_source(command):
    assert command[:3] == [sys.executable, "-m", "voila"] and command[-1] == "--port=8866"
    served = configured(command)
    assert served.ip == "127.0.0.1"
    assert served.config.VoilaConfiguration.strip_sources is True
    assert served.config.VoilaConfiguration.show_tracebacks is False
    assert served.tornado_settings["allow_remote_access"] is False


def test_the_page_cannot_ask_its_process_to_run_code(command, monkeypatch):
    voila = pytest.importorskip("voila.app")
    seen = {}

    class Asked(Exception):
        pass

    def manager(*given, **named):
        seen.update(named)
        raise Asked

    monkeypatch.setattr(voila, "voila_kernel_manager_factory", lambda *given, **named: manager)
    served = configured(command)
    served.voila_configuration = voila.VoilaConfiguration(parent=served)
    served.connection_dir = "nowhere"
    with pytest.raises(Asked):
        served.init_settings()
    assert (
        "comm_msg" in seen["allowed_message_types"] and "execute_request" not in seen["allowed_message_types"]
    )

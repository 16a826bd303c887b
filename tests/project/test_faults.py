"""Faults: a killed build, a full disk, damaged files, two builds at once, and other people's settings."""

import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import nbformat
import pytest

from test_build import ROOT, execute, project

TARGET = "build/quick/00_small.ipynb"
HANG = """
import os, time
from pathlib import Path
here = Path("..")
Path(os.environ["SHUFFLELIB_FIGURES"], "00_a.csv").write_text("x\\n5\\n")
if (here / "hang").exists():
    (here / "begun").touch()
    time.sleep(60)
""".strip()
DRAW = """
import numpy as np
import pandas as pd
import viz
viz.theme()
fig, ax = viz.plt.subplots()
ax.set(xlabel="ε₀")
ax.plot(np.arange(3.0))
viz.finding(fig, "A line rises", "an example")
viz.save(fig, pd.DataFrame({"x": [1.0]}), "00_a", caption="It rises.", label="Figure")
""".strip()


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def checkout(folder, *cells):
    """Make a project of one notebook in a folder whose name is 200 long, with spaces and other letters."""
    folder = folder / "ein Ordner, ü 漢"
    folder /= "p" * (199 - len(str(folder)))
    project(folder, *cells, quick="n: 5")
    for name in ("Makefile", "tools", "requirements.lock", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "shufflelib").mkdir()
    script(folder / ".venv/bin/python", f'[ "$2" != pip ] && exec \'{sys.executable}\' "$@"')
    (folder / ".venv/home").write_text(f"{folder.resolve()}\n")
    for later, name in enumerate(("locked", "installed"), start=1):
        (folder / ".venv" / name).touch()
        os.utime(folder / ".venv" / name, (time.time() + later,) * 2)
    (folder / "tmp").mkdir()
    return folder


def make(folder, *arguments, **more):
    """Start `make` in a session of its own."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    return subprocess.Popen(
        ["make", "PROFILE=quick", *arguments], cwd=folder, start_new_session=True,
        env={**kept, "TMPDIR": str(folder / "tmp"), **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace",
    )  # fmt: skip


def done(process):
    message = process.communicate(timeout=60)[0]
    assert process.returncode == 0, message
    return message


def whole(folder):
    """See that the one figure is there, and nothing but what a build leaves."""
    assert (folder / "build/quick/figures/00_a.csv").read_text() == "x\n5\n"
    assert os.listdir(folder / "build/quick/figures") == ["00_a.csv"]
    assert sorted(os.listdir(folder / "build/quick")) == [
        "00_small.d",
        "00_small.files",
        "00_small.ipynb",
        "figures",
    ]
    assert os.listdir(folder / "tmp") == []


def test_a_killed_build_leaves_nothing_that_the_next_one_does_not_clear(tmp_path):
    folder = checkout(tmp_path, HANG)
    (folder / "hang").touch()
    process = make(folder, TARGET)
    until = time.monotonic() + 60
    while not (folder / "begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert os.listdir(folder / "build/quick/figures") == []
    assert not (folder / TARGET).exists() and (folder / "build/quick/.00_small").is_dir()
    (folder / "hang").unlink()
    for moment in (0.3, 1.3):
        process = make(folder, TARGET)
        time.sleep(moment)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    done(make(folder, TARGET))
    whole(folder)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a checkout whose notebook has run."""
    folder = checkout(tmp_path_factory.mktemp("built"), HANG)
    done(make(folder, TARGET))
    whole(folder)
    return folder


def up_to_date(folder):
    """Whether `make` would have nothing to do."""
    process = make(folder, "-q", TARGET)
    message = process.communicate(timeout=60)[0]
    assert process.returncode in (0, 1), message
    return process.returncode == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (TARGET, None),
        (TARGET, b""),
        (TARGET, b'{"cells": ['),
        ("build/quick/00_small.d", None),
        ("build/quick/00_small.d", b"build/quick/00_small.ipynb: notebooks/00_sm"),
        ("build/quick/00_small.d", b"\x93\xff\x00\n$(shell touch ran)"),
        ("build/quick/00_small.files", None),
        ("build/quick/00_small.files", b"build/quick/figures/00_a.cs"),
        ("build/quick/00_small.files", b"\x93\xff\x00\n\xfe$(touch ran)`touch ran`"),
        ("build/quick/figures/00_a.csv", None),
    ],
)
def test_what_is_damaged_or_missing_is_made_again(built, name, content):
    assert up_to_date(built)
    kept = [built / path for path in (TARGET, name)]
    saved = [(path, path.read_bytes(), path.stat().st_mtime_ns) for path in kept]
    (built / name).unlink()
    if content is not None:
        (built / name).write_bytes(content)
    assert not up_to_date(built) and not (built / "ran").exists()
    for path, data, when in saved:
        path.write_bytes(data)
        os.utime(path, ns=(when, when))
    assert up_to_date(built)


def hostile(folder):
    """Write a reader's own settings, each of which would spoil a figure or stop a notebook."""
    ipython, shadow = folder / ".ipython/profile_default/startup/00.py", folder / "shadow/numpy.py"
    kernel = folder / ".local/share/jupyter/kernels/python3/kernel.json"
    settings = folder / ".config/matplotlib/matplotlibrc"
    for path, text in {
        ipython: "raise SystemExit('a start-up file ran')",
        shadow: "raise SystemExit('a module was shadowed')",
        kernel: '{"argv": ["false"], "display_name": "Python 3", "language": "python"}',
        settings: "font.size: 40\naxes.facecolor: red\nbackend: TkAgg\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {
        "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "MATPLOTLIBRC": str(settings),
        "MPLBACKEND": "TkAgg", "IPYTHONDIR": str(folder / ".ipython"),
        "JUPYTER_PATH": str(folder / ".local/share/jupyter"), "PYTHONPATH": str(shadow.parent),
        "PYTHONWARNINGS": "error", "PYTHONSTARTUP": str(ipython), "PYTHONIOENCODING": "ascii",
        "PYTHONSAFEPATH": "1", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "DISPLAY": "",
        "PIP_TARGET": str(folder / "elsewhere"), "PIP_USER": "1", "PIP_REQUIRE_HASHES": "1",
        "PIP_CONSTRAINT": "nowhere", "PIP_DRY_RUN": "1",
    }  # fmt: skip


def test_a_readers_own_settings_and_locale_change_no_figure(tmp_path, monkeypatch):
    folder = checkout(tmp_path, DRAW)
    environment = hostile(tmp_path / "home")
    shutil.copy(environment["MATPLOTLIBRC"], folder / "notebooks/matplotlibrc")
    full = TARGET.replace("quick", "full")  # which writes PDF as well
    done(make(folder, full, **environment))
    monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path / "here"))
    monkeypatch.setenv("SHUFFLELIB_FORMATS", "png pdf")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    exec(DRAW, {})
    for name in ("00_a.png", "00_a.pdf", "00_a.csv"):
        assert (folder / "figures" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    outputs = [cell.get("outputs", []) for cell in nbformat.read(folder / full, 4).cells]
    assert not any(output.get("name") == "stderr" for output in sum(outputs, []))


# room to write


def test_a_full_disk_is_one_line_and_publishes_nothing(tmp_path, monkeypatch):
    project(tmp_path, "from pathlib import Path", "Path('large').write_bytes(bytes(10**6))")
    monkeypatch.setattr(
        "test_build.subprocess.run",
        lambda *given, run=subprocess.run, **named: run(
            *given, **named, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10**5, 10**5))
        ),
    )
    target, ended = execute(tmp_path)
    assert ended.returncode == 1 and ended.stderr.count("\n") == 1
    assert os.strerror(errno.EFBIG) in ended.stderr and "00_small.ipynb" in ended.stderr
    assert os.listdir(target.parent) == os.listdir(tmp_path / "figures") == []

"""What a result depends on: a changed task is another task, wherever the change is."""

import functools
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shufflelib.sweeps.identity import identity
from test_sweep_cache import counted


def written(source, name="task"):
    """Return a function from its source, in a module of its own making."""
    space = {"__name__": "made"}
    exec(source, space)
    return space[name]


BASE = "def help(x):\n    return x + 1\nK = 3\ndef task(rng, n, m=2):\n    return help(n) + K * m\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("+ K", "- K"), ("m=2", "m=3"), ("x + 1", "x + 2"), ("K = 3", "K = 4"), ("help(n)", "abs(n)")],
)
def test_a_changed_task_is_another_task(old, new):
    assert identity(written(BASE)) == identity(written("# moved\n\n" + BASE))
    changed = identity(written(BASE.replace(old, new)))
    assert changed["name"] == "made.task" and changed != identity(written(BASE))


def test_what_a_task_holds_belongs_to_it():
    def holding(value):
        return lambda rng: value

    assert identity(holding(1.0)) == identity(holding(1.0)) != identity(holding(1))
    partial = functools.partial
    assert identity(partial(counted, log="a")) != identity(partial(counted, log="b"))
    assert identity(partial(holding, holding(1))) != identity(partial(holding, holding(2)))
    recursive = written("def task(rng, n):\n    return n and task(rng, n - 1)\n")
    assert identity(recursive) == identity(recursive)


def test_a_task_has_the_same_identity_in_every_process():
    words = {"a", "b", "c", "d"}
    source = f"def task(rng, n):\n    return n in {words!r} or n in {{1, 2, 3}}\n"
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_sweep_identity as t; "
    code += "print(t.identity(t.written(sys.argv[2]))['digest'])"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent), source],
            env={**os.environ, "PYTHONHASHSEED": salt}, capture_output=True, text=True, check=True,
        ).stdout
        for salt in ("1", "2")
    }  # fmt: skip
    assert digests == {identity(written(source))["digest"] + "\n"}


def test_what_a_task_reads_from_other_files_is_part_of_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    digests = set()
    for body in ("n", "2 * n"):
        (tmp_path / "model_of_mine.py").write_text(f"def simulate(n):\n    return {body}\n")
        sys.modules.pop("model_of_mine", None)
        importlib.invalidate_caches()
        for read in (
            "from model_of_mine import simulate\n",
            "import model_of_mine\nsimulate = model_of_mine.simulate\n",
            f"import functools\n@functools.lru_cache\ndef simulate(n):\n    return {body}\n",
        ):
            digests.add(identity(written(read + "def task(rng, n):\n    return simulate(n)\n"))["digest"])
        whole = "import model_of_mine\ndef task(rng, n):\n    return model_of_mine.simulate(n)\n"
        digests.add(identity(written(whole))["digest"])
        chosen = f"chosen = {{{len(body)}}}\ndef task(rng, n):\n    return n in chosen\n"
        digests.add(identity(written(chosen))["digest"])
    sys.modules.pop("model_of_mine", None)
    assert len(digests) >= 8  # the first two ways read the same function

"""What is said to wrong input: the sentence beside each line of `wrong_inputs.txt`, and nothing else.

A line that begins with ``$`` is typed into a shell, one that begins with ``>>>`` into Python.
"""

import shlex
from pathlib import Path

import pytest

import shufflelib
from shufflelib import aggregate, calibration, profiles, randomizers, recommend, sgd, shuffle
from shufflelib.__main__ import main

LINES = (Path(__file__).parent / "wrong_inputs.txt").read_text(encoding="utf-8").splitlines()
ASKED = dict(zip(LINES[::2], (line.strip() for line in LINES[1::2]), strict=True))
BITS = randomizers.binary_rr(eps0=1.0)
NAMES = {
    "BITS": BITS,
    "DAY": shuffle(BITS, 100),
    "aggregate": aggregate,
    "calibration": calibration,
    "profiles": profiles,
    "randomizers": randomizers,
    "recommend": recommend,
    "sgd": sgd,
    "shuffle": shuffle,
    "shufflelib": shufflelib,
}


def test_there_are_two_hundred_of_them():
    assert len(ASKED) == len(LINES) // 2 >= 200


@pytest.mark.parametrize("typed", [line for line in ASKED if line.startswith("$")])
def test_the_command_line_says(typed, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(typed[2:])) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    command, said = err.split(": ", 1)
    assert command.startswith("shufflelib") and said.startswith(ASKED[typed])
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("typed", [line for line in ASKED if line.startswith(">>>")])
def test_python_says(typed):
    with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
        eval(typed[4:], NAMES)
    assert str(raised.value).startswith(ASKED[typed])

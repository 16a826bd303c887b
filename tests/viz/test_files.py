"""Figures and tables as files: the same bytes on every run, old files kept where a save fails."""

import errno
import os
import sys
from pathlib import Path

import pandas as pd
import pytest

import viz

FRAME = pd.DataFrame({"n": [10, 100], "eps": [1.9, 1 / 3]})


@pytest.fixture(autouse=True)
def themed(tmp_path, monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path))
    viz.plt.close("all")
    with viz.plt.rc_context():
        viz.theme()
        yield
    viz.plt.close("all")


def saved(name, **label):
    fig, ax = viz.plt.subplots()
    ax.plot(FRAME.n, FRAME.eps)
    viz.finding(ax, "It falls to 0.33", "an example", at=[(100, 1 / 3, "0.33")])
    return viz.save(ax, FRAME, name, caption="Read from left to right.", **label)


def test_saved_files_repeat_byte_for_byte(tmp_path, monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FORMATS", "png pdf svg")
    assert saved("00_1_a").picture == saved("00_1_b").picture
    for kind in ("png", "pdf", "svg", "csv"):
        one, two = ((tmp_path / f"00_1_{name}.{kind}").read_bytes() for name in "ab")
        assert one == two
        assert not any(word in one for word in (b"CreationDate", b"Producer", b"<dc:date>", b"Software"))
    assert (tmp_path / "00_1_a.csv").read_text() == "n,eps\n10,1.9\n100,0.333333333333\n"


def test_a_name_of_one_s_own_needs_a_label_and_the_refusal_says_so():
    with pytest.raises(ValueError, match="label must be given for a name of your own, got 'mine': label='Fi"):
        saved("mine")
    assert saved("mine", label="Figure 1").label == "Figure 1"


def test_a_failed_save_leaves_the_old_files_and_nothing_else(tmp_path, monkeypatch):
    viz.save_table([{"eps": 1.0}], "00_t")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        viz.save_table([{"eps": 2.0}], "00_t")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_disk_that_is_full_after_the_picture_keeps_all_old_files(tmp_path, monkeypatch):
    saved("00_1_a")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write = Path.write_bytes

    def full(path, content):
        if ".csv" in path.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(sys.modules[__name__], "FRAME", FRAME.assign(eps=[1.8, 1 / 3]))
    with pytest.raises(OSError, match=r"cannot write .*00_1_a.csv: .*; make room"):
        saved("00_1_a")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_tables_keep_twelve_digits_in_csv_and_six_in_markdown(tmp_path):
    table = viz.save_table([{"n": 10**8, "eps": 1 / 3}, {"n": 5, "note": "a|b"}], "00_t")
    assert (tmp_path / "00_t.csv").read_text() == "n,eps,note\n100000000,0.333333333333,\n5,,a|b\n"
    assert table._repr_markdown_().splitlines()[2:] == ["| 100000000 | 0.333333 |  |", r"| 5 |  | a\|b |"]


def test_dots_without_a_stroke_are_all_drawn():
    fig, ax = viz.plt.subplots()
    (dots,), (line,) = ax.plot(range(60), "o"), ax.plot(range(60))
    viz.finding(ax, "All of them", "an example")
    viz.picture_of(fig)
    assert dots.get_markevery() is None and line.get_markevery() == 5

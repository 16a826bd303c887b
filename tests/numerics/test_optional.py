"""Who waits at a terminal sees that the computation goes on; nobody else sees anything."""

import io
import sys

from shufflelib import calibration
from shufflelib.numerics import optional
from shufflelib.profiles import Gaussian
from shufflelib.sweeps import running


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, patience, ask):
    monkeypatch.setattr(optional, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", stream)
    ask()
    return stream.getvalue()


def one_epsilon():
    Gaussian(0.1).subsample(0.5).compose(rounds=10).epsilon(1e-6)


def one_calibration():
    calibration.most_rounds(Gaussian(0.1).subsample(0.5), eps=1.0, delta=1e-6)


def test_a_long_question_counts_points_on_a_terminal(monkeypatch):
    for ask in (one_epsilon, one_calibration):
        bar = shown(monkeypatch, Terminal(), 0.0, ask)
        assert "points of curves" in bar and bar.endswith("\r")  # erased at the end


def test_a_short_question_and_a_file_see_nothing(monkeypatch):
    assert shown(monkeypatch, Terminal(), 1e9, one_epsilon) == ""
    assert shown(monkeypatch, io.StringIO(), 0.0, one_epsilon) == ""


def test_a_log_has_lines_of_progress_and_a_task_of_a_sweep_has_none(monkeypatch, capsys):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(optional, "MINUTE", 0.0)
    assert list(optional.reported(iter("abcd"), 4)) == list("abcd")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" done")[0] for line in lines] == ["25%", "50%", "75%"]
    with optional.unseen():
        assert list(optional.reported(iter("abcd"), 4)) == list("abcd")
    monkeypatch.setenv("TQDM_DISABLE", "1")
    assert list(optional.reported(iter("abcd"), 4)) == list("abcd")
    assert capsys.readouterr().err == ""


def test_a_task_of_a_sweep_shows_no_bar_of_its_own(monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(optional.sys, "stderr", Terminal())
    assert optional.watched()
    assert running._numbered(3, optional.watched) == (3, False)
    assert optional.watched()

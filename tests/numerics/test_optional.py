"""Who waits at a terminal sees that the computation goes on; nobody else sees anything."""

import io
import sys

from shufflelib import calibration
from shufflelib.numerics import optional
from shufflelib.profiles import Gaussian


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

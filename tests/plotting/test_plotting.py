"""Figures: looks that survive grey print, lines that break, files that repeat byte for byte."""

import csv
import itertools
import os

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from claims import failure_curve
from shufflelib import plotting
from shufflelib.numerics.certified import Certified

X = np.array([1.0, 2.0, 3.0])


def small_figure():
    curves = [
        plotting.curve("certified upper", X, Certified(lower=X, upper=X + 1), n=10),
        plotting.curve("EFMRTT'19", X, [4.0, np.nan, 6.0], n=10),
    ]
    fig, ax = plotting.figure(width=3.4, height=2.4)
    plotting.draw_curves(ax, curves)
    plotting.label_directly(ax)
    return fig, ax, curves


def test_every_pair_of_bounds_can_be_told_apart_in_grey():
    """Equal strokes need shades far apart; where only the corners of round markers differ, two shades."""

    def grey(how):
        return float(np.dot(to_rgb(how.colour), (0.299, 0.587, 0.114)))

    for (one, first), (other, second) in itertools.combinations(plotting.LINE.items(), 2):
        if (first.dash, plotting.WIDTH[first.kind]) != (second.dash, plotting.WIDTH[second.kind]):
            continue
        same = first.marker == second.marker
        if same or {first.marker, second.marker} <= {"o", "8", "h", "H", "p"}:
            needed = 0.4 if same else 0.15
            assert abs(grey(first) - grey(second)) > needed, f"{one} looks like {other}"


def test_the_stroke_says_what_a_line_proves():
    for how in plotting.LINE.values():
        assert (how.dash == "-") == (how.kind in ("certified", "refuted"))
        crosses = ("x", "X", "+", (5, 2, 0), (6, 2, 0), (7, 2, 0), (8, 2, 0))
        assert (how.marker in crosses) == (how.kind == "refuted")
    assert plotting.WIDTH["certified"] == max(plotting.WIDTH.values())


def test_an_unknown_bound_is_refused_by_name():
    with pytest.raises(KeyError, match="clones of clones"):
        plotting.curve("clones of clones", X, X)


def test_lines_break_where_the_theorem_does_not_apply():
    _, ax, _ = small_figure()
    drawn = {failure_curve.get_label(): failure_curve.get_ydata() for failure_curve in ax.get_lines()}
    assert drawn["certified upper"] == pytest.approx(X + 1)
    assert np.isnan(drawn["EFMRTT'19"]).tolist() == [False, True, False]
    masked = plotting.curve("EFMRTT'19", X, np.ma.masked_greater(X, 2.0))
    assert np.isnan(masked.y).tolist() == [False, False, True]
    unbounded = plotting.curve("certified upper", X, Certified(lower=X, upper=np.array([2.0, 3.0, np.inf])))
    assert np.isnan(unbounded.y).tolist() == [False, False, True]
    assert [row["status"] for row in unbounded.rows()] == ["certified", "certified", "does not apply"]


def test_the_lower_end_is_drawn_for_a_lower_bound():
    bracket = Certified(lower=X, upper=X + 1)
    assert plotting.curve("certified lower", X, bracket).y == pytest.approx(X)
    assert np.isnan(plotting.curve("certified lower", X, X).upper).all()


def test_redrawing_moves_the_lines_that_are_there():
    fig, ax, _ = small_figure()
    before = plotting.png(fig)
    plotting.draw_curves(ax, [plotting.curve("certified upper", X, 10 * X)])
    plotting.shade_bracket(ax, X, X, 2 * X)
    plotting.shade_bracket(ax, X, X, 2 * X)
    plotting.label_directly(ax)
    assert len(ax.get_lines()) == 2 and len(ax.texts) == 2 and len(ax.collections) == 1
    assert ax.get_ylim()[1] >= 30 and plotting.png(fig) != before


@pytest.mark.parametrize("digit", [-1e-15, 0.0, 1e-15])
def test_the_order_of_labels_at_one_point_depends_on_no_last_digit(digit):
    fig, ax = plotting.figure()
    for name, end in (("first", 0.5), ("second", 0.5 + digit)):
        ax.plot([0.0, 1.0], [0.1, end], label=name)
    plotting.label_directly(ax, {"first": "first", "second": "second"})
    first, second = (text.xyann[1] for text in ax.texts)
    assert first < second


def test_style_is_never_left_behind():
    import matplotlib

    before = dict(matplotlib.rcParams)
    small_figure()
    assert dict(matplotlib.rcParams) == before


def test_saved_files_repeat_byte_for_byte(tmp_path, monkeypatch):
    saved = []
    for folder in ("one", "two"):
        monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path / folder))
        fig, _, curves = small_figure()
        saved.append(plotting.save_figure(fig, curves, "00_x", parameters={"n": 10, "delta": 1e-6}))
    assert repr(saved[0]) == "00_x.png, 00_x.pdf, 00_x.svg, 00_x.csv"
    for one, two in zip(saved[0].paths, saved[1].paths, strict=True):
        assert one.read_bytes() == two.read_bytes()
    assert not any(word in saved[0].paths[1].read_bytes() for word in (b"CreationDate", b"Producer"))
    assert b"<dc:date>" not in saved[0].paths[2].read_bytes()
    assert b"Software" not in saved[0].picture and saved[0]._repr_png_() == saved[0].picture
    lines = saved[0].paths[3].read_text().splitlines()
    assert lines[:3] == ["# n: 10", "# delta: 1e-06", "n,bound,x,lower,upper,status"]
    rows = list(csv.DictReader(lines[2:]))
    assert rows[4] == {
        "n": "10", "bound": "EFMRTT'19", "x": "2", "lower": "", "upper": "", "status": "does not apply"
    }  # fmt: skip


def test_a_failed_save_leaves_the_old_files_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path))
    plotting.save_table([{"eps": 1.0}], "00_t")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        plotting.save_table([{"eps": 2.0}], "00_t")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_tables_keep_twelve_digits_in_csv_and_six_in_markdown(tmp_path, monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path))
    saved = plotting.save_table([{"n": 10**8, "eps": 1 / 3}, {"n": 5, "note": "a|b"}], "00_t")
    assert (tmp_path / "00_t.csv").read_text() == "n,eps,note\n100000000,0.333333333333,\n5,,a|b\n"
    assert saved._repr_markdown_().splitlines()[2:] == ["| 100000000 | 0.333333 |  |", r"| 5 |  | a\|b |"]


def test_an_error_map_hatches_what_is_below_zero():
    fig, ax = plotting.figure(yscale="log")
    errors = np.array([[0.5, -0.1, np.nan], [0.0, -2.0, 1.0]])
    shades = plotting.draw_error_map(ax, X, X[:2], errors, edges=[0.3, 1.0])
    assert min(shades.to_rgba(0.0)[:3]) > 0.95 > min(shades.to_rgba(-1e-6)[:3])
    assert shades.norm.vmin == -1.0 and shades.norm.vmax == 1.0
    drawn, hatched = ax.collections
    assert np.ma.getmaskarray(drawn.get_array()).sum() == 1
    assert hatched.get_hatch() == "////" and len(hatched.get_paths()) == 2
    assert plotting.png(fig)


def test_a_failure_is_crossed_where_the_claim_is_wrong():
    claimed, proved = [0.1, 0.2, np.nan], [0.3, 0.1, 1.0]
    words = "users n", "δ at ε = 1"
    failing = failure_curve.FailureCurve(*words, (1, 10, 1000), claimed, proved, failure_curve.UPPER)
    nothing = failure_curve.FailureCurve("x", "mass", (1, 2), [0.5, 0.0], [0.5, -0.1], failure_curve.LOWER)
    fig, ax = plotting.figure(width=7.0, height=2.4)
    plotting.draw_failures(ax, {"Lemma 1": nothing, "Theorem 2": failing})
    right, crosses, ring, *lower, _ = ax.get_lines()
    assert right.get_xdata().tolist() == [2.0] and ring.get_marker() == "o"
    assert crosses.get_xdata().tolist() == [ring.get_xdata()[0]] == pytest.approx([1 / 3])
    assert lower[0].get_xdata().tolist() == [1.0] and lower[2].get_marker() == ">"
    assert [name.get_text().split(":")[0] for name in ax.get_yticklabels()] == ["Theorem 2", "Lemma 1"]
    assert {"claimed ≤ 0.1\ntruth ≥ 0.3", "claimed ≥ 0\ntruth ≤ −0.1"} <= {one.get_text() for one in ax.texts}
    assert len(ax.collections) == 2 and plotting.png(fig)

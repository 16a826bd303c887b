"""The language of the figures: headlines, labels, brackets, shades, crossings and captions."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text
from shown_texts import boxes

from shufflelib import plotting
from shufflelib.plotting.labels import CONTRAST, _contrast, legible

X = np.geomspace(10, 1000, 5)
TRUTH = np.array([0.5, 0.3, 0.2, 0.15, 0.12])


def panel(**each):
    fig, ax = plotting.figure(width=5, height=3.4, xlabel="users (n)", xscale="log", **each)
    plotting.draw_curves(ax, [plotting.curve("certified upper", X, TRUTH)])
    return fig, ax


@pytest.mark.parametrize("whole", [False, True])
def test_a_headline_stands_above_its_setting_and_inside_the_figure(whole):
    fig, ax = panel()
    finding = "A thousand users turn ε₀ = 2 into ε = 0.27, which is seven times less than each of them spent"
    for _ in range(2):
        plotting.headline(fig if whole else ax, finding, "10-ary randomized response, δ = 10⁻⁶")
    shown = dict(boxes(fig))
    (bold,) = [box for text, box in shown.items() if " ".join(text.split()) == finding]
    grey = shown["10-ary randomized response, δ = 10⁻⁶"]
    assert grey.x0 == pytest.approx(bold.x0, abs=2) and bold.x1 <= fig.bbox.x1
    assert bold.y1 <= fig.bbox.y1 and (whole or grey.y1 <= bold.y0) and grey.y0 >= ax.bbox.y1
    assert sum(text.get_gid() == "setting" for text in fig.findobj(Text)) == 1


def test_labels_of_two_lines_do_not_overlap_and_stay_legible():
    fig, ax = plotting.figure(width=6, height=8)
    plotting.draw_curves(ax, [plotting.curve(name, X, TRUTH) for name in plotting.LINE])
    ax.plot(X, TRUTH, label="mine")
    plotting.label_directly(ax, {"EFMRTT'19": "two\nlines", "mine": "a line of\nthe reader"})
    texts = [text for text in ax.texts if text.get_gid() == "direct label"]
    assert len(texts) == len(plotting.LINE) + 1 and boxes(fig)
    shown = sorted((Text.get_window_extent(text) for text in texts), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(shown))
    assert all(_contrast(np.array(text.get_color())) >= CONTRAST for text in texts)
    assert legible("#000000") == (0.0, 0.0, 0.0)


def end_labels(*steps):
    """Heights of the labels at the ends of lines that nearly meet, after these steps in this order."""
    fig, (_, ax) = plotting.figure(1, 2, height=2.9, yscale="log")
    names = "EFMRTT'19", "blanket, specific", "blanket, generic", "Girgis'21, full sum"
    factors = 1.0, 1.01, 1.02, 30.0
    plotting.draw_curves(
        ax, [plotting.curve(name, X, k * TRUTH) for name, k in zip(names, factors, strict=True)]
    )
    do = {
        "label": lambda: plotting.label_directly(ax),
        "headline": lambda: plotting.headline(fig, "a finding of two lines " * 6, "and its setting"),
        "limits": lambda: ax.set_ylim(1e-3, 1e3),
        "save": lambda: plotting.save_figure(fig, [], "00_labels"),
    }
    for step in steps:
        do[step]()
    fig.draw_without_rendering()
    shown = [Text.get_window_extent(text) for text in ax.texts if text.get_gid() == "direct label"]
    return sorted((box.y0, box.y1) for box in shown)


@pytest.mark.parametrize("steps", [("label", "headline"), ("headline", "label")], ids=" then ".join)
def test_labels_at_the_ends_are_apart_whatever_was_called_first(steps):
    found = end_labels(*steps)
    assert len(found) == 4 and all(low[1] <= high[0] for low, high in itertools.pairwise(found))
    assert np.allclose(found, end_labels("headline", "label"))


def test_labels_are_placed_again_before_a_figure_is_saved(tmp_path, monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path))
    monkeypatch.setenv("SHUFFLELIB_FORMATS", "png")
    found = end_labels("label", "limits", "save")
    assert np.allclose(found, end_labels("limits", "label"))
    assert not np.allclose(found, end_labels("label", "limits"))


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        ([1.0], [1.0], "both bounds, less than 10⁻⁶ % apart"),
        ([1.0, 2.0], [1.001, 2.0], "both bounds, 0.1 % apart"),
        ([1.0], [1.00123], "both bounds, 0.13 % apart"),
        ([0.0, 1.0], [1.0, 1.5], "both bounds, 50 % apart"),
        ([0.0, 1.0], [1.0, np.inf], "no bracket"),
    ],
)
def test_the_gap_is_said_and_never_made_smaller(lower, upper, words):
    assert plotting.gap_in_words(lower, upper) == words


def test_the_impossible_side_is_shaded_once_with_words():
    fig, ax = panel(yscale="log")
    before = ax.get_ylim()
    for _ in range(2):
        plotting.shade_impossible(ax, X, TRUTH, "no bound can be here: an attack")
    assert ax.get_ylim() == before and len(ax.collections) == len(ax.texts) == 1


def test_a_family_has_one_label():
    fig, ax = panel()
    earlier = [plotting.curve(name, X, 2 * TRUTH) for name in ("EFMRTT'19", "blanket, generic")]
    for _ in range(2):
        plotting.draw_family(ax, earlier, "earlier bounds, 2019")
    assert len(ax.get_lines()) == 3 and [text.get_text() for text in ax.texts] == ["earlier bounds, 2019"]
    plotting.draw_family(ax, [], "none")
    assert len(ax.get_lines()) == 1 and not ax.texts


def test_a_shortfall_is_marked_between_claim_and_truth():
    fig, ax = panel(yscale="log")
    plotting.mark_shortfall(ax, X[2], TRUTH[2] / 4, TRUTH[2], "4 × too small", side="left")
    arrow, words = ax.texts
    assert {arrow.xy[1], arrow.xyann[1]} == {TRUTH[2] / 4, TRUTH[2]}
    assert words.xy == pytest.approx((X[2], TRUTH[2] / 2)) and words.get_ha() == "right"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda ax: plotting.headline("title", "a", "b"),
            "place must be axes or a figure, got 'title'; pass",
        ),
        (lambda ax: plotting.headline(ax, 3.0, "b"), "finding must be a str, got 3.0; pass a sentence"),
        (lambda ax: plotting.headline(ax, "a", None), "setting must be a str, got None; pass a sentence"),
        (
            lambda ax: plotting.gap_in_words([1.0], [1.0, 2.0]),
            r"upper must have shape \(1,\), got shape \(2,\)",
        ),
        (lambda ax: plotting.gap_in_words([], []), r"lower must have at least one number, got shape \(0,\)"),
        (
            lambda ax: plotting.shade_impossible(ax, X, "low", "w"),
            "attack must be a list of numbers, got 'low'",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_value_and_remedy(ask, message):
    _, ax = panel()
    with pytest.raises((TypeError, ValueError), match=message):
        ask(ax)

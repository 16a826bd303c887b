"""Slider panels: the picture follows its controls, says what it shows, and never outlives its values."""

import json
import re
import types

import matplotlib.pyplot as plt
import pytest
import seaborn as sns

import viz


@pytest.fixture(autouse=True)
def themed():
    plt.close("all")
    with plt.rc_context():
        viz.theme()
        yield
    assert not plt.get_fignums()


def draw(n, eps0=1.0):
    if n > 500:
        raise ValueError("n < 500 is needed")
    ax = sns.lineplot(x=[1, n], y=[eps0, eps0 / n])
    viz.finding(ax, f"{n} people", "an example")
    return ax


def test_the_picture_follows_its_controls_and_going_back_restores_it():
    calls = []

    def counted(**values):
        calls.append(values["n"])
        return draw(**values)

    n, eps0 = viz.log_slider(1, 1000, value=10), viz.slider(0.5, 1.5)
    panel = viz.explore(counted, n=n, eps0=eps0)
    _, line, image = panel.children
    first = image.value
    assert first.startswith('<img alt="10 people (n = 10, ε₀ = 1)"') and "max-width: 100%" in first
    assert (n.description, eps0.description) == ("n", "ε₀")
    assert line.value == "n = 10, ε₀ = 1"
    calls.clear()
    n.value = 100
    assert image.value != first and 'alt="100 people (n = 100, ε₀ = 1)"' in image.value
    n.value = 10
    assert image.value == first and calls == [100], "a picture that was drawn is kept"


def test_a_picture_that_cannot_be_drawn_is_taken_away_whatever_went_wrong():
    def fragile(n):
        if n == 2:
            plt.figure()
            raise KeyError("ax")
        return draw(n)

    n = viz.log_slider(1, 1000, value=1)
    panel = viz.explore(fragile, n=n)
    _, line, image = panel.children
    first = image.value
    n.value = 2
    assert (line.value, image.value) == ("n = 2: KeyError: &#x27;ax&#x27;", "")
    n.value = 1000
    assert (line.value, image.value) == ("n = 1,000: n &lt; 500 is needed", "")
    n.value = 1
    assert (line.value, image.value) == ("n = 1", first)


def test_names_that_a_later_cell_binds_change_nothing():
    notebook = types.ModuleType("notebook")
    cells = [
        "import seaborn as sns, viz\nscale = 2.0\ndef height(n, *, over=1.0):\n    return scale / n / over",
        "def draw(n):\n    return sns.lineplot(x=[1, n], y=[1.0, height(n)])\n",
        "n = viz.log_slider(1, 10, value=3)\npanel = viz.explore(draw, n=n)",
        "kept = panel.children[2].value\nn.value = 10\nscale = 7.0\nheight = None\nn.value = 3",
        "n.value = 4\nmoved = panel.children[2].value\ndel sns, viz, height\nn.value = 5",
    ]
    for cell in cells:
        exec(cell, vars(notebook))
    line, image = notebook.panel.children[1:]
    assert line.value == "n = 5" and image.value not in ("", notebook.kept, notebook.moved)


def test_a_slider_has_readable_stops():
    def stops(*ends, **how):
        return [value for _, value in viz.log_slider(*ends, **how).options]

    assert stops(300, 30_000, per_decade=2) == [300, 1000, 3000, 10_000, 30_000]
    assert stops(0.1, 1.0, per_decade=3) == [0.1, 0.2, 0.5, 1.0]
    assert stops(7, 20) == [7, 8, 9, 10, 20]
    assert [label for label, _ in viz.log_slider(1000, 3000, per_decade=2).options] == ["1,000", "3,000"]
    assert all(isinstance(stop, int) for stop in stops(1, 1e12))
    with pytest.raises(ValueError, match="low=0"):
        viz.log_slider(0, 1)
    with pytest.raises(ValueError, match="per_decade must be one of 1, 2, 3, 9, got 4"):
        viz.log_slider(1, 10, per_decade=4)


def test_frames_need_no_kernel_and_name_their_stops(monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FRAMES", "6")
    n, kind = viz.log_slider(1, 1000, 30, per_decade=2), viz.choice(["a", "b"])

    def either(n, kind):
        return draw(n, 1.0 if kind == "a" else 2.0)

    page = viz.explore(either, n=n, kind=kind).data
    controls = re.findall(r'value="(\d)" data-stops="(.*?)"', page)
    assert [(at, stops.replace("&quot;", '"')) for at, stops in controls] == [
        ("1", '["1", "30", "1,000"]'),
        ("0", '["a", "b"]'),
    ]
    pictures, words = json.loads(re.search(r'"application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert words[2] == "30 people (n = 30, kind = a)" and len(pictures) == 6
    assert (pictures[4], words[4]) == ("", "n = 1,000, kind = a: n < 500 is needed")
    assert f'alt="{words[2]}"' in page and f'src="{pictures[2]}"' in page


def test_a_frame_where_the_controls_stand_must_be_drawn(monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FRAMES", "4")
    with pytest.raises(ValueError, match="n < 500"):
        viz.explore(draw, n=viz.log_slider(100, 1000, 1000))


def test_a_panel_tells_the_page_to_say_names_and_values(monkeypatch):
    shown = []
    panel = viz.explore(draw, n=viz.log_slider(1, 100))
    monkeypatch.setitem(type(panel)._repr_mimebundle_.__globals__, "display", shown.append)
    assert "application/vnd.jupyter.widget-view+json" in panel._repr_mimebundle_()
    assert "aria-valuetext" in shown[0].data

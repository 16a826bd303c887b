"""Figures as notebooks draw them: what seaborn lacks."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.colors import to_rgb

import viz
from shufflelib import randomizers, recommend
from shufflelib.published import comparison
from viz.looks import LOOKS, PACKAGE, SPARE
from viz.placing import _box


@pytest.fixture(autouse=True)
def themed(tmp_path, monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FIGURES", str(tmp_path))
    plt.close("all")  # a figure that another test left open would be drawn into
    with plt.rc_context():
        viz.theme()
        yield
    plt.close("all")


def frame(*names, missing=()):
    rows = [
        {"bound": name, "n": n, "eps": np.nan if n in missing else 3.0 / n ** (0.5 + 0.1 * at)}
        for at, name in enumerate(names or ("certified upper", "EFMRTT'19"))
        for n in (10, 100, 1000, 10_000)
    ]
    return pd.DataFrame(rows)


def drawn(data, **how):
    ax = sns.lineplot(data, x="n", y="eps", **viz.looks(data, **how))
    ax.set(xscale="log", yscale="log")
    return ax


def lines(ax):
    return [line for line in ax.lines if len(line.get_xdata())]


def test_a_line_breaks_where_a_theorem_does_not_apply():
    data = viz.stretches(frame("exact", missing=[100]), "eps")
    assert [line.get_xdata().tolist() for line in lines(drawn(data))] == [[10], [1000, 10_000]]


def test_no_points_are_averaged():
    data = pd.concat([frame("exact"), frame("exact").assign(eps=9.0)])
    assert len(lines(drawn(data))[0].get_xdata()) == 8


def test_a_name_keeps_its_look_when_others_come_and_go():
    several = viz.looks(frame("exact", "mine", "yours", "EFMRTT'19"))
    for name in ("exact", "mine", "EFMRTT'19"):
        alone = viz.looks(frame(name))
        assert all(
            alone[key][name] == several[key][name] for key in ("palette", "markers", "dashes", "sizes")
        )


def test_no_two_names_of_a_figure_look_alike():
    own = viz.looks(frame(*(f"bound {at}" for at in range(len(SPARE)))))
    every = {
        tuple(str(own[key][name]) for key in ("palette", "markers", "dashes")) for name in own["hue_order"]
    }
    assert len(every) == len(SPARE)


def test_no_two_dots_of_a_figure_look_alike():
    own = viz.dots(frame("refuted", "not refuted", "mine", "yours"))
    assert len({(own["palette"][name], own["markers"][name]) for name in own["hue_order"]}) == 4


def test_no_two_open_markers_of_a_figure_look_alike():
    how = viz.looks(frame(*"abcdef"), joined=False)
    assert len({(how["palette"][name], str(how["markers"][name])) for name in "abcdef"}) == 6


def test_names_in_the_table_look_alike_only_where_they_mean_the_same():
    looks = {}
    for name in LOOKS:
        looks.setdefault(tuple(map(str, viz.look(name))), []).append(name)
    alike = [names for names in looks.values() if len(names) > 1]
    assert alike == [["certified upper", "exact", "central curator"], ["certified lower", "attack"]]


def luminance(colour):
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


def test_names_can_be_read_and_the_grey_family_seen():
    contrast = {colour: 1.05 / (luminance(colour) + 0.05) for colour, *_ in [*LOOKS.values(), *SPARE]}
    assert min(contrast.values()) >= 4.5
    assert 1.05 / (luminance(viz.FAMILY) + 0.05) >= 3.0


def test_the_headline_s_number_must_stand_in_the_picture():
    ax = drawn(frame())
    viz.finding(ax, "A thousand users leave ε = 0.095", "ε₀ = 2")
    with pytest.raises(ValueError, match=r"0\.095 of the headline"):
        viz.save(ax, frame(), "01_1_users", caption="Read on.")
    assert plt.get_fignums() == []  # or the next sns.lineplot would draw into it


def test_a_number_in_the_title_of_a_panel_stands_in_the_picture():
    ax = drawn(frame())
    ax.set_title("1,000 users")
    viz.finding(ax, "Few leave most, 1,000 little", "ε₀ = 2")
    assert "1,000" in viz.save(ax, frame(), "01_1_users", caption="Read on.").finding


def test_a_figure_without_a_finding_is_refused(tmp_path):
    with pytest.raises(ValueError, match="headline"):
        viz.save(drawn(frame()), frame(), "01_1_users", caption="Read on.")
    assert list(tmp_path.iterdir()) == []


def words(ax):
    viz.label_ends(ax, {"certified upper": "proved"})


def mark(ax):
    viz.finding(ax, "A thousand users leave ε = 0.095", "ε₀ = 2", at=[(1000, 3 / 1000**0.5, "0.095")])


def shade(ax):
    viz.shade_impossible(ax, "certified upper", "nothing can be here")


def test_the_order_of_calls_does_not_matter_and_nothing_overlaps(tmp_path):
    found = set()
    for at, calls in enumerate(itertools.permutations((words, mark, shade))):
        ax = drawn(frame())
        for call in calls:
            call(ax)
        viz.save(ax, frame(), f"01_{at}_users", caption="Read on.")
        assert viz.overlapping(ax) == []
        found.add((tmp_path / f"01_{at}_users.png").read_bytes())
    assert len(found) == 1


def test_ends_are_named_in_the_colours_of_their_lines():
    ax = drawn(frame("certified upper", "EFMRTT'19", "other"), named=["certified upper", "EFMRTT'19"])
    viz.label_ends(ax, {"certified upper": "proved", "EFMRTT'19": ""}, rest="earlier bounds")
    mark(ax)
    viz.save(ax, frame(), "01_1_users", caption="Read on.")
    assert [text.get_text() for text in ax.texts] == ["proved", "earlier bounds", "0.095"]
    assert ax.texts[0].get_color() == "#000000"


def test_grey_lines_are_named_where_the_last_of_them_ends():
    data = pd.concat([frame("EFMRTT'19"), frame("certified upper")])
    data = pd.concat(
        [data, frame("other").assign(eps=9.0).head(2), frame("another").assign(eps=0.01).head(2)]
    )
    ax = drawn(data, named=["certified upper"])
    viz.label_ends(ax, rest="earlier bounds")
    mark(ax)
    viz.save(ax, data, "01_1_users", caption="Read on.")
    (named,) = [text for text in ax.texts if text.get_text() == "earlier bounds"]
    assert named.xy[0] == data.n.max()


def test_a_percentage_is_not_broken():
    ax = drawn(frame())
    ax.figure.set_size_inches(7, 3.6)
    words = "For subset selection the certified ε is up to 34 % below the best bound that uses only ε₀"
    viz.finding(ax, words, "34 options")
    viz.save(ax, frame(), "01_1_users", caption="Read on.")
    assert not any(line.startswith("%") for text in ax.figure.texts for line in text.get_text().splitlines())


def test_words_for_a_misspelt_name_are_refused():
    for misspelt in ({"certified_upper": "proved"}, {"attack": "an attack", 1000: "a thousand"}):
        ax = drawn(frame())
        viz.label_ends(ax, misspelt)
        mark(ax)
        wrong = [*misspelt][-1]
        with pytest.raises(ValueError, match=f"words must name lines, got {wrong!r}; lines are 'certified"):
            viz.save(ax, frame(), "01_1_users", caption="Read on.")


def test_ends_that_look_alike_cannot_be_named():
    ax = drawn(frame("certified lower", "attack"))
    viz.label_ends(ax)
    mark(ax)
    with pytest.raises(ValueError, match="look the same"):
        viz.save(ax, frame(), "01_1_users", caption="Read on.")


def test_ends_are_named_in_every_panel_and_refused_without_names_to_read():
    data = pd.concat([frame().assign(budgets=name) for name in ("low", "high")])
    for legend in (True, False):
        grid = sns.FacetGrid(data, col="budgets", hue="bound", height=3)
        grid.map(sns.lineplot, "n", "eps")
        if legend:
            grid.add_legend()
        viz.label_ends(grid)
        viz.finding(grid, "Many users leave less", "ε₀ = 2")
        if legend:
            viz.save(grid, data, "01_1_users", caption="Read on.")
            named = [{text.get_text() for text in ax.texts} for ax in grid.axes.flat]
            assert named[0] == named[1] == set(data["bound"])
        else:
            with pytest.raises(ValueError, match=r"there is none; draw with hue=… .* add_legend\(\)"):
                viz.save(grid, data, "01_1_users", caption="Read on.")
    _, several = viz.plt.subplots(1, 2)
    with pytest.raises(TypeError, match=r"got array\(.*; pass what seaborn returned, or the figure of"):
        viz.label_ends(several)


def test_ends_can_be_named_in_one_panel_only():
    data = pd.concat([frame().assign(budgets=name) for name in ("low", "high")])
    grid = sns.relplot(data, kind="line", x="n", y="eps", col="budgets", height=3, **viz.looks(data))
    viz.label_ends(grid.axes.flat[1], {"certified upper": "proved"})
    viz.finding(grid, "Many users leave less", "ε₀ = 2")
    viz.save(grid, data, "01_1_users", caption="Read on.")
    named = [[text.get_text() for text in ax.texts] for ax in grid.axes.flat]
    assert named[0] == [] and "proved" in named[1]


def test_words_in_a_shade_take_no_room_from_the_panel():
    heights = []
    for said in ("", "nothing can be here"):
        ax = sns.lineplot(x=[1, 2], y=[1e6, 2e6], label="attack")
        viz.shade_impossible(ax, "attack", said)
        viz.finding(ax, "Two are a million more than one", "an example")
        viz.save(ax, frame(), "01_1_users", caption="Read on.")
        heights.append(ax.get_position().height)
    assert heights[0] == heights[1] > 0.5


@pytest.mark.parametrize("below", [True, False])
def test_words_in_a_shade_stand_on_its_side(below):
    x = np.linspace(0.0, 1.0, 9)
    ax = sns.lineplot(x=x, y=0.2 + 0.6 * x**4, label="attack")
    ax.set_ylim(0, 1)
    viz.shade_impossible(ax, "attack", "nothing can be here", below=below)
    viz.finding(ax, "Few leave most", "an example")
    viz.save(ax, frame(), "01_1_users", caption="Read on.")
    box = ax.texts[0].get_window_extent().transformed(ax.transData.inverted())
    edge = 0.2 + 0.6 * np.array([box.x0, box.x1]) ** 4
    assert np.all(edge > box.y1) if below else np.all(edge < box.y0)


def test_panels_share_a_headline_and_each_can_hold_a_mark(tmp_path):
    data = pd.concat([frame().assign(budgets=name) for name in ("low", "high")])
    grid = sns.relplot(data, kind="line", x="n", y="eps", col="budgets", height=3, **viz.looks(data))
    grid.set(xscale="log", yscale="log")
    at = [(1000, 3 / 1000**0.5, "0.095", panel) for panel in (0, 1)]
    viz.finding(grid, "A thousand users leave ε = 0.095 in both", "ε₀ = 2", at=at)
    viz.label_ends(grid)
    viz.save(grid, data, "01_1_users", caption="Read on.")
    assert [sum(text.get_text() == "0.095" for text in ax.texts) for ax in grid.axes.flat] == [1, 1]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "01_1_users.csv"), data.reset_index(drop=True))


def test_a_map_is_hatched_where_a_claim_is_too_small():
    cells = pd.DataFrame(
        [{"n": n, "eps0": e, "ratio": e * n / 300} for n in (10, 100, 1000) for e in (0.5, 1.0, 2.0)]
    )
    ax = viz.ratio_map("n", "eps0", "ratio", data=cells)
    viz.name_colours(ax, "claimed ÷ true")
    viz.finding(ax, "The claim is too small for few users", "a map")
    viz.save(ax, cells, "01_1_map", caption="Read on.")
    assert any(one.get_hatch() for one in ax.collections)


def test_hatching_covers_the_cells_below_one_to_their_edges_and_no_other():
    cells = pd.DataFrame([{"n": n, "eps0": e, "ratio": e + n} for n in (0.0, 0.5, 1.0) for e in (0.2, 0.4)])
    cells.loc[0, "ratio"] = np.nan
    ax = viz.ratio_map("n", "eps0", "ratio", data=cells)
    shades, hatched = ax.collections
    found = [path.get_extents().bounds for path in hatched.get_paths()]
    np.testing.assert_allclose(found, [(0.25, 0.1, 0.5, 0.2), (-0.25, 0.3, 0.5, 0.2), (0.25, 0.3, 0.5, 0.2)])
    assert ax.viewLim.bounds == shades.get_datalim(ax.transData).bounds


def test_a_map_names_the_steps_of_its_shades():
    cells = pd.DataFrame([{"n": n, "eps0": e, "ratio": e * n / 9} for n in (1, 10) for e in (0.5, 2.0)])
    grid = sns.FacetGrid(cells.assign(budgets="all"), col="budgets")
    grid.map_dataframe(viz.ratio_map, "n", "eps0", "ratio", steps=(1.1, 1000))
    viz.name_colours(grid, "claimed ÷ true")
    viz.finding(grid, "The claim is too small for few users", "a map")
    viz.save(grid, cells, "01_1_map", caption="Read on.")
    written = [text.get_text() for text in grid.figure.axes[-1].get_yticklabels()]
    assert written == ["÷ 1,000", "÷ 1.1", "equal", "× 1.1", "× 1,000"]


def test_what_is_no_figure_is_refused():
    with pytest.raises(TypeError, match="place"):
        viz.finding("axes", "A finding", "")
    with pytest.raises(ValueError, match="column"):
        viz.looks(frame(), by="mechanism")


def test_recommendations_and_comparisons_are_frames():
    found = recommend(n=10_000, eps=0.5, delta=1e-6, task="mean")
    assert found.to_frame()["mechanism"].tolist() == [row["mechanism"] for row in found]
    compared = comparison.compare(randomizers.binary_rr(eps0=1.0), n=1000, delta=1e-6).to_frame()
    assert compared.columns.tolist() == ["bound", "epsilon", "says", "reason"]
    limits = {bound.name for bound in comparison.ALL if LOOKS[bound.name][2] == "limit"}
    assert set(compared["bound"][compared["says"].str.contains("limit")]) == limits
    assert compared["epsilon"].isna().any()


def test_a_mark_keeps_off_a_line_across_the_panel_and_off_dots():
    ax = drawn(frame("exact"))
    across = ax.axhline(1.0)
    ax.plot([100], [1.5], "o", lw=0)
    viz.finding(ax, "ε is 0.95", "an example", at=[(10, 0.949, "0.95 at ten")])
    viz.save(ax, frame("exact"), "00_1_marks", caption="")
    (mark,) = (text for text in ax.texts if text.get_text() == "0.95 at ten")
    height = across.get_transform().transform([(0, 1.0)])[0, 1]
    assert not _box(mark).y0 < height < _box(mark).y1


def test_an_arrow_runs_from_what_is_compared_with_and_its_words_stand_beside_it():
    ax = sns.scatterplot(pd.DataFrame({"eps": [0.1, 0.4], "bound": ["a", "b"]}), x="eps", y="bound")
    viz.arrow(ax, (0.1, "b"), (0.4, "b"), "× 4")
    viz.finding(ax, "b is 4 times a", "an example")
    viz.save(ax, frame("exact"), "00_1_arrow", caption="")
    shaft, words = ax.texts
    assert (shaft.xy, shaft.xyann) == ((0.4, 1.0), (0.1, 1.0)) and words.get_text() == "× 4"
    height = ax.transData.transform((0.25, 1.0))[1]
    assert not _box(words).y0 < height < _box(words).y1


def test_points_that_are_not_joined_are_open_and_can_be_named():
    data = frame("exact", "EFMRTT'19")
    ax = drawn(data, joined=False)
    assert all(one.get_linewidth() == 0 and one.get_markerfacecolor() == "none" for one in lines(ax))
    viz.label_ends(ax)
    viz.finding(ax, "open", "an example")
    viz.save(ax, data, "00_1_open", caption="")
    named = {text.get_text(): text.get_color() for text in ax.texts}
    assert named == {name: viz.look(name)[0] for name in ("exact", "EFMRTT'19")}


def test_a_mechanism_has_one_look_under_its_name_in_the_package_and_in_words():
    assert all(hasattr(randomizers, name) and word in LOOKS for name, word in PACKAGE.items())
    assert all(viz.look(name) == viz.look(word) for name, word in PACKAGE.items())
    assert len({viz.look(name)[:2] for name in PACKAGE}) == len(PACKAGE)


@pytest.mark.parametrize("rounding", [viz.at_most, viz.at_least])
def test_a_short_decimal_is_written_as_itself(rounding):
    shorts = [float(f"{digits}e{power}") for power in range(-9, 6) for digits in range(100, 1000, 7)]
    for short in shorts:
        assert rounding(short) == rounding(short * (1 - 3e-16)) == viz.digits(short)
    assert (rounding(0.1 + 0.2), rounding(1e-3), rounding(1 / 1000, 2)) == ("0.3", "0.001", "0.001")


def test_other_numbers_are_rounded_to_the_safe_side():
    assert (viz.at_most(1e-3 + 1e-16), viz.at_least(1e-3 - 1e-16)) == ("0.00101", "9.99·10⁻⁴")
    assert (viz.at_most(0.25 + 1e-14, 2), viz.at_least(0.25 - 1e-14, 2)) == ("0.26", "0.24")

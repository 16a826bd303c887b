"""Pictures of ideas: nothing overlaps or is clipped, bad data is refused by name, redrawing repeats."""

import io
import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

import test_hostile as hostile
import viz
from viz import ideas
from viz.wishes import wishes

RNG = np.random.default_rng(7)
BELL = np.array([math.comb(20, k) for k in range(21)]) / 2**20
RR = np.array([[0.4, 0.15, 0.15, 0.15, 0.15], [0.15, 0.4, 0.15, 0.15, 0.15], [0.15, 0.15, 0.4, 0.15, 0.15]])
PEOPLE = {
    "values": [0, 1, 0, 2, 0, 1, 0, 0, 2, 1, 0, 0],
    "reports": [2, 0, 2, 2, 0, 1, 0, 1, 1, 1, 0, 0],
    "order": RNG.permutation(12),
}
FEW = {"values": [0, 1], "reports": [1, 1], "order": [1, 0]}
CROWD = RNG.choice(3, 100, p=[0.25, 0.25, 0.5])
CROWD[[0, 37]] = 0
TRUTH = np.array([0.31, 0.22, 0.15, 0.12, 0.08, 0.06, 0.04, 0.02])
PUBLISHED = {
    "first bound, 2019": 2.1,
    "clones 2021": 0.71,
    "stronger clones 2023": 0.43,
    "Hoeffding": 0.26,
    "normal limit": 0.0843,
}
GOOD = {  # each picture's arguments, and other ones that it must bear
    "draw_protocol": [
        {**PEOPLE, "names": ("bus", "bike", "car"), "you": 3},
        {**PEOPLE, "stage": 1.5},
        {"values": np.arange(40) % 6, "reports": np.arange(40) % 6, "order": np.arange(40)[::-1]},
        FEW,
    ],
    "draw_delta": [
        {"x": np.arange(22), "p": np.r_[0, BELL], "q": np.r_[BELL, 0], "eps": 0.2},
        {"x": np.arange(22), "p": np.r_[BELL, 0], "q": np.r_[0, BELL], "eps": 1.5},
        {"x": np.arange(21), "p": BELL, "q": BELL, "eps": 0.0},
        {"x": [0, 1], "p": [1.0, 0.0], "q": [0.0, 1.0], "eps": 5.0},
    ],
    "draw_blanket": [
        {"pmf": RR, "reports": np.arange(60) % 5, "from_floor": np.arange(60) % 4 > 0},
        {"pmf": RR[:2], "inputs": ("yes", "no")},
        {"pmf": np.eye(4)},
    ],
    "draw_clones": [
        {"reports": CROWD, "you": 37, "names": ("yes", "no")},
        {"reports": CROWD[:50], "stage": 0.0},
        {"reports": np.zeros(120, int)},
        {"reports": [1, 2], "stage": 1.0},
    ],
    "draw_decomposition": [
        {"alpha": 1 / 7, "p": 3.0, "rest": [1 / 7] * 3, "others": [3 / 7, 1 / 7, 1 / 7]},
        {"alpha": 0.25, "p": 3.0},
        {"alpha": 0.01, "p": 2.0},
        {"alpha": 0.05, "p": 19.0},
        {"alpha": 0.4, "p": 1.0, "rest": [0.1, 0.1]},
    ],
    "draw_segments": [
        {"first": [[0, 1], [0.1, 0.55], [0.3, 0.25], [1, 0]], "second": [[0, 1], [0.25, 0.25], [1, 0]]},
        {"first": [[0, 1], [0, 0], [1, 0]], "second": [[0, 1], [1, 0]]},
    ],
    "draw_bracket": [
        {"lower": 0.1723, "upper": 0.17231, "published": PUBLISHED},
        {"lower": 0.2, "upper": 0.31, "published": {"clones 2021": 0.71}},
        {"lower": 1e-3, "upper": 1e-3},
        {"lower": 0.1, "upper": 0.9, "published": {"a very long name of some bound": 1.0, "low": 1e-5}},
        {"lower": 0.5, "upper": 0.6, "published": {f"bound {k}": 0.6 + k / 100 for k in range(6)}},
    ],
    "draw_outcomes": [
        {"truth": TRUTH, "outcomes": TRUTH + RNG.normal(0, 0.02, (20, 8)), "names": list("abcdefgh")},
        {"truth": [0.5, 0.5], "outcomes": [[-0.2, 1.3]]},
        {"truth": np.full(16, 1 / 16), "outcomes": np.full((3, 16), 1 / 16)},
    ],
}
CASES = [(name, case) for name, cases in GOOD.items() for case in cases]
ANIMATED = {"animate_protocol": FEW, "animate_clones": {"reports": [0, 1, 2, 0, 0, 2]}}
FOREIGN = {kind: value for kind, value in hostile.FOREIGN.items() if value is not None} | {
    "minus one": -1,
    "huge": 10**400,
    "three dimensions": np.zeros((2, 2, 2)),
}


@pytest.fixture(autouse=True)
def themed():
    with plt.rc_context():
        viz.theme()
        yield


def boxes(fig):
    """Return text and extent of everything that is written, annotations without their arrows."""
    viz.picture_of(fig, dpi=fig.dpi)
    unseen = set()
    for ax in fig.axes:
        for axis, (low, high) in ((ax.xaxis, sorted(ax.get_xlim())), (ax.yaxis, sorted(ax.get_ylim()))):
            ticks = axis.get_major_ticks()
            unseen |= {one.label1 for one in ticks if not (ax.axison and low <= one.get_loc() <= high)}
    texts = [text for text in fig.findobj(Text) if text.get_visible() and text not in unseen]
    texts = [text for text in texts if text.get_text().strip()]
    return [(text.get_text().strip(), Text.get_window_extent(text)) for text in texts]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_words_are_legible_and_neither_overlap_nor_leave_the_picture(name, case):
    fig = getattr(ideas, name)(**case)
    boxes(fig)
    assert viz.unmarked(fig) == [], "a number of the headline is not in the picture"
    fig = getattr(ideas, name)(**case, finding="What I found", setting="a setting of one grey line")
    shown = boxes(fig)
    assert {"What I found", "a setting of one grey line"} <= {text for text, _ in shown}
    assert all(text.get_fontsize() >= 8 for text in fig.findobj(Text) if text.get_text().strip())
    for text, box in shown:
        inside = fig.bbox.x0 - 1 <= box.x0 and box.x1 <= fig.bbox.x1 + 1
        assert inside and fig.bbox.y0 - 1 <= box.y0 and box.y1 <= fig.bbox.y1 + 1, text
    for (one, first), (other, second) in itertools.combinations(shown, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        up = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert across <= 1 or up <= 2, (one, other)


@pytest.mark.parametrize("name", GOOD)
def test_drawing_again_repeats_the_bytes(name):
    once, other, again = (
        viz.picture_of(getattr(ideas, name)(**GOOD[name][case]), dpi=60) for case in (0, 1, 0)
    )
    assert once == again != other


@pytest.mark.parametrize("name", GOOD)
def test_foreign_data_is_refused_by_name(name):
    draw, case = getattr(ideas, name), GOOD[name][0]
    for argument in [*case, "finding", "setting"]:
        for kind, value in FOREIGN.items():
            if isinstance(value, str) and argument in ("finding", "setting"):
                continue
            if (argument, kind) == ("published", "mapping"):
                continue  # no bounds
            hostile.is_refused(draw, case, argument, value)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("draw_protocol", {"order": [0] * 12}, "order must name each place once, got .*; pass rng.perm"),
        ("draw_protocol", {"values": [0] * 41}, r"values must hold 1 to 40 numbers, got shape \(41,\)"),
        ("draw_protocol", {"names": ("one",)}, r"names must be 3 texts, got \('one',\)"),
        ("draw_protocol", {"you": 12}, "you must be .*<= 11, got 12"),
        ("draw_delta", {"p": [0.5, 0.1]}, r"p must hold one weight for each of 22 parts, got shape \(2,\)"),
        ("draw_delta", {"q": np.full(22, 0.5)}, "q must sum to 1, got a sum of 11; divide by it"),
        ("draw_delta", {"x": np.arange(22.0) ** 2}, "x must increase in equal steps"),
        ("draw_blanket", {"pmf": np.full((2, 3), 0.5)}, "pmf must sum to 1, got a sum of 1.5; divide by it"),
        ("draw_blanket", {"from_floor": None}, "from_floor must be given with the other, got None"),
        (
            "draw_clones",
            {"you": int(np.argmax(CROWD == 2))},
            "you must be a person .* got [0-9]+, which has 2",
        ),
        ("draw_clones", {"reports": [0] * 121}, r"reports must hold 2 to 120 numbers, got shape \(121,\)"),
        ("draw_decomposition", {"p": 7.0}, "p must be at most 6 at alpha = 0.142857, got 7"),
        ("draw_decomposition", {"rest": None}, "rest must be given with others, got None"),
        ("draw_segments", {"first": [[0, 1]]}, r"first must hold 2 to 60 × 2 numbers, got shape \(1, 2\)"),
        ("draw_bracket", {"upper": 0.1}, "upper must be .*>= 0.1723.* got 0.1"),
        ("draw_bracket", {"published": {"a": -1.0}}, r"published\['a'\] must be .* got -1.0"),
        (
            "draw_outcomes",
            {"outcomes": [[0.1, 0.2]]},
            r"outcomes must hold 1 to 1000 × 8 numbers, got shape \(1, 2\)",
        ),
    ],
)
def test_wrong_shapes_are_refused_with_value_and_remedy(name, wrong, message):
    with pytest.raises(ValueError, match=message):
        getattr(ideas, name)(**GOOD[name][0] | wrong)


def test_an_excess_too_far_out_to_be_seen_is_not_called_zero():
    case = {"x": [0, 1, 2, 3, 4, 5], "p": [0.3, 0.4, 0.3 - 1e-6, 0, 0, 1e-6], "q": [0.3, 0.4, 0.3, 0, 0, 0]}
    assert "δ = 10⁻⁶: too far out to be seen" in {
        text for text, _ in boxes(ideas.draw_delta(**case, eps=0.1))
    }
    same = ideas.draw_delta(**case | {"p": case["q"]}, eps=0.1)
    assert "δ = 0: no excess" in {text for text, _ in boxes(same)}


def test_a_merged_chain_is_sorted_and_ends_at_the_corner():
    fig = ideas.draw_segments(**GOOD["draw_segments"][0])
    corners = np.array(fig.axes[2].collections[0].get_offsets())
    steps = np.diff(corners, axis=0)
    assert corners[0].tolist() == [0, 1] and corners[-1] == pytest.approx([1, 0], abs=1e-12)
    assert len(steps) == 5 and (np.diff(steps[:, 1] / steps[:, 0]) >= 0).all()


def test_the_bracket_names_what_an_attack_refutes_and_hides_no_gap():
    fig = ideas.draw_bracket(0.1723, 0.17231, published=PUBLISHED)
    assert wishes(fig).headline == "ε is 0.172, so normal limit of 0.0843 is refuted"
    said = {text for text, _ in boxes(fig)}
    assert {"0.0843, below the attack: refuted", "proved: at most", "0.172"} <= said


@pytest.mark.parametrize("name", ANIMATED)
def test_an_animation_ends_and_repeats_byte_for_byte(name):
    animate = getattr(ideas, name)
    first = animate(**ANIMATED[name], dpi=40)
    assert first == animate(**ANIMATED[name], dpi=40)
    with Image.open(io.BytesIO(first)) as moving:
        assert moving.n_frames > 10 and moving.info["loop"] == 2 and moving.size[0] == 200
    with pytest.raises(ValueError, match="dpi must be .* got 5"):
        animate(**ANIMATED[name], dpi=5)

"""Pictures of ideas: nothing overlaps or is clipped, bad data is refused by name, redrawing repeats."""

import io
import itertools
import math
import re

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from shufflelib import plotting
from shufflelib.plotting import ideas
from shufflelib.plotting.ideas.canvas import digits

RNG = np.random.default_rng(7)
BELL = np.array([math.comb(20, k) for k in range(21)]) / 2**20
RR = np.array([[0.4, 0.15, 0.15, 0.15, 0.15], [0.15, 0.4, 0.15, 0.15, 0.15], [0.15, 0.15, 0.4, 0.15, 0.15]])
PEOPLE = {
    "values": [0, 1, 0, 2, 0, 1, 0, 0, 2, 1, 0, 0],
    "reports": [2, 0, 2, 2, 0, 1, 0, 1, 1, 1, 0, 0],
    "order": RNG.permutation(12),
}
FEW = {"values": [0, 1], "reports": [1, 1], "order": [1, 0]}
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
}
CASES = [(name, case) for name, cases in GOOD.items() for case in cases]
ANIMATED = {"animate_protocol": FEW}
FOREIGN = {
    "NaN": math.nan,
    "text": "1e-8",
    "empty": [],
    "bool": True,
    "complex": 1.0 + 1.0j,
    "array of None": np.array([None, 1.0]),
    "array of text": np.array(["a"]),
    "array of NaN": np.array([0.5, math.nan]),
    "ragged": [[1.0], [1.0, 2.0]],
    "mapping": {},
    "function": math.exp,
    "minus one": -1,
    "huge": 10**400,
    "three dimensions": np.zeros((2, 2, 2)),
}


def boxes(fig):
    """Return text and extent of everything that is written."""
    with plotting.style():
        fig.draw_without_rendering()
    unseen = set()
    for ax in fig.axes:
        low, high = ax.get_xlim()
        unseen |= {tick.label1 for tick in ax.xaxis.get_major_ticks() if not low <= tick.get_loc() <= high}
    texts = [text for text in fig.findobj(Text) if text.get_visible() and text not in unseen]
    texts = [text for text in texts if text.get_text().strip()]
    return [(text.get_text().strip(), Text.get_window_extent(text)) for text in texts]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_no_words_overlap_or_leave_the_picture(name, case):
    fig = getattr(ideas, name)(**case, setting="a setting of one grey line")
    shown = boxes(fig)
    assert any(text == "a setting of one grey line" for text, _ in shown) and fig.get_suptitle()
    for text, box in shown:
        inside = fig.bbox.x0 - 1 <= box.x0 and box.x1 <= fig.bbox.x1 + 1
        assert inside and fig.bbox.y0 - 1 <= box.y0 and box.y1 <= fig.bbox.y1 + 1, text
    for (one, first), (other, second) in itertools.combinations(shown, 2):
        if "a setting of one grey line" in (one, other):
            continue  # stands on the last line of the headline, which is empty
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        up = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert across <= 1 or up <= 2, (one, other)


@pytest.mark.parametrize(("name", "case"), CASES)
def test_words_are_at_least_eight_points(name, case):
    fig = getattr(ideas, name)(**case)
    assert all(text.get_fontsize() >= 8 for text in fig.findobj(Text) if text.get_text().strip())


@pytest.mark.parametrize("name", GOOD)
def test_drawing_again_into_a_picture_repeats_its_bytes(name):
    draw = getattr(ideas, name)
    first, other = GOOD[name][:2]
    fig = draw(**first)
    once = plotting.png(fig)
    assert draw(**other, fig=fig) is fig and plotting.png(fig) != once
    assert plotting.png(draw(**first, fig=fig)) == once


@pytest.mark.parametrize("name", GOOD)
def test_a_finding_of_the_readers_own_is_the_headline(name):
    fig = getattr(ideas, name)(**GOOD[name][0], finding="What I found")
    assert fig.get_suptitle().strip() == "What I found"


@pytest.mark.parametrize("name", GOOD)
def test_foreign_data_is_refused_by_name(name):
    draw, case = getattr(ideas, name), GOOD[name][0]
    for argument in [*case, "fig", "finding", "setting"]:
        for value in FOREIGN.values():
            if argument in ("finding", "setting") and isinstance(value, str):
                continue
            with pytest.raises((ValueError, TypeError)) as refusal:
                draw(**case | {argument: value})
            message = str(refusal.value)
            assert re.search(rf"\b{argument}\b", message) and "\n" not in message, (argument, value, message)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("draw_protocol", {"order": [0] * 12}, "order must name each place once, got .*; pass rng.perm"),
        ("draw_protocol", {"values": [0] * 41}, "values must be of at most 40 people, got 41"),
        ("draw_protocol", {"names": ("one",)}, r"names must be 3 texts, got \('one',\)"),
        ("draw_protocol", {"you": 12}, "you must be .*<= 11, got 12"),
        ("draw_delta", {"p": [0.5, 0.1]}, r"p must be a list of 22 numbers, got shape \(2,\)"),
        ("draw_delta", {"q": np.full(22, 0.5)}, "q must sum to 1, got a sum of 11; divide by it"),
        ("draw_delta", {"x": np.arange(22.0) ** 2}, "x must increase in equal steps"),
        ("draw_blanket", {"pmf": np.full((2, 3), 0.5)}, "pmf must have rows that sum to 1, got a sum of 1.5"),
        ("draw_blanket", {"from_floor": None}, "from_floor must be given with the other, got None"),
    ],
)
def test_wrong_shapes_are_refused_with_value_and_remedy(name, wrong, message):
    with pytest.raises(ValueError, match=message):
        getattr(ideas, name)(**GOOD[name][0] | wrong)


def test_delta_is_the_sum_of_the_excess():
    case = GOOD["draw_delta"][0]
    fig = ideas.draw_delta(**case)
    delta = np.maximum(case["p"] - math.exp(0.2) * case["q"], 0.0).sum()
    assert f"δ = {digits(delta)}," in fig.get_suptitle()


@pytest.mark.parametrize("name", ANIMATED)
def test_an_animation_loops_and_repeats_byte_for_byte(name):
    animate = getattr(ideas, name)
    first = animate(**ANIMATED[name], dpi=40)
    assert first == animate(**ANIMATED[name], dpi=40)
    with Image.open(io.BytesIO(first)) as moving:
        assert moving.n_frames > 10 and moving.info["loop"] == 0 and moving.size[0] == 200
    with pytest.raises(ValueError, match="dpi must be .* got 5"):
        animate(**ANIMATED[name], dpi=5)

"""The committed pictures of ideas are those that the tool draws, and light enough for a page."""

import csv
from pathlib import Path

import pytest

import draw_ideas
from viz import ideas
from viz.wishes import wishes

FOLDER = Path(__file__).resolve().parents[2] / "figures" / "ideas"


def test_every_picture_is_drawn():
    drawn = {name.removeprefix("draw_") for name in vars(ideas) if name.startswith("draw_")}
    assert drawn == draw_ideas.PICTURES.keys()
    kinds = {name: {"png", "pdf", "svg", "csv"} for name in drawn}
    for name in draw_ideas.ANIMATIONS:
        kinds[name] = kinds[name] | {"gif"}
    expected = {f"{name}.{kind}" for name, all_ in kinds.items() for kind in all_}
    assert {path.name for path in FOLDER.iterdir()} == expected


@pytest.mark.parametrize(("kind", "most"), [("svg", 300_000), ("gif", 600_000), ("png", 150_000)])
def test_no_picture_is_heavy(kind, most):
    assert all(path.stat().st_size <= most for path in FOLDER.glob(f"*.{kind}"))


@pytest.mark.parametrize("name", draw_ideas.PICTURES)
def test_the_data_of_record_is_what_the_tool_computes(name):
    case, rows = draw_ideas.PICTURES[name]()
    assert wishes(getattr(ideas, f"draw_{name}")(**case)).headline
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    table = list(csv.DictReader(lines))
    assert len(table) == len(rows)
    for kept, row in zip(table, rows, strict=True):
        for key, value in row.items():
            if isinstance(value, float):
                assert kept[key] == "" or float(kept[key]) == pytest.approx(value, rel=1e-6, abs=1e-300)
            else:
                assert kept[key] == str(value)

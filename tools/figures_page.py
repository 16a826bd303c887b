"""List the figures with picture, finding and notebook: ``python tools/figures_page.py build/full figures``.

Findings are those that executed notebooks show.  A figure that the last run has not drawn, as one that needs
MNIST, keeps its line.
"""

import re
import sys
from pathlib import Path

import nbformat

import book_notebooks
import draw_ideas
from book_pages import plain, title_of
from shufflelib.numerics.atomic_files import replace
from viz import ideas
from viz.wishes import wishes

ROOT = Path(__file__).resolve().parents[1]
LINE = re.compile(r'\| <a href="(?P<place>[^"]+)\.png">')
HEAD = """# Figures

Each is drawn by one notebook; beside the picture (PNG) lies its data (CSV).
`make figures` draws them all and writes this list.
Tables without a picture end in `.md`, and their data in a `.csv` of the same name.
"""


def line(place, finding):
    """Return the row of one figure."""
    picture = f'<a href="{place}.png"><img src="{place}.png" alt="" width="240"></a>'
    return f"| {picture} | {plain(finding)} | [{Path(place).name}.csv]({place}.csv) |"


def drawn_by(run, path):
    """Return the rows of the figures that a run of one notebook has drawn; none if it was not executed."""
    inside = path.relative_to(ROOT / "notebooks")
    if not (run / inside).exists():
        return {}
    shown = book_notebooks.figures_of(nbformat.read(run / inside, as_version=4))
    places = {(inside.parent / name).as_posix(): one["finding"] for name, one in shown.items()}
    return {place: line(place, finding) for place, finding in places.items()}


def sections(run):
    """Yield heading, beginning of the places and drawn rows: of the pictures of ideas, then of each notebook.

    A notebook's figures begin as its own name does: those of ``papers/sgd.ipynb`` with ``papers/sgd_``, those
    of ``course/01_why_shuffle.ipynb`` with ``course/01_``.
    """
    rows = {}
    for name, arguments in draw_ideas.PICTURES.items():
        finding = wishes(getattr(ideas, f"draw_{name}")(**arguments()[0])).headline
        rows[f"ideas/{name}"] = line(f"ideas/{name}", finding)
    yield "Pictures of ideas, by `tools/draw_ideas.py`", "ideas/", rows
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        inside = path.relative_to(ROOT / "notebooks")
        title = f"[{plain(title_of(path))}](../notebooks/{inside.as_posix()})"
        first = inside.with_name(f"{path.stem.split('_')[0]}_").as_posix()
        yield title, first, drawn_by(run, path)


def page(run, figures):
    """Return the list of the figures that are there, with the lines it had of figures that were not drawn."""
    listed = figures / "README.md"
    text = listed.read_text(encoding="utf-8") if listed.exists() else ""
    before = {found["place"]: row for row in text.splitlines() if (found := LINE.match(row))}
    there = sorted(path.relative_to(figures).with_suffix("").as_posix() for path in figures.rglob("*.png"))
    known = {place: row for place, row in before.items() if place in there}
    known |= {place: line(place, "") for place in there if place not in known}
    lines = [HEAD]
    for title, first, drawn in sections(run):
        kept = {place: row for place, row in known.items() if place.startswith(first)}
        rows = kept | {place: row for place, row in drawn.items() if place in kept}
        if rows:
            lines += [f"## {title}\n", "| picture | finding | data |", "|---|---|---|", *rows.values(), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    run, figures = map(Path, sys.argv[1:])
    replace(figures / "README.md", page(run, figures).encode())

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


def sections(run):
    """Yield heading and rows of the pictures of ideas, then of each notebook that a run has executed."""
    rows = {}
    for name, arguments in draw_ideas.PICTURES.items():
        finding = wishes(getattr(ideas, f"draw_{name}")(**arguments()[0])).headline
        rows[f"ideas/{name}"] = line(f"ideas/{name}", finding)
    yield "Pictures of ideas, by `tools/draw_ideas.py`", rows
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        inside = path.relative_to(ROOT / "notebooks")
        if not (run / inside).exists():
            continue
        shown = book_notebooks.figures_of(nbformat.read(run / inside, as_version=4))
        places = {(inside.parent / name).as_posix(): one["finding"] for name, one in shown.items()}
        title = f"[{plain(title_of(path))}](../notebooks/{inside.as_posix()})"
        yield title, {place: line(place, finding) for place, finding in places.items()}


def page(run, figures):
    """Return the list of the figures that are there, with the lines it had of figures that were not drawn."""
    before, heading = {}, ""
    listed = figures / "README.md"
    for row in listed.read_text(encoding="utf-8").splitlines() if listed.exists() else ():
        heading = row.removeprefix("## ") if row.startswith("## ") else heading
        if found := LINE.match(row):
            before.setdefault(heading, {})[found["place"]] = row
    there = {path.relative_to(figures).with_suffix("").as_posix() for path in figures.rglob("*.png")}
    lines = [HEAD]
    for title, rows in [*sections(run), ("Drawn only with MNIST (`make data`)", None)]:
        rows = (
            before.get(title, {}) | rows
            if rows is not None
            else {one: line(one, "") for one in sorted(there)}
        )
        rows = {place: row for place, row in rows.items() if place in there}
        there -= set(rows)
        if rows:
            lines += [f"## {title}\n", "| picture | finding | data |", "|---|---|---|", *rows.values(), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    run, figures = map(Path, sys.argv[1:])
    replace(figures / "README.md", page(run, figures).encode())

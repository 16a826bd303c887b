"""List the figures with picture, finding and notebook: ``python tools/figures_page.py figures``.

A finding is the title that the picture holds, so the list says what the pictures say.
"""

import sys
from pathlib import Path

from book_pages import plain, title_of
from publish import headline
from shufflelib.numerics.atomic_files import replace

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Figures

Each is drawn by one notebook; beside the picture (PNG) lies its data (CSV).
`make figures` draws them all and writes this list.
Tables without a picture end in `.md`, and their data in a `.csv` of the same name.
"""


def row(figures, place):
    """Return the row of one figure."""
    picture = f'<a href="{place}.png"><img src="{place}.png" alt="" width="240"></a>'
    finding = plain(headline(figures / f"{place}.png"))
    return f"| {picture} | {finding} | [{Path(place).name}.csv]({place}.csv) |"


def sections():
    """Yield heading and beginning of the places: of the pictures of ideas, then of each notebook's figures.

    A notebook's figures begin as its own name does: those of ``papers/sgd.ipynb`` with ``papers/sgd_``, those
    of ``course/01_why_shuffle.ipynb`` with ``course/01_``.
    """
    yield "Pictures of ideas, by `tools/draw_ideas.py`", "ideas/"
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        inside = path.relative_to(ROOT / "notebooks")
        first = inside.with_name(f"{path.stem.split('_')[0]}_").as_posix()
        yield f"[{plain(title_of(path))}](../notebooks/{inside.as_posix()})", first


def page(figures):
    """Return the list of the figures that are there."""
    places = sorted(path.relative_to(figures).with_suffix("").as_posix() for path in figures.rglob("*.png"))
    lines = [HEAD]
    for title, first in sections():
        rows = [row(figures, place) for place in places if place.startswith(first)]
        if rows:
            lines += [f"## {title}\n", "| picture | finding | data |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    figures = Path(sys.argv[1])
    replace(figures / "README.md", page(figures).encode())

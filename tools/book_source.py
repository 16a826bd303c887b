"""Collect what the book is made of: its own pages, the executed notebooks, the figures, generated pages.

    python tools/book_source.py build/full build/book-source

Figures and tables are the committed ones in ``figures/``, whichever profile the notebooks ran in.
A widget or a failed cell is an error.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import yaml

import book_notebooks
import book_pages

ROOT = Path(__file__).resolve().parents[1]
LECTURES = ROOT / "notebooks/course/README.md"
PAGES = [path for path in (ROOT / "book").glob("*.md") if path.name != "reference.md"]  # the book has its own
RENAMED = {str(LECTURES.relative_to(ROOT)): "lectures.md"}


def page(path):
    """Return a page of the repository with its links as they are on the website."""

    def on_website(link):
        place = os.path.relpath(path.parent / link[0], ROOT)
        return RENAMED.get(place, place.removeprefix("book/"))

    text = re.sub(r"(?<=\]\()(?!\w+:)[^)#]+", on_website, path.read_text())
    return re.sub(r"\[([^]]+)\]\(([\w/]+\.html)\)", r'<a href="\2">\1</a>', text)


def collect(executed, target):
    """Write the source of the book into an empty folder."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "figures", target / "figures", ignore=shutil.ignore_patterns("*.md"))
    (target / "downloads").mkdir()
    shown = {}
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        name = path.relative_to(ROOT / "notebooks")
        notebook = nbformat.read(executed / name, as_version=4)
        shutil.copyfile(path, target / "downloads" / name.name)
        shown[path] = book_notebooks.figures_of(notebook)
        (target / "notebooks" / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            nbformat.write(
                book_notebooks.page(notebook, name.parent.name, name.name), target / "notebooks" / name
            )
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    for path in (ROOT / "notebooks").rglob("*.csv"):  # linked by the lessons that read them
        shutil.copyfile(path, target / path.relative_to(ROOT))
    pages = {path.stem: page(path) for path in PAGES} | {"lectures": page(LECTURES)}
    for name, text in pages.items():
        (target / f"{name}.md").write_text(text)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    shutil.copyfile(ROOT / "CITATION.cff", target / "CITATION.cff")
    book_pages.write(target, pages, citation, shown)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("executed", type=Path, help="folder of executed notebooks")
    arguments.add_argument("target", type=Path, help="folder to write, emptied first")
    given = arguments.parse_args()
    try:
        collect(given.executed, given.target)
    except ValueError as error:
        sys.exit(f"error: {error}")

"""Collect what the book is made of: its own pages, the executed notebooks, the figures, generated pages.

    python tools/book_source.py build/full build/book-source

Figures and tables are the committed ones in ``figures/``, whichever profile the notebooks ran in.
A figure without alternative text, a widget, or a failed cell is an error.
"""

import argparse
import itertools
import json
import re
import shutil
import sys
from pathlib import Path

import nbformat
import yaml

import book_lessons
import book_pages

ROOT = Path(__file__).resolve().parents[1]
FIGURE = re.compile(r"^!\[(?P<alt>[^\]]*)\]\(\.\./figures/(?P<name>\w+)\.png\)$", re.MULTILINE)
IMAGE = re.compile(r"!\[|<img")
CHAPTER = re.compile(
    r"\[[^\]]*\]\([^)]*\)|"  # a link already
    r"`notebooks/(?P<stem>\d\d_\w+)\.ipynb`|\b(?:[Nn]otebooks?|[Cc]hapters?) (?P<number>\d\d)\b"
)
PANEL = re.compile(r"^if interactive:|\bexplore if interactive\b", re.MULTILINE)
STILL = """```{{note}}
Sliders need a running notebook: `make lab` opens this one, `make app` opens the explorer.
The pictures on this page stand still{at}.
```"""


def figures_shown(notebook):
    """Return name -> alternative text of the figures that a notebook's prose shows, in order."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return {found["name"]: found["alt"] for text in texts for found in FIGURE.finditer(text)}


def as_figure(found):
    """Return a figure with its alternative text, a place to link to, and its data."""
    name = found["name"]
    files = [f"../figures/{name}.{suffix}" for suffix in ("csv", "pdf")]
    drawn = (
        "svg" if (ROOT / "figures" / f"{name}.svg").exists() else "png"
    )  # only a run of the notebook has it
    links = " · ".join(
        f"{{download}}`{text} <{file}>`" for text, file in zip(("data as CSV", "PDF"), files, strict=True)
    )
    alt = json.dumps(found["alt"], ensure_ascii=False)
    return f"```{{figure}} ../figures/{name}.{drawn}\n:name: fig-{name}\n:alt: {alt}\n\n{links}\n```"


def as_prose(text, stems):
    """Return a markdown cell with its figures, and with links where it names another notebook."""
    numbers = {stem[:2]: stem for stem in stems}

    def link(found):
        stem = found["stem"] or numbers.get(found["number"])
        if stem not in stems:
            return found[0]
        words = found[0] if found["number"] else f"notebook {stem[:2]}"
        return f"[{words}]({stem}.ipynb)"

    text = FIGURE.sub(as_figure, CHAPTER.sub(link, text))
    if IMAGE.search(text):
        raise ValueError(
            f"a picture must stand on a line of its own and come from ../figures/: {text[:200]!r}"
        )
    return text


def kept_output(output, shown, panel):
    """Return an output as the book prints it, or None for a figure that the prose shows.

    The first picture of a panel of sliders has no name; it stays, as what the page shows in their place.
    """
    data = output.get("data", {})
    if output.output_type == "error" or any("widget" in kind for kind in data):
        raise ValueError(f"the book cannot print this output: {output.get('ename') or ', '.join(data)}")
    first = data.get("text/plain", "").split(",")[0]
    if "image/png" in data and not (panel and not first.endswith(".png")):
        if Path(first).stem not in shown:
            raise ValueError(f"figure {first or 'without a name'} is not shown in the text of its notebook")
        return None
    if "text/markdown" in data and first.endswith(".csv"):
        data["text/markdown"] = (ROOT / "figures" / first).with_suffix(".md").read_text()
    return output


def sliders_at(outputs):
    """Return in words where the sliders of a picture stand."""
    stand = [output.get("metadata", {}).get("image/png", {}).get("alt") for output in outputs]
    return "".join(f", at {alt}" for alt in stand if alt)


def code_run(cells):
    """Return consecutive code cells as one, so that the reader unfolds one piece of code."""
    run = cells[0]
    run.source = "\n\n\n".join(cell.source.strip("\n") for cell in cells)
    run.outputs = [output for cell in cells for output in cell.outputs]
    run.metadata = {"tags": ["hide-cell" if is_solution(run) else "hide-input"]}
    return run


def is_solution(cell):
    """Whether a code cell answers an exercise, so that its output is folded as well."""
    return bool({"solution", "hide-cell"} & set(cell.metadata.get("tags", [])))


def chapter(notebook, stem, stems):
    """Return an executed notebook as a chapter of the book."""
    shown = figures_shown(notebook)
    written = [cell for cell in notebook.cells if "injected-parameters" not in cell.metadata.get("tags", [])]
    cells, words = [], ""
    for kind, run in itertools.groupby(written, key=lambda cell: (cell.cell_type, is_solution(cell))):
        run = list(run)
        if kind[0] != "code":
            for cell in run:
                words = cell.source.split("\n\n")[-1]
                cell.source = as_prose(cell.source, stems)
            cells += run
            continue
        panels = [bool(PANEL.search(cell.source)) for cell in run]
        for cell, panel in zip(run, panels, strict=True):
            kept = [kept_output(output, shown, panel) for output in cell.outputs]
            cell.outputs = [output for output in kept if output is not None]
        cells.append(code_run(run))
        if any(panels):
            cells[-1].metadata["mystnb"] = {"image": {"alt": f"First picture of the sliders. {words}"}}
            cells.append(nbformat.v4.new_markdown_cell(STILL.format(at=sliders_at(cells[-1].outputs))))
    notebook.metadata.pop("widgets", None)  # nothing moves here, and their scripts would come from elsewhere
    cells[0].source = re.sub(r"\A# ", f"# {stem[:2]} · ", cells[0].source)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    notebook.cells = cells
    return notebook


def collect(executed, target):
    """Write the source of the book into an empty folder."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "book", target, ignore=shutil.ignore_patterns("conf.py", "_*"))
    shutil.copytree(ROOT / "figures", target / "figures", ignore=shutil.ignore_patterns("*.md"))
    stems = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    (target / "notebooks").mkdir()
    chapters = {}
    for stem in stems:
        notebook = nbformat.read(executed / f"{stem}.ipynb", as_version=4)
        try:
            chapters[stem] = figures_shown(notebook)
            nbformat.write(chapter(notebook, stem, stems), target / "notebooks" / f"{stem}.ipynb")
        except (ValueError, OSError) as error:
            raise ValueError(f"{stem}: {error}") from None
    shown = {}
    for path in sorted(
        {*(ROOT / "notebooks").glob("**/[a-z]*.ipynb"), *(ROOT / "notebooks").glob("*/*.ipynb")}
    ):
        name = path.relative_to(ROOT / "notebooks")
        notebook = nbformat.read(executed / name, as_version=4)
        shown[path] = book_lessons.figures_of(notebook)
        (target / "notebooks" / name).parent.mkdir(exist_ok=True)
        nbformat.write(book_lessons.page(notebook, name.parent.name), target / "notebooks" / name)
    titles = {stem: book_pages.title_of(ROOT / "notebooks" / f"{stem}.ipynb") for stem in stems}
    titles |= {
        str(path.relative_to(ROOT / "notebooks").with_suffix("")): book_pages.title_of(path) for path in shown
    }
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    shutil.copyfile(ROOT / "CITATION.cff", target / "CITATION.cff")
    bounds, ledger = ((ROOT / "book" / f"{page}.md").read_text() for page in ("bounds", "ledger"))
    book_pages.write(target, bounds, ledger, citation, titles, chapters, shown)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("executed", type=Path, help="folder of executed notebooks")
    arguments.add_argument("target", type=Path, help="folder to write, emptied first")
    given = arguments.parse_args()
    try:
        collect(given.executed, given.target)
    except ValueError as error:
        sys.exit(f"error: {error}")

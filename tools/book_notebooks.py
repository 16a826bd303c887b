"""A lesson or a paper's notebook, executed, as a page of the book: folded code, figures with captions."""

import functools
import html
import itertools
import json
import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
SHOWN = re.compile(
    r'<figure id="fig-(?P<name>\w+)".*?<img alt="(?P<finding>[^"]*)".*?'
    r"<figcaption><b>(?P<label>[^<]*)</b> (?P<caption>.*?)</figcaption>",
    re.DOTALL,
)
TABLE = re.compile(r"\w+\.csv, (?P<name>\w+\.md)$")
TERM = re.compile(r"\*\*\*([^*]+)\*\*\*")
FIGURE = """```{{figure}} {place}
:name: fig-{name}
:alt: {alt}

**{label}** {caption}

{links}
```"""


def figure_of(output):
    """Return what a cell's output says about the figure it shows, or None if it shows none."""
    found = SHOWN.search(output.get("data", {}).get("text/html", ""))
    return {key: html.unescape(value) for key, value in found.groupdict().items()} if found else None


def figures_of(notebook):
    """Return name -> finding and caption of the figures of an executed lesson, in order."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return {shown["name"]: shown for shown in map(figure_of, outputs) if shown}


def as_figure(shown, folder):
    """Return a figure with its alternative text, its caption, a place to link to, and its data."""
    place = "/".join([*[".."] * (2 if folder else 1), "figures", *[folder] * bool(folder), shown["name"]])
    drawn = (ROOT / "figures" / folder / f"{shown['name']}.svg").exists()  # only a full run leaves it
    links = " · ".join(
        f"{{download}}`{words} <{place}.{kind}>`" for words, kind in (("data as CSV", "csv"), ("PDF", "pdf"))
    )
    alt = json.dumps(shown["finding"], ensure_ascii=False)
    return FIGURE.format(
        **shown | {"place": f"{place}.{'svg' if drawn else 'png'}", "alt": alt, "links": links}
    )


def is_folded(cell):
    """Whether a cell's code is folded in JupyterLab."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def joined(run):
    """Return consecutive folded cells as one, so that the reader unfolds one piece of code."""
    first = run[0]
    first.source = "\n\n".join(cell.source for cell in run)
    first.outputs = [output for cell in run for output in cell.outputs]
    return first


def without_delay(cells):
    """Return cells with the imports, folded at the top, moved down to the next code."""
    runs = [list(run) for _, run in itertools.groupby(cells, key=lambda cell: cell.cell_type)]
    code = [place for place, run in enumerate(runs) if run[0].cell_type == "code"]
    if len(code) > 1 and all(is_folded(cell) and not cell.outputs for cell in runs[code[0]]):
        runs[code[1]] = runs[code[0]] + runs[code[1]]
        del runs[code[0]]
    return list(itertools.chain.from_iterable(runs))


def printable(output, folder):
    """Return an output, a table as the committed one; an error or a live widget is refused."""
    kinds = output.get("data", {})
    if "text/markdown" in kinds and (table := TABLE.match(kinds.get("text/plain", ""))):
        kinds["text/markdown"] = (ROOT / "figures" / folder / table["name"]).read_text()
    if output.output_type == "error" or any("widget" in kind for kind in kinds):
        raise ValueError(f"the book cannot print this output: {output.get('ename') or ', '.join(kinds)}")
    return output


@functools.cache
def glossary():
    """Return the terms of the glossary in lower case, each with its spelling."""
    text = (ROOT / "book/glossary.md").read_text(encoding="utf-8").split("```{glossary}\n")[1]
    return {term.lower(): term for term in re.findall(r"^(\S.*)$", text, re.MULTILINE)}


def linked(found):
    """Return a term that a lesson introduces as a link to the glossary."""
    named = found[1].lower().removeprefix("the ")
    term = glossary().get(named) or glossary().get(named.removesuffix("s"))
    return f"**{{term}}`{found[1]} <{term}>`**" if term else found[0]


def page(notebook, folder, name):
    """Return an executed lesson as the book shows it; an error or a live widget is refused.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Executed.
    folder : str
        Folder of its figures below ``figures/``; empty for those that stand there.
    name : str
        Its file, which the page offers for download.
    """
    written = [one for one in notebook.cells if "injected-parameters" not in one.metadata.get("tags", [])]
    cells = []
    for hidden, run in itertools.groupby(without_delay(written), key=is_folded):
        for cell in [joined(list(run))] if hidden else run:
            figures = [figure_of(output) for output in cell.get("outputs", [])]
            cells.append(cell)
            if cell.cell_type == "markdown":
                source = TERM.sub(linked, cell.source).replace("](../../book/", "](../../")
                source = re.sub(r"\]\(\.\./figures/README\.md[^)]*", "](../gallery.md", source)
                cell.source = re.sub(r"(\]\(\.\./figures/\w+)\.md", r"\1.csv", source)
            if cell.cell_type == "code":
                cell.outputs = [printable(one, folder) for one in cell.outputs if not figure_of(one)]
                cell.metadata = {"tags": ["hide-input"]} if hidden else {}
            cells += [nbformat.v4.new_markdown_cell(as_figure(one, folder)) for one in figures if one]
    up = "../" * (2 if folder else 1)
    offer = f"{{download}}`Download this notebook <{up}downloads/{name}>`"
    cells.append(nbformat.v4.new_markdown_cell(offer))
    notebook.metadata.pop("widgets", None)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    notebook.cells = cells
    return notebook

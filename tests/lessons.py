"""Runs a lesson as its reader does: all cells in one namespace, pictures drawn when a control moves."""

import base64
import os
import tempfile
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import matplotlib.pyplot as plt
import nbformat

import run_notebook
import viz

LESSONS = sorted((Path(__file__).parents[1] / "notebooks/course").glob("*.ipynb"))
NUMBERED = {int(path.stem[:2]): path for path in LESSONS}


@dataclass
class Run:
    """One run: what each cell left behind, and the panels with the pictures of the moment they appeared."""

    sources: list
    prose: str
    states: list = field(default_factory=list)
    panels: list = field(default_factory=list)
    theme: dict = field(default_factory=dict)

    def after(self, text):
        """Return the names as they were after the one cell that contains the text."""
        (place,) = (place for place, source in enumerate(self.sources) if text in source)
        return SimpleNamespace(**self.states[place])

    def moved(self):
        """Move every control to its ends, one at a time; yield where, the picture then and the one now."""
        for controls, panel, pictures in self.panels:
            words, image = panel.children[1:]
            for name, option in pictures:
                with plt.rc_context(self.theme):
                    start, controls[name].index = controls[name].index, option
                yield words.value, pictures[name, option], shown_by(image) or words.value
                controls[name].index = start


def explored(panels, draw, controls):
    """Make a panel, and draw what its controls will show at their ends."""
    panel, pictures = viz_explore(draw, **controls), {}
    values = {name: control.value for name, control in controls.items()}
    for name, control in controls.items():
        for option in {0, len(control.options) - 1} - {control.index}:
            figure = draw(**values | {name: control.options[option][1]})
            pictures[name, option] = viz.picture_of(figure, dpi=150)
            plt.close(viz.figure_of(figure))
    panels.append((controls, panel, pictures))
    return panel


viz_explore = viz.explore


def shown_by(image):
    """Return the PNG of a panel's picture, empty if it shows none."""
    return base64.b64decode(image.value.partition("base64,")[2].partition('"')[0])


def folded(cell):
    """Whether a cell's source is hidden until a reader unfolds it."""
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


@contextmanager
def reading(path):
    """Stand where a reader's kernel stands; figures go to a folder of their own, and a theme ends with it."""
    plt.close("all")  # whatever another test has left open
    with tempfile.TemporaryDirectory() as folder, chdir(path.parent), plt.rc_context():
        quiet = {"SHUFFLELIB_FIGURES": folder, "SHUFFLELIB_FORMATS": "png", "TQDM_DISABLE": "1"}
        with mock.patch.dict(os.environ, quiet):
            os.environ.pop("SHUFFLELIB_FRAMES", None)
            yield


def copied(path):
    """Run the visible cells alone, as one who copies them into a new notebook."""
    names = {}
    with reading(path):
        for place, cell in enumerate(nbformat.read(path, as_version=4).cells):
            if cell.cell_type == "code" and not folded(cell):
                exec(compile(cell.source, f"{path.stem}, cell {place}", "exec"), names)
        plt.close("all")
    return names


@lru_cache(maxsize=8)
def run(path, *, profile="quick", edits=()):
    """Run a lesson; each edit is a text of one visible cell and what a reader writes in its place."""
    notebook = nbformat.read(path, as_version=4)
    parameters = run_notebook.chosen_parameters(path, profile, run_notebook.declared_parameters(notebook))
    code, prose = (
        [cell.source for cell in notebook.cells if cell.cell_type == kind] for kind in ("code", "markdown")
    )
    found = Run(code, "\n\n".join(prose))
    for old, new in edits:
        (place,) = (place for place, source in enumerate(found.sources) for _ in range(source.count(old)))
        found.sources[place] = found.sources[place].replace(old, new)
    tagged = next(cell.source for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    names = {}

    def explore(draw, /, **controls):
        return explored(found.panels, draw, controls)

    with reading(path), mock.patch.object(viz, "explore", explore):
        for source in found.sources:
            exec(compile(source, f"{path.stem}, cell {len(found.states)}", "exec"), names)
            if source == tagged:
                names |= parameters
            found.states.append(dict(names))
        found.theme = dict(plt.rcParams)
    assert plt.get_fignums() == [], "a figure is left open, and the next one would be drawn into it"
    return found

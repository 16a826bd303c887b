"""Publish figures: files of record are written anew only where a number moved or the picture changed.

    python tools/publish.py build/full/.ideas figures/ideas build/full/ideas.drawn tools/draw_ideas.py

Another processor gives other last digits, and so other bytes.  The files of a figure stay as they are while
all numbers in its CSV agree to a relative 1e-7, everything else in it is equal, and no pixel of its picture
differs by more than two of 255 levels.  A file that is not there is added.  Files that are not compared are
moved first, so that a run which is killed in between leaves a difference for the next one to see.
"""

import itertools
import os
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageSequence

import check_figures
import needs

MOVED = 1e-7  # relative
ROUNDED = 2e-5  # of the six digits that a table in Markdown shows
LEVELS = 2  # of 255
COMPARED = {".csv", ".png", ".gif", ".md"}


def pictures(path):
    """Return the frames of a picture as arrays of signed numbers."""
    with Image.open(path) as image:
        return [np.asarray(frame.convert("RGBA"), dtype=int) for frame in ImageSequence.Iterator(image)]


def headline(path):
    """Return the title that a picture holds, which is its headline."""
    with Image.open(path) as image:
        return image.info.get("Title", "")


def same_picture(one, other):
    """Whether two pictures show the same under the same title."""
    if headline(one) != headline(other):
        return False
    pairs = list(itertools.zip_longest(pictures(one), pictures(other)))
    alike = all(old is not None and new is not None and old.shape == new.shape for old, new in pairs)
    return alike and all(np.abs(old - new).max() <= LEVELS for old, new in pairs)


def same_table(one, other):
    """Whether two tables in Markdown show the same."""
    cells = (path.read_text(encoding="utf-8").replace("\n", "|").split("|") for path in (one, other))
    return all(
        old is not None and new is not None and check_figures.same(old.strip(), new.strip(), ROUNDED)
        for old, new in itertools.zip_longest(*cells)
    )


def change(old, new):
    """Return in words how a file that is there differs from the new one, or None."""
    try:
        if old.suffix == ".csv":
            return check_figures.difference(old, new, MOVED)
        same = {".png": same_picture, ".gif": same_picture, ".md": same_table}.get(old.suffix)
        return None if same is None or same(old, new) else "drawn differently"
    except (OSError, ValueError, IndexError, SyntaxError):
        return "was damaged"


def publish(drawn, figures):
    """Move the files of a folder to their places; return a sentence for each figure that is written anew."""
    said = []
    for name, files in itertools.groupby(sorted(drawn.iterdir()), lambda file: file.stem):
        files = [(figures / file.name, file) for file in files]
        files.sort(key=lambda pair: pair[0].suffix in COMPARED)
        there = [(old, new) for old, new in files if old.exists()]
        reason = next(filter(None, itertools.starmap(change, there)), None) if there else "is new"
        for old, new in files:
            if reason or not old.exists():
                os.replace(new, old)
        said += [f"{figures / name}: {reason}"] if reason else []
    return said


if __name__ == "__main__":
    drawn, figures, target, script = map(Path, sys.argv[1:])
    figures.mkdir(parents=True, exist_ok=True)
    needs.record(target, needs.rule(target, script), publish(drawn, figures))

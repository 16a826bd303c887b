"""Numbers in sentences: what is at most, at least or a range is rounded to the safe side."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/**/*.ipynb"))
BEFORE = re.compile(r"\b(up to|at most|at least|within|no more than|less than|more than)\s*$", re.IGNORECASE)
ROUNDED = re.compile(r"\.\d+[efg%]?$")  # a format that rounds to the nearest number


def sentences(source):
    """Yield the parts of each formatted sentence: text, and fields that are filled."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield node.values
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield template(node.value)


def template(text):
    """Split a text for ``str.format`` into text and formats, as if it were a formatted sentence."""
    for part in re.split(r"(\{\w*:[^{}]+\})", text):
        yield part.removeprefix("{").removesuffix("}") if part[:1] == "{" else ast.Constant(part)


def nearest(field):
    """Return whether a field rounds to the nearest number."""
    if isinstance(field, str):
        return bool(ROUNDED.search(field))
    if not isinstance(field, ast.FormattedValue):
        return False
    form = ast.unparse(field.format_spec)[2:-1] if field.format_spec else ""
    called = field.value.func if isinstance(field.value, ast.Call) else None
    return bool(ROUNDED.search(form)) or getattr(called, "attr", "") == "digits"


def wrong(source):
    """Yield each sentence in which a number after such words, or at an end of a range, is rounded so."""
    for parts in sentences(source):
        parts = list(parts)
        for k, field in enumerate(parts):
            said = [part.value if isinstance(part, ast.Constant) else "" for part in parts]
            after = k and BEFORE.search(said[k - 1])
            ranged = k + 2 < len(parts) and said[k + 1].strip() in ("to", "% to") and nearest(parts[k + 2])
            if nearest(field) and (after or ranged):
                yield "".join(text or "{…}" for text in said)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_sentence_of_a_notebook_says_less_than_its_data(path):
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert [one for source in code for one in wrong(source)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('f"multiplies ε by up to {1 + each:.0f}"', 1),
        ('f"{off.min():.2g} to {off.max():.2g} times"', 1),
        ('f"At most {viz.digits(x, 2)} %"', 1),
        ('"up to {:.0f} % apart"', 1),
        ('f"At most {viz.digits(x, 2)} %, {viz.at_most(x, 2)}"', 1),
        ('f"up to {viz.at_most(each, 2)}, {viz.span(times)} times, at most {n:,} users"', 0),
        ('print(f"at most {x:.2g}, at least {y:.4f}")', 2),
    ],
)
def test_a_sentence_that_rounds_to_nearest_is_found(source, found):
    assert len(list(wrong(source))) == found

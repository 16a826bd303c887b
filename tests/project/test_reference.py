"""The reference that is readable without building the book: every public name once, typed, up to date."""

import re
from pathlib import Path

import pytest

import book_pages
import reference
import shufflelib

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book/reference.md"
TEXT = PAGE.read_text(encoding="utf-8")
MODULES = [shufflelib, *book_pages.public_modules((ROOT / "book/bounds.md").read_text(encoding="utf-8"))]


def test_it_says_what_the_docstrings_say():
    assert reference.page() == TEXT, "stale: run .venv/bin/python tools/metadata.py"


def test_it_has_every_public_name_once_and_every_module_in_its_contents():
    shown = re.findall(r"^- \[\*\*`(\w+)`\*\*\]", TEXT, re.MULTILINE)
    things = {id(getattr(module, name)) for module in MODULES for name in book_pages.public_names(module)}
    assert len(shown) == len(things) > 200
    for module in MODULES:
        anchor = module.__name__.replace(".", "")
        assert f"](#{anchor}): " in TEXT and f"\n## {module.__name__}\n" in TEXT
    assert len(TEXT.splitlines()) <= 1500


def test_its_links_lead_to_files():
    links = set(re.findall(r"\]\((\.\.[^)]*)\)", TEXT))
    assert len(links) > 50 and all((PAGE.parent / link).is_file() for link in links)


@pytest.mark.parametrize(
    "line",
    [
        "- [**`generalized_rr`**](../shufflelib/randomizers/response.py) "
        "`(*, eps0: float = None, d: int, redraw: float | None = None)`",
        "  - `.epsilon` `(delta: float) -> Certified[float]`",
        "  <br><small>`d01, dmax`: How far one user may move, and largest distance of the other users to "
        "both places, in nats; 1e-9 <= d01 <= dmax <= 100</small>",
    ],
)
def test_types_are_short_and_domains_are_kept(line):
    assert line in TEXT.splitlines()

"""The page's HTML: files of the folder static, in which names like $this are filled in."""

import string
from pathlib import Path

STATIC = Path(__file__).parent / "static"


def fill(file, /, **words):
    """Return a file's text with its names filled in."""
    return string.Template((STATIC / file).read_text(encoding="utf-8")).substitute(words)

"""The words of a page."""

import html
import re


def plain(page):
    """Return the text that a reader sees, on one line."""
    page = re.sub(r"(?s)<style>.*?</style>|<[^>]+>", " ", page)
    return html.unescape(re.sub(r"\s+", " ", page))

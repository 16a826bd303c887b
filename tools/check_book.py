"""Check a built book: internal links resolve, pictures have alternative text, nothing comes from outside.

    python tools/check_book.py build/book

Links to other sites are only listed (``--external``): whether they answer is not a property of the book.
"""

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src"}
STYLE_URL = re.compile(r"""(?:url\(|@import\s+)["']?(https?:)?//""")


class Page(HTMLParser):
    """The anchors of one page, its links, what it loads, and pictures without alternative text."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.undescribed = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Collect one element."""
        attributes = dict(attrs)
        self.anchors.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag == "link" and attributes.get("href") and attributes.get("rel") not in ("canonical", "author"):
            self.loaded.append(attributes["href"])
        if attributes.get(LOADED.get(tag)):
            self.loaded.append(attributes[LOADED[tag]])
        if tag == "img" and not (attributes.get("alt") or "").strip():
            self.undescribed.append(attributes.get("src", ""))


def outside(address):
    """Whether an address leaves the book."""
    parts = urlsplit(address)
    return parts.scheme in ("http", "https", "mailto") or bool(parts.netloc)


def faults(book):
    """Return what is wrong with a book in a folder, one line each, and the links that leave it."""
    written = [path.resolve() for path in sorted(book.rglob("*.html"))]
    pages = {path: Page(path.read_text()) for path in written}
    found, leaving = [], set()
    for path, page in pages.items():
        name = path.relative_to(book.resolve())
        found += [f"{name}: picture without words: {source}" for source in page.undescribed]
        found += [f"{name}: loaded from outside: {address}" for address in page.loaded if outside(address)]
        leaving.update(address for address in page.links if outside(address))
        for address in (*page.links, *page.loaded):
            parts = urlsplit(address)
            if outside(address) or parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                found.append(f"{name}: leads nowhere: {address}")
    for path in sorted(book.rglob("*.css")):
        if STYLE_URL.search(path.read_text()):
            found.append(f"{path.relative_to(book)}: a style loaded from outside")
    if not pages:
        found.append(f"{book}: no page at all")
    return found, sorted(leaving)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("book", type=Path, help="folder of the built pages")
    arguments.add_argument("--external", action="store_true", help="list the links that leave the book")
    given = arguments.parse_args()
    wrong, leaving = faults(given.book)
    if given.external:
        print("\n".join(leaving))
    if wrong:
        sys.exit("\n".join(["error: the book has faults", *wrong]))
    print(f"{given.book}: every link inside leads somewhere; {len(leaving)} links lead out")

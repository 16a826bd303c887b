"""The papers item by item: what each prints, the claims that judge it, and the figure or table that shows it.

``items.toml`` lists every numbered item of a work in the order of its pages.
"""

import csv
import io
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import claims
from claims.claim import QUICK, Verdict, checked
from shufflelib.numerics import validation
from shufflelib.numerics.optional import progress

WORST = [Verdict.REFUTED, Verdict.NOT_REPRODUCIBLE, Verdict.NOT_DECIDED, Verdict.SMALLER, Verdict.HOLDS]


class Item(NamedTuple):
    """One numbered item of a work.

    Attributes
    ----------
    work : str
        Such as ``wang24``.
    name : str
        Such as ``Theorem 4.7``.
    prints : str
        What the paper prints, in a few words.
    claims : tuple of str
        The claims of the ledger that judge it.
    shown : tuple of str
        Our figures and tables, names of files below ``figures/papers``.
    note : str
        Why ours deviates, or why an item cannot be judged; empty for most.

    Examples
    --------
    >>> from claims import items
    >>> items.of("wang24")[7].name
    'Theorem 4.1'
    """

    work: str
    name: str
    prints: str
    claims: tuple = ()
    shown: tuple = ()
    note: str = ""

    @property
    def verdict(self):
        """The worst verdict among its claims; "shown" for a definition or a picture without a claim."""
        found = {claims.named(name).verdict for name in self.claims}
        return next((str(verdict) for verdict in WORST if verdict in found), "shown")


def _read():
    source = tomllib.loads((Path(__file__).parent / "items.toml").read_text(encoding="utf-8"))
    lists = ("claims", "shown")
    return tuple(
        Item(work=work, **{key: tuple(value) if key in lists else value for key, value in entry.items()})
        for work, entries in source.items()
        for entry in entries
    )


ALL = _read()


def of(work):
    """Return the items of one work in the order of its pages.

    Parameters
    ----------
    work : str
        Such as ``wang24``.

    Raises
    ------
    ValueError
        If no such work is listed.
    """
    found = tuple(item for item in ALL if item.work == work)
    if not found:
        known = ", ".join(dict.fromkeys(item.work for item in ALL))
        raise ValueError(f"work must be one of {known}, got {validation.shown(work)}")
    return found


class CheckedItem(NamedTuple):
    """An item of a work after the checks of its claims; a notebook shows them as a list.

    Attributes
    ----------
    item : Item
        What was checked.
    results : tuple of claims.claim.Result
        One for each of its claims.
    """

    item: Item
    results: tuple

    @property
    def row(self):
        """What the paper prints, what we get, the verdict, and where it is shown, as a mapping."""
        ours = [*(result.evidence for result in self.results), *[self.item.note] * bool(self.item.note)]
        return {
            "item": self.item.name,
            "paper": self.item.prints,
            "ours": "; ".join(ours),
            "verdict": self.item.verdict,
            "where": ", ".join(self.item.shown),
        }

    def _repr_markdown_(self):
        lines = []
        for result in self.results:
            lines.append(f"- **{result.verdict}** `{result.id}` {escaped(result.claim.statement)}")
            lines.append(f"  *Found:* {escaped(result.evidence)}.")
            if result.claim.reading:
                lines.append(f"  *Reading:* {escaped(result.claim.reading)}")
        return "\n".join([*lines, *[escaped(self.item.note)] * bool(self.item.note)])


def escaped(text):
    r"""Return text in which Markdown sees no formula, emphasis or table.

    Examples
    --------
    >>> from claims import items
    >>> print(items.escaped("a*b in [0, 1] costs $2"))
    a\*b in \[0, 1\] costs \$2
    """
    return re.sub(r"([\\`*_{}\[\]<>#|$~^])", r"\\\1", " ".join(text.split()))


def check(work, effort=QUICK):
    """Check the claims of one work, item by item, with a progress bar where somebody watches.

    Parameters
    ----------
    work : str
        Such as ``wang24``.
    effort : Effort
        How hard each check tries.

    Returns
    -------
    dict
        Name of each item, in the order of the pages -> `CheckedItem`.

    Raises
    ------
    RuntimeError
        If a check finds another verdict than the ledger.
    """
    found = {}
    for item in progress(of(work)):
        results = tuple(checked(claims.named(name), effort) for name in item.claims)
        if wrong := [result.id for result in results if not result.agrees]:
            raise RuntimeError(f"the ledger and its checks disagree about {', '.join(wrong)}")
        found[item.name] = CheckedItem(item, results)
    return found


def index():
    """Return the index of all works as CSV: work, item, verdict, our figure or table, the command for it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["work", "item", "verdict", "shown", "command"])
    for item in ALL:
        command = f"python -m claims --paper {item.work}"
        if item.shown:
            command = f"make build/full/papers/{item.shown[0].partition('_')[0]}.ipynb"
        writer.writerow([item.work, item.name, item.verdict, " ".join(item.shown), command])
    return out.getvalue()

"""The papers item by item: what each prints, the claims that judge it, and the figure or table that shows it.

``items.toml`` lists every numbered item of a work in the order of its pages.
"""

import csv
import io
import tomllib
from pathlib import Path
from typing import NamedTuple

import claims
from claims.claim import QUICK, Verdict, checked
from shufflelib.numerics import validation

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
    section : str
        Heading of the section that shows it in the paper's notebook; empty where the ledger says all.
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
    section: str = ""
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


def table(work, effort=QUICK):
    """Check the claims of one work and return its table: what it prints, what we get, verdict, where.

    Parameters
    ----------
    work : str
        Such as ``wang24``.
    effort : Effort
        How hard each check tries.

    Returns
    -------
    list of dict
        One row for each item, with the keys ``item``, ``paper``, ``ours``, ``verdict`` and ``where``.

    Raises
    ------
    RuntimeError
        If a check finds another verdict than the ledger.
    """
    rows = []
    for item in of(work):
        results = [checked(claims.named(name), effort) for name in item.claims]
        if wrong := [result.id for result in results if not result.agrees]:
            raise RuntimeError(f"the ledger and its checks disagree about {', '.join(wrong)}")
        ours = [f"{result.evidence}" for result in results] + [item.note] * bool(item.note)
        rows.append(
            {
                "item": item.name,
                "paper": item.prints,
                "ours": "; ".join(ours),
                "verdict": item.verdict,
                "where": ", ".join([item.section, *item.shown]).strip(", "),
            }
        )
    return rows


def index():
    """Return the index of all works as CSV: work, item, verdict, our figure or table, the command for it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["work", "item", "verdict", "shown", "command"])
    for item in ALL:
        command = (
            f"make build/full/papers/{item.work}.ipynb"
            if item.shown
            else f"python -m claims --paper {item.work}"
        )
        writer.writerow([item.work, item.name, item.verdict, " ".join(item.shown), command])
    return out.getvalue()

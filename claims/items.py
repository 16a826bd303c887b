"""Papers and deployed systems item by item: what each prints, its claim, our figure or table.

``items.toml`` lists every numbered item of a work in the order of its pages.
"""

import csv
import io
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import claims
from claims import works
from claims.claim import QUICK, Verdict, checked
from shufflelib.numerics import validation
from shufflelib.numerics.optional import progress


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
        The claim of the ledger that judges its own statement; one for each part of a table, figure or list.
    unit : str
        What the parts are called where there are several, such as ``rows``.
    beside : tuple of str
        What else the ledger judges nearby: a remark, a line of the proof, the released code.  Does not decide
        the verdict.
    shown : tuple of str
        Our figures and tables, names of files in its `figures`.
    stated : str
        What stands in place of a verdict where nothing is claimed, such as ``a definition``.
    note : str
        Why ours deviates, or why an item cannot be judged; empty for most.

    Examples
    --------
    >>> from claims import items
    >>> items.of("wang24")[12].name
    'Theorem 4.1'
    >>> {item.name: item.verdict for item in items.of("wang24")}["Table 1"]
    '11 of 12 rows hold, 1 refuted'
    """

    work: str
    name: str
    prints: str
    claims: tuple = ()
    unit: str = ""
    beside: tuple = ()
    shown: tuple = ()
    stated: str = ""
    note: str = ""

    @property
    def verdict(self):
        """That of its own statement; how many parts hold where they differ; "shown" without a claim."""
        counts = Counter(claims.named(name).verdict for name in self.claims)
        if not counts:
            return self.stated or "shown"
        if len(counts) == 1:
            return str(next(iter(counts)))
        held = f"{counts.pop(Verdict.HOLDS, 0)} of {len(self.claims)} {self.unit} hold"
        others = (
            f"{counts[verdict]} {verdict.removeprefix('holds ')}" for verdict in Verdict if verdict in counts
        )
        return ", ".join([held, *others])

    @property
    def label(self):
        """What qualifies its verdict, from the claims that have it; empty for most."""
        return "; ".join(dict.fromkeys(filter(None, (claims.named(name).label for name in self.claims))))

    @property
    def published(self):
        """Its number in the published version, where that differs from the version that was read."""
        return works.PVLDB.get(self.name, "") if self.work == "wang24" else ""

    @property
    def notebook(self):
        """The notebook that shows it."""
        return f"notebooks/{_folder(self.work)}{self.work}.ipynb"

    @property
    def figures(self):
        """The files that show it."""
        return [f"figures/{_folder(self.work)}{name}.*" for name in self.shown]

    @property
    def cell(self):
        """The notebook and the heading in it."""
        return f"{self.notebook}#{quote(self.name.replace(' ', '-'), safe=':()')}"


def _folder(work):
    return "" if work == "deployed" else "papers/"


def _read():
    source = tomllib.loads((Path(__file__).parent / "items.toml").read_text(encoding="utf-8"))
    lists = ("claims", "beside", "shown")
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
    beside : tuple of claims.claim.Result
        One for each claim beside it.
    """

    item: Item
    results: tuple
    beside: tuple = ()

    @property
    def row(self):
        """What the paper prints, what we get, the verdict, and where it is shown, as a mapping."""
        ours = [*(result.evidence for result in self.results), *[self.item.note] * bool(self.item.note)]
        return {
            "item": self.item.name,
            "paper": self.item.prints,
            "ours": "; ".join(ours),
            "verdict": self.item.verdict,
            "label": self.item.label,
            "beside": "; ".join(f"{result.id} {labelled(result.claim)}" for result in self.beside),
            "where": ", ".join(self.item.shown),
        }

    def _repr_markdown_(self):
        lines = [line for result in self.results for line in _listed(result)]
        if self.beside:
            lines += ["", "Beside it:", "", *(line for result in self.beside for line in _listed(result))]
        return "\n".join([*lines, *[escaped(self.item.note)] * bool(self.item.note)])


def labelled(claim):
    """Return the verdict of a claim, with what qualifies it.

    Examples
    --------
    >>> import claims
    >>> from claims import items
    >>> items.labelled(claims.named("ccg24-corollary-1"))
    'holds (true but vacuous)'
    """
    return f"{claim.verdict}" + (f" ({claim.label})" if claim.label else "")


def _listed(result):
    """Yield the lines of one result as an entry of a list."""
    yield f"- **{labelled(result.claim)}** `{result.id}` {escaped(result.claim.statement)}"
    if result.claim.place:
        yield f"  *Place:* “{escaped(result.claim.place)}”"
    yield f"  *Found:* {escaped(result.evidence)}."
    if result.claim.basis:
        yield f"  *Rests on:* {escaped(result.claim.basis)}."
    if result.claim.reading:
        yield f"  *Reading:* {escaped(result.claim.reading)}"


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
        results, beside = (
            tuple(checked(claims.named(name), effort) for name in names)
            for names in (item.claims, item.beside)
        )
        if wrong := [result.id for result in results + beside if not result.agrees]:
            raise RuntimeError(f"the ledger and its checks disagree about {', '.join(wrong)}")
        found[item.name] = CheckedItem(item, results, beside)
    return found


COLUMNS = "work,title,arXiv,item,published as,verdict,label,claims,beside,shown,notebook,command".split(",")


def index():
    """Return the index of all works as CSV, one item in a row.

    The claims are those of its own statement; beside them are the verdicts of what else is judged nearby.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in ALL:
        prefix = item.work if item.work in works.LISTED else (*item.claims, "")[0].split("-")[0]
        work = works.LISTED.get(prefix, works.Work("", ""))
        command = f"python -m claims --paper {item.work}"
        if len(item.claims) == 1:
            command = f"python -m claims {item.claims[0]}"
        if not item.claims and item.shown:
            notebook = item.shown[0].partition("_")[0]
            command = f"make build/full/{_folder(notebook)}{notebook}.ipynb"
        beside = "; ".join(f"{name} {labelled(claims.named(name))}" for name in item.beside)
        cells = [item.work, work.title, work.arxiv, item.name, item.published, item.verdict, item.label]
        cells += [" ".join(item.claims), beside, " ".join(item.shown), item.cell, command]
        writer.writerow(cells)
    return out.getvalue()

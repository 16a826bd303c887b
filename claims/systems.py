"""Deployed systems: what leaves a device, what the analyst sees, what is printed, and where that was read.

The facts are those of ``deployed.toml``; what is proved about them is computed where it is shown, and the
claims about them are checked in the folder ``deployed``.

Examples
--------
>>> from claims import systems
>>> systems.SYSTEMS["enpa"]["neighbours"]
'not named'
>>> systems.SYSTEMS["enpa"]["figure_2"][100_000][1e-5]
0.84
"""

import tomllib
from pathlib import Path

from claims.claim import Verdict

# Verdicts on printed numbers, and that of the ledger where it has a claim.
VERDICTS = {
    "holds as read": Verdict.HOLDS,
    "holds for another relation": Verdict.SMALLER,
    "does not hold, with witness": Verdict.REFUTED,
    "not enough said": Verdict.NOT_DECIDED,
    "no guarantee printed": None,
}
COLUMNS = {
    "system": "system",
    "leaves": "what leaves the device",
    "sees": "what the analyst sees",
    "neighbours": "neighbours",
    "printed": "printed",
}
DELTAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of the columns of Figure 2

SYSTEMS = tomllib.loads((Path(__file__).parent / "deployed.toml").read_text(encoding="utf-8"))
UNVERIFIABLE = SYSTEMS.pop("unverifiable")
LISTED = (*SYSTEMS, *UNVERIFIABLE)  # first parts of the names of claims
SYSTEMS["enpa"]["figure_2"] = {
    int(n): dict(zip(DELTAS, row, strict=True)) for n, row in SYSTEMS["enpa"]["figure_2"].items()
}


def table(proved):
    """Return the rows of the table of systems, as mappings.

    Parameters
    ----------
    proved : dict of str to str
        Name of a system -> what is proved about it, both ends.
    """
    return [
        {title: one[key] for key, title in COLUMNS.items()}
        | {"proved, both ends": proved[name], "verdict": _in_words(one)}
        for name, one in SYSTEMS.items()
    ]


def _in_words(one):
    """Return a verdict with the reading that it belongs to, if there is a number to judge."""
    return one["verdict"] + (f": {one['reading']}" if VERDICTS[one["verdict"]] else "")


def sources():
    """Return where the facts about each system stand, and how far that was read, as mappings."""
    return [{"system": one["system"]} | one["source"] for one in SYSTEMS.values()]


def unverifiable():
    """Return the numbers that public text does not suffice to compute, as mappings."""
    titles = {"missing": "what would have to be printed"}
    return [
        {titles.get(key, key): text for key, text in one.items()} | {"verdict": "not enough said"}
        for one in UNVERIFIABLE.values()
    ]

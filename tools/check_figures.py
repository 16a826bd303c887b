"""Compare the data behind two folders of figures: every CSV, number by number.

    python tools/check_figures.py figures build/check/figures

Numbers may differ by a relative 1e-6, everything else must be equal.  Files named ``_mnist`` that a build
without that data did not make are left out.  Exit status 1 on any difference.
"""

import csv
import math
import sys
from itertools import zip_longest
from pathlib import Path

TOLERANCE = 1e-6


def entries(path):
    """Return label -> text of everything in a CSV that can be compared, the header lines included."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line.removeprefix("#").partition(":") for line in lines if line.startswith("#")]
    table = list(csv.reader(line for line in lines if not line.startswith("#")))
    columns, rows = table[0], table[1:]
    found = {key.strip(): value.strip() for key, _, value in head}
    for number, row in enumerate(rows, start=1):
        for column, value in zip_longest(columns, row, fillvalue=""):
            found[f"row {number}, {column}"] = value
    return found


def same(one, other, tolerance):
    """Whether two entries agree: as numbers within a relative tolerance, else as text."""
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=tolerance)
    except (TypeError, ValueError):
        return False


def difference(expected, found, tolerance):
    """Return in words how two CSV files differ, or None."""
    old, new = entries(expected), entries(found)
    wrong = [key for key in old | new if not same(old.get(key), new.get(key), tolerance)]
    if wrong:
        first = wrong[0]
        change = f"{first}: {old.get(first)} became {new.get(first)}"
        return f"{len(wrong)} entries differ, first {change}"
    return None


def differences(expected, found):
    """Yield one sentence per file that differs between two folders."""
    names = {str(path.relative_to(folder)) for folder in (expected, found) for path in folder.rglob("*.csv")}
    for name in sorted(names):
        if name.endswith("_mnist.csv") and not (found / name).exists():
            continue
        for folder in (expected, found):
            if not (folder / name).exists():
                yield f"{name}: not in {folder}"
                break
        else:
            if change := difference(expected / name, found / name, TOLERANCE):
                yield f"{name}: {change}"


if __name__ == "__main__":
    committed, rebuilt = map(Path, sys.argv[1:])
    report = list(differences(committed, rebuilt))
    count = len(list(committed.rglob("*.csv")))
    print("\n".join(report) or f"ok: {count} files of data agree to a relative {TOLERANCE:g}")
    sys.exit(bool(report))

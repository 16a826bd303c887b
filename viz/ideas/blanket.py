"""The privacy blanket: the part that all output distributions of a randomizer have in common."""

import math

import numpy as np

from shufflelib.numerics.validation import weights
from viz.ideas.canvas import (
    COLOURS,
    INK,
    LABEL,
    NOTE,
    SHARED,
    WIDTH,
    labels,
    numbers,
    page,
    whole_numbers,
)

HEIGHT = 3.5
LEFT, RIGHT = 0.95, WIDTH - 1.35  # inches: the bars stand between them
INPUTS, OUTPUTS, REPORTS = range(2, 5), range(2, 13), range(1, 101)  # that fit into the picture


def draw_blanket(pmf, *, inputs=None, outputs=None, reports=None, from_floor=None, finding=None, setting=""):
    """Draw the output distributions of a randomizer over the blanket, and reports from it in grey.

    Parameters
    ----------
    pmf : array_like, shape (k, m)
        Probability of each output, one row for each input; two to four rows, at most twelve columns.
    inputs, outputs : iterable of str, optional
        Their names.
    reports : array_like of int, shape (n,), optional
        Outputs of n users, counted from 0.
    from_floor : array_like of bool, shape (n,), optional
        Which of them were drawn from the blanket.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_blanket([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    >>> wishes(fig).headline
    'With probability 60 % a report is drawn without regard to the value: from the blanket'
    """
    pmf = numbers(pmf, "pmf", INPUTS, OUTPUTS)
    pmf = np.array([weights(row, "pmf", row.size) for row in pmf])
    inputs = labels(inputs, "inputs", len(pmf))
    outputs = labels(outputs, "outputs", pmf.shape[1])
    if (reports is None) != (from_floor is None):
        name = "reports" if reports is None else "from_floor"
        raise ValueError(f"{name} must be given with the other, got None; pass both or neither")
    if reports is not None:
        reports = whole_numbers(reports, "reports", REPORTS, below=pmf.shape[1])
        from_floor = whole_numbers(from_floor, "from_floor", len(reports), below=2).astype(bool)
    floor = pmf.min(axis=0)
    share = f"{100.0 * math.fsum(floor):.3g} %"
    found = f"With probability {share} a report is drawn without regard to the value: from the blanket"
    ax, top = page(HEIGHT, finding, found, setting)
    base = 0.95 if reports is not None else 0.4
    height = (top - base - 0.05) / len(pmf)
    bottoms = base + height * np.arange(len(pmf))[::-1]
    tall = height - 0.12
    wide = (RIGHT - LEFT) / pmf.shape[1]
    middles = LEFT + wide * (np.arange(pmf.shape[1]) + 0.5)
    for colour, name, row, bottom in zip(COLOURS, inputs, pmf, bottoms, strict=False):
        inches = tall / pmf.max()
        ax.bar(middles, inches * floor, width=0.78 * wide, bottom=bottom, **SHARED)
        ax.bar(middles, inches * (row - floor), 0.78 * wide, bottom + inches * floor, color=colour, lw=0)
        ax.plot((LEFT, RIGHT), (bottom, bottom), color="0.2", lw=0.8)
        ax.text(LEFT - 0.1, bottom + tall / 2, f"value {name}", ha="right", va="center", fontsize=LABEL)
        own = f"{100.0 * math.fsum(row - floor):.3g} % depends\non the value"
        beside = {"va": "center", "fontsize": NOTE}
        ax.text(RIGHT + 0.1, bottom + 0.7 * tall, own, color=colour, weight="bold", **beside)
        ax.text(RIGHT + 0.1, bottom + 0.16 * tall, f"{share} blanket", color="0.3", **beside)
    below = {"va": "top", "fontsize": NOTE}
    for middle, name in zip(middles, outputs, strict=True):
        ax.text(middle, base - 0.05, name, ha="center", **below)
    ax.text(LEFT - 0.1, base - 0.05, "report", ha="right", color="0.35", **below)
    ax.text(RIGHT + 0.1, base - 0.05, "blanket: hatched", color="0.3", **below)
    if reports is not None:
        _draw_reports(ax, from_floor)
    return ax.figure


def _draw_reports(ax, from_floor):
    """Draw reports as dots: grey from the blanket, in a colour where they depend on the value."""
    n, grey = len(from_floor), from_floor.sum()
    columns, size = (30, 49.0) if n <= 60 else (40, 30.0)
    x = LEFT + (WIDTH - 0.15 - LEFT) * (np.arange(n) % columns + 0.5) / columns
    y = 0.56 - 0.14 * (np.arange(n) // columns)
    ax.scatter(x[from_floor], y[from_floor], s=size, color="0.75", lw=0)
    ax.scatter(x[~from_floor], y[~from_floor], s=0.72 * size, marker="D", color=INK, lw=0)
    ax.text(LEFT - 0.1, 0.56, f"{n} reports", ha="right", va="center", fontsize=LABEL)
    said = f"by chance {grey} from the blanket, {n - grey} by the value (diamonds)"
    ax.text(LEFT, 0.05, said, fontsize=NOTE, color="0.25", va="bottom")

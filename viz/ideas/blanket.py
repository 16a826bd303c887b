"""The privacy blanket: the part that all output distributions of a randomizer have in common."""

import math

import numpy as np

from shufflelib.numerics.validation import weights
from shufflelib.plotting.labels import legible
from shufflelib.plotting.looks import VERMILLION
from shufflelib.plotting.style import style
from viz.ideas.canvas import (
    FLOOR,
    LABEL,
    NOTE,
    canvas,
    flags,
    labels,
    look_of,
    numbers,
    panel,
    whole_numbers,
)

HEIGHT = 3.4
LEFT, RIGHT = 0.95, 1.25  # inches beside the bars
INPUTS, OUTPUTS, REPORTS = range(2, 5), range(2, 13), range(1, 101)  # that fit into the picture


def draw_blanket(
    pmf, *, inputs=None, outputs=None, reports=None, from_floor=None, finding=None, setting="", fig=None
):
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
    >>> fig = ideas.draw_blanket([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    >>> fig.get_suptitle().strip()
    '60 % of all reports come from the blanket, whatever the value'
    """
    pmf = numbers(pmf, "pmf", INPUTS, OUTPUTS)
    pmf = np.array([weights(row, "pmf", row.size) for row in pmf])
    inputs = labels(inputs, "inputs", len(pmf))
    outputs = labels(outputs, "outputs", pmf.shape[1])
    reports, from_floor = _checked_reports(reports, from_floor, pmf.shape[1])
    floor = pmf.min(axis=0)
    share = f"{100.0 * math.fsum(floor):.3g} %"
    if finding is None:
        finding = f"{share} of all reports come from the blanket, whatever the value"
    fig, top = canvas(fig, HEIGHT, finding, setting)
    with style():
        ax = panel(fig, 0.0, 0.0, fig.get_figwidth(), top, plain=True)
        base = 0.95 if reports is not None else 0.32
        height = (top - base - 0.05) / len(pmf)
        bottoms = base + height * np.arange(len(pmf))[::-1]
        _draw_bars(ax, pmf, floor, bottoms, (height - 0.12) / pmf.max())
        _name_rows(ax, pmf, floor, inputs, outputs, bottoms, height)
        if reports is not None:
            _draw_reports(ax, reports, from_floor)
    return fig


def _checked_reports(reports, from_floor, kinds):
    if reports is None and from_floor is None:
        return None, None
    for name, values in (("reports", reports), ("from_floor", from_floor)):
        if values is None:
            raise ValueError(f"{name} must be given with the other, got None; pass both or neither")
    reports = whole_numbers(reports, "reports", REPORTS, below=kinds)
    return reports, flags(from_floor, "from_floor", len(reports))


def _middles(ax, kinds):
    """Return where the outputs stand, and how wide each is."""
    left, right = LEFT, ax.get_xlim()[1] - RIGHT
    return left + (right - left) * (np.arange(kinds) + 0.5) / kinds, (right - left) / kinds


def _draw_bars(ax, pmf, floor, bottoms, inches):
    """Draw a row of bars for each input: the blanket hatched, in colour the part above it."""
    middles, wide = _middles(ax, pmf.shape[1])
    for row, (masses, bottom) in enumerate(zip(pmf, bottoms, strict=True)):
        at = {"width": 0.78 * wide, "lw": 0}
        ax.bar(
            middles, inches * (masses - floor), bottom=bottom + inches * floor, color=look_of(row)[0], **at
        )
    across, up = np.meshgrid(middles, bottoms)
    heights = np.broadcast_to(inches * floor, across.shape).ravel()
    grey = {"width": 0.78 * wide, "color": FLOOR, "edgecolor": "0.45", "hatch": "////", "lw": 0.5}
    ax.bar(across.ravel(), heights, bottom=up.ravel(), **grey)
    ax.hlines(bottoms, LEFT, ax.get_xlim()[1] - RIGHT, colors="0.2", lw=0.8)


def _name_rows(ax, pmf, floor, inputs, outputs, bottoms, height):
    middles, _ = _middles(ax, pmf.shape[1])
    right = ax.get_xlim()[1] - RIGHT + 0.1
    for row, (name, masses, bottom) in enumerate(zip(inputs, pmf, bottoms, strict=True)):
        middle = bottom + (height - 0.12) / 2
        ax.text(LEFT - 0.1, middle, f"value {name}", ha="right", va="center", fontsize=LABEL)
        share = f"{100.0 * math.fsum(masses - floor):.3g} %"
        colour = legible(look_of(row)[0])
        bold = {"fontsize": NOTE, "fontweight": "bold", "color": colour, "va": "center"}
        ax.text(right, middle, f"{share} depends\non the value", **bold)
    for middle, name in zip(middles, outputs, strict=True):
        ax.text(middle, bottoms[-1] - 0.05, name, ha="center", va="top", fontsize=NOTE)
    ax.text(LEFT - 0.1, bottoms[-1] - 0.05, "report", ha="right", va="top", fontsize=NOTE, color="0.35")
    ax.text(right, bottoms[-1] - 0.05, "hatched: the same", va="top", fontsize=NOTE, color="0.35")


def _draw_reports(ax, reports, from_floor):
    """Draw reports as dots: grey from the blanket, in a colour where they depend on the value."""
    n = len(reports)
    columns, size = (30, 7.0) if n <= 60 else (40, 5.5)
    x = LEFT + (ax.get_xlim()[1] - 0.15 - LEFT) * (np.arange(n) % columns + 0.5) / columns
    y = 0.56 - 0.14 * (np.arange(n) // columns)
    ax.plot(x[from_floor], y[from_floor], "o", color="0.75", ms=size, ls="none")
    ax.plot(x[~from_floor], y[~from_floor], "D", color=VERMILLION, ms=0.85 * size, ls="none")
    ax.text(LEFT - 0.1, 0.56, f"{n} reports", ha="right", va="center", fontsize=LABEL)
    grey = from_floor.sum()
    said = f"circles: {grey} from the blanket; diamonds: {n - grey} depend on the value"
    ax.text(LEFT, 0.05, said, fontsize=NOTE, color="0.25", va="bottom")

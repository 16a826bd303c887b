"""The shuffle model at a glance: people, reports, shuffler, counts."""

from functools import partial

import numpy as np

from shufflelib.numerics.validation import count, real, shown
from viz.ideas.animation import gif
from viz.ideas.canvas import (
    BOLD,
    INK,
    LABEL,
    PALE,
    QUIET,
    WIDTH,
    dots,
    labels,
    page,
    smooth,
    whole_numbers,
)

PEOPLE, REPORTS, SHUFFLED, COUNTS = 0.55, 1.5, 3.2, 3.7  # inches from the left
BOX = (1.95, 2.85)  # left and right of the shuffler
END = WIDTH - 0.08
BASE = 0.42  # inches from the bottom
SHOWN = range(1, 41)  # people that fit into the picture
HEIGHT = 3.6


def draw_protocol(values, reports, order, *, names=None, you=0, stage=3.0, finding=None, setting=""):
    """Draw how people's values become reports, are shuffled, and are counted.

    Parameters
    ----------
    values : array_like of int, shape (n,)
        What each person holds, counted from 0; at most 40 people and 6 values.
    reports : array_like of int, shape (n,)
        What each person reports.
    order : array_like of int, shape (n,)
        Place of each person's report behind the shuffler, a permutation of 0 … n − 1.
    names : iterable of str, optional
        Names of the values.
    you : int
        The person who is marked, until the shuffler.
    stage : float
        From 0, only people, to 3, everything; in between the reports are on their way.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_protocol([0, 1, 1, 0], [0, 1, 0, 0], [2, 0, 3, 1], names=("no", "yes"))
    >>> wishes(fig).headline
    '1 of 4 reports is changed, and nobody can tell whose'
    """
    values = whole_numbers(values, "values", SHOWN, below=6)
    n = len(values)
    reports = whole_numbers(reports, "reports", n, below=6)
    order = whole_numbers(order, "order", n, below=n)
    if len(set(order.tolist())) < n:
        raise ValueError(f"order must name each place once, got {shown(order)}; pass rng.permutation({n})")
    names = labels(names, "names", int(max(values.max(), reports.max())) + 1, more=True)
    you = count(you, "you", at_least=0, at_most=n - 1, remedy="count people from 0")
    stage = real(stage, "stage", at_least=0.0, at_most=3.0, remedy="0 shows people only, 3 everything")
    changed = values != reports
    ax, top = page(HEIGHT, finding, _found(n, changed.sum(), stage), setting)
    height = top - BASE - 0.5
    places = BASE + height * (1.0 - (np.arange(n) + 0.5) / n)
    size = min(9.0, 0.72 * 72.0 * height / n)
    _draw_ways(ax, places, order, changed, stage, height)
    _draw_people(ax, places, values, reports, order, you, stage, size)
    if stage >= 2.0:
        _draw_counts(ax, height, reports, order, places, names, stage - 2.0, size)
    columns = [(0.0, PEOPLE, f"{n} people's\nvalues"), (1.0, REPORTS, "1. randomize\neach report")]
    columns += [(2.0, sum(BOX) / 2, "2. shuffle"), (3.0, (COUNTS + END) / 2, "3. count")]
    for first, x, words in columns:
        if stage >= first:
            ax.text(x, top - 0.03, words, **QUIET)
    if stage >= 1.0:
        ax.text((PEOPLE + REPORTS) / 2, BASE - 0.08, f"dark lines: {changed.sum()} changed", **QUIET)
    if stage >= 2.0:
        ax.text(SHUFFLED + 0.3, BASE - 0.08, "which is yours?", **QUIET | {"ha": "right"})
    return ax.figure


def _found(n, changed, stage):
    are = "is" if changed == 1 else "are"
    if stage < 1.0:
        return f"{n} people each hold a value"
    if stage < 2.0:
        return f"{changed} of {n} reports {are} changed by chance"
    if stage < 3.0:
        return f"The shuffler forgets who sent which of {n} reports"
    return f"{changed} of {n} reports {are} changed, and nobody can tell whose"


def _draw_ways(ax, places, order, changed, stage, height):
    """Draw the shuffler, and the paths of the reports, which cross inside."""
    left, right = BOX
    ax.fill_between(BOX, BASE, BASE + height, color="0.87", lw=0)
    ax.text(sum(BOX) / 2, BASE + height / 2, "shuffler", **BOLD, color="0.25", zorder=8)
    if stage >= 1.0:
        for these, colour, width in ((changed, INK, 1.6), (~changed, PALE, 0.8)):
            ax.hlines(places[these], PEOPLE, REPORTS, colors=colour, lw=width, zorder=1)
    if stage >= 2.0:
        ax.hlines(places, REPORTS, left, colors=PALE, lw=0.8, zorder=1)
        ax.hlines(places, right, SHUFFLED, colors=PALE, lw=0.8, zorder=1)
        for start, end in zip(places, places[order], strict=True):
            ax.plot(BOX, (start, end), color="white", lw=0.8, zorder=2)


def _draw_people(ax, places, values, reports, order, you, stage, size):
    """Draw the dots in their columns, and those on their way."""
    columns = [(PEOPLE, places, values), (REPORTS, places, reports), (SHUFFLED, places[order], reports)]
    for x, y, kinds in columns[: int(stage) + 1]:
        dots(ax, np.full(len(y), x), y, kinds, size=size)
    rings = [PEOPLE, REPORTS][: int(stage) + 1]
    move, share = int(stage), smooth(stage % 1.0)
    if move == 0 and share:
        x = PEOPLE + share * (REPORTS - PEOPLE)
        dots(ax, np.full(len(places), x), places, values if share < 0.5 else reports, size=size, zorder=6)
        rings.append(x)
    if move == 1 and share:
        x = REPORTS + share * (SHUFFLED - REPORTS)
        inside = np.clip((x - BOX[0]) / (BOX[1] - BOX[0]), 0.0, 1.0)
        y = places + inside * (places[order] - places)
        hidden = BOX[0] < x < BOX[1]
        kinds, colour = (np.zeros_like(reports), "0.72") if hidden else (reports, None)
        dots(ax, np.full(len(y), x), y, kinds, size=size, color=colour, zorder=6)
        rings += [x] if x <= BOX[0] else []
    ax.plot(rings, np.full(len(rings), places[you]), "o", mfc="none", mec=INK, mew=1.3, ms=size + 5, zorder=7)
    left = {"xytext": (-9, 0), "textcoords": "offset points", "ha": "right"}
    ax.annotate("you", (PEOPLE, places[you]), **BOLD | left, color=INK)


def _draw_counts(ax, height, reports, order, places, names, share, size):
    """Pile the reports up, one column for each value, with the counts above them."""
    kinds = len(names)
    columns = COUNTS + (END - COUNTS) * (np.arange(kinds) + 0.5) / kinds
    counts = np.bincount(reports, minlength=kinds)
    step = min((height - 0.1) / (counts.max() + 1.6), 1.5 * size / 72.0)
    seen = reports[np.argsort(order)]
    level = np.array([np.count_nonzero(seen[:place] == kind) for place, kind in enumerate(seen)])
    targets = np.column_stack((columns[seen], BASE + (level + 0.5) * step))
    ax.plot((COUNTS, END), (BASE - 0.02, BASE - 0.02), color=INK, lw=0.8)
    for column, name, number in zip(columns, names, counts, strict=True):
        ax.text(column, BASE - 0.06, name, ha="center", va="top", fontsize=LABEL)
        if share == 1.0:
            ax.text(column, BASE + (number + 0.25) * step, str(number), **BOLD | {"va": "bottom"})
    if share > 0.0:
        start = np.column_stack((np.full(len(seen), SHUFFLED), places))
        dots(ax, *(start + smooth(share) * (targets - start)).T, seen, size=size, zorder=6)


def animate_protocol(values, reports, order, *, dpi=120, **about):
    """Return the protocol as the bytes of a GIF; see `draw_protocol` and `gif`."""
    moves = np.linspace(0.0, 1.0, 9)[1:-1]
    stages = [0.0, *moves, 1.0, *(1.0 + moves), 2.0, *(2.0 + moves), 3.0]
    rest = {0.0: 1500, 1.0: 2000, 2.0: 1500, 3.0: 6000}
    return gif(partial(draw_protocol, values, reports, order, **about), stages, rest, dpi=dpi)

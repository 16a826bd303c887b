"""The shuffle model at a glance: people, reports, shuffler, counts."""

from functools import partial

import numpy as np

from shufflelib.numerics.validation import count, real, shown
from shufflelib.plotting.style import style
from viz.ideas.animation import gif
from viz.ideas.canvas import (
    BOLD,
    INK,
    LABEL,
    PALE,
    QUIET,
    canvas,
    dots,
    labels,
    panel,
    whole_numbers,
)

PEOPLE, REPORTS, SHUFFLED, COUNTS = 0.55, 1.5, 3.2, 3.7  # inches from the left
BOX = (1.95, 2.85)  # left and right of the shuffler
SHOWN = range(1, 41)  # people that fit into the picture
HEIGHT = 3.5
MOVES = 3  # from people to reports, through the shuffler, to the counts


def draw_protocol(
    values, reports, order, *, names=None, you=0, stage=3.0, finding=None, setting="", fig=None
):
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
    >>> fig = ideas.draw_protocol([0, 1, 1, 0], [0, 1, 0, 0], [2, 0, 3, 1], names=("no", "yes"))
    >>> fig.get_suptitle().strip()
    '1 of 4 answers are changed, and nobody knows whose'
    """
    values, reports, order, names = _checked(values, reports, order, names)
    you = count(you, "you", at_least=0, at_most=len(values) - 1, remedy="count people from 0")
    stage = real(stage, "stage", at_least=0.0, at_most=MOVES, remedy="0 shows people only, 3 everything")
    changed = values != reports
    if finding is None:
        finding = f"{changed.sum()} of {len(values)} answers are changed, and nobody knows whose"
    fig, top = canvas(fig, HEIGHT, finding, setting)
    with style():
        ax = panel(fig, 0.0, 0.0, fig.get_figwidth(), top, plain=True)
        base = 0.42
        height = top - base - 0.42
        places = base + height * (1.0 - (np.arange(len(values)) + 0.5) / len(values))
        size = min(9.0, 0.72 * 72.0 * height / len(values))
        _draw_shuffler(ax, base, height)
        _draw_ways(ax, places, order, changed, stage)
        _draw_people(ax, places, values, reports, order, you, stage, size)
        _draw_counts(ax, base, height, reports, order, names, stage, size)
        _name_columns(ax, top, len(values), stage)
    return fig


def _checked(values, reports, order, names):
    values = whole_numbers(values, "values", SHOWN, below=6)
    n = len(values)
    reports = whole_numbers(reports, "reports", n, below=6)
    order = whole_numbers(order, "order", n, below=n)
    if len(set(order.tolist())) < n:
        raise ValueError(f"order must name each place once, got {shown(order)}; pass rng.permutation({n})")
    kinds = int(max(values.max(), reports.max())) + 1
    return values, reports, order, labels(names, "names", kinds, more=True)


def _draw_shuffler(ax, base, height):
    from matplotlib.patches import FancyBboxPatch

    left, right = BOX
    box = FancyBboxPatch(
        (left, base), right - left, height, boxstyle="round,pad=0,rounding_size=0.08", fc="0.87", ec="none"
    )
    ax.add_patch(box)
    ax.text((left + right) / 2, base + height / 2, "shuffler", **BOLD, color="0.25", zorder=8)


def _draw_ways(ax, places, order, changed, stage):
    """Draw the paths of the reports; inside the shuffler they cross."""
    if stage >= 1.0:
        for these, colour, width in ((changed, INK, 1.6), (~changed, PALE, 0.8)):
            ax.hlines(places[these], PEOPLE, REPORTS, colors=colour, lw=width, zorder=1)
    if stage >= 2.0:
        left, right = BOX
        ax.hlines(places, REPORTS, left, colors=PALE, lw=0.8, zorder=1)
        ax.hlines(places, right, SHUFFLED, colors=PALE, lw=0.8, zorder=1)
        x = np.tile((left, right, np.nan), len(places))
        y = np.column_stack((places, places[order], np.full(len(places), np.nan))).ravel()
        ax.plot(x, y, color="white", lw=0.8, zorder=2)


def _draw_people(ax, places, values, reports, order, you, stage, size):
    """Draw the dots in their columns, and those on their way."""
    full = np.full(len(values), PEOPLE)
    dots(ax, full, places, values, size=size, zorder=5)
    rings = [(PEOPLE, places[you])]
    if stage >= 1.0:
        dots(ax, full + REPORTS - PEOPLE, places, reports, size=size, zorder=5)
        rings.append((REPORTS, places[you]))
    if stage >= 2.0:
        dots(ax, full + SHUFFLED - PEOPLE, places[order], reports, size=size, zorder=5)
    move, share = int(min(stage, MOVES - 1)), stage - int(min(stage, MOVES - 1))
    share = share * share * (3.0 - 2.0 * share)
    if move == 0 and 0.0 < share < 1.0:
        x = PEOPLE + share * (REPORTS - PEOPLE)
        dots(ax, full + x - PEOPLE, places, values if share < 0.5 else reports, size=size, zorder=6)
        rings.append((x, places[you]))
    if move == 1 and 0.0 < share < 1.0:
        x = REPORTS + share * (SHUFFLED - REPORTS)
        inside = np.clip((x - BOX[0]) / (BOX[1] - BOX[0]), 0.0, 1.0)
        y = places + inside * (places[order] - places)
        seen = dots if not BOX[0] < x < BOX[1] else _grey_dots
        seen(ax, full + x - PEOPLE, y, reports, size=size, zorder=6)
        if x <= BOX[0]:
            rings.append((x, places[you]))
    for x, y in rings:
        ax.plot(x, y, "o", mfc="none", mec=INK, mew=1.3, ms=size + 5.0, zorder=7)
    left = {"xytext": (-9, 0), "textcoords": "offset points", "ha": "right"}
    ax.annotate("you", rings[0], **BOLD | left, color=INK)


def _grey_dots(ax, x, y, categories, **how):
    ax.plot(x, y, "o", color="0.72", linestyle="none", markersize=how["size"], zorder=how["zorder"])


def _draw_counts(ax, base, height, reports, order, names, stage, size):
    """Pile the reports up, one column for each value, with the counts above them."""
    if stage < 2.0:
        return
    kinds = len(names)
    columns = COUNTS + (ax.get_xlim()[1] - 0.08 - COUNTS) * (np.arange(kinds) + 0.5) / kinds
    counts = np.bincount(reports, minlength=kinds)
    step = min((height - 0.1) / (counts.max() + 1.6), 1.5 * size / 72.0)
    n = len(reports)
    behind = np.argsort(order)
    seen = reports[behind]
    share = stage - 2.0
    share = share * share * (3.0 - 2.0 * share)
    level = np.array([np.count_nonzero(seen[:place] == kind) for place, kind in enumerate(seen)])
    targets = np.column_stack((columns[seen], base + (level + 0.5) * step))
    end = ax.get_xlim()[1] - 0.08
    ax.plot((COUNTS, end), (base - 0.02, base - 0.02), color=INK, lw=0.8)
    if share == 1.0:
        over = base + (counts.max() + 1.6) * step + 0.05
        said = "all that the analyst\ncan tell: counts"
        ax.text((COUNTS + end) / 2, over, said, **QUIET | {"va": "bottom"})
    for column, name, number in zip(columns, names, counts, strict=True):
        ax.text(column, base - 0.06, name, ha="center", va="top", fontsize=LABEL)
        if share == 1.0:
            at = base + (number + 0.25) * step
            ax.text(column, at, str(number), **BOLD | {"va": "bottom"})
    if share > 0.0:
        places = base + height * (1.0 - (np.arange(n) + 0.5) / n)
        start = np.column_stack((np.full(n, SHUFFLED), places))
        x, y = (start + share * (targets - start)).T
        dots(ax, x, y, seen, size=size, zorder=6)


def _name_columns(ax, top, n, stage):
    names = [(PEOPLE, f"{n} people's\nvalues", 0.0), (REPORTS, "their reports,\nsome changed", 1.0)]
    for x, name, first in names:
        if stage >= first:
            ax.text(x, top - 0.03, name, **QUIET)
    if stage >= 2.0:
        ax.text(SHUFFLED + 0.35, 0.34, "which one is you?", **QUIET | {"ha": "right", "color": INK})
    if stage >= 1.0:
        said = "dark line: changed by chance"
        ax.text((PEOPLE + REPORTS) / 2, 0.34, said, **QUIET | {"color": INK})


def animate_protocol(values, reports, order, *, dpi=120, **about):
    """Return the protocol as a short animation that begins again at its end, the same bytes on every run.

    Parameters
    ----------
    values, reports, order, **about
        As in `draw_protocol`.
    dpi : int
        Pixels in an inch; the picture is five inches wide.

    Returns
    -------
    bytes
        A GIF.

    Examples
    --------
    >>> from viz import ideas
    >>> ideas.animate_protocol([0, 1], [0, 0], [1, 0], dpi=40)[:6]
    b'GIF89a'
    """
    moves = np.linspace(0.0, 1.0, 9)[1:-1]
    stages = [0.0, *moves, 1.0, *(1.0 + moves), 2.0, *(2.0 + moves), 3.0]
    rest = {0.0: 1200, 1.0: 1500, 2.0: 1200, 3.0: 3500}
    return gif(partial(draw_protocol, values, reports, order, **about), stages, rest, dpi=dpi)

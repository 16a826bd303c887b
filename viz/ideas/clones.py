"""Hiding among clones: some of the others report as if they were you, and your report is one of theirs."""

from functools import partial

import numpy as np

from shufflelib.numerics.validation import count, real
from viz.ideas.animation import gif
from viz.ideas.canvas import (
    BOLD,
    COLOURS,
    INK,
    MARKERS,
    QUIET,
    WIDTH,
    dots,
    labels,
    page,
    smooth,
    whole_numbers,
)

HEIGHT = 3.2
SHOWN = range(2, 121)  # reports that fit into the picture
OTHER = 2  # a report that looks like neither of your two values
MIDDLES = WIDTH * (np.arange(3) + 0.5) / 3
BASE = 0.75


def draw_clones(reports, *, you=0, names=None, stage=2.0, finding=None, setting=""):
    """Draw the reports of n people: clones of you in your two colours, the rest grey, yours among them.

    Parameters
    ----------
    reports : array_like of int, shape (n,)
        0 and 1: looks like a report of your first or second value, 2: like neither; at most 120.
    you : int
        Whose report is yours; it looks like 0 or 1.
    names : iterable of str, optional
        Of your two values.
    stage : float
        0: nobody knows which reports are clones; 1: clones in colour; 2: sorted by the analyst.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_clones([0, 2, 0, 1, 2, 1, 0])
    >>> wishes(fig).headline
    'Your other value would turn the counts 3 and 2 into 2 and 3'
    """
    reports = whole_numbers(reports, "reports", SHOWN, below=3)
    n = len(reports)
    you = count(you, "you", at_least=0, at_most=n - 1, remedy="count people from 0")
    if reports[you] == OTHER:
        raise ValueError(f"you must be a person whose report looks like 0 or 1, got {you}, which has 2")
    names = labels(names, "names", 2) if names is not None else ["your first value", "your second value"]
    stage = real(stage, "stage", at_least=0.0, at_most=2.0, remedy="0 shows people, 2 the sorted reports")
    counts = np.bincount(reports, minlength=3)
    changed = counts + np.where(np.arange(3) == reports[you], -1, 1)
    ax, top = page(HEIGHT, finding, _found(n, counts, changed, stage), setting)
    cloud, piles, size, empty = _places(reports, counts, top)
    x, y = cloud + smooth(max(stage - 1.0, 0.0)) * (piles - cloud)
    other = (reports == OTHER) | ((stage < 1.0) & (np.arange(n) != you))
    dots(ax, x[other], y[other], np.zeros(other.sum(), int), size=size, color="0.78", zorder=3)
    dots(ax, x[~other], y[~other], reports[~other], size=size, zorder=4)
    ax.plot(x[you], y[you], "o", mfc="none", mec=INK, mew=1.4, ms=size + 5.0, zorder=7)
    if stage < 2.0:
        said = f"{n} reports, yours is ringed"
        if stage >= 1.0:
            said = f"in colour: yours, ringed, and {counts[:OTHER].sum() - 1} clones; grey: the others"
        ax.text(WIDTH / 2, 0.3, said, **QUIET)
    else:
        _name_piles(ax, counts, changed, piles, reports, names)
        _move(ax, (x[you], y[you]), empty[1 - reports[you]], 1 - reports[you], size)
    return ax.figure


def _found(n, counts, changed, stage):
    if stage < 1.0:
        return f"{n} reports, and one of them is yours"
    if stage < 2.0:
        return f"{counts[:OTHER].sum() - 1} other reports are clones: made as you would make yours"
    return "Your other value would turn the counts {} and {} into {} and {}".format(*counts[:2], *changed[:2])


def _places(reports, counts, top):
    """Return the places of the dots, unsorted and in piles, their size in points, and the next places."""
    n = len(reports)
    high = top - BASE - 0.3
    columns = int(np.ceil(np.sqrt(1.8 * n)))
    step = min(0.24, 4.4 / columns, high / -(-n // columns))
    x = WIDTH / 2 + step * (np.arange(n) % columns - (columns - 1) / 2)
    y = BASE + high / 2 + step * ((-(-n // columns) - 1) / 2 - np.arange(n) // columns)
    across = max(1, int(np.ceil(counts.max() / max(1, int(high / step)))))
    gap = min(step, 1.35 / across)
    piles, empty = np.zeros((2, n)), []
    for kind in range(3):
        place = np.arange(counts[kind] + 1)
        spots = np.array([gap * (place % across - (across - 1) / 2), step * (place // across + 0.5)])
        spots += [[MIDDLES[kind]], [BASE]]
        piles[:, reports == kind] = spots[:, :-1]
        empty.append(spots[:, -1])
    return np.array([x, y]), piles, 0.72 * 72.0 * min(gap, step), empty


def _name_piles(ax, counts, changed, piles, reports, names):
    """Count the piles, and say what the counts would be with your other value."""
    ax.plot((0.15, WIDTH - 0.15), (BASE - 0.05, BASE - 0.05), color=INK, lw=0.8)
    for kind, (middle, name) in enumerate(zip(MIDDLES, [*names, "neither"], strict=True)):
        high = piles[1, reports == kind].max() if counts[kind] else BASE - 0.1
        said = f"{counts[kind]}" if kind == OTHER else f"{counts[kind]} → {changed[kind]}"
        ax.text(middle, high + 0.12, said, **BOLD | {"va": "bottom"})
        ax.text(middle, BASE - 0.1, f"like {name}", **QUIET)
    ax.text(WIDTH / 2, BASE - 0.32, "arrow: your report, ringed, if you had your other value", **QUIET)
    ax.text(WIDTH / 2, 0.2, "the analyst sees the counts, and not which report is yours", **QUIET)


def _move(ax, start, end, kind, size):
    """Draw where your report would be with your other value: an open dot, and an arrow to it."""
    ax.plot(*end, MARKERS[kind], mfc="white", mec=COLOURS[kind], mew=1.4, ms=size, zorder=8)
    bent = {"arrowstyle": "->", "lw": 1.2, "color": INK, "shrinkA": 7, "shrinkB": 5}
    ax.annotate("", end, start, arrowprops=bent | {"connectionstyle": "arc3,rad=-0.4"}, zorder=8)


def animate_clones(reports, *, dpi=120, **about):
    """Return the clones as the bytes of a GIF; see `draw_clones` and `gif`."""
    stages = [0.0, 1.0, *(1.0 + np.linspace(0.0, 1.0, 12)[1:-1]), 2.0]
    return gif(partial(draw_clones, reports, **about), stages, {0.0: 2000, 1.0: 3000, 2.0: 6000}, dpi=dpi)

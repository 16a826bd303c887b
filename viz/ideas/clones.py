"""Hiding among clones: some of the others report as if they were you, and your report is one of theirs."""

from functools import partial

import numpy as np

from shufflelib.numerics.validation import count, real
from shufflelib.plotting.style import style
from viz.ideas.animation import gif
from viz.ideas.canvas import BOLD, INK, QUIET, canvas, dots, labels, panel, whole_numbers

HEIGHT = 3.2
SHOWN = range(2, 121)  # reports that fit into the picture
OTHER = 2  # a report that looks like neither of your two values
GREY = "0.78"
CLOUD, PILES = (0.15, 2.1), (2.55, 4.9)  # left and right, inches
LAST = 2.0


def draw_clones(reports, *, you=0, names=None, stage=2.0, finding=None, setting="", fig=None):
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
    >>> fig = ideas.draw_clones([0, 2, 0, 1, 2, 1, 0])
    >>> fig.get_suptitle().strip()
    'Your report is one of 3 that look alike'
    """
    reports = whole_numbers(reports, "reports", SHOWN, below=3)
    n = len(reports)
    you = count(you, "you", at_least=0, at_most=n - 1, remedy="count people from 0")
    if reports[you] == OTHER:
        raise ValueError(f"you must be a person whose report looks like 0 or 1, got {you}, which has 2")
    names = labels(names, "names", 2) if names is not None else ["your first value", "your second"]
    stage = real(stage, "stage", at_least=0.0, at_most=LAST, remedy="0 shows people, 2 the sorted reports")
    if finding is None:
        alike = int((reports == reports[you]).sum())
        finding = f"Your report is one of {alike} that look alike"
    fig, top = canvas(fig, HEIGHT, finding, setting)
    with style():
        ax = panel(fig, 0.0, 0.0, fig.get_figwidth(), top, plain=True)
        cloud, piles, size = _places(reports, top)
        seen = np.where((stage >= 1.0) | (np.arange(n) == you), reports, OTHER)
        _draw(ax, *cloud, seen, size)
        x, y = cloud[0][you], cloud[1][you]
        ax.plot(x, y, "o", mfc="none", mec=INK, mew=1.4, ms=size + 5.0, zorder=7)
        said = f"{n} reports, yours ringed" if stage < 1.0 else "colour: clones of you"
        middle = sum(CLOUD) / 2
        ax.text(middle, top - 0.02, said, **QUIET)
        if stage >= 1.0:
            grey = f"grey: {(reports == OTHER).sum()} reports that\nare no clones"
            ax.text(middle, 0.04, grey, **QUIET | {"va": "bottom"})
        if stage > 1.0:
            share = stage - 1.0
            share = share * share * (3.0 - 2.0 * share)
            _draw(ax, *(cloud + share * (piles - cloud)), reports, size)
        if stage == LAST:
            _name_piles(ax, reports, piles, names, top)
    return fig


def _places(reports, top):
    """Return the places of the dots, unsorted and in piles, and their size in points."""
    n = len(reports)
    columns = int(np.ceil(np.sqrt(n)))
    rows = -(-n // columns)
    step = min((CLOUD[1] - CLOUD[0]) / columns, (top - 0.75) / rows, 0.24)
    wide = columns * step
    x = sum(CLOUD) / 2 - wide / 2 + step * (np.arange(n) % columns + 0.5)
    y = 0.48 + (top - 0.75) / 2 + step * (rows / 2 - np.arange(n) // columns - 0.5)
    piles = np.zeros((2, n))
    longest = max(int((reports == kind).sum()) for kind in range(3))
    across = max(1, int(np.ceil(longest / max(1, int((top - 0.8) / step)))))
    middles = PILES[0] + (PILES[1] - PILES[0]) * (np.arange(3) + 0.5) / 3
    gap = min(step, (PILES[1] - PILES[0]) / 3 / (across + 0.6))
    for kind in range(3):
        chosen = np.flatnonzero(reports == kind)
        place = np.arange(len(chosen))
        piles[0, chosen] = middles[kind] + gap * (place % across - (across - 1) / 2)
        piles[1, chosen] = 0.5 + step * (place // across + 0.5)
    return np.array([x, y]), piles, 0.72 * 72.0 * min(gap, step)


def _draw(ax, x, y, kinds, size):
    other = kinds == OTHER
    ax.plot(x[other], y[other], "o", color=GREY, ms=size, ls="none", zorder=3)
    dots(ax, x[~other], y[~other], kinds[~other], size=size, zorder=4, markeredgewidth=0)


def _name_piles(ax, reports, piles, names, top):
    """Count the piles; the analyst cannot say which dot of its pile is yours."""
    middles = PILES[0] + (PILES[1] - PILES[0]) * (np.arange(3) + 0.5) / 3
    for kind, (middle, name) in enumerate(zip(middles, [*names, "neither"], strict=True)):
        chosen = reports == kind
        high = piles[1, chosen].max() if chosen.any() else 0.45
        ax.text(middle, high + 0.12, str(chosen.sum()), **BOLD | {"va": "bottom"})
        lines = name.replace(" ", "\n", 1) if len(name) > 9 else name
        ax.text(middle, 0.4, lines, **QUIET)
    ax.plot(PILES, (0.45, 0.45), color=INK, lw=0.8)
    middle = sum(PILES) / 2
    ax.text(middle, top - 0.02, "looks like a report of", **QUIET)


def animate_clones(reports, *, dpi=120, **about):
    """Return the clones as a short animation that begins again at its end, the same bytes on every run.

    Parameters
    ----------
    reports, **about
        As in `draw_clones`.
    dpi : int
        Pixels in an inch; the picture is five inches wide.

    Returns
    -------
    bytes
        A GIF.

    Examples
    --------
    >>> from viz import ideas
    >>> ideas.animate_clones([0, 1, 2, 0], dpi=40)[:6]
    b'GIF89a'
    """
    stages = [0.0, 1.0, *(1.0 + np.linspace(0.0, 1.0, 12)[1:-1]), 2.0]
    return gif(partial(draw_clones, reports, **about), stages, {0.0: 1800, 1.0: 2000, 2.0: 3500}, dpi=dpi)

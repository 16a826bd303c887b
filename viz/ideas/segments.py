"""Trade-off functions as chains of segments, and what merging two of them means."""

import numpy as np

from viz.ideas.canvas import LABEL, NOTE, WIDTH, canvas, numbers, panel
from viz.theme import BLACK, BLUE, RED
from viz.words import at_least

HEIGHT = 2.9
SIDE = 1.25  # inches of each square panel
CORNERS = range(2, 61)
ALARMS = 0.4  # rate of false alarms at which the merged chain is read


def draw_segments(first, second, *, names=("one mechanism", "the other"), finding=None, setting=""):
    """Draw two trade-off functions as chains of segments, and half of each merged, sorted by slope.

    Parameters
    ----------
    first, second : array_like, shapes (m, 2) and (k, 2)
        Corners of each chain from (0, 1) to (1, 0): false alarms and misses, convex.
    names : sequence of two str
        What the two mechanisms are called.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_segments([[0, 1], [0.25, 0.25], [1, 0]], [[0, 1], [0.4, 0.4], [1, 0]])
    >>> wishes(fig).headline
    'Who sees which mechanism ran still misses 27 % at 40 % false alarms'
    """
    first, second = (
        numbers(corners, name, CORNERS, 2, at_least=0.0, at_most=1.0)
        for corners, name in ((first, "first"), (second, "second"))
    )
    steps = [np.diff(first, axis=0), np.diff(second, axis=0)]
    both = 0.5 * np.vstack(steps)
    order = np.argsort(np.arctan2(both[:, 1], both[:, 0]), kind="stable")
    colours = np.repeat([BLUE, RED], [len(one) for one in steps])
    merged = _corners(both[order])
    missed = float(np.interp(ALARMS, *merged.T))
    misses = at_least(100.0 * missed, 2)
    found = f"Who sees which mechanism ran still misses {misses} % at {100 * ALARMS:g} % false alarms"
    fig, top = canvas(HEIGHT, finding, found, setting)
    gap = (WIDTH - 0.7 - 3 * SIDE) / 2
    lefts = 0.5 + (SIDE + gap) * np.arange(3)
    names = [*names, "half of each,\nsteepest first"]
    chains = [(steps[0], [BLUE] * 60), (steps[1], [RED] * 60), (both[order], colours[order])]
    for left, name, (parts, looks) in zip(lefts, names, chains, strict=True):
        ax = panel(fig, left, 0.55, SIDE, min(SIDE, top - 1.0), xlabel="false alarms (%)")
        _draw_chain(ax, _corners(parts), looks)
        ax.set_title(name, loc="center", fontsize=LABEL, color=looks[0] if left < lefts[2] else BLACK)
    fig.axes[0].set_ylabel("misses (%)", fontsize=LABEL, labelpad=-10)
    ax.plot([ALARMS, ALARMS, -0.04], [-0.04, missed, missed], color=BLACK, lw=0.8, ls=(0, (1, 1.5)))
    ax.set(xticks=[0, ALARMS, 1], xticklabels=["0", f"{100 * ALARMS:g}", "100"])
    ax.plot(ALARMS, missed, "o", ms=9, mfc="none", mec=BLACK, mew=1.3, zorder=9)
    said = f"missed: {misses} %;\nguessing:\n{100 * (1 - ALARMS):g} %"
    ax.text(1.12, 0.58, said, ha="right", va="bottom", fontsize=NOTE, weight="bold")
    middle = (0.55 + min(SIDE, top - 1.0) / 2) / HEIGHT
    for sign, left in zip("+=", lefts[1:], strict=True):
        fig.text((left - gap / 2) / WIDTH, middle, sign, ha="center", va="center", fontsize=14, color="0.3")
    return fig


def _corners(steps):
    return np.vstack(([0.0, 1.0], [0.0, 1.0] + np.cumsum(steps, axis=0)))


def _draw_chain(ax, corners, colours):
    ax.plot([0, 1], [1, 0], color="0.75", lw=0.8, ls=(0, (1, 1.5)))
    for here, there, colour in zip(corners[:-1], corners[1:], colours, strict=False):
        dash = "-" if colour == BLUE else (0, (2.2, 0.7))
        ax.plot(*zip(here, there, strict=True), color=colour, lw=3.0, ls=dash, solid_capstyle="butt")
    ax.scatter(*corners.T, s=13, color="white", edgecolor=BLACK, lw=0.8, zorder=5)
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xticks=[0, 1], yticks=[0, 1])
    ax.set_xticklabels(["0", "100"])
    ax.set_yticklabels(["0", "100"] if ax is ax.figure.axes[0] else [])
    ax.tick_params(labelsize=NOTE, length=2)
    ax.set_xlabel(ax.get_xlabel(), fontsize=LABEL, labelpad=1)

"""Trade-off functions as chains of segments, and what merging two of them means."""

import numpy as np

from shufflelib.plotting.labels import legible
from shufflelib.plotting.looks import BLUE, ORANGE
from shufflelib.plotting.style import style
from viz.ideas.canvas import BOLD, NOTE, canvas, numbers, panel

HEIGHT = 2.7
SIDE = 1.3  # inches of each square panel
CORNERS = range(2, 61)


def draw_segments(first, second, *, finding=None, setting="", fig=None):
    """Draw two trade-off functions as chains of segments, and half of each merged, sorted by slope.

    Parameters
    ----------
    first, second : array_like, shapes (m, 2) and (k, 2)
        Corners of each chain from (0, 1) to (1, 0): false alarms and misses, convex.

    Examples
    --------
    >>> from viz import ideas
    >>> fig = ideas.draw_segments([[0, 1], [0.25, 0.25], [1, 0]], [[0, 1], [0.4, 0.4], [1, 0]])
    >>> fig.get_suptitle().strip()
    'The mixture has 4 segments, the steepest first'
    """
    first, second = (
        numbers(corners, name, CORNERS, 2, at_least=0.0, at_most=1.0)
        for corners, name in ((first, "first"), (second, "second"))
    )
    steps, colours = _merged(first, second)
    if finding is None:
        finding = f"The mixture has {len(steps)} segments, the steepest first"
    fig, top = canvas(fig, HEIGHT, finding, setting)
    gap = (fig.get_figwidth() - 0.5 - 3 * SIDE) / 2
    lefts = [0.4 + (SIDE + gap) * place for place in range(3)]
    chains = [
        (np.diff(first, axis=0), [BLUE] * (len(first) - 1), "weight 0.5"),
        (np.diff(second, axis=0), [ORANGE] * (len(second) - 1), "weight 0.5"),
        (steps, colours, "all segments,\nsorted by slope"),
    ]
    with style():
        for left, (parts, looks, name) in zip(lefts, chains, strict=True):
            ax = panel(fig, left, 0.46, SIDE, min(SIDE, top - 0.62))
            _draw_chain(ax, parts, looks)
            ink = legible(looks[0]) if len(set(looks)) == 1 else "0.15"
            above = {"va": "bottom", "color": ink, "transform": ax.transAxes}
            ax.text(0.5, 1.03, name, **BOLD | above)
            if left == lefts[0]:
                ax.set_ylabel("misses", fontsize=NOTE, labelpad=-4)
            else:
                ax.set_yticklabels([])
        high = 0.46 + min(SIDE, top - 0.62) / 2
        for sign, left in zip("+=", lefts[1:], strict=True):
            at = (left - gap / 2) / fig.get_figwidth(), high / fig.get_figheight()
            fig.text(*at, sign, ha="center", va="center", fontsize=14, color="0.3")
    return fig


def _merged(first, second):
    """Return the segments of both chains, halved and sorted by slope, and the colour of each."""
    steps = 0.5 * np.vstack((np.diff(first, axis=0), np.diff(second, axis=0)))
    colours = [BLUE] * (len(first) - 1) + [ORANGE] * (len(second) - 1)
    order = np.argsort(np.arctan2(steps[:, 1], steps[:, 0]), kind="stable")
    return steps[order], [colours[place] for place in order]


def _draw_chain(ax, steps, colours):
    corners = np.vstack(([0.0, 1.0], [0.0, 1.0] + np.cumsum(steps, axis=0)))
    ax.plot([0, 1], [1, 0], color="0.75", lw=0.8, ls=(0, (1, 1.5)))
    for here, there, colour in zip(corners[:-1], corners[1:], colours, strict=True):
        dash = "-" if colour == BLUE else (0, (2.2, 0.7))
        ax.plot(*zip(here, there, strict=True), color=colour, lw=3.0, ls=dash, solid_capstyle="butt")
    ax.plot(*corners.T, "o", color="white", mec="black", mew=0.8, ms=3.6, zorder=5)
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xticks=[0, 1], yticks=[0, 1])
    ax.tick_params(labelsize=NOTE, length=2)
    ax.set_xlabel("false alarms", fontsize=NOTE, labelpad=-6)

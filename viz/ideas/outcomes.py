"""What an analyst will see: many possible histograms as dots over the true one."""

import numpy as np

from viz.ideas.canvas import LABEL, NOTE, WIDTH, canvas, labels, mark, numbers, panel
from viz.theme import BLUE
from viz.words import digits

HEIGHT = 3.2
ITEMS, RUNS = range(2, 17), range(1, 1001)  # that fit into the picture


def draw_outcomes(truth, outcomes, *, names=None, finding=None, setting=""):
    """Draw possible estimates of a histogram as dots over the true shares, each one run of the protocol.

    Parameters
    ----------
    truth : array_like, shape (d,)
        True shares; two to sixteen items.
    outcomes : array_like, shape (runs, d)
        Estimated shares, one row for each run; twenty are easily seen.
    names : iterable of str, optional
        Of the items.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_outcomes([0.5, 0.3, 0.2], [[0.52, 0.27, 0.21], [0.47, 0.34, 0.19]])
    >>> wishes(fig).headline
    'In 2 runs the worst share is 4 points off'
    """
    truth = numbers(truth, "truth", ITEMS, at_least=0.0, at_most=1.0)
    outcomes = numbers(outcomes, "outcomes", RUNS, len(truth), at_least=-1e6, at_most=1e6)
    names = labels(names, "names", len(truth))
    runs = len(outcomes)
    off = np.abs(outcomes - truth)
    worst = digits(100.0 * float(off.max()))
    fig, top = canvas(HEIGHT, finding, f"In {runs} runs the worst share is {worst} points off", setting)
    ax = panel(fig, 0.62, 0.55, WIDTH - 0.72, top - 0.7, xlabel="item", ylabel="share of people (%)")
    x = np.arange(len(truth))
    ax.bar(x, 100.0 * truth, width=0.8, color="0.85", lw=0)
    ax.hlines(100.0 * truth, x - 0.4, x + 0.4, colors="0.25", lw=1.6, zorder=4)
    spread = np.linspace(-0.32, 0.32, runs) if runs > 1 else np.zeros(1)
    across = x + spread[:, None]
    ax.scatter(across, 100.0 * outcomes, s=10, color=BLUE, alpha=0.75, lw=0, zorder=5)
    ax.axhline(0.0, color="0.2", lw=0.8)
    low, high = 100.0 * min(outcomes.min(), 0.0), 100.0 * max(outcomes.max(), truth.max())
    ax.set(xlim=(-0.6, len(x) - 0.4), ylim=(1.1 * low, 1.28 * high))
    ax.set_xticks(x, names)
    ax.tick_params(labelsize=LABEL)
    ax.tick_params(axis="x", length=0)
    ax.spines["bottom"].set_visible(False)
    corner = {"transform": ax.transAxes, "ha": "right", "va": "top", "fontsize": NOTE}
    ax.text(1.0, 1.0, f"each dot: the answer of one of {runs} runs", color=BLUE, **corner)
    ax.text(1.0, 0.91, "grey bar: the truth", color="0.3", **corner)
    run, item = np.unravel_index(off.argmax(), off.shape)
    mark(ax, across[run, item], 100.0 * outcomes[run, item], f"{worst} points off")
    return fig
